"""The loop of a bulk job: claim, read, run the program, complete; until there is no more, or for ever."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import psycopg

from .claim import Claim, abandon, claim, connect, require_readable
from .complete import complete
from .problems import BulkError, ClaimLost, explain
from .program import Outputs, Program
from .read import read
from .session import jdbc_options, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Mode = Literal["once", "until-empty", "continuous"]
logger = logging.getLogger("pgsb.bulk")


@dataclass
class Progress:
    """How far a job is. Counts are of messages, except ``replied`` and ``written`` (rows of results)."""

    claims: int = 0
    claimed: int = 0
    completed: int = 0
    written: int = 0
    replied: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Completed messages per second."""
        return self.completed / self.seconds if self.seconds else 0.0

    def line(self) -> str:
        """One line for a log."""
        return (
            f"claimed {self.claimed:,}, completed {self.completed:,}, written {self.written:,} rows, "
            f"replied {self.replied:,}, failed {self.failed:,}: {self.rate:,.0f} messages/s"
        )


Report = Callable[[str, Progress], None]


def _log(step: str, progress: Progress) -> None:
    logger.info("%s: %s", step, progress.line())


def run_job(
    dsn: str,
    queue: str,
    program: Program,
    *,
    mode: Mode = "until-empty",
    max_messages: int | None = 1_000_000,
    max_bytes: int | None = None,
    partitions: int | None = None,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    poll: float = 1.0,
    report: Report = _log,
    should_stop: Callable[[], bool] = lambda: False,
) -> Progress:
    """Process a queue with a program.

    ``once`` takes one claim, ``until-empty`` goes on until nothing is free,
    ``continuous`` waits for more, looking every ``poll`` seconds. A claim lost with
    its connection (a restart of the server) is taken again: nothing of it was done.
    Between claims everything that is cached in the Spark session is let go.

    Raises BulkError when the program or PostgreSQL refuses; the claim's messages are
    back in the queue then.
    """
    require_readable(dsn, queue)
    jdbc_options(dsn)  # refuses what Java cannot reach, before there is a claim
    spark = spark_session(f"pgsb {queue}", master=master, settings=settings)
    count = partitions or max(2, spark.sparkContext.defaultParallelism)
    progress = Progress()
    lost = 0
    while not should_stop():
        try:
            done = _one_claim(spark, dsn, queue, program, count, max_messages, max_bytes, progress, report)
            lost = 0
        except ClaimLost as error:
            lost += 1
            if lost > 30:
                raise
            # Each time it has lasted twice as long.
            if lost & (lost - 1) == 0:
                logger.warning("%s; taking it again", error)
            spark.catalog.clearCache()
            time.sleep(min(poll * lost, 5.0))
            continue
        if mode == "once" or (mode == "until-empty" and not done):
            break
        if not done:
            time.sleep(poll)
    return progress


def _one_claim(
    spark: "SparkSession",
    dsn: str,
    queue: str,
    program: Program,
    partitions: int,
    max_messages: int | None,
    max_bytes: int | None,
    progress: Progress,
    report: Report,
) -> bool:
    began = time.monotonic()
    with connect(dsn, "pgsb bulk claim") as connection:
        held = claim(connection, queue, max_messages=max_messages, max_bytes=max_bytes, partitions=partitions)
        if held is None:
            return False
        progress.claims += 1
        progress.claimed += held.messages
        report("claimed", progress)
        try:
            outputs = program(read(spark, held, dsn))
            if not isinstance(outputs, Outputs):
                raise BulkError(f"the program returned {type(outputs).__name__}, not pgsb.bulk.Outputs")
            result = complete(held, outputs, dsn)
        except ClaimLost:
            raise
        except BulkError:
            _give_back(held)
            raise
        except (
            Exception
        ) as error:  # whatever the program raises: the messages go back, and the reason is said
            if not _is_alive(held):
                raise ClaimLost(f"claim {held.claim_id} ended with its connection") from error
            _give_back(held)
            raise BulkError(
                f"the program failed: {explain(error)}", "its messages are back in the queue"
            ) from error
        # What the program persisted: the next claim has other messages.
        spark.catalog.clearCache()
        progress.completed += result.deleted
        progress.written += result.written
        progress.replied += result.replied
        progress.failed += result.failed
        progress.seconds += time.monotonic() - began
        report("completed", progress)
        # A claim of which everything failed and went back would be taken again at once.
        return result.deleted > 0 or outputs.failures == "quarantine"


def _is_alive(held: Claim) -> bool:
    try:
        held.connection.execute("SELECT 1")
    except psycopg.Error:
        return False
    return True


def _give_back(held: Claim) -> None:
    try:
        abandon(held)
    except ClaimLost as error:
        # The session has ended, and with it the claim.
        logger.warning("%s", error)
