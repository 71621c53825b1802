"""A reply is cut as a model's writing is cut: in the middle, and said so."""

import json

import pytest

from tests.support.standin import Playback, Reply, ToolCall, call, calls, say
from tests.support.standin.replies import cut


def test_a_reply_that_fits_is_whole():
    assert cut(say("hello world"), 2) == (say("hello world"), "stop")
    reading = call("read", path="a.txt")
    assert cut(reading, reading.completion_tokens) == (reading, "tool_calls")


def test_text_is_cut_at_its_limit():
    reply, finish_reason = cut(say("one two three four five"), 3)
    assert (reply, finish_reason) == (say("one two three"), "length")


def test_no_reply_is_ever_longer_than_its_limit():
    wanted = calls(("read", {"path": "a" * 50}), ("find", {"q": "é"}), content="Well.")
    for limit_tokens in range(wanted.completion_tokens):
        reply, finish_reason = cut(wanted, limit_tokens)
        assert reply.completion_tokens <= limit_tokens
        assert finish_reason == "length"


def test_the_call_being_written_loses_the_end_of_its_arguments():
    wanted = calls(("read", {"path": "a.txt"}), ("read", {"path": "b.txt"}))
    reply, _ = cut(wanted, wanted.completion_tokens - 1)
    first, second = reply.tool_calls
    assert first == wanted.tool_calls[0]
    with pytest.raises(json.JSONDecodeError):
        json.loads(second.arguments)


def test_calls_keep_their_ids_and_get_missing_ones():
    numbers = iter(("x1", "x2"))
    reply = Reply(None, (ToolCall("a"), ToolCall("b", id="mine"), ToolCall("c")))
    ids = [c.id for c in reply.with_ids(lambda: next(numbers)).tool_calls]
    assert ids == ["x1", "mine", "x2"]


def test_a_recorded_message_comes_back_as_it_was():
    message = calls(("read", {"path": "a"}), content="Well.").to_message()
    assert Reply.from_message(message).to_message() == message


def test_playback_gives_one_assistant_message_after_the_other():
    transcript = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "on"},
        {"role": "assistant", "content": "second"},
    ]
    playback = Playback(transcript)
    assert playback([], []) == say("first")
    assert playback([], []) == say("second")
    with pytest.raises(LookupError, match="no further assistant message"):
        playback([], [])
