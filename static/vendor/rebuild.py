"""Rebuild the vendored files from their npm packages and check or write their digests.

Run from anywhere with Node's npm on the path: `python static/vendor/rebuild.py`.
Nothing here runs at set-up or in production; the files themselves are committed.
"""

import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.json"
SOURCE_MAP = re.compile(rb"\n?//# sourceMappingURL=\S+\s*$")


def rebuild() -> None:
    """Fetch every package named in the manifest and write its file and digest anew."""
    entries = json.loads(MANIFEST.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            content = member(Path(folder), entry)
            (HERE / entry["file"]).write_bytes(content)
            entry["sha256"] = hashlib.sha256(content).hexdigest()
    MANIFEST.write_text(json.dumps(entries, indent=2) + "\n")


def member(folder: Path, entry: dict[str, str]) -> bytes:
    """The wanted file of one package, without a pointer to a source map."""
    package = f"{entry['name']}@{entry['version']}"
    packed = subprocess.run(
        ["npm", "pack", "--silent", package],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()[-1]
    with tarfile.open(folder / packed) as archive:
        found = archive.extractfile(f"package/{entry['member']}")
        if found is None:
            raise FileNotFoundError(f"{package} holds no {entry['member']}")
        return SOURCE_MAP.sub(b"", found.read())


if __name__ == "__main__":
    rebuild()
