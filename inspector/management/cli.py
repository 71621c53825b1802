"""`ullage-inspector`: Django's commands under one name, `up` first."""

import os
import sys

from django.core.management import execute_from_command_line

DATA_DIR_OPTION = "--data-dir"


def main() -> None:
    """Run a command; `up` where none is given."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    arguments = sys.argv[1:] or ["up"]
    execute_from_command_line([sys.argv[0], *data_dir_taken(arguments)])


def data_dir_taken(arguments: list[str]) -> list[str]:
    """The arguments without `--data-dir`, which settings must know before any
    command."""
    kept = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name != DATA_DIR_OPTION:
            kept.append(argument)
            continue
        folder = value if equals else next(rest, "")
        if not folder:
            sys.exit(f"{DATA_DIR_OPTION} needs a folder.")
        os.environ["ULLAGE_INSPECTOR_DATA_DIR"] = folder
    return kept


if __name__ == "__main__":
    main()
