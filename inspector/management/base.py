"""What our commands share: errors become words, never a traceback."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from inspector.errors import InspectorError


class InspectorCommand(BaseCommand):
    """A command that tells what is wrong and what to do."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Django's hook around `handle`."""
        try:
            return super().execute(*args, **options)
        except InspectorError as error:
            raise CommandError(error.message) from error
        except DatabaseError as error:
            raise CommandError(
                f"The store cannot be used: {error}. Has `ullage-inspector up` (or"
                " `migrate`) run on this data folder?"
            ) from error
