"""The bell makes nobody wait and fails nobody; a real worker hears it."""

import os
import subprocess
import sys
import threading
import time

import pytest

from inspector.tasks import bell
from tests.support.environment import REPOSITORY
from tests.support.process import until

CELERY = [sys.executable, "-m", "celery", "--app", "inspector.celery"]


class Publisher:
    """Stands in for the task at our own seam: counts, and does as it is told."""

    def __init__(self, failure=None):
        self.failure = failure
        self.count = 0
        self.gate = threading.Event()

    def delay(self):
        self.gate.wait(5)
        self.count += 1
        if self.failure:
            raise self.failure


def test_a_slow_broker_costs_the_caller_nothing_and_rings_are_one(monkeypatch):
    publisher = Publisher()
    monkeypatch.setattr(bell, "ingest_sweep", publisher)
    ringing = bell.Bell()
    began = time.monotonic()
    for _ in range(100):
        ringing.ring()
    assert time.monotonic() - began < 1
    publisher.gate.set()
    until(lambda: publisher.count, "the bell")
    assert publisher.count <= 2


def test_a_broker_that_fails_is_told_again(monkeypatch):
    publisher = Publisher(ConnectionError("no broker"))
    publisher.gate.set()
    monkeypatch.setattr(bell, "ingest_sweep", publisher)
    ringing = bell.Bell()
    ringing.ring()
    until(lambda: publisher.count == 1, "the first ring")
    ringing.ring()
    until(lambda: publisher.count == 2, "the second ring")


@pytest.mark.timeout(120)
@pytest.mark.skipif(
    not os.environ.get("ULLAGE_TEST_BROKER_URL"), reason="needs a broker of its own"
)
def test_a_worker_of_the_team_profile_hears_the_bell(tmp_path):
    """`celery --app inspector.celery worker` on a real broker runs the sweep."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "inspector.settings",
        "ULLAGE_INSPECTOR_BROKER_URL": os.environ["ULLAGE_TEST_BROKER_URL"],
        "ULLAGE_INSPECTOR_DATA_DIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "inspector.management.cli", "migrate"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    log = tmp_path / "worker.txt"
    with log.open("wb") as output:
        worker = subprocess.Popen(
            [*CELERY, "worker", "--pool", "solo", "--loglevel", "info"],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=REPOSITORY,
        )
    try:
        until(lambda: b"ready" in log.read_bytes(), "the worker")
        ring = (
            "from inspector.celery import app; app.send_task('inspector.ingest_sweep')"
        )
        subprocess.run([sys.executable, "-c", ring], env=environment, check=True)
        until(lambda: b"succeeded" in log.read_bytes(), "the sweep")
    finally:
        worker.terminate()
        worker.wait(20)
