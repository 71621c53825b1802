"""Our own wire (docs/wire.md): spans of the SDK, with content where that was allowed.

A body proves its digest and a view proves its chain; what does not is not believed, and
is told.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from inspector.domain.ingest.decode import Span
from inspector.domain.ingest.dialects.common import (
    CALL_OPERATIONS,
    call_facts,
    error_type_of,
    facts_of,
)
from inspector.domain.ingest.dialects.messages import shape_of_body
from inspector.domain.ingest.facts import (
    CALIBRATE,
    CALL,
    OTHER,
    PRUNE,
    RUN,
    TERMINUS,
    TOOL,
    ULLAGE,
    Detail,
    MessageFacts,
    OtherFacts,
    PruneFacts,
    Reading,
    RunFacts,
    TerminusFacts,
    ViewFacts,
)
from inspector.domain.ingest.values import (
    count_of,
    float_of,
    joined_of,
    objects_of,
    text_of,
    texts_of,
    whole_of,
)
from ullage import semconv
from ullage.messages import digest_of, extend_view

CONTENT = (semconv.MESSAGES_BODIES, semconv.TOOLS_BODY)
MAX_POLICY_CHARACTERS = 300
MAX_COUNT = 2**31 - 1

_DIGEST = re.compile(r"[0-9a-f]{32}")
_BREAKDOWN = (
    semconv.BREAKDOWN_SYSTEM_TOKENS,
    semconv.BREAKDOWN_TOOLS_TOKENS,
    semconv.BREAKDOWN_CONVERSATION_TOKENS,
    semconv.BREAKDOWN_MEDIA_TOKENS,
    semconv.BREAKDOWN_FRAMING_TOKENS,
)

Problem = tuple[str, str, bytes]


def read(span: Span) -> Reading | None:
    """The reading of a span of ours; None where it bears no wire number."""
    if semconv.WIRE not in span.attributes:
        return None
    kind = _kind_of(span)
    facts = facts_of(
        span,
        kind,
        _DETAIL[kind](span),
        source=ULLAGE,
        run_id=text_of(span.attributes, semconv.RUN_ID, 49),
        call_index=_index_of(span),
    )
    view, view_problems = _view(span)
    messages, body_problems = _messages(span)
    return Reading(facts, messages, view, (*view_problems, *body_problems))


def _kind_of(span: Span) -> str:
    if span.name in _KIND_BY_NAME:
        return _KIND_BY_NAME[span.name]
    operation = text_of(span.attributes, semconv.OPERATION_NAME)
    if operation in CALL_OPERATIONS:
        return CALL
    if operation == semconv.SPAN_EXECUTE_TOOL:
        return TOOL
    names_itself = text_of(span.attributes, semconv.RUN_ID).endswith(span.span_id)
    return RUN if names_itself else OTHER


_KIND_BY_NAME = {
    semconv.SPAN_CALL: CALL,
    semconv.SPAN_PRUNE: PRUNE,
    semconv.SPAN_CALIBRATE: CALIBRATE,
    semconv.SPAN_TRUNCATE: TERMINUS,
}


def _index_of(span: Span) -> int | None:
    index = count_of(span.attributes, semconv.CALL_INDEX)
    return index if index is None or index <= MAX_COUNT else None


# --- details --------------------------------------------------------------------------
def _run(span: Span) -> RunFacts:
    return RunFacts(
        reason=text_of(span.attributes, semconv.RUN_REASON, 30),
        error_type=error_type_of(span),
    )


def _call(span: Span) -> Detail:
    a = span.attributes
    return call_facts(
        span,
        site=text_of(a, semconv.CALL_SITE),
        window_source=text_of(a, semconv.WINDOW_SOURCE),
        budget_tokens=whole_of(a, semconv.BUDGET_TOKENS),
        reserve_tokens=count_of(a, semconv.RESERVE_TOKENS),
        safety_tokens=count_of(a, semconv.SAFETY_TOKENS),
        free_tokens=whole_of(a, semconv.FREE_TOKENS),
        estimate_tokens=count_of(a, semconv.ESTIMATE_TOKENS),
        estimate_lower_tokens=count_of(a, semconv.ESTIMATE_LOWER_TOKENS),
        accuracy=text_of(a, semconv.ESTIMATE_ACCURACY),
        breakdown=_breakdown(a),
        factor=float_of(a, semconv.CALIBRATION_FACTOR),
        anchor_tokens=count_of(a, semconv.CALIBRATION_ANCHOR_TOKENS),
        table=text_of(a, semconv.CALIBRATION_TABLE),
        policy=text_of(a, semconv.POLICY, MAX_POLICY_CHARACTERS),
        dropped_unit_count=count_of(a, semconv.DROPPED_UNITS),
        dropped_tokens=count_of(a, semconv.DROPPED_TOKENS),
        view_digest=_digest(a, semconv.VIEW_DIGEST),
        view_length=min(count_of(a, semconv.VIEW_LENGTH) or 0, MAX_COUNT),
        reply_digest=_digest(a, semconv.REPLY_DIGEST),
        tools_digest=_digest(a, semconv.TOOLS_DIGEST),
        shapes=tuple(_shapes(a)),
        tool_shapes=objects_of(a, semconv.TOOLS_SHAPES),
    )


def _breakdown(a: Mapping[str, Any]) -> tuple[int, ...] | None:
    parts = [count_of(a, name) for name in _BREAKDOWN]
    known = [part for part in parts if part is not None]
    return tuple(known) if len(known) == len(parts) else None


def _digest(a: Mapping[str, Any], name: str) -> str:
    digest = text_of(a, name, 33)
    return digest if _DIGEST.fullmatch(digest) else ""


def _prune(span: Span) -> PruneFacts:
    a = span.attributes
    return PruneFacts(
        policy=text_of(a, semconv.POLICY, MAX_POLICY_CHARACTERS),
        outcome=text_of(a, semconv.PLAN_OUTCOME, 30),
        before_tokens=count_of(a, semconv.PLAN_BEFORE_TOKENS),
        after_tokens=count_of(a, semconv.PLAN_AFTER_TOKENS),
        target_tokens=count_of(a, semconv.PLAN_TARGET_TOKENS),
        kept_unit_count=count_of(a, semconv.PLAN_KEPT_UNITS),
        actions=tuple(_actions(joined_of(a, semconv.PLAN_ACTIONS, "unit"))),
    )


def _actions(sent: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """Actions under the names of `records.PlanAction`; those without a unit are out."""
    for action in sent:
        unit = count_of(action, "unit")
        if unit is None or unit > MAX_COUNT:
            continue
        tokens = action.get("tokens")
        before, after = (
            tokens if isinstance(tokens, list) and len(tokens) == 2 else (0, 0)
        )
        yield {
            "unit": unit,
            "do": text_of(action, "do", 12),
            "why": text_of(action, "why", 60),
            "before_tokens": count_of({"n": before}, "n") or 0,
            "after_tokens": count_of({"n": after}, "n") or 0,
            "roles": list(texts_of(action, "roles")),
            "tools": list(texts_of(action, "tools")),
            "digests": list(texts_of(action, "messages")),
        }


def _terminus(span: Span) -> TerminusFacts:
    a = span.attributes
    undroppable = a.get(semconv.TRUNCATE_UNDROPPABLE_UNITS)
    units = undroppable if isinstance(undroppable, list) else []
    return TerminusFacts(
        needed_tokens=count_of(a, semconv.TRUNCATE_NEEDED_TOKENS) or 0,
        shortfall_tokens=count_of(a, semconv.TRUNCATE_SHORTFALL_TOKENS) or 0,
        component=text_of(a, semconv.TRUNCATE_COMPONENT),
        hint=text_of(a, semconv.TRUNCATE_HINT, 1000),
        undroppable_units=tuple(unit for unit in units if isinstance(unit, int)),
        model=text_of(a, semconv.REQUEST_MODEL),
        window_tokens=count_of(a, semconv.WINDOW_TOKENS),
        budget_tokens=whole_of(a, semconv.BUDGET_TOKENS),
        reserve_tokens=count_of(a, semconv.RESERVE_TOKENS),
        safety_tokens=count_of(a, semconv.SAFETY_TOKENS),
        breakdown=_breakdown(a),
    )


def _calibration(span: Span) -> OtherFacts:
    """The figures of the update, under the last word of their names."""
    prefix = "ullage.calibrate."
    return OtherFacts(
        {
            name.removeprefix(prefix): value
            for name, value in span.attributes.items()
            if name.startswith(prefix) and isinstance(value, int | float | str)
        }
    )


def _tool(span: Span) -> OtherFacts:
    words = {
        "tool": text_of(span.attributes, semconv.TOOL_NAME),
        "error": error_type_of(span),
    }
    return OtherFacts({name: word for name, word in words.items() if word})


_DETAIL: dict[str, Callable[[Span], Detail]] = {
    RUN: _run,
    CALL: _call,
    PRUNE: _prune,
    TERMINUS: _terminus,
    CALIBRATE: _calibration,
    TOOL: _tool,
    OTHER: lambda span: OtherFacts(),
}


# --- content --------------------------------------------------------------------------
def _shapes(a: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for sent in joined_of(a, semconv.MESSAGES_SHAPES, "digest"):
        digest = _digest(sent, "digest")
        if not digest:
            continue
        tokens = sent.get("tokens")
        lower, upper = (
            tokens if isinstance(tokens, list) and len(tokens) == 2 else (None, None)
        )
        yield {
            "digest": digest,
            "role": text_of(sent, "role", 40),
            "kinds": list(texts_of(sent, "kinds")),
            "tools": list(texts_of(sent, "tools")),
            "call_ids": list(texts_of(sent, "call_ids")),
            "bytes": count_of(sent, "bytes"),
            "lower_tokens": count_of({"n": lower}, "n"),
            "upper_tokens": count_of({"n": upper}, "n"),
            "unit": whole_of(sent, "unit"),  # negative for our own note
        }


def _view(span: Span) -> tuple[ViewFacts | None, list[Problem]]:
    a = span.attributes
    digest = _digest(a, semconv.VIEW_DIGEST)
    if not digest:
        return None, []
    parent = text_of(a, semconv.VIEW_BASE, 33)
    added = texts_of(a, semconv.VIEW_ADDED)
    if not _chain_holds(digest, parent, added):
        payload = "\n".join((digest, parent, *added)).encode()
        return None, [
            ("view_mismatch", "the view is not what its base and added make", payload)
        ]
    length = count_of(a, semconv.VIEW_LENGTH) or len(added)
    return ViewFacts(digest, parent, min(length, MAX_COUNT), added), []


def _chain_holds(digest: str, parent: str, added: tuple[str, ...]) -> bool:
    links = (*added, parent) if parent else added
    if not all(_DIGEST.fullmatch(link) for link in links):
        return False
    return extend_view(parent, added) == digest


def _messages(span: Span) -> tuple[tuple[MessageFacts, ...], list[Problem]]:
    """Messages described here, each with the body that proves its digest if it came."""
    a = span.attributes
    bodies = {digest_of(text.encode()): text.encode() for text in _bodies(a)}
    shapes = {shape["digest"]: shape for shape in _shapes(a)}
    awaited = {
        *shapes,
        *texts_of(a, semconv.VIEW_ADDED),
        _digest(a, semconv.REPLY_DIGEST),
    }
    tools_digest = _digest(a, semconv.TOOLS_DIGEST)
    if tools_digest in bodies:
        shapes[tools_digest] = {"role": "tools"}
    described = [
        MessageFacts(digest, _general(shape), bodies.get(digest))
        for digest, shape in shapes.items()
    ]
    described += [
        MessageFacts(digest, shape_of_body(bodies[digest]), bodies[digest])
        for digest in awaited & bodies.keys() - shapes.keys()
    ]
    strangers = bodies.keys() - awaited - {tools_digest}
    return tuple(described), [
        (
            "body_mismatch",
            "a message body does not match any digest of its call",
            bodies[d],
        )
        for d in sorted(strangers)
    ]


def _bodies(a: Mapping[str, Any]) -> list[str]:
    sent = a.get(semconv.MESSAGES_BODIES)
    bodies = (
        [text for text in sent if isinstance(text, str)]
        if isinstance(sent, list)
        else []
    )
    tools = a.get(semconv.TOOLS_BODY)
    return [*bodies, tools] if isinstance(tools, str) else bodies


def _general(shape: Mapping[str, Any]) -> dict[str, Any]:
    """What holds for a message in every run: neither its unit nor its tokens."""
    own_to_a_run = {"digest", "unit", "lower_tokens", "upper_tokens"}
    return {name: value for name, value in shape.items() if name not in own_to_a_run}
