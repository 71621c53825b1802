"""How one call's window is spent: parts, safety, reserve and free add up to the window.

Shares of a bar in percent, for the Tokens tab. Pure; no HTML.
"""

from dataclasses import dataclass

from inspector.domain.runs.chart import part_tokens, percent
from inspector.domain.runs.records import CallRow


@dataclass(frozen=True, slots=True)
class Share:
    """One piece of the bar; x and width are percentages of it."""

    part: str  # a part of the breakdown, or safety | reserve | unusable | free
    tokens: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Balance:
    """The pieces, and whether they close at the window (without one: the estimate)."""

    shares: tuple[Share, ...]
    total_tokens: int
    window_tokens: int | None
    closes: bool


def balance_of(call: CallRow) -> Balance | None:
    """The balance of a call, or None where it does not say its parts."""
    parts = [(part, tokens) for part, tokens in part_tokens(call.breakdown) if tokens]
    if not parts:
        return None
    total = call.window_tokens
    if total is not None:
        parts += room_of(call, total)
    summed = sum(tokens for _, tokens in parts)
    return Balance(
        shares=shares_of(parts),
        total_tokens=summed if total is None else total,
        window_tokens=total,
        closes=total is None or summed == total,
    )


def room_of(call: CallRow, window_tokens: int) -> list[tuple[str, int]]:
    """What is not prompt: free room, safety, what an input cap bars, and the reserve.

    Free is negative at a terminus, and where a host sends more than its budget.
    """
    safety, reserve = call.safety_tokens or 0, call.reserve_tokens or 0
    unusable = 0
    if call.budget_tokens is not None:
        unusable = max(0, window_tokens - safety - reserve - call.budget_tokens)
    free = call.free_tokens
    if free is None and call.estimate_tokens is not None:
        free = window_tokens - safety - reserve - unusable - call.estimate_tokens
    named = (
        ("free", free or 0),
        ("safety", safety),
        ("unusable", unusable),
        ("reserve", reserve),
    )
    return [(part, tokens) for part, tokens in named if tokens]


def shares_of(parts: list[tuple[str, int]]) -> tuple[Share, ...]:
    """The pieces side by side; a negative one has no width."""
    drawn = sum(max(0, tokens) for _, tokens in parts)
    shares, reached = [], 0
    for part, tokens in parts:
        width = percent(max(0, tokens), drawn)
        shares.append(Share(part, tokens, percent(reached, drawn), width))
        reached += max(0, tokens)
    return tuple(shares)
