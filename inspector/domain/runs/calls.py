"""One call opened: its messages, what stands outside, what changed since before."""

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.domain.ingest.facts import ULLAGE, OtherFacts, SpanFacts
from inspector.domain.ingest.inference import ForeignCall, drops_infer, identities_of
from inspector.domain.ingest.tree import TraceSpan, run_id_of
from inspector.domain.runs.records import (
    CallDetail,
    DroppedUnit,
    MessageRow,
    PruneRow,
)
from inspector.domain.runs.rows import (
    call_row,
    calls_of,
    prune_row,
    run_find,
    run_row,
)
from inspector.domain.views.rules import (
    DROPPED,
    KEPT,
    NEW,
    NOT_CAPTURED,
    ViewDiff,
    is_unknown,
    unknown_head,
    view_diff,
)
from inspector.domain.views.selectors import (
    MAX_UNKNOWN,
    bodies_load,
    shapes_load,
    views_load,
)
from inspector.errors import InspectorError
from inspector.store.runs import Call, PlanAction, Run
from inspector.store.spans import Span
from ullage import semconv

OUTSIDE = frozenset({"drop", "summarize"})
INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class _Context:
    """What every message row of a call is made from."""

    shapes: Mapping[str, Mapping[str, Any]]  # run's own over what holds everywhere
    bodies: Mapping[str, dict[str, Any]]

    def row(self, digest: str, state: str, position: int | None = None) -> MessageRow:
        shape = self.shapes.get(digest, {})
        return MessageRow(
            digest="" if is_unknown(digest) else digest,
            position=position,
            role=str(shape.get("role") or ""),
            kinds=tuple(shape.get("kinds", ())),
            tools=tuple(shape.get("tools", ())),
            call_ids=tuple(shape.get("call_ids") or shape.get("result_ids") or ()),
            body_bytes=shape.get("bytes"),
            lower_tokens=shape.get("lower_tokens"),
            upper_tokens=shape.get("upper_tokens"),
            unit=_unit(shape),
            state=state,
            body=self.bodies.get(digest),
        )


def _unit(shape: Mapping[str, Any]) -> int | None:
    """The unit of a message of the caller's; our own note is in none."""
    unit = shape.get("unit")
    return unit if isinstance(unit, int) and unit >= 0 else None


def call_get(*, project_id: int, run_id: str, index: int) -> CallDetail:
    """One call opened: what was sent, what stood outside, what changed.

    Raises:
        InspectorError: `run_not_found`, `call_not_found`.
    """
    run = run_find(project_id=project_id, run_id=run_id)
    calls = list(calls_of(run).filter(index__lte=index))
    if not calls or calls[-1].index != index:
        raise InspectorError("call_not_found", run_id=run_id, index=index)
    call = calls[-1]
    views = _views(project_id, calls)
    before = views[calls[-2].span_id] if len(calls) > 1 else ()
    now = views[call.span_id]
    described = _described(calls)
    outside = _outside(run, calls, views)
    wanted = {*before, *now, *(d for unit in outside for d in unit.digests)}
    wanted |= {call.facts["reply_digest"]} - {""}
    context = _context(project_id, {d for d in wanted if not is_unknown(d)}, described)
    diff = view_diff(
        before,
        now,
        seen={d for c in calls[:-2] for d in views[c.span_id]},
        identities=_identities(context.shapes),
    )
    return CallDetail(
        run=run_row(run, now_ns=time.time_ns()),
        call=call_row(call),
        sent=_sent(context, now, diff),
        left=_left(context, before, diff),
        dropped=tuple(_dropped_unit(unit, index, context) for unit in outside),
        reply=_reply(context, call.facts["reply_digest"]),
        tools=_tools(calls),
        prune=_prune(run, index),
        calibration=_calibration(run, index),
        raw=_raw(call),
    )


def _views(project_id: int, calls: Sequence[Call]) -> dict[str, tuple[str, ...]]:
    """Span id → digests sent, with stand-ins where a view has not arrived."""
    loaded = views_load(project_id, {call.view_digest for call in calls} - {""})
    return {
        call.span_id: loaded.get(call.view_digest)
        or unknown_head(call.view_digest or call.span_id, _length(call))
        for call in calls
    }


def _length(call: Call) -> int:
    return min(int(call.facts["view_length"]), MAX_UNKNOWN)


def _described(calls: Iterable[Call]) -> dict[str, Mapping[str, Any]]:
    """Digest → shape as this run described it, with its unit and its tokens."""
    return {
        shape["digest"]: shape for call in calls for shape in call.shapes["messages"]
    }


def _context(
    project_id: int, digests: set[str], described: Mapping[str, Mapping[str, Any]]
) -> _Context:
    general = shapes_load(project_id, digests)
    shapes = {d: {**general.get(d, {}), **described.get(d, {})} for d in digests}
    return _Context(shapes, bodies_load(project_id, digests))


def _identities(shapes: Mapping[str, Mapping[str, Any]]) -> dict[str, Hashable]:
    """A message altered in place keeps its unit, its role and its ids."""
    own = {
        digest: (shape["unit"], shape.get("role"), tuple(shape.get("call_ids", ())))
        for digest, shape in shapes.items()
        if shape.get("unit") is not None
    }
    return {**identities_of(shapes), **own}


def _sent(
    context: _Context, now: Sequence[str], diff: ViewDiff
) -> tuple[MessageRow, ...]:
    return tuple(
        context.row(digest, NOT_CAPTURED if is_unknown(digest) else state, position)
        for position, (digest, state) in enumerate(zip(now, diff.sent, strict=True))
    )


def _left(
    context: _Context, before: Sequence[str], diff: ViewDiff
) -> tuple[MessageRow, ...]:
    return tuple(
        context.row(digest, state)
        for digest, state in zip(before, diff.left, strict=True)
        if state != KEPT
    )


def _reply(context: _Context, digest: str) -> MessageRow | None:
    return context.row(digest, NEW) if digest else None


def _tools(calls: Sequence[Call]) -> tuple[dict[str, Any], ...]:
    """The last call's tools; shapes travel once and hold while the digest does."""
    digest = calls[-1].facts["tools_digest"]
    described = (
        call.shapes["tools"]
        for call in reversed(calls)
        if call.facts["tools_digest"] == digest and call.shapes["tools"]
    )
    return tuple(next(described, ()))


# --- what stands outside --------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Outside:
    """A unit that stands outside the view, before its messages are read."""

    unit: int
    call_index: int
    why: str
    policy: str
    before_tokens: int
    after_tokens: int
    digests: tuple[str, ...]


def _outside(
    run: Run,
    calls: Sequence[Call],
    views: Mapping[str, Sequence[str]],
) -> list[_Outside]:
    """Units outside the view of the last call, the newest drop first."""
    planned = run.source == ULLAGE
    found = _planned(run, calls[-1].index) if planned else _inferred(run, calls, views)
    return sorted(found, key=lambda unit: (-unit.call_index, unit.unit))


def _planned(run: Run, index: int) -> list[_Outside]:
    actions = PlanAction.objects.filter(
        project_id=run.project_id,
        trace_id=run.trace_id,
        run_span_id=run.run_span_id,
        call_index__lte=index,
    ).order_by("call_index", "span_id")
    outside: dict[int, _Outside] = {}
    for action in actions:
        outside.pop(action.unit, None)
        if action.do in OUTSIDE:
            outside[action.unit] = _Outside(
                unit=action.unit,
                call_index=action.call_index,
                why=action.why,
                policy=action.policy,
                before_tokens=action.before_tokens,
                after_tokens=action.after_tokens,
                digests=tuple(action.subject["digests"]),
            )
    return list(outside.values())


def _inferred(
    run: Run, calls: Sequence[Call], views: Mapping[str, Sequence[str]]
) -> list[_Outside]:
    known = {
        call.span_id: [d for d in views[call.span_id] if not is_unknown(d)]
        for call in calls
        if not call.facts["is_cut"]
    }
    shapes = shapes_load(run.project_id, {d for view in known.values() for d in view})
    told = drops_infer([ForeignCall(s, view) for s, view in known.items()], shapes)
    since: dict[str, int] = {}
    for call in calls:
        if call.span_id in told:
            gone = {d for unit in told[call.span_id].outside_units for d in unit}
            since = {digest: since.get(digest, call.index) for digest in gone}
    last = told.get(calls[-1].span_id)
    return [
        _Outside(
            unit=number,
            call_index=max(since[digest] for digest in digests),
            why=INFERRED,
            policy="",
            before_tokens=0,
            after_tokens=0,
            digests=digests,
        )
        for number, digests in enumerate(last.outside_units if last else ())
    ]


def _dropped_unit(unit: _Outside, index: int, context: _Context) -> DroppedUnit:
    return DroppedUnit(
        unit=unit.unit,
        dropped_at_call=unit.call_index,
        why=unit.why,
        policy=unit.policy,
        before_tokens=unit.before_tokens,
        after_tokens=unit.after_tokens,
        is_new=unit.call_index == index,
        messages=tuple(context.row(digest, DROPPED) for digest in unit.digests),
    )


# --- spans beside the call ------------------------------------------------------------
def _named_spans(run: Run, name: str, index: int) -> list[TraceSpan]:
    """The spans of one name that this run sent for a call."""
    rows = Span.objects.filter(
        project_id=run.project_id, trace_id=run.trace_id, name=name
    ).values_list("span_id", "parent_span_id", "start_ns", "end_ns", "facts")
    spans = [
        TraceSpan(span_id, parent, start, end, SpanFacts.from_json(facts))
        for span_id, parent, start, end, facts in rows
    ]
    run_id = run_id_of(run.trace_id, run.run_span_id)
    return [
        s for s in spans if s.facts.call_index == index and s.facts.run_id == run_id
    ]


def _prune(run: Run, index: int) -> PruneRow | None:
    rows = (prune_row(span) for span in _named_spans(run, semconv.SPAN_PRUNE, index))
    return next((row for row in rows if row), None)


def _calibration(run: Run, index: int) -> dict[str, Any] | None:
    spans = _named_spans(run, semconv.SPAN_CALIBRATE, index)
    details = (span.facts.detail for span in spans)
    return next((d.words for d in details if isinstance(d, OtherFacts)), None)


def _raw(call: Call) -> dict[str, Any]:
    """Every attribute of the call span, as received."""
    row = Span.objects.get(
        project_id=call.project_id, trace_id=call.trace_id, span_id=call.span_id
    )
    return {**row.attributes["attributes"], **row.content}
