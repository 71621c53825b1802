"""The manager, its runs and their fits: from provider objects to sizes and back.

`ContextWindowManager` is shared and holds no state of any run. A `Run` reads messages
through a dialect, hands sizes to its `Fitter`, gives back native messages, and reports
events. All state of one run lives in it; one run is used by one thread at a time.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from opentelemetry.trace import TracerProvider

from ullage import events
from ullage.budget import (
    MIN_OUTPUT_TOKENS,
    SAFETY_RATIO,
    Breakdown,
    Window,
    allot,
    window_of,
)
from ullage.calibration import Surroundings
from ullage.dialects import DIALECTS, dialect_for
from ullage.errors import (
    ConfigurationError,
    ContextOverflowError,
    ContextTruncatedError,
    MalformedTranscriptError,
    PolicyError,
    UllageError,
)
from ullage.estimator import (
    NOTHING,
    TokenRange,
    hidden_tokens,
    measure_tool,
    table_for,
)
from ullage.fitting import Fitted, Fitter, Terminus
from ullage.messages import Reply, Usage, canonical_bytes, digest_of
from ullage.pairing import Defect, added_defects, check
from ullage.plan import Plan
from ullage.policies import DropOldest, Policy
from ullage.telemetry import CONTENT_LEVELS, RunSpans, guard
from ullage.transcript import Redact, Transcript

ENFORCE = ("refuse", "send", "observe")
ON_INVALID = ("report", "refuse")


@dataclass(frozen=True, slots=True)
class Fit:
    """What to send.

    Attributes:
        messages: native objects in the old order, a new list.
        max_output_tokens: what the request should ask for, > 0.
        breakdown: where the window goes, in tokens; closes exactly.
        estimate: of the prompt, in tokens; not above `upper`, hardly below `lower`.
        accuracy: calibrated (anchored by the provider's figure), conservative (fitted
            table), or floor (some part's cost is not known).
        plan: what this fit changed; None where it changed nothing.
        report: what was not well formed on arrival, in order of position.
    """

    messages: list[Any]
    max_output_tokens: int
    breakdown: Breakdown
    estimate: TokenRange
    accuracy: str
    plan: Plan | None
    report: tuple[Defect, ...]


class ContextWindowManager:
    """Bounds the transcripts of runs to a model's window. Thread-safe; share one.

    Args:
        model: the model that serves the calls, by the provider's name.
        provider: as OpenTelemetry spells it ("openai"), "" where unknown.
        window: what the model holds: a `Window` or a number of tokens; None = by the
            model's name, else 8192 (the source is recorded with every call).
        policy: how room is made; None = `DropOldest()`.
        safety_ratio: share of the window kept free until the provider has reported.
        min_output_tokens: the reserve is never clamped below this.
        enforce: "refuse" ends a run that cannot fit; "send" prunes, but sends anyway;
            "observe" only watches.
        on_invalid: "report" tells what was broken on arrival; "refuse" raises.
        prior_factor: calibration factor that runs start from, >= 1.
        content: what spans tell of messages: "none", "structure" (sizes and digests) or
            "full" (text too); None = ULLAGE_CONTENT, else "structure".
        redact: applied to every neutral message before it is hashed or leaves the
            process.
        listeners: called with (run id, event) for everything that happens; what they
            raise is logged and goes no further.
        tracer_provider: None = the global one, looked up at each run.

    Raises:
        ConfigurationError: an argument makes no sense.
    """

    def __init__(
        self,
        *,
        model: str,
        provider: str = "",
        window: Window | int | None = None,
        policy: Policy | None = None,
        safety_ratio: float = SAFETY_RATIO,
        min_output_tokens: int = MIN_OUTPUT_TOKENS,
        enforce: str = "refuse",
        on_invalid: str = "report",
        prior_factor: float = 1.0,
        content: str | None = None,
        redact: Redact | None = None,
        listeners: Sequence[events.Listener] = (),
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        self.model = model
        self.provider = provider
        self.policy: Policy = policy or DropOldest()
        self.safety_ratio = safety_ratio
        self.min_output_tokens = min_output_tokens
        self.enforce = _one_of(enforce, ENFORCE, "enforce")
        self.on_invalid = _one_of(on_invalid, ON_INVALID, "on_invalid")
        self.prior_factor = prior_factor
        level = content or os.environ.get("ULLAGE_CONTENT") or "structure"
        self.content = _one_of(level, CONTENT_LEVELS, "content")
        self.redact = redact
        self.listeners = tuple(listeners)
        self.tracer_provider = tracer_provider
        if window is not None and not isinstance(window, Window):
            window = Window(window)
        self._window = window
        self._require()

    def _require(self) -> None:
        """Raise ConfigurationError here, and not at the first fit."""
        if isinstance(self.policy, type) or not hasattr(self.policy, "plan"):
            raise ConfigurationError(
                f"policy is {self.policy!r}; give a policy, such as DropOldest()"
            )
        factor = self.prior_factor
        if not isinstance(factor, (int, float)) or not 1 <= factor < math.inf:
            raise ConfigurationError(
                f"prior_factor is {factor!r}; use a number from 1 up"
            )
        allot(
            self.window_for(self.model),
            safety_ratio=self.safety_ratio,
            min_output_tokens=self.min_output_tokens,
        )

    def window_for(self, model: str) -> Window:
        """The window that bounds calls of a model.

        Raises:
            ConfigurationError: not a model's name.
        """
        if not isinstance(model, str) or not model:
            raise ConfigurationError(
                f"model is {model!r}; give the name that the provider knows"
            )
        if model == self.model and self._window is not None:
            return self._window
        return window_of(model)

    def run(self, *, agent: str = "", conversation_id: str | None = None) -> "Run":
        """Open a run; use it with `with`.

        Args:
            agent: the agent's name, for spans and pages.
            conversation_id: joins the runs of one conversation; never invented.
        """
        return Run(self, agent=agent, conversation_id=conversation_id)


class Run:
    """One agent invocation. Opened by `ContextWindowManager.run`; not thread-safe."""

    def __init__(
        self, manager: ContextWindowManager, *, agent: str, conversation_id: str | None
    ) -> None:
        self._manager = manager
        self._table = table_for(manager.model, manager.provider)
        self._fitter = Fitter(
            policy=manager.policy,
            measure=self._table.measure,
            prior_factor=manager.prior_factor,
            is_bounding=manager.enforce != "observe",
            is_refusing=manager.enforce == "refuse",
        )
        self._transcript = Transcript(
            self._table,
            redact=manager.redact,
            keeps_bodies=manager.content == "full",
        )
        self._call_count = self._prune_count = 0
        self._is_waiting = self._is_ended = False
        self._reason = ""
        started = events.RunStarted(agent, conversation_id)
        self._spans = RunSpans(
            started, content=manager.content, tracer_provider=manager.tracer_provider
        )
        self.id = self._spans.run_id
        self._tell(started)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end(self._reason or _reason_of(error))

    @property
    def call_count(self) -> int:
        """Calls sent so far."""
        return self._call_count

    def fit(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        max_output_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        response_format: Any = None,
        model: str | None = None,
        pins: Sequence[int] = (),
        site: str = "host",
    ) -> Fit:
        """Choose which messages are sent so that the prompt keeps within the budget.

        Args:
            messages: oldest first, in the provider's own shape; never changed.
            tools: definitions as dispatched; None and an empty list both mean none.
            max_output_tokens: wanted room for the answer, > 0; None = a modest default.
            reasoning_tokens: added where the provider bills reasoning apart.
            response_format: output schema as dispatched; counted with the tools.
            model: where another model than the manager's serves this call.
            pins: positions in `messages` that must stay.
            site: where the call is made: host, tools, plain, synthesis or gate.

        Returns:
            The view with its plan; kept + dropped + altered = all units.

        Raises:
            ContextTruncatedError: the pinned units alone exceed the budget.
            InvalidMessagesError: messages of no known shape, or none at all.
            MalformedTranscriptError: broken on arrival, and `on_invalid="refuse"`.
            ConfigurationError: a figure is out of range.
            PolicyError: the policy would break a pair; nothing was sent.

        Source: docs/decisions/0005-what-may-be-dropped.md
        """
        self._close_unanswered()
        model = model or self._manager.model
        window = self._manager.window_for(model)
        dialect = dialect_for(messages)
        entries = self._transcript.sync(messages, dialect, pins=pins)
        report = check(entries)
        if report and self._manager.on_invalid == "refuse":
            raise MalformedTranscriptError(report)
        ledger = self._fitter.ledger(model)
        before = ledger.factor, ledger.anchor_tokens
        budget = allot(
            window,
            max_output_tokens=max_output_tokens,
            reasoning_tokens=reasoning_tokens,
            is_anchored=ledger.anchor_tokens is not None,
            safety_ratio=self._manager.safety_ratio,
            min_output_tokens=self._manager.min_output_tokens,
        )
        around = self._around(tools, response_format)
        fitted = self._fitter.fit(entries, model=model, budget=budget, around=around)
        if fitted.terminus and self._manager.enforce == "refuse":
            raise self._truncated(fitted, fitted.terminus, model)
        native = self._transcript.view(fitted, dialect)
        new_defects = added_defects(entries, fitted.view)
        if new_defects:
            raise PolicyError(f"the view would be broken: {new_defects[0].words}")
        self._start(fitted, model, site, before)
        return Fit(
            messages=native,
            max_output_tokens=budget.max_output_tokens,
            breakdown=fitted.breakdown,
            estimate=fitted.estimate,
            accuracy=fitted.accuracy,
            plan=fitted.plan,
            report=report,
        )

    def observe(self, reply: Any) -> None:
        """Take in the provider's answer to the last fit: its usage moves the estimate.

        Args:
            reply: the provider's answer, or `ullage.Usage`. An answer of no known
                shape, or without usage, changes nothing.
        """
        if not self._is_waiting:
            return
        read = self._transcript.read_reply(reply)
        shape = self._transcript.reply_shape(read) if read else None
        usage = reply if isinstance(reply, Usage) else read.usage if read else Usage()
        change = self._fitter.observe(
            usage, reply_digest=shape.digest if shape else None
        )
        index = self._call_count - 1
        self._is_waiting = False
        self._tell(_ended(index, usage, read, shape))
        if change is not None:
            self._tell(events.Calibration(index, change))

    def fail(self, error: BaseException) -> None:
        """The call of the last fit failed; nothing is learned from it."""
        if self._is_waiting:
            self._is_waiting = False
            kind = type(error).__name__
            index = self._call_count - 1
            self._tell(events.CallEnded(index, Usage(), error_type=kind))

    def end(self, reason: str = "completed") -> None:
        """Close the run; `with` does it. Later calls change nothing."""
        if self._is_ended:
            return
        self._close_unanswered()
        self._is_ended = True
        self._tell(events.RunEnded(reason, self._call_count, self._prune_count))

    def conclude(self, reason: str) -> None:
        """Say how the run ended; it is closed when its `with` block is left."""
        self._reason = reason

    def tool_started(self, name: str, call_id: str) -> None:
        """The loop is about to run a tool."""
        self._tell(events.ToolStarted(name, call_id))

    def tool_ended(self, call_id: str, error: BaseException | None) -> None:
        """The tool returned, or failed with an error."""
        kind = type(error).__name__ if error else None
        self._tell(events.ToolEnded(call_id, kind))

    def _around(
        self, tools: Sequence[Mapping[str, Any]] | None, response_format: Any
    ) -> Surroundings:
        sizes = self._transcript.sync_tools(tools or ())
        settings, size = "", NOTHING
        if response_format is not None:
            settings = digest_of(canonical_bytes(response_format))
            size = measure_tool({"response_format": response_format}, self._table)
        digest, tool_tokens = sizes
        hidden = hidden_tokens(self._table, has_tools=bool(digest))
        return Surroundings(digest, tool_tokens + size, settings, hidden)

    def _start(
        self,
        fitted: Fitted,
        model: str,
        site: str,
        before: tuple[float, int | None],
    ) -> None:
        index = self._call_count
        if fitted.plan is not None:
            self._prune_count += 1
            self._tell(events.Pruned(index, fitted.plan))
        self._call_count += 1
        self._is_waiting = True
        factor, anchor_tokens = before
        self._tell(
            events.CallStarted(
                index=index,
                site=site,
                model=model,
                provider=self._manager.provider,
                policy=self._manager.policy.described,
                table=self._table.key,
                factor=factor,
                anchor_tokens=anchor_tokens,
                fitted=fitted,
                view=self._transcript.describe(fitted),
            )
        )

    def _truncated(
        self, fitted: Fitted, terminus: Terminus, model: str
    ) -> ContextTruncatedError:
        """The run ends here: tell so, and what would help."""
        self._reason = "context_truncated"
        provider = self._manager.provider
        self._tell(events.Truncated(self._call_count, model, provider, fitted))
        return ContextTruncatedError(
            needed_tokens=terminus.needed_tokens,
            budget_tokens=fitted.budget.tokens,
            component=terminus.component,
            hint=terminus.hint,
            undroppable_units=terminus.undroppable_units,
            breakdown=fitted.breakdown,
        )

    def _close_unanswered(self) -> None:
        """A fit whose answer was never reported: its call ends without usage."""
        if self._is_waiting:
            self._is_waiting = False
            self._tell(events.CallEnded(self._call_count - 1, Usage()))

    def _tell(self, event: events.Event) -> None:
        self._spans.on_event(event)
        for listener in self._manager.listeners:
            guard(listener)(self.id, event)


def _ended(
    index: int, usage: Usage, read: Reply | None, shape: events.Shape | None
) -> events.CallEnded:
    if read is None:
        return events.CallEnded(index, usage)
    return events.CallEnded(
        index=index,
        usage=usage,
        response_id=read.response_id,
        response_model=read.model,
        finish_reasons=read.finish_reasons,
        reply=shape,
    )


def _reason_of(error: BaseException | None) -> str:
    if error is None:
        return "completed"
    if isinstance(error, ContextTruncatedError):
        return "context_truncated"
    if not isinstance(error, Exception):  # a key, an exit, or asyncio's cancelling
        return "cancelled"
    is_overflow = isinstance(error, ContextOverflowError)
    if is_overflow or any(dialect.overflow_of(error) for dialect in DIALECTS):
        return "context_overflow"
    return "refused_by_hook" if isinstance(error, UllageError) else "provider_failed"


def _one_of(value: str, allowed: Sequence[str], name: str) -> str:
    if value not in allowed:
        raise ConfigurationError(
            f"{name} is {value!r}; use one of {', '.join(allowed)}"
        )
    return value
