"""What a foreign trace dropped, read off its views alone; pure, and labelled
*inferred*.

Nothing but the messages that were sent is known there. A message that earlier calls of
the same conversation sent and a later one does not stands outside; messages are counted
in the units of the SDK, so that a step and its results are one.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.domain.views.rules import DROPPED, view_diff
from ullage.estimator import TokenRange
from ullage.units import Entry, group

Shapes = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """One call of a run, in order of time; `view` is empty where none was captured."""

    span_id: str
    view: Sequence[str]


@dataclass(frozen=True, slots=True)
class Inferred:
    """What the views tell of one call."""

    outside_units: tuple[
        tuple[str, ...], ...
    ]  # digests of each unit that stands outside
    has_new_drops: bool  # something of the call before is not sent any more

    @property
    def dropped_unit_count(self) -> int:
        return len(self.outside_units)


@dataclass(slots=True)
class _Thread:
    """The calls of one conversation; a run may hold several, in parallel."""

    view: Sequence[str]
    order: dict[str, None] = field(default_factory=dict)  # messages by first sight


def drops_infer(calls: Iterable[ForeignCall], shapes: Shapes) -> dict[str, Inferred]:
    """Span id → what was inferred, for every call whose view is known.

    Args:
        calls: of one run, oldest first.
        shapes: digest → shape, for units and for altered messages.
    """
    threads: list[_Thread] = []
    found = {}
    for call in calls:
        if not call.view:
            continue
        thread = _thread_of(call.view, threads)
        diff = view_diff(thread.view, call.view, identities=identities_of(shapes))
        thread.view = call.view
        thread.order.update(dict.fromkeys(call.view))
        outside = tuple(_outside(thread, shapes))
        found[call.span_id] = Inferred(outside, DROPPED in diff.left)
    return found


def _thread_of(view: Sequence[str], threads: list[_Thread]) -> _Thread:
    """The latest conversation that shares a message with the view, or a new one."""
    sent = set(view)
    for thread in reversed(threads):
        if not sent.isdisjoint(thread.order):
            threads.remove(thread)
            threads.append(thread)
            return thread
    threads.append(_Thread(view=()))
    return threads[-1]


def _outside(thread: _Thread, shapes: Shapes) -> Iterator[tuple[str, ...]]:
    sent = set(thread.view)
    if sent.issuperset(thread.order):
        return
    order = list(thread.order)
    entries = [_entry(place, digest, shapes) for place, digest in enumerate(order)]
    for unit in group(entries):
        digests = tuple(order[place] for place in unit.positions)
        if sent.isdisjoint(digests):
            yield digests


def _entry(ordinal: int, digest: str, shapes: Shapes) -> Entry:
    shape = shapes.get(digest, {})
    return Entry(
        ordinal=ordinal,
        role=str(shape.get("role", "")),
        kinds=tuple(shape.get("kinds", ())),
        tools=tuple(shape.get("tools", ())),
        call_ids=tuple(shape.get("call_ids", ())),
        result_ids=tuple(shape.get("result_ids", ())),
        tokens=TokenRange(0, 0),
        framing_tokens=0,
        body_bytes=shape.get("bytes") or 0,
        digests=(digest,),
    )


def identities_of(shapes: Shapes) -> dict[str, Hashable]:
    """What stays the same when a foreign message is altered: its role and its ids."""
    return {
        digest: (
            shape.get("role"),
            tuple(shape["call_ids"]),
            tuple(shape["result_ids"]),
        )
        for digest, shape in shapes.items()
        if shape.get("call_ids") or shape.get("result_ids")
        if "call_ids" in shape and "result_ids" in shape
    }
