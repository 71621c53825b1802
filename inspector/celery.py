"""The Celery application: every profile's tasks, and the beat of the team profile."""

import os
from typing import Any

from celery import Celery
from celery.signals import task_prerun
from django.conf import settings
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")

SWEEP_SECONDS = 2.0

app = Celery("inspector")
app.conf.update(
    broker_url=settings.BROKER_URL,
    task_ignore_result=True,
    task_acks_late=True,
    task_publish_retry=False,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    # A lost bell is made good by the sweep, so nobody waits long for a broker.
    broker_transport_options=(
        {"polling_interval": 0.05}
        if settings.BROKER_URL.startswith("memory:")
        else {"socket_connect_timeout": 2, "socket_timeout": 5}
    ),
    beat_schedule={
        "sweep": {"task": "inspector.ingest_sweep", "schedule": SWEEP_SECONDS}
    },
    imports=("inspector.tasks.ingest",),
)
app.set_default()


def connection_renew(**sent: Any) -> None:
    """A worker lives for weeks: a connection that the database has closed is let go."""
    close_old_connections()


task_prerun.connect(connection_renew)
