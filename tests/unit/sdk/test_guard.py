"""Telemetry never breaks the host, and its tests can see what broke."""

import logging

import pytest

from ullage.telemetry import Guard, guard
from ullage.testing import strict_telemetry


@guard
def broken():
    raise RuntimeError("the exporter is gone")


def test_what_fails_is_logged_and_swallowed(caplog):
    with caplog.at_level(logging.WARNING, logger="ullage"):
        broken()
    (record,) = caplog.records
    assert record.exc_info[0] is RuntimeError


def test_under_test_it_is_raised():
    with strict_telemetry(), pytest.raises(RuntimeError, match="gone"):
        broken()
    broken()


def test_the_mode_is_put_back_after_an_error():
    with pytest.raises(KeyError), strict_telemetry():
        raise KeyError
    assert not guard.is_strict


def test_strictness_is_the_guards_own():
    assert not Guard().is_strict


def test_an_interrupt_goes_through():
    @guard
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
