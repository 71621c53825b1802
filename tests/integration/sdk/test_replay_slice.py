"""One file of recorded runs through the real manager; all of them: `make bench`."""

import pytest

from tests.support.replay import SHARES, joined, read_transcripts, replay


@pytest.mark.parametrize(
    ("model", "share"),
    [*(("gpt-4o", share) for share in SHARES), ("unheard-of", 0.5)],
)
def test_recorded_runs_never_overflow(shared_data, share, model):
    """Short runs and a long one keep within their windows and stay well formed."""
    runs = read_transcripts(shared_data / "transcripts" / "swe_agent.jsonl")
    for outcome in (
        replay(runs, share, model=model),
        replay([joined(runs)], share, model=model),
    ):
        assert outcome.overflows == 0
        assert outcome.violations == {}
        assert outcome.mutated == []
    # The last one, joined, has room for every call, but only because it prunes.
    assert outcome.calls == outcome.recorded_calls
    assert outcome.prunes
    assert all(prune.after < prune.before for prune in outcome.prunes)
