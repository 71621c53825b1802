"""`/api/v1/runs`: runs newest first, and one run whole."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema

from inspector.domain.runs.records import RunDetail
from inspector.domain.runs.selectors import run_get, run_list
from inspector.web.access import reader_of
from inspector.web.api.schemas import ERRORS

router = Router(tags=["runs"])


class RunRowOut(Schema):
    run_id: str
    trace_id: str
    run_span_id: str
    parent_run_id: str
    agent: str
    model: str
    environment: str
    conversation_id: str
    status: str
    reason: str
    started_at: datetime
    ended_at: datetime | None
    call_count: int
    usage_call_count: int
    prune_count: int
    dropped_unit_count: int
    peak_fill: float | None
    worst_drift: float | None
    window_tokens: int | None
    source: str
    is_demo: bool


class RunPageOut(Schema):
    runs: list[RunRowOut]
    next_after: str | None
    total_count: int | None


class BreakdownOut(Schema):
    system_tokens: int
    tools_tokens: int
    conversation_tokens: int
    media_tokens: int
    framing_tokens: int


class CallOut(Schema):
    index: int
    span_id: str
    started_at: datetime
    duration_ms: float
    model: str
    site: str
    window_tokens: int | None
    window_source: str
    budget_tokens: int | None
    reserve_tokens: int | None
    safety_tokens: int | None
    free_tokens: int | None
    estimate_tokens: int | None
    estimate_lower_tokens: int | None
    accuracy: str
    breakdown: BreakdownOut | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    fill: float | None
    drift: float | None
    factor: float | None
    anchor_tokens: int | None
    policy: str
    dropped_unit_count: int | None
    dropped_tokens: int | None
    view_digest: str
    view_length: int
    finish_reasons: list[str]
    error_type: str
    is_pruned: bool


class PlanActionOut(Schema):
    unit: int
    do: str
    why: str
    before_tokens: int
    after_tokens: int
    roles: list[str]
    tools: list[str]
    digests: list[str]


class PruneOut(Schema):
    call_index: int
    span_id: str
    started_at: datetime
    policy: str
    outcome: str
    before_tokens: int | None
    after_tokens: int | None
    target_tokens: int | None
    kept_unit_count: int | None
    actions: list[PlanActionOut]


class TerminusOut(Schema):
    call_index: int
    needed_tokens: int
    shortfall_tokens: int
    component: str
    hint: str
    undroppable_units: list[int]
    window_tokens: int | None
    budget_tokens: int | None
    reserve_tokens: int | None
    safety_tokens: int | None
    breakdown: BreakdownOut | None


class RunOut(Schema):
    run: RunRowOut
    calls: list[CallOut]
    prunes: list[PruneOut]
    terminus: TerminusOut | None


class RunFilters(Schema):
    agent: str = ""
    model: str = ""
    reason: str = ""


Limit = Annotated[int, Query(ge=1, le=200, description="how many runs at most")]


@router.get("", response={200: RunPageOut, **ERRORS}, url_name="run-list")
def runs(
    request: HttpRequest,
    filters: Annotated[RunFilters, Query()],
    after: str | None = None,
    limit: Limit = 50,
) -> Any:
    """Runs newest first; give `next_after` back as `after` for the next page."""
    page = run_list(
        project_id=reader_of(request).id,
        limit=limit,
        after=after,
        agent=filters.agent,
        model=filters.model,
        reason=filters.reason,
    )
    return {
        "runs": page.rows,
        "next_after": page.next_after,
        "total_count": page.total_count,
    }


@router.get("/{run_id}", response={200: RunOut, **ERRORS}, url_name="run-get")
def run(request: HttpRequest, run_id: str) -> RunDetail | Any:
    """One run with its calls, prunes and terminus; a trace id gives the outermost."""
    return run_get(project_id=reader_of(request).id, run_id=run_id)
