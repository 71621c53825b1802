"""OTLP payloads as exporters make them, with the official protobuf classes.

`span` and `export` build any request; `WireRun` speaks our own wire (docs/wire.md) by
hand, so that the inspector is tested without the SDK.
"""

import gzip
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from ullage import semconv
from ullage.messages import canonical_bytes, digest_of, extend_view

SECOND_NS = 1_000_000_000
START_NS = 1_764_500_000 * SECOND_NS
TRACE_ID = "11" * 16
_ids = itertools.count(1)


def any_value(value: Any) -> AnyValue:
    """A Python value as OTLP carries it."""
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, bytes):
        return AnyValue(bytes_value=value)
    answer = AnyValue()
    if isinstance(value, Mapping):
        answer.kvlist_value.values.extend(attributes(value))
    elif isinstance(value, Sequence):
        answer.array_value.values.extend(any_value(item) for item in value)
    return answer


def attributes(named: Mapping[str, Any]) -> list[KeyValue]:
    """Attributes in the given order."""
    return [KeyValue(key=name, value=any_value(value)) for name, value in named.items()]


def span(
    name: str,
    named: Mapping[str, Any] | None = None,
    *,
    trace_id: str = TRACE_ID,
    span_id: str = "",
    parent: str = "",
    start_s: float = 0.0,
    end_s: float | None = None,
    error: str | None = None,
) -> Span:
    """A span that starts `start_s` seconds after the beginning and lasts one second."""
    made = Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=bytes.fromhex(span_id or f"{next(_ids):016x}"),
        parent_span_id=bytes.fromhex(parent),
        name=name,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=START_NS + int(start_s * SECOND_NS),
        end_time_unix_nano=START_NS
        + int((start_s + 1 if end_s is None else end_s) * SECOND_NS),
        attributes=attributes(named or {}),
    )
    if error is not None:
        made.status.code = Status.STATUS_CODE_ERROR
        made.status.message = error
    return made


def export(
    spans: Iterable[Span], resource: Mapping[str, Any] | None = None
) -> ExportTraceServiceRequest:
    """One export request of one resource and one scope."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(attributes(resource or {"service.name": "tests"}))
    scope = group.scope_spans.add()
    scope.scope.name = "tests"
    scope.spans.extend(spans)
    return request


def export_json(request: ExportTraceServiceRequest) -> bytes:
    """The same request as OTLP/JSON: hexadecimal ids, 64-bit numbers as text."""
    return json.dumps(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": _json_pairs(group.resource.attributes)},
                    "scopeSpans": [
                        {
                            "scope": {"name": scope.scope.name},
                            "spans": [_json_span(one) for one in scope.spans],
                        }
                        for scope in group.scope_spans
                    ],
                }
                for group in request.resource_spans
            ]
        }
    ).encode()


def _json_span(one: Span) -> dict[str, Any]:
    return {
        "traceId": one.trace_id.hex().upper(),
        "spanId": one.span_id.hex(),
        "parentSpanId": one.parent_span_id.hex(),
        "name": one.name,
        "kind": one.kind,
        "startTimeUnixNano": str(one.start_time_unix_nano),
        "endTimeUnixNano": one.end_time_unix_nano,
        "attributes": _json_pairs(one.attributes),
        "status": {"code": one.status.code, "message": one.status.message},
    }


def _json_pairs(pairs: Iterable[KeyValue]) -> list[dict[str, Any]]:
    return [{"key": pair.key, "value": _json_value(pair.value)} for pair in pairs]


def _json_value(value: AnyValue) -> dict[str, Any]:
    kind = value.WhichOneof("value")
    if kind == "int_value":
        return {"intValue": str(value.int_value)}
    if kind == "array_value":
        values = [_json_value(item) for item in value.array_value.values]
        return {"arrayValue": {"values": values}}
    if kind == "kvlist_value":
        return {"kvlistValue": {"values": _json_pairs(value.kvlist_value.values)}}
    names = {"string_value": "stringValue", "bool_value": "boolValue"}
    name = names.get(str(kind), "doubleValue")
    return {name: getattr(value, str(kind))} if kind else {}


def gzipped(body: bytes) -> bytes:
    """The body as it travels with Content-Encoding: gzip."""
    return gzip.compress(body)


def text_message(role: str, text: str) -> dict[str, Any]:
    """A GenAI message of one text part."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


class WireRun:
    """One run as the SDK tells it: call after call, each message described once.

    `calls` send views of messages (GenAI mappings); `with_bodies` is content level
    full.
    """

    def __init__(
        self,
        *,
        trace_id: str = TRACE_ID,
        run_span_id: str = "a" * 16,
        with_bodies: bool = True,
        window_tokens: int = 8000,
    ) -> None:
        self.trace_id = trace_id
        self.run_span_id = run_span_id
        self.with_bodies = with_bodies
        self.window_tokens = window_tokens
        self.spans: list[Span] = []
        self._views: list[tuple[str, ...]] = []
        self._described: set[str] = set()

    @property
    def run_id(self) -> str:
        """As the inspector names the run."""
        return f"{self.trace_id}-{self.run_span_id}"

    def call(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        reply: Mapping[str, Any] | None = None,
        input_tokens: int | None = 1000,
        estimate_tokens: int = 1100,
        dropped_units: int = 0,
        units: Mapping[int, int] | None = None,
        name: str = "chat gpt-5-mini",
        **extra: Any,
    ) -> Span:
        """A call span that sends these messages; `units` maps position to unit."""
        index = len(self._views)
        digests = tuple(digest_of(canonical_bytes(m)) for m in messages)
        base = max(
            (view for view in self._views if digests[: len(view)] == view),
            key=len,
            default=(),
        )
        self._views.append(digests)
        units = units or {}
        described = [(m, units.get(p, p)) for p, m in enumerate(messages)]
        if reply is not None:
            described.append((reply, len(messages)))
        shapes, bodies = self._describe(described)
        named = {
            **self._own(index),
            semconv.OPERATION_NAME: "chat",
            semconv.REQUEST_MODEL: "gpt-5-mini",
            semconv.WINDOW_TOKENS: self.window_tokens,
            semconv.ESTIMATE_TOKENS: estimate_tokens,
            semconv.BUDGET_TOKENS: self.window_tokens - 1000,
            semconv.RESERVE_TOKENS: 1000,
            semconv.DROPPED_UNITS: dropped_units,
            semconv.VIEW_DIGEST: extend_view("", digests),
            semconv.VIEW_LENGTH: len(digests),
            semconv.VIEW_BASE: extend_view("", base),
            semconv.VIEW_ADDED: list(digests[len(base) :]),
            semconv.MESSAGES_SHAPES: shapes,
            semconv.MESSAGES_BODIES: bodies,
            **extra,
        }
        if reply is not None:
            named[semconv.REPLY_DIGEST] = digest_of(canonical_bytes(reply))
        if input_tokens is not None:
            named[semconv.USAGE_INPUT_TOKENS] = input_tokens
        if name == semconv.SPAN_CALL:
            del named[semconv.OPERATION_NAME]
        return self._add(name, named, start_s=index * 2)

    def prune(self, actions: Sequence[Mapping[str, Any]], **extra: Any) -> Span:
        """The prune of the next call's fit."""
        index = len(self._views)
        named = {
            **self._own(index),
            semconv.POLICY: "DropOldest()",
            semconv.PLAN_OUTCOME: "done",
            semconv.PLAN_BEFORE_TOKENS: 9000,
            semconv.PLAN_AFTER_TOKENS: 5000,
            semconv.PLAN_TARGET_TOKENS: 4900,
            semconv.PLAN_KEPT_UNITS: 3,
            semconv.PLAN_ACTIONS: [json.dumps(action) for action in actions],
            **extra,
        }
        return self._add(semconv.SPAN_PRUNE, named, start_s=index * 2 - 0.5)

    def truncate(self, **extra: Any) -> Span:
        """The terminus, in place of the next call."""
        named = {
            **self._own(len(self._views)),
            semconv.TRUNCATE_NEEDED_TOKENS: 9100,
            semconv.TRUNCATE_SHORTFALL_TOKENS: 2100,
            semconv.TRUNCATE_COMPONENT: "conversation",
            semconv.TRUNCATE_HINT: "the newest result alone is larger than the budget",
            semconv.TRUNCATE_UNDROPPABLE_UNITS: [0, 7],
            semconv.WINDOW_TOKENS: self.window_tokens,
            **extra,
        }
        return self._add(semconv.SPAN_TRUNCATE, named, start_s=len(self._views) * 2)

    def end(self, reason: str = "completed", **extra: Any) -> Span:
        """The run span, which arrives last."""
        named = {
            semconv.WIRE: 1,
            semconv.RUN_ID: self.run_id,
            semconv.OPERATION_NAME: "invoke_agent",
            semconv.AGENT_NAME: "triage",
            semconv.RUN_REASON: reason,
            **extra,
        }
        made = span(
            "invoke_agent triage",
            named,
            trace_id=self.trace_id,
            span_id=self.run_span_id,
            start_s=-1,
            end_s=len(self._views) * 2 + 1,
        )
        self.spans.append(made)
        return made

    def _own(self, index: int) -> dict[str, Any]:
        return {
            semconv.WIRE: 1,
            semconv.RUN_ID: self.run_id,
            semconv.CALL_INDEX: index,
        }

    def _add(self, name: str, named: Mapping[str, Any], *, start_s: float) -> Span:
        made = span(
            name,
            named,
            trace_id=self.trace_id,
            parent=self.run_span_id,
            start_s=start_s,
        )
        self.spans.append(made)
        return made

    def _describe(
        self, described: Sequence[tuple[Mapping[str, Any], int]]
    ) -> tuple[list[str], list[str]]:
        shapes, bodies = [], []
        for message, unit in described:
            body = canonical_bytes(message)
            digest = digest_of(body)
            if digest in self._described:
                continue
            self._described.add(digest)
            shape = {
                "digest": digest,
                "role": message["role"],
                "kinds": [part["type"] for part in message["parts"]],
                "tools": [],
                "call_ids": [p["id"] for p in message["parts"] if "id" in p],
                "bytes": len(body),
                "tokens": [len(body) // 5, len(body) // 3],
                "unit": unit,
            }
            shapes.append(json.dumps(shape))
            bodies.append(body.decode())
        return shapes, bodies if self.with_bodies else []
