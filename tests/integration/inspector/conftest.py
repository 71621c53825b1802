"""The cast, on the database that the tester named."""

import pytest

from tests.factories import cast_make


@pytest.fixture
def cast(db):
    """A project, its owner and teammate, and a stranger."""
    return cast_make()
