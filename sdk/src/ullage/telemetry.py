"""Events become OpenTelemetry spans, exactly as docs/wire.md lays them out.

Only the API is needed: with no SDK configured all of this is a no-op. Nothing here
raises into the host: one guard logs and swallows, and re-raises under test.
"""

import functools
import json
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Token
from typing import Any, ParamSpec

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    TracerProvider,
)
from opentelemetry.util.types import AttributeValue

from ullage import events, semconv
from ullage.budget import Breakdown
from ullage.fitting import Fitted
from ullage.messages import well_formed

CONTENT_LEVELS = ("none", "structure", "full")
MAX_ELEMENT_CHARS = 300
MAX_ITEM_CHARS = 128
MAX_BODY_BYTES = 1 << 20
MAX_ID_CHARS = 12
ERROR_REASONS = frozenset({"context_truncated", "context_overflow", "provider_failed"})

logger = logging.getLogger("ullage")
P = ParamSpec("P")
Attributes = dict[str, AttributeValue]


class Guard:
    """Swallows and logs what fails inside telemetry; strict under test."""

    is_strict = False

    def __call__(self, function: Callable[P, None]) -> Callable[P, None]:
        """The function, unable to break its caller."""

        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                function(*args, **kwargs)
            except Exception:  # telemetry must never break the host
                if self.is_strict:
                    raise
                logger.warning("telemetry failed; the run goes on", exc_info=True)

        return guarded


guard = Guard()


class RunSpans:
    """The spans of one run, and its identity.

    Args:
        started: what opened the run.
        content: none, structure or full (docs/wire.md 4).
        tracer_provider: None = the global one, looked up now.
    """

    def __init__(
        self,
        started: events.RunStarted,
        *,
        content: str,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        self._content = content
        self._tracer: Tracer = trace.NoOpTracer()
        self._calls: dict[int, Span] = {}
        self._started: dict[int, events.CallStarted] = {}
        self._tools: dict[str, Span] = {}
        self._tokens: dict[Span, Token[otel_context.Context]] = {}
        self._run: Span = trace.INVALID_SPAN
        self._start_run(started, tracer_provider)
        self.run_id = _run_id(self._run)
        self._here = trace.set_span_in_context(self._run)
        self._name_run()

    @guard
    def on_event(self, event: events.Event) -> None:  # noqa: C901 - one flat table
        """Turn one event into a span, or into the end of one."""
        match event:
            case events.CallStarted():
                self._start_call(event)
            case events.CallEnded():
                self._end_call(event)
            case events.Pruned():
                self._prune(event)
            case events.Calibration():
                self._calibrate(event)
            case events.Truncated():
                self._truncate(event)
            case events.ToolStarted():
                self._start_tool(event)
            case events.ToolEnded():
                self._end_tool(event)
            case events.RunEnded():
                self._end_run(event)

    @guard
    def _start_run(
        self, started: events.RunStarted, tracer_provider: TracerProvider | None
    ) -> None:
        self._tracer = trace.get_tracer(
            "ullage", tracer_provider=tracer_provider, schema_url=semconv.SCHEMA_URL
        )
        attributes: Attributes = {
            semconv.OPERATION_NAME: semconv.SPAN_INVOKE_AGENT,
            semconv.WIRE: semconv.WIRE_VERSION,
        }
        _put(attributes, semconv.AGENT_NAME, started.agent or None)
        _put(attributes, semconv.CONVERSATION_ID, started.conversation_id)
        name = f"{semconv.SPAN_INVOKE_AGENT} {started.agent}".rstrip()
        self._run = self._open(name, attributes)

    @guard
    def _name_run(self) -> None:
        self._run.set_attribute(semconv.RUN_ID, self.run_id)
        self._attach(self._run)

    def _end_run(self, event: events.RunEnded) -> None:
        for span in (*self._tools.values(), *self._calls.values()):
            self._detach(span)
            span.end()
        self._run.set_attributes(
            {
                semconv.RUN_REASON: event.reason,
                semconv.RUN_CALLS: event.call_count,
                semconv.RUN_PRUNES: event.prune_count,
            }
        )
        if event.reason in ERROR_REASONS:
            _fail(self._run, event.reason)
        self._detach(self._run)
        self._run.end()

    def _start_call(self, event: events.CallStarted) -> None:
        attributes = self._ours(event.index)
        attributes.update(_call_attributes(event))
        if self._content != "none":
            attributes.update(_view_attributes(event.view, self._content))
        is_ours = event.site != "host"
        name, kind = semconv.SPAN_CALL, SpanKind.INTERNAL
        if is_ours:
            name, kind = f"{semconv.SPAN_CHAT} {event.model}".rstrip(), SpanKind.CLIENT
            attributes[semconv.OPERATION_NAME] = semconv.SPAN_CHAT
        span = self._open(name, attributes, context=self._here, kind=kind)
        self._calls[event.index] = span
        self._started[event.index] = event
        if is_ours:
            self._attach(span)

    def _end_call(self, event: events.CallEnded) -> None:
        span = self._calls.pop(event.index, None)
        if span is None:
            return
        started = self._started.pop(event.index)
        span.set_attributes(_clean(_answer_attributes(event)))
        if event.usage.input_tokens:
            window = started.fitted.budget.window
            fill = event.usage.input_tokens / window.context_tokens
            span.set_attribute(semconv.FILL, fill)
        if event.reply is not None and self._content != "none":
            span.set_attribute(semconv.REPLY_DIGEST, event.reply.digest)
            if self._content == "full":
                shapes = (*started.view.described, event.reply)
                span.set_attribute(semconv.MESSAGES_BODIES, _bodies(shapes))
        if event.error_type:
            _fail(span, event.error_type)
        self._detach(span)
        span.end()

    def _prune(self, event: events.Pruned) -> None:
        plan = event.plan
        attributes = self._ours(event.index)
        attributes |= {
            semconv.POLICY: plan.policy,
            semconv.PLAN_OUTCOME: plan.outcome,
            semconv.PLAN_BEFORE_TOKENS: plan.before_tokens,
            semconv.PLAN_AFTER_TOKENS: plan.after_tokens,
            semconv.PLAN_TARGET_TOKENS: plan.target_tokens,
            semconv.PLAN_KEPT_UNITS: plan.kept_units,
        }
        if self._content != "none":
            attributes[semconv.PLAN_ACTIONS] = [
                element
                for action in plan.actions
                for element in elements(
                    action.to_dict(), ("messages", "roles", "tools"), key="unit"
                )
            ]
        self._mark(semconv.SPAN_PRUNE, attributes)
        logger.info(
            "pruned: %d turns outside, estimate %d to %d tokens",
            plan.dropped_units,
            plan.before_tokens,
            plan.after_tokens,
        )

    def _calibrate(self, event: events.Calibration) -> None:
        change = event.change
        attributes = self._ours(event.index)
        attributes |= {
            semconv.CALIBRATE_OUTCOME: change.outcome,
            semconv.CALIBRATE_ESTIMATE_TOKENS: change.estimate_tokens,
            semconv.CALIBRATE_ACTUAL_TOKENS: change.actual_tokens,
            semconv.CALIBRATE_DRIFT_RATIO: change.drift_ratio,
            semconv.CALIBRATE_FACTOR_BEFORE: change.factor_before,
            semconv.CALIBRATE_FACTOR_AFTER: change.factor_after,
        }
        before, after = change.anchor_before_tokens, change.anchor_after_tokens
        _put(attributes, semconv.CALIBRATE_ANCHOR_BEFORE_TOKENS, before)
        _put(attributes, semconv.CALIBRATE_ANCHOR_AFTER_TOKENS, after)
        self._mark(semconv.SPAN_CALIBRATE, attributes)

    def _truncate(self, event: events.Truncated) -> None:
        terminus = event.fitted.terminus
        if terminus is None:
            return
        attributes = self._ours(event.index)
        attributes[semconv.REQUEST_MODEL] = event.model
        attributes |= _window_attributes(event.fitted)
        attributes |= {
            semconv.TRUNCATE_NEEDED_TOKENS: terminus.needed_tokens,
            semconv.TRUNCATE_SHORTFALL_TOKENS: terminus.shortfall_tokens,
            semconv.TRUNCATE_COMPONENT: terminus.component,
            semconv.TRUNCATE_HINT: terminus.hint,
            semconv.TRUNCATE_UNDROPPABLE_UNITS: list(terminus.undroppable_units),
        }
        _put(attributes, semconv.PROVIDER_NAME, event.provider or None)
        self._mark(semconv.SPAN_TRUNCATE, attributes, error="context_truncated")

    def _start_tool(self, event: events.ToolStarted) -> None:
        attributes = self._ours(None)
        attributes |= {
            semconv.OPERATION_NAME: semconv.SPAN_EXECUTE_TOOL,
            semconv.TOOL_NAME: event.name,
            semconv.TOOL_TYPE: "function",
            semconv.TOOL_CALL_ID: event.call_id,
        }
        name = f"{semconv.SPAN_EXECUTE_TOOL} {event.name}"
        span = self._open(name, attributes, context=self._here)
        self._tools[event.call_id] = span
        self._attach(span)

    def _end_tool(self, event: events.ToolEnded) -> None:
        span = self._tools.pop(event.call_id, None)
        if span is None:
            return
        if event.error_type:
            _fail(span, event.error_type)
        self._detach(span)
        span.end()

    def _ours(self, index: int | None) -> Attributes:
        attributes: Attributes = {
            semconv.WIRE: semconv.WIRE_VERSION,
            semconv.RUN_ID: self.run_id,
        }
        _put(attributes, semconv.CALL_INDEX, index)
        return attributes

    def _mark(
        self, name: str, attributes: Attributes, error: str | None = None
    ) -> None:
        span = self._open(name, attributes, context=self._here)
        if error:
            _fail(span, error)
        span.end()

    def _open(
        self,
        name: str,
        attributes: Attributes,
        *,
        context: otel_context.Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        return self._tracer.start_span(
            well_formed(name), context=context, kind=kind, attributes=_clean(attributes)
        )

    def _attach(self, span: Span) -> None:
        """Make a span current, so that the host's own spans become its children."""
        self._tokens[span] = otel_context.attach(trace.set_span_in_context(span))

    def _detach(self, span: Span) -> None:
        token = self._tokens.pop(span, None)
        if token is not None:
            otel_context.detach(token)


def elements(
    body: Mapping[str, Any], lists: Sequence[str], *, key: str
) -> tuple[str, ...]:
    """One JSON object as array elements of at most 300 characters, each standing alone.

    Where its lists make it longer, what is left of them follows in objects that hold
    `key` and list items only.
    """
    whole = _json(body)
    if len(whole) <= MAX_ELEMENT_CHARS:
        return (whole,)
    told: list[str] = []
    element: dict[str, Any] = {**body, **{name: [] for name in lists}}
    for name in lists:
        for item in body[name]:
            cut = item[:MAX_ITEM_CHARS]
            longer = {**element, name: [*element.get(name, ()), cut]}
            if len(_json(longer)) > MAX_ELEMENT_CHARS:
                told.append(_json(element))
                longer = {key: body[key], name: [cut]}
            element = longer
    return (*told, _json(element))


def _json(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def shape_elements(shape: events.Shape) -> tuple[str, ...]:
    """A message shape as it travels; long call ids keep their last 12 characters."""
    body: dict[str, Any] = {
        "digest": shape.digest,
        "role": shape.role,
        "kinds": list(shape.kinds),
        "tools": list(dict.fromkeys(shape.tools)),
        "call_ids": [call_id[-MAX_ID_CHARS:] for call_id in shape.call_ids],
        "bytes": shape.body_bytes,
        "tokens": list(shape.tokens),
        "unit": shape.unit,
    }
    if shape.is_pinned:
        body["pin"] = True
    return elements(body, ("call_ids", "tools"), key="digest")


def _call_attributes(event: events.CallStarted) -> Attributes:
    fitted = event.fitted
    attributes: Attributes = {
        semconv.REQUEST_MODEL: event.model,
        semconv.REQUEST_MAX_TOKENS: fitted.budget.max_output_tokens,
        semconv.CALL_SITE: event.site,
        semconv.FILL: fitted.estimate.upper / fitted.budget.window.context_tokens,
        semconv.FREE_TOKENS: fitted.breakdown.free_tokens,
        semconv.ESTIMATE_TOKENS: fitted.estimate.upper,
        semconv.ESTIMATE_LOWER_TOKENS: fitted.estimate.lower,
        semconv.ESTIMATE_ACCURACY: fitted.accuracy,
        semconv.CALIBRATION_TABLE: event.table,
        semconv.CALIBRATION_FACTOR: event.factor,
        semconv.POLICY: event.policy,
        semconv.DROPPED_UNITS: fitted.outside_units,
        semconv.DROPPED_TOKENS: fitted.outside_tokens,
    }
    attributes |= _window_attributes(fitted)
    _put(attributes, semconv.PROVIDER_NAME, event.provider or None)
    _put(attributes, semconv.CALIBRATION_ANCHOR_TOKENS, event.anchor_tokens)
    _put(attributes, semconv.CONVERSATION_COMPACTED, fitted.outside_units > 0 or None)
    return attributes


def _window_attributes(fitted: Fitted) -> Attributes:
    budget = fitted.budget
    return {
        semconv.WINDOW_TOKENS: budget.window.context_tokens,
        semconv.WINDOW_SOURCE: budget.window.source,
        semconv.BUDGET_TOKENS: budget.tokens,
        semconv.RESERVE_TOKENS: budget.reserve_tokens,
        semconv.SAFETY_TOKENS: budget.safety_tokens,
        **_breakdown_attributes(fitted.breakdown),
    }


def _breakdown_attributes(breakdown: Breakdown) -> Attributes:
    return {
        semconv.BREAKDOWN_SYSTEM_TOKENS: breakdown.system_tokens,
        semconv.BREAKDOWN_TOOLS_TOKENS: breakdown.tools_tokens,
        semconv.BREAKDOWN_CONVERSATION_TOKENS: breakdown.conversation_tokens,
        semconv.BREAKDOWN_MEDIA_TOKENS: breakdown.media_tokens,
        semconv.BREAKDOWN_FRAMING_TOKENS: breakdown.framing_tokens,
    }


def _view_attributes(view: events.View, content: str) -> Attributes:
    attributes: Attributes = {
        semconv.VIEW_DIGEST: view.digest,
        semconv.VIEW_LENGTH: view.length,
        semconv.VIEW_BASE: view.base,
        semconv.VIEW_ADDED: list(view.added),
        semconv.MESSAGES_SHAPES: [
            element for shape in view.described for element in shape_elements(shape)
        ],
        semconv.TOOLS_DIGEST: view.tools_digest,
    }
    if view.tools:
        attributes[semconv.TOOLS_SHAPES] = [
            _json({"name": t.name, "bytes": t.body_bytes, "tokens": list(t.tokens)})
            for t in view.tools
        ]
    if content == "full":
        attributes[semconv.MESSAGES_BODIES] = _bodies(view.described)
        _put(attributes, semconv.TOOLS_BODY, view.tools_body)
    return attributes


def _bodies(shapes: Iterable[events.Shape]) -> list[str]:
    return [s.body for s in shapes if s.body and s.body_bytes <= MAX_BODY_BYTES]


def _answer_attributes(event: events.CallEnded) -> Attributes:
    usage = event.usage
    attributes: Attributes = {}
    for name, value in (
        (semconv.USAGE_INPUT_TOKENS, usage.input_tokens),
        (semconv.USAGE_OUTPUT_TOKENS, usage.output_tokens),
        (semconv.USAGE_CACHE_READ_TOKENS, usage.cache_read_tokens),
        (semconv.USAGE_CACHE_WRITE_TOKENS, usage.cache_write_tokens),
        (semconv.USAGE_REASONING_TOKENS, usage.reasoning_tokens),
        (semconv.RESPONSE_ID, event.response_id),
        (semconv.RESPONSE_MODEL, event.response_model),
        (semconv.RESPONSE_FINISH_REASONS, list(event.finish_reasons) or None),
    ):
        _put(attributes, name, value)
    return attributes


def _put(attributes: Attributes, name: str, value: AttributeValue | None) -> None:
    if value is not None:
        attributes[name] = value


def _clean(attributes: Attributes) -> Attributes:
    """Lone surrogates become U+FFFD before anything is set."""
    return {name: _cleaned(value) for name, value in attributes.items()}


def _cleaned(value: AttributeValue) -> AttributeValue:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [well_formed(str(item)) for item in value]
    return value


def _fail(span: Span, error_type: str) -> None:
    span.set_attribute(semconv.ERROR_TYPE, error_type)
    span.set_status(Status(StatusCode.ERROR, error_type))


def _run_id(span: Span) -> str:
    told = span.get_span_context()
    if told.is_valid:
        return f"{told.trace_id:032x}-{told.span_id:016x}"
    return f"{secrets.token_hex(16)}-{secrets.token_hex(8)}"
