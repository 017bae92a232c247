"""Rotation of the message tables under everything that can cross it, at random: once and in order?

python tests/interleaving/rotation_stress.py [--postgres 18] [--seconds 60] [--seed 0] [--crash]: run by
hand, it starts a server of its own. Senders linger and roll back, readers too, by one message or many; two
sessions rotate at once, at tiny thresholds, and roll back now and then; one reads the message tables and
stays a while, as pg_dump does; one pins the horizon, one vacuums, one moves conversations from group to group
(with an odd seed none does, so that RECEIVE takes its fast path); one ends sessions, and with --crash kills
processes of the server. What was sent and received is written down in the transactions that do it. Printed,
one JSON object:

- wrong     conversations of which a message is missing, came twice or out of order: must be empty
- done      how often which step of rotation, and what else, was done
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer

DIALOGS = 24
SENDERS = 4
PADDING = b" " * 200
SETTINGS = {"shared_buffers": "64MB", "autovacuum": "off", "log_min_messages": "fatal"}

Sql = psycopg.Connection[tuple[Any, ...]]


@dataclass
class Session:
    """One of those who do something; ``memory`` is lost with the connection."""

    number: int
    chance: random.Random
    sql: Sql
    memory: dict[int, int] = field(default_factory=dict)


@dataclass
class Stress:
    """A database with ``handles``, and what was ``done``."""

    dsn: str
    seed: int
    is_crashing: bool
    handles: list[uuid.UUID] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)

    def prepare(self) -> None:
        """Two queues, and dialogs from one to the other."""
        with psycopg.connect(self.dsn, autocommit=True) as sql:
            install(sql)
            sql.execute("SELECT ssb.create_queue('dbo.near'), ssb.create_queue('dbo.far')")
            sql.execute("SELECT ssb.alter_queue('dbo.far', poison_message_handling => false)")
            sql.execute("SELECT ssb.create_service('near', 'dbo.near')")
            sql.execute("SELECT ssb.create_service('far', 'dbo.far', '{DEFAULT}')")
            sql.execute("CREATE TABLE sent (dialog integer, message integer)")
            sql.execute(
                "CREATE TABLE received (number bigserial, dialog integer, message integer, handle uuid)"
            )
            for _ in range(DIALOGS):
                row = sql.execute("SELECT ssb.begin_dialog('near', 'far')").fetchone()
                assert row is not None
                self.handles.append(row[0])

    def run(self, seconds: float) -> dict[int, str]:
        """What is wrong with which dialogs."""
        sending_is_over, reading_is_over = threading.Event(), threading.Event()
        workers = {
            threading.Thread(target=self._work, args=(work, number, until)): until
            for work, count, until in (
                (self._send, SENDERS, sending_is_over),
                (self._receive, 4, reading_is_over),
                (self._rotate, 2, reading_is_over),
                (self._read_tables, 1, sending_is_over),
                (self._pin, 1, reading_is_over),
                (self._vacuum, 1, reading_is_over),
                (self._regroup, 1, sending_is_over),
                (self._kill, 1, sending_is_over),
            )
            for number in range(count)
        }
        for worker in workers:
            worker.start()
        time.sleep(seconds)
        sending_is_over.set()
        for worker, until in workers.items():
            if until is sending_is_over:
                worker.join()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._left():
            time.sleep(0.2)
        reading_is_over.set()
        for worker in workers:
            worker.join()
        return self._wrong()

    def _work(self, work: Callable[[Session], None], number: int, until: threading.Event) -> None:
        chance = random.Random(f"{self.seed} {work.__name__} {number}")
        session: Session | None = None
        while not until.is_set():
            try:
                if session is None:
                    session = Session(number, chance, psycopg.connect(self.dsn))
                work(session)
            except psycopg.OperationalError:
                # Ended by _kill, or the server recovers.
                if session is None:
                    time.sleep(0.05)
                elif session.sql.closed:
                    session = None
                else:
                    session.sql.rollback()
        if session is not None:
            session.sql.close()

    def _send(self, own: Session) -> None:
        dialog = own.chance.randrange(own.number, DIALOGS, SENDERS)
        if dialog not in own.memory:
            row = own.sql.execute(
                "SELECT coalesce(max(message) + 1, 0) FROM sent WHERE dialog = %s", (dialog,)
            ).fetchone()
            own.sql.rollback()
            assert row is not None
            own.memory[dialog] = row[0]
        first = own.memory[dialog]
        count = (
            own.chance.choice((20, 1500)) if own.chance.random() < 0.003 else own.chance.choice((1, 1, 2, 5))
        )
        for message in range(first, first + count):
            body = f"{dialog} {message}".encode() + PADDING
            own.sql.execute("SELECT ssb.send(%s, body => %s::bytea)", (self.handles[dialog], body))
        own.sql.execute(
            "INSERT INTO sent SELECT %s, n FROM generate_series(%s::integer, %s::integer) AS n",
            (dialog, first, first + count - 1),
        )
        self._linger(own, 0.02, 0.3)
        if own.chance.random() < 0.15:
            own.sql.rollback()
        else:
            own.sql.commit()
            own.memory[dialog] = first + count
        time.sleep(own.chance.uniform(0, 0.02))

    def _receive(self, own: Session) -> None:
        top = own.chance.choice((1, 1, 1, 3, 50, None))
        rows = own.sql.execute(
            "SELECT conversation_handle, message_body FROM ssb.receive('dbo.far', %s)", (top,)
        ).fetchall()
        for handle, body in rows:
            dialog, message = map(int, bytes(body).split())
            # Under the group's lock: the numbers are in the order of receipt.
            own.sql.execute(
                "INSERT INTO received (dialog, message, handle) VALUES (%s, %s, %s)",
                (dialog, message, handle),
            )
        self._linger(own, 0.05, 0.1)
        if own.chance.random() < 0.15:
            own.sql.rollback()
        else:
            own.sql.commit()
        if not rows:
            time.sleep(own.chance.uniform(0, 0.02))

    def _rotate(self, own: Session) -> None:
        threshold = own.chance.choice((20_000, 60_000, 200_000))
        row = own.sql.execute("SELECT ssb.rotate_messages(%s)", (threshold,)).fetchone()
        assert row is not None
        self._linger(own, 0.05, 0.05)
        if own.chance.random() < 0.05:
            own.sql.rollback()
        else:
            own.sql.commit()
            self.done[row[0]] += 1
        time.sleep(own.chance.uniform(0, 0.02))

    def _read_tables(self, own: Session) -> None:
        own.sql.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        own.sql.execute("SELECT count(*) FROM ssb.message_stored")
        time.sleep(own.chance.uniform(0, 0.5))
        own.sql.rollback()
        time.sleep(own.chance.uniform(2, 6))

    def _pin(self, own: Session) -> None:
        own.sql.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        own.sql.execute("SELECT count(*) FROM pg_class")
        time.sleep(own.chance.uniform(1, 5))
        own.sql.rollback()

    def _vacuum(self, own: Session) -> None:
        own.sql.autocommit = True
        how, table = own.chance.choice(("VACUUM", "VACUUM ANALYZE", "ANALYZE")), own.chance.choice("01")
        own.sql.execute(f"{how} ssb.message_{table}".encode())
        time.sleep(own.chance.uniform(0, 1))

    def _regroup(self, own: Session) -> None:
        time.sleep(own.chance.uniform(0, 0.4))
        handles = own.sql.execute("SELECT DISTINCT handle FROM received").fetchall()
        if len(handles) > 3 and self.seed % 2 == 0:
            (one,), (other,) = own.chance.sample(handles, 2)
            own.sql.execute("SET LOCAL lock_timeout = '300ms'")
            own.sql.execute(
                "SELECT ssb.move_conversation(%s, conversation_group_id)"
                " FROM ssb.conversation_endpoint WHERE conversation_handle = %s",
                (one, other),
            )
            self.done["regrouped"] += 1
        own.sql.commit()

    def _kill(self, own: Session) -> None:
        time.sleep(own.chance.uniform(0, 0.6))
        rows = own.sql.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()
        own.sql.rollback()
        (pid,) = own.chance.choice(rows)
        if self.is_crashing and own.chance.random() < 0.06:
            os.kill(pid, signal.SIGKILL)
            self.done["crashed"] += 1
            time.sleep(2)
        else:
            own.sql.execute("SELECT pg_terminate_backend(%s)", (pid,))
            own.sql.rollback()
            self.done["ended"] += 1

    @staticmethod
    def _linger(own: Session, often: float, longest: float) -> None:
        if own.chance.random() < often:
            time.sleep(own.chance.uniform(0, longest))

    def _left(self) -> bool:
        try:
            with psycopg.connect(self.dsn, autocommit=True) as sql:
                return sql.execute("SELECT FROM dbo.far LIMIT 1").rowcount > 0
        except psycopg.OperationalError:
            return True

    def _wrong(self) -> dict[int, str]:
        found: dict[int, str] = {}
        with psycopg.connect(self.dsn, autocommit=True) as sql:
            for dialog in range(DIALOGS):
                sent = sql.execute("SELECT message FROM sent WHERE dialog = %s ORDER BY message", (dialog,))
                received = sql.execute(
                    "SELECT message FROM received WHERE dialog = %s ORDER BY number", (dialog,)
                )
                expected = [message for (message,) in sent]
                came = [message for (message,) in received]
                self.done["messages"] += len(came)
                if came != expected:
                    twice = [message for message, count in Counter(came).items() if count > 1]
                    missing = sorted(set(expected) - set(came))
                    found[dialog] = f"missing {missing[:5]}, twice {twice[:5]}, else out of order"
        return found


def main() -> int:
    """1 when anything was wrong."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--postgres", default="18")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--crash", action="store_true")
    chosen = options.parse_args()
    home = Path(tempfile.mkdtemp(prefix="pgsb-stress-"))
    home.chmod(0o711)
    server = PrivateServer(home, wanted=chosen.postgres, settings=SETTINGS)
    try:
        stress = Stress(server.start(), chosen.seed, chosen.crash)
        stress.prepare()
        wrong = stress.run(chosen.seconds)
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)
    print(json.dumps({"postgres": chosen.postgres, "wrong": wrong, "done": stress.done}))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
