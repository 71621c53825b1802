"""Geometry of the sparkline: the fill chart of the run page, small enough for a row.

Bars rise to the fill of each call, the brim runs across, a notch below the floor marks
a prune, and a stop closes a run that could not fit. Pure; no HTML.
"""

import math
from dataclasses import dataclass

from inspector.domain.runs.records import RunRow

WIDTH = 96
BARS_HEIGHT = 18
MAX_BARS = 48
MIN_SLOTS = 16
MAX_FILL = 1.1
STOPPED = ("context_truncated", "context_overflow")


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A small picture of one run's fills, in a box of its width by its height."""

    width: int
    height: int
    bars: str  # SVG path data
    brim_y: float
    notches: str  # SVG path data
    stop_x: float | None
    stop_y: float


def sparkline(run: RunRow) -> Sparkline:
    """The picture of one run; calls whose fill is not known leave a gap."""
    per_bar = max(1, -(-len(run.fills) // MAX_BARS))
    groups = [run.fills[i : i + per_bar] for i in range(0, len(run.fills), per_bar)]
    is_stopped = run.reason in STOPPED
    pitch = WIDTH / max(MIN_SLOTS, len(groups) + 2 * is_stopped)
    tops = [max((f for f in group if f is not None), default=None) for group in groups]
    pruned = sorted({index // per_bar for index in run.pruned_calls if index >= 0})
    return Sparkline(
        width=WIDTH,
        height=BARS_HEIGHT + 4,
        bars="".join(
            bar(slot * pitch, pitch, top) for slot, top in enumerate(tops) if top
        ),
        brim_y=height_at(1.0),
        notches="".join(
            f"M{slot * pitch:.2f} {BARS_HEIGHT + 1}v3"
            for slot in pruned
            if slot < len(tops)
        ),
        stop_x=round((len(groups) + 1) * pitch, 2) if is_stopped else None,
        stop_y=BARS_HEIGHT - 2.0,
    )


def bar(x: float, pitch: float, fill: float) -> str:
    """Path data of one bar standing on the floor, a fifth of its slot left free."""
    y, width = height_at(fill), pitch * 0.8
    return f"M{x:.2f} {y:g}h{width:.2f}V{BARS_HEIGHT}h-{width:.2f}z"


def height_at(fill: float) -> float:
    """Pixels from the top for a fill; more than MAX_FILL is drawn as MAX_FILL."""
    share = min(MAX_FILL, max(0.0, fill)) / MAX_FILL if math.isfinite(fill) else 0.0
    return round(BARS_HEIGHT * (1 - share), 2)
