"""What a prompt costs: everything that was received, as one stream of o200k tokens.

The vocabulary lies inside the installed `bpe-openai` package and tiktoken is the
engine, so nothing is ever downloaded. Framing follows OpenAI's published recipe: three
tokens a message beside its role, one beside a name, three that prime the answer. Beyond
it we count what we cannot know better: one token a tool call beside its id, name and
arguments, and tool definitions as compact JSON inside a message of their own. Text that
looks like a special token is plain text.
"""

import base64
import gzip
import json
from array import array
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tiktoken

Message = Mapping[str, Any]
Tool = Mapping[str, Any]

TOKEN_BYTES = 4
"""A stream holds each token as an unsigned 32-bit number, so that it compares fast."""

IMAGE_TOKENS = 765
"""A 1024 x 1024 picture at high detail (OpenAI's rule for gpt-4o)."""
IMAGE_LOW_DETAIL_TOKENS = 85

# Numbers of o200k's own markers; no text encodes to them.
_START, _END, _BODY, _CALL, _FIELD, _IMAGE = (
    200006,
    200007,
    200008,
    200012,
    200003,
    200004,
)
# How o200k cuts text before merging (tiktoken, `openai_public.o200k_base`).
_WORD_END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        + _WORD_END,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        + _WORD_END,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def count_prompt_tokens(
    messages: Sequence[Message],
    tools: Sequence[Tool] | None = None,
    response_format: Mapping[str, Any] | None = None,
) -> int:
    """Prompt tokens that the stand-in bills for this request."""
    return len(prompt_stream(messages, tools, response_format)) // TOKEN_BYTES


def count_text_tokens(text: str) -> int:
    """Tokens of one text, without any framing."""
    return len(text_stream(text)) // TOKEN_BYTES


def count_reply_tokens(message: Message) -> int:
    """Completion tokens of an assistant message: its content and calls, unframed."""
    return len(_body_stream(message)) // TOKEN_BYTES


def prompt_stream(
    messages: Sequence[Message],
    tools: Sequence[Tool] | None = None,
    response_format: Mapping[str, Any] | None = None,
) -> bytes:
    """The whole prompt; tools lead, so that another tool set shares no prefix."""
    segments = []
    if tools:
        segments.append(_framed("tools", b"".join(_json_stream(t) for t in tools)))
    if response_format and response_format.get("type") != "text":
        segments.append(_framed("format", _json_stream(response_format)))
    segments += [_framed(str(m.get("role")), _body_stream(m)) for m in messages]
    segments.append(_pack(_START) + text_stream("assistant") + _pack(_BODY))
    return b"".join(segments)


@lru_cache(maxsize=65_536)
def text_stream(text: str) -> bytes:
    """One text as a stream; remembered, since each request repeats the one before."""
    return array("I", _encoding().encode_ordinary(text)).tobytes()


def cut_text(text: str, limit_tokens: int) -> str:
    """The text's first tokens; a character that the cut would split is left out."""
    tokens = _encoding().encode_ordinary(text)[: max(limit_tokens, 0)]
    return _encoding().decode(tokens, errors="ignore")


def _framed(role: str, body: bytes) -> bytes:
    return _pack(_START) + text_stream(role) + _pack(_BODY) + body + _pack(_END)


def _body_stream(message: Message) -> bytes:
    pieces = []
    for key, value in message.items():
        if key == "content":
            pieces.append(_content_stream(value))
        elif key == "tool_calls":
            pieces += [_call_stream(call) for call in value or ()]
        elif key != "role" and value:
            # Names and call ids; and whatever else a client sends is not free either.
            text = text_stream(value) if isinstance(value, str) else _json_stream(value)
            pieces.append(_pack(_FIELD) + text)
    return b"".join(pieces)


def _content_stream(content: str | Sequence[Mapping[str, Any]] | None) -> bytes:
    if content is None:
        return b""
    if isinstance(content, str):
        return text_stream(content)
    return b"".join(_part_stream(part) for part in content)


def _part_stream(part: Mapping[str, Any]) -> bytes:
    if part["type"] == "image_url":
        is_low = part["image_url"].get("detail") == "low"
        return _pack(_IMAGE) * (IMAGE_LOW_DETAIL_TOKENS if is_low else IMAGE_TOKENS)
    return text_stream(str(part.get(part["type"], "")))


def _call_stream(call: Mapping[str, Any]) -> bytes:
    function = call["function"]
    texts = (call["id"], function["name"], function["arguments"])
    return _pack(_CALL) + b"".join(text_stream(text) for text in texts)


def _json_stream(value: Any) -> bytes:
    return text_stream(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@cache
def _pack(token: int) -> bytes:
    return array("I", (token,)).tobytes()


@cache
def _encoding() -> tiktoken.Encoding:
    lines = gzip.decompress(_vocabulary_path().read_bytes()).splitlines()
    pairs = (line.split() for line in lines if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(
        "o200k_offline", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )


def _vocabulary_path() -> Path:
    # Found without importing the package: its import builds three vocabularies.
    spec = find_spec("bpe_openai")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the stand-in counts with bpe-openai: install the dev group")
    return Path(spec.submodule_search_locations[0], "data", "o200k_base.tiktoken.gz")
