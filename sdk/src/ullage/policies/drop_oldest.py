"""Drop the oldest unpinned units, down to a low-water mark.

Room is made once in a while and not at every call, so that the provider's prefix cache
survives in between (docs/decisions/0003-low-water-mark.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.errors import ConfigurationError
from ullage.plan import Plan, Room, plan_drops
from ullage.units import Unit


@dataclass(frozen=True, slots=True)
class DropOldest:
    """Whole units leave, oldest first, until the view is at the low-water mark.

    Attributes:
        low_water: how full the droppable part of the budget may stay, above 0 to 1. The
            mark is pinned + low_water * (budget - pinned): what cannot go is not
            charged to what can.

    Raises:
        ConfigurationError: `low_water` is out of range.
    """

    low_water: float = 0.7

    def __post_init__(self) -> None:
        is_number = isinstance(self.low_water, (int, float))
        if not is_number or not 0 < self.low_water <= 1:
            raise ConfigurationError(
                f"low_water is {self.low_water!r}; use a share above 0, at most 1"
            )

    @property
    def described(self) -> str:
        """Name and parameters as recorded."""
        return f"drop_oldest(low_water={self.low_water})"

    def plan(self, units: Sequence[Unit], room: Room) -> Plan:
        """Keep all where all fits; else drop from the oldest on, down to the mark."""
        pinned = sum(unit.tokens for unit in units if unit.is_pinned)
        floor = room.fixed_tokens + pinned + room.note_tokens
        target = floor + int(self.low_water * max(0, room.budget_tokens - floor))
        total = room.fixed_tokens + sum(unit.tokens for unit in units)
        outside: list[int] = []
        if total > room.budget_tokens:
            total += room.note_tokens
            for unit in units:
                if total <= target:
                    break
                if not unit.is_pinned:
                    outside.append(unit.id)
                    total -= unit.tokens
        return plan_drops(
            units,
            frozenset(outside),
            room,
            policy=self.described,
            target_tokens=target,
        )
