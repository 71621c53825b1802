"""Every error has words, a status, and facts that fill the words."""

import string

import pytest

from inspector.errors import MESSAGES, InspectorError
from inspector.web.errors import STATUSES, error_headers


def test_codes_words_and_statuses_agree():
    assert set(MESSAGES) == set(STATUSES)


@pytest.mark.parametrize("code", MESSAGES)
def test_words_are_filled_by_facts(code):
    names = [name for _, name, _, _ in string.Formatter().parse(MESSAGES[code]) if name]
    error = InspectorError(code, **dict.fromkeys(names, "this"))
    assert "{" not in str(error)
    assert error.message.endswith((".", "`"))


def test_only_what_may_be_tried_again_says_when():
    asked = {code for code in MESSAGES if "Retry-After" in _headers(code)}
    assert asked == {"store_unavailable", "inbox_full"}


def _headers(code):
    error = InspectorError.__new__(InspectorError)
    error.code = code
    return error_headers(error)
