"""Policies: how room is made. Each is one small file; none of them sees any text."""

from collections.abc import Sequence
from typing import Protocol

from ullage.errors import ConfigurationError
from ullage.plan import Plan, Room
from ullage.policies.drop_oldest import DropOldest
from ullage.units import Unit


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
        ConfigurationError: no policy of this name, or a parameter that it does not
            know.
    """
    name, _, rest = described.partition("(")
    if name != "drop_oldest":
        raise ConfigurationError(f"no policy is named {name!r}; known: drop_oldest")
    key, _, value = rest.rstrip(")").partition("=")
    if key.strip() != "low_water":
        raise ConfigurationError(f"{name} has no parameter {key.strip()!r}")
    return DropOldest(low_water=float(value))


__all__ = ["DropOldest", "Policy", "policy_from"]
