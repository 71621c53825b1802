"""The face: what is public, and that importing it does nothing."""

import os
import subprocess
import sys

import pytest

import ullage
from ullage import errors

SIDE_EFFECTS = """
import logging, os, socket, sys, threading, warnings

def forbidden(*args, **kwargs):
    raise AssertionError("importing ullage did something")

handlers, level = logging.root.handlers[:], logging.root.level
environment, filters = dict(os.environ), warnings.filters[:]
socket.socket.connect = forbidden
threading.Thread.start = forbidden
import ullage
from opentelemetry import trace

assert logging.root.handlers == handlers and logging.root.level == level
assert logging.getLogger("ullage").handlers == []
assert dict(os.environ) == environment and warnings.filters == filters
assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
assert not [name for name in sys.modules if name.startswith("ullage.integrations")]
print(sorted(name.partition(".")[0] for name in sys.modules))
"""


def in_a_fresh_interpreter(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_is_sorted_and_everything_in_it_is_there():
    assert list(ullage.__all__) == sorted(ullage.__all__)
    assert all(hasattr(ullage, name) for name in ullage.__all__)


def test_every_error_is_public():
    found = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert found <= set(ullage.__all__)


@pytest.mark.parametrize("name", sorted(ullage.__all__))
def test_what_is_public_is_documented(name):
    documented = getattr(ullage, name).__doc__ or ""
    assert len(documented.split()) >= 3


def test_importing_it_has_no_side_effect():
    modules = in_a_fresh_interpreter(SIDE_EFFECTS, ULLAGE_ENDPOINT="http://localhost:9")
    assert "'opentelemetry'" in modules
    assert "'django'" not in modules
    assert "'httpx'" not in modules


def test_without_an_opentelemetry_sdk_a_run_works_all_the_same():
    code = """
import ullage
manager = ullage.ContextWindowManager(model="any-model")
with manager.run() as run:
    fit = run.fit([{"role": "user", "content": "hi"}])
    run.observe(ullage.Usage(input_tokens=9))
print(fit.messages)
"""
    assert in_a_fresh_interpreter(code) == "[{'role': 'user', 'content': 'hi'}]\n"
