"""What can be wrong with the settings, each with a hint that says what to do."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning


def data_dir_is_writable(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """inspector.E001."""
    folder = Path(settings.DATA_DIR)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if folder.is_dir() and os.access(folder, os.W_OK):
        return []
    return [
        Error(
            f"The data folder {settings.DATA_DIR} cannot be written.",
            hint="Set ULLAGE_INSPECTOR_DATA_DIR to a folder that this user may write.",
            id="inspector.E001",
        )
    ]


def size_limits_agree(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """inspector.E002."""
    if 0 < settings.MAX_BODY_BYTES <= settings.MAX_INFLATED_BYTES:
        return []
    return [
        Error(
            "MAX_BODY_BYTES must be above 0 and no larger than MAX_INFLATED_BYTES.",
            hint="A body that is sent plain counts against both limits.",
            id="inspector.E002",
        )
    ]


def memory_broker_is_embedded(
    app_configs: Any, **kwargs: Any
) -> Sequence[CheckMessage]:
    """inspector.W001."""
    is_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    if is_sqlite or not settings.BROKER_URL.startswith("memory:"):
        return []
    return [
        Warning(
            "PostgreSQL is used with the memory broker: only one process can work.",
            hint="Set ULLAGE_INSPECTOR_BROKER_URL to Redis or RabbitMQ for a team.",
            id="inspector.W001",
        )
    ]


def sqlite_is_embedded(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """inspector.W002."""
    is_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    if not is_sqlite or settings.BROKER_URL.startswith("memory:"):
        return []
    return [
        Warning(
            "SQLite is used with a broker for many processes, yet has one writer.",
            hint="Set ULLAGE_INSPECTOR_DATABASE_URL to PostgreSQL, or no BROKER_URL.",
            id="inspector.W002",
        )
    ]


CHECKS = (
    data_dir_is_writable,
    size_limits_agree,
    memory_broker_is_embedded,
    sqlite_is_embedded,
)
