"""From the list to the text that an agent lost, by keyboard alone."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.support.otlp import WireRun, export, text_message
from ullage import semconv
from ullage.messages import canonical_bytes, digest_of

SYSTEM = text_message("system", "You read logs.")
TASK = text_message("user", "Why is it slow?")
LOOK = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c1", "name": "grep", "arguments": {"q": 1}}],
}
FOUND = {
    "role": "tool",
    "parts": [
        {"type": "tool_call_response", "id": "c1", "response": "disk full at 03:12"}
    ],
}
MORE = text_message("user", "And the other one?")
ANSWER = text_message("assistant", "It waits for the disk.")
BREAKDOWN = {
    semconv.BREAKDOWN_SYSTEM_TOKENS: 300,
    semconv.BREAKDOWN_TOOLS_TOKENS: 200,
    semconv.BREAKDOWN_CONVERSATION_TOKENS: 500,
    semconv.BREAKDOWN_MEDIA_TOKENS: 60,
    semconv.BREAKDOWN_FRAMING_TOKENS: 40,
}


def send_pruned_run(inspector, agent, trace_id):
    """A run of three calls whose last view lost the turn that held the finding."""
    run = WireRun(trace_id=trace_id)
    run.call([SYSTEM, TASK], reply=LOOK, **BREAKDOWN)
    run.call([SYSTEM, TASK, LOOK, FOUND], units={3: 2}, input_tokens=6000)
    lost = [digest_of(canonical_bytes(m)) for m in (LOOK, FOUND)]
    action = {"unit": 2, "do": "drop", "why": "over_budget", "tokens": [1240, 0]}
    run.prune(
        [{**action, "roles": ["tool"], "tools": ["grep"], "messages": lost}],
    )
    run.call(
        [SYSTEM, TASK, MORE],
        reply=ANSWER,
        dropped_units=1,
        input_tokens=900,
        **BREAKDOWN,
    )
    run.end(**{semconv.AGENT_NAME: agent})
    status, _ = inspector.post(export(run.spans).SerializeToString())
    assert status == 200


def lost_text(page):
    return page.locator("#call pre", has_text="disk full at 03:12")


def open_when_folded(page, address):
    """Open the page of a run once all its calls have been folded."""
    while page.request.get(address).text().count('class="column"') < 3:
        page.wait_for_timeout(100)
    page.goto(address)


def assert_accessible(page):
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_from_the_list_to_the_text_that_was_lost(page, inspector, request):
    scheme = request.node.callspec.params["page"]
    agent = f"log-reader-{scheme}"
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type(agent)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No run matches")).to_be_visible()

    send_pruned_run(inspector, agent, ("ab" if scheme == "light" else "cd") * 16)
    page.get_by_role("link", name="1 new run").click(timeout=30_000)
    expect(page.get_by_role("link", name=agent)).to_be_visible()
    assert_accessible(page)

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Call 2")).to_be_visible()
    expect(page.get_by_text("cut here: 1 turn")).to_be_visible()
    assert_accessible(page)

    page.keyboard.press("2")
    expect(lost_text(page)).to_be_visible()
    expect(page).to_have_url(re.compile(r"call=2&tab=dropped$"))
    assert_accessible(page)

    page.keyboard.press("[")
    expect(page.get_by_role("heading", name="Call 1")).to_be_visible()
    page.go_back()
    expect(lost_text(page)).to_be_visible()


def test_a_column_of_the_chart_opens_its_call_and_keeps_the_tab(page, inspector):
    send_pruned_run(inspector, "chart-reader", "ef" * 16)
    open_when_folded(page, f"/p/main/runs/{'ef' * 16}?tab=tokens")

    page.locator(".column").nth(0).click()

    expect(
        page.get_by_text("Estimated 1,100, the provider counted 1,000")
    ).to_be_visible()
    expect(page.locator(".column").nth(0)).to_have_attribute("aria-current", "true")
    expect(page.locator(".column").nth(2)).not_to_have_attribute("aria-current", "true")


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_the_keys_are_told_and_ignored_while_typing(page):
    page.goto("/p/main/runs")
    page.get_by_label("Agent").press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()

    page.get_by_label("Agent").blur()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_session_that_ended_leads_to_the_door_and_back(page, inspector):
    send_pruned_run(inspector, "late-reader", "fa" * 16)
    open_when_folded(page, f"/p/main/runs/{'fa' * 16}")
    page.context.clear_cookies()

    page.keyboard.press("2")

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    # The tab asked for may or may not stand in the address by now.
    assert f"?next=/p/main/runs/{'fa' * 16}" in page.url


def test_everything_can_be_read_without_javascript(
    chromium, inspector, signed_in, page
):
    send_pruned_run(inspector, "plain-reader", "fb" * 16)
    open_when_folded(page, f"/p/main/runs/{'fb' * 16}")
    plain = chromium.new_context(
        base_url=inspector.address, storage_state=signed_in, java_script_enabled=False
    ).new_page()
    plain.goto("/p/main/runs?agent=plain-reader")

    plain.get_by_role("link", name="plain-reader").click()
    plain.get_by_role("link", name="Dropped").first.click()

    expect(lost_text(plain)).to_be_visible()
    plain.context.close()
