"""Reads about runs, for pages and API: tables in, the frozen values of `records` out."""

from dataclasses import dataclass

from inspector.domain.runs.records import CallDetail, RunDetail, RunRow


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of runs, newest first."""

    rows: tuple[RunRow, ...]
    next_after: str | None  # give it back as `after`; None = this was the last page
    total_count: int | None  # runs that match the filters


@dataclass(frozen=True, slots=True)
class RunCounts:
    """How many runs a project holds, by status."""

    total_count: int
    running_count: int
    ended_count: int
    lost_count: int


def run_list(
    *,
    project_id: int,
    limit: int = 50,
    after: str | None = None,
    agent: str = "",
    model: str = "",
    reason: str = "",
) -> RunPage:
    """Runs newest first; filters are exact, "" means any.

    Raises:
        InspectorError: `cursor_invalid`.
    """
    raise NotImplementedError


def run_get(*, project_id: int, run_id: str) -> RunDetail:
    """One run with its calls, prunes, terminus and timeline; a plain trace id leads to the
    outermost run of the trace.

    Raises:
        InspectorError: `run_not_found`.
    """
    raise NotImplementedError


def call_get(*, project_id: int, run_id: str, index: int) -> CallDetail:
    """One call opened: what was sent, what stood outside, what changed.

    Raises:
        InspectorError: `run_not_found`, `call_not_found`.
    """
    raise NotImplementedError


def run_change_tag(*, project_id: int) -> str:
    """A short text that changes whenever any run of the project does (an ETag for polling)."""
    raise NotImplementedError


def run_counts(*, project_id: int) -> RunCounts:
    """Counts of a project's runs."""
    raise NotImplementedError
