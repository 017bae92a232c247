"""python -m tests.mutation: scripts garbled by the thousand; each is refused with a place, or runs as T-SQL.

mutants.py    script → garbled scripts, by number
outcomes.py   what `check` and `run` may make of one

Counted: internal errors of `pgsb check` (--check N, there must be none), and of --run N mutants that pass
`check` those that end otherwise than by themselves or with an error of SQL Server's. Exit status 1 if any.
--show prints the mutant of a number.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator

from ..differential.__main__ import make_database, server
from . import mutants, outcomes

Found = tuple[int, bool, outcomes.Defect | None]


def _check(case: tuple[int, int]) -> Found:
    seed, number = case
    passed, defect = outcomes.check(mutants.mutant(seed, number))
    return number, passed, defect


def _run(case: tuple[int, int, str]) -> Found:
    seed, number, dsn = case
    text = mutants.mutant(seed, number, mildly=True)
    passed, defect = outcomes.check(text)
    if passed and defect is None:
        return number, True, outcomes.run(text, dsn)
    return number, False, defect


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", type=int, default=2000, metavar="N")
    parser.add_argument("--run", type=int, default=0, metavar="N")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="NUMBER")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--postgres", default="18")
    parser.add_argument("--show", type=int, metavar="NUMBER")
    parser.add_argument("--mild", action="store_true", help="with --show: a mutant of --run")
    chosen = parser.parse_args()
    if chosen.show is not None:
        print(mutants.mutant(chosen.seed, chosen.show, mildly=chosen.mild))
        return 0
    began = time.monotonic()
    tally: Counter[str] = Counter()
    signatures: dict[str, list[int]] = {}
    with multiprocessing.Pool(chosen.processes) as pool:
        cases = ((chosen.seed, chosen.first + number) for number in range(chosen.check))
        _take(pool.imap_unordered(_check, cases, 50), tally, signatures, "checked")
    if chosen.run:
        # BACKUP CERTIFICATE and its like write files where they run.
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
            server(None, chosen.postgres) as dsn,
        ):
            database = make_database(dsn, "mutation")
            numbers = _for_ever(chosen, database, tally)
            with multiprocessing.Pool(chosen.processes) as pool:
                _take(pool.imap_unordered(_run, numbers, 1), tally, signatures, "run")
    for signature, found in sorted(signatures.items(), key=lambda one: -len(one[1])):
        print(f"{len(found):6} {signature}   [{', '.join(map(str, found[:5]))}]")
    counts = ", ".join(f"{count} {name}" for name, count in sorted(tally.items()))
    print(f"seed {chosen.seed}: {counts}; {time.monotonic() - began:.0f} s")
    return 1 if signatures else 0


def _for_ever(
    chosen: argparse.Namespace, database: str, tally: Counter[str]
) -> Iterator[tuple[int, int, str]]:
    """Numbers until so many have passed `check`. The pool reads ahead: at most a few too many."""
    number = chosen.first
    while tally["run: passed"] < chosen.run:
        yield chosen.seed, number, database
        number += 1
        while number - chosen.first > tally["run"] + 64:
            time.sleep(0.01)


def _take(found: Iterable[Found], tally: Counter[str], signatures: dict[str, list[int]], what: str) -> None:
    for number, passed, defect in found:
        tally[what] += 1
        tally[f"{what}: passed"] += passed
        if defect is not None:
            tally[f"{what}: {defect.kind}"] += 1
            signatures.setdefault(defect.signature, []).append(number)
            if len(signatures[defect.signature]) == 1:
                print(f"{number}: {defect.kind}: {defect.what}"[:600], file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
