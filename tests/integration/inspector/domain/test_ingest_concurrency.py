"""Many workers at once: every body is taken once, and nobody waits for ever."""

import threading

import pytest
from django.db import DatabaseError, connection

from inspector.domain.ingest.decode import PROTOBUF
from inspector.domain.ingest.services import inbox_add, ingest_sweep
from inspector.domain.runs.selectors import run_get
from inspector.store.content import Message
from inspector.store.inbox import DeadLetter, Inbox
from tests.factories import cast_make, settle
from tests.support.otlp import WireRun, export, text_message

WORKERS = 4
CALLS = 24


@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="the SQLite profile has one worker"
)
@pytest.mark.django_db(transaction=True)
def test_workers_share_one_inbox():
    project = cast_make().project
    run = WireRun()
    messages = [text_message("user", f"message {number}") for number in range(CALLS)]
    for number in range(CALLS):
        run.call(messages[: number + 1])
    run.end()
    for one in reversed(run.spans):  # each body repeats what the others describe
        body = export([one, run.spans[-1]]).SerializeToString()
        inbox_add(project_id=project.pk, body=body, encoding=PROTOBUF)
    failures = []

    def work():
        try:
            ingest_sweep()
        except DatabaseError as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle()
    assert failures == []
    assert (Inbox.objects.count(), DeadLetter.objects.count()) == (0, 0)
    assert Message.objects.count() == CALLS
    detail = run_get(project_id=project.pk, run_id=run.run_id)
    assert [call.index for call in detail.calls] == list(range(CALLS))
