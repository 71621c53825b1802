"""An archive of pages that are hard to estimate: scripts, scans, numbers, tables.

Journals in Chinese, Japanese and Korean, a scan in base64, a ledger of UUIDs and
decimals, readings as one line of JSON, and a leaflet in Unicode Braille.
"""

import base64
import json
import random
import uuid
from functools import cache
from pathlib import Path

JOURNALS = Path(__file__).with_name("journals.json")
DOTS = dict(
    zip("abcdefghijklmnopqrstuvwxyz", "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", strict=True)
)
LEAFLET = (
    "how to brew tea by touch. warm the pot and pour the water out. one spoon of "
    "leaves for each cup. listen to the kettle: when it stops singing it boils. count "
    "to forty for green tea and to one hundred and eighty for black. lay a finger at "
    "the rim of the cup and stop when the steam is warm upon it. the lid has two "
    "notches: the left one pours, the right one rests. rinse the leaves twice more, "
    "for the second cup is often better than the first. "
)


@cache
def archive() -> dict[str, tuple[str, ...]]:
    """The pages of each document by name."""
    journals = json.loads(JOURNALS.read_text(encoding="utf-8"))
    pages = {
        f"journal-{language}": tuple(
            _journal(language, number, parts) for number in range(1, 13)
        )
        for language, parts in journals.items()
    }
    pages["scan-of-the-deed"] = tuple(_scan(number) for number in range(1, 6))
    pages["ledger"] = tuple(_ledger(number) for number in range(1, 9))
    pages["sensor-readings"] = tuple(_readings(number) for number in range(1, 7))
    pages["braille-leaflet"] = tuple(_braille(number) for number in range(1, 5))
    return pages


def _journal(language: str, number: int, parts: dict[str, list[str]]) -> str:
    rng = random.Random(f"{language} page {number}")
    days = []
    for day in sorted(rng.sample(range(1, 31), 9)):
        chosen = rng.sample(parts["sentences"], 4)
        figures = {
            name: rng.choice(words)
            for name, words in parts.items()
            if name not in ("title", "sentences")
        }
        text = "".join(
            s.format(n=rng.randrange(20, 90), k=rng.randrange(2, 9), **figures)
            for s in chosen
        )
        days.append(f"{number}/{day} {text}")
    return f"{parts['title']} {number}\n" + "\n".join(days)


def _scan(number: int) -> str:
    rng = random.Random(f"scan {number}")
    text = base64.b64encode(rng.randbytes(1500)).decode()
    return "\n".join(text[start : start + 76] for start in range(0, len(text), 76))


def _ledger(number: int) -> str:
    rng = random.Random(f"ledger {number}")
    return "\n".join(
        f"{uuid.UUID(int=rng.getrandbits(128), version=4)}\t{rng.randrange(10**9)}."
        f"{rng.randrange(10**6):06}\t0x{rng.getrandbits(64):016X}"
        for _ in range(34)
    )


def _readings(number: int) -> str:
    rng = random.Random(f"readings {number}")
    rows = [
        {
            "t": 1_773_000_000 + 60 * minute,
            "id": f"s{rng.randrange(40):02}",
            "c": rng.randrange(1400, 2600),
            "rh": rng.randrange(380, 720),
            "ok": rng.random() > 0.02,
        }
        for minute in range(60 * number, 60 * number + 60)
    ]
    return json.dumps(rows, separators=(",", ":"))


def _braille(number: int) -> str:
    words = LEAFLET.split()
    turned = words[number:] + words[:number]
    text = " ".join(turned)
    return "".join(DOTS.get(letter, "⠀") for letter in text)
