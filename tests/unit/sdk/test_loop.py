"""The tool loop: three send sites through one fit, and a legible end."""

import copy
import json

import pytest

from tests.support.sdk import call
from ullage import events
from ullage.loop import Tool, ToolLoop
from ullage.manager import ContextWindowManager
from ullage.messages import Usage

TASK = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "add up"},
]


def say(text, **usage):
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message}], "usage": usage}


def ask(*calls, content=None, **usage):
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {"choices": [{"message": message}], "usage": usage}


class ScriptedModel:
    """Gives the answers of a list, the last one for ever; keeps what it was sent."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, **request):
        self.requests.append(copy.deepcopy(request))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def tool(function, name="tool_a"):
    return Tool(name, "does it", {"type": "object"}, function)


def overflow():
    error = RuntimeError("This model's maximum context length is 10 tokens.")
    error.code = "context_length_exceeded"
    return error


def run(model, *tools, task=TASK, **settings):
    return ToolLoop(model, tools=tools, **settings).run(task)


def manager(window=8192, **settings):
    return ContextWindowManager(model="any-model", window=window, **settings)


@pytest.mark.parametrize("bound", [None, manager()], ids=["alone", "managed"])
class TestWork:
    def test_calls_are_answered_until_the_model_is_done(self, bound):
        model = ScriptedModel(
            ask(call("a", '{"x": 2}'), call("b"), content="let me see"), say("4")
        )
        doubled = [tool(lambda x: {"twice": 2 * x}), tool(lambda: "text", "tool_b")]
        result = run(model, *doubled, manager=bound)
        assert (result.reason, result.output, result.calls) == ("completed", "4", 2)
        assert not result.is_retryable
        assert result.transcript[:2] == TASK
        assert result.transcript[3:5] == [
            {"role": "tool", "tool_call_id": "a", "content": '{"twice": 4}'},
            {"role": "tool", "tool_call_id": "b", "content": "text"},
        ]
        assert result.transcript[-1] == {"role": "assistant", "content": "4"}

    def test_at_the_cap_a_closing_answer_is_asked_for_without_tools(self, bound):
        """A3, A4."""
        model = ScriptedModel(ask(call("a")))
        model.answers = [ask(call("a"))] * 3 + [say("so far")]
        result = run(model, tool(lambda: "1"), manager=bound, max_iterations=3)
        assert (result.reason, result.output, result.calls) == (
            "max_iterations",
            "so far",
            4,
        )
        assert [bool(request["tools"]) for request in model.requests] == [
            *[True] * 3,
            False,
        ]

    def test_without_tools_the_call_is_plain(self, bound):
        model = ScriptedModel(say("hello"))
        assert run(model, task="hi", manager=bound).output == "hello"
        assert model.requests[0]["tools"] is None
        assert model.requests[0]["messages"] == [{"role": "user", "content": "hi"}]

    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            (call("x"), "error: there is no tool 'tool_x'; known tools: tool_a"),
            (call("a", "{broken"), "error: JSONDecodeError"),
            (call("a", "[1]"), "error: TypeError"),
            (call("a", '{"y": 1}'), "error: TypeError"),
            (call("a", '{"x": 0}'), "error: ZeroDivisionError: division by zero"),
        ],
        ids=["unknown", "no JSON", "no object", "wrong name", "it failed"],
    )
    def test_what_goes_wrong_with_a_tool_is_told_to_the_model(
        self, bound, asked, words
    ):
        """B8: the run goes on."""
        model = ScriptedModel(ask(asked), say("sorry"))
        result = run(model, tool(lambda x: 1 / x), manager=bound)
        assert result.reason == "completed"
        assert result.transcript[3]["content"].startswith(words)

    def test_usage_is_summed_and_what_was_never_reported_is_none(self, bound):
        model = ScriptedModel(
            ask(call("a"), prompt_tokens=100),
            ask(call("a")),
            say("1", prompt_tokens=150, completion_tokens=7),
        )
        result = run(model, tool(lambda: "1"), manager=bound)
        assert result.usage == Usage(input_tokens=250, output_tokens=7)

    def test_a_provider_that_fails_ends_the_run_with_what_there_is(self, bound):
        error = TimeoutError("down")
        model = ScriptedModel(ask(call("a"), content="first part"), error)
        result = run(model, tool(lambda: "1"), manager=bound)
        assert (result.reason, result.error) == ("provider_failed", error)
        assert (result.output, len(result.transcript)) == ("first part", 4)
        assert result.is_retryable

    @pytest.mark.parametrize("answer", [None, {}, {"choices": []}, "text"])
    def test_an_answer_without_a_message_is_a_failure(self, bound, answer):
        result = run(ScriptedModel(answer), manager=bound)
        assert result.reason == "provider_failed"
        assert isinstance(result.error, ValueError)

    def test_an_overflow_is_not_retried(self, bound):
        """A33, F119: its own reason, with the limit that the provider stated."""
        model = ScriptedModel(overflow())
        result = run(model, manager=bound)
        assert (result.reason, result.is_retryable) == ("context_overflow", False)
        assert result.error.limit_tokens == 10
        assert "maximum context length" in result.hint
        assert len(model.requests) == 1

    def test_the_callers_messages_are_not_changed(self, bound):
        task = copy.deepcopy(TASK)
        run(ScriptedModel(ask(call("a")), say("1")), tool(lambda: "1"), task=task)
        assert task == TASK


class TestUnbound:
    def test_the_full_transcript_is_sent_as_it_is(self):
        """A2: byte by byte, at every call, with the caller's own limit."""
        page = "word " * 5000
        model = ScriptedModel(*[ask(call("a"))] * 6, say("done"))
        result = run(model, tool(lambda: page))
        for count, request in enumerate(model.requests):
            sent = json.dumps(request["messages"])
            assert sent == json.dumps(result.transcript[: 2 + 2 * count])
            assert request["max_output_tokens"] is None
        assert result.breakdown is None


class TestBound:
    def work(self, window, page_words=400, calls=12, **settings):
        model = ScriptedModel(*[ask(call("a"))] * calls, say("done"))
        page = "word " * page_words
        bound = manager(window, **settings)
        result = run(model, tool(lambda: page), manager=bound, max_iterations=calls + 1)
        return model, result

    def test_every_request_is_fitted_and_the_transcript_stays_whole(self):
        """A5 mended: pruned for sending only."""
        model, result = self.work(8192)
        longest = max(len(request["messages"]) for request in model.requests)
        assert result.reason == "completed"
        assert longest < len(result.transcript) == 2 + 2 * 12 + 1
        assert model.requests[-1]["messages"][:2] == TASK
        assert model.requests[-1]["max_output_tokens"] == 1000

    def test_a_turn_too_large_ends_legibly_without_a_call(self):
        """A29, A30, W58: what there is, why, and what would help."""
        model, result = self.work(4096, page_words=5000)
        assert result.reason == "context_truncated"
        assert (result.calls, len(model.requests)) == (1, 1)
        assert result.breakdown.free_tokens < 0
        assert "cap what tools return" in result.hint
        assert len(result.transcript) == 4
        assert not result.is_retryable

    def test_a_closing_answer_that_does_not_fit_is_context_truncated(self):
        """A34: not max_iterations."""
        model = ScriptedModel(ask(call("a")))
        page = "word " * 5000
        result = run(model, tool(lambda: page), manager=manager(4096), max_iterations=1)
        assert result.reason == "context_truncated"

    def test_its_sites_and_its_reason_are_told(self):
        heard = []
        bound = manager(listeners=[lambda run_id, event: heard.append(event)])
        model = ScriptedModel(ask(call("a")))
        run(model, tool(lambda: "1"), manager=bound, max_iterations=2)
        started = [e for e in heard if isinstance(e, events.CallStarted)]
        assert [event.site for event in started] == ["tools", "tools", "synthesis"]
        tools = [e.name for e in heard if isinstance(e, events.ToolStarted)]
        assert tools == ["tool_a", "tool_a"]
        assert heard[-1] == events.RunEnded("max_iterations", 3, 0)

    def test_a_sub_agent_has_a_run_of_its_own(self):
        """W19: through the same manager, inside a tool."""
        bound = manager(16_000)

        def delegate():
            return run(
                ScriptedModel(say("sub", prompt_tokens=20)), manager=bound
            ).output

        model = ScriptedModel(
            ask(call("a"), prompt_tokens=900), say("done", prompt_tokens=950)
        )
        result = run(model, tool(delegate), manager=bound)
        assert result.reason == "completed"
        assert result.usage.input_tokens == 1850
