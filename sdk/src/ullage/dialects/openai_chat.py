"""OpenAI chat completions: `{"role", "content", "tool_calls", "tool_call_id"}`.

Messages may be mappings or the client's own objects (whatever has `model_dump`). Also
the shape of the OpenAI-compatible servers. Source: OpenAI API reference, chat
completions.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ullage.errors import ContextOverflowError, InvalidMessagesError
from ullage.messages import Message, Part, Reply, Usage, canonical_bytes

NAME = "openai_chat"
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LIMIT = re.compile(r"maximum context length is (\d+)")
_ASKED = re.compile(r"(?:resulted in|requested) (\d+) tokens")
_FOREIGN_PARTS = (
    *("tool_use", "tool_result", "server_tool_use"),  # Anthropic
    *("function_call", "function_call_output"),  # OpenAI responses
    *("tool_call", "tool_call_response"),  # OpenTelemetry GenAI
    *("tool-call", "tool-result"),  # AI SDK
)
_MEDIA = {"image_url": "image", "input_audio": "audio", "file": "document"}


def recognises(messages: Sequence[Any]) -> bool:
    """Whether every message has a role and content that chat completions know."""
    try:
        for position, message in enumerate(messages):
            require_shape(message, position)
    except InvalidMessagesError:
        return False
    return True


def require_shape(message: Any, position: int) -> None:
    """Raise InvalidMessagesError, with the place and a way out, unless it is ours."""
    if not _is_native(message):
        fault = _told(message, 'expected a mapping with "role" and "content"')
    else:
        fault = _role_fault(message) or _content_fault(message) or _calls_fault(message)
    if fault:
        raise InvalidMessagesError(f"message {position} {fault}", position=position)


def read(message: Any) -> tuple[Message, ...]:
    """The one neutral message inside; argument and result text as they are sent."""
    body = _mapping(message)
    role = str(body.get("role"))
    if role in ("tool", "function"):
        parts: tuple[Part, ...] = (_result(body),)
    else:
        parts = (*_reasoning(body), *_content(body), *_calls(body))
    name = body.get("name") if role not in ("tool", "function") else None
    return (Message(role=role, parts=parts, name=name),)


def fingerprint(message: Any) -> tuple[object, ...]:
    """Role, lengths of content and arguments, number of parts and calls."""
    calls = _get(message, "tool_calls") or ()
    return (
        _get(message, "role"),
        _length(_get(message, "content")),
        len(calls),
        sum(len(_arguments(_mapping(call))) for call in calls),
        _get(message, "tool_call_id"),
    )


def read_reply(reply: Any) -> Reply | None:
    """A chat completion (object or mapping) read; None where it holds no message."""
    body = _mapping(reply) if _is_native(reply) else {}
    choices = [_fields(choice) for choice in _list(body.get("choices"))]
    message = choices[0].get("message") if choices else None
    if not _is_native(message) or _content_fault(message) or _calls_fault(message):
        return None
    native = {k: v for k, v in _mapping(message).items() if v is not None}
    reasons = (choice.get("finish_reason") for choice in choices)
    return Reply(
        native=native,
        message=read(native)[0],
        usage=read_usage(body.get("usage")),
        response_id=body.get("id"),
        model=body.get("model"),
        finish_reasons=tuple(str(reason) for reason in reasons if reason),
    )


def read_usage(usage: Any) -> Usage:
    """Usage as chat completions report it: `prompt_tokens` has the cached ones in."""
    body = _fields(usage)
    prompt = _fields(body.get("prompt_tokens_details"))
    completion = _fields(body.get("completion_tokens_details"))
    return Usage(
        input_tokens=body.get("prompt_tokens"),
        output_tokens=body.get("completion_tokens"),
        cache_read_tokens=prompt.get("cached_tokens"),
        reasoning_tokens=completion.get("reasoning_tokens"),
    )


def note(text: str) -> dict[str, str]:
    """A user message with this text."""
    return {"role": "user", "content": text}


def result(call_id: str, text: str) -> dict[str, str]:
    """A tool message that answers one call."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool_definition(
    name: str, description: str, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """A function tool as chat completions take it."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": dict(parameters),
        },
    }


def overflow_of(error: BaseException) -> ContextOverflowError | None:
    """The provider's "prompt too long" as our error; None where it is something else.

    Source: the client's `APIStatusError.code`, and the numbers that its text states.
    """
    if getattr(error, "code", None) != "context_length_exceeded":
        return None
    text = str(error)
    limit = _LIMIT.search(text)
    asked = _ASKED.search(text)
    return ContextOverflowError(
        f"the provider refused the prompt as too long: {text}",
        limit_tokens=int(limit[1]) if limit else None,
        asked_tokens=int(asked[1]) if asked else None,
    )


def _told(value: Any, expected: str) -> str:
    return f"is {type(value).__name__}; {expected}"


def _role_fault(message: Any) -> str:
    role = _get(message, "role")
    if isinstance(role, str) and role in ROLES:
        return ""
    return f"has role {role!r}; expected one of {', '.join(sorted(ROLES))}"


def _content_fault(message: Any) -> str:
    content = _get(message, "content")
    if content is None or isinstance(content, str):
        return ""
    if not isinstance(content, (list, tuple)):
        expected = "expected text, a list of parts or None"
        return f"has content that {_told(content, expected)}"
    for part in content:
        if not (isinstance(part, str) or _is_native(part)):
            return f"has a part that {_told(part, 'expected text or a mapping')}"
        if not isinstance(part, str) and _get(part, "type") in _FOREIGN_PARTS:
            return (
                f"has a part of type {_get(part, 'type')!r}, which is another "
                "provider's; tool calls and results are told apart by tool_calls and "
                "role here"
            )
    return ""


def _calls_fault(message: Any) -> str:
    calls = _get(message, "tool_calls")
    if calls is None:
        return ""
    if isinstance(calls, (list, tuple)) and all(_is_native(call) for call in calls):
        return ""
    return "has tool_calls that are no list of mappings"


def _is_native(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "model_dump")


def _fields(value: Any) -> Mapping[str, Any]:
    """The mapping inside, empty where there is none."""
    return _mapping(value) if _is_native(value) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _mapping(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    dumped: Mapping[str, Any] = value.model_dump(exclude_none=True)
    return dumped


def _get(message: Any, key: str) -> Any:
    if isinstance(message, Mapping):
        return message.get(key)
    return getattr(message, key, None)


def _reasoning(body: Mapping[str, Any]) -> tuple[Part, ...]:
    text = body.get("reasoning_content")
    return ({"type": "reasoning", "content": text},) if text else ()


def _content(body: Mapping[str, Any]) -> tuple[Part, ...]:
    content = body.get("content")
    parts = [_part(part) for part in _as_parts(content)]
    if body.get("refusal"):
        parts.append({"type": "refusal", "content": body["refusal"]})
    return tuple(parts)


def _as_parts(content: Any) -> Sequence[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content or []


def _part(part: Any) -> Part:
    if isinstance(part, str):
        return {"type": "text", "content": part}
    body = _mapping(part)
    kind = str(body.get("type"))
    if kind == "text":
        return {"type": "text", "content": body.get("text")}
    if kind in _MEDIA:
        return _media_part(kind, body)
    return body


def _media_part(kind: str, body: Mapping[str, Any]) -> Part:
    inner = body.get(kind)
    uri = _fields(inner).get("url") or inner
    if isinstance(uri, str) and not uri.startswith("data:"):
        return {"type": "uri", "modality": _MEDIA[kind], "uri": uri}
    return {"type": "blob", "modality": _MEDIA[kind], "content": uri}


def _calls(body: Mapping[str, Any]) -> tuple[Part, ...]:
    calls = [_mapping(call) for call in body.get("tool_calls") or ()]
    if _is_native(body.get("function_call")):
        # The form before tools: no ids, so a call goes by its function's name.
        function = _mapping(body["function_call"])
        calls.append({"id": function.get("name"), "function": function})
    return tuple(
        {
            "type": "tool_call",
            "id": call.get("id"),
            "name": _function(call).get("name"),
            "arguments": _arguments(call),
        }
        for call in calls
    )


def _function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    return _fields(call.get("function") or call.get("custom"))


def _arguments(call: Mapping[str, Any]) -> str:
    function = _function(call)
    arguments = function.get("arguments") or function.get("input") or ""
    if isinstance(arguments, str):
        return arguments
    return canonical_bytes(arguments).decode()


def _result(body: Mapping[str, Any]) -> Part:
    content = body.get("content")
    response: Any = content
    if isinstance(content, (list, tuple)):
        response = [dict(_part(part)) for part in content]
    return {
        "type": "tool_call_response",
        "id": body.get("tool_call_id") or body.get("name"),
        "name": body.get("name"),
        "response": response,
    }


def _length(value: Any) -> int:
    """All the text inside, and one for each thing that holds any; copies nothing."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, (list, tuple)):
        return 1 + sum(_length(item) for item in value)
    if _is_native(value):
        return 1 + sum(_length(item) for item in _mapping(value).values())
    return 0 if value is None else len(str(value))
