"""The spans of one trace, in any order and number, to its runs, calls and prunes; pure.

Everything is computed anew from all spans that are there, nothing is accumulated: late,
duplicate, out-of-order, parentless and cyclic spans are normal input (docs/wire.md 5).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from inspector.domain.ingest.calls import FoldedCall, calls_fold
from inspector.domain.ingest.facts import (
    GENAI,
    RUN,
    ULLAGE,
    CallFacts,
    PruneFacts,
    RunFacts,
    TerminusFacts,
)
from inspector.domain.ingest.figures import worst_drift_of
from inspector.domain.ingest.inference import (
    ForeignCall,
    Inferred,
    Shapes,
    drops_infer,
)
from inspector.domain.ingest.tree import PLAIN_TRACE, TraceSpan, Tree, run_id_of

REASONS = frozenset(
    {
        "completed",
        "max_iterations",
        "context_truncated",
        "context_overflow",
        "provider_failed",
        "refused_by_hook",
        "cancelled",
    }
)
Views = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class FoldedPrune:
    """One prune span of a run."""

    span_id: str
    run_span_id: str
    call_index: int
    facts: PruneFacts


@dataclass(frozen=True, slots=True)
class FoldedRun:
    """One run, all figures computed from its calls."""

    run_span_id: str
    parent_run_id: str
    agent: str
    model: str
    environment: str
    conversation_id: str
    is_ended: bool
    reason: str
    start_ns: int
    end_ns: int | None
    call_count: int
    prune_count: int
    dropped_unit_count: int
    usage_call_count: int
    peak_fill: float | None
    worst_drift: float | None
    window_tokens: int | None
    source: str
    is_demo: bool
    fills: tuple[float | None, ...]
    pruned_calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """A trace, folded."""

    runs: tuple[FoldedRun, ...]
    calls: tuple[FoldedCall, ...]
    prunes: tuple[FoldedPrune, ...]


def trace_fold(
    trace_id: str,
    spans: Iterable[TraceSpan],
    *,
    views: Views | None = None,
    shapes: Shapes | None = None,
) -> Folded:
    """Fold a trace.

    Args:
        trace_id: 32 hexadecimal characters.
        spans: all spans of the trace that are there; a span id stands once.
        views: view digest → message digests, of the calls that no fit of ours planned.
        shapes: message digest → shape, of the messages in these views.
    """
    tree = Tree(trace_id, spans)
    inferred = _inferred(tree, views or {}, shapes or {})
    prunes = _prunes(tree)
    termini = {
        tree.run_of(span): span
        for span in tree.spans.values()
        if isinstance(span.facts.detail, TerminusFacts)
    }
    pruned = {(prune.run_span_id, prune.call_index) for prune in prunes}
    calls = calls_fold(tree, termini, pruned, inferred)
    by_run: dict[str, list[FoldedCall]] = defaultdict(list)
    for call in calls:
        by_run[call.run_span_id].append(call)
    run_span_ids = dict.fromkeys(
        [*(tree.run_of(s) for s in tree.spans.values() if s.facts.source), *by_run]
    )
    if not by_run.get(PLAIN_TRACE):
        run_span_ids.pop(PLAIN_TRACE, None)
    runs = [
        _run(tree, run_span_id, by_run[run_span_id], prunes, termini.get(run_span_id))
        for run_span_id in run_span_ids
    ]
    return Folded(tuple(runs), calls, prunes)


def _inferred(tree: Tree, views: Views, shapes: Shapes) -> dict[str, Inferred]:
    by_run: dict[str, list[ForeignCall]] = defaultdict(list)
    for span in tree.spans.values():
        facts = span.call_facts
        if facts.view_digest in views and not facts.is_cut:
            call = ForeignCall(span.span_id, views[facts.view_digest])
            by_run[tree.run_of(span)].append(call)
    found: dict[str, Inferred] = {}
    for calls in by_run.values():
        found |= drops_infer(calls, shapes)
    return found


def _prunes(tree: Tree) -> tuple[FoldedPrune, ...]:
    return tuple(
        FoldedPrune(
            span.span_id,
            tree.run_of(span),
            span.facts.call_index or 0,
            span.facts.detail,
        )
        for span in tree.spans.values()
        if isinstance(span.facts.detail, PruneFacts)
    )


def _run(
    tree: Tree,
    run_span_id: str,
    calls: Sequence[FoldedCall],
    prunes: Sequence[FoldedPrune],
    terminus: TraceSpan | None,
) -> FoldedRun:
    members = [s for s in tree.spans.values() if tree.run_of(s) == run_span_id]
    in_order = sorted(calls, key=lambda call: call.index)
    end = _ending(tree, run_span_id, members)
    figures = [call.facts for call in in_order]
    parent = tree.parent_run_of(run_span_id)
    source = ULLAGE if any(s.facts.source == ULLAGE for s in members) else GENAI
    pruned = tuple(call.index for call in in_order if call.is_pruned)
    stops_at = terminus.facts.detail if terminus else None
    return FoldedRun(
        run_span_id=run_span_id,
        parent_run_id=run_id_of(tree.trace_id, parent) if parent else "",
        agent=_first(members, "agent") or _first(members, "service"),
        model=_model(stops_at, figures),
        environment=_first(members, "environment"),
        conversation_id=_first(members, "conversation_id"),
        is_ended=end is not None,
        reason=_reason(end, terminus, in_order, source) if end else "",
        start_ns=_start_ns(tree, run_span_id, members),
        end_ns=max(end.end_ns, end.start_ns) if end else None,
        call_count=len(calls),
        prune_count=_prune_count(run_span_id, prunes, pruned, source),
        dropped_unit_count=(figures[-1].dropped_unit_count or 0) if figures else 0,
        usage_call_count=sum(f.input_tokens is not None for f in figures),
        peak_fill=max((c.fill for c in calls if c.fill is not None), default=None),
        worst_drift=worst_drift_of(_telling_drifts(calls)),
        window_tokens=_window(stops_at, figures),
        source=source,
        is_demo=any(s.facts.is_demo for s in members),
        fills=tuple(call.fill for call in in_order),
        pruned_calls=pruned,
    )


def _telling_drifts(calls: Sequence[FoldedCall]) -> list[float | None]:
    """Under-counts, and what a calibrated estimate missed.

    A cold estimate is too high by design, so it tells only where nothing else does.
    """
    telling = [
        call.drift
        for call in calls
        if call.facts.accuracy == "calibrated" or (call.drift or 1) < 1
    ]
    return telling or [call.drift for call in calls]


def _ending(
    tree: Tree, run_span_id: str, members: Sequence[TraceSpan]
) -> TraceSpan | None:
    """The span whose arrival ends the run: its own, or the root of a plain trace."""
    if run_span_id:
        return tree.spans.get(run_span_id)
    roots = [span for span in members if not span.parent_span_id]
    return max(roots, key=lambda span: span.end_ns, default=None)


def _start_ns(tree: Tree, run_span_id: str, members: Sequence[TraceSpan]) -> int:
    own = tree.spans.get(run_span_id)
    return own.start_ns if own else min(span.start_ns for span in members)


def _first(members: Iterable[TraceSpan], name: str) -> str:
    """The first non-empty value in time, the run's own span leading."""
    ordered = sorted(members, key=lambda span: span.facts.kind != RUN)
    values = (str(getattr(span.facts, name)) for span in ordered)
    return next((value for value in values if value), "")


def _model(stops_at: object, figures: Sequence[CallFacts]) -> str:
    if isinstance(stops_at, TerminusFacts) and stops_at.model:
        return stops_at.model
    return next((f.model for f in reversed(figures) if f.model), "")


def _window(stops_at: object, figures: Sequence[CallFacts]) -> int | None:
    if isinstance(stops_at, TerminusFacts) and stops_at.window_tokens:
        return stops_at.window_tokens
    return next((f.window_tokens for f in reversed(figures) if f.window_tokens), None)


def _prune_count(
    run_span_id: str,
    prunes: Sequence[FoldedPrune],
    pruned: Sequence[int],
    source: str,
) -> int:
    if source == GENAI:
        return len(pruned)
    return sum(prune.run_span_id == run_span_id for prune in prunes)


def _reason(
    end: TraceSpan,
    terminus: TraceSpan | None,
    calls: Sequence[FoldedCall],
    source: str,
) -> str:
    """What the run said, else its terminus, else what a foreign end shows."""
    detail = end.facts.detail
    own = detail if isinstance(detail, RunFacts) else RunFacts()
    if own.reason:
        return own.reason if own.reason in REASONS else "unknown"
    if terminus:
        return "context_truncated"
    if source == ULLAGE:
        return "unknown"
    last_error = calls[-1].facts.error_type if calls else ""
    if last_error == "context_overflow":
        return last_error
    if last_error:
        return "provider_failed"
    return "unknown" if own.error_type else "completed"
