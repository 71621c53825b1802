"""Success answers in OpenAI's shape: `chat.completion`, its chunks, and `usage`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.standin.replies import Reply

CREATED_SECONDS = 1_700_000_000
"""A fixed time, so that two recordings of one run are equal."""
CHUNK_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Completion:
    """One answered request."""

    id: str
    model: str
    reply: Reply
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int

    @property
    def usage(self) -> dict[str, Any]:
        completion_tokens = self.reply.completion_tokens
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": self.prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }

    def body(self) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": {**self.reply.to_message(), "refusal": None},
            "logprobs": None,
            "finish_reason": self.finish_reason,
        }
        head = self._head("chat.completion")
        return {**head, "choices": [choice], "usage": self.usage}

    def chunks(self, *, include_usage: bool) -> Iterator[dict[str, Any]]:
        """The same answer in pieces; usage comes last and alone, if it is asked for."""
        head = self._head("chat.completion.chunk")
        if include_usage:
            head["usage"] = None
        for delta in self._deltas():
            yield {**head, "choices": [_choice(delta, None)]}
        yield {**head, "choices": [_choice({}, self.finish_reason)]}
        if include_usage:
            yield {**head, "choices": [], "usage": self.usage}

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": CREATED_SECONDS,
            "model": self.model,
        }

    def _deltas(self) -> Iterator[dict[str, Any]]:
        opening = None if self.reply.content is None else ""
        yield {"role": "assistant", "content": opening}
        for piece in _pieces(self.reply.content or ""):
            yield {"content": piece}
        for index, tool_call in enumerate(self.reply.tool_calls):
            opened = tool_call.to_dict()
            opened["function"]["arguments"] = ""
            yield {"tool_calls": [{"index": index, **opened}]}
            for piece in _pieces(tool_call.arguments):
                part = {"index": index, "function": {"arguments": piece}}
                yield {"tool_calls": [part]}


def _choice(delta: dict[str, Any], finish_reason: str | None) -> dict[str, Any]:
    return {
        "index": 0,
        "delta": delta,
        "logprobs": None,
        "finish_reason": finish_reason,
    }


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), CHUNK_CHARACTERS):
        yield text[start : start + CHUNK_CHARACTERS]
