"""Figures as the pages print them; what is not a number is a dash, never a zero."""

from datetime import UTC, datetime, timedelta

import pytest

from inspector.templatetags import figures

ODD = [None, "", "many", True, float("nan"), float("inf"), [], object()]


@pytest.mark.parametrize("value", ODD, ids=repr)
@pytest.mark.parametrize(
    "show",
    [
        figures.figure,
        figures.percent,
        figures.drift_words,
        figures.duration,
        figures.byte_size,
        figures.ratio,
        figures.token_pair,
        figures.when,
    ],
    ids=lambda show: show.__name__,
)
def test_what_is_not_a_number_is_a_dash(show, value):
    assert show(value) == "–"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (figures.figure(12345), "12,345"),
        (figures.percent(0.973), "97 %"),
        (figures.percent(0.004), "<1 %"),
        (figures.percent(12.5), "1,250 %"),
        (figures.share_of(1, 4), "25 %"),
        (figures.share_of(1, 0), "–"),
        (figures.drift_words(1.06), "6 % over"),
        (figures.drift_words(0.97), "3 % under"),
        (figures.drift_words(1.004), "0.4 % over"),
        (figures.drift_words(1.0), "exact"),
        (figures.token_range(412, 520), "412–520"),
        (figures.token_range(412, 412), "412"),
        (figures.token_range(None, 520), "520"),
        (figures.token_range(412, None), "412"),
        (figures.token_pair([4, 9]), "4–9"),
        (figures.duration(0.2), "<1 ms"),
        (figures.duration(340), "340 ms"),
        (figures.duration(1240), "1.24 s"),
        (figures.duration(185_000), "3 min 05 s"),
        (figures.duration(7_380_000), "2 h 03 min"),
        (figures.byte_size(512), "512 B"),
        (figures.byte_size(1536), "1.5 KiB"),
        (figures.byte_size(5 * 2**30), "5.12e+03 MiB"),
        (figures.ratio(1.0417), "1.042"),
    ],
)
def test_figures_carry_their_unit(shown, expected):
    assert shown.replace("\u202f", " ").replace("\u00a0", " ") == expected


@pytest.mark.parametrize(
    ("drift", "tone"), [(0.9, "warn"), (1.2, "plain"), (1.0, "plain"), (None, "plain")]
)
def test_only_an_under_count_warns(drift, tone):
    assert figures.drift_tone(drift) == tone


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "just now"),
        (50, "1 min ago"),
        (7_300, "2 h ago"),
        (200_000, "2 d ago"),
        (-60, "just now"),
    ],
)
def test_a_time_is_relative_and_exact_at_once(time_machine, seconds, words):
    now = datetime(2026, 5, 4, 12, tzinfo=UTC)
    time_machine.move_to(now, tick=False)

    shown = figures.when(now - timedelta(seconds=seconds)).replace("\u00a0", " ")

    assert f">{words}<" in shown
    assert (now - timedelta(seconds=seconds)).strftime("%H:%M:%S UTC") in shown
