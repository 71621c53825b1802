"""The JSON API of runs, and of what has arrived."""

import pytest

from tests.factories import key_for, take_in
from tests.support.otlp import WireRun, export, span, text_message


@pytest.fixture
def read(cast, client):
    """Get from the API with a reading key."""
    key = key_for(cast.project, "read")
    return lambda url: client.get(f"/api/v1/{url}", headers={"x-api-key": key})


def runs_of(cast, count):
    made = []
    for number in range(count):
        run = WireRun(trace_id=f"{number + 1:032x}")
        run.call([text_message("user", "Hello")])
        run.end("completed" if number % 2 else "max_iterations")
        take_in(cast.project, export(run.spans).SerializeToString())
        made.append(run)
    return made


def test_a_cursor_walks_every_run_once(cast, read):
    made = runs_of(cast, 5)
    seen, after = [], ""
    while after is not None:
        page = read(f"runs?limit=2&after={after}").json()
        assert page["total_count"] == 5
        seen += [run["run_id"] for run in page["runs"]]
        after = page["next_after"]
    assert sorted(seen) == sorted(run.run_id for run in made)


def test_filters_are_exact(cast, read):
    runs_of(cast, 3)
    counts = {
        query: len(read(f"runs?{query}").json()["runs"])
        for query in (
            "reason=completed",
            "agent=triage",
            "agent=tri",
            "model=gpt-5-mini",
        )
    }
    assert list(counts.values()) == [1, 3, 0, 3]


def test_a_run_comes_with_its_calls(cast, read):
    (run,) = runs_of(cast, 1)
    whole = read(f"runs/{run.run_id}").json()
    assert whole["run"]["agent"] == "triage"
    assert [call["input_tokens"] for call in whole["calls"]] == [1000]
    assert whole["calls"][0]["drift"] == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("runs?after=nonsense", 400, "cursor_invalid"),
        ("runs?limit=0", 422, "request_invalid"),
        ("runs/none", 404, "run_not_found"),
    ],
)
def test_errors_have_one_shape(read, url, status, code):
    response = read(url)
    assert response.status_code == status
    error = response.json()["error"]
    assert (error["code"], sorted(error)) == (code, ["code", "facts", "message"])


def test_the_schema_declares_every_error(client):
    schema = client.get("/api/v1/openapi.json").json()
    for path in schema["paths"].values():
        assert {"200", "401", "404", "422"} <= set(path["get"]["responses"])


class TestArrival:
    def test_a_sender_sees_what_arrived(self, cast, client):
        (run,) = runs_of(cast, 1)
        bad = span("x", trace_id=run.trace_id)
        bad.span_id = b"short"
        take_in(cast.project, export([bad]).SerializeToString())
        headers = {"x-api-key": key_for(cast.project)}
        url = f"/api/v1/ingest/{run.trace_id}"
        assert client.get(url, headers=headers).json() == {
            "trace_id": run.trace_id,
            "span_count": 2,
            "dead_letter_count": 0,
            "run_ids": [run.run_id],
            "is_pending": False,
        }

    def test_a_trace_that_never_came_is_told(self, cast, client):
        headers = {"x-api-key": key_for(cast.project)}
        response = client.get("/api/v1/ingest/abc", headers=headers)
        assert response.json()["error"]["code"] == "trace_not_found"
