"""The model calls of a trace: spans that tell of one request are one call; pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from inspector.domain.ingest.facts import CALL, GENAI, ULLAGE, CallFacts
from inspector.domain.ingest.figures import drift_of, fill_of
from inspector.domain.ingest.inference import Inferred
from inspector.domain.ingest.tree import TraceSpan, Tree


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


def calls_fold(
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
        response_id = span.call_facts.response_id
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
        not span.call_facts.view_digest,
        span.start_ns,
    )


def _numbered(
    groups: Sequence[list[TraceSpan]], taken: set[int | None]
) -> Iterator[tuple[int, list[TraceSpan]]]:
    """Each call with its index: its own where that is free, else the next free one."""
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
    facts = merged([span.call_facts for span in group])
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
