"""Span attributes to facts, one module for each way of writing them down.

The dialect is chosen for each span, never for a trace: several mix in one. Each module
has `read(span) -> Reading | None`; the first that knows the span has it.
"""

from inspector.domain.ingest.decode import Span
from inspector.domain.ingest.dialects import genai, plain, ullage
from inspector.domain.ingest.facts import Reading

CONTENT_ATTRIBUTES = frozenset({*ullage.CONTENT, *genai.CONTENT})


def span_read(span: Span) -> Reading:
    """What the span is, in the words of the first dialect that knows it."""
    return ullage.read(span) or genai.read(span) or plain.read(span)
