"""Messages by digest and views as links of a hash chain (docs/wire.md 3 and 4)."""

from django.db import models

from inspector.store.base import CompressedField, PackedField, ProjectTable, hex_field


class Message(ProjectTable):
    """A message of any number of runs; the body is null until it is captured."""

    pk = models.CompositePrimaryKey("project_id", "digest")
    digest = hex_field(32)
    shape = PackedField()  # role, kinds, tools, call_ids, bytes
    body = CompressedField(
        null=True
    )  # canonical JSON as received, which proves the digest

    def __str__(self) -> str:
        return self.digest


class View(ProjectTable):
    """A view sent to a model: a parent view and the digests after it."""

    pk = models.CompositePrimaryKey("project_id", "digest")
    digest = hex_field(32)
    parent = hex_field(32, blank=True)  # "" = the empty view
    length = models.PositiveIntegerField()
    added = PackedField()  # message digests, in order

    def __str__(self) -> str:
        return self.digest
