"""A reader that answers questions about a code base: this very repository's."""

import re
from itertools import pairwise

from tests.support.demo.material.snapshot import repository
from tests.support.demo.scenario import (
    NUMBER,
    TEXT,
    Agent,
    Plan,
    Results,
    Scenario,
    Turn,
    tool,
)
from tests.support.standin import call, calls

SYSTEM = (
    "You answer questions about a Python code base. List files, search them by regular "
    "expression, read the parts that matter, and cite path and line."
)
CORE = "sdk/src/ullage/"
PLACE = re.compile(r"^(\S+?):(\d+): ", re.MULTILINE)


def list_files(folder: str = "") -> str:
    return "\n".join(
        f"{path} ({text.count(chr(10))} lines)"
        for path, text in repository().items()
        if path.startswith(folder)
    )


def search_code(pattern: str, folder: str = "", limit: int = 25) -> str:
    """Lines that match, as `path:line: text`."""
    wanted = re.compile(pattern)
    hits = [
        f"{path}:{number}: {line.strip()}"
        for path, text in repository().items()
        if path.startswith(folder)
        for number, line in enumerate(text.splitlines(), start=1)
        if wanted.search(line)
    ]
    more = f"\n({len(hits) - limit} more)" if len(hits) > limit else ""
    return "\n".join(hits[:limit]) + more if hits else "no match"


def read_file(path: str, first_line: int = 1, line_count: int = 2000) -> str:
    lines = repository()[path].splitlines()
    part = lines[first_line - 1 : first_line - 1 + line_count]
    return "\n".join(f"{n}\t{line}" for n, line in enumerate(part, start=first_line))


AGENT = Agent(
    "code-reader",
    SYSTEM,
    (
        tool(list_files, "List files below a folder, with their length.", folder=TEXT),
        tool(
            search_code,
            "Find lines by regular expression below a folder.",
            pattern=TEXT,
            folder=TEXT,
            limit=NUMBER,
        ),
        tool(
            read_file,
            "Read a file, or lines of it; lines are numbered.",
            path=TEXT,
            first_line=NUMBER,
            line_count=NUMBER,
        ),
    ),
)


def places(hits: str) -> list[tuple[str, int]]:
    return [(path, int(line)) for path, line in PLACE.findall(hits)]


def near(path: str, line: int, count: int) -> dict[str, object]:
    return {"path": path, "first_line": max(1, line - 8), "line_count": count}


def definition(name: str, lines: int, answer: str) -> Plan:
    """Find where a name is defined, read there, then see who uses it."""
    (defined,) = yield call("search_code", pattern=rf"(def|class) {name}\b|^{name} ")
    found = places(defined)
    if not found:
        return f"{name} is not defined here."
    path, line = found[0]
    yield call("read_file", **near(path, line, lines))
    (used,) = yield call("search_code", pattern=rf"\b{name}\b", limit=30)
    for where, at in [p for p in places(used) if p[0] != path][:3]:
        yield call("read_file", **near(where, at, lines // 2))
    return f"{name} is defined in {path}:{line}. {answer}"


def read_all(folder: str, *, at_once: int = 1) -> Plan:
    """Read every file below a folder, and count what it defines."""
    (listing,) = yield call("list_files", folder=folder)
    paths = [line.split(" ")[0] for line in listing.splitlines()]
    told: list[str] = []
    for start in range(0, len(paths), at_once):
        batch = paths[start : start + at_once]
        texts: Results = yield calls(*(("read_file", {"path": p}) for p in batch))
        for path, text in zip(batch, texts, strict=True):
            count = len(re.findall(r"^\d+\t\s*(?:def|class) ", text, re.MULTILINE))
            told.append(f"{path.removeprefix(folder)}: {count} definitions")
    return "Read them all.\n" + "\n".join(told)


def errors_and_their_homes(lines: int) -> Plan:
    """Each error class, and each place that raises it."""
    (classes,) = yield call("search_code", pattern=r"^class \w+Error", folder=CORE)
    told = []
    for name in re.findall(r"class (\w+Error)", classes):
        (raised,) = yield call("search_code", pattern=rf"raise {name}", folder=CORE)
        for path, line in places(raised)[:2]:
            yield call("read_file", **near(path, line, lines))
        told.append(f"{name}: raised in {len(places(raised))} places")
    return "\n".join(told)


def guesses_a_path() -> Plan:
    """Opens a file that is not there, reads the error, lists, and finds it."""
    (text,) = yield call("read_file", path="LICENSE.txt")
    if text.startswith("error"):
        yield call("list_files")
        (text,) = yield call("read_file", path="LICENSE")
    kind = "Apache License" if "Apache License" in text else "an unknown license"
    return f"It is under the {kind}: you may sell what you build, with the notice kept."


def long_functions(pages: int) -> Plan:
    """Walk over the largest modules in pages and note every long function."""
    (listing,) = yield call("list_files", folder=CORE)
    sizes = re.findall(r"^(\S+) \((\d+) lines\)", listing, re.MULTILINE)
    largest = sorted(sizes, key=lambda found: (-int(found[1]), found[0]))[:pages]
    found: list[str] = []
    for path, size in largest:
        for first in range(1, int(size) + 1, 90):
            (page,) = yield call(
                "read_file", path=path, first_line=first, line_count=90
            )
            marks = re.findall(r"^(\d+)\t *def (\w+)", page, re.MULTILINE)
            for (start, name), (end, _) in pairwise(marks):
                if int(end) - int(start) > 35:
                    found.append(f"{path}:{start} {name}")
    return f"{len(found)} functions are long:\n" + "\n".join(found)


def scenarios() -> list[Scenario]:
    """Small questions that fit, and large ones that do not."""
    reserve = Turn(
        "How is the reserve for the answer settled?",
        lambda: definition("allot", 60, "It is clamped before anything is pruned."),
    )
    everything = "Read all of {what} and tell me what each file defines."
    errors = "List every error of the library and where it is raised."
    return [
        AGENT.at("reserve", "gpt-5-mini", 32_000, reserve),
        AGENT.at(
            "reserve-small", "gpt-4.1-mini", 6_000, reserve, environment="staging"
        ),
        AGENT.at(
            "low-water",
            "gpt-4o",
            None,
            Turn(
                "What is the low-water mark and where is it applied?",
                lambda: definition(
                    "DropOldest", 60, "Its low-water mark is 0.7 by default."
                ),
            ),
        ),
        AGENT.at(
            "digest",
            "gpt-4.1-mini",
            16_000,
            Turn(
                "What is a view digest and who computes it?",
                lambda: definition("view_chain", 50, "It is a hash chain of messages."),
            ),
        ),
        AGENT.at(
            "license", "gpt-4.1-mini", 8_000, Turn("May I sell this?", guesses_a_path)
        ),
        AGENT.at(
            "license-small-window",
            "llama-3.1-8b-instruct",
            4_096,
            Turn("May I sell this?", guesses_a_path),
            provider="",
        ),
        AGENT.at(
            "errors-16k",
            "gpt-5-mini",
            16_000,
            Turn(errors, lambda: errors_and_their_homes(30)),
        ),
        AGENT.at(
            "errors-4k",
            "gpt-4o-mini",
            4_096,
            Turn(errors, lambda: errors_and_their_homes(30)),
        ),
        AGENT.at(
            "all-modules-48k",
            "gpt-4.1-mini",
            48_000,
            Turn(
                everything.format(what="the library"), lambda: read_all(CORE, at_once=2)
            ),
        ),
        AGENT.at(
            "all-modules-16k",
            "claude-sonnet-4-5",
            16_000,
            Turn(everything.format(what="the library"), lambda: read_all(CORE)),
            provider="anthropic",
        ),
        AGENT.at(
            "long-functions-12k",
            "gpt-5-mini",
            12_000,
            Turn("Which functions are too long?", lambda: long_functions(5)),
        ),
        AGENT.at(
            "long-functions-capped",
            "gpt-4o-mini",
            8_000,
            Turn(
                "Which functions are too long? Check every module.",
                lambda: long_functions(20),
                "I checked the largest modules only; Fitter.fit is the longest that I "
                "have seen. The smaller ones are still unread.",
            ),
            max_iterations=18,
            environment="staging",
        ),
    ]
