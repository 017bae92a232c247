"""Rows in packs, without Spark: COPY makes of them what INSERT does of staged ones, and faults lose none.

Packs are in a staging table, or in files where all tasks run on the driver's machine.
"""

import errno
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bulk_desk import Desk
from psycopg import sql

from pgsb.bulk import claim
from pgsb.bulk.binary_copy import HEADER, TRAILER, UUID_OR_TEXT, text_of
from pgsb.bulk.claim import Claim
from pgsb.bulk.complete import _finish
from pgsb.bulk.packed_rows import COLUMNS, Files, pack, place_of, written
from pgsb.bulk.problems import BulkError, ClaimLost
from pgsb.bulk.program import Outputs
from pgsb.bulk.staging import Staged
from pgsb.bulk.tables import PackedTable
from pgsb.bulk.transport import Travel
from support import Connection

pyarrow = pytest.importorskip("pyarrow")

Connect = Callable[..., Connection]
USUAL = "0a1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c5d"
TYPES = (UUID_OR_TEXT, "int8", "bytea", "bytea", "int8")
NAMES = ("handle", "number", "note", "conversation_handle", "queuing_order")


def _travel(name: str, type_: str, value: str) -> Travel:
    # The value has a function's result in it, so it is no LiteralString; all of it is this file's.
    return Travel(name, name, type_, sql.SQL(value), True)  # type: ignore[arg-type]


COLUMNS_OF_TABLE = (
    _travel(
        "handle",
        UUID_OR_TEXT,
        f"COALESCE(handle, CAST(convert_from(\"{text_of('handle')}\", 'UTF8') AS uuid))",
    ),
    _travel("number", "int8", "number"),
    _travel("note", "bytea", "CAST(convert_from(note, 'UTF8') AS varchar)"),
)


def _packed(
    held: Claim, desk: Desk, rows: list[tuple[Any, ...]], attempts: int = 2, files: Files | None = None
) -> PackedTable:
    """The rows, in order, by as many tasks, each of which was run twice; the second time counts."""
    made = held.connection.execute(
        "SELECT ssb_internal.create_staging(%s, 'packed', 'dbo.kept')", (held.claim_id,)
    ).fetchone()
    assert made is not None
    staging = str(made[0])
    share = -(-len(rows) // attempts)
    counted = []
    sizes = []
    plain = True
    for number in range(2 * attempts):
        part = rows[number // 2 * share :][:share]
        columns = [pyarrow.array([row[i] for row in part], kind) for i, kind in enumerate(_KINDS)]
        batch = pyarrow.RecordBatch.from_arrays(columns, list(NAMES))
        place = 0
        for one in (batch.slice(0, 2), batch.slice(2)):
            data, packs, largest, is_plain = pack(one, TYPES, 3, number, place)
            place += packs
            if files is not None:
                with place_of(files.path, number).open("ab") as file:
                    file.write(data)
            else:
                with held.connection.cursor().copy(
                    f"COPY {staging} ({', '.join(COLUMNS)}) FROM STDIN (FORMAT BINARY)".encode()
                ) as copy:
                    copy.write(HEADER + data + TRAILER)
            sizes.append(largest)
            plain = plain and is_plain
        if number % 2:
            counted.append(number)
    staged = Staged("packed", staging, NAMES, tuple(counted), len(rows), max(sizes), plain, files)
    origin = ("conversation_handle", "queuing_order")
    return PackedTable("dbo.kept", staged, COLUMNS_OF_TABLE, origin, False, NAMES, TYPES, desk.database.dsn)


@pytest.fixture(params=["in a table", "in files"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files | None:
    return Files(str(tmp_path)) if request.param == "in files" else None


_KINDS = (pyarrow.string(), pyarrow.int64(), pyarrow.string(), pyarrow.binary(), pyarrow.int64())


@pytest.fixture
def held(desk: Desk, connect: Connect) -> Claim:
    desk.connection.execute("CREATE TABLE dbo.kept (note varchar(9000), number bigint, handle uuid)")
    desk.send(2, 3)
    found = claim(connect(), "dbo.target")
    assert found is not None
    return found


def _rows(desk: Desk, count: int) -> list[tuple[Any, ...]]:
    """Of small and large rows, with NULLs; each from a message of the target's queue."""
    origins = desk.connection.execute(
        "SELECT conversation_handle::text::bytea, queuing_order FROM dbo.target ORDER BY queuing_order"
    ).fetchall()
    notes = ("ß", None, "", "x" * 300, "y" * 8700)
    return [
        (None if i % 7 == 3 else USUAL, None if i % 5 == 4 else i, notes[i % 5], *origins[i % len(origins)])
        for i in range(count)
    ]


def _kept(desk: Desk) -> list[tuple[Any, ...]]:
    return desk.connection.execute("SELECT handle, number, note FROM dbo.kept").fetchall()


def _expected(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(None if one is None else uuid.UUID(one), *more[:2]) for one, *more in rows]


def _finished(held: Claim, table: PackedTable, failures: str = "requeue") -> Any:
    return _finish(held, Outputs(unread="complete", failures=failures), [table], [], table.dsn)


@pytest.mark.parametrize("count", [3, 700])
def test_packs_of_the_attempts_that_count_become_rows(
    desk: Desk, held: Claim, files: Files | None, count: int
) -> None:
    rows = _rows(desk, count)
    table = _packed(held, desk, rows, files=files)
    assert table.staged.is_plain
    done = _finished(held, table)
    assert (done.written, done.deleted) == (count, 6)
    assert sorted(_kept(desk), key=str) == sorted(_expected(rows), key=str)


def test_a_pack_fills_a_page_and_none_is_moved_out_of_its_row(desk: Desk, held: Claim) -> None:
    rows = [(USUAL, i, "x" * 100, b"", 0) for i in range(20_000)]
    table = _packed(held, desk, rows, attempts=1)
    pages, moved = desk.connection.execute(
        "SELECT pg_relation_size(c.oid) / 8192, pg_relation_size(c.reltoastrelid)"
        f" FROM pg_class AS c WHERE c.oid = '{table.staged.staging}'::regclass".encode()
    ).fetchone() or (0, 0)
    assert moved == 0
    # Written twice, with what tells the origin.
    size = 2 * sum(2 + 20 + 12 + 4 + len(row[2]) + 2 + 4 + 12 for row in rows)
    assert size / 8192 < pages < 1.1 * size / 8192 + 4


def test_what_is_spelled_otherwise_goes_the_long_way(desk: Desk, held: Claim, files: Files | None) -> None:
    rows = [("{" + USUAL + "}", 1, "a", b"", 0), (USUAL, 2, "b", b"", 0), (None, 3, None, b"", 0)]
    table = _packed(held, desk, rows, 1, files)
    assert not table.staged.is_plain
    assert _finished(held, table).written == 3
    assert _kept(desk) == _expected([(USUAL, *row[1:]) if row[0] else row for row in rows])


@pytest.mark.parametrize("bad", ["too long", "a NUL", "twice"])
def test_a_row_that_copy_refuses_is_named_and_the_others_are_written(
    desk: Desk, held: Claim, files: Files | None, bad: str
) -> None:
    desk.connection.execute("CREATE UNIQUE INDEX ON dbo.kept (number)")
    rows = _rows(desk, 6)
    rows[4] = (
        *rows[4][:1],
        1 if bad == "twice" else 4,
        {"too long": "z" * 9001, "a NUL": "\0"}.get(bad),
        *rows[4][3:],
    )
    table = _packed(held, desk, rows, files=files)
    with pytest.raises(BulkError, match=f"a row for dbo.kept from message {rows[4][4]} of conversation"):
        _finished(held, table)
    assert _kept(desk) == [] and desk.waiting() == 6
    done = _finished(held, table, "quarantine")
    # The failed message, and those after it in its conversation.
    order, handle = rows[4][4], rows[4][3]
    good = [row for row in rows if row[3] != handle or row[4] < order]
    assert (done.written, done.deleted, done.failed) == (len(good), len(good), 1)
    assert sorted(_kept(desk), key=str) == sorted(_expected(good), key=str)


def test_packs_that_are_gone_are_missed(desk: Desk, held: Claim) -> None:
    """As after a crash of the server, which empties what is not logged."""
    table = _packed(held, desk, _rows(desk, 6))
    desk.connection.execute(f"TRUNCATE {table.staged.staging}".encode())
    with pytest.raises(BulkError, match=r"wrote 6 rows for dbo\.kept, 0 are there"):
        _finished(held, table)
    assert _kept(desk) == [] and desk.waiting() == 6


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        ("removed", "cannot be read again: .*No such file"),
        ("cut in a head", "cannot be read again: unpack requires"),
        ("cut in a row", "cannot be read again: .* has been cut"),
        ("emptied", r"wrote 6 rows for dbo\.kept, 3 are there"),
    ],
)
def test_files_of_packs_that_are_not_whole_are_missed(
    desk: Desk, held: Claim, tmp_path: Path, deed: str, told: str
) -> None:
    files = Files(str(tmp_path))
    table = _packed(held, desk, _rows(desk, 6), files=files)
    place = place_of(files.path, 3)
    if deed == "removed":
        place.unlink()
    else:
        size = {"emptied": 0, "cut in a head": 7, "cut in a row": place.stat().st_size - 1}[deed]
        place.write_bytes(place.read_bytes()[:size])
    with pytest.raises(BulkError, match=told):
        _finished(held, table)
    assert _kept(desk) == [] and desk.waiting() == 6


def test_where_there_is_no_room_for_packs_the_directory_is_named(tmp_path: Path) -> None:
    """What is no matter of room passes as it is."""
    with (
        pytest.raises(BulkError, match=r"\(spark.local.dir\): \[Errno \d+\] No space left on device"),
        written(str(tmp_path), 1) as file,
    ):
        file.write(b"a")
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(ConnectionResetError), written(str(tmp_path), 2):
        raise ConnectionResetError
    assert place_of(str(tmp_path), 1).read_bytes() == b"a"


def test_files_of_packs_are_the_users_own_and_go_with_them(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    (place,) = tmp_path.iterdir()
    assert place.stat().st_mode & 0o777 == 0o700
    place_of(files.path, 1).write_bytes(b"some")
    del files
    assert list(tmp_path.iterdir()) == []


def test_a_reader_of_packs_that_is_ended_takes_everything_back(
    desk: Desk, held: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(desk, 3000)
    table = _packed(held, desk, rows)
    packs = PackedTable._packs
    ended = []

    def ending(self: PackedTable, columns: str, order: str = "") -> Iterator[list[tuple[Any, ...]]]:
        for some in packs(self, columns, order):
            yield some
            if not ended:
                ended.append(
                    desk.value(
                        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                        " WHERE application_name = 'pgsb spark packs' AND datname = current_database()"
                    )
                )

    monkeypatch.setattr(PackedTable, "_packs", ending)
    with pytest.raises((psycopg.OperationalError, ClaimLost)):
        _finished(held, table)
    assert ended == [1] and _kept(desk) == [] and desk.waiting() == 6
    # The claim's own session is there, and may try again.
    assert _finished(held, table).written == 3000


_DRIVER = """
import os, signal, sys
sys.path[:0] = sys.argv[4:]
import psycopg
import test_packs
from pgsb.bulk import claim
from pgsb.bulk.packed_rows import Files
from pgsb.bulk.tables import PackedTable

desk = test_packs.Desk(psycopg.connect(sys.argv[1], autocommit=True), type("D", (), {"dsn": sys.argv[1]}))
held = claim(psycopg.connect(sys.argv[1], autocommit=True), "dbo.target")
files = Files(sys.argv[3]) if sys.argv[3] else None
table = test_packs._packed(held, desk, test_packs._rows(desk, 3000), files=files)
packs = PackedTable._packs

def dying(self, columns, order=""):
    for some in packs(self, columns, order):
        yield some
        if sys.argv[2] == "among packs":
            os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[2] == "behind them":
        os.kill(os.getpid(), signal.SIGKILL)

PackedTable._packs = dying
test_packs._finished(held, table)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
@pytest.mark.parametrize("moment", ["among packs", "behind them", "after the commit"])
@pytest.mark.parametrize("in_files", [False, True])
def test_a_driver_killed_while_copy_runs_loses_and_repeats_nothing(
    desk: Desk, connect: Connect, tmp_path: Path, in_files: bool, moment: str
) -> None:
    desk.connection.execute("CREATE TABLE dbo.kept (note varchar(9000), number bigint, handle uuid)")
    desk.send(2, 3)
    path = [str(Path(__file__).parent), *sys.path]
    died = subprocess.run(
        [sys.executable, "-c", _DRIVER, desk.database.dsn, moment, str(tmp_path) if in_files else "", *path],
        check=False,
        timeout=120,
    )
    assert died.returncode == -signal.SIGKILL
    # The session of the killed driver notices at once: its COPY gets no more.
    desk.connection.execute("SELECT FROM ssb.conversation_endpoint FOR UPDATE")
    is_done = moment == "after the commit"
    for _ in range(100):
        again = claim(connect(), "dbo.target")
        if again is not None or is_done:
            break
        desk.connection.execute("SELECT pg_sleep(0.1)")
    assert (again.messages if again is not None else 0) == (0 if is_done else 6)
    assert len(_kept(desk)) == (3000 if is_done else 0)
