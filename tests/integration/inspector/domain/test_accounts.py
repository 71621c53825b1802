"""Keys, roles and start links."""

from datetime import timedelta

import pytest
from django.utils import timezone

from inspector.domain.accounts.selectors import key_open, project_named, project_open
from inspector.domain.accounts.services import (
    first_start,
    key_revoke,
    start_token_create,
    start_token_use,
)
from inspector.errors import InspectorError
from inspector.store.accounts import Key, StartToken
from tests.factories import key_for


def code_of(call, **named):
    with pytest.raises(InspectorError) as caught:
        call(**named)
    return caught.value.code


def test_a_key_is_kept_as_a_hash_and_opens_its_project(cast):
    secret = key_for(cast.project, "read", "admin")
    assert secret not in str(Key.objects.values_list().get())
    assert key_open(secret=secret, scope="admin").id == cast.project.pk
    assert code_of(key_open, secret=secret, scope="ingest") == "key_scope"


def test_a_revoked_key_opens_nothing(cast):
    secret = key_for(cast.project)
    key_revoke(secret=secret)
    assert code_of(key_open, secret=secret, scope="ingest") == "key_unknown"


def test_a_role_reaches_what_lies_below_it(cast):
    slug, teammate = cast.project.slug, cast.teammate.pk
    assert project_open(user_id=cast.owner.pk, slug=slug, role="member").role == "owner"
    assert code_of(project_open, user_id=teammate, slug=slug, role="member") == (
        "role_needed"
    )


def test_a_project_is_found_by_its_slug(cast):
    assert project_named(slug=cast.project.slug).id == cast.project.pk
    assert code_of(project_named, slug="nowhere") == "project_not_found"


def test_a_start_link_grows_old(db):
    first_start()
    token = start_token_create()
    StartToken.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert code_of(start_token_use, token=token) == "start_link_used"


def test_there_is_no_link_before_the_first_start(db):
    assert code_of(start_token_create) == "not_started"
