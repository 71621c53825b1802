"""What every table of telemetry shares: the project in front, one way to write rows.

No foreign key except to the project, so that every table shards by it; hexadecimal text
ids; bodies compressed. `rows_write` is the only upsert, and the same SQL serves SQLite
and PostgreSQL.
"""

import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from django.db import connection, models

if TYPE_CHECKING:

    class AnyField(models.BinaryField[Any, Any]):
        """For the type checker: a column whose value is not the bytes it is kept as."""

        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

else:  # Django's fields take no type arguments when they run
    AnyField = models.BinaryField


class CompressedField(AnyField):
    """Bytes, compressed at rest; `None` stays null."""

    def get_prep_value(self, value: Any) -> Any:
        packed = None if value is None else zlib.compress(value, 6)
        return super().get_prep_value(packed)

    def from_db_value(
        self, value: Any, expression: Any, connection: Any
    ) -> bytes | None:
        return None if value is None else zlib.decompress(value)


class PackedField(AnyField):
    """A JSON value, compressed at rest; read whole, never queried."""

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(zlib.compress(orjson.dumps(value), 1))

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return orjson.loads(zlib.decompress(value))

    def to_python(self, value: Any) -> Any:
        return value


def hex_field(characters: int, **options: Any) -> "models.CharField[str, str]":
    """An id or digest as lower-case hexadecimal text; empty where there is none."""
    return models.CharField(max_length=characters, **options)


class ProjectTable(models.Model):
    """A table of one project's telemetry."""

    project = models.ForeignKey(
        "inspector.Project", on_delete=models.CASCADE, related_name="+", db_index=False
    )

    class Meta:
        abstract = True


def rows_write(
    model: type[models.Model],
    rows: Iterable[Sequence[Any]],
    *,
    fields: Sequence[str],
    on_conflict: str = "update",
    expressions: dict[str, str] | None = None,
) -> None:
    """Insert rows, or settle with those whose primary key is there already.

    Args:
        model: a table with a composite primary key.
        rows: one value for each field, in the order of `fields`.
        fields: names of the model's fields.
        on_conflict: "update" takes the new values, "keep" leaves the old row alone.
        expressions: column → SQL for a column that is not simply replaced; `excluded.x`
            is the new value and `t.x` the old one.
    """
    columns = [model._meta.get_field(name) for name in fields]
    prepared = [
        [
            column.get_db_prep_save(value, connection)  # type: ignore[union-attr]
            for column, value in zip(columns, row, strict=True)
        ]
        for row in rows
    ]
    if not prepared:
        return
    # Two workers that write the same rows do it in one order: no deadlock.
    key = [place for place, name in enumerate(fields) if is_key(model, name)]
    prepared.sort(key=lambda row: [row[place] for place in key])
    with connection.cursor() as cursor:
        cursor.executemany(
            upsert_sql(model, fields, on_conflict, expressions or {}), prepared
        )


def upsert_sql(
    model: type[models.Model],
    fields: Sequence[str],
    on_conflict: str,
    expressions: dict[str, str],
) -> str:
    """The statement behind `rows_write`."""
    quote = connection.ops.quote_name
    names = [column_of(model, name) for name in fields]
    key = [str(field.column) for field in model._meta.pk_fields]
    changes = [
        f"{quote(name)} = {expressions.get(name, f'excluded.{quote(name)}')}"
        for name in names
        if name not in key
    ]
    action = "NOTHING" if on_conflict == "keep" else f"UPDATE SET {', '.join(changes)}"
    table = quote(model._meta.db_table)
    columns = ", ".join(map(quote, names))
    places = ", ".join(["%s"] * len(names))
    return (
        f"INSERT INTO {table} AS t ({columns}) VALUES ({places})"
        f" ON CONFLICT ({', '.join(map(quote, key))}) DO {action}"
    )


def is_key(model: type[models.Model], name: str) -> bool:
    """Whether a field is part of the primary key."""
    return model._meta.get_field(name) in model._meta.pk_fields


def column_of(model: type[models.Model], name: str) -> str:
    """The column of a field."""
    return str(model._meta.get_field(name).column)  # type: ignore[union-attr]
