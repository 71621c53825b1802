"""Dead code: what neither the product, nor a template, nor a framework's rule uses.

Vulture reads Python alone. Names that templates use are added here, and fields of
records (vulture's "variables") are left to the templates and the API that print them.
"""

import re
import sys
from collections.abc import Iterator

from vulture.core import Vulture

from tests.support.environment import REPOSITORY

SOURCES = ["inspector", "sdk/src/ullage", "manage.py"]
MIGRATIONS = ["*/migrations/*"]
JUDGED = {"attribute", "class", "function", "method", "property", "unreachable_code"}

CALLED_BY_DECORATOR = [
    "@api.*",  # django-ninja
    "@app.*",  # Celery
    "@receiver*",  # Django: signals
    "@register*",  # Django: template tags, system checks
    "@router.*",  # django-ninja
    "@shared_task*",  # Celery
]
CALLED_BY_NAME = [
    # Django
    "*Config",
    "Command",
    "Meta",
    "add_arguments",
    "from_db_value",
    "get_prep_value",
    "handle",
    "process_*",
    "ready",
    "to_python",
    # protobuf: fields are set and never read
    "bool_value",
    # for users of the SDK, and for no one here
    "is_retryable",
    "strict_telemetry",
    # for tests/ so far: the bound that tables are held to, the recorder of the demo,
    # the replay of a recorded run
    "bound_tokens",
    "recorded_calls",
    "recording_write",
    "replay",
]

TEMPLATE_CODE = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
NAME = re.compile(r"[A-Za-z_]\w*")
DOTTED_NAME = re.compile(r'"inspector[.\w]*[.:](\w+)"')


def template_names() -> Iterator[str]:
    """Every name that stands inside a template's tags."""
    for template in sorted((REPOSITORY / "templates").rglob("*.html")):
        for code in TEMPLATE_CODE.findall(template.read_text()):
            yield from NAME.findall(code)


def dotted_names() -> Iterator[str]:
    """Every name that settings and servers are given as text."""
    for source in sorted((REPOSITORY / "inspector").rglob("*.py")):
        yield from DOTTED_NAME.findall(source.read_text())


def findings() -> list[str]:
    """One line for each piece of dead code, with its place."""
    vulture = Vulture(
        ignore_names=[*CALLED_BY_NAME, *template_names(), *dotted_names()],
        ignore_decorators=CALLED_BY_DECORATOR,
    )
    paths = [str(REPOSITORY / source) for source in SOURCES]
    vulture.scavenge(paths, exclude=MIGRATIONS)
    return [
        f"{item.filename.relative_to(REPOSITORY)}:{item.first_lineno}: {item.message}"
        for item in vulture.get_unused_code()
        if item.typ in JUDGED
    ]


if __name__ == "__main__":
    sys.exit("\n".join(findings()) or 0)
