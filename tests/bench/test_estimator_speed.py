"""How fast texts are measured: CPU time, since a busy machine has other work too."""

import argparse
import inspect
import random
import time

import pytest

from ullage.estimator import TABLES

SIZE_BYTES = 4_000_000
ROUNDS = 5


def repeated(text):
    return text * (SIZE_BYTES // len(text.encode()) + 1)


def random_characters(first, last):
    source = random.Random(7)
    return repeated("".join(chr(source.randint(first, last)) for _ in range(50_000)))


ASCII = repeated(inspect.getsource(argparse))
TEXTS = {
    "chinese": repeated("我们没有时间学习这个问题。因为系统需要更多的数据。"),
    "japanese": repeated("これは日本語の文章を書くテストです。時間がかかります。"),
    "cyrillic": random_characters(0x0430, 0x044F),
    "mixed": repeated("The café's menu: crème brûlée, 3 × 4 €, naïve → résumé. "),
    "random ideographs": random_characters(0x4E00, 0x9FFF),
}
SAME = {"letter": "a", "newline": "\n", "emoji": "😀", "ideograph": "龘", "é": "é"}


def best_seconds(text):
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        TABLES["any"].measure(text)
        best = min(best, time.process_time() - start)
    return best


def megabytes_per_second(text):
    return len(text.encode()) / best_seconds(text) / 1_000_000


def test_ascii():
    speed = megabytes_per_second(ASCII)
    print(f"\nestimator, ASCII: {speed:.0f} MB/s")
    assert speed >= 150


@pytest.mark.parametrize("kind", TEXTS)
def test_non_ascii(kind):
    speed = megabytes_per_second(TEXTS[kind])
    print(f"\nestimator, {kind}: {speed:.0f} MB/s")
    assert speed >= 50


@pytest.mark.parametrize("kind", SAME)
def test_eight_times_the_text_takes_no_more_than_sixteen_times_as_long(kind):
    short, long = SAME[kind] * 250_000, SAME[kind] * 2_000_000
    ratio = best_seconds(long) / best_seconds(short)
    print(f"\nestimator, 2,000,000 against 250,000 x {kind}: {ratio:.1f} times as long")
    assert ratio <= 16


def test_a_short_message():
    text = "Which of these files mentions the retry limit?"
    calls = 20_000
    start = time.process_time()
    for _ in range(calls):
        TABLES["any"].measure(text)
    microseconds = (time.process_time() - start) / calls * 1_000_000
    print(f"\nestimator, {len(text)} characters: {microseconds:.1f} µs")
    assert microseconds <= 50
