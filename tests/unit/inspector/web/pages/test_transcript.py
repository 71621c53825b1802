"""Messages of any shape become something to read, and cuts stand where turns stood."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.runs.records import CallDetail, DroppedUnit, MessageRow
from inspector.web.pages.transcript import (
    PART_CHARS,
    Change,
    changes_of,
    entry_of,
    gone_entries,
    parts_of,
    sent_items,
)
from tests.support.records import call_row, run_row

SHORT = st.text("a\n\x00é漢", max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | SHORT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(SHORT, inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = st.sampled_from(
    ["text", "reasoning", "tool_call", "tool_call_response", "blob", "uri", "?"]
)
KEYS = st.sampled_from(["content", "arguments", "response", "name", "id", "uri"])
PARTS = st.builds(
    lambda kind, rest: {**rest, "type": kind}, TYPES, st.dictionaries(KEYS, JSON)
)


def message(digest, unit, state="kept", body=None):
    return MessageRow(
        digest, None, "user", (), ("grep",), (), 9, 5, 7, unit, state, body
    )


def dropped(unit, *, is_new, digest):
    messages = (message(digest, unit, "dropped"),)
    return DroppedUnit(unit, 2, "over_budget", "", 100, 0, is_new, messages)


def call(sent=(), left=(), units=()):
    return CallDetail(
        run_row(), call_row(), tuple(sent), tuple(left), tuple(units), None, (), None,
        None, {},
    )  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from(["role", "parts", "x"]), JSON | st.lists(PARTS | JSON)
    )
)
def test_a_body_of_any_shape_can_be_shown(body):
    entry = entry_of(message("d", 0, body=body))

    assert isinstance(entry.preview, str)
    assert all(isinstance(part.text, str) for part in entry.parts)


@pytest.mark.parametrize(
    ("part", "kind", "label", "text"),
    [
        ({"type": "text", "content": "hi"}, "text", "", "hi"),
        (
            {"type": "tool_call", "id": "c", "name": "grep", "arguments": {"q": "é"}},
            "tool_call",
            "calls grep",
            '{\n  "q": "é"\n}',
        ),
        (
            {"type": "tool_call_response", "id": "c", "response": "found"},
            "tool_call_response",
            "answers c",
            "found",
        ),
        (
            {"type": "blob", "mime_type": "image/png", "content": "A" * 1200},
            "media",
            "image/png",
            "1,200 characters of base64",
        ),
        (7, "other", "unknown part", "7"),
    ],
)
def test_a_part_is_shown_by_its_type(part, kind, label, text):
    (shown,) = parts_of({"role": "user", "parts": [part]}, None)

    assert (shown.kind, shown.label, shown.text) == (kind, label, text)


def test_a_long_part_is_cut_unless_it_is_asked_for_in_full():
    body = {"role": "user", "parts": [{"type": "text", "content": "x" * 25_000}]}

    (short,) = entry_of(message("d", 0, body=body)).parts
    (full,) = entry_of(message("d", 0, body=body), full_digest="d").parts

    assert (len(short.text), short.hidden_chars) == (PART_CHARS, 5_000)
    assert (len(full.text), full.hidden_chars) == (25_000, 0)


def test_a_cut_stands_where_its_turns_stood_old_and_new_apart():
    sent = [message("a", 0), message("b", 1), message("c", 6), message("d", 7, "new")]
    units = [
        dropped(4, is_new=True, digest="x"),
        dropped(5, is_new=True, digest="y"),
        dropped(2, is_new=False, digest="z"),
    ]

    items = sent_items(call(sent, units=units))

    kinds = ["cut" if item.is_cut else item.message.digest for item in items]
    assert kinds == ["a", "b", "cut", "cut", "c", "d"]
    old, new = items[2:4]
    assert (old.turn_count, old.is_new, old.tokens) == (1, False, 100)
    assert (new.turn_count, new.is_new, new.tokens) == (2, True, 200)
    assert new.tools == ("grep",)


def test_a_message_that_left_without_a_plan_is_a_cut_that_says_so():
    sent, gone = [message("a", 0), message("b", 3)], message("x", 1)

    items = sent_items(call(sent, left=[gone]))

    assert [item.is_cut for item in items] == [False, True, False]
    assert (items[1].is_planned, items[1].message_count, items[1].tokens) == (
        False,
        1,
        7,
    )
    assert [entry.message for entry in gone_entries(call(sent, left=[gone]))] == [gone]


def test_a_message_that_was_altered_did_not_leave():
    sent = [message("stub", 1, "altered")]

    assert gone_entries(call(sent, left=[message("whole", 1)])) == []


def test_the_diff_counts_states_in_a_fixed_order():
    sent = [message("a", 0, "new"), message("b", 1), message("c", 2)]

    assert changes_of(call(sent, left=[message("x", 3)])) == [
        Change("kept", 2),
        Change("new", 1),
        Change("dropped", 1),
    ]


def test_our_own_note_is_named_and_its_renewal_is_no_loss():
    renewed = call([message("new note", None, "new")], left=[message("old note", None)])

    (entry,) = sent_items(renewed)

    assert entry.is_note
    assert gone_entries(renewed) == []
    assert changes_of(renewed) == [Change("new", 1)]


def test_a_message_of_another_instrumentation_without_a_unit_is_no_note():
    foreign = replace(
        call([message("a", None)], left=[message("b", None)]),
        run=run_row(source="genai"),
    )

    cut, entry = sent_items(foreign)

    assert (cut.is_planned, entry.is_note) == (False, False)
