"""Foreign GenAI messages to our normal form (docs/wire.md 3), and the shape of a
message.

Normal form is what makes two emitters of one conversation comparable: one message for
each tool result, consecutive assistant messages joined, arguments parsed where they
parse, null and empty fields dropped, `finish_reason` dropped, a system prompt given
apart as message 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspector.domain.ingest.values import json_of
from ullage.messages import Message

RENAMED_KINDS = {"thinking": "reasoning"}
EMPTY: tuple[Any, ...] = (None, "", [], {})


def normalise(sent: Iterable[Any], system: Sequence[Any] = ()) -> tuple[Message, ...]:
    """Messages of `gen_ai.input.messages` (already parsed) in normal form."""
    head = [Message("system", _parts(system))] if system else []
    found: list[Message] = []
    for message in sent:
        if not isinstance(message, Mapping):
            continue
        for single in _split(message):
            if found and found[-1].role == single.role == "assistant":
                joined = found[-1].parts + single.parts
                found[-1] = Message("assistant", joined, found[-1].name)
            else:
                found.append(single)
    return (*head, *found)


def _split(message: Mapping[str, Any]) -> Iterable[Message]:
    """One message for each tool result; the other parts follow together."""
    role = str(message.get("role") or "unknown")
    parts = _parts(_sent_parts(message))
    results = [part for part in parts if part.get("type") == "tool_call_response"]
    others = tuple(part for part in parts if part.get("type") != "tool_call_response")
    yield from (Message("tool", (result,)) for result in results)
    if others or not results:
        name = message.get("name")
        yield Message(role, others, name if isinstance(name, str) and name else None)


def _sent_parts(message: Mapping[str, Any]) -> Sequence[Any]:
    parts = message.get("parts")
    if isinstance(parts, list):
        return parts
    content = message.get("content")
    if isinstance(content, list):
        return content
    return [] if content is None else [{"type": "text", "content": content}]


def _parts(sent: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    return tuple(_part(part) for part in sent)


def _part(sent: Any) -> dict[str, Any]:
    if not isinstance(sent, Mapping):
        return {"type": "text", "content": str(sent)}
    part = {key: value for key, value in sent.items() if value not in EMPTY}
    kind = str(part.get("type", "text"))
    part["type"] = RENAMED_KINDS.get(kind, kind)
    if kind == "tool_call" and isinstance(part.get("arguments"), str):
        arguments = json_of(part["arguments"])
        part["arguments"] = part["arguments"] if arguments is None else arguments
    if kind == "tool_call_response" and "result" in part:
        part.setdefault("response", part.pop("result"))
    return part


def shape_of(message: Message, body: bytes) -> dict[str, Any]:
    """What is told of a message without its content, as `messages.shapes` does."""
    return {
        "role": message.role,
        "kinds": list(message.kinds),
        "tools": list(message.tool_names),
        "call_ids": list(message.call_ids),
        "result_ids": list(message.result_ids),
        "bytes": len(body),
    }


def shape_of_body(body: bytes) -> dict[str, Any]:
    """The shape of a message of which only the canonical JSON came."""
    sent = json_of(body.decode(errors="replace"))
    if not isinstance(sent, Mapping) or not isinstance(sent.get("parts"), list):
        return {"bytes": len(body)}
    parts = tuple(part for part in sent["parts"] if isinstance(part, Mapping))
    return shape_of(Message(str(sent.get("role")), parts), body)
