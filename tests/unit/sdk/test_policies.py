"""Dropping the oldest: only as much as is needed, down to the mark."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.sdk import unit
from ullage.errors import ConfigurationError
from ullage.plan import Room
from ullage.policies import DropOldest, policy_from

UNITS = st.lists(
    st.tuples(st.integers(0, 500), st.booleans(), st.booleans()), max_size=12
).map(
    lambda drawn: [
        replace(unit(n, size, is_pinned=pinned), is_outside=outside and not pinned)
        for n, (size, pinned, outside) in enumerate(drawn)
    ]
)
ROOMS = st.builds(
    Room, st.integers(-100, 3000), st.integers(0, 500), st.integers(0, 100)
)
POLICIES = st.floats(0.01, 1).map(DropOldest)


def outside_after(units, plan):
    outside = {u.id for u in units if u.is_outside}
    for action in plan.actions:
        (outside.add if action.do == "drop" else outside.discard)(action.unit)
    return outside


def tokens_after(units, room, outside):
    kept = sum(u.tokens for u in units if u.id not in outside)
    return room.fixed_tokens + kept + (room.note_tokens if outside else 0)


def test_what_fits_is_kept():
    units = [unit(n) for n in range(5)]
    plan = DropOldest().plan(units, Room(budget_tokens=500, fixed_tokens=0))
    assert (plan.actions, plan.kept_units) == ((), 5)


def test_equality_fits_and_one_token_more_does_not():
    units = [unit(n) for n in range(5)]
    exact, short = Room(500, 0), Room(499, 0)
    assert not DropOldest().plan(units, exact).actions
    assert DropOldest().plan(units, short).actions


def test_the_oldest_go_down_to_the_mark():
    """10 units of 100 in a budget of 900: kept is what 70 % of it holds."""
    units = [unit(n) for n in range(10)]
    plan = DropOldest().plan(units, Room(budget_tokens=900, fixed_tokens=0))
    assert [a.unit for a in plan.actions] == [0, 1, 2, 3]
    assert (plan.target_tokens, plan.after_tokens) == (630, 600)


def test_what_may_not_go_is_not_charged_to_what_may():
    """Mark = pinned + 0.7 x (budget - pinned): a large head leaves room to keep."""
    units = [unit(0, 500, is_pinned=True), *(unit(n) for n in range(1, 6))]
    plan = DropOldest().plan(units, Room(budget_tokens=900, fixed_tokens=0))
    assert plan.target_tokens == 780
    assert [a.unit for a in plan.actions] == [1, 2, 3]


def test_the_note_is_paid_for():
    units = [unit(n) for n in range(10)]
    plan = DropOldest(low_water=1).plan(units, Room(900, 0, note_tokens=150))
    assert [a.unit for a in plan.actions] == [0, 1, 2]
    assert plan.after_tokens == 850


def test_pinned_units_are_passed_over():
    units = [unit(0), unit(1, is_pinned=True), unit(2), unit(3)]
    plan = DropOldest(low_water=0.01).plan(units, Room(399, 0))
    assert [a.unit for a in plan.actions] == [0, 2, 3]


def test_nothing_more_to_drop_is_unmet():
    units = [unit(0, is_pinned=True), unit(1)]
    plan = DropOldest().plan(units, Room(budget_tokens=99, fixed_tokens=0))
    assert (plan.outcome, plan.after_tokens) == ("unmet", 100)


def test_with_room_again_all_of_it_returns():
    units = [replace(unit(n), is_outside=n < 3) for n in range(5)]
    plan = DropOldest().plan(units, Room(500, 0, note_tokens=9, note_now_tokens=9))
    assert [(a.unit, a.do) for a in plan.actions] == [(n, "return") for n in range(3)]
    assert plan.after_tokens == 500


@given(UNITS, ROOMS, POLICIES)
def test_kept_and_dropped_are_all(units, room, policy):
    plan = policy.plan(units, room)
    outside = outside_after(units, plan)
    assert plan.dropped_units == len(outside)
    assert plan.kept_units + plan.dropped_units + plan.altered_units == len(units)


@given(UNITS, ROOMS, POLICIES)
def test_never_over_budget_while_anything_may_still_go(units, room, policy):
    outside = outside_after(units, policy.plan(units, room))
    can_go = any(u.tokens and not u.is_pinned and u.id not in outside for u in units)
    assert tokens_after(units, room, outside) <= room.budget_tokens or not can_go


@given(UNITS, ROOMS, POLICIES)
def test_never_below_the_mark_by_more_than_the_last_unit(units, room, policy):
    """Only as far as needed: without its youngest drop the view were above the mark."""
    plan = policy.plan(units, room)
    outside = outside_after(units, plan)
    if outside:
        youngest = max(outside)
        before = tokens_after(units, room, outside - {youngest})
        before += room.note_tokens if outside == {youngest} else 0
        assert before > plan.target_tokens


@given(UNITS, ROOMS, POLICIES)
def test_drops_are_the_oldest_and_none_is_pinned(units, room, policy):
    outside = outside_after(units, policy.plan(units, room))
    free = [u.id for u in units if not u.is_pinned]
    assert outside == set(free[: len(outside)])


@given(UNITS, ROOMS, POLICIES)
def test_planning_again_changes_nothing(units, room, policy):
    outside = outside_after(units, policy.plan(units, room))
    again = [replace(u, is_outside=u.id in outside) for u in units]
    now = replace(room, note_now_tokens=room.note_tokens if outside else 0)
    assert policy.plan(again, now).actions == ()


@given(UNITS, ROOMS, POLICIES)
def test_same_input_same_bytes(units, room, policy):
    assert policy.plan(units, room).to_json() == policy.plan(units, room).to_json()


@pytest.mark.parametrize("low_water", [0, -0.1, 1.01, float("nan"), "0.7", None])
def test_the_mark_is_a_share(low_water):
    with pytest.raises(ConfigurationError, match="low_water"):
        DropOldest(low_water=low_water)


@pytest.mark.parametrize("low_water", [0.7, 0.25, 1, 1.0, 0.123456789])
def test_a_policy_comes_back_from_its_description(low_water):
    policy = DropOldest(low_water)
    assert policy_from(policy.described) == policy


@pytest.mark.parametrize(
    "described",
    [
        "",
        "keep_last(n=3)",
        "drop_oldest",
        "drop_oldest(high_water=0.7)",
        "drop_oldest(low_water=a lot)",
        "drop_oldest(low_water=7)",
        "drop_oldest(low_water=1-1)",
        "drop_oldest(low_water=0.7",
        "drop_oldest(low_water=0.7) and more",
    ],
)
def test_a_description_that_names_no_policy_is_refused(described):
    with pytest.raises(ConfigurationError, match="low_water"):
        policy_from(described)
