"""What an agent is set to do: a talk of one or more turns, each a run of its own.

A plan is the model's side as a generator: it yields replies, is sent the tool results
that came back, and returns the answer. It sees only what reached the model.
"""

import inspect
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.standin import Reply, Script, say
from ullage import Tool

Results = list[str]
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
Plan = Generator[Reply, Results, str]


@dataclass(frozen=True, slots=True)
class Turn:
    """One run: the user's words and the plan that answers them.

    `closing` is what the model says where its tools are taken away.
    """

    task: str
    plan: Callable[[], Plan]
    closing: str = "I ran out of calls before I was done."


@dataclass(frozen=True, slots=True)
class Scenario:
    """One talk of an agent.

    Attributes:
        name: unique; ids, times and the conversation are derived from it.
        agent: the agent's and the service's name.
        system: the system prompt.
        turns: oldest first; each sees the transcript of those before.
        tools: what the agent may call.
        model: by the provider's name.
        provider: as OpenTelemetry spells it, "" where it has no name.
        window_tokens: None = what the SDK knows or assumes of the model.
        max_output_tokens: wanted room for each answer.
        max_iterations: calls with tools before the closing synthesis.
        environment: production, staging, …
    """

    name: str
    agent: str
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...]
    model: str
    provider: str = "openai"
    window_tokens: int | None = None
    max_output_tokens: int = 500
    max_iterations: int = 40
    environment: str = "production"


@dataclass(frozen=True, slots=True)
class Agent:
    """Who works: name, system prompt and tools, the same in every scenario."""

    name: str
    system: str
    tools: tuple[Tool, ...]

    def at(
        self,
        name: str,
        model: str,
        window_tokens: int | None,
        *turns: Turn,
        **settings: Any,
    ) -> Scenario:
        """A scenario of this agent; settings are fields of `Scenario`."""
        given = {"system": self.system, "tools": self.tools, **settings}
        return Scenario(
            name=f"{self.name}/{name}",
            agent=self.name,
            model=model,
            window_tokens=window_tokens,
            turns=turns,
            **given,
        )


def tool(function: Callable[..., str], description: str, **properties: Any) -> Tool:
    """The function as a tool under its own name; `properties` are its arguments."""
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty]
    return Tool(
        function.__name__,
        description,
        {"type": "object", "properties": properties, "required": needed},
        function,
    )


def script_of(turn: Turn) -> Script:
    """The turn's plan as the stand-in server follows it, for one run."""
    plan = turn.plan()
    has_begun = False

    def script(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Reply:
        nonlocal has_begun
        if not tools:
            return say(turn.closing)
        try:
            reply = plan.send(results_of(messages)) if has_begun else next(plan)
        except StopIteration as end:
            return say(end.value)
        has_begun = True
        return reply

    return script


def results_of(messages: Sequence[dict[str, Any]]) -> Results:
    """The tool results at the end of what was received, in order."""
    results: Results = []
    for message in reversed(messages):
        if message["role"] != "tool":
            break
        results.append(message["content"])
    return results[::-1]
