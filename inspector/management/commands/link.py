"""Print a new link that signs a browser in, once.

Where `up` never runs (a team's set-up), the first link makes the admin and the project.
"""

from typing import Any

from django.core.management.base import CommandParser

from inspector.domain.accounts.services import first_start, start_token_create
from inspector.management.address import address_known
from inspector.management.base import InspectorCommand


class Command(InspectorCommand):
    help = "Print a link that signs a browser in as the admin, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--address", help="where the inspector listens")

    def handle(self, *, address: str | None, **options: Any) -> None:
        if made := first_start():
            self.stdout.write(f"Ingest key, shown only once: {made.key}")
        base = (address or address_known()).rstrip("/")
        self.stdout.write(f"{base}/start/{start_token_create()}")
