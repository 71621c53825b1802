"""`ullage.configure`: OTLP export in one line, for who has not set OpenTelemetry up.

Needs `ullage[otel]`. Order of every setting: argument, OTEL_* where OpenTelemetry's own
exporter reads them, ULLAGE_*, default.
"""

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ullage.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


def configure(
    *,
    endpoint: str | None = None,
    api_key: str | None = None,
    service_name: str | None = None,
    environment: str | None = None,
    instrument_httpx: bool = True,
) -> None:
    """Send spans to an inspector (or any OTLP receiver), batched, in the background.

    Args:
        endpoint: base address, such as http://localhost:8000; None =
            OTEL_EXPORTER_OTLP_(TRACES_)ENDPOINT, else ULLAGE_ENDPOINT.
        api_key: ingest key; None = ULLAGE_API_KEY. Where the address is OpenTelemetry's
            own, so are its headers, if there are any.
        service_name: told as `service.name`; None = OTEL_SERVICE_NAME or
            OTEL_RESOURCE_ATTRIBUTES, else "ullage".
        environment: told as `deployment.environment.name`.
        instrument_httpx: trace the host's httpx requests, so that a call shows its
            HTTP.

    Raises:
        ConfigurationError: `ullage[otel]` is not installed, or no endpoint is known.
    """
    if os.environ.get("ULLAGE_DISABLED", "").lower() in ("1", "true", "yes"):
        return
    is_told = not endpoint and _is_told("ENDPOINT")
    address = None if is_told else endpoint or os.environ.get("ULLAGE_ENDPOINT")
    if not (address or is_told):
        raise ConfigurationError(
            "no endpoint: pass endpoint=… or set ULLAGE_ENDPOINT to your inspector"
        )
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigurationError(
            "OTLP export needs the OpenTelemetry SDK: pip install 'ullage[otel]'"
        ) from error
    told = {"service.name": service_name, "deployment.environment.name": environment}
    resource = Resource.create({name: value for name, value in told.items() if value})
    if str(resource.attributes["service.name"]).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "ullage"}))
    provider = TracerProvider(resource=resource)
    key = api_key
    if not (key or (is_told and _is_told("HEADERS"))):
        key = os.environ.get("ULLAGE_API_KEY")
    exporter = OTLPSpanExporter(
        endpoint=f"{address.rstrip('/')}/v1/traces" if address else None,
        headers={"Authorization": f"Bearer {key}"} if key else None,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    if instrument_httpx:
        _trace_http(provider)


def _is_told(setting: str) -> bool:
    """Whether OpenTelemetry's exporter finds this setting in its own variables."""
    names = (f"OTEL_EXPORTER_OTLP_TRACES_{setting}", f"OTEL_EXPORTER_OTLP_{setting}")
    return any(os.environ.get(name) for name in names)


def _trace_http(provider: "TracerProvider") -> None:
    """Trace the requests of httpx and of httpx2, whichever the host has."""
    from opentelemetry.instrumentation import httpx as instrumentation

    if find_spec("httpx"):
        instrumentation.HTTPXClientInstrumentor().instrument(tracer_provider=provider)
    if find_spec("httpx2"):
        instrumentation.HTTPX2ClientInstrumentor().instrument(tracer_provider=provider)
