"""Replaying a recorded run: its sizes go through the same `Fitter` that decided live.

A run recorded without content holds all that a fit looks at (docs/wire.md 4): sizes,
units, pins, policy with parameters, factor and usage. So the replay of a run under its
own settings gives identical plans, and under others says what would have been.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ullage import semconv
from ullage.budget import Budget, Window
from ullage.calibration import Surroundings
from ullage.estimator import (
    FRAMING_TOKENS,
    NOTHING,
    TABLES,
    TokenRange,
    hidden_tokens,
)
from ullage.fitting import Fitted, Fitter
from ullage.messages import MEDIA_KINDS, Usage
from ullage.policies import Policy, policy_from
from ullage.units import Entry


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call of a recorded run, in sizes alone.

    Attributes:
        model: that was asked.
        policy: name and parameters of the policy.
        table: key of the estimator's table.
        factor: calibration factor before the call.
        budget: as it was shared out.
        entries: messages first described at this call, in transcript order.
        tools_digest: of the tool definitions, "" where there were none.
        tools: their estimate, None where an earlier call described them.
        usage: what the provider reported.
        reply_digest: of the answer, "" where it is not known.
    """

    model: str
    policy: str
    table: str
    factor: float
    budget: Budget
    entries: tuple[Entry, ...]
    tools_digest: str
    tools: TokenRange | None
    usage: Usage
    reply_digest: str


def recorded_calls(
    spans: Iterable[Mapping[str, Any]],
) -> tuple[RecordedCall, ...]:
    """The calls of a run from the attributes of its call spans, ordered by call index.

    Args:
        spans: attributes of each `chat` or `ullage.call` span, recorded at content
            level structure or full.

    Raises:
        KeyError: a span lacks an attribute of the wire.
    """
    calls = []
    count = 0
    for attributes in sorted(spans, key=lambda a: int(a[semconv.CALL_INDEX])):
        shapes = merged(attributes.get(semconv.MESSAGES_SHAPES, ()), key="digest")
        told = [shape for shape in shapes if shape["unit"] is not None]
        entries = tuple(_entry(shape, count + n) for n, shape in enumerate(told))
        count += len(entries)
        calls.append(_call(attributes, entries))
    return tuple(calls)


def replay(
    calls: Sequence[RecordedCall], *, policy: Policy | None = None
) -> tuple[Fitted, ...]:
    """Fit every call of a recorded run again.

    The wire tells neither `enforce` nor pins that moved later: such a run is replayed
    as one that refused, with the pins that it began with.

    Args:
        calls: of one run, in order.
        policy: None = the recorded one.

    Returns:
        One outcome for each call. Recorded answers are held fixed.
    """
    if not calls:
        return ()
    table = TABLES[calls[0].table]
    fitter = Fitter(
        policy=policy or policy_from(calls[0].policy),
        measure=table.measure,
        prior_factor=calls[0].factor,
    )
    outcomes = []
    transcript: list[Entry] = []
    tools: dict[str, TokenRange] = {"": NOTHING}
    for call in calls:
        transcript.extend(call.entries)
        if call.tools is not None:
            tools[call.tools_digest] = call.tools
        around = Surroundings(
            tools_digest=call.tools_digest,
            tools=tools[call.tools_digest],
            hidden_tokens=hidden_tokens(table, has_tools=bool(call.tools_digest)),
        )
        fitted = fitter.fit(
            transcript, model=call.model, budget=call.budget, around=around
        )
        fitter.observe(call.usage, reply_digest=call.reply_digest or None)
        outcomes.append(fitted)
    return tuple(outcomes)


def merged(elements: Iterable[str], *, key: str) -> list[dict[str, Any]]:
    """The objects of a string array; an object split over elements is whole again.

    Raises:
        ValueError: an element is no JSON object.
    """
    whole: list[dict[str, Any]] = []
    for element in elements:
        body = json.loads(element)
        before = whole[-1] if whole else {}
        is_rest = before.get(key) == body[key] and len(body) < len(before)
        if not is_rest:
            whole.append(body)
            continue
        for name, items in body.items():
            if name != key:
                before[name] = [*before[name], *items]
    return whole


def _entry(shape: Mapping[str, Any], ordinal: int) -> Entry:
    kinds = tuple(shape["kinds"])
    ids = tuple(shape["call_ids"])
    answers = "tool_call_response" in kinds
    return Entry(
        ordinal=ordinal,
        role=shape["role"],
        kinds=kinds,
        tools=tuple(shape["tools"]),
        call_ids=() if answers else ids,
        result_ids=ids if answers else (),
        tokens=TokenRange(*shape["tokens"]),
        framing_tokens=FRAMING_TOKENS * (1 + len(ids)),
        body_bytes=shape["bytes"],
        digests=(shape["digest"],),
        is_pinned=bool(shape.get("pin")),
        is_open_ended=not MEDIA_KINDS.isdisjoint(kinds),
    )


def _call(attributes: Mapping[str, Any], entries: tuple[Entry, ...]) -> RecordedCall:
    shapes = [json.loads(tool) for tool in attributes.get(semconv.TOOLS_SHAPES, ())]
    tools = sum((TokenRange(*shape["tokens"]) for shape in shapes), NOTHING)
    return RecordedCall(
        model=attributes[semconv.REQUEST_MODEL],
        policy=attributes[semconv.POLICY],
        table=attributes[semconv.CALIBRATION_TABLE],
        factor=attributes[semconv.CALIBRATION_FACTOR],
        budget=_budget(attributes),
        entries=entries,
        tools_digest=attributes[semconv.TOOLS_DIGEST],
        tools=tools if shapes else None,
        usage=Usage(
            input_tokens=attributes.get(semconv.USAGE_INPUT_TOKENS),
            output_tokens=attributes.get(semconv.USAGE_OUTPUT_TOKENS),
            reasoning_tokens=attributes.get(semconv.USAGE_REASONING_TOKENS),
        ),
        reply_digest=attributes.get(semconv.REPLY_DIGEST, ""),
    )


def _budget(attributes: Mapping[str, Any]) -> Budget:
    """The budget as it was: an input cap shows in what the prompt could use."""
    safety = attributes[semconv.SAFETY_TOKENS]
    return Budget(
        window=Window(
            attributes[semconv.WINDOW_TOKENS],
            input_cap_tokens=max(1, attributes[semconv.BUDGET_TOKENS] + safety),
            source=attributes[semconv.WINDOW_SOURCE],
        ),
        reserve_tokens=attributes[semconv.RESERVE_TOKENS],
        safety_tokens=safety,
        max_output_tokens=attributes[semconv.REQUEST_MAX_TOKENS],
    )
