"""What a dialect reads out of one span: small frozen values that the fold works on.

They are kept beside the span as JSON, so a trace is folded again without its content.
None is *not known*, never zero. `records` of the runs says what each figure means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

RUN, CALL, PRUNE, CALIBRATE, TERMINUS, TOOL, HTTP, OTHER = (
    "run",
    "call",
    "prune",
    "calibrate",
    "terminus",
    "tool",
    "http",
    "other",
)
ULLAGE, GENAI = "ullage", "genai"


class Stored:
    """A value that JSON keeps: lists come back as tuples, unknown names are left."""

    def to_json(self) -> dict[str, Any]:
        """Field by field, not a copy: these are values, and there are many."""
        names = (f.name for f in fields(self))  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """The opposite of `to_json`."""
        names = {f.name for f in fields(cls)}  # type: ignore[arg-type]
        return cls(
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in kept.items()
                if name in names
            }
        )


@dataclass(frozen=True, slots=True)
class RunFacts(Stored):
    """Of the span that is a run."""

    reason: str = ""
    error_type: str = ""


@dataclass(frozen=True, slots=True)
class CallFacts(Stored):
    """Of one model request, from one span or from several merged into one."""

    model: str = ""
    provider: str = ""
    response_id: str = ""
    site: str = ""
    max_output_tokens: int | None = None
    window_tokens: int | None = None
    window_source: str = ""
    budget_tokens: int | None = None
    reserve_tokens: int | None = None
    safety_tokens: int | None = None
    free_tokens: int | None = None
    estimate_tokens: int | None = None
    estimate_lower_tokens: int | None = None
    accuracy: str = ""
    breakdown: tuple[int, ...] | None = (
        None  # system, tools, conversation, media, framing
    )
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    utilization: float | None = None
    factor: float | None = None
    anchor_tokens: int | None = None
    table: str = ""
    policy: str = ""
    dropped_unit_count: int | None = None
    dropped_tokens: int | None = None
    view_digest: str = ""
    view_length: int = 0
    reply_digest: str = ""
    tools_digest: str = ""
    finish_reasons: tuple[str, ...] = ()
    error_type: str = ""
    is_compacted: bool = False
    is_cut: bool = False  # telemetry was lost: no verdict on dropped messages
    shapes: tuple[dict[str, Any], ...] = ()  # messages that this call described first
    tool_shapes: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PruneFacts(Stored):
    """Of a fit that dropped, returned or altered something."""

    policy: str = ""
    outcome: str = ""
    before_tokens: int | None = None
    after_tokens: int | None = None
    target_tokens: int | None = None
    kept_unit_count: int | None = None
    actions: tuple[dict[str, Any], ...] = ()  # fields of records.PlanAction


@dataclass(frozen=True, slots=True)
class TerminusFacts(Stored):
    """Of the legible end of a run that cannot fit."""

    needed_tokens: int = 0
    shortfall_tokens: int = 0
    component: str = ""
    hint: str = ""
    undroppable_units: tuple[int, ...] = ()
    model: str = ""
    window_tokens: int | None = None
    budget_tokens: int | None = None
    reserve_tokens: int | None = None
    safety_tokens: int | None = None
    breakdown: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class OtherFacts(Stored):
    """Of a calibration, a tool, an HTTP request or another span: words to show."""

    words: dict[str, Any] = field(default_factory=dict)


Detail = RunFacts | CallFacts | PruneFacts | TerminusFacts | OtherFacts

_DETAILS: dict[str, type[Detail]] = {
    RUN: RunFacts,
    CALL: CallFacts,
    PRUNE: PruneFacts,
    TERMINUS: TerminusFacts,
}


@dataclass(frozen=True, slots=True)
class SpanFacts:
    """What one span is, and which run it says it belongs to."""

    kind: str
    detail: Detail
    source: str = ""  # ullage | genai | "" for a span of neither
    run_id: str = ""  # as the span names it; "" = the tree decides
    call_index: int | None = None
    agent: str = ""
    conversation_id: str = ""
    environment: str = ""
    service: str = ""
    is_demo: bool = False

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "SpanFacts":
        detail = _DETAILS.get(kept["kind"], OtherFacts).from_json(kept["detail"])
        return cls(**{**kept, "detail": detail})


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """A message to store under its digest; body None = not captured."""

    digest: str
    shape: Mapping[str, Any]  # role, kinds, tools, call_ids, result_ids, bytes
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class ViewFacts:
    """A view to store as a link of its chain."""

    digest: str
    parent: str
    length: int
    added: Sequence[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a dialect makes of one span.

    Attributes:
        facts: what the fold works on.
        messages: for the store of messages.
        view: the view that was sent, or None where the span tells of none.
        problems: (reason, detail, payload) of parts that cannot be believed.
    """

    facts: SpanFacts
    messages: tuple[MessageFacts, ...] = ()
    view: ViewFacts | None = None
    problems: tuple[tuple[str, str, bytes], ...] = ()
