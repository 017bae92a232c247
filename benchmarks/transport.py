"""`python -m benchmarks.transport`: messages carried to another instance, beside the floor made by hand.

Two databases of one server, fsync on, bodies of 200 bytes. A backlog is sent in one transaction and then
carried: by the daemon while nobody sends, and by hand. By hand is a lower bound for sets of 500: arrays are
read from a table, their binary is passed on as it is, inserted over there with the dialogs' next numbers,
committed, and the rows deleted here. Both run in each round, in turns, and what arrived is counted and its
order looked at. With --sealed the same dialogs are carried with full security too, by a daemon on either
side. Figures are messages a second, and microseconds of processor time a message: of the sender's
server (here), the target's (there) and the daemons. The ratio, minimum / median / maximum of the rounds, is
that of the processor time altogether. Several backlogs, or several numbers of dialogs that are known
beside (by hand, too), take turns in each round: the last figures are the processor time beside that of the
first, ours and by hand.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

import click
import psycopg
from psycopg import pq

from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from pgsb.runtime_sql import installer

from .queues.profile import processor_seconds
from .queues.server import BenchServer, Connection, machine, running, settle

SET = 500
_WARM_UP = 500
_PATIENCE_SECONDS = 600.0
ADDRESS = "TCP://there:4022"
TEMPLATE = "bench_transport"
SEALED_TEMPLATES = "bench_sealed_here", "bench_sealed_there"

OBJECTS = """
SELECT ssb.ensure_schema('dbo');
SELECT ssb.create_endpoint('e', 'STARTED', 4022);
SELECT ssb.create_message_type('m');
SELECT ssb.create_contract('c', message_types => '{m}', sent_by => '{ANY}');
CREATE TABLE bench_dialog (place integer PRIMARY KEY, handle uuid NOT NULL);
CREATE TABLE hand_waiting (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                           dialog uuid, number bigint, type text, body bytea);
CREATE TABLE hand_queue (queuing_order bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                         dialog uuid, number bigint, type text, enqueued_at timestamptz, body bytea);
CREATE INDEX ON hand_queue (dialog, queuing_order);
CREATE TABLE hand_dialog (dialog uuid PRIMARY KEY, next_number bigint NOT NULL);
"""
_HERE = """
SELECT ssb.alter_database(NULL, 'NEW_BROKER');
SELECT ssb.create_queue('dbo.here');
SELECT ssb.create_service('//Here', 'dbo.here', '{c}');
SELECT ssb.create_route('There', 'TCP://there:4022', '//There');
"""
_THERE = """
SELECT ssb.alter_database(NULL, 'NEW_BROKER');
SELECT ssb.create_queue('dbo.there');
SELECT ssb.create_service('//There', 'dbo.there', '{c}');
"""
_ROUTE_BACK = "SELECT ssb.create_route('Here', 'TCP://here:4022', '//Here')"
_OWNER = """
CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'
CREATE USER {name} WITHOUT LOGIN
CREATE CERTIFICATE {name}Cert AUTHORIZATION {name} WITH SUBJECT = '{name}', EXPIRY_DATE = '20401231'
BACKUP CERTIFICATE {name}Cert TO FILE = '{folder}/{name}.cer'
ALTER AUTHORIZATION ON SERVICE::[//{name}] TO {name}
"""
_OTHER = """
CREATE USER {name}User WITHOUT LOGIN
CREATE CERTIFICATE {name}Cert AUTHORIZATION {name}User FROM FILE = '{folder}/{name}.cer'
"""
_BINDING = "CREATE REMOTE SERVICE BINDING b TO SERVICE '//There' WITH USER = ThereUser"
_GRANT = "GRANT SEND ON SERVICE::[//There] TO HereUser"
_BEGIN = """
INSERT INTO bench_dialog SELECT n, ssb.begin_dialog('//Here', '//There', 'c', encryption => %s)
  FROM generate_series((SELECT count(*) FROM bench_dialog)::integer, %s::integer - 1) AS n
"""
_SEND = """
SELECT count(ssb.send(d.handle, 'm', convert_to(rpad(n::text, %s, '.'), 'UTF8')))
  FROM generate_series(0, %s::integer - 1) AS n JOIN bench_dialog AS d ON d.place = n %% %s::integer
"""
_SEND_NEW = """
SELECT count(ssb.send(ssb.begin_dialog('//Here', '//There', 'c', encryption => %s), 'm',
                      convert_to(rpad(n::text, %s, '.'), 'UTF8')))
  FROM generate_series(0, %s::integer - 1) AS n
"""
# On both sides the same conversations, but for the one that is copied.
_KNOWN = """
CREATE TEMP TABLE known AS
SELECT nextval('ssb.endpoint_id') AS endpoint_id, md5('known ' || n)::uuid AS conversation_id,
       gen_random_uuid() AS handle
  FROM generate_series(2, %s::integer) AS n
"""
_COLUMNS = """
SELECT attname FROM pg_attribute
 WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""
_RENUMBERED = {
    "endpoint_id": "k.endpoint_id",
    "lock_id": "k.endpoint_id",
    "conversation_id": "k.conversation_id",
    "conversation_handle": "k.handle",
    "conversation_group_id": "k.handle",
    "session_key": "k.conversation_id",
    "queuing_order": "nextval((SELECT q.order_sequence FROM ssb.queue AS q WHERE q.queue_id = t.queue_id))",
}
# What has arrived, and how many stand behind one of their dialog with a higher number.
_ARRIVED = """
SELECT count(*), count(*) FILTER (WHERE m.number < m.before)
  FROM (SELECT message_sequence_number AS number,
               lag(message_sequence_number) OVER (PARTITION BY endpoint_id ORDER BY queuing_order) AS before
          FROM ssb.message_stored) AS m
"""
_HAND_FILL = """
INSERT INTO hand_waiting (dialog, number, type, body)
SELECT md5((n %% %s::integer)::text)::uuid, n / %s::integer, 'm', convert_to(rpad(n::text, %s, '.'), 'UTF8')
  FROM generate_series(0, %s::integer - 1) AS n
"""
_HAND_KNOWN = """
INSERT INTO hand_dialog SELECT md5('known ' || n)::uuid, 1 FROM generate_series(1, %s::integer) AS n
"""
_HAND_KNOWN_MESSAGES = """
INSERT INTO hand_queue (dialog, number, type, enqueued_at, body)
SELECT d.dialog, 0, 'm', clock_timestamp(), convert_to(rpad('', %s, '.'), 'UTF8') FROM hand_dialog AS d
"""
_HAND_READ = b"""
SELECT array_agg(w.id), array_agg(w.dialog), array_agg(w.number), array_agg(w.type), array_agg(w.body)
  FROM (SELECT * FROM hand_waiting ORDER BY id LIMIT 500) AS w
"""
# Locks the dialogs in one order, drops what has come already, inserts, counts on.
_HAND_TAKE = b"""
WITH come AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bytea[])
             WITH ORDINALITY AS c (dialog, number, type, body, n)),
known AS MATERIALIZED (
    SELECT d.dialog, d.next_number FROM hand_dialog AS d
     WHERE d.dialog IN (SELECT c.dialog FROM come AS c) ORDER BY d.dialog FOR UPDATE),
taken AS (
    INSERT INTO hand_queue (dialog, number, type, enqueued_at, body)
    SELECT c.dialog, c.number, c.type, clock_timestamp(), c.body
      FROM come AS c LEFT JOIN known AS k ON k.dialog = c.dialog
     WHERE c.number >= coalesce(k.next_number, 0) ORDER BY c.n
    RETURNING dialog, number)
INSERT INTO hand_dialog SELECT t.dialog, max(t.number) + 1 FROM taken AS t GROUP BY t.dialog
    ON CONFLICT (dialog) DO UPDATE SET next_number = excluded.next_number
"""
_HAND_DELETE = b"DELETE FROM hand_waiting WHERE id = ANY ($1::bigint[])"
_HAND_ARRIVED = """
SELECT count(*), count(*) FILTER (WHERE q.number < q.before)
  FROM (SELECT number, lag(number) OVER (PARTITION BY dialog ORDER BY queuing_order) AS before
          FROM hand_queue) AS q
"""


@dataclass
class Cost:
    """Of one backlog: microseconds of processor time a message, and messages a second."""

    here: float
    there: float
    daemon: float
    rate: float

    @property
    def total(self) -> float:
        """Processor time of all three."""
        return self.here + self.there + self.daemon


@dataclass
class Load:
    """``dialogs``: None for a new one each."""

    dialogs: int | None
    backlog: int
    length: int = 200
    known: int = 0
    """Dialogs beside, each of which has sent a message."""
    ours: list[Cost] = field(default_factory=list)
    by_hand: list[Cost] = field(default_factory=list)
    sealed: list[Cost] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As it is printed."""
        dialogs = "a new dialog each" if self.dialogs is None else f"dialogs: {self.dialogs:,}"
        beside = f", {self.known:,} known" if self.known else ""
        return f"{dialogs}, backlog {self.backlog:,}{beside}"


@dataclass
class Pair:
    """Two instances, and a session of ours in each that looks and does not count."""

    dsns: tuple[str, str]
    here: Connection
    there: Connection
    is_sealed: bool = False
    """Whether its dialogs are to be encrypted."""

    def processor(self) -> tuple[float, float]:
        """Seconds of processor time of the daemon's sessions, by instance."""
        found = []
        for connection in (self.here, self.there):
            rows = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend' AND application_name LIKE 'pgsb%'"
            ).fetchall()
            found.append(sum(processor_seconds(pid) or 0.0 for (pid,) in rows))
        return found[0], found[1]


def own_threads() -> float:
    """Processor time of this process's other threads: the daemon's."""
    return time.process_time() - time.thread_time()


def dsn_of(server: BenchServer, name: str) -> str:
    return urlunsplit(urlsplit(server.dsn)._replace(path=f"/{name}"))


@contextmanager
def instances(server: BenchServer, names: Sequence[str]) -> Iterator[list[str]]:
    """Databases of these names out of the template, by their DSNs; dropped afterwards."""
    with server.connect() as admin:
        for name in names:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}".encode())
        yield [dsn_of(server, name) for name in names]
        for name in names:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def pair_of(
    server: BenchServer, number: int, templates: tuple[str, str] = (TEMPLATE, TEMPLATE)
) -> Iterator[Pair]:
    """Fresh databases, dropped afterwards."""
    names = [f"bench_here_{number}", f"bench_there_{number}"]
    with server.connect() as admin:
        for name, template in zip(names, templates, strict=True):
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        dsns = (dsn_of(server, names[0]), dsn_of(server, names[1]))
        with ExitStack() as stack:
            here, there = (stack.enter_context(psycopg.connect(dsn, autocommit=True)) for dsn in dsns)
            if templates == SEALED_TEMPLATES:
                for side in (here, there):
                    side.execute("SELECT ssb.alter_database(NULL, 'NEW_BROKER')")
            else:
                here.execute(_HERE)
                there.execute(_THERE)
            yield Pair(dsns, here, there, templates == SEALED_TEMPLATES)
        for name in names:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def make_sealed_templates(server: BenchServer) -> None:
    """The same objects, with what full security wants."""
    with server.connect() as admin, TemporaryDirectory() as folder:
        for name in SEALED_TEMPLATES:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}".encode())
        dsns = [dsn_of(server, name) for name in SEALED_TEMPLATES]
        for dsn, objects in zip(dsns, (_HERE, _THERE + _ROUTE_BACK), strict=True):
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(objects.encode())
        for texts in (
            [_OWNER.format(name=name, folder=folder) for name in ("Here", "There")],
            [_OTHER.format(name=name, folder=folder) for name in ("There", "Here")],
            [_BINDING, _GRANT],
        ):
            for dsn, text in zip(dsns, texts, strict=True):
                script = Path(folder) / "script.sql"
                script.write_text(text, encoding="utf-8")
                subprocess.run(
                    [sys.executable, "-m", "pgsb.cli.main", "run", "--dsn", dsn, str(script)],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )


def _check(found: object, messages: int, who: str) -> None:
    if found != (messages, 0):
        raise click.ClickException(f"{who}: arrived and out of order {found}, of {messages}")


def send(pair: Pair, load: Load, messages: int) -> tuple[tuple[float, float], float]:
    """In one transaction. Returns the processor time of the others, before it ends."""
    with pair.here.transaction():
        if load.dialogs is None:
            pair.here.execute(_SEND_NEW, [pair.is_sealed, load.length, messages])
        else:
            pair.here.execute(_BEGIN, [pair.is_sealed, load.dialogs])
            pair.here.execute(_SEND, [load.length, messages, load.dialogs])
        return pair.processor(), own_threads()


def make_known(pair: Pair, dialogs: int) -> None:
    """Fill a fresh pair with dialogs that have carried a message: one, and copies of its rows.

    SEND would take minutes.
    """
    send(pair, Load(None, 1), 1)
    wait_until_carried(pair)
    for side in (pair.here, pair.there):
        side.execute(_KNOWN, [dialogs])
        for table in ("ssb.conversation_endpoint", "ssb.remote_conversation", "ssb.message_0"):
            names = [name for (name,) in side.execute(_COLUMNS, [table])]
            values = ", ".join(_RENUMBERED.get(name, f"t.{name}") for name in names)
            copies = f"SELECT {values} FROM {table} AS t, known AS k"
            side.execute(f"INSERT INTO {table} ({', '.join(names)}) {copies}".encode())
            side.execute(f"VACUUM ANALYZE {table}".encode())
        side.execute("DROP TABLE known")


def wait_until_carried(pair: Pair) -> None:
    """Raises click.ClickException after ten minutes."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while pair.here.execute("SELECT EXISTS (SELECT FROM ssb.transmission)").fetchone() != (False,):
        if time.monotonic() > deadline:
            raise click.ClickException("messages are still waiting after ten minutes")
        time.sleep(0.01)


def _carry(pair: Pair, load: Load, *, brokers: int = 1, is_sealed: bool = False) -> Cost:
    """By the daemon; what is sealed is opened by that of the other instance, in this process too.

    ``brokers``: 2 has that one there for what is in the clear as well.
    """
    addresses = {ADDRESS.lower(): pair.dsns[1]}
    with ExitStack() as stack:
        for dsn in pair.dsns[:brokers]:
            broker = EmbeddedBroker(BrokerOptions(dsn, addresses=addresses), lambda _: None)
            stack.enter_context(broker)
            if not broker.wait_until_leading():
                raise click.ClickException("the daemon does not lead")
        if load.known:
            make_known(pair, load.known)
        warm_up = min(_WARM_UP, load.backlog)
        send(pair, load, warm_up)
        wait_until_carried(pair)
        before, own = send(pair, load, load.backlog)
        began = time.monotonic()
        wait_until_carried(pair)
        took = time.monotonic() - began
        after, own = pair.processor(), own_threads() - own
    _check(pair.there.execute(_ARRIVED).fetchone(), load.known + warm_up + load.backlog, "pgsb")
    wanted = (True,) if is_sealed else (False,)
    if (
        pair.there.execute("SELECT bool_and(security = 'F') FROM ssb.remote_conversation").fetchone()
        != wanted
    ):
        raise click.ClickException("the dialogs do not have the security that is measured")
    each = 1e6 / load.backlog
    return Cost((after[0] - before[0]) * each, (after[1] - before[1]) * each, own * each, load.backlog / took)


def _prepared(connection: Connection, statements: Sequence[bytes]) -> pq.abc.PGconn:
    for number, statement in enumerate(statements):
        result = connection.pgconn.prepare(b"s%d" % number, statement)
        if result.status != pq.ExecStatus.COMMAND_OK:
            raise click.ClickException(connection.pgconn.error_message.decode())
    return connection.pgconn


def _execute(session: pq.abc.PGconn, number: int, *values: bytes | None) -> pq.abc.PGresult:
    result = session.exec_prepared(b"s%d" % number, values, [1] * len(values), 1)
    if result.status not in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
        raise click.ClickException(session.error_message.decode())
    return result


def hand_sessions(near: Connection, far: Connection) -> tuple[pq.abc.PGconn, pq.abc.PGconn]:
    """The two ends of what is made by hand, for `carry_set_by_hand`."""
    return _prepared(near, [_HAND_READ, _HAND_DELETE]), _prepared(far, [_HAND_TAKE])


def carry_set_by_hand(here: pq.abc.PGconn, there: pq.abc.PGconn) -> bool:
    """False: nothing was there."""
    read = _execute(here, 0)
    ids = read.get_value(0, 0)
    if ids is None:
        return False
    _execute(there, 0, *(read.get_value(0, column) for column in (1, 2, 3, 4)))
    _execute(here, 1, ids)
    return True


def _carry_by_hand(pair: Pair, load: Load) -> Cost:
    dialogs = load.dialogs or load.backlog
    if load.known:
        pair.there.execute(_HAND_KNOWN, [load.known])
        pair.there.execute(_HAND_KNOWN_MESSAGES, [load.length])
        pair.there.execute("VACUUM ANALYZE hand_dialog, hand_queue")
    pair.here.execute(_HAND_FILL, [dialogs, dialogs, load.length, load.backlog])
    with ExitStack() as stack:
        near, far = (stack.enter_context(psycopg.connect(dsn, autocommit=True)) for dsn in pair.dsns)
        pids = near.info.backend_pid, far.info.backend_pid
        here, there = hand_sessions(near, far)
        before = [processor_seconds(pid) or 0.0 for pid in pids]
        own, began = time.thread_time(), time.monotonic()
        while carry_set_by_hand(here, there):
            pass
        took, own = time.monotonic() - began, time.thread_time() - own
        after = [processor_seconds(pid) or 0.0 for pid in pids]
    _check(pair.there.execute(_HAND_ARRIVED).fetchone(), load.known + load.backlog, "by hand")
    each = 1e6 / load.backlog
    return Cost((after[0] - before[0]) * each, (after[1] - before[1]) * each, own * each, load.backlog / took)


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(getattr(cost, one.name) for cost in costs) for one in fields(Cost)))


def _three(values: Iterable[float]) -> str:
    found = sorted(values)
    return f"{found[0]:.2f} / {statistics.median(found):.2f} / {found[-1]:.2f}"


def _line(load: Load, first: Load) -> str:
    """``first``: the first one on as many dialogs, beside which the others of its rounds are told."""
    cells = [
        f"{cost.rate:9,.0f}/s {cost.here:5.0f} {cost.there:5.0f} {cost.daemon:5.0f} {cost.total:6.0f}"
        for cost in (_median(load.ours), _median(load.by_hand))
    ]
    ratio = _three(ours.total / floor.total for ours, floor in zip(load.ours, load.by_hand, strict=True))
    line = f"{load.name:48}" + " | ".join([*cells, ratio])
    if load is not first:
        for those, others in ((load.ours, first.ours), (load.by_hand, first.by_hand)):
            line += f" | {_three(one.total / other.total for one, other in zip(those, others, strict=True))}"
    if load.sealed:
        adds = sorted(sealed.total - ours.total for sealed, ours in zip(load.sealed, load.ours, strict=True))
        cost = _median(load.sealed)
        line += (
            f"\n{'  sealed':48}{cost.rate:9,.0f}/s {cost.here:5.0f} {cost.there:5.0f} {cost.daemon:5.0f}"
            f" {cost.total:6.0f} | adds {adds[0]:.1f} / {statistics.median(adds):.1f} / {adds[-1]:.1f}"
        )
    return line


@click.command()
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--backlog", "backlogs", multiple=True, type=int, help="5000, 20000 and 60000 if not given.")
@click.option("--dialogs", "dialogs", multiple=True, type=int, help="1, 50, 1000, 0 if not given; 0: new.")
@click.option("--length", default=200, show_default=True, help="Of a body, in bytes.")
@click.option("--known", "known", multiple=True, type=int, help="Dialogs that are known beside; by turns.")
@click.option("--sealed", is_flag=True, help="With full dialog security, too.")
@click.option("--quick", is_flag=True, help="One round, without 60,000.")
def main(
    postgres: str | None,
    rounds: int,
    backlogs: tuple[int, ...],
    dialogs: tuple[int, ...],
    length: int,
    known: tuple[int, ...],
    sealed: bool,
    quick: bool,
) -> None:
    """Carry backlogs on 1, 50 and 1,000 dialogs and on a new dialog each, by the daemon and by hand."""
    rounds = 1 if quick else rounds
    sizes = backlogs or ((5_000, 20_000) if quick else (5_000, 20_000, 60_000))
    loads = [
        Load(count or None, size, length, beside)
        for count in dialogs or (1, 50, 1_000, 0)
        for size in sizes
        for beside in known or (0,)
    ]
    firsts = {load.dialogs: load for load in reversed(loads)}
    with running(postgres) as server, TemporaryDirectory() as keys:
        conditions = machine()
        click.echo(f"PostgreSQL {server.version}, {conditions['cores']} cores, load {conditions['load']}")
        template = server.database(TEMPLATE)
        with template.connect() as connection:
            installer.install(connection)
            connection.execute(OBJECTS)
            if not quick:
                settle(connection)
        if sealed:
            os.environ["PGSB_KEYS"] = keys
            make_sealed_templates(server)
        columns = "pgsb: here, there, daemon, all | by hand | ratio | beside the first, by hand"
        click.echo(f"{'µs of processor time a message':48}{columns}")
        number = 0
        for _ in range(rounds):
            for load in loads:
                number += 2
                with ExitStack() as stack:
                    pair = stack.enter_context(pair_of(server, number))
                    turns = [
                        (load.ours, partial(_carry, pair, load, brokers=2 if sealed else 1)),
                        (load.by_hand, partial(_carry_by_hand, pair, load)),
                    ]
                    if sealed:
                        secured = stack.enter_context(pair_of(server, number + 1, SEALED_TEMPLATES))
                        turns.append((load.sealed, partial(_carry, secured, load, brokers=2, is_sealed=True)))
                    random.shuffle(turns)
                    for costs, carry in turns:
                        costs.append(carry())
                if rounds == 1:
                    click.echo(_line(load, firsts[load.dialogs]))
        for load in loads if rounds > 1 else ():
            click.echo(_line(load, firsts[load.dialogs]))


if __name__ == "__main__":
    sys.exit(main())
