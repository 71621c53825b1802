"""Spans of a trace to runs and calls: any order, any damage, one answer."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.ingest.facts import (
    CALL,
    GENAI,
    OTHER,
    PRUNE,
    RUN,
    TERMINUS,
    ULLAGE,
    CallFacts,
    OtherFacts,
    PruneFacts,
    RunFacts,
    SpanFacts,
    TerminusFacts,
)
from inspector.domain.ingest.fold import trace_fold
from inspector.domain.ingest.tree import TraceSpan, Tree

TRACE_ID = "ab" * 16
DETAILS = {RUN: RunFacts, CALL: CallFacts, PRUNE: PruneFacts, TERMINUS: TerminusFacts}


def made(span_id, kind=CALL, parent="", start=0, end=None, **named):
    """A span as the fold sees it; names of its detail and of its facts, mixed."""
    source = named.pop("source", "" if kind == OTHER else GENAI)
    own = {name: named.pop(name) for name in list(named) if name in FACTS}
    detail = DETAILS.get(kind, OtherFacts)(**named)
    return TraceSpan(
        span_id,
        parent,
        start,
        start + 1 if end is None else end,
        SpanFacts(kind=kind, detail=detail, source=source, **own),
    )


FACTS = {"run_id", "call_index", "agent", "conversation_id", "environment", "service"}


def fold(*spans):
    return trace_fold(TRACE_ID, spans)


def run_of(folded, run_span_id=""):
    (run,) = (run for run in folded.runs if run.run_span_id == run_span_id)
    return run


class TestRuns:
    @pytest.mark.parametrize(
        ("estimates", "worst"),
        [
            ([(900, ""), (130, "calibrated"), (110, "calibrated")], 1.3),
            ([(90, ""), (130, "calibrated")], 0.9),
            ([(900, "conservative")], 9.0),
        ],
        ids=["a cold estimate is too high by design", "an under-count leads", "alone"],
    )
    def test_the_worst_drift_is_the_most_telling(self, estimates, worst):
        spans = (
            made(
                f"{place}",
                start=place,
                estimate_tokens=tokens,
                input_tokens=100,
                accuracy=accuracy,
            )
            for place, (tokens, accuracy) in enumerate(estimates)
        )
        assert run_of(fold(*spans)).worst_drift == worst

    def test_a_trace_without_an_agent_is_one_plain_run(self):
        run = run_of(fold(made("a", start=1), made("b", start=2, service="shop")))
        assert (run.call_count, run.agent, run.source) == (2, "shop", GENAI)
        assert (run.is_ended, run.reason, run.end_ns) == (True, "completed", 3)

    def test_a_trace_without_calls_has_no_run(self):
        assert fold(made("a", OTHER)).runs == ()

    def test_a_run_without_calls_is_a_run(self):
        assert run_of(fold(made("r", RUN)), "r").call_count == 0

    def test_calls_belong_to_the_innermost_run(self):
        folded = fold(
            made("outer", RUN),
            made("inner", RUN, parent="tool"),
            made("tool", OTHER, parent="outer"),
            made("a", parent="outer"),
            made("b", parent="step"),
            made("step", OTHER, parent="inner"),
        )
        assert {c.span_id: c.run_span_id for c in folded.calls} == {
            "a": "outer",
            "b": "inner",
        }
        assert run_of(folded, "inner").parent_run_id == f"{TRACE_ID}-outer"

    def test_a_run_is_known_before_its_own_span(self):
        run_id = f"{TRACE_ID}-r"
        folded = fold(
            made("c", parent="r", source=ULLAGE, run_id=run_id, call_index=3),
            made("http", OTHER, parent="c"),
        )
        run = run_of(folded, "r")
        assert (run.is_ended, run.reason, run.call_count) == (False, "", 1)

    @pytest.mark.parametrize(
        ("own", "calls", "reason"),
        [
            ({"reason": "max_iterations"}, [], "max_iterations"),
            ({"reason": "novelty"}, [], "unknown"),
            ({}, [made("c", parent="r")], "completed"),
            ({}, [made("c", parent="r", error_type="context_overflow")],
             "context_overflow"),
            ({}, [made("c", parent="r", error_type="timeout")], "provider_failed"),
            ({"error_type": "boom"}, [made("c", parent="r")], "unknown"),
        ],
    )  # fmt: skip
    def test_the_reason_of_an_ended_run(self, own, calls, reason):
        assert run_of(fold(made("r", RUN, **own), *calls), "r").reason == reason

    def test_a_terminus_gives_reason_model_and_window_and_takes_its_index(self):
        folded = fold(
            made("r", RUN, source=ULLAGE),
            made("a", parent="r", model="small"),
            made("t", TERMINUS, parent="r", source=ULLAGE, call_index=1, start=5,
                 model="large", window_tokens=900),
            made("b", parent="r", start=9),
        )  # fmt: skip
        run = run_of(folded, "r")
        assert (run.reason, run.model) == ("context_truncated", "large")
        assert run.window_tokens == 900
        assert [call.index for call in folded.calls] == [0, 2]

    def test_a_run_of_ours_that_says_nothing_ended_for_an_unknown_reason(self):
        assert run_of(fold(made("r", RUN, source=ULLAGE)), "r").reason == "unknown"

    def test_figures_say_how_many_calls_they_rest_on(self):
        run = run_of(
            fold(
                made("a", start=1, input_tokens=50, window_tokens=100,
                     estimate_tokens=60),
                made("b", start=2, window_tokens=100, dropped_unit_count=4),
                made("c", start=3, input_tokens=90, window_tokens=100,
                     estimate_tokens=81, dropped_unit_count=2),
            )
        )  # fmt: skip
        assert (run.usage_call_count, run.call_count) == (2, 3)
        assert run.fills == (0.5, None, 0.9)
        assert (run.peak_fill, run.worst_drift) == (0.9, 0.9)
        assert run.dropped_unit_count == 2


class TestCalls:
    def test_equal_response_ids_are_one_call(self):
        (call,) = fold(
            made("a", response_id="r1", input_tokens=7),
            made("b", response_id="r1", start=1, view_digest="v" * 32),
        ).calls
        assert (call.span_id, call.facts.input_tokens) == ("b", 7)

    def test_a_call_inside_a_call_is_one_call_and_ours_leads(self):
        (call,) = fold(
            made("outer", start=0, source=ULLAGE, call_index=0, site="host"),
            made("http", OTHER, parent="outer"),
            made("inner", parent="http", start=1, output_tokens=5),
        ).calls
        assert (call.span_id, call.facts.site, call.facts.output_tokens) == (
            "outer",
            "host",
            5,
        )

    def test_parallel_calls_are_two(self):
        assert len(fold(made("a", model="m"), made("b", model="m")).calls) == 2

    def test_calls_without_an_index_take_the_free_ones(self):
        folded = fold(
            made("late", start=9),
            made("early", start=1),
            made("own", start=5, call_index=0),
            made("twin", start=6, call_index=0),
        )
        assert {c.span_id: c.index for c in folded.calls} == {
            "own": 0,
            "early": 1,
            "twin": 2,
            "late": 3,
        }

    def test_a_prune_marks_the_call_of_its_index(self):
        run_id = f"{TRACE_ID}-r"
        ours = {"source": ULLAGE, "run_id": run_id, "parent": "r"}
        folded = fold(
            made("p", PRUNE, call_index=1, **ours),
            made("a", call_index=0, is_compacted=True, **ours),
            made("b", call_index=1, **ours),
        )
        assert [call.is_pruned for call in folded.calls] == [False, True]
        assert run_of(folded, "r").prune_count == 1

    def test_views_that_cross_share_a_circle_of_merges(self):
        folded = fold(
            made("child", parent="parent", response_id="x", start=0),
            made("parent", response_id="x", start=5),
            made("grandchild", parent="child", start=6),
        )
        assert len(folded.calls) == 1

    def test_a_call_that_ends_before_it_starts_lasts_nothing(self):
        (call,) = fold(made("a", start=10, end=3)).calls
        assert call.end_ns == 10


class TestTree:
    def test_no_walk_ever_loops(self):
        spans = [made("a", OTHER, parent="b"), made("b", OTHER, parent="a")]
        tree = Tree(TRACE_ID, spans)
        assert [span.span_id for span in tree.ancestors(spans[0])] == ["b"]
        assert tree.run_of(spans[0]) == ""

    def test_a_run_inside_itself_has_no_parent(self):
        tree = Tree(TRACE_ID, [made("r", RUN, parent="r")])
        assert tree.parent_run_of("r") == ""

    @given(
        parents=st.lists(st.integers(0, 9), min_size=10, max_size=10),
        kinds=st.lists(st.sampled_from([RUN, CALL, OTHER]), min_size=10, max_size=10),
        seed=st.integers(0, 99),
    )
    def test_any_tangle_folds_the_same_in_any_order(self, parents, kinds, seed):
        spans = [
            made(str(number), kind, parent=str(parent), start=number)
            for number, (parent, kind) in enumerate(zip(parents, kinds, strict=True))
        ]
        shuffled = random.Random(seed).sample(spans, len(spans))
        folded = fold(*spans)
        assert fold(*shuffled) == folded
        runs = {run.run_span_id for run in folded.runs}
        assert {call.run_span_id for call in folded.calls} <= runs
        assert sum(run.call_count for run in folded.runs) == len(folded.calls)
        for run in folded.runs:
            indices = [
                c.index for c in folded.calls if c.run_span_id == run.run_span_id
            ]
            assert sorted(indices) == list(range(len(indices)))
