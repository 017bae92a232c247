"""Sending in bulk: a DataFrame of bodies becomes messages on dialogs."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import psycopg

from ..server.connect import SEARCH_PATH
from .binary_copy import BinaryArray, BinaryArrayDumper, array, as_text
from .columns import body_of
from .connections import Connection, connect, reached, task_session
from .problems import (
    MOST_INTEGER,
    BulkError,
    explain,
    first_line,
    hint_of,
    require_choice,
    require_number,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Transactions = Literal["partition", "all"]
# Of one call: PostgreSQL's messages end at 1 GB.
_CHUNK = 5000
_CHUNK_BYTES = 64 << 20


@dataclass(frozen=True)
class Dialogs:
    """How the dialogs are begun that messages without a conversation_handle go on.

    With a column ``key`` in the DataFrame each key of a partition gets a dialog of
    its own, else each partition gets one. ``lifetime`` in seconds, None: no end. Raises BulkError for
    another one than a number from 1 on.
    """

    from_service: str
    to_service: str
    contract: str = "DEFAULT"
    lifetime: int | None = None

    def __post_init__(self) -> None:
        """Said before a task runs."""
        if self.lifetime is not None:
            require_number("lifetime", self.lifetime, MOST_INTEGER)


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
    when it is called with the same ``send_id`` and the same partitions; other ones are refused.
    ``"all"``: one task, one transaction, everything or nothing.

    Raises BulkError with PostgreSQL's reason.
    """
    require_choice("transactions", transactions, get_args(Transactions))
    # As Spark finds columns: whatever their case.
    names = {name.lower() for name in frame.columns}
    if "message_body" not in names:
        raise BulkError("the DataFrame has no column message_body")
    if ("conversation_handle" in names) == (dialogs is not None):
        raise BulkError("name either a column conversation_handle or the dialogs to begin")
    with connect(dsn, "pgsb spark") as connection:
        server = reached(connection)
    absent = f"'{_literal(message_type)}'"
    wanted = [
        "conversation_handle"
        if dialogs is None
        else ("CAST(key AS STRING) AS key" if "key" in names else "'' AS key"),
        f"coalesce(message_type_name, {absent}) AS message_type_name"
        if "message_type_name" in names
        else f"{absent} AS message_type_name",
        f"{body_of(frame, lambda: server.nvarchar)} AS message_body",
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
            count = _send_partition(batches, server.dsn, dialogs, this_send, context.partitionId())
        except psycopg.Error as error:
            raise not_sent(error) from error
        yield pyarrow.RecordBatch.from_pydict({"sent": [count]})

    try:
        reports = chosen.mapInArrow(run, "sent long").collect()
    except Exception as error:
        missing = "nothing was sent"
        if transactions == "partition":
            missing = (
                f'nothing of the failed partition was sent: send_id=uuid.UUID("{this_send}"), on a frame in '
                "the same partitions, sends the rest"
            )
        raise BulkError(explain(error), missing) from error
    note_through(server.dsn, this_send, len(reports))
    return sum(int(report["sent"]) for report in reports)


def not_sent(error: psycopg.Error) -> BulkError:
    """Why a task's messages were not sent."""
    hint = hint_of(error)
    if isinstance(error, psycopg.errors.DeadlockDetected):
        hint = (
            'tasks that send on the same dialogs wait for each other: repartition("key"), or by '
            '"conversation_handle", brings the rows of a dialog into one task'
        )
    return BulkError(f"messages cannot be sent: {first_line(error)}", hint)


def note_through(
    dsn: str, send_id: uuid.UUID, partitions: int, start: Callable[[Connection], None] | None = None
) -> None:
    """All partitions of the send have committed. Raises BulkError where it had another number of them.

    ``start`` is what each session of the send runs first.
    """
    with connect(dsn, "pgsb spark") as connection:
        if start is not None:
            start(connection)
        try:
            count_send(connection, send_id, -1, partitions)
        except psycopg.Error as error:
            raise BulkError(first_line(error), hint_of(error)) from error


def _send_partition(
    batches: Iterator[Any], dsn: str, dialogs: Dialogs | None, send_id: uuid.UUID, partition: int
) -> int:
    with task_session(dsn, "pgsb spark send") as connection:
        connection.execute(SEARCH_PATH)
        columns = (tuple(batch.columns) for batch in batches)
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

    Each batch is three columns of Arrow's. With ``dialogs`` a key has a dialog, and a row without one
    (null) a dialog of its own; with ``recycle`` (how old a dialog may become, such as ``1 hour``) the
    dialogs of keys are those of ssb.send_recycled, which outlive the transaction. Returns the number of
    messages.
    """
    connection.adapters.register_dumper(BinaryArray, BinaryArrayDumper)
    first = connection.execute("SELECT ssb_internal.note_send(%s, %s)", (send_id, partition)).fetchone()
    if first != (True,):
        count_send(connection, send_id, partition, sum(len(columns[1]) for columns in batches))
        return 0
    opened: dict[str, str] = {}
    sent = 0
    for columns in batches:
        for targets, types, bodies in _chunks(*columns):
            sent += len(types)
            values = {"types": array(types, "text", "message_type_name")}
            values["bodies"] = array(bodies, "bytea", "message_body")
            if dialogs is not None and recycle is not None:
                if targets.null_count:
                    raise BulkError(
                        "key is null in a row, which names no dialog that is kept",
                        "give each row a key, or leave recycle away: a row without one begins a dialog then",
                    )
                connection.execute(
                    "SELECT pg_catalog.count(ssb.send_recycled(m.key, %(from)s, %(to)s, %(contract)s, m.type,"
                    " m.body, %(age)s::interval))"
                    " FROM unnest(%(keys)b::text[], %(types)b::text[], %(bodies)b::bytea[])"
                    " AS m (key, type, body)",
                    {
                        **values,
                        "keys": array(targets, "text", "key"),
                        "from": dialogs.from_service,
                        "to": dialogs.to_service,
                        "contract": dialogs.contract,
                        "age": recycle,
                    },
                )
                continue
            if dialogs is not None:
                targets = _handles_of(connection, targets, dialogs, opened)
            connection.execute(
                "SELECT ssb.send_batch(%(handles)b::uuid[], %(types)b::text[], %(bodies)b::bytea[])",
                {**values, "handles": array(targets, "uuid", "conversation_handle")},
            )
    count_send(connection, send_id, partition, sent)
    return sent


def count_send(connection: psycopg.Connection[Any], send_id: uuid.UUID, partition: int, count: int) -> None:
    """Note the messages of a partition, or, for -1, the partitions of a send that is through.

    Raises psycopg.Error where the same send had other ones before.
    """
    connection.execute("SELECT ssb_internal.count_send(%s, %s, %s)", (send_id, partition, count))


def _chunks(targets: Any, types: Any, bodies: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The columns in parts of at most _CHUNK rows and, but for one row alone, _CHUNK_BYTES of bodies."""
    start = 0
    while start < len(types):
        count = min(_CHUNK, len(types) - start)
        while count > 1 and bodies.slice(start, count).nbytes > _CHUNK_BYTES:
            count = (count + 1) // 2
        yield targets.slice(start, count), types.slice(start, count), bodies.slice(start, count)
        start += count


def _handles_of(
    connection: psycopg.Connection[Any], keys: Any, dialogs: Dialogs, opened: dict[str, str]
) -> Any:
    """The handle of each key's dialog, and a new one for each null; ``opened`` are those of earlier rows."""
    import pyarrow
    import pyarrow.compute

    encoded = as_text(keys, "key").dictionary_encode(null_encoding="mask")
    names = encoded.dictionary.to_pylist()
    missing = [one for one in names if one not in opened]
    begun = _begin(connection, dialogs, len(missing) + keys.null_count)
    opened.update(zip(missing, begun, strict=False))
    handles = pyarrow.array([opened[one] for one in names], pyarrow.string()).take(encoded.indices)
    if not keys.null_count:
        return handles
    own = pyarrow.array(begun[len(missing) :], pyarrow.string())
    return pyarrow.compute.replace_with_mask(handles, keys.is_null(), own)


def _begin(connection: psycopg.Connection[Any], dialogs: Dialogs, count: int) -> list[str]:
    if not count:
        return []
    row = connection.execute(
        "SELECT pg_catalog.array_agg(ssb.begin_dialog(%s, %s, %s, lifetime => %s)::text)"
        "  FROM pg_catalog.generate_series(1, %s)",
        (dialogs.from_service, dialogs.to_service, dialogs.contract, dialogs.lifetime, count),
    ).fetchone()
    assert row is not None
    return list(row[0])


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
