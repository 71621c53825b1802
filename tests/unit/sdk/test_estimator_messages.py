"""Sizes of messages and tools: all that is sent is counted, media is no text."""

import json

import pytest

from ullage.estimator import (
    MEDIA_TOKENS,
    TABLES,
    TokenRange,
    framing_tokens,
    has_unknown_cost,
    measure_message,
    measure_tool,
)
from ullage.messages import Message

ANY = TABLES["any"]
WORDS = "the quick brown fox jumps over the lazy dog"
BASE64 = "iVBORw0KGgo" * 100_000
IMAGE = {"type": "blob", "modality": "image", "content": BASE64}


def size_of(*parts, name=None):
    return measure_message(Message(role="user", parts=parts, name=name), ANY)


def only_upper(text):
    return TokenRange(0, ANY.measure(text).upper)


def call(**fields):
    return {"type": "tool_call", "id": "", "name": "", "arguments": "", **fields}


def result(response, **fields):
    return {"type": "tool_call_response", "id": "", "response": response, **fields}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "content": WORDS}, ANY.measure(WORDS)),
        ({"type": "text", "content": None}, TokenRange(0, 0)),
        ({"type": "text"}, TokenRange(0, 0)),
        ({"type": "reasoning", "content": WORDS}, only_upper(WORDS)),
        (call(name=WORDS), ANY.measure(WORDS)),
        (call(id=WORDS), only_upper(WORDS)),
        (call(arguments=WORDS), ANY.measure(WORDS)),
        (call(arguments={"q": WORDS}), ANY.measure('{"q":"' + WORDS + '"}')),
        (result(WORDS), ANY.measure(WORDS)),
        (result(None), TokenRange(0, 0)),
        (result("", id=WORDS), only_upper(WORDS)),
        (result("", name=WORDS), ANY.measure(WORDS)),
        (result({"a": [1, 2]}), ANY.measure('{"a":[1,2]}')),
        (result([]), ANY.measure("[]")),
        ({"type": "tool_call_response", "result": WORDS}, ANY.measure(WORDS)),
    ],
)
def test_each_part_counts_what_it_says(part, expected):
    assert size_of(part) == expected


def test_a_message_is_the_sum_of_its_name_and_parts():
    text = {"type": "text", "content": WORDS}
    assert size_of(text, text, name="ada") == (
        ANY.measure("ada") + ANY.measure(WORDS) + ANY.measure(WORDS)
    )


def test_an_empty_message_says_nothing():
    assert size_of() == TokenRange(0, 0)


def test_a_part_of_an_unknown_type_counts_as_json():
    part = {"type": "server_tool_call", "name": "search", "query": {"q": "é"}}
    written = '{"name":"search","query":{"q":"é"},"type":"server_tool_call"}'
    assert size_of(part) == ANY.measure(written)


@pytest.mark.parametrize(
    "part",
    [
        IMAGE,
        {"type": "uri", "modality": "image", "uri": "https://example.org/cat.png"},
        {"type": "file", "modality": "document", "file_id": "file-1"},
        result([IMAGE]),
    ],
    ids=["blob", "uri", "file", "in a result"],
)
def test_media_has_one_price_and_is_never_read_as_text(part):
    assert size_of(part) == TokenRange(0, MEDIA_TOKENS)
    assert has_unknown_cost(Message(role="tool", parts=(part,)))


def test_a_result_of_parts_counts_each_part():
    parts = [{"type": "text", "content": WORDS}, IMAGE]
    assert size_of(result(parts)) == ANY.measure(WORDS) + TokenRange(0, MEDIA_TOKENS)


@pytest.mark.parametrize(
    "response",
    [
        [{"type": "file", "path": "a.py"}],
        [{"type": "text", "content": 1}],
        [{"type": "text", "content": "a"}, "b"],
    ],
)
def test_json_that_resembles_parts_is_counted_as_json(response):
    written = json.dumps(response, separators=(",", ":"))
    assert size_of(result(response)) == ANY.measure(written)
    assert not has_unknown_cost(Message(role="tool", parts=(result(response),)))


def test_a_type_that_is_no_word_is_only_unknown():
    assert size_of({"type": ["text"]}) == ANY.measure('{"type":["text"]}')


def test_text_alone_has_no_unknown_cost():
    parts = ({"type": "text", "content": WORDS}, call(name="f"), result(WORDS))
    assert not has_unknown_cost(Message(role="assistant", parts=parts))


def test_each_message_call_and_result_is_framed():
    parts = ({"type": "text", "content": WORDS}, call(), call(), result(""))
    assert framing_tokens(Message(role="assistant", parts=parts)) == 4 * 16
    assert framing_tokens(Message(role="user", parts=())) == 16


def test_a_tool_counts_as_compact_json_and_less_from_below():
    definition = {"name": "grep", "parameters": {"type": "object"}}
    written = ANY.measure('{"name":"grep","parameters":{"type":"object"}}')
    size = measure_tool(definition, ANY)
    assert size == TokenRange(written.lower * 3 // 10, written.upper)


def test_a_lone_surrogate_in_a_definition_does_not_hide_the_rest():
    broken = {"name": "grep", "description": "\ud800" + WORDS}
    assert measure_tool(broken, ANY).upper > ANY.measure(WORDS).upper
