"""The cast of every test: a project with an owner and a teammate, and a stranger."""

import itertools
from dataclasses import dataclass

from inspector.domain.accounts.services import key_create
from inspector.domain.ingest.decode import PROTOBUF
from inspector.domain.ingest.services import inbox_add, ingest_sweep
from inspector.store.accounts import Member, Project, Role, User
from inspector.store.spans import TraceState

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Cast:
    """One project and three people; the stranger has a project of their own."""

    project: Project
    owner: User
    teammate: User
    stranger: User
    stranger_project: Project


def cast_make() -> Cast:
    """A fresh cast, with names that nobody else has."""
    number = next(_numbers)
    project = Project.objects.create(slug=f"alpha-{number}", name="Alpha")
    other = Project.objects.create(slug=f"beta-{number}", name="Beta")
    owner, teammate, stranger = (
        User.objects.create_user(f"{name}-{number}")
        for name in ("owner", "teammate", "stranger")
    )
    Member.objects.create(project=project, user=owner, role=Role.OWNER)
    Member.objects.create(project=project, user=teammate, role=Role.VIEWER)
    Member.objects.create(project=other, user=stranger, role=Role.OWNER)
    return Cast(project, owner, teammate, stranger, other)


def key_for(project: Project, *scopes: str) -> str:
    """A key's secret."""
    return key_create(project_id=project.pk, name="test", scopes=scopes or ("ingest",))


def take_in(project: Project, body: bytes, encoding: str = PROTOBUF) -> None:
    """Put a body through the inbox and the fold, without HTTP."""
    inbox_add(project_id=project.pk, body=body, encoding=encoding)
    settle()


def settle() -> None:
    """Work off everything, as if a second had passed since the last fold."""
    TraceState.objects.update(folded_ns=0)
    ingest_sweep()
    TraceState.objects.update(folded_ns=0)
    ingest_sweep()
