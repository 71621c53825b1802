"""Runs that other instrumentations told of are shown too, whatever they leave out."""

import re

import pytest
from django.urls import reverse

from tests.factories import take_in

TABS = ("sent", "dropped", "tokens", "raw")
RUN_LINK = re.compile(r'class="row-link" href="([^"]+)"')


@pytest.fixture
def foreign_runs(client, cast, shared_data):
    """Addresses of all runs in the recorded OTLP of other instrumentations."""
    for body in sorted(shared_data.glob("otlp/*/traces-*.pb")):
        take_in(cast.project, body.read_bytes())
    client.force_login(cast.owner)
    page, found = reverse("run-list", args=[cast.project.slug]), []
    while page:
        answer = client.get(page).content.decode()
        found += RUN_LINK.findall(answer)
        older = re.search(r'rel="next" href="([^"]+)"', answer)
        page = older and older[1]
    return found


def test_every_foreign_run_is_shown(client, foreign_runs):
    assert len(foreign_runs) > 10
    for address in foreign_runs:
        for tab in TABS:
            answer = client.get(f"{address}?tab={tab}")
            assert answer.status_code == 200, address
            assert b"<h1>" in answer.content
