"""Normal form, canonical bytes, digests, and the chain of a view (docs/wire.md)."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.messages import (
    EMPTY_VIEW,
    Message,
    Usage,
    canonical_bytes,
    digest_of,
    extend_view,
    view_chain,
    well_formed,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=12,
)
DIGESTS = st.lists(st.binary(min_size=16, max_size=16).map(bytes.hex), max_size=6)


class TestNormalForm:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ('{"b": 1, "a": 2}', {"b": 1, "a": 2}),
            ("[1, 2]", [1, 2]),
            ('"text"', "text"),
            ("{broken", "{broken"),
            ("NaN1", "NaN1"),
            ({"already": "parsed"}, {"already": "parsed"}),
        ],
    )
    def test_arguments_are_parsed_where_they_parse(self, arguments, expected):
        part = {"type": "tool_call", "id": "a", "name": "f", "arguments": arguments}
        message = Message("assistant", (part,))
        assert message.to_dict()["parts"][0]["arguments"] == expected

    @pytest.mark.parametrize("arguments", ["", "{}", "[]", "null", '""', None, {}])
    def test_empty_arguments_are_left_out(self, arguments):
        part = {"type": "tool_call", "id": "a", "name": "f", "arguments": arguments}
        parts = Message("assistant", (part,)).to_dict()["parts"]
        assert parts == [{"type": "tool_call", "id": "a", "name": "f"}]

    def test_null_and_empty_fields_are_left_out_and_zero_is_not(self):
        part = {"type": "x", "a": None, "b": "", "c": [], "d": {}, "e": 0, "f": False}
        message = Message("user", (part,), name="")
        assert message.to_dict() == {
            "role": "user",
            "parts": [{"type": "x", "e": 0, "f": False}],
        }

    def test_a_name_is_kept(self):
        assert Message("user", (), "ann").to_dict()["name"] == "ann"

    def test_nesting_too_deep_to_parse_stays_text(self):
        text = "[" * 100_000
        part = {"type": "tool_call", "arguments": text}
        assert Message("assistant", (part,)).to_dict()["parts"][0]["arguments"] == text


def test_what_a_message_holds():
    message = Message(
        "assistant",
        (
            {"type": "text", "content": "so"},
            {"type": "tool_call", "id": "a", "name": "f"},
            {"type": "tool_call", "id": None, "name": "g"},
            {"type": "tool_call_response", "id": "b", "name": None},
            {"content": "?"},
        ),
    )
    assert message.kinds == ("text", "tool_call", "tool_call_response", "unknown")
    assert message.call_ids == ("a", "")
    assert message.result_ids == ("b",)
    assert message.tool_names == ("f", "g")


class TestCanonicalBytes:
    def test_keys_are_sorted_and_nothing_is_escaped(self):
        assert canonical_bytes({"b": "é\n", "a": [1, None]}) == (
            '{"a":[1,null],"b":"é\\n"}'.encode()
        )

    @given(JSON)
    def test_they_are_utf8_and_the_same_again(self, value):
        body = canonical_bytes(value)
        assert canonical_bytes(json.loads(body)) == body

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("a\ud83db", '"a\ufffdb"'),
            ("\udc00", '"\ufffd"'),
            ("\ud83d\ude00", '"😀"'),
            ({"\ud83d": "\0"}, '{"\ufffd":"\\u0000"}'),
        ],
        ids=["high", "low", "a pair", "key and NUL"],
    )
    def test_lone_surrogates_are_replaced(self, value, expected):
        """F69; two halves that belong together are one character."""
        assert canonical_bytes(value).decode() == expected

    def test_what_json_does_not_know_is_written_as_text(self):
        assert canonical_bytes({"a": {1}.__class__}) == b'{"a":"<class \'set\'>"}'


@given(ANY_TEXT)
def test_well_formed_text_is_utf8_and_keeps_what_was(text):
    told = well_formed(text)
    told.encode()
    if told != text:
        assert "\ufffd" in told or len(told) < len(text)


def test_a_digest_is_half_of_sha256():
    digest = digest_of(b"x")
    assert digest == hashlib.sha256(b"x").hexdigest()[:32]


class TestView:
    def test_its_first_link(self):
        first = digest_of(b"x")
        expected = hashlib.sha256(bytes.fromhex(first)).hexdigest()[:32]
        assert extend_view(EMPTY_VIEW, [first]) == expected

    @given(DIGESTS, DIGESTS)
    def test_a_prefix_extended_is_the_whole(self, first, second):
        prefix = extend_view(EMPTY_VIEW, first)
        assert extend_view(prefix, second) == extend_view(EMPTY_VIEW, first + second)

    @given(DIGESTS)
    def test_a_chain_holds_every_prefix(self, digests):
        chain = view_chain(digests)
        expected = [
            extend_view(EMPTY_VIEW, digests[: n + 1]) for n in range(len(digests))
        ]
        assert list(chain) == expected

    @given(DIGESTS, DIGESTS)
    def test_a_chain_goes_on_from_a_view(self, first, second):
        whole = view_chain(first + second)
        prefix = extend_view(EMPTY_VIEW, first)
        assert view_chain(second, prefix) == whole[len(first) :]


@pytest.mark.parametrize("figure", [-1, 1.0, float("nan"), "9", True, [], {}])
def test_what_is_no_count_is_not_reported(figure):
    assert Usage(figure, figure) == Usage(None, None)


def test_counts_are_reported_and_zero_too():
    usage = Usage(9, 0, 1)
    figures = usage.input_tokens, usage.output_tokens, usage.cache_read_tokens
    assert figures == (9, 0, 1)
