"""This repository as it once was: a fixed copy, so that recordings stay comparable.

The checkout itself changes with every commit, and Python's own library with every
release. Made from the SDK's sources, the decisions, three pages and the license:
`git archive --format=zip -o repository.zip HEAD sdk/src/ullage docs/decisions …`.
"""

import zipfile
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).with_name("repository.zip")


@cache
def repository() -> dict[str, str]:
    """Text of each file by its path, in order of paths."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        names = sorted(archive.namelist())
        return {name: archive.read(name).decode() for name in names}
