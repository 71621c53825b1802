"""Bytes to spans: both encodings meet in one shape, and one bad span stays alone."""

import json
import math

import pytest

from inspector.domain.ingest.decode import (
    JSON,
    MAX_INT,
    PROTOBUF,
    TOO_DEEP,
    EnvelopeError,
    Refused,
    clean_text,
    envelope_read,
    spans_read,
)
from tests.support.otlp import TRACE_ID, attributes, export, export_json, span


def read(body, encoding=PROTOBUF):
    return list(spans_read(envelope_read(body, encoding)))


def read_json(**fields):
    """One JSON span with these fields on top of what every span needs."""
    good = {"traceId": TRACE_ID, "spanId": "ab" * 8, "name": "x"}
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [{**good, **fields}]}]}]}
    (found,) = read(json.dumps(body).encode(), JSON)
    return found


def value_of(value):
    """A JSON attribute value, read."""
    return read_json(attributes=[{"key": "k", "value": value}]).attributes["k"]


def test_both_encodings_give_the_same_spans():
    everything = {
        "text": "a",
        "number": 107505301260286111,
        "ratio": 0.5,
        "yes": True,
        "list": ["a", 1, [2.5]],
        "map": {"inner": {"x": 1}},
    }
    made = span("chat", everything, span_id="AB" * 8, parent="cd" * 8, error="no")
    request = export([made, span("second")], {"service.name": "s"})
    from_protobuf = read(request.SerializeToString())
    assert from_protobuf == read(export_json(request), JSON)
    first = from_protobuf[0]
    assert first.attributes == everything
    assert (first.span_id, first.parent_span_id) == ("ab" * 8, "cd" * 8)
    assert (first.status_code, first.status_message) == (2, "no")
    assert (first.resource, first.scope) == ({"service.name": "s"}, "tests")


def test_events_are_kept():
    made = span("x")
    event = made.events.add(name="exception", time_unix_nano=5)
    event.attributes.extend(attributes({"exception.message": "boom"}))
    (found,) = read(export([made]).SerializeToString())
    as_json = read_json(
        events=[
            {
                "name": "exception",
                "timeUnixNano": "5",
                "attributes": [
                    {"key": "exception.message", "value": {"stringValue": "boom"}}
                ],
            }
        ]
    )
    assert found.events == as_json.events
    assert found.events[0]["attributes"] == {"exception.message": "boom"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"intValue": "12"}, 12, id="number as text"),
        pytest.param({"intValue": 12}, 12, id="number"),
        pytest.param({"intValue": "9" * 30}, MAX_INT, id="beyond 64 bits"),
        pytest.param({"doubleValue": "NaN"}, "nan", id="NaN as text"),
        pytest.param({"doubleValue": math.inf}, "inf", id="infinity"),
        pytest.param({"bytesValue": "AQI="}, "AQI=", id="bytes stay base64"),
        pytest.param({}, None, id="empty"),
        pytest.param({"newKindValue": 1}, None, id="a kind of the future"),
        pytest.param({"stringValue": "a\0b\ud83e"}, "a\ufffdb\ufffd", id="unclean"),
    ],
)
def test_json_values(value, expected):
    assert value_of(value) == expected


def test_bytes_of_protobuf_become_base64():
    (found,) = read(export([span("x", {"b": b"\x01\x02"})]).SerializeToString())
    assert found.attributes == {"b": "AQI="}


@pytest.mark.parametrize("encoding", [PROTOBUF, JSON])
def test_values_nested_too_deep_are_told_and_not_walked(encoding):
    deep = "end"
    for _ in range(45):
        deep = [deep]
    request = export([span("x", {"deep": deep})])
    body = request.SerializeToString() if encoding == PROTOBUF else export_json(request)
    (found,) = read(body, encoding)
    assert TOO_DEEP in json.dumps(found.attributes)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"traceId": ""}, "traceId is not 16 bytes"),
        ({"traceId": "0" * 32}, "not all zero"),
        ({"spanId": "xyz"}, "spanId is not 8 bytes"),
        ({"name": 7}, "name is not text"),
        ({"attributes": {}}, "attributes is not a list"),
        ({"attributes": ["x"]}, "attribute is not an object"),
        ({"events": "x"}, "events is not a list"),
        ({"startTimeUnixNano": "soon"}, "startTimeUnixNano is not a whole number"),
        ({"kind": "SERVER"}, "kind is not a whole number"),
        (
            {"attributes": [{"key": "k", "value": {"doubleValue": "x"}}]},
            "doubleValue is not a number",
        ),
    ],
)
def test_a_bad_json_span_says_which_field(fields, words):
    refused = read_json(**fields)
    assert isinstance(refused, Refused)
    assert words in refused.detail
    assert json.loads(refused.payload)


def test_a_resource_that_cannot_be_read_refuses_only_its_own_spans():
    body = json.loads(export_json(export([span("lost")])))
    body["resourceSpans"][0]["resource"] = {"attributes": "x"}
    body["resourceSpans"] += json.loads(export_json(export([span("kept")])))[
        "resourceSpans"
    ]
    lost, kept = read(json.dumps(body).encode(), JSON)
    assert (lost.reason, kept.name) == ("span_invalid", "kept")


def test_a_parent_that_is_no_id_names_no_span():
    assert read_json(parentSpanId="zz").parent_span_id == ""


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"\xff" * 9, PROTOBUF),
        (b"no", JSON),
        (b"[]", JSON),
        (b'{"resourceSpans": [1]}', JSON),
        (b"[" * 100_000, JSON),
    ],
)
def test_what_is_no_export_is_an_envelope_error(body, encoding):
    with pytest.raises(EnvelopeError):
        envelope_read(body, encoding)


def test_clean_text_leaves_clean_text_alone():
    assert clean_text("漢字 and 🦊") == "漢字 and 🦊"
