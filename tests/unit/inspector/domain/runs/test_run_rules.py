"""Running, ended, lost."""

import pytest

from inspector.domain.runs.rules import status_of


@pytest.mark.parametrize(
    ("is_ended", "age_minutes", "status"),
    [(True, 99, "ended"), (False, 14, "running"), (False, 16, "lost")],
)
def test_a_run_is_lost_after_fifteen_minutes_without_a_span(
    is_ended, age_minutes, status
):
    now_ns = 10**18
    touched_ns = now_ns - age_minutes * 60 * 10**9
    assert status_of(is_ended=is_ended, touched_ns=touched_ns, now_ns=now_ns) == status
