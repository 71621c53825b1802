"""Sizes in tokens, from below and from above, without a tokenizer.

A text's size is a sum of fitted coefficients over what the text is made of (bytes by
class, runs, scripts), by table: one for each known tokenizer family, and *any* for the
rest. All arithmetic is in whole thousandths, so that the same text has the same size
everywhere. Providers' hidden costs and framing are constants here; what a provider
really reported belongs to `ullage.calibration`.

Source: docs/decisions/0002-estimating-without-a-tokenizer.md.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ullage._counts import count, utf8
from ullage._tables import FAMILIES, LOWER, UPPER, coefficients
from ullage.messages import MEDIA_KINDS, Message, Part, canonical_bytes

HIDDEN_TOKENS: Final = 32
"""The most that a provider adds to a request of its own, where there are no tools."""

HIDDEN_TOKENS_WITH_TOOLS: Final = 800
"""The same where there are tools: 690 was the most of 1,796 recorded calls."""

HIDDEN_TOKENS_PLAIN_FAMILY: Final = 256
"""With tools, for families that add next to nothing (75 calls: never short)."""

FRAMING_TOKENS: Final = 16
"""The most that surrounds one message, one call, or one result."""

MEDIA_TOKENS: Final = 4_800
"""Upper figure of one picture: 92 x 52 patches, the largest that Claude 4.7 takes.

Sound and documents may cost more, so a message with media has an unknown cost.
"""

_ANY = "any"
_PLAIN_FAMILIES = frozenset({"openai", "google", "mistral_tekken"})
_MEDIA_FIELDS = frozenset({"content", "uri", "file_id"})
_MARGIN_TENTHS = 12  # on a known family: its own under-count falls from 1.1 to 0.1 %
_TOOL_LOWER_TENTHS = (
    3  # providers rewrite schemas: 0.3 to 1.5 times their JSON was seen
)


@dataclass(frozen=True, slots=True)
class TokenRange:
    """A size in tokens: not above `upper`, and hardly below `lower`."""

    lower: int
    upper: int

    def __add__(self, other: "TokenRange") -> "TokenRange":
        return TokenRange(self.lower + other.lower, self.upper + other.upper)


NOTHING: Final = TokenRange(0, 0)


@dataclass(frozen=True, slots=True)
class Table:
    """The coefficients of one tokenizer family, in thousandths of a token.

    Attributes:
        key: the family's name, as it stands on the wire.
        upper: by count; what is left out costs nothing.
        lower: the mirror image.
        margin_tenths: what the upper figure is multiplied by; 10 = 1.
    """

    key: str
    upper: Mapping[str, int]
    lower: Mapping[str, int]
    margin_tenths: int

    def measure(self, text: str) -> TokenRange:
        """The text's size. More text is never smaller; the empty text is 0.

        A surrogate that stands alone counts as three U+FFFD.
        """
        counts = count(text)
        upper = _linear(self.upper, counts) * self.margin_tenths
        upper_tokens = -(-upper // 10_000)
        lower_tokens = _linear(self.lower, counts) // 1_000
        return TokenRange(min(lower_tokens, upper_tokens), upper_tokens)


def _linear(weights: Mapping[str, int], counts: Mapping[str, int]) -> int:
    return sum(weights.get(name, 0) * number for name, number in counts.items())


def _table(key: str) -> Table:
    return Table(
        key=key,
        upper=MappingProxyType(coefficients(UPPER, key)),
        lower=MappingProxyType(coefficients(LOWER, key)),
        margin_tenths=10 if key == _ANY else _MARGIN_TENTHS,
    )


TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {key: _table(key) for key in FAMILIES}
)

# A name that fits two families, or none, is *any*: an unknown vocabulary costs room, a
# wrongly known one costs a rejected call.
_START = r"(?:^|[/:.])"
_FAMILIES: Final = {
    "openai": re.compile(rf"{_START}(?:gpt-(?:oss|[345])|chatgpt|codex|o[134](?:-|$))"),
    "claude": re.compile(r"claude"),
    "google": re.compile(r"gemini|gemma"),
    "qwen": re.compile(r"qwen|qwq|qvq"),
    "deepseek": re.compile(r"deepseek[-.](?:v?[3-9]|r\d|chat|reasoner)(?!.*distill)"),
    "llama3": re.compile(r"llama-?v?3(?![\db])"),
    "mistral": re.compile(
        "mistral|ministral|magistral|mathstral|mixtral|pixtral|voxtral|devstral"
    ),
}
_CLAUDE_VERSION = re.compile(r"claude-(?:[a-uw-z]+-)?v?(\d+)(?:[.-](\d{1,2}))?(?!\d)")
_CLAUDE_NEW = (4, 7)
_CLAUDE_OLD = (3, 0)
_MISTRAL_OLD = re.compile(
    r"mistral-7b|mistral-tiny|mixtral|mathstral"
    r"|(?:mistral|pixtral)-(?:large|medium|small)(?:-instruct)?-24(?:0\d|1[0-2])\b"
)
_BY_PROVIDER: Final = {
    # Providers that serve one vocabulary only, under names that the user chose.
    "azure.ai.openai": "openai",
    "deepseek": "deepseek",
    "gcp.gemini": "google",
}


def table_for(model: str | None, provider: str | None = None) -> Table:
    """The table of the model's tokenizer family; *any* where the family is not known.

    Args:
        model: as sent to the provider: a prefix (`openai/`, `anthropic.`), a
            fine-tune's name around it and a date after it do no harm.
        provider: `gen_ai.provider.name`, asked only where the model says nothing.
    """
    name = (model or "").lower()
    found = [family for family, pattern in _FAMILIES.items() if pattern.search(name)]
    if len(found) == 1:
        return TABLES[_generation(found[0], name)]
    if found:
        return TABLES[_ANY]
    return TABLES[_BY_PROVIDER.get(provider or "", _ANY)]


def _generation(family: str, name: str) -> str:
    """The table's key: two families changed their vocabulary on the way."""
    if family == "claude":
        return _claude_generation(name)
    if family == "mistral":
        return "sentencepiece32k" if _MISTRAL_OLD.search(name) else "mistral_tekken"
    return family


def _claude_generation(name: str) -> str:
    stated = _CLAUDE_VERSION.search(name)
    if stated is None:
        return "claude_new"
    version = int(stated[1]), int(stated[2] or 0)
    if version >= _CLAUDE_NEW:
        return "claude_new"
    return "claude_old" if version >= _CLAUDE_OLD else _ANY


def bound_tokens(text: str) -> int:
    """What no known vocabulary exceeds: 1.17 x the bytes of UTF-8, rounded up, + 4."""
    return -(-117 * len(utf8(text)) // 100) + 4


def hidden_tokens(table: Table, *, has_tools: bool) -> int:
    """The most that a provider of this family adds to a request of its own."""
    if not has_tools:
        return HIDDEN_TOKENS
    is_plain = table.key in _PLAIN_FAMILIES
    return HIDDEN_TOKENS_PLAIN_FAMILY if is_plain else HIDDEN_TOKENS_WITH_TOOLS


def measure_message(message: Message, table: Table) -> TokenRange:
    """What the message says, without roles and framing.

    Counted: text, reasoning, a call's name, id and arguments, a result and its id,
    names, and every part of an unknown type as canonical JSON. Media count
    `MEDIA_TOKENS` from above and nothing from below: see `has_unknown_cost`.
    """
    size = table.measure(message.name or "")
    for part in message.parts:
        size += _measure_part(part, table)
    return size


def has_unknown_cost(message: Message) -> bool:
    """Whether the message holds media, so that its size is a floor and no promise."""
    return any(_is_media(part) or _holds_media(part) for part in message.parts)


def framing_tokens(message: Message) -> int:
    """The most that a provider puts around the message, its calls and its results.

    Source: 1,796 recorded calls; docs/decisions/0002-estimating-without-a-tokenizer.md.
    """
    return FRAMING_TOKENS * (1 + len(message.call_ids) + len(message.result_ids))


def measure_tool(definition: Mapping[str, Any], table: Table) -> TokenRange:
    """A tool's definition as dispatched, as compact JSON; providers rewrite it."""
    size = table.measure(canonical_bytes(definition).decode())
    return TokenRange(size.lower * _TOOL_LOWER_TENTHS // 10, size.upper)


def _measure_part(part: Part, table: Table) -> TokenRange:
    kind = part.get("type")
    if _is_media(part):
        return TokenRange(0, MEDIA_TOKENS)
    if kind == "text":
        return table.measure(_text(part.get("content")))
    if kind == "reasoning":
        # Some providers drop it from the next prompt.
        return TokenRange(0, table.measure(_text(part.get("content"))).upper)
    if kind == "tool_call":
        said = _measure_all((part.get("name"), part.get("arguments")), table)
        return said + _measure_id(part, table)
    if kind == "tool_call_response":
        answer = _measure_response(_response(part), table)
        return (
            answer + _measure_all((part.get("name"),), table) + _measure_id(part, table)
        )
    return table.measure(_text(part))


def _measure_response(response: Any, table: Table) -> TokenRange:
    if not _is_parts(response):
        return table.measure(_text(response))
    size = NOTHING
    for part in response:
        size += _measure_part(part, table)
    return size


def _measure_id(part: Part, table: Table) -> TokenRange:
    """Ids: some providers count them, some leave them out."""
    return TokenRange(0, table.measure(_text(part.get("id"))).upper)


def _measure_all(values: Iterable[Any], table: Table) -> TokenRange:
    size = NOTHING
    for value in values:
        size += table.measure(_text(value))
    return size


def _response(part: Part) -> Any:
    return part.get("response", part.get("result"))


def _holds_media(part: Part) -> bool:
    response = _response(part)
    return _is_parts(response) and any(_is_media(inner) for inner in response)


def _is_media(part: Part) -> bool:
    return str(part.get("type")) in MEDIA_KINDS


def _is_parts(value: Any) -> bool:
    """Whether a result is a list of message parts, and not JSON that looks like one."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(part, Mapping) and _is_part(part) for part in value)
    )


def _is_part(part: Part) -> bool:
    if part.get("type") == "text":
        return isinstance(part.get("content"), str)
    return _is_media(part) and not part.keys().isdisjoint(_MEDIA_FIELDS)


def _text(value: Any) -> str:
    """Text as it is, anything else as canonical JSON; None is nothing."""
    if value is None or isinstance(value, str):
        return value or ""
    return canonical_bytes(value).decode()
