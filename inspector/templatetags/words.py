"""Words for templates: codes as people read them, and untrusted text made visible.

Templates escape; what these filters add is that no control, reordering or unseen
character of a message can hide itself, and that every code reads as words.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any

from django import template

from inspector.domain.runs.records import CallRow, PruneRow, RunRow
from inspector.domain.runs.timeline import TimelineRow
from inspector.templatetags.figures import (
    UNKNOWN,
    byte_size,
    drift_words,
    figure,
    percent,
    ratio,
)
from inspector.web.pages import wording
from inspector.web.pages.wording import Mark, Outcome

register = template.Library()

# C0 but tab and newline, DEL and C1; then what reorders text, is unseen, or cannot be
# encoded (a lone surrogate out of a JSON escape).
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
INVISIBLES = re.compile(
    r"[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
LONG_CHARS = 160
KNOWN_ROLES = ("system", "developer", "user", "assistant", "tool")
CALL_TABS = {"call": "sent", "prune": "dropped", "calibrate": "tokens"}


@register.filter
def visible(value: object) -> str:
    """Text with every control, reordering and unseen character made visible."""
    text = "" if value is None else str(value)
    text = CONTROLS.sub(lambda found: control_picture(ord(found.group())), text)
    return INVISIBLES.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", text)


def control_picture(code: int) -> str:
    """The Unicode picture of a C0 control or DEL; the code point of a C1 control."""
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


@register.filter
def words(code: object) -> str:
    """A code as words: over_budget is over budget."""
    return visible(code).replace("_", " ")


@register.filter
def pretty(value: Any) -> str:
    """A value as a person reads it: text as it is, all else as indented JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


@register.filter
def is_long(value: Any) -> bool:
    """Whether a value is better folded away."""
    return len(pretty(value)) > LONG_CHARS


@register.filter
def size_words(value: Any) -> str:
    """What is folded away: the number of elements or the size of a text."""
    if isinstance(value, list | tuple):
        return f"{len(value):,} elements"
    return byte_size(len(pretty(value).encode(errors="replace")))


@register.filter
def scalar(value: Any) -> str:
    """A figure of unknown kind: whole numbers grouped, ratios to three decimals."""
    if isinstance(value, float) and math.isfinite(value) and not value.is_integer():
        return f"{value:,.3f}"
    known = figure(value)
    return visible(pretty(value)) if known == UNKNOWN else known


@register.filter
def attribute_word(name: object) -> str:
    """The last piece of an attribute's name, as words."""
    return words(str(name).rpartition(".")[2])


@register.filter
def outcome(run: RunRow) -> Outcome:
    """Word, shape and tone of a run's end (or of its being under way)."""
    return wording.outcome_of(run.status, run.reason)


@register.filter
def mark(state: str) -> Mark:
    """Word and shape of a message's state against the call before."""
    return wording.mark_of(state)


@register.filter
def plan(prune: PruneRow) -> str:
    """What a prune did, in words."""
    return wording.plan_words(prune)


@register.filter
def plan_reasons(prune: PruneRow) -> str:
    """Why a prune did it."""
    return wording.plan_reasons(prune)


@register.filter
def part_word(part: str) -> str:
    """A part of the window in words."""
    return wording.PART_WORDS.get(part, words(part))


@register.filter
def site_words(site: str) -> str:
    """Where in the loop a call was sent."""
    return wording.SITE_WORDS.get(site, words(site))


@register.filter
def accuracy_words(accuracy: str) -> str:
    """What an estimate rests on."""
    return wording.ACCURACY_WORDS.get(accuracy, words(accuracy))


@register.filter
def role_class(role: str) -> str:
    """A role as a class name; roles are untrusted, so only known ones pass."""
    return role if role in KNOWN_ROLES else "other"


@register.filter
def call_words(call: CallRow) -> str:
    """One call in a line: what was counted, what was estimated, how full."""
    said = [f"Call {call.index}"]
    if call.input_tokens is not None:
        said.append(f"{figure(call.input_tokens)} tokens counted")
    if call.estimate_tokens is not None:
        off = "" if call.drift is None else f" ({drift_words(call.drift)})"
        said.append(f"{figure(call.estimate_tokens)} estimated{off}")
    if call.fill is not None:
        said.append(f"{percent(call.fill)} of the window")
    return " · ".join(said) if len(said) > 1 else f"{said[0]} · no figures"


@register.filter
def span_icon(kind: str) -> str:
    """The icon of a kind of span."""
    return wording.SPAN_ICONS.get(kind, "dash")


@register.filter
def span_name(name: str) -> str:
    """A span's name; of our own spans the plain word, since the row says the rest."""
    return visible(name).removeprefix("ullage.")


@register.filter
def span_link(row: TimelineRow) -> str:
    """Where a row of the timeline leads on this page; "" where nothing opens."""
    span = row.span
    if not row.is_own:
        return ""
    if span.kind == "terminus":
        return "#terminus"
    if span.kind in CALL_TABS and span.call_index is not None:
        return f"?call={span.call_index}&tab={CALL_TABS[span.kind]}"
    return ""


# What a row's name or its call's page already says.
SILENT_FACTS = {
    "agent",
    "model",
    "tool",
    "method",
    "estimate_tokens",
    "actual_tokens",
    "anchor_before_tokens",
    "anchor_after_tokens",
    "factor_before",
}
FACT_FORMS: dict[str, Callable[[Any], str]] = {
    "input_tokens": lambda value: f"{figure(value)} in",
    "output_tokens": lambda value: f"{figure(value)} out",
    "shortfall_tokens": lambda value: f"{figure(value)} tokens too many",
    "drift_ratio": drift_words,
    "factor_after": lambda value: f"factor {ratio(value)}",
    "actions": lambda value: f"{figure(value)} change{'' if value == 1 else 's'}",
    "status": scalar,
    "host": visible,
    "outcome": words,
    "reason": words,
    "error": words,
}


@register.filter
def fact_words(facts: dict[str, Any]) -> str:
    """The few facts of a timeline row on one line."""
    return " · ".join(
        FACT_FORMS[name](value)
        if name in FACT_FORMS
        else f"{words(name)} {scalar(value)}"
        for name, value in facts.items()
        if name not in SILENT_FACTS
    )
