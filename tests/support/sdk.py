"""Small transcripts from one line of notation, as sizes or as OpenAI messages.

`S U A[a,b] T(a) T(b) A` is a system prompt, a user message, an assistant message that
calls a and b, both results, and a plain answer. `U(a)` is a user message that answers a
and says something besides (as Anthropic's do), `A[]` an empty assistant message, and
`T(a)~500` a result of 500 tokens.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from ullage.budget import Budget, Window, allot
from ullage.calibration import Surroundings
from ullage.estimator import TABLES, TokenRange
from ullage.fitting import Fitted, Fitter
from ullage.policies import DropOldest, Policy
from ullage.units import Entry, Unit

DEFAULT_TOKENS = 100
ROLES = {
    "S": "system",
    "D": "developer",
    "U": "user",
    "A": "assistant",
    "T": "tool",
}
_WORD = re.compile(r"([SDUAT])(\[.*?\])?(\(.*?\))?(?:~(\d+))?$")
ALONE = Surroundings(hidden_tokens=0)
"""Nothing is sent beside the messages, and the provider adds nothing."""


@dataclass(frozen=True, slots=True)
class Word:
    """One message of the notation."""

    role: str
    is_empty: bool
    call_ids: tuple[str, ...]
    result_ids: tuple[str, ...]
    tokens: int


def words(notation: str) -> tuple[Word, ...]:
    """The messages of a line of notation."""
    return tuple(_word(text) for text in notation.split())


def _word(text: str) -> Word:
    found = _WORD.match(text)
    if found is None:
        raise ValueError(f"{text!r} is not in the notation")
    letter, calls, results, tokens = found.groups()
    return Word(
        role=ROLES[letter],
        is_empty=calls == "[]",
        call_ids=_ids(calls),
        result_ids=_ids(results),
        tokens=DEFAULT_TOKENS if tokens is None else int(tokens),
    )


def _ids(text: str | None) -> tuple[str, ...]:
    inside = (text or "")[1:-1]
    return tuple(inside.split(",")) if inside else ()


def entries(notation: str, *, pins: Iterable[int] = ()) -> tuple[Entry, ...]:
    """The notation as sizes: upper figures as they stand, lower ones half of them."""
    pinned = frozenset(pins)
    return tuple(
        _entry(position, word, is_pinned=position in pinned)
        for position, word in enumerate(words(notation))
    )


def _entry(position: int, word: Word, *, is_pinned: bool) -> Entry:
    kinds = ["text"] * (word.role in ("system", "developer", "user"))
    kinds += ["tool_call"] * bool(word.call_ids)
    kinds += ["tool_call_response"] * bool(word.result_ids)
    if word.role == "assistant" and not kinds and not word.is_empty:
        kinds = ["text"]
    return Entry(
        ordinal=position,
        role=word.role,
        kinds=tuple(kinds),
        tools=tuple(f"tool_{name}" for name in word.call_ids),
        call_ids=word.call_ids,
        result_ids=word.result_ids,
        tokens=TokenRange(word.tokens // 2, word.tokens),
        framing_tokens=0,
        body_bytes=4 * word.tokens,
        digests=(f"{position:032x}",),
        is_pinned=is_pinned,
    )


def messages(notation: str) -> list[dict[str, Any]]:
    """The notation as OpenAI messages; all of them differ."""
    return [_native(n, word) for n, word in enumerate(words(notation))]


def _native(position: int, word: Word) -> dict[str, Any]:
    text = f"{position} " + "word " * word.tokens
    body: dict[str, Any] = {"role": word.role, "content": text}
    if word.is_empty:
        body["content"] = ""
    if word.call_ids:
        body["content"] = None
        body["tool_calls"] = [call(call_id) for call_id in word.call_ids]
    if word.role == "tool":
        body["tool_call_id"] = word.result_ids[0]
    return body


def call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    """One tool call as chat completions write it."""
    function = {"name": f"tool_{call_id}", "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def unit(
    unit_id: int, tokens: int = DEFAULT_TOKENS, *, is_pinned: bool = False
) -> Unit:
    """A step of this size."""
    return Unit(
        id=unit_id,
        kind="step",
        roles=("assistant", "tool"),
        tools=("grep",),
        tokens=tokens,
        lower_tokens=tokens // 2,
        upper_tokens=tokens,
        is_pinned=is_pinned,
        is_outside=False,
        digests=(f"{unit_id:032x}",),
    )


def budget_of(tokens: int) -> Budget:
    """A budget of exactly this size: an answer of 256 tokens, nothing for safety."""
    return allot(
        Window(tokens + 256),
        max_output_tokens=min(256, (tokens + 256) // 2),
        safety_ratio=0,
    )


def fitter(policy: Policy | None = None, **settings: Any) -> Fitter:
    """A new run's fitter, by the table for any model."""
    measure = TABLES["any"].measure
    return Fitter(policy=policy or DropOldest(), measure=measure, **settings)


@dataclass(slots=True)
class SizedRun:
    """A run in sizes alone, on one model."""

    budget: Budget
    around: Surroundings = ALONE
    fitter: Fitter = field(default_factory=fitter)

    def fit(self, transcript: Sequence[Entry], **changes: Any) -> Fitted:
        settings = {"model": "m", "budget": self.budget, "around": self.around}
        return self.fitter.fit(transcript, **{**settings, **changes})


def ordinals(view: Iterable[Entry]) -> tuple[int, ...]:
    """Which of the caller's messages are in a view, in order."""
    return tuple(entry.ordinal for entry in view if entry.ordinal >= 0)


def sized(transcript: Iterable[Entry], tokens: Iterable[int]) -> tuple[Entry, ...]:
    """The same entries with other sizes."""
    pairs = zip(transcript, tokens, strict=True)
    return tuple(replace(e, tokens=TokenRange(n // 2, n)) for e, n in pairs)


_WHATEVER = "S D U A A[] A[a] A[b] A[a,b] A[a,a] T(a) T(b) T(c) U(a) U(b)"
ANY_ENTRIES = st.lists(st.sampled_from(_WHATEVER.split()), min_size=1, max_size=14).map(
    " ".join
)
"""Notation of whatever may arrive, broken or not."""


def _step(ids: Sequence[str]) -> Iterator[str]:
    yield f"A[{','.join(ids)}]"
    yield from (f"T({call_id})" for call_id in ids)


_STEPS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True)
_BLOCKS = st.one_of(
    st.sampled_from([["U"], ["A"], ["U", "A"]]),
    _STEPS.map(lambda ids: list(_step(ids))),
)
WELL_FORMED = st.tuples(
    st.sampled_from([[], ["S"], ["S", "U"], ["D", "S", "U"], ["U"]]),
    st.lists(_BLOCKS, min_size=1, max_size=10),
).map(lambda drawn: " ".join([*drawn[0], *(word for b in drawn[1] for word in b)]))
"""Notation of what a provider takes; call ids come back, as they do in real life."""
