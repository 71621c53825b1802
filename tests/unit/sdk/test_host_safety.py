"""Whatever goes wrong beside the run, or comes out of a tool, the host goes on."""

import datetime
import json
import logging

import pytest
from opentelemetry.trace import TracerProvider

from tests.support.sdk import call
from ullage.attributes import MAX_ELEMENT_CHARS, shape_elements
from ullage.errors import ConfigurationError
from ullage.events import Shape
from ullage.loop import Tool, ToolLoop
from ullage.manager import ContextWindowManager
from ullage.messages import Usage

TASK = [{"role": "user", "content": "hi"}]


class BrokenProvider(TracerProvider):
    """Has no tracer to give."""

    def get_tracer(self, *args, **kwargs):
        raise RuntimeError("no tracer today")


def work(**settings):
    """One fitted and observed call; the run's id."""
    manager = ContextWindowManager(model="any-model", **settings)
    with manager.run(agent="a") as run:
        fit = run.fit(TASK)
        run.observe(Usage(input_tokens=9))
    assert fit.messages == TASK
    return run.id


def loop(function, *, names=("tool_a",), max_iterations=3):
    """A model that calls one tool once, then is done."""
    answers = [
        {"role": "assistant", "tool_calls": [call("a")]},
        {"role": "assistant", "content": "done"},
    ]
    tools = [Tool(name, "does it", {"type": "object"}, function) for name in names]
    return ToolLoop(
        lambda **request: {"choices": [{"message": answers.pop(0)}]},
        tools=tools,
        max_iterations=max_iterations,
    )


def test_a_tracer_provider_that_fails_is_survived(caplog):
    with caplog.at_level(logging.WARNING, logger="ullage"):
        run_id = work(tracer_provider=BrokenProvider())
    trace_id, _, span_id = run_id.partition("-")
    assert (len(trace_id), len(span_id)) == (32, 16)
    assert "telemetry failed" in caplog.text


def test_a_listener_that_fails_is_survived(caplog):
    heard = []

    def failing(run_id, event):
        raise RuntimeError("not my day")

    with caplog.at_level(logging.WARNING, logger="ullage"):
        work(listeners=[failing, lambda run_id, event: heard.append(event)])
    assert "not my day" in caplog.text
    assert len(heard) == 5


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (datetime.date(2026, 11, 30), '"2026-11-30"'),
        ({"city": "京都"}, '{"city": "京都"}'),
        ("half \ud83d", "half \ufffd"),
    ],
    ids=["a date", "not ascii", "a lone surrogate"],
)
def test_whatever_a_tool_returns_can_be_sent(returned, told):
    result = loop(lambda: returned).run("go")
    assert result.reason == "completed"
    assert result.transcript[2]["content"] == told


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ConfigurationError, match="one name"):
        loop(str, names=("tool_a", "tool_a"))


@pytest.mark.parametrize("cap", [0, -1])
def test_a_loop_without_a_turn_is_refused(cap):
    with pytest.raises(ConfigurationError, match="above 0"):
        loop(str, max_iterations=cap)


def test_a_tool_name_without_end_keeps_within_an_element():
    shape = Shape(
        digest="d" * 32,
        role="assistant",
        kinds=("tool_call",),
        tools=("long" * 200, "short"),
        call_ids=("call_1", "call_2"),
        body_bytes=9_000,
        tokens=(1, 2),
        unit=3,
        is_pinned=False,
        body=None,
    )
    told = shape_elements(shape)
    assert max(map(len, told)) <= MAX_ELEMENT_CHARS
    assert [json.loads(element)["digest"] for element in told] == ["d" * 32] * len(told)
