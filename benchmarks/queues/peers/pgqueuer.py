"""pgqueuer from PyPI; its query builder is asked for the statements."""

import json
import sys

from ..peer import BODY, Peer, cache, fetch, with_values
from ..server import BenchServer, Connection

_STATEMENTS = """
import json, sys
from datetime import timedelta
from uuid import UUID
sys.path.insert(0, sys.argv[1])
from pgqueuer.adapters.persistence import qb
builder = qb.QueryQueueBuilder()
take = builder.build_dequeue_query(batch_size=1, entrypoints=["t"], concurrency_limits=[0],
    queue_manager_id=UUID(int=0), global_concurrency_limit=None, heartbeat_timeout=timedelta(seconds=30))
print(json.dumps({"install": qb.QueryBuilderEnvironment().build_install_query(), "take": take.sql,
                  "add": builder.build_enqueue_query(), "done": builder.build_log_job_query()}))
"""


class PgQueuer(Peer):
    """enqueue; dequeue and the log entry that completes the job."""

    name = "pgqueuer"

    def install(self, server: BenchServer, connection: Connection) -> None:
        folder = cache() / "pgqueuer"
        if not (folder / "pgqueuer").is_dir():
            fetch(
                [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), "pgqueuer>=1.5,<2"],
                self.name,
            )
        printed = fetch([sys.executable, "-c", _STATEMENTS, str(folder)], self.name)
        self._statements: dict[str, str] = json.loads(printed.strip().splitlines()[-1])
        connection.execute(self._statements["install"].encode())

    def enqueue(self, batch: int) -> list[str] | None:
        def fill(value: str) -> str:
            return f"array_fill({value}, ARRAY[{batch}])"

        add = with_values(
            self._statements["add"],
            fill("0"),
            fill("'t'::text"),
            fill(f"'{BODY}'::bytea"),
            fill("'0'::interval"),
            fill("NULL::text"),
            fill("NULL::jsonb"),
        )
        return [f"{add};\n"]

    def dequeue(self, batch: int) -> list[str] | None:
        if batch != 1:
            return None
        none = "'00000000-0000-0000-0000-000000000000'::uuid"
        take = with_values(self._statements["take"], "1", "ARRAY['t']", none, "'30 seconds'::interval")
        done = with_values(
            self._statements["done"],
            "ARRAY[:id]",
            "ARRAY['successful']::pgqueuer_status[]",
            "ARRAY[NULL]::jsonb[]",
        )
        return [f"\\set id 0\n{take} \\aset\n{done};\n"]

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        connection.execute(
            """INSERT INTO pgqueuer (priority, entrypoint, payload, status, execute_after)
               SELECT 0, 't', %s, 'queued', now() FROM generate_series(1, %s)""",
            (BODY.encode(), messages),
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT count(*) FROM pgqueuer").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        connection.execute("TRUNCATE pgqueuer, pgqueuer_log")
