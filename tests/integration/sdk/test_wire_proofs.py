"""What the wire claims can be proved from the spans alone (docs/wire.md 3 and 4).

Views are chains of digests, bodies hash to them, shapes come once, runs stay apart.
"""

import contextvars
import hashlib
import json
import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import (
    SimpleSpanProcessor,
    SpanExporter,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider

from tests.support.sdk import call
from ullage import semconv
from ullage.attributes import MAX_ELEMENT_CHARS
from ullage.manager import ContextWindowManager
from ullage.messages import Usage

SECRET = "hunter2"
TASK = [
    {"role": "system", "content": "You read logs."},
    {"role": "user", "content": f"The password is {SECRET}."},
]


class BrokenExporter(SpanExporter):
    """Fails at every span."""

    def export(self, spans):
        raise OSError("the disk is full")


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


def provider_of(exporter):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


def step(number, parallel=12):
    ids = [f"call_{number}_{n}_with_a_tail_of_its_own" for n in range(parallel)]
    return [
        {"role": "assistant", "content": None, "tool_calls": [call(i) for i in ids]},
        *(
            {"role": "tool", "tool_call_id": i, "content": f"{i} says " * 9}
            for i in ids
        ),
    ]


def answer(message, prompt_tokens):
    return {
        "id": f"resp-{prompt_tokens}",
        "model": "m",
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 20},
    }


def work(provider, *, agent="a", steps=6, **settings):
    """Steps of twelve parallel calls through a window that holds about three."""
    manager = ContextWindowManager(
        model="m", window=6000, tracer_provider=provider, **settings
    )
    messages = list(TASK)
    with manager.run(agent=agent) as run:
        for number in range(steps):
            fit = run.fit(messages, max_output_tokens=300)
            made = step(number)
            run.observe(answer(made[0], int(fit.estimate.upper * 0.9)))
            messages += made
    return run.id


def redacted(message):
    text = json.dumps(message).replace(SECRET, "***")
    return json.loads(text)


def calls_of(exporter):
    found = [s for s in exporter.get_finished_spans() if s.name == semconv.SPAN_CALL]
    return [
        s.attributes
        for s in sorted(found, key=lambda s: s.attributes[semconv.CALL_INDEX])
    ]


def extended(digest, added):
    for one in added:
        joined = bytes.fromhex(digest) + bytes.fromhex(one)
        digest = hashlib.sha256(joined).digest()[:16].hex()
    return digest


def digests(elements):
    return [json.loads(element)["digest"] for element in elements]


def test_every_view_is_a_chain_upon_an_earlier_one(exporter):
    work(provider_of(exporter))
    known = {"": 0}
    calls = calls_of(exporter)
    for told in calls:
        base, added = told[semconv.VIEW_BASE], told[semconv.VIEW_ADDED]
        assert extended(base, added) == told[semconv.VIEW_DIGEST]
        assert known[base] + len(added) == told[semconv.VIEW_LENGTH]
        known[told[semconv.VIEW_DIGEST]] = told[semconv.VIEW_LENGTH]
    assert any(told[semconv.DROPPED_UNITS] for told in calls)


def test_shapes_come_once_and_cover_every_message_that_was_sent(exporter):
    work(provider_of(exporter))
    described = set()
    for told in calls_of(exporter):
        new = dict.fromkeys(digests(told[semconv.MESSAGES_SHAPES]))
        assert not described & set(new)
        described.update(new)
        assert set(told[semconv.VIEW_ADDED]) <= described


def test_bodies_hash_to_their_digests_and_are_told_once(exporter):
    work(provider_of(exporter), content="full")
    proved = []
    for told in calls_of(exporter):
        proved += [
            hashlib.sha256(body.encode()).digest()[:16].hex()
            for body in told[semconv.MESSAGES_BODIES]
        ]
        assert set(told[semconv.VIEW_ADDED]) <= set(proved)
        assert told[semconv.REPLY_DIGEST] == proved[-1]
    assert len(proved) == len(set(proved))


def test_what_is_redacted_is_redacted_before_it_is_hashed(exporter):
    work(provider_of(exporter), content="full", redact=redacted)
    bodies = calls_of(exporter)[0][semconv.MESSAGES_BODIES]
    secret = next(body for body in bodies if "password" in body)
    assert "The password is ***." in secret
    digest = hashlib.sha256(secret.encode()).digest()[:16].hex()
    assert digest in calls_of(exporter)[0][semconv.VIEW_ADDED]
    for span in exporter.get_finished_spans():
        assert SECRET not in str(span.attributes)


def test_twelve_parallel_calls_keep_within_the_limits(exporter):
    work(provider_of(exporter), content="full")
    for span in exporter.get_finished_spans():
        assert len(span.attributes) <= 60
        assert span.events == ()
        assert span.instrumentation_scope.schema_url == semconv.SCHEMA_URL
        for name, value in span.attributes.items():
            if isinstance(value, tuple) and name != semconv.MESSAGES_BODIES:
                assert all(len(str(item)) <= MAX_ELEMENT_CHARS for item in value), name
    assert any(
        len(told[semconv.MESSAGES_SHAPES])
        > len(set(digests(told[semconv.MESSAGES_SHAPES])))
        for told in calls_of(exporter)
    )


def test_each_prune_is_a_record_at_info_level(exporter, caplog):
    with caplog.at_level("INFO", logger="ullage"):
        work(provider_of(exporter))
    prunes = [s for s in exporter.get_finished_spans() if s.name == semconv.SPAN_PRUNE]
    records = [r for r in caplog.records if r.getMessage().startswith("pruned")]
    assert len(records) == len(prunes) > 0


def test_an_exporter_that_fails_is_survived():
    work(provider_of(BrokenExporter()))


def test_without_an_sdk_runs_still_have_ids_of_their_own():
    ids = {work(NoOpTracerProvider()) for _ in range(2)}
    assert len(ids) == 2
    assert all([len(part) for part in i.split("-")] == [32, 16] for i in ids)


def test_a_run_may_be_ended_in_another_context(exporter):
    manager = ContextWindowManager(model="m", tracer_provider=provider_of(exporter))
    run = contextvars.copy_context().run(manager.run, agent="a")
    run.fit(TASK)
    run.observe(Usage(input_tokens=9))
    run.end()
    assert {span.name for span in exporter.get_finished_spans()} == {
        "invoke_agent a",
        "ullage.call",
        "ullage.calibrate",
    }


def test_runs_in_threads_keep_their_spans_apart(exporter):
    provider, ids = provider_of(exporter), {}
    both = threading.Barrier(2)

    def one(agent):
        both.wait()
        ids[agent] = work(provider, agent=agent)

    threads = [threading.Thread(target=one, args=(name,)) for name in ("x", "y")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spans = exporter.get_finished_spans()
    for agent, run_id in ids.items():
        (root,) = [s for s in spans if s.name == f"invoke_agent {agent}"]
        mine = [s for s in spans if s.attributes[semconv.RUN_ID] == run_id]
        children = [s for s in mine if s is not root]
        assert {s.parent.span_id for s in children} == {root.context.span_id}
        assert root.attributes[semconv.RUN_CALLS] == 6
    assert len(spans) == sum(
        s.attributes[semconv.RUN_ID] in ids.values() for s in spans
    )
