"""Values of `inspector.domain.runs.records` with defaults, for tests of the pages."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from inspector.domain.runs.records import (
    Breakdown,
    CallRow,
    PlanAction,
    PruneRow,
    RunDetail,
    RunRow,
    SpanRow,
    Terminus,
)

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
_RUN = RunRow(
    run_id="11" * 16 + "-" + "aa" * 8,
    trace_id="11" * 16,
    run_span_id="aa" * 8,
    parent_run_id="",
    agent="triage",
    model="gpt-5-mini",
    environment="",
    conversation_id="",
    status="ended",
    reason="completed",
    started_at=AT,
    ended_at=AT,
    call_count=0,
    prune_count=0,
    dropped_unit_count=0,
    peak_fill=None,
    worst_drift=None,
    window_tokens=None,
    fills=(),
    pruned_calls=(),
    source="ullage",
    is_demo=False,
    usage_call_count=0,
)
_CALL = CallRow(
    index=0,
    span_id="bb" * 8,
    started_at=AT,
    duration_ms=1000.0,
    model="gpt-5-mini",
    site="tools",
    window_tokens=None,
    window_source="",
    budget_tokens=None,
    reserve_tokens=None,
    safety_tokens=None,
    free_tokens=None,
    estimate_tokens=None,
    estimate_lower_tokens=None,
    accuracy="",
    breakdown=None,
    input_tokens=None,
    output_tokens=None,
    cache_read_tokens=None,
    fill=None,
    drift=None,
    factor=None,
    anchor_tokens=None,
    table="",
    policy="",
    dropped_unit_count=None,
    dropped_tokens=None,
    view_digest="",
    view_length=0,
    finish_reasons=(),
    error_type="",
    is_pruned=False,
)


def run_row(**changes: Any) -> RunRow:
    """An ended run of which nothing else is known."""
    return replace(_RUN, **changes)


def call_row(**changes: Any) -> CallRow:
    """A call of which nothing is known but that it was made."""
    return replace(_CALL, **changes)


def parts(
    system: int = 0,
    tools: int = 0,
    conversation: int = 0,
    media: int = 0,
    framing: int = 0,
) -> Breakdown:
    """A breakdown by its parts, in tokens."""
    return Breakdown(system, tools, conversation, media, framing)


def prune_row(index: int, *actions: PlanAction) -> PruneRow:
    """A prune before a call."""
    return PruneRow(index, "cc" * 8, AT, "DropOldest()", "done", 9, 5, 5, 3, actions)


def drop(unit: int, tokens: int, *tools: str) -> PlanAction:
    """A turn that was dropped for want of room."""
    return PlanAction(unit, "drop", "over_budget", tokens, 0, (), tools, ())


def terminus(**changes: Any) -> Terminus:
    """A terminus before the first call."""
    ended = Terminus(0, 1500, 700, "conversation", "", (), 1000, 800, 200, 0, None)
    return replace(ended, **changes)


def span_row(span_id: str, kind: str, depth: int, start: int, end: int) -> SpanRow:
    """A row of the timeline, by nanoseconds."""
    return SpanRow(span_id, "", kind, kind, depth, start, end, None, False)


def detail(
    *calls: CallRow,
    prunes: tuple[PruneRow, ...] = (),
    end: Terminus | None = None,
    spans: tuple[SpanRow, ...] = (),
) -> RunDetail:
    """A run with these calls."""
    return RunDetail(run_row(call_count=len(calls)), calls, prunes, end, spans)
