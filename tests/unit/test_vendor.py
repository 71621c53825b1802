"""The vendored files are what their manifest says, and lead nowhere else."""

import hashlib
import json

import pytest

from tests.support.environment import REPOSITORY

VENDOR = REPOSITORY / "static" / "vendor"
ENTRIES = json.loads((VENDOR / "manifest.json").read_text())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_a_vendored_file_has_the_digest_of_its_manifest(entry):
    content = (VENDOR / entry["file"]).read_bytes()

    assert hashlib.sha256(content).hexdigest() == entry["sha256"]
    assert b"sourceMappingURL" not in content
    assert {"name", "version", "licence"} <= entry.keys()


def test_every_binary_and_script_is_in_the_manifest():
    shipped = {
        f.name for f in VENDOR.iterdir() if f.suffix in {".js", ".woff2", ".css"}
    }

    assert shipped == {entry["file"] for entry in ENTRIES}
