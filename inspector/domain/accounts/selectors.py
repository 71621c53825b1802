"""Who may enter: people and keys to the project they belong to."""

from dataclasses import dataclass

from inspector.domain.accounts.rules import role_reaches, secret_hash
from inspector.errors import InspectorError
from inspector.store.accounts import Key, Member, Project


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """A project that the caller may enter, and as what."""

    id: int
    slug: str
    name: str
    role: str  # viewer | member | owner; "" for a key


def key_open(*, secret: str, scope: str) -> ProjectAccess:
    """The project of a key that has the scope.

    Raises:
        InspectorError: `key_missing`, `key_unknown`, `key_scope`.
    """
    if not secret:
        raise InspectorError("key_missing")
    known = Key.objects.select_related("project").filter(
        hash=secret_hash(secret), revoked_at=None
    )
    key = known.first()
    if key is None:
        raise InspectorError("key_unknown")
    if scope not in key.scopes.split():
        raise InspectorError("key_scope", scope=scope)
    return _access(key.project, "")


def project_open(*, user_id: int, slug: str, role: str = "viewer") -> ProjectAccess:
    """A project of a person; strangers do not learn whether it exists.

    Raises:
        InspectorError: `project_not_found`, `role_needed`.
    """
    member = (
        Member.objects.select_related("project")
        .filter(user_id=user_id, project__slug=slug)
        .first()
    )
    if member is None:
        raise InspectorError("project_not_found")
    if not role_reaches(member.role, role):
        raise InspectorError("role_needed", role=role)
    return _access(member.project, member.role)


def project_list(*, user_id: int) -> tuple[ProjectAccess, ...]:
    """The projects of a person, by name."""
    members = Member.objects.select_related("project").filter(user_id=user_id)
    ordered = members.order_by("project__name", "project__slug")
    return tuple(_access(member.project, member.role) for member in ordered)


def project_named(*, slug: str) -> ProjectAccess:
    """A project by its slug alone, for the command line.

    Raises:
        InspectorError: `project_not_found`.
    """
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise InspectorError("project_not_found")
    return _access(project, "owner")


def _access(project: Project, role: str) -> ProjectAccess:
    return ProjectAccess(project.pk, project.slug, project.name, role)
