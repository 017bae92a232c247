"""Who attacks: each actor is a thread that does one thing at random moments until it is told to stop.

All choices come from random generators by seed, actor and number; when things meet is up to the machine.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from pgsb.server.binaries import find_binaries

from .field import DIALOGS, WAYS, Field, Sql, check_dump

END = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"
ERROR = "http://schemas.microsoft.com/SQL/ServiceBroker/Error"
SENDERS = 3
READERS = 3


@dataclass
class Session:
    """An actor's connection; ``memory`` is lost with it."""

    number: int
    chance: random.Random
    sql: Sql
    memory: dict[tuple[str, int], int] = field(default_factory=dict)

    def linger(self, often: float, longest: float) -> None:
        """Now and then stay a while inside the transaction."""
        if self.chance.random() < often:
            time.sleep(self.chance.uniform(0, longest))

    def isolate(self, often: float) -> None:
        """Begin the transaction at REPEATABLE READ or SERIALIZABLE in some of the cases."""
        if self.chance.random() < often:
            level = self.chance.choice(("REPEATABLE READ", "SERIALIZABLE"))
            self.sql.execute(f"SET TRANSACTION ISOLATION LEVEL {level}".encode())

    def end(self, rollbacks: float) -> bool:
        """COMMIT, or ROLLBACK in some of the cases; whether it was committed."""
        if self.chance.random() < rollbacks:
            self.sql.rollback()
            return False
        self.sql.commit()
        return True


Act = Callable[[Field, Session], None]


def send(ground: Field, own: Session) -> None:
    """A few messages on a dialog that is this sender's, and a line for each in ``sent``."""
    own.isolate(0.1)
    way = own.chance.choice(WAYS)
    dialog = own.chance.randrange(own.number, DIALOGS, SENDERS)
    if (way, dialog) not in own.memory:
        # A COMMIT whose answer was lost may have been one.
        row = own.sql.execute(
            "SELECT coalesce(max(message) + 1, 0) FROM dbo.sent WHERE way = %s AND dialog = %s", (way, dialog)
        ).fetchone()
        assert row is not None
        own.memory[way, dialog] = row[0]
    first = own.memory[way, dialog]
    count = own.chance.choice((1, 1, 1, 2, 5, 30))
    bodies = [f"{dialog} {message} {'x' * 100}".encode() for message in range(first, first + count)]
    handle = ground.handles[way, dialog]
    for body in bodies:
        own.sql.execute("SELECT ssb.send(%s, '//Note', %s::bytea)", (handle, body))
    own.sql.execute(
        "INSERT INTO dbo.sent SELECT %s, %s, n FROM generate_series(%s::integer, %s::integer) AS n",
        (way, dialog, first, first + count - 1),
    )
    own.linger(0.03, 0.4)
    if own.end(0.15):
        own.memory[way, dialog] = first + count
    time.sleep(own.chance.uniform(0, 0.08))


def receive(ground: Field, own: Session, way: str = "near") -> None:
    """RECEIVE one, some or all from a queue that no program reads."""
    top = own.chance.choice((1, 1, 1, 3, 50, None))
    own.isolate(0.2)
    rows = own.sql.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive(%s, %s)", (f"dbo.{way}_queue", top)
    ).fetchall()
    for (body,) in rows:
        dialog, message = map(int, body.split()[:2])
        own.sql.execute(
            "INSERT INTO dbo.received (way, dialog, message) VALUES (%s, %s, %s)", (way, dialog, message)
        )
    own.linger(0.05, 0.2)
    own.end(0.15)
    if not rows:
        time.sleep(own.chance.uniform(0, 0.05))


def receive_answers(ground: Field, own: Session) -> None:
    """What comes back on sealed dialogs."""
    receive(ground, own, "answer")


def renew(ground: Field, own: Session) -> None:
    """A new certificate for one side of the sealed dialogs; whoever dies of the kills begins again."""
    name = own.chance.choice(("near", "far"))
    time.sleep(own.chance.uniform(1, 4))
    while True:
        try:
            ground.renew(name)
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            ground.done["certificates renewed"] += 1
            return


def _roll_back(session: Session | None) -> None:
    """The server may crash just now; whoever dies of that finishes nobody's dialogs."""
    if session is not None and not session.sql.closed:
        with contextlib.suppress(psycopg.OperationalError):
            session.sql.rollback()


def converse(ground: Field, own: Session) -> None:
    """A short dialog: some messages, then END, with an error or without."""
    own.isolate(0.1)
    row = own.sql.execute("SELECT ssb.begin_dialog('//From', '//short', '//Notes')").fetchone()
    assert row is not None
    count, by_error = own.chance.randint(1, 4), own.chance.random() < 0.4
    own.sql.execute(
        "INSERT INTO dbo.short (handle, conversation, messages, by_error)"
        " SELECT conversation_handle, conversation_id, %s, %s FROM sys.conversation_endpoints"
        " WHERE conversation_handle = %s",
        (count, by_error, row[0]),
    )
    for number in range(count):
        own.sql.execute("SELECT ssb.send(%s, '//Note', %s::text)", (row[0], str(number)))
    own.linger(0.1, 0.2)
    if own.chance.random() < 0.5:
        # In another transaction: the reader may be at it.
        own.sql.commit()
        own.linger(0.5, 0.1)
    own.sql.execute(_END_SHORT, (row[0],))
    own.end(0.1)
    time.sleep(own.chance.uniform(0, 0.3))


_END_SHORT = (
    "SELECT CASE WHEN s.by_error THEN ssb.end_conversation(s.handle, 42, 'no more')"
    " ELSE ssb.end_conversation(s.handle) END FROM dbo.short AS s WHERE s.handle = %s"
)


def finish(ground: Field, own: Session) -> None:
    """Dialogs whose sender was killed, or rolled back, between the messages and END are ended by another."""
    time.sleep(own.chance.uniform(0.2, 1.0))
    own.sql.execute("SET LOCAL lock_timeout = '500ms'")
    rows = own.sql.execute(
        "SELECT s.handle FROM dbo.short AS s JOIN sys.conversation_endpoints AS e"
        " ON e.conversation_handle = s.handle WHERE e.state = 'CO' LIMIT 5"
    ).fetchall()
    for one in rows:
        own.sql.execute(_END_SHORT, one)
    own.sql.commit()


def listen(ground: Field, own: Session) -> None:
    """The target of short dialogs notes what it hears, and ends its side."""
    top = own.chance.choice((1, 1, 2, None))
    own.isolate(0.1)
    rows = own.sql.execute(
        "SELECT conversation_handle, message_type_name, convert_from(message_body, 'UTF8')"
        " FROM ssb.receive('dbo.short_queue', %s)",
        (top,),
    ).fetchall()
    if any(kind == ERROR for _, kind, _ in rows):
        # The messages that the Error overtook are still to be had.
        rows += own.sql.execute(
            "SELECT conversation_handle, message_type_name, convert_from(message_body, 'UTF8')"
            " FROM ssb.receive('dbo.short_queue', NULL, %s)",
            (rows[0][0],),
        ).fetchall()
    for handle, kind, body in rows:
        own.sql.execute(
            "UPDATE dbo.short AS s SET seen = coalesce(s.seen, '') || %s FROM sys.conversation_endpoints AS e"
            " WHERE e.conversation_handle = %s AND s.conversation = e.conversation_id",
            ({END: " end", ERROR: " error"}.get(kind, f" {body}"), handle),
        )
    for handle in {handle for handle, kind, _ in rows if kind in (END, ERROR)}:
        own.sql.execute("SELECT ssb.end_conversation(%s)", (handle,))
    own.linger(0.05, 0.1)
    own.end(0.15)
    if not rows:
        time.sleep(own.chance.uniform(0, 0.05))


def move(ground: Field, own: Session) -> None:
    """Conversations of a queue that is being read join another's group, or one of their own."""
    own.sql.execute("SET LOCAL lock_timeout = '300ms'")
    rows = own.sql.execute(
        "SELECT e.conversation_handle, e.conversation_group_id FROM sys.conversation_endpoints AS e"
        " JOIN sys.services AS s ON s.service_id = e.service_id"
        " WHERE s.name IN ('//near', '//answer') AND e.state = 'CO' ORDER BY s.name, random() LIMIT 2"
    ).fetchall()
    if len(rows) == 2:
        (handle, _), (_, group) = rows
        own.sql.execute("SELECT ssb.move_conversation(%s, %s)", (handle, group))
        own.linger(0.1, 0.1)
        if own.end(0.2):
            ground.done["conversations moved"] += 1
    else:
        own.sql.rollback()
    time.sleep(own.chance.uniform(0, 0.3))


def hear(ground: Field, own: Session) -> None:
    """The initiators' queue: nobody answers, so nothing but an end may come."""
    rows = own.sql.execute(
        "SELECT conversation_handle, message_type_name, convert_from(message_body, 'UTF8')"
        " FROM ssb.receive('dbo.from_queue')"
    ).fetchall()
    for handle, kind, body in rows:
        ground.wrong.append(f"the initiator {handle} hears {kind} {body}")
    own.sql.commit()
    time.sleep(0.3)


def redefine(ground: Field, own: Session) -> None:
    """Priorities of dialogs come and go, and queues keep what was sent and received for a while."""
    service = own.chance.choice(("//near", "//program", "//short", "//From"))
    queue = own.chance.choice(("near", "program", "short", "from"))
    own.sql.execute("SET LOCAL lock_timeout = '300ms'")
    known = own.sql.execute("SELECT FROM sys.conversation_priorities WHERE name = %s", (service,)).fetchone()
    if known is None:
        own.sql.execute(
            "SELECT ssb.create_broker_priority(%s, local_service => %s, priority_level => %s)",
            (service, service, own.chance.randint(1, 10)),
        )
    else:
        own.sql.execute("SELECT ssb.drop_broker_priority(%s)", (service,))
    if own.chance.random() < 0.5:
        own.sql.execute(
            "SELECT ssb.alter_queue(%s, retention => %s)", (f"dbo.{queue}_queue", own.chance.random() < 0.5)
        )
    own.linger(0.2, 0.1)
    if own.end(0.2):
        ground.done["priorities and retention changed"] += 1
    time.sleep(own.chance.uniform(0, 0.3))


def rotate(ground: Field, own: Session) -> None:
    """A step of the rotation of the message tables, at tiny thresholds."""
    own.sql.execute("SELECT ssb.rotate_messages(%s)", (own.chance.choice((20_000, 60_000, 200_000)),))
    own.linger(0.05, 0.05)
    if own.end(0.05):
        ground.done["rotation steps"] += 1
    time.sleep(own.chance.uniform(0, 0.1))


def pin(ground: Field, own: Session) -> None:
    """An old snapshot, which VACUUM must respect."""
    own.sql.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    own.sql.execute("SELECT count(*) FROM ssb.message_stored")
    time.sleep(own.chance.uniform(1, 5))
    own.sql.rollback()


def watch(ground: Field, own: Session) -> None:
    """Never do two daemons lead, and every reader that is registered belongs to the one that does."""
    row = own.sql.execute(
        "SELECT count(*) FROM ssb_internal.holders_of(ssb_internal.leader_lock())"
    ).fetchone()
    own.sql.rollback()
    if row is not None and row[0] > 1:
        ground.wrong.append(f"{row[0]} daemons lead")
    ground.done["looks at the leader"] += 1
    time.sleep(0.1)


def kill_sessions(ground: Field, own: Session) -> None:
    """End any session of either instance."""
    rows = own.sql.execute(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    ).fetchall()
    if rows:
        own.sql.execute("SELECT pg_terminate_backend(%s)", own.chance.choice(rows))
        ground.done["sessions ended"] += 1
    own.sql.commit()
    time.sleep(own.chance.uniform(0, 0.8))


def kill_daemons(ground: Field, own: Session) -> None:
    """kill -9 of a daemon, or SIGSTOP for longer than a leader may be silent."""
    time.sleep(own.chance.uniform(1, 6))
    name = own.chance.choice(("near", "far"))
    if own.chance.random() < 0.5:
        ground.replace_daemon(name)
        ground.done["daemons killed"] += 1
    else:
        victim = own.chance.choice(ground.daemons[name])
        victim.send_signal(signal.SIGSTOP)
        time.sleep(own.chance.uniform(1, 12))
        victim.send_signal(signal.SIGCONT)
        ground.done["daemons stopped and continued"] += 1


def restart(ground: Field, own: Session) -> None:
    """The server crashes and recovers."""
    own.sql.close()
    time.sleep(own.chance.uniform(20, 60))
    ground.crash()
    ground.done["crashes of the server"] += 1


def crash_backend(ground: Field, own: Session) -> None:
    """kill -9 of one of the server's processes: all its sessions end, it recovers."""
    time.sleep(own.chance.uniform(15, 45))
    rows = own.sql.execute(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    ).fetchall()
    own.sql.rollback()
    if rows:
        os.kill(own.chance.choice(rows)[0], signal.SIGKILL)
        ground.done["backends killed"] += 1


def dump(ground: Field, own: Session) -> None:
    """pg_dump while all goes on, restored: the history must fit what waits there."""
    time.sleep(own.chance.uniform(4, 15))
    bin_ = find_binaries(ground.postgres).bin
    place = ground.home / f"dump-{own.number}.sql"
    done = subprocess.run(
        [Path(bin_) / "pg_dump", "-d", ground.near, "-f", place],
        capture_output=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        return  # its session was ended
    with psycopg.connect(ground.near, autocommit=True) as sql:
        sql.execute("DROP DATABASE IF EXISTS restored WITH (FORCE)")
        sql.execute("CREATE DATABASE restored")
    dsn = make_conninfo(ground.near, dbname="restored")
    read = subprocess.run(
        [Path(bin_) / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=0", "-d", dsn, "-f", place],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if "terminating connection" in read.stderr or "server closed" in read.stderr or read.returncode:
        return
    with psycopg.connect(dsn) as there:
        ground.wrong += check_dump(there)
    ground.done["dumps restored"] += 1


ACTORS: dict[str, tuple[Act, int]] = {
    "send": (send, SENDERS),
    "receive": (receive, READERS),
    "receive_answers": (receive_answers, 2),
    "renew": (renew, 1),
    "converse": (converse, 2),
    "finish": (finish, 1),
    "listen": (listen, 2),
    "hear": (hear, 1),
    "move": (move, 1),
    "redefine": (redefine, 1),
    "rotate": (rotate, 1),
    "pin": (pin, 1),
    "watch": (watch, 1),
    "kill_sessions": (kill_sessions, 1),
    "kill_daemons": (kill_daemons, 1),
    "crash_backend": (crash_backend, 1),
    "restart": (restart, 1),
    "dump": (dump, 1),
}
# Two may want to end the same dialog: for one it is ended, 8427, or gone, 8426. A lock may take too long.
# Under one snapshot for the whole transaction others' changes to the same rows are conflicts.
_MAY_FAIL = {
    "send": ("40001",),
    "receive": ("40001",),
    "receive_answers": ("40001",),
    "converse": ("S8426", "S8427", "40001"),
    "finish": ("S8426", "S8427", "55P03"),
    "listen": ("40001",),
    "move": ("55P03", "40P01"),
    "redefine": ("55P03", "40P01"),
}
_READING = ("receive", "receive_answers", "listen", "hear", "finish", "rotate", "watch")


class Attack:
    """All actors on one field."""

    def __init__(self, ground: Field, seed: int) -> None:
        self._ground = ground
        self._seed = seed
        self._over = threading.Event()
        self._drained = threading.Event()

    def run(self, seconds: float, without: tuple[str, ...] = ()) -> None:
        """Attack for so long, let everything drain, and compare the histories."""
        threads = [
            threading.Thread(target=self._work, args=(name, number), name=name, daemon=True)
            for name, (_, count) in ACTORS.items()
            if name not in without
            for number in range(count)
        ]
        for one in threads:
            one.start()
        time.sleep(seconds)
        self._over.set()
        deadline = time.monotonic() + 150
        for one in threads:
            if one.name not in _READING:
                one.join(max(0.0, deadline - time.monotonic()))
        for process in self._ground.processes():
            process.send_signal(signal.SIGCONT)
        self._ground.drain(120)
        self._drained.set()
        for one in threads:
            one.join(30)
        self._ground.compare()
        self._compare_short()
        self._ground.read_logs()

    def _work(self, name: str, number: int) -> None:
        act, _ = ACTORS[name]
        until = self._drained if name in _READING else self._over
        chance = random.Random(f"{self._seed} {name} {number}")
        session: Session | None = None
        while not until.is_set():
            try:
                if session is None or session.sql.closed:
                    session = Session(number, chance, psycopg.connect(self._ground.near))
                act(self._ground, session)
            except (psycopg.OperationalError, subprocess.TimeoutExpired):
                # Ended by others, or the server recovers.
                time.sleep(0.05)
                _roll_back(session)
            except psycopg.Error as error:
                if error.sqlstate not in _MAY_FAIL.get(name, ()):
                    self._ground.wrong.append(f"{name}: {' '.join(str(error).split())[:300]}")
                _roll_back(session)
            except Exception as error:
                self._ground.wrong.append(
                    f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
                )
                _roll_back(session)
                time.sleep(0.2)
        if session is not None:
            session.sql.close()

    def _compare_short(self) -> None:
        """What the target of each short dialog heard: all messages, in order, and how it ended."""
        with psycopg.connect(self._ground.near) as sql:
            rows = sql.execute("SELECT messages, by_error, seen FROM dbo.short").fetchall()
        for messages, by_error, seen in rows:
            words = (seen or "").split()
            numbers = [word for word in words if word.isdigit()]
            last = "error" if by_error else "end"
            if numbers != [str(number) for number in range(messages)] or words.count(last) != 1:
                self._ground.wrong.append(f"a short dialog of {messages} messages heard {seen!r}")
            elif not by_error and words[-1] != "end":
                self._ground.wrong.append(f"EndDialog came before messages: {seen!r}")
        self._ground.done["short dialogs"] += len(rows)
