"""Reads about runs, for pages and API: tables in, values of `records` out."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Max, Q

from inspector.domain.ingest.facts import SpanFacts
from inspector.domain.ingest.tree import TraceSpan, Tree
from inspector.domain.runs.calls import call_get
from inspector.domain.runs.records import RunDetail, RunRow
from inspector.domain.runs.rows import (
    call_row,
    calls_of,
    prune_row,
    run_find,
    run_row,
    terminus_of,
)
from inspector.domain.runs.rules import LOST_AFTER_SECONDS
from inspector.domain.runs.spans import SpanLine, spans_in_order
from inspector.errors import InspectorError
from inspector.store.runs import Run
from inspector.store.spans import Span

__all__ = [
    "RunCounts",
    "RunPage",
    "call_get",
    "run_change_tag",
    "run_counts",
    "run_get",
    "run_list",
]

MAX_LIMIT = 200


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of runs, newest first."""

    rows: tuple[RunRow, ...]
    next_after: str | None  # give it back as `after`; None = this was the last page
    total_count: int | None  # runs that match the filters


@dataclass(frozen=True, slots=True)
class RunCounts:
    """How many runs a project holds, by status."""

    total_count: int
    running_count: int
    ended_count: int
    lost_count: int


def run_list(
    *,
    project_id: int,
    limit: int = 50,
    after: str | None = None,
    agent: str = "",
    model: str = "",
    reason: str = "",
) -> RunPage:
    """Runs newest first; filters are exact, "" means any.

    Raises:
        InspectorError: `cursor_invalid`.
    """
    wanted = {"agent": agent, "model": model, "reason": reason}
    runs = Run.objects.filter(
        project_id=project_id,
        **{name: value for name, value in wanted.items() if value},
    )
    newest_first = runs.order_by("-start_ns", "-trace_id", "-run_span_id")
    if after:
        newest_first = newest_first.filter(_older_than(after))
    limit = max(1, min(limit, MAX_LIMIT))
    found = list(newest_first[: limit + 1])
    shown = found[:limit]
    return RunPage(
        rows=tuple(run_row(run, now_ns=time.time_ns()) for run in shown),
        next_after=_cursor(shown[-1]) if len(found) > limit else None,
        total_count=runs.count(),
    )


def _cursor(run: Run) -> str:
    return f"{run.start_ns}_{run.trace_id}_{run.run_span_id}"


def _older_than(cursor: str) -> Q:
    try:
        start_ns, trace_id, run_span_id = cursor.split("_")
        at = int(start_ns)
    except ValueError as error:
        raise InspectorError("cursor_invalid") from error
    same = Q(start_ns=at)
    return (
        Q(start_ns__lt=at)
        | same & Q(trace_id__lt=trace_id)
        | same & Q(trace_id=trace_id, run_span_id__lt=run_span_id)
    )


def run_change_tag(*, project_id: int) -> str:
    """A short text that changes whenever any run of the project does, for polling."""
    counts = run_counts(project_id=project_id)
    runs = Run.objects.filter(project_id=project_id)
    newest = runs.aggregate(at=Max("touched_ns"))["at"] or 0
    return f"{counts.total_count}-{counts.running_count}-{newest:x}"


def run_counts(*, project_id: int) -> RunCounts:
    """Counts of a project's runs."""
    runs = Run.objects.filter(project_id=project_id)
    silent_since = time.time_ns() - LOST_AFTER_SECONDS * 1_000_000_000
    total = runs.count()
    ended = runs.filter(is_ended=True).count()
    lost = runs.filter(is_ended=False, touched_ns__lt=silent_since).count()
    return RunCounts(total, total - ended - lost, ended, lost)


def run_get(*, project_id: int, run_id: str) -> RunDetail:
    """One run, whole; a plain trace id leads to the outermost run of the trace.

    Raises:
        InspectorError: `run_not_found`.
    """
    run = run_find(project_id=project_id, run_id=run_id)
    lines = _lines(project_id, run.trace_id)
    tree = Tree(run.trace_id, [line.span for line in lines.values()])
    own = [s for s in tree.spans.values() if tree.run_of(s) == run.run_span_id]
    calls = list(calls_of(run))
    return RunDetail(
        run=run_row(run, now_ns=time.time_ns()),
        calls=tuple(call_row(call) for call in calls),
        prunes=tuple(p for span in own if (p := prune_row(span)) is not None),
        terminus=next((t for span in own if (t := terminus_of(span))), None),
        spans=spans_in_order(
            tree, lines, run.run_span_id, {call.span_id: call.index for call in calls}
        ),
    )


def _lines(project_id: int, trace_id: str) -> Mapping[str, SpanLine]:
    """Every span of a trace, without what it carried."""
    rows = Span.objects.filter(project_id=project_id, trace_id=trace_id).values_list(
        "span_id",
        "parent_span_id",
        "start_ns",
        "end_ns",
        "facts",
        "name",
        "status_code",
    )
    return {
        span_id: SpanLine(
            span=TraceSpan(span_id, parent, start, end, SpanFacts.from_json(facts)),
            name=name,
            is_error=status_code == 2,
        )
        for span_id, parent, start, end, facts, name, status_code in rows
    }
