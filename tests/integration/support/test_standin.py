"""The stand-in over real HTTP: the openai client, plain httpx, raw bytes."""

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import openai
import pytest

from tests.support.standin import (
    RUN_HEADER,
    Model,
    StandIn,
    call,
    calls,
    count_prompt_tokens,
    count_reply_tokens,
    count_text_tokens,
    say,
)

MODEL = Model("gpt-small", context_tokens=2_000, max_output_tokens=500)
CAPPED = Model("gpt-capped", 4_000, 500, input_cap_tokens=1_000)
USER = {"role": "user", "content": "What does a.txt say?"}
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {}}}]


def reader(messages, tools):
    """An agent that reads one file, then tells what it read."""
    last = messages[-1]
    if last["role"] == "tool":
        return say(f"It says: {last['content']}")
    return call("read", path="a.txt") if tools else say("I have no tools.")


@pytest.fixture
def server():
    with StandIn([MODEL, CAPPED], script=reader) as running:
        yield running


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as made:
        yield made


@pytest.fixture
def post(server):
    with httpx.Client(base_url=server.base_url) as plain:
        yield lambda content: plain.post("/chat/completions", content=content)


def message_of(tokens):
    """Messages that cost exactly so many prompt tokens."""
    frame = count_prompt_tokens([{"role": "user", "content": ""}])
    messages = [{"role": "user", "content": " a" * (tokens - frame)}]
    assert count_prompt_tokens(messages) == tokens
    return messages


def test_a_tool_loop_runs_through_the_openai_client(server, client):
    """Calls, ids, answers and usage are what the agent and the tokenizer say."""
    ask = client.chat.completions.create
    first = ask(model="gpt-small", messages=[USER], tools=TOOLS)
    (asked,) = first.choices[0].message.tool_calls
    answered = first.choices[0].message.to_dict()
    result = {"role": "tool", "tool_call_id": asked.id, "content": "hello"}
    messages = [USER, answered, result]
    second = ask(model="gpt-small", messages=messages, tools=TOOLS)

    assert (first.id, second.id, asked.id) == ("chatcmpl-1", "chatcmpl-2", "call_1")
    assert first.choices[0].finish_reason == "tool_calls"
    assert second.choices[0].message.content == "It says: hello"
    assert second.choices[0].finish_reason == "stop"
    usage = second.usage
    assert usage.prompt_tokens == count_prompt_tokens(messages, TOOLS)
    assert usage.completion_tokens == count_text_tokens("It says: hello")
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert [body["messages"] for body in server.requests] == [[USER], messages]
    assert (server.overflows, server.violations) == (0, {})


def test_the_next_prompt_is_the_last_one_plus_what_came_since(client):
    """A reply sent back costs its completion tokens and one frame, nothing else."""
    ask = client.chat.completions.create
    first = ask(model="gpt-small", messages=[USER], tools=TOOLS)
    asked = first.choices[0].message.to_dict()
    call_id = asked["tool_calls"][0]["id"]
    result = {"role": "tool", "tool_call_id": call_id, "content": "hello"}
    second = ask(model="gpt-small", messages=[USER, asked, result], tools=TOOLS)
    grown = second.usage.prompt_tokens - first.usage.prompt_tokens
    result_tokens = count_reply_tokens(result)
    assert grown == first.usage.completion_tokens + 4 + result_tokens + 4


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == ["gpt-small", "gpt-capped"]
    assert client.models.retrieve("gpt-small").id == "gpt-small"


@pytest.mark.parametrize("param", ["max_completion_tokens", "max_tokens"])
def test_the_window_is_exact(server, client, param):
    """Prompt and wanted output may fill the window; one token more is refused."""
    ask = client.chat.completions.create
    ask(model="gpt-small", messages=message_of(1_500), **{param: 500})
    assert server.overflows == 0
    with pytest.raises(openai.BadRequestError) as refused:
        ask(model="gpt-small", messages=message_of(1_501), **{param: 500})
    assert refused.value.body == {
        "message": "This model's maximum context length is 2000 tokens. However, you "
        "requested 2001 tokens (1501 in the messages, 500 in the completion). Please "
        "reduce the length of the messages or completion.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
    assert (server.overflows, server.violations) == (1, {})


def test_without_a_limit_the_prompt_alone_must_fit(server, client):
    ask = client.chat.completions.create
    full = ask(model="gpt-small", messages=message_of(2_000))
    assert full.choices[0].finish_reason == "length"
    assert full.usage.completion_tokens == 0
    with pytest.raises(openai.BadRequestError, match="messages resulted in 2001"):
        ask(model="gpt-small", messages=message_of(2_001))
    assert server.overflows == 1


def test_the_functions_share_of_an_overflow_is_told(client):
    messages = message_of(1_990)
    extra = count_prompt_tokens(messages, TOOLS) - 1_990
    split = rf"\(1990 in the messages, {extra} in the functions\)"
    with pytest.raises(openai.BadRequestError, match=split):
        client.chat.completions.create(
            model="gpt-small", messages=messages, tools=TOOLS
        )


def test_the_input_cap_is_exact(server, client):
    """A prompt over the input cap overflows, though the window has room for it."""
    ask = client.chat.completions.create
    ask(model="gpt-capped", messages=message_of(1_000))
    with pytest.raises(openai.BadRequestError, match="configured limit of 1000") as e:
        ask(model="gpt-capped", messages=message_of(1_001))
    assert e.value.code == "context_length_exceeded"
    assert (server.overflows, server.violations) == (1, {})


def test_an_output_limit_over_the_cap_is_no_overflow(server, client):
    with pytest.raises(openai.BadRequestError, match="supports at most 500") as refused:
        client.chat.completions.create(
            model="gpt-small", messages=[USER], max_completion_tokens=501
        )
    assert refused.value.code == "invalid_value"
    assert server.overflows == 0
    assert server.violations == {"output_cap_exceeded": 1}


@pytest.mark.parametrize(
    "limits",
    [
        {"max_tokens": 0},
        {"max_tokens": -1},
        {"max_completion_tokens": "many"},
        {"max_tokens": True},
        {"max_tokens": 10, "max_completion_tokens": 10},
    ],
)
def test_a_limit_is_one_positive_number(server, post, limits):
    body = {"model": "gpt-small", "messages": [USER], **limits}
    assert post(json.dumps(body)).status_code == 400
    assert server.violations == {"invalid_limit": 1}


def test_a_reply_is_cut_at_the_limit(client):
    reply = client.chat.completions.create(
        model="gpt-small", messages=[USER], max_completion_tokens=3
    )
    assert reply.choices[0].message.content == "I have no"
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage.completion_tokens == 3


def test_every_violation_of_a_request_is_counted(server, client):
    """The client sees the first broken rule; the tally holds all of them."""
    stray = {"role": "tool", "tool_call_id": "x", "content": "late"}
    pending = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "read", "arguments": "{}"},
            }
        ],
    }
    with pytest.raises(openai.BadRequestError, match="must be a response to") as e:
        client.chat.completions.create(
            model="gpt-small", messages=[USER, stray, pending]
        )
    assert e.value.param == "messages.[1].role"
    assert server.violations == {"orphan_result": 1, "unanswered_call": 1}


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{", "invalid_json"),
        (b"", "invalid_json"),
        (b"[]", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (
            rb'{"model":"gpt-small","messages":[{"role":"user","content":"\ud83d"}]}',
            "invalid_json",
        ),
        (b"{}", "missing_parameter"),
        (b'{"model":"gpt-small"}', "missing_parameter"),
        (b'{"model":"gpt-none","messages":[]}', "unknown_model"),
        (b'{"model":"gpt-small","messages":[]}', "empty_messages"),
        (b'{"model":["gpt-small"],"messages":"hi"}', "unknown_model"),
    ],
)
def test_a_bad_body_is_told_in_the_providers_shape(server, post, content, kind):
    answer = post(content)
    assert answer.status_code == (404 if kind == "unknown_model" else 400)
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert server.violations == {kind: 1}


@pytest.mark.parametrize("param", ["response_format", "stream_options"])
def test_options_are_objects(server, post, param):
    body = {"model": "gpt-small", "messages": [USER], param: ["x"]}
    assert post(json.dumps(body)).json()["error"]["param"] == param
    assert server.violations == {"invalid_option": 1}


def test_nul_bytes_are_text_like_any_other(server, post):
    messages = [{"role": "user", "content": "a\x00b"}]
    answer = post(json.dumps({"model": "gpt-small", "messages": messages}))
    used = answer.json()["usage"]["prompt_tokens"]
    assert used == count_prompt_tokens(messages)


def test_unknown_addresses_are_404_and_the_connection_lives_on(server):
    """Requests of all kinds run over one kept-alive connection."""
    host, port = server.base_url.split("/")[2].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    statuses = []
    for method, path in [
        ("POST", "/v1/embeddings"),
        ("GET", "/"),
        ("GET", "/v1/models/none"),
        ("GET", "/v1/models"),
    ]:
        connection.request(method, path, body="{}" if method == "POST" else None)
        opened = connection.sock
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
        assert connection.sock is opened
    connection.close()
    assert statuses == [404, 404, 404, 200]


def test_a_body_without_length_is_refused(server):
    with httpx.Client() as plain:
        url = f"{server.base_url}/chat/completions"
        answer = plain.post(url, content=iter([b"{}"]))
    assert answer.status_code == 411


def test_a_transcript_is_played_back_whatever_is_sent(client, server):
    """Each run has its own place; neither pruning nor a refusal moves it."""
    transcript = [
        USER,
        calls(("read", {"path": "a"}), ("read", {"path": "b"})).to_message(),
        {"role": "assistant", "content": "Both are empty."},
    ]
    transcript[1]["tool_calls"][0]["id"] = "toolu_1"
    one, two = server.play("one", transcript), server.play("two", transcript)

    def ask(headers, messages=(USER,)):
        return client.chat.completions.create(
            model="gpt-small", messages=list(messages), extra_headers=headers
        )

    first = ask(one)
    ids = [asked.id for asked in first.choices[0].message.tool_calls]
    assert (first.id, ids) == ("chatcmpl-one-1", ["toolu_1", "call_1"])
    with pytest.raises(openai.BadRequestError):
        ask(one, message_of(2_001))
    assert ask(one).choices[0].message.content == "Both are empty."
    assert ask(two).id == "chatcmpl-two-1"


def test_a_broken_script_is_a_500_that_no_client_tries_again(server):
    headers = server.play("over", [])
    with (
        openai.OpenAI(base_url=server.base_url, api_key="k") as retrying,
        pytest.raises(openai.InternalServerError, match="no further assistant"),
    ):
        retrying.chat.completions.create(
            model="gpt-small", messages=[USER], extra_headers=headers
        )
    assert len(server.requests) == 1
    assert server.violations == {"script_failed": 1}


def test_an_unknown_run_follows_the_common_script(client):
    reply = client.chat.completions.create(
        model="gpt-small", messages=[USER], extra_headers={RUN_HEADER: "mine"}
    )
    assert reply.id == "chatcmpl-mine-1"


def test_the_prompt_cache_is_reported(client):
    """A second request shares its prefix; another tool set shares nothing."""
    messages = message_of(1_500)

    def cached(**fields):
        reply = client.chat.completions.create(
            model="gpt-small", messages=messages, **fields
        )
        return reply.usage.prompt_tokens_details.cached_tokens

    assert [cached(), cached(), cached(tools=TOOLS)] == [0, 1_408, 0]


@pytest.mark.parametrize("include_usage", [True, False])
def test_a_stream_carries_the_same_answer(client, include_usage):
    """Pieces join to the whole reply; usage comes last, if it was asked for."""
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    stream = client.chat.completions.create(
        model="gpt-small", messages=[USER], tools=TOOLS, stream=True, **options
    )
    chunks = list(stream)
    deltas = [c.choices[0].delta for c in chunks if c.choices]
    parts = [d.tool_calls[0] for d in deltas if d.tool_calls]
    arguments = "".join(part.function.arguments for part in parts)
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]

    assert (parts[0].id, parts[0].function.name) == ("call_1", "read")
    assert json.loads(arguments) == {"path": "a.txt"}
    assert [reason for reason in reasons if reason] == ["tool_calls"]
    used = [chunk.usage for chunk in chunks if chunk.usage]
    assert [chunk.usage for chunk in chunks[-1:] if chunk.usage] == used
    prompts = [usage.prompt_tokens for usage in used]
    assert prompts == [count_prompt_tokens([USER], TOOLS)] * include_usage


def test_a_long_text_streams_in_pieces(client, server):
    text = "Ω is the last letter. " * 40
    headers = server.follow("long", lambda messages, tools: text)
    stream = client.chat.completions.create(
        model="gpt-small", messages=[USER], stream=True, extra_headers=headers
    )
    pieces = [c.choices[0].delta.content for c in stream]
    assert len(pieces) > 10
    assert "".join(piece or "" for piece in pieces) == text


def test_concurrent_runs_do_not_mix(server):
    """Sixteen loops at once: each gets its own numbers and its own answers."""
    meet = threading.Barrier(16)

    def loop(number):
        headers = {RUN_HEADER: f"r{number}"}
        with openai.OpenAI(base_url=server.base_url, api_key="k") as own:
            meet.wait(timeout=30)
            ask = own.chat.completions.with_raw_response.create
            seen = []
            for turn in range(5):
                messages = [{"role": "user", "content": f"{number} " * (turn + 1)}]
                reply = ask(
                    model="gpt-small", messages=messages, extra_headers=headers
                ).parse()
                prompt = count_prompt_tokens(messages)
                seen.append((reply.id, reply.usage.prompt_tokens == prompt))
            return seen

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(loop, range(16)))
    assert results == [
        [(f"chatcmpl-r{number}-{turn}", True) for turn in range(1, 6)]
        for number in range(16)
    ]
    assert len(server.requests) == 80


def test_only_so_many_requests_are_kept():
    with (
        StandIn([MODEL], script=reader, keep_requests=2) as server,
        openai.OpenAI(base_url=server.base_url, api_key="k") as client,
    ):
        for text in "abc":
            messages = [{"role": "user", "content": text}]
            client.chat.completions.create(model="gpt-small", messages=messages)
    assert [r["messages"][0]["content"] for r in server.requests] == ["b", "c"]


def test_closing_ends_kept_alive_connections():
    """Nothing waits for a client that forgot to close, and no thread is left."""
    before = set(threading.enumerate())
    with StandIn([MODEL], script=reader) as server:
        connection = http.client.HTTPConnection(
            "127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]), timeout=10
        )
        connection.request("GET", "/v1/models")
        connection.getresponse().read()
        threads = set(threading.enumerate()) - before
    for thread in threads:
        thread.join(timeout=10)
    assert not any(thread.is_alive() for thread in threads)
    connection.close()
