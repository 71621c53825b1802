"""When working off goes wrong: the rest goes on, and nothing is lost without a word."""

import pytest
from django.db import DataError, OperationalError

from inspector.domain.ingest import rows, services
from inspector.domain.ingest.decode import PROTOBUF
from inspector.domain.ingest.selectors import store_is_ready
from inspector.store.inbox import DeadLetter, Inbox
from inspector.store.runs import Call, Run
from inspector.store.spans import Span, TraceState
from tests.factories import settle, take_in
from tests.support.otlp import WireRun, export, span, text_message


def body_of(*spans):
    return export(spans).SerializeToString()


def a_run(**named):
    run = WireRun(**named)
    run.call([text_message("user", "Hello")])
    run.end()
    return run


def test_a_span_that_no_dialect_can_read_is_refused_alone(cast, monkeypatch):
    def trip(one):
        if one.name == "odd":
            raise ZeroDivisionError("a dialect's own mistake")
        return real(one)

    real = services.span_read
    monkeypatch.setattr(services, "span_read", trip)
    take_in(cast.project, body_of(span("odd"), span("good")))
    assert DeadLetter.objects.get().reason == "span_unreadable"
    assert Span.objects.get().name == "good"


def test_a_span_that_the_store_does_not_take_is_refused_alone(cast, monkeypatch):
    def refuse(project_id, spans, **named):
        if any(one.name == "odd" for one, _ in spans):
            raise DataError("value too long")
        real(project_id, spans, **named)

    real = rows.spans_write
    monkeypatch.setattr(services, "spans_write", refuse)
    take_in(cast.project, body_of(span("odd"), span("good"), span("")))
    assert DeadLetter.objects.get().reason == "span_unstorable"
    assert Span.objects.count() == 2


def test_a_body_that_always_trips_becomes_a_dead_letter(cast, monkeypatch):
    def trip(*spans):
        raise ZeroDivisionError("our own mistake")

    monkeypatch.setattr(services, "spans_read", trip)
    body = body_of(span("x"))
    services.inbox_add(project_id=cast.project.pk, body=body, encoding=PROTOBUF)
    for _ in range(services.MAX_ATTEMPTS - 1):
        services.ingest_sweep()
        assert Inbox.objects.exists()
    services.ingest_sweep()
    assert not Inbox.objects.exists()
    assert bytes(DeadLetter.objects.get().payload) == body


def test_a_store_that_is_away_leaves_the_body_waiting(cast, monkeypatch):
    def away(*given, **named):
        raise OperationalError("database is locked")

    monkeypatch.setattr(services, "spans_write", away)
    body = body_of(span("x"))
    services.inbox_add(project_id=cast.project.pk, body=body, encoding=PROTOBUF)
    with pytest.raises(OperationalError):
        services.ingest_sweep()
    assert Inbox.objects.get().attempts == 0
    monkeypatch.undo()
    settle()
    assert Span.objects.exists()


def test_refused_spans_stay_refused_when_the_store_refuses_others(cast, monkeypatch):
    def refuse(project_id, spans, **named):
        if any(one.name == "odd" for one, _ in spans):
            raise DataError("value too long")

    monkeypatch.setattr(services, "spans_write", refuse)
    without_id = span("no id")
    without_id.span_id = bytes(8)
    take_in(cast.project, body_of(without_id, span("odd")))
    reasons = DeadLetter.objects.values_list("reason", flat=True)
    assert sorted(reasons) == ["span_invalid", "span_unstorable"]


def test_a_body_that_another_worker_took_is_not_taken_again(cast):
    taken = services.body_take(project_id=cast.project.pk, inbox_id="00" * 16)
    assert taken is False


def test_a_body_that_goes_while_it_is_read_writes_nothing(cast, monkeypatch):
    def steal(*given):
        Inbox.objects.all().delete()
        return iter([])

    monkeypatch.setattr(services, "spans_read", steal)
    body = body_of(span("x"))
    services.inbox_add(project_id=cast.project.pk, body=body, encoding=PROTOBUF)
    assert services.inbox_drain() == 0


class TestFold:
    def test_a_claimed_trace_is_left_to_its_worker_until_the_claim_is_stale(self, cast):
        run = a_run()
        body = body_of(*run.spans)
        services.inbox_add(project_id=cast.project.pk, body=body, encoding=PROTOBUF)
        services.inbox_drain()
        TraceState.objects.update(claimed_ns=2**62)
        assert services.traces_fold() == 0
        services.claims_release()
        assert services.traces_fold() == 1
        assert Run.objects.exists()

    def test_a_trace_that_moved_meanwhile_stays_due(self, cast, monkeypatch):
        def compute(**named):
            folded = real(**named)
            TraceState.objects.update(dirty=7)
            return folded

        real = services.fold_compute
        monkeypatch.setattr(services, "fold_compute", compute)
        body = body_of(*a_run().spans)
        services.inbox_add(project_id=cast.project.pk, body=body, encoding=PROTOBUF)
        services.ingest_sweep()
        state = TraceState.objects.get()
        assert (state.dirty, state.folded, state.claimed_ns) == (7, 0, 0)
        assert Run.objects.exists()

    def test_a_trace_that_cannot_be_folded_does_not_stop_the_others(
        self, cast, monkeypatch
    ):
        def trip(trace_id, *given, **named):
            if trace_id == "22" * 16:
                raise ZeroDivisionError("our own mistake")
            return real(trace_id, *given, **named)

        real = services.trace_fold
        monkeypatch.setattr(services, "trace_fold", trip)
        bad, good = a_run(trace_id="22" * 16), a_run(trace_id="33" * 16)
        take_in(cast.project, body_of(*bad.spans, *good.spans))
        assert Run.objects.get().trace_id == good.trace_id
        assert not services.traces_fold()

    def test_a_store_that_is_away_leaves_the_trace_due(self, cast, monkeypatch):
        def away(*given, **named):
            raise OperationalError("no such server")

        take_in(cast.project, body_of(*a_run().spans))
        TraceState.objects.update(dirty=9, folded_ns=0)
        monkeypatch.setattr(services, "fold_compute", away)
        with pytest.raises(OperationalError):
            services.traces_fold()
        state = TraceState.objects.get()
        assert (state.folded < state.dirty, state.claimed_ns) == (True, 0)

    def test_a_claimed_trace_is_not_folded_by_another(self, cast):
        take_in(cast.project, body_of(*a_run().spans))
        state = TraceState.objects.get()
        TraceState.objects.update(claimed_ns=2**62)
        asked = {"project_id": cast.project.pk, "trace_id": state.trace_id}
        assert services.trace_refold(**asked, dirty=state.dirty) is False

    def test_a_trace_is_folded_at_most_once_a_second(self, cast):
        run = a_run()
        take_in(cast.project, body_of(*run.spans))
        services.ingest_sweep()
        late = body_of(span("late", trace_id=run.trace_id))
        services.inbox_add(project_id=cast.project.pk, body=late, encoding=PROTOBUF)
        TraceState.objects.update(folded_ns=2**62)
        services.ingest_sweep()
        assert TraceState.objects.get().folded < TraceState.objects.get().dirty

    def test_what_a_newer_fold_does_not_hold_goes(self, cast):
        """A call that turns out to be part of another one is a call no more."""
        run = WireRun()
        made = run.call([text_message("user", "Hi")], name="ullage.call")
        inner = span(
            "chat m", {"gen_ai.operation.name": "chat"}, parent=made.span_id.hex()
        )
        take_in(cast.project, body_of(inner))
        assert (Call.objects.count(), Run.objects.get().run_span_id) == (1, "")
        take_in(cast.project, body_of(made))
        assert Call.objects.get().span_id == made.span_id.hex()
        assert Run.objects.get().run_span_id == run.run_span_id


def test_a_store_is_ready_when_its_tables_are_there(db, monkeypatch):
    assert store_is_ready()

    def away(*given):
        raise OperationalError("no such server")

    monkeypatch.setattr(
        "django.db.migrations.recorder.MigrationRecorder.applied_migrations", away
    )
    assert not store_is_ready()
