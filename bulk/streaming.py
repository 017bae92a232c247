"""``spark.readStream.format("pgsb")``: a Structured Streaming source over claims.

One micro-batch is one claim of each queue. A claim belongs to the stream and not to a session: it
outlives the driver, and a stream that comes again from its checkpoint reads the same messages
under the same offset. Only when Spark has committed the batch the claim is completed and its
messages are deleted: exactly once with a sink that counts a batch once (files, Delta), at
least once with others, as with Kafka. `completing` does it earlier, in one transaction with
results and replies in PostgreSQL: exactly once.

An offset names the stream and the claims of its batch.
"""

import contextlib
import datetime
import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import psycopg

from .cached import own_cache
from .claim import Claim, explained, find_claim
from .claim import claim as take
from .complete import complete
from .connections import Connection, Server, acting_as, connect, reached, readable, task_session
from .problems import (
    DISABLED,
    MOST_INTEGER,
    BulkError,
    ClaimLost,
    NotConnected,
    as_a_sentence,
    first_line,
    help_for,
    require_choice,
    rows_or_a_sentence,
    told,
)
from .program import Context, Program, Unread, run_program
from .rows import fetch_part
from .source_options import SourceOptions, normal_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    # What is used of pyspark's classes; types are checked without it too.
    class InputPartition:
        """A part of a batch, sent to an executor."""

    class DataSourceStreamReader:
        """Offsets and parts of a stream."""

    class SupportsTriggerAvailableNow:
        """Knows Trigger.AvailableNow (Spark 4.2)."""

else:
    from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

    try:
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
    except ImportError:

        class SupportsTriggerAvailableNow:
            """Spark before 4.2, where streams are refused."""


logger = logging.getLogger("pgsb.bulk")
# Looks in a row at a server that is away, each a tenth of a second later than the one before, up to
# _POLL: ten minutes.
_PATIENCE = 150
# Seconds between two looks at empty queues, each of which writes: Spark asks a hundred times a second.
_POLL = 1.0
_WAIT = 5.0
# Where so many messages wait they are counted for the query's progress every _COUNT_AGAIN seconds.
_MANY = 100_000
_COUNT_AGAIN = 30.0
# A driver that was killed is noticed at once, one whose machine is gone after 25 seconds (connections.py).
_SECONDS_TO_DIE = 30.0

# What tells of a row which message of which claim it is.
_OF_A_CLAIM = frozenset({"claim_id", "queuing_order"})

Offset = dict[str, Any]


class _Part(InputPartition):
    def __init__(self, server: Server, queue: str, claim_id: int, number: int, parts: int, size: int) -> None:
        self.server = server
        self.queue = queue
        self.claim_id = claim_id
        self.number = number
        self.parts = parts
        self.size = size


@dataclass(frozen=True)
class _Waiting:
    """Messages that wait, those that are set aside, and the age of the oldest that waits in seconds."""

    messages: int
    set_aside: int
    oldest: float | None


class QueueStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Claims when Spark asks for the latest offset, completes what Spark has committed."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._connection: Connection | None = None
        self._stream = options.stream
        self._runs: str | None = None
        self._was_there = False
        self._failures = 0
        self._left: dict[str, int] | None = None
        self._off: set[str] = set()
        """Queues that were off at the start of a run of what is available."""
        self._completed = 0
        self._begun: set[tuple[int, datetime.datetime]] = set()
        self._claimed: dict[int, int] = {}
        """Messages of the claims that this one has made or read, and has not counted as completed."""
        self._over: set[tuple[int, datetime.datetime]] = set()
        self._look_again = 0.0
        self._counted: tuple[float, _Waiting] | None = None

    def initialOffset(self) -> Offset:
        """Before the first claim."""
        self._stream = self._options.stream or str(uuid.uuid4())
        return {"stream": self._stream, "claims": []}

    @as_a_sentence
    def prepareForTriggerAvailableNow(self) -> None:
        """Take as many messages as wait now, the first ones, and no more.

        The session, which has the stream's name, ends: where another source of the query fails here, Spark
        never stops this one.
        """
        session = self._session()
        self._left = {}
        for queue in self._options.queues(session):
            with explained(queue):
                row = session.execute("SELECT ssb_internal.bring_in(%s)", (queue,)).fetchone()
            if row != (True,):
                self._off.add(queue)
            self._left[queue] = self._look(session, queue).messages
        self.stop()

    @as_a_sentence
    def latestOffset(self, start: Offset | None = None, limit: object = None) -> Offset:
        """The claims of the next batch: those that are held and in no batch yet, else new ones.

        When Spark asks, everything up to ``start`` is committed: it is completed here. While the
        server is away there is nothing new, and a run of what is available waits for it. NotConnected
        when it stays away, or was not there to begin with.
        """
        if not start:
            # Are the claims that are held those of the batch before, which Spark has committed, or of none?
            raise BulkError(
                "this version of Spark does not tell a source where its stream stands: a stream would not go "
                "on behind its first batch",
                "Spark 4.2 or newer does; jobs (pgsb spark run) and spark.read need no newer one",
            )
        start = _own_offset(start)
        while True:
            try:
                found = self._next(start)
            except (ClaimLost, NotConnected) as error:
                self._wait_after(error)
            except psycopg.OperationalError as error:
                name = f"the stream {self._stream}"
                self._wait_after(told(error, f"{name} has lost its connection", f"{name} cannot go on"))
            else:
                self._failures = 0
                return found
            # With nothing new a run of what is available would end, and call itself complete.
            if self._left is None:
                return start

    def _wait_after(self, error: BulkError) -> None:
        """Before the next look, unless it would not help: then the error is raised."""
        # What is left of the session holds the stream's name.
        self.stop()
        self._failures += 1
        # A wrong address or password does not get right, nor does a disk that is full.
        passes = isinstance(error, (ClaimLost, NotConnected))
        if self._failures > _PATIENCE or not (passes and self._was_there):
            raise error
        logger.warning("%s; looking again", error)
        time.sleep(min(0.1 * self._failures, _WAIT))

    @as_a_sentence
    def partitions(self, start: Offset, end: Offset) -> list[_Part]:
        """The parts of the batch's claims.

        None of a claim that was completed: Spark runs a batch again whose results are in
        PostgreSQL already. One that has ended otherwise is BulkError, or nothing with
        failOnDataLoss = false: its messages are in the queue, and come with a later batch.
        """
        if start == end:
            return []
        parts = []
        self._stream = str(_own_offset(end)["stream"])
        session = self._session()
        server = reached(session)
        for queue, claim_id, claimed_at in end["claims"]:
            self._begin(session, queue, claim_id, claimed_at)
            held = find_claim(session, queue, claim_id, claimed_at)
            if held is not None:
                self._claimed[claim_id] = held.messages
                size = min(self._options.fetch_size or held.fetch_size, held.fetch_size)
                # It was divided when it was made, which may have been before a restart with other options.
                count = held.partitions
                parts += [_Part(server, queue, claim_id, number, count, size) for number in range(count)]
            elif not self._was_completed(session, claim_id, claimed_at):
                _require_own(session, queue, claim_id, claimed_at)
                if self._options.fail_on_data_loss:
                    raise BulkError(
                        f"claim {claim_id} of {queue}, which this batch is made of, has ended: its messages "
                        "are in the queue again, or went with the queue when that was dropped",
                        'they come with a later batch: option("failOnDataLoss", "false") goes on with that',
                    )
                session.execute("SELECT ssb_internal.pass_claim(%s, %s::timestamptz)", (claim_id, claimed_at))
        return parts

    @rows_or_a_sentence
    def read(self, partition: _Part) -> Iterator[Any]:
        """The rows of one part, in order within each conversation."""
        with task_session(partition.server.dsn, "pgsb stream read") as connection:
            self._options.start(connection)
            yield from fetch_part(
                connection, partition.queue, partition.claim_id, partition.number, partition.size
            )
            connection.execute(
                "SELECT FROM ssb_internal.end_of_reading(%s, %s, %s, %s)",
                (partition.claim_id, partition.server.identity, partition.parts, partition.number),
            )

    @as_a_sentence
    def commit(self, end: Offset) -> None:
        """Spark has the batch for good: its messages are deleted, unless `completing` did that."""
        self._stream = str(_own_offset(end)["stream"])
        with contextlib.suppress(ClaimLost, NotConnected, psycopg.OperationalError):
            # What cannot be completed now is when Spark asks for more.
            self._complete(self._session(), end["claims"])

    def reportLatestOffset(self) -> Offset | None:
        """For the query's progress: messages in the queues, the oldest one's age, what of them is claimed.

        And how many are set aside, and this query has completed.
        """
        try:
            session = self._session()
            waiting = self._waiting(session)
            held = self._held(session) if self._stream else []
        except (BulkError, psycopg.Error):
            return None
        return {
            "waiting": waiting.messages,
            "oldestSeconds": waiting.oldest,
            "setAside": waiting.set_aside,
            "claims": len(held),
            "claimed": sum(self._claimed.get(claim_id, 0) for _, claim_id, _ in held),
            "completed": self._completed,
        }

    def stop(self) -> None:
        """The session ends; the claims wait for the stream to come again."""
        if self._connection is not None:
            self._connection.close()

    def _next(self, start: Offset) -> Offset:
        self._stream = str(start["stream"])
        session = self._session()
        self._complete(session, start["claims"])
        known = {_told_apart(one) for one in start["claims"]}
        claims = [one for one in self._held(session) if _told_apart(one) not in known]
        for _, claim_id, _ in claims:
            # Who read it had another checkpoint, and may have had another sink.
            session.execute("SELECT ssb_internal.forget_reading(%s)", (claim_id,))
        if not claims:
            if self._left is None:
                time.sleep(max(0.0, self._look_again - time.monotonic()))
            claims = self._take(session)
            self._look_again = 0.0 if claims else time.monotonic() + _POLL
        return {"stream": self._stream, "claims": claims} if claims else start

    def _take(self, session: Connection) -> list[list[Any]]:
        most, most_bytes = self._options.max_messages, self._options.max_bytes
        claims = []
        for queue in self._options.queues(session):
            if most <= 0 or (most_bytes is not None and most_bytes <= 0):
                break
            limit = most if self._left is None else min(most, self._left.get(queue, 0))
            if limit <= 0:
                if queue in self._off:
                    # Of one with messages the claim says so.
                    raise BulkError(
                        f"the queue {queue} is off, and what was sent to it meanwhile waits elsewhere",
                        help_for(DISABLED),
                    )
                continue
            held = take(
                session,
                queue,
                max_messages=limit,
                max_bytes=most_bytes,
                partitions=self._options.partitions,
                stream=self._stream,
                wait=self._options.wait,
            )
            if held is None:
                continue
            claims.append([queue, held.claim_id, held.claimed_at.isoformat()])
            self._claimed[held.claim_id] = held.messages
            most -= held.messages
            if most_bytes is not None:
                most_bytes -= held.bytes
            if self._left is not None:
                self._left[queue] -= held.messages
        return claims

    def _begin(self, session: Connection, queue: str, claim_id: int, claimed_at: str) -> None:
        """Where another run of the query began this batch, that has failed: it counts as a rollback.

        BulkError where the queue is off, be it for too many of these.
        """
        one = _told_apart([queue, claim_id, claimed_at])
        if one in self._begun:
            return
        row = session.execute(
            "SELECT ssb_internal.begin_batch(%s, %s::timestamptz)", (claim_id, claimed_at)
        ).fetchone()
        if row == (False,):
            raise BulkError(
                f"the queue {queue} is off, and claim {claim_id} of this stream waits", help_for(DISABLED)
            )
        self._begun.add(one)

    def _held(self, session: Connection) -> list[list[Any]]:
        rows = session.execute(
            "SELECT queue, claim_id, claimed_at FROM ssb_internal.claims_of_stream(%s, %s)",
            (self._stream, self._options.wait),
        ).fetchall()
        return [
            [str(queue), int(str(claim_id)), at.isoformat()]
            for queue, claim_id, at in rows
            if isinstance(at, datetime.datetime)
        ]

    def _complete(self, session: Connection, committed: list[list[Any]]) -> None:
        held = {_told_apart(one) for one in self._held(session)}
        for one in committed:
            _, claim_id, claimed_at = one
            if _told_apart(one) in held:
                if self._options.unread == "refuse":
                    _require_read(session, one)
                row = session.execute(
                    "SELECT deleted FROM ssb_internal.complete_batch(%s, %s)",
                    (claim_id, self._options.end_conversations),
                ).fetchone()
                session.execute("SELECT ssb_internal.unlock_claim(%s)", (claim_id,))
            elif claim_id in self._claimed:
                # By `completing`, in another session.
                row = session.execute(
                    "SELECT deleted FROM ssb_internal.claim_result(%s, %s::timestamptz)",
                    (claim_id, claimed_at),
                ).fetchone()
            else:
                # What another role holds would come back into the queue when it is no longer waited for.
                if _told_apart(one) not in self._over:
                    _require_own(session, *one)
                continue
            self._claimed.pop(claim_id, None)
            self._completed += int(str(row[0])) if row else 0
        # Those of earlier batches are asked for no more.
        self._over = {_told_apart(one) for one in committed}
        self._begun -= self._over

    def _was_completed(self, session: Connection, claim_id: int, claimed_at: str) -> bool:
        row = session.execute(
            "SELECT ssb_internal.claim_was_completed(%s, %s::timestamptz)", (claim_id, claimed_at)
        ).fetchone()
        return row == (True,)

    def _waiting(self, session: Connection) -> _Waiting:
        """What waits in all queues. All of it is looked at for each batch; where it is much, now and then."""
        now = time.monotonic()
        if self._counted is not None:
            at, found = self._counted
            if found.messages + found.set_aside >= _MANY and now < at + _COUNT_AGAIN:
                return found
        looks = [self._look(session, queue) for queue in self._options.queues(session)]
        ages = [one.oldest for one in looks if one.oldest is not None]
        found = _Waiting(
            sum(one.messages for one in looks),
            sum(one.set_aside for one in looks),
            max(ages, default=None),
        )
        self._counted = now, found
        return found

    def _look(self, session: Connection, queue: str) -> _Waiting:
        """What waits in the queue. Raises BulkError."""
        with explained(queue):
            row = session.execute(
                "SELECT waiting, set_aside, date_part('epoch', clock_timestamp() - oldest)"
                "  FROM ssb_internal.waiting_on(%s)",
                (queue,),
            ).fetchone()
        assert row is not None
        waiting, set_aside, age = row
        oldest = None if age is None else round(float(str(age)), 3)
        return _Waiting(int(str(waiting)), int(str(set_aside)), oldest)

    def _session(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._options.dsn, "pgsb stream claim")
            self._options.start(self._connection)
            self._was_there = True
            self._runs = None
        if self._stream is not None and self._runs != self._stream:
            _run_alone(self._connection, self._stream)
            self._runs = self._stream
        return self._connection


def _own_offset(offset: Offset) -> Offset:
    """The offset, which has the form of this source's. BulkError: the checkpoint is that of another one."""
    try:
        if all(len(one) == 3 and _told_apart(one)[0] <= MOST_INTEGER for one in offset["claims"]):
            str(offset["stream"])
            return offset
    except (KeyError, TypeError, ValueError):
        pass
    raise BulkError(
        f"the checkpoint is that of another source: its offset is {json.dumps(offset)[:200]}",
        "give the query a checkpointLocation of its own",
    )


def _require_read(session: Connection, one: list[Any]) -> None:
    """Raise BulkError where the batch of the claim was not read to its end: who has its messages?"""
    try:
        session.execute("SELECT ssb_internal.require_read(%s)", (one[1],))
    except psycopg.errors.ObjectNotInPrerequisiteState as error:
        raise BulkError(
            f"Spark has committed a batch without having read it: {first_line(error)}",
            "has the sink skipped it, as one that it had (files know their batches: a new checkpoint needs a "
            f"new path)? SELECT ssb.release_claim({one[1]}) when the query has stopped gives the messages to "
            'a later batch; option("unread", "complete") deletes what is not read',
        ) from error


def _require_own(session: Connection, queue: str, claim_id: int, claimed_at: str) -> None:
    """Raise BulkError where the claim is there, and is another role's."""
    row = session.execute(
        "SELECT ssb_internal.role_of_claim(%s, %s::timestamptz)", (claim_id, claimed_at)
    ).fetchone()
    if row is not None and row[0] is not None:
        raise BulkError(
            f"claim {claim_id} of {queue}, which this batch is made of, is of the role {row[0]}",
            "a stream goes on under the role with which it began: the login, or the option role",
        )


def _told_apart(one: list[Any]) -> tuple[int, datetime.datetime]:
    """A claim of an offset by what no other one has: numbers begin anew where a backup was restored."""
    return int(one[1]), datetime.datetime.fromisoformat(one[2])


class RefusedStream(DataSourceStreamReader):
    """Raises what is wrong with the options when Spark first asks.

    Raised by ``streamReader`` itself it would stand before an error of Spark's worker, which has no
    reader to stop then.
    """

    def __init__(self, error: BulkError) -> None:
        self._error = error

    @as_a_sentence
    def initialOffset(self) -> Offset:
        """The error."""
        raise self._error

    @as_a_sentence
    def latestOffset(self, start: Offset | None = None, limit: object = None) -> Offset:
        """The error, of a stream that comes again from its checkpoint."""
        raise self._error

    @as_a_sentence
    def partitions(self, start: Offset, end: Offset) -> list[_Part]:
        """The error, where a batch was begun."""
        raise self._error

    def read(self, partition: object) -> Iterator[Any]:
        """The error; no task comes here."""
        raise self._error

    def stop(self) -> None:
        """Nothing was begun."""


def _run_alone(session: Connection, stream: str) -> None:
    """From here on the session runs the stream of that name. BulkError where another one does and stays."""
    until = time.monotonic() + _SECONDS_TO_DIE
    while True:
        row = session.execute("SELECT pid, since FROM ssb_internal.run_stream(%s)", (stream,)).fetchone()
        if row is None:
            return
        if time.monotonic() >= until:
            raise BulkError(
                f"the stream {stream} runs already: process {row[0]} of PostgreSQL's, since {row[1]}",
                "stop that query, or give this one its own streamName and checkpoint; "
                f"where that one's driver hangs: SELECT pg_terminate_backend({row[0]})",
            )
        time.sleep(0.05)


def completing(
    program: Program,
    dsn: str,
    queue: str | None = None,
    *,
    unread: Unread = "refuse",
    role: str | None = None,
) -> Callable[["DataFrame", int], None]:
    """A function for foreachBatch: runs ``program`` on the batch and completes its claim, exactly once.

    The claim is the unit, not the frame. Where the stream was filtered or aggregated on its way, and
    not every claimed message is in the frame, the batch fails and says how many are not; with
    ``unread="complete"`` the program says that it means to pass them: they are deleted with the rest.

    ``dsn`` and ``role`` are those of the stream. Raises BulkError for an address that cannot be read.
    """
    require_choice("unread", unread, get_args(Unread))
    address = readable(dsn) if role is None else acting_as(dsn, role)

    @as_a_sentence
    def process(frame: "DataFrame", batch: int) -> None:
        claims = _claims_of_batch(frame)
        others = sorted({name for name, _, _ in claims} - {queue})
        if queue is not None and others:
            with connect(address, "pgsb stream") as connection:
                others = [name for name in others if name != normal_name(connection, queue)]
        if queue is not None and others:
            raise BulkError(
                f"this batch has messages of {', '.join(others)} and completing(…) is for {queue}: "
                "they would be deleted unread",
                "name the stream's queue; one queue for each stream",
            )
        if not claims:
            # Of two sources the other one may have begun.
            if unread == "refuse" and not _OF_A_CLAIM.issubset(frame.columns):
                raise BulkError(
                    'this batch is of no stream of format("pgsb"): the program would never run',
                    "completing(…) is for a queue's stream; another one needs a foreachBatch of your own",
                )
            return
        if len(claims) > 1:
            raise BulkError(
                f"a batch of {len(claims)} claims ({', '.join(name for name, _, _ in claims)}) "
                "cannot be completed in one transaction",
                "one source and one queue for each stream, or a sink of Spark's own",
            )
        ((name, claim_id, claimed_at),) = claims
        with connect(address, "pgsb stream") as connection:
            server = reached(connection)
            held = find_claim(connection, name, claim_id, claimed_at)
            if held is None:
                done = connection.execute(
                    "SELECT ssb_internal.claim_was_completed(%s, %s::timestamptz)", (claim_id, claimed_at)
                ).fetchone()
                if done != (True,):
                    raise ClaimLost(
                        f"claim {claim_id} has ended, or is not that of {role or connection.info.user} "
                        f"in the database {connection.info.dbname}",
                        "its messages are in the queue: a later batch has them; "
                        "completing(…) needs the address, user and role of its stream",
                    )
                return
            with own_cache(frame):
                kept = frame.persist()
                if unread == "refuse":
                    _require_all(kept, held)
                context = Context(frame.sparkSession, server, name, claim_id, held.partitions, held)
                given = kept.drop("claim_id", "queue")
                complete(held, run_program(program, given, context))

    return process


def _claims_of_batch(frame: "DataFrame") -> list[tuple[str, int, str]]:
    """The claims of the batch that runs, out of its query's offsets: a frame may have lost its rows."""
    from .session import require_classic

    spark = frame.sparkSession
    require_classic(spark)
    number = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    query: Any = None
    if number:
        # A batch's session is a copy of the query's, which does not know the query; what they share does.
        key = spark.sparkContext._jvm.java.util.UUID.fromString(number)
        query = spark._jsparkSession.sharedState().activeStreamingQueries().get(key)
    if query is None:
        raise BulkError(
            "this frame is no batch of a stream", "completing(…) is for foreachBatch, and for its own thread"
        )
    offsets = query.availableOffsets().iterator()
    claims = []
    while offsets.hasNext():
        told = json.loads(offsets.next()._2().json())
        if isinstance(told, dict) and "stream" in told and "claims" in told:
            claims += [(str(name), int(claim_id), str(at)) for name, claim_id, at in told["claims"]]
    return claims


def _require_all(frame: "DataFrame", held: Claim) -> None:
    """Raise BulkError unless every claimed message is in the frame."""
    hint = 'completing(…, unread="complete") deletes those with the rest'
    if not _OF_A_CLAIM.issubset(frame.columns):
        raise BulkError(
            f"what became of the {held.messages} messages of claim {held.claim_id} before foreachBatch "
            "cannot be told, since claim_id and queuing_order are gone",
            f"select them too, and aggregate in the program; or {hint}",
        )
    seen = frame.where(f"claim_id = {held.claim_id:d}").select("queuing_order").distinct().count()
    if seen < held.messages:
        raise BulkError(
            f"{held.messages - seen} of the {held.messages} messages of claim {held.claim_id} did not reach "
            "the program: they were filtered away before foreachBatch",
            f"filter in the program, or {hint}",
        )
