"""Runs a scenario through the real tool loop and keeps its spans as OTLP.

Two recordings are equal, byte for byte: ids are drawn from the scenario's name, and
time is the recorder's own, which passes only as the model or a tool takes it.
"""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import openai
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import (
    ReadableSpan,
    Span,
    SpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.id_generator import IdGenerator

from inspector.domain.demo.rules import spans_of
from tests.support.demo.scenario import Scenario, Turn, script_of
from tests.support.standin import Model, Script, StandIn
from ullage import ContextWindowManager, LoopResult, Tool, ToolLoop
from ullage.semconv import ENVIRONMENT
from ullage.testing import strict_telemetry

MS = 1_000_000
FIRST_START_NS = 1_773_000_000_000 * MS
SPREAD_MINUTES = 46 * 60
THINKING_MS = (10 * 60_000, 40 * 60_000)
"""How long a person takes for the next turn of a talk."""
SHOWN_PORT = 8080
MODEL_OUTPUT_CAP_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Recording:
    """A scenario that was run: one request and one result for each of its turns."""

    scenario: Scenario
    requests: tuple[ExportTraceServiceRequest, ...]
    results: tuple[LoopResult, ...]
    overflows: int
    violations: Counter[str]


class Clock:
    """Time that passes only when something says that it took some."""

    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns

    def take(self, ms: float) -> int:
        self.now_ns += int(ms * MS)
        return self.now_ns


class SeededIds(IdGenerator):
    """Trace and span ids that a name decides."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64) | 1

    def generate_trace_id(self) -> int:
        return self._random.getrandbits(128) | 1


class Notebook(SpanProcessor):
    """Keeps finished spans, and when each began and ended by the recorder's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.spans: list[ReadableSpan] = []
        self.times: dict[bytes, list[int]] = {}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        self.times[_span_id(span)] = [self._clock.take(0.2)]

    def on_end(self, span: ReadableSpan) -> None:
        self.times[_span_id(span)].append(self._clock.take(0.2))
        self.spans.append(span)


def record(scenario: Scenario) -> Recording:
    """Run a scenario against a stand-in server of its own."""
    rng = random.Random(scenario.name)
    start_ns = FIRST_START_NS + rng.randrange(SPREAD_MINUTES * 60_000) * MS
    clock, ids = Clock(start_ns), SeededIds(scenario.name)
    is_talk = len(scenario.turns) > 1
    conversation_id = f"conv-{rng.getrandbits(40):010x}" if is_talk else None
    messages: list[Any] = [{"role": "system", "content": scenario.system}]
    requests, results = [], []
    scripts: list[Script] = []
    with strict_telemetry(), _server(scenario) as server:
        headers = server.follow(scenario.name, lambda m, t: scripts[-1](m, t))
        for turn in scenario.turns:
            scripts.append(_timed(turn, clock))
            messages = [*messages, {"role": "user", "content": turn.task}]
            with _bench(scenario, clock, ids) as bench:
                loop = bench.loop(server.base_url, headers)
                result = loop.run(
                    messages,
                    agent=scenario.agent,
                    conversation_id=conversation_id,
                )
            requests.append(_encoded(bench.notebook))
            results.append(result)
            messages = result.transcript
            clock.take(rng.randrange(*THINKING_MS))
        return Recording(
            scenario,
            tuple(requests),
            tuple(results),
            server.overflows,
            server.violations,
        )


def window_tokens_of(scenario: Scenario) -> int:
    """What the model holds."""
    manager = ContextWindowManager(model=scenario.model, window=scenario.window_tokens)
    return manager.window_for(scenario.model).context_tokens


@dataclass(frozen=True, slots=True)
class _Bench:
    """All that one run works with."""

    scenario: Scenario
    notebook: Notebook
    provider: TracerProvider
    http: httpx2.Client
    clock: Clock

    def loop(self, base_url: str, headers: dict[str, str]) -> ToolLoop:
        scenario = self.scenario
        client = openai.OpenAI(
            base_url=base_url,
            api_key="unused",
            max_retries=0,
            http_client=self.http,
            default_headers=headers,
        )

        def ask(
            *,
            messages: list[Any],
            tools: list[dict[str, Any]] | None,
            max_output_tokens: int | None,
        ) -> Any:
            offered: dict[str, Any] = {"tools": tools} if tools else {}
            return client.chat.completions.create(
                model=scenario.model,
                messages=messages,
                max_completion_tokens=max_output_tokens,
                **offered,
            )

        return ToolLoop(
            ask,
            tools=[_slow(tool, self.clock) for tool in scenario.tools],
            manager=ContextWindowManager(
                model=scenario.model,
                provider=scenario.provider,
                window=scenario.window_tokens,
                content="full",
                tracer_provider=self.provider,
            ),
            max_iterations=scenario.max_iterations,
            max_output_tokens=scenario.max_output_tokens,
        )


@contextmanager
def _bench(scenario: Scenario, clock: Clock, ids: IdGenerator) -> Iterator[_Bench]:
    notebook = Notebook(clock)
    provider = TracerProvider(
        resource=Resource(
            {"service.name": scenario.agent, ENVIRONMENT: scenario.environment}
        ),
        id_generator=ids,
        shutdown_on_exit=False,
    )
    provider.add_span_processor(notebook)
    with httpx2.Client(trust_env=False) as http:
        HTTPX2ClientInstrumentor.instrument_client(
            http,  # type: ignore[arg-type]  # annotated for httpx alone
            tracer_provider=provider,
        )
        yield _Bench(scenario, notebook, provider, http, clock)


def _server(scenario: Scenario) -> StandIn:
    tokens = window_tokens_of(scenario)
    model = Model(scenario.model, tokens, min(tokens, MODEL_OUTPUT_CAP_TOKENS))
    return StandIn([model], keep_requests=0)


def _timed(turn: Turn, clock: Clock) -> Script:
    """The turn's script; an answer takes as long as it has tokens."""
    script = script_of(turn)

    def timed(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Any:
        clock.take(350 + 4 * len(messages))
        reply = script(messages, tools)
        clock.take(14 * getattr(reply, "completion_tokens", 0))
        return reply

    return timed


def _slow(tool: Tool, clock: Clock) -> Tool:
    """The same tool; a result takes as long as it is large."""

    def function(**arguments: Any) -> Any:
        clock.take(12)
        result = tool.function(**arguments)
        clock.take(len(str(result)) / 100)
        return result

    return replace(tool, function=function)


def _encoded(notebook: Notebook) -> ExportTraceServiceRequest:
    """The run's spans as they would travel, without a trace of this machine."""
    request: ExportTraceServiceRequest = encode_spans(notebook.spans)
    for span in spans_of(request):
        began, ended = notebook.times[span.span_id]
        span.start_time_unix_nano, span.end_time_unix_nano = began, ended
        for attribute in span.attributes:
            _hide_port(attribute)
    return request


def _hide_port(attribute: Any) -> None:
    """The stand-in takes any free port; a recording always shows the same."""
    if attribute.key in ("server.port", "network.peer.port"):
        attribute.value.int_value = SHOWN_PORT
    elif attribute.key in ("url.full", "http.url"):
        address = httpx2.URL(attribute.value.string_value)
        attribute.value.string_value = str(address.copy_with(port=SHOWN_PORT))


def _span_id(span: ReadableSpan) -> bytes:
    context = span.get_span_context()
    return context.span_id.to_bytes(8, "big") if context else b""
