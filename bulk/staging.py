"""Executors write a DataFrame to a staging table, so that every task counts once.

A task may run twice: retried after it failed, or as a speculative copy. Each
attempt marks its rows, or packs of rows, with its number and reports it; Spark hands the driver
the report of exactly one attempt per partition. What other attempts wrote stays behind
and goes with the staging table.
"""

import gc
import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import Copy, sql

from . import binary_copy, packed_rows
from .connections import Connection, task_session
from .local_rows import plan_words
from .problems import BulkError

# Of one message to the server.
_PIECE = 1 << 20
# How large a batch of rows may become that Spark 4.1 and newer hands to Python, and its word for any size.
_LIMIT = "spark.sql.execution.arrow.maxBytesPerBatch"
_ANY = str(2**31 - 1)
_UNSET = "1"
"""What nobody would set it to."""
OWN_SESSION = "spark.pgsb.session"
"""A setting of the sessions that this package has made."""
# Outputs whose first column is conversation_handle, which each row has.
_OF_CONVERSATIONS = ("replies", "errors", "ends")
# 10,000 bodies of that size are a quarter of Spark's limit.
_SMALL = 1600
# What makes no row of many others.
_NARROW = frozenset(
    {
        "Project",
        "Filter",
        "Sort",
        "Relation",
        "LocalRelation",
        "SubqueryAlias",
        "Union",
        "Repartition",
        "RepartitionByExpression",
    }
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Staged:
    """What was written: the staging table (none of files), the attempts that count, their number of rows.

    Of packs: the size of the largest, whether COPY of the table takes all of them, and where they are in
    files, those.
    """

    kind: str
    staging: str
    columns: tuple[str, ...]
    attempts: tuple[int, ...]
    rows: int
    largest: int = 0
    is_plain: bool = False
    files: packed_rows.Files | None = None

    def as_json(self) -> dict[str, object]:
        """The form that ssb_internal.complete_claim takes."""
        attempts = list(self.attempts)
        return {"kind": self.kind, "staging": self.staging, "attempts": attempts, "rows": self.rows}


@contextmanager
def unmeasured(frame: "DataFrame", largest: int) -> Iterator[None]:
    """A block in which Spark does not measure batches of the DataFrame's rows, where they become not large.

    It would do so after each row, for a third of what the row costs the JVM otherwise. ``largest`` is the
    size of the largest body. Only in sessions of our own, and where nobody has set a limit.
    """
    settings = frame.sparkSession.conf
    if (
        largest > _SMALL
        or settings.get(OWN_SESSION, "") != "true"
        or settings.get(_LIMIT, _UNSET) != _UNSET
        or not plan_words(frame._jdf.queryExecution().analyzed()) <= _NARROW
    ):
        yield
        return
    settings.set(_LIMIT, _ANY)
    try:
        yield
    finally:
        settings.unset(_LIMIT)


def files_of(spark: "SparkSession") -> packed_rows.Files | None:
    """Files for packs, in Spark's temporary directory, which goes with it; None where tasks run elsewhere.

    None also where Spark is to encrypt what it writes to disks.
    """
    context = spark.sparkContext
    is_local = re.fullmatch(r"local(\[[^]]*\])?", context.master) is not None
    if not is_local or context._conf.get("spark.io.encryption.enabled", "false") == "true":
        return None
    from pyspark import SparkFiles

    return packed_rows.Files(SparkFiles.getRootDirectory())


def _leave_modules_out() -> None:
    """Let Python's look for cycles leave out what is there by now: once in a process.

    PySpark asks for such a look behind each task, which takes 33 ms where pyarrow and its like were imported.
    """
    if not gc.get_freeze_count():
        gc.freeze()


def stage(
    frame: "DataFrame",
    dsn: str,
    kind: str,
    staging: str,
    types: tuple[str, ...],
    own: int | None = None,
    files: packed_rows.Files | None = None,
) -> Staged:
    """Run the DataFrame and copy its rows into ``staging`` (schema.table); one transaction per task.

    ``types`` are those of `binary_copy.encode`, one for each column. A column row_number counts the rows of
    each task from 0. With ``own`` they go in packs (`packed_rows`): so many columns are the table's own; with
    ``files`` into those, where driver and tasks see one directory.
    Spark's errors pass through; see `problems.explain`.
    """
    columns = tuple(frame.columns)
    # PySpark takes names for expressions: one with a dot or a backtick would be none of the frame's columns.
    is_odd = any(char in name for name in columns for char in ".`")
    named = frame.toDF(*(f"c{number}" for number in range(len(columns)))) if is_odd else frame
    copied = _columns_of_rows(columns, types) if own is None else packed_rows.COLUMNS
    directory = None if files is None else files.path

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from pyspark import TaskContext

        _leave_modules_out()
        context = TaskContext.get()
        assert context is not None
        attempt = context.taskAttemptId()
        written = packs = largest = 0
        is_plain = True
        target = _copy_into(staging, copied)
        filled = (
            pyarrow.RecordBatch.from_arrays(batch.columns, names=list(columns))
            for batch in batches
            if batch.num_rows
        )
        first = next(filled, None)

        def encoded(most: int) -> Iterator[memoryview]:
            nonlocal written, packs, largest, is_plain
            for batch in itertools.chain([first], filled):
                require_answers(kind, batch)
                if own is None:
                    yield memoryview(binary_copy.encode(batch, types, attempt, written))
                else:
                    packed, number, size, is_all = packed_rows.pack(batch, types, own, attempt, packs, most)
                    yield memoryview(packed)
                    packs += number
                    largest = max(largest, size)
                    is_plain = is_plain and is_all
                written += batch.num_rows

        # After a shuffle most partitions may be empty: they need no connection.
        if first is not None and directory is not None:
            with packed_rows.written(directory, attempt) as file:
                for rows in encoded(packed_rows.IN_FILES):
                    file.write(rows)
        elif first is not None:
            with (
                task_session(dsn, "pgsb spark write") as connection,
                connection.cursor().copy(target) as copy,
            ):
                _write_all(copy, encoded(packed_rows.PAGE))
        # The connection's block has committed, the file is closed: only now is the attempt reported.
        yield pyarrow.RecordBatch.from_pydict(
            {"attempt": [attempt], "written": [written], "largest": [largest], "is_plain": [is_plain]}
        )

    if not columns:
        raise BulkError("an output without columns cannot be written")
    reports = named.mapInArrow(write, "attempt long, written long, largest long, is_plain boolean").collect()
    return Staged(
        kind,
        staging,
        columns,
        tuple(int(report["attempt"]) for report in reports if report["written"]),
        sum(int(report["written"]) for report in reports),
        max((int(report["largest"]) for report in reports), default=0),
        all(report["is_plain"] for report in reports),
        files,
    )


def stage_rows(batch: Any, connection: Connection, kind: str, staging: str, types: tuple[str, ...]) -> Staged:
    """Copy rows that the driver has (`local_rows.computed_rows`) into ``staging``, in this session.

    Raises BulkError, and psycopg.Error.
    """
    columns = tuple(batch.schema.names)
    attempt = 0
    if batch.num_rows:
        require_answers(kind, batch)
        with connection.cursor().copy(_copy_into(staging, _columns_of_rows(columns, types))) as copy:
            _write_all(copy, [memoryview(binary_copy.encode(batch, types, attempt, 0))])
    return Staged(kind, staging, columns, (attempt,) if batch.num_rows else (), batch.num_rows)


def require_answers(kind: str, batch: Any) -> None:
    """Raise BulkError where a row of an output of conversations has no handle, or a reply no type."""
    if kind not in _OF_CONVERSATIONS:
        return
    handles = batch.column(0)
    if handles.null_count:
        raise BulkError(
            f"conversation_handle is null in a row of the output {kind!r}",
            "a join or an aggregation of the program has lost it",
        )
    if kind == "replies":
        name = "message_type_name"
        types = batch.column(name)
        if types.null_count:
            raise BulkError(
                f"{name} is null in a row of the output {kind!r}",
                "leave the column away for DEFAULT, or coalesce(…) it in the program",
            )
        binary_copy.require_no_nul(binary_copy.as_text(types, name), name)


def _columns_of_rows(columns: tuple[str, ...], types: tuple[str, ...]) -> tuple[str, ...]:
    """Those of a staging table that `binary_copy.encode` fills."""
    placed = (one for pair in zip(columns, types, strict=True) for one, _ in binary_copy.fields(*pair))
    return (*placed, *binary_copy.OF_ROWS)


def _copy_into(staging: str, columns: tuple[str, ...]) -> sql.Composed:
    return sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(*staging.split(".", 1)), sql.SQL(", ").join(map(sql.Identifier, columns))
    )


def _write_all(copy: Copy, encoded: Iterable[memoryview]) -> None:
    copy.write(binary_copy.HEADER)
    for rows in encoded:
        for start in range(0, len(rows), _PIECE):
            copy.write(rows[start : start + _PIECE])
    copy.write(binary_copy.TRAILER)
