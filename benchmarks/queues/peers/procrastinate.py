"""procrastinate, through the SQL functions that its workers call."""

import sys
import zipfile

from ..peer import BODY, Peer, cache, fetch
from ..server import BenchServer, Connection


class Procrastinate(Peer):
    """defer_jobs; fetch_job + finish_job with the job deleted. Its `lock` keeps groups in order."""

    name = "procrastinate"
    keeps_groups = True

    def install(self, server: BenchServer, connection: Connection) -> None:
        folder = cache() / "procrastinate"
        if not list(folder.glob("procrastinate-*.whl")):
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(folder)]
            fetch([*command, "procrastinate>=3,<4"], "procrastinate")
        with zipfile.ZipFile(sorted(folder.glob("procrastinate-*.whl"))[-1]) as archive:
            connection.execute(archive.read("procrastinate/sql/schema.sql"))
        connection.execute("SELECT procrastinate_register_worker_v1()")

    def enqueue(self, batch: int) -> list[str] | None:
        job = f"ROW('q', 't', 0, NULL, NULL, '{BODY}'::jsonb, NULL)::procrastinate_job_to_defer_v1"
        return [f"SELECT procrastinate_defer_jobs_v1(array_fill({job}, ARRAY[{batch}]));\n"]

    def dequeue(self, batch: int) -> list[str] | None:
        if batch != 1:
            return None
        return [
            "SELECT procrastinate_finish_job_v1((j).id, 'succeeded', true)"
            " FROM (SELECT procrastinate_fetch_job_v2(NULL, 1) j OFFSET 0) f WHERE (j).id IS NOT NULL;\n"
        ]

    def grouped(self) -> list[str] | None:
        return self.dequeue(1)

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        connection.execute(
            """INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args)
               SELECT 'q', 't', CASE WHEN %(groups)s < %(messages)s THEN (i %% %(groups)s)::text END,
                      %(body)s::jsonb
                 FROM generate_series(1, %(messages)s) i""",
            {"groups": groups, "messages": messages, "body": BODY},
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        connection.execute("TRUNCATE procrastinate_jobs CASCADE")
