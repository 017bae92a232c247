"""Results on their way from staging tables into their tables, and the rows that PostgreSQL refuses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from .binary_copy import text_of
from .connections import Connection
from .problems import BulkError, first_line
from .staging import Staged
from .transport import Travel

MOST_FAILURES = 1000
"""Rows of one claim that may fail before it is a fault of the program's, and no message's."""

Refused = (psycopg.DataError, psycopg.IntegrityError)


@dataclass(frozen=True)
class RowFailure:
    """A row that PostgreSQL refused: the message it came from, as far as the output tells, and the error."""

    table: str
    conversation_handle: str | None
    queuing_order: int | None
    error: str

    def sentence(self) -> str:
        """The error, with the conversation and the message where they are known."""
        message = f" from message {self.queuing_order}" if self.queuing_order is not None else ""
        where = (
            f"{message} of conversation {self.conversation_handle}"
            if self.conversation_handle is not None
            else " (its output has no column conversation_handle, which would name the message)"
        )
        return f"a row for {self.table}{where}: {self.error}"


@dataclass(frozen=True)
class StagedTable:
    """The rows for a table, in its staging table: which columns go where, and which tell the origin."""

    name: str
    staged: Staged
    columns: tuple[Travel, ...]
    origin: tuple[str, ...]
    has_uuids: bool
    """Whether the origin's conversation_handle is UUID_OR_TEXT, and not text."""

    @property
    def handle(self) -> sql.Composable:
        """Of a row of the staging table (s): the conversation's handle as PostgreSQL writes it."""
        column = sql.Identifier(
            "s", text_of("conversation_handle") if self.has_uuids else "conversation_handle"
        )
        text = sql.SQL("pg_catalog.lower(pg_catalog.convert_from({}, 'UTF8'))").format(column)
        return sql.SQL("COALESCE(s.conversation_handle::text, {})").format(text) if self.has_uuids else text

    @property
    def staging(self) -> sql.Identifier:
        """The staging table."""
        schema, _, table = self.staged.staging.partition(".")
        return sql.Identifier(schema, table)

    def insert(
        self,
        connection: Connection,
        failed: Sequence[RowFailure],
        part: tuple[int, int, int] | None = None,
    ) -> int:
        """Move the rows of the attempts that count, without those of failed messages and what follows them.

        ``part`` is an attempt, and the first and the last row of it. Returns the number of rows.
        """
        values: dict[str, Any] = {"attempts": list(self.staged.attempts)}
        conditions: list[sql.Composable] = [sql.SQL("s.attempt_id = ANY (%(attempts)s)")]
        if part is not None:
            conditions.append(
                sql.SQL("s.attempt_id = %(one)s AND s.row_number BETWEEN %(first)s AND %(last)s")
            )
            values |= dict(zip(("one", "first", "last"), part, strict=True))
        if failed and "conversation_handle" in self.origin:
            # Without its message's order a row belongs to its whole conversation.
            order = sql.SQL(
                "(s.queuing_order >= f.failed_order) IS NOT FALSE"
                if "queuing_order" in self.origin
                else "true"
            )
            conditions.append(
                sql.SQL(
                    "NOT EXISTS (SELECT FROM unnest(%(handles)s::text[], %(orders)s::bigint[])"
                    " AS f (handle, failed_order) WHERE f.handle = {} AND {})"
                ).format(self.handle, order)
            )
            values["handles"] = [one.conversation_handle for one in failed]
            values["orders"] = [one.queuing_order for one in failed]
        query = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} AS s WHERE {}").format(
            sql.Identifier(*self.name.split(".")),
            sql.SQL(", ").join(sql.Identifier(one.name) for one in self.columns),
            sql.SQL(", ").join(one.value for one in self.columns),
            self.staging,
            sql.SQL(" AND ").join(conditions),
        )
        count = connection.execute(query, values).rowcount
        if part is None and not failed and count != self.staged.rows:
            raise self._restarted(count)
        return count

    def _restarted(self, count: int) -> BulkError:
        """What the tasks said that they wrote is not there: a crash of the server empties staging tables."""
        return BulkError(
            f"the tasks wrote {self.staged.rows} rows for {self.name}, {count} are there",
            "the server was restarted meanwhile: run the job again",
        )


def find_failures(
    connection: Connection, tables: Sequence[StagedTable], known: Sequence[RowFailure], *, has_order: bool
) -> list[RowFailure]:
    """The rows that PostgreSQL refuses, found by halves; nothing of it stays.

    A row may be refused for one that stands before it (a key that is there twice): what was
    accepted stays in place while the others are tried. With ``has_order`` what comes before the
    message that failed can be told from what follows it, in all outputs.
    """
    found: list[RowFailure] = []
    with connection.transaction(force_rollback=True):
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            parts = connection.execute(
                sql.SQL(
                    "SELECT attempt_id, min(row_number), max(row_number) FROM {}"
                    " WHERE attempt_id = ANY (%s) GROUP BY attempt_id ORDER BY attempt_id"
                ).format(table.staging),
                (list(table.staged.attempts),),
            ).fetchall()
            todo = [(int(str(a)), int(str(b)), int(str(c))) for a, b, c in reversed(parts)]
            while todo and len(found) <= MOST_FAILURES:
                attempt, first, last = todo.pop()
                try:
                    with connection.transaction():
                        table.insert(connection, known, (attempt, first, last))
                except Refused as error:
                    if first == last:
                        found.append(_failure(connection, table, attempt, first, error, has_order))
                        continue
                    middle = (first + last) // 2
                    todo += [(attempt, middle + 1, last), (attempt, first, middle)]
    return found


def _failure(
    connection: Connection,
    table: StagedTable,
    attempt: int,
    number: int,
    error: psycopg.Error,
    has_order: bool,
) -> RowFailure:
    handle: object = None
    order: object = None
    if "conversation_handle" in table.origin:
        row = connection.execute(
            sql.SQL("SELECT {}, {} FROM {} AS s WHERE s.attempt_id = %s AND s.row_number = %s").format(
                table.handle,
                sql.SQL("s.queuing_order" if "queuing_order" in table.origin else "NULL"),
                table.staging,
            ),
            (attempt, number),
        ).fetchone()
        assert row is not None
        handle, order = row
    return RowFailure(
        table.name,
        None if handle is None else str(handle),
        int(str(order)) if order is not None and has_order else None,
        first_line(error),
    )
