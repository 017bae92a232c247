"""``spark.read.format("pgsb")``: a look at queues, or at a view of conversations, that takes nothing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from .connections import connect, reached
from .problems import BulkError, first_line, hint_of
from .read import SELECTED
from .rows import STREAM_SCHEMA, fetch_batches
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


class _Part(InputPartition):
    def __init__(self, dsn: str, query: str) -> None:
        self.dsn = dsn
        self.query = query


def _columns(connection: psycopg.Connection[Any], view: str) -> list[tuple[str, str]]:
    """Names and types of a view's columns. Raises BulkError where there is no such view."""
    schema, dot, _ = view.partition(".")
    if not dot or schema not in ("sys", "ssb"):
        raise BulkError(
            f"{view!r} is no view of conversations",
            'such as option("view", "sys.conversation_endpoints"); tables are read by format("jdbc")',
        )
    rows = connection.execute(
        "SELECT a.attname, t.typname FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t"
        " ON t.oid = a.atttypid WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 ORDER BY a.attnum",
        (view,),
    ).fetchall()
    if not rows:
        raise BulkError(f"there is no view {view}")
    return [(str(name), str(kind)) for name, kind in rows]


def view_schema(options: SourceOptions) -> str:
    """The columns of the view as Spark's DDL."""
    assert options.view is not None
    with connect(options.dsn, "pgsb spark") as connection:
        return ", ".join(
            f"`{name}` {_TYPES.get(kind, 'string')}" for name, kind in _columns(connection, options.view)
        )


class QueueReader(DataSourceReader):
    """One partition for each queue, or for the view."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._schema = STREAM_SCHEMA
        with connect(options.dsn, "pgsb spark") as connection:
            options.start(connection)
            self._server = reached(connection)
            if options.view:
                columns = _columns(connection, options.view)
                self._schema = view_schema(options)
                query = sql.SQL("SELECT {} FROM {}").format(
                    sql.SQL(", ").join(
                        sql.Identifier(name)
                        if kind in _TYPES and kind != "bit"
                        else sql.SQL("{}::{}").format(
                            sql.Identifier(name), sql.SQL("smallint" if kind == "bit" else "text")
                        )
                        for name, kind in columns
                    ),
                    sql.Identifier(*options.view.split(".")),
                )
                self._queries = [query.as_string(connection)]
            else:
                self._queries = [
                    sql.SQL("SELECT {}, NULL::int, {} FROM {} AS c ORDER BY priority DESC, queuing_order")
                    .format(sql.SQL(SELECTED), sql.Literal(name), sql.Identifier(*name.split(".")))
                    .as_string(connection)
                    for name in options.queues(connection)
                ]

    def partitions(self) -> list[_Part]:
        """What an executor reads."""
        return [_Part(self._server.dsn, query) for query in self._queries]

    def read(self, partition: _Part) -> Iterator[Any]:
        """The rows, as Arrow batches."""
        with psycopg.connect(partition.dsn, client_encoding="utf8") as connection:
            self._options.start(connection)
            try:
                yield from fetch_batches(
                    connection,
                    partition.query.encode(),
                    None,
                    self._options.fetch_size or 1000,
                    self._schema,
                )
            except psycopg.Error as error:
                raise BulkError(first_line(error), hint_of(error)) from error
