"""Print a new link that signs a browser in, once."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from inspector.domain.accounts.services import start_token_create


class Command(BaseCommand):
    help = "Print a link that signs a browser in as the admin, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--address", default=settings.PUBLIC_URL)

    def handle(self, *, address: str, **options: Any) -> None:
        self.stdout.write(f"{address.rstrip('/')}/start/{start_token_create()}")
