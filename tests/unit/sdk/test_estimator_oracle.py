"""The table figures beside a real tokenizer, on the kinds of text that agents meet.

The tokenizer is o200k, read from an installed package; nothing is downloaded. Texts
come from this Python's own library and from seeded generators.
"""

import argparse
import base64
import inspect
import json
import random
import string
import uuid

import pytest

from ullage.estimator import TABLES, bound_tokens

tokens = pytest.importorskip(
    "tests.support.standin.tokens", reason="the oracle needs the dev group's tokenizer"
)

CHINESE = "我们 时间 问题 工作 学习 世界 发展 经济 可以 没有 因为 需要 系统"
JAPANESE = "これは テスト です 日本語 の 文章 を 書きます 時間 が データ"
KOREAN = "우리는 시간이 없습니다 한국어 문장 데이터 학습을 시작합니다"
BURMESE = "မြန်မာ ဘာသာ စကား လူတိုင်း သည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာ ဖြင့်"
AMHARIC = "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው"
FAMILY_EMOJI = "👩‍👩‍👧‍👦 🧑🏽‍💻 🏳️‍🌈 👨‍🚀 ❤️‍🔥"


def rng():
    return random.Random(20261130)


def sentence(words, between=" "):
    return between.join(rng().choices(words.split(), k=400))


def random_text(alphabet, length=3000):
    return "".join(rng().choices(alphabet, k=length))


def random_base64():
    return base64.b64encode(rng().randbytes(3000)).decode()


def uuids():
    source = rng()
    return "\n".join(str(uuid.UUID(bytes=source.randbytes(16))) for _ in range(80))


def decimals():
    source = rng()
    return "\n".join(
        ",".join(f"{source.uniform(-90, 90):.6f}" for _ in range(4)) for _ in range(80)
    )


def minified_json():
    source = rng()
    rows = [{"id": n, "x": source.random(), "ok": n % 2 == 0} for n in range(100)]
    return json.dumps(rows, separators=(",", ":"))


KINDS = {
    "english": argparse.__doc__ + (json.__doc__ or ""),
    "python": inspect.getsource(argparse)[:20_000],
    "chinese": sentence(CHINESE, ""),
    "rare characters": random_text([chr(code) for code in range(0x4E00, 0x9FA6)]),
    "japanese": sentence(JAPANESE, ""),
    "korean": sentence(KOREAN),
    "burmese": sentence(BURMESE),
    "amharic": sentence(AMHARIC),
    "emoji": sentence(FAMILY_EMOJI, ""),
    "base64": random_base64(),
    "uuid": uuids(),
    "hex": rng().randbytes(2000).hex(),
    "csv": decimals(),
    "json": minified_json(),
    "punctuation": random_text(string.punctuation),
    "random bytes": rng().randbytes(3000).decode("latin-1"),
    "random case": random_text(string.ascii_letters),
}


# What agents meet most: here the figures must be of use, and not only safe.
EVERYDAY = ["english", "python", "base64", "uuid", "hex", "csv", "json"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["any", "openai"])
def test_the_upper_figure_is_not_below_the_true_count(kind, key):
    size = TABLES[key].measure(KINDS[kind])
    assert size.upper >= tokens.count_text_tokens(KINDS[kind])


@pytest.mark.parametrize("kind", EVERYDAY)
@pytest.mark.parametrize("key", ["any", "openai"])
def test_everyday_text_lies_between_the_figures(kind, key):
    true_tokens = tokens.count_text_tokens(KINDS[kind])
    size = TABLES[key].measure(KINDS[kind])
    assert size.lower <= true_tokens <= size.upper <= 2.5 * true_tokens


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_not_below_the_true_count(kind):
    assert bound_tokens(KINDS[kind]) >= tokens.count_text_tokens(KINDS[kind])


def test_text_that_looks_like_a_special_token_is_plain_text():
    text = "<|endoftext|><|im_start|>system" * 20
    true_tokens = tokens.count_text_tokens(text)
    assert TABLES["openai"].measure(text).upper >= true_tokens > 20 * 5
