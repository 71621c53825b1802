"""Every recorded run at a quarter, half and four fifths of its own size.

Prints a table; `ULLAGE_TEST_WRITE_BENCH=1 make bench` writes docs/benchmarks/replay.md.
"""

import os

from tests.support.environment import REPOSITORY
from tests.support.replay import SHARES, joined, read_transcripts, replay, table

PAGE = REPOSITORY / "docs" / "benchmarks" / "replay.md"
INTRODUCTION = """\
# Recorded runs at small windows

Public agent runs, call by call, through the real `run.fit` and `run.observe`, against a
stand-in model server that counts prompts with o200k (tools too), holds to its window
and to the provider's rules on pairing and order. The window is a share of the largest
prompt that the run would have sent, at least 1,024 tokens; every run starts cold,
without a prior. Short runs are mostly system prompt and tool definitions, which may not
be dropped: many end in a terminus before the first call. *Joined* rows play all runs of
a file as one long conversation, with call ids that come back.

- **calls**: made, of those recorded; a terminus ends its run.
- **prunes**, of them **needless**: the longer prompt would have been accepted, too.
- **termini**, of them **needless**: the smallest prompt allowed, counted exactly, would
  have been accepted.
- **fill before, after**: mean prompt ÷ window at a prune, in true tokens: had the last
  view gone on, and as sent.
- **lowest drift**: the smallest estimate ÷ actual of all calls; below 1 is an
  under-count. **Worst drift, anchored**: the largest, once the provider had reported.
- **overflows, violations, mutated**: prompts refused as too long, broken rules of the
  provider, transcripts or tools changed by a fit. Each has to be 0.

"""


def test_no_recorded_run_overflows(shared_data):
    """No overflow, broken pair, changed input or under-count, at any window."""
    outcomes = []
    for path in sorted((shared_data / "transcripts").glob("*.jsonl")):
        runs = read_transcripts(path)
        sets = {path.stem: runs}
        if len(runs) > 1:
            sets[f"{path.stem}, joined"] = [joined(runs)]
        outcomes += [
            (name, replay(played, share))
            for name, played in sets.items()
            for share in SHARES
        ]
    page = table(outcomes)
    print(f"\n{page}")
    if os.environ.get("ULLAGE_TEST_WRITE_BENCH"):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(f"{INTRODUCTION}{page}\n")
    assert outcomes
    for name, outcome in outcomes:
        assert outcome.overflows == 0, name
        assert outcome.violations == {}, name
        assert outcome.mutated == [], name
        assert min(outcome.drifts, default=1) >= 1, name
    long_runs = [o for name, o in outcomes if name == "coding_long"]
    assert all(o.prunes and o.calls == o.recorded_calls for o in long_runs)
