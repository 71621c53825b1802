"""OpenTelemetry's GenAI conventions as they are now, with content on the span.

Other generations and vendors have their own modules. Nothing here knows a budget or an
estimate; what was dropped is inferred later, from the views.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from inspector.domain.ingest.decode import Span
from inspector.domain.ingest.dialects.common import (
    CALL_OPERATIONS,
    call_facts,
    error_type_of,
    facts_of,
)
from inspector.domain.ingest.dialects.messages import normalise, shape_of
from inspector.domain.ingest.facts import (
    CALL,
    GENAI,
    RUN,
    TOOL,
    MessageFacts,
    OtherFacts,
    Reading,
    RunFacts,
    ViewFacts,
)
from inspector.domain.ingest.values import text_of
from ullage import semconv
from ullage.messages import EMPTY_VIEW, Message, canonical_bytes, digest_of, extend_view

CONTENT = (
    semconv.INPUT_MESSAGES,
    semconv.OUTPUT_MESSAGES,
    semconv.SYSTEM_INSTRUCTIONS,
    semconv.TOOL_DEFINITIONS,
)


def read(span: Span) -> Reading | None:
    """The reading of a GenAI span; None where it names no operation that we know."""
    operation = text_of(span.attributes, semconv.OPERATION_NAME)
    if operation in CALL_OPERATIONS:
        return _call(span)
    if operation == semconv.SPAN_INVOKE_AGENT:
        run = RunFacts(error_type=error_type_of(span))
        return Reading(facts_of(span, RUN, run, source=GENAI))
    if operation == semconv.SPAN_EXECUTE_TOOL:
        words = {
            "tool": text_of(span.attributes, semconv.TOOL_NAME),
            "error": error_type_of(span),
        }
        shown = OtherFacts({name: word for name, word in words.items() if word})
        return Reading(facts_of(span, TOOL, shown, source=GENAI))
    return None


def _call(span: Span) -> Reading:
    sent, cut = _content(span)
    is_cut = semconv.INPUT_MESSAGES in cut or semconv.SYSTEM_INSTRUCTIONS in cut
    definitions = sent[semconv.TOOL_DEFINITIONS]
    messages = normalise(
        sent[semconv.INPUT_MESSAGES], sent[semconv.SYSTEM_INSTRUCTIONS]
    )
    described = [_described(message) for message in messages]
    reply = [_described(m) for m in normalise(sent[semconv.OUTPUT_MESSAGES])[:1]]
    tools = [_described_tools(definitions)] if definitions else []
    digests = [message.digest for message in described]
    view = _view(digests) if digests and not is_cut else None
    facts = call_facts(
        span,
        view_digest=view.digest if view else "",
        view_length=len(digests),
        reply_digest=reply[0].digest if reply else "",
        tools_digest=tools[0].digest if tools else "",
        tool_shapes=_tool_shapes(definitions),
        is_cut=is_cut or span.dropped_attribute_count > 0,
    )
    stored = (*described, *reply, *tools)
    return Reading(facts_of(span, CALL, facts, source=GENAI), stored, view)


def _content(span: Span) -> tuple[dict[str, list[Any]], set[str]]:
    """Each content attribute as a list, and the names of those cut on their way."""
    found: dict[str, list[Any]] = {}
    cut = set()
    for name in CONTENT:
        value = span.attributes.get(name)
        if isinstance(value, str):
            try:
                value = orjson.loads(value)
            except ValueError:
                cut.add(name)
        found[name] = value if isinstance(value, list) else []
    return found, cut


def _described(message: Message) -> MessageFacts:
    body = canonical_bytes(message.to_dict())
    return MessageFacts(digest_of(body), shape_of(message, body), body)


def _described_tools(definitions: Sequence[Any]) -> MessageFacts:
    body = canonical_bytes(definitions)
    return MessageFacts(digest_of(body), {"role": "tools", "bytes": len(body)}, body)


def _tool_shapes(definitions: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """Name and size of each definition, whichever way it nests them."""
    shapes = []
    for definition in definitions:
        if not isinstance(definition, dict):
            continue
        inner = definition.get("function")
        named = inner if isinstance(inner, dict) else definition
        shapes.append(
            {
                "name": text_of(named, "name"),
                "bytes": len(canonical_bytes(definition)),
            }
        )
    return tuple(shapes)


def _view(digests: Sequence[str]) -> ViewFacts:
    """The whole list; the store finds the longest part of it that is known already."""
    return ViewFacts(
        extend_view(EMPTY_VIEW, digests), EMPTY_VIEW, len(digests), digests
    )
