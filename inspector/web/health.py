"""Is it alive, and can it take data; for supervisors, so no key and no facts."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from inspector.domain.ingest.selectors import store_is_ready


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The store answers and its tables are those of this version."""
    if store_is_ready():
        return HttpResponse("ready\n", content_type="text/plain")
    return HttpResponse(
        "the store is not ready\n", status=503, content_type="text/plain"
    )
