"""A tool loop: call the model, run its tools, feed the results back, end legibly.

Every one of its three send sites passes the fit: the in-loop call with tools, the plain
call where no tools are offered, and the closing synthesis when the cap is hit (the last
two carry no schemas, so none are counted). Without a manager the full transcript is
sent as it is.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ullage.budget import Breakdown
from ullage.dialects import openai_chat
from ullage.errors import (
    ConfigurationError,
    ContextOverflowError,
    ContextTruncatedError,
)
from ullage.manager import ContextWindowManager, Run
from ullage.messages import Part, Reply, Usage, well_formed


class ModelCall(Protocol):
    """How the loop reaches the model; give back the provider's answer as it is."""

    def __call__(
        self,
        *,
        messages: list[Any],
        tools: list[dict[str, Any]] | None,
        max_output_tokens: int | None,
    ) -> Any:
        """Send one request; raise what the client raises."""
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call.

    Attributes:
        name: as the model sees it.
        description: what it does, for the model.
        parameters: JSON schema of its arguments, an object.
        function: called with the arguments by name; what it returns goes to the model
            (text as it is, anything else as JSON); what it raises goes there as text.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as it is dispatched."""
        return openai_chat.tool_definition(self.name, self.description, self.parameters)


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How a run ended.

    Attributes:
        reason: completed, max_iterations, context_truncated, context_overflow or
            provider_failed.
        output: the answer; the last text the model wrote where it did not finish.
        transcript: every message of the run, pruned ones too.
        usage: sums of what the provider reported; a figure never reported is None.
        calls: requests that reached the provider.
        breakdown: where the window went at the last fit, None without a manager.
        hint: the cheapest way out, "" where none is needed.
        error: what the provider or the fit raised, None where nothing was.
    """

    reason: str
    output: str
    transcript: list[Any] = field(repr=False)
    usage: Usage
    calls: int
    breakdown: Breakdown | None = None
    hint: str = ""
    error: BaseException | None = None

    @property
    def is_retryable(self) -> bool:
        """Whether the same run may succeed when tried again."""
        return self.reason == "provider_failed"


@dataclass(slots=True)
class _State:
    run: Run | None
    transcript: list[Any]
    output: str = ""
    usage: Usage = Usage()
    calls: int = 0
    breakdown: Breakdown | None = None


class ToolLoop:
    """Runs an agent: model, tools, and the window between them.

    Args:
        model_call: see `ModelCall`.
        tools: what the model may call.
        manager: bounds every request; None sends the full transcript.
        max_iterations: calls with tools before the closing synthesis, > 0.
        max_output_tokens: wanted room for each answer; None = a modest default.

    Raises:
        ConfigurationError: two tools have one name, or max_iterations is not above 0.
    """

    def __init__(
        self,
        model_call: ModelCall,
        *,
        tools: Sequence[Tool] = (),
        manager: ContextWindowManager | None = None,
        max_iterations: int = 10,
        max_output_tokens: int | None = None,
    ) -> None:
        if max_iterations < 1:
            raise ConfigurationError(
                f"max_iterations is {max_iterations!r}; use a whole number above 0"
            )
        names = [tool.name for tool in tools]
        if len(set(names)) < len(names):
            raise ConfigurationError(f"two tools have one name: {sorted(names)}")
        self._model_call = model_call
        self._tools = {tool.name: tool for tool in tools}
        self._definitions = [tool.definition for tool in tools]
        self._manager = manager
        self._max_iterations = max_iterations
        self._max_output_tokens = max_output_tokens

    def run(
        self,
        task: str | Sequence[Any],
        *,
        agent: str = "",
        conversation_id: str | None = None,
    ) -> LoopResult:
        """Work on a task until it is done, cannot go on, or the cap is hit.

        Args:
            task: the user's words, or the messages so far (never changed).
            agent: the agent's name, for spans and pages.
            conversation_id: joins the runs of one conversation.
        """
        messages = [openai_chat.note(task)] if isinstance(task, str) else list(task)
        if self._manager is None:
            return self._work(_State(None, messages))
        opened = self._manager.run(agent=agent, conversation_id=conversation_id)
        with opened as run:
            result = self._work(_State(run, messages))
            run.conclude(result.reason)
        return result

    def _work(self, state: _State) -> LoopResult:
        try:
            return self._iterate(state)
        except ContextTruncatedError as error:
            state.breakdown = error.breakdown
            return _result(state, "context_truncated", hint=error.hint, error=error)
        except ContextOverflowError as error:
            return _result(state, "context_overflow", hint=str(error), error=error)
        except _ProviderError as error:
            return _result(state, "provider_failed", error=error.__cause__)

    def _iterate(self, state: _State) -> LoopResult:
        site = "tools" if self._tools else "plain"
        for _ in range(self._max_iterations):
            reply = self._send(state, site)
            calls = [p for p in reply.message.parts if p.get("type") == "tool_call"]
            if not calls:
                return _result(state, "completed")
            for call in calls:
                self._answer(state, call)
        self._send(state, "synthesis")
        return _result(state, "max_iterations")

    def _send(self, state: _State, site: str) -> Reply:
        tools = self._definitions if site == "tools" else None
        messages, limit = list(state.transcript), self._max_output_tokens
        if state.run is not None:
            fit = state.run.fit(
                messages, tools=tools, max_output_tokens=limit, site=site
            )
            messages, limit = fit.messages, fit.max_output_tokens
            state.breakdown = fit.breakdown
        state.calls += 1
        answer = self._ask(state, messages, tools, limit)
        reply = openai_chat.read_reply(answer)
        if state.run is not None:
            state.run.observe(answer)
        if reply is None:
            raise _ProviderError from ValueError("the answer holds no choices")
        state.transcript.append(reply.native)
        state.output = _text(reply) or state.output
        state.usage = _added(state.usage, reply.usage)
        return reply

    def _ask(
        self,
        state: _State,
        messages: list[Any],
        tools: list[dict[str, Any]] | None,
        limit: int | None,
    ) -> Any:
        try:
            return self._model_call(
                messages=messages, tools=tools, max_output_tokens=limit
            )
        except Exception as error:
            overflow = openai_chat.overflow_of(error)
            if state.run is not None:
                state.run.fail(overflow or error)
            if overflow is not None:
                raise overflow from error
            raise _ProviderError from error

    def _answer(self, state: _State, call: Part) -> None:
        call_id, name = str(call.get("id") or ""), str(call.get("name") or "")
        if state.run is not None:
            state.run.tool_started(name, call_id)
        text, error = self._call_tool(name, str(call.get("arguments") or ""))
        if state.run is not None:
            state.run.tool_ended(call_id, error)
        state.transcript.append(openai_chat.result(call_id, text))

    def _call_tool(self, name: str, arguments: str) -> tuple[str, Exception | None]:
        """What goes back to the model: the result, or what went wrong, as text."""
        try:
            tool = self._tools[name]
        except KeyError as error:
            known = ", ".join(self._tools) or "none"
            return f"error: there is no tool {name!r}; known tools: {known}", error
        try:
            return _told(tool.function(**json.loads(arguments or "{}"))), None
        except Exception as error:  # noqa: BLE001 - a tool's failure is for the model
            return _told(f"error: {type(error).__name__}: {error}"), error


def _told(returned: Any) -> str:
    """What a tool returned as text that any provider takes."""
    if not isinstance(returned, str):
        returned = json.dumps(returned, ensure_ascii=False, default=str)
    return well_formed(returned)


class _ProviderError(Exception):
    """The model call failed; the cause says how."""


def _result(
    state: _State,
    reason: str,
    *,
    hint: str = "",
    error: BaseException | None = None,
) -> LoopResult:
    return LoopResult(
        reason=reason,
        output=state.output,
        transcript=state.transcript,
        usage=state.usage,
        calls=state.calls,
        breakdown=state.breakdown,
        hint=hint,
        error=error,
    )


def _text(reply: Reply) -> str:
    texts = (p.get("content") for p in reply.message.parts if p.get("type") == "text")
    return "".join(str(text) for text in texts if text)


def _added(first: Usage, second: Usage) -> Usage:
    return Usage(
        **{
            name: _sum(getattr(first, name), getattr(second, name))
            for name in Usage.__slots__
        }
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return second if first is None else first + (second or 0)
