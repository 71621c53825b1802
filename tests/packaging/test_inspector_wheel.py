"""The inspector's wheel is whole: installed alone, it starts and renders its pages."""

import pytest

from tests.support.environment import REPOSITORY
from tests.support.inspector import running_inspector
from tests.support.pages import PlainBrowser
from tests.support.wheels import build_wheel, fresh_environment, run


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspector")
    wheels = [
        build_wheel(REPOSITORY / "sdk", folder / "sdk"),
        build_wheel(REPOSITORY, folder / "inspector"),
    ]
    return fresh_environment(folder / "venv", wheels, ["ullage-inspector"])


@pytest.fixture(scope="module")
def inspector(python, tmp_path_factory):
    command = python.with_name("ullage-inspector")
    data_dir = tmp_path_factory.mktemp("data")
    with running_inspector(data_dir, command=command) as process:
        yield process


@pytest.fixture(scope="module")
def browser():
    return PlainBrowser()


def test_it_runs_what_was_installed(python):
    code = "import inspector; print(inspector.__file__)"
    assert "site-packages" in run([str(python), "-c", code], cwd=python.parent)


def test_the_link_opens_the_list_of_runs(inspector, browser):
    address, _, page = browser.open(inspector.link)
    assert address.removeprefix(inspector.url) == "/p/main/runs"
    assert "<html" in page
    assert "</html>" in page


def test_it_serves_its_stylesheet(inspector, browser):
    _, kind, _ = browser.open(f"{inspector.url}/static/inspector.css")
    assert kind == "text/css"


def test_it_stops_cleanly_when_asked(python, tmp_path):
    command = python.with_name("ullage-inspector")
    with running_inspector(tmp_path, command=command) as process:
        assert process.stop() == 0
