"""A fit in sizes alone: what it sends, what it leaves out, and when it refuses."""

import copy
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.sdk import (
    ALONE,
    ANY_ENTRIES,
    WELL_FORMED,
    SizedRun,
    budget_of,
    entries,
    fitter,
    ordinals,
    sized,
)
from ullage.budget import Budget, Window, allot
from ullage.calibration import Surroundings
from ullage.estimator import HIDDEN_TOKENS_WITH_TOOLS, TABLES, TokenRange
from ullage.fitting import NOTE_FRAMING_TOKENS
from ullage.messages import Usage
from ullage.pairing import added_defects, check
from ullage.plan import Plan
from ullage.policies import DropOldest

# A step of 100 + 100 tokens, six times, behind a head of 200.
LOOP = "S U " + " ".join(f"A[c{n}] T(c{n})" for n in range(6))
TOOLS = Surroundings("t", TokenRange(300, 1000), "", HIDDEN_TOKENS_WITH_TOOLS)
SIZES = st.integers(0, 3000)
BUDGETS = st.integers(-500, 4000).map(lambda tokens: exactly(tokens))


def exactly(tokens):
    """A budget of this size, below zero too: an answer that takes all the rest."""
    return Budget(Window(10_000), 10_000 - tokens, 0, 256)


@st.composite
def transcripts(draw, notations=WELL_FORMED):
    notation = draw(notations)
    count = len(notation.split())
    pins = draw(st.sets(st.integers(0, count - 1), max_size=2))
    sizes = draw(st.lists(SIZES, min_size=count, max_size=count))
    return sized(entries(notation, pins=pins), sizes)


def outside_of(fitted, transcript):
    return {e.ordinal for e in transcript} - set(ordinals(fitted.view))


class TestFits:
    def test_what_fits_is_sent_as_it_is(self):
        transcript = entries(LOOP)
        fitted = SizedRun(budget_of(2000)).fit(transcript)
        assert fitted.view == transcript
        assert (fitted.plan, fitted.note, fitted.terminus) == (None, "", None)
        assert (fitted.outside_units, fitted.outside_tokens) == (0, 0)

    def test_equality_fits_and_one_token_more_does_not(self):
        transcript = entries("S U~4999")
        assert SizedRun(budget_of(5099)).fit(transcript).terminus is None
        assert SizedRun(budget_of(5098)).fit(transcript).terminus.shortfall_tokens == 1

    def test_the_smallest_window_that_fits_is_the_arithmetic_one(self):
        """Searched for, not computed: estimate + reserve + safety = window."""
        transcript = entries("S~300 U~1700")

        def fits(tokens):
            budget = allot(Window(tokens), max_output_tokens=500)
            return SizedRun(budget).fit(transcript).terminus is None

        low, high = 1, 100_000
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle, high)
        assert high == 2578  # 2,000 + 500 + 78 (3 %)
        assert not any(fits(high - n) for n in (1, 2, 3))

    def test_the_provider_and_the_tools_are_counted(self):
        """F47: messages that are small do not make a small request."""
        fitted = SizedRun(budget_of(5000), TOOLS).fit(entries("S U"))
        assert fitted.estimate.upper == 200 + 1000 + HIDDEN_TOKENS_WITH_TOOLS
        assert fitted.breakdown.tools_tokens == 1000

    def test_media_and_unknown_costs_are_a_floor(self):
        transcript = entries("S U")
        picture = replace(transcript[1], kinds=("text", "blob"), is_open_ended=True)
        fitted = SizedRun(budget_of(5000)).fit((transcript[0], picture))
        assert fitted.accuracy == "floor"
        assert fitted.breakdown.media_tokens == 100


class TestPrune:
    def test_the_oldest_steps_go_and_the_task_stays(self):
        """F32, F34."""
        fitted = SizedRun(budget_of(1300)).fit(entries(LOOP))
        assert ordinals(fitted.view) == (0, 1, 10, 11, 12, 13)
        assert [a.unit for a in fitted.plan.actions] == [2, 3, 4, 5]
        assert (fitted.outside_units, fitted.outside_tokens) == (4, 800)

    def test_the_note_stands_behind_the_head_and_is_counted(self):
        fitted = SizedRun(budget_of(1300)).fit(entries(LOOP))
        note = fitted.view[2]
        text = TABLES["any"].measure(fitted.note).upper
        assert (note.role, note.ordinal) == ("user", -1)
        assert "4 earlier turns" in fitted.note
        assert fitted.estimate.upper == 600 + text + NOTE_FRAMING_TOKENS

    def test_between_two_prunes_the_prefix_stays_as_it_is(self):
        """Cross check 5, W41: one prune makes room for several calls."""
        run, transcript, views = SizedRun(budget_of(2500)), entries(LOOP), []
        for n in range(60):
            more = entries(f"A[d{n}] T(d{n})")
            start = len(transcript)
            transcript += tuple(replace(e, ordinal=start + e.ordinal) for e in more)
            fitted = run.fit(transcript)
            if views and fitted.plan is None:
                assert fitted.view[: len(views[-1])] == views[-1]
            views.append(fitted.view)
            actual = sum(entry.tokens.upper for entry in fitted.view)
            run.fitter.observe(Usage(actual), reply_digest=None)
        prunes = sum(views[n][:3] != views[n - 1][:3] for n in range(1, 60))
        assert 0 < prunes <= 60 // 3

    def test_a_second_fit_of_the_same_list_changes_nothing(self):
        """Cross check 4, F102."""
        run = SizedRun(budget_of(1300))
        first, second = run.fit(entries(LOOP)), run.fit(entries(LOOP))
        assert second.plan is None
        assert (second.view, second.note) == (first.view, first.note)

    def test_what_left_stays_out_while_nothing_else_changes(self):
        run = SizedRun(budget_of(1300))
        first = run.fit(entries(LOOP))
        run.fitter.observe(Usage(500), reply_digest=None)
        assert run.fit(entries(LOOP)).view == first.view

    @pytest.mark.parametrize(
        "change",
        [
            {"budget": budget_of(3000)},
            {"model": "larger", "budget": budget_of(3000)},
            {"around": ALONE},
        ],
        ids=["window", "model", "tools"],
    )
    def test_what_left_returns_when_there_is_room_again(self, change):
        """W42: the closing synthesis has no schemas."""
        run = SizedRun(budget_of(2600), TOOLS)
        assert run.fit(entries(LOOP)).outside_units == 5
        settings = {"budget": budget_of(2600), "around": TOOLS} | change
        fitted = run.fit(entries(LOOP), **settings)
        assert {a.do for a in fitted.plan.actions} == {"return"}
        assert fitted.outside_units < 5

    def test_what_the_caller_pins_later_returns_and_says_why(self):
        run = SizedRun(budget_of(1300))
        run.fit(entries(LOOP))
        fitted = run.fit(entries(LOOP, pins=[2]))
        assert {2, 3} <= set(ordinals(fitted.view))
        assert (fitted.plan.actions[0].do, fitted.plan.actions[0].why) == (
            "return",
            "pinned",
        )

    def test_half_of_an_exchange_that_is_pinned_later_returns_alone(self):
        run = SizedRun(budget_of(1000))
        notation = "S U A U A U A~500 U"
        first = run.fit(entries(notation))
        assert {3, 4} <= outside_of(first, entries(notation))
        fitted = run.fit(entries(notation, pins=[3]))
        returned = [a for a in fitted.plan.actions if a.do == "return"]
        assert [a.roles for a in returned] == [("user",)]

    def test_a_result_given_again_brings_its_step_back_as_a_return(self):
        run = SizedRun(budget_of(1300))
        run.fit(entries(LOOP))
        fitted = run.fit(entries(LOOP + " T(c0)"))
        assert fitted.plan.actions[0].why == "pinned"
        assert {2, 3, 14} <= set(ordinals(fitted.view))

    def test_units_keep_their_ids(self):
        run = SizedRun(budget_of(5000))
        before = run.fit(entries("S U A[a] T(a) A U")).unit_ids
        after = run.fit(entries("S U A[a] T(a) A U A[b] T(b)")).unit_ids
        assert {o: after[o] for o in before} == before
        assert before == {0: 0, 1: 1, 2: 2, 3: 2, 4: 3, 5: 4}

    def test_a_question_and_its_answer_become_one_unit(self):
        run = SizedRun(budget_of(5000))
        before = run.fit(entries("S U A U A")).unit_ids
        after = run.fit(entries("S U A U A U")).unit_ids
        assert (before[3], before[4]) == (3, 4)
        assert (after[3], after[4], after[5]) == (3, 3, 5)

    def test_a_name_too_dear_for_the_note_is_left_out_of_it(self):
        """What the plan sets aside for the note is never less than it costs."""
        names = tuple("QZJX" * 9 + str(n) for n in range(5))
        transcript = [replace(e, tools=names) for e in entries(LOOP)]
        fitted = SizedRun(budget_of(1300)).fit(transcript)
        assert "earlier turns" in fitted.note
        assert "They used" not in fitted.note
        assert fitted.estimate.upper == 600 + fitted.plan.note_delta_tokens


class TestSeedFaults:
    """What the three systems that we start from get wrong."""

    def test_no_answer_is_given_to_another_question(self):
        """W29: the answers are large, the window is not."""
        run = SizedRun(budget_of(3100))
        fitted = run.fit(entries("S U A~1575 U A~1575 U"))
        assert ordinals(fitted.view) == (0, 1, 3, 4, 5)
        fitted = SizedRun(budget_of(1500)).fit(entries("S U A~1575 U A~1575 U"))
        assert ordinals(fitted.view) == (0, 1, 5)

    def test_the_new_task_stays(self):
        """W30: the last user message is pinned."""
        notation = "S U A U A[a] T(a)~2080 A[b] T(b)~2080"
        fitted = SizedRun(budget_of(3500)).fit(entries(notation))
        assert ordinals(fitted.view) == (0, 1, 3, 6, 7)

    def test_steps_without_any_user_message_can_go(self):
        """W31: five large results in a scheduled run."""
        steps = " ".join(f"A[{c}] T({c})~2400" for c in "abcde")
        fitted = SizedRun(budget_of(6946)).fit(entries(f"S {steps}"))
        assert fitted.terminus is None
        assert ordinals(fitted.view)[:1] == (0,)
        assert {9, 10} <= set(ordinals(fitted.view))

    @pytest.mark.parametrize("budget", range(400, 700, 10))
    def test_no_result_loses_its_call(self, budget):
        """W35, at every budget of its own data that can hold the newest turn."""
        transcript = entries("S U A[a]~90 T(a)~90 A[b]~90 T(b)~90")
        fitted = SizedRun(budget_of(budget)).fit(transcript)
        assert check(fitted.view) == ()

    def test_a_parallel_step_goes_whole(self):
        """W35, F19: three calls and their results are one unit."""
        transcript = entries("S U A[a,b,c] T(a) T(b) T(c) A[d] T(d)")
        fitted = SizedRun(budget_of(799)).fit(transcript)
        assert ordinals(fitted.view) == (0, 1, 6, 7)

    def test_not_everything_can_go(self):
        """W36: the newest turn stays, or nothing is sent."""
        fitted = SizedRun(budget_of(390)).fit(entries("S U A[a] T(a) A[b] T(b)"))
        assert ordinals(fitted.view) == (0, 1, 4, 5)
        assert fitted.terminus is not None

    def test_nothing_over_budget_is_sent(self):
        """W37: the head alone is too large."""
        fitted = SizedRun(budget_of(500)).fit(entries("S~100 U~1000 A~50 T(x)~50"))
        assert fitted.terminus.needed_tokens > 500

    def test_a_late_result_goes_with_its_step(self):
        """W38: grouped by call, not by place."""
        notation = "S U A[a,b] T(a)~3600 A T(b)~800 A[c] T(c)~1600"
        fitted = SizedRun(budget_of(4820)).fit(entries(notation))
        assert not {2, 3, 5} & set(ordinals(fitted.view))
        assert {6, 7} <= set(ordinals(fitted.view))

    def test_a_large_reply_to_reused_ids_leaves_the_other_turn_alone(self):
        """W39: `call_0` in every turn."""
        steps = " ".join("A[call_0] T(call_0)" for _ in range(8))
        fitted = SizedRun(budget_of(1300)).fit(entries(f"S U {steps}"))
        assert check(fitted.view) == ()
        assert fitted.outside_units == 6

    def test_reasoning_stays_with_its_call(self):
        """W43: it is part of the message, counted and dropped with it."""
        transcript = entries("S U A[a]~900 T(a) A[b] T(b)")
        signed = replace(transcript[2], kinds=("reasoning", "tool_call"))
        transcript = (*transcript[:2], signed, *transcript[3:])
        fitted = SizedRun(budget_of(900)).fit(transcript)
        assert fitted.plan.actions[0].before_tokens == 1000
        assert ordinals(fitted.view) == (0, 1, 4, 5)


@pytest.mark.parametrize(
    ("notation", "pins", "budget", "kept"),
    [
        pytest.param("U A[a,b] T(a) T(b) A", [], 299, (0, 4), id="F01 F02 F11 F31"),
        pytest.param("S U A[a] T(a) U A", [], 599, (0, 1, 4, 5), id="F06 F26"),
        pytest.param("S U A[1] T(1) A[2] T(2)", [], 450, (0, 1, 4, 5), id="F12"),
        pytest.param(
            "U A[c] U A A[d] T(d) A[e] T(e)", [], 650, (0, 1, 2, 3, 6, 7), id="F16"
        ),
        pytest.param(
            "U " + "A[1,2,3,4,5,6] " + " ".join(f"T({n})" for n in range(1, 7)) + " A",
            [],
            600,
            (0, 8),
            id="F19",
        ),
        pytest.param(
            "U A[x] T(x) A[x] T(x) A[y] T(y)", [1], 600, (0, 1, 2, 5, 6), id="F24"
        ),
        pytest.param(
            "S U " + " ".join(f"A[{n}] T({n})" for n in range(30)),
            [],
            700,
            (0, 1, 60, 61),
            id="F32 F34",
        ),
        pytest.param("U T(x) T(y) U A[a] T(a)", [], 550, (0, 3, 4, 5), id="F11"),
        pytest.param("U A[a] T(a)~10 A[b] T(b)~4000 A", [], 600, (0, 5), id="F72"),
    ],
)
def test_faults_seen_in_the_field(notation, pins, budget, kept):
    """The inputs of A to D and H: never a lone result, the task and the newest stay."""
    transcript = entries(notation, pins=pins)
    fitted = SizedRun(budget_of(budget), fitter=fitter(DropOldest(0.1))).fit(transcript)
    assert fitted.terminus is None
    assert ordinals(fitted.view) == kept
    assert added_defects(transcript, fitted.view) == ()


class TestTerminus:
    def test_it_names_what_is_needed_and_what_cannot_go(self):
        fitted = SizedRun(budget_of(1000)).fit(entries("S~400 U~400 A[a] T(a) A~500"))
        terminus = fitted.terminus
        assert terminus.undroppable_units == (0, 1, 3)
        assert terminus.needed_tokens == 1300 == fitted.estimate.upper
        assert terminus.shortfall_tokens == terminus.needed_tokens - 1000
        assert fitted.breakdown.free_tokens == -terminus.shortfall_tokens

    @pytest.mark.parametrize(
        ("notation", "around", "reserve", "component", "words"),
        [
            ("S~9600 U", ALONE, 500, "system", "system prompt uses 96 % of"),
            ("S U", TOOLS, 9900, "reserve", "reserve for the answer uses 99 %"),
            ("S U~9900", ALONE, 500, "conversation", "turns that may not be dropped"),
            (
                "S U~900",
                Surroundings("t", TokenRange(0, 9000)),
                500,
                "tools",
                "offer fewer tools",
            ),
            (
                "S U",
                Surroundings("t", TokenRange(0, 0), "", 9800),
                500,
                "framing",
                "provider's own framing uses 98 %",
            ),
        ],
    )
    def test_its_hint_names_the_dominant_part(
        self, notation, around, reserve, component, words
    ):
        """C10, W58."""
        budget = Budget(Window(10_000), reserve, 0, reserve)
        fitted = SizedRun(budget, around).fit(entries(notation))
        assert fitted.terminus.component == component
        assert words in fitted.terminus.hint
        assert fitted.terminus.hint.endswith("tokens too many")

    def test_media_is_named_too(self):
        picture = replace(entries("S U~9900")[1], kinds=("uri",))
        fitted = SizedRun(budget_of(5000)).fit((entries("S")[0], picture))
        assert fitted.terminus.component == "media"

    def test_it_changes_nothing(self):
        """F37: after it, the list that fitted before gives the same view and no plan,
        and what was measured is still known."""
        run, other = SizedRun(budget_of(1300)), SizedRun(budget_of(1300))
        for each in (run, other):
            each.fit(entries("S U A[a] T(a)"))
            each.fitter.observe(Usage(300), reply_digest=None)
            each.fit(entries(LOOP))
            each.fitter.observe(Usage(700), reply_digest=None)
        assert run.fit(entries(LOOP + " U~5000")).terminus
        assert run.fit(entries(LOOP), model="m") == other.fit(entries(LOOP), model="m")

    def test_a_report_after_it_speaks_for_the_call_before(self):
        run = SizedRun(budget_of(1300))
        run.fit(entries("S U"), model="first")
        assert run.fit(entries("S U~5000"), model="second").terminus
        change = run.fitter.observe(Usage(150), reply_digest=None)
        assert change.actual_tokens == 150
        assert run.fitter.ledger("first").anchor_tokens == 150

    def test_a_note_alone_is_no_reason_for_it(self):
        """1,050 do not fit; 950 do, but not with a note."""
        transcript = entries("S~400 U~400 A[a]~50 T(a)~50 A~150")
        run = SizedRun(budget_of(1000))
        fitted = run.fit(transcript)
        assert (fitted.terminus, fitted.note) == (None, "")
        assert ordinals(fitted.view) == (0, 1, 4)
        assert (fitted.plan.outcome, fitted.plan.after_tokens) == ("done", 950)
        again = run.fit(transcript)
        assert (again.plan, again.view) == (None, fitted.view)

    def test_a_note_that_no_longer_fits_is_taken_back_and_told(self):
        run = SizedRun(budget_of(1000))
        note = run.fit(entries("S~300 U~300 A[a] T(a) A~250")).note
        fitted = run.fit(entries("S~300 U~300 A[a] T(a) A~250 A~350"))
        assert (bool(note), fitted.note, fitted.terminus) == (True, "", None)
        assert fitted.plan.note_delta_tokens < 0

    def test_a_larger_window_takes_the_run_on(self):
        """W59."""
        run = SizedRun(budget_of(1000))
        run.fit(entries(LOOP + " A~700"))
        assert run.fit(entries(LOOP + " A~1200")).terminus
        fitted = run.fit(entries(LOOP + " A~1200"), budget=budget_of(5000))
        assert fitted.terminus is None
        assert fitted.outside_units == 0

    def test_where_it_is_sent_all_the_same_it_is_remembered(self):
        """`enforce="send"`: what was dropped once is not told again, and is learned
        from."""
        run = SizedRun(budget_of(500), fitter=fitter(is_refusing=False))
        first = run.fit(entries(LOOP + " A~1000"))
        assert first.terminus
        assert first.plan.dropped_units == 6
        change = run.fitter.observe(Usage(900), reply_digest=None)
        second = run.fit(entries(LOOP + " A~1000"))
        assert change.outcome == "anchored"
        assert second.plan is None
        assert second.estimate.upper == 900

    def test_where_nothing_is_bounded_it_is_never_reached(self):
        """`enforce="observe"` only watches."""
        run = SizedRun(budget_of(500), fitter=fitter(is_bounding=False))
        fitted = run.fit(entries(LOOP))
        assert (fitted.plan, fitted.terminus) == (None, None)
        assert fitted.view == entries(LOOP)
        assert fitted.breakdown.free_tokens == -900


class TestLearning:
    def test_each_model_has_its_own_ledger(self):
        """W18, W27, W28: what one model reports says nothing of another."""
        run = SizedRun(budget_of(5000))
        run.fit(entries("S U"), model="a")
        run.fitter.observe(Usage(110), reply_digest=None)
        assert run.fit(entries("S U"), model="b").estimate.upper == 200
        assert run.fit(entries("S U"), model="a").estimate.upper == 110

    def test_accuracy_says_what_the_estimate_rests_on(self):
        run = SizedRun(budget_of(5000))
        assert run.fit(entries("S U")).accuracy == "conservative"
        run.fitter.observe(Usage(110), reply_digest=None)
        assert run.fit(entries("S U")).accuracy == "calibrated"

    def test_after_an_edit_measured_costs_are_forgotten(self):
        run = SizedRun(budget_of(5000))
        run.fit(entries("S U"))
        run.fitter.observe(Usage(150), reply_digest=None)
        run.fit(entries("S U A"))
        run.fitter.observe(Usage(240), reply_digest=None)
        share = run.fitter.ledger("m").contribution(entries("S U A")[2])
        edited = (replace(entries("S")[0], ordinal=9), *entries("S U A")[1:])
        run.fit(edited)
        forgotten = run.fitter.ledger("m").contribution(entries("S U A")[2])
        assert (share.upper, forgotten.upper) == (90, 50)


@given(transcripts(), BUDGETS)
def test_kept_and_dropped_are_all(transcript, budget):
    """Cross check 6: kept + dropped + altered = all units, by id."""
    run = SizedRun(budget)
    fitted = run.fit(transcript)
    kept = {fitted.unit_ids[o] for o in ordinals(fitted.view)}
    dropped = {fitted.unit_ids[o] for o in outside_of(fitted, transcript)}
    assert kept | dropped == set(fitted.unit_ids.values())
    assert not kept & dropped
    assert len(dropped) == fitted.outside_units
    if fitted.plan:
        assert {a.unit for a in fitted.plan.actions} == dropped
        assert (fitted.plan.kept_units, fitted.plan.dropped_units) == (
            len(kept),
            len(dropped),
        )


@given(transcripts(), BUDGETS)
def test_never_over_budget_unless_it_is_the_terminus(transcript, budget):
    fitted = SizedRun(budget).fit(transcript)
    assert (fitted.estimate.upper > budget.tokens) == (fitted.terminus is not None)
    assert (fitted.breakdown.free_tokens < 0) == (fitted.terminus is not None)


@given(transcripts(), BUDGETS)
def test_at_the_terminus_only_what_may_not_go_is_left(transcript, budget):
    fitted = SizedRun(budget).fit(transcript)
    if fitted.terminus:
        kept = {fitted.unit_ids[o] for o in ordinals(fitted.view)}
        spare = kept - set(fitted.terminus.undroppable_units)
        assert all(
            e.tokens.upper == 0
            for e in transcript
            if fitted.unit_ids[e.ordinal] in spare
        )


@given(transcripts(), BUDGETS)
def test_the_view_is_in_the_old_order_and_the_input_untouched(transcript, budget):
    before = copy.deepcopy(transcript)
    fitted = SizedRun(budget).fit(transcript)
    assert transcript == before
    positions = ordinals(fitted.view)
    assert list(positions) == sorted(positions)
    assert all(fitted.view.count(e) == 1 for e in fitted.view)


@given(transcripts(), BUDGETS)
def test_a_view_of_a_list_in_order_is_in_order(transcript, budget):
    assert check(SizedRun(budget).fit(transcript).view) == ()


@given(transcripts(ANY_ENTRIES), BUDGETS)
def test_a_view_never_adds_a_defect(transcript, budget):
    """Cross check 3: also where the list arrived broken."""
    view = SizedRun(budget).fit(transcript).view
    assert added_defects(transcript, view) == ()


@given(transcripts(), BUDGETS)
def test_fitting_again_is_the_same(transcript, budget):
    """Cross check 4: prune(prune(x)) = prune(x)."""
    run = SizedRun(budget)
    first = run.fit(transcript)
    second = run.fit(transcript)
    if first.terminus:
        assert second == first
    else:
        assert second.plan is None
        assert (second.view, second.estimate) == (first.view, first.estimate)


@given(transcripts(), BUDGETS)
def test_same_input_same_bytes(transcript, budget):
    plans = [SizedRun(budget).fit(transcript).plan for _ in range(2)]
    assert [p and p.to_json() for p in plans] == [plans[0] and plans[0].to_json()] * 2


@given(transcripts(), st.integers(0, 3000))
def test_where_nothing_bounds_it_one_message_more_never_lowers_the_estimate(
    transcript, size
):
    """Cross check 1."""
    run = SizedRun(budget_of(100_000))
    more = replace(entries(f"A~{size}")[0], ordinal=len(transcript))
    before = run.fit(transcript).estimate.upper
    run.fitter.observe(Usage(before - before // 3), reply_digest=None)
    anchored = run.fit(transcript).estimate.upper
    assert run.fit((*transcript, more)).estimate.upper == anchored + size


@given(
    transcripts(),
    BUDGETS,
    st.lists(st.sampled_from(["U", "A", "A[a] T(a)", "A[a,b] T(b) T(a)"]), max_size=6),
    st.data(),
)
def test_all_along_a_run_plans_tell_every_change(transcript, budget, blocks, data):
    """Only what changed since the fit before is listed, and all of that."""
    run, outside = SizedRun(budget), set()
    note, view = "", ()
    for block in ["", *blocks]:
        start = len(transcript)
        more = entries(block)
        transcript += tuple(replace(e, ordinal=start + e.ordinal) for e in more)
        fitted = run.fit(transcript)
        if fitted.terminus:
            break
        actions = fitted.plan.actions if fitted.plan else ()
        for action in actions:
            (outside.add if action.do == "drop" else outside.remove)(action.unit)
        assert outside == {fitted.unit_ids[o] for o in outside_of(fitted, transcript)}
        if fitted.plan is None:
            assert fitted.note == note
            assert fitted.view[: len(view)] == view
        else:
            assert fitted.estimate.upper == fitted.plan.after_tokens
        note, view = fitted.note, fitted.view
        upper = fitted.estimate.upper
        reported = data.draw(st.sampled_from([None, upper, upper - upper // 3]))
        run.fitter.observe(Usage(reported), reply_digest=None)


class Remembering(DropOldest):
    """The default policy; remembers its last plan."""

    plans: ClassVar[list[Plan]] = []

    def plan(self, units, room):
        self.plans[:] = [super().plan(units, room)]
        return self.plans[0]


@given(st.lists(st.text("abQZ_-.7é漢]\n", min_size=1, max_size=60), min_size=7))
def test_a_note_never_costs_more_than_is_set_aside(names):
    transcript = [
        replace(entry, tools=names[entry.ordinal - 2 : entry.ordinal - 1])
        for entry in entries("S U " + "A " * len(names) + "A U")
    ]
    run = SizedRun(budget_of(1000), fitter=fitter(Remembering(0.01)))
    fitted = run.fit(transcript)
    assert fitted.note
    assert fitted.estimate.upper <= Remembering.plans[0].after_tokens


@given(
    st.integers(600, 4000),
    st.sampled_from([0.3, 0.7, 1]),
    st.lists(
        st.sampled_from(["U", "A", "A U", "A[a] T(a)", "A[a,b] T(b) T(a)"]),
        min_size=3,
        max_size=12,
    ),
    st.data(),
)
def test_all_along_a_run_the_truth_lies_within_the_estimate(
    budget, low_water, blocks, data
):
    """With steps, notes, prunes and reports: as long as every single size is right."""
    run = SizedRun(budget_of(budget), fitter=fitter(DropOldest(low_water)))
    transcript, costs = (), {}
    for block in ["S U", *blocks]:
        more = entries(block)
        sizes = data.draw(st.lists(st.integers(0, 400), min_size=1, max_size=1)) * 5
        start = len(transcript)
        transcript += tuple(
            replace(
                e, ordinal=start + e.ordinal, digests=(f"{start + e.ordinal:032x}",)
            )
            for e in sized(more, sizes[: len(more)])
        )
        fitted = run.fit(transcript)
        if fitted.terminus:
            break
        for entry in fitted.view:
            if entry.ordinal not in costs:
                upper = entry.tokens.upper + entry.framing_tokens
                costs[entry.ordinal] = data.draw(st.integers(entry.tokens.lower, upper))
        truth = sum(costs[entry.ordinal] for entry in fitted.view)
        assert fitted.estimate.lower <= truth <= fitted.estimate.upper
        reported = data.draw(st.sampled_from([truth, truth, truth, None]))
        change = run.fitter.observe(Usage(reported), reply_digest=None)
        assert change is None or change.outcome == "anchored"
