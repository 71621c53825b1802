"""Chromium, and the inspector as a person starts it: `ullage-inspector up --demo`."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from tests.support.process import InspectorProcess

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDE = {"width": 1440, "height": 900}


@pytest.fixture(scope="session")
def inspector(tmp_path_factory):
    """A running inspector with its demo runs."""
    data_dir = tmp_path_factory.mktemp("inspector") / "data"
    with InspectorProcess(data_dir, "--demo") as process:
        yield process


@pytest.fixture(scope="session")
def chromium():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not path:
        pytest.fail("Chromium is not installed; on Debian: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def signed_in(chromium, inspector):
    """What a signed-in browser remembers: the link works once, its session stays."""
    context = chromium.new_context()
    context.new_page().goto(inspector.link)
    yield context.storage_state()
    context.close()


@pytest.fixture(params=["light"])
def page(request, chromium, inspector, signed_in):
    """A page of a signed-in browser; a script error or refused resource fails the test.

    Dark pages: `@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)`.
    """
    complaints = []
    context = chromium.new_context(
        base_url=inspector.address,
        storage_state=signed_in,
        viewport=WIDE,
        color_scheme=request.param,
    )
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type == "error" else None,
    )
    yield page
    context.close()
    assert complaints == []
