"""The timeline of a run: its spans in tree order, each with a few words; pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.domain.ingest.facts import (
    OtherFacts,
    PruneFacts,
    RunFacts,
    SpanFacts,
    TerminusFacts,
)
from inspector.domain.ingest.tree import TraceSpan, Tree
from inspector.domain.runs.records import SpanRow


@dataclass(frozen=True, slots=True)
class SpanLine:
    """A span with what only the timeline shows of it."""

    span: TraceSpan
    name: str
    is_error: bool


def spans_in_order(
    tree: Tree,
    lines: Mapping[str, SpanLine],
    run_span_id: str,
    call_indices: Mapping[str, int],
) -> tuple[SpanRow, ...]:
    """The spans of a run and of the runs inside it, parents before children, by time.

    Args:
        tree: the whole trace.
        lines: span id → line, of every span of the trace.
        run_span_id: whose timeline it is; "" for the calls that no agent span encloses.
        call_indices: span id → index, as the fold numbered the calls.
    """
    inside = {
        span.span_id
        for span in tree.spans.values()
        if _is_inside(tree, span, run_span_id)
    }
    return tuple(
        _row(lines[span.span_id], depth, call_indices)
        for span, depth in _walk(tree, inside)
    )


def _is_inside(tree: Tree, span: TraceSpan, run_span_id: str) -> bool:
    if not run_span_id:
        return True
    visited: set[str] = set()
    run = tree.run_of(span)
    while run and run not in visited:
        if run == run_span_id:
            return True
        visited.add(run)
        run = tree.parent_run_of(run)
    return False


def _walk(tree: Tree, inside: set[str]) -> Iterator[tuple[TraceSpan, int]]:
    """Depth first without recursion; a circle is entered at its earliest span."""
    children: dict[str, list[TraceSpan]] = defaultdict(list)
    roots = []
    for span in tree.spans.values():  # in order of time
        if span.span_id not in inside:
            continue
        if span.parent_span_id in inside and span.parent_span_id != span.span_id:
            children[span.parent_span_id].append(span)
        else:
            roots.append(span)
    visited: set[str] = set()
    circles = [span for span in tree.spans.values() if span.span_id in inside]
    for root in (*roots, *circles):
        stack = [(root, 0)]
        while stack:
            span, depth = stack.pop()
            if span.span_id in visited:
                continue
            visited.add(span.span_id)
            yield span, depth
            stack += [(child, depth + 1) for child in reversed(children[span.span_id])]


def _row(line: SpanLine, depth: int, call_indices: Mapping[str, int]) -> SpanRow:
    span = line.span
    return SpanRow(
        span_id=span.span_id,
        parent_span_id=span.parent_span_id,
        name=line.name,
        kind=span.facts.kind,
        depth=depth,
        start_ns=span.start_ns,
        end_ns=max(span.end_ns, span.start_ns),
        call_index=call_indices.get(span.span_id, span.facts.call_index),
        is_error=line.is_error,
        facts=_words(span.facts),
    )


def _words(facts: SpanFacts) -> dict[str, Any]:
    """A few figures for the row, in order, without those that are not known."""
    detail = facts.detail
    if isinstance(detail, OtherFacts):
        words: dict[str, Any] = detail.words
    elif isinstance(detail, RunFacts):
        words = {"agent": facts.agent, "reason": detail.reason}
    elif isinstance(detail, PruneFacts):
        words = {"outcome": detail.outcome, "actions": len(detail.actions)}
    elif isinstance(detail, TerminusFacts):
        words = {"shortfall_tokens": detail.shortfall_tokens}
    else:
        words = {
            "model": detail.model,
            "input_tokens": detail.input_tokens,
            "output_tokens": detail.output_tokens,
            "error": detail.error_type,
        }
    return {name: value for name, value in words.items() if value not in (None, "")}
