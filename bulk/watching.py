"""How far a claim's tasks are, and whether they are still wanted; and the claim's name in Spark's UI."""

import select
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from .connections import Connection
from .progress import Progress, Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY = 0.5  # seconds
_DESCRIPTION = "spark.job.description"
_PROPERTIES = ("spark.jobGroup.id", _DESCRIPTION, "spark.job.interruptOnCancel")
"""What setJobGroup sets."""
_HUNG_UP: int = getattr(select, "POLLRDHUP", 0)
"""Beside what a poll always tells: the other end has said that it is through. Linux alone must be asked."""
_steps: dict[int, str] = {}
"""By thread: what its jobs are for at present."""


@contextmanager
def step(spark: "SparkSession", name: str) -> Iterator[None]:
    """Jobs that this thread starts are for ``name``: in the bar, and behind what Spark's UI calls them."""
    context = spark.sparkContext
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, f"{before}: {name}" if before else name)
    thread = threading.get_ident()
    around = _steps.get(thread)
    _steps[thread] = name
    try:
        yield
    finally:
        if around is None:
            del _steps[thread]
        else:
            _steps[thread] = around
        context.setLocalProperty(_DESCRIPTION, before)


@contextmanager
def watch_tasks(
    spark: "SparkSession", description: str, progress: Progress, report: Report, session: Connection
) -> Iterator[None]:
    """Jobs that this thread starts are called ``description``; ``report("tasks", …)`` while they run.

    They are cancelled when the claim's ``session`` has ended: what they compute could not count any more.
    """
    context = spark.sparkContext
    own = {name: context.getLocalProperty(name) for name in _PROPERTIES}
    # Claims of two databases may have one number.
    group = f"pgsb {uuid.uuid4()}"
    context.setJobGroup(group, description)
    ended = threading.Event()
    owner = threading.get_ident()
    watcher = threading.Thread(
        target=_watch, args=(spark, group, owner, progress, report, session, ended), daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        progress.stage, progress.tasks, progress.all_tasks = "", 0, 0
        for name, value in own.items():
            context.setLocalProperty(name, value)


def _watch(
    spark: "SparkSession",
    group: str,
    owner: int,
    progress: Progress,
    report: Report,
    session: Connection,
    ended: threading.Event,
) -> None:
    from py4j.protocol import Py4JError

    tracker = spark.sparkContext.statusTracker()
    before = ("", 0, 0)
    # What each job was for when it was first seen: Spark tells of its tasks when the step has ended, too.
    steps: dict[int, str | None] = {}
    while not ended.wait(_EVERY):
        done = total = 0
        stage = ""
        try:
            if _has_ended(session):
                # Whoever runs them finds that out, and says it. Each time: there may be others by now.
                spark.sparkContext.cancelJobGroup(group)
            for job in tracker.getJobIdsForGroup(group):
                own = steps.setdefault(job, _steps.get(owner))
                info = tracker.getJobInfo(job)
                for number in info.stageIds if info is not None else ():
                    one = tracker.getStageInfo(number)
                    if one is None:
                        continue
                    # Of a job that is through, stages were skipped whose results were there.
                    is_running = info.status == "RUNNING"
                    done += one.numCompletedTasks if is_running else one.numTasks
                    total += one.numTasks
                    if one.numActiveTasks:
                        stage = own or one.name.split(" at ")[0]
        except (Py4JError, OSError):
            # The JVM is gone; who waits for its jobs hears of it.
            return
        # Of jobs that the program starts itself: what Spark calls them, such as count. Between two: the last.
        stage = _steps.get(owner) or stage or before[0]
        if (stage, done, total) != before:
            before = (stage, done, total)
            progress.stage, progress.tasks, progress.all_tasks = stage, done, total
            report("tasks", progress)


def _has_ended(session: Connection) -> bool:
    """Whether the server is gone, or the way to it: by the socket, since other threads use the session."""
    try:
        socket = session.fileno()
    except psycopg.OperationalError:
        return True
    look = select.poll()
    look.register(socket, _HUNG_UP)
    return bool(look.poll(0))
