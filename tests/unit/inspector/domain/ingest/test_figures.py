"""Ratios, and which of several is the worst."""

import pytest

from inspector.domain.ingest.figures import worst_drift_of


@pytest.mark.parametrize(
    ("drifts", "worst"),
    [
        pytest.param([None, None], None, id="nothing is known"),
        pytest.param([1.2, 1.05], 1.2, id="the largest over-count"),
        pytest.param(
            [1.9, 0.97, 0.99], 0.97, id="an under-count is worse than any other"
        ),
    ],
)
def test_the_worst_drift_is_the_deepest_under_count(drifts, worst):
    assert worst_drift_of(drifts) == worst
