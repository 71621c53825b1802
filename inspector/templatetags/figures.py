"""Numbers, sizes and times for templates, which do no arithmetic of their own.

Every filter is total: what is not known (None) or not a number reads as a dash, never
as zero. Figures carry their unit, joined by a no-break space.
"""

import math
from datetime import UTC, datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from inspector.domain.runs.chart import part_tokens as tokens_by_part
from inspector.domain.runs.records import Breakdown, RunRow
from inspector.domain.runs.sparkline import Sparkline, sparkline

register = template.Library()

UNKNOWN = "–"
NARROW = "\u202f"
SPACE = "\u00a0"


def number_in(value: object) -> float | None:
    """The finite number that a value is, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


@register.filter
def figure(value: object) -> str:
    """A whole number with thousands separated: 12,345."""
    number = number_in(value)
    return UNKNOWN if number is None else f"{round(number):,}"


@register.filter
def percent(value: object) -> str:
    """A ratio as whole percent: 0.973 is 97 %; under one percent says so."""
    number = number_in(value)
    if number is None:
        return UNKNOWN
    if 0 < number < 0.01:
        return f"<1{NARROW}%"
    return f"{100 * number:,.0f}{NARROW}%"


@register.filter
def share_of(part: object, whole: object) -> str:
    """Part as percent of whole; a dash where that cannot be said."""
    a, b = number_in(part), number_in(whole)
    return UNKNOWN if a is None or not b else percent(a / b)


@register.filter
def drift_words(value: object) -> str:
    """Estimate ÷ actual in words: 1.06 is 6 % over, 0.97 is 3 % under."""
    number = number_in(value)
    if number is None:
        return UNKNOWN
    off = 100 * abs(number - 1)
    if off < 0.05:
        return "exact"
    size = f"{off:.1f}" if off < 1 else f"{off:,.0f}"
    return f"{size}{NARROW}% {'over' if number > 1 else 'under'}"


@register.filter
def drift_tone(value: object) -> str:
    """`warn` for an under-count, the side on which a provider refuses; else `plain`."""
    number = number_in(value)
    return "warn" if number is not None and number < 0.9995 else "plain"


@register.filter
def token_range(lower: object, upper: object) -> str:
    """A lower and an upper figure: 412–520, or one figure where they agree."""
    low, high = number_in(lower), number_in(upper)
    if high is None:
        return figure(low)
    return figure(high) if low is None or low == high else f"{low:,.0f}–{high:,.0f}"


@register.filter
def duration(milliseconds: object) -> str:
    """A duration with the unit that keeps it short: 8 ms, 1.24 s, 3 min 05 s."""
    number = number_in(milliseconds)
    if number is None:
        return UNKNOWN
    if number < 999.5:
        return f"{number:.0f}{SPACE}ms" if number >= 1 else f"<1{SPACE}ms"
    seconds = number / 1000
    if seconds < 60:
        return f"{seconds:.3g}{SPACE}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{SPACE}min {rest:02d}{SPACE}s"
    return f"{minutes // 60}{SPACE}h {minutes % 60:02d}{SPACE}min"


@register.filter
def byte_size(value: object) -> str:
    """Bytes with a binary unit: 512 B, 1.5 KiB."""
    number = number_in(value)
    if number is None:
        return UNKNOWN
    for unit in ("B", "KiB", "MiB"):
        if abs(number) < 1024 or unit == "MiB":
            break
        number /= 1024
    return f"{number:.3g}{SPACE}{unit}"


@register.filter
def when(value: object) -> str | SafeString:
    """A relative time whose exact form (UTC, seconds) stands in its title."""
    if not isinstance(value, datetime):
        return UNKNOWN
    exact = value.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="milliseconds"),
        exact.strftime("%Y-%m-%d %H:%M:%S UTC"),
        ago((timezone.now() - value).total_seconds()),
    )


def ago(seconds: float) -> str:
    """How long ago, in the largest unit that says enough."""
    if seconds < 45:
        return "just now"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)}{SPACE}{unit} ago"
    return f"1{SPACE}min ago"


@register.filter
def ratio(value: object) -> str:
    """A plain factor with three decimals: 1.042."""
    number = number_in(value)
    return UNKNOWN if number is None else f"{number:.3f}"


@register.filter
def token_pair(value: object) -> str:
    """The `[lower, upper]` of a shape, as one range."""
    if isinstance(value, list | tuple) and len(value) == 2:
        return token_range(value[0], value[1])
    return figure(value)


@register.filter
def part_tokens(breakdown: Breakdown | None, part: str) -> int | None:
    """The tokens of one part of a breakdown; None where it is not known."""
    return dict(tokens_by_part(breakdown)).get(part)


@register.filter
def spark(run: RunRow) -> Sparkline:
    """The geometry of a run's sparkline."""
    return sparkline(run)
