"""Demo runs go, with all that only they used; real ones stay."""

from inspector.domain.demo.selectors import traces_missing
from inspector.domain.demo.services import demo_remove
from inspector.domain.runs.selectors import call_get, run_list
from inspector.store.content import Message, View
from tests.factories import take_in
from tests.support.otlp import WireRun, export, text_message
from ullage.semconv import DEMO


def run_with(text, **named):
    run = WireRun(**named)
    run.call([text_message("user", "shared"), text_message("user", text)])
    run.end()
    return run


def test_only_what_nobody_else_uses_is_removed(cast):
    own, demo = run_with("own"), run_with("demo", trace_id="dd" * 16)
    take_in(cast.project, export(own.spans).SerializeToString())
    take_in(cast.project, export(demo.spans, {DEMO: True}).SerializeToString())
    labels = {
        row.run_id: row.is_demo for row in run_list(project_id=cast.project.pk).rows
    }
    assert labels == {own.run_id: False, demo.run_id: True}
    assert demo_remove(project_id=cast.project.pk) == 1
    (row,) = run_list(project_id=cast.project.pk).rows
    assert row.run_id == own.run_id
    assert (View.objects.count(), Message.objects.count()) == (1, 2)
    sent = call_get(project_id=cast.project.pk, run_id=own.run_id, index=0).sent
    assert all(message.body for message in sent)


def test_missing_traces_are_noticed(cast):
    demo = run_with("demo")
    asked = {"project_id": cast.project.pk, "trace_ids": {demo.trace_id}}
    assert traces_missing(**asked)
    take_in(cast.project, export(demo.spans).SerializeToString())
    assert not traces_missing(**asked)
