"""A plan as a value: what a prune changes, and why. Applying it is another step.

One shape serves span body, replay input and golden test. The constructor checks that
the counts and the sums close; same input, same bytes.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ullage.errors import PolicyError
from ullage.units import Unit

NOTE_TOOLS = 5
NOTE_NAME_CHARS = 40
_NO_NAME = re.compile(r"[^\w.:-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Room:
    """What a policy has to work with, in tokens.

    Attributes:
        budget_tokens: what the prompt may use.
        fixed_tokens: part of every view's estimate that no unit carries (tools, hidden
            provider cost, what an anchor cannot share out).
        note_tokens: what the note to the model costs while anything stands outside.
        note_now_tokens: what the note in the present view costs, 0 where there is none.
    """

    budget_tokens: int
    fixed_tokens: int
    note_tokens: int = 0
    note_now_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """What happens to one unit.

    Attributes:
        unit: its id.
        do: drop, return, clear, clip, summarize or offload.
        why: a code in words: over_budget, room_again, or pinned (it was outside).
        before_tokens: its share of the estimate before.
        after_tokens: its share after.
        roles: of its messages, in order.
        tools: distinct tool names.
        digests: of its messages, in order.
    """

    unit: int
    do: str
    why: str
    before_tokens: int
    after_tokens: int
    roles: tuple[str, ...]
    tools: tuple[str, ...]
    digests: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it travels (docs/wire.md 2)."""
        return {
            "unit": self.unit,
            "do": self.do,
            "why": self.why,
            "tokens": [self.before_tokens, self.after_tokens],
            "roles": list(self.roles),
            "tools": list(self.tools),
            "messages": list(self.digests),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What a fit changes: only the changed units are listed, the rest is counted.

    Attributes:
        policy: name and parameters of the policy that decided.
        outcome: done, or unmet where even this does not fit the budget.
        target_tokens: the low-water mark aimed at.
        before_tokens: estimate of the view without this plan.
        after_tokens: estimate of the view with it.
        note_delta_tokens: what the note to the model adds to that (or gives back).
        unit_count: all units of the transcript.
        kept_units: in the view, unchanged.
        dropped_units: outside the view, whenever they left.
        altered_units: in the view, changed.
        actions: what changes, ordered by unit.

    Raises:
        PolicyError: the counts or the sums do not close.
    """

    policy: str
    outcome: str
    target_tokens: int
    before_tokens: int
    after_tokens: int
    note_delta_tokens: int
    unit_count: int
    kept_units: int
    dropped_units: int
    altered_units: int
    actions: tuple[Action, ...]

    def __post_init__(self) -> None:
        if self.kept_units + self.dropped_units + self.altered_units != self.unit_count:
            raise PolicyError(
                f"{self.policy}: kept + dropped + altered is not {self.unit_count}"
            )
        change = sum(a.after_tokens - a.before_tokens for a in self.actions)
        if self.before_tokens + change + self.note_delta_tokens != self.after_tokens:
            raise PolicyError(f"{self.policy}: the plan's token sums do not close")
        if list(self.actions) != sorted(self.actions, key=lambda a: a.unit):
            raise PolicyError(f"{self.policy}: the plan's actions are out of order")

    def to_json(self) -> str:
        """The whole plan as canonical JSON."""
        body = {
            name: getattr(self, name) for name in self.__slots__ if name != "actions"
        }
        body["actions"] = [action.to_dict() for action in self.actions]
        return json.dumps(body, sort_keys=True, separators=(",", ":"))


def plan_drops(
    units: Sequence[Unit],
    outside: frozenset[int],
    room: Room,
    *,
    policy: str,
    target_tokens: int,
) -> Plan:
    """The plan that leaves exactly these units outside the view.

    Args:
        units: of the whole transcript, oldest drop first.
        outside: ids of the units that shall stand outside.
        room: see `Room`.
        policy: name and parameters, as they shall be recorded.
        target_tokens: the mark that the policy aimed at.

    Raises:
        PolicyError: a pinned unit would be dropped, or an id is not known.
    """
    require_droppable(units, outside, policy=policy)
    inside_now = sum(unit.tokens for unit in units if not unit.is_outside)
    before = room.fixed_tokens + inside_now + room.note_now_tokens
    actions = tuple(
        sorted(
            (
                _action(u, is_leaving=u.id in outside)
                for u in units
                if u.is_outside != (u.id in outside)
            ),
            key=lambda action: action.unit,
        )
    )
    # Unless something changes, the note in the view is the one for these very units.
    note_tokens = room.note_tokens if outside else 0
    note_delta = note_tokens - room.note_now_tokens if actions else 0
    after = before + note_delta + sum(a.after_tokens - a.before_tokens for a in actions)
    return Plan(
        policy=policy,
        outcome="done" if after <= room.budget_tokens else "unmet",
        target_tokens=target_tokens,
        before_tokens=before,
        after_tokens=after,
        note_delta_tokens=note_delta,
        unit_count=len(units),
        kept_units=len(units) - len(outside),
        dropped_units=len(outside),
        altered_units=0,
        actions=actions,
    )


def require_droppable(
    units: Sequence[Unit], outside: frozenset[int], *, policy: str
) -> None:
    """Raise PolicyError where a unit among these is pinned or not known."""
    wrong = outside - {unit.id for unit in units if not unit.is_pinned}
    if wrong:
        raise PolicyError(f"{policy}: may not drop units {sorted(wrong)}")


def _action(unit: Unit, *, is_leaving: bool) -> Action:
    return Action(
        unit=unit.id,
        do="drop" if is_leaving else "return",
        why=_reason(unit, is_leaving=is_leaving),
        before_tokens=unit.tokens if is_leaving else 0,
        after_tokens=0 if is_leaving else unit.tokens,
        roles=unit.roles,
        tools=unit.tools,
        digests=unit.digests,
    )


def _reason(unit: Unit, *, is_leaving: bool) -> str:
    if is_leaving:
        return "over_budget"
    return "pinned" if unit.is_pinned else "room_again"


def note_text(units: Sequence[Unit]) -> str:
    """What the model is told about units outside: numbers and tool names.

    Names come from the transcript, so nothing but a name's characters is taken over.
    """
    count = len(units)
    messages = sum(len(unit.roles) for unit in units)
    names = list(dict.fromkeys(_shown(name) for unit in units for name in unit.tools))
    tools = ""
    if names:
        more = f" and {len(names) - NOTE_TOOLS} more" if len(names) > NOTE_TOOLS else ""
        tools = f" They used the tools {', '.join(names[:NOTE_TOOLS])}{more}."
    return (
        f"[Note from the context manager: {count} earlier "
        f"{'turn was' if count == 1 else 'turns were'} left out here "
        f"({messages} {'message' if messages == 1 else 'messages'}) to keep within the "
        f"context window.{tools} What they said can no longer be seen; call a tool "
        "again if something from them is needed.]"
    )


def _shown(name: str) -> str:
    return _NO_NAME.sub("?", name)[:NOTE_NAME_CHARS]
