"""What the scripted model says, and how a token limit cuts it short."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.support.standin.tokens import count_reply_tokens, cut_text


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call; `arguments` is the text as sent. Without an id the server gives one."""

    name: str
    arguments: str = "{}"
    id: str = ""

    def to_dict(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Reply:
    """One assistant message: text, calls, or both."""

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> "Reply":
        """The reply that a recorded assistant message was."""
        calls = tuple(
            ToolCall(c["function"]["name"], c["function"]["arguments"], c["id"])
            for c in message.get("tool_calls") or ()
        )
        return cls(message.get("content"), calls)

    def to_message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.tool_calls:
            message["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        return message

    @property
    def completion_tokens(self) -> int:
        return count_reply_tokens(self.to_message())

    def with_ids(self, next_id: Callable[[], str]) -> "Reply":
        """The same reply, each call with an id of its own."""
        calls = (c if c.id else replace(c, id=next_id()) for c in self.tool_calls)
        return replace(self, tool_calls=tuple(calls))


def say(text: str) -> Reply:
    """A plain answer."""
    return Reply(text)


def call(name: str, /, **arguments: Any) -> Reply:
    """An answer that calls one tool."""
    return calls((name, arguments))


def calls(*wanted: tuple[str, Mapping[str, Any]], content: str | None = None) -> Reply:
    """An answer that calls several tools at once, with or without words before them."""
    made = (ToolCall(n, json.dumps(a, ensure_ascii=False)) for n, a in wanted)
    return Reply(content, tuple(made))


def cut(reply: Reply, limit_tokens: int) -> tuple[Reply, str]:
    """What fits into the limit, and the finish reason: "stop", "tool_calls", "length".

    The text is written before the calls; a call that is reached too late is missing,
    the one being written ends in the middle of its arguments.
    """
    if reply.completion_tokens <= limit_tokens:
        return reply, "tool_calls" if reply.tool_calls else "stop"
    text = Reply(reply.content)
    if text.completion_tokens > limit_tokens:
        return Reply(cut_text(reply.content or "", limit_tokens)), "length"
    return Reply(
        reply.content, _calls_within(text, reply.tool_calls, limit_tokens)
    ), "length"


def _calls_within(
    text: Reply, wanted: Sequence[ToolCall], limit_tokens: int
) -> tuple[ToolCall, ...]:
    kept: tuple[ToolCall, ...] = ()
    for tool_call in wanted:
        if Reply(text.content, (*kept, tool_call)).completion_tokens <= limit_tokens:
            kept += (tool_call,)
            continue
        bare = replace(tool_call, arguments="")
        room = limit_tokens - Reply(text.content, (*kept, bare)).completion_tokens
        if room >= 0:
            kept += (replace(bare, arguments=cut_text(tool_call.arguments, room)),)
        break
    return kept
