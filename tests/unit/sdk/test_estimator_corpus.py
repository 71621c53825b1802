"""The promised accuracy, on texts whose true counts are known for 12 tokenizers."""

import json
from statistics import median

import pytest

from tests.support.corpus import TABLE_OF, long_texts
from ullage.estimator import TABLES, bound_tokens

MIN_COVERED = 0.998


@pytest.fixture(scope="module")
def texts(shared_data):
    return list(long_texts(shared_data))


def ratios(texts, table_of):
    """Upper figure / true count, for every text and tokenizer."""
    sizes = [
        {key: t.measure(text.text).upper for key, t in TABLES.items()} for text in texts
    ]
    return [
        size[table_of(tokenizer)] / text.tokens[tokenizer]
        for text, size in zip(texts, sizes, strict=True)
        for tokenizer in TABLE_OF
    ]


def covered(found):
    return sum(ratio >= 1 for ratio in found) / len(found)


def test_an_unknown_family_is_covered(texts):
    found = ratios(texts, lambda tokenizer: "any")
    assert min(found) >= 0.95
    assert covered(found) >= MIN_COVERED
    assert median(found) <= 2.0


def test_a_known_family_is_covered_and_tighter(texts):
    found = ratios(texts, TABLE_OF.get)
    assert min(found) >= 0.95
    assert covered(found) >= MIN_COVERED
    assert median(found) <= 1.65


def test_the_lower_figure_is_hardly_ever_above_the_true_count(texts):
    found = [
        TABLES[key].measure(text.text).lower <= text.tokens[tokenizer]
        for text in texts
        for tokenizer, key in TABLE_OF.items()
    ]
    assert sum(found) / len(found) >= 0.97


def test_the_bound_is_never_exceeded(texts):
    over = [t.name for t in texts if max(t.tokens.values()) > bound_tokens(t.text)]
    assert over == []


def test_the_tables_are_the_measured_ones(shared_data):
    """All but the row `rare_han`, which the study did not have."""
    measured = json.loads((shared_data / "estimator" / "tables.json").read_text())
    assert set(TABLES) == set(measured)
    for key, sides in measured.items():
        for side in ("upper", "lower"):
            ours = dict(getattr(TABLES[key], side))
            ours.pop("rare_han", None)
            theirs = [round(value * 1000) for value in sides[side].values()]
            assert sorted(ours.values()) == sorted(filter(None, theirs))
