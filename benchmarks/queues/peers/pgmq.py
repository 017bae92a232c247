"""pgmq, installed from the SQL that its Python package carries."""

import sys
import zipfile

from ..peer import BODY, Peer, Unavailable, cache, fetch
from ..server import BenchServer, Connection


class Pgmq(Peer):
    """send / send_batch; read + delete, which is how its messages are acknowledged."""

    name = "pgmq"
    keeps_groups = True

    def __init__(self) -> None:
        # Reading by groups wants an index that slows everything else: a queue of its own has it.
        self._queue = "q"

    def install(self, server: BenchServer, connection: Connection) -> None:
        folder = cache() / "pgmq"
        if not list(folder.glob("pgmq-*.whl")):
            fetch(
                [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(folder), "pgmq"],
                "pgmq",
            )
        wheel = sorted(folder.glob("pgmq-*.whl"))[-1]
        with zipfile.ZipFile(wheel) as archive:
            scripts = [name for name in archive.namelist() if name.endswith("/sql/pgmq.sql")]
            if not scripts:
                raise Unavailable(f"pgmq: {wheel.name} carries no SQL")
            text = archive.read(scripts[0]).decode()
        connection.execute(text.encode())
        connection.execute("SELECT pgmq.create('q'), pgmq.create('fifo')")
        connection.execute("SELECT pgmq.create_fifo_index('fifo')")

    def enqueue(self, batch: int) -> list[str] | None:
        self._queue = "q"
        if batch == 1:
            return [f"SELECT pgmq.send('q', '{BODY}'::jsonb);\n"]
        bodies = f"array_fill('{BODY}'::jsonb, ARRAY[{batch}])"
        return [f"SELECT count(*) FROM pgmq.send_batch('q', {bodies});\n"]

    def dequeue(self, batch: int) -> list[str] | None:
        self._queue = "q"
        return [
            f"SELECT pgmq.delete('q', ARRAY(SELECT msg_id FROM pgmq.read('q', 30, {batch})));\n"
            if batch > 1
            else "SELECT pgmq.delete('q', (SELECT msg_id FROM pgmq.read('q', 30, 1)));\n"
        ]

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        connection.execute(
            """SELECT count(*) FROM pgmq.send_batch(%s,
                 ARRAY(SELECT %s::jsonb FROM generate_series(1, %s)),
                 ARRAY(SELECT jsonb_build_object('x-pgmq-group', (i / %s %% %s)::text)
                         FROM generate_series(1, %s) i))""",
            (self._queue, BODY, messages, batch, groups, messages),
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute(f"SELECT count(*) FROM pgmq.q_{self._queue}".encode()).fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        connection.execute(f"TRUNCATE pgmq.q_{self._queue}".encode())

    def grouped(self) -> list[str] | None:
        self._queue = "fifo"
        return [
            "SELECT pgmq.delete('fifo', ARRAY(SELECT msg_id FROM pgmq.read_grouped_rr('fifo', 30, 1)));\n"
        ]


class PgmqPop(Pgmq):
    """The same queue read by pop: at most once, deleted as it is handed out."""

    name = "pgmq.pop"

    def enqueue(self, batch: int) -> list[str] | None:
        return None

    def dequeue(self, batch: int) -> list[str] | None:
        return [f"SELECT * FROM pgmq.pop('q', {batch});\n"]

    def grouped(self) -> list[str] | None:
        return None
