"""The loop of a bulk job: claim, read, run the program, complete; until there is no more, or for ever."""

import time
from typing import TYPE_CHECKING

import psycopg

from .cached import own_cache
from .claim import Claim, abandon, claim, require_readable
from .complete import complete
from .connections import Server, connect, reached
from .options import JobOptions
from .problems import BulkError, ClaimLost, explain
from .program import Context, Program, run_program
from .progress import Progress, logger
from .read import read
from .session import require_executors, spark_session
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
    require_readable(dsn, queue)
    with connect(dsn, "pgsb bulk claim") as connection:
        server = reached(connection)
    assert server.jdbc  # refuses what Java cannot reach, before there is a claim
    spark = spark_session(f"pgsb {queue}", options)
    require_executors(spark, program, options.modules)
    count = options.partitions or max(2, spark.sparkContext.defaultParallelism)
    progress = Progress()
    lost = 0
    while not options.should_stop():
        try:
            done = _one_claim(spark, dsn, server, queue, program, count, options, progress)
            lost = 0
        except ClaimLost as error:
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
    return progress


def _one_claim(
    spark: "SparkSession",
    dsn: str,
    server: Server,
    queue: str,
    program: Program,
    partitions: int,
    options: JobOptions,
    progress: Progress,
) -> bool:
    began = time.monotonic()
    with connect(dsn, "pgsb bulk claim") as connection:
        held = claim(
            connection,
            queue,
            max_messages=options.max_messages,
            max_bytes=options.max_bytes,
            partitions=partitions,
        )
        if held is None:
            return False
        progress.claims += 1
        progress.claimed += held.messages
        options.report("claimed", progress)
        messages = read(spark, held, ordered=options.ordered)
        context = Context(spark, server, queue, held.claim_id)
        described = f"{queue}, claim {held.claim_id}"
        with own_cache(messages), watch_tasks(spark, described, progress, options.report):
            try:
                outputs = run_program(program, messages, context)
                result = complete(held, outputs)
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
        progress.completed += result.deleted
        progress.written += result.written
        progress.replied += result.replied
        progress.failed += result.failed
        progress.seconds += time.monotonic() - began
        options.report("completed", progress)
        # A claim of which everything failed and went back would be taken again at once.
        return result.deleted > 0 or outputs.failures == "quarantine"


def _is_alive(held: Claim) -> bool:
    try:
        held.connection.execute("SELECT 1")
    except psycopg.Error:
        return False
    return True


def _give_back(held: Claim) -> None:
    """The messages go back, and that counts as what it is: a reader that has rolled back."""
    try:
        first = held.connection.execute(
            "SELECT conversation_handle FROM ssb_internal.claimed_message WHERE claim_id = %s"
            " ORDER BY priority DESC, queuing_order LIMIT 1",
            (held.claim_id,),
        ).fetchone()
        abandon(held)
        if first is not None:
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
