"""Codes as people read them: a run's end, a prune's deeds, a message's state.

A word always has a shape beside it, so that nothing is told by colour alone. Every
lookup is total: a stored value that no table knows reads as unknown or stands as it is.
"""

from collections import Counter
from dataclasses import dataclass

from inspector.domain.runs.records import PlanAction, PruneRow


@dataclass(frozen=True, slots=True)
class Outcome:
    """A word, the shape beside it and its tone; the shape tells it without colour."""

    code: str
    word: str
    shape: str  # an icon of templates/shared/icons.html
    tone: str  # good | stop | warn | quiet
    why: str


OUTCOMES = {
    o.code: o
    for o in (
        Outcome(
            "completed", "Completed", "check", "good", "The agent gave its answer."
        ),
        Outcome(
            "context_truncated",
            "Context truncated",
            "stop",
            "stop",
            "The next prompt could not fit, so no call was made.",
        ),
        Outcome(
            "context_overflow",
            "Context overflow",
            "overflow",
            "stop",
            "The provider refused a prompt as longer than its window.",
        ),
        Outcome(
            "max_iterations",
            "Iterations used up",
            "limit",
            "warn",
            "The loop reached its cap of calls before the agent was done.",
        ),
        Outcome(
            "provider_failed",
            "Provider failed",
            "cross",
            "warn",
            "The provider answered with an error that had nothing to do with length.",
        ),
        Outcome(
            "refused_by_hook",
            "Refused by hook",
            "hand",
            "warn",
            "A hook of the host refused to go on.",
        ),
        Outcome(
            "cancelled", "Cancelled", "dash", "quiet", "The host cancelled the run."
        ),
    )
}
RUNNING = Outcome(
    "running",
    "Running",
    "ring",
    "quiet",
    "The run has not ended yet; figures may grow.",
)
LOST = Outcome(
    "lost",
    "Lost",
    "gap",
    "warn",
    "No span came for 15 minutes and the end never arrived; rates leave this run out.",
)
UNKNOWN = Outcome(
    "unknown", "Unknown end", "query", "quiet", "The run ended without saying why."
)


def outcome_of(status: str, reason: str) -> Outcome:
    """The outcome of a run; a run that has not ended is running or lost."""
    if status == "running":
        return RUNNING
    if status == "lost":
        return LOST
    return OUTCOMES.get(reason, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of one message against the call before."""

    code: str
    word: str
    shape: str
    why: str


MARKS = {
    m.code: m
    for m in (
        Mark("kept", "kept", "same", "Was in the call before too."),
        Mark("new", "new", "plus", "Was not in the call before."),
        Mark("returned", "returned", "back", "Had been left out, and is back."),
        Mark(
            "altered", "altered", "tilde", "Stands here in a changed or shorter form."
        ),
        Mark("dropped", "dropped", "cut", "Is left out of this call."),
        Mark(
            "not_captured", "not captured", "hollow", "Its description never arrived."
        ),
    )
}


def mark_of(state: str) -> Mark:
    """The mark of a state; an unknown state is shown by its own name."""
    return MARKS.get(state) or Mark("other", state.replace("_", " "), "query", "")


# What an action did, and to what: turns leave or come back, results are made smaller.
DEEDS = {
    "drop": ("dropped", "turn"),
    "return": ("returned", "turn"),
    "clear": ("cleared", "result"),
    "clip": ("clipped", "result"),
    "summarize": ("summarised", "turn"),
    "offload": ("offloaded", "result"),
}


def plan_words(prune: PruneRow) -> str:
    """What a prune did: "dropped 3 turns (−2,140 tokens): grep ×2, read_file"."""
    if not prune.actions:
        return "changed nothing that was recorded"
    deeds = ", ".join(
        deed_words(do, count)
        for do, count in Counter(a.do for a in prune.actions).items()
    )
    tools = tool_words(prune.actions)
    return f"{deeds} ({freed_words(prune.actions)}){f': {tools}' if tools else ''}"


def deed_words(do: str, count: int) -> str:
    """One kind of action with its count."""
    verb, noun = DEEDS.get(do, (do, "turn"))
    return f"{verb} {count} {noun}{'' if count == 1 else 's'}"


def freed_words(actions: tuple[PlanAction, ...]) -> str:
    """The tokens that the actions freed (or took up again), with their sign."""
    change = sum(a.after_tokens - a.before_tokens for a in actions)
    return f"{'−' if change < 0 else '+'}{abs(change):,} tokens"


def tool_words(actions: tuple[PlanAction, ...]) -> str:
    """The tools whose turns were touched, most frequent first."""
    counts = Counter(tool for action in actions for tool in action.tools)
    return ", ".join(
        f"{name} ×{count}" if count > 1 else name
        for name, count in counts.most_common(4)
    )


def plan_reasons(prune: PruneRow) -> str:
    """The distinct reasons of a prune's actions."""
    return (
        ", ".join(dict.fromkeys(a.why.replace("_", " ") for a in prune.actions)) or "–"
    )


PART_WORDS = {
    "system": "system prompt",
    "tools": "tool definitions",
    "conversation": "conversation",
    "media": "media",
    "framing": "framing",
    "unsplit": "prompt, not split",
    "safety": "safety margin",
    "reserve": "reserve for the answer",
    "unusable": "beyond the input cap",
    "free": "free",
}
SITE_WORDS = {
    "tools": "in the loop, with tools",
    "plain": "plain completion",
    "synthesis": "closing synthesis",
    "gate": "at the gate",
    "host": "sent by the host",
}
ACCURACY_WORDS = {
    "exact": "counted exactly",
    "calibrated": "calibrated on the provider's last count",
    "conservative": "by table, kept high",
    "bound": "strict upper bound",
    "floor": "a floor: some part is unknown",
}
SPAN_ICONS = {
    "run": "vessel",
    "call": "call",
    "prune": "notch",
    "calibrate": "scale",
    "terminus": "stop",
    "tool": "hand",
    "http": "dash",
}
