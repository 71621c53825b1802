"""Attributes to facts: our wire, OpenTelemetry GenAI, and spans of neither."""

import json

import pytest

from inspector.domain.ingest.decode import Span
from inspector.domain.ingest.dialects import span_read
from inspector.domain.ingest.dialects.messages import normalise, shape_of_body
from inspector.domain.ingest.facts import CallFacts, SpanFacts
from ullage import semconv
from ullage.messages import canonical_bytes, digest_of, extend_view


def read(name="x", attributes=None, **named):
    """The reading of a span with these attributes."""
    span = Span(
        "ab" * 16, "cd" * 8, "", name, 1, 0, 1, attributes=attributes or {}, **named
    )
    return span_read(span)


def ours(name, **attributes):
    return read(name, {semconv.WIRE: 1, **attributes})


class TestKinds:
    @pytest.mark.parametrize(
        ("name", "attributes", "kind"),
        [
            ("invoke_agent a", {semconv.OPERATION_NAME: "invoke_agent"}, "run"),
            ("chat m", {semconv.OPERATION_NAME: "chat"}, "call"),
            ("x", {semconv.OPERATION_NAME: "generate_content"}, "call"),
            ("x", {semconv.OPERATION_NAME: "embeddings"}, "other"),
            ("x", {semconv.OPERATION_NAME: "execute_tool"}, "tool"),
            ("POST", {"http.request.method": "POST"}, "http"),
            ("POST", {"http.method": "POST"}, "http"),
            ("anything", {}, "other"),
        ],
    )
    def test_foreign_spans(self, name, attributes, kind):
        assert read(name, attributes).facts.kind == kind

    @pytest.mark.parametrize(
        ("name", "attributes", "kind"),
        [
            ("ullage.call", {}, "call"),
            ("ullage.prune", {}, "prune"),
            ("ullage.calibrate", {}, "calibrate"),
            ("ullage.truncate", {}, "terminus"),
            ("chat m", {semconv.OPERATION_NAME: "chat"}, "call"),
            ("execute_tool t", {semconv.OPERATION_NAME: "execute_tool"}, "tool"),
            ("invoke_agent a", {semconv.RUN_ID: f"{'ab' * 16}-{'cd' * 8}"}, "run"),
            (
                "of a later version",
                {semconv.RUN_ID: f"{'ab' * 16}-{'ef' * 8}"},
                "other",
            ),
        ],
    )
    def test_spans_of_ours(self, name, attributes, kind):
        facts = ours(name, **attributes).facts
        assert (facts.kind, facts.source) == (kind, "ullage")

    def test_http_words_leave_out_what_is_not_known(self):
        facts = read("GET", {"http.request.method": "GET", "server.address": "h"}).facts
        assert facts.detail.words == {"method": "GET", "host": "h"}

    def test_a_failed_tool_is_told(self):
        facts = read(
            "t",
            {semconv.OPERATION_NAME: "execute_tool", semconv.TOOL_NAME: "grep"},
            status_code=2,
        ).facts
        assert facts.detail.words == {"tool": "grep", "error": "error"}


class TestWire:
    def test_long_objects_are_put_together_again(self):
        whole = {"unit": 3, "do": "drop", "why": "w", "tokens": [9, 0], "tools": ["a"]}
        rest = {"unit": 3, "tools": ["b"], "messages": ["d" * 32]}
        detail = ours(
            "ullage.prune",
            **{semconv.PLAN_ACTIONS: [json.dumps(whole), json.dumps(rest)]},
        ).facts.detail
        (action,) = detail.actions
        assert (action["tools"], action["digests"]) == (["a", "b"], ["d" * 32])
        assert (action["before_tokens"], action["after_tokens"]) == (9, 0)

    @pytest.mark.parametrize(
        "action",
        ['{"unit":-1,"do":"drop"}', '{"do":"drop"}', '{"unit":3,"do":"dr', "7"],
    )
    def test_an_action_without_a_unit_is_left_out(self, action):
        detail = ours("ullage.prune", **{semconv.PLAN_ACTIONS: [action]}).facts.detail
        assert detail.actions == ()

    def test_a_breakdown_with_a_part_missing_is_none(self):
        detail = ours("ullage.call", **{semconv.BREAKDOWN_TOOLS_TOKENS: 7}).facts.detail
        assert detail.breakdown is None

    def test_zero_dropped_is_not_the_same_as_no_fit(self):
        assert ours("ullage.call").facts.detail.dropped_unit_count is None
        told = ours("ullage.call", **{semconv.DROPPED_UNITS: 0}).facts.detail
        assert told.dropped_unit_count == 0

    def test_a_body_without_a_shape_is_described_by_itself(self):
        body = canonical_bytes({"role": "user", "parts": [{"type": "text"}]})
        digest = digest_of(body)
        reading = ours(
            "ullage.call",
            **{
                semconv.VIEW_DIGEST: extend_view("", [digest]),
                semconv.VIEW_ADDED: [digest],
                semconv.VIEW_BASE: "",
                semconv.MESSAGES_BODIES: [body.decode()],
            },
        )
        (message,) = reading.messages
        assert (message.digest, message.body) == (digest, body)
        assert (message.shape["role"], message.shape["kinds"]) == ("user", ["text"])
        assert (reading.view.digest, reading.problems) == (
            extend_view("", [digest]),
            (),
        )

    def test_tools_come_with_their_digest(self):
        body = canonical_bytes([{"name": "grep"}]).decode()
        digest = digest_of(body.encode())
        reading = ours(
            "ullage.call", **{semconv.TOOLS_BODY: body, semconv.TOOLS_DIGEST: digest}
        )
        assert [message.digest for message in reading.messages] == [digest]
        assert reading.problems == ()

    def test_a_shape_without_a_digest_describes_nothing(self):
        shapes = ['{"role":"user"}', '{"digest":"short","role":"user"}']
        reading = ours("ullage.call", **{semconv.MESSAGES_SHAPES: shapes})
        assert (reading.messages, reading.facts.detail.shapes) == ((), ())

    @pytest.mark.parametrize("digest", ["short", "Z" * 32, 7, "a" * 33])
    def test_a_digest_that_is_none_is_ignored(self, digest):
        reading = ours("ullage.call", **{semconv.VIEW_DIGEST: digest})
        assert (reading.view, reading.facts.detail.view_digest) == (None, "")

    @pytest.mark.parametrize("link", ["short", "ab" * 16])
    def test_a_chain_that_does_not_hold_is_a_problem(self, link):
        attributes = {semconv.VIEW_DIGEST: "cd" * 16, semconv.VIEW_ADDED: [link]}
        reading = ours("ullage.call", **attributes)
        assert reading.view is None
        assert [problem[0] for problem in reading.problems] == ["view_mismatch"]

    def test_facts_survive_the_store(self):
        facts = ours(
            "chat m",
            **{
                semconv.OPERATION_NAME: "chat",
                semconv.RESPONSE_FINISH_REASONS: ["stop"],
                semconv.BREAKDOWN_SYSTEM_TOKENS: 1,
            },
        ).facts
        kept = json.loads(
            json.dumps({**vars_of(facts), "detail": vars_of(facts.detail)})
        )
        assert SpanFacts.from_json(kept) == facts

    def test_figures_of_a_later_version_are_left(self):
        assert CallFacts.from_json({"model": "m", "mood": "good"}) == CallFacts(
            model="m"
        )


def vars_of(value):
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


class TestGenAi:
    def test_older_names_are_read_too(self):
        facts = read(
            "chat m",
            {
                semconv.OPERATION_NAME: "chat",
                "gen_ai.system": "openai",
                semconv.RESPONSE_MODEL: "m-2",
                semconv.USAGE_INPUT_TOKENS: "12.0",
                semconv.RESPONSE_FINISH_REASONS: '["stop"]',
            },
            resource={"deployment.environment": "prod", "service.name": "shop"},
        ).facts
        assert (facts.environment, facts.service) == ("prod", "shop")
        detail = facts.detail
        assert (detail.provider, detail.model, detail.input_tokens) == (
            "openai",
            "m-2",
            12,
        )
        assert detail.finish_reasons == ("stop",)

    @pytest.mark.parametrize(
        "text",
        [
            "This model's maximum context length is 8192 tokens. However, …",
            "prompt is too long: 214783 tokens > 200000 maximum",
            "Your input exceeds the context window of this model.",
            "The input token count (1200) exceeds the maximum number of tokens (1000)",
        ],
    )
    def test_an_overflow_is_known_by_its_words(self, text):
        attributes = {semconv.OPERATION_NAME: "chat", semconv.ERROR_TYPE: "BadRequest"}
        plain = read("chat", attributes, status_code=2, status_message=text)
        assert plain.facts.detail.error_type == "context_overflow"
        event = {"name": "exception", "attributes": {"exception.message": text}}
        within = read("chat", attributes, status_code=2, events=[event])
        assert within.facts.detail.error_type == "context_overflow"

    def test_another_error_keeps_its_name(self):
        attributes = {semconv.OPERATION_NAME: "chat", semconv.ERROR_TYPE: "timeout"}
        assert read("c", attributes, status_code=2).facts.detail.error_type == "timeout"

    def test_tool_definitions_are_measured_however_they_nest(self):
        tools = [{"function": {"name": "a"}}, {"name": "b"}, "odd"]
        reading = read(
            "c",
            {
                semconv.OPERATION_NAME: "chat",
                semconv.TOOL_DEFINITIONS: json.dumps(tools),
            },
        )
        assert [s["name"] for s in reading.facts.detail.tool_shapes] == ["a", "b"]

    def test_content_may_come_as_values_and_not_as_text(self):
        messages = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
        attributes = {semconv.OPERATION_NAME: "chat"}
        as_values = read("c", {**attributes, semconv.INPUT_MESSAGES: messages})
        as_text = read(
            "c", {**attributes, semconv.INPUT_MESSAGES: json.dumps(messages)}
        )
        assert as_values == as_text
        assert as_values.view.length == 1


class TestNormalForm:
    @pytest.mark.parametrize(
        ("sent", "roles"),
        [
            pytest.param(
                [
                    {"role": "assistant", "parts": [{"type": "text", "content": "a"}]},
                    {"role": "assistant", "parts": [{"type": "tool_call", "id": "1"}]},
                ],
                ["assistant"],
                id="assistant messages in a row are one",
            ),
            pytest.param(
                [
                    {
                        "role": "user",
                        "parts": [
                            {"type": "tool_call_response", "id": "1", "result": "x"},
                            {"type": "tool_call_response", "id": "2", "response": "y"},
                            {"type": "text", "content": "go on"},
                        ],
                    }
                ],
                ["tool", "tool", "user"],
                id="results that were packed are split",
            ),
            pytest.param(["odd", None], [], id="what is no message is left out"),
            pytest.param(
                [{"role": None}], ["unknown"], id="a message without anything"
            ),
        ],
    )
    def test_messages_are_split_and_joined(self, sent, roles):
        assert [message.role for message in normalise(sent)] == roles

    @pytest.mark.parametrize(
        ("part", "normal"),
        [
            (
                {"type": "tool_call", "id": None, "name": "f", "arguments": '{"a":1}'},
                {"type": "tool_call", "name": "f", "arguments": {"a": 1}},
            ),
            (
                {"type": "tool_call", "name": "f", "arguments": "{cut"},
                {"type": "tool_call", "name": "f", "arguments": "{cut"},
            ),
            (
                {"type": "tool_call_response", "id": "1", "result": "x"},
                {"type": "tool_call_response", "id": "1", "response": "x"},
            ),
            (
                {"type": "thinking", "content": "hm"},
                {"type": "reasoning", "content": "hm"},
            ),
            ("just text", {"type": "text", "content": "just text"}),
        ],
    )
    def test_parts_have_one_spelling(self, part, normal):
        (message,) = normalise([{"role": "assistant", "parts": [part]}])
        assert message.parts == (normal,)

    def test_content_in_the_older_place_is_found(self):
        text, listed = normalise(
            [
                {"role": "user", "content": "a"},
                {"role": "system", "content": [{"type": "text", "content": "b"}]},
            ]
        )
        assert [text.parts, listed.parts] == [
            ({"type": "text", "content": "a"},),
            ({"type": "text", "content": "b"},),
        ]

    def test_a_prompt_given_apart_is_message_0(self):
        head, _ = normalise(
            [{"role": "user", "content": "a"}], [{"content": "be kind"}]
        )
        assert (head.role, head.parts) == (
            "system",
            ({"content": "be kind", "type": "text"},),
        )

    @pytest.mark.parametrize("body", [b"[]", b"no", b'{"parts": 7}'])
    def test_a_body_that_is_no_message_has_only_a_size(self, body):
        assert shape_of_body(body) == {"bytes": len(body)}
