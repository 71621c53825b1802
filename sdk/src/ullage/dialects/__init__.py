"""How each provider writes messages, tools and answers: pure functions, no network.

A dialect is a module with the functions of `Dialect`. Adding one = one file here and
one line in `DIALECTS`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ullage.dialects import openai_chat
from ullage.errors import ContextOverflowError, InvalidMessagesError
from ullage.messages import Message, Reply


class Dialect(Protocol):
    """What a dialect module offers. `Any` stands for the provider's own objects."""

    NAME: str

    def recognises(self, messages: Sequence[Any]) -> bool:
        """Whether every message is of this dialect's shape."""
        ...

    def read(self, message: Any, /) -> tuple[Message, ...]:
        """The neutral messages of one native message; raises InvalidMessagesError."""
        ...

    def fingerprint(self, message: Any, /) -> tuple[object, ...]:
        """A cheap figure that changes with nearly every edit in place."""
        ...

    def read_reply(self, reply: Any, /) -> Reply | None:
        """The answer read, or None where it is not of this dialect."""
        ...

    def note(self, text: str, /) -> Any:
        """A native user message with this text."""
        ...

    def result(self, call_id: str, text: str, /) -> Any:
        """A native message that answers one call."""
        ...

    def tool_definition(
        self, name: str, description: str, parameters: Mapping[str, Any], /
    ) -> dict[str, Any]:
        """A tool's definition as this provider takes it."""
        ...

    def overflow_of(self, error: BaseException, /) -> ContextOverflowError | None:
        """The provider's "prompt too long" as our error, None for anything else."""
        ...


DIALECTS: tuple[Dialect, ...] = (openai_chat,)


def dialect_for(messages: Sequence[Any]) -> Dialect:
    """The dialect of these messages.

    Raises:
        InvalidMessagesError: not a list, empty, or of a shape that no dialect knows;
            the position names the first message that is not understood.
    """
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
        raise InvalidMessagesError(
            f"messages is {type(messages).__name__}; pass the list that you send to "
            "the provider, oldest first"
        )
    if not messages:
        raise InvalidMessagesError(
            "messages is empty; pass at least the user's task as one message"
        )
    for dialect in DIALECTS:
        if dialect.recognises(messages):
            return dialect
    for position, message in enumerate(messages):
        openai_chat.require_shape(message, position)
    raise InvalidMessagesError("messages are of no known shape")  # pragma: no cover
