"""The receiver: what it takes, what it refuses, and in which words."""

import base64
import gzip
import json

import pytest
from django.db import OperationalError
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from inspector.domain.ingest import services
from inspector.store.inbox import Inbox
from tests.factories import key_for
from tests.support.otlp import export, export_json, gzipped, span

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
BODY = export([span("one")]).SerializeToString()
BODY_JSON = export_json(export([span("one")]))


@pytest.fixture(autouse=True)
def silent_bell(monkeypatch):
    """The rows are looked at before any worker comes."""
    rung = []
    monkeypatch.setattr("inspector.web.otlp.ring", lambda: rung.append(True))
    return rung


@pytest.fixture
def post(cast, client):
    """Post a body with the project's key."""
    key = key_for(cast.project)

    def send(body=BODY, content_type=PROTOBUF, **headers):
        given = {"Authorization": f"Bearer {key}", **headers}
        return client.post("/v1/traces", body, content_type=content_type, headers=given)

    return send


def told(response):
    """The message of a refusal, from either encoding."""
    if response["Content-Type"] == PROTOBUF:
        return Status.FromString(response.content).message
    return json.loads(response.content)["message"]


@pytest.mark.parametrize(
    ("body", "content_type", "headers", "answer"),
    [
        pytest.param(BODY, PROTOBUF, {}, b"", id="protobuf"),
        pytest.param(BODY_JSON, JSON, {}, b"{}", id="json"),
        pytest.param(BODY_JSON, f"{JSON}; charset=utf-8", {}, b"{}", id="parameters"),
        pytest.param(
            gzipped(BODY), PROTOBUF, {"Content-Encoding": "gzip"}, b"", id="gzip"
        ),
        pytest.param(
            gzipped(BODY[:9]) + gzipped(BODY[9:]),
            PROTOBUF,
            {"Content-Encoding": "x-gzip"},
            b"",
            id="two gzip members",
        ),
    ],
)
def test_a_body_is_committed_and_then_answered(
    post, silent_bell, body, content_type, headers, answer
):
    response = post(body, content_type, **headers)
    assert (response.status_code, response.content) == (200, answer)
    assert response["Content-Type"] == content_type.split(";")[0]
    assert bytes(Inbox.objects.get().body) in {BODY, BODY_JSON}
    assert silent_bell == [True]


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_an_empty_request_is_fine_and_leaves_nothing(post, content_type):
    body = b"" if content_type == PROTOBUF else b"{}"
    # Django's test client leaves the type out where there is no body.
    response = post(body, content_type, **{"Content-Type": content_type})
    assert (response.status_code, Inbox.objects.count()) == (200, 0)


@pytest.mark.parametrize(
    ("body", "content_type", "headers", "status", "words"),
    [
        pytest.param(BODY[:-3], PROTOBUF, {}, 400, "cannot be read as protobuf",
                     id="truncated protobuf"),
        pytest.param(b"\xff\xfe", JSON, {}, 400, "cannot be read as json", id="bytes"),
        pytest.param(BODY_JSON[:-9], JSON, {}, 400, "cannot be read as json",
                     id="truncated JSON"),
        pytest.param(b'{"resourceSpans": {}}', JSON, {}, 400,
                     "resourceSpans is not a list", id="an object for a list"),
        pytest.param(b'{"resourceSpans":[{"scopeSpans":[{"spans":"x"}]}]}', JSON, {},
                     400, "spans is not a list", id="text for a list"),
        pytest.param(b"[" * 3000, JSON, {}, 400, "cannot be read as json", id="deep"),
        pytest.param(BODY, "text/plain", {}, 415, "text/plain", id="content type"),
        pytest.param(BODY, PROTOBUF, {"Content-Encoding": "br"}, 415, "br", id="br"),
        pytest.param(BODY, PROTOBUF, {"Content-Encoding": "gzip, gzip"}, 415,
                     "gzip, gzip", id="a list of encodings"),
        pytest.param(BODY, PROTOBUF, {"Content-Encoding": "gzip"}, 400,
                     "cannot be inflated", id="not gzip at all"),
        pytest.param(gzipped(BODY)[:-4], PROTOBUF, {"Content-Encoding": "gzip"}, 400,
                     "ends too early", id="truncated gzip"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_its_own_encoding(
    post, body, content_type, headers, status, words
):
    response = post(body, content_type, **headers)
    assert response.status_code == status
    assert words in told(response)
    assert response["Content-Type"] == (JSON if content_type != PROTOBUF else PROTOBUF)
    assert not Inbox.objects.exists()


def test_a_body_over_the_limit_is_refused_with_the_setting_to_raise(post, settings):
    settings.MAX_BODY_BYTES = len(BODY) - 1
    response = post()
    assert response.status_code == 413
    assert "ULLAGE_INSPECTOR_MAX_BODY_BYTES" in told(response)


def test_a_bomb_is_refused_before_it_unfolds(post, settings):
    settings.MAX_INFLATED_BYTES = 1_000_000
    bomb = gzip.compress(bytes(50_000_000))
    response = post(bomb, **{"Content-Encoding": "gzip"})
    assert response.status_code == 413
    assert "ULLAGE_INSPECTOR_MAX_INFLATED_BYTES" in told(response)


class TestKey:
    @pytest.mark.parametrize("way", ["bearer", "x-api-key", "basic"])
    def test_a_key_comes_in_three_ways(self, cast, client, way):
        key = key_for(cast.project)
        basic = base64.b64encode(f"anyone:{key}".encode()).decode()
        headers = {
            "bearer": {"Authorization": f"Bearer {key}"},
            "x-api-key": {"X-Api-Key": key},
            "basic": {"Authorization": f"Basic {basic}"},
        }[way]
        response = client.post("/v1/traces", BODY, PROTOBUF, headers=headers)
        assert response.status_code == 200
        assert Inbox.objects.get().project == cast.project

    @pytest.mark.parametrize(
        ("authorization", "words"),
        [
            ("", "needs a key"),
            ("Bearer nobody", "not known"),
            ("Basic ???", "needs a key"),
        ],
    )
    def test_a_wrong_key_is_told_what_to_do(self, cast, client, authorization, words):
        response = client.post(
            "/v1/traces", BODY, PROTOBUF, headers={"Authorization": authorization}
        )
        assert response.status_code == 401
        assert words in told(response)
        assert response["WWW-Authenticate"].startswith("Bearer")

    def test_a_reading_key_may_not_send(self, cast, client):
        key = key_for(cast.project, "read")
        response = client.post("/v1/traces", BODY, PROTOBUF, headers={"x-api-key": key})
        assert response.status_code == 403
        assert "`ingest`" in told(response)


def test_only_post_is_known(client, db):
    response = client.get("/v1/traces")
    assert (response.status_code, response["Allow"]) == (405, "POST")


def test_a_store_that_fails_is_busy_and_not_broken(post, monkeypatch):
    def fail(**named):
        raise OperationalError("database is locked")

    monkeypatch.setattr(services.Inbox.objects, "create", fail)
    response = post()
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0


def test_a_full_inbox_asks_to_wait(post, monkeypatch):
    monkeypatch.setattr(services, "MAX_WAITING_BODIES", 1)
    assert [post().status_code for _ in range(3)] == [200, 200, 503]
