"""OpenAI's rules on messages and tools: pairing, order, roles, contents.

Each broken rule is found, not only the first, so that a test can count them by kind:

- a tool message: `leading_result`, `orphan_result`, `early_result` (its call comes
  later), `non_adjacent_result` (something stands between), `duplicate_result`,
  `missing_call_id`;
- an assistant message: `unanswered_call`, `duplicate_call_id`, `empty_call_id`,
  `empty_tool_calls`, `invalid_call`;
- any message: `empty_messages`, `invalid_message`, `unknown_role`, `missing_content`,
  `empty_content`, `invalid_content`;
- the tools: `empty_tools`, `invalid_tool`.

An empty string is legal content there, and an assistant message may stand first.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.standin.refusals import (
    Refusal,
    empty,
    invalid_type,
    unsupported_value,
)

ROLES = ("system", "assistant", "user", "tool", "developer")
PART_TYPES = ("text", "image_url", "refusal")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def broken_rules(messages: Any, tools: Any) -> list[Refusal]:
    """Every broken rule, in the order of the messages; the tools come first.

    Pairing is only looked at where each message is sound by itself.
    """
    found = list(_tool_rules(tools))
    if not isinstance(messages, list):
        return [
            *found,
            invalid_type("invalid_message", "messages", "an array", messages),
        ]
    if not messages:
        return [*found, empty("empty_messages", "messages", "array")]
    unsound = [r for i, m in enumerate(messages) for r in _message_rules(i, m)]
    return [*found, *(unsound or _Pairing(messages).check())]


def _tool_rules(tools: Any) -> Iterator[Refusal]:
    if tools is None:
        return
    if not isinstance(tools, list):
        yield invalid_type("invalid_tool", "tools", "an array of objects", tools)
    elif not tools:
        yield empty("empty_tools", "tools", "array")
    else:
        for index, tool in enumerate(tools):
            yield from _one_tool_rules(f"tools[{index}]", tool)


def _one_tool_rules(path: str, tool: Any) -> Iterator[Refusal]:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict):
        yield invalid_type("invalid_tool", f"{path}.function", "an object", function)
    elif not _is_name(function.get("name")):
        yield _bad_name("invalid_tool", f"{path}.function.name")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _TOOL_NAME.fullmatch(value) is not None


def _bad_name(kind: str, path: str) -> Refusal:
    message = (
        f"Invalid '{path}': string does not match pattern. "
        "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    )
    return Refusal(kind, message, path, "invalid_value")


def _message_rules(index: int, message: Any) -> Iterator[Refusal]:
    path = f"messages[{index}]"
    if not isinstance(message, dict):
        yield invalid_type("invalid_message", path, "an object", message)
        return
    role = message.get("role")
    if role not in ROLES:
        yield unsupported_value("unknown_role", f"{path}.role", role, ROLES)
        return
    yield from _content_rules(path, index, message)
    if role == "assistant" and message.get("tool_calls") is not None:
        yield from _calls_rules(f"{path}.tool_calls", message["tool_calls"])
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        text = (
            "Missing parameter 'tool_call_id': messages with role 'tool' must have a "
        )
        param = f"messages.[{index}].tool_call_id"
        yield Refusal("missing_call_id", f"{text}'tool_call_id'.", param)


def _content_rules(path: str, index: int, message: dict[str, Any]) -> Iterator[Refusal]:
    content = message.get("content")
    if content is None:
        if message["role"] != "assistant" or not message.get("tool_calls"):
            text = "Invalid value for 'content': expected a string, got null."
            yield Refusal("missing_content", text, f"messages.[{index}].content")
    elif content == []:
        yield empty("empty_content", f"{path}.content", "array")
    elif isinstance(content, list):
        for number, part in enumerate(content):
            yield from _part_rules(f"{path}.content[{number}]", part)
    elif not isinstance(content, str):
        wanted = "one of a string or array of objects"
        yield invalid_type("invalid_content", f"{path}.content", wanted, content)


def _part_rules(path: str, part: Any) -> Iterator[Refusal]:
    if not isinstance(part, dict):
        yield invalid_type("invalid_content", path, "an object", part)
        return
    kind = part.get("type")
    if kind not in PART_TYPES:
        yield unsupported_value("invalid_content", f"{path}.type", kind, PART_TYPES)
        return
    wanted = dict if kind == "image_url" else str
    if not isinstance(part.get(kind), wanted):
        noun = "an object" if wanted is dict else "a string"
        yield invalid_type("invalid_content", f"{path}.{kind}", noun, part.get(kind))


def _calls_rules(path: str, calls: Any) -> Iterator[Refusal]:
    if not isinstance(calls, list):
        yield invalid_type("invalid_call", path, "an array of objects", calls)
    elif not calls:
        yield empty("empty_tool_calls", path, "array")
    else:
        for number, call in enumerate(calls):
            yield from _call_rules(f"{path}[{number}]", call)


def _call_rules(path: str, call: Any) -> Iterator[Refusal]:
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        yield invalid_type("invalid_call", path, "an object", call)
        return
    if not isinstance(call.get("id"), str):
        yield invalid_type("invalid_call", f"{path}.id", "a string", call.get("id"))
    elif not call["id"]:
        yield empty("empty_call_id", f"{path}.id", "string")
    if not _is_name(call["function"].get("name")):
        yield _bad_name("invalid_call", f"{path}.function.name")
    arguments = call["function"].get("arguments")
    if not isinstance(arguments, str):
        where = f"{path}.function.arguments"
        yield invalid_type("invalid_call", where, "a string", arguments)


def _call_ids(message: dict[str, Any]) -> list[str]:
    return [call["id"] for call in message.get("tool_calls") or ()]


class _Pairing:
    """Walks over sound messages; holds the calls that wait for their results here."""

    def __init__(self, messages: Sequence[dict[str, Any]]):
        self.messages = messages
        self.called_at: dict[str, list[int]] = {}
        for index, message in enumerate(messages):
            for call_id in _call_ids(message):
                self.called_at.setdefault(call_id, []).append(index)
        self.is_open = False
        self.waiting: set[str] = set()
        self.answered_at: dict[str, int] = {}

    def check(self) -> list[Refusal]:
        found: list[Refusal] = []
        for index, message in enumerate(self.messages):
            if message["role"] == "tool":
                found += self._result(index, message["tool_call_id"])
            else:
                found += self._close(index)
                found += self._open(index, _call_ids(message))
        return found + self._close(len(self.messages))

    def _open(self, index: int, ids: list[str]) -> list[Refusal]:
        self.is_open, self.waiting, self.answered_at = bool(ids), set(ids), {}
        twice = [call_id for call_id in dict.fromkeys(ids) if ids.count(call_id) > 1]
        return [
            Refusal(
                "duplicate_call_id",
                f"Invalid parameter: Duplicate value for 'id' of '{call_id}', in "
                f"'tool_calls' of messages[{index}].",
                f"messages.[{index}].tool_calls",
            )
            for call_id in twice
        ]

    def _close(self, index: int) -> list[Refusal]:
        if not self.waiting:
            self.is_open = False
            return []
        ids = ", ".join(sorted(self.waiting))
        text = (
            "An assistant message with 'tool_calls' must be followed by tool messages "
            "responding to each 'tool_call_id'. The following tool_call_ids did not "
            f"have response messages: {ids}"
        )
        self.is_open, self.waiting = False, set()
        return [Refusal("unanswered_call", text, f"messages.[{index}].role")]

    def _result(self, index: int, call_id: str) -> list[Refusal]:
        if call_id in self.waiting:
            self.waiting.discard(call_id)
            self.answered_at[call_id] = index
            return []
        if call_id in self.answered_at:
            return [self._duplicate(index, call_id)]
        return [self._stray(index, call_id)]

    def _duplicate(self, index: int, call_id: str) -> Refusal:
        text = (
            f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call_id}', in "
            f"messages[{self.answered_at[call_id]}] and messages[{index}]."
        )
        return Refusal("duplicate_result", text, f"messages.[{index}].tool_call_id")

    def _stray(self, index: int, call_id: str) -> Refusal:
        kind = self._stray_kind(index, call_id)
        if not self.is_open:
            text = (
                "Invalid parameter: messages with role 'tool' must be a response to a "
                "preceeding message with 'tool_calls'."
            )
            return Refusal(kind, text, f"messages.[{index}].role")
        text = (
            f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in "
            "'tool_calls' of previous message."
        )
        return Refusal(kind, text, f"messages.[{index}].tool_call_id")

    def _stray_kind(self, index: int, call_id: str) -> str:
        if index == 0:
            return "leading_result"
        calls = self.called_at.get(call_id)
        if not calls:
            return "orphan_result"
        return "non_adjacent_result" if calls[0] < index else "early_result"
