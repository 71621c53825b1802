"""Sizes of texts: what is counted, and that more text is never smaller."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage._counts import CHUNK_BYTES, RARE_ONCE, RARE_TWICE, count
from ullage.estimator import TABLES, TokenRange, bound_tokens

ANY_CHARACTER = st.characters(exclude_categories=())  # lone surrogates too
TEXTS = st.text(ANY_CHARACTER, max_size=60) | st.text("aZ9 \n.中é😀", max_size=60)
TABLE = st.sampled_from(list(TABLES.values()))
EVERY_PAGE = "".join(chr(code) for code in range(0x20, 0xD800, 0x20)) + "￿😀\ue000"


@given(TABLE, TEXTS, ANY_CHARACTER, st.data())
def test_one_more_character_never_lowers_the_upper_figure(table, text, character, data):
    at = data.draw(st.integers(0, len(text)))
    longer = text[:at] + character + text[at:]
    assert table.measure(longer).upper >= table.measure(text).upper


@given(TABLE, TEXTS, TEXTS)
def test_two_texts_together_are_not_below_the_larger(table, first, second):
    larger = max(table.measure(first).upper, table.measure(second).upper)
    assert table.measure(first + second).upper >= larger


@given(TABLE, TEXTS)
def test_the_lower_figure_never_exceeds_the_upper(table, text):
    size = table.measure(text)
    assert 0 <= size.lower <= size.upper


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_ascii_is_counted_as_a_plain_loop_would(text):
    classes = {
        "bytes": len(text),
        "digits": sum(char.isdigit() for char in text),
        "capitals": sum(char.isupper() for char in text),
        "breaks": sum(char in "\n\t" for char in text),
        "marks": sum(not char.isalnum() and char not in "\n\t " for char in text),
        "rare": sum((char in RARE_ONCE) + 2 * (char in RARE_TWICE) for char in text),
        "words": starts(text, str.isalpha),
        "numbers": starts(text, str.isdigit),
    }
    found = count(text)
    assert {name: found.get(name, 0) for name in classes} == classes


def starts(text, belongs):
    return sum(
        belongs(char) and not (at and belongs(text[at - 1]))
        for at, char in enumerate(text)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("é", {"latin1": 1}),
        ("ő", {"latin_extended": 1}),
        ("ệ", {"latin_additional": 1}),
        ("λ", {"greek": 1, "combining": 0}),
        ("a\u0301", {"greek": 1, "combining": 1}),
        ("ж", {"cyrillic": 1}),
        ("ש", {"hebrew": 1, "armenian": 0}),
        ("և", {"hebrew": 0, "armenian": 1}),
        ("ع", {"arabic": 1}),
        ("ह", {"devanagari": 1}),
        ("த", {"indic": 1}),
        ("ไ", {"thai": 1, "lao": 0}),
        ("ລ", {"thai": 0, "lao": 1}),
        ("བ", {"tibetan": 1}),
        ("မ", {"myanmar": 1}),
        ("አ", {"ethiopic": 1}),
        ("ក", {"khmer": 1}),
        ("한", {"hangul": 1}),
        ("の", {"kana": 1}),
        ("时", {"han": 1, "rare_han": 0}),
        ("時", {"han": 1, "rare_han": 0}),
        ("龘", {"han": 1, "rare_han": 1}),
        ("—", {"punctuation": 1}),
        ("→", {"symbols": 1}),
        ("─", {"box": 1}),
        ("ﬁ", {"compatibility": 1}),
        ("\ue000", {"private": 1}),
        ("ᐁ", {"other": 1}),
        ("😀", {"astral": 1}),
    ],
)
def test_each_character_counts_under_its_script(text, expected):
    found = count(text)
    plain = {"text", "bytes", "words", "numbers", "digits", "latin1"}
    plain |= {"capitals", "breaks", "marks", "rare"}
    scripts = {name: found[name] for name in found if name not in plain - set(expected)}
    assert scripts == expected


def test_a_text_in_one_standard_has_no_rare_ideographs_of_the_other():
    assert count("这个学习问题")["rare_han"] == 0
    assert count("這個學習問題")["rare_han"] == 0


@pytest.mark.parametrize("around", [-1, 0, 1])
def test_a_run_across_pieces_is_one_run(around):
    length = CHUNK_BYTES + around
    found = count("a" * length + "7" * length)
    assert (found["words"], found["numbers"], found["digits"]) == (1, 1, length)


def test_coefficients_speak_of_what_is_counted():
    counted = set(count(EVERY_PAGE))
    for table in TABLES.values():
        assert set(table.upper) <= counted
        assert set(table.lower) <= counted
        assert all(cost > 0 for cost in (*table.upper.values(), *table.lower.values()))


def test_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        TABLES["any"].upper["bytes"] = 0


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_empty_text_costs_nothing(table):
    assert table.measure("") == TokenRange(0, 0)


def test_a_figure_is_the_sum_of_its_counts():
    # 5 bytes, one run of letters, one of digits, a rare letter, two digits.
    upper = 5 * 0.248 + 0.340 + 0.417 + 0.782 + 2 * 0.812
    assert TABLES["any"].measure("of 42").upper == -(-upper // 1)


def test_a_known_family_carries_a_margin():
    # 1,000 spaces: 130 tokens by the fit, and 20 % more.
    assert TABLES["openai"].measure(" " * 1000).upper == 156
    assert TABLES["any"].measure(" " * 1000).upper == 248


@pytest.mark.parametrize(
    ("character", "upper_tokens"),
    [("a", 248_001), ("\n", 1_578_000), ("\0", 977_000), ("😀", 4_193_001)],
    ids=["letter", "newline", "nul", "emoji"],
)
def test_a_million_times_the_same_character(character, upper_tokens):
    assert TABLES["any"].measure(character * 1_000_000).upper == upper_tokens


def test_lone_surrogates_count_and_never_join():
    size = TABLES["any"].measure
    assert size("\ud83d").upper == size("\ufffd" * 3).upper
    assert size("\ud83d\ude00").upper == size("\ufffd" * 6).upper


def test_sizes_add_up():
    assert TokenRange(1, 2) + TokenRange(10, 20) == TokenRange(11, 22)


@pytest.mark.parametrize(
    ("text", "expected"), [("", 4), ("a", 6), ("中", 8), ("a" * 100, 121)]
)
def test_the_bound_is_117_tokens_for_100_bytes_and_4(text, expected):
    assert bound_tokens(text) == expected
