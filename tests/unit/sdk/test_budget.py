"""How a window is shared out, and that the books close."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.budget import (
    PARTS,
    Breakdown,
    Budget,
    Window,
    allot,
    break_down,
    window_of,
)
from ullage.errors import ConfigurationError

CAPS = st.none() | st.integers(1, 2_000_000)
WINDOWS = st.builds(Window, st.integers(1, 2_000_000), CAPS, CAPS)
WANTED = st.none() | st.integers(1, 2_000_000)


def shares(budget):
    return budget.reserve_tokens, budget.safety_tokens, budget.tokens


@pytest.mark.parametrize(
    ("window", "wanted", "expected"),
    [
        # A27: the unknown model.
        pytest.param(Window(8192), None, (1000, 246, 6946), id="unknown model"),
        # W21: the answer's cap is as large as the window, or larger than asked for.
        pytest.param(
            Window(8192, output_cap_tokens=8192),
            None,
            (2048, 246, 5898),
            id="output cap = window, nothing asked for (W21, F87)",
        ),
        pytest.param(
            Window(8192, output_cap_tokens=8192),
            8192,
            (4096, 246, 3850),
            id="output cap = window, all of it asked for (W21)",
        ),
        pytest.param(
            Window(128_000),
            127_000,
            (64_000, 3840, 60_160),
            id="nearly the whole window asked for (W21)",
        ),
        pytest.param(
            Window(8192), 8192, (4096, 246, 3850), id="more than there is (W21)"
        ),
        # W22
        pytest.param(
            Window(128_000, output_cap_tokens=64_000),
            None,
            (32_000, 3840, 92_160),
            id="a large output cap that nobody asked for (W22)",
        ),
        pytest.param(
            Window(128_000, output_cap_tokens=4096),
            100_000,
            (4096, 3840, 120_064),
            id="more than the output cap (W22)",
        ),
        # W23: what is asked for is lowered, and a small wish is taken at its word.
        pytest.param(
            Window(1000), 2000, (500, 30, 470), id="twice the window asked for (W23)"
        ),
        pytest.param(Window(1000), 50, (50, 30, 920), id="a small wish (W23)"),
        # W25
        pytest.param(
            Window(128_000),
            None,
            (2560, 3840, 121_600),
            id="neither limit nor cap: two percent (W25)",
        ),
        # F89, F91: prompt and answer have limits of their own.
        pytest.param(
            Window(400_000, 272_000, 128_000),
            4096,
            (4096, 12_000, 260_000),
            id="an input cap (F91)",
        ),
        pytest.param(
            Window(264_000, 200_000, 64_000),
            64_000,
            (64_000, 7920, 192_080),
            id="separate ceilings (F89)",
        ),
        # F96
        pytest.param(Window(4000), None, (1000, 120, 2880), id="a small window (F96)"),
        pytest.param(
            Window(1_000_000, output_cap_tokens=384_000),
            384_000,
            (384_000, 30_000, 586_000),
            id="a huge answer (F86)",
        ),
    ],
)
def test_shares(window, wanted, expected):
    assert shares(allot(window, max_output_tokens=wanted)) == expected


def test_what_is_reserved_is_what_the_request_asks_for():
    """W25: estimate and wire use one number."""
    budget = allot(Window(8192), max_output_tokens=100_000)
    assert budget.max_output_tokens == budget.reserve_tokens == 4096


def test_reasoning_is_reserved_on_top_of_the_answer():
    """W24: a thinking budget is not inside the visible answer."""
    budget = allot(Window(128_000), max_output_tokens=1000, reasoning_tokens=16_000)
    assert (budget.max_output_tokens, budget.reserve_tokens) == (1000, 17_000)


def test_no_reasoning_is_no_reserve():
    budget = allot(Window(128_000), max_output_tokens=1000, reasoning_tokens=0)
    assert budget.reserve_tokens == 1000


def test_the_safety_share_ends_with_the_first_report():
    budget = allot(Window(8192), is_anchored=True)
    assert shares(budget) == (1000, 0, 7192)


@pytest.mark.parametrize(
    ("window", "wanted", "minimum", "expected"),
    [
        pytest.param(300, 1000, 256, 256, id="half of the window would be less"),
        pytest.param(300, 200, 256, 200, id="less was asked for"),
        pytest.param(1, None, 256, 256, id="the smallest window"),
        pytest.param(300, 1000, 1, 150, id="another minimum"),
    ],
)
def test_the_reserve_is_never_clamped_below_its_minimum(
    window, wanted, minimum, expected
):
    budget = allot(Window(window), max_output_tokens=wanted, min_output_tokens=minimum)
    assert budget.max_output_tokens == expected


@pytest.mark.parametrize("wanted", [None, 1000])
def test_the_minimum_does_not_exceed_what_the_model_can_answer(wanted):
    """Above its output cap, the provider would refuse the request."""
    budget = allot(Window(8192, output_cap_tokens=100), max_output_tokens=wanted)
    assert budget.max_output_tokens == 100


@given(WINDOWS, WANTED, st.booleans())
def test_the_window_is_shared_out_to_the_last_token(window, wanted, is_anchored):
    budget = allot(window, max_output_tokens=wanted, is_anchored=is_anchored)
    spent = budget.tokens + budget.reserve_tokens + budget.safety_tokens
    assert spent + budget.unusable_tokens == window.context_tokens
    assert budget.unusable_tokens >= 0
    assert budget.tokens <= (window.input_cap_tokens or budget.tokens)


@given(WINDOWS, WANTED)
def test_the_answer_is_positive_and_within_its_limits(window, wanted):
    answer = allot(window, max_output_tokens=wanted).max_output_tokens
    assert 0 < answer <= (window.output_cap_tokens or answer)
    assert answer <= max(window.context_tokens // 2, 256)
    assert answer <= (wanted or answer)


@given(st.integers(1, 3_000_000))
def test_safety_is_three_percent_rounded_up(context_tokens):
    """In whole numbers, so that no binary fraction adds a token."""
    safety = allot(Window(context_tokens)).safety_tokens
    assert safety == -(-3 * context_tokens // 100)


@pytest.mark.parametrize("figure", [0, -1, -8192, 0.5, 8192.0, "8192", True, None])
def test_a_window_is_a_whole_number_above_zero(figure):
    with pytest.raises(ConfigurationError, match=r"context_tokens is .*, at least 1"):
        Window(figure)


@pytest.mark.parametrize("name", ["input_cap_tokens", "output_cap_tokens"])
@pytest.mark.parametrize("figure", [0, -1, 1.5, True])
def test_a_cap_is_a_whole_number_above_zero_or_none(name, figure):
    with pytest.raises(ConfigurationError, match=name):
        Window(8192, **{name: figure})


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("max_output_tokens", 0),
        ("max_output_tokens", -1),
        ("max_output_tokens", 1.5),
        ("max_output_tokens", "1024"),
        ("max_output_tokens", True),
        ("reasoning_tokens", -1),
        ("reasoning_tokens", 0.5),
        ("min_output_tokens", 0),
        ("min_output_tokens", -5),
        ("safety_ratio", -0.01),
        ("safety_ratio", 1),
        ("safety_ratio", float("nan")),
        ("safety_ratio", "3 %"),
    ],
)
def test_a_figure_out_of_range_is_named(name, figure):
    with pytest.raises(ConfigurationError, match=name):
        allot(Window(8192), **{name: figure})


@pytest.mark.parametrize(
    ("model", "context", "source"),
    [
        ("gpt-5-mini", 400_000, "catalogue"),
        ("gpt-5", 400_000, "catalogue"),
        ("openai/gpt-4o-2024-11-20", 128_000, "catalogue"),
        ("gpt-4.1-nano", 1_047_576, "catalogue"),
        ("claude-sonnet-4-5", 200_000, "catalogue"),
        ("gpt-50", 8192, "fallback"),
        ("qwen3-coder", 8192, "fallback"),
        ("", 8192, "fallback"),
    ],
)
def test_the_window_of_a_model_by_name(model, context, source):
    window = window_of(model)
    assert (window.context_tokens, window.source) == (context, source)


@given(
    st.dictionaries(st.sampled_from(PARTS), st.integers(0, 1_000_000)),
    st.integers(0, 1_000_000),
    WINDOWS,
    WANTED,
)
def test_the_breakdown_closes(measured, estimate, window, wanted):
    """System + tools + conversation + media + framing = estimate; and with reserve,
    safety, unusable and free it is the window."""
    budget = allot(window, max_output_tokens=wanted)
    found = break_down(measured, estimate_tokens=estimate, budget=budget)
    parts = [getattr(found, f"{name}_tokens") for name in (*PARTS, "framing")]
    assert sum(parts) == estimate
    assert min(parts) >= 0
    shares = ("estimate", "reserve", "safety", "unusable", "free")
    total = sum(getattr(found, f"{name}_tokens") for name in shares)
    assert total == found.window_tokens == window.context_tokens
    assert (found.free_tokens < 0) == (estimate > budget.tokens)


def test_measured_parts_stand_as_they_are_where_they_fit():
    measured = {"system": 10, "tools": 20, "conversation": 30, "media": 0}
    found = break_down(measured, estimate_tokens=100, budget=allot(Window(8192)))
    assert found.parts == {**measured, "framing": 40}
    assert found.dominant == "reserve"


def test_measured_parts_are_scaled_down_together():
    measured = {"system": 10, "tools": 20, "conversation": 170}
    found = break_down(measured, estimate_tokens=100, budget=allot(Window(8192)))
    assert found.parts == {
        "system": 5,
        "tools": 10,
        "conversation": 85,
        "media": 0,
        "framing": 0,
    }


def test_the_largest_share_is_named():
    measured = {"tools": 5000, "conversation": 100}
    found = break_down(measured, estimate_tokens=5200, budget=allot(Window(8192)))
    assert found.dominant == "tools"


@pytest.mark.parametrize("name", ["system_tokens", "free_tokens"])
def test_a_breakdown_that_does_not_close_cannot_be_made(name):
    found = break_down({}, estimate_tokens=100, budget=Budget(Window(500), 100, 9, 100))
    figures = {slot: getattr(found, slot) for slot in Breakdown.__slots__}
    with pytest.raises(ValueError, match="does not close"):
        Breakdown(**figures | {name: figures[name] + 1})
