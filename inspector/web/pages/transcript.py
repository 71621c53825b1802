"""One opened call as its tabs show it: messages in parts, cuts in their places, counts.

Bodies are untrusted and of any shape: whatever is not the GenAI form is shown as it
came. Nothing here escapes; templates do. Long parts are cut for the page, and say so.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.domain.runs.records import CallDetail, DroppedUnit, MessageRow

PART_CHARS = 20_000
PREVIEW_CHARS = 180
RESULT_KEYS = ("response", "result", "content")
STATES = ("kept", "new", "returned", "altered", "not_captured")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message, ready to be shown."""

    kind: str  # text | reasoning | tool_call | tool_call_response | media | other
    label: str
    text: str
    hidden_chars: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the view."""

    message: MessageRow
    preview: str
    parts: tuple[Part, ...]
    is_note: bool
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """The place where turns stood that this call does not hold."""

    turn_count: int
    message_count: int
    tokens: int | None
    is_new: bool  # they left with this very call
    is_planned: bool  # False: nothing says why they are gone
    tools: tuple[str, ...]
    is_cut: bool = True


@dataclass(frozen=True, slots=True)
class DroppedCard:
    """One turn that stands outside the view, with its messages."""

    unit: DroppedUnit
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """How many messages of one state the call has, against the call before."""

    state: str
    count: int


def entry_of(
    message: MessageRow, *, full_digest: str = "", is_note: bool = False
) -> Entry:
    """A message in parts; only the one named in full is not cut to PART_CHARS."""
    limit = None if message.digest == full_digest else PART_CHARS
    parts = parts_of(message.body, limit)
    return Entry(message, preview_of(parts), parts, is_note)


def is_note(detail: CallDetail, message: MessageRow) -> bool:
    """Whether the SDK wrote it, to tell the model what was left out; it has no unit."""
    is_told = detail.run.source == "ullage" and message.state != "not_captured"
    return is_told and message.unit is None


def parts_of(body: Mapping[str, Any] | None, limit: int | None) -> tuple[Part, ...]:
    """The parts of a GenAI message; any other shape is one part as it came."""
    if body is None:
        return ()
    parts = body.get("parts")
    if not isinstance(parts, list):
        return (cut_part("other", "unknown shape", as_text(body), limit),)
    return tuple(part_of(part, limit) for part in parts)


def part_of(part: object, limit: int | None) -> Part:
    """One part by its type."""
    if not isinstance(part, dict):
        return cut_part("other", "unknown part", as_text(part), limit)
    kind = str(part.get("type", "unknown"))
    if kind in ("text", "reasoning"):
        label = "" if kind == "text" else "reasoning"
        return cut_part(kind, label, as_text(part.get("content", "")), limit)
    if kind == "tool_call":
        label = f"calls {part.get('name') or 'a tool'}"
        return cut_part(kind, label, as_text(part.get("arguments", {})), limit)
    if kind == "tool_call_response":
        result = next((part[k] for k in RESULT_KEYS if k in part), "")
        return cut_part(kind, f"answers {part.get('id') or ''}", as_text(result), limit)
    if kind in ("blob", "uri", "file", "image", "audio"):
        return media_part(kind, part)
    return cut_part("other", kind, as_text(part), limit)


def media_part(kind: str, part: Mapping[str, Any]) -> Part:
    """Media by what it is and how large, never by its bytes."""
    mime = part.get("mime_type") or part.get("modality") or kind
    place = part.get("uri") or part.get("file_id")
    size = f"{len(str(part.get('content', ''))):,} characters of base64"
    return Part("media", str(mime), str(place) if place else size, 0)


def cut_part(kind: str, label: str, text: str, limit: int | None) -> Part:
    """A part no longer than the limit, with the count of characters that are hidden."""
    if limit is None or len(text) <= limit:
        return Part(kind, label, text, 0)
    return Part(kind, label, text[:limit], len(text) - limit)


def as_text(value: object) -> str:
    """Text as it is, all else as indented JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def preview_of(parts: Sequence[Part]) -> str:
    """The first words of a message on one line."""
    heads = (p.text[: PREVIEW_CHARS * 2] or p.label for p in parts)
    return " ".join(" ".join(heads).split())[:PREVIEW_CHARS]


def sent_items(detail: CallDetail, *, full_digest: str = "") -> list[Entry | Cut]:
    """The view in sent order, with a cut wherever turns are missing from it."""
    cuts = cuts_by_place(detail)
    items: list[Entry | Cut] = []
    for place, message in enumerate(detail.sent):
        items += cuts.get(place, [])
        by_us = is_note(detail, message)
        items.append(entry_of(message, full_digest=full_digest, is_note=by_us))
    return items + cuts.get(len(detail.sent), [])


def cuts_by_place(detail: CallDetail) -> dict[int, list[Cut]]:
    """Cuts by the position of the sent message that now follows them."""
    planned: dict[tuple[int, bool], list[DroppedUnit]] = {}
    for unit in sorted(detail.dropped, key=lambda u: u.unit):
        key = (place_of(unit.unit, detail.sent), unit.is_new)
        planned.setdefault(key, []).append(unit)
    cuts: dict[int, list[Cut]] = {}
    for (place, is_new), units in planned.items():
        cuts.setdefault(place, []).append(cut_of(units, is_new=is_new))
    for place, messages in unplanned(detail).items():
        cuts.setdefault(place, []).append(unplanned_cut(messages))
    return cuts


def place_of(unit: int | None, sent: Sequence[MessageRow]) -> int:
    """Where a unit stood: before the first sent message of a later unit."""
    if unit is None:
        return 0
    later = (i for i, m in enumerate(sent) if m.unit is not None and m.unit > unit)
    return next(later, len(sent))


def cut_of(units: Sequence[DroppedUnit], *, is_new: bool) -> Cut:
    """One cut for neighbouring turns that left at the same time."""
    return Cut(
        turn_count=len(units),
        message_count=sum(len(u.messages) for u in units),
        tokens=sum(u.before_tokens - u.after_tokens for u in units),
        is_new=is_new,
        is_planned=True,
        tools=distinct(tool for u in units for m in u.messages for tool in m.tools),
    )


def unplanned(detail: CallDetail) -> dict[int, list[MessageRow]]:
    """Messages of the call before that are gone though no plan touched them."""
    told = {m.digest for unit in detail.dropped for m in unit.messages}
    altered = {m.unit for m in detail.sent if m.state == "altered"} - {None}
    gone: dict[int, list[MessageRow]] = {}
    for message in detail.left:
        is_explained = message.digest in told or message.unit in altered
        if not is_explained and not is_note(detail, message):
            gone.setdefault(place_of(message.unit, detail.sent), []).append(message)
    return gone


def unplanned_cut(messages: Sequence[MessageRow]) -> Cut:
    """A cut that was seen, not announced."""
    sizes = [m.upper_tokens for m in messages if m.upper_tokens is not None]
    return Cut(
        turn_count=0,
        message_count=len(messages),
        tokens=sum(sizes) if len(sizes) == len(messages) else None,
        is_new=True,
        is_planned=False,
        tools=distinct(tool for m in messages for tool in m.tools),
    )


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in order of first appearance."""
    return tuple(dict.fromkeys(names))


def dropped_cards(detail: CallDetail, *, full_digest: str = "") -> list[DroppedCard]:
    """Everything that stands outside now, newest drop first."""
    return [
        DroppedCard(
            unit, tuple(entry_of(m, full_digest=full_digest) for m in unit.messages)
        )
        for unit in detail.dropped
    ]


def gone_entries(detail: CallDetail, *, full_digest: str = "") -> list[Entry]:
    """Messages of the call before that no plan accounts for."""
    return [
        entry_of(message, full_digest=full_digest)
        for messages in unplanned(detail).values()
        for message in messages
    ]


def changes_of(detail: CallDetail) -> list[Change]:
    """The diff with the call before, as counts; states that do not occur are absent."""
    counts = Counter(m.state for m in detail.sent)
    changes = [Change(state, counts[state]) for state in STATES if counts[state]]
    left = sum(not is_note(detail, message) for message in detail.left)
    return [*changes, Change("dropped", left)] if left else changes
