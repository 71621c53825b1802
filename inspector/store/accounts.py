"""People, projects, who belongs where, and the keys that stand for a project."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person who signs in; ours from the first migration on, so that it can grow."""


class Project(models.Model):
    """What everything else belongs to."""

    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    """What a member may do, rising."""

    VIEWER = "viewer"
    MEMBER = "member"
    OWNER = "owner"


class Member(models.Model):
    """A person's place in a project."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="members"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "user"], name="member_once_a_project"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id}: {self.role}"


class Key(models.Model):
    """A secret that names a project; only its hash is kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(
        max_length=12
    )  # shown, so that people can tell keys apart
    hash = models.CharField(max_length=64, unique=True)  # SHA-256, hexadecimal
    scopes = models.CharField(
        max_length=60
    )  # words apart by a space: ingest read admin
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.scopes})"


class StartToken(models.Model):
    """A one-time link that signs a browser in; only its hash is kept."""

    hash = models.CharField(max_length=64, primary_key=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"start link of {self.user_id}"
