"""The list of runs and the page of one run; one view serves page and fragment alike."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from inspector.domain.runs.chart import fill_chart
from inspector.domain.runs.records import RunDetail
from inspector.domain.runs.selectors import (
    RunPage,
    call_get,
    run_change_tag,
    run_get,
    run_list,
)
from inspector.domain.runs.timeline import first_for_call, timeline
from inspector.web.access import MemberRequest, member_page
from inspector.web.pages.call import TAB_WORDS, CallView, call_view
from inspector.web.pages.wording import OUTCOMES, outcome_of

RUNS_PER_PAGE = 50
SPANS_PER_PAGE = 400
FILTERS = ("agent", "model", "outcome")

# htmx says which fragment it wants; caches must not give that to a whole page's reader.
varies = vary_on_headers("HX-Request", "HX-Target")


def wants(request: HttpRequest, fragment: str) -> bool:
    """Whether htmx asks for this fragment alone (never when it restores history)."""
    is_fragment = request.headers.get("HX-Request-Type") == "partial"
    target = request.headers.get("HX-Target", "").rpartition("#")[2]
    return is_fragment and target == fragment


@require_safe
@varies
@member_page
def runs_page(request: MemberRequest) -> HttpResponse:
    """The runs of a project, newest first, filtered by what the address says."""
    filters = filters_in(request.GET)
    tag = run_change_tag(project_id=request.project.id)
    page = run_list(
        project_id=request.project.id,
        limit=RUNS_PER_PAGE,
        after=request.GET.get("after") or None,
        agent=filters["agent"],
        model=filters["model"],
        reason=filters["outcome"],
    )
    part = "#rows" if wants(request, "rows") else ""
    context = list_context(request, filters, page) | {
        "news_url": news_url(request, filters, tag, page.total_count),
    }
    return render(request, f"runs/list.html{part}", context)


def list_context(
    request: MemberRequest, filters: dict[str, str], page: RunPage
) -> dict[str, Any]:
    """What the list shows."""
    return {
        "project": request.project,
        "page": page,
        "filters": filters,
        "is_filtered": any(filters.values()),
        "is_older": "after" in request.GET,
        "outcomes": OUTCOMES.values(),
        "agents": sorted({row.agent for row in page.rows if row.agent}),
        "models": sorted({row.model for row in page.rows if row.model}),
        "older_url": page.next_after and list_url(request, filters, page.next_after),
        "newest_url": list_url(request, filters),
        "clear_url": list_url(request, {}),
        "public_url": settings.PUBLIC_URL,
    }


def filters_in(query: QueryDict) -> dict[str, str]:
    """The filters of an address; each is exact, and "" means any."""
    return {name: query.get(name, "").strip() for name in FILTERS}


def list_url(request: MemberRequest, filters: dict[str, str], after: str = "") -> str:
    """The list with these filters, from this cursor on."""
    chosen = {name: value for name, value in filters.items() if value}
    query = urlencode(chosen | ({"after": after} if after else {}))
    path = reverse("run-list", args=[request.project.slug])
    return f"{path}?{query}" if query else path


def news_url(
    request: MemberRequest, filters: dict[str, str], tag: str, count: int | None
) -> str:
    """Where the list asks whether there is news since it was shown."""
    path = reverse("run-news", args=[request.project.slug])
    return f"{path}?{urlencode(filters | {'tag': tag, 'count': count or 0})}"


@require_safe
@member_page
def runs_news(request: MemberRequest) -> HttpResponse:
    """What is new since the list was shown; 204 (no swap) while nothing is."""
    tag = run_change_tag(project_id=request.project.id)
    if tag == request.GET.get("tag"):
        return HttpResponse(status=204)
    filters = filters_in(request.GET)
    page = run_list(
        project_id=request.project.id,
        limit=1,
        agent=filters["agent"],
        model=filters["model"],
        reason=filters["outcome"],
    )
    shown = number_in(request.GET, "count") or 0
    context = {
        "new_count": max(0, (page.total_count or 0) - shown),
        "has_changed": True,
        # The tag moves on, the count stays: new means new since the list was shown.
        "news_url": news_url(request, filters, tag, shown),
        "newest_url": list_url(request, filters),
    }
    return render(request, "runs/list.html#news", context)


@require_safe
@varies
@member_page
def run_page(request: MemberRequest, run_id: str) -> HttpResponse:
    """One run: how full, what left, how far off; one of its calls opened."""
    detail = run_get(project_id=request.project.id, run_id=run_id)
    tab = request.GET.get("tab", "sent")
    tab = tab if tab in TAB_WORDS else "sent"
    view = view_of(request, detail, tab)
    context = {
        "project": request.project,
        "run": detail.run,
        "detail": detail,
        "view": view,
        "tab": tab,
        "no_call_words": no_call_words(detail),
    }
    if wants(request, "call"):
        return render(request, "runs/detail.html#call", context)
    return render(
        request, "runs/detail.html", context | overview(request, detail, view)
    )


def view_of(request: MemberRequest, detail: RunDetail, tab: str) -> CallView | None:
    """The call that the address names, else the newest; None where the run has none."""
    index = number_in(request.GET, "call")
    if index is None and detail.calls:
        index = detail.calls[-1].index
    if index is None:
        return None
    call = call_get(
        project_id=request.project.id, run_id=detail.run.run_id, index=index
    )
    full_digest = request.GET.get("full", "")
    return call_view(call, detail, tab=tab, full_digest=full_digest)


def overview(
    request: MemberRequest, detail: RunDetail, view: CallView | None
) -> dict[str, Any]:
    """What stands above and beside the opened call."""
    first = number_in(request.GET, "from")
    if first is None:
        index = view.call.index if view else None
        first = first_for_call(detail.spans, index, SPANS_PER_PAGE)
    sources = [call.window_source for call in detail.calls if call.window_source]
    return {
        "chart": fill_chart(detail),
        "timeline": timeline(
            detail.spans, detail.run.run_span_id, first=first, limit=SPANS_PER_PAGE
        ),
        "window_source": sources[-1] if sources else "",
        "end": outcome_of(detail.run.status, detail.run.reason),
    }


def no_call_words(detail: RunDetail) -> str:
    """Why a run shows no call."""
    if detail.terminus is not None:
        return "The run stopped before its first call: nothing was sent."
    if detail.run.status == "running":
        return "The run is under way, and no call of it has arrived yet."
    return "No call of this run has arrived."


def number_in(query: QueryDict, name: str) -> int | None:
    """A whole number of an address; anything else counts as absent."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
