"""``df.write.format("pgsb")`` and ``writeStream``: a row is a message.

Each task is one transaction, which counts once, whatever Spark runs again: it notes the number of
the send and of the partition (`ssb_internal.note_send`). A stream's send has the number of its query and
batch, so that a batch that runs again after a fault sends nothing twice. Rows that come again under
a number must be in the same partitions: their numbers of messages are compared.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from .binary_copy import as_text
from .columns import make_text
from .connections import Connection, connect, reached, task_session
from .problems import BulkError, as_a_sentence, first_line
from .sending import Dialogs, not_sent, note_through, send_rows
from .source_options import SourceOptions

if TYPE_CHECKING:

    class WriterCommitMessage:
        """What a task reports."""

    class DataSourceArrowWriter:
        """Writes record batches."""

    class DataSourceStreamArrowWriter:
        """Writes record batches of a stream."""

else:
    from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamWriter, WriterCommitMessage

    try:
        from pyspark.sql.datasource import DataSourceStreamArrowWriter
    except ImportError:

        class DataSourceStreamArrowWriter(DataSourceStreamWriter):
            """Spark before 4.1, which hands rows over one by one: refused."""


_COLUMNS = ("conversation_handle", "key", "message_type_name", "message_body")
_STREAMS = uuid.UUID("7c1f8a52-3a7e-5f0e-9d55-2f1f3a2b6c11")


@dataclass
class Sent(WriterCommitMessage):
    """A task's number of messages, and the send that it is a part of."""

    messages: int
    send_id: uuid.UUID


class _Sender:
    """What batches and streams share: the checks, and one task."""

    def __init__(self, options: SourceOptions, schema: Any, overwrite: bool) -> None:
        # As Spark finds columns: whatever their case.
        names = [field.name.lower() for field in schema.fields]
        for field, name in zip(schema.fields, names, strict=True):
            if name not in _COLUMNS:
                raise BulkError(
                    f"a message has no column {field.name!r}", f"the columns are {', '.join(_COLUMNS)}"
                )
            if names.count(name) > 1:
                raise BulkError(f"there are two columns {name!r}")
        if options.path:
            raise BulkError(
                f"messages do not go to a place such as {options.path!r}",
                "the options fromService and toService name the services; or a column conversation_handle",
            )
        if overwrite:
            raise BulkError("messages cannot be overwritten", 'mode("append"); streams: outputMode("append")')
        if "message_body" not in names:
            raise BulkError("the DataFrame has no column message_body")
        given = "conversation_handle" in names
        services = options.from_service is not None and options.to_service is not None
        if given == services or (options.from_service is None) != (options.to_service is None):
            raise BulkError(
                "name either a column conversation_handle, or the options fromService and toService "
                "for dialogs that are begun",
            )
        if options.recycle and "key" not in names:
            raise BulkError('option("recycle", "true") needs a column key: which dialog a message goes on')
        for field in schema.fields:
            kind = field.dataType.simpleString()
            if kind not in ("string", "binary", "void"):
                raise BulkError(f"the column {field.name!r} is {kind}, not string or binary", make_text(kind))
        self._options = options
        self._names = names
        with connect(options.dsn, "pgsb spark") as connection:
            options.start(connection)
            server = reached(connection)
            if options.recycle:
                _require_age(connection, options.max_age)
        self._dsn = server.dsn
        self._is_utf16 = server.nvarchar == "utf16"

    def _send(self, batches: Iterator[Any], send_id: uuid.UUID, partition: int) -> Sent:
        options = self._options
        dialogs = None
        if options.from_service is not None and options.to_service is not None:
            dialogs = Dialogs(options.from_service, options.to_service, options.contract, options.lifetime)
        try:
            with task_session(self._dsn, "pgsb spark send") as connection:
                options.start(connection)
                count = send_rows(
                    connection,
                    (self._columns(batch) for batch in batches),
                    dialogs,
                    send_id,
                    partition,
                    recycle=options.max_age if options.recycle else None,
                )
        except psycopg.Error as error:
            raise not_sent(error) from error
        return Sent(count, send_id)

    def _note_through(self, parts: Sequence[Sent | None]) -> None:
        """All tasks have committed: what comes under this number from now on is the same, or refused."""
        for send_id in {one.send_id for one in parts if one is not None}:
            note_through(self._dsn, send_id, len(parts), self._options.start)

    def _columns(self, batch: Any) -> tuple[Any, Any, Any]:
        """Handles or keys, types, bodies. Without a key each row has a dialog of its own."""
        import pyarrow
        import pyarrow.compute

        count = batch.num_rows
        columns = dict(zip(self._names, batch.columns, strict=True))
        types = columns.get("message_type_name")
        if types is None:
            types = pyarrow.repeat(self._options.message_type, count)
        elif types.null_count:
            types = pyarrow.compute.fill_null(as_text(types, "message_type_name"), self._options.message_type)
        targets = columns.get("conversation_handle", columns.get("key"))
        if targets is None:
            targets = pyarrow.nulls(count, pyarrow.string())
        bodies = columns["message_body"]
        kind = bodies.type
        if self._is_utf16 and (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            texts = as_text(bodies, "message_body").to_pylist()
            wide = [None if one is None else one.encode("utf-16-le") for one in texts]
            bodies = pyarrow.array(wide, pyarrow.large_binary())
        return targets, types, bodies


def _require_age(connection: Connection, age: str) -> None:
    """Raise BulkError unless it is an interval above 0."""
    try:
        row = connection.execute("SELECT %s::interval > interval '0'", (age,)).fetchone()
    except psycopg.DataError as error:
        raise BulkError(f'the option "maxAge" is {age!r}: {first_line(error)}', "such as 1 hour") from error
    if row != (True,):
        raise BulkError(f'the option "maxAge" is {age!r}, and must be more than nothing', "such as 1 hour")


class MessageWriter(_Sender, DataSourceArrowWriter):
    """Sends a batch. Tasks that have committed stay sent when another fails: run it again with its sendId."""

    def __init__(self, options: SourceOptions, schema: Any, overwrite: bool) -> None:
        _Sender.__init__(self, options, schema, overwrite)
        try:
            self._send_id = uuid.UUID(options.send_id) if options.send_id else uuid.uuid4()
        except ValueError as error:
            raise BulkError(f'the option "sendId" is {options.send_id!r}, which is no uuid') from error

    @as_a_sentence
    def write(self, iterator: Iterator[Any]) -> Sent:
        """One task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        try:
            return self._send(iterator, self._send_id, context.partitionId())
        except BulkError as error:
            # What other tasks have sent stays sent, and without its number would be sent again.
            error.add_note(
                f'option("sendId", "{self._send_id}"), on a frame in the same partitions, sends the rest'
            )
            raise

    @as_a_sentence
    def commit(self, messages: Sequence[Sent | None]) -> None:
        """The send is through."""
        self._note_through(messages)


class MessageStreamWriter(_Sender, DataSourceStreamArrowWriter):
    """Sends each batch of a stream once."""

    def __init__(self, options: SourceOptions, schema: Any, overwrite: bool) -> None:
        if DataSourceStreamArrowWriter.__module__ == __name__:
            raise BulkError(
                "a stream is sent by Spark 4.1 or newer",
                'foreachBatch with frame.write.format("pgsb"), and a sendId made of the batch\'s number',
            )
        if options.send_id:
            raise BulkError(
                'the option "sendId" is not for a stream', "its batches are sent once by Spark's numbers"
            )
        _Sender.__init__(self, options, schema, overwrite)

    @as_a_sentence
    def write(self, iterator: Iterator[Any]) -> Sent:
        """One task of one batch."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        if not query or batch is None:
            raise BulkError("Spark does not tell the number of this batch: it could not be sent once only")
        return self._send(iterator, uuid.uuid5(_STREAMS, f"{query} {batch}"), context.partitionId())

    @as_a_sentence
    def commit(self, messages: Sequence[Sent | None], batchId: int) -> None:
        """The batch is through."""
        self._note_through(messages)

    def abort(self, messages: Any, batchId: int) -> None:
        """Nothing: what tasks have sent counts, and is not sent again when the batch is."""
