"""Events become OpenTelemetry spans, exactly as docs/wire.md lays them out.

Only the API is needed: with no SDK configured all of this is a no-op. Nothing here
raises into the host: one guard logs and swallows, and re-raises under test.
"""

import functools
import logging
import secrets
from collections.abc import Callable
from contextvars import Token
from typing import ParamSpec

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

from ullage import events, semconv
from ullage.attributes import (
    Attributes,
    answer_attributes,
    bodies,
    call_attributes,
    clean,
    elements,
    put,
    view_attributes,
    window_attributes,
)
from ullage.messages import well_formed

CONTENT_LEVELS = ("none", "structure", "full")
ERROR_REASONS = frozenset({"context_truncated", "context_overflow", "provider_failed"})

logger = logging.getLogger("ullage")
P = ParamSpec("P")


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
        put(attributes, semconv.AGENT_NAME, started.agent or None)
        put(attributes, semconv.CONVERSATION_ID, started.conversation_id)
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
        attributes.update(call_attributes(event))
        if self._content != "none":
            attributes.update(view_attributes(event.view, self._content))
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
        span.set_attributes(clean(answer_attributes(event)))
        if event.usage.input_tokens:
            window = started.fitted.budget.window
            fill = event.usage.input_tokens / window.context_tokens
            span.set_attribute(semconv.FILL, fill)
        if event.reply is not None and self._content != "none":
            span.set_attribute(semconv.REPLY_DIGEST, event.reply.digest)
            if self._content == "full":
                shapes = (*started.view.described, event.reply)
                span.set_attribute(semconv.MESSAGES_BODIES, bodies(shapes))
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
        put(attributes, semconv.CALIBRATE_ANCHOR_BEFORE_TOKENS, before)
        put(attributes, semconv.CALIBRATE_ANCHOR_AFTER_TOKENS, after)
        self._mark(semconv.SPAN_CALIBRATE, attributes)

    def _truncate(self, event: events.Truncated) -> None:
        terminus = event.fitted.terminus
        if terminus is None:
            return
        attributes = self._ours(event.index)
        attributes[semconv.REQUEST_MODEL] = event.model
        attributes |= window_attributes(event.fitted)
        attributes |= {
            semconv.TRUNCATE_NEEDED_TOKENS: terminus.needed_tokens,
            semconv.TRUNCATE_SHORTFALL_TOKENS: terminus.shortfall_tokens,
            semconv.TRUNCATE_COMPONENT: terminus.component,
            semconv.TRUNCATE_HINT: terminus.hint,
            semconv.TRUNCATE_UNDROPPABLE_UNITS: list(terminus.undroppable_units),
        }
        put(attributes, semconv.PROVIDER_NAME, event.provider or None)
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
        put(attributes, semconv.CALL_INDEX, index)
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
            well_formed(name), context=context, kind=kind, attributes=clean(attributes)
        )

    def _attach(self, span: Span) -> None:
        """Make a span current, so that the host's own spans become its children."""
        self._tokens[span] = otel_context.attach(trace.set_span_in_context(span))

    def _detach(self, span: Span) -> None:
        token = self._tokens.pop(span, None)
        if token is not None:
            otel_context.detach(token)


def _fail(span: Span, error_type: str) -> None:
    span.set_attribute(semconv.ERROR_TYPE, error_type)
    span.set_status(Status(StatusCode.ERROR, error_type))


def _run_id(span: Span) -> str:
    told = span.get_span_context()
    if told.is_valid:
        return f"{told.trace_id:032x}-{told.span_id:016x}"
    return f"{secrets.token_hex(16)}-{secrets.token_hex(8)}"
