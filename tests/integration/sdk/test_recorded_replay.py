"""A run recorded without content replays to the very same plans."""

import json

import openai
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import ullage
from tests.support.standin import Model, StandIn, calls, say
from ullage import semconv
from ullage.simulation import merged, recorded_calls, replay

WORDS = "the quick brown fox jumps over the lazy dog "
TOOL_PARAMETERS = {"type": "object", "properties": {"page": {"type": "integer"}}}


@pytest.fixture
def spans():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider, exporter
    provider.shutdown()


def _read(page):
    return f"page {page}: " + WORDS * (20 + 37 * (page % 5))


def _reader(pages, batch):
    """A model that reads so many pages, several at once in every third call."""
    asked = 0

    def script(messages, tools):
        nonlocal asked
        if not tools or asked >= pages:
            return say("Read them all.")
        count = batch if asked % 3 == 0 else 1
        first, asked = asked, asked + count
        return calls(*(("read", {"page": first + i}) for i in range(count)))

    return script


def _run(provider, plans, *, window, script):
    """One run; every plan that was made goes into `plans`."""

    def listen(run_id, event):
        if isinstance(event, ullage.events.Pruned):
            plans.append(event.plan.to_json())

    manager = ullage.ContextWindowManager(
        model="m",
        provider="openai",
        window=window,
        content="structure",
        tracer_provider=provider,
        listeners=[listen],
    )
    with (
        StandIn([Model("m", window, 1024)], script=script) as server,
        openai.OpenAI(
            base_url=server.base_url, api_key="unused", max_retries=0
        ) as client,
    ):

        def model_call(*, messages, tools, max_output_tokens):
            return client.chat.completions.create(
                model="m",
                messages=messages,
                max_completion_tokens=max_output_tokens,
                **({"tools": tools} if tools else {}),
            )

        loop = ullage.ToolLoop(
            model_call,
            tools=[ullage.Tool("read", "Read a page.", TOOL_PARAMETERS, _read)],
            manager=manager,
            max_iterations=18,
            max_output_tokens=400,
        )
        result = loop.run("Read every page of the book.", agent="reader")
        assert server.overflows == 0
        assert not server.violations
    return result


@pytest.mark.parametrize(
    ("window", "pages", "batch"),
    [(4096, 14, 1), (12_000, 40, 3), (9000, 60, 4)],
    ids=["single calls", "parallel calls", "cut by the cap"],
)
def test_replay_gives_identical_plans(spans, window, pages, batch):
    provider, exporter = spans
    plans = []
    _run(provider, plans, window=window, script=_reader(pages, batch))
    attributes = [
        dict(span.attributes)
        for span in exporter.get_finished_spans()
        if span.name.startswith(semconv.SPAN_CHAT)
    ]
    assert semconv.MESSAGES_BODIES not in set().union(*attributes)

    outcomes = replay(recorded_calls(attributes))

    assert plans, "the run must prune, else nothing is shown"
    assert [o.plan.to_json() for o in outcomes if o.plan] == plans
    assert [o.estimate.upper for o in outcomes] == [
        a[semconv.ESTIMATE_TOKENS] for a in _ordered(attributes)
    ]
    assert [o.outside_units for o in outcomes] == [
        a[semconv.DROPPED_UNITS] for a in _ordered(attributes)
    ]


def test_an_object_split_over_elements_is_whole_again():
    elements = [
        json.dumps({"digest": "aa", "role": "user", "call_ids": ["1"], "tools": ["x"]}),
        json.dumps({"digest": "aa", "call_ids": ["2"], "tools": ["y"]}),
        json.dumps({"digest": "aa", "role": "user", "call_ids": [], "tools": []}),
    ]
    assert merged(elements, key="digest") == [
        {"digest": "aa", "role": "user", "call_ids": ["1", "2"], "tools": ["x", "y"]},
        {"digest": "aa", "role": "user", "call_ids": [], "tools": []},
    ]


def _ordered(attributes):
    return sorted(attributes, key=lambda a: a[semconv.CALL_INDEX])
