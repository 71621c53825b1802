"""The stand-in's count: known numbers, the documented framing, nothing left out."""

import json

import pytest

from tests.support.standin.tokens import (
    IMAGE_LOW_DETAIL_TOKENS,
    IMAGE_TOKENS,
    count_prompt_tokens,
    count_reply_tokens,
    count_text_tokens,
    cut_text,
)

PRIMING = 3
FRAME = 3  # beside the role, which is one token

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read", "arguments": '{"path": "a.txt"}'},
}
TOOL = {
    "type": "function",
    "function": {"name": "read", "description": "Read a file.", "parameters": {}},
}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
        ("<|endoftext|>", 7),
        ("a\x00b", 3),
    ],
)
def test_texts_cost_what_o200k_says(text, tokens):
    assert count_text_tokens(text) == tokens


def test_the_corpus_costs_what_was_measured(shared_data):
    """Every text of the corpus comes out as the study counted it with o200k."""
    corpus = shared_data / "corpus"
    counts = json.loads((corpus / "counts.json").read_text())
    measured = {name: entry["tokens"]["o200k"] for name, entry in counts.items()}
    texts = {name: (corpus / "texts" / name).read_bytes().decode() for name in counts}
    assert {name: count_text_tokens(text) for name, text in texts.items()} == measured


def test_special_tokens_are_plain_text():
    """The marker costs what its characters cost, never the one token that it names."""
    assert count_text_tokens("<|endoftext|>") > 1
    assert count_text_tokens("<|im_start|>") > 1


def test_an_empty_prompt_costs_its_priming():
    assert count_prompt_tokens([]) == PRIMING


def test_a_message_costs_its_text_its_role_and_its_frame():
    messages = [{"role": "user", "content": "hello world"}]
    assert count_prompt_tokens(messages) == PRIMING + FRAME + 1 + 2


@pytest.mark.parametrize(
    ("bare", "fuller", "extra"),
    [
        ({"role": "user"}, {"name": "hello world"}, 1 + 2),
        ({"role": "tool"}, {"tool_call_id": "hello world"}, 1 + 2),
        ({"role": "assistant"}, {"refusal": "hello world"}, 1 + 2),
        ({"role": "assistant"}, {"audio": None, "annotations": []}, 0),
        ({"role": "user"}, {"content": [{"type": "text", "text": "hello world"}]}, 2),
    ],
    ids=["name", "call id", "refusal", "empty fields", "text part"],
)
def test_each_further_field_is_counted(bare, fuller, extra):
    without = count_prompt_tokens([bare])
    assert count_prompt_tokens([bare | fuller]) == without + extra


@pytest.mark.parametrize(
    ("detail", "tokens"), [("low", IMAGE_LOW_DETAIL_TOKENS), ("high", IMAGE_TOKENS)]
)
def test_a_picture_costs_its_fixed_price(detail, tokens):
    picture = {"url": "data:image/png;base64," + "A" * 9_000, "detail": detail}
    message = {"role": "user", "content": [{"type": "image_url", "image_url": picture}]}
    assert count_prompt_tokens([message]) == PRIMING + FRAME + 1 + tokens


def test_a_call_costs_its_id_its_name_and_its_arguments():
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    texts = ("call_1", "read", '{"path": "a.txt"}')
    call_tokens = 1 + sum(count_text_tokens(text) for text in texts)
    assert count_reply_tokens(message) == call_tokens
    assert count_prompt_tokens([message]) == PRIMING + FRAME + 1 + call_tokens


def test_tools_cost_their_compact_json_in_a_frame():
    compact = (
        '{"type":"function","function":'
        '{"name":"read","description":"Read a file.","parameters":{}}}'
    )
    messages = [{"role": "user", "content": "hi"}]
    extra = count_prompt_tokens(messages, [TOOL, TOOL]) - count_prompt_tokens(messages)
    assert extra == FRAME + 1 + 2 * count_text_tokens(compact)
    assert count_prompt_tokens(messages, []) == count_prompt_tokens(messages, None)


def test_an_output_schema_is_counted_and_plain_text_is_free():
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {}}}
    bare = count_prompt_tokens([])
    assert count_prompt_tokens([], None, schema) > bare
    assert count_prompt_tokens([], None, {"type": "text"}) == bare


def test_a_cut_keeps_whole_characters():
    """A cut inside the bytes of an emoji leaves the emoji out."""
    text = "🫠" * 4
    for limit_tokens in range(count_text_tokens(text) + 1):
        kept = cut_text(text, limit_tokens)
        assert text.startswith(kept)
        assert "\N{REPLACEMENT CHARACTER}" not in kept
    assert cut_text(text, 10_000) == text
