"""A run over provider objects: what a fit gives, what is learned, what is reported."""

import asyncio
import contextlib
import copy
import dataclasses
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.sdk import WELL_FORMED, call, messages
from ullage import events
from ullage.budget import Window
from ullage.errors import (
    ConfigurationError,
    ContextOverflowError,
    ContextTruncatedError,
    MalformedTranscriptError,
    PolicyError,
)
from ullage.manager import ContextWindowManager
from ullage.messages import Usage
from ullage.plan import Action, Plan

LOOP = "S U " + " ".join(f"A[c{n}] T(c{n})~300" for n in range(8))
TOOL = {"type": "function", "function": {"name": "grep", "description": "finds"}}


class Heard(list[events.Event]):
    """A listener; the events of one run, in order."""

    def __call__(self, run_id, event):
        self.append(event)

    def of(self, kind):
        return [event for event in self if isinstance(event, kind)]


@pytest.fixture
def heard():
    return Heard()


def manager(window=8192, **settings):
    return ContextWindowManager(model="any-model", window=window, **settings)


def answer(prompt_tokens=None, text="done", **usage):
    if prompt_tokens is not None:
        usage["prompt_tokens"] = prompt_tokens
    choice = {
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return {"id": "r", "model": "m-1", "choices": [choice], "usage": usage or None}


def overflow_by_provider():
    error = RuntimeError("maximum context length is 10 tokens")
    error.code = "context_length_exceeded"
    return error


class TestFit:
    def test_what_fits_is_sent_as_it_is(self):
        natives = messages("S U A[a] T(a)")
        with manager().run() as run:
            fit = run.fit(natives)
        assert fit.messages == natives
        assert all(a is b for a, b in zip(fit.messages, natives, strict=True))
        assert fit.messages is not natives
        assert (fit.plan, fit.report, fit.accuracy) == (None, (), "conservative")
        assert fit.max_output_tokens == 1000

    def test_what_does_not_fit_loses_its_oldest_steps(self):
        natives = messages(LOOP)
        with manager(3500).run() as run:
            fit = run.fit(natives)
        assert fit.messages[:2] == natives[:2]
        assert "left out" in fit.messages[2]["content"]
        assert fit.messages[3:] == natives[-len(fit.messages) + 3 :]
        assert fit.plan.dropped_units > 0
        assert fit.estimate.upper <= 3500 - 875 - 105

    @given(WELL_FORMED, st.integers(600, 6000))
    def test_the_callers_list_is_never_changed(self, notation, window):
        natives = messages(notation)
        before = copy.deepcopy(natives)
        with contextlib.suppress(ContextTruncatedError):
            manager(window).run().fit(natives)
        assert natives == before

    def test_all_that_is_sent_is_counted(self):
        """F47: system prompt and tools, and an output schema."""
        natives = messages("S~500 U")
        run = manager().run()
        plain = run.fit(natives)
        tools = run.fit(natives, tools=[TOOL])
        schema = run.fit(natives, tools=[TOOL], response_format={"type": "object"})
        assert plain.breakdown.system_tokens >= 500
        assert 0 < tools.breakdown.tools_tokens < schema.breakdown.tools_tokens
        assert plain.estimate.upper < tools.estimate.upper < schema.estimate.upper

    def test_no_tools_and_an_empty_list_count_nothing(self):
        """W57: absent and empty; what is dispatched is what is counted."""
        run = manager().run()
        absent, empty = run.fit(messages("U")), run.fit(messages("U"), tools=[])
        assert absent.estimate == empty.estimate
        assert absent.breakdown.tools_tokens == 0

    def test_the_limit_is_clamped_and_given_back(self):
        fit = manager(8192).run().fit(messages("U"), max_output_tokens=100_000)
        assert fit.max_output_tokens == fit.breakdown.reserve_tokens == 4096

    def test_reasoning_is_reserved_beside_it(self):
        fit = (
            manager()
            .run()
            .fit(messages("U"), max_output_tokens=500, reasoning_tokens=2000)
        )
        assert (fit.max_output_tokens, fit.breakdown.reserve_tokens) == (500, 2500)

    def test_another_model_is_fitted_by_its_own_window(self):
        """W27, W28: the window is that of the model that really serves the call."""
        run = manager(window=Window(3500)).run()
        small = run.fit(messages(LOOP))
        large = run.fit(messages(LOOP), model="gpt-4o")
        assert small.breakdown.window_tokens == 3500
        assert large.breakdown.window_tokens == 128_000
        assert large.messages == messages(LOOP)

    def test_pins_stay(self):
        natives = messages(LOOP)
        fit = manager(3500).run().fit(natives, pins=[2])
        assert fit.messages[3:5] == natives[2:4]

    def test_a_second_fit_of_the_same_list_changes_nothing(self):
        run = manager(3500).run()
        first, second = run.fit(messages(LOOP)), run.fit(messages(LOOP))
        assert second.plan is None
        assert second.messages == first.messages

    def test_what_was_anchored_is_calibrated(self):
        run = manager().run()
        run.fit(messages("S U"))
        run.observe(answer(300))
        fit = run.fit(messages("S U"))
        assert (fit.accuracy, fit.estimate.upper) == ("calibrated", 300)
        assert fit.breakdown.safety_tokens == 0

    def test_a_prior_lifts_the_first_estimate(self):
        plain = manager().run().fit(messages("U~1000")).estimate.upper
        lifted = manager(prior_factor=2).run().fit(messages("U~1000")).estimate.upper
        assert lifted > 1.8 * plain


class TestTerminus:
    def test_it_is_raised_with_its_numbers_and_nothing_is_sent(self, heard):
        run = manager(2000, listeners=[heard]).run(agent="a")
        with pytest.raises(ContextTruncatedError) as caught:
            run.fit(messages("S U~3000"))
        error = caught.value
        assert error.shortfall_tokens == error.needed_tokens - error.budget_tokens > 0
        assert error.breakdown.free_tokens == -error.shortfall_tokens
        assert (error.component, error.undroppable_units) == ("conversation", (0, 1))
        assert "may not be dropped" in error.hint
        assert str(error.needed_tokens) in str(error)
        assert error.hint in str(error)
        assert [type(e) for e in heard] == [events.RunStarted, events.Truncated]
        assert run.call_count == 0

    def test_the_run_ends_with_its_reason(self, heard):
        bound = manager(2000, listeners=[heard])
        with pytest.raises(ContextTruncatedError), bound.run() as run:
            run.fit(messages("S U~3000"))
        assert heard[-1] == events.RunEnded("context_truncated", 0, 0)

    def test_a_run_that_goes_on_after_it_is_as_before(self):
        run, other = manager(2500).run(), manager(2500).run()
        for each in (run, other):
            each.fit(messages("S U A[a] T(a)"))
            each.observe(answer(500))
        with pytest.raises(ContextTruncatedError):
            run.fit([*messages("S U A[a] T(a)"), *messages("U~9000")])
        after = run.fit(messages("S U A[a] T(a)"))
        assert after == other.fit(messages("S U A[a] T(a)"))
        assert run.call_count == other.call_count

    def test_enforce_send_prunes_and_sends_all_the_same(self, heard):
        """W56: one switch, on all paths, and recorded."""
        run = manager(2000, enforce="send", listeners=[heard]).run()
        fit = run.fit(messages(LOOP + " U~3000"))
        assert fit.plan.outcome == "unmet"
        assert fit.breakdown.free_tokens < 0
        assert [type(e) for e in heard[1:]] == [events.Pruned, events.CallStarted]
        run.observe(answer(4000))
        assert run.fit(messages(LOOP + " U~3000")).plan is None
        assert len(heard.of(events.Calibration)) == 1

    def test_enforce_observe_only_watches(self):
        fit = manager(2000, enforce="observe").run().fit(messages(LOOP))
        assert (fit.messages, fit.plan) == (messages(LOOP), None)
        assert fit.breakdown.free_tokens < 0


class TestWellFormedness:
    BROKEN = "S U T(x) A[a] T(a) A"

    def test_what_arrived_broken_is_reported(self):
        fit = manager().run().fit(messages(self.BROKEN))
        assert [(d.position, d.kind) for d in fit.report] == [(2, "orphaned_result")]
        assert fit.messages == messages(self.BROKEN)

    def test_or_refused_on_demand(self, heard):
        run = manager(on_invalid="refuse", listeners=[heard]).run()
        with pytest.raises(
            MalformedTranscriptError, match="answers no call x"
        ) as caught:
            run.fit(messages(self.BROKEN))
        assert caught.value.defects[0].call_id == "x"
        assert heard.of(events.CallStarted) == []

    def test_a_policy_that_drops_what_is_pinned_is_refused(self, heard):
        """C11: nothing is sent."""

        class Careless:
            described = "careless()"

            def plan(self, units, room):
                last = max(units, key=lambda unit: unit.id)
                before = room.fixed_tokens + sum(unit.tokens for unit in units)
                action = Action(
                    last.id, "drop", "over_budget", last.tokens, 0, (), (), ()
                )
                return Plan(
                    policy=self.described,
                    outcome="done",
                    target_tokens=0,
                    before_tokens=before,
                    after_tokens=before - last.tokens,
                    note_delta_tokens=0,
                    unit_count=len(units),
                    kept_units=len(units) - 1,
                    dropped_units=1,
                    altered_units=0,
                    actions=(action,),
                )

        run = manager(3500, policy=Careless(), listeners=[heard]).run()
        with pytest.raises(PolicyError, match="careless"):
            run.fit(messages(LOOP))
        assert heard.of(events.CallStarted) == []

    def test_a_view_that_would_be_broken_is_never_sent(self, heard, monkeypatch):
        """The last gate, whatever chose the view: W38, C6."""
        run = manager(listeners=[heard]).run()
        fitter = run._fitter
        choose = fitter.fit

        def cut(entries, **settings):
            fitted = choose(entries, **settings)
            return dataclasses.replace(fitted, view=fitted.view[3:])

        monkeypatch.setattr(fitter, "fit", cut)
        with pytest.raises(PolicyError, match="message 0 answers no call a"):
            run.fit(messages("S U A[a] T(a) A"))
        assert heard.of(events.CallStarted) == []


class TestObserve:
    @pytest.mark.parametrize(
        "reply",
        [
            None,
            "done",
            {},
            {"choices": []},
            {"choices": [{"delta": {}}]},
            Usage(),
            Usage(0, 68),
            answer(),
            answer(0),
            answer(float("nan")),
            answer(-3),
        ],
        ids=repr,
    )
    def test_without_usage_nothing_changes(self, heard, reply):
        """F74, F76, F81: the last good figure stays, and the call is marked."""
        run = manager(listeners=[heard]).run()
        run.fit(messages("S U"))
        run.observe(answer(300))
        run.fit(messages("S U"))
        run.observe(reply)
        assert run.fit(messages("S U")).estimate.upper == 300
        assert len(heard.of(events.Calibration)) == 1
        assert not heard.of(events.CallEnded)[1].usage.input_tokens

    def test_usage_may_be_given_by_itself(self):
        run = manager().run()
        run.fit(messages("S U"))
        run.observe(Usage(input_tokens=300))
        assert run.fit(messages("S U")).estimate.upper == 300

    def test_an_answer_that_comes_back_costs_what_it_cost(self):
        run = manager().run()
        natives = messages("S U")
        run.fit(natives)
        reply = answer(300, text="word " * 500, completion_tokens=501)
        run.observe(reply)
        more = [*natives, reply["choices"][0]["message"]]
        assert run.fit(more).estimate.upper == 300 + 501 + 16

    def test_a_nested_call_belongs_to_its_own_run(self):
        """W19: a tool that calls a model through the same manager."""
        shared = manager(16_000)
        outer = shared.run()
        outer.fit(messages("S U~3000"))
        with shared.run() as inner:
            inner.fit(messages("U"))
            inner.observe(answer(20))
        outer.observe(answer(4000))
        assert outer.fit(messages("S U~3000")).estimate.upper == 4000

    def test_a_second_answer_to_one_call_is_ignored(self, heard):
        run = manager(listeners=[heard]).run()
        run.fit(messages("S U"))
        run.observe(answer(300))
        run.observe(answer(20))
        assert run.fit(messages("S U")).estimate.upper == 300
        assert len(heard.of(events.CallEnded)) == 1

    def test_a_failed_call_teaches_nothing(self, heard):
        run = manager(listeners=[heard]).run()
        before = run.fit(messages("S U")).estimate
        run.fail(ContextOverflowError("too long", limit_tokens=10))
        run.observe(answer(20))
        assert run.fit(messages("S U")).estimate == before
        assert heard.of(events.CallEnded)[0].error_type == "ContextOverflowError"


class TestEvents:
    def test_of_a_run_in_order(self, heard):
        with manager(3500, listeners=[heard]).run(
            agent="triage", conversation_id="c1"
        ) as run:
            run.fit(messages("S U"))
            run.observe(answer(300))
            run.fit(messages(LOOP), tools=[TOOL], site="tools")
            run.fail(TimeoutError())
            run.tool_started("grep", "c1")
            run.tool_ended("c1", None)
            run.tool_ended("c2", ValueError("no"))
        assert [type(event) for event in heard] == [
            events.RunStarted,
            events.CallStarted,
            events.CallEnded,
            events.Calibration,
            events.Pruned,
            events.CallStarted,
            events.CallEnded,
            events.ToolStarted,
            events.ToolEnded,
            events.ToolEnded,
            events.RunEnded,
        ]
        assert heard[0] == events.RunStarted("triage", "c1")
        second = heard.of(events.CallStarted)[1]
        assert (second.index, second.site, second.model) == (1, "tools", "any-model")
        assert (second.policy, second.table) == ("drop_oldest(low_water=0.7)", "any")
        assert (second.factor, second.anchor_tokens) == (1.0, 300)
        assert heard.of(events.ToolEnded)[1].error_type == "ValueError"
        assert heard[-1] == events.RunEnded("completed", 2, 1)

    def test_an_answer_is_told_with_its_call(self, heard):
        run = manager(listeners=[heard]).run()
        run.fit(messages("S U"))
        run.observe(answer(300))
        (ended,) = heard.of(events.CallEnded)
        assert (ended.response_id, ended.response_model) == ("r", "m-1")
        assert ended.finish_reasons == ("stop",)
        assert ended.reply.role == "assistant"

    def test_a_call_that_nobody_reported_ends_with_the_next_or_the_run(self, heard):
        with manager(listeners=[heard]).run() as run:
            run.fit(messages("S U"))
            run.fit(messages("S U"))
        assert [e.index for e in heard.of(events.CallEnded)] == [0, 1]
        assert all(e.usage == Usage() for e in heard.of(events.CallEnded))

    def test_a_run_ends_once(self, heard):
        with manager(listeners=[heard]).run() as run:
            run.conclude("max_iterations")
        run.end("completed")
        assert [e.reason for e in heard.of(events.RunEnded)] == ["max_iterations"]

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (RuntimeError("down"), "provider_failed"),
            (KeyboardInterrupt(), "cancelled"),
            (GeneratorExit(), "cancelled"),
            (asyncio.CancelledError(), "cancelled"),
            (ContextOverflowError("too long"), "context_overflow"),
            (overflow_by_provider(), "context_overflow"),
            (ConfigurationError("wrong"), "refused_by_hook"),
        ],
    )
    def test_an_error_gives_the_reason(self, heard, error, reason):
        with pytest.raises(type(error)), manager(listeners=[heard]).run():
            raise error
        assert heard[-1].reason == reason

    def test_a_sub_agents_terminus_that_nobody_caught_is_the_runs_own(self, heard):
        bound = manager(2000, listeners=[heard])
        with pytest.raises(ContextTruncatedError), bound.run(), bound.run() as inner:
            inner.fit(messages("S U~3000"))
        ended = heard.of(events.RunEnded)
        assert [event.reason for event in ended] == ["context_truncated"] * 2

    def test_a_failure_without_a_call_is_no_event(self, heard):
        manager(listeners=[heard]).run().fail(TimeoutError())
        assert [type(event) for event in heard] == [events.RunStarted]

    def test_every_run_has_an_id_of_its_own(self):
        shared = manager()
        assert len({shared.run().id for _ in range(5)}) == 5


def test_one_manager_serves_many_threads():
    """F112, W18: two threads, one manager, different histories."""
    shared, found = manager(3500), {}

    def work(name, size):
        with shared.run(agent=name) as run:
            for _ in range(20):
                fit = run.fit(messages("S U~300"))
                run.observe(answer(size))
            found[name] = fit.estimate.upper

    threads = [threading.Thread(target=work, args=(f"t{n}", 900 + n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {f"t{n}": 900 + n for n in range(8)}


def test_unknown_fields_and_arguments_survive():
    """Peers D27: nothing is re-serialised."""
    native = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("a", '{ "x" :1.0}')],
        "x_vendor": {"kept": True},
    }
    natives = [*messages("S U"), native, *messages("T(a)")]
    assert manager().run().fit(natives).messages[2] is native


@given(WELL_FORMED, st.integers(600, 6000))
def test_a_view_of_a_list_in_order_is_in_order(notation, window):
    """Read again by its own rules: calls have results, and none is alone."""
    with manager(window).run() as run:
        try:
            fit = run.fit(messages(notation))
        except ContextTruncatedError:
            return
    assert manager(window).run().fit(fit.messages).report == ()
