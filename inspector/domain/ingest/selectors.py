"""Reads about what arrived: is the store ready, and what became of a trace."""

from dataclasses import dataclass

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from inspector.domain.ingest.tree import run_id_of
from inspector.errors import InspectorError
from inspector.store.inbox import DeadLetter, Inbox
from inspector.store.runs import Run
from inspector.store.spans import Span, TraceState


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is there of one trace."""

    trace_id: str
    span_count: int
    dead_letter_count: int
    run_ids: tuple[str, ...]
    is_pending: bool  # the fold is behind, or bodies of the project still wait


def store_is_ready() -> bool:
    """Whether the database answers and no migration is missing."""
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return False


def arrival_get(*, project_id: int, trace_id: str) -> Arrival:
    """What arrived of a trace.

    Raises:
        InspectorError: `trace_not_found`.
    """
    here = {"project_id": project_id, "trace_id": trace_id}
    # In the order in which the work goes on, so that *done* is never said too early.
    is_waiting = Inbox.objects.filter(project_id=project_id).exists()
    states = tuple(TraceState.objects.filter(**here).values_list("dirty", "folded"))
    span_count = Span.objects.filter(**here).count()
    letter_count = DeadLetter.objects.filter(**here).count()
    if not span_count and not letter_count:
        raise InspectorError("trace_not_found", trace_id=trace_id)
    run_spans = Run.objects.filter(**here).order_by("start_ns")
    return Arrival(
        trace_id=trace_id,
        span_count=span_count,
        dead_letter_count=letter_count,
        run_ids=tuple(
            run_id_of(trace_id, run_span_id)
            for run_span_id in run_spans.values_list("run_span_id", flat=True)
        ),
        is_pending=is_waiting or any(dirty != folded for dirty, folded in states),
    )
