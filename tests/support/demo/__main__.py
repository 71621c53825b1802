"""`make demo`: record every scenario again and write the files of inspector/demo."""

import sys
from collections import Counter

from tests.support.demo.recordings import FOLDER, packed, recorded


def main() -> None:
    """Write the files, and say what is in them."""
    recordings = recorded()
    for path in FOLDER.glob("*.otlp.gz"):
        path.unlink()
    files = packed(recordings)
    for name, body in files.items():
        (FOLDER / name).write_bytes(body)
    reasons = Counter(result.reason for r in recordings for result in r.results)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    total_bytes = sum(map(len, files.values()))
    sys.stdout.write(
        f"{reasons.total()} runs ({told}) in {len(files)} files,"
        f" {total_bytes / 1000:.0f} kB\n"
    )


if __name__ == "__main__":
    main()
