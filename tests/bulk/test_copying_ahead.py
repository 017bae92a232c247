"""COPY of rows while tasks still write others: it counts whole or not at all, and nobody waits for it."""

import resource
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bulk_desk import Desk
from psycopg import sql

from pgsb.bulk import BulkError, claim, copying_ahead
from pgsb.bulk.claim import Claim, abandon
from pgsb.bulk.complete import Computed
from pgsb.bulk.copying_ahead import CopyAhead
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.packed_rows import Files, pack, place_of
from pgsb.bulk.problems import ClaimLost, hint_of
from pgsb.bulk.program import Outputs
from pgsb.bulk.staging import Staged
from pgsb.bulk.tables import PackedTable
from pgsb.bulk.transport import Travel
from support import Connection, Database

pyarrow = pytest.importorskip("pyarrow")
Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]
NAMES = ("number", "note", "conversation_handle", "queuing_order")
TYPES = ("int8", "bytea", "bytea", "int8")
_COLUMNS = (
    Travel("number", "number", "int8", sql.SQL("CAST(number AS pg_catalog.int8)"), True),
    Travel("note", "note", "bytea", sql.SQL("CAST(convert_from(note, 'UTF8') AS varchar)"), True),
)


class Tasks:
    """What tasks write for dbo.kept, attempt by attempt."""

    def __init__(self, held: Claim, desk: Desk, path: Path) -> None:
        self.held = held
        self.desk = desk
        self.files = Files(str(path))
        self.rows: dict[int, int] = {}

    def write(self, attempt: int, *notes: str | None, cut: int = 0) -> bytes:
        """A row for each note, numbered on; returns the last ``cut`` bytes, which are not written yet."""
        first = self.rows.get(attempt, 0)
        origin = self.desk.connection.execute(
            "SELECT conversation_handle::text::bytea, queuing_order FROM dbo.target ORDER BY 2 LIMIT 1"
        ).fetchone()
        assert origin is not None
        columns = [
            pyarrow.array(range(first, first + len(notes)), pyarrow.int64()),
            pyarrow.array(notes, pyarrow.string()),
            pyarrow.array([origin[0]] * len(notes), pyarrow.binary()),
            pyarrow.array([origin[1]] * len(notes), pyarrow.int64()),
        ]
        batch = pyarrow.RecordBatch.from_arrays(columns, list(NAMES))
        data, _, _, _ = pack(batch, TYPES, 2, attempt, 0)
        self.rows[attempt] = first + len(notes)
        self.append(attempt, data[: len(data) - cut])
        return data[len(data) - cut :]

    def append(self, attempt: int, data: bytes) -> None:
        with place_of(self.files.path, attempt).open("ab") as file:
            file.write(data)

    def staged(self, *attempts: int) -> Staged:
        """What the driver hears of those that count."""
        rows = sum(self.rows[one] for one in attempts)
        return Staged("packed", "", NAMES, attempts, rows, 100, True, self.files)

    def ahead(self) -> CopyAhead:
        return CopyAhead(self.held.connection, "dbo.kept", _COLUMNS, self.files)

    def computed(self, ahead: CopyAhead | None, *attempts: int, failures: Any = "requeue") -> Computed:
        dsn = self.desk.database.dsn
        origin = ("conversation_handle", "queuing_order")
        table = PackedTable("dbo.kept", self.staged(*attempts), _COLUMNS, origin, False, NAMES, TYPES, dsn)
        outputs = Outputs(unread="complete", failures=failures)
        return Computed(self.held, outputs, [table], [], dsn, None, ahead)

    def until(self, condition: str) -> None:
        """Wait until SQL says that it is so."""
        for _ in range(500):
            if self.desk.value(f"SELECT {condition}"):
                return
            self.desk.connection.execute("SELECT pg_sleep(0.02)")
        raise AssertionError(f"never: {condition}")

    @property
    def session(self) -> str:
        """The claim's session among those of the server, as SQL."""
        return f"(SELECT FROM pg_stat_activity WHERE pid = {self.held.connection.info.backend_pid} AND %s)"

    def until_copying(self) -> None:
        self.until("EXISTS " + self.session % "query LIKE 'COPY%' AND wait_event = 'ClientRead'")

    def until_free(self) -> None:
        self.until("EXISTS " + self.session % "state = 'idle'")


@pytest.fixture
def tasks(desk: Desk, connect: Connect, tmp_path: Path) -> Tasks:
    desk.connection.execute("CREATE TABLE dbo.kept (number bigint, note varchar(9000))")
    desk.send(2, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    return Tasks(held, desk, tmp_path)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever writes here writes a few bytes, and slowly."""
    monkeypatch.setattr(copying_ahead, "_PATIENCE", 60.0)
    yield


def _kept(desk: Desk) -> list[tuple[Any, ...]]:
    return desk.connection.execute("SELECT number, note FROM dbo.kept ORDER BY 1, 2").fetchall()


def test_rows_are_copied_while_tasks_write_and_are_seen_when_the_claim_is_completed(
    desk: Desk, tasks: Tasks
) -> None:
    with ExitStack() as stack:
        ahead = stack.enter_context(tasks.ahead())
        tasks.write(7, "a", None, "ß")
        tasks.until_copying()
        # A pack that is half there is waited for; one of another task goes by.
        rest = tasks.write(9, "x" * 8000, cut=4000)
        tasks.write(7, "b")
        assert _kept(desk) == []
        tasks.append(9, rest)
        assert ahead.join(tasks.staged(7, 9)) and ahead.rows == 5
        stack.pop_all()
    assert _kept(desk) == [] and desk.waiting() == 6
    done = tasks.computed(ahead, 7, 9).complete()
    assert (done.written, done.deleted) == (5, 6)
    assert _kept(desk) == [(0, "a"), (0, "x" * 8000), (1, None), (2, "ß"), (3, "b")]
    assert not Path(tasks.files.path).exists()


@pytest.mark.parametrize("other", ["a failed attempt", "a cut file", "fewer rows than were told", "none"])
def test_what_is_not_just_what_the_counted_attempts_wrote_is_taken_back(
    desk: Desk, tasks: Tasks, other: str
) -> None:
    with tasks.ahead() as ahead:
        tasks.write(1, "a", "b")
        if other == "a failed attempt":
            tasks.write(2, "no")
        elif other == "a cut file":
            rest = tasks.write(1, "c", cut=3)
        tasks.until_copying()
        staged = tasks.staged(1)
        if other == "fewer rows than were told":
            tasks.rows[1] = 3
            staged = tasks.staged(1)
        assert ahead.join(staged) is (other == "none") and ahead.is_open is (other == "none")
    # The block is left without the claim being completed.
    tasks.until_free()
    assert _kept(desk) == [] and desk.waiting() == 6
    if other == "a cut file":
        tasks.append(1, rest)
    if other != "fewer rows than were told":
        assert tasks.computed(None, 1).complete().deleted == 6
        assert [note for _, note in _kept(desk)] == ["a", "b", "c"][: tasks.rows[1]]
    else:
        with pytest.raises(BulkError, match=r"wrote 3 rows for dbo\.kept, 2 are there"):
            tasks.computed(None, 1).complete()


def test_rows_that_come_slowly_are_copied_when_the_tasks_have_ended(
    desk: Desk, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a task that waits for a lock of the claim's session does not wait for ever."""
    monkeypatch.setattr(copying_ahead, "_PATIENCE", 0.2)
    with tasks.ahead() as ahead:
        tasks.write(1, "a")
        desk.connection.execute("SET lock_timeout = '20s'")
        tasks.until_copying()
        desk.connection.execute("TRUNCATE dbo.kept")
        tasks.until_free()
        tasks.write(1, "b")
        assert not ahead.join(tasks.staged(1))
    assert tasks.computed(None, 1).complete().written == 2
    assert _kept(desk) == [(0, "a"), (1, "b")]


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_row_that_copy_refuses_is_found_behind_the_tasks(
    desk: Desk, tasks: Tasks, is_refused: bool
) -> None:
    desk.connection.execute("CREATE UNIQUE INDEX ON dbo.kept (number)")
    with ExitStack() as stack:
        ahead = stack.enter_context(tasks.ahead())
        tasks.write(1, "a", "\0" if is_refused else "b")
        assert ahead.join(tasks.staged(1)) is not is_refused
        stack.pop_all()
    done = tasks.computed(ahead, 1, failures="quarantine").complete()
    assert (done.failed, done.written) == ((1, 0) if is_refused else (0, 2))
    assert len(_kept(desk)) == done.written


@pytest.mark.long
def test_a_program_that_fails_while_copy_waits_for_a_lock_gives_its_claim_back(
    desk: Desk, tasks: Tasks
) -> None:
    desk.connection.execute("CREATE UNIQUE INDEX ON dbo.kept (number)")
    with desk.connection.transaction():
        desk.connection.execute("INSERT INTO dbo.kept VALUES (1, 'theirs')")
        with psycopg.connect(desk.database.dsn, autocommit=True) as looking:
            tasks.desk = Desk(looking, desk.database)
            with pytest.raises(RuntimeError, match="the program's"), tasks.ahead():
                # More than the server gathers before it writes.
                tasks.write(1, *["some"] * 20_000)
                tasks.until("EXISTS " + tasks.session % "wait_event_type = 'Lock'")
                raise RuntimeError("the program's")
            # At once, and the session is free.
            abandon(tasks.held)
    assert _kept(desk) == [(1, "theirs")] and desk.waiting() == 6


def test_sessions_that_see_one_snapshot_copy_behind_the_tasks(desk: Desk, tasks: Tasks) -> None:
    tasks.held.connection.execute("SET default_transaction_isolation = 'repeatable read'")
    with tasks.ahead() as ahead:
        tasks.write(1, "a")
        assert not ahead.join(tasks.staged(1))
    assert tasks.computed(None, 1).complete().written == 1


@pytest.mark.parametrize("is_unread", [False, True])
def test_no_row_stays_when_the_claim_cannot_be_completed(desk: Desk, tasks: Tasks, is_unread: bool) -> None:
    with ExitStack() as stack:
        ahead = stack.enter_context(tasks.ahead())
        tasks.write(1, "a")
        assert ahead.join(tasks.staged(1))
        stack.pop_all()
    computed = tasks.computed(ahead, 1)
    if is_unread:
        computed = Computed(tasks.held, Outputs(), computed.tables, [], computed.dsn, None, ahead)
        with pytest.raises(BulkError, match="none was read"):
            computed.complete()
        abandon(tasks.held)
    else:
        desk.connection.execute(
            "SELECT pg_terminate_backend(%s, 5000)", (tasks.held.connection.info.backend_pid,)
        )
        with pytest.raises(ClaimLost):
            computed.complete()
    assert _kept(desk) == [] and desk.waiting() == 6


def test_a_session_that_ends_while_it_copies_loses_its_claim(desk: Desk, tasks: Tasks) -> None:
    with tasks.ahead() as ahead:
        tasks.write(1, "a")
        tasks.until_copying()
        desk.connection.execute(
            "SELECT pg_terminate_backend(%s, 5000)", (tasks.held.connection.info.backend_pid,)
        )
        tasks.write(1, "b")
        assert not ahead.join(tasks.staged(1))
    with pytest.raises(ClaimLost):
        tasks.computed(None, 1).complete()
    assert _kept(desk) == [] and desk.waiting() == 6


def test_tasks_that_write_nothing_open_no_transaction(desk: Desk, tasks: Tasks) -> None:
    before = threading.active_count()
    with tasks.ahead() as ahead:
        place_of(tasks.files.path, 3).touch()
        tasks.rows[3] = 0
        assert not ahead.join(Staged("packed", "", NAMES, (), 0, 0, True, tasks.files))
        assert tasks.held.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    assert threading.active_count() <= before


def test_more_attempts_than_a_process_may_have_open_files_are_copied_ahead(tasks: Tasks) -> None:
    attempts = range(80)
    for one in attempts:
        tasks.write(one, "a")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    there = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 40
    resource.setrlimit(resource.RLIMIT_NOFILE, (there + 40, most))
    try:
        with ExitStack() as stack:
            ahead = stack.enter_context(tasks.ahead())
            tasks.until_copying()
            for one in attempts:
                tasks.write(one, "b")
            assert ahead.join(tasks.staged(*attempts))
            stack.pop_all()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert tasks.computed(ahead, *attempts).complete().written == 160


def test_staging_in_files_asks_for_the_right_to_insert(desk: Desk, connect: Connect) -> None:
    role = f"clerk_{uuid.uuid4().hex[:8]}"
    desk.connection.execute(f"CREATE ROLE {role}".encode())
    try:
        desk.connection.execute(
            "SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.target', %s)", ([role],)
        )
        desk.send(1, 1)
        session = connect()
        session.execute(f"SET ROLE {role}".encode())
        held = claim(session, "dbo.target")
        assert held is not None
        ask = "SELECT ssb_internal.create_staging(%s, 'in_files', 'dbo.total', '{a}', '{int8}')"
        with pytest.raises(psycopg.Error, match="INSERT permission was denied") as denied:
            session.execute(ask, (held.claim_id,))
        assert (hint_of(denied.value) or "").startswith("GRANT what is missing")
        desk.connection.execute(f"GRANT INSERT ON dbo.total TO {role}".encode())
        assert session.execute(ask, (held.claim_id,)).fetchone() == (None,)
        session.close()
    finally:
        desk.connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())


@pytest.mark.parametrize("is_ahead", [True, False])
@pytest.mark.parametrize("to", ["double precision", "timestamptz"])
def test_a_column_that_has_another_type_by_now_is_not_given_the_bytes_of_the_first(
    desk: Desk, tasks: Tasks, to: str, is_ahead: bool
) -> None:
    """As when a table is made anew, or altered, while a batch runs."""
    ahead: CopyAhead | None = None
    if is_ahead:
        desk.connection.execute(f"ALTER TABLE dbo.kept ALTER number TYPE {to} USING NULL".encode())
    with ExitStack() as stack:
        if is_ahead:
            ahead = stack.enter_context(tasks.ahead())
        tasks.write(1, "a", "b")
        if ahead is not None:
            assert not ahead.join(tasks.staged(1))
    desk.connection.execute(f"ALTER TABLE dbo.kept ALTER number TYPE {to} USING NULL".encode())
    if to == "timestamptz":
        with pytest.raises((BulkError, psycopg.Error), match='"number" is of type timestamp with time zone'):
            tasks.computed(None, 1).complete()
        assert _kept(desk) == [] and desk.waiting() == 6
    else:
        assert tasks.computed(None, 1).complete().written == 2
        assert _kept(desk) == [(0.0, "a"), (1.0, "b")]


@pytest.mark.long
@pytest.mark.parametrize("overlap", [False, True])
def test_a_jobs_first_table_is_copied_beside_its_tasks_unless_claims_overlap(
    spark: Any, desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch, overlap: bool
) -> None:
    """A claim that is completed may wait for rows of the next one, whose end waits for it."""
    desk.connection.execute(
        "CREATE TABLE dbo.parent (handle uuid PRIMARY KEY);"
        "CREATE TABLE dbo.child (handle uuid REFERENCES dbo.parent, place bigint)"
    )
    desk.send(3, 4)
    joined = []
    join = CopyAhead.join

    def joining(self: CopyAhead, staged: Staged) -> bool:
        joined.append((self._table, join(self, staged)))
        return joined[-1][1]

    monkeypatch.setattr(CopyAhead, "join", joining)

    def book(messages: Any) -> Outputs:
        rows = messages.selectExpr("conversation_handle AS handle", "queuing_order AS place")
        parents = rows.select("handle").distinct()
        replies = parents.selectExpr(
            "handle AS conversation_handle", "'note' AS message_type_name", "'done' AS message_body"
        )
        return Outputs(tables={"dbo.parent": parents, "dbo.child": rows}, replies=replies, end_all=True)

    done = run_job(tcp(desk.database), "dbo.target", book, JobOptions(overlap=overlap))
    assert (done.completed, done.written, done.replied) == (12, 15, 3)
    assert joined == ([] if overlap else [("dbo.parent", True)])
    assert desk.connection.execute(
        "SELECT (SELECT count(*) FROM dbo.parent), count(DISTINCT place) FROM dbo.child"
    ).fetchone() == (3, 12)
    assert desk.waiting() == 0


_DRIVER = """
import os, signal, sys, time
from pathlib import Path
sys.path[:0] = sys.argv[4:]
import psycopg
import test_copying_ahead as t
from pgsb.bulk import claim
t.copying_ahead._PATIENCE = 60

desk = t.Desk(psycopg.connect(sys.argv[1], autocommit=True), type("D", (), {"dsn": sys.argv[1]}))
held = claim(psycopg.connect(sys.argv[1], autocommit=True), "dbo.target")
tasks = t.Tasks(held, desk, Path(sys.argv[3]))
ahead = tasks.ahead()
tasks.write(1, *["some"] * 3000)
tasks.until_copying()
if sys.argv[2] == "among packs":
    os.kill(os.getpid(), signal.SIGKILL)
assert ahead.join(tasks.staged(1))
if sys.argv[2] == "behind them":
    os.kill(os.getpid(), signal.SIGKILL)
tasks.computed(ahead, 1).complete()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
@pytest.mark.parametrize("moment", ["among packs", "behind them", "after the commit"])
def test_a_driver_killed_while_it_copies_ahead_loses_and_repeats_nothing(
    desk: Desk, connect: Connect, tmp_path: Path, moment: str
) -> None:
    desk.connection.execute("CREATE TABLE dbo.kept (number bigint, note varchar(9000))")
    desk.send(2, 3)
    path = [str(Path(__file__).parent), *sys.path]
    died = subprocess.run(
        [sys.executable, "-c", _DRIVER, desk.database.dsn, moment, str(tmp_path), *path],
        check=False,
        timeout=120,
    )
    assert died.returncode == -signal.SIGKILL
    is_done = moment == "after the commit"
    for _ in range(100):
        again = claim(connect(), "dbo.target")
        if again is not None or is_done:
            break
        desk.connection.execute("SELECT pg_sleep(0.1)")
    assert (again.messages if again is not None else 0) == (0 if is_done else 6)
    assert len(_kept(desk)) == (3000 if is_done else 0)
