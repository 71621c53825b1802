"""Recordings: read back as they were written, and moved so that they end now."""

from inspector.domain.demo.rules import (
    make_current,
    recording_read,
    recording_write,
    trace_ids_of,
)
from tests.support.otlp import SECOND_NS, TRACE_ID, export, span

NOW_NS = 1_900_000_000 * SECOND_NS


def test_a_recording_reads_back_and_has_one_form():
    requests = [export([span("a")]), export([span("b"), span("c")])]
    packed = recording_write(requests)
    assert recording_read(packed) == requests
    assert recording_write(recording_read(packed)) == packed
    assert trace_ids_of(requests) == {TRACE_ID}


def test_all_requests_move_together_and_are_labelled():
    first, last = span("a", start_s=0), span("b", start_s=50, end_s=60)
    first.events.add(name="e", time_unix_nano=first.start_time_unix_nano)
    requests = [export([first]), export([last])]
    make_current(requests, now_ns=NOW_NS)
    moved, end = (r.resource_spans[0].scope_spans[0].spans[0] for r in requests)
    assert end.end_time_unix_nano == NOW_NS
    assert moved.start_time_unix_nano == NOW_NS - 60 * SECOND_NS
    assert moved.events[0].time_unix_nano == moved.start_time_unix_nano
    for request in requests:
        label = request.resource_spans[0].resource.attributes[-1]
        assert (label.key, label.value.bool_value) == ("ullage.demo", True)


def test_no_recordings_are_no_requests():
    make_current([], now_ns=NOW_NS)
    assert trace_ids_of([]) == set()
