"""Units: the atoms of pruning, found from roles and call ids alone.

A unit is (a) a *step*: an assistant message with calls and all results of those calls,
wherever they stand; (b) an *exchange*: an unpinned user message with the plain
assistant message that closes it; (c) any other *single* message. A result belongs to
the nearest earlier unanswered call with its id, never through a map over the whole run
(providers reuse `call_0`). Pure; no text is seen here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ullage.estimator import TokenRange

HEAD_ROLES = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the caller's list, in sizes alone.

    Attributes:
        ordinal: order of first sight in the run, 0-based; negative for our own note.
        role: as the provider spells it.
        kinds: part types present.
        tools: names of the tools called or answered.
        call_ids: ids of the calls that it makes.
        result_ids: ids of the calls that it answers.
        tokens: estimate of its text, lower and upper, without framing.
        framing_tokens: upper bound of what surrounds the text.
        body_bytes: length of the canonical JSON.
        digests: of the neutral message(s) inside.
        is_pinned: pinned by the caller.
        is_open_ended: holds a part whose cost is not known.
    """

    ordinal: int
    role: str
    kinds: tuple[str, ...]
    tools: tuple[str, ...]
    call_ids: tuple[str, ...]
    result_ids: tuple[str, ...]
    tokens: TokenRange
    framing_tokens: int
    body_bytes: int
    digests: tuple[str, ...]
    is_pinned: bool = False
    is_open_ended: bool = False

    @property
    def is_plain_assistant(self) -> bool:
        """An assistant message that calls nothing."""
        return self.role == "assistant" and not self.call_ids and not self.result_ids

    @property
    def is_user(self) -> bool:
        """A user message that is more than tool results."""
        return self.role == "user" and (not self.result_ids or "text" in self.kinds)


@dataclass(frozen=True, slots=True)
class Group:
    """Positions (ascending) that stand and fall together."""

    kind: str  # step | exchange | single
    positions: tuple[int, ...]
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """What a policy sees of a unit: sizes, never text.

    Attributes:
        id: ordinal of first sight in the run.
        kind: step, exchange or single.
        roles: of its messages, in order.
        tools: distinct tool names, in order.
        tokens: what it adds to the estimate of a view that holds it.
        lower_tokens: what its text costs at least.
        upper_tokens: what its text and framing cost at most.
        is_pinned: never dropped.
        is_outside: left out of the view before this.
        digests: of its messages, in order.
    """

    id: int
    kind: str
    roles: tuple[str, ...]
    tools: tuple[str, ...]
    tokens: int
    lower_tokens: int
    upper_tokens: int
    is_pinned: bool
    is_outside: bool
    digests: tuple[str, ...]


def answers(entries: Sequence[Entry]) -> Mapping[tuple[int, int], int]:
    """Which call each result answers.

    Returns (position, index of its result id) → position of the call. The nearest
    earlier unanswered call with the id; where all are answered, the nearest answered
    one (a duplicate stays with its step). Orphans are absent.
    """
    found: dict[tuple[int, int], int] = {}
    waiting: dict[str, list[int]] = {}
    answered: dict[str, int] = {}
    for position, entry in enumerate(entries):
        for index, call_id in enumerate(entry.result_ids):
            calls = waiting.get(call_id)
            if calls:
                answered[call_id] = found[position, index] = calls.pop()
            elif call_id in answered:
                found[position, index] = answered[call_id]
        for call_id in entry.call_ids:
            waiting.setdefault(call_id, []).append(position)
    return found


def group(entries: Sequence[Entry]) -> tuple[Group, ...]:
    """The units of a transcript, in the order in which they may go.

    Every position stands in exactly one group. Pinned: the leading system or developer
    run, the first and the last user message, the last plain answer to the latter so
    far, the newest unit, steps with unanswered calls, what the caller pins, and the
    question above a pinned step.
    """
    if not entries:
        return ()
    pins = _pinned_positions(entries)
    owners = answers(entries)
    exchanges = _exchanges(entries, pins)
    pairs = [(call, position) for (position, _), call in owners.items()]
    root_of = _joined(len(entries), [*pairs, *exchanges])
    members: dict[int, list[int]] = {}
    for position, root in enumerate(root_of):
        members.setdefault(root, []).append(position)
    fixed = (*pins, *_pending_positions(entries, owners), len(entries) - 1)
    pinned = {root_of[position] for position in fixed}
    ages = {root: (positions[-1], 0) for root, positions in members.items()}
    for opening, closing in reversed(exchanges):
        exchange = root_of[opening]
        for step in _steps_between(entries, root_of, opening, closing):
            age, rank = ages[step]
            ages[exchange] = max(ages[exchange], (age, rank + 1))
            if step in pinned:
                pinned.add(exchange)
    return tuple(
        Group(
            kind=_kind(entries, members[root]),
            positions=tuple(members[root]),
            is_pinned=root in pinned,
        )
        for root in sorted(members, key=lambda root: (ages[root], members[root]))
    )


def head_length(entries: Sequence[Entry]) -> int:
    """How many messages the head has: the system run and a user message behind it."""
    length = _system_run(entries)
    if length < len(entries) and entries[length].is_user:
        length += 1
    return length


def _system_run(entries: Sequence[Entry]) -> int:
    length = 0
    while length < len(entries) and entries[length].role in HEAD_ROLES:
        length += 1
    return length


def _pinned_positions(entries: Sequence[Entry]) -> set[int]:
    users = [position for position, entry in enumerate(entries) if entry.is_user]
    pins = set(range(_system_run(entries)))
    pins.update(position for position, entry in enumerate(entries) if entry.is_pinned)
    if users:
        pins.update((users[0], users[-1]))
    if len(users) > 1:
        pins.update(_open_answer(entries, users[-1]))
    return pins


def _open_answer(entries: Sequence[Entry], question: int) -> tuple[int, ...]:
    """The last plain answer so far: the next question makes it and this one a unit."""
    plain = (p for p, entry in enumerate(entries) if entry.is_plain_assistant)
    return tuple(p for p in plain if p > question)[-1:]


def _exchanges(entries: Sequence[Entry], pins: set[int]) -> tuple[tuple[int, int], ...]:
    """(user position, position of the plain assistant message that closes it) pairs."""
    pairs: list[tuple[int, int]] = []
    opening: int | None = None
    closing: int | None = None
    for position, entry in enumerate(entries):
        if entry.is_user:
            if opening is not None and closing is not None:
                pairs.append((opening, closing))
            opening, closing = (None if position in pins else position), None
        elif entry.is_plain_assistant:
            closing = position
    return tuple(pairs)


def _pending_positions(
    entries: Sequence[Entry], owners: Mapping[tuple[int, int], int]
) -> set[int]:
    results: dict[int, int] = {}
    for call_position in owners.values():
        results[call_position] = results.get(call_position, 0) + 1
    return {
        position
        for position, entry in enumerate(entries)
        if results.get(position, 0) < len(entry.call_ids)
    }


def _kind(entries: Sequence[Entry], positions: Sequence[int]) -> str:
    if any(entries[position].call_ids for position in positions):
        return "step"
    return "exchange" if len(positions) > 1 else "single"


def _steps_between(
    entries: Sequence[Entry], root_of: Sequence[int], opening: int, closing: int
) -> set[int]:
    """Units that speak between a question and its answer: they go before both do."""
    speaking = (
        p for p in range(opening + 1, closing) if entries[p].role == "assistant"
    )
    return {root_of[position] for position in speaking} - {root_of[opening]}


def _joined(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """For every position one of its unit, the same for all of them."""
    parent = list(range(count))
    for first, second in pairs:
        parent[_root(parent, second)] = _root(parent, first)
    return tuple(_root(parent, position) for position in range(count))


def _root(parent: list[int], position: int) -> int:
    while parent[position] != position:
        parent[position] = parent[parent[position]]
        position = parent[position]
    return position
