"""Sending in bulk: a DataFrame of bodies becomes messages on dialogs."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import psycopg

from .problems import BulkError, explain, first_line, hint_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Transactions = Literal["partition", "all"]
_CHUNK = 5000


@dataclass(frozen=True)
class Dialogs:
    """How the dialogs are begun that messages without a conversation_handle go on.

    With a column ``key`` in the DataFrame each key of a partition gets a dialog of
    its own, else each partition gets one.
    """

    from_service: str
    to_service: str
    contract: str = "DEFAULT"
    lifetime: int | None = None


def send(
    frame: "DataFrame",
    dsn: str,
    *,
    message_type: str = "DEFAULT",
    dialogs: Dialogs | None = None,
    transactions: Transactions = "partition",
    send_id: uuid.UUID | None = None,
) -> int:
    """Send every row of ``frame`` and return the number of messages.

    Columns: ``message_body`` (binary or string, null allowed), optionally
    ``message_type_name``, and either ``conversation_handle`` or, with ``dialogs``,
    optionally ``key``. Messages of one conversation are sent in the order of the
    rows when they are in one partition: ``frame.repartition("key").sortWithinPartitions(…)``.

    ``transactions="partition"``: each task is one transaction, counted once even
    when Spark runs it again; a job that failed half-way goes on where it stopped
    when it is called with the same ``send_id`` and the same partitions.
    ``"all"``: one task, one transaction, everything or nothing.

    Raises BulkError with PostgreSQL's reason.
    """
    names = set(frame.columns)
    if "message_body" not in names:
        raise BulkError("the DataFrame has no column message_body")
    if ("conversation_handle" in names) == (dialogs is not None):
        raise BulkError("name either a column conversation_handle or the dialogs to begin")
    wanted = [
        "conversation_handle"
        if dialogs is None
        else ("CAST(key AS STRING) AS key" if "key" in names else "'' AS key"),
        "message_type_name"
        if "message_type_name" in names
        else f"'{_literal(message_type)}' AS message_type_name",
        "CAST(message_body AS BINARY) AS message_body",
    ]
    chosen = frame.selectExpr(*wanted)
    if transactions == "all":
        chosen = chosen.coalesce(1)
    this_send = send_id or uuid.uuid4()

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        try:
            count = _send_partition(batches, dsn, dialogs, this_send, context.partitionId())
        except psycopg.Error as error:
            raise BulkError(f"messages cannot be sent: {first_line(error)}", hint_of(error)) from error
        yield pyarrow.RecordBatch.from_pydict({"sent": [count]})

    try:
        reports = chosen.mapInArrow(run, "sent long").collect()
    except Exception as error:
        raise BulkError(explain(error), "nothing of the failed partition was sent") from error
    return sum(int(report["sent"]) for report in reports)


def _send_partition(
    batches: Iterator[Any], dsn: str, dialogs: Dialogs | None, send_id: uuid.UUID, partition: int
) -> int:
    with psycopg.connect(dsn, client_encoding="utf8") as connection:
        columns = (tuple(batch.column(index).to_pylist() for index in range(3)) for batch in batches)
        return send_rows(connection, columns, dialogs, send_id, partition)


def send_rows(
    connection: psycopg.Connection[Any],
    batches: Iterator[tuple[Any, ...]],
    dialogs: Dialogs | None,
    send_id: uuid.UUID,
    partition: int,
    recycle: str | None = None,
) -> int:
    """Send handles or keys, types and bodies in the connection's transaction, once for send and partition.

    With ``dialogs`` a key has a dialog, and a row without one (None) a dialog of its own; with
    ``recycle`` (how old a dialog may become, such as ``1 hour``) the dialogs of keys are those of
    ssb.send_recycled, which outlive the transaction. Returns the number of messages.
    """
    opened: dict[str, str] = {}
    sent = 0
    first = connection.execute("SELECT ssb_internal.note_send(%s, %s)", (send_id, partition)).fetchone()
    if first != (True,):
        return 0
    for targets, types, bodies in batches:
        if dialogs is not None and recycle is not None:
            connection.cursor().executemany(
                "SELECT ssb.send_recycled(%s, %s, %s, %s, %s, %s::bytea, %s::interval)",
                [
                    (key, dialogs.from_service, dialogs.to_service, dialogs.contract, type_, body, recycle)
                    for key, type_, body in zip(targets, types, bodies, strict=True)
                ],
            )
            sent += len(types)
            continue
        if dialogs is not None:
            for key in dict.fromkeys(targets):
                if key is not None and key not in opened:
                    opened[key] = _begin(connection, dialogs)
            targets = [_begin(connection, dialogs) if key is None else opened[key] for key in targets]
        for start in range(0, len(targets), _CHUNK):
            part = slice(start, start + _CHUNK)
            _send_chunk(connection, targets[part], types[part], bodies[part])
        sent += len(targets)
    return sent


def _begin(connection: psycopg.Connection[Any], dialogs: Dialogs) -> str:
    row = connection.execute(
        "SELECT ssb.begin_dialog(%s, %s, %s, lifetime => %s)",
        (dialogs.from_service, dialogs.to_service, dialogs.contract, dialogs.lifetime),
    ).fetchone()
    assert row is not None
    return str(row[0])


def _send_chunk(
    connection: psycopg.Connection[Any], handles: Sequence[Any], types: Sequence[Any], bodies: Sequence[Any]
) -> None:
    connection.execute(
        "SELECT ssb.send_batch(%s::uuid[], %s::text[], %s::bytea[])",
        ([str(one) for one in handles], list(types), [None if one is None else bytes(one) for one in bodies]),
    )


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
