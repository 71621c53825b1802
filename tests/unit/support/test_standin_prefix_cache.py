"""The cache counts the longest common prefix, from 1,024 tokens on, in steps of 128."""

import itertools
from array import array

import pytest

from tests.support.standin.prefix_cache import PrefixCache


def stream(*runs):
    """A stream of runs of numbers, each from its first number up."""
    numbers = itertools.chain(*(range(first, first + n) for first, n in runs))
    return array("I", numbers).tobytes()


@pytest.mark.parametrize(
    ("shared_tokens", "cached_tokens"),
    [(0, 0), (1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (5000, 4992)],
)
def test_the_common_prefix_is_rounded_down(shared_tokens, cached_tokens):
    cache = PrefixCache()
    assert cache.look_up("m", stream((0, shared_tokens), (100_000, 2_000))) == 0
    second = stream((0, shared_tokens), (200_000, 2_000))
    assert cache.look_up("m", second) == cached_tokens


def test_any_earlier_request_may_hold_the_prefix():
    cache = PrefixCache()
    cache.look_up("m", stream((0, 4_000)))
    cache.look_up("m", stream((9_000, 4_000)))
    assert cache.look_up("m", stream((0, 2_048), (70_000, 10))) == 2_048


def test_models_share_nothing():
    cache = PrefixCache()
    cache.look_up("m", stream((0, 4_000)))
    assert cache.look_up("n", stream((0, 4_000))) == 0
