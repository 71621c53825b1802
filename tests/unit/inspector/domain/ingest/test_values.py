"""Readings of attribute values: total, whatever was sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.ingest.values import (
    count_of,
    float_of,
    joined_of,
    objects_of,
    text_of,
    texts_of,
    whole_of,
)

MAX = 2**63 - 1


@pytest.mark.parametrize(
    ("sent", "count", "whole", "number"),
    [
        (12, 12, 12, 12.0),
        ("12", 12, 12, 12.0),
        (12.0, 12, 12, 12.0),
        ("12.5", None, None, 12.5),
        (-3, None, -3, -3.0),
        (True, None, None, None),
        ("many", None, None, None),
        (None, None, None, None),
        ([1], None, None, None),
        ("nan", None, None, None),
        (2**70, MAX, MAX, float(2**70)),
        (1e300, MAX, MAX, 1e300),
    ],
)
def test_numbers(sent, count, whole, number):
    named = {"n": sent}
    assert (count_of(named, "n"), whole_of(named, "n"), float_of(named, "n")) == (
        count,
        whole,
        number,
    )


@pytest.mark.parametrize(
    ("sent", "text", "texts"),
    [
        ("a", "a", ("a",)),
        ("a\0", "a\ufffd", ("a\ufffd",)),
        (["a", 1, "b"], "", ("a", "b")),
        ('["a","b"]', '["a","b"]', ("a", "b")),
        (7, "7", ()),
        ({"a": 1}, "", ()),
    ],
)
def test_texts(sent, text, texts):
    assert (text_of({"n": sent}, "n"), texts_of({"n": sent}, "n")) == (text, texts)


def test_objects_that_were_cut_are_left_out():
    assert objects_of({"n": ['{"a":1}', '{"a":', "[1]"]}, "n") == ({"a": 1},)


def test_objects_are_joined_by_their_key():
    sent = ['{"k":1,"l":["a"]}', '{"k":2}', '{"k":1,"l":["b"],"m":["c"]}', '{"k":[]}']
    assert joined_of({"n": sent}, "n", "k") == (
        {"k": 1, "l": ["a", "b"], "m": ["c"]},
        {"k": 2},
    )


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(value=anything)
def test_nothing_that_may_be_sent_raises(value):
    named = {"n": value}
    for reading in (text_of, count_of, whole_of, float_of, texts_of, objects_of):
        reading(named, "n")
    joined_of(named, "n", "k")
