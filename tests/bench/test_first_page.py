"""A fresh clone, one command, and a page: how long, and how many megabytes.

Needs the package registry, or a warm cache of it.
"""

import re
import subprocess
import time

import pytest

from tests.support.environment import REPOSITORY
from tests.support.process import InspectorProcess, until

FIRST_PAGE_SECONDS = 60
INSTALLED_MEGABYTES = 150
FIRST_RUNS = 20
RUN_LINK = re.compile(r'href="/p/main/runs/([0-9a-f-]+)["?]')


class MadeInspector(InspectorProcess):
    """`make run` in a clone."""

    def _command(self, *arguments):
        return ["make", "--directory", self.data_dir.parent, "run", f"PORT={self.port}"]


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", REPOSITORY, folder], check=True)
    return folder


def test_a_fresh_clone_shows_its_demo_runs(clone):
    """`make run` in a fresh clone shows twenty runs within a minute and 150 MB."""
    start = time.monotonic()
    with MadeInspector(clone / "var") as inspector:
        inspector.get(inspector.start_path)
        first_page_seconds = time.monotonic() - start
        until(lambda: shown_runs(inspector) >= FIRST_RUNS, "the demo runs")
        first_runs_seconds = time.monotonic() - start
        installed = megabytes(clone / ".venv")
    print(
        f"\nmake run in a fresh clone: first page after {first_page_seconds:.1f} s,"
        f" {FIRST_RUNS} runs after {first_runs_seconds:.1f} s,"
        f" {installed} MB installed"
    )
    assert first_runs_seconds <= FIRST_PAGE_SECONDS
    assert installed <= INSTALLED_MEGABYTES


def shown_runs(inspector):
    return len(set(RUN_LINK.findall(inspector.get("/p/main/runs")[1])))


def megabytes(folder):
    told = subprocess.run(["du", "-sm", folder], capture_output=True, text=True)
    return int(told.stdout.split()[0])
