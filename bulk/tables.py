"""Results on their way from staging tables into their tables, and the rows that PostgreSQL refuses."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from .binary_copy import HEADER, OF_ROWS, TRAILER, fields, text_of
from .connections import Connection, task_session
from .packed_rows import unpack
from .problems import BulkError, breaks_policy, first_line
from .staging import Staged
from .transport import TABLE_COLUMNS, TableColumn, Travel, is_as_it_is

MOST_FAILURES = 1000
"""Rows of one claim that may fail before it is a fault of the program's, and no message's."""

_OF_VALUES = (psycopg.DataError, psycopg.IntegrityError)
_OF_A_ROW = frozenset({"44000", "54000", "P0001", "P0004", "S3609"})
"""A view's CHECK OPTION; a value too large for an index; RAISE, ASSERT and T-SQL's ROLLBACK in a trigger."""


def is_of_a_row(error: psycopg.Error) -> bool:
    """Whether PostgreSQL may have refused one row, for its values or because a trigger wants it so.

    Not what every row would meet: a right or a table that is missing, a lock, a disk.
    """
    # T: the errors from 10,000 on, which are the application's own (THROW, RAISERROR).
    state = error.sqlstate or ""
    return (
        isinstance(error, _OF_VALUES) or state in _OF_A_ROW or state.startswith("T") or breaks_policy(error)
    )


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
        moved = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(
            sql.SQL(self.name),
            sql.SQL(", ").join(sql.Identifier(one.name) for one in self.columns),
            sql.SQL(", ").join(one.value for one in self.columns),
            self.staging,
        )
        query = sql.SQL("{} AS s WHERE {}").format(
            # A table or a column may be called %s.
            sql.SQL(moved.as_string(connection).replace("%", "%%")),
            sql.SQL(" AND ").join(conditions),
        )
        count = connection.execute(query, values).rowcount
        if part is None and not failed and count != self.staged.rows:
            # A trigger or a rule may take rows elsewhere, or pass them.
            _require_rows(self.name, self.staged, self._rows_there(connection))
        return count

    def _rows_there(self, connection: Connection) -> int:
        row = connection.execute(
            sql.SQL("SELECT count(*) FROM {} WHERE attempt_id = ANY (%s)").format(self.staging),
            (list(self.staged.attempts),),
        ).fetchone()
        assert row is not None
        return int(str(row[0]))


@dataclass(frozen=True)
class PackedTable:
    """The rows for a table in packs, of which COPY makes them.

    ``names`` and ``types`` of all columns, those that tell the origin behind the table's own. Packs in a
    staging table are read by a session of their own, to which ``dsn`` leads: the claim's is busy with COPY.
    """

    name: str
    staged: Staged
    columns: tuple[Travel, ...]
    origin: tuple[str, ...]
    has_uuids: bool
    names: tuple[str, ...]
    types: tuple[str, ...]
    dsn: str

    def insert(self, connection: Connection) -> int:
        """Write the rows of the attempts that count; nothing tells which one is refused. Returns how many."""
        with connection.cursor() as cursor:
            with cursor.copy(copy_of(self.name, self.columns)) as copy:
                copy.write(HEADER)
                for packs in self._packs("packed"):
                    copy.write(packs[0][0] if len(packs) == 1 else b"".join(one[0] for one in packs))
                copy.write(TRAILER)
            count = cursor.rowcount
        require_types(connection, self.name, self.columns)
        if count != self.staged.rows:
            # A trigger that was made meanwhile passes rows; or packs are gone, which is seen behind this.
            raise ChangedError(f"COPY to {self.name} has written {count} of {self.staged.rows} rows")
        return count

    def unpacked(self, connection: Connection, claim_id: int) -> StagedTable:
        """The same rows in a staging table of the usual kind, which can tell them apart."""
        placed = [one for pair in zip(self.names, self.types, strict=True) for one in fields(*pair)]
        made = connection.execute(
            "SELECT ssb_internal.create_staging(%s, 'table', %s, %s, %s)",
            (claim_id, self.name, [one for one, _ in placed], [type_ for _, type_ in placed]),
        ).fetchone()
        assert made is not None
        own = len(self.columns)
        head = (len(placed) + 2).to_bytes(2, "big")
        eight = (8).to_bytes(4, "big")
        number = itertools.count()
        copied = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            sql.Identifier(*str(made[0]).split(".", 1)),
            sql.SQL(", ").join(sql.Identifier(one) for one in (*(one for one, _ in placed), *OF_ROWS)),
        )
        with connection.cursor().copy(copied) as copy:
            copy.write(HEADER)
            for packs in self._packs("packed, origin, is_plain", " ORDER BY attempt_id, place"):
                for packed, origin, is_plain in packs:
                    for row in unpack(packed, origin, is_plain != b"\0", self.types, own):
                        tail = eight + next(number).to_bytes(8, "big") + eight + bytes(8)
                        copy.write(head + row + tail)
            copy.write(TRAILER)
        rows = next(number)
        _require_rows(self.name, self.staged, rows)
        staged = Staged("table", str(made[0]), self.names, (0,), rows)
        return StagedTable(self.name, staged, self.columns, self.origin, self.has_uuids)

    def _packs(self, columns: str, order: str = "") -> Iterator[list[tuple[Any, ...]]]:
        """The packs of the attempts that count, some at a time, each with these columns as bytes.

        From files they come in order, and with all columns.
        """
        if self.staged.files is not None:
            for attempt in sorted(self.staged.attempts):
                for packed, origin, is_plain in self.staged.files.packs(attempt):
                    yield [(packed, origin, b"\1" if is_plain else b"\0")]
            return
        most = max(1, min(256, (8 << 20) // max(1, self.staged.largest)))
        with task_session(self.dsn, "pgsb spark packs") as session:
            session.execute(
                sql.SQL(
                    "DECLARE pgsb_packs BINARY NO SCROLL CURSOR FOR"
                    f" SELECT {columns} FROM {{}} WHERE attempt_id = ANY ({{}}::bigint[]){order}"
                ).format(sql.Identifier(*self.staged.staging.split(".", 1)), list(self.staged.attempts))
            )
            while True:
                found = session.execute(f"FETCH {most} FROM pgsb_packs".encode(), binary=True).pgresult
                assert found is not None
                if not found.ntuples:
                    return
                yield [
                    tuple(found.get_value(row, column) for column in range(found.nfields))
                    for row in range(found.ntuples)
                ]


def copy_of(table: str, columns: Sequence[Travel]) -> sql.Composed:
    """COPY into the table, whose name is quoted where it must be, of rows in their binary form."""
    return sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.SQL(table), sql.SQL(", ").join(sql.Identifier(one.name) for one in columns)
    )


class ChangedError(psycopg.DataError):
    """A column's type, or what the table does with rows, has changed since it was decided how they travel."""


def require_types(connection: Connection, table: str, columns: Sequence[Travel]) -> None:
    """Raise ChangedError unless the columns, behind COPY, have types whose binary form is what it was given.

    Eight bytes are a bigint, a double or a timestamp, and COPY takes each for what the column is. The lock
    that it took keeps the types as they are to the end of the transaction.
    """
    with connection.cursor(row_factory=class_row(TableColumn)) as cursor:
        there = {one.name: one for one in cursor.execute(TABLE_COLUMNS, (table,))}
    for one in columns:
        if not is_as_it_is(one.type, there[one.name]):
            raise ChangedError(f"the column {one.name} of {table} is {there[one.name].type} by now")


def _require_rows(table: str, staged: Staged, count: int) -> None:
    """Raise where rows that the tasks wrote are not there: a crash of the server empties staging tables."""
    if count != staged.rows:
        raise BulkError(
            f"the tasks wrote {staged.rows} rows for {table}, {count} are there",
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
                except psycopg.Error as error:
                    if not is_of_a_row(error):
                        raise
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
