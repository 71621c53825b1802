"""What the SDK writes is what the inspector reads: no hand-made spans in between."""

import dataclasses
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import ullage
from inspector.domain.runs.selectors import call_get, run_get
from inspector.store.inbox import DeadLetter
from tests.factories import take_in

WINDOW_TOKENS = 2400
STEPS = 8


@dataclasses.dataclass
class Told:
    """A run of the SDK: what was sent at each call, and its id in the inspector."""

    run_id: str
    views: list[Any]


def step(number):
    text = f"line {number}: " + "the disk is slow and the queue is long; " * 30
    call = {"name": "read_log", "arguments": f'{{"page":{number}}}'}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"call_{number}", "type": "function", "function": call}
            ],
        },
        {"role": "tool", "tool_call_id": f"call_{number}", "content": text},
    ]


def reply_of(messages, number, prompt_tokens):
    return {
        "id": f"resp-{number}",
        "object": "chat.completion",
        "model": "gpt-5-mini",
        "choices": [
            {"index": 0, "message": messages[0], "finish_reason": "tool_calls"}
        ],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 20},
    }


def sdk_run(content):
    """Eight steps through a window that holds about four."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    manager = ullage.ContextWindowManager(
        model="gpt-5-mini",
        window=WINDOW_TOKENS,
        content=content,
        tracer_provider=provider,
    )
    messages = [
        {"role": "system", "content": "You read logs."},
        {"role": "user", "content": "What is slow?"},
    ]
    views = []
    with manager.run(agent="log-reader") as run:
        for number in range(STEPS):
            fit = run.fit(messages, max_output_tokens=300)
            views.append(list(fit.messages))
            made = step(number)
            run.observe(reply_of(made, number, int(fit.estimate.upper * 0.9)))
            messages += made
        run_id = run.id
    return Told(run_id, views), encode_spans(exporter.get_finished_spans())


@pytest.mark.parametrize("content", ["none", "structure", "full"])
def test_every_level_of_content_gives_the_same_figures(cast, content):
    told, request = sdk_run(content)
    take_in(cast.project, request.SerializeToString())
    detail = run_get(project_id=cast.project.pk, run_id=told.run_id)
    assert not DeadLetter.objects.exists()
    assert (detail.run.agent, detail.run.reason) == ("log-reader", "completed")
    assert (detail.run.call_count, detail.run.usage_call_count) == (STEPS, STEPS)
    assert detail.run.prune_count == len(detail.prunes) > 0
    assert detail.run.pruned_calls == tuple(p.call_index for p in detail.prunes)
    assert 0 < detail.run.peak_fill < 1
    for call in detail.calls:
        parts = dataclasses.astuple(call.breakdown)
        assert sum(parts) == call.estimate_tokens
        assert call.drift == pytest.approx(1.11, abs=0.02)


def test_the_view_that_was_sent_is_the_view_that_is_shown(cast):
    told, request = sdk_run("full")
    take_in(cast.project, request.SerializeToString())
    for index, view in enumerate(told.views):
        call = call_get(project_id=cast.project.pk, run_id=told.run_id, index=index)
        assert [row.role for row in call.sent] == [m["role"] for m in view]
        for row, message in zip(call.sent, view, strict=True):
            (part,) = row.body["parts"]
            text = part.get("content") or part.get("response")
            assert text == message["content"]


def test_intent_is_what_was_observed(cast):
    told, request = sdk_run("structure")
    take_in(cast.project, request.SerializeToString())
    detail = run_get(project_id=cast.project.pk, run_id=told.run_id)
    for prune in detail.prunes:
        call = call_get(
            project_id=cast.project.pk, run_id=told.run_id, index=prune.call_index
        )
        dropped = {d for a in prune.actions if a.do == "drop" for d in a.digests}
        gone = {row.digest for row in call.left if row.state == "dropped"}
        assert gone <= dropped
        new = {
            row.digest for unit in call.dropped if unit.is_new for row in unit.messages
        }
        assert new == dropped
        assert len(call.dropped) == call.call.dropped_unit_count
        assert call.calibration["outcome"] in {"anchored", "suspect"}
