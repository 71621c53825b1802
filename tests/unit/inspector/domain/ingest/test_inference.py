"""What a foreign trace dropped, told from its views alone."""

from inspector.domain.ingest.inference import ForeignCall, drops_infer

SHAPES = {
    "sys": {"role": "system"},
    "ask": {"role": "user"},
    "call": {"role": "assistant", "call_ids": ["1"], "result_ids": []},
    "result": {"role": "tool", "call_ids": [], "result_ids": ["1"]},
    "stub": {"role": "tool", "call_ids": [], "result_ids": ["1"]},
    "next": {"role": "user"},
}


def told(*views):
    calls = [ForeignCall(str(place), view.split()) for place, view in enumerate(views)]
    found = drops_infer(calls, SHAPES)
    return {
        span_id: (what.dropped_unit_count, what.has_new_drops)
        for span_id, what in found.items()
    }


def test_a_growing_view_drops_nothing():
    assert told("sys ask", "sys ask call result") == {"0": (0, False), "1": (0, False)}


def test_a_step_and_its_result_are_one_unit():
    views = ("sys ask call result next", "sys ask next", "sys ask next more")
    assert told(*views) == {"0": (0, False), "1": (1, True), "2": (1, False)}


def test_a_result_that_was_replaced_is_altered_and_not_dropped():
    assert told("ask call result", "ask call stub next")["1"] == (0, False)


def test_conversations_beside_each_other_drop_nothing():
    views = ("sys ask", "other task", "sys ask next", "other task more")
    assert set(told(*views).values()) == {(0, False)}


def test_a_call_without_a_view_gives_no_verdict():
    assert list(told("sys ask", "", "sys ask")) == ["0", "2"]
