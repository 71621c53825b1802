"""Which messages stand and fall together, what is pinned, and what goes first."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.sdk import ANY_ENTRIES, entries
from ullage.units import answers, group, head_length


def shown(notation, pins=()):
    """Units in the order in which they go, as (kind, positions); pinned ones last."""
    groups = group(entries(notation, pins=pins))
    free = [(g.kind, g.positions) for g in groups if not g.is_pinned]
    return free, {g.positions for g in groups if g.is_pinned}


@pytest.mark.parametrize(
    ("notation", "free", "pinned"),
    [
        pytest.param("U", [], {(0,)}, id="one message"),
        pytest.param("S U A", [], {(0,), (1,), (2,)}, id="head and newest"),
        pytest.param(
            "S U A[a] T(a) A", [("step", (2, 3))], {(0,), (1,), (4,)}, id="a step"
        ),
        pytest.param(
            "U A[a,b,c] T(b) T(c) T(a) A",
            [("step", (1, 2, 3, 4))],
            {(0,), (5,)},
            id="a parallel step in any order",
        ),
        pytest.param(
            "U A U A U",
            [("single", (1,)), ("exchange", (2, 3))],
            {(0,), (4,)},
            id="an exchange; the first question stays without its answer",
        ),
        pytest.param(
            "U A U A[a] T(a) A U",
            [("single", (1,)), ("step", (3, 4)), ("exchange", (2, 5))],
            {(0,), (6,)},
            id="an exchange goes after its steps",
        ),
        pytest.param(
            "U A U A[a] A T(a) U",
            [("single", (1,)), ("step", (3, 5)), ("exchange", (2, 4))],
            {(0,), (6,)},
            id="also where a step's result comes after the answer",
        ),
        pytest.param(
            "U A U A A U",
            [("single", (1,)), ("single", (3,)), ("exchange", (2, 4))],
            {(0,), (5,)},
            id="the last plain answer closes an exchange",
        ),
        pytest.param(
            "U U A[a] T(a) U",
            [("single", (1,)), ("step", (2, 3))],
            {(0,), (4,)},
            id="a question without an answer is single",
        ),
        pytest.param(
            "S D U A S A",
            [("single", (3,)), ("single", (4,))],
            {(0,), (1,), (2,), (5,)},
            id="a system message inside is no head",
        ),
        pytest.param(
            "U A[a] U T(a) A U",
            [("step", (1, 3)), ("exchange", (2, 4))],
            {(0,), (5,)},
            id="a late result stays with its step",
        ),
        pytest.param(
            "U A[a] T(a) A[a] T(a) A",
            [("step", (1, 2)), ("step", (3, 4))],
            {(0,), (5,)},
            id="ids that come back",
        ),
        pytest.param(
            "U A[a] T(a) T(a) A",
            [("step", (1, 2, 3))],
            {(0,), (4,)},
            id="a result given twice stays with its step",
        ),
        pytest.param(
            "U T(a) A[a] A",
            [("single", (1,))],
            {(0,), (2,), (3,)},
            id="a result before its call answers nothing",
        ),
        pytest.param(
            "U A[a] A U",
            [("single", (2,))],
            {(0,), (1,), (3,)},
            id="a pending call is pinned",
        ),
        pytest.param(
            "U A[a,b] U(a) U(b) A U",
            [("step", (1, 2, 3, 4))],
            {(0,), (5,)},
            id="a message of two units joins them",
        ),
        pytest.param(
            "U A U A A A[a] T(a)",
            [("single", (1,)), ("single", (3,))],
            {(0,), (2,), (4,), (5, 6)},
            id="the last answer so far stays with the last question",
        ),
        pytest.param(
            "A[a] T(a) A[a] T(a)",
            [("step", (0, 1))],
            {(2, 3)},
            id="no user message at all (W31)",
        ),
        pytest.param(
            "S A U",
            [("single", (1,))],
            {(0,), (2,)},
            id="the task is not in the head (W31)",
        ),
    ],
)
def test_units_of(notation, free, pinned):
    assert shown(notation) == (free, pinned)


def test_nothing_has_no_units():
    assert group(()) == ()


def test_what_the_caller_pins_is_pinned_with_its_whole_unit():
    free, pinned = shown("U A[a] T(a) A[b] T(b) A", pins=[2])
    assert free == [("step", (3, 4))]
    assert (1, 2) in pinned


def test_a_pinned_question_forms_no_exchange():
    free, pinned = shown("U A U A U", pins=[2])
    assert free == [("single", (1,)), ("single", (3,))]
    assert (2,) in pinned


@pytest.mark.parametrize(
    ("notation", "pins"),
    [
        pytest.param("U A U A[a] T(a) A U", [3], id="a step that is pinned"),
        pytest.param("U A U A[a] A U", [], id="a step that is pending"),
    ],
)
def test_a_question_stays_while_a_pinned_step_stands_under_it(notation, pins):
    """Else the step would stand under another question (design 1, peers D21)."""
    free, _ = shown(notation, pins=pins)
    assert free == [("single", (1,))]


@pytest.mark.parametrize(
    ("notation", "length"),
    [("A", 0), ("U A", 1), ("S U A", 2), ("S D U U", 3), ("S A U", 1), ("S", 1)],
)
def test_the_head_is_the_system_run_and_a_user_message_behind_it(notation, length):
    assert head_length(entries(notation)) == length


@given(ANY_ENTRIES, st.sets(st.integers(0, 13)))
def test_every_message_is_in_one_unit(notation, pins):
    transcript = entries(notation, pins=pins)
    found = [p for g in group(transcript) for p in g.positions]
    assert sorted(found) == list(range(len(transcript)))
    assert all(list(g.positions) == sorted(g.positions) for g in group(transcript))


@given(ANY_ENTRIES)
def test_a_call_and_its_results_are_in_one_unit(notation):
    transcript = entries(notation)
    unit_of = {p: g for g in group(transcript) for p in g.positions}
    for (position, _), call_position in answers(transcript).items():
        assert unit_of[position] is unit_of[call_position]


@given(ANY_ENTRIES, st.sets(st.integers(0, 13)))
def test_what_may_never_go_is_pinned(notation, pins):
    transcript = entries(notation, pins=pins)
    users = [p for p, entry in enumerate(transcript) if entry.is_user]
    stays = {*users[:1], *users[-1:], len(transcript) - 1}
    stays |= {p for p in pins if p < len(transcript)}
    stays |= set(range(head_length(transcript)))
    pinned = {p for g in group(transcript) if g.is_pinned for p in g.positions}
    assert stays <= pinned


@given(ANY_ENTRIES, st.sets(st.integers(0, 13)))
@example("U A U A[a] A T(a) U", set())
def test_no_answer_ever_stands_under_another_question(notation, pins):
    """However many units go: what the model said to a question that was answered keeps
    this question above it."""
    transcript = entries(notation, pins=pins)
    free = [g for g in group(transcript) if not g.is_pinned]
    for count in range(len(free) + 1):
        gone = {p for g in free[:count] for p in g.positions}
        for opening, closing in closed_questions(transcript):
            said = range(opening + 1, closing + 1)
            said = [p for p in said if transcript[p].role == "assistant"]
            assert opening not in gone or gone.issuperset(said)


def closed_questions(transcript):
    """(question, plain answer) pairs, the answer being the last before the next."""
    users = [p for p, entry in enumerate(transcript) if entry.is_user]
    for opening, following in itertools.pairwise(users):
        plain = [
            p for p in range(opening + 1, following) if transcript[p].is_plain_assistant
        ]
        if plain:
            yield opening, plain[-1]
