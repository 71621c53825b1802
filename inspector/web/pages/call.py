"""The opened call as the run page shows it: its tabs, and what each of them needs.

Values for templates only; what the messages look like is `transcript`'s business.
"""

from dataclasses import dataclass
from typing import Any

from inspector.domain.runs.balance import Balance, balance_of
from inspector.domain.runs.records import CallDetail, CallRow, PruneRow, RunDetail
from inspector.web.pages.transcript import (
    Change,
    Cut,
    DroppedCard,
    Entry,
    changes_of,
    dropped_cards,
    entry_of,
    gone_entries,
    sent_items,
)

CALL_FIGURES = ("estimate_tokens", "actual_tokens", "drift_ratio")
TAB_WORDS = {"sent": "Sent", "dropped": "Dropped", "tokens": "Tokens", "raw": "Raw"}


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab with the count that makes one want to open it."""

    code: str
    word: str
    count: int | None


@dataclass(frozen=True, slots=True)
class CallView:
    """What the open tab shows; lists that belong to other tabs are empty."""

    call: CallRow
    tabs: tuple[Tab, ...]
    previous: int | None
    next: int | None
    changes: list[Change]
    sent: list[Entry | Cut]
    reply: Entry | None
    dropped: list[DroppedCard]
    gone: list[Entry]
    prune: PruneRow | None
    balance: Balance | None
    calibration: dict[str, Any]
    tools: tuple[dict[str, Any], ...]
    raw: list[tuple[str, Any]]


def call_view(
    detail: CallDetail, run: RunDetail, *, tab: str, full_digest: str = ""
) -> CallView:
    """The view of one call for one tab; `full_digest` names a message shown uncut."""
    indices = [call.index for call in run.calls]
    place = indices.index(detail.call.index) if detail.call.index in indices else 0
    is_sent, is_dropped = tab == "sent", tab == "dropped"
    reply = detail.reply if is_sent else None
    return CallView(
        call=detail.call,
        tabs=tabs_of(detail),
        previous=indices[place - 1] if place > 0 else None,
        next=indices[place + 1] if place + 1 < len(indices) else None,
        changes=changes_of(detail),
        sent=sent_items(detail, full_digest=full_digest) if is_sent else [],
        reply=None if reply is None else entry_of(reply, full_digest=full_digest),
        dropped=dropped_cards(detail, full_digest=full_digest) if is_dropped else [],
        gone=gone_entries(detail, full_digest=full_digest) if is_dropped else [],
        prune=detail.prune,
        balance=balance_of(detail.call) if tab == "tokens" else None,
        calibration=taught_by(detail),
        tools=detail.tools,
        raw=sorted(detail.raw.items()) if tab == "raw" else [],
    )


def taught_by(detail: CallDetail) -> dict[str, Any]:
    """What the usage report changed, without the figures that the call has itself."""
    facts = detail.calibration or {}
    return {name: facts[name] for name in facts if not name.endswith(CALL_FIGURES)}


def tabs_of(detail: CallDetail) -> tuple[Tab, ...]:
    """The four tabs; Sent and Dropped say how much they hold."""
    counts = {
        "sent": len(detail.sent) or detail.call.view_length,
        "dropped": len(detail.dropped) or detail.call.dropped_unit_count,
    }
    return tuple(Tab(code, word, counts.get(code)) for code, word in TAB_WORDS.items())
