"""`/api/v1/ingest`: has my trace arrived? Asked with the key that sent it."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from inspector.domain.ingest.selectors import Arrival, arrival_get
from inspector.web.access import sender_of
from inspector.web.api.schemas import ERRORS

router = Router(tags=["ingest"])


class ArrivalOut(Schema):
    trace_id: str
    span_count: int
    dead_letter_count: int
    run_ids: list[str]
    is_pending: bool


@router.get("/{trace_id}", response={200: ArrivalOut, **ERRORS}, url_name="arrival-get")
def arrival(request: HttpRequest, trace_id: str) -> Arrival | Any:
    """What has arrived of a trace."""
    return arrival_get(project_id=sender_of(request).id, trace_id=trace_id)
