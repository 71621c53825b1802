"""The diff of two views, by content and not by position."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.views.rules import unknown_head, view_diff


@pytest.mark.parametrize(
    ("before", "now", "sent", "left"),
    [
        pytest.param("", "ab", "new new", "", id="the first call is all new"),
        pytest.param("ab", "abc", "kept kept new", "kept kept", id="one was added"),
        pytest.param("abc", "ac", "kept kept", "kept dropped kept", id="one went"),
        pytest.param("abc", "cba", "kept kept kept", "kept kept kept", id="reordered"),
        pytest.param("abca", "bca", "kept kept kept", "dropped kept kept kept",
                     id="of equal messages the oldest goes"),
        pytest.param("ab", "aba", "kept kept new", "kept kept",
                     id="of equal messages the youngest is new"),
    ],
)  # fmt: skip
def test_views_are_compared_as_multisets(before, now, sent, left):
    diff = view_diff(list(before), list(now))
    assert (" ".join(diff.sent), " ".join(diff.left)) == (sent, left)


def test_what_an_earlier_view_held_has_returned():
    diff = view_diff(["a"], ["a", "b", "c"], seen={"b"})
    assert diff.sent == ("kept", "returned", "new")


def test_a_message_that_kept_its_identity_was_altered():
    identities = {"long": (3, "tool"), "stub": (3, "tool"), "other": (4, "tool")}
    diff = view_diff(["a", "long"], ["a", "stub", "other"], identities=identities)
    assert (diff.sent, diff.left) == (("kept", "altered", "new"), ("kept", "altered"))


def test_two_calls_on_the_same_missing_view_share_it():
    head = unknown_head("feed", 2)
    diff = view_diff([*head, "a"], [*head, "a", "b"])
    assert diff.sent == ("kept", "kept", "kept", "new")


def test_nothing_is_called_new_against_a_view_that_never_arrived():
    diff = view_diff(unknown_head("feed", 2), ["a", "b"])
    assert diff.sent == ("not_captured", "not_captured")
    assert diff.left == ("not_captured", "not_captured")


def test_nothing_is_called_dropped_from_a_view_that_never_arrived():
    diff = view_diff(["a", "b"], [*unknown_head("feed", 2), "b"])
    assert diff.left == ("not_captured", "kept")
    assert diff.sent == ("not_captured", "not_captured", "kept")


views = st.lists(st.sampled_from("abcdef"), max_size=12)


@given(before=views, now=views, seen=st.sets(st.sampled_from("abcdef")))
def test_kept_is_what_both_hold_and_the_rest_adds_up(before, now, seen):
    diff = view_diff(before, now, seen=seen)
    common = (Counter(before) & Counter(now)).total()
    assert (len(diff.sent), len(diff.left)) == (len(now), len(before))
    assert Counter(diff.sent)["kept"] == Counter(diff.left)["kept"] == common
    assert set(diff.left) <= {"kept", "dropped"}


@given(view=views)
def test_a_view_does_not_differ_from_itself(view):
    diff = view_diff(view, view)
    assert set(diff.sent) | set(diff.left) <= {"kept"}
