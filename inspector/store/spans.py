"""Spans as they came, what was read from them, and which traces wait for the fold."""

from django.db import models

from inspector.store.base import PackedField, ProjectTable, hex_field


class Span(ProjectTable):
    """One span; a resend replaces it."""

    pk = models.CompositePrimaryKey("project_id", "trace_id", "span_id")
    trace_id = hex_field(32)
    span_id = hex_field(16)
    parent_span_id = hex_field(16, blank=True)
    name = models.CharField(max_length=300)
    start_ns = models.BigIntegerField()
    end_ns = models.BigIntegerField()
    status_code = models.PositiveSmallIntegerField()  # 0 unset, 1 ok, 2 error
    facts = PackedField()  # what the fold needs, of inspector.domain.ingest.facts
    attributes = (
        PackedField()
    )  # as received, resource and scope too, but for the content
    content = (
        PackedField()
    )  # attributes that carry messages: large, read for one page alone

    def __str__(self) -> str:
        return f"{self.name} {self.trace_id}-{self.span_id}"


class TraceState(ProjectTable):
    """What the fold has seen of a trace: it is due while `folded` is behind `dirty`."""

    pk = models.CompositePrimaryKey("project_id", "trace_id")
    trace_id = hex_field(32)
    dirty = models.PositiveIntegerField()
    folded = models.PositiveIntegerField(default=0)
    folded_ns = models.BigIntegerField(default=0)
    claimed_ns = models.BigIntegerField(
        default=0
    )  # 0 = free; a stale claim is taken over
    touched_ns = models.BigIntegerField()  # when the last span came

    class Meta:
        indexes = (
            models.Index(
                fields=["folded_ns"],
                name="trace_state_due",
                condition=~models.Q(dirty=models.F("folded")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.trace_id}: {self.folded} of {self.dirty}"
