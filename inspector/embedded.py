"""The one-machine profile: web, Celery worker and scheduler as threads of one process.

granian calls `application_start` in its single worker process. Celery's solo worker
runs on a memory broker, which forgets everything at exit; the inbox does not, and the
scheduler sweeps it at start and every two seconds.
"""

import logging
import threading
from typing import Any

from django.conf import settings

from inspector.celery import SWEEP_SECONDS, app
from inspector.domain.ingest.services import claims_release
from inspector.tasks.ingest import ingest_sweep
from inspector.wsgi import application

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0


class Embedded:
    """The threads beside the web server, started and stopped together."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._worker: Any = app.WorkController(
            pool_cls="solo",
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        self._threads = [
            threading.Thread(target=self._work, name="celery-worker", daemon=True),
            threading.Thread(target=self._schedule, name="scheduler", daemon=True),
        ]

    def start(self) -> None:
        """Free what a killed process had claimed, then begin."""
        claims_release()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End after the task at hand."""
        self._stopping.set()
        self._worker.stop()
        for thread in self._threads:
            thread.join(STOP_SECONDS)

    def _work(self) -> None:
        try:
            self._worker.start()
        except Exception:
            log.exception("the embedded worker ended")

    def _schedule(self) -> None:
        while not self._stopping.is_set():
            ingest_sweep.delay()
            self._stopping.wait(SWEEP_SECONDS)


def application_start() -> Any:
    """The WSGI application, with the worker beside it."""
    if settings.WORKER_ENABLED:
        Embedded().start()
    return application
