"""A detective that finds out from log files what went wrong in the night."""

import re

from tests.support.demo.material.logs import SERVICES, logs
from tests.support.demo.scenario import NUMBER, TEXT, Agent, Plan, Scenario, Turn, tool
from tests.support.standin import call, calls

SYSTEM = (
    "You find the cause of incidents in log files. Search before you read, read around "
    "what you found, and name the first thing that went wrong, with its time."
)
MINUTE = re.compile(r"T(\d\d:\d\d)")
NUMBERED = re.compile(r"^(\w+):(\d+): ", re.MULTILINE)


def list_logs() -> str:
    return "\n".join(
        f"{name}.log: {len(lines)} lines" for name, lines in logs().items()
    )


def search_logs(pattern: str, service: str = "", limit: int = 20) -> str:
    """Lines that match, as `service:line: text`, oldest first within a service."""
    try:
        wanted = re.compile(pattern)
    except re.error as error:  # Python 3.13 gave it another name
        raise ValueError(f"{pattern!r} is no regular expression") from error
    hits = [
        f"{name}:{number}: {line}"
        for name in ([service] if service else SERVICES)
        for number, line in enumerate(logs()[name], start=1)
        if wanted.search(line)
    ]
    told = "\n".join(hits[:limit])
    more = len(hits) - limit
    return f"{told}\n({more} more lines match)" if more > 0 else told or "no line"


def read_log(service: str, first_line: int, line_count: int) -> str:
    lines = logs()[service][first_line - 1 : first_line - 1 + line_count]
    return "\n".join(
        f"{number}: {line}" for number, line in enumerate(lines, start=first_line)
    )


AGENT = Agent(
    "log-detective",
    SYSTEM,
    (
        tool(list_logs, "List all log files with their length."),
        tool(
            search_logs,
            "Find lines by regular expression, in one service or in all.",
            pattern=TEXT,
            service=TEXT,
            limit=NUMBER,
        ),
        tool(
            read_log,
            "Read lines of one service's log.",
            service=TEXT,
            first_line=NUMBER,
            line_count=NUMBER,
        ),
    ),
)


def places(hits: str) -> list[tuple[str, int]]:
    """Service and line of every hit."""
    return [(name, int(number)) for name, number in NUMBERED.findall(hits)]


def minute_of(text: str) -> str:
    found = MINUTE.search(text)
    return found[1] if found else "an unknown time"


def around(service: str, line: int, count: int) -> dict[str, object]:
    return {
        "service": service,
        "first_line": max(1, line - count // 2),
        "line_count": count,
    }


def first_error(pattern: str, word: str, count: int = 40) -> Plan:
    """Search, read around each service's first hit, and look for what led there."""
    yield call("list_logs")
    (hits,) = yield call("search_logs", pattern=pattern)
    first: dict[str, int] = {}
    for service, line in places(hits):
        first.setdefault(service, line)
    if not first:
        return f"No log mentions {word}."
    yield calls(
        *(("read_log", around(name, line, count)) for name, line in first.items())
    )
    service, line = next(iter(first.items()))
    (before,) = yield call("read_log", **around(service, max(1, line - count), count))
    return (
        f"It began in {service} at {minute_of(hits)}: the first of the lines about "
        f"{word}. Nothing unusual stands before it (from {minute_of(before)} on)."
    )


def read_through(services: tuple[str, ...], page_lines: int, last_line: int) -> Plan:
    """Reads page after page, as people do who do not trust a search."""
    yield call("list_logs")
    bad: dict[str, str] = {}
    for service in services:
        for first in range(1, last_line, page_lines):
            (page,) = yield call(
                "read_log", service=service, first_line=first, line_count=page_lines
            )
            for line in page.splitlines():
                if re.search(r"ERROR|FATAL", line):
                    bad.setdefault(service, minute_of(line))
    told = [f"{service} fails from {minute} on" for service, minute in bad.items()]
    return "I read every page. " + ("; ".join(told) or "Nothing failed") + "."


def disk_story(page_lines: int) -> Plan:
    """From the customer's error back to the disk, one service at a time."""
    yield call("list_logs")
    (failed,) = yield call(
        "search_logs", pattern="charge .* failed", service="payments", limit=8
    )
    for _, line in places(failed)[:4]:
        yield call("read_log", **around("payments", line, page_lines))
    (full,) = yield call(
        "search_logs", pattern="no space|% full", service="postgres", limit=30
    )
    for _, line in places(full)[::6]:
        yield call("read_log", **around("postgres", line, page_lines))
    (after,) = yield call(
        "search_logs", pattern="charge .* accepted", service="payments", limit=5
    )
    return (
        f"The disk of postgres ran full: the first warning came at {minute_of(full)}, "
        f"and from {minute_of(failed)} on payments could not write its ledger. "
        f"Charges were accepted before that, as at {minute_of(after)}."
    )


def whole_file(service: str) -> Plan:
    """Asks for a whole file at once."""
    (sizes,) = yield call("list_logs")
    found = re.search(rf"{service}\.log: (\d+)", sizes)
    count = int(found[1]) if found else 1000
    (text,) = yield call("read_log", service=service, first_line=1, line_count=count)
    return f"{service} wrote {text.count('ERROR')} errors tonight."


def bad_pattern() -> Plan:
    """A broken expression first; then the certificate."""
    (answer,) = yield call("search_logs", pattern="certificate (has")
    if answer.startswith("error"):
        (answer,) = yield call("search_logs", pattern="certificate has")
    yield call("search_logs", pattern="TLS", limit=40)
    (_, line), *_ = places(answer)
    yield call("read_log", **around("gateway", line, 30))
    return (
        f"The bank's certificate has run out; the first refusal is {minute_of(answer)}."
    )


def heap_story(page_lines: int) -> Plan:
    """Follows the worker's heap through the night."""
    yield call("list_logs")
    (heaps,) = yield call(
        "search_logs", pattern="heap after", service="worker", limit=30
    )
    for _, line in places(heaps)[::2]:
        yield call("read_log", **around("worker", line, page_lines))
    (end,) = yield call("search_logs", pattern="FATAL", service="worker")
    sizes = re.findall(r"collection (\d+) MB", heaps)
    return (
        f"The worker leaks: after collections its heap grew from {sizes[0]} to "
        f"{sizes[-1]} MB, until it was killed at {minute_of(end)}."
    )


def scenarios() -> list[Scenario]:
    """The same night, seen with windows of many sizes."""
    release = Turn(
        "Checkout failed after one o'clock. What changed?",
        lambda: first_error("KeyError|release", "the release"),
    )
    disk = "Customers could not pay around 03:15. Find the cause."
    heap = "Why was the worker killed this morning?"
    return [
        AGENT.at("release", "gpt-5-mini", 32_000, release),
        AGENT.at(
            "release-small", "gpt-4.1-mini", 8_000, release, environment="staging"
        ),
        AGENT.at(
            "disk-16k", "gpt-4.1-mini", 16_000, Turn(disk, lambda: disk_story(24))
        ),
        AGENT.at("disk-8k", "gpt-4o-mini", 8_000, Turn(disk, lambda: disk_story(24))),
        AGENT.at(
            "disk-claude",
            "claude-haiku-4-5",
            12_000,
            Turn(disk, lambda: disk_story(40)),
            provider="anthropic",
        ),
        AGENT.at(
            "disk-too-close",
            "llama-3.1-8b-instruct",
            4_096,
            Turn(disk, lambda: disk_story(80)),
            provider="",
            environment="staging",
        ),
        AGENT.at("heap-32k", "gpt-5-mini", 32_000, Turn(heap, lambda: heap_story(30))),
        AGENT.at("heap-8k", "gpt-5-mini", 8_000, Turn(heap, lambda: heap_story(24))),
        AGENT.at("certificate", "gpt-4o", None, Turn("Is TLS healthy?", bad_pattern)),
        AGENT.at(
            "whole-checkout-log",
            "gpt-4.1-mini",
            16_000,
            Turn("How many errors did checkout write?", lambda: whole_file("checkout")),
        ),
        AGENT.at(
            "page-by-page",
            "gpt-4o-mini",
            16_000,
            Turn(
                "Read payments and postgres from midnight to four and tell me what "
                "failed first.",
                lambda: read_through(("postgres", "payments"), 45, 580),
            ),
        ),
        AGENT.at(
            "page-by-page-capped",
            "gpt-4.1-mini",
            12_000,
            Turn(
                "Read every log of the night and list all failures.",
                lambda: read_through(SERVICES, 40, 720),
                "I read the gateway's log and part of checkout's. Checkout fails from "
                "01:06 on with KeyError: 'VAT_RATES'. The other logs are unread.",
            ),
            max_iterations=24,
        ),
    ]
