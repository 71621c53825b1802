"""Tells the workers that something waits, without making anybody wait or fail.

A thread of its own publishes, so a slow or absent broker costs a request nothing; many
rings in a row are one. What a lost bell would have said, the sweep finds within two
seconds.
"""

import logging
import threading

from inspector.tasks.ingest import ingest_sweep

log = logging.getLogger(__name__)


class Bell:
    """One publishing thread for a process, started by the first ring."""

    def __init__(self) -> None:
        self._rung = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def ring(self) -> None:
        """Ask for a sweep soon; returns at once."""
        self._rung.set()
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._publish_forever, name="bell", daemon=True
                    )
                    self._thread.start()

    def _publish_forever(self) -> None:
        while True:
            self._rung.wait()
            self._rung.clear()
            try:
                ingest_sweep.delay()
            except Exception as error:  # noqa: BLE001 - each broker has its own
                log.warning("the broker could not be told: %s", error)


ring = Bell().ring
