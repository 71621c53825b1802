"""What is said of a trace that is being worked off at this very moment."""

import pytest
from django.db import connection

from inspector.domain.ingest.decode import PROTOBUF
from inspector.domain.ingest.selectors import arrival_get
from inspector.domain.ingest.services import inbox_add, inbox_drain
from tests.factories import settle
from tests.support.otlp import WireRun, export, text_message


@pytest.mark.django_db
@pytest.mark.parametrize("place", range(5))
def test_done_is_never_said_before_the_runs_are_there(cast, place):
    run = WireRun()
    run.call([text_message("user", "Hello")])
    run.end()
    body = export(run.spans).SerializeToString()
    inbox_add(project_id=cast.project.pk, body=body, encoding=PROTOBUF)
    inbox_drain()
    asked = 0

    def work_meanwhile(execute, sql, parameters, many, context):
        nonlocal asked
        asked += 1
        if asked == place + 1:
            settle()
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(work_meanwhile):
        told = arrival_get(project_id=cast.project.pk, trace_id=run.trace_id)
    assert asked > place
    assert told.is_pending or told.run_ids == (run.run_id,)
