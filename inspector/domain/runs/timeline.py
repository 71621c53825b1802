"""Geometry of the timeline: a name gutter by tree depth, a time lane by start and end.

Hierarchy and time never share an axis, so a row carries both apart. The axis starts at
the earliest start of anything. Pure; no HTML.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.domain.runs.records import SpanRow

MIN_WIDTH = 0.6
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One span as the page draws it; x and width are percentages of the time lane."""

    span: SpanRow
    depth: int  # capped, so that a deep tree leaves room for its names
    x: float
    width: float
    duration_ms: float
    offset_ms: float
    is_own: bool  # False inside a sub-agent, whose calls are those of another run


@dataclass(frozen=True, slots=True)
class Timeline:
    """A stretch of a run's spans, with what was left out before and after it."""

    rows: tuple[TimelineRow, ...]
    total_ms: float
    first: int  # position of the first row among all spans
    span_count: int
    limit: int

    @property
    def previous_first(self) -> int:
        """Where the stretch before this one starts."""
        return max(0, self.first - self.limit)

    @property
    def next_first(self) -> int:
        """Where the stretch after this one starts."""
        return self.first + self.limit

    @property
    def hidden_before(self) -> int:
        """How many spans stand before the first row."""
        return self.first

    @property
    def hidden_after(self) -> int:
        """How many spans stand after the last row."""
        return self.span_count - self.first - len(self.rows)


def timeline(
    spans: Sequence[SpanRow], run_span_id: str, *, first: int = 0, limit: int
) -> Timeline:
    """Rows `first` … `first + limit` against the time axis of the whole run."""
    own = own_spans(spans, run_span_id)
    first = min(max(0, first), max(0, len(spans) - 1))
    origin_ns = min((s.start_ns for s in spans), default=0)
    end_ns = max((max(s.start_ns, s.end_ns) for s in spans), default=0)
    total_ns = max(1, end_ns - origin_ns)
    return Timeline(
        rows=tuple(
            row_of(span, origin_ns, total_ns, is_own=span.span_id in own)
            for span in spans[first : first + limit]
        ),
        total_ms=(end_ns - origin_ns) / 1e6,
        first=first,
        span_count=len(spans),
        limit=limit,
    )


def own_spans(spans: Sequence[SpanRow], run_span_id: str) -> set[str]:
    """The spans of the run itself: not a sub-agent's, and nothing below one."""
    own, sub_depth = set(), None
    for span in spans:
        if sub_depth is not None and span.depth > sub_depth:
            continue
        is_sub = span.kind == "run" and span.span_id != run_span_id
        sub_depth = span.depth if is_sub else None
        if not is_sub:
            own.add(span.span_id)
    return own


def row_of(
    span: SpanRow, origin_ns: int, total_ns: int, *, is_own: bool
) -> TimelineRow:
    """One row; a span that ends before it starts has no duration."""
    duration_ns = max(0, span.end_ns - span.start_ns)
    width = max(MIN_WIDTH, 100 * duration_ns / total_ns)
    x = min(100 * (span.start_ns - origin_ns) / total_ns, 100 - MIN_WIDTH)
    return TimelineRow(
        span=span,
        depth=min(max(0, span.depth), MAX_DEPTH),
        x=round(x, 3),
        width=round(min(width, 100 - x), 3),
        duration_ms=duration_ns / 1e6,
        offset_ms=(span.start_ns - origin_ns) / 1e6,
        is_own=is_own,
    )


def first_for_call(spans: Sequence[SpanRow], call_index: int | None, limit: int) -> int:
    """Where a stretch of `limit` rows starts so that it holds the call's own row."""
    for place, span in enumerate(spans):
        if span.call_index == call_index and span.kind == "call":
            return place // limit * limit
    return 0
