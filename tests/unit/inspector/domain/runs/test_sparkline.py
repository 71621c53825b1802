"""The sparkline is total and stays inside its box, whatever the fills are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.runs.sparkline import BARS_HEIGHT, MAX_BARS, WIDTH, sparkline
from tests.support.records import run_row

FILLS = st.lists(
    st.one_of(st.none(), st.floats(allow_nan=True, width=32)), max_size=200
)


@given(FILLS, st.lists(st.integers(-2, 300)))
def test_every_bar_stays_inside_the_box(fills, pruned):
    line = sparkline(run_row(fills=tuple(fills), pruned_calls=tuple(pruned)))

    bars = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)V", line.bars)
    assert len(bars) <= MAX_BARS
    assert line.bars.count("M") == len(bars)
    for x, y, width in bars:
        assert 0 <= float(y) <= BARS_HEIGHT
        assert float(x) + float(width) <= WIDTH + 0.02


def test_bars_rise_with_the_fill_and_the_brim_is_a_full_window():
    line = sparkline(run_row(fills=(0.5, 1.0)))

    half, full = (float(y) for y in re.findall(r"M\S+ (\S+?)h", line.bars))
    assert full == line.brim_y
    assert half == pytest.approx((BARS_HEIGHT + line.brim_y) / 2, abs=0.01)


def test_prunes_are_notched_under_their_calls():
    line = sparkline(run_row(fills=(0.1,) * 4, pruned_calls=(2, 7)))

    assert line.notches == f"M{2 * WIDTH / 16:.2f} {BARS_HEIGHT + 1}v3"


@pytest.mark.parametrize(
    ("reason", "is_stopped"),
    [("context_truncated", True), ("context_overflow", True), ("completed", False)],
)
def test_only_a_run_that_did_not_fit_ends_in_a_stop(reason, is_stopped):
    assert (sparkline(run_row(reason=reason)).stop_x is not None) == is_stopped
