"""An archivist whose pages break naive estimates: scripts, scans, ids, numbers."""

import json
import re
from collections import Counter

from tests.support.demo.material.archive import archive
from tests.support.demo.scenario import NUMBER, TEXT, Agent, Plan, Scenario, Turn, tool
from tests.support.standin import call

SYSTEM = (
    "You read the archive of a tea house: journals, ledgers, scans. Read page by page, "
    "quote numbers as they stand, and say which page you have them from."
)
WEIGHT = re.compile(r"(\d+)(?:斤|キロ|킬로그램)")


def list_documents() -> str:
    return "\n".join(f"{name}: {len(pages)} pages" for name, pages in archive().items())


def read_page(document: str, page: int) -> str:
    return archive()[document][page - 1]


def find_text(document: str, text: str) -> str:
    """Pages and lines that hold the text."""
    hits = [
        f"page {number}: {line[:120]}"
        for number, page in enumerate(archive()[document], start=1)
        for line in page.splitlines()
        if text in line
    ]
    return "\n".join(hits) or "not found"


AGENT = Agent(
    "archivist",
    SYSTEM,
    (
        tool(list_documents, "List the documents of the archive."),
        tool(
            read_page,
            "Read one page of a document; pages count from 1.",
            document=TEXT,
            page=NUMBER,
        ),
        tool(find_text, "Find a text in a document.", document=TEXT, text=TEXT),
    ),
)


def weigh(document: str, last_page: int) -> Plan:
    """Add up the weights that a journal names, page after page."""
    yield call("list_documents")
    total = 0
    for page in range(1, last_page + 1):
        (text,) = yield call("read_page", document=document, page=page)
        total += sum(int(weight) for weight in WEIGHT.findall(text))
    return f"On its first {last_page} pages {document} names weights of {total} in all."


def check_ledger(last_page: int) -> Plan:
    """Sum the ledger's amounts and look for an id that stands twice."""
    yield call("list_documents")
    micros, ids = 0, Counter[str]()
    for page in range(1, last_page + 1):
        (text,) = yield call("read_page", document="ledger", page=page)
        for entry, amount, _ in (line.split("\t") for line in text.splitlines()):
            ids[entry] += 1
            micros += int(amount.replace(".", ""))
    twice = sum(count > 1 for count in ids.values())
    whole, rest = divmod(micros, 10**6)
    return (
        f"{len(ids)} entries add up to {whole}.{rest:06}; {twice} ids stand twice. The "
        f"last one is {max(ids)}."
    )


def measure_scan(last_page: int) -> Plan:
    """Scans cannot be read as text; their sizes can be told."""
    yield call("list_documents")
    characters = 0
    for page in range(1, last_page + 1):
        (text,) = yield call("read_page", document="scan-of-the-deed", page=page)
        characters += len(text.replace("\n", ""))
    return f"{last_page} pages of base64, {characters * 3 // 4} bytes; no text in them."


def warm_hours(last_page: int) -> Plan:
    """The warmest reading of each hour, and sensors that failed."""
    yield call("list_documents")
    told, failed = [], Counter[str]()
    for page in range(1, last_page + 1):
        (text,) = yield call("read_page", document="sensor-readings", page=page)
        rows = json.loads(text)
        warmest = max(rows, key=lambda row: (row["c"], row["id"]))
        failed.update(row["id"] for row in rows if not row["ok"])
        told.append(f"hour {page}: {warmest['c'] / 100} °C at {warmest['id']}")
    return "; ".join(told) + f". {sum(failed.values())} readings failed."


def read_braille(last_page: int) -> Plan:
    """Braille costs three tokens a cell: the estimate learns that the hard way."""
    yield call("list_documents")
    cells = 0
    for page in range(1, last_page + 1):
        (text,) = yield call("read_page", document="braille-leaflet", page=page)
        cells += len(text)
    yield call("find_text", document="braille-leaflet", text="⠅⠑⠞⠞⠇⠑")
    (again,) = yield call("read_page", document="braille-leaflet", page=1)
    return f"The leaflet has {cells} cells and begins with {again[:14]!r}: how to brew."


def missing_page() -> Plan:
    """Asks for a page that is not there, and for a book that is not there."""
    yield call("read_page", document="journal-ja", page=40)
    yield call("read_page", document="journal-fr", page=1)
    yield call("list_documents")
    (text,) = yield call("read_page", document="journal-ja", page=12)
    return f"There is no French journal; the Japanese one ends with: {text[-24:]}"


def _journal(language: str, pages: int) -> Turn:
    return Turn(
        f"How much tea does journal-{language} name on its first {pages} pages?",
        lambda: weigh(f"journal-{language}", pages),
    )


def scenarios() -> list[Scenario]:
    """Pages by script and kind, through windows that hold few of them."""
    ledger = Turn("Does any id stand twice in the ledger?", lambda: check_ledger(8))
    deed = Turn("What is in the scanned deed?", lambda: measure_scan(5))
    warm = Turn("How warm did the store get?", lambda: warm_hours(6))
    leaflet = Turn("What does the Braille leaflet say?", lambda: read_braille(4))
    return [
        AGENT.at("zh-16k", "gpt-4o", 16_000, _journal("zh", 12)),
        AGENT.at("zh-8k", "gpt-4.1-mini", 8_000, _journal("zh", 12)),
        AGENT.at("ja-8k", "gpt-5-mini", 8_000, _journal("ja", 10)),
        AGENT.at("ko-8k", "gpt-4o-mini", 8_000, _journal("ko", 10)),
        AGENT.at(
            "ko-local",
            "llama-3.1-8b-instruct",
            None,
            _journal("ko", 6),
            provider="",
            environment="staging",
        ),
        AGENT.at("ledger-16k", "gpt-4.1-mini", 16_000, ledger),
        AGENT.at("ledger-8k", "gpt-4o-mini", 8_000, ledger),
        AGENT.at(
            "ledger-4k",
            "llama-3.1-8b-instruct",
            4_096,
            ledger,
            provider="",
            environment="staging",
        ),
        AGENT.at("deed-12k", "gpt-4.1-mini", 12_000, deed),
        AGENT.at("deed-6k", "gpt-4o-mini", 6_000, deed, environment="staging"),
        AGENT.at("sensors-16k", "claude-haiku-4-5", 16_000, warm, provider="anthropic"),
        AGENT.at("braille-32k", "gpt-4o", 32_000, leaflet),
        AGENT.at("braille-unknown-model", "house-writer", 24_000, leaflet, provider=""),
        AGENT.at(
            "missing-page",
            "gpt-5-mini",
            16_000,
            Turn("How does the French journal end?", missing_page),
        ),
    ]
