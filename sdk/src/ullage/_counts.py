"""What a text is made of: bytes by class, runs, and characters by script.

No loop over characters and no regular expression. Each byte is translated to a code
with one bit a class; 32 KiB of codes are read as one big integer, whose masked
population count counts a class, and one shift of it marks every start of a run. Scripts
are read from the high bytes of UTF-16. All of it takes time in proportion to the text.

Which letters are rare, and which page belongs to which script, is part of the fit:
docs/decisions/0002-estimating-without-a-tokenizer.md.
"""

from string import ascii_letters, ascii_uppercase, digits
from typing import Final

CHUNK_BYTES: Final = 32 * 1024

# Letters that seldom stand inside long tokens. They tell random text from words.
RARE_ONCE: Final = "fgmvwxyFGHIMW"
RARE_TWICE: Final = "bjkqzABJKQVXYZ"

_LETTER, _DIGIT, _CAPITAL, _BREAK, _MARK, _RARE, _RAREST = (
    1 << bit for bit in range(7)
)


def _code_of(byte: int) -> int:
    char = chr(byte)
    if char in digits:
        return _DIGIT
    if char in "\n\t":
        return _BREAK
    if char == " ":
        return 0
    if byte >= 0x80:
        return _LETTER
    if char not in ascii_letters:
        return _MARK
    return (
        _LETTER
        | (_CAPITAL if char in ascii_uppercase else 0)
        | (_RARE if char in RARE_ONCE + RARE_TWICE else 0)
        | (_RAREST if char in RARE_TWICE else 0)
    )


_CODES = bytes(_code_of(byte) for byte in range(256))


def _everywhere(bits: int) -> int:
    return int.from_bytes(bytes([bits]) * CHUNK_BYTES, "little")


_RUNS = _everywhere(_LETTER | _DIGIT)
_STARTS = {"words": _everywhere(_LETTER), "numbers": _everywhere(_DIGIT)}
_CLASSES = {
    "digits": _everywhere(_DIGIT),
    "capitals": _everywhere(_CAPITAL),
    "breaks": _everywhere(_BREAK),
    "marks": _everywhere(_MARK),
    "rare": _everywhere(_RARE | _RAREST),
}

# Script by high byte of the UTF-16 unit: first and last page. The rest is "other".
_PAGES = {
    "latin_extended": ((0x01, 0x02),),
    "greek": ((0x03, 0x03), (0x1F, 0x1F)),
    "cyrillic": ((0x04, 0x04),),
    "hebrew": ((0x05, 0x05),),
    "arabic": ((0x06, 0x06),),
    "devanagari": ((0x09, 0x09),),
    "indic": ((0x0A, 0x0D),),
    "thai": ((0x0E, 0x0E),),
    "tibetan": ((0x0F, 0x0F),),
    "myanmar": ((0x10, 0x10),),
    "hangul": ((0x11, 0x11), (0xAC, 0xD7)),
    "ethiopic": ((0x12, 0x13),),
    "khmer": ((0x17, 0x17),),
    "latin_additional": ((0x1E, 0x1E),),
    "punctuation": ((0x20, 0x20),),
    "symbols": ((0x21, 0x24), (0x26, 0x2B)),
    "box": ((0x25, 0x25),),
    "kana": ((0x30, 0x31),),
    "han": ((0x4E, 0x9F), (0xF9, 0xFA)),
    "astral": ((0xD8, 0xDB),),
    "private": ((0xE0, 0xF8),),
    "compatibility": ((0xFB, 0xFF),),
}

_OTHER = "other"
_ASCII = bytes(range(0x80))
_NOT_COUNTED = bytes([0x00, 0xDC, 0xDD, 0xDE, 0xDF])  # Latin-1, second surrogates


def _script_of(page: int) -> str:
    for script, spans in _PAGES.items():
        if any(first <= page <= last for first, last in spans):
            return script
    return _OTHER


_SCRIPTS = tuple(_script_of(page) for page in range(256))
_PAGES_OF = {
    script: bytes(page for page in range(256) if _SCRIPTS[page] == script)
    for script in (*_PAGES, _OTHER)
}

# Parts of a page, by how their characters begin in UTF-8: the page, the beginnings, the
# name. Combining marks stay counted in their page as well.
_ARMENIAN = (b"\xd4", b"\xd5", b"\xd6")
_LAO = (b"\xe0\xba", b"\xe0\xbb")
_COMBINING = (b"\xcc", b"\xcd")

# Ideographs in everyday use: first level of the simplified and of the traditional
# standard, by lead byte. A text is written in one of them, and the rest of it is rare.
_EVERYDAY = {
    "gb2312": bytes(range(0xB0, 0xD8)),
    "big5": bytes(range(0xA4, 0xC6)),
}


def count(text: str) -> dict[str, int]:
    """How often each thing stands in the text; the empty text counts nothing."""
    if not text:
        return {}
    data = utf8(text)
    counts = _count_bytes(data)
    if not text.isascii():
        _count_scripts(data, counts)
    return counts


def utf8(text: str) -> bytes:
    """The text's bytes; a lone surrogate becomes three U+FFFD, and joins nothing."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()


def _count_bytes(data: bytes) -> dict[str, int]:
    codes = data.translate(_CODES)
    counts = dict.fromkeys((*_STARTS, *_CLASSES), 0)
    for start in range(0, len(codes), CHUNK_BYTES):
        piece = int.from_bytes(codes[start : start + CHUNK_BYTES], "little")
        before = codes[start - 1] if start else 0
        runs = piece & _RUNS
        starts = runs ^ (runs & (runs << 8 | before))
        for name, mask in _STARTS.items():
            counts[name] += (starts & mask).bit_count()
        for name, mask in _CLASSES.items():
            counts[name] += (piece & mask).bit_count()
    counts["text"] = 1
    counts["bytes"] = len(data)
    return counts


def _count_scripts(data: bytes, counts: dict[str, int]) -> None:
    pages = data.decode().encode("utf-16-le")[1::2]
    ascii_bytes = len(data) - len(data.translate(None, _ASCII))
    counts["latin1"] = pages.count(0) - ascii_bytes
    pages = pages.translate(None, _NOT_COUNTED)
    while pages:
        script = _SCRIPTS[pages[0]]
        rest = pages.translate(None, _PAGES_OF[script])
        counts[script] = len(pages) - len(rest)
        pages = rest
    _split(data, counts)


def _split(data: bytes, counts: dict[str, int]) -> None:
    """Part Armenian from Hebrew, Lao from Thai; count some characters once more."""
    for whole, part, beginnings in (
        ("hebrew", "armenian", _ARMENIAN),
        ("thai", "lao", _LAO),
    ):
        if whole in counts:
            counts[part] = sum(data.count(beginning) for beginning in beginnings)
            counts[whole] -= counts[part]
    if "han" in counts:
        counts["rare_han"] = counts["han"] - _everyday(data)
    if "greek" in counts:
        counts["combining"] = sum(data.count(beginning) for beginning in _COMBINING)


def _everyday(data: bytes) -> int:
    text = data.translate(None, _ASCII).decode()
    return max(_encodable(text, codec, leads) for codec, leads in _EVERYDAY.items())


def _encodable(text: str, codec: str, leads: bytes) -> int:
    """How many characters the codec writes with one of the lead bytes."""
    found = text.encode(codec, "ignore")[::2]
    return len(found) - len(found.translate(None, leads))
