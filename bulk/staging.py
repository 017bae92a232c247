"""Executors write a DataFrame to a staging table, so that every task counts once.

A task may run twice: retried after it failed, or as a speculative copy. Each
attempt marks its rows, or packs of rows, with its number and reports it; Spark hands the driver
the report of exactly one attempt per partition. What other attempts wrote stays behind
and goes with the staging table.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from . import binary_copy, packed_rows
from .problems import BulkError

# Of one message to the server.
_PIECE = 1 << 20

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Staged:
    """What was written: the staging table, the attempts that count, and their number of rows.

    Of packs: the size of the largest, and whether COPY of the table takes all of them.
    """

    kind: str
    staging: str
    columns: tuple[str, ...]
    attempts: tuple[int, ...]
    rows: int
    largest: int = 0
    is_plain: bool = False

    def as_json(self) -> dict[str, object]:
        """The form that ssb_internal.complete_claim takes."""
        attempts = list(self.attempts)
        return {"kind": self.kind, "staging": self.staging, "attempts": attempts, "rows": self.rows}


def stage(
    frame: "DataFrame", dsn: str, kind: str, staging: str, types: tuple[str, ...], own: int | None = None
) -> Staged:
    """Run the DataFrame and copy its rows into ``staging`` (schema.table); one transaction per task.

    ``types`` are those of `binary_copy.encode`, one for each column. A column row_number counts the rows of
    each task from 0. With ``own`` they go in packs (`packed_rows`): so many columns are the table's own.
    Spark's errors pass through; see `problems.explain`.
    """
    columns = tuple(frame.columns)
    placed = [one for pair in zip(columns, types, strict=True) for one, _ in binary_copy.fields(*pair)]
    copied = (*placed, "row_number", "attempt_id") if own is None else packed_rows.COLUMNS
    schema, _, table = staging.partition(".")

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        attempt = context.taskAttemptId()
        written = packs = largest = 0
        is_plain = True
        target = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            sql.Identifier(schema, table),
            sql.SQL(", ").join(map(sql.Identifier, copied)),
        )
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        # After a shuffle most partitions may be empty: they need no connection.
        if first is not None:
            with (
                psycopg.connect(
                    dsn, client_encoding="utf8", application_name="pgsb spark write"
                ) as connection,
                connection.cursor().copy(target) as copy,
            ):
                copy.write(binary_copy.HEADER)
                for batch in itertools.chain([first], filled):
                    if own is None:
                        rows = memoryview(binary_copy.encode(batch, types, attempt, written))
                    else:
                        packed, number, size, is_all = packed_rows.pack(batch, types, own, attempt, packs)
                        rows = memoryview(packed)
                        packs += number
                        largest = max(largest, size)
                        is_plain = is_plain and is_all
                    for start in range(0, len(rows), _PIECE):
                        copy.write(rows[start : start + _PIECE])
                    written += batch.num_rows
                copy.write(binary_copy.TRAILER)
        # The connection's block has committed: only now is the attempt reported.
        yield pyarrow.RecordBatch.from_pydict(
            {"attempt": [attempt], "written": [written], "largest": [largest], "is_plain": [is_plain]}
        )

    if not columns:
        raise BulkError("an output without columns cannot be written")
    reports = frame.mapInArrow(write, "attempt long, written long, largest long, is_plain boolean").collect()
    return Staged(
        kind,
        staging,
        columns,
        tuple(int(report["attempt"]) for report in reports),
        sum(int(report["written"]) for report in reports),
        max((int(report["largest"]) for report in reports), default=0),
        all(report["is_plain"] for report in reports),
    )
