"""``spark.read.format("pgsb")``: a look at queues, or at a view of conversations, that takes nothing."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from .array_columns import Column
from .claim import explained
from .connections import connect, reached, task_session
from .problems import BulkError, first_line, rows_or_a_sentence
from .pushed_filters import Filtered, taken
from .rows import STREAM_SCHEMA, fetch_rows
from .source_options import SourceOptions

if TYPE_CHECKING:

    class InputPartition:
        """A part of a batch, sent to an executor."""

    class DataSourceReader:
        """Parts of a batch."""

else:
    from pyspark.sql.datasource import DataSourceReader, InputPartition

# PostgreSQL's types as Spark's; the rest is read as text.
_TYPES = {
    "bool": "boolean",
    "int2": "short",
    "bit": "short",
    "int4": "int",
    "int8": "long",
    "float4": "double",
    "float8": "double",
    "bytea": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
}


_UUID = 2950


class _Part(InputPartition):
    def __init__(self, dsn: str, relation: str, order: str, columns: list[Filtered]) -> None:
        self.dsn = dsn
        self.relation = relation
        self.order = order
        self.filtered = {one.column.name: one for one in columns}

    @property
    def columns(self) -> list[Column]:
        """What is read."""
        return [one.column for one in self.filtered.values()]


def _columns(connection: psycopg.Connection[Any], view: str) -> tuple[str, list[tuple[str, str]]]:
    """A view's name, and names and types of its columns. Raises BulkError where there is no such view."""
    try:
        rows = connection.execute(
            "SELECT n.nspname, pg_catalog.format('%%I.%%I', n.nspname, c.relname), a.attname, t.typname"
            "  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
            "  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0"
            "  JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid"
            " WHERE c.oid = pg_catalog.to_regclass(%s) ORDER BY a.attnum",
            (view,),
        ).fetchall()
    except psycopg.Error as error:
        raise BulkError(f"{view!r} is no name: {first_line(error)}") from error
    if not rows:
        raise BulkError(f"there is no view {view}")
    if rows[0][0] not in ("sys", "ssb"):
        raise BulkError(
            f"{view!r} is no view of conversations",
            'such as option("view", "sys.conversation_endpoints"); tables are read by format("jdbc")',
        )
    return str(rows[0][1]), [(str(name), str(kind)) for _, _, name, kind in rows]


def view_schema(options: SourceOptions) -> str:
    """The columns of the view as Spark's DDL."""
    assert options.view is not None
    with connect(options.dsn, "pgsb spark") as connection:
        options.start(connection)
        _, columns = _columns(connection, options.view)
        return ", ".join(f"`{name}` {_TYPES.get(kind, 'string')}" for name, kind in columns)


class QueueReader(DataSourceReader):
    """One partition for each queue, or for the view."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        with connect(options.dsn, "pgsb spark") as connection:
            options.start(connection)
            dsn = reached(connection).dsn
            if options.view:
                relation, there = _columns(connection, options.view)
                columns = [
                    Filtered(
                        Column(
                            name, _TYPES.get(kind, "string"), _expression(name, kind).as_string(connection)
                        ),
                        kind == "uuid",
                    )
                    for name, kind in there
                ]
                self._parts = [_Part(dsn, relation, "", columns)]
                return
            self._parts = []
            for name in options.queues(connection):
                given = {"claim_id": "NULL", "queue": sql.Literal(name).as_string(connection)}
                documented = [
                    Column(column, kind, given.get(column, column))
                    for column, kind in (one.split(" ") for one in STREAM_SCHEMA.split(", "))
                ]
                # Said here, and not by the tasks: that there is none, or no right to look at it.
                with explained(name):
                    chosen = ", ".join(one.expression for one in documented)
                    looked = connection.execute(f"SELECT {chosen} FROM {name} LIMIT 0".encode())
                types = [one.type_code for one in looked.description or ()]
                filtered = [
                    Filtered(one, type_ == _UUID) for one, type_ in zip(documented, types, strict=True)
                ]
                self._parts.append(_Part(dsn, name, "priority DESC, queuing_order", filtered))

    def partitions(self) -> list[_Part]:
        """What an executor reads."""
        return self._parts

    @rows_or_a_sentence
    def read(self, partition: _Part) -> Iterator[Any]:
        """The rows, as Arrow batches."""
        with task_session(partition.dsn, "pgsb spark read") as connection:
            self._options.start(connection)
            size = self._options.fetch_size or 1000
            yield from fetch_rows(connection, partition.columns, partition.relation, partition.order, size)


class FilteredReader(QueueReader):
    """The same where Spark hands its filters over (spark.sql.python.filterPushdown.enabled)."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        """Filters that Spark has to apply: those that cannot be asked of PostgreSQL."""
        rest = filters
        for part in self._parts:
            # The columns of several queues are the same.
            conditions, rest = taken(filters, part.filtered)
            if conditions:
                part.relation = f"{part.relation} WHERE {' AND '.join(conditions)}"
        return rest


def _expression(name: str, kind: str) -> sql.Composable:
    column = sql.Identifier(name)
    return sql.SQL("{}::pg_catalog.text::pg_catalog.int2").format(column) if kind == "bit" else column
