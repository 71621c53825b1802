"""Whatever is handed in: a typed error that says what to do, and nothing is lost."""

import pytest

from tests.support.sdk import messages
from ullage.budget import Window
from ullage.errors import ConfigurationError, InvalidMessagesError, UllageError
from ullage.estimator import TABLES
from ullage.manager import ContextWindowManager
from ullage.policies import DropOldest


def manager(**settings):
    return ContextWindowManager(**{"model": "any-model", "window": 8192, **settings})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("window", 0, "context_tokens is 0; use a whole number of tokens, at least 1"),
        ("window", -1, "context_tokens is -1"),
        ("window", "8192", "context_tokens is '8192'"),
        ("window", 8192.5, "context_tokens is 8192.5"),
        ("window", True, "context_tokens is True"),
        ("model", "", "model is ''; give the name that the provider knows"),
        ("model", None, "model is None"),
        ("enforce", "warn", "enforce is 'warn'; use one of refuse, send, observe"),
        ("on_invalid", "repair", "on_invalid is 'repair'; use one of report, refuse"),
        ("content", "all", "content is 'all'; use one of none, structure, full"),
        ("safety_ratio", 1, "safety_ratio is 1; use 0 to below 1"),
        ("safety_ratio", -0.1, "safety_ratio is -0.1"),
        ("safety_ratio", "3%", "safety_ratio is '3%'"),
        ("min_output_tokens", 0, "min_output_tokens is 0"),
        ("prior_factor", 0.5, "prior_factor is 0.5; use a number from 1 up"),
        ("prior_factor", float("nan"), "prior_factor is nan"),
        ("prior_factor", float("inf"), "prior_factor is inf"),
        ("prior_factor", "1", "prior_factor is '1'"),
        ("policy", DropOldest, "policy is"),
        ("policy", "drop_oldest", "policy is 'drop_oldest'"),
    ],
)
def test_an_argument_that_makes_no_sense_is_named_at_once(name, value, words):
    with pytest.raises(ConfigurationError) as caught:
        manager(**{name: value})
    assert str(caught.value).startswith(words)
    assert isinstance(caught.value, ValueError)


def test_the_content_level_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("ULLAGE_CONTENT", "full")
    assert manager().content == "full"
    assert manager(content="none").content == "none"
    monkeypatch.setenv("ULLAGE_CONTENT", "everything")
    with pytest.raises(ConfigurationError, match="content is 'everything'"):
        manager()


@pytest.mark.parametrize(
    ("natives", "words"),
    [
        ([], "messages is empty; pass at least the user's task"),
        ("hello", "messages is str; pass the list that you send"),
        (None, "messages is NoneType"),
        ({"role": "user"}, "messages is dict"),
        ([None], "message 0 is NoneType"),
        ([{"content": "hi"}], "message 0 has role None"),
        ([{"role": "user", "content": 7}], "message 0 has content that is int"),
        ([{"role": "user", "content": [7]}], "message 0 has a part that is int"),
        ([{"role": "user", "content": "a"}, "b"], "message 1 is str"),
        (
            [{"role": "user", "content": [{"type": "tool_result"}]}],
            "message 0 has a part of type 'tool_result'",
        ),
        (
            [{"role": "assistant", "tool_calls": [7]}],
            "message 0 has tool_calls that are no list of mappings",
        ),
    ],
)
def test_a_shape_that_is_not_known_is_refused_and_the_run_goes_on(natives, words):
    run = manager().run()
    with pytest.raises(InvalidMessagesError) as caught:
        run.fit(natives)
    assert str(caught.value).startswith(words)
    assert run.fit(messages("S U")).messages == messages("S U")
    assert run.call_count == 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("max_output_tokens", 0, "max_output_tokens is 0"),
        ("max_output_tokens", -5, "max_output_tokens is -5"),
        ("max_output_tokens", "1024", "max_output_tokens is '1024'"),
        ("reasoning_tokens", -1, "reasoning_tokens is -1"),
        ("pins", [5], r"pins \[5\] are no positions in a list of 2"),
        ("pins", [-1], "pins"),
        ("pins", "0", "pins '0'"),
        ("tools", "grep", "tools is no list of definitions"),
        ("tools", {"name": "grep"}, "tools is no list of definitions"),
        ("tools", ["grep"], "tools is no list of definitions"),
        ("model", 7, "model is 7; give the name that the provider knows"),
    ],
)
def test_an_argument_of_a_fit_is_named(name, value, words):
    run = manager().run()
    with pytest.raises(ConfigurationError, match=words):
        run.fit(messages("S U"), **{name: value})
    assert run.fit(messages("S U")).messages == messages("S U")


@pytest.mark.parametrize(
    "text",
    [
        "a\0b",
        "cut \ud83d here",
        "\udc00",
        "<|endoftext|>",
        "\x1b[2J`<script>`",
        " " * 4000,
        "",
    ],
    ids=["NUL", "high", "low", "special token", "markup", "spaces", "nothing"],
)
@pytest.mark.parametrize("content", ["none", "structure", "full"])
def test_odd_text_is_sent_as_it_is_and_counted(text, content):
    natives = [{"role": "user", "content": text}]
    fit = manager(content=content).run().fit(natives)
    assert fit.messages == [{"role": "user", "content": text}]
    assert fit.estimate.upper >= TABLES["any"].measure(text).upper


def test_a_result_without_a_call_is_reported_with_its_place():
    fit = manager().run().fit(messages("U T(x)"))
    assert [(d.position, d.kind) for d in fit.report] == [(1, "orphaned_result")]


def test_a_part_of_unknown_type_is_reported_and_counted():
    part = {"type": "hologram", "body": "word " * 200}
    fit = manager().run().fit([{"role": "user", "content": [part]}])
    assert [d.kind for d in fit.report] == ["not_validated"]
    assert fit.estimate.upper > 200


@pytest.mark.parametrize("window", [1, 100, 256, 300])
def test_a_window_too_small_for_anything_ends_legibly(window):
    run = manager(window=window).run()
    with pytest.raises(UllageError, match=r"fewer output tokens|may not"):
        run.fit(messages("U"))


def test_a_window_with_caps_is_taken():
    window = Window(400_000, input_cap_tokens=272_000, output_cap_tokens=128_000)
    fit = manager(window=window).run().fit(messages("U"), max_output_tokens=4096)
    assert fit.breakdown.unusable_tokens == 400_000 - 272_000 - 4096
