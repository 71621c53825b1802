"""What was answered 200 and is not worked off yet, and what could not be."""

from django.db import models

from inspector.store.base import CompressedField, ProjectTable, hex_field


class Inbox(ProjectTable):
    """One request body as it came (inflated); the truth until its rows are written."""

    pk = models.CompositePrimaryKey("project_id", "inbox_id")
    inbox_id = hex_field(32)  # begins with the time of arrival, so that order is by id
    encoding = models.CharField(max_length=8)  # protobuf | json
    body = CompressedField()
    attempts = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return self.inbox_id


class DeadLetter(ProjectTable):
    """What could not be taken in, with the reason and the payload."""

    pk = models.CompositePrimaryKey("project_id", "letter_id")
    letter_id = hex_field(
        32
    )  # digest of reason and payload: a resend makes no second one
    received_at = models.DateTimeField()
    reason = models.CharField(max_length=40)
    detail = models.TextField()
    trace_id = hex_field(32, blank=True)
    span_id = hex_field(16, blank=True)
    payload = CompressedField()

    class Meta:
        indexes = (
            models.Index(fields=["project", "-received_at"], name="dead_letter_newest"),
        )

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"
