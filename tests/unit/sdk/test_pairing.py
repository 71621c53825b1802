"""What a provider would refuse: each kind of defect, and lists that have none."""

from dataclasses import replace

import pytest
from hypothesis import given

from tests.support.sdk import ANY_ENTRIES, WELL_FORMED, entries, ordinals
from ullage.pairing import added_defects, check


def kinds(notation):
    return [(d.position, d.kind, d.call_id) for d in check(entries(notation))]


@pytest.mark.parametrize(
    ("notation", "expected"),
    [
        pytest.param(
            "U A[a,b] T(a) A",
            [(1, "missing_result", "b")],
            id="a missing result",
        ),
        pytest.param("U A[a]", [(1, "pending_tail", "a")], id="calls still running"),
        pytest.param(
            "U A[a,b] T(b)",
            [(1, "pending_tail", "a")],
            id="one of two calls still running",
        ),
        pytest.param(
            "T(a) A",
            [(0, "orphaned_result", "a")],
            id="a result that leads (F01, F06, F11, W35)",
        ),
        pytest.param(
            "S U T(b) A[a] T(a)",
            [(2, "orphaned_result", "b")],
            id="a result in the middle of nowhere",
        ),
        pytest.param(
            "U T(a) A[a] A",
            [(1, "early_result", "a"), (2, "missing_result", "a")],
            id="a result before its call (C13, F29)",
        ),
        pytest.param(
            "U A[a] T(a) T(a)",
            [(3, "duplicate_result", "a")],
            id="a result given twice (C13, F21, F22, W39)",
        ),
        pytest.param(
            "U A[a] T(a) U T(a)",
            [(4, "duplicate_result", "a")],
            id="a result given twice, far apart (W39)",
        ),
        pytest.param(
            "U A[a] U T(a)",
            [(3, "non_adjacent_result", "a")],
            id="a user message in between (F26, F27, W39)",
        ),
        pytest.param(
            "U A[a] A[b] T(b) T(a)",
            [(4, "non_adjacent_result", "a")],
            id="a call in between",
        ),
        pytest.param(
            "U A[a] A[b] T(b)",
            [(1, "missing_result", "a")],
            id="the next call came before the result (W39)",
        ),
        pytest.param(
            "U A[a,a] T(a) T(a)",
            [(1, "duplicate_call", "a"), (3, "duplicate_result", "a")],
            id="one id for two calls of a message",
        ),
        pytest.param("U A[]", [(1, "empty_message", "")], id="an empty answer (F66)"),
    ],
)
def test_defects_of(notation, expected):
    assert kinds(notation) == expected


def test_a_call_without_id_is_a_defect():
    transcript = list(entries("U A[a] T(a)"))
    transcript[1] = replace(transcript[1], call_ids=("",))
    transcript[2] = replace(transcript[2], result_ids=("",))
    assert [d.kind for d in check(transcript)] == ["empty_id"]


@pytest.mark.parametrize(
    "notation",
    [
        "U",
        "S U A[a] T(a) A",
        "U A[a,b,c] T(c) T(a) T(b)",
        "U A[a] T(a) A[a] T(a) A[a] T(a)",
        "U A[a,b] U(a) U(b) A",
    ],
    ids=["one message", "a step", "any order", "ids that come back", "user results"],
)
def test_a_list_in_order_has_no_defects(notation):
    assert check(entries(notation)) == ()


@given(WELL_FORMED)
def test_the_well_formed_has_no_defects(notation):
    assert check(entries(notation)) == ()


def test_defects_say_in_words_where_and_what():
    words = [d.words for d in check(entries("U T(x) A[a,b] T(a) U A[]"))]
    assert words == [
        "message 1 answers no call x",
        "message 2 has no result for b",
        "message 5 is empty",
    ]


def test_a_part_of_unknown_type_is_not_called_ok():
    """F14: a validator that does not know the shape says so."""
    transcript = entries("U A")
    foreign = replace(transcript[1], kinds=("text", "toolUse"))
    assert [(d.kind, d.words) for d in check((transcript[0], foreign))] == [
        (
            "not_validated",
            "message 1 holds a part of type toolUse, which is not validated",
        )
    ]


@given(ANY_ENTRIES)
def test_a_list_adds_no_defect_to_itself(notation):
    transcript = entries(notation)
    assert added_defects(transcript, transcript) == ()


def test_a_cut_through_a_step_adds_defects():
    """Seed B's own test data at budget 50: S U T A T (W35)."""
    transcript = entries("S U A[a] T(a) A[b] T(b)")
    view = [transcript[p] for p in (0, 1, 3, 4, 5)]
    added = added_defects(transcript, view)
    assert [(d.position, d.kind) for d in added] == [(2, "orphaned_result")]


def test_what_was_broken_before_is_not_added():
    transcript = entries("S U T(x) A[a] T(a) A")
    view = [entry for entry in transcript if entry.ordinal not in (3, 4)]
    assert added_defects(transcript, view) == ()
    assert ordinals(view) == (0, 1, 2, 5)


@pytest.mark.parametrize(
    ("notation", "kept"),
    [
        pytest.param("U A[a] S T(c)", (0, 1, 3), id="missing, then a pending tail"),
        pytest.param("T(a) U A[a] U T(a)", (0, 1, 3), id="early, then an orphan"),
    ],
)
def test_a_fault_with_another_name_is_not_added(notation, kept):
    transcript = entries(notation)
    view = [transcript[position] for position in kept]
    assert [d.kind for d in check(view)] != [d.kind for d in check(transcript)]
    assert added_defects(transcript, view) == ()


def test_a_huge_parallel_step_is_checked_in_time():
    """Quadratic in the results of one call, this took seconds."""
    names = [f"c{n}" for n in range(4000)]
    notation = f"U A[{','.join(names)}] " + " ".join(f"T({name})" for name in names)
    assert check(entries(notation)) == ()
