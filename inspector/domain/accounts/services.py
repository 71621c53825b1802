"""Writes about people, projects and keys."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from inspector.domain.accounts.rules import (
    INGEST,
    SHOWN_CHARACTERS,
    key_make,
    secret_hash,
)
from inspector.errors import InspectorError
from inspector.store.accounts import Key, Member, Project, Role, StartToken, User

ADMIN_NAME = "admin"
FIRST_PROJECT = "main"
START_LINK_DAYS = 7


@dataclass(frozen=True, slots=True)
class FirstStart:
    """What the first start made; `key` is the secret itself, to be shown once."""

    user_id: int
    project_slug: str
    key: str


@transaction.atomic
def first_start() -> FirstStart | None:
    """Make the admin, the first project and its ingest key; None if they are there."""
    if User.objects.exists():
        return None
    user = User(username=ADMIN_NAME, is_staff=True, is_superuser=True)
    user.set_unusable_password()
    user.save()
    project = Project.objects.create(slug=FIRST_PROJECT, name="Main")
    Member.objects.create(project=project, user=user, role=Role.OWNER)
    key = key_create(project_id=project.pk, name="first key", scopes=(INGEST,))
    return FirstStart(user.pk, project.slug, key)


def key_create(*, project_id: int, name: str, scopes: tuple[str, ...]) -> str:
    """A new key of a project; the secret is returned here and kept nowhere."""
    secret = key_make()
    Key.objects.create(
        project_id=project_id,
        name=name,
        prefix=secret[:SHOWN_CHARACTERS],
        hash=secret_hash(secret),
        scopes=" ".join(scopes),
    )
    return secret


def key_revoke(*, secret: str) -> None:
    """From now on the key opens nothing."""
    Key.objects.filter(hash=secret_hash(secret), revoked_at=None).update(
        revoked_at=timezone.now()
    )


def start_token_create() -> str:
    """A one-time token that signs the first admin in."""
    user = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if user is None:
        raise InspectorError("not_started")
    token = key_make().removeprefix("ulg_")
    StartToken.objects.create(hash=secret_hash(token), user=user)
    return token


def start_token_use(*, token: str) -> User:
    """Take a token; it can be taken once.

    Raises:
        InspectorError: `start_link_used`.
    """
    fresh = StartToken.objects.filter(
        hash=secret_hash(token),
        used_at=None,
        created_at__gt=timezone.now() - timedelta(days=START_LINK_DAYS),
    )
    if not fresh.update(used_at=timezone.now()):
        raise InspectorError("start_link_used")
    return StartToken.objects.select_related("user").get(hash=secret_hash(token)).user
