"""Chat completions read: messages, answers, usage, overflow; and what is refused."""

from types import SimpleNamespace

import pytest

from tests.support.sdk import call
from ullage.dialects import dialect_for, openai_chat
from ullage.errors import InvalidMessagesError
from ullage.messages import Message, Usage

LONE_SURROGATE = "cut \ud83d here"


class Model:
    """Like the client's own objects: attributes, and `model_dump`."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def model_dump(self, *, exclude_none=False):
        dumped = {name: dump(value) for name, value in self.__dict__.items()}
        if exclude_none:
            return {name: v for name, v in dumped.items() if v is not None}
        return dumped


def dump(value):
    if isinstance(value, list):
        return [dump(item) for item in value]
    return value.model_dump(exclude_none=True) if isinstance(value, Model) else value


def only(message):
    (read,) = openai_chat.read(message)
    return read


class TestRead:
    @pytest.mark.parametrize(
        ("message", "expected"),
        [
            pytest.param(
                {"role": "system", "content": "be brief"},
                Message("system", ({"type": "text", "content": "be brief"},)),
                id="text",
            ),
            pytest.param(
                {"role": "user", "content": "hi", "name": "ann"},
                Message("user", ({"type": "text", "content": "hi"},), "ann"),
                id="a named user",
            ),
            pytest.param(
                {"role": "assistant", "content": None},
                Message("assistant", ()),
                id="nothing",
            ),
            pytest.param(
                {"role": "assistant", "content": ""},
                Message("assistant", ()),
                id="empty text",
            ),
            pytest.param(
                {"role": "user", "content": ["a", {"type": "text", "text": "b"}]},
                Message(
                    "user",
                    (
                        {"type": "text", "content": "a"},
                        {"type": "text", "content": "b"},
                    ),
                ),
                id="a list of parts",
            ),
            pytest.param(
                {
                    "role": "assistant",
                    "content": "so",
                    "reasoning_content": "hm",
                    "refusal": "no",
                    "tool_calls": [call("a", '{"x": 1}')],
                },
                Message(
                    "assistant",
                    (
                        {"type": "reasoning", "content": "hm"},
                        {"type": "text", "content": "so"},
                        {"type": "refusal", "content": "no"},
                        {
                            "type": "tool_call",
                            "id": "a",
                            "name": "tool_a",
                            "arguments": '{"x": 1}',
                        },
                    ),
                ),
                id="all that an assistant may say",
            ),
            pytest.param(
                {"role": "tool", "tool_call_id": "a", "content": "42", "name": "add"},
                Message(
                    "tool",
                    (
                        {
                            "type": "tool_call_response",
                            "id": "a",
                            "name": "add",
                            "response": "42",
                        },
                    ),
                ),
                id="a result",
            ),
            pytest.param(
                {
                    "role": "tool",
                    "tool_call_id": "a",
                    "content": [{"type": "text", "text": "42"}],
                },
                Message(
                    "tool",
                    (
                        {
                            "type": "tool_call_response",
                            "id": "a",
                            "name": None,
                            "response": [{"type": "text", "content": "42"}],
                        },
                    ),
                ),
                id="a result in parts",
            ),
        ],
    )
    def test_a_message(self, message, expected):
        assert only(message) == expected

    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            (
                {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
                {"type": "uri", "modality": "image", "uri": "https://a/b.png"},
            ),
            (
                {"type": "image_url", "image_url": "https://a/b.png"},
                {"type": "uri", "modality": "image", "uri": "https://a/b.png"},
            ),
            (
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                {
                    "type": "blob",
                    "modality": "image",
                    "content": "data:image/png;base64,AA",
                },
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
                {
                    "type": "blob",
                    "modality": "audio",
                    "content": {"data": "AA", "format": "wav"},
                },
            ),
            (
                {"type": "file"},
                {"type": "blob", "modality": "document", "content": None},
            ),
            ({"type": "video_url", "x": 1}, {"type": "video_url", "x": 1}),
            ({"x": 1}, {"x": 1}),
            ({"type": ["?"]}, {"type": ["?"]}),
        ],
    )
    def test_a_part(self, part, expected):
        assert only({"role": "user", "content": [part]}).parts == (expected,)

    def test_the_clients_own_objects(self):
        function = Model(name="add", arguments="{}")
        calls = [Model(id="a", type="function", function=function)]
        message = Model(role="assistant", content=None, tool_calls=calls)
        assert openai_chat.recognises([message])
        assert only(message).call_ids == ("a",)
        assert openai_chat.fingerprint(message) == ("assistant", 0, 1, 2, None)

    @pytest.mark.parametrize(
        ("function", "expected"),
        [
            ({"name": "f", "arguments": {"b": 1, "a": 2}}, '{"a":2,"b":1}'),
            ({"name": "f", "input": "free text"}, "free text"),
            ({"name": "f"}, ""),
            (None, ""),
            ("f", ""),
        ],
        ids=["parsed", "custom tool", "none", "no function", "a name alone"],
    )
    def test_arguments_as_text(self, function, expected):
        message = {
            "role": "assistant",
            "tool_calls": [{"id": "a", "function": function}],
        }
        assert only(message).parts[0]["arguments"] == expected

    def test_a_custom_tools_call(self):
        custom = {"id": "a", "custom": {"name": "shell", "input": "ls"}}
        message = only({"role": "assistant", "tool_calls": [custom]})
        assert message.tool_names == ("shell",)

    def test_the_form_before_tools_pairs_by_name(self):
        function = {"name": "add", "arguments": "{}"}
        asked = only({"role": "assistant", "content": None, "function_call": function})
        given = only({"role": "function", "name": "add", "content": "42"})
        assert asked.call_ids == given.result_ids == ("add",)

    @pytest.mark.parametrize("text", ["a\0b", LONE_SURROGATE, "<|endoftext|>", "\x1b["])
    def test_text_is_taken_as_it_is(self, text):
        assert only({"role": "user", "content": text}).parts[0]["content"] == text


class TestFingerprint:
    BASE = {  # noqa: RUF012 - never changed
        "role": "assistant",
        "content": "text",
        "tool_calls": [call("a", '{"x":1}')],
    }

    @pytest.mark.parametrize(
        "edit",
        [
            {"role": "user"},
            {"content": "longer text"},
            {"content": None},
            {"content": [{"type": "text", "text": "text"}]},
            {"content": ["text"]},
            {"content": [{"type": "x", "n": 12, "none": None}]},
            {"tool_calls": []},
            {"tool_calls": [call("a", '{"x":10}')]},
            {"tool_calls": [*BASE["tool_calls"], call("b")]},
            {"tool_call_id": "a"},
        ],
    )
    def test_edits_that_are_seen(self, edit):
        before = openai_chat.fingerprint(self.BASE)
        assert openai_chat.fingerprint({**self.BASE, **edit}) != before

    @pytest.mark.parametrize(
        "edit", [{"content": "tex!"}, {"tool_calls": [call("b", '{"x":2}')]}]
    )
    def test_edits_of_the_same_length_are_not(self, edit):
        """The price of not reading every message at every call; docs of `sync`."""
        before = openai_chat.fingerprint(self.BASE)
        assert openai_chat.fingerprint({**self.BASE, **edit}) == before


class TestReply:
    MESSAGE = {"role": "assistant", "content": "done", "refusal": None}  # noqa: RUF012

    def reply(self, **fields):
        choices = [{"message": self.MESSAGE, "finish_reason": "stop"}]
        return {"id": "r1", "model": "m-1", "choices": choices, **fields}

    def test_a_completion(self):
        read = openai_chat.read_reply(self.reply(usage={"prompt_tokens": 9}))
        assert read.native == {"role": "assistant", "content": "done"}
        assert read.message == only(self.MESSAGE)
        assert (read.response_id, read.model) == ("r1", "m-1")
        assert read.finish_reasons == ("stop",)
        assert read.usage == Usage(input_tokens=9)

    def test_an_object(self):
        message = Model(role="assistant", content="done")
        choice = Model(message=message, finish_reason="length")
        read = openai_chat.read_reply(Model(id="r", model="m", choices=[choice]))
        assert read.finish_reasons == ("length",)
        assert read.message == only(self.MESSAGE)

    @pytest.mark.parametrize(
        "reply",
        [
            None,
            "done",
            42,
            [],
            {},
            {"choices": None},
            {"choices": []},
            {"choices": "stop"},
            {"choices": ["stop"]},
            {"choices": [{"delta": {"content": "do"}}]},
            {"choices": [{"message": "done"}]},
            {"choices": [{"message": {"role": "assistant", "content": 7}}]},
            {"choices": [{"message": {"role": "assistant", "tool_calls": "a"}}]},
            SimpleNamespace(choices=[]),
        ],
        ids=repr,
    )
    def test_what_is_no_completion_is_none(self, reply):
        assert openai_chat.read_reply(reply) is None

    @pytest.mark.parametrize(
        ("usage", "expected"),
        [
            (None, Usage()),
            ({}, Usage()),
            ("many", Usage()),
            ({"prompt_tokens": None, "completion_tokens": 68}, Usage(None, 68)),
            ({"prompt_tokens": float("nan")}, Usage()),
            ({"prompt_tokens": "9"}, Usage()),
            ({"prompt_tokens": -1, "completion_tokens": True}, Usage()),
            (
                {"prompt_tokens": 9, "prompt_tokens_details": None},
                Usage(9),
            ),
            (
                {"prompt_tokens": 9, "prompt_tokens_details": "cached"},
                Usage(9),
            ),
            (
                {
                    "prompt_tokens": 900,
                    "completion_tokens": 70,
                    "prompt_tokens_details": {"cached_tokens": 800},
                    "completion_tokens_details": {"reasoning_tokens": 60},
                },
                Usage(900, 70, cache_read_tokens=800, reasoning_tokens=60),
            ),
        ],
        ids=repr,
    )
    def test_usage(self, usage, expected):
        """F74, F81, peers 9: missing, partial and NaN are *not reported*."""
        assert openai_chat.read_usage(usage) == expected


class TestShape:
    @pytest.mark.parametrize(
        ("message", "words"),
        [
            ("hello", "is str; expected a mapping"),
            (None, "is NoneType; expected a mapping"),
            (7, "is int; expected a mapping"),
            (["user", "hi"], "is list; expected a mapping"),
            ({}, "has role None; expected one of assistant, developer"),
            ({"role": "model", "content": "hi"}, "has role 'model'"),
            ({"role": ["user"], "content": "hi"}, "has role ['user']"),
            ({"role": "user", "content": 5}, "has content that is int"),
            ({"role": "user", "content": {"text": "hi"}}, "has content that is dict"),
            ({"role": "user", "content": b"hi"}, "has content that is bytes"),
            ({"role": "user", "content": ["a", 5]}, "has a part that is int"),
            (
                {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
                "has a part of type 'tool_result', which is another provider's",
            ),
            (
                {"role": "assistant", "tool_calls": "a"},
                "has tool_calls that are no list",
            ),
            ({"role": "assistant", "tool_calls": {"id": "a"}}, "has tool_calls"),
            ({"role": "assistant", "tool_calls": ["a"]}, "has tool_calls"),
        ],
    )
    def test_what_it_is_not_is_named_with_its_place(self, message, words):
        messages = [{"role": "user", "content": "hi"}, message]
        assert not openai_chat.recognises(messages)
        with pytest.raises(InvalidMessagesError) as caught:
            dialect_for(messages)
        assert str(caught.value).startswith(f"message 1 {words}")
        assert caught.value.position == 1

    @pytest.mark.parametrize(
        ("messages", "words"),
        [
            ([], "is empty"),
            ((), "is empty"),
            ("hello", "is str"),
            (b"hello", "is bytes"),
            (None, "is NoneType"),
            ({"role": "user", "content": "hi"}, "is dict"),
            (iter([]), "is list_iterator"),
        ],
        ids=["list", "tuple", "text", "bytes", "none", "one message", "iterator"],
    )
    def test_what_is_no_list_of_messages_is_told_so(self, messages, words):
        with pytest.raises(InvalidMessagesError, match=f"^messages {words}") as caught:
            dialect_for(messages)
        assert caught.value.position is None

    @pytest.mark.parametrize("role", sorted(openai_chat.ROLES))
    def test_every_role_is_taken(self, role):
        assert dialect_for([{"role": role, "content": "hi"}]) is openai_chat


class TestWrite:
    def test_a_note(self):
        assert openai_chat.note("x") == {"role": "user", "content": "x"}

    def test_a_result(self):
        assert only(openai_chat.result("a", "42")).result_ids == ("a",)

    def test_a_definition(self):
        parameters = {"type": "object"}
        definition = openai_chat.tool_definition("add", "adds", parameters)
        assert definition["function"] == {
            "name": "add",
            "description": "adds",
            "parameters": parameters,
        }


class TestOverflow:
    def error(self, text, code="context_length_exceeded"):
        error = RuntimeError(text)
        error.code = code
        return error

    @pytest.mark.parametrize(
        ("text", "limit", "asked"),
        [
            (
                "This model's maximum context length is 8192 tokens. However, your "
                "messages resulted in 9000 tokens.",
                8192,
                9000,
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you "
                "requested 9500 tokens (9000 in the messages, 500 in the completion).",
                8192,
                9500,
            ),
            ("too long", None, None),
        ],
    )
    def test_its_numbers_are_read(self, text, limit, asked):
        error = openai_chat.overflow_of(self.error(text))
        assert (error.limit_tokens, error.asked_tokens) == (limit, asked)
        assert text in str(error)

    @pytest.mark.parametrize("code", [None, "rate_limit_exceeded", 400])
    def test_anything_else_is_not_an_overflow(self, code):
        """F116: "too many tokens" may be a rate limit."""
        error = self.error("too many tokens, please wait", code)
        assert openai_chat.overflow_of(error) is None
        assert openai_chat.overflow_of(ValueError("context_length_exceeded")) is None
