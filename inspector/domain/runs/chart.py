"""Geometry of the fill chart: numbers in, numbers out.

One call is one column and the vessel is the window. Horizontal places are percentages
of the plot, vertical places are pixels from the top, so that a page can stretch the
picture without stretching its text. No HTML, no words, no clock.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from inspector.domain.runs.records import (
    Breakdown,
    CallRow,
    PruneRow,
    RunDetail,
    Terminus,
)

PARTS = ("system", "tools", "conversation", "media", "framing")
UNSPLIT = "unsplit"
"""The part name of a column whose parts are not known."""

PLOT_HEIGHT = 200.0
SLOT_UNITS = 10
MIN_SLOTS = 24
MAX_COLUMNS = 400
MIN_SLOT_PX = 12
MAX_NATURAL_PX = 1280  # a long run is seen whole on a desk, and scrolls on a phone
HEADROOM = 1.04
MAX_OVERFLOW = 1.3
LABEL_GAP_PX = 13.0
AXIS_STEPS = (5, 10, 20, 50)
MAX_AXIS_TICKS = 24


@dataclass(frozen=True, slots=True)
class Block:
    """One part of one column; y is its upper edge."""

    part: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """One call, or the fullest of several neighbours where there are very many."""

    call: CallRow
    last_index: int  # equal to call.index unless the column stands for several calls
    first_index: int
    x: float
    width: float
    top_y: float
    tick_y: float | None  # the estimate, where the provider's figure stands beside it
    is_measured: bool
    blocks: tuple[Block, ...]

    @property
    def end(self) -> float:
        """The right edge, in percent."""
        return round(self.x + self.width, 3)

    @property
    def stands_for_several(self) -> bool:
        """Whether neighbours of this call are not drawn."""
        return self.last_index > self.first_index


@dataclass(frozen=True, slots=True)
class Layer:
    """All blocks of one part as one SVG path, in slot units across and pixels down."""

    part: str
    path: str


@dataclass(frozen=True, slots=True)
class Vessel:
    """Brim, budget line and reserve of neighbouring calls that share them."""

    x: float
    width: float
    brim_y: float
    budget_y: float | None
    reserve_y: float | None  # lower edge of the reserve, which hangs from the brim
    reserve_height: float
    height: float

    @property
    def end(self) -> float:
        """The right edge, in percent."""
        return round(self.x + self.width, 3)


@dataclass(frozen=True, slots=True)
class Notch:
    """Where a prune made room, just before its call."""

    x: float
    prune: PruneRow


@dataclass(frozen=True, slots=True)
class Stop:
    """The terminus: what the next call would have needed, and where it stops."""

    x: float
    width: float
    top_y: float
    height: float
    over_height: float  # the part above the budget line
    is_clipped: bool
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """A figure in the gutter, at the height that it names."""

    kind: str  # window | budget | zero
    y: float
    tokens: int


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A call number under its column."""

    x: float
    index: int


@dataclass(frozen=True, slots=True)
class FillChart:
    """Everything that the picture shows, and what its legend must explain."""

    natural_width_px: int
    plot_height_px: float
    view_width: int
    columns: tuple[Column, ...]
    layers: tuple[Layer, ...]
    unmeasured: str  # path of the columns whose height is only an estimate
    vessels: tuple[Vessel, ...]
    notches: tuple[Notch, ...]
    stop: Stop | None
    labels: tuple[Label, ...]
    axis: tuple[AxisTick, ...]
    parts: tuple[str, ...]
    calls_per_column: int
    scale_tokens: float

    @property
    def split_parts(self) -> tuple[str, ...]:
        """The parts that have a figure of their own."""
        return tuple(part for part in self.parts if part != UNSPLIT)

    @property
    def has_ticks(self) -> bool:
        """Whether any estimate stands beside the provider's own figure."""
        return any(c.tick_y is not None for c in self.columns)

    @property
    def has_budget(self) -> bool:
        """Whether any call says its budget."""
        return any(v.budget_y is not None for v in self.vessels)

    @property
    def has_reserve(self) -> bool:
        """Whether any call keeps room for its answer."""
        return any(v.reserve_height > 0 for v in self.vessels)


def fill_chart(detail: RunDetail) -> FillChart:
    """The fill chart of one run; a run without calls gives an empty plot."""
    binned = bins(detail.calls, max_columns=MAX_COLUMNS)
    slots = max(MIN_SLOTS, len(binned) + (detail.terminus is not None))
    scale = scale_of(detail.calls, detail.terminus)
    columns = tuple(
        column_of(calls, slot=i, slots=slots, scale_tokens=scale)
        for i, calls in enumerate(binned)
    )
    stop = stop_of(detail.terminus, slot=len(columns), slots=slots, scale_tokens=scale)
    return FillChart(
        natural_width_px=min(slots * MIN_SLOT_PX, MAX_NATURAL_PX),
        plot_height_px=PLOT_HEIGHT,
        view_width=slots * SLOT_UNITS,
        columns=columns,
        layers=layers_of(columns),
        unmeasured=path_of(
            (slot, column.top_y, PLOT_HEIGHT - column.top_y)
            for slot, column in enumerate(columns)
            if column.blocks and not column.is_measured
        ),
        vessels=vessels_of(columns, detail.terminus, slots=slots, scale_tokens=scale),
        notches=notches_of(columns, detail.prunes),
        stop=stop,
        labels=labels_of(detail.calls, detail.terminus, scale_tokens=scale),
        axis=axis_of(columns),
        parts=parts_of(columns if stop is None else (*columns, stop)),
        calls_per_column=max((len(b) for b in binned), default=1),
        scale_tokens=scale,
    )


def bins(
    calls: Sequence[CallRow], *, max_columns: int
) -> tuple[tuple[CallRow, ...], ...]:
    """Neighbouring calls in at most `max_columns` groups of one size, in order."""
    size = max(1, math.ceil(len(calls) / max_columns))
    return tuple(tuple(calls[i : i + size]) for i in range(0, len(calls), size))


def height_tokens(call: CallRow) -> int | None:
    """What the provider counted, else the estimate, else None."""
    known = call.input_tokens if call.input_tokens is not None else call.estimate_tokens
    return None if known is None else max(0, known)


def scale_of(calls: Sequence[CallRow], terminus: Terminus | None) -> float:
    """Tokens at the top of the plot: the largest thing drawn, and a little air."""
    windows = [c.window_tokens or 0 for c in calls]
    drawn = [max(height_tokens(c) or 0, c.estimate_tokens or 0) for c in calls]
    if terminus is not None:
        windows.append(terminus.window_tokens or 0)
    tallest: float = max((*windows, *drawn), default=0)
    if terminus is not None:
        # A single huge result must not flatten the calls that did fit.
        limit = MAX_OVERFLOW * tallest if tallest else terminus.needed_tokens
        tallest = max(tallest, min(terminus.needed_tokens, limit))
    return max(1.0, tallest * HEADROOM)


def y_of(tokens: float, scale_tokens: float) -> float:
    """Pixels from the top; the floor of the vessel is at PLOT_HEIGHT."""
    share = min(1.0, max(0.0, tokens / scale_tokens))
    return round(PLOT_HEIGHT * (1 - share), 2)


def column_of(
    calls: Sequence[CallRow], *, slot: int, slots: int, scale_tokens: float
) -> Column:
    """The column of one bin: its fullest call speaks for it."""
    call = max(calls, key=lambda c: height_tokens(c) or -1)
    tokens = height_tokens(call)
    is_measured = call.input_tokens is not None
    has_tick = is_measured and call.estimate_tokens is not None
    return Column(
        call=call,
        first_index=calls[0].index,
        last_index=calls[-1].index,
        x=percent(slot, slots),
        width=percent(1, slots),
        top_y=y_of(tokens or 0, scale_tokens),
        tick_y=y_of(call.estimate_tokens or 0, scale_tokens) if has_tick else None,
        is_measured=is_measured,
        blocks=blocks_of(call.breakdown, tokens or 0, scale_tokens),
    )


def blocks_of(
    breakdown: Breakdown | None, tokens: int, scale_tokens: float
) -> tuple[Block, ...]:
    """The stack of one column, floor first; it closes exactly at the column's top.

    The breakdown is that of the estimate: its shares are laid over what was counted.
    """
    if tokens <= 0:
        return ()
    sizes = part_tokens(breakdown)
    total = sum(size for _, size in sizes)
    if total <= 0:
        sizes, total = ((UNSPLIT, tokens),), tokens
    edges, reached = [PLOT_HEIGHT], 0
    for _, size in sizes:
        reached += size
        edges.append(y_of(tokens * reached / total, scale_tokens))
    return tuple(
        Block(part, upper, round(lower - upper, 2))
        for (part, _), (lower, upper) in zip(sizes, pairwise(edges), strict=True)
        if lower > upper
    )


def part_tokens(breakdown: Breakdown | None) -> tuple[tuple[str, int], ...]:
    """The parts of a breakdown in stacking order, floor first; nothing below zero."""
    if breakdown is None:
        return ()
    return tuple((part, max(0, getattr(breakdown, f"{part}_tokens"))) for part in PARTS)


def parts_of(columns: Iterable[Column | Stop]) -> tuple[str, ...]:
    """The parts that are really drawn, in stacking order."""
    drawn = {block.part for column in columns for block in column.blocks}
    return tuple(part for part in (*PARTS, UNSPLIT) if part in drawn)


def layers_of(columns: Sequence[Column]) -> tuple[Layer, ...]:
    """One path for each part: a long run stays a handful of elements."""
    return tuple(
        Layer(
            part,
            path_of(
                (slot, block.y, block.height)
                for slot, column in enumerate(columns)
                for block in column.blocks
                if block.part == part
            ),
        )
        for part in parts_of(columns)
    )


def path_of(bars: Iterable[tuple[int, float, float]]) -> str:
    """SVG path data of (slot, y, height) bars that fill four fifths of their slots."""
    return "".join(
        f"M{slot * SLOT_UNITS + 1} {y:g}h{SLOT_UNITS - 2}v{height:g}h-{SLOT_UNITS - 2}z"
        for slot, y, height in bars
    )


def vessels_of(
    columns: Sequence[Column],
    terminus: Terminus | None,
    *,
    slots: int,
    scale_tokens: float,
) -> tuple[Vessel, ...]:
    """Brim, budget and reserve, one piece for each stretch of calls that share them.

    The last piece runs on to the end of the plot: the room that is still there.
    """
    limits = [limits_of(column.call) for column in columns]
    if terminus is not None:
        limits.append(limits_of(terminus))
    pieces, start = [], 0
    for shared, stretch in groupby(limits):
        end = start + len(tuple(stretch))
        right = slots if end == len(limits) else end
        if shared[0] is not None:
            span = (percent(start, slots), percent(right - start, slots))
            pieces.append(
                vessel_of(shared[0], shared[1], shared[2], span, scale_tokens)
            )
        start = end
    return tuple(pieces)


def limits_of(owner: CallRow | Terminus) -> tuple[int | None, int | None, int | None]:
    """Window, budget and reserve of a call or terminus, in tokens."""
    return owner.window_tokens, owner.budget_tokens, owner.reserve_tokens


def vessel_of(
    window_tokens: int,
    budget_tokens: int | None,
    reserve_tokens: int | None,
    span: tuple[float, float],
    scale_tokens: float,
) -> Vessel:
    """One piece of the vessel over `span` (x, width in percent)."""
    brim_y = y_of(window_tokens, scale_tokens)
    reserve_y = y_of(window_tokens - (reserve_tokens or 0), scale_tokens)
    return Vessel(
        x=span[0],
        width=span[1],
        brim_y=brim_y,
        budget_y=None if budget_tokens is None else y_of(budget_tokens, scale_tokens),
        reserve_y=reserve_y if reserve_tokens else None,
        reserve_height=round(max(0.0, reserve_y - brim_y), 2),
        height=round(PLOT_HEIGHT - brim_y, 2),
    )


def notches_of(
    columns: Sequence[Column], prunes: Sequence[PruneRow]
) -> tuple[Notch, ...]:
    """One notch for each prune, at the left edge of the column that holds its call."""
    place_of = {
        index: column.x
        for column in columns
        for index in range(column.first_index, column.last_index + 1)
    }
    return tuple(
        Notch(place_of[prune.call_index], prune)
        for prune in prunes
        if prune.call_index in place_of
    )


def stop_of(
    terminus: Terminus | None, *, slot: int, slots: int, scale_tokens: float
) -> Stop | None:
    """The column that was never sent; what rises above the budget is its shortfall."""
    if terminus is None:
        return None
    top_y = y_of(terminus.needed_tokens, scale_tokens)
    budget = terminus.budget_tokens
    budget_y = None if budget is None else y_of(budget, scale_tokens)
    return Stop(
        x=percent(slot, slots),
        width=percent(1, slots),
        top_y=top_y,
        height=round(PLOT_HEIGHT - top_y, 2),
        over_height=0.0 if budget_y is None else round(max(0.0, budget_y - top_y), 2),
        is_clipped=terminus.needed_tokens > scale_tokens,
        blocks=blocks_of(terminus.breakdown, terminus.needed_tokens, scale_tokens),
    )


def labels_of(
    calls: Sequence[CallRow], terminus: Terminus | None, *, scale_tokens: float
) -> tuple[Label, ...]:
    """Window and budget of the newest call that knows them, kept apart, and zero."""
    known: list[CallRow | Terminus] = [c for c in calls if c.window_tokens is not None]
    if not known and terminus is not None and terminus.window_tokens is not None:
        known = [terminus]
    labels = [Label("zero", PLOT_HEIGHT, 0)]
    if known:
        window, budget = known[-1].window_tokens or 0, known[-1].budget_tokens
        window_y = y_of(window, scale_tokens)
        labels.append(Label("window", window_y, window))
        if budget is not None:
            apart_y = max(y_of(budget, scale_tokens), window_y + LABEL_GAP_PX)
            labels.append(Label("budget", min(apart_y, PLOT_HEIGHT), budget))
    return tuple(labels)


def axis_of(columns: Sequence[Column]) -> tuple[AxisTick, ...]:
    """Every fifth call by its number, or a rounder step where there are very many."""
    step = next((s for s in AXIS_STEPS if len(columns) <= s * MAX_AXIS_TICKS), 50)
    return tuple(
        AxisTick(round(column.x + column.width / 2, 3), column.first_index)
        for column in columns[::step]
    )


def percent(part: float, whole: float) -> float:
    """Hundredths of the whole, to a thousandth of a percent."""
    return round(100 * part / whole, 3)
