"""POST /v1/traces: protobuf and JSON (specification: OTLP 1.x, OTLP/HTTP).

Bounds, decoding and the key are checked, the body is committed to the inbox, then 200
is said. Errors are a `google.rpc.Status` in the request's own encoding. Nothing here
waits for a worker or a broker.
"""

import zlib
from collections.abc import Iterator

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from inspector.domain.ingest.decode import (
    JSON,
    PROTOBUF,
    EnvelopeError,
    envelope_read,
)
from inspector.domain.ingest.services import inbox_add
from inspector.errors import InspectorError
from inspector.tasks.bell import ring
from inspector.web.access import sender_of
from inspector.web.errors import error_headers, status_of

CONTENT_TYPES = {"application/x-protobuf": PROTOBUF, "application/json": JSON}
CONTENT_TYPE_OF = {encoding: name for name, encoding in CONTENT_TYPES.items()}
EMPTY_RESPONSE = {PROTOBUF: b"", JSON: b"{}"}
READ_BYTES = 64 * 1024
GZIP_WBITS = 31
GRPC_CODES = {
    401: 16,
    403: 7,
    503: 14,
}  # google.rpc.Code; what is left is 3, bad argument


@csrf_exempt  # a key and no cookie says who sends
def traces_receive(request: HttpRequest) -> HttpResponse:
    """Take one export of spans."""
    encoding = CONTENT_TYPES.get(request.content_type or "", "")
    try:
        _take(request, encoding)
    except InspectorError as error:
        return _refusal(error, encoding or JSON)
    return HttpResponse(
        EMPTY_RESPONSE[encoding], content_type=CONTENT_TYPE_OF[encoding]
    )


def _take(request: HttpRequest, encoding: str) -> None:
    if request.method != "POST":
        raise InspectorError("method_not_allowed")
    project = sender_of(request)
    if not encoding:
        given = request.headers.get("Content-Type", "")
        raise InspectorError("content_type", content_type=given)
    body = body_read(request)
    try:
        envelope = envelope_read(body, encoding)
    except EnvelopeError as error:
        raise InspectorError(
            "body_undecodable", encoding=encoding, problem=str(error)
        ) from error
    if any(group.spans for group in envelope):
        inbox_add(project_id=project.id, body=body, encoding=encoding)
        ring()


def _refusal(error: InspectorError, encoding: str) -> HttpResponse:
    status = status_of(error)
    told = Status(code=GRPC_CODES.get(status, 3), message=error.message)
    is_protobuf = encoding == PROTOBUF
    content = told.SerializeToString() if is_protobuf else _status_json(told)
    headers = error_headers(error)
    if status == 405:
        headers["Allow"] = "POST"
    return HttpResponse(
        content, status=status, content_type=CONTENT_TYPE_OF[encoding], headers=headers
    )


def _status_json(told: Status) -> bytes:
    return orjson.dumps({"code": told.code, "message": told.message})


# --- the body -------------------------------------------------------------------------
def body_read(request: HttpRequest) -> bytes:
    """The whole body, inflated, within both limits.

    Raises:
        InspectorError: `content_encoding`, `body_too_large`, `body_cut`,
            `length_required`.
    """
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        return b"".join(_sent(request))
    if encoding not in {"gzip", "x-gzip"}:
        raise InspectorError("content_encoding", encoding=encoding)
    return inflate(_sent(request), limit_bytes=settings.MAX_INFLATED_BYTES)


def _sent(request: HttpRequest) -> Iterator[bytes]:
    """The body as it is on the wire, in portions.

    Django takes a body without Content-Length for empty, so a chunked one is read from
    the server itself, where that ends it properly.
    """
    is_chunked = "chunked" in request.headers.get("Transfer-Encoding", "").lower()
    if is_chunked and not request.META.get("wsgi.input_terminated"):
        raise InspectorError("length_required")
    source = request.META["wsgi.input"] if is_chunked else request
    limit_bytes = settings.MAX_BODY_BYTES
    total_bytes = 0
    while portion := source.read(READ_BYTES):
        total_bytes += len(portion)
        if total_bytes > limit_bytes:
            raise _too_large(limit_bytes, "as sent", "MAX_BODY_BYTES")
        yield portion


def _too_large(limit_bytes: int, stage: str, setting: str) -> InspectorError:
    return InspectorError(
        "body_too_large", limit_bytes=limit_bytes, stage=stage, setting=setting
    )


def inflate(portions: Iterator[bytes], *, limit_bytes: int) -> bytes:
    """Gunzip any number of members, never holding more than the limit.

    Raises:
        InspectorError: `body_too_large`, `body_cut`.
    """
    out: list[bytes] = []
    total_bytes = 0
    member = zlib.decompressobj(GZIP_WBITS)
    is_open = False
    for portion in portions:
        while portion:
            try:
                piece = member.decompress(portion, READ_BYTES)
            except zlib.error as error:
                raise InspectorError("body_cut", problem=str(error)) from error
            total_bytes += len(piece)
            if total_bytes > limit_bytes:
                raise _too_large(limit_bytes, "when inflated", "MAX_INFLATED_BYTES")
            out.append(piece)
            portion = member.unused_data if member.eof else member.unconsumed_tail
            is_open = not member.eof
            if member.eof:
                member = zlib.decompressobj(GZIP_WBITS)
    if is_open:
        raise InspectorError("body_cut", problem="the gzip stream ends too early")
    return b"".join(out)
