"""A fresh clone, one command, and a page: how long, and how many megabytes.

Needs the package registry, or a warm cache of it.
"""

import re
import subprocess
import time

import pytest

from tests.support.environment import REPOSITORY
from tests.support.inspector import free_port, running
from tests.support.pages import PlainBrowser

FIRST_PAGE_SECONDS = 60
INSTALLED_MEGABYTES = 150
FIRST_RUNS = 20
RUN_LINK = re.compile(r'href="/p/main/runs/([0-9a-f-]+)["?]')


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", REPOSITORY, folder], check=True)
    return folder


def test_a_fresh_clone_shows_its_demo_runs(clone):
    """`make run` in a fresh clone shows twenty runs within a minute and 150 MB."""
    start = time.monotonic()
    browser = PlainBrowser()
    with running(["make", "run", f"PORT={free_port()}"], clone, {}) as inspector:
        _, _, page = browser.open(inspector.link)
        first_page_seconds = time.monotonic() - start
        while len(set(RUN_LINK.findall(page))) < FIRST_RUNS:
            assert time.monotonic() - start < FIRST_PAGE_SECONDS, page
            time.sleep(0.2)
            _, _, page = browser.open(f"{inspector.url}/p/main/runs")
        first_runs_seconds = time.monotonic() - start
        installed = megabytes(clone / ".venv")
    print(
        f"\nmake run in a fresh clone: first page after {first_page_seconds:.1f} s,"
        f" {FIRST_RUNS} runs after {first_runs_seconds:.1f} s,"
        f" {installed} MB installed"
    )
    assert first_runs_seconds <= FIRST_PAGE_SECONDS
    assert installed <= INSTALLED_MEGABYTES


def megabytes(folder):
    told = subprocess.run(["du", "-sm", folder], capture_output=True, text=True)
    return int(told.stdout.split()[0])
