"""The library's wheel stands alone: its unit tests pass on it, without Django."""

import subprocess

import pytest

from tests.support.environment import REPOSITORY
from tests.support.wheels import build_wheel, fresh_environment, run

# What the unit tests use beside the library: the tools, and the extra `otel`.
TEST_NEEDS = [
    "pytest",
    "pytest-timeout",
    "pytest-randomly",
    "hypothesis",
    "time-machine",
]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdk")
    wheel = build_wheel(REPOSITORY / "sdk", folder / "dist")
    return fresh_environment(folder / "venv", [wheel], ["ullage[otel]", *TEST_NEEDS])


@pytest.fixture
def wheel_config(tmp_path):
    """The repository's pytest settings, less what needs Django."""
    config = tmp_path / "pytest.ini"
    config.write_text(
        "[pytest]\n"
        f"pythonpath = {REPOSITORY}\n"
        "addopts = --import-mode=importlib --strict-markers -p no:cacheprovider\n"
        "timeout = 60\n"
        "filterwarnings = error\n"
        "markers =\n    shared_data\n"
    )
    return config


def test_unit_tests_pass_against_the_wheel(python, wheel_config):
    unit_tests = REPOSITORY / "tests" / "unit" / "sdk"
    options = ["-c", str(wheel_config), "--rootdir", str(REPOSITORY), "-q"]
    output = run([str(python), "-m", "pytest", *options, str(unit_tests)])
    assert " passed" in output


def test_the_wheel_is_what_was_tested(python):
    found = run([str(python), "-c", "import ullage; print(ullage.__file__)"])
    assert "site-packages" in found


@pytest.mark.parametrize("module", ["django", "inspector"])
def test_the_environment_has_no(python, module):
    command = [python, "-c", f"import {module}"]
    done = subprocess.run(command, capture_output=True, cwd=python.parent, check=False)
    assert b"ModuleNotFoundError" in done.stderr


def test_it_tells_type_checkers_that_it_is_typed(python):
    where = "import ullage, pathlib; print(pathlib.Path(ullage.__file__).parent)"
    folder = run([str(python), "-c", where]).strip()
    run(["test", "-f", f"{folder}/py.typed"])
