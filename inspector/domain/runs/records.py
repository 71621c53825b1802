"""What selectors hand to pages and API about runs: plain frozen values, no tables, no
HTML.

Units are in the names. `None` always means *not known*, never zero. Times are aware UTC
datetimes; `…_ns` are Unix nanoseconds. Ratios: fill = prompt tokens ÷ window, drift =
estimate ÷ actual (below 1 is an under-count).
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run as the list shows it; recomputed by the fold, never accumulated."""

    run_id: str  # <trace_id>-<run_span_id>; plain <trace_id> where no agent span is
    trace_id: str
    run_span_id: str
    parent_run_id: str
    agent: str
    model: str
    environment: str
    conversation_id: str
    status: str  # running | ended | lost
    reason: str  # LoopResult.reason, "" while unknown
    started_at: datetime
    ended_at: datetime | None
    call_count: int
    prune_count: int
    dropped_unit_count: int  # standing outside the view at the last call
    peak_fill: float | None
    worst_drift: float | None  # deepest under-count, else most over once calibrated
    window_tokens: int | None
    fills: tuple[float | None, ...]  # one for each call, oldest first (the sparkline)
    pruned_calls: tuple[int, ...]  # call indices whose fit dropped or altered something
    source: str  # ullage | genai (a foreign trace: what was inferred is labelled so)
    is_demo: bool
    usage_call_count: int  # calls that reported usage (coverage)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """system + tools + conversation + media + framing = estimate, in tokens."""

    system_tokens: int
    tools_tokens: int
    conversation_tokens: int
    media_tokens: int
    framing_tokens: int


@dataclass(frozen=True, slots=True)
class CallRow:
    """One model request of a run and its answer."""

    index: int
    span_id: str
    started_at: datetime
    duration_ms: float
    model: str
    site: str  # tools | plain | synthesis | gate | host | "" (foreign)
    window_tokens: int | None
    window_source: str
    budget_tokens: int | None
    reserve_tokens: int | None
    safety_tokens: int | None
    free_tokens: int | None
    estimate_tokens: int | None
    estimate_lower_tokens: int | None
    accuracy: str
    breakdown: Breakdown | None
    input_tokens: int | None  # what the provider reported, cached included
    output_tokens: int | None
    cache_read_tokens: int | None
    fill: float | None
    drift: float | None
    factor: float | None
    anchor_tokens: int | None
    table: str
    policy: str
    dropped_unit_count: int | None  # None = no fit ran; 0 = a fit kept all
    dropped_tokens: int | None
    view_digest: str
    view_length: int
    finish_reasons: tuple[str, ...]
    error_type: str
    is_pruned: bool  # this call's fit dropped, returned or altered something


@dataclass(frozen=True, slots=True)
class PlanAction:
    """What a prune did to one unit (docs/wire.md 2, `ullage.plan.actions`)."""

    unit: int
    do: str  # drop | return | clear | clip | summarize | offload
    why: str
    before_tokens: int
    after_tokens: int
    roles: tuple[str, ...]
    tools: tuple[str, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PruneRow:
    """One `ullage.prune` span."""

    call_index: int
    span_id: str
    started_at: datetime
    policy: str
    outcome: str  # done | fell_back | unmet | refused
    before_tokens: int | None
    after_tokens: int | None
    target_tokens: int | None
    kept_unit_count: int | None
    actions: tuple[PlanAction, ...]


@dataclass(frozen=True, slots=True)
class Terminus:
    """The `ullage.truncate` span: the legible end of a run that cannot fit."""

    call_index: int
    needed_tokens: int
    shortfall_tokens: int
    component: str
    hint: str
    undroppable_units: tuple[int, ...]
    window_tokens: int | None
    budget_tokens: int | None
    reserve_tokens: int | None
    safety_tokens: int | None
    breakdown: Breakdown | None


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One row of the two-pane timeline, in tree order."""

    span_id: str
    parent_span_id: str
    name: str
    kind: str  # run | call | prune | calibrate | terminus | tool | http | other
    depth: int
    start_ns: int
    end_ns: int
    call_index: int | None
    is_error: bool
    # A few words for the row, in order.
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunDetail:
    """Everything the run page shows before a call is opened."""

    run: RunRow
    calls: tuple[CallRow, ...]
    prunes: tuple[PruneRow, ...]
    terminus: Terminus | None
    spans: tuple[SpanRow, ...]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message of a view, or one that left it."""

    digest: str
    position: int | None  # place in the view sent; None where it was not sent
    role: str
    kinds: tuple[str, ...]
    tools: tuple[str, ...]
    call_ids: tuple[str, ...]
    body_bytes: int | None
    lower_tokens: int | None
    upper_tokens: int | None
    unit: int | None
    state: str  # kept | new | returned | dropped | altered | not_captured
    body: dict[str, Any] | None  # the GenAI message; None = not captured


@dataclass(frozen=True, slots=True)
class DroppedUnit:
    """A unit standing outside the view of a call: what left, when and why."""

    unit: int
    dropped_at_call: int
    why: str
    policy: str
    before_tokens: int
    after_tokens: int
    is_new: bool  # left at this very call
    messages: tuple[MessageRow, ...]


@dataclass(frozen=True, slots=True)
class CallDetail:
    """One call opened: what was sent, what stood outside, what changed since before."""

    run: RunRow
    call: CallRow
    sent: tuple[MessageRow, ...]  # in sent order, each marked against the call before
    left: tuple[MessageRow, ...]  # in the view of the call before, not in this one
    dropped: tuple[DroppedUnit, ...]  # all that stands outside now, newest drop first
    reply: MessageRow | None
    tools: tuple[dict[str, Any], ...]  # tool shapes: name, bytes, tokens
    prune: PruneRow | None
    calibration: dict[str, Any] | None  # attributes of the calibrate span of this call
    raw: dict[str, Any]  # every attribute of the call span, as received
