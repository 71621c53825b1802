"""Take the pictures of docs/images anew: `python -m tests.support.screenshots`.

Starts the inspector with its demo runs in a folder that is thrown away, waits until
they are all there, and pictures the list and the most telling run, light and dark.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.support.environment import REPOSITORY
from tests.support.process import InspectorProcess

IMAGES = REPOSITORY / "docs" / "images"
WIDE: ViewportSize = {"width": 1440, "height": 900}
ENOUGH_RUNS = 20
MOST_CALLS = 60
FEW_PRUNES = 3


def main() -> None:
    """Write runs.png and run.png with their dark forms."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        InspectorProcess(Path(folder) / "data", "--demo") as inspector,
        sync_playwright() as playwright,
    ):
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path)
        context = browser.new_context(base_url=inspector.address, viewport=WIDE)
        page = context.new_page()
        page.goto(inspector.link)
        wait_for_runs(page)
        take(page, "/p/main/runs", "runs")
        take(page, telling_run(page), "run")
        browser.close()


def wait_for_runs(page: Page) -> None:
    """Load the list until it holds enough runs and has stopped growing."""
    before = -1
    while before < ENOUGH_RUNS or before != run_count(page):
        before = run_count(page)
        page.wait_for_timeout(3000)
        page.goto("/p/main/runs")


def run_count(page: Page) -> int:
    """How many runs the list says there are."""
    total = page.locator("h1 .total")
    return int(total.inner_text().replace(",", "")) if total.count() else 0


def telling_run(page: Page) -> str:
    """The address of the longest run with a few prunes that still fits a picture."""
    page.goto("/p/main/runs")
    told = []
    for row in page.locator("tbody tr").all():
        cells = row.locator("td").all_inner_texts()
        calls, prunes = (int(cells[at].replace(",", "")) for at in (3, 4))
        if calls <= MOST_CALLS and prunes >= FEW_PRUNES:
            told.append((calls, row.locator("a").first.get_attribute("href")))
    _, address = max(told)
    return f"{address}?tab=sent"


def take(page: Page, address: str, name: str) -> None:
    """Picture one page in both themes."""
    for scheme, suffix in (("light", ""), ("dark", "-dark")):
        page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
        page.goto(address)
        page.wait_for_load_state("load")
        page.evaluate("document.fonts.ready")
        page.screenshot(path=IMAGES / f"{name}{suffix}.png")


if __name__ == "__main__":
    main()
