"""Completing a claim: everything or nothing, in one PostgreSQL transaction."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from .claim import Claim, first_line, hint_of
from .problems import BulkError, ClaimLost
from .program import Outputs
from .staging import Staged, stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OPTIONAL = {
    "replies": {"message_type_name": "'DEFAULT'", "message_body": "CAST(NULL AS BINARY)"},
    "errors": {"queuing_order": "CAST(NULL AS BIGINT)"},
    "ends": {"error_code": "CAST(NULL AS INT)", "error_text": "CAST(NULL AS STRING)"},
}


@dataclass(frozen=True)
class Completed:
    """Of a completed claim: messages deleted, rows written to tables, replies, conversations failed."""

    deleted: int
    written: int
    replied: int
    failed: int


def complete(held: Claim, outputs: Outputs, dsn: str) -> Completed:
    """Run the program's DataFrames, then make all of it true at once.

    First the executors compute and write to staging tables (any number of times);
    then one transaction in the claim's session inserts the results into their
    tables with the job's own rights, sends the replies, ends conversations, and
    deletes the messages. Its commit is the one moment at which anything counts.

    Raises ClaimLost when the session ended before (nothing was done), BulkError for
    what PostgreSQL refuses (nothing was done, the claim is still held).
    """
    try:
        tables = {name: _stage_table(held, frame, dsn, name) for name, frame in outputs.tables.items()}
        others = [
            _stage_other(held, frame, dsn, kind)
            for kind, frame in (
                ("errors", outputs.errors),
                ("replies", outputs.replies),
                ("ends", outputs.ends),
            )
            if frame is not None
        ]
        return _finish(held, outputs, tables, others, dsn)
    except psycopg.errors.ObjectInUse as error:
        raise ClaimLost(f"claim {held.claim_id} has ended", hint_of(error)) from error
    except psycopg.OperationalError as error:
        raise ClaimLost(f"claim {held.claim_id} ended with its connection: {first_line(error)}") from error
    except psycopg.Error as error:
        raise BulkError(
            f"claim {held.claim_id} cannot be completed: {first_line(error)}", hint_of(error)
        ) from error


def _stage_table(held: Claim, frame: "DataFrame", dsn: str, name: str) -> Staged:
    staging = _create(held, "table", name)
    # It is made like the table.
    named = "SELECT a.attname FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = %s::regclass"
    there = {str(column) for (column,) in held.connection.execute(named, (staging,))}
    for column in frame.columns:
        if column not in there:
            raise BulkError(f"the table {name} has no column {column!r}")
    return stage(frame, dsn, "table", staging)


def _stage_other(held: Claim, frame: "DataFrame", dsn: str, kind: str) -> Staged:
    present = set(frame.columns)
    if "conversation_handle" not in present:
        raise BulkError(f"the output {kind!r} has no column conversation_handle")
    filled = [f"{value} AS {name}" for name, value in _OPTIONAL[kind].items() if name not in present]
    wanted = ["conversation_handle", *_OPTIONAL[kind], *(["error"] if kind == "errors" else [])]
    frame = frame.selectExpr("*", *filled).select(*wanted)
    if kind == "replies":
        frame = frame.withColumn("message_body", frame["message_body"].cast("binary"))
    return stage(frame, dsn, kind, _create(held, kind), number_rows=kind == "replies")


def _create(held: Claim, kind: str, target: str | None = None) -> str:
    row = held.connection.execute(
        "SELECT ssb.create_staging(%s, %s, %s)", (held.claim_id, kind, target)
    ).fetchone()
    assert row is not None
    return str(row[0])


def _finish(
    held: Claim, outputs: Outputs, tables: Mapping[str, Staged], others: list[Staged], dsn: str
) -> Completed:
    connection = held.connection
    written = 0
    try:
        with connection.transaction():
            for name, staged in tables.items():
                schema, _, table = staged.staging.partition(".")
                columns = sql.SQL(", ").join(map(sql.Identifier, staged.columns))
                done = connection.execute(
                    sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} WHERE attempt_id = ANY (%s)").format(
                        sql.Identifier(*name.split(".")), columns, columns, sql.Identifier(schema, table)
                    ),
                    (list(staged.attempts),),
                )
                if done.rowcount != staged.rows:
                    raise BulkError(
                        f"the tasks wrote {staged.rows} rows for {name}, {done.rowcount} are there",
                        "the server was restarted meanwhile: run the job again",
                    )
                written += done.rowcount
            row = connection.execute(
                "SELECT deleted, replied, failed FROM ssb.complete_claim(%s, %s, %s, %s)",
                (
                    held.claim_id,
                    json.dumps([one.as_json() for one in others]),
                    outputs.failures,
                    outputs.end_all,
                ),
            ).fetchone()
            assert row is not None
    except psycopg.OperationalError:
        # Was it the commit whose answer got lost? The table of completed claims knows.
        row = _result(held, dsn)
        if row is None:
            raise
    # A session that has ended holds no lock.
    with contextlib.suppress(psycopg.OperationalError):
        connection.execute("SELECT ssb.unlock_claim(%s)", (held.claim_id,))
    deleted, replied, failed = (int(str(value)) for value in row)
    return Completed(deleted, written, replied, failed)


def _result(held: Claim, dsn: str) -> tuple[object, ...] | None:
    """What the completion answered: deleted, replied, failed; None when there was none."""
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as other:
            return other.execute(
                "SELECT deleted, replied, failed FROM ssb.claim_result(%s, %s)",
                (held.claim_id, held.claimed_at),
            ).fetchone()
    except psycopg.OperationalError as error:
        raise ClaimLost(
            f"the connection was lost while claim {held.claim_id} was completed, and cannot be made again; "
            f"SELECT ssb.claim_was_completed({held.claim_id}, '{held.claimed_at.isoformat()}') tells"
        ) from error
