"""Readers that fail among good ones, at random: is a queue ever stopped without five rollbacks in a row?

python tests/interleaving/poison_stress.py [--postgres 18] [--seconds 60] [--seed 0]: run by hand, it
starts a server of its own. Each round has a queue of its own, 2 to 10 readers of which some always fail,
or each at times. A reader ends its transaction and writes that down under one lock, so
the order of the ends is known. Printed, one JSON object for each kind of round:

- stopped_early     rounds stopped without five rollbacks in a row before: must be 0
- never_stopped     rounds that had five in a row and went on to their end
- rollbacks_more    how many transactions ended between the fifth and the refusal [min, median, max]
"""

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer

LIMIT = 5
MESSAGES = 300


@dataclass
class Round:
    """One queue and its readers. ``bad`` of them always fail; the others fail with ``chance``."""

    dsn: str
    queue: str
    readers: int
    bad: int
    chance: float
    in_savepoint: bool
    seed: int
    ends: list[str] = field(default_factory=list)
    stopped_at: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Until the queue is stopped or empty."""
        threads = [threading.Thread(target=self._read, args=(number,)) for number in range(self.readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _read(self, number: int) -> None:
        chance = random.Random(self.seed * 100 + number)
        with psycopg.connect(self.dsn) as connection:
            for _ in range(2 * MESSAGES):
                try:
                    if self.in_savepoint:
                        connection.execute("SAVEPOINT a")
                    found = connection.execute("SELECT FROM ssb.receive(%s, 1)", [self.queue]).rowcount
                except psycopg.Error as error:
                    if error.sqlstate != "S9617":
                        raise
                    with self.lock:
                        if self.stopped_at is None:
                            self.stopped_at = len(self.ends)
                    found = 0
                if not found:
                    connection.rollback()
                    return
                time.sleep(chance.uniform(0, 0.004))
                fails = number < self.bad or chance.random() < self.chance
                with self.lock:
                    if fails:
                        connection.rollback()
                    else:
                        connection.commit()
                    self.ends.append("r" if fails else "c")


def make_queue(sql: "psycopg.Connection[tuple[object, ...]]", number: int, *, used: bool) -> str:
    """A queue with messages, each of a dialog of its own; from some something was received before."""
    near, far = f"//near/{number}", f"//far/{number}"
    sql.execute("SELECT ssb.create_queue(%s), ssb.create_queue(%s)", [f"dbo.n{number}", f"dbo.f{number}"])
    sql.execute("SELECT ssb.create_service(%s, %s)", [near, f"dbo.n{number}"])
    sql.execute("SELECT ssb.create_service(%s, %s, '{DEFAULT}')", [far, f"dbo.f{number}"])
    send = "SELECT ssb.send(ssb.begin_dialog(%s, %s), 'DEFAULT', n::text) FROM generate_series(1, %s) AS n"
    if used:
        sql.execute(send, [near, far, 1])
        sql.execute("SELECT FROM ssb.receive(%s)", [f"dbo.f{number}"])
    sql.execute(send, [near, far, MESSAGES])
    return f"dbo.f{number}"


def main() -> int:
    """Rounds until the time is over; 1 when a queue was stopped too early."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--postgres", default="18")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    home = Path(tempfile.mkdtemp(prefix="pgsb-stress-"))
    home.chmod(0o711)
    server = PrivateServer(home, wanted=chosen.postgres)
    results: dict[str, list[tuple[bool, bool, int | None]]] = defaultdict(list)
    choice = random.Random(chosen.seed)
    try:
        dsn = server.start()
        with psycopg.connect(dsn, autocommit=True) as sql:
            install(sql)
            until = time.monotonic() + chosen.seconds
            number = 0
            while time.monotonic() < until:
                number += 1
                readers = choice.randint(2, 10)
                bad = choice.choice([0, choice.randint(1, readers), readers])
                chance = choice.choice([0.0, 0.3, 0.5]) if bad else choice.uniform(0.2, 0.7)
                queue = make_queue(sql, number, used=choice.random() < 0.7)
                seed = chosen.seed + number
                one = Round(dsn, queue, readers, bad, chance, choice.random() < 0.4, seed)
                one.run()
                ends = "".join(one.ends)
                fifth = ends.find("r" * LIMIT) + LIMIT if "r" * LIMIT in ends else None
                stopped = one.stopped_at
                early = stopped is not None and "r" * LIMIT not in ends[:stopped]
                if early:
                    print(json.dumps({"early": vars(one)["seed"], "ends": ends[:stopped]}), flush=True)
                late = None if stopped is None or fifth is None or early else stopped - fifth
                kind = "all fail" if bad == readers else "some always fail" if bad else "each at times"
                results[kind].append((early, stopped is None and fifth is not None, late))
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)
    for kind, rounds in sorted(results.items()):
        late_ones = [late for _, _, late in rounds if late is not None]
        spread = [min(late_ones), statistics.median(late_ones), max(late_ones)] if late_ones else []
        print(
            json.dumps(
                {
                    "readers": kind,
                    "rounds": len(rounds),
                    "stopped": len(late_ones) + sum(early for early, _, _ in rounds),
                    "stopped_early": sum(early for early, _, _ in rounds),
                    "never_stopped": sum(missed for _, missed, _ in rounds),
                    "rollbacks_more": spread,
                }
            )
        )
    return int(any(early for rounds in results.values() for early, _, _ in rounds))


if __name__ == "__main__":
    sys.exit(main())
