"""Events as OpenTelemetry attributes, within the wire's limits (docs/wire.md 2 and 4).

Pure: facts in, attributes out; what becomes of them is `ullage.telemetry`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opentelemetry.util.types import AttributeValue

from ullage import events, semconv
from ullage.budget import Breakdown
from ullage.fitting import Fitted
from ullage.messages import well_formed

MAX_ELEMENT_CHARS = 300
MAX_ITEM_CHARS = 128
MAX_ITEM_JSON_CHARS = 242
MAX_BODY_BYTES = 1 << 20
MAX_ID_CHARS = 12

Attributes = dict[str, AttributeValue]


def elements(
    body: Mapping[str, Any], lists: Sequence[str], *, key: str
) -> tuple[str, ...]:
    """One JSON object as array elements of at most 300 characters, each standing alone.

    Where its lists make it longer, what is left of them follows in objects that hold
    `key` and list items only.
    """
    whole = _json(body)
    if len(whole) <= MAX_ELEMENT_CHARS:
        return (whole,)
    told: list[str] = []
    element: dict[str, Any] = {**body, **{name: [] for name in lists}}
    for name in lists:
        for item in body[name]:
            cut = _cut(item)
            longer = {**element, name: [*element.get(name, ()), cut]}
            if len(_json(longer)) > MAX_ELEMENT_CHARS:
                told.append(_json(element))
                longer = {key: body[key], name: [cut]}
            element = longer
    return (*told, _json(element))


def _cut(item: str) -> str:
    """What of a list item fits into an element beside its key; escapes take room."""
    cut = item[:MAX_ITEM_CHARS]
    while len(_json(cut)) > MAX_ITEM_JSON_CHARS:
        cut = cut[:-1]
    return cut


def _json(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def shape_elements(shape: events.Shape) -> tuple[str, ...]:
    """A message shape as it travels; long call ids keep their last 12 characters."""
    body: dict[str, Any] = {
        "digest": shape.digest,
        "role": shape.role,
        "kinds": list(shape.kinds),
        "tools": list(dict.fromkeys(shape.tools)),
        "call_ids": [call_id[-MAX_ID_CHARS:] for call_id in shape.call_ids],
        "bytes": shape.body_bytes,
        "tokens": list(shape.tokens),
        "unit": shape.unit,
    }
    if shape.is_pinned:
        body["pin"] = True
    return elements(body, ("call_ids", "tools"), key="digest")


def call_attributes(event: events.CallStarted) -> Attributes:
    """What a call tells at its start (`chat` or `ullage.call`)."""
    fitted = event.fitted
    attributes: Attributes = {
        semconv.REQUEST_MODEL: event.model,
        semconv.REQUEST_MAX_TOKENS: fitted.budget.max_output_tokens,
        semconv.CALL_SITE: event.site,
        semconv.FILL: fitted.estimate.upper / fitted.budget.window.context_tokens,
        semconv.FREE_TOKENS: fitted.breakdown.free_tokens,
        semconv.ESTIMATE_TOKENS: fitted.estimate.upper,
        semconv.ESTIMATE_LOWER_TOKENS: fitted.estimate.lower,
        semconv.ESTIMATE_ACCURACY: fitted.accuracy,
        semconv.CALIBRATION_TABLE: event.table,
        semconv.CALIBRATION_FACTOR: event.factor,
        semconv.POLICY: event.policy,
        semconv.DROPPED_UNITS: fitted.outside_units,
        semconv.DROPPED_TOKENS: fitted.outside_tokens,
    }
    attributes |= window_attributes(fitted)
    put(attributes, semconv.PROVIDER_NAME, event.provider or None)
    put(attributes, semconv.CALIBRATION_ANCHOR_TOKENS, event.anchor_tokens)
    put(attributes, semconv.CONVERSATION_COMPACTED, fitted.outside_units > 0 or None)
    return attributes


def window_attributes(fitted: Fitted) -> Attributes:
    """How the window is shared out; the same on a call and at the terminus."""
    budget = fitted.budget
    return {
        semconv.WINDOW_TOKENS: budget.window.context_tokens,
        semconv.WINDOW_SOURCE: budget.window.source,
        semconv.BUDGET_TOKENS: budget.tokens,
        semconv.RESERVE_TOKENS: budget.reserve_tokens,
        semconv.SAFETY_TOKENS: budget.safety_tokens,
        **_breakdown_attributes(fitted.breakdown),
    }


def _breakdown_attributes(breakdown: Breakdown) -> Attributes:
    return {
        semconv.BREAKDOWN_SYSTEM_TOKENS: breakdown.system_tokens,
        semconv.BREAKDOWN_TOOLS_TOKENS: breakdown.tools_tokens,
        semconv.BREAKDOWN_CONVERSATION_TOKENS: breakdown.conversation_tokens,
        semconv.BREAKDOWN_MEDIA_TOKENS: breakdown.media_tokens,
        semconv.BREAKDOWN_FRAMING_TOKENS: breakdown.framing_tokens,
    }


def view_attributes(view: events.View, content: str) -> Attributes:
    """The view as a hash chain, shapes of what is new, and bodies at level full."""
    attributes: Attributes = {
        semconv.VIEW_DIGEST: view.digest,
        semconv.VIEW_LENGTH: view.length,
        semconv.VIEW_BASE: view.base,
        semconv.VIEW_ADDED: list(view.added),
        semconv.MESSAGES_SHAPES: [
            element for shape in view.described for element in shape_elements(shape)
        ],
        semconv.TOOLS_DIGEST: view.tools_digest,
    }
    if view.tools:
        attributes[semconv.TOOLS_SHAPES] = [
            _json({"name": t.name, "bytes": t.body_bytes, "tokens": list(t.tokens)})
            for t in view.tools
        ]
    if content == "full":
        attributes[semconv.MESSAGES_BODIES] = bodies(view.described)
        put(attributes, semconv.TOOLS_BODY, view.tools_body)
    return attributes


def bodies(shapes: Iterable[events.Shape]) -> list[str]:
    """Canonical JSON of these messages; one over 1 MiB is left out."""
    return [s.body for s in shapes if s.body and s.body_bytes <= MAX_BODY_BYTES]


def answer_attributes(event: events.CallEnded) -> Attributes:
    """What a call tells at its end: usage, and what the provider said of itself."""
    usage = event.usage
    attributes: Attributes = {}
    for name, value in (
        (semconv.USAGE_INPUT_TOKENS, usage.input_tokens),
        (semconv.USAGE_OUTPUT_TOKENS, usage.output_tokens),
        (semconv.USAGE_CACHE_READ_TOKENS, usage.cache_read_tokens),
        (semconv.USAGE_CACHE_WRITE_TOKENS, usage.cache_write_tokens),
        (semconv.USAGE_REASONING_TOKENS, usage.reasoning_tokens),
        (semconv.RESPONSE_ID, event.response_id),
        (semconv.RESPONSE_MODEL, event.response_model),
        (semconv.RESPONSE_FINISH_REASONS, list(event.finish_reasons) or None),
    ):
        put(attributes, name, value)
    return attributes


def put(attributes: Attributes, name: str, value: AttributeValue | None) -> None:
    """Set an attribute, unless its value is not known."""
    if value is not None:
        attributes[name] = value


def clean(attributes: Attributes) -> Attributes:
    """Lone surrogates become U+FFFD before anything is set."""
    return {name: _cleaned(value) for name, value in attributes.items()}


def _cleaned(value: AttributeValue) -> AttributeValue:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [well_formed(str(item)) for item in value]
    return value
