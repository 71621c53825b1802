"""The inspector's wheel is whole: installed alone, it starts and renders its pages."""

import pytest

from tests.support.environment import REPOSITORY
from tests.support.process import InspectorProcess
from tests.support.wheels import build_wheel, fresh_environment, run


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    wheels = [
        build_wheel(REPOSITORY / "sdk", folder / "sdk"),
        build_wheel(REPOSITORY, folder / "inspector"),
    ]
    return fresh_environment(folder / "venv", wheels, ["ullage-inspector"])


@pytest.fixture
def inspector(python, tmp_path):
    program = [str(python.with_name("ullage-inspector"))]
    with InspectorProcess(tmp_path / "data", program=program) as process:
        yield process


def test_it_runs_what_was_installed(python):
    code = "import inspector; print(inspector.__file__)"
    assert "site-packages" in run([str(python), "-c", code], cwd=python.parent)


def test_it_opens_renders_its_pages_and_stops(inspector):
    """The printed link opens the list of runs, styled; Ctrl-C ends it cleanly."""
    status, page = inspector.get(inspector.start_path)
    assert status == 200
    assert "<title>Runs" in page
    assert inspector.get("/static/inspector.css")[0] == 200
    assert inspector.interrupt() == 0
