"""The demo runs are real: recorded again, they decide as the committed ones did."""

import gzip
import itertools
from collections import Counter
from pathlib import Path

import pytest

from inspector.domain.demo.rules import recording_read, spans_of
from tests.support.demo.recordings import FOLDER, packed, recorded
from tests.support.environment import REPOSITORY
from ullage import semconv

MAX_BYTES = 1_000_000
MAX_ATTRIBUTES = 60
HTTP_SCOPE = "opentelemetry.instrumentation.httpx"


@pytest.fixture(scope="module")
def recordings():
    """Every scenario, run again now."""
    return recorded()


@pytest.fixture(scope="module")
def runs():
    """The committed runs: for each, its spans as (name, attributes, span)."""
    return [
        [(span.name, plain_attributes(span), span) for span in spans_of(request)]
        for path in committed()
        for request in recording_read(path.read_bytes())
    ]


def plain_attributes(span):
    """A span's attributes as Python values."""
    return {pair.key: plain(pair.value) for pair in span.attributes}


def plain(value):
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    return getattr(value, kind)


def committed():
    return sorted(FOLDER.glob("*.otlp.gz"))


def decisions(packed_file):
    """What our own spans say, in order; HTTP is the business of its instrumentation."""
    return [
        (span.name, plain_attributes(span))
        for request in recording_read(packed_file)
        for group in request.resource_spans
        for scope in group.scope_spans
        if scope.scope.name != HTTP_SCOPE
        for span in scope.spans
    ]


def first_difference(before, now):
    """The first span that differs and how, "" where all are the same."""
    for (name, old), (new_name, new) in zip(before, now, strict=False):
        keys = sorted(k for k in old | new if old.get(k) != new.get(k))
        if name != new_name or keys:
            run = f"{name} ({new_name}) of call {old.get(semconv.CALL_INDEX)}"
            return "\n".join(
                [run, *(f"{key}: {old.get(key)!r} != {new.get(key)!r}" for key in keys)]
            )
    return "" if len(before) == len(now) else f"{len(before)} != {len(now)} spans"


def test_a_new_recording_decides_the_same(recordings):
    """Plans, views, estimates, usage and reasons; if a change is meant: `make demo`."""
    files = packed(recordings)
    assert sorted(files) == [path.name for path in committed()]
    for path in committed():
        before, now = decisions(path.read_bytes()), decisions(files[path.name])
        assert first_difference(before, now) == "", path.name


def test_no_prompt_was_too_long_and_none_was_malformed(recordings):
    assert sum(r.overflows for r in recordings) == 0
    planned = {
        r.scenario.name for r in recordings if r.results[-1].reason == "provider_failed"
    }
    violations = {r.scenario.name: r.violations for r in recordings if r.violations}
    assert violations == {name: Counter(script_failed=1) for name in planned}


def test_every_call_holds_its_http_request(runs):
    for spans in runs:
        calls = [s.span_id for name, _, s in spans if name.startswith("chat ")]
        http = [s.parent_span_id for name, _, s in spans if name == "POST"]
        assert sorted(http) == sorted(calls)
    assert sum(name == "POST" for spans in runs for name, *_ in spans) > 500


def test_the_runs_end_in_many_ways(runs):
    roots = [root_of(spans)[0] for spans in runs]
    reasons = Counter(root[semconv.RUN_REASON] for root in roots)
    prunes = [root[semconv.RUN_PRUNES] for root in roots]
    talks = Counter(root.get(semconv.CONVERSATION_ID) for root in roots)
    assert len(runs) >= 60
    assert len({root[semconv.AGENT_NAME] for root in roots}) == 5
    assert sum(count > 0 for count in prunes) >= 15
    assert sum(count > 2 for count in prunes) >= 8
    assert sum(talk is not None and count > 3 for talk, count in talks.items()) == 2
    assert reasons["context_truncated"] >= 5
    assert set(reasons) == {
        "completed",
        "context_truncated",
        "max_iterations",
        "provider_failed",
    }


def test_the_runs_are_of_many_models_and_windows(runs):
    attributes = [a for spans in runs for _, a, _ in spans]
    assert len(distinct(attributes, semconv.REQUEST_MODEL)) >= 6
    assert len(distinct(attributes, semconv.WINDOW_TOKENS)) >= 8
    assert distinct(attributes, semconv.WINDOW_SOURCE) == {
        "catalogue",
        "explicit",
        "fallback",
    }
    assert distinct(attributes, semconv.CALL_SITE) == {"tools", "synthesis"}


def test_every_part_of_a_window_can_be_too_large(runs):
    attributes = [a for spans in runs for _, a, _ in spans]
    assert distinct(attributes, semconv.TRUNCATE_COMPONENT) == {
        "conversation",
        "reserve",
        "system",
        "tools",
    }


def test_some_content_costs_more_than_was_estimated(runs):
    attributes = [a for spans in runs for _, a, _ in spans]
    assert min(distinct(attributes, semconv.CALIBRATE_DRIFT_RATIO)) < 1
    assert max(distinct(attributes, semconv.CALIBRATION_FACTOR)) > 1


def root_of(spans):
    """Attributes and span of the run itself."""
    (root,) = ((a, s) for name, a, s in spans if name.startswith("invoke_agent"))
    return root


def distinct(attributes, name):
    return {a[name] for a in attributes if name in a}


def test_tools_really_failed_at_times(runs):
    errors = Counter(
        a.get(semconv.ERROR_TYPE)
        for spans in runs
        for name, a, _ in spans
        if name.startswith("execute_tool ")
    )
    assert {"IndexError", "KeyError", "LookupError", "OperationalError"} <= set(errors)


def test_times_are_those_of_two_days(runs):
    starts, ends = [], []
    for spans in runs:
        _, root = root_of(spans)
        starts.append(root.start_time_unix_nano)
        ends.append(root.end_time_unix_nano)
        for *_, span in spans:
            assert root.start_time_unix_nano <= span.start_time_unix_nano
            assert span.start_time_unix_nano < span.end_time_unix_nano
            assert span.end_time_unix_nano <= root.end_time_unix_nano
    assert 36 < (max(ends) - min(starts)) / 3600e9 < 50
    assert len(set(starts)) == len(runs)


def test_no_span_is_overfull(runs):
    for spans in runs:
        for name, attributes, span in spans:
            assert len(attributes) <= MAX_ATTRIBUTES, name
            assert span.dropped_attributes_count == 0


def test_ids_are_unique(runs):
    spans = list(itertools.chain.from_iterable(runs))
    assert len({s.trace_id for *_, s in spans}) == len(runs)
    assert len({s.span_id for *_, s in spans}) == len(spans)


def test_the_files_are_small_and_tell_nothing_of_a_machine():
    assert sum(path.stat().st_size for path in committed()) <= MAX_BYTES
    traces = [str(REPOSITORY), f"{Path.home()}/", "site-packages", "tests/support/demo"]
    for path in committed():
        plain = gzip.decompress(path.read_bytes())
        told = [trace for trace in traces if trace != "//" and trace.encode() in plain]
        assert told == [], path.name
