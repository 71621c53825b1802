"""Runs, their calls and what prunes did: the fold alone writes them, and whole."""

from django.db import models

from inspector.store.base import PackedField, ProjectTable, hex_field


class Run(ProjectTable):
    """One agent invocation; `run_span_id` is "" where no agent span encloses it."""

    pk = models.CompositePrimaryKey("project_id", "trace_id", "run_span_id")
    trace_id = hex_field(32)
    run_span_id = hex_field(16, blank=True)
    parent_run_id = models.CharField(max_length=49, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    model = models.CharField(max_length=200, blank=True)
    environment = models.CharField(max_length=100, blank=True)
    conversation_id = models.CharField(max_length=200, blank=True)
    is_ended = models.BooleanField()
    reason = models.CharField(max_length=30, blank=True)
    start_ns = models.BigIntegerField()
    end_ns = models.BigIntegerField(null=True)
    touched_ns = models.BigIntegerField()
    call_count = models.PositiveIntegerField()
    prune_count = models.PositiveIntegerField()
    dropped_unit_count = models.PositiveIntegerField()
    usage_call_count = models.PositiveIntegerField()
    peak_fill = models.FloatField(null=True)
    worst_drift = models.FloatField(null=True)
    window_tokens = models.BigIntegerField(null=True)
    source = models.CharField(max_length=10)
    is_demo = models.BooleanField()
    sparkline = PackedField()  # {"fills": […], "pruned_calls": […]}

    class Meta:
        indexes = (
            models.Index(fields=["project", "-start_ns"], name="run_newest"),
            models.Index(fields=["project", "touched_ns"], name="run_touched"),
            models.Index(fields=["project", "agent", "-start_ns"], name="run_by_agent"),
        )

    def __str__(self) -> str:
        return f"{self.trace_id}-{self.run_span_id}"


class Call(ProjectTable):
    """One model request of a run; columns are for searching, `facts` holds all."""

    pk = models.CompositePrimaryKey("project_id", "trace_id", "span_id")
    trace_id = hex_field(32)
    span_id = hex_field(16)
    run_span_id = hex_field(16, blank=True)
    index = models.PositiveIntegerField()
    start_ns = models.BigIntegerField()
    end_ns = models.BigIntegerField()
    model = models.CharField(max_length=200, blank=True)
    estimate_tokens = models.BigIntegerField(null=True)
    input_tokens = models.BigIntegerField(null=True)
    window_tokens = models.BigIntegerField(null=True)
    is_pruned = models.BooleanField()
    view_digest = hex_field(32, blank=True)
    facts = PackedField()
    shapes = PackedField()  # messages and tools that this call described first

    class Meta:
        indexes = (
            models.Index(
                fields=["project", "trace_id", "run_span_id", "index"],
                name="call_of_run",
            ),
        )

    def __str__(self) -> str:
        return f"{self.trace_id}-{self.run_span_id} call {self.index}"


class PlanAction(ProjectTable):
    """What one prune did to one unit."""

    pk = models.CompositePrimaryKey("project_id", "trace_id", "span_id", "unit")
    trace_id = hex_field(32)
    span_id = hex_field(16)
    unit = models.PositiveIntegerField()
    run_span_id = hex_field(16, blank=True)
    call_index = models.PositiveIntegerField()
    do = models.CharField(max_length=12)
    why = models.CharField(max_length=60)
    policy = models.CharField(max_length=300)
    before_tokens = models.BigIntegerField()
    after_tokens = models.BigIntegerField()
    subject = PackedField()  # {"roles": […], "tools": […], "digests": […]}

    class Meta:
        indexes = (
            models.Index(
                fields=["project", "trace_id", "run_span_id", "call_index"],
                name="action_of_run",
            ),
        )

    def __str__(self) -> str:
        return f"{self.do} unit {self.unit} at call {self.call_index}"
