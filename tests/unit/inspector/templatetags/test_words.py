"""Codes read as words, and no character of untrusted text can hide itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.runs.timeline import timeline
from inspector.templatetags import words
from inspector.web.pages.wording import MARKS, OUTCOMES, mark_of, outcome_of, plan_words
from tests.support.records import call_row, drop, prune_row, span_row


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("\x00\x1b[31m", "␀␛[31m"),
        ("\x7f\x85", "␡⟨U+0085⟩"),
        ("abc\u202edcba", "abc⟨U+202E⟩dcba"),
        ("\ufeffa\u200bb", "⟨U+FEFF⟩a⟨U+200B⟩b"),
        ("a\ud800", "a⟨U+D800⟩"),
        (None, ""),
        (7, "7"),
    ],
)
def test_unseen_characters_are_made_visible(text, shown):
    assert words.visible(text) == shown


@given(st.text(max_size=60))
def test_nothing_unseen_is_left_over(text):
    shown = words.visible(text)

    assert not words.CONTROLS.search(shown)
    assert not words.INVISIBLES.search(shown)


@pytest.mark.parametrize(
    ("status", "reason", "word"),
    [
        ("ended", "completed", "Completed"),
        ("ended", "context_truncated", "Context truncated"),
        ("running", "", "Running"),
        ("lost", "completed", "Lost"),
        ("ended", "made_up", "Unknown end"),
        ("", "", "Unknown end"),
    ],
)
def test_every_end_has_a_word(status, reason, word):
    assert outcome_of(status, reason).word == word


def test_every_end_and_every_mark_has_a_shape_of_its_own():
    for told in (OUTCOMES, MARKS):
        shapes = [one.shape for one in told.values()]
        assert len(set(shapes)) == len(shapes)


def test_an_unknown_mark_is_shown_by_its_name():
    assert mark_of("half_eaten").word == "half eaten"


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ((), "changed nothing that was recorded"),
        ((drop(3, 1240, "grep"),), "dropped 1 turn (−1,240 tokens): grep"),
        (
            (drop(3, 1000, "grep"), drop(4, 500, "grep"), drop(5, 1, "read")),
            "dropped 3 turns (−1,501 tokens): grep ×2, read",
        ),
    ],
)
def test_a_prune_is_told_in_words(actions, said):
    assert plan_words(prune_row(4, *actions)) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (call_row(index=3), "Call 3 · no figures"),
        (
            call_row(
                index=7, input_tokens=4980, estimate_tokens=5210, drift=5210 / 4980
            ),
            "Call 7 · 4,980 tokens counted · 5,210 estimated (5 % over)",
        ),
    ],
)
def test_a_call_is_told_in_a_line(call, said):
    assert words.call_words(call).replace("\u202f", " ") == said


def test_a_row_of_a_sub_agent_opens_no_call_of_this_run():
    spans = [span_row("r", "run", 0, 0, 9), span_row("s", "run", 1, 0, 9)]
    own, sub = timeline(spans, "r", limit=9).rows

    assert words.span_link(own) == words.span_link(sub) == ""


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"model": "m", "input_tokens": 4000, "output_tokens": 8}, "4,000 in · 8 out"),
        ({"outcome": "fell_back", "actions": 1}, "fell back · 1 change"),
        ({"made_up": 0.12345}, "made up 0.123"),
        ({"status": 200, "host": "a\x00b"}, "200 · a␀b"),
    ],
)
def test_facts_of_a_row_are_short(facts, said):
    assert words.fact_words(facts) == said
