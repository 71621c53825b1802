"""A stand-in model server: OpenAI's chat shape over real HTTP, scripted or played back.

It counts with a real tokenizer, holds to a window, enforces the provider's rules and
counts what broke them. Part of the tests only, never of the SDK.
"""

from tests.support.standin.provider import Model
from tests.support.standin.replies import Reply, ToolCall, call, calls, say
from tests.support.standin.scripts import Playback, Script
from tests.support.standin.server import RUN_HEADER, StandIn
from tests.support.standin.tokens import (
    count_prompt_tokens,
    count_reply_tokens,
    count_text_tokens,
)

__all__ = [
    "RUN_HEADER",
    "Model",
    "Playback",
    "Reply",
    "Script",
    "StandIn",
    "ToolCall",
    "call",
    "calls",
    "count_prompt_tokens",
    "count_reply_tokens",
    "count_text_tokens",
    "say",
]
