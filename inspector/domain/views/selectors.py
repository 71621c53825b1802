"""Reads of the hash chains: a view's digest to its messages (docs/wire.md 4).

A parent that has not arrived leaves stand-ins, never a guess; it heals when it comes.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from inspector.domain.views.rules import unknown_head
from inspector.store.content import Message, View
from ullage.messages import EMPTY_VIEW, view_chain

CHUNK = 500  # values in one query; SQLite takes 32,766, and short ones plan better
ESCAPED_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
MAX_UNKNOWN = 500  # stand-ins shown of a head that never arrived


def chunks(values: Collection[str]) -> Iterator[list[str]]:
    """Values in portions that one query takes."""
    ordered = sorted(values)
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]


def views_load(project_id: int, digests: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """View digest → message digests, of the views that arrived."""
    links = links_load(project_id, set(digests))
    resolved: dict[str, tuple[str, ...]] = {EMPTY_VIEW: ()}
    for digest in links:
        _resolve(digest, links, resolved)
    return {digest: view for digest, view in resolved.items() if digest in links}


def links_load(project_id: int, wanted: set[str]) -> dict[str, View]:
    """The views asked for and all that they build upon."""
    links: dict[str, View] = {}
    asked: set[str] = set()
    while wanted:
        asked |= wanted
        for portion in chunks(wanted):
            found = View.objects.filter(project_id=project_id, digest__in=portion)
            links.update((view.digest, view) for view in found)
        wanted = {view.parent for view in links.values()} - asked - {EMPTY_VIEW}
    return links


def _resolve(
    digest: str, links: Mapping[str, View], resolved: dict[str, tuple[str, ...]]
) -> None:
    """Fill in a view and its ancestors, oldest first; a chain may be thousands long."""
    chain = []
    while digest not in resolved:
        view = links.get(digest)
        if view is None:
            break
        chain.append(view)
        digest = view.parent
    for view in reversed(chain):
        head = resolved.get(view.parent)
        if head is None:
            missing = min(max(view.length - len(view.added), 0), MAX_UNKNOWN)
            head = unknown_head(view.parent, missing)
        resolved[view.digest] = (*head, *view.added)


def longest_known(project_id: int, digests: Sequence[str]) -> tuple[str, list[str]]:
    """The longest part of a view that is a view already, and the messages after it."""
    prefixes = view_chain(digests)[:-1]
    known: set[str] = set()
    for portion in chunks(prefixes):
        found = View.objects.filter(project_id=project_id, digest__in=portion)
        known.update(found.values_list("digest", flat=True))
    for place in reversed(range(len(prefixes))):
        if prefixes[place] in known:
            return prefixes[place], list(digests[place + 1 :])
    return EMPTY_VIEW, list(digests)


def shapes_load(
    project_id: int, digests: Collection[str]
) -> dict[str, Mapping[str, Any]]:
    """Digest → shape, of the messages that were described."""
    shapes: dict[str, Mapping[str, Any]] = {}
    for portion in chunks(digests):
        found = Message.objects.filter(project_id=project_id, digest__in=portion)
        shapes.update(found.values_list("digest", "shape"))
    return shapes


def bodies_load(project_id: int, digests: Collection[str]) -> dict[str, dict[str, Any]]:
    """Digest → the GenAI message, of the bodies that were captured."""
    bodies: dict[str, dict[str, Any]] = {}
    for portion in chunks(digests):
        found = Message.objects.filter(
            project_id=project_id, digest__in=portion, body__isnull=False
        )
        for digest, body in found.values_list("digest", "body"):
            parsed = body_parse(body or b"")
            if parsed is not None:
                bodies[digest] = parsed
    return bodies


def body_parse(body: bytes) -> dict[str, Any] | None:
    """A body as it is shown; it proved its digest, but may still be no object."""
    try:
        parsed = orjson.loads(ESCAPED_NUL.sub(rb"\1\\ufffd", body))
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None
