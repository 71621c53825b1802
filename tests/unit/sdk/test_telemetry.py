"""Spans as docs/wire.md lays them out: a golden file of a whole run, and its limits.

`ULLAGE_TEST_WRITE_GOLDEN=1 pytest tests/unit/sdk` writes the golden file again; read
the difference before you keep it, for every byte of it is a promise to the inspector.
"""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator

from tests.support.sdk import messages
from ullage import semconv
from ullage.attributes import MAX_ELEMENT_CHARS, elements
from ullage.dialects import openai_chat
from ullage.errors import ContextTruncatedError
from ullage.manager import ContextWindowManager
from ullage.simulation import merged
from ullage.testing import strict_telemetry

GOLDEN = Path(__file__).parent / "fixtures" / "wire.json"
TOOL = openai_chat.tool_definition("grep", "finds lines", {"type": "object"})
SURROGATE = "cut \ud83d here"


class CountedIds(IdGenerator):
    """1, 2, 3 …"""

    def __init__(self):
        self.count = 0

    def generate_span_id(self):
        self.count += 1
        return self.count

    def generate_trace_id(self):
        return 0xA0


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter):
    provider = TracerProvider(id_generator=CountedIds(), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with strict_telemetry():
        yield provider
    provider.shutdown()


def manager(provider, window=1500, **settings):
    return ContextWindowManager(
        model="gpt-4o",
        provider="openai",
        window=window,
        tracer_provider=provider,
        **settings,
    )


def reply(prompt_tokens, **message):
    return {
        "id": f"resp-{prompt_tokens}",
        "model": "gpt-4o-1",
        "choices": [
            {"message": {"role": "assistant", **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 9},
    }


def whole_run(provider, content):
    """Two calls of the host, a prune, a tool, a call of ours that fails, a terminus."""
    natives = messages("S~9 U~9 A[a] T(a)~200 A[b] T(b)~200")
    with manager(provider, content=content).run(
        agent="triage", conversation_id="c-1"
    ) as run:
        run.fit(natives[:4], tools=[TOOL])
        run.observe(reply(460, content="first"))
        run.tool_started("grep", "b")
        run.tool_ended("b", ValueError("no"))
        run.fit([*natives, *messages("A[d] T(d)~300")], tools=[TOOL], site="tools")
        run.fail(TimeoutError("late"))
        try:
            run.fit([*natives, *messages("U~9000")])
        except ContextTruncatedError:
            return


def told(span):
    attributes = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in sorted((span.attributes or {}).items())
    }
    return {
        "name": span.name,
        "kind": span.kind.name,
        "id": span.context.span_id,
        "parent": span.parent.span_id if span.parent else None,
        "status": [span.status.status_code.name, span.status.description],
        "attributes": attributes,
    }


@pytest.mark.parametrize("content", ["none", "structure", "full"])
def test_the_wire_is_the_golden_file(provider, exporter, content):
    whole_run(provider, content)
    spans = sorted(map(told, exporter.get_finished_spans()), key=lambda s: s["id"])
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if os.environ.get("ULLAGE_TEST_WRITE_GOLDEN"):
        golden[content] = spans
        GOLDEN.parent.mkdir(exist_ok=True)
        text = json.dumps(golden, indent=1, ensure_ascii=False, sort_keys=True)
        GOLDEN.write_text(text + "\n")
    assert spans == golden[content]


def test_every_name_on_the_wire_is_spelled_in_semconv():
    known = {value for name, value in vars(semconv).items() if name.isupper()}
    golden = json.loads(GOLDEN.read_text())
    names = {
        name for spans in golden.values() for s in spans for name in s["attributes"]
    }
    assert names <= known


def test_no_span_has_more_than_60_attributes():
    """Above 128 the oldest vanish."""
    golden = json.loads(GOLDEN.read_text())
    assert max(len(s["attributes"]) for spans in golden.values() for s in spans) <= 60


def test_without_content_nothing_of_a_message_is_told():
    golden = json.loads(GOLDEN.read_text())
    quiet = json.dumps(golden["none"])
    assert "shapes" not in quiet
    assert "digest" not in quiet
    assert "word word" not in json.dumps(golden["structure"])
    assert "word word" in json.dumps(golden["full"])


def test_children_of_the_host_hang_on_the_right_span(provider, exporter):
    """HTTP under the call that we make; under the run where the host makes it."""
    tracer = trace.get_tracer("host", tracer_provider=provider)
    with manager(provider).run() as run:
        run.fit(messages("U"), site="tools")
        tracer.start_span("http of ours").end()
        run.observe(None)
        run.fit(messages("U"))
        tracer.start_span("http of the host").end()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    ours = spans[f"{semconv.SPAN_CHAT} gpt-4o"]
    run_span = spans[semconv.SPAN_INVOKE_AGENT]
    assert spans["http of ours"].parent.span_id == ours.context.span_id
    assert spans["http of the host"].parent.span_id == run_span.context.span_id


def test_a_run_that_ends_early_leaves_no_span_open(provider, exporter):
    run = manager(provider).run()
    run.fit(messages("U"), site="tools")
    run.tool_started("grep", "a")
    run.end("cancelled")
    names = [span.name for span in exporter.get_finished_spans()]
    assert sorted(names) == ["chat gpt-4o", "execute_tool grep", "invoke_agent"]
    assert not trace.get_current_span().get_span_context().is_valid


def test_a_tool_that_was_never_started_ends_nothing(provider, exporter):
    run = manager(provider).run()
    run.tool_ended("x", None)
    run.end()
    assert len(exporter.get_finished_spans()) == 1


@pytest.mark.parametrize("reason", ["context_overflow", "provider_failed"])
def test_a_run_that_failed_says_so(provider, exporter, reason):
    manager(provider).run().end(reason)
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.attributes[semconv.ERROR_TYPE] == reason


def test_lone_surrogates_are_replaced_before_anything_is_set(provider, exporter):
    with manager(provider, content="full").run() as run:
        run.fit([{"role": "user", "content": SURROGATE}])
    for span in exporter.get_finished_spans():
        json.dumps(told(span), ensure_ascii=False).encode()
    (call,) = [s for s in exporter.get_finished_spans() if s.name == "ullage.call"]
    assert "cut \ufffd here" in call.attributes[semconv.MESSAGES_BODIES][0]


def test_a_body_over_a_mebibyte_stays_at_home(provider, exporter):
    with manager(provider, window=4_000_000, content="full").run() as run:
        run.fit([{"role": "user", "content": "x" * (1 << 20)}, *messages("U")])
    (call,) = [s for s in exporter.get_finished_spans() if s.name == "ullage.call"]
    assert len(call.attributes[semconv.MESSAGES_SHAPES]) == 2
    assert len(call.attributes[semconv.MESSAGES_BODIES]) == 1


NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))


@pytest.mark.parametrize("name", ["\x01" * 128, '"' * 500], ids=["control", "quote"])
def test_escapes_do_not_make_an_element_longer(name):
    body = {"digest": "d" * 32, "role": "tool", "tools": [name], "call_ids": ["a"]}
    told = elements(body, ("call_ids", "tools"), key="digest")
    assert max(map(len, told)) <= MAX_ELEMENT_CHARS
    assert name.startswith(merged(told, key="digest")[0]["tools"][0])


@given(NAMES, NAMES)
def test_elements_are_short_and_make_the_whole_again(tools, call_ids):
    body = {"digest": "d" * 32, "role": "tool", "tools": tools, "call_ids": call_ids}
    told = elements(body, ("call_ids", "tools"), key="digest")
    assert merged(told, key="digest") == [body]
    assert all(len(element) <= MAX_ELEMENT_CHARS for element in told)
