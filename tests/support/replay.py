"""Recorded runs again, through the real manager and over real HTTP.

For each assistant message of a transcript: fit the messages before it, send the view to
the stand-in (which plays the transcript's own reply back), observe the answer, go on
with the transcript's own messages. What the prompts really cost is counted by the
stand-in's tokenizer, so that a fit is judged by the truth, not by its own estimate.

Plain httpx sends the requests: the openai client spends eight times as long on typing a
long transcript as everything else here takes. Its own road is tested with the stand-in.
"""

import copy
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx

import ullage
from tests.support.standin import (
    Model,
    StandIn,
    count_prompt_tokens,
    count_reply_tokens,
)

HEAD_ROLES = ("system", "developer")
SHARES = (0.25, 0.50, 0.80)
FLOOR_TOKENS = 1024
"""Below this the smallest reserve alone (256 tokens) takes over a quarter."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded run; `messages` and `tools` are in OpenAI's own shape."""

    id: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None

    @property
    def call_positions(self) -> list[int]:
        """Where the replies stand: what is before each of them was its prompt."""
        roles = enumerate(m["role"] for m in self.messages)
        return [i for i, role in roles if role == "assistant" and i > 0]

    @property
    def full_tokens(self) -> int:
        """The largest prompt of the run, had nothing ever been left out."""
        return count_prompt_tokens(self.messages[: self.call_positions[-1]], self.tools)

    @property
    def longest_reply_tokens(self) -> int:
        """What a caller who knows the agent asks for: no reply is ever cut."""
        replies = (self.messages[i] for i in self.call_positions)
        return max(count_reply_tokens(reply) for reply in replies)

    def window_tokens(self, share: float) -> int:
        return max(FLOOR_TOKENS, int(share * self.full_tokens))


def read_transcripts(path: Path) -> list[Transcript]:
    """The runs of one file; a run without any call has nothing to replay."""
    runs = (json.loads(line) for line in path.read_text().splitlines())
    read = [Transcript(r["id"], r["messages"], r["tools"] or None) for r in runs]
    return [transcript for transcript in read if transcript.call_positions]


def joined(transcripts: Sequence[Transcript]) -> Transcript:
    """All runs as one long one, with the first run's head and everyone's tools.

    Short runs are mostly head and tools, which may not be dropped; a joined one has
    room to prune. Call ids that several runs use come back in it, as in real life.
    """
    first, *others = transcripts
    messages = list(first.messages)
    for other in others:
        messages += [m for m in other.messages if m["role"] not in HEAD_ROLES]
    tools = {
        tool["function"]["name"]: tool for t in transcripts for tool in t.tools or ()
    }
    return Transcript("joined", messages, list(tools.values()) or None)


@dataclass(frozen=True, slots=True)
class Prune:
    """A fit that left something out, in true tokens.

    Attributes:
        before: fill of the window, had the last view simply gone on.
        after: fill with the view that was sent.
        is_needless: whether that longer prompt would have been accepted, too.
    """

    before: float
    after: float
    is_needless: bool


@dataclass(slots=True)
class Outcome:
    """What happened to the transcripts of one file at one share of their size.

    Attributes:
        share: window ÷ the run's own full size.
        recorded_calls: calls that the transcripts hold; a terminus skips the rest.
        needless_termini: the smallest prompt would have been accepted after all.
        drifts: estimate ÷ actual of every call.
        anchored_drifts: the same, of calls that the provider had reported before.
        mutated: ids of runs whose messages or tools were changed.
    """

    share: float
    runs: int = 0
    recorded_calls: int = 0
    calls: int = 0
    termini: int = 0
    needless_termini: int = 0
    prunes: list[Prune] = field(default_factory=list)
    drifts: list[float] = field(default_factory=list)
    anchored_drifts: list[float] = field(default_factory=list)
    overflows: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    mutated: list[str] = field(default_factory=list)


def replay(
    transcripts: Sequence[Transcript], share: float, *, model: str = "gpt-4o"
) -> Outcome:
    """Replay every run at this share of its own full size.

    Args:
        transcripts: each gets a manager and a window of its own.
        share: of the run's full size, 0 to 1.
        model: decides which table estimates; an unknown name takes the one for any.
    """
    outcome = Outcome(share)
    windows = [transcript.window_tokens(share) for transcript in transcripts]
    offered = [Model(f"{model}-{i}", w, w) for i, w in enumerate(windows)]
    with (
        StandIn(offered, keep_requests=1) as server,
        httpx.Client(base_url=server.base_url, timeout=30) as client,
    ):
        for transcript, on_offer in zip(transcripts, offered, strict=True):
            headers = server.play(transcript.id, transcript.messages)
            pristine = copy.deepcopy((transcript.messages, transcript.tools))
            _Replayed(transcript, on_offer, client, headers, outcome).play()
            if (transcript.messages, transcript.tools) != pristine:
                outcome.mutated.append(transcript.id)
        outcome.overflows = server.overflows
        outcome.violations = server.violations
    return outcome


class _Replayed:
    """One run on its way; `sent` is the last view, `sent_until` what it covered."""

    def __init__(
        self,
        transcript: Transcript,
        model: Model,
        client: httpx.Client,
        headers: dict[str, str],
        outcome: Outcome,
    ) -> None:
        self.transcript = transcript
        self.model = model
        self.client = client
        self.headers = headers
        self.outcome = outcome
        self.sent: list[Any] = []
        self.sent_until = 0

    def play(self) -> None:
        """Call after call, until the transcript or the room ends."""
        manager = ullage.ContextWindowManager(
            model=self.model.name, window=self.model.context_tokens
        )
        self.outcome.runs += 1
        self.outcome.recorded_calls += len(self.transcript.call_positions)
        with manager.run(agent=self.transcript.id) as run:
            for position in self.transcript.call_positions:
                try:
                    self._call(run, position)
                except ullage.ContextTruncatedError as error:
                    self._truncated(position, error.breakdown.reserve_tokens)
                    return
                except httpx.HTTPStatusError:  # the server has counted it
                    return

    def _call(self, run: ullage.Run, position: int) -> None:
        tools = self.transcript.tools
        fit = run.fit(
            self.transcript.messages[:position],
            tools=tools,
            max_output_tokens=self.transcript.longest_reply_tokens,
        )
        request = {
            "model": self.model.name,
            "messages": fit.messages,
            "max_completion_tokens": fit.max_output_tokens,
        }
        if tools:
            request["tools"] = tools
        answer = self.client.post(
            "/chat/completions", json=request, headers=self.headers
        )
        reply = answer.raise_for_status().json()
        run.observe(reply)
        self._judge(fit, reply["usage"]["prompt_tokens"], position)

    def _judge(self, fit: ullage.Fit, prompt_tokens: int, position: int) -> None:
        outcome, window_tokens = self.outcome, self.model.context_tokens
        outcome.calls += 1
        outcome.drifts.append(fit.estimate.upper / prompt_tokens)
        if fit.accuracy == "calibrated":
            outcome.anchored_drifts.append(outcome.drifts[-1])
        if fit.plan and any(action.do != "return" for action in fit.plan.actions):
            longer = self.sent + self.transcript.messages[self.sent_until : position]
            longer_tokens = count_prompt_tokens(longer, self.transcript.tools)
            prune = Prune(
                before=longer_tokens / window_tokens,
                after=prompt_tokens / window_tokens,
                is_needless=longer_tokens + fit.max_output_tokens <= window_tokens,
            )
            outcome.prunes.append(prune)
        self.sent, self.sent_until = fit.messages, position

    def _truncated(self, position: int, reserve_tokens: int) -> None:
        smallest = _undroppable(self.transcript.messages[:position])
        needed_tokens = count_prompt_tokens(smallest, self.transcript.tools)
        self.outcome.termini += 1
        if needed_tokens + reserve_tokens <= self.model.context_tokens:
            self.outcome.needless_termini += 1


def _undroppable(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Head, first and last user message, newest step: nothing smaller may be sent."""
    roles = [message["role"] for message in messages]
    users = [i for i, role in enumerate(roles) if role == "user"]
    newest = len(messages) - 1
    while newest > 0 and roles[newest] == "tool":
        newest -= 1
    head = [i for i, role in enumerate(roles) if role in HEAD_ROLES]
    kept = {*head, *users[:1], *users[-1:], *range(newest, len(messages))}
    return [messages[i] for i in sorted(kept)]


HEADINGS = (
    "transcripts",
    "window",
    "runs",
    "calls",
    "prunes",
    "needless",
    "termini",
    "needless",
    "fill before",
    "fill after",
    "lowest drift",
    "worst drift, anchored",
    "overflows",
    "violations",
    "mutated",
)


def table(outcomes: Iterable[tuple[str, Outcome]]) -> str:
    """All outcomes by the name of their file, as a Markdown table."""
    rows = [HEADINGS, ("---",) + ("---:",) * (len(HEADINGS) - 1)]
    rows += [_row(name, outcome) for name, outcome in outcomes]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(name: str, outcome: Outcome) -> tuple[str, ...]:
    prunes = outcome.prunes
    return (
        name,
        f"{outcome.share:.0%}",
        str(outcome.runs),
        f"{outcome.calls} of {outcome.recorded_calls}",
        str(len(prunes)),
        str(sum(prune.is_needless for prune in prunes)),
        str(outcome.termini),
        str(outcome.needless_termini),
        _mean_percent(prune.before for prune in prunes),
        _mean_percent(prune.after for prune in prunes),
        f"{min(outcome.drifts):.4f}" if outcome.drifts else "–",
        f"{max(outcome.anchored_drifts):.2f}" if outcome.anchored_drifts else "–",
        str(outcome.overflows),
        str(outcome.violations.total()),
        str(len(outcome.mutated)),
    )


def _mean_percent(fills: Iterable[float]) -> str:
    known = list(fills)
    return f"{fmean(known):.1%}" if known else "–"
