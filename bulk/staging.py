"""Executors write a DataFrame to a staging table, so that every task counts once.

A task may run twice: retried after it failed, or as a speculative copy. Each
attempt marks its rows with its number and reports it; Spark hands the driver the
report of exactly one attempt per partition. Rows of other attempts stay behind
and go with the staging table.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from .problems import BulkError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Staged:
    """What was written: the staging table, the attempts that count, and their number of rows."""

    kind: str
    staging: str
    columns: tuple[str, ...]
    attempts: tuple[int, ...]
    rows: int

    def as_json(self) -> dict[str, object]:
        """The form that ssb.complete_claim takes."""
        attempts = list(self.attempts)
        return {"kind": self.kind, "staging": self.staging, "attempts": attempts, "rows": self.rows}


def stage(frame: "DataFrame", dsn: str, kind: str, staging: str, *, number_rows: bool = False) -> Staged:
    """Run the DataFrame and copy its rows into ``staging`` (schema.table); one transaction per task.

    With ``number_rows`` a column row_number counts the rows of each task from 0.
    Spark's errors pass through; see `job.explain`.
    """
    columns = tuple(frame.columns)
    schema, _, table = staging.partition(".")

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        attempt = context.taskAttemptId()
        written = 0
        target = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(schema, table),
            sql.SQL(", ").join(
                map(sql.Identifier, (*columns, *(("row_number",) if number_rows else ()), "attempt_id"))
            ),
        )
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        # After a shuffle most partitions may be empty: they need no connection.
        if first is not None:
            with (
                psycopg.connect(dsn, client_encoding="utf8") as connection,
                connection.cursor().copy(target) as copy,
            ):
                for batch in itertools.chain([first], filled):
                    values: list[Sequence[object]] = [_values(batch.column(name)) for name in columns]
                    for row in zip(*values, strict=True):
                        copy.write_row((*row, written, attempt) if number_rows else (*row, attempt))
                        written += 1
        # The connection's block has committed: only now is the attempt reported.
        yield pyarrow.RecordBatch.from_pydict({"attempt": [attempt], "written": [written]})

    if not columns:
        raise BulkError("an output without columns cannot be written")
    reports = frame.mapInArrow(write, "attempt long, written long").collect()
    return Staged(
        kind,
        staging,
        columns,
        tuple(int(report["attempt"]) for report in reports),
        sum(int(report["written"]) for report in reports),
    )


def _values(column: Any) -> list[object]:
    """The column's values as psycopg takes them; structs, lists and maps become JSON."""
    values: list[object] = column.to_pylist()
    return [json.dumps(value) if isinstance(value, (dict, list)) else value for value in values]
