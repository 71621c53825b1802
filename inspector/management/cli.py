"""`ullage-inspector`: Django's commands under one name, `up` first."""

import os
import sys
from collections.abc import Sequence

from django.core.management import execute_from_command_line

PREFIX = "ULLAGE_INSPECTOR_"
EVERYWHERE = {"--data-dir": "DATA_DIR"}
OF_UP = {**EVERYWHERE, "--host": "HOST", "--port": "PORT"}


def main() -> None:
    """Run a command; `up` where none is given."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    arguments = sys.argv[1:] or ["up"]
    taken = OF_UP if arguments[0] == "up" else EVERYWHERE
    execute_from_command_line([sys.argv[0], *settings_taken(arguments, taken)])


def settings_taken(arguments: Sequence[str], taken: dict[str, str]) -> list[str]:
    """The arguments without those that settings must know before any command runs."""
    kept = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name not in taken:
            kept.append(argument)
            continue
        given = value if equals else next(rest, "")
        if not given:
            sys.exit(f"{name} needs a value.")
        os.environ[PREFIX + taken[name]] = given
    return kept


if __name__ == "__main__":
    main()
