"""Helpers for tests of code that uses Ullage."""

from collections.abc import Iterator
from contextlib import contextmanager

from ullage.telemetry import guard


@contextmanager
def strict_telemetry() -> Iterator[None]:
    """Within this block, an error inside telemetry is raised and not swallowed."""
    before, guard.is_strict = guard.is_strict, True
    try:
        yield
    finally:
        guard.is_strict = before
