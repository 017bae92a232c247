"""python -m tests.differential: many random programs, compiled code against interpreter.

syntax.py       the T-SQL that the check speaks, as dataclasses
render.py       program → T-SQL text; tells every statement its line
reader.py       T-SQL text → program
rules.py        errors: number, severity, state, text, and what each one ends
interpreter.py  program → trace, from Microsoft's reference; flat.py, evaluation.py, rows.py are its parts
trace.py        what a program did
generator.py    random.Random → program; expressions.py, features.py are its parts
compiled.py     program → trace, through pgsb and PostgreSQL
engine.py       the conversations of the interpreter
check.py        one case: both sides, compared
minimise.py     a failing program → a smaller failing program
cases/          programs with the traces they must have; curated.py reads them
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer

from . import check, compiled, generator, interpreter
from .rules import Doubtful


@dataclass
class Answer:
    """How one case ended: agreed, doubtful, too long, or a report of the disagreement."""

    number: int
    kind: str
    report: str | None = None


# Seed, size, features, tries to make a failure small.
Settings = tuple[int, int, frozenset[str], int]


@contextmanager
def server(dsn: str | None, version: str) -> Iterator[str]:
    """The DSN of a server: the one given, or a private one that goes away at the end."""
    if dsn is not None:
        yield dsn
        return
    home = Path(tempfile.mkdtemp(prefix="pgsb-diff-"))
    if os.geteuid() == 0:
        home.chmod(0o711)
    private = PrivateServer(
        home,
        wanted=version,
        durable=False,
        settings={
            # Every case makes and drops routines: without vacuum the catalogs grow and slow the rest down.
            "autovacuum_naptime": "10s",
            "autovacuum_vacuum_scale_factor": "0",
            "autovacuum_vacuum_threshold": "2000",
            "shared_buffers": "64MB",
            "max_wal_size": "4GB",
            "checkpoint_timeout": "1h",
            "log_min_messages": "fatal",
        },
    )
    try:
        yield private.start()
    finally:
        private.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


def make_database(dsn: str, name: str) -> str:
    """A fresh database with the runtime; returns its DSN."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {name}".encode())
        made = psycopg.conninfo.make_conninfo(dsn, dbname=name)
    with psycopg.connect(made, autocommit=True) as connection:
        install(connection)
    return made


_runner: compiled.Runner | None = None
_settings: Settings | None = None
_dsn = ""


def _start(databases: multiprocessing.Queue[str], settings: Settings) -> None:
    global _dsn, _settings
    _dsn = databases.get()
    _settings = settings


def _case(number: int) -> Answer:
    global _runner
    # Not in _start: an exception there would start workers for ever.
    if _runner is None or _runner.connection.closed:
        _runner = compiled.Runner(_dsn)
    assert _settings is not None
    seed, size, features, attempts = _settings
    program = generator.numbered(seed, number, size, features)
    try:
        found = check.compare(program, _runner)
        if found is None:
            return Answer(number, "agreed")
        if attempts:
            found = check.smaller(found, _runner, attempts)
        return Answer(number, "DISAGREED", found.report())
    except Doubtful as doubt:
        return Answer(number, f"left out: {doubt}")
    except interpreter.TooLong:
        return Answer(number, "left out: may not end")


def numbers(wanted: str, done: set[int], count: int) -> list[int]:
    if wanted:
        first, _, last = wanted.partition("-")
        return list(range(int(first), int(last or first) + 1))
    return [number for number in range(count) if number not in done]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", type=int, default=10_000, help="how many (default 10000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another series of cases")
    parser.add_argument("--size", type=int, default=10, help="about how many statements a procedure has")
    parser.add_argument("--only", default="", metavar="N[-M]", help="just these cases of the series")
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        choices=sorted(generator.FEATURES),
        help="also use these; may be repeated",
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dsn", help="a server where databases may be created; default: a private one")
    parser.add_argument("--postgres", default="18", help="version of the private server (default 18)")
    parser.add_argument(
        "--shrink", type=int, default=400, metavar="TRIES", help="0: show failures as they are"
    )
    parser.add_argument("--stop-after", type=int, default=20, metavar="FAILURES")
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="keep the numbers of finished cases here and go on from there",
    )
    options = parser.parse_args()
    done: set[int] = set()
    if options.resume and options.resume.exists():
        done = {int(line) for line in options.resume.read_text().split()}
    wanted = numbers(options.only, done, options.cases)
    kinds: Counter[str] = Counter()
    failures = 0
    started = time.monotonic()
    context = multiprocessing.get_context("fork")
    databases: multiprocessing.Queue[str] = context.Queue()
    with server(options.dsn, options.postgres) as dsn:
        settings = (options.seed, options.size, frozenset(options.feature), options.shrink)
        for job in range(options.jobs):
            databases.put(make_database(dsn, f"differential_{os.getpid()}_{job}"))
        with context.Pool(options.jobs, _start, (databases, settings)) as pool:
            finished: list[int] = []
            for index, answer in enumerate(pool.imap_unordered(_case, wanted, chunksize=4), 1):
                kinds[answer.kind] += 1
                if answer.report is not None:
                    failures += 1
                    print(
                        f"\n=== case {answer.number} (--seed {options.seed} --only {answer.number})\n"
                        f"{answer.report}",
                        flush=True,
                    )
                    if failures >= options.stop_after:
                        print(f"stopped after {failures} disagreements")
                        break
                else:
                    finished.append(answer.number)
                if index % 200 == 0 or index == len(wanted):
                    speed = index / (time.monotonic() - started)
                    print(f"{index}/{len(wanted)} cases, {failures} disagreements, {speed:.1f}/s", flush=True)
                    if options.resume:
                        with options.resume.open("a") as file:
                            file.writelines(f"{number}\n" for number in finished)
                        finished = []
            pool.terminate()
        if options.dsn is not None:
            with psycopg.connect(dsn, autocommit=True) as connection:
                for job in range(options.jobs):
                    connection.execute(
                        f"DROP DATABASE IF EXISTS differential_{os.getpid()}_{job} WITH (FORCE)".encode()
                    )
    for kind, count in kinds.most_common():
        print(f"{count:7} {kind}")
    print(summary(kinds, options.postgres if options.dsn is None else "the given server"))
    return 1 if failures else 0


def summary(kinds: Counter[str], server_name: str) -> str:
    """The closing line: how many cases decided something, how many were left out, how many disagreed."""
    decided = kinds["agreed"] + kinds["DISAGREED"]
    left_out = kinds.total() - decided
    return (
        f"{decided} decided, {left_out} left out, {kinds['DISAGREED']} disagreements "
        f"(PostgreSQL {server_name})"
    )


if __name__ == "__main__":
    sys.exit(main())
