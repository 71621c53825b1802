"""The spans of one trace as a tree, and the run that each belongs to; pure.

Parents may be missing, come later or stand in a circle: every walk ends, and every span
has a run (docs/wire.md 5).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inspector.domain.ingest.facts import RUN, CallFacts, SpanFacts

PLAIN_TRACE = ""  # run_span_id of the calls that no agent span encloses


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """What the fold sees of a span."""

    span_id: str
    parent_span_id: str
    start_ns: int
    end_ns: int
    facts: SpanFacts

    @property
    def call_facts(self) -> CallFacts:
        """The figures of a call; those of any other span are all unknown."""
        detail = self.facts.detail
        return detail if isinstance(detail, CallFacts) else CallFacts()


def run_id_of(trace_id: str, run_span_id: str) -> str:
    """`<trace_id>-<run_span_id>`, or the plain trace id."""
    return f"{trace_id}-{run_span_id}" if run_span_id else trace_id


class Tree:
    """The spans of a trace, each with the run it belongs to; no walk ever loops."""

    def __init__(self, trace_id: str, spans: Iterable[TraceSpan]) -> None:
        self.trace_id = trace_id
        ordered = sorted(spans, key=lambda span: (span.start_ns, span.span_id))
        self.spans = {span.span_id: span for span in ordered}
        self._named = {
            span.span_id: span.facts.run_id.partition("-")[2]
            for span in ordered
            if span.facts.run_id.partition("-")[0] == trace_id
        }
        self._run_span_ids = {
            *(span.span_id for span in ordered if span.facts.kind == RUN),
            *filter(None, self._named.values()),
        }
        self._run_of: dict[str, str] = {}

    def ancestors(self, span: TraceSpan) -> Iterator[TraceSpan]:
        """Parent, grandparent and so on, as far as they came; a circle ends it."""
        visited = {span.span_id}
        parent = self.spans.get(span.parent_span_id)
        while parent is not None and parent.span_id not in visited:
            yield parent
            visited.add(parent.span_id)
            parent = self.spans.get(parent.parent_span_id)

    def run_of(self, span: TraceSpan) -> str:
        """The innermost run: the one it names, or the nearest that encloses it."""
        known = self._run_of.get(span.span_id)
        if known is None:
            known = self._run_of[span.span_id] = self._find_run(span)
        return known

    def _find_run(self, span: TraceSpan) -> str:
        if span.span_id in self._run_span_ids:
            return span.span_id
        if span.span_id in self._named:
            return self._named[span.span_id]
        return self._run_above(span)

    def _run_above(self, span: TraceSpan) -> str:
        last_seen_parent = span.parent_span_id
        for parent in self.ancestors(span):
            if parent.span_id in self._run_span_ids:
                return parent.span_id
            if parent.span_id in self._named:
                return self._named[parent.span_id]
            last_seen_parent = parent.parent_span_id
        # The run span itself may be the one that has not arrived.
        return (
            last_seen_parent if last_seen_parent in self._run_span_ids else PLAIN_TRACE
        )

    def parent_run_of(self, run_span_id: str) -> str:
        """The run that encloses a run; "" while unknown."""
        span = self.spans.get(run_span_id)
        above = self._run_above(span) if span else PLAIN_TRACE
        return above if above != run_span_id else PLAIN_TRACE
