"""The ground under every test: nothing inherited, nothing beyond this machine."""

import os
import socket

import pytest

from tests.support.environment import (
    LeftLoopbackError,
    clean_environment,
    is_loopback,
)


@pytest.mark.parametrize("name", ["ULLAGE_ENDPOINT", "OTEL_SERVICE_NAME"])
def test_settings_of_the_shell_do_not_reach_tests(monkeypatch, name):
    monkeypatch.setenv(name, "http://elsewhere")
    clean_environment()
    assert name not in os.environ


def test_what_the_tester_names_is_kept(monkeypatch):
    monkeypatch.setenv("ULLAGE_TEST_DATABASE_URL", "postgres://here")
    clean_environment()
    assert os.environ["ULLAGE_TEST_DATABASE_URL"] == "postgres://here"


@pytest.mark.parametrize(
    ("address", "stays"),
    [
        (("127.0.0.1", 80), True),
        (("::1", 80, 0, 0), True),
        (("localhost", 80), True),
        ("/tmp/a.sock", True),
        (("192.0.2.1", 80), False),
        (("example.org", 80), False),
    ],
)
def test_loopback_is_told_from_the_rest(address, stays):
    assert is_loopback(address) is stays


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_a_socket_cannot_leave_this_machine(method):
    with socket.socket() as connection, pytest.raises(LeftLoopbackError):
        getattr(connection, method)(("192.0.2.1", 80))
