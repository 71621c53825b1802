"""What the repository promises about itself, checked on the tracked files."""

import re
import subprocess
import tomllib

import pytest

from tests.support.environment import REPOSITORY

TOP_LEVEL = [
    "manage.py",
    "pyproject.toml",
    "Makefile",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE",
    "docker-compose.yml",
    ".npmrc",
    ".gitignore",
    ".ci/run",
    "inspector",
    "sdk/pyproject.toml",
    "sdk/README.md",
    "sdk/src/ullage",
    "templates",
    "static",
    "tests",
    "requirements/run.txt",
    "requirements/server.txt",
    "requirements/dev.txt",
    "docs/why.md",
    "docs/testing.md",
    "docs/wire.md",
    "docs/architecture.md",
    "docs/benchmarks.md",
    "docs/decisions/0001-record-decisions.md",
]

# By structure, not by naming a host: what a resolver writes when it writes addresses.
REGISTRY_ADDRESS = re.compile(
    r'(?m)^\s*"resolved":|registry = "|^\s*url = "http'
    r"|--(?:extra-)?index-url|--find-links"
)
LOCK_LIKE = re.compile(
    r"(^|/)(requirements/.*\.txt|.*\.lock|.*lock\.(json|toml|yaml))$"
)
UNTRACKED_LOCKS = {"uv.lock", "pylock.toml"}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|Users|work)/[a-z]")
NEIGHBOUR = re.compile(r"\.\./shared/(?!data\b)")
LARGEST_TEXT_BYTES = 1_000_000


def tracked():
    listing = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [
        name for name in listing.stdout.split("\0") if (REPOSITORY / name).is_file()
    ]


def texts():
    """Every tracked text file that a person would read, as (name, text)."""
    for name in tracked():
        path = REPOSITORY / name
        if path.stat().st_size > LARGEST_TEXT_BYTES:
            continue
        try:
            yield name, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def metadata(folder="."):
    return tomllib.loads((REPOSITORY / folder / "pyproject.toml").read_text())[
        "project"
    ]


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_the_house_has(name):
    assert (REPOSITORY / name).exists()


def test_no_lock_file_holds_a_registry_address():
    guilty = [
        name
        for name, text in texts()
        if LOCK_LIKE.search(name) and REGISTRY_ADDRESS.search(text)
    ]
    assert guilty == []


def test_lock_files_that_hold_addresses_are_not_tracked():
    assert UNTRACKED_LOCKS.isdisjoint(name.rpartition("/")[2] for name in tracked())


def test_npm_is_told_to_leave_addresses_out():
    settings = (REPOSITORY / ".npmrc").read_text().split()
    assert "omit-lockfile-registry-resolved=true" in settings


def test_every_requirement_is_pinned_and_hashed():
    for path in sorted((REPOSITORY / "requirements").glob("*.txt")):
        if path.name == "constraints.txt":
            continue
        logical = path.read_text().replace("\\\n", "").splitlines()
        pins = [line for line in logical if line and not line.lstrip().startswith("#")]
        assert pins, path.name
        for pin in pins:
            assert re.match(r"[\w.-]+(\[[\w,-]+\])?==\S+ .*--hash=sha256:", pin), pin


@pytest.mark.parametrize(
    "pattern", [MACHINE_PATH, NEIGHBOUR], ids=["machine", "neighbour"]
)
def test_no_file_names_a_path_that_only_one_machine_has(pattern):
    guilty = [
        f"{name}: {found[0]}"
        for name, text in texts()
        if (found := pattern.search(text))
    ]
    assert guilty == []


def test_both_distributions_have_one_version():
    inspector, sdk = metadata(), metadata("sdk")
    assert inspector["version"] == sdk["version"]
    assert f"ullage=={sdk['version']}" in inspector["dependencies"]


def test_the_changelog_opens_with_that_version():
    changelog = (REPOSITORY / "CHANGELOG.md").read_text()
    newest = re.search(r"^## \[?([\d.]+)", changelog, re.MULTILINE)
    assert newest
    assert newest[1] == metadata()["version"]


def test_the_sdk_depends_on_the_opentelemetry_api_alone():
    names = [
        re.match(r"[\w-]+", wanted)[0] for wanted in metadata("sdk")["dependencies"]
    ]
    assert names == ["opentelemetry-api"]


def test_the_readme_keeps_to_one_screenful_or_two():
    assert len((REPOSITORY / "README.md").read_text().splitlines()) < 120
