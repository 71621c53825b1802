"""The list of runs and the page of one: who sees them, what they say, how safely."""

import re
from html import unescape

import pytest
from django.urls import reverse

from tests.factories import take_in
from tests.support.otlp import WireRun, export, text_message
from ullage import semconv
from ullage.messages import canonical_bytes, digest_of

EVIL = '</pre><script>alert(1)</script>" onload="x'
SYSTEM = text_message("system", "You triage.")
TASK = text_message("user", f"Why is it slow? {EVIL} \x1b[31m\u202e")
LOOK = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c1", "name": "grep", "arguments": {"q": 1}}],
}
FOUND = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": "the lost text"}],
}
MORE = text_message("user", "And the other one?")
ANSWER = text_message("assistant", "It waits for the disk.")
BREAKDOWN = {
    semconv.BREAKDOWN_SYSTEM_TOKENS: 100,
    semconv.BREAKDOWN_TOOLS_TOKENS: 200,
    semconv.BREAKDOWN_CONVERSATION_TOKENS: 750,
    semconv.BREAKDOWN_MEDIA_TOKENS: 0,
    semconv.BREAKDOWN_FRAMING_TOKENS: 50,
}
TABS = ("sent", "dropped", "tokens", "raw")


def pruned_run(**options):
    """Three calls; the third one's view loses a turn, and a fourth is never made."""
    run = WireRun(**options)
    run.call([SYSTEM, TASK], reply=LOOK, **BREAKDOWN)
    run.call([SYSTEM, TASK, LOOK, FOUND], units={2: 2, 3: 2}, input_tokens=5000)
    step = [digest_of(canonical_bytes(m)) for m in (LOOK, FOUND)]
    run.prune(
        [
            {
                "unit": 2,
                "do": "drop",
                "why": "over_budget",
                "tokens": [1240, 0],
                "roles": ["assistant", "tool"],
                "tools": ["grep"],
                "messages": step,
            }
        ]
    )
    run.call([SYSTEM, TASK, MORE], reply=ANSWER, dropped_units=1, input_tokens=700)
    run.truncate()
    run.end("context_truncated")
    return run


def store(project, run):
    take_in(project, export(run.spans).SerializeToString())
    return run


@pytest.fixture
def run(cast):
    """A pruned and truncated run of the project."""
    return store(cast.project, pruned_run())


@pytest.fixture
def owner(client, cast):
    """The owner's browser."""
    client.force_login(cast.owner)
    return client


def runs_url(cast, query=""):
    return reverse("run-list", args=[cast.project.slug]) + query


def run_url(cast, run, query=""):
    return reverse("run-detail", args=[cast.project.slug, run.run_id]) + query


def text_of(response):
    return unescape(response.content.decode())


class TestAccess:
    @pytest.mark.parametrize("person", ["owner", "teammate"])
    def test_members_see_both_pages(self, client, cast, run, person):
        client.force_login(getattr(cast, person))

        assert client.get(runs_url(cast)).status_code == 200
        assert client.get(run_url(cast, run)).status_code == 200

    @pytest.mark.parametrize("page", ["run-list", "run-news", "run-detail"])
    def test_a_stranger_does_not_learn_that_the_project_exists(
        self, client, cast, run, page
    ):
        client.force_login(cast.stranger)
        rest = [run.run_id] if page == "run-detail" else []

        answers = [
            client.get(reverse(page, args=[slug, *rest]))
            for slug in (cast.project.slug, "no-such-project")
        ]

        assert [a.status_code for a in answers] == [404, 404]
        assert run.run_id.encode() not in answers[0].content

    def test_a_stranger_s_own_project_does_not_hold_the_run(self, client, cast, run):
        client.force_login(cast.stranger)
        url = reverse("run-detail", args=[cast.stranger_project.slug, run.run_id])

        assert client.get(url).status_code == 404

    def test_who_is_not_signed_in_is_led_to_the_door(self, client, cast, run):
        answer = client.get(run_url(cast, run))

        assert answer.status_code == 302
        assert answer.url.startswith(reverse("sign-in"))

    def test_pages_are_read_and_never_written(self, owner, cast, run):
        assert owner.post(runs_url(cast)).status_code == 405


class TestList:
    def test_a_row_says_how_the_run_went(self, owner, cast, run):
        page = text_of(owner.get(runs_url(cast)))

        assert f'href="{run_url(cast, run)}"' in page
        for said in ("triage", "Context truncated", "gpt-5-mini", "8,000", "62\u202f%"):
            assert said in page

    def test_the_rows_alone_are_given_to_htmx(self, owner, cast, run):
        answer = owner.get(
            runs_url(cast),
            headers={
                "HX-Request": "true",
                "HX-Request-Type": "partial",
                "HX-Target": "div#rows",
            },
        )

        assert text_of(answer).lstrip().startswith('<div id="rows">')
        assert "HX-Target" in answer["Vary"]

    @pytest.mark.parametrize(
        ("query", "is_found"),
        [
            ("?agent=triage", True),
            ("?agent=triag", False),
            ("?model=gpt-5-mini&outcome=context_truncated", True),
            ("?outcome=completed", False),
        ],
    )
    def test_filters_stand_in_the_address(self, owner, cast, run, query, is_found):
        page = text_of(owner.get(runs_url(cast, query)))

        assert (run.run_id in page) == is_found
        assert ("No run matches" in page) != is_found

    def test_an_empty_list_says_how_to_fill_it(self, owner, cast):
        page = text_of(owner.get(runs_url(cast)))

        assert "No runs yet" in page
        assert "ullage.configure(endpoint=" in page

    def test_a_cursor_of_someone_s_own_making_is_refused(self, owner, cast):
        assert owner.get(runs_url(cast, "?after=x")).status_code == 400

    def test_older_runs_are_reached_by_their_link(self, owner, cast):
        runs = [
            store(cast.project, pruned_run(trace_id=f"{i:032x}")) for i in range(1, 52)
        ]
        first = text_of(owner.get(runs_url(cast)))
        older = re.search(r'rel="next" href="([^"]+)"', first)

        second = text_of(owner.get(older[1]))

        shown = [{r.run_id for r in runs if r.run_id in p} for p in (first, second)]
        assert [len(ids) for ids in shown] == [50, 1]
        assert shown[0] | shown[1] == {r.run_id for r in runs}

    def test_news_is_silent_until_there_is_some(self, owner, cast, run):
        page = text_of(owner.get(runs_url(cast)))
        news_url = re.search(r'hx-get="([^"]+news[^"]+)"', page)[1]

        assert owner.get(news_url).status_code == 204

        store(cast.project, pruned_run(trace_id="22" * 16))
        news = text_of(owner.get(news_url))
        assert "1 new run<" in news
        assert owner.get(re.search(r'hx-get="([^"]+)"', news)[1]).status_code == 204


class TestRun:
    def test_the_head_answers_the_first_questions(self, owner, cast, run):
        page = text_of(owner.get(run_url(cast, run)))

        assert "Stopped before call 3" in page
        assert "needed <b>9,100</b> tokens" in page
        assert "The newest result alone is larger than the budget" in page
        assert "dropped 1 turn (−1,240 tokens): grep" in page

    def test_the_chart_has_a_column_for_each_call_and_only_what_is_there(
        self, owner, cast, run
    ):
        page = text_of(owner.get(run_url(cast, run)))

        assert page.count('<a class="column"') == 3
        legend = re.search(r'<ul class="legend">(.*?)</ul>', page, re.DOTALL)[1]
        assert "system prompt" in legend
        assert "media" not in legend

    def test_the_sent_tab_marks_messages_and_the_cut(self, owner, cast, run):
        page = text_of(owner.get(run_url(cast, run, "?call=2&tab=sent")))

        assert "cut here: 1 turn<" in page
        assert re.findall(r'<span class="mark mark-(\w+)" title', page) == [
            "kept",
            "kept",
            "new",
            "new",
        ]

    def test_the_dropped_tab_holds_the_text_that_left(self, owner, cast, run):
        page = text_of(owner.get(run_url(cast, run, "?call=2&tab=dropped")))

        assert "the lost text" in page
        assert "left at this call" in page

    def test_the_tokens_tab_says_the_drift_in_words_and_adds_up(self, owner, cast, run):
        page = text_of(owner.get(run_url(cast, run, "?call=0&tab=tokens")))

        assert "Estimated <b>1,100</b>, the provider counted <b>1,000</b>" in page
        assert "10\u202f% over" in page
        assert "adds up" in page

    def test_the_raw_tab_shows_every_attribute(self, owner, cast, run):
        page = text_of(owner.get(run_url(cast, run, "?call=0&tab=raw")))

        assert semconv.VIEW_DIGEST in page

    def test_the_opened_call_alone_is_given_to_htmx(self, owner, cast, run):
        headers = {
            "HX-Request": "true",
            "HX-Request-Type": "partial",
            "HX-Target": "section#call",
        }

        part = text_of(owner.get(run_url(cast, run, "?call=1"), headers=headers))
        whole = text_of(owner.get(run_url(cast, run, "?call=1")))

        assert part.strip() in whole
        assert part.lstrip().startswith('<section id="call"')

    @pytest.mark.parametrize("tab", TABS)
    def test_without_content_every_tab_says_what_is_missing(self, owner, cast, tab):
        run = store(cast.project, pruned_run(with_bodies=False))

        page = text_of(owner.get(run_url(cast, run, f"?call=2&tab={tab}")))

        assert "the lost text" not in page
        if tab in ("sent", "dropped"):
            assert "The text was not captured" in page

    @pytest.mark.parametrize(
        ("query", "status"),
        [
            ("?call=x&tab=<b>", 200),
            ("?call=99", 404),
            ("?call=-1&from=999999", 200),
            ("?from=-3&full=nope", 200),
        ],
    )
    def test_odd_addresses_are_answered(self, owner, cast, run, query, status):
        assert owner.get(run_url(cast, run, query)).status_code == status

    def test_a_run_that_never_arrived_is_said_not_to_be_there(self, owner, cast):
        url = reverse("run-detail", args=[cast.project.slug, "ff" * 16])

        answer = owner.get(url)

        assert answer.status_code == 404
        assert "may not have arrived yet" in text_of(answer)


class TestSafety:
    @pytest.mark.parametrize("tab", TABS)
    def test_content_is_text_and_nothing_runs_inline(self, owner, cast, run, tab):
        answer = owner.get(run_url(cast, run, f"?call=2&tab={tab}"))
        page = answer.content.decode()

        assert "<script>alert" not in page
        assert not re.search(r"<script(?![^>]*\ssrc=)", page)
        assert not re.search(r'<[^>]+\s(style|on\w+|hx-on\S*)="', page)
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "unsafe" not in answer["Content-Security-Policy"]

    def test_hostile_names_are_text_everywhere(self, owner, cast):
        run = WireRun()
        run.call([TASK], **{semconv.REQUEST_MODEL: EVIL})
        run.end(EVIL, **{semconv.AGENT_NAME: EVIL})
        store(cast.project, run)

        for url in (runs_url(cast), run_url(cast, run)):
            answer = owner.get(url)
            assert answer.status_code == 200
            assert b"<script>alert" not in answer.content
            assert b'" onload="x' not in answer.content


class TestPlainPages:
    def test_signing_in_says_how(self, client, db):
        page = text_of(client.get(reverse("sign-in")))

        assert 'name="username"' in page
        assert "ullage-inspector link" in page

    def test_a_wrong_address_is_answered_in_plain_words(self, client, db):
        answer = client.get("/no/such/page")

        assert answer.status_code == 404
        assert "There is no such page" in text_of(answer)

    def test_a_used_link_says_how_to_get_another(self, client, db):
        answer = client.get(reverse("start", args=["spent"]))

        assert answer.status_code == 410
        assert "ullage-inspector link" in text_of(answer)
