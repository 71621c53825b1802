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
    "@app.*",  # Celery
    "@register*",  # Django: template tags, system checks
    "@receiver*",
    "@router.*",  # django-ninja
    "@shared_task*",
]
CALLED_BY_NAME = [
    "Meta",  # Django: options of a model
    "from_db_value",  # Django: fields
    "get_prep_value",
    "to_python",
    "ready",  # Django: an app's start
    "process_*",  # Django: middleware
    "add_arguments",  # Django: management commands
    "handle",
    "Command",
    "*Config",
]

TEMPLATE_CODE = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
NAME = re.compile(r"[A-Za-z_]\w*")


def template_names() -> Iterator[str]:
    """Every name that stands inside a template's tags."""
    for template in sorted((REPOSITORY / "templates").rglob("*.html")):
        for code in TEMPLATE_CODE.findall(template.read_text()):
            yield from NAME.findall(code)


def findings() -> list[str]:
    """One line for each piece of dead code, with its place."""
    vulture = Vulture(
        ignore_names=[*CALLED_BY_NAME, *template_names()],
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
