"""`ullage-inspector link`, where `up` has never run."""

import re
from io import StringIO

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def lines_of_link():
    output = StringIO()
    call_command("link", "--address", "https://inspector.example/", stdout=output)
    return output.getvalue().splitlines()


def test_the_first_link_makes_the_admin_and_tells_the_key_once():
    told_key, first = lines_of_link()
    assert re.fullmatch(r"Ingest key, shown only once: ulg_\S+", told_key)
    (second,) = lines_of_link()
    assert first != second


def test_the_link_signs_in(client):
    *_, link = lines_of_link()
    answer = client.get(link.removeprefix("https://inspector.example"), follow=True)
    assert answer.redirect_chain[-1][0] == "/p/main/runs"
    assert answer.status_code == 200
