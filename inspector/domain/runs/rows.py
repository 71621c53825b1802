"""Rows to records: one function for each kind of record; and how a run is found."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, QuerySet

from inspector.domain.ingest.facts import CallFacts, PruneFacts, TerminusFacts
from inspector.domain.ingest.figures import drift_of, fill_of
from inspector.domain.ingest.tree import TraceSpan, run_id_of
from inspector.domain.runs.records import (
    Breakdown,
    CallRow,
    PlanAction,
    PruneRow,
    RunRow,
    Terminus,
)
from inspector.domain.runs.rules import status_of
from inspector.errors import InspectorError
from inspector.store.runs import Call, Run


def run_find(*, project_id: int, run_id: str) -> Run:
    """The run of an id; of a trace id the one without agent, else the outermost."""
    trace_id, _, run_span_id = run_id.partition("-")
    runs = Run.objects.filter(project_id=project_id, trace_id=trace_id)
    found = runs.filter(run_span_id=run_span_id).first()
    if found is None and not run_span_id:
        outermost_first = runs.order_by(F("parent_run_id").asc(), "start_ns")
        found = outermost_first.first()
    if found is None:
        raise InspectorError("run_not_found", run_id=run_id)
    return found


def calls_of(run: Run) -> QuerySet[Call]:
    """The calls of a run, oldest first."""
    return Call.objects.filter(
        project_id=run.project_id, trace_id=run.trace_id, run_span_id=run.run_span_id
    ).order_by("index")


def moment(ns: int) -> datetime:
    """Unix nanoseconds as an aware time (64 bits of them end in the year 2262)."""
    return datetime.fromtimestamp(max(ns, 0) / 1e9, tz=UTC)


def run_row(run: Run, *, now_ns: int) -> RunRow:
    """A run as the list shows it."""
    return RunRow(
        run_id=run_id_of(run.trace_id, run.run_span_id),
        trace_id=run.trace_id,
        run_span_id=run.run_span_id,
        parent_run_id=run.parent_run_id,
        agent=run.agent,
        model=run.model,
        environment=run.environment,
        conversation_id=run.conversation_id,
        status=status_of(
            is_ended=run.is_ended, touched_ns=run.touched_ns, now_ns=now_ns
        ),
        reason=run.reason,
        started_at=moment(run.start_ns),
        ended_at=None if run.end_ns is None else moment(run.end_ns),
        call_count=run.call_count,
        prune_count=run.prune_count,
        dropped_unit_count=run.dropped_unit_count,
        peak_fill=run.peak_fill,
        worst_drift=run.worst_drift,
        window_tokens=run.window_tokens,
        fills=tuple(run.sparkline["fills"]),
        pruned_calls=tuple(run.sparkline["pruned_calls"]),
        source=run.source,
        is_demo=run.is_demo,
        usage_call_count=run.usage_call_count,
    )


def call_row(call: Call) -> CallRow:
    """A call with all its figures."""
    facts = CallFacts.from_json(call.facts)
    return CallRow(
        index=call.index,
        span_id=call.span_id,
        started_at=moment(call.start_ns),
        duration_ms=max(call.end_ns - call.start_ns, 0) / 1e6,
        model=facts.model,
        site=facts.site,
        window_tokens=facts.window_tokens,
        window_source=facts.window_source,
        budget_tokens=facts.budget_tokens,
        reserve_tokens=facts.reserve_tokens,
        safety_tokens=facts.safety_tokens,
        free_tokens=facts.free_tokens,
        estimate_tokens=facts.estimate_tokens,
        estimate_lower_tokens=facts.estimate_lower_tokens,
        accuracy=facts.accuracy,
        breakdown=breakdown_of(facts.breakdown),
        input_tokens=facts.input_tokens,
        output_tokens=facts.output_tokens,
        cache_read_tokens=facts.cache_read_tokens,
        fill=fill_of(facts.input_tokens, facts.window_tokens, facts.utilization),
        drift=drift_of(facts.estimate_tokens, facts.input_tokens),
        factor=facts.factor,
        anchor_tokens=facts.anchor_tokens,
        table=facts.table,
        policy=facts.policy,
        dropped_unit_count=facts.dropped_unit_count,
        dropped_tokens=facts.dropped_tokens,
        view_digest=facts.view_digest,
        view_length=facts.view_length,
        finish_reasons=facts.finish_reasons,
        error_type=facts.error_type,
        is_pruned=call.is_pruned,
    )


def breakdown_of(parts: Iterable[int] | None) -> Breakdown | None:
    """Five parts in the order of `Breakdown`."""
    return None if parts is None else Breakdown(*parts)


def prune_row(span: TraceSpan) -> PruneRow | None:
    """A prune span as its record; None for any other span."""
    facts = span.facts.detail
    if not isinstance(facts, PruneFacts):
        return None
    return PruneRow(
        call_index=span.facts.call_index or 0,
        span_id=span.span_id,
        started_at=moment(span.start_ns),
        policy=facts.policy,
        outcome=facts.outcome,
        before_tokens=facts.before_tokens,
        after_tokens=facts.after_tokens,
        target_tokens=facts.target_tokens,
        kept_unit_count=facts.kept_unit_count,
        actions=tuple(plan_action(action) for action in facts.actions),
    )


def plan_action(action: Mapping[str, Any]) -> PlanAction:
    """One action as its record."""
    lists = {name: tuple(action[name]) for name in ("roles", "tools", "digests")}
    return PlanAction(**{**action, **lists})


def terminus_of(span: TraceSpan) -> Terminus | None:
    """A truncate span as its record; None for any other span."""
    facts = span.facts.detail
    if not isinstance(facts, TerminusFacts):
        return None
    return Terminus(
        call_index=span.facts.call_index or 0,
        needed_tokens=facts.needed_tokens,
        shortfall_tokens=facts.shortfall_tokens,
        component=facts.component,
        hint=facts.hint,
        undroppable_units=facts.undroppable_units,
        window_tokens=facts.window_tokens,
        budget_tokens=facts.budget_tokens,
        reserve_tokens=facts.reserve_tokens,
        safety_tokens=facts.safety_tokens,
        breakdown=breakdown_of(facts.breakdown),
    )
