"""Spans of no model: HTTP requests are known as such, the rest stays as it is."""

from inspector.domain.ingest.decode import Span
from inspector.domain.ingest.dialects.common import error_type_of, facts_of
from inspector.domain.ingest.facts import HTTP, OTHER, OtherFacts, Reading
from inspector.domain.ingest.values import count_of, text_of

METHOD = ("http.request.method", "http.method")
STATUS = ("http.response.status_code", "http.status_code")
HOST = ("server.address", "net.peer.name", "http.host")


def read(span: Span) -> Reading:
    a = span.attributes
    method = next((text_of(a, name) for name in METHOD if name in a), "")
    words = {
        "method": method,
        "status": next((count_of(a, name) for name in STATUS if name in a), None),
        "host": next((text_of(a, name) for name in HOST if name in a), ""),
        "error": error_type_of(span),
    }
    shown = {name: value for name, value in words.items() if value not in ("", None)}
    return Reading(facts_of(span, HTTP if method else OTHER, OtherFacts(shown)))
