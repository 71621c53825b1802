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
from inspector.tasks.bell import ring
from inspector.wsgi import application

log = logging.getLogger(__name__)


class Embedded:
    """The two threads beside the web server.

    They end with the main thread: the scheduler waits for it, then asks the worker to
    stop after the task at hand, and the interpreter waits for both.
    """

    def __init__(self) -> None:
        self._worker: Any = app.WorkController(
            pool_cls="solo",
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )

    def start(self) -> None:
        """Free what a killed process had claimed, then begin."""
        claims_release()
        for work in (self._work, self._schedule):
            threading.Thread(target=work, name=work.__name__.strip("_")).start()

    def _work(self) -> None:
        try:
            self._worker.start()
        except Exception:
            log.exception("the embedded worker ended")

    def _schedule(self) -> None:
        main = threading.main_thread()
        while main.is_alive():
            ring()
            main.join(SWEEP_SECONDS)
        self._worker.stop()


def application_start() -> Any:
    """The WSGI application, with the worker beside it."""
    if settings.WORKER_ENABLED:
        Embedded().start()
    return application
