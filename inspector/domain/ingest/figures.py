"""The ratios of a call and of a run, defined once; None = a part is not known; pure."""

from collections.abc import Iterable


def drift_of(estimate_tokens: int | None, actual_tokens: int | None) -> float | None:
    """Estimate ÷ actual; below 1 is an under-count."""
    if not estimate_tokens or not actual_tokens:
        return None
    return estimate_tokens / actual_tokens


def fill_of(
    input_tokens: int | None, window_tokens: int | None, utilization: float | None
) -> float | None:
    """Prompt tokens ÷ window, else what the emitter itself said."""
    if input_tokens and window_tokens:
        return input_tokens / window_tokens
    return utilization


def worst_drift_of(drifts: Iterable[float | None]) -> float | None:
    """The deepest under-count; where none is, the largest over-count."""
    known = [drift for drift in drifts if drift is not None]
    if not known:
        return None
    lowest = min(known)
    return lowest if lowest < 1 else max(known)
