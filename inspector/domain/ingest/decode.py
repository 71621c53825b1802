"""Bytes of an OTLP trace export to `Span` values; pure (OTLP 1.x, OTLP/HTTP).

Two steps, so that the receiver can refuse garbage before it answers 200 and the worker
does the rest: `envelope_read` parses the body, `spans_read` walks it. Protobuf and JSON
meet in one shape: ids are lower-case hexadecimal, 64-bit numbers are ints, values are
plain Python. One bad span is refused alone and its neighbours live.
"""

import base64
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from google.protobuf.message import DecodeError as ProtobufError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from ullage.messages import well_formed

PROTOBUF = "protobuf"
JSON = "json"
MAX_INT = 2**63 - 1
MAX_DEPTH = 40  # of nested attribute values; deeper ones are told, not walked
TOO_DEEP = "(nested too deep to keep)"


class EnvelopeError(ValueError):
    """The body as a whole cannot be read; the text says what is wrong with it."""


class SpanError(ValueError):
    """One span cannot be read; the text says which field and why."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span as it was sent, in Python's own types."""

    trace_id: str  # 32 lower-case hexadecimal characters
    span_id: str  # 16
    parent_span_id: str  # 16, or "" where it has none
    name: str
    kind: int
    start_ns: int
    end_ns: int
    status_code: int = 0  # 0 unset, 1 ok, 2 error
    status_message: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    resource: Mapping[str, Any] = field(default_factory=dict)
    scope: str = ""
    events: Sequence[Mapping[str, Any]] = ()
    dropped_attribute_count: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that could not be taken in, on its way to the dead letters."""

    reason: str
    detail: str
    payload: bytes
    trace_id: str = ""
    span_id: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The raw spans of one resource and scope, and how to read one of them."""

    resource: Any
    scope: Any
    spans: Sequence[Any]
    encoding: str


def envelope_read(body: bytes, encoding: str) -> list[Group]:
    """Parse a body down to its raw spans.

    Raises:
        EnvelopeError: it is no `ExportTraceServiceRequest`.
    """
    return _protobuf_groups(body) if encoding == PROTOBUF else _json_groups(body)


def spans_read(groups: Iterable[Group]) -> Iterator[Span | Refused]:
    """The spans of an envelope, each good or refused on its own."""
    for group in groups:
        read, dump = _READERS[group.encoding]
        try:
            resource, scope = _surroundings(group)
        except SpanError as error:
            yield from (
                Refused("span_invalid", str(error), dump(s)) for s in group.spans
            )
            continue
        for raw in group.spans:
            try:
                yield read(raw, resource, scope)
            except SpanError as error:
                yield Refused("span_invalid", str(error), dump(raw))


def _surroundings(group: Group) -> tuple[dict[str, Any], str]:
    if group.encoding == PROTOBUF:
        scope = f"{group.scope.name}@{group.scope.version}".rstrip("@")
        return _protobuf_attributes(group.resource.attributes), clean_text(scope)
    named = _object(group.scope, "scope")
    scope = f"{named.get('name') or ''}@{named.get('version') or ''}".rstrip("@")
    resource = _object(group.resource, "resource")
    return _json_attributes(resource.get("attributes")), clean_text(scope)


def clean_text(text: str) -> str:
    """Text that every store and encoder takes: no NUL, no lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    return text if text.isascii() else well_formed(text)


def _number(value: float) -> float | str:
    """A finite float, or its name: JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else str(value)


# --- protobuf -------------------------------------------------------------------------
def _protobuf_groups(body: bytes) -> list[Group]:
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except ProtobufError as error:
        raise EnvelopeError(str(error)) from None
    return [
        Group(resource_spans.resource, scope_spans.scope, scope_spans.spans, PROTOBUF)
        for resource_spans in request.resource_spans
        for scope_spans in resource_spans.scope_spans
    ]


def _protobuf_span(raw: Any, resource: dict[str, Any], scope: str) -> Span:
    return Span(
        trace_id=_id_of(raw.trace_id.hex(), 32, "trace_id"),
        span_id=_id_of(raw.span_id.hex(), 16, "span_id"),
        parent_span_id=_parent_of(raw.parent_span_id.hex()),
        name=clean_text(raw.name),
        kind=raw.kind,
        start_ns=min(raw.start_time_unix_nano, MAX_INT),
        end_ns=min(raw.end_time_unix_nano, MAX_INT),
        status_code=raw.status.code,
        status_message=clean_text(raw.status.message),
        attributes=_protobuf_attributes(raw.attributes),
        resource=resource,
        scope=scope,
        events=[
            {
                "name": clean_text(event.name),
                "time_ns": min(event.time_unix_nano, MAX_INT),
                "attributes": _protobuf_attributes(event.attributes),
            }
            for event in raw.events
        ],
        dropped_attribute_count=raw.dropped_attributes_count,
    )


def _protobuf_attributes(pairs: Iterable[Any], depth: int = 0) -> dict[str, Any]:
    return {clean_text(pair.key): _protobuf_value(pair.value, depth) for pair in pairs}


def _protobuf_value(value: Any, depth: int) -> Any:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return clean_text(value.string_value)
    if kind == "double_value":
        return _number(value.double_value)
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    if depth > MAX_DEPTH:
        return TOO_DEEP
    if kind == "array_value":
        return [_protobuf_value(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _protobuf_attributes(value.kvlist_value.values, depth + 1)
    return getattr(value, kind) if kind else None


# --- JSON: lowerCamelCase, ids in hexadecimal, 64-bit numbers as text or number -------
def _json_groups(body: bytes) -> list[Group]:
    request = _json_parse(body)
    try:
        return [
            Group(
                resource_spans.get("resource"),
                scope_spans.get("scope"),
                _list(scope_spans.get("spans"), "spans"),
                JSON,
            )
            for resource_spans in _objects(_object(request, "body"), "resourceSpans")
            for scope_spans in _objects(resource_spans, "scopeSpans")
        ]
    except SpanError as error:
        raise EnvelopeError(str(error)) from None


def _json_parse(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        pass  # it refuses lone surrogates and NaN, which exporters do send
    try:
        return json.loads(body)
    except RecursionError:
        raise EnvelopeError("it is nested too deep") from None
    except ValueError as error:
        raise EnvelopeError(str(error)) from None


def _json_span(raw: Any, resource: dict[str, Any], scope: str) -> Span:
    span = _object(raw, "span")
    status = _object(span.get("status"), "status")
    return Span(
        trace_id=_id_of(_text(span, "traceId").lower(), 32, "traceId"),
        span_id=_id_of(_text(span, "spanId").lower(), 16, "spanId"),
        parent_span_id=_parent_of(_text(span, "parentSpanId").lower()),
        name=_text(span, "name"),
        kind=_json_int(span.get("kind"), "kind"),
        start_ns=_json_int(span.get("startTimeUnixNano"), "startTimeUnixNano"),
        end_ns=_json_int(span.get("endTimeUnixNano"), "endTimeUnixNano"),
        status_code=_json_int(status.get("code"), "status.code"),
        status_message=_text(status, "message"),
        attributes=_json_attributes(span.get("attributes")),
        resource=resource,
        scope=scope,
        events=[
            {
                "name": _text(event, "name"),
                "time_ns": _json_int(event.get("timeUnixNano"), "timeUnixNano"),
                "attributes": _json_attributes(event.get("attributes")),
            }
            for event in _objects(span, "events")
        ],
        dropped_attribute_count=_json_int(
            span.get("droppedAttributesCount"), "droppedAttributesCount"
        ),
    )


def _json_attributes(pairs: Any, depth: int = 0) -> dict[str, Any]:
    return {
        _text(_object(pair, "attribute"), "key"): _json_value(pair.get("value"), depth)
        for pair in _list(pairs, "attributes")
    }


def _json_value(value: Any, depth: int) -> Any:
    for kind, inner in _object(value, "value").items():
        if kind in _JSON_SCALARS:
            return _JSON_SCALARS[kind](inner)
        if depth > MAX_DEPTH:
            return TOO_DEEP
        if kind == "arrayValue":
            values = _list(_object(inner, kind).get("values"), "values")
            return [_json_value(item, depth + 1) for item in values]
        if kind == "kvlistValue":
            return _json_attributes(_object(inner, kind).get("values"), depth + 1)
    return None


def _json_double(value: Any) -> float | str:
    try:
        return _number(float(value))
    except (TypeError, ValueError):
        raise SpanError(f"doubleValue is not a number: {value!r:.60}") from None


_JSON_SCALARS: dict[str, Callable[[Any], Any]] = {
    "stringValue": lambda value: clean_text(str(value)),
    "boolValue": bool,
    "intValue": lambda value: _json_int(value, "intValue"),
    "doubleValue": _json_double,
    "bytesValue": lambda value: clean_text(str(value)),
}


def _json_int(value: Any, name: str) -> int:
    try:
        return max(-MAX_INT - 1, min(int(value or 0), MAX_INT))
    except (TypeError, ValueError, OverflowError):
        raise SpanError(f"{name} is not a whole number: {value!r:.60}") from None


def _text(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name)
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_text(value)
    raise SpanError(f"{name} is not text")


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise SpanError(f"{name} is not an object")


def _list(value: Any, name: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise SpanError(f"{name} is not a list")


def _objects(holder: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [
        _object(item, f"an item of {name}") for item in _list(holder.get(name), name)
    ]


# --- ids ------------------------------------------------------------------------------
def _id_of(text: str, length: int, name: str) -> str:
    if not _is_id(text, length):
        raise SpanError(
            f"{name} is not {length // 2} bytes that are not all zero: {text!r}"
        )
    return text


def _parent_of(text: str) -> str:
    """A parent id; what cannot be an id names no span and is no parent."""
    return text if _is_id(text, 16) else ""


def _is_id(text: str, length: int) -> bool:
    return len(text) == length and not set(text) - _HEX and set(text) != {"0"}


_HEX = set("0123456789abcdef")
_READERS: dict[str, tuple[Callable[..., Span], Callable[[Any], bytes]]] = {
    PROTOBUF: (_protobuf_span, lambda raw: raw.SerializeToString()),
    JSON: (_json_span, lambda raw: json.dumps(raw, default=str).encode()),
}
