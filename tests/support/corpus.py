"""The corpus of ../shared/data, read in place: texts and their true counts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLE_OF = {
    "o200k": "openai",
    "cl100k": "openai",
    "claude3": "claude_old",
    "claude48": "claude_new",
    "gemini": "google",
    "gemma3": "google",
    "qwen3": "qwen",
    "qwen35": "qwen",
    "deepseek3": "deepseek",
    "llama3": "llama3",
    "tekken": "mistral_tekken",
    "mistral3": "sentencepiece32k",
}
"""The tokenizers in use today and their tables; Claude 2 is left out."""

LONG_ENOUGH_CHARS = 200


@dataclass(frozen=True, slots=True)
class CorpusText:
    name: str
    kind: str
    text: str
    tokens: dict[str, int]


def long_texts(shared_data: Path) -> Iterator[CorpusText]:
    """Every text on which the accuracy figures are promised."""
    folder = shared_data / "corpus"
    counts = json.loads((folder / "counts.json").read_text())
    for name, entry in sorted(counts.items()):
        if entry["chars"] >= LONG_ENOUGH_CHARS:
            body = (folder / "texts" / name).read_bytes().decode()
            yield CorpusText(name, entry["class"], body, entry["tokens"])
