"""Well-formedness of what is sent: calls, results, order, as providers enforce them.

One validator, run on every view. It reads sizes and ids, never text; what it cannot
judge it does not call ok. Sources: OpenAI and Anthropic API references on tool use.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.messages import MEDIA_KINDS
from ullage.units import Entry, answers

_KNOWN_KINDS = MEDIA_KINDS | {
    "text",
    "reasoning",
    "refusal",
    "tool_call",
    "tool_call_response",
}
# The same fault goes by another name once what stood behind it has left.
_SAME_FAULT = {"pending_tail": "missing_result", "early_result": "orphaned_result"}


@dataclass(frozen=True, slots=True, order=True)
class Defect:
    """One thing that a provider would refuse.

    Attributes:
        position: index of the message in the list checked.
        kind: missing_result, orphaned_result, duplicate_result, early_result,
            non_adjacent_result, duplicate_call, empty_id, pending_tail, empty_message,
            not_validated (a part of a type that nothing is known of).
        call_id: the id concerned, "" where none is.
        words: what is wrong, in one sentence.
    """

    position: int
    kind: str
    call_id: str
    words: str


def check(entries: Sequence[Entry]) -> tuple[Defect, ...]:
    """Every defect of a list of messages, in order of position."""
    defects = [*_call_defects(entries), *_result_defects(entries)]
    for position, entry in enumerate(entries):
        if entry.role == "assistant" and not entry.kinds:
            defects.append(
                Defect(position, "empty_message", "", f"message {position} is empty")
            )
        for kind in sorted(set(entry.kinds) - _KNOWN_KINDS):
            words = f"holds a part of type {kind}, which is not validated"
            defects.append(_defect(position, "not_validated", "", words))
    return tuple(sorted(defects))


def added_defects(
    before: Sequence[Entry], after: Sequence[Entry]
) -> tuple[Defect, ...]:
    """Defects of `after` that `before` did not have (same fault, message and id)."""
    known = {_identity(before, defect) for defect in check(before)}
    return tuple(d for d in check(after) if _identity(after, d) not in known)


def _identity(entries: Sequence[Entry], defect: Defect) -> tuple[int, str, str]:
    fault = _SAME_FAULT.get(defect.kind, defect.kind)
    return entries[defect.position].ordinal, fault, defect.call_id


def _call_defects(entries: Sequence[Entry]) -> list[Defect]:
    owners = answers(entries)
    answered: dict[int, set[str]] = {}
    for (position, index), call_position in owners.items():
        answered.setdefault(call_position, set()).add(
            entries[position].result_ids[index]
        )
    last_speaker = max(
        (n for n, entry in enumerate(entries) if not entry.result_ids), default=-1
    )
    defects = []
    for position, entry in enumerate(entries):
        seen: set[str] = set()
        for call_id in entry.call_ids:
            if not call_id:
                defects.append(
                    _defect(position, "empty_id", "", "has a call without id")
                )
            elif call_id in seen:
                defects.append(
                    _defect(position, "duplicate_call", call_id, "calls twice")
                )
            elif call_id not in answered.get(position, ()):
                # Only results follow: the calls may still be running.
                is_tail = position >= last_speaker
                kind = "pending_tail" if is_tail else "missing_result"
                defects.append(_defect(position, kind, call_id, "has no result for"))
            seen.add(call_id)
    return defects


def _result_defects(entries: Sequence[Entry]) -> list[Defect]:
    owners = answers(entries)
    later_calls = {
        call_id: position
        for position, entry in enumerate(entries)
        for call_id in entry.call_ids
    }
    defects = []
    answered: set[tuple[int, str]] = set()
    last_speaker = -1  # the last message that is more than results
    for position, entry in enumerate(entries):
        for index, call_id in enumerate(entry.result_ids):
            owner = owners.get((position, index))
            if owner is None:
                is_early = later_calls.get(call_id, -1) > position
                kind = "early_result" if is_early else "orphaned_result"
                defects.append(_defect(position, kind, call_id, "answers no call"))
            elif (owner, call_id) in answered:
                defects.append(
                    _defect(position, "duplicate_result", call_id, "answers again")
                )
            elif last_speaker > owner:
                defects.append(
                    _defect(position, "non_adjacent_result", call_id, "is parted from")
                )
            if owner is not None:
                answered.add((owner, call_id))
        if not entry.result_ids:
            last_speaker = position
    return defects


def _defect(position: int, kind: str, call_id: str, words: str) -> Defect:
    told = f"message {position} {words} {call_id}".rstrip()
    return Defect(position, kind, call_id, told)
