"""The spans of one trace, in any order and number, to its runs, calls and plan actions;
pure.

Everything is computed anew from all spans that are there, nothing is accumulated: late,
duplicate, out-of-order, parentless and cyclic spans are normal input (docs/wire.md 5).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from inspector.domain.ingest.facts import (
    CALL,
    GENAI,
    RUN,
    ULLAGE,
    CallFacts,
    PruneFacts,
    RunFacts,
    SpanFacts,
    TerminusFacts,
)
from inspector.domain.ingest.figures import drift_of, fill_of, worst_drift_of
from inspector.domain.ingest.inference import (
    ForeignCall,
    Inferred,
    Shapes,
    drops_infer,
)

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
PLAIN_TRACE = ""  # run_span_id of the calls that no agent span encloses


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """What the fold sees of a span."""

    span_id: str
    parent_span_id: str
    start_ns: int
    end_ns: int
    facts: SpanFacts


@dataclass(frozen=True, slots=True)
class FoldedCall:
    """One call, merged from all spans that tell of it."""

    span_id: str
    run_span_id: str
    index: int
    start_ns: int
    end_ns: int
    facts: CallFacts
    is_pruned: bool

    @property
    def fill(self) -> float | None:
        f = self.facts
        return fill_of(f.input_tokens, f.window_tokens, f.utilization)

    @property
    def drift(self) -> float | None:
        return drift_of(self.facts.estimate_tokens, self.facts.input_tokens)


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
        """Parent, grandparent and so on, as far as they arrived; a circle ends the
        walk."""
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
    calls = _calls(tree, termini, pruned, inferred)
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
        facts = _call_facts(span)
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


# --- calls ----------------------------------------------------------------------------
def _calls(
    tree: Tree,
    termini: Mapping[str, TraceSpan],
    pruned: set[tuple[str, int]],
    inferred: Mapping[str, Inferred],
) -> tuple[FoldedCall, ...]:
    grouped: dict[str, list[list[TraceSpan]]] = defaultdict(list)
    for group in call_groups(tree):
        grouped[tree.run_of(group[0])].append(group)
    calls = []
    for run_span_id, groups in grouped.items():
        terminus = termini.get(run_span_id)
        taken = {terminus.facts.call_index} if terminus else set()
        for index, group in _numbered(groups, taken):
            calls.append(_call(run_span_id, index, group, pruned, inferred))
    return tuple(calls)


def call_groups(tree: Tree) -> list[list[TraceSpan]]:
    """Spans that tell of one model request, the most telling first.

    They are one when they have the same response id, or when one encloses the other;
    never on model and time alone, since parallel calls are real.
    """
    spans = [span for span in tree.spans.values() if span.facts.kind == CALL]
    leader: dict[str, str] = {}
    by_response: dict[str, str] = {}
    for span in spans:
        above = next(
            (s.span_id for s in tree.ancestors(span) if s.facts.kind == CALL), ""
        )
        response_id = _call_facts(span).response_id
        first = by_response.setdefault(response_id, span.span_id) if response_id else ""
        leader[span.span_id] = above or (first if first != span.span_id else "")
    groups: dict[str, list[TraceSpan]] = defaultdict(list)
    for span in spans:
        groups[_leader_of(span.span_id, leader)].append(span)
    return [sorted(group, key=_telling) for group in groups.values()]


def _leader_of(span_id: str, leader: Mapping[str, str]) -> str:
    path: list[str] = []
    while leader[span_id] and span_id not in path:
        path.append(span_id)
        span_id = leader[span_id]
    return min(path[path.index(span_id) :]) if span_id in path else span_id


def _telling(span: TraceSpan) -> tuple[bool, bool, int]:
    return (
        span.facts.source != ULLAGE,
        not _call_facts(span).view_digest,
        span.start_ns,
    )


def _call_facts(span: TraceSpan) -> CallFacts:
    detail = span.facts.detail
    return detail if isinstance(detail, CallFacts) else CallFacts()


def _numbered(
    groups: Sequence[list[TraceSpan]], taken: set[int | None]
) -> Iterator[tuple[int, list[TraceSpan]]]:
    """Each call with its index: its own where it has one that is free, else the next
    free."""
    in_order = sorted(groups, key=lambda group: (group[0].start_ns, group[0].span_id))
    waiting = []
    used = set(taken)
    for group in in_order:
        own = group[0].facts.call_index
        if own is None or own in used:
            waiting.append(group)
        else:
            used.add(own)
            yield own, group
    index = 0
    for group in waiting:
        while index in used:
            index += 1
        used.add(index)
        yield index, group


def _call(
    run_span_id: str,
    index: int,
    group: Sequence[TraceSpan],
    pruned: set[tuple[str, int]],
    inferred: Mapping[str, Inferred],
) -> FoldedCall:
    first = group[0]
    facts = merged([_call_facts(span) for span in group])
    found = next((inferred[s.span_id] for s in group if s.span_id in inferred), None)
    if found and facts.dropped_unit_count is None:
        facts = replace(facts, dropped_unit_count=found.dropped_unit_count)
    return FoldedCall(
        span_id=first.span_id,
        run_span_id=run_span_id,
        index=index,
        start_ns=first.start_ns,
        end_ns=max(first.end_ns, first.start_ns),
        facts=facts,
        is_pruned=(run_span_id, index) in pruned
        or (first.facts.source == GENAI and facts.is_compacted)
        or bool(found and found.has_new_drops),
    )


def merged(told: Sequence[CallFacts]) -> CallFacts:
    """The first one's facts, its gaps filled from the others."""
    first, *others = told
    if not others:
        return first
    gaps = {}
    for field in fields(CallFacts):
        if getattr(first, field.name) in (None, "", 0, ()):
            found = (getattr(other, field.name) for other in others)
            gaps[field.name] = next((value for value in found if value), None)
    return replace(first, **{name: value for name, value in gaps.items() if value})


# --- runs -----------------------------------------------------------------------------
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
        worst_drift=worst_drift_of(call.drift for call in calls),
        window_tokens=_window(stops_at, figures),
        source=source,
        is_demo=any(s.facts.is_demo for s in members),
        fills=tuple(call.fill for call in in_order),
        pruned_calls=pruned,
    )


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
    """What the run said; else its terminus; else, for foreign traces, what its end
    shows."""
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
