"""The pieces of a window add up to it, or the page says that they do not."""

import pytest

from inspector.domain.runs.balance import balance_of
from tests.support.records import call_row, parts

FULL = call_row(
    window_tokens=1000,
    budget_tokens=770,
    reserve_tokens=200,
    safety_tokens=30,
    free_tokens=270,
    estimate_tokens=500,
    breakdown=parts(system=100, conversation=390, framing=10),
)


def tokens_of(balance):
    return {share.part: share.tokens for share in balance.shares}


def test_parts_free_safety_and_reserve_close_at_the_window():
    balance = balance_of(FULL)

    assert tokens_of(balance) == {
        "system": 100,
        "conversation": 390,
        "framing": 10,
        "free": 270,
        "safety": 30,
        "reserve": 200,
    }
    assert balance.closes
    assert sum(share.width for share in balance.shares) == pytest.approx(100, abs=0.01)


def test_free_room_that_was_not_reported_is_what_is_left():
    call = call_row(
        window_tokens=1000, estimate_tokens=500, breakdown=parts(conversation=500)
    )

    balance = balance_of(call)

    assert tokens_of(balance) == {"conversation": 500, "free": 500}
    assert balance.closes


def test_what_an_input_cap_bars_is_a_piece_of_its_own():
    call = call_row(
        window_tokens=1000,
        budget_tokens=600,
        reserve_tokens=200,
        safety_tokens=0,
        estimate_tokens=500,
        breakdown=parts(conversation=500),
    )

    assert tokens_of(balance_of(call)) == {
        "conversation": 500,
        "free": 100,
        "unusable": 200,
        "reserve": 200,
    }


def test_parts_that_do_not_add_up_are_said_not_to():
    call = call_row(
        window_tokens=1000, free_tokens=1, breakdown=parts(conversation=500)
    )

    assert not balance_of(call).closes


def test_more_than_the_window_has_negative_room_of_no_width():
    call = call_row(
        window_tokens=100, estimate_tokens=150, breakdown=parts(conversation=150)
    )

    free = balance_of(call).shares[-1]

    assert (free.part, free.tokens, free.width) == ("free", -50, 0)
    assert balance_of(call).closes


def test_without_a_window_the_parts_make_the_estimate():
    balance = balance_of(call_row(breakdown=parts(tools=30, conversation=70)))

    assert (balance.total_tokens, balance.window_tokens, balance.closes) == (
        100,
        None,
        True,
    )


def test_a_call_without_parts_has_no_balance():
    assert balance_of(call_row(window_tokens=1000)) is None
