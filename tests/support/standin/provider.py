"""The provider behind the door: reads a request, applies the rules, bills, answers.

Knows nothing of HTTP. What a request broke and how often is counted here.
"""

import json
import threading
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.support.standin import refusals
from tests.support.standin.completions import Completion
from tests.support.standin.prefix_cache import PrefixCache
from tests.support.standin.refusals import Bill, Refusal, RefusedError
from tests.support.standin.replies import Reply, cut
from tests.support.standin.rules import broken_rules
from tests.support.standin.scripts import Script
from tests.support.standin.tokens import TOKEN_BYTES, count_prompt_tokens, prompt_stream

LIMIT_PARAMS = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True, slots=True)
class Model:
    """One model on offer: how much it holds, writes, and takes in."""

    name: str
    context_tokens: int
    max_output_tokens: int
    input_cap_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request that keeps every rule which does not need counting."""

    model: Model
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    response_format: dict[str, Any]
    wanted_tokens: int | None
    is_stream: bool
    include_usage: bool


@dataclass(slots=True)
class Session:
    """One run's side of the talk; its replies and its calls are numbered from 1."""

    run: str
    script: Script
    lock: threading.Lock = field(default_factory=threading.Lock)
    replies: int = 0
    calls: int = 0

    def speak(self, request: Request) -> tuple[str, Reply]:
        """Id and whole text of the next reply; one request of a run at a time."""
        with self.lock:
            said = self.script(request.messages, request.tools)
            reply = Reply(said) if isinstance(said, str) else said
            self.replies += 1
            name = f"{self.run}-{self.replies}" if self.run else str(self.replies)
            return f"chatcmpl-{name}", reply.with_ids(self._next_call_id)

    def _next_call_id(self) -> str:
        self.calls += 1
        return f"call_{self.calls}"


class Provider:
    """The models, the sessions, and the tally of everything that was refused."""

    def __init__(
        self, models: Iterable[Model], script: Script, keep_requests: int | None
    ) -> None:
        self.models = {model.name: model for model in models}
        self.requests: deque[dict[str, Any]] = deque(maxlen=keep_requests)
        self.refused: Counter[str] = Counter()
        self._script = script
        self._sessions: dict[str, Session] = {}
        self._cache = PrefixCache()
        self._lock = threading.Lock()

    def follow(self, run: str, script: Script) -> None:
        with self._lock:
            self._sessions[run] = Session(run, script)

    def answer(self, raw: bytes, run: str) -> tuple[Request, Completion]:
        """One completion.

        Raises:
            RefusedError: a rule is broken or the window is too small; it is counted.
        """
        try:
            request = self._read(raw)
            return request, self._complete(request, run)
        except RefusedError as error:
            with self._lock:
                self.refused.update(refusal.kind for refusal in error.refusals)
            raise

    def _read(self, raw: bytes) -> Request:
        body = _parsed(raw)
        with self._lock:
            self.requests.append(body)
        for name in ("model", "messages"):
            if body.get(name) is None:
                raise RefusedError(refusals.missing_parameter(name))
        model = self.models.get(str(body["model"]))
        if model is None:
            raise RefusedError(refusals.unknown_model(body["model"]))
        broken = broken_rules(body["messages"], body.get("tools"))
        if broken:
            raise RefusedError(*broken)
        options = _option(body, "stream_options")
        return Request(
            model=model,
            messages=body["messages"],
            tools=body.get("tools") or [],
            response_format=_option(body, "response_format"),
            wanted_tokens=_wanted_tokens(body, model),
            is_stream=bool(body.get("stream")),
            include_usage=bool(options.get("include_usage")),
        )

    def _complete(self, request: Request, run: str) -> Completion:
        model = request.model
        stream = prompt_stream(request.messages, request.tools, request.response_format)
        prompt_tokens = len(stream) // TOKEN_BYTES
        _check_room(request, prompt_tokens)
        cached_tokens = self._cache.look_up(model.name, stream)
        try:
            reply_id, whole = self._session(run).speak(request)
        except Exception as error:  # a door: the script is a test's own code
            raise RefusedError(refusals.script_failed(error)) from error
        limit_tokens = min(
            request.wanted_tokens or model.max_output_tokens,
            model.context_tokens - prompt_tokens,
        )
        reply, finish_reason = cut(whole, limit_tokens)
        return Completion(
            reply_id, model.name, reply, finish_reason, prompt_tokens, cached_tokens
        )

    def _session(self, run: str) -> Session:
        with self._lock:
            return self._sessions.setdefault(run, Session(run, self._script))


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
        # Python's parser lets a lone surrogate through; no provider does.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        reason = str(error) or "It is nested too deeply."
        raise RefusedError(refusals.unparsable_body(reason)) from error
    if not isinstance(body, dict):
        raise RefusedError(refusals.unparsable_body("It has to be an object."))
    return body


def _option(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        refusal = refusals.invalid_type("invalid_option", name, "an object", value)
        raise RefusedError(refusal)
    return value


def _wanted_tokens(body: dict[str, Any], model: Model) -> int | None:
    wanted = [(name, body[name]) for name in LIMIT_PARAMS if body.get(name) is not None]
    if not wanted:
        return None
    if len(wanted) > 1:
        text = (
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not "
            "supported."
        )
        raise RefusedError(Refusal("invalid_limit", text, "max_tokens"))
    name, limit_tokens = wanted[0]
    if not isinstance(limit_tokens, int) or isinstance(limit_tokens, bool):
        refusal = refusals.invalid_type(
            "invalid_limit", name, "an integer", limit_tokens
        )
        raise RefusedError(refusal)
    if limit_tokens < 1:
        text = (
            f"Invalid '{name}': integer below minimum value. "
            f"Expected a value >= 1, but got {limit_tokens} instead."
        )
        raise RefusedError(
            Refusal("invalid_limit", text, name, "integer_below_min_value")
        )
    if limit_tokens > model.max_output_tokens:
        cap_tokens = model.max_output_tokens
        raise RefusedError(refusals.output_cap_exceeded(name, limit_tokens, cap_tokens))
    return limit_tokens


def _check_room(request: Request, prompt_tokens: int) -> None:
    model = request.model
    cap_tokens = model.input_cap_tokens
    if prompt_tokens + (request.wanted_tokens or 0) > model.context_tokens:
        bare_tokens = count_prompt_tokens(request.messages)
        bill = Bill(bare_tokens, prompt_tokens - bare_tokens, request.wanted_tokens)
        raise RefusedError(refusals.window_exceeded(bill, model.context_tokens))
    if cap_tokens is not None and prompt_tokens > cap_tokens:
        raise RefusedError(refusals.input_cap_exceeded(prompt_tokens, cap_tokens))
