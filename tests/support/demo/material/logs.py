"""One night's log files of a small shop's services, with four things going wrong.

The disk of the database runs full, a release lacks a setting, a worker leaks memory,
and a certificate runs out. Everything else is the usual noise.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache

SERVICES = ("gateway", "checkout", "payments", "catalogue", "postgres", "worker")
MINUTES = 6 * 60
LINES_A_MINUTE = 2
NOISE = {
    "gateway": [
        "INFO GET /products/{n} 200 in {ms} ms",
        "INFO GET /basket 200 in {ms} ms",
        "INFO POST /checkout 201 in {ms} ms",
        "WARN slow upstream catalogue: {ms} ms",
    ],
    "checkout": [
        "INFO order {n} placed, {k} items",
        "INFO order {n} priced in {ms} ms",
        "DEBUG basket {n} loaded from cache",
    ],
    "payments": [
        "INFO charge {n} accepted in {ms} ms",
        "INFO charge {n} declined: card expired",
        "DEBUG keep-alive to the bank",
    ],
    "catalogue": [
        "INFO search 'oolong' gave {k} hits in {ms} ms",
        "INFO price list reloaded, {n} rows",
        "DEBUG cache hit ratio 0.9{k}",
    ],
    "postgres": [
        "LOG checkpoint complete: wrote {n} buffers",
        "LOG duration: {ms} ms statement: SELECT * FROM orders WHERE id = {n}",
        "LOG autovacuum: table order_lines, {k} pages removed",
    ],
    "worker": [
        "INFO mail {n} sent",
        "INFO invoice {n} rendered in {ms} ms",
        "DEBUG heap {n} MB",
    ],
}
DISK_TRACE = [
    "ERROR charge {n} failed: could not write to the ledger",
    "  Traceback (most recent call last):",
    '    File "payments/ledger.py", line 88, in append',
    "      cursor.execute(INSERT_ENTRY, entry)",
    '    File "payments/db.py", line 41, in execute',
    "      raise StorageError(code, detail)",
    "  payments.db.StorageError: 53100 could not extend file: no space left on device",
]
RELEASE_TRACE = [
    "ERROR POST /checkout failed for basket {n}",
    "  Traceback (most recent call last):",
    '    File "checkout/handlers.py", line 132, in place_order',
    "      rate = settings['VAT_RATES'][country]",
    "  KeyError: 'VAT_RATES'",
]


@cache
def logs() -> dict[str, tuple[str, ...]]:
    """Lines of each service's file, oldest first; a trace follows on lines below."""
    return {service: tuple(_file(service)) for service in SERVICES}


def _file(service: str) -> list[str]:
    rng = random.Random(f"log of {service}")
    lines: list[str] = []
    for minute in range(MINUTES):
        for _ in range(LINES_A_MINUTE):
            lines.append(_line(rng, minute, rng.choice(NOISE[service])))
        for text in _trouble(service, minute):
            lines.append(
                text.format(**_figures(rng))
                if text.startswith("  ")
                else _line(rng, minute, text)
            )
    return lines


def _line(rng: random.Random, minute: int, text: str) -> str:
    clock = f"{minute // 60:02}:{minute % 60:02}:{rng.randrange(60):02}"
    trace = f"{rng.getrandbits(32):08x}"
    return f"2026-03-14T{clock}Z {text.format(**_figures(rng))} trace={trace}"


def _figures(rng: random.Random) -> dict[str, int]:
    return {
        "n": rng.randrange(1000, 9999),
        "k": rng.randrange(1, 10),
        "ms": rng.randrange(3, 400),
    }


def _trouble(service: str, minute: int) -> list[str]:
    """What goes wrong in a service at a minute of the night."""
    tale = _TALES.get(service)
    return list(tale(minute)) if tale else []


def _full_disk(minute: int) -> Iterator[str]:
    if 170 <= minute < 215:
        yield f"WARNING disk data1 is {min(100, 91 + (minute - 170) // 3)} % full"
    if 192 <= minute < 215:
        yield "ERROR could not extend file base/16384: no space left"


def _unwritten_ledger(minute: int) -> Iterator[str]:
    if 192 <= minute < 215 and minute % 2 == 0:
        yield from DISK_TRACE


def _bad_release(minute: int) -> Iterator[str]:
    if minute == 64:
        yield "INFO release 2026.3.1 started, settings from the new store"
    if 64 < minute < 91 and minute % 3 == 0:
        yield from RELEASE_TRACE
    if minute == 91:
        yield "INFO rolled back to release 2026.2.9"


def _leak(minute: int) -> Iterator[str]:
    if minute % 20 == 0:
        yield f"WARN heap after collection {410 + 9 * minute // 2} MB of 2048"
    if minute == 355:
        yield "FATAL out of memory while rendering invoice {n}; killed"


def _expired_certificate(minute: int) -> Iterator[str]:
    if minute >= 300 and minute % 12 == 0:
        yield "ERROR TLS to bank.example: certificate has expired"


_TALES: dict[str, Callable[[int], Iterator[str]]] = {
    "postgres": _full_disk,
    "payments": _unwritten_ledger,
    "checkout": _bad_release,
    "worker": _leak,
    "gateway": _expired_certificate,
}
