"""Window, reserve, safety and budget; and the breakdown that must close exactly.

budget = min(context, input cap + reserve) - reserve - safety. All figures in tokens.
The reserve is settled before anything is pruned, clamped, and written back to the
request.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ullage.errors import ConfigurationError

FALLBACK_CONTEXT_TOKENS = 8192
MIN_OUTPUT_TOKENS = 256
SAFETY_RATIO = 0.03
PARTS = ("system", "tools", "conversation", "media")


@dataclass(frozen=True, slots=True)
class Window:
    """What a model can hold.

    Attributes:
        context_tokens: prompt and answer together, > 0.
        input_cap_tokens: what the prompt alone may use, None = no such cap.
        output_cap_tokens: what the answer alone may use, None = no such cap.
        source: explicit, provider, framework, catalogue, learned or fallback.

    Raises:
        ConfigurationError: a figure is not positive.
    """

    context_tokens: int
    input_cap_tokens: int | None = None
    output_cap_tokens: int | None = None
    source: str = "explicit"

    def __post_init__(self) -> None:
        _require(self.context_tokens, "context_tokens")
        for name in ("input_cap_tokens", "output_cap_tokens"):
            if getattr(self, name) is not None:
                _require(getattr(self, name), name)


# The providers' model pages, read 2026-11; context, input cap, output cap.
_CATALOGUE: Mapping[str, tuple[int, int | None, int]] = {
    "gpt-5": (400_000, 272_000, 128_000),
    "gpt-4.1": (1_047_576, None, 32_768),
    "gpt-4o": (128_000, None, 16_384),
    "claude-sonnet-4": (200_000, None, 64_000),
    "claude-opus-4": (200_000, None, 32_000),
    "claude-haiku-4": (200_000, None, 64_000),
    "gemini-2.5": (1_048_576, None, 65_536),
}


def window_of(model: str) -> Window:
    """The window of a model by name: a few tested defaults, else the fallback."""
    name = model.rsplit("/", 1)[-1]
    for prefix, (context, input_cap, output_cap) in _CATALOGUE.items():
        if name == prefix or name.startswith(prefix + "-"):
            return Window(context, input_cap, output_cap, source="catalogue")
    return Window(FALLBACK_CONTEXT_TOKENS, source="fallback")


@dataclass(frozen=True, slots=True)
class Budget:
    """How a window is shared out for one request.

    Attributes:
        window: whose tokens are shared out.
        reserve_tokens: kept free for the answer, reasoning included.
        safety_tokens: kept free because the estimate is not anchored yet.
        max_output_tokens: what the request should ask for; already clamped.
    """

    window: Window
    reserve_tokens: int
    safety_tokens: int
    max_output_tokens: int

    @property
    def tokens(self) -> int:
        """What the prompt may use; may be below 1, then nothing fits."""
        context, cap = self.window.context_tokens, self.window.input_cap_tokens
        held = context if cap is None else min(context, cap + self.reserve_tokens)
        return held - self.reserve_tokens - self.safety_tokens

    @property
    def unusable_tokens(self) -> int:
        """What an input cap puts out of reach, >= 0."""
        held = self.tokens + self.reserve_tokens + self.safety_tokens
        return self.window.context_tokens - held


def allot(
    window: Window,
    *,
    max_output_tokens: int | None = None,
    reasoning_tokens: int | None = None,
    is_anchored: bool = False,
    safety_ratio: float = SAFETY_RATIO,
    min_output_tokens: int = MIN_OUTPUT_TOKENS,
) -> Budget:
    """Share out a window.

    Args:
        window: of the model that will really serve the call.
        max_output_tokens: wanted room for the answer; None = a modest default.
        reasoning_tokens: added where the provider bills reasoning apart; None or 0 =
            nothing.
        is_anchored: whether the provider has reported this run's prompt; then the
            safety share is 0, since the estimate of what is new carries the margin.
        safety_ratio: share of the window, 0 to 1.
        min_output_tokens: below this the reserve is clamped by the model's output cap
            only.

    Raises:
        ConfigurationError: a figure is out of range.
    """
    if max_output_tokens is not None:
        _require(max_output_tokens, "max_output_tokens")
    _require(reasoning_tokens or 0, "reasoning_tokens", least=0)
    _require(min_output_tokens, "min_output_tokens")
    if not isinstance(safety_ratio, (int, float)) or not 0 <= safety_ratio < 1:
        raise ConfigurationError(f"safety_ratio is {safety_ratio!r}; use 0 to below 1")
    context, cap = window.context_tokens, window.output_cap_tokens
    if max_output_tokens is None:
        wanted = cap or max(1000, math.ceil(context * 0.02))
        clamped = min(wanted, context // 4)
    else:
        wanted = max_output_tokens
        clamped = min(wanted, cap or wanted, context // 2)
    answer = max(clamped, min(wanted, cap or wanted, min_output_tokens))
    return Budget(
        window=window,
        reserve_tokens=answer + (reasoning_tokens or 0),
        safety_tokens=0 if is_anchored else math.ceil(context * safety_ratio),
        max_output_tokens=answer,
    )


def _require(figure: object, name: str, *, least: int = 1) -> None:
    if isinstance(figure, bool) or not isinstance(figure, int) or figure < least:
        raise ConfigurationError(
            f"{name} is {figure!r}; use a whole number of tokens, at least {least}"
        )


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Where the window goes, in tokens.

    system + tools + conversation + media + framing = estimate, and estimate + reserve +
    safety + unusable + free = window. `free` is negative at the terminus.
    """

    system_tokens: int
    tools_tokens: int
    conversation_tokens: int
    media_tokens: int
    framing_tokens: int
    estimate_tokens: int
    reserve_tokens: int
    safety_tokens: int
    unusable_tokens: int
    free_tokens: int
    window_tokens: int

    def __post_init__(self) -> None:
        parts = sum(self.parts.values())
        shares = (
            self.estimate_tokens
            + self.reserve_tokens
            + self.safety_tokens
            + self.unusable_tokens
            + self.free_tokens
        )
        if parts != self.estimate_tokens or shares != self.window_tokens:
            raise ValueError(f"the breakdown does not close: {self}")

    @property
    def parts(self) -> dict[str, int]:
        """The five parts of the estimate by name."""
        return {
            "system": self.system_tokens,
            "tools": self.tools_tokens,
            "conversation": self.conversation_tokens,
            "media": self.media_tokens,
            "framing": self.framing_tokens,
        }

    @property
    def dominant(self) -> str:
        """The largest of the five parts and the reserve, by name."""
        shares = {**self.parts, "reserve": self.reserve_tokens}
        return max(shares, key=lambda name: shares[name])


def break_down(
    measured: Mapping[str, int], *, estimate_tokens: int, budget: Budget
) -> Breakdown:
    """Close the books: the measured parts, and framing as the remainder.

    Args:
        measured: upper figures by name (system, tools, conversation, media); scaled
            down together where their sum exceeds the estimate.
        estimate_tokens: what the whole prompt is taken to cost.
        budget: how the window is shared out.
    """
    parts = _scaled({name: measured.get(name, 0) for name in PARTS}, estimate_tokens)
    spent = estimate_tokens + budget.reserve_tokens + budget.safety_tokens
    return Breakdown(
        system_tokens=parts["system"],
        tools_tokens=parts["tools"],
        conversation_tokens=parts["conversation"],
        media_tokens=parts["media"],
        framing_tokens=estimate_tokens - sum(parts.values()),
        estimate_tokens=estimate_tokens,
        reserve_tokens=budget.reserve_tokens,
        safety_tokens=budget.safety_tokens,
        unusable_tokens=budget.unusable_tokens,
        free_tokens=budget.window.context_tokens - spent - budget.unusable_tokens,
        window_tokens=budget.window.context_tokens,
    )


def _scaled(parts: dict[str, int], limit: int) -> dict[str, int]:
    total = sum(parts.values())
    if total <= limit:
        return parts
    return {name: tokens * limit // total for name, tokens in parts.items()}
