"""Reads about demo runs."""

from collections.abc import Collection

from inspector.store.spans import TraceState


def traces_missing(*, project_id: int, trace_ids: Collection[str]) -> bool:
    """Whether a trace of the recordings has not arrived in the project."""
    there = TraceState.objects.filter(
        project_id=project_id, trace_id__in=list(trace_ids)
    )
    return there.count() < len(trace_ids)
