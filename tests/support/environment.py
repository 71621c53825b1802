"""The process as a test should find it: nothing inherited, no way off this machine."""

import ipaddress
import os
import socket
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED_DATA = REPOSITORY.parent / "shared" / "data"

TEST_PREFIX = "ULLAGE_TEST_"
FOREIGN_PREFIXES = ("ULLAGE_", "OTEL_")


class LeftLoopbackError(AssertionError):
    """A test tried to reach another machine."""


def clean_environment() -> None:
    """Forget what the tester's shell would tell the SDK or the inspector."""
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES) and not name.startswith(TEST_PREFIX):
            del os.environ[name]


def is_loopback(address: object) -> bool:
    """Whether a socket address is a Unix socket or stays on this machine."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def loopback_only(method: str) -> Callable[[socket.socket, object], object]:
    """The socket's `connect` or `connect_ex`, refusing every other machine."""
    original = getattr(socket.socket, method)

    def guarded(connection: socket.socket, address: object) -> object:
        if not is_loopback(address):
            raise LeftLoopbackError(f"tests stay on this machine, not {address!r}")
        return original(connection, address)

    return guarded
