"""The agents: each module holds its tools, its plans and its scenarios."""
