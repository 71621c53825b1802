"""The neutral message and reply, canonical bytes, digests, and the chain of a view.

The form is OpenTelemetry GenAI's `{role, parts, name?}`; normal form, digests and the
hash chain follow docs/wire.md 3 and 4. Messages here are transient: they are read from
a provider's own objects (see `ullage.dialects`), measured, hashed, and let go.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Part = Mapping[str, Any]
"""One part of a message, as OpenTelemetry GenAI spells it: `{"type": "text", …}`."""

EMPTY_VIEW = ""
DIGEST_BYTES = 16
MEDIA_KINDS = frozenset({"blob", "uri", "file"})


@dataclass(frozen=True, slots=True)
class Message:
    """One message: one for each tool result, arguments as they were sent.

    `to_dict` gives the normal form; `parts` keep argument *text*, because that is what
    the provider counts.
    """

    role: str
    parts: tuple[Part, ...]
    name: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The normal form: arguments parsed if they parse, empty fields left out."""
        body: dict[str, Any] = {
            "role": self.role,
            "parts": [_normal_part(part) for part in self.parts],
        }
        if self.name:
            body["name"] = self.name
        return body

    @property
    def kinds(self) -> tuple[str, ...]:
        """The distinct part types, in order of first appearance."""
        return tuple(dict.fromkeys(str(p.get("type", "unknown")) for p in self.parts))

    @property
    def call_ids(self) -> tuple[str, ...]:
        """Ids of the tool calls that this message makes, in order; "" for none."""
        return tuple(str(p.get("id") or "") for p in self._of("tool_call"))

    @property
    def result_ids(self) -> tuple[str, ...]:
        """Ids of the tool calls that this message answers, in order."""
        return tuple(str(p.get("id") or "") for p in self._of("tool_call_response"))

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools called (or answered, where the result bears a name)."""
        named = (*self._of("tool_call"), *self._of("tool_call_response"))
        return tuple(str(p["name"]) for p in named if p.get("name"))

    def _of(self, kind: str) -> tuple[Part, ...]:
        return tuple(p for p in self.parts if p.get("type") == kind)


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider counted, in tokens; None = not reported (never zero).

    Whatever is no whole number from 0 up (NaN, text, -1) counts as not reported.

    Attributes:
        input_tokens: the whole prompt, cached tokens included.
        output_tokens: the whole answer, reasoning included.
        cache_read_tokens: part of the input that came from the provider's cache.
        cache_write_tokens: part of the input that was written to it.
        reasoning_tokens: part of the output that was hidden reasoning.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in Usage.__slots__:
            if not _is_count(getattr(self, name)):
                object.__setattr__(self, name, None)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A provider's answer, read: the message for the transcript, and what it cost."""

    native: Any
    message: Message
    usage: Usage = Usage()
    response_id: str | None = None
    model: str | None = None
    finish_reasons: tuple[str, ...] = ()


def _normal_part(part: Part) -> dict[str, Any]:
    normal = {key: value for key, value in part.items() if not _is_empty(value)}
    if part.get("type") == "tool_call" and isinstance(part.get("arguments"), str):
        arguments = _parsed(part["arguments"])
        normal.pop("arguments", None)
        if not _is_empty(arguments):
            normal["arguments"] = arguments
    return normal


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {}, ())


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that UTF-8 takes it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def canonical_bytes(value: Any) -> bytes:
    """Canonical JSON: sorted keys, no spaces, no escapes, UTF-8 (standard library).

    Lone surrogates become U+FFFD. Values that JSON does not know are written as text.
    """
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str
    )
    try:
        return text.encode()
    except UnicodeEncodeError:
        return well_formed(text).encode()


def digest_of(body: bytes) -> str:
    """The first 16 bytes of SHA-256, as 32 lower-case hexadecimal characters."""
    return hashlib.sha256(body).digest()[:DIGEST_BYTES].hex()


def extend_view(view: str, digests: Iterable[str]) -> str:
    """The digest of a view after more messages: view_k = H(view_{k-1} + message_k).

    Both are hashed as raw bytes (32 hex characters = 16 bytes); the empty view is "".
    """
    for digest in digests:
        view = digest_of(bytes.fromhex(view) + bytes.fromhex(digest))
    return view


def view_chain(digests: Sequence[str], view: str = EMPTY_VIEW) -> tuple[str, ...]:
    """Every prefix's view digest: element k covers the first k+1 messages."""
    chain = []
    for digest in digests:
        view = extend_view(view, (digest,))
        chain.append(view)
    return tuple(chain)
