"""This repository as it once was: a fixed copy, so that recordings stay comparable."""

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
