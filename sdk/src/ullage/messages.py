"""The neutral message, its canonical bytes, its digest, and the chain of a view.

The form is OpenTelemetry GenAI's `{role, parts, name?}`; normal form, digests and the hash
chain follow docs/wire.md 3 and 4. Messages here are transient: they are read from a
provider's own objects (see `ullage.dialects`), measured, hashed, and let go.
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


@dataclass(frozen=True, slots=True)
class Message:
    """One message in normal form: one for each tool result, arguments parsed if they parse."""

    role: str
    parts: tuple[Part, ...]
    name: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The GenAI mapping; null and empty fields are left out."""
        body: dict[str, Any] = {"role": self.role, "parts": [dict(p) for p in self.parts]}
        if self.name:
            body["name"] = self.name
        return body

    @property
    def kinds(self) -> tuple[str, ...]:
        """The distinct part types, in order of first appearance."""
        return tuple(dict.fromkeys(str(p.get("type", "unknown")) for p in self.parts))

    @property
    def call_ids(self) -> tuple[str, ...]:
        """Ids of the tool calls that this message makes, in order; "" where one has none."""
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


def well_formed(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD, so that it encodes as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def canonical_bytes(value: Any) -> bytes:
    """Canonical JSON: sorted keys, no spaces, no escapes, UTF-8 (standard library encoder).

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
