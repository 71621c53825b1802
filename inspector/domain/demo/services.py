"""Takes the demo runs out again, and all that only they used."""

from django.db import transaction

from inspector.domain.views.selectors import chunks, links_load
from inspector.store.content import Message, View
from inspector.store.runs import Call, PlanAction, Run
from inspector.store.spans import Span, TraceState


@transaction.atomic
def demo_remove(*, project_id: int) -> int:
    """Remove every demo run of a project; how many there were."""
    demo_runs = Run.objects.filter(project_id=project_id, is_demo=True)
    trace_ids = set(demo_runs.values_list("trace_id", flat=True))
    run_count = demo_runs.count()
    for portion in chunks(trace_ids):
        for table in (PlanAction, Call, Run, Span, TraceState):
            table.objects.filter(project_id=project_id, trace_id__in=portion).delete()
    content_sweep(project_id=project_id)
    return run_count


def content_sweep(*, project_id: int) -> None:
    """Delete views and messages that no call of the project uses any more."""
    used_views: set[str] = set()
    used_messages: set[str] = set()
    calls = Call.objects.filter(project_id=project_id)
    for view_digest, facts, shapes in calls.values_list(
        "view_digest", "facts", "shapes"
    ):
        used_views.add(view_digest)
        used_messages |= {facts["reply_digest"], facts["tools_digest"]}
        used_messages |= {shape["digest"] for shape in shapes["messages"]}
    links = links_load(project_id, used_views - {""})
    for view in links.values():
        used_messages.update(view.added)
    for table, used in ((View, set(links)), (Message, used_messages)):
        here = table.objects.filter(project_id=project_id)
        unused = set(here.values_list("digest", flat=True)) - used
        for portion in chunks(unused):
            here.filter(digest__in=portion).delete()
