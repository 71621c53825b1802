"""Calibration: the provider's last figure is the truth, only what is new is estimated.

A `Ledger` belongs to one run and one model. The estimate of a view is additive:
`fixed_tokens + sum(contribution(entry))`, so that a policy may reason about units
alone.

- Nothing reported yet: every entry contributes its upper figure, and the fixed part is
  the tools and the provider's hidden cost.
- Anchored: entries that the anchor covers contribute what their leaving would free
  at least (known well where two reports measured them), the rest of the anchor is
  fixed, and only new entries contribute an upper figure, times the factor f.

Source: docs/decisions/0004-anchor-and-delta.md.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ullage.estimator import HIDDEN_TOKENS, NOTHING, TokenRange
from ullage.messages import Usage
from ullage.units import Entry

CHANGE_SLACK_TOKENS = 1024
REPLY_FRAMING_TOKENS = 16
SAMPLE_MIN_TOKENS = 64
SAMPLES = 8
SUSPECT_RATIO = 0.9


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is sent beside the messages.

    Attributes:
        tools_digest: of all definitions as dispatched, "" where there are none.
        tools: estimate of their JSON.
        settings: fingerprint of output format and reasoning level, "" for the defaults.
        hidden_tokens: what the provider may add on its own, at most.
    """

    tools_digest: str = ""
    tools: TokenRange = NOTHING
    settings: str = ""
    hidden_tokens: int = HIDDEN_TOKENS


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What one usage report did to the ledger; figures in tokens.

    Attributes:
        outcome: anchored, or suspect where the figure is too small to be the whole
            prompt (the ledger did not move).
        drift_ratio: estimate / actual; below 1 is an under-count.
    """

    outcome: str
    estimate_tokens: int
    actual_tokens: int
    drift_ratio: float
    factor_before: float
    factor_after: float
    anchor_before_tokens: int | None
    anchor_after_tokens: int | None


class Ledger:
    """What one run has learned about one model. Not thread-safe: a run is one thread.

    Args:
        prior_factor: factor that the run starts from, >= 1.
    """

    def __init__(self, prior_factor: float = 1.0) -> None:
        self.anchor_tokens: int | None = None
        self._covered: dict[int, Entry] = {}
        self._measured: dict[int, TokenRange] = {}
        self._reply_tokens: dict[str, TokenRange] = {}
        self._samples: deque[float] = deque([max(1.0, prior_factor)], maxlen=SAMPLES)
        self._surroundings = Surroundings()
        self._sent: tuple[tuple[Entry, ...], Surroundings, TokenRange] | None = None

    @property
    def factor(self) -> float:
        """f: the largest of the last eight measured ratios, never below 1."""
        return max(1.0, *self._samples)

    def fixed(self, around: Surroundings) -> TokenRange:
        """The part of every estimate that no entry carries."""
        if self.anchor_tokens is None:
            upper = around.tools.upper + around.hidden_tokens
            return TokenRange(around.tools.lower, upper)
        shared = [self._share(entry) for entry in self._covered.values()]
        lower = self.anchor_tokens - sum(share.upper for share in shared)
        upper = self.anchor_tokens - sum(share.lower for share in shared)
        if around != self._surroundings:
            before = self._surroundings.tools
            lower += around.tools.lower - before.upper - CHANGE_SLACK_TOKENS
            upper += around.tools.upper - before.lower + CHANGE_SLACK_TOKENS
        # An anchor may lie below all lower figures by what is not yet suspect.
        return TokenRange(lower, max(0, upper))

    def contribution(self, entry: Entry) -> TokenRange:
        """What an entry adds to the estimate of a view that holds it.

        `upper` adds up to the estimate, `lower` to the least that the prompt can cost.
        """
        if entry.ordinal in self._covered:
            share = self._share(entry)
            return TokenRange(share.upper, share.lower)
        return self._priced(entry)

    def estimate(self, view: Iterable[Entry], around: Surroundings) -> TokenRange:
        """What a view costs: never less than the truth is wanted of `upper`."""
        fixed = self.fixed(around)
        parts = [self.contribution(entry) for entry in view]
        upper = fixed.upper + sum(part.upper for part in parts)
        lower = fixed.lower + sum(part.lower for part in parts)
        return TokenRange(max(0, min(lower, upper)), upper)

    def send(
        self, view: Sequence[Entry], around: Surroundings, estimate: TokenRange
    ) -> None:
        """Remember what goes out: the next usage report is about this."""
        self._sent = (tuple(view), around, estimate)

    def forget_measured(self) -> None:
        """Drop what was measured one by one: the caller edited the transcript."""
        self._measured.clear()

    def observe(
        self, usage: Usage, *, reply_digest: str | None, units: Mapping[int, int]
    ) -> Calibrated | None:
        """Take in what the provider reported for the last view sent.

        Args:
            usage: missing or zero input tokens change nothing.
            reply_digest: of the answer, so that its cost is known when it comes back.
            units: unit id of every entry's ordinal.

        Returns:
            What moved; None where nothing was sent or nothing was reported.
        """
        if reply_digest and usage.output_tokens:
            least = usage.output_tokens - (usage.reasoning_tokens or 0)
            self._reply_tokens[reply_digest] = TokenRange(
                max(0, least), usage.output_tokens + REPLY_FRAMING_TOKENS
            )
        sent, self._sent = self._sent, None
        if sent is None or not usage.input_tokens:
            return None
        view, around, estimate = sent
        actual = usage.input_tokens
        before = self.factor, self.anchor_tokens
        is_suspect = actual < SUSPECT_RATIO * estimate.lower
        if not is_suspect:
            self._learn(view, around, actual, units)
            self._covered = {entry.ordinal: entry for entry in view}
            self._surroundings = around
            self.anchor_tokens = actual
        return Calibrated(
            outcome="suspect" if is_suspect else "anchored",
            estimate_tokens=estimate.upper,
            actual_tokens=actual,
            drift_ratio=estimate.upper / actual,
            factor_before=before[0],
            factor_after=self.factor,
            anchor_before_tokens=before[1],
            anchor_after_tokens=self.anchor_tokens,
        )

    def _share(self, entry: Entry) -> TokenRange:
        """What a covered entry's leaving frees: at least, and at most."""
        measured = self._measured.get(entry.ordinal)
        return self._priced(entry) if measured is None else measured

    def _priced(self, entry: Entry) -> TokenRange:
        """The price of an entry not measured: as an answer, else by the table."""
        reply = self._reply_tokens.get(entry.digests[-1]) if entry.digests else None
        if reply is not None:
            return reply
        upper = math.ceil(self.factor * (entry.tokens.upper + entry.framing_tokens))
        return TokenRange(entry.tokens.lower, upper)

    def _learn(
        self,
        view: Sequence[Entry],
        around: Surroundings,
        actual: int,
        units: Mapping[int, int],
    ) -> None:
        """Read the cost of what is new off two reports.

        What left and what our note costs may be known as a range only; then so is what
        is new. The range of a unit stands with its first new entry.
        """
        if self.anchor_tokens is None or around != self._surroundings:
            return
        present = {entry.ordinal for entry in view}
        gone = [e for e in self._covered.values() if e.ordinal not in present]
        new = [entry for entry in view if entry.ordinal not in self._covered]
        growth = actual - self.anchor_tokens
        freed = _total(self._share(entry) for entry in gone)
        notes = _total(self._priced(entry) for entry in new if entry.ordinal < 0)
        cost = TokenRange(
            growth + freed.lower - notes.upper, growth + freed.upper - notes.lower
        )
        fresh = [entry for entry in new if entry.ordinal >= 0]
        if cost.lower == cost.upper:
            self._sample(fresh, cost.upper)
        if cost.lower > 0 and len({units.get(e.ordinal) for e in fresh}) == 1:
            first, *others = fresh
            self._measured[first.ordinal] = _narrowed(
                cost, _total(self._priced(entry) for entry in fresh)
            )
            self._measured.update((entry.ordinal, NOTHING) for entry in others)

    def _sample(self, measured: Sequence[Entry], delta: int) -> None:
        """One ratio actual / raw estimate over the new entries that are no answers."""
        raw = actual = 0
        for entry in measured:
            reply = self._reply_tokens.get(entry.digests[-1]) if entry.digests else None
            if reply is None:
                raw += entry.tokens.upper + entry.framing_tokens
            else:
                actual -= reply.upper - REPLY_FRAMING_TOKENS
        if raw > SAMPLE_MIN_TOKENS:
            self._samples.append((delta + actual) / raw)


def _total(sizes: Iterable[TokenRange]) -> TokenRange:
    return sum(sizes, NOTHING)


def _narrowed(measured: TokenRange, estimated: TokenRange) -> TokenRange:
    """What two ranges agree on; the measured one where they disagree."""
    lower = max(measured.lower, estimated.lower)
    upper = min(measured.upper, estimated.upper)
    return TokenRange(lower, upper) if lower <= upper else measured
