"""Builds the wheels and puts them into fresh environments, without any network.

Dependencies are linked from the environment that runs the tests: only what is declared,
so that what a wheel forgot to declare is missing there too.
"""

import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
OUR_OWN = {"ullage", "ullage-inspector"}


def build_wheel(source: Path, output: Path) -> Path:
    """Build the distribution in `source`, offline, and return its wheel."""
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel"]
    run([*build, "--outdir", str(output), str(source)])
    (wheel,) = output.glob("*.whl")
    return wheel


def fresh_environment(
    folder: Path, wheels: Iterable[Path], needs: Iterable[str]
) -> Path:
    """Make an environment of the wheels and what `needs` names; return its Python."""
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    offline = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    run([str(python), "-m", "pip", "install", *offline, *map(str, wheels)])
    (site_packages,) = folder.glob("lib/python*/site-packages")
    for name in closure(needs):
        link_distribution(name, site_packages)
    return python


def run(command: list[str], cwd: Path | None = None) -> str:
    """Run a command and return its output; where it fails, the output tells why."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=cwd,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def closure(needs: Iterable[str]) -> set[str]:
    """Names of all distributions that these requirements pull in, our own left out."""
    found: set[str] = set()
    queue = [Requirement(text) for text in needs]
    while queue:
        wanted = queue.pop()
        name = canonical(wanted.name)
        for extra in wanted.extras or {""}:
            if (key := f"{name}[{extra}]") not in found:
                found.add(key)
                queue += requirements_of(name, extra)
    return {key.partition("[")[0] for key in found} - OUR_OWN


def requirements_of(name: str, extra: str) -> list[Requirement]:
    """What a distribution requires here, with one of its extras or without ("")."""
    parsed = map(Requirement, metadata.requires(name) or ())
    return [
        wanted
        for wanted in parsed
        if not wanted.marker or wanted.marker.evaluate({"extra": extra})
    ]


def link_distribution(name: str, site_packages: Path) -> None:
    """Link every file of a distribution into another environment's site-packages.

    File by file: several distributions share the namespace package `opentelemetry`.
    """
    for file in metadata.files(name) or ():
        if file.parts[0] == ".." or file.suffix == ".pyc":
            continue
        link = site_packages / file
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(SITE_PACKAGES / file)


def canonical(name: str) -> str:
    """The name as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()
