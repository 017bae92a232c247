"""What may become of a script: problems with places, or a run whose errors are those of SQL Server."""

from __future__ import annotations

import re
import time
import traceback
from dataclasses import dataclass

import psycopg

from pgsb.cli.run import Runner, compile_settings
from pgsb.compiler.pipeline import CompileOptions, check_scripts
from pgsb.grammar.source import Source
from pgsb.server.connect import Target, connect
from pgsb.server.results import ErrorEvent, Event

SLOW_SECONDS = 10.0
"""Processor time for a mutant, of some 200 tokens a batch."""


@dataclass(frozen=True)
class Defect:
    """What went wrong, and the words by which others of its kind are known."""

    kind: str
    what: str

    @property
    def signature(self) -> str:
        """Without names and numbers."""
        return f"{self.kind}: " + re.sub(r'"[^"]*"|\'[^\']*\'|\d+', "…", self.what.splitlines()[-1])[:160]


def check(text: str) -> tuple[bool, Defect | None]:
    """Whether `pgsb check` finds nothing wrong, and the defect: an exception, a place outside, too slow."""
    began = time.process_time()
    try:
        problems = check_scripts([Source("mutant.sql", text)], CompileOptions())
        problems.report()
        for problem in problems:
            if not 0 <= problem.span.start <= problem.span.end <= len(problem.span.source.text):
                return False, Defect("place", f"{problem}")
    except RecursionError:
        return False, Defect("recursion", "RecursionError")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rsplit('/', 1)[-1]}:{where.name}"
        return False, Defect("internal", f"{type(error).__name__} in {place}: {error}")
    if time.process_time() - began > SLOW_SECONDS:
        return False, Defect("slow", "took too long")
    return not any(problem.severity == "error" for problem in problems), None


class _Errors:
    """A renderer that keeps errors."""

    def __init__(self) -> None:
        self.found: list[ErrorEvent] = []

    def write(self, event: Event) -> None:
        if isinstance(event, ErrorEvent):
            self.found.append(event)

    def close(self) -> None:
        pass


def run(text: str, dsn: str) -> Defect | None:
    """Run what passed `check`; a statement has five seconds. None: it ended as it may on SQL Server."""
    errors = _Errors()
    try:
        connection = connect(Target(dsn, False, "the test"))
        try:
            connection.execute("SET statement_timeout = '5s'; SET lock_timeout = '2s'")
            Runner(connection, compile_settings(connection, None, "cs"), errors).run(
                Source("mutant.sql", text)
            )
        finally:
            connection.close()
    except psycopg.OperationalError as error:
        # KILL and SHUTDOWN are among what scripts may do.
        return (
            None if error.sqlstate in ("57P01", None) else Defect("run", f"{type(error).__name__}: {error}")
        )
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rsplit('/', 1)[-1]}:{where.name}"
        return Defect("run", f"{type(error).__name__} in {place}: {error}")
    for error in errors.found:
        if error.sqlstate in ("57014", "55P03"):
            continue
        if error.report is None and _is_postgres(error, text):
            return Defect("server", f"{error.sqlstate} {error.number}: {error.message}")
    return None


def _is_postgres(error: ErrorEvent, text: str) -> bool:
    """PostgreSQL's own words: SQL Server would have said something else, or nothing."""
    # 50000 is what is left without a number. RAISERROR and THROW: the text is the script's.
    return error.number == 50000 and not re.search(r"(?i)raiserror|throw", text)
