"""What changed between two views, by content and not by position; pure.

A view is a list of message digests. Two messages of equal digest are one content, so a
view is compared as a multiset: nothing is called new because something before it went
away.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

KEPT, NEW, RETURNED = "kept", "new", "returned"
DROPPED, ALTERED, NOT_CAPTURED = "dropped", "altered", "not_captured"

UNKNOWN_PREFIX = "?"


@dataclass(frozen=True, slots=True)
class ViewDiff:
    """One state for each message of either view, in its own order.

    Attributes:
        sent: of the view now: kept, new, returned, altered or not_captured.
        left: of the view before: kept, dropped, altered or not_captured.
    """

    sent: tuple[str, ...]
    left: tuple[str, ...]


def unknown_head(view: str, length: int) -> tuple[str, ...]:
    """Stand-ins for the messages of a view that never arrived.

    The same missing view gives the same stand-ins, so two calls that build upon it are
    known to share them, whatever they hold.
    """
    return tuple(f"{UNKNOWN_PREFIX}{view}:{place}" for place in range(length))


def is_unknown(digest: str) -> bool:
    """Whether a digest only stands in for a message that never arrived."""
    return digest.startswith(UNKNOWN_PREFIX)


def view_diff(
    before: Sequence[str],
    now: Sequence[str],
    *,
    seen: Collection[str] = frozenset(),
    identities: Mapping[str, Hashable] | None = None,
) -> ViewDiff:
    """Tell for every message of two views what became of it.

    Args:
        before: digests of the earlier view, in sent order.
        now: digests of the later view, in sent order.
        seen: digests that any view before `before` held; what is in there and comes
            again has *returned*, anything else that comes is *new*.
        identities: digest → what stays the same when a message is altered (its unit and
            place in it). A message that left and one that came with equal identity are
            one message, *altered*.

    Returns:
        the states; where one side holds messages that never arrived, what cannot be
        told is *not_captured* and never guessed.
    """
    pairs = _pairs(before, now)
    stayed = set(pairs.values())
    gone = [place for place in range(len(before)) if place not in stayed]
    came = [place for place in range(len(now)) if place not in pairs]
    altered = _altered(before, now, gone, came, identities or {})
    hides_before = any(is_unknown(before[place]) for place in gone)
    hides_now = any(is_unknown(now[place]) for place in came)
    sent = [KEPT] * len(now)
    left = [KEPT] * len(before)
    for place in came:
        sent[place] = _arrival(now[place], seen, hides_before)
    for place in gone:
        hidden = hides_now or is_unknown(before[place])
        left[place] = NOT_CAPTURED if hidden else DROPPED
    for old, new in altered.items():
        left[old] = sent[new] = ALTERED
    return ViewDiff(tuple(sent), tuple(left))


def _arrival(digest: str, seen: Collection[str], hides_before: bool) -> str:
    if is_unknown(digest):
        return NOT_CAPTURED
    if digest in seen:
        return RETURNED
    return NOT_CAPTURED if hides_before else NEW


def _pairs(before: Sequence[str], now: Sequence[str]) -> dict[int, int]:
    """Place now → place before, for each message that both views hold.

    Of several equal messages the newest stay (room is made from the old end) and the
    oldest were there already (new ones are added at the other end).
    """
    places_before, places_now = _places(before), _places(now)
    pairs: dict[int, int] = {}
    for digest, later in places_now.items():
        earlier = places_before.get(digest, [])
        common = min(len(earlier), len(later))
        pairs.update(zip(later[:common], earlier[len(earlier) - common :], strict=True))
    return pairs


def _places(view: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, digest in enumerate(view):
        places[digest].append(place)
    return places


def _altered(
    before: Sequence[str],
    now: Sequence[str],
    gone: Iterable[int],
    came: Iterable[int],
    identities: Mapping[str, Hashable],
) -> dict[int, int]:
    """Place before → place now, of messages that changed and are still themselves."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for place in came:
        if now[place] in identities:
            waiting[identities[now[place]]].append(place)
    altered = {}
    for place in gone:
        matches = waiting.get(identities.get(before[place]))
        if matches:
            altered[place] = matches.pop(0)
    return altered
