"""What every test needs: a clean environment, sockets that stay here, marks by folder.

Runs without Django too: tests/packaging runs the SDK's unit tests against its wheel.
"""

import os
import socket

import pytest

from tests.support.environment import (
    REPOSITORY,
    SHARED_DATA,
    clean_environment,
    loopback_only,
)

TESTS = REPOSITORY / "tests"
TIMEOUT_SECONDS = {"browser": 180, "bench": 600, "packaging": 300}
SERVICES = {
    "PostgreSQL": "ULLAGE_TEST_DATABASE_URL",
    "Redis": "ULLAGE_TEST_BROKER_URL",
}

clean_environment()


def pytest_collection_modifyitems(items):
    for item in items:
        kind = item.path.relative_to(TESTS).parts[0]
        if kind in TIMEOUT_SECONDS:
            item.add_marker(getattr(pytest.mark, kind))
            item.add_marker(pytest.mark.timeout(TIMEOUT_SECONDS[kind]))
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared_data)


def pytest_terminal_summary(terminalreporter, config):
    absent = {name: var for name, var in SERVICES.items() if not os.environ.get(var)}
    is_whole_run = config.args == config.getini("testpaths")
    if absent and is_whole_run:
        names, variables = " and ".join(absent), " and ".join(absent.values())
        terminalreporter.write_line(f"not run on {names}: set {variables}")


@pytest.fixture(autouse=True, scope="session")
def sockets_stay_here():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, loopback_only(name))
        yield


@pytest.fixture(scope="session")
def shared_data():
    """The folder of transcripts, corpus and recorded OTLP, where it exists."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder ../shared/data is not here")
    return SHARED_DATA
