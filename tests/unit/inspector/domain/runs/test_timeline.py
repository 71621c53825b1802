"""The timeline keeps depth and time apart, and says what it leaves out."""

from dataclasses import replace

from inspector.domain.runs.timeline import first_for_call, timeline
from tests.support.records import span_row

RUN = span_row("r", "run", 0, 1_000, 11_000)
CALL = span_row("c", "call", 1, 3_000, 8_000)


def test_a_row_lies_where_its_time_is():
    _, call = timeline([RUN, CALL], "r", limit=9).rows

    assert (call.x, call.width, call.depth) == (20.0, 50.0, 1)
    assert (call.offset_ms, call.duration_ms) == (0.002, 0.005)


def test_the_axis_starts_at_the_earliest_start_of_anything():
    early = span_row("e", "http", 2, 500, 600)

    rows = timeline([RUN, CALL, early], "r", limit=9).rows

    assert [row.x for row in rows] == [4.762, 23.81, 0.0]


def test_a_span_that_ends_before_it_starts_is_a_point_inside_the_lane():
    broken = span_row("b", "tool", 99, 11_000, 2_000)

    row = timeline([RUN, broken], "r", limit=9).rows[1]

    assert row.duration_ms == 0
    assert row.width > 0
    assert row.x + row.width <= 100
    assert row.depth == 8


def test_a_stretch_says_what_stands_before_and_after_it():
    spans = [span_row(str(i), "tool", 1, i, i + 1) for i in range(10)]

    middle = timeline(spans, "r", first=4, limit=3)

    assert [row.span.span_id for row in middle.rows] == ["4", "5", "6"]
    assert (middle.hidden_before, middle.hidden_after) == (4, 3)
    assert (middle.previous_first, middle.next_first) == (1, 7)


def test_the_stretch_of_a_call_holds_its_row():
    spans = [
        replace(span_row(str(i), "call", 1, i, i + 1), call_index=i) for i in range(10)
    ]

    assert first_for_call(spans, 7, 3) == 6
    assert first_for_call(spans, None, 3) == 0


def test_what_a_sub_agent_did_is_not_the_run_s_own():
    spans = [
        RUN,
        span_row("sub", "run", 1, 0, 9),
        span_row("inner", "call", 2, 0, 9),
        span_row("after", "call", 1, 0, 9),
    ]

    rows = timeline(spans, "r", limit=9).rows

    assert [row.is_own for row in rows] == [True, False, False, True]


def test_a_run_of_no_spans_has_an_empty_timeline():
    empty = timeline([], "", limit=9)

    assert (empty.rows, empty.total_ms, empty.hidden_after) == ((), 0, 0)
