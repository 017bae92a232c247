"""The loop of a bulk job: claim, read, run the program, complete; until there is no more, or for ever."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from ..server.connect import is_direct
from .cached import own_cache
from .claim import Claim, abandon, claim, require_readable
from .complete import Completed, Computed, compute
from .connections import Connection, connect, reached, readable
from .options import JobOptions
from .problems import BulkError, ClaimLost, NotConnected, explain
from .program import Context, Program, run_program
from .progress import Progress, logger
from .read import read
from .session import require_executors, require_java_passes, spark_session
from .watching import watch_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_job(dsn: str, queue: str, program: Program, options: JobOptions | None = None) -> Progress:
    """Process a queue with a program.

    A claim lost with its connection (a restart of the server) is taken again: nothing of it was
    done. What the program has cached is let go after each claim; what was cached before stays.

    Raises BulkError when the program or PostgreSQL refuses; the claim's messages are
    back in the queue then, and it counts as a rollback (POISON_MESSAGE_HANDLING).
    """
    options = options or JobOptions()
    with connect(dsn, "pgsb bulk claim") as session:
        require_readable(session, dsn, queue)
        # Refuses what Java cannot reach, before there is a claim.
        server = reached(session)
        assert server.jdbc
        spark = spark_session(f"pgsb {queue}", options)
        if not is_direct(session):
            require_java_passes(spark, server)
        require_executors(spark, program, options.modules)
        return _run(_Job(spark, dsn, session, queue, program, options), options)


def _run(begun: "_Job", options: JobOptions) -> Progress:
    with begun as job:
        lost = 0
        while not options.should_stop():
            try:
                done = job.take_claim()
                lost = 0
            except (ClaimLost, NotConnected) as error:
                lost += 1
                if lost > 30:
                    raise
                # Each time it has lasted twice as long.
                if lost & (lost - 1) == 0:
                    logger.warning("%s; taking it again", error)
                time.sleep(min(options.poll * lost, 5.0))
                continue
            if options.mode == "once" or (options.mode == "until-empty" and not done):
                break
            if not done:
                time.sleep(options.poll)
        try:
            job.settle()
        except ClaimLost as error:
            logger.warning("%s; its messages are in the queue", error)
        return job.progress


class _Job:
    """Claims of one queue, one after the other; with ``overlap`` one is completed while the next is computed.

    One session makes them all, since a new one would first have to compile its functions. With ``overlap``
    there are two, and a completion runs in a thread of its own. Whatever comes of it is told by `settle`, in
    the job's thread: at most one is on its way.
    """

    def __init__(
        self,
        spark: "SparkSession",
        dsn: str,
        session: Connection,
        queue: str,
        program: Program,
        options: JobOptions,
    ) -> None:
        self.progress = Progress()
        self._spark = spark
        self._dsn = dsn
        self._free: Connection | None = session
        self._queue = queue
        self._program = program
        self._options = options
        self._overlaps = options.overlap and options.mode != "once"
        self._partitions = options.partitions or max(2, spark.sparkContext.defaultParallelism)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pgsb complete")
        self._completing: tuple[Computed, Callable[[], Completed]] | None = None
        self._counted_until = 0.0

    def __enter__(self) -> "_Job":
        return self

    def __exit__(self, *_error: object) -> None:
        """A completion that is on its way counts whatever came after it: its end is waited for."""
        self._thread.shutdown()
        if self._completing is not None:
            self._completing[0].held.connection.close()
        if self._free is not None:
            self._free.close()

    def take_claim(self) -> bool:
        """Claim, run the program, complete. Returns whether it is worth another look at once.

        Raises ClaimLost, also of the claim before, and NotConnected: it is taken again. Raises BulkError.
        """
        began = time.monotonic()
        connection, self._free = self._free or connect(self._dsn, "pgsb bulk claim"), None
        try:
            held = claim(
                connection,
                self._queue,
                max_messages=self._options.max_messages,
                max_bytes=self._options.max_bytes,
                partitions=self._partitions,
            )
            if held is None:
                self._keep(connection)
                return self.settle()
            self.progress.claims += 1
            self.progress.claimed += held.messages
            self._options.report("claimed", self.progress)
            computed = self._compute(held)
            self.settle()
        except BaseException:
            connection.close()
            raise
        self._counted_until = max(began, self._counted_until)
        if self._overlaps:
            self._completing = computed, self._thread.submit(computed.complete).result
            return True
        self._completing = computed, computed.complete
        return self.settle()

    def _compute(self, held: Claim) -> Computed:
        with _given_back(held, self._options.should_stop):
            messages = read(self._spark, held, ordered=self._options.ordered)
            # Not where the job began: after a fail-over its sessions are on another server.
            server = reached(held.connection)
            context = Context(self._spark, server, self._queue, held.claim_id, held.partitions, held)
            described = f"{self._queue}, claim {held.claim_id}"
            report = self._options.report
            watched = watch_tasks(self._spark, described, self.progress, report, held.connection)
            with own_cache(messages), watched:
                outputs = run_program(self._program, messages, context)
                # The claim before, which is completed meanwhile, may wait for what this one has written.
                return compute(held, outputs, copies_ahead=not self._overlaps, address=readable(self._dsn))

    def settle(self) -> bool:
        """Wait for the completion that is on its way, and count it.

        Returns whether it did anything; False when there is none. A claim of which everything
        failed and went back would be taken again at once.
        """
        if self._completing is None:
            return False
        (computed, result_of), self._completing = self._completing, None
        held = computed.held
        try:
            with _given_back(held, self._options.should_stop):
                result = result_of()
        except BaseException:
            held.connection.close()
            raise
        self._keep(held.connection)
        progress = self.progress
        progress.completed += result.deleted
        progress.written += result.written
        progress.replied += result.replied
        progress.failed += result.failed
        now = time.monotonic()
        progress.seconds += now - self._counted_until
        self._counted_until = now
        self._options.report("completed", progress)
        return result.deleted > 0 or computed.outputs.failures == "quarantine"

    def _keep(self, connection: Connection) -> None:
        """For the next claim, unless there is one or it has ended."""
        if self._free is None and not connection.closed:
            self._free = connection
        else:
            connection.close()


@contextmanager
def _given_back(held: Claim, should_stop: Callable[[], bool]) -> Iterator[None]:
    """Where the block fails the claim's messages go back, and the reason is said.

    What fails when the job is to stop is not the messages' fault: who stops a service's processes all at
    once (systemd, timeout) takes Spark's JVM and workers from under the tasks.
    """
    try:
        yield
    except ClaimLost:
        raise
    except BulkError:
        _give_back(held, is_counted=not should_stop())
        raise
    except Exception as error:  # whatever the program raises: the messages go back, and the reason is said
        if not _is_alive(held):
            raise ClaimLost(f"claim {held.claim_id} ended with its connection") from error
        is_stopped = should_stop()
        _give_back(held, is_counted=not is_stopped)
        what = "the job was stopped in its tasks" if is_stopped else "the program failed"
        raise BulkError(f"{what}: {explain(error)}", "its messages are back in the queue") from error


def _is_alive(held: Claim) -> bool:
    try:
        held.connection.execute("SELECT 1")
    except psycopg.Error:
        return False
    return True


def _give_back(held: Claim, *, is_counted: bool) -> None:
    """The messages go back, and that counts as what it is: a reader that has rolled back."""
    try:
        first = held.connection.execute(
            "SELECT conversation_handle FROM ssb_internal.claimed_message WHERE claim_id = %s"
            " ORDER BY priority DESC, queuing_order LIMIT 1",
            (held.claim_id,),
        ).fetchone()
        abandon(held)
        if first is not None and is_counted:
            with held.connection.transaction(force_rollback=True):
                held.connection.execute(
                    "SELECT FROM ssb.receive(%s, 1, conversation => %s)", (held.queue, first[0])
                )
    except ClaimLost as error:
        # The session has ended, and with it the claim.
        logger.warning("%s", error)
    except psycopg.Error as error:
        # Stopped, dropped, or in other hands by now: what counts is that the messages are back.
        logger.debug("the failed claim %s does not count as a rollback: %s", held.claim_id, error)
