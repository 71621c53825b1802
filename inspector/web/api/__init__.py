"""The JSON API, `/api/v1`: one router for each noun, one shape for every error."""

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import ValidationError

from inspector.errors import InspectorError
from inspector.web.api import ingest, runs
from inspector.web.errors import error_json

api = NinjaAPI(
    title="Ullage inspector",
    version="1",
    urls_namespace="api-1",
    docs_url=None,  # its page would load scripts from elsewhere
    openapi_url="openapi.json",
)
api.add_router("/runs", runs.router)
api.add_router("/ingest", ingest.router)


@api.exception_handler(InspectorError)
def inspector_error(request: HttpRequest, error: InspectorError) -> HttpResponse:
    """What the domain raised."""
    return error_json(error)


@api.exception_handler(ValidationError)
def validation_error(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """What ninja found wrong with the request."""
    problem = "; ".join(
        f"{'.'.join(str(part) for part in found['loc'])}: {found['msg']}"
        for found in error.errors
    )
    return error_json(InspectorError("request_invalid", problem=problem))
