"""Policies: how room is made. Each is one small file; none of them sees any text."""

import re
from collections.abc import Sequence
from typing import Protocol

from ullage.errors import ConfigurationError
from ullage.plan import Plan, Room
from ullage.policies.drop_oldest import DropOldest
from ullage.units import Unit

_DROP_OLDEST = re.compile(r"drop_oldest\(low_water=(\d+(?:\.\d+)?(?:e-?\d+)?)\)")


class Policy(Protocol):
    """What decides which units leave the view."""

    @property
    def described(self) -> str:
        """Name and parameters as recorded, such as `drop_oldest(low_water=0.7)`."""
        ...

    def plan(self, units: Sequence[Unit], room: Room) -> Plan:
        """Decide; pure, deterministic.

        Args:
            units: of the whole transcript, oldest drop first.
            room: budget, and what no unit carries, in tokens.
        """
        ...


def policy_from(described: str) -> Policy:
    """The policy that a recorded description names.

    Raises:
        ConfigurationError: no policy of this name with these parameters.
    """
    found = _DROP_OLDEST.fullmatch(described)
    if found is None:
        raise ConfigurationError(
            f"{described!r} names no policy; known: drop_oldest(low_water=0.7)"
        )
    return DropOldest(low_water=float(found[1]))


__all__ = ["DropOldest", "Policy", "policy_from"]
