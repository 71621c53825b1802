"""What a fit costs: planning alone, a first fit of a long list, and a growing run."""

import time
from typing import Any, ClassVar

import pytest

from tests.support.sdk import SizedRun, budget_of, entries, fitter, messages
from ullage.manager import ContextWindowManager
from ullage.messages import Usage
from ullage.policies import DropOldest

STEPS = 2_499
"""Two messages each; with the head, 5,000."""

LONG = "S U " + " ".join(f"A[c{n % 7}] T(c{n % 7})~200" for n in range(STEPS))


def milliseconds(work):
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


class Watching(DropOldest):
    """The default policy; remembers what it was asked."""

    def plan(self, units, room):
        self.asked.append((units, room))
        return super().plan(units, room)

    asked: ClassVar[list[tuple[Any, Any]]] = []


def test_planning_over_5000_messages():
    """Units, ledger, policy and plan over messages that are known already: what every
    fit pays, whatever the messages hold."""
    transcript, budget = entries(LONG), budget_of(200_000)
    whole = min(
        milliseconds(lambda: SizedRun(budget).fit(transcript)) for _ in range(3)
    )
    SizedRun(budget, fitter=fitter(Watching())).fit(transcript)
    units, room = Watching.asked[-1]
    plan = min(milliseconds(lambda: DropOldest().plan(units, room)) for _ in range(5))
    print(f"\n5,000 known messages: {whole:.0f} ms, {plan:.1f} ms of it for the plan")
    assert len(units) == STEPS + 2
    assert whole <= 250
    assert plan <= 50


@pytest.mark.parametrize("window", [200_000, 4_000_000], ids=["pruned", "whole"])
def test_a_first_fit_of_5000_messages(window):
    natives = messages(LONG)
    run = ContextWindowManager(model="any-model", window=window).run()
    first = milliseconds(lambda: run.fit(natives))
    again = milliseconds(lambda: run.fit(natives))
    print(f"\nfirst fit of 5,000 messages: {first:.0f} ms; again: {again:.0f} ms")
    assert first <= 1_000
    assert again <= 500


def test_a_run_of_300_growing_calls():
    notation = "S U " + " ".join(f"A[c{n}] T(c{n})~300" for n in range(300))
    natives = messages(notation)
    run = ContextWindowManager(model="any-model", window=32_000).run()
    times = []
    for n in range(300):
        transcript = natives[: 2 * n + 2]
        times.append(milliseconds(lambda sent=transcript: run.fit(sent)))
        run.observe(Usage(input_tokens=1_000 + 330 * min(n, 60)))
    last = sorted(times[-50:])[25]
    print(
        f"\n300 growing calls: {sum(times):.0f} ms in all; the last {last:.1f} ms each"
    )
    assert sum(times) <= 10_000
