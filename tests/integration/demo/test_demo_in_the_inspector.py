"""The inspector reads every demo run whole: nothing dead, no figure of its own."""

from collections import Counter

import pytest

from inspector.domain.demo.rules import recording_read, spans_of
from inspector.domain.ingest.decode import PROTOBUF
from inspector.domain.ingest.services import inbox_add
from inspector.store.inbox import DeadLetter
from inspector.store.runs import Call, Run
from tests.factories import cast_make, settle
from tests.support.demo.recordings import FOLDER


@pytest.fixture
def project(db):
    return cast_make().project


def test_all_runs_arrive_with_their_calls_and_endings(project):
    requests = [
        request
        for path in FOLDER.glob("*.otlp.gz")
        for request in recording_read(path.read_bytes())
    ]
    for request in requests:
        body = request.SerializeToString()
        inbox_add(project_id=project.pk, body=body, encoding=PROTOBUF)
    settle()
    told = Counter(span.name for request in requests for span in spans_of(request))
    calls = sum(count for name, count in told.items() if name.startswith("chat "))
    assert list(DeadLetter.objects.values_list("reason", "detail")[:5]) == []
    assert Run.objects.count() == len(requests)
    assert Call.objects.count() == calls
    assert sum(run.prune_count for run in Run.objects.all()) == told["ullage.prune"]
    assert all(run.is_ended for run in Run.objects.all())
