"""The caller's list, message by message: native objects in, entries out, view back.

Messages are known by identity and a cheap fingerprint, else by digest, so that an
unchanged message is never measured twice, also where a framework builds new objects at
every call. The caller's objects are read, kept and handed back; never changed.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ullage.dialects import DIALECTS, Dialect
from ullage.errors import ConfigurationError
from ullage.estimator import (
    NOTHING,
    Table,
    TokenRange,
    framing_tokens,
    has_unknown_cost,
    measure_message,
    measure_tool,
)
from ullage.events import Shape, ToolShape, View
from ullage.fitting import Fitted
from ullage.messages import (
    EMPTY_VIEW,
    Message,
    Reply,
    canonical_bytes,
    digest_of,
    view_chain,
)
from ullage.units import Entry

Redact = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes a neutral message as a mapping, gives back what may be hashed and sent."""


@dataclass(slots=True)
class _Known:
    """A native message (held, so that its id stays its own) and what we know of it."""

    native: Any
    fingerprint: tuple[object, ...]
    content: tuple[str, ...]  # digests before redaction
    entry: Entry
    is_described: bool = False


class Transcript:
    """What one run has seen of the caller's messages and tools.

    Args:
        table: by which texts are measured.
        redact: applied to each neutral message before it is hashed.
        keeps_bodies: whether canonical JSON is kept until it is described.
    """

    def __init__(
        self, table: Table, *, redact: Redact | None = None, keeps_bodies: bool = False
    ) -> None:
        self._table = table
        self._redact = redact
        self._keeps_bodies = keeps_bodies
        self._known: list[_Known] = []
        self._shapes: dict[str, Shape] = {}
        self._seen_count = 0
        self._told_bodies: set[str] = set()
        self._told_notes: set[int] = set()
        self._views: set[str] = set()
        self._tools: dict[str, tuple[TokenRange, tuple[ToolShape, ...], str]] = {}
        self._tools_digest = ""
        self._told_tools: set[str] = set()

    def sync(
        self, messages: Sequence[Any], dialect: Dialect, *, pins: Sequence[int] = ()
    ) -> tuple[Entry, ...]:
        """The entries of a list of native messages, known ones unchanged.

        An object that was seen before is read again where its role, the length of its
        content or arguments, or the number of its calls changed. An edit in place that
        keeps all of these is not seen; the same edit in a new object is.

        Raises:
            ConfigurationError: a pin is not a position in the list.
        """
        pinned = frozenset(pins)
        if not pinned.issubset(range(len(messages))):
            raise ConfigurationError(
                f"pins {pins!r} are no positions in a list of {len(messages)} messages"
            )
        known: list[_Known] = []
        used: set[int] = set()
        twins: dict[tuple[str, ...], list[_Known]] | None = None
        for position, native in enumerate(messages):
            fingerprint = dialect.fingerprint(native)
            item = self._same(position, native, fingerprint)
            if item is None or item.entry.ordinal in used:
                if twins is None:
                    twins = _by_content(self._known[position:])
                read = dialect.read(native)
                content = tuple(self._content(message) for message in read)
                item = _twin(twins, content, used)
                if item is None:
                    item = self._admit(native, read, content)
                item.native, item.fingerprint = native, fingerprint
            used.add(item.entry.ordinal)
            known.append(_pin(item, is_pinned=position in pinned))
        self._known = known
        return tuple(item.entry for item in known)

    def sync_tools(self, tools: Sequence[Mapping[str, Any]]) -> tuple[str, TokenRange]:
        """Digest ("" for none) and estimate of the definitions as dispatched.

        Raises:
            ConfigurationError: not a list of mappings.
        """
        is_list = isinstance(tools, Sequence)
        if not is_list or not all(isinstance(tool, Mapping) for tool in tools):
            raise ConfigurationError(
                "tools is no list of definitions; pass the list that you send"
            )
        body = canonical_bytes(list(tools))
        digest = digest_of(body) if tools else ""
        if digest not in self._tools:
            self._tools[digest] = self._measure_tools(tools, body.decode())
        self._tools_digest = digest
        return digest, self._tools[digest][0]

    def view(self, fitted: Fitted, dialect: Dialect) -> list[Any]:
        """The native messages of a view, a new list."""
        natives = {item.entry.ordinal: item.native for item in self._known}
        return [
            dialect.note(fitted.note) if entry.ordinal < 0 else natives[entry.ordinal]
            for entry in fitted.view
        ]

    def describe(self, fitted: Fitted) -> View:
        """The view as a hash chain, and whatever of the run was not described yet."""
        digests = [d for entry in fitted.view for d in self._digests(entry, fitted)]
        chain = view_chain(digests)
        length = next(
            (n for n in range(len(chain), 0, -1) if chain[n - 1] in self._views), 0
        )
        whole = chain[-1] if chain else EMPTY_VIEW
        self._views.add(whole)
        shapes, body = self._tell_tools()
        return View(
            digest=whole,
            length=len(digests),
            base=chain[length - 1] if length else EMPTY_VIEW,
            added=tuple(digests[length:]),
            described=self._tell_messages(fitted),
            tools_digest=self._tools_digest,
            tools=shapes,
            tools_body=body,
        )

    def read_reply(self, reply: Any) -> Reply | None:
        """A provider's answer read, None where no dialect knows its shape."""
        readings = (dialect.read_reply(reply) for dialect in DIALECTS)
        return next((read for read in readings if read is not None), None)

    def reply_shape(self, reply: Reply) -> Shape:
        """The answer as a message of the wire; its body is told with its own call."""
        return self._tell(self._content(reply.message))

    def _same(
        self, position: int, native: Any, fingerprint: tuple[object, ...]
    ) -> _Known | None:
        if position < len(self._known):
            item = self._known[position]
            if item.native is native and item.fingerprint == fingerprint:
                return item
        return None

    def _admit(
        self, native: Any, read: Sequence[Message], content: tuple[str, ...]
    ) -> _Known:
        shapes = tuple(self._shapes[digest] for digest in content)
        entry = Entry(
            ordinal=self._seen_count,
            role=read[0].role,
            kinds=tuple(kind for shape in shapes for kind in shape.kinds),
            tools=tuple(name for shape in shapes for name in shape.tools),
            call_ids=tuple(i for message in read for i in message.call_ids),
            result_ids=tuple(i for message in read for i in message.result_ids),
            tokens=sum((TokenRange(*shape.tokens) for shape in shapes), NOTHING),
            framing_tokens=sum(framing_tokens(message) for message in read),
            body_bytes=sum(shape.body_bytes for shape in shapes),
            digests=tuple(shape.digest for shape in shapes),
            is_open_ended=any(has_unknown_cost(message) for message in read),
        )
        self._seen_count += 1
        return _Known(native, (), content, entry)

    def _content(self, message: Message) -> str:
        """The digest of all it says; what was seen before is not measured again."""
        canonical = canonical_bytes(message.to_dict())
        content = digest_of(canonical)
        if content not in self._shapes:
            self._shapes[content] = self._measure(message, canonical)
        return content

    def _measure(self, message: Message, canonical: bytes) -> Shape:
        """Sizes of what is sent; digest and body of what may be told."""
        tokens = measure_message(message, self._table)
        if self._redact:  # a copy, so that no hook can reach the caller's objects
            canonical = canonical_bytes(self._redact(json.loads(canonical)))
        return Shape(
            digest=digest_of(canonical),
            role=message.role,
            kinds=message.kinds,
            tools=message.tool_names,
            call_ids=message.call_ids or message.result_ids,
            body_bytes=len(canonical),
            tokens=(tokens.lower, tokens.upper),
            unit=None,
            is_pinned=False,
            body=canonical.decode() if self._keeps_bodies else None,
        )

    def _measure_tools(
        self, tools: Sequence[Mapping[str, Any]], body: str
    ) -> tuple[TokenRange, tuple[ToolShape, ...], str]:
        shapes = []
        for tool in tools:
            size = measure_tool(tool, self._table)
            function = tool.get("function")
            named = function if isinstance(function, Mapping) else tool
            name = str(named.get("name", ""))
            shapes.append(
                ToolShape(name, len(canonical_bytes(tool)), (size.lower, size.upper))
            )
        total = sum((TokenRange(*shape.tokens) for shape in shapes), NOTHING)
        return total, tuple(shapes), body

    def _tell_tools(self) -> tuple[tuple[ToolShape, ...], str | None]:
        digest = self._tools_digest
        if not digest or digest in self._told_tools:
            return (), None
        self._told_tools.add(digest)
        _, shapes, body = self._tools[digest]
        return shapes, body if self._keeps_bodies else None

    def _tell_messages(self, fitted: Fitted) -> tuple[Shape, ...]:
        told: list[Shape] = []
        for item in self._known:
            if item.is_described:
                continue
            item.is_described = True
            unit = fitted.unit_ids[item.entry.ordinal]
            told.extend(
                replace(self._tell(c), unit=unit, is_pinned=item.entry.is_pinned)
                for c in item.content
            )
        note = next((entry for entry in fitted.view if entry.ordinal < 0), None)
        if note is not None and note.ordinal not in self._told_notes:
            self._told_notes.add(note.ordinal)
            told.append(self._tell(self._note_content(fitted.note)))
        return tuple(told)

    def _note_content(self, text: str) -> str:
        return self._content(Message("user", ({"type": "text", "content": text},)))

    def _digests(self, entry: Entry, fitted: Fitted) -> tuple[str, ...]:
        """As they are told; our note passes the redaction hook here, and not before."""
        if entry.ordinal >= 0:
            return entry.digests
        return (self._shapes[self._note_content(fitted.note)].digest,)

    def _tell(self, content: str) -> Shape:
        """The shape; its body travels once in a run, and is let go."""
        shape = self._shapes[content]
        self._shapes[content] = without = replace(shape, body=None)
        if shape.digest in self._told_bodies:
            return without
        self._told_bodies.add(shape.digest)
        return shape


def _by_content(known: Sequence[_Known]) -> dict[tuple[str, ...], list[_Known]]:
    found: dict[tuple[str, ...], list[_Known]] = {}
    for item in known:
        found.setdefault(item.content, []).append(item)
    return found


def _twin(
    twins: Mapping[tuple[str, ...], list[_Known]],
    content: tuple[str, ...],
    used: set[int],
) -> _Known | None:
    """A message with the same content that stood at or after this place before."""
    candidates = twins.get(content, ())
    return next((c for c in candidates if c.entry.ordinal not in used), None)


def _pin(item: _Known, *, is_pinned: bool) -> _Known:
    if item.entry.is_pinned != is_pinned:
        item.entry = replace(item.entry, is_pinned=is_pinned)
    return item
