"""How facts become rows: one idempotent write a table, in the caller's transaction."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from inspector.domain.ingest.calls import FoldedCall
from inspector.domain.ingest.decode import Refused, Span
from inspector.domain.ingest.facts import MessageFacts, Reading, ViewFacts
from inspector.domain.ingest.fold import Folded, FoldedPrune, FoldedRun
from inspector.domain.views.selectors import longest_known
from inspector.store.base import rows_write
from inspector.store.content import Message, View
from inspector.store.inbox import DeadLetter
from inspector.store.runs import Call, PlanAction, Run
from inspector.store.spans import Span as SpanTable
from inspector.store.spans import TraceState
from ullage.messages import digest_of

MAX_NAME_CHARACTERS = 300


def spans_write(
    project_id: int,
    spans: Sequence[tuple[Span, Reading]],
    *,
    content_names: Collection[str],
) -> None:
    rows_write(
        SpanTable,
        [
            (
                project_id,
                span.trace_id,
                span.span_id,
                span.parent_span_id,
                span.name[:MAX_NAME_CHARACTERS],
                span.start_ns,
                span.end_ns or span.start_ns,
                min(max(span.status_code, 0), 2),
                reading.facts,  # the encoder knows dataclasses
                _received(span, content_names),
                {n: v for n, v in span.attributes.items() if n in content_names},
            )
            for span, reading in spans
        ],
        fields=(
            "project",
            "trace_id",
            "span_id",
            "parent_span_id",
            "name",
            "start_ns",
            "end_ns",
            "status_code",
            "facts",
            "attributes",
            "content",
        ),
    )


def _received(span: Span, content_names: Collection[str]) -> dict[str, Any]:
    return {
        "attributes": {
            n: v for n, v in span.attributes.items() if n not in content_names
        },
        "resource": dict(span.resource),
        "scope": span.scope,
        "kind": span.kind,
        "events": list(span.events),
        "status_message": span.status_message,
        "dropped_attribute_count": span.dropped_attribute_count,
    }


def messages_write(project_id: int, messages: Iterable[MessageFacts]) -> None:
    """A body once captured stays; one that comes later is added."""
    best: dict[str, MessageFacts] = {}
    for message in messages:
        if message.body is not None or message.digest not in best:
            best[message.digest] = message
    rows_write(
        Message,
        [(project_id, m.digest, dict(m.shape), m.body) for m in best.values()],
        fields=("project", "digest", "shape", "body"),
        expressions={"body": "COALESCE(excluded.body, t.body)"},
    )


def views_write(project_id: int, views: Iterable[ViewFacts]) -> None:
    """Views are proven by their digest, so the first one written is as good as any.

    A view that came as a whole list (no parent) is kept as what it adds to the longest
    part of it that is a view already.
    """
    by_length = sorted(views, key=lambda view: (view.length, view.digest))
    for view in {view.digest: view for view in by_length}.values():
        parent, added = view.parent, list(view.added)
        if not parent:
            parent, added = longest_known(project_id, added)
        rows_write(
            View,
            [(project_id, view.digest, parent, view.length, added)],
            fields=("project", "digest", "parent", "length", "added"),
            on_conflict="keep",
        )


def letters_write(
    project_id: int, refused: Iterable[Refused], *, received_at: datetime
) -> None:
    letters = {
        digest_of(b"\0".join((r.reason.encode(), r.span_id.encode(), r.payload))): r
        for r in refused
    }
    rows_write(
        DeadLetter,
        [
            (
                project_id,
                letter_id,
                received_at,
                letter.reason,
                letter.detail,
                letter.trace_id,
                letter.span_id,
                letter.payload,
            )
            for letter_id, letter in letters.items()
        ],
        fields=(
            "project",
            "letter_id",
            "received_at",
            "reason",
            "detail",
            "trace_id",
            "span_id",
            "payload",
        ),
        on_conflict="keep",
    )


def traces_touch(project_id: int, trace_ids: Iterable[str], *, now_ns: int) -> None:
    """Mark traces as due, in the transaction that wrote their spans."""
    rows_write(
        TraceState,
        [(project_id, trace_id, 1, 0, 0, 0, now_ns) for trace_id in sorted(trace_ids)],
        fields=(
            "project",
            "trace_id",
            "dirty",
            "folded",
            "folded_ns",
            "claimed_ns",
            "touched_ns",
        ),
        expressions={
            "dirty": "t.dirty + 1",
            "folded": "t.folded",
            "folded_ns": "t.folded_ns",
            "claimed_ns": "t.claimed_ns",
        },
    )


# --- what the fold makes --------------------------------------------------------------
def fold_write(
    project_id: int, trace_id: str, folded: Folded, *, touched_ns: int
) -> None:
    """Replace the runs, calls and actions of a trace by those of the newest fold."""
    _runs_write(project_id, trace_id, folded.runs, touched_ns)
    _calls_write(project_id, trace_id, folded.calls)
    _actions_write(project_id, trace_id, folded.prunes)
    here = {"project_id": project_id, "trace_id": trace_id}
    runs = Run.objects.filter(**here)
    runs.exclude(run_span_id__in=[run.run_span_id for run in folded.runs]).delete()
    kept = {call.span_id for call in folded.calls}
    stored = set(Call.objects.filter(**here).values_list("span_id", flat=True))
    if stored - kept:
        Call.objects.filter(**here, span_id__in=sorted(stored - kept)).delete()


RUN_COLUMNS = (
    "run_span_id",
    "parent_run_id",
    "agent",
    "model",
    "environment",
    "conversation_id",
    "is_ended",
    "reason",
    "start_ns",
    "end_ns",
    "call_count",
    "prune_count",
    "dropped_unit_count",
    "usage_call_count",
    "peak_fill",
    "worst_drift",
    "window_tokens",
    "source",
    "is_demo",
)


def _runs_write(
    project_id: int, trace_id: str, runs: Iterable[FoldedRun], touched_ns: int
) -> None:
    rows_write(
        Run,
        [
            (
                project_id,
                trace_id,
                touched_ns,
                {"fills": run.fills, "pruned_calls": run.pruned_calls},
                *(getattr(run, name) for name in RUN_COLUMNS),
            )
            for run in runs
        ],
        fields=("project", "trace_id", "touched_ns", "sparkline", *RUN_COLUMNS),
    )


def _calls_write(project_id: int, trace_id: str, calls: Iterable[FoldedCall]) -> None:
    rows_write(
        Call,
        [_call_row(project_id, trace_id, call) for call in calls],
        fields=(
            "project",
            "trace_id",
            "span_id",
            "run_span_id",
            "index",
            "start_ns",
            "end_ns",
            "model",
            "estimate_tokens",
            "input_tokens",
            "window_tokens",
            "is_pruned",
            "view_digest",
            "facts",
            "shapes",
        ),
    )


def _call_row(project_id: int, trace_id: str, call: FoldedCall) -> tuple[Any, ...]:
    kept = call.facts.to_json()
    shapes = {"messages": kept.pop("shapes"), "tools": kept.pop("tool_shapes")}
    return (
        project_id,
        trace_id,
        call.span_id,
        call.run_span_id,
        call.index,
        call.start_ns,
        call.end_ns,
        call.facts.model,
        call.facts.estimate_tokens,
        call.facts.input_tokens,
        call.facts.window_tokens,
        call.is_pruned,
        call.facts.view_digest,
        kept,
        shapes,
    )


def _actions_write(
    project_id: int, trace_id: str, prunes: Iterable[FoldedPrune]
) -> None:
    rows_write(
        PlanAction,
        [
            (
                project_id,
                trace_id,
                prune.span_id,
                action["unit"],
                prune.run_span_id,
                prune.call_index,
                action["do"],
                action["why"],
                prune.facts.policy,
                action["before_tokens"],
                action["after_tokens"],
                {name: action[name] for name in ("roles", "tools", "digests")},
            )
            for prune in prunes
            for action in prune.facts.actions
        ],
        fields=(
            "project",
            "trace_id",
            "span_id",
            "unit",
            "run_span_id",
            "call_index",
            "do",
            "why",
            "policy",
            "before_tokens",
            "after_tokens",
            "subject",
        ),
    )
