"""The provider's prompt cache: the longest common prefix with any earlier request.

As OpenAI documents it: from 1,024 tokens on, in steps of 128, one cache for each model.
"""

import hashlib
import threading
from collections.abc import Iterator

from tests.support.standin.tokens import TOKEN_BYTES

FIRST_TOKENS = 1024
STEP_TOKENS = 128


class PrefixCache:
    """Remembers a digest of every cacheable prefix that was ever sent."""

    def __init__(self) -> None:
        self._seen: dict[str, set[bytes]] = {}
        self._lock = threading.Lock()

    def look_up(self, model: str, stream: bytes) -> int:
        """Tokens that an earlier prompt of this model shares; this one is kept, too."""
        prefixes = list(_prefixes(stream))
        with self._lock:
            seen = self._seen.setdefault(model, set())
            hits = [length for length, digest in prefixes if digest in seen]
            seen.update(digest for _, digest in prefixes)
        return max(hits, default=0)


def _prefixes(stream: bytes) -> Iterator[tuple[int, bytes]]:
    running = hashlib.blake2b(digest_size=16)
    start = 0
    for length in range(FIRST_TOKENS, len(stream) // TOKEN_BYTES + 1, STEP_TOKENS):
        running.update(stream[start : length * TOKEN_BYTES])
        start = length * TOKEN_BYTES
        yield length, running.digest()
