"""Real payloads of other instrumentations, against what their provider reported."""

import json
import re

import pytest

from inspector.domain.ingest.decode import JSON, PROTOBUF
from inspector.domain.runs.selectors import call_get, run_get, run_list
from inspector.store.inbox import DeadLetter
from tests.factories import take_in

LETTERS = {"system": "S", "user": "U", "assistant": "A", "tool": "T"}
PACKAGES = [
    "anthropic-2.14.0-sdk-content",
    "opentelemetry-instrumentation-genai-anthropic-1.3b0-messages",
    "opentelemetry-instrumentation-genai-langchain-1.3b0-agent",
    "opentelemetry-instrumentation-genai-openai-1.3b0-chat",
    "opentelemetry-instrumentation-genai-openai-1.3b0-chat-stream",
    "opentelemetry-instrumentation-genai-openai-1.3b0-json",
    "opentelemetry-instrumentation-genai-openai-1.3b0-long",
    "opentelemetry-instrumentation-genai-openai-1.3b0-nocontent",
    "opentelemetry-instrumentation-genai-openai-1.3b0-per-span",
    "opentelemetry-instrumentation-genai-openai-1.3b0-responses",
    "opentelemetry-instrumentation-httpx-0.66b2-chat",
    "opentelemetry-instrumentation-langchain-0.62.4-agent",
    "opentelemetry-instrumentation-openai-0.62.4-chat",
    "opentelemetry-instrumentation-openai-0.62.4-responses",
    "pydantic-ai-slim-2.68.0-v5-anthropic",
    "pydantic-ai-slim-2.68.0-v5-openai-chat",
    "vercel-ai-sdk-7.0.173",
]


def calls_of(project):
    """Every call of every run, opened."""
    for row in run_list(project_id=project.pk, limit=200).rows:
        for call in run_get(project_id=project.pk, run_id=row.run_id).calls:
            yield call_get(project_id=project.pk, run_id=row.run_id, index=call.index)


def found_in(project):
    """(input tokens, output tokens, roles, tools, is an error) of each call."""
    return sorted(
        (
            call.call.input_tokens or 0,
            call.call.output_tokens or 0,
            runs_joined("".join(LETTERS[row.role] for row in call.sent)),
            len(call.tools),
            bool(call.call.error_type),
        )
        for call in calls_of(project)
    )


def expected_of(manifest):
    """The same, of the manifest, in our normal form."""
    return sorted(
        (
            call["input_tokens"] or 0,
            call["output_tokens"] or 0,
            roles_of(call),
            max(call["tool_definitions"] or 0, 0),
            bool(call["error"]),
        )
        for call in manifest["model_calls"]
    )


def roles_of(call):
    """The letters of the manifest; a prompt given apart is message 0."""
    apart = "S" if call["system_apart"] else ""
    return runs_joined(apart + (call["roles"] or ""))


def runs_joined(letters):
    """Emitters pack results together, or part an answer: compare without that."""
    return re.sub(r"([AT])\1+", r"\1", letters)


@pytest.mark.parametrize("package", PACKAGES)
def test_calls_are_those_that_the_provider_saw(cast, shared_data, package):
    folder = shared_data / "otlp" / package
    manifest = json.loads((folder.parent / "manifest.json").read_text())[package]
    for file in sorted(folder.glob("traces-*")):
        if file.suffix != ".gz":
            encoding = JSON if file.suffix == ".json" else PROTOBUF
            take_in(cast.project, file.read_bytes(), encoding)
    assert not DeadLetter.objects.exists()
    assert found_in(cast.project) == expected_of(manifest)
