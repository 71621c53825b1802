"""Every page and endpoint is tried by owner, teammate, stranger and nobody."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse

from inspector.domain.accounts.services import first_start, start_token_create
from inspector.store.accounts import User
from tests.factories import key_for, take_in
from tests.support.otlp import WireRun, export, text_message


@pytest.fixture
def run(cast):
    """A run in the cast's project."""
    made = WireRun()
    made.call([text_message("user", "Hello")])
    made.end()
    take_in(cast.project, export(made.spans).SerializeToString())
    return made


PAGES = ["run-list", "run-news", "run-detail"]


def page_url(name, cast, run):
    named = {"slug": cast.project.slug}
    return reverse(
        name, kwargs=named | ({"run_id": run.run_id} if "detail" in name else {})
    )


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    ("who", "status"), [("owner", 200), ("teammate", 200), ("stranger", 404)]
)
def test_members_see_pages_and_strangers_see_nothing(
    client, cast, run, name, who, status
):
    client.force_login(getattr(cast, who))
    assert client.get(page_url(name, cast, run)).status_code == status


@pytest.mark.parametrize("name", PAGES)
def test_nobody_is_asked_to_sign_in(client, cast, run, name):
    url = page_url(name, cast, run)
    response = client.get(url)
    assert (response.status_code, response["Location"]) == (302, f"/sign-in?next={url}")


def test_signing_in_leads_back_to_the_whole_address(client, cast):
    url = f"/p/{cast.project.slug}/runs?agent=a&outcome=completed"
    location = client.get(url)["Location"]
    assert parse_qs(urlsplit(location).query)["next"] == [url]


API = ["/api/v1/runs", "/api/v1/runs/{run_id}"]


@pytest.mark.parametrize("path", API)
@pytest.mark.parametrize(
    ("who", "status"), [("owner", 200), ("teammate", 200), ("stranger", 404)]
)
def test_members_read_the_api_and_strangers_do_not(
    client, cast, run, path, who, status
):
    client.force_login(getattr(cast, who))
    url = f"{path.format(run_id=run.run_id)}?project={cast.project.slug}"
    assert client.get(url).status_code == status


@pytest.mark.parametrize("path", API)
@pytest.mark.parametrize(
    ("scope", "status"), [("read", 200), ("ingest", 403), (None, 401)]
)
def test_a_key_reads_the_api_with_the_read_scope(
    client, cast, run, path, scope, status
):
    headers = {"x-api-key": key_for(cast.project, scope)} if scope else {}
    response = client.get(path.format(run_id=run.run_id), headers=headers)
    assert response.status_code == status


def test_a_key_of_another_project_finds_nothing(client, cast, run):
    headers = {"x-api-key": key_for(cast.stranger_project, "read")}
    assert client.get("/api/v1/runs", headers=headers).json()["runs"] == []
    response = client.get(f"/api/v1/runs/{run.run_id}", headers=headers)
    assert response.json()["error"]["code"] == "run_not_found"


class TestStart:
    def test_the_link_signs_in_once_and_works_again_where_signed_in(
        self, client, client_of_another_browser, db
    ):
        made = first_start()
        link = f"/start/{start_token_create()}"
        for _ in range(2):
            response = client.get(link)
            assert response["Location"] == f"/p/{made.project_slug}/runs"
        elsewhere = client_of_another_browser.get(link)
        assert elsewhere.status_code == 410
        assert b"ullage-inspector link" in elsewhere.content

    def test_the_first_start_is_made_once(self, db):
        assert first_start() is not None
        assert first_start() is None

    @pytest.fixture
    def client_of_another_browser(self, client):
        return type(client)()


def test_someone_without_a_project_is_told(client, db):
    client.force_login(User.objects.create_user("newcomer"))
    response = client.get("/")
    assert response.status_code == 404
    assert b"not a member" in response.content


def test_nobody_is_sent_from_the_front_door_to_sign_in(client, db):
    assert client.get("/")["Location"] == "/sign-in?next=/"
    assert client.get("/sign-in").status_code == 200


def test_health_needs_no_key(client, db, monkeypatch):
    assert client.get("/healthz").content == b"ok\n"
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr("inspector.web.health.store_is_ready", lambda: False)
    assert client.get("/readyz").status_code == 503


def test_every_answer_bears_the_strict_policy(client, cast, run):
    client.force_login(cast.owner)
    for url in (
        page_url("run-list", cast, run),
        "/healthz",
        "/api/v1/runs",
        "/nowhere",
    ):
        policy = client.get(url)["Content-Security-Policy"]
        assert policy.startswith("default-src 'self'")
        assert "unsafe" not in policy
