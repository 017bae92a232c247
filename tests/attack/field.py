"""What is attacked: a server with two instances, two daemons for each, and a history of messages.

Four ways lead from a sender to a reader, each with dialogs of its own:

near     to a queue of the same instance that sessions of ours read
program  to a queue of the same instance whose program the daemon starts
far      to the other instance, through the transport, whose program the daemon there starts
sealed   likewise WITH ENCRYPTION = ON, under certificates that are renewed meanwhile; the program there
         answers each message with the same text, and sessions of ours read the answers

Every message has a number in its dialog. Whoever sends writes it to ``sent`` in the transaction that sends,
whoever receives to ``received`` in the transaction that receives. Two tables must then say the same.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from pgsb.cli.run import Runner, compile_settings
from pgsb.grammar.source import Source
from pgsb.runtime_sql.installer import install
from pgsb.server.connect import Target, connect
from pgsb.server.embedded import PrivateServer
from pgsb.server.problems import ServerError
from pgsb.server.results import ErrorEvent, Event

Sql = psycopg.Connection[tuple[Any, ...]]

WAYS = ("near", "program", "far", "sealed")
DIALOGS = 6
"""Long dialogs of each way."""

_COMMON = """
SELECT ssb.create_endpoint('BrokerEndpoint', 'STARTED', 4022);
SELECT ssb.create_message_type('//Note');
SELECT ssb.create_contract('//Notes', '{//Note}', '{ANY}');
CREATE TABLE dbo.received (
    place bigint GENERATED ALWAYS AS IDENTITY, way text, dialog integer, message integer,
    pid integer DEFAULT pg_backend_pid());
CREATE PROCEDURE dbo.program(queue text, way text) LANGUAGE plpgsql AS $$
DECLARE m ssb.message; n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive(queue, 5) LOOP
            n := n + 1;
            IF m.message_type_name = '//Note' THEN
                INSERT INTO dbo.received (way, dialog, message)
                SELECT way, split_part(b.text, ' ', 1)::integer, split_part(b.text, ' ', 2)::integer
                  FROM (SELECT convert_from(m.message_body, 'UTF8')) AS b (text);
                IF way = 'sealed' THEN
                    PERFORM ssb.send(m.conversation_handle, '//Note', m.message_body);
                END IF;
            ELSE
                PERFORM ssb.end_conversation(m.conversation_handle);
            END IF;
        END LOOP;
        IF random() < 0.1 THEN ROLLBACK; ELSE COMMIT; END IF;
        EXIT WHEN n = 0;
    END LOOP;
END;
$$;
CREATE PROCEDURE dbo.program_reads() LANGUAGE plpgsql AS $$
BEGIN CALL dbo.program('dbo.program_queue', 'program'); END $$;
CREATE PROCEDURE dbo.far_reads() LANGUAGE plpgsql AS $$
BEGIN CALL dbo.program('dbo.far_queue', 'far'); END $$;
CREATE PROCEDURE dbo.sealed_reads() LANGUAGE plpgsql AS $$
BEGIN CALL dbo.program('dbo.sealed_queue', 'sealed'); END $$;
"""
_NEAR = """
CREATE TABLE dbo.sent (way text, dialog integer, message integer);
CREATE TABLE dbo.short (handle uuid, conversation uuid, messages integer, by_error boolean, seen text);
SELECT ssb.create_queue('dbo.from_queue', poison_message_handling => false);
SELECT ssb.create_queue('dbo.near_queue', poison_message_handling => false);
SELECT ssb.create_queue('dbo.short_queue', poison_message_handling => false);
SELECT ssb.create_queue('dbo.program_queue', poison_message_handling => false);
SELECT ssb.create_service('//From', 'dbo.from_queue', '{//Notes}');
SELECT ssb.create_service('//near', 'dbo.near_queue', '{//Notes}');
SELECT ssb.create_service('//short', 'dbo.short_queue', '{//Notes}');
SELECT ssb.create_service('//program', 'dbo.program_queue', '{//Notes}');
SELECT ssb.create_queue('dbo.answer_queue', poison_message_handling => false);
SELECT ssb.create_service('//Asks', 'dbo.answer_queue', '{//Notes}');
SELECT ssb.create_route('ToFar', 'TCP://far.example:4022', '//far');
SELECT ssb.create_route('ToSealed', 'TCP://far.example:4022', '//sealed');
SELECT ssb.alter_queue('dbo.program_queue', activation_status => true,
                       activation_procedure => 'dbo.program_reads',
                       max_queue_readers => 3);
"""
_FAR = """
SELECT ssb.alter_database(NULL, 'NEW_BROKER');
SELECT ssb.create_queue('dbo.far_queue', poison_message_handling => false);
SELECT ssb.create_service('//far', 'dbo.far_queue', '{//Notes}');
SELECT ssb.create_queue('dbo.sealed_queue', poison_message_handling => false);
SELECT ssb.create_service('//sealed', 'dbo.sealed_queue', '{//Notes}');
SELECT ssb.create_route('ToNear', 'TCP://near.example:4022', '//From');
SELECT ssb.create_route('ToAsks', 'TCP://near.example:4022', '//Asks');
SELECT ssb.alter_queue('dbo.sealed_queue', activation_status => true,
                       activation_procedure => 'dbo.sealed_reads',
                       max_queue_readers => 3);
SELECT ssb.alter_queue('dbo.far_queue', activation_status => true, activation_procedure => 'dbo.far_reads',
                       max_queue_readers => 3);
"""
# Who owns the service on either side, whose certificates the other one knows.
_OWNERS = {"near": ("AskingUser", "//Asks"), "far": ("SealedUser", "//sealed")}


class _Errors:
    """Of what a script shows the errors."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def write(self, event: Event) -> None:
        if isinstance(event, ErrorEvent) and event.severity > 10:
            self.found.append(f"{event.number}: {event.message}")

    def close(self) -> None:
        pass


@dataclass
class Field:
    """From ``with`` to its end. ``done`` counts what happened, ``wrong`` says what must not have."""

    postgres: str
    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    handles: dict[tuple[str, int], uuid.UUID] = field(default_factory=dict)
    daemons: dict[str, list[subprocess.Popen[bytes]]] = field(default_factory=dict)
    near: str = ""
    far: str = ""
    renewals: int = 0

    def __enter__(self) -> Field:
        self.home = Path(tempfile.mkdtemp(prefix="pgsb-attack-"))
        self.home.chmod(0o711)
        self._keys_before = os.environ.get("PGSB_KEYS")
        os.environ["PGSB_KEYS"] = str(self.home / "keys")
        self.server = PrivateServer(
            self.home,
            wanted=self.postgres,
            settings={
                "port": "5432",  # the same after a restart; no TCP, so that no other server is in its way
                "listen_addresses": "",
                "shared_buffers": "64MB",
                "max_connections": "120",
                "fsync": "off",
                "autovacuum_naptime": "2s",
                "log_min_messages": "panic",
            },
        )
        self.server.start()
        own = self.server.status().dsn or ""
        self.near, self.far = (make_conninfo(own, dbname=name) for name in ("near", "far"))
        with psycopg.connect(own, autocommit=True) as sql:
            sql.execute("CREATE DATABASE near")
            sql.execute("CREATE DATABASE far")
        for dsn, script in ((self.near, _NEAR), (self.far, _FAR)):
            with psycopg.connect(dsn, autocommit=True) as sql:
                install(sql)
                sql.execute("SELECT ssb.ensure_schema('dbo')")
                sql.execute(f"{_COMMON} {script}".encode())
        self._exchange_certificates()
        with psycopg.connect(self.near, autocommit=True) as sql:
            for way in WAYS:
                sealed = way == "sealed"
                for dialog in range(DIALOGS):
                    row = sql.execute(
                        "SELECT ssb.begin_dialog(%s, %s, '//Notes', encryption => %s)",
                        ("//Asks" if sealed else "//From", f"//{way}", sealed),
                    ).fetchone()
                    assert row is not None
                    self.handles[way, dialog] = row[0]
        for name in ("near", "near", "far", "far"):
            self.start_daemon(name)
        return self

    def __exit__(self, *exception: object) -> None:
        for one in self.processes():
            one.send_signal(signal.SIGCONT)
            one.kill()
            one.wait()
        self.server.stop(immediate=True)
        shutil.rmtree(self.home, ignore_errors=True)
        os.environ.pop("PGSB_KEYS")
        if self._keys_before is not None:
            os.environ["PGSB_KEYS"] = self._keys_before

    # ------------------------------------------------------------ certificates

    def script(self, name: str, text: str) -> None:
        """Run T-SQL in ``near`` or ``far``. Raises OperationalError when its session is ended."""
        errors = _Errors()
        target = Target(self.near if name == "near" else self.far, False, "the attack")
        try:
            with connect(target) as connection:
                settings = compile_settings(connection, None, "cs")
                Runner(connection, settings, errors).run(Source("attack", text))
        except ServerError as error:
            raise psycopg.OperationalError(str(error)) from error
        if errors.found:
            raise RuntimeError("; ".join(errors.found))

    def _exchange_certificates(self) -> None:
        for name, (user, service) in _OWNERS.items():
            other = next(one for side, (one, _) in _OWNERS.items() if side != name)
            self.script(
                name,
                f"""CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'
                CREATE USER {user} WITHOUT LOGIN
                CREATE USER {other}There WITHOUT LOGIN
                ALTER AUTHORIZATION ON SERVICE::[{service}] TO {user}""",
            )
        for name in _OWNERS:
            self.renew(name)
        self.script(
            "near", "CREATE REMOTE SERVICE BINDING b TO SERVICE '//sealed' WITH USER = SealedUserThere"
        )
        self.script("far", "GRANT SEND ON SERVICE::[//sealed] TO AskingUserThere")

    def renew(self, name: str) -> None:
        """A new certificate for the owner of ``near`` or ``far``, known on either side; the older ones go."""
        user, _ = _OWNERS[name]
        other = "far" if name == "near" else "near"
        self.renewals += 1
        new, file = f"{user}{self.renewals}", self.home / f"{user}{self.renewals}.cer"
        self.script(
            name,
            f"""CREATE CERTIFICATE {new} AUTHORIZATION {user}
                WITH SUBJECT = 's', EXPIRY_DATE = '{2040 + self.renewals}1231'
            BACKUP CERTIFICATE {new} TO FILE = '{file}'""",
        )
        self.script(other, f"CREATE CERTIFICATE {new} AUTHORIZATION {user}There FROM FILE = '{file}'")
        for side in (name, other):
            with psycopg.connect(self.near if side == "near" else self.far, autocommit=True) as sql:
                found = sql.execute(
                    "SELECT name FROM sys.certificates WHERE starts_with(name, %s) AND name <> %s",
                    (user, new),
                ).fetchall()
            for (old,) in found:
                self.script(side, f"DROP CERTIFICATE {old}")

    def processes(self) -> list[subprocess.Popen[bytes]]:
        """All daemons."""
        return [one for some in self.daemons.values() for one in some]

    def start_daemon(self, name: str) -> None:
        """One more daemon of ``near`` or ``far``; its log is kept."""
        own, other = (self.near, self.far) if name == "near" else (self.far, self.near)
        address = f"TCP://{'far' if name == 'near' else 'near'}.example:4022={other}"
        command = [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", own, "--grace", "1"]
        with (self.home / f"daemon-{name}.log").open("ab") as log:
            started = subprocess.Popen([*command, "--address", address, "--log-format", "json"], stderr=log)
        self.daemons.setdefault(name, []).append(started)

    def replace_daemon(self, name: str) -> None:
        """kill -9, and a new one."""
        victim = self.daemons[name].pop(0)
        victim.send_signal(signal.SIGCONT)
        victim.kill()
        victim.wait()
        self.start_daemon(name)

    def crash(self) -> None:
        """The server ends at once, recovers and is there again."""
        self.server.stop(immediate=True)
        self.server.start()

    # ------------------------------------------------------------ at the end

    def drain(self, seconds: float) -> None:
        """Until nothing waits anywhere; what still does then is wrong."""
        deadline = time.monotonic() + seconds
        left: dict[str, Any] = {}
        while time.monotonic() < deadline:
            try:
                left = self._left()
            except psycopg.OperationalError:
                left = {"server": "does not answer"}
            if not any(left.values()):
                return
            time.sleep(0.2)
        self.wrong.append(f"still waiting after {seconds:g} s: {left}; {self._last_words()}")

    def _last_words(self) -> list[str]:
        """What the daemons complained of last."""
        found = []
        for dsn in (self.near, self.far):
            with psycopg.connect(dsn, autocommit=True) as sql:
                rows = sql.execute(
                    "SELECT event, queue, message FROM ssb.broker_log WHERE level = 'error'"
                    " ORDER BY log_id DESC LIMIT 3"
                )
                found += [" ".join(str(one) for one in row) for row in rows]
        return found

    def _left(self) -> dict[str, Any]:
        left = {}
        for name, dsn in (("near", self.near), ("far", self.far)):
            with psycopg.connect(dsn, autocommit=True) as sql:
                for what in ("ssb.message_stored", "ssb.transmission"):
                    row = sql.execute(f"SELECT count(*) FROM {what}".encode()).fetchone()
                    left[f"{name} {what}"] = row and row[0]
        with psycopg.connect(self.near, autocommit=True) as sql:
            row = sql.execute(
                "SELECT count(*) FROM dbo.short WHERE coalesce(seen, '') !~ 'end|error'"
            ).fetchone()
            left["short dialogs"] = row and row[0]
        return left

    def compare(self) -> None:
        """Every message that was sent was received once, in order; every queue is open."""
        with psycopg.connect(self.near) as sql, psycopg.connect(self.far) as there:
            self._compare(sql, there)

    def _compare(self, sql: Sql, there: Sql) -> None:
        answers = [("answer", dialog) for way, dialog in self.handles if way == "sealed"]
        for way, dialog in (*self.handles, *answers):
            sent = sql.execute(
                "SELECT message FROM dbo.sent WHERE way = %s AND dialog = %s ORDER BY message",
                ("sealed" if way == "answer" else way, dialog),
            ).fetchall()
            received = (there if way in ("far", "sealed") else sql).execute(
                "SELECT message FROM dbo.received WHERE way = %s AND dialog = %s ORDER BY place",
                (way, dialog),
            )
            expected = [message for (message,) in sent]
            came = [message for (message,) in received]
            self.done[f"{way}: messages"] += len(came)
            if came != expected:
                twice = [message for message, count in Counter(came).items() if count > 1][:5]
                missing = sorted(set(expected) - set(came))[:5]
                self.wrong.append(
                    f"{way} dialog {dialog}: missing {missing}, twice {twice}, else out of order"
                )
        for one in (sql, there):
            for (name,) in one.execute("SELECT name FROM ssb.queue WHERE NOT is_receive_enabled").fetchall():
                self.wrong.append(f"{name} is disabled")

    def read_logs(self) -> None:
        """A daemon's log has no internal errors."""
        for path in self.home.glob("daemon-*.log"):
            for line in path.read_text("utf-8", "replace").splitlines():
                if "internal_error" in line or "Traceback" in line:
                    self.wrong.append(f"{path.name}: {line[:300]}")


def check_dump(dump: Sql) -> list[str]:
    """What is wrong in a database restored from a dump: sent = received + still waiting, way by way."""
    found = []
    for way in ("near", "program"):
        row = dump.execute(
            """
            WITH sent AS (SELECT dialog, message FROM dbo.sent WHERE way = %(way)s),
                 waiting AS (SELECT split_part(b.text, ' ', 1)::integer, split_part(b.text, ' ', 2)::integer
                               FROM ssb.message_stored AS m
                               JOIN ssb.queue AS q ON q.queue_id = m.queue_id
                              CROSS JOIN LATERAL (SELECT convert_from(m.body, 'UTF8')) AS b (text)
                              WHERE q.name = 'dbo.' || %(way)s || '_queue' AND m.body IS NOT NULL),
                 known AS (SELECT dialog, message FROM dbo.received WHERE way = %(way)s
                           UNION ALL SELECT * FROM waiting)
            SELECT (SELECT count(*) FROM (SELECT * FROM sent EXCEPT ALL SELECT * FROM known) AS d),
                   (SELECT count(*) FROM (SELECT * FROM known EXCEPT ALL SELECT * FROM sent) AS d)
            """,
            {"way": way},
        ).fetchone()
        if row != (0, 0):
            found.append(f"dump, {way}: (lost, doubled) = {row}")
    return found
