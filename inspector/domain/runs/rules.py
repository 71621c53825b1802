"""What the state of a run is at a moment; pure."""

LOST_AFTER_SECONDS = 15 * 60


def status_of(*, is_ended: bool, touched_ns: int, now_ns: int) -> str:
    """running, ended or lost (15 minutes without a span; a late one reopens it)."""
    if is_ended:
        return "ended"
    is_lost = now_ns - touched_ns > LOST_AFTER_SECONDS * 1_000_000_000
    return "lost" if is_lost else "running"
