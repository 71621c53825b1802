"""What every dialect reads alike: where a span is from, OpenTelemetry's figures."""

import re
from typing import Any

from inspector.domain.ingest.decode import Span
from inspector.domain.ingest.facts import CallFacts, Detail, SpanFacts
from inspector.domain.ingest.values import count_of, float_of, text_of, texts_of
from ullage import semconv

LEGACY_ENVIRONMENT = "deployment.environment"
LEGACY_CACHE_WRITE = "gen_ai.usage.cache_creation.input_tokens"
# How providers say that a prompt is longer than the window.
OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|prompt is too long"
    r"|input token count .* exceeds the maximum|exceeds the context window",
    re.IGNORECASE,
)
CALL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})


def facts_of(span: Span, kind: str, detail: Detail, **named: Any) -> SpanFacts:
    """The facts of a span, with what its resource and its run attributes say."""
    environment = text_of(span.resource, semconv.ENVIRONMENT) or text_of(
        span.resource, LEGACY_ENVIRONMENT
    )
    return SpanFacts(
        kind=kind,
        detail=detail,
        agent=text_of(span.attributes, semconv.AGENT_NAME),
        conversation_id=text_of(span.attributes, semconv.CONVERSATION_ID),
        environment=environment[:100],
        service=text_of(span.resource, "service.name"),
        is_demo=span.resource.get(semconv.DEMO) is True,
        **named,
    )


def shared_call_figures(span: Span) -> dict[str, Any]:
    """The fields of `CallFacts` that come from names under `gen_ai.` alone."""
    a = span.attributes
    return {
        "model": text_of(a, semconv.REQUEST_MODEL)
        or text_of(a, semconv.RESPONSE_MODEL),
        "provider": text_of(a, semconv.PROVIDER_NAME) or text_of(a, "gen_ai.system"),
        "response_id": text_of(a, semconv.RESPONSE_ID),
        "max_output_tokens": count_of(a, semconv.REQUEST_MAX_TOKENS),
        "window_tokens": count_of(a, semconv.WINDOW_TOKENS) or None,
        "input_tokens": count_of(a, semconv.USAGE_INPUT_TOKENS) or None,
        "output_tokens": count_of(a, semconv.USAGE_OUTPUT_TOKENS),
        "cache_read_tokens": count_of(a, semconv.USAGE_CACHE_READ_TOKENS),
        "utilization": float_of(a, semconv.FILL),
        "finish_reasons": texts_of(a, semconv.RESPONSE_FINISH_REASONS),
        "error_type": error_type_of(span),
        "is_compacted": a.get(semconv.CONVERSATION_COMPACTED) is True,
        "is_cut": span.dropped_attribute_count > 0,
    }


def error_type_of(span: Span) -> str:
    """The error's type; "context_overflow" where its text says that the prompt was too
    long, and "error" where the status alone tells of one."""
    named = text_of(span.attributes, semconv.ERROR_TYPE)
    if span.status_code != 2:
        return named
    texts = [named, span.status_message]
    texts += [text_of(e["attributes"], "exception.message", 2000) for e in span.events]
    if any(OVERFLOW.search(text) for text in texts):
        return "context_overflow"
    return named or "error"


def call_facts(span: Span, **own: Any) -> CallFacts:
    """Facts of a call: the shared figures and what a dialect adds."""
    return CallFacts(**{**shared_call_figures(span), **own})
