"""`ullage.configure`: what it needs, and when it does nothing.

What it sends is tested over real HTTP: tests/integration/sdk/test_configure_export.py.
"""

import sys

import pytest
from opentelemetry import trace

import ullage


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for name in ("ULLAGE_ENDPOINT", "ULLAGE_API_KEY", "ULLAGE_DISABLED"):
        monkeypatch.delenv(name, raising=False)


def test_without_an_endpoint_it_says_what_to_do():
    with pytest.raises(ullage.ConfigurationError, match="set ULLAGE_ENDPOINT"):
        ullage.configure()


@pytest.mark.parametrize("value", ["1", "true", "Yes"])
def test_it_can_be_switched_off(monkeypatch, value):
    before = trace.get_tracer_provider()
    monkeypatch.setenv("ULLAGE_DISABLED", value)
    ullage.configure(endpoint="http://localhost:9")
    assert trace.get_tracer_provider() is before


def test_without_the_extra_it_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ullage.ConfigurationError, match=r"ullage\[otel\]"):
        ullage.configure(endpoint="http://localhost:9")
