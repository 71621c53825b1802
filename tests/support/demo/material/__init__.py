"""What the agents work on: the same in every clone, on every Python."""
