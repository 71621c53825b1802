"""The pure heart of a run: sizes in, view and plan out; usage in, calibration out.

A `Fitter` sees entries (sizes and ids), never text or provider objects, so the very
same object drives a live run, a simulation and the replay of a recorded run. What it
knows of a run is what stands here; nothing is shared between runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ullage.budget import Breakdown, Budget, break_down
from ullage.calibration import Calibrated, Ledger, Surroundings
from ullage.estimator import TokenRange
from ullage.messages import MEDIA_KINDS, Message, Usage, canonical_bytes, digest_of
from ullage.plan import Plan, Room, note_text, require_droppable
from ullage.policies import Policy
from ullage.units import HEAD_ROLES, Entry, Group, Unit, group, head_length

Measure = Callable[[str], TokenRange]
NOTE_FRAMING_TOKENS = 16
_NO_ORDINAL = -(1 << 62)
_LONGEST_NOTE = note_text(
    [
        Unit(0, "step", ("tool",) * 99_999, (f"{i:040d}",), 0, 0, 0, False, False, ())
        for i in range(10)
    ]
)


@dataclass(frozen=True, slots=True)
class Terminus:
    """Why nothing fits: what may not be dropped is alone larger than the budget."""

    needed_tokens: int
    shortfall_tokens: int
    component: str
    hint: str
    undroppable_units: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The outcome of one fit.

    Attributes:
        budget: how the window was shared out.
        breakdown: where it goes; closes exactly.
        estimate: of the view, in tokens; `upper` is the figure that decides.
        accuracy: calibrated, conservative, or floor where a part's cost is not known.
        view: entries that are sent, in order; our note among them.
        note: text of the note to the model, "" where nothing stands outside.
        plan: what this fit changed, None where it changed nothing.
        outside_units: how many units stand outside the view.
        outside_tokens: what they would add to the estimate.
        unit_ids: unit of every entry's ordinal.
        terminus: set where nothing fits; then nothing may be sent.
    """

    budget: Budget
    breakdown: Breakdown
    estimate: TokenRange
    accuracy: str
    view: tuple[Entry, ...]
    note: str
    plan: Plan | None
    outside_units: int
    outside_tokens: int
    unit_ids: Mapping[int, int] = field(repr=False)
    terminus: Terminus | None = None


@dataclass(frozen=True, slots=True)
class _Note:
    entry: Entry
    text: str


class Fitter:
    """The state of one run in sizes alone.

    Args:
        policy: how room is made.
        measure: the estimate of a text, used for our own note.
        prior_factor: calibration factor to start from, >= 1.
        is_bounding: False only watches: nothing is dropped, nothing is refused.
        is_refusing: False takes what does not fit as sent all the same.
    """

    def __init__(
        self,
        *,
        policy: Policy,
        measure: Measure,
        prior_factor: float = 1.0,
        is_bounding: bool = True,
        is_refusing: bool = True,
    ) -> None:
        self._policy = policy
        self._prior_factor = prior_factor
        self._is_bounding = is_bounding
        self._is_refusing = is_refusing
        self._measure = measure
        self._longest_note = self._note_entry(_NO_ORDINAL, _LONGEST_NOTE)
        self._ledgers: dict[str, Ledger] = {}
        self._unit_of: dict[int, int] = {}
        self._unit_count = 0
        self._outside: frozenset[int] = frozenset()  # ordinals
        self._note: _Note | None = None
        self._notes_made = 0
        self._room: tuple[object, ...] | None = None
        self._ordinals: tuple[int, ...] = ()
        self._model = ""

    def ledger(self, model: str) -> Ledger:
        """What this run has learned about a model."""
        if model not in self._ledgers:
            self._ledgers[model] = Ledger(self._prior_factor)
        return self._ledgers[model]

    def fit(
        self,
        entries: Sequence[Entry],
        *,
        model: str,
        budget: Budget,
        around: Surroundings,
    ) -> Fitted:
        """Choose the view of a transcript.

        Args:
            entries: the whole transcript, oldest first.
            model: that will really serve the call.
            budget: of that model's window.
            around: what is sent beside the messages.

        Raises:
            PolicyError: the policy's plan does not add up, or drops what is pinned.
        """
        ledger = self.ledger(model)
        self._notice_edits(entries)
        units, unit_ids = self._units(entries, ledger)
        plan = self._decide(units, ledger, budget, around, model)
        outside = _outside_after(units, plan)
        require_droppable(units, outside, policy=self._policy.described)
        note = self._note_for([u for u in units if u.id in outside], plan)
        view = _view(entries, outside, unit_ids, note)
        estimate = ledger.estimate(view, around)
        if note and estimate.upper > budget.tokens:
            # Rather a call without the note than no call.
            note, view = None, tuple(entry for entry in view if entry.ordinal >= 0)
            estimate = ledger.estimate(view, around)
        breakdown = break_down(
            _parts(view, around), estimate_tokens=estimate.upper, budget=budget
        )
        terminus = None
        if self._is_bounding and estimate.upper > budget.tokens:
            terminus = _terminus(breakdown, budget, units)
        if terminus is None or not self._is_refusing:
            self._commit(entries, view, note, model, _room_key(model, budget, around))
            ledger.send(view, around, estimate)
        return Fitted(
            budget=budget,
            breakdown=breakdown,
            estimate=estimate,
            accuracy=_accuracy(view, ledger),
            view=view,
            note=note.text if note else "",
            plan=_settled(plan, estimate, budget) if plan else None,
            outside_units=len(outside),
            outside_tokens=sum(u.tokens for u in units if u.id in outside),
            unit_ids=unit_ids,
            terminus=terminus,
        )

    def observe(self, usage: Usage, *, reply_digest: str | None) -> Calibrated | None:
        """Take in what the provider reported for the last view; None: nothing moved."""
        return self.ledger(self._model).observe(
            usage, reply_digest=reply_digest, units=self._unit_of
        )

    def _notice_edits(self, entries: Sequence[Entry]) -> None:
        ordinals = tuple(entry.ordinal for entry in entries)
        if ordinals[: len(self._ordinals)] != self._ordinals:
            for ledger in self._ledgers.values():
                ledger.forget_measured()

    def _units(
        self, entries: Sequence[Entry], ledger: Ledger
    ) -> tuple[tuple[Unit, ...], Mapping[int, int]]:
        """The units as a policy sees them, and the unit of every entry's ordinal."""
        groups = group(entries)
        inside = frozenset(self._ordinals) - self._outside
        self._identify(entries, groups)
        units = []
        for found in groups:
            members = [entries[position] for position in found.positions]
            ordinals = [entry.ordinal for entry in members]
            tools = dict.fromkeys(name for entry in members for name in entry.tools)
            units.append(
                Unit(
                    id=self._unit_of[ordinals[0]],
                    kind=found.kind,
                    roles=tuple(entry.role for entry in members),
                    tools=tuple(tools),
                    tokens=sum(ledger.contribution(e).upper for e in members),
                    lower_tokens=sum(e.tokens.lower for e in members),
                    upper_tokens=sum(
                        e.tokens.upper + e.framing_tokens for e in members
                    ),
                    is_pinned=found.is_pinned,
                    is_outside=not self._outside.isdisjoint(ordinals)
                    and inside.isdisjoint(ordinals),
                    digests=tuple(d for entry in members for d in entry.digests),
                )
            )
        return tuple(units), {e.ordinal: self._unit_of[e.ordinal] for e in entries}

    def _identify(self, entries: Sequence[Entry], groups: Sequence[Group]) -> None:
        """Give every entry the id of its unit: the lowest that its entries had."""
        taken: set[int] = set()
        for found in sorted(groups, key=lambda g: g.positions[0]):
            ordinals = [entries[position].ordinal for position in found.positions]
            known = {self._unit_of[o] for o in ordinals if o in self._unit_of} - taken
            unit = min(known) if known else self._unit_count
            self._unit_count = max(self._unit_count, unit + 1)
            taken.add(unit)
            self._unit_of.update((ordinal, unit) for ordinal in ordinals)

    def _decide(
        self,
        units: Sequence[Unit],
        ledger: Ledger,
        budget: Budget,
        around: Surroundings,
        model: str,
    ) -> Plan | None:
        """A plan where the view no longer fits, or where what left returns."""
        if not self._is_bounding:
            return None
        note = self._note
        room = Room(
            budget_tokens=budget.tokens,
            fixed_tokens=ledger.fixed(around).upper,
            note_tokens=ledger.contribution(self._longest_note).upper,
            note_now_tokens=ledger.contribution(note.entry).upper if note else 0,
        )
        now = room.fixed_tokens + room.note_now_tokens
        now += sum(unit.tokens for unit in units if not unit.is_outside)
        has_changed = self._room != _room_key(model, budget, around)
        returns = any(u.is_outside and (has_changed or u.is_pinned) for u in units)
        if now > budget.tokens or returns:
            return self._policy.plan(units, room)
        return None

    def _note_for(self, units: Sequence[Unit], plan: Plan | None) -> _Note | None:
        """The note on the units outside; rewritten by a prune alone."""
        if not units:
            return None
        if not (plan and plan.actions):
            return self._note
        units = sorted(units, key=lambda unit: unit.id)
        ordinal = -1 - self._notes_made
        text = note_text(units)
        entry = self._note_entry(ordinal, text)
        if entry.tokens.upper > self._longest_note.tokens.upper:
            text = note_text([replace(unit, tools=()) for unit in units])
            entry = self._note_entry(ordinal, text)
        return _Note(entry, text)

    def _note_entry(self, ordinal: int, text: str) -> Entry:
        size = self._measure(text)
        message = Message("user", ({"type": "text", "content": text},))
        body = canonical_bytes(message.to_dict())
        return Entry(
            ordinal=ordinal,
            role="user",
            kinds=("text",),
            tools=(),
            call_ids=(),
            result_ids=(),
            tokens=size,
            framing_tokens=NOTE_FRAMING_TOKENS,
            body_bytes=len(body),
            digests=(digest_of(body),),
        )

    def _commit(
        self,
        entries: Sequence[Entry],
        view: Sequence[Entry],
        note: _Note | None,
        model: str,
        room: tuple[object, ...],
    ) -> None:
        if note and note is not self._note:
            self._notes_made += 1
        self._ordinals = tuple(entry.ordinal for entry in entries)
        self._outside = frozenset(self._ordinals) - {e.ordinal for e in view}
        self._note = note
        self._model = model
        self._room = room


def _outside_after(units: Sequence[Unit], plan: Plan | None) -> frozenset[int]:
    """Ids of the units that stand outside the view, once the plan is applied."""
    outside = {unit.id for unit in units if unit.is_outside}
    for action in plan.actions if plan else ():
        (outside.add if action.do == "drop" else outside.discard)(action.unit)
    return frozenset(outside)


def _settled(plan: Plan, estimate: TokenRange, budget: Budget) -> Plan | None:
    """The plan with the note as it was written; None where it changes nothing."""
    is_done = estimate.upper <= budget.tokens
    change = sum(a.after_tokens - a.before_tokens for a in plan.actions)
    settled = replace(
        plan,
        outcome="done" if is_done else "unmet",
        after_tokens=estimate.upper,
        note_delta_tokens=estimate.upper - plan.before_tokens - change,
    )
    return settled if settled.actions or settled.note_delta_tokens else None


def _view(
    entries: Sequence[Entry],
    outside: frozenset[int],
    unit_ids: Mapping[int, int],
    note: _Note | None,
) -> tuple[Entry, ...]:
    head = head_length(entries)
    kept = [e for e in entries[head:] if unit_ids[e.ordinal] not in outside]
    notes = [note.entry] if note else []
    return (*entries[:head], *notes, *kept)


def _room_key(model: str, budget: Budget, around: Surroundings) -> tuple[object, ...]:
    return model, budget.window, around.tools_digest


def _parts(view: Sequence[Entry], around: Surroundings) -> dict[str, int]:
    parts = {"system": 0, "tools": around.tools.upper, "conversation": 0, "media": 0}
    for entry in view:
        if not MEDIA_KINDS.isdisjoint(entry.kinds):
            name = "media"
        else:
            name = "system" if entry.role in HEAD_ROLES else "conversation"
        parts[name] += entry.tokens.upper
    return parts


def _accuracy(view: Sequence[Entry], ledger: Ledger) -> str:
    if any(entry.is_open_ended for entry in view):
        return "floor"
    return "conservative" if ledger.anchor_tokens is None else "calibrated"


def _terminus(breakdown: Breakdown, budget: Budget, units: Sequence[Unit]) -> Terminus:
    component = breakdown.dominant
    shortfall = breakdown.estimate_tokens - budget.tokens
    share = {**breakdown.parts, "reserve": breakdown.reserve_tokens}[component]
    percent = round(100 * share / breakdown.window_tokens)
    return Terminus(
        needed_tokens=breakdown.estimate_tokens,
        shortfall_tokens=shortfall,
        component=component,
        hint=f"{_HINTS[component].format(percent=percent)}; {shortfall} tokens too "
        "many",
        undroppable_units=tuple(sorted(u.id for u in units if u.is_pinned)),
    )


_HINTS = {
    "system": "the system prompt uses {percent} % of the window: shorten it",
    "tools": "tool schemas use {percent} % of the window: offer fewer tools or shorten "
    "their descriptions",
    "conversation": "turns that may not be dropped use {percent} % of the window: cap "
    "what tools return, or use a model with a larger window",
    "media": "images and files use {percent} % of the window: send fewer or smaller "
    "ones",
    "framing": "the provider's own framing uses {percent} % of the window: use a model "
    "with a larger window",
    "reserve": "the reserve for the answer uses {percent} % of the window: ask for "
    "fewer output tokens",
}
