"""The tool loop through OpenAI's client and real HTTP: what the server received."""

import openai
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import ullage
from tests.support.standin import Model, StandIn, call, say
from ullage import semconv

WINDOW_TOKENS = 4096
PAGE = "the quick brown fox jumps over the lazy dog. " * 40
TASK = [
    {"role": "system", "content": "You read."},
    {"role": "user", "content": "Read page after page — 京都, “quotes”, \t tabs."},
]


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


def reader(pages):
    """A model that reads so many pages, and is then done; it forgets what it read."""
    left = iter(range(pages))

    def script(messages, tools):
        page = next(left, None)
        return say("done") if page is None else call("read", page=page)

    return script


def endless(messages, tools):
    return call("read", page=1) if tools else say("so far")


def failing(messages, tools):
    raise OSError("the machine is on fire")


def work(server, *, exporter=None, read=lambda page: PAGE, window=None, **settings):
    provider = TracerProvider(shutdown_on_exit=False)
    if exporter is not None:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    bound = window and ullage.ContextWindowManager(
        model="m", provider="openai", window=window, tracer_provider=provider
    )
    tool = ullage.Tool("read", "Reads a page", {"type": "object"}, read)
    with openai.OpenAI(
        base_url=server.base_url, api_key="unused", max_retries=0
    ) as client:

        def ask(*, messages, tools, max_output_tokens):
            offered = {"tools": tools} if tools else {}
            if max_output_tokens:
                offered["max_completion_tokens"] = max_output_tokens
            return client.chat.completions.create(
                model="m", messages=messages, **offered
            )

        loop = ullage.ToolLoop(ask, tools=[tool], manager=bound, **settings)
        return loop.run(TASK, agent="reader")


def serve(script, window_tokens=WINDOW_TOKENS):
    return StandIn([Model("m", window_tokens, 1024)], script=script)


def run_span(exporter):
    (span,) = [s for s in exporter.get_finished_spans() if s.parent is None]
    return span


def test_without_a_manager_the_server_receives_the_full_transcript():
    with serve(reader(6), window_tokens=100_000) as server:
        result = work(server)
        requests = list(server.requests)
    assert (result.reason, result.calls) == ("completed", 7)
    for count, request in enumerate(requests):
        assert request["messages"] == result.transcript[: 2 + 2 * count]
        assert "max_completion_tokens" not in request


def test_with_a_manager_no_request_is_too_long_or_broken():
    with serve(reader(20)) as server:
        result = work(server, window=WINDOW_TOKENS, max_iterations=30)
        assert (server.overflows, server.violations) == (0, {})
        sent = [request["messages"] for request in server.requests]
    assert (result.reason, result.output) == ("completed", "done")
    assert len(sent[-1]) < len(result.transcript) == 2 + 2 * 20 + 1
    assert all(messages[:2] == TASK for messages in sent)
    assert all(message in [*TASK, *result.transcript] for message in sent[-1][3:])


def test_the_answer_s_limit_is_clamped_and_written_back():
    with serve(reader(1)) as server:
        work(server, window=WINDOW_TOKENS, max_output_tokens=3000)
        limits = {request["max_completion_tokens"] for request in server.requests}
    assert limits == {WINDOW_TOKENS // 2}


def test_the_closing_answer_carries_no_tools():
    with serve(endless) as server:
        result = work(server, window=WINDOW_TOKENS, max_iterations=2)
        offered = ["tools" in request for request in server.requests]
    assert (result.reason, result.output) == ("max_iterations", "so far")
    assert offered == [True, True, False]


def test_after_the_terminus_nothing_reaches_the_server(exporter):
    with serve(reader(3)) as server:
        result = work(
            server, exporter=exporter, window=WINDOW_TOKENS, read=lambda page: PAGE * 30
        )
        received = len(server.requests)
    assert (result.reason, result.calls, received) == ("context_truncated", 1, 1)
    assert result.breakdown.free_tokens < 0
    assert result.usage.input_tokens > 0
    assert run_span(exporter).attributes[semconv.RUN_REASON] == "context_truncated"


def test_the_provider_s_overflow_tells_its_limit():
    """The manager believes in a window that the server does not have."""
    with serve(reader(30)) as server:
        result = work(server, window=100_000, max_iterations=30, max_output_tokens=500)
        assert server.overflows == 1
    assert (result.reason, result.is_retryable) == ("context_overflow", False)
    assert result.error.limit_tokens == WINDOW_TOKENS


def test_a_server_s_failure_may_be_retried(exporter):
    with serve(failing) as server:
        result = work(server, exporter=exporter, window=WINDOW_TOKENS)
    assert (result.reason, result.is_retryable) == ("provider_failed", True)
    assert isinstance(result.error, openai.InternalServerError)
    (call_span,) = [s for s in exporter.get_finished_spans() if s.name == "chat m"]
    assert call_span.attributes[semconv.ERROR_TYPE] == "InternalServerError"


def test_an_interrupt_goes_through_and_ends_the_run(exporter):
    def interrupted(page):
        raise KeyboardInterrupt

    with serve(reader(1)) as server, pytest.raises(KeyboardInterrupt):
        work(server, exporter=exporter, window=WINDOW_TOKENS, read=interrupted)
    assert run_span(exporter).attributes[semconv.RUN_REASON] == "cancelled"
    names = {span.name for span in exporter.get_finished_spans()}
    assert "execute_tool read" in names
