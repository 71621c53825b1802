"""Recorded runs: how a recording is read, and moved in time so that it ends now; pure.

A recording is the gzip of OTLP export requests, each behind its length as four bytes,
most significant first. Nothing in it says when it will be shown.
"""

import gzip
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from ullage.semconv import DEMO

LENGTH = struct.Struct(">I")


def recording_read(packed: bytes) -> list[ExportTraceServiceRequest]:
    """The export requests of one recording, in the order they were sent."""
    plain = gzip.decompress(packed)
    requests = []
    place = 0
    while place < len(plain):
        (length,) = LENGTH.unpack_from(plain, place)
        place += LENGTH.size
        requests.append(
            ExportTraceServiceRequest.FromString(plain[place : place + length])
        )
        place += length
    return requests


def recording_write(requests: Iterable[ExportTraceServiceRequest]) -> bytes:
    """The opposite of `recording_read`; the same requests give the same bytes."""
    plain = bytearray()
    for request in requests:
        body = request.SerializeToString(deterministic=True)
        plain += LENGTH.pack(len(body)) + body
    return gzip.compress(bytes(plain), compresslevel=9, mtime=0)


def make_current(requests: Sequence[ExportTraceServiceRequest], *, now_ns: int) -> None:
    """Move all requests together so that their last span ends now, and label them."""
    spans = [span for request in requests for span in spans_of(request)]
    shift_ns = now_ns - max((span.end_time_unix_nano for span in spans), default=now_ns)
    for span in spans:
        span.start_time_unix_nano += shift_ns
        span.end_time_unix_nano += shift_ns
        for event in span.events:
            event.time_unix_nano += shift_ns
    for request in requests:
        for group in request.resource_spans:
            group.resource.attributes.add(key=DEMO).value.bool_value = True


def trace_ids_of(requests: Iterable[ExportTraceServiceRequest]) -> set[str]:
    """The traces of a recording."""
    return {span.trace_id.hex() for request in requests for span in spans_of(request)}


def spans_of(request: ExportTraceServiceRequest) -> Iterator[Any]:
    """Every span of a request."""
    for resource_spans in request.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            yield from scope_spans.spans
