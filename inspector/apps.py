"""The one Django app of the inspector."""

from django.apps import AppConfig
from django.core import checks


class InspectorConfig(AppConfig):
    name = "inspector"
    verbose_name = "Ullage inspector"

    def ready(self) -> None:
        from inspector.checks import CHECKS  # settings must be ready first

        for check in CHECKS:
            checks.register(check)
