"""What a run reports: frozen events, one for each thing that happened.

The budget core knows neither OpenTelemetry nor any provider: it hands these to
listeners, and spans are one listener (`ullage.telemetry`). Times are Unix nanoseconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ullage.calibration import Calibrated
    from ullage.fitting import Fitted
    from ullage.messages import Usage
    from ullage.plan import Plan


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run was opened."""

    agent: str
    conversation_id: str | None


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run was closed; `reason` is that of `LoopResult`."""

    reason: str
    call_count: int
    prune_count: int


@dataclass(frozen=True, slots=True)
class Shape:
    """One message as it is described on the wire, once in a run (docs/wire.md 4).

    Attributes:
        digest: of its canonical JSON.
        role: as the provider spells it.
        kinds: part types.
        tools: tool names.
        call_ids: ids called or answered; `kinds` tells which.
        body_bytes: length of the canonical JSON.
        tokens: lower and upper estimate of its text.
        unit: id of its unit, None for our own note.
        is_pinned: pinned by the caller.
        body: the canonical JSON, None unless content is captured.
    """

    digest: str
    role: str
    kinds: tuple[str, ...]
    tools: tuple[str, ...]
    call_ids: tuple[str, ...]
    body_bytes: int
    tokens: tuple[int, int]
    unit: int | None
    is_pinned: bool
    body: str | None


@dataclass(frozen=True, slots=True)
class ToolShape:
    """One tool definition as dispatched: name, size of its JSON, estimate."""

    name: str
    body_bytes: int
    tokens: tuple[int, int]


@dataclass(frozen=True, slots=True)
class View:
    """What was sent, as a hash chain (docs/wire.md 4).

    Attributes:
        digest: of the whole view.
        length: messages in it.
        base: the longest earlier view of this run that is a prefix of it, or "".
        added: digests of the messages after the base.
        described: messages that this run had not described yet, sent or not.
        tools_digest: of all tool definitions, "" where there are none.
        tools: their shapes, empty where this run has described them already.
        tools_body: their canonical JSON, None where described or not captured.
    """

    digest: str
    length: int
    base: str
    added: tuple[str, ...]
    described: tuple[Shape, ...]
    tools_digest: str
    tools: tuple[ToolShape, ...]
    tools_body: str | None


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A view was chosen and is about to be sent."""

    index: int
    site: str  # tools | plain | synthesis | gate | host
    model: str
    provider: str
    policy: str
    table: str
    factor: float
    anchor_tokens: int | None
    fitted: "Fitted"
    view: View


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The answer came, or did not."""

    index: int
    usage: "Usage"
    response_id: str | None = None
    response_model: str | None = None
    finish_reasons: tuple[str, ...] = ()
    reply: Shape | None = None
    error_type: str | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """A fit dropped, returned or altered something."""

    index: int
    plan: "Plan"


@dataclass(frozen=True, slots=True)
class Calibration:
    """A usage report moved the state, or was too odd to."""

    index: int
    change: "Calibrated"


@dataclass(frozen=True, slots=True)
class Truncated:
    """Nothing fits; no call was made."""

    index: int
    model: str
    provider: str
    fitted: "Fitted"


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The loop is about to run a tool."""

    name: str
    call_id: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool returned, or failed."""

    call_id: str
    error_type: str | None = None


Event = (
    RunStarted
    | RunEnded
    | CallStarted
    | CallEnded
    | Pruned
    | Calibration
    | Truncated
    | ToolStarted
    | ToolEnded
)
Listener = Callable[[str, Event], None]
"""Called with the run id and the event, in order, on the run's own thread."""
