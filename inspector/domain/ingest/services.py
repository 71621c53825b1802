"""Inbox to rows, rows to runs: the two steps of ingest, each one transaction.

The inbox is the truth and the broker only a bell: whoever calls these, whenever and
however often, the same rows come out.
"""

import logging
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import orjson
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    OperationalError,
    connection,
    transaction,
)
from django.db.models import F, Q

from inspector.domain.ingest.decode import (
    Refused,
    Span,
    envelope_read,
    spans_read,
)
from inspector.domain.ingest.dialects import CONTENT_ATTRIBUTES, span_read
from inspector.domain.ingest.facts import Reading, SpanFacts
from inspector.domain.ingest.fold import Folded, trace_fold
from inspector.domain.ingest.rows import (
    fold_write,
    letters_write,
    messages_write,
    spans_write,
    traces_touch,
    views_write,
)
from inspector.domain.ingest.tree import TraceSpan
from inspector.domain.views.selectors import shapes_load, views_load
from inspector.errors import InspectorError
from inspector.store.inbox import Inbox
from inspector.store.spans import Span as SpanTable
from inspector.store.spans import TraceState

log = logging.getLogger(__name__)

MAX_WAITING_BODIES = 20_000
MAX_ATTEMPTS = 5
FOLD_INTERVAL_SECONDS = 1.0
CLAIM_SECONDS = 60.0


def inbox_add(*, project_id: int, body: bytes, encoding: str) -> None:
    """Keep a body that can be read; when this returns it is committed.

    Raises:
        InspectorError: `inbox_full`, `store_unavailable`.
    """
    inbox_id = f"{time.time_ns():016x}{secrets.token_hex(8)}"
    try:
        waiting = Inbox.objects.filter(project_id=project_id)
        if waiting.order_by("inbox_id")[MAX_WAITING_BODIES:].exists():
            raise InspectorError("inbox_full")
        Inbox.objects.create(
            project_id=project_id, inbox_id=inbox_id, body=body, encoding=encoding
        )
    except DatabaseError as error:
        log.warning("a body could not be kept: %s", error)
        raise InspectorError("store_unavailable") from error


def inbox_drain(*, limit: int = 200) -> int:
    """Work off waiting bodies, oldest first; how many were taken."""
    waiting = Inbox.objects.order_by("inbox_id").values_list("project_id", "inbox_id")
    taken = 0
    for project_id, inbox_id in waiting[:limit]:
        taken += body_take(project_id=project_id, inbox_id=inbox_id)
    return taken


def body_take(*, project_id: int, inbox_id: str) -> bool:
    """Write the rows of one body; False where another worker has it."""
    entry = Inbox.objects.filter(project_id=project_id, inbox_id=inbox_id).first()
    if entry is None:
        return False
    try:
        read = list(_read_all(entry.body, entry.encoding))
        try:
            return _body_write(project_id, inbox_id, read)
        except (DataError, IntegrityError):
            kept = [_tried(project_id, item) for item in read]
            return _body_write(project_id, inbox_id, kept)
    except OperationalError:
        raise  # the store is away; the body waits
    except Exception as error:  # a door: one body must not stop the rest
        log.exception("a body could not be worked off")
        _body_postpone(entry, error)
        return False


def _read_all(body: bytes, encoding: str) -> Iterator[tuple[Span, Reading] | Refused]:
    """Every span with its reading; what a dialect trips over is refused alone."""
    for span in spans_read(envelope_read(body, encoding)):
        if isinstance(span, Refused):
            yield span
            continue
        try:
            yield span, span_read(span)
        except Exception as error:  # its neighbours must live
            log.exception("a span could not be read")
            yield _refuse(span, "span_unreadable", repr(error))


def _refuse(span: Span, reason: str, detail: str, payload: bytes = b"") -> Refused:
    kept = payload or orjson.dumps(dict(span.attributes), default=str)
    return Refused(reason, detail, kept, span.trace_id, span.span_id)


def _body_write(
    project_id: int, inbox_id: str, read: Sequence[tuple[Span, Reading] | Refused]
) -> bool:
    with transaction.atomic():
        mine = Inbox.objects.filter(project_id=project_id, inbox_id=inbox_id)
        if connection.features.has_select_for_update_skip_locked:
            mine = mine.select_for_update(skip_locked=True)
        if not mine.values_list("inbox_id").first():
            return False
        rows_write_all(project_id, read)
        Inbox.objects.filter(project_id=project_id, inbox_id=inbox_id).delete()
    return True


def _tried(
    project_id: int, item: tuple[Span, Reading] | Refused
) -> tuple[Span, Reading] | Refused:
    """The item, refused where the store alone does not take it."""
    if isinstance(item, Refused):
        return item
    try:
        with transaction.atomic():
            rows_write_all(project_id, [item])
            transaction.set_rollback(True)
    except (DataError, IntegrityError) as error:
        return _refuse(item[0], "span_unstorable", str(error))
    return item


def rows_write_all(
    project_id: int, read: Iterable[tuple[Span, Reading] | Refused]
) -> None:
    """Rows of what was read: spans, content, dead letters; their traces are due."""
    refused = [item for item in read if isinstance(item, Refused)]
    good = [item for item in read if not isinstance(item, Refused)]
    for span, reading in good:
        refused += [_refuse(span, *problem) for problem in reading.problems]
    spans_write(project_id, good, content_names=CONTENT_ATTRIBUTES)
    messages_write(project_id, [m for _, reading in good for m in reading.messages])
    views_write(project_id, [r.view for _, r in good if r.view is not None])
    letters_write(project_id, refused, received_at=datetime.now(UTC))
    traces_touch(project_id, {span.trace_id for span, _ in good}, now_ns=time.time_ns())


def _body_postpone(entry: Inbox, error: Exception) -> None:
    """Try a body that trips us again later, a few times; then it is a dead letter."""
    mine = Inbox.objects.filter(project_id=entry.project_id, inbox_id=entry.inbox_id)
    if entry.attempts + 1 < MAX_ATTEMPTS:
        mine.update(attempts=F("attempts") + 1)
        return
    with transaction.atomic():
        letter = Refused("body_unreadable", repr(error), entry.body)
        letters_write(entry.project_id, [letter], received_at=datetime.now(UTC))
        mine.delete()


# --- fold -----------------------------------------------------------------------------
def traces_fold(*, limit: int = 200) -> int:
    """Fold the traces that are due, each once a second at most; how many they were."""
    now_ns = time.time_ns()
    due = TraceState.objects.filter(
        ~Q(dirty=F("folded")),
        folded_ns__lte=now_ns - int(FOLD_INTERVAL_SECONDS * 1e9),
        claimed_ns__lte=now_ns - int(CLAIM_SECONDS * 1e9),
    ).order_by("folded_ns")
    keys = due.values_list("project_id", "trace_id", "dirty")[:limit]
    return sum(trace_refold(project_id=p, trace_id=t, dirty=d) for p, t, d in keys)


def trace_refold(*, project_id: int, trace_id: str, dirty: int) -> bool:
    """Recompute one trace; False where another worker has it or it has moved."""
    state = TraceState.objects.filter(project_id=project_id, trace_id=trace_id)
    now_ns = time.time_ns()
    stale_ns = now_ns - int(CLAIM_SECONDS * 1e9)
    if not state.filter(dirty=dirty, claimed_ns__lte=stale_ns).update(
        claimed_ns=now_ns
    ):
        return False
    try:
        # Read before the spans, so that whatever comes later is seen as a change.
        touched_ns = state.values_list("touched_ns", flat=True).get()
        folded = fold_compute(project_id=project_id, trace_id=trace_id)
        with transaction.atomic():
            fold_write(project_id, trace_id, folded, touched_ns=touched_ns)
            state.filter(dirty=dirty).update(folded=dirty)
    except OperationalError:
        raise
    except Exception:  # a door: one trace must not stop the rest
        log.exception("trace %s could not be folded", trace_id)
        state.update(folded=dirty)  # until the next span, or it would trip for ever
    finally:
        state.update(folded_ns=now_ns, claimed_ns=0)
    return True


def fold_compute(*, project_id: int, trace_id: str) -> Folded:
    """Read a trace's facts and fold them; writes nothing."""
    rows = SpanTable.objects.filter(project_id=project_id, trace_id=trace_id)
    spans = [
        TraceSpan(span_id, parent, start_ns, end_ns, SpanFacts.from_json(facts))
        for span_id, parent, start_ns, end_ns, facts in rows.values_list(
            "span_id", "parent_span_id", "start_ns", "end_ns", "facts"
        )
    ]
    foreign = {
        span.facts.detail.view_digest  # type: ignore[union-attr]
        for span in spans
        if span.facts.kind == "call" and span.facts.source == "genai"
    }
    views = views_load(project_id, foreign - {""})
    shapes = shapes_load(
        project_id, {digest for view in views.values() for digest in view}
    )
    return trace_fold(trace_id, spans, views=views, shapes=shapes)


def claims_release() -> None:
    """Free every claim; for the start of a process that is the only one there is."""
    TraceState.objects.exclude(claimed_ns=0).update(claimed_ns=0)


def ingest_sweep() -> None:
    """Work off what waits: bodies first, then the traces that they made due."""
    while inbox_drain():
        traces_fold()
    traces_fold()
