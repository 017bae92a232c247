"""A Structured Streaming source over claims: ``spark.readStream.format("pgsb")``.

One micro-batch is one claim. The reader's process holds it; `completing` gives
foreachBatch a function that completes it in one transaction with the program's
results, which makes the stream exactly once: a batch that Spark runs again after
that finds no claim and no rows.

Options: ``dsn`` (a libpq connection string), ``queue``, and optionally
``maxMessages``, ``maxBytes``, ``partitions``.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import psycopg

from .claim import Claim, Connection, connect, find_claim
from .claim import claim as take
from .complete import complete
from .problems import ClaimLost
from .program import Program
from .read import SELECTED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    # What is used of pyspark's classes; types are checked without it too.
    class InputPartition:
        """A part of a batch, sent to an executor."""

    class DataSourceStreamReader:
        """Offsets and parts of a stream."""

    class DataSource:
        """A format's name, schema and readers."""

        options: Mapping[str, str]

else:
    try:
        from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
    except ImportError as error:  # pragma: no cover - told when the package is used without Spark
        raise ImportError("pyspark is not installed: pip install 'pg-service-broker[spark]'") from error

logger = logging.getLogger("pgsb.bulk")
# Looks in a row at a server that is away.
_PATIENCE = 100

SCHEMA = (
    "status short, priority short, queuing_order long, conversation_group_id string, "
    "conversation_handle string, message_sequence_number long, service_name string, service_id int, "
    "service_contract_name string, service_contract_id int, message_type_name string, message_type_id int, "
    "validation string, message_body binary, message_enqueue_time timestamp, claim_id int"
)


class _Part(InputPartition):
    def __init__(self, claim_id: int, number: int, fetch_size: int) -> None:
        self.claim_id = claim_id
        self.number = number
        self.fetch_size = fetch_size


class QueueStreamReader(DataSourceStreamReader):
    """Claims when Spark asks for the latest offset; an offset is the number of a claim."""

    def __init__(self, options: dict[str, str]) -> None:
        self._dsn = options["dsn"]
        self._queue = options["queue"]
        self._max_messages = int(options["maxmessages"]) if "maxmessages" in options else None
        self._max_bytes = int(options["maxbytes"]) if "maxbytes" in options else None
        self._partitions = int(options.get("partitions", "2"))
        self._connection: Connection | None = None
        self._held: Claim | None = None
        self._last = 0
        self._failures = 0

    def initialOffset(self) -> dict[str, int]:
        """Before the first claim."""
        return {"claim": 0}

    def latestOffset(self) -> dict[str, int]:
        """The claim that is held, else a new one if messages wait.

        While the server is away there is nothing new; ClaimLost when it stays away.
        """
        try:
            if self._held is not None and not self._is_open(self._held):
                self._held = None
            if self._held is None:
                self._held = take(
                    self._session(),
                    self._queue,
                    max_messages=self._max_messages,
                    max_bytes=self._max_bytes,
                    partitions=self._partitions,
                )
        except ClaimLost as error:
            self._connection = None
            self._failures += 1
            if self._failures > _PATIENCE:
                raise
            logger.warning("%s; looking again", error)
            return {"claim": self._last}
        self._failures = 0
        if self._held is not None:
            self._last = self._held.claim_id
        return {"claim": self._last}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[_Part]:
        """One for each partition of the claim.

        None for a claim that has ended: a batch that Spark runs again after it was
        completed, or after its messages went back to the queue, has no rows.
        """
        if start == end:
            return []
        with connect(self._dsn, "pgsb stream") as connection:
            held = find_claim(connection, self._queue, end["claim"], self._partitions)
        if held is None:
            return []
        return [_Part(held.claim_id, number, held.fetch_size) for number in range(self._partitions)]

    def read(self, partition: _Part) -> Iterator[Any]:
        """The rows of one partition, in order within each conversation."""
        import pyarrow

        schema = _arrow_schema()
        with (
            psycopg.connect(self._dsn, client_encoding="utf8") as connection,
            connection.cursor(name="pgsb_stream") as cursor,
        ):
            cursor.execute(
                f"SELECT {SELECTED}, claim_id FROM ssb.claimed_message AS c"
                " WHERE claim_id = %s AND claim_partition = %s"
                " ORDER BY c.conversation_handle, c.queuing_order",
                (partition.claim_id, partition.number),
            )
            while rows := cursor.fetchmany(partition.fetch_size):
                columns = zip(*rows, strict=True)
                arrays = [
                    pyarrow.array(one, type=field.type) for one, field in zip(columns, schema, strict=True)
                ]
                yield pyarrow.RecordBatch.from_arrays(arrays, schema=schema)

    def commit(self, end: dict[str, int]) -> None:
        """Nothing: `completing` has completed the claim. One that it did not complete is still held."""

    def stop(self) -> None:
        """Let go of the claim, if one is held: its messages are in the queue again."""
        if self._connection is not None:
            self._connection.close()

    def _session(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._dsn, "pgsb stream claim")
        return self._connection

    def _is_open(self, held: Claim) -> bool:
        try:
            row = held.connection.execute(
                "SELECT ssb.claim_was_completed(%s, %s)", (held.claim_id, held.claimed_at)
            ).fetchone()
            if row == (True,):
                held.connection.execute("SELECT ssb.unlock_claim(%s)", (held.claim_id,))
        except psycopg.OperationalError:
            self._connection = None
            return False
        return row != (True,)


class QueueDataSource(DataSource):
    """The source's name and schema: the queue's documented columns, and the claim's number."""

    @classmethod
    def name(cls) -> str:
        """What format() takes."""
        return "pgsb"

    def schema(self) -> str:
        """The columns as a DDL string."""
        return SCHEMA

    def streamReader(self, schema: Any) -> QueueStreamReader:
        """A reader for the options given."""
        return QueueStreamReader({key.lower(): value for key, value in dict(self.options).items()})


def register(spark: "SparkSession") -> None:
    """Make ``format("pgsb")`` known to a session."""
    spark.dataSource.register(QueueDataSource)


def completing(program: Program, dsn: str, queue: str) -> Callable[["DataFrame", int], None]:
    """A function for foreachBatch: runs ``program`` on the batch and completes its claim, exactly once.

    A claim that is lost on the way (its session ended) is left: its messages are in
    the queue again, and a later batch has them.
    """

    def process(frame: "DataFrame", _batch: int) -> None:
        kept = frame.persist()
        try:
            row = kept.select("claim_id").limit(1).collect()
            if not row:
                return
            claim_id = int(row[0]["claim_id"])
            with connect(dsn, "pgsb stream") as connection:
                held = find_claim(connection, queue, claim_id, 1)
                if held is None:
                    raise ClaimLost(f"claim {claim_id} has ended")
                complete(held, program(kept.drop("claim_id")), dsn)
        except ClaimLost as error:
            logger.warning("%s", error)
        finally:
            kept.unpersist()

    return process


def _arrow_schema() -> Any:
    """SCHEMA for Arrow; executors have no SparkSession that could parse the DDL string."""
    import pyarrow

    types = {
        "short": pyarrow.int16(),
        "int": pyarrow.int32(),
        "long": pyarrow.int64(),
        "string": pyarrow.string(),
        "binary": pyarrow.binary(),
        "timestamp": pyarrow.timestamp("us", tz="UTC"),
    }
    pairs = (column.split() for column in SCHEMA.split(", "))
    return pyarrow.schema([(name, types[kind]) for name, kind in pairs])
