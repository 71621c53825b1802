"""The fill chart says with its geometry what the calls say with their numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.runs.chart import (
    HEADROOM,
    MAX_COLUMNS,
    MAX_OVERFLOW,
    MIN_SLOTS,
    PLOT_HEIGHT,
    UNSPLIT,
    fill_chart,
)
from tests.support.records import call_row, detail, parts, prune_row, terminus

SIZES = st.integers(0, 2_000_000)


def height_of(tokens, scale_tokens):
    return PLOT_HEIGHT * (1 - tokens / scale_tokens)


@given(
    st.builds(parts, SIZES, SIZES, SIZES, SIZES, SIZES),
    st.one_of(st.none(), SIZES),
    st.one_of(st.none(), SIZES),
)
def test_the_stack_stands_on_the_floor_and_closes_at_the_top(
    breakdown, input_tokens, window_tokens
):
    call = call_row(
        breakdown=breakdown,
        estimate_tokens=sum(
            getattr(breakdown, name) for name in breakdown.__dataclass_fields__
        ),
        input_tokens=input_tokens,
        window_tokens=window_tokens,
    )

    (column,) = fill_chart(detail(call)).columns

    if column.blocks:
        assert column.blocks[-1].y == column.top_y
        below = PLOT_HEIGHT
        for block in column.blocks:
            assert block.height > 0
            assert block.y + block.height == pytest.approx(below, abs=0.01)
            below = block.y
    else:
        assert column.top_y == pytest.approx(PLOT_HEIGHT, abs=0.01)


def test_the_shares_of_the_estimate_are_laid_over_what_was_counted():
    call = call_row(
        breakdown=parts(system=100, conversation=300),
        estimate_tokens=400,
        input_tokens=200,
        window_tokens=1000,
    )

    chart = fill_chart(detail(call))

    (column,) = chart.columns
    system, conversation = column.blocks
    assert (system.part, conversation.part) == ("system", "conversation")
    assert column.top_y == pytest.approx(height_of(200, chart.scale_tokens), abs=0.01)
    assert system.height * 3 == pytest.approx(conversation.height, abs=0.03)
    assert column.tick_y == pytest.approx(height_of(400, chart.scale_tokens), abs=0.01)


def test_brim_budget_and_reserve_stand_where_their_tokens_are():
    call = call_row(
        window_tokens=1000, budget_tokens=750, reserve_tokens=200, input_tokens=500
    )

    chart = fill_chart(detail(call))

    (vessel,) = chart.vessels
    assert chart.scale_tokens == 1000 * HEADROOM
    assert vessel.brim_y == pytest.approx(height_of(1000, 1040), abs=0.01)
    assert vessel.budget_y == pytest.approx(height_of(750, 1040), abs=0.01)
    assert vessel.reserve_height == pytest.approx(
        height_of(800, 1040) - height_of(1000, 1040), abs=0.02
    )
    assert (vessel.x, vessel.end) == (0, 100)
    assert [(label.kind, label.tokens) for label in chart.labels] == [
        ("zero", 0),
        ("window", 1000),
        ("budget", 750),
    ]


def test_calls_share_a_piece_of_the_vessel_until_their_limits_change():
    small, large = {"window_tokens": 1000}, {"window_tokens": 4000}
    calls = [call_row(index=i, **(small if i < 3 else large)) for i in range(5)]

    first, second = fill_chart(detail(*calls)).vessels

    assert (first.x, first.end) == (0, pytest.approx(300 / MIN_SLOTS, abs=0.002))
    assert (second.x, second.end) == (first.end, pytest.approx(100, abs=0.002))


def test_a_prune_is_notched_at_the_left_edge_of_its_call():
    calls = [call_row(index=i, input_tokens=10) for i in range(3)]

    chart = fill_chart(detail(*calls, prunes=(prune_row(2), prune_row(9))))

    assert [(n.x, n.prune.call_index) for n in chart.notches] == [
        (chart.columns[2].x, 2)
    ]


def test_the_terminus_stands_after_the_last_call_with_its_shortfall_above_the_budget():
    calls = [call_row(index=i, window_tokens=1000, input_tokens=500) for i in range(2)]
    end = terminus(
        call_index=2,
        needed_tokens=1100,
        budget_tokens=800,
        breakdown=parts(tools=600, conversation=500),
    )

    chart = fill_chart(detail(*calls, end=end))

    stop = chart.stop
    assert stop.x == pytest.approx(chart.columns[1].end, abs=0.002)
    assert not stop.is_clipped
    assert stop.top_y == pytest.approx(height_of(1100, chart.scale_tokens), abs=0.01)
    assert stop.over_height == pytest.approx(
        PLOT_HEIGHT * 300 / chart.scale_tokens, abs=0.02
    )
    assert [block.part for block in stop.blocks] == ["tools", "conversation"]
    assert "tools" in chart.parts


def test_a_terminus_before_any_call_still_shows_the_vessel():
    chart = fill_chart(detail(end=terminus()))

    assert chart.columns == ()
    assert len(chart.vessels) == 1
    assert [label.tokens for label in chart.labels] == [0, 1000, 800]


def test_a_huge_terminus_is_clipped_and_leaves_the_calls_their_height():
    call = call_row(window_tokens=1000, input_tokens=900)

    chart = fill_chart(detail(call, end=terminus(needed_tokens=50_000)))

    assert chart.scale_tokens == pytest.approx(1000 * MAX_OVERFLOW * HEADROOM)
    assert chart.stop.is_clipped
    assert chart.stop.top_y == 0


@pytest.mark.parametrize(
    ("call", "is_measured", "has_tick", "drawn"),
    [
        pytest.param(call_row(), False, False, (), id="nothing known"),
        pytest.param(
            call_row(input_tokens=9), True, False, (UNSPLIT,), id="foreign trace"
        ),
        pytest.param(
            call_row(estimate_tokens=9, breakdown=parts(tools=9)),
            False,
            False,
            ("tools",),
            id="no usage",
        ),
        pytest.param(
            call_row(estimate_tokens=9, input_tokens=8),
            True,
            True,
            (UNSPLIT,),
            id="no breakdown",
        ),
        pytest.param(
            call_row(input_tokens=-5, estimate_tokens=-5), True, True, (), id="negative"
        ),
    ],
)
def test_what_is_not_known_is_not_drawn(call, is_measured, has_tick, drawn):
    chart = fill_chart(detail(call))

    (column,) = chart.columns
    assert column.is_measured == is_measured
    assert (column.tick_y is not None) == has_tick == chart.has_ticks
    assert chart.parts == drawn
    assert bool(chart.unmeasured) == (bool(drawn) and not is_measured)
    assert (chart.vessels, chart.has_budget, chart.has_reserve) == ((), False, False)


def test_a_very_long_run_shows_the_fullest_of_its_neighbours():
    sizes = [1 + (i * 37) % 101 for i in range(5000)]
    calls = [call_row(index=i, input_tokens=n) for i, n in enumerate(sizes)]

    chart = fill_chart(detail(*calls, prunes=(prune_row(4999),)))

    per_column = chart.calls_per_column
    assert len(chart.columns) <= MAX_COLUMNS
    assert [c.call.input_tokens for c in chart.columns] == [
        max(sizes[i : i + per_column]) for i in range(0, 5000, per_column)
    ]
    assert chart.columns[0].stands_for_several
    assert chart.notches[0].x == chart.columns[-1].x


def test_a_run_without_calls_is_an_empty_plot():
    chart = fill_chart(detail())

    assert (chart.columns, chart.layers, chart.vessels) == ((), (), ())
    assert [label.kind for label in chart.labels] == ["zero"]
