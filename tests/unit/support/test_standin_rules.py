"""Each rule on messages and tools is seen, named, and told in the provider's words."""

import json

import pytest

from tests.support.standin.rules import broken_rules

USER = {"role": "user", "content": "go"}


def asks(*ids, **fields):
    function = {"name": "read", "arguments": "{}"}
    tool_calls = [{"id": i, "type": "function", "function": function} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls} | fields


def result(call_id, content="ok"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def kinds(messages, tools=None):
    return [refusal.kind for refusal in broken_rules(messages, tools)]


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [{"role": "assistant", "content": "Hello, what can I do?"}, USER],
        [{"role": "developer", "content": "Be brief."}, USER],
        [USER, asks("a"), result("a")],
        [USER, asks("a", "b"), result("b"), result("a"), USER],
        [USER, asks("a"), result("a"), asks("a"), result("a")],
        [USER, asks("a", content="Let me see."), result("a", "")],
        [USER, asks("a"), result("a", [{"type": "text", "text": "x"}])],
        [USER, {"role": "assistant", "content": ""}, USER, USER],
    ],
    ids=[
        "one message",
        "assistant first",
        "developer",
        "one call",
        "results in any order",
        "an id again in a later step",
        "words and a call, empty result",
        "result in parts",
        "empty answer, two users",
    ],
)
def test_sound_messages_break_no_rule(messages):
    assert kinds(messages) == []


@pytest.mark.parametrize(
    ("broken", "messages"),
    [
        (["leading_result"], [result("a"), USER]),
        (["orphan_result"], [USER, result("a")]),
        (["orphan_result"], [USER, asks("a"), result("a"), result("b")]),
        (["early_result", "unanswered_call"], [USER, result("a"), asks("a")]),
        (
            ["early_result", "unanswered_call", "unanswered_call"],
            [USER, asks("a"), result("b"), asks("b")],
        ),
        (
            ["unanswered_call", "non_adjacent_result"],
            [USER, asks("a"), USER, result("a")],
        ),
        (["non_adjacent_result"], [USER, asks("a"), result("a"), USER, result("a")]),
        (
            ["non_adjacent_result"],
            [USER, asks("a"), result("a"), asks("b"), result("a"), result("b")],
        ),
        (["duplicate_result"], [USER, asks("a"), result("a"), result("a")]),
        (["unanswered_call"], [USER, asks("a")]),
        (["unanswered_call"], [USER, asks("a", "b"), result("a"), USER]),
        (["duplicate_call_id"], [USER, asks("a", "a"), result("a")]),
        (["empty_call_id"], [USER, asks(""), result("")]),
        (["empty_tool_calls"], [USER, asks(content="x")]),
        (["missing_content", "empty_tool_calls"], [USER, asks()]),
        (["invalid_call"], [USER, asks("a", tool_calls="a")]),
        (["invalid_call"], [USER, asks("a", tool_calls=[{"id": "a"}])]),
        (["missing_call_id"], [USER, {"role": "tool", "content": "x"}]),
        (["empty_messages"], []),
        (["invalid_message"], {"role": "user"}),
        (["invalid_message"], ["hello"]),
        (["unknown_role"], [{"role": "robot", "content": "x"}]),
        (["unknown_role"], [{"role": ["user"], "content": "x"}]),
        (["missing_content"], [{"role": "user"}]),
        (["missing_content"], [USER, {"role": "assistant", "content": None}]),
        (["empty_content"], [{"role": "user", "content": []}]),
        (["invalid_content"], [{"role": "user", "content": 7}]),
        (["invalid_content"], [{"role": "user", "content": ["x"]}]),
        (["invalid_content"], [{"role": "user", "content": [{"type": "blob"}]}]),
        (["invalid_content"], [{"role": "user", "content": [{"type": "text"}]}]),
        (
            ["invalid_content"],
            [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}],
        ),
    ],
)
def test_each_broken_rule_is_seen(broken, messages):
    assert kinds(messages) == broken


def test_a_call_needs_sound_names_ids_and_arguments():
    function = {"name": "read file", "arguments": {"path": "a"}}
    tool_calls = [{"id": 7, "type": "function", "function": function}]
    found = broken_rules([USER, asks(tool_calls=tool_calls)], None)
    assert [refusal.param for refusal in found] == [
        "messages[1].tool_calls[0].id",
        "messages[1].tool_calls[0].function.name",
        "messages[1].tool_calls[0].function.arguments",
    ]


@pytest.mark.parametrize(
    ("broken", "tools"),
    [
        ([], None),
        ([], [{"type": "function", "function": {"name": "read"}}]),
        (["empty_tools"], []),
        (["invalid_tool"], "read"),
        (["invalid_tool"], ["read"]),
        (["invalid_tool"], [{"type": "function", "function": {"name": "read file"}}]),
        (["invalid_tool"], [{"type": "function", "function": {}}]),
    ],
)
def test_tools_are_absent_or_a_list_of_named_functions(broken, tools):
    assert kinds([USER], tools) == broken


def test_the_missing_results_are_named():
    (refusal,) = broken_rules([USER, asks("a", "b", "c"), result("b"), USER], None)
    assert refusal.message.endswith("did not have response messages: a, c")
    assert refusal.param == "messages.[3].role"


def test_the_duplicates_are_both_pointed_at():
    (refusal,) = broken_rules([USER, asks("a"), result("a"), result("a")], None)
    assert refusal.body() == {
        "error": {
            "message": "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', "
            "in messages[2] and messages[3].",
            "type": "invalid_request_error",
            "param": "messages.[3].tool_call_id",
            "code": None,
        }
    }


def test_no_recorded_run_is_accused(shared_data):
    """What real agents sent, call by call, breaks no rule here."""
    for path in sorted((shared_data / "transcripts").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            run = json.loads(line)
            messages = run["messages"]
            calls = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
            found = [broken_rules(messages[:i], run["tools"] or None) for i in calls]
            assert not any(found), run["id"]
