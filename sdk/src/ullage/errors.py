"""Every error that Ullage raises.

UllageError
├── ConfigurationError        an argument makes no sense (also a ValueError)
├── InvalidMessagesError      the messages are of no known shape (also a ValueError)
├── MalformedTranscriptError  broken on arrival, and `on_invalid="refuse"`
├── PolicyError               a policy's plan does not add up, or breaks a pair
├── ContextTruncatedError     nothing fits: the provider was not called
└── ContextOverflowError      the provider said that the prompt is too long

Errors carry their numbers as attributes, in tokens; the text says what to do.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ullage.budget import Breakdown
    from ullage.pairing import Defect


class UllageError(Exception):
    """The root of all errors of this package."""


class ConfigurationError(UllageError, ValueError):
    """An argument makes no sense; the text says which, and what would."""


class InvalidMessagesError(UllageError, ValueError):
    """The messages have a shape that no dialect knows.

    Attributes:
        position: index of the first offending message, None where the list itself is.
    """

    def __init__(self, text: str, *, position: int | None = None) -> None:
        super().__init__(text)
        self.position = position


class MalformedTranscriptError(UllageError):
    """The transcript arrived broken, and the manager was told to refuse such.

    Attributes:
        defects: what is wrong, in order of position.
    """

    def __init__(self, defects: "tuple[Defect, ...]") -> None:
        words = "; ".join(defect.words for defect in defects)
        super().__init__(f"the transcript is not well formed: {words}")
        self.defects = defects


class PolicyError(UllageError):
    """A policy's plan does not add up or would break a pair; nothing was sent."""


class ContextTruncatedError(UllageError):
    """What may not be dropped is alone larger than the budget; no call was made.

    Attributes:
        needed_tokens: estimate of the smallest view.
        budget_tokens: what the prompt may use.
        shortfall_tokens: needed - budget, > 0.
        component: the dominant part: system, tools, conversation, media, framing or
            reserve.
        hint: the cheapest way out, in words.
        undroppable_units: ids of the units that may not go.
        breakdown: where the window goes; closes exactly (free is negative).
    """

    def __init__(
        self,
        *,
        needed_tokens: int,
        budget_tokens: int,
        component: str,
        hint: str,
        undroppable_units: tuple[int, ...],
        breakdown: "Breakdown",
    ) -> None:
        super().__init__(
            f"the smallest prompt needs {needed_tokens} tokens, the budget is "
            f"{budget_tokens}: {hint}"
        )
        self.needed_tokens = needed_tokens
        self.budget_tokens = budget_tokens
        self.shortfall_tokens = needed_tokens - budget_tokens
        self.component = component
        self.hint = hint
        self.undroppable_units = undroppable_units
        self.breakdown = breakdown


class ContextOverflowError(UllageError):
    """The provider refused the prompt as too long.

    Attributes:
        limit_tokens: the limit that the provider stated, None where it stated none.
        asked_tokens: the size that it counted, None where it said none.
    """

    def __init__(
        self,
        text: str,
        *,
        limit_tokens: int | None = None,
        asked_tokens: int | None = None,
    ) -> None:
        super().__init__(text)
        self.limit_tokens = limit_tokens
        self.asked_tokens = asked_tokens
