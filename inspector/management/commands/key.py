"""Print a new key of a project."""

from typing import Any

from django.core.management.base import CommandParser

from inspector.domain.accounts.rules import INGEST, SCOPES
from inspector.domain.accounts.selectors import project_named
from inspector.domain.accounts.services import FIRST_PROJECT, key_create
from inspector.management.base import InspectorCommand


class Command(InspectorCommand):
    help = "Make a key of a project and print it; it is shown only once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", default=FIRST_PROJECT, help="its slug")
        parser.add_argument("--name", default="from the command line")
        parser.add_argument(
            "--scope", action="append", choices=SCOPES, help="may be given again"
        )

    def handle(
        self, *, project: str, name: str, scope: list[str] | None, **options: Any
    ) -> None:
        found = project_named(slug=project)
        scopes = tuple(dict.fromkeys(scope or [INGEST]))
        self.stdout.write(key_create(project_id=found.id, name=name, scopes=scopes))
