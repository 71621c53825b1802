"""`InspectorError` to HTTP, for pages and for the API: here and nowhere else."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from inspector.errors import InspectorError

STATUSES = {
    "key_missing": 401,
    "key_unknown": 401,
    "key_scope": 403,
    "sign_in_needed": 401,
    "role_needed": 403,
    "project_not_found": 404,
    "run_not_found": 404,
    "call_not_found": 404,
    "trace_not_found": 404,
    "cursor_invalid": 400,
    "start_link_used": 410,
    "not_started": 503,
    "request_invalid": 422,
    "content_type": 415,
    "content_encoding": 415,
    "body_too_large": 413,
    "body_undecodable": 400,
    "body_cut": 400,
    "length_required": 411,
    "method_not_allowed": 405,
    "store_unavailable": 503,
    "inbox_full": 503,
}
RETRY_AFTER_SECONDS = {"store_unavailable": 2, "inbox_full": 10}


def status_of(error: InspectorError) -> int:
    """The HTTP status of an error."""
    return STATUSES[error.code]


def error_body(error: InspectorError) -> dict[str, object]:
    """What the API answers."""
    return {
        "error": {"code": error.code, "message": error.message, "facts": error.facts}
    }


def error_headers(error: InspectorError) -> dict[str, str]:
    """When to try again, where trying again makes sense; how to sign in to the API."""
    headers = {}
    if error.code in RETRY_AFTER_SECONDS:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS[error.code])
    if status_of(error) == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="ullage"'
    return headers


def error_json(error: InspectorError) -> HttpResponse:
    """The answer of the API."""
    return JsonResponse(
        error_body(error), status=status_of(error), headers=error_headers(error)
    )


def error_page(request: HttpRequest, error: InspectorError) -> HttpResponse:
    """A page's answer: signing in where that helps, else words on what to do."""
    if error.code == "sign_in_needed":
        back = urlencode({"next": request.get_full_path()}, safe="/")
        return redirect(f"{reverse('sign-in')}?{back}")
    context = {"error": error, "status": status_of(error)}
    return render(request, "error.html", context, status=status_of(error))


class InspectorErrorMiddleware:
    """Turns an `InspectorError` that left a page into its answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, error: Exception
    ) -> HttpResponse | None:
        """Django's hook; None leaves other errors to Django."""
        return error_page(request, error) if isinstance(error, InspectorError) else None
