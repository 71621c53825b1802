"""Schemas that every router shares."""

from typing import Any

from ninja import Schema


class ErrorFacts(Schema):
    """What went wrong: a code for machines, words for people, the case's figures."""

    code: str
    message: str
    facts: dict[str, Any]


class ErrorOut(Schema):
    """The one shape of every error."""

    error: ErrorFacts


ERRORS: dict[int, Any] = {
    400: ErrorOut,
    401: ErrorOut,
    403: ErrorOut,
    404: ErrorOut,
    422: ErrorOut,
}
