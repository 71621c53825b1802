"""Who decides what the model says: a script, or a recorded transcript played back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.standin.replies import Reply

Script = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Reply | str]
"""`script(messages, tools)`: both as they were received; text = a plain answer."""


class Playback:
    """A script that gives a transcript's assistant messages, one a request.

    It keeps its own place: a pruned request no longer tells how far a run has come.
    """

    def __init__(self, transcript: Sequence[Mapping[str, Any]]):
        self._replies = [
            Reply.from_message(m) for m in transcript if m["role"] == "assistant"
        ]
        self.played = 0

    def __call__(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> Reply:
        if self.played == len(self._replies):
            raise LookupError("the transcript has no further assistant message")
        self.played += 1
        return self._replies[self.played - 1]
