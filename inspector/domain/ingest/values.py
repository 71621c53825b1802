"""Typed readings of attribute values that anybody may have sent: total, never raising.

What does not fit reads as None or as empty, so that one odd attribute costs one figure
and not the span. Numbers may come as text ("12", "12.0"), lists as JSON text.
"""

import math
from collections.abc import Mapping
from typing import Any

import orjson

from inspector.domain.ingest.decode import MAX_INT, clean_text

MAX_NAME_CHARACTERS = 200

Attributes = Mapping[str, Any]


def text_of(attributes: Attributes, name: str, limit: int = MAX_NAME_CHARACTERS) -> str:
    """Text of at most `limit` characters; numbers are written out, else empty."""
    value = attributes.get(name)
    if isinstance(value, str):
        return clean_text(value[:limit])  # what JSON text held was not cleaned yet
    return str(value) if isinstance(value, int | float) else ""


def float_of(attributes: Attributes, name: str) -> float | None:
    """A finite number."""
    value = attributes.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def count_of(attributes: Attributes, name: str) -> int | None:
    """A whole number of zero or more; 12.0 and "12" are 12."""
    value = attributes.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return min(value, MAX_INT) if value >= 0 else None
    number = float_of(attributes, name)
    if number is None or number < 0 or not number.is_integer():
        return None
    return min(int(number), MAX_INT)


def whole_of(attributes: Attributes, name: str) -> int | None:
    """A whole number of either sign (free tokens are negative at the terminus)."""
    value = attributes.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-MAX_INT, min(value, MAX_INT))
    return count_of(attributes, name)


def texts_of(attributes: Attributes, name: str) -> tuple[str, ...]:
    """A list of texts, which may have come as JSON text; a lone text is one item."""
    value = attributes.get(name)
    if isinstance(value, str):
        parsed = json_of(value)
        value = parsed if isinstance(parsed, list) else [value]
    if not isinstance(value, list):
        return ()
    return tuple(clean_text(item) for item in value if isinstance(item, str))


def objects_of(attributes: Attributes, name: str) -> tuple[dict[str, Any], ...]:
    """The elements of a string array that are JSON objects; a cut one is left out."""
    parsed = (json_of(item) for item in texts_of(attributes, name))
    return tuple(item for item in parsed if isinstance(item, dict))


def json_of(text: str) -> Any:
    """The JSON value that a text holds, or None."""
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def joined_of(
    attributes: Attributes, name: str, key: str
) -> tuple[dict[str, Any], ...]:
    """JSON objects of a string array; one that was too long for an element is put
    together.

    What is left of its lists follows in objects that hold `key` and list items only.
    """
    whole: dict[str | int, dict[str, Any]] = {}
    for element in objects_of(attributes, name):
        value = element.get(key)
        if not isinstance(value, str | int):
            continue
        first = whole.setdefault(value, element)
        if first is not element:
            for field, items in element.items():
                if isinstance(items, list):
                    first[field] = [*first.get(field, ()), *items]
    return tuple(whole.values())
