"""pg-boss from the npm registry; the library says its statements itself."""

import json
from uuid import UUID

from ..peer import BODY, Peer, cache, fetch, with_values
from ..server import BenchServer, Connection

_STATEMENTS = """
const plans = require("pg-boss/src/plans");
const PgBoss = require("pg-boss");
(async () => {
  const boss = new PgBoss({ connectionString: process.argv[1], supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue("q");
  await boss.stop({ graceful: false });
  console.log(JSON.stringify({ take: plans.fetchNextJob("pgboss")(), done: plans.completeJobs("pgboss"),
                               add: plans.insertJobs("pgboss") }));
})().catch(error => { console.error(error.message); process.exit(1); });
"""


class PgBoss(Peer):
    """insert(); fetch and complete, which keeps the finished job as pg-boss does."""

    name = "pg-boss"

    def install(self, server: BenchServer, connection: Connection) -> None:
        folder = cache() / "pg-boss"
        folder.mkdir(exist_ok=True)
        if not (folder / "node_modules" / "pg-boss").is_dir():
            fetch(["npm", "install", "--no-fund", "--no-audit", "pg-boss@10"], self.name, folder=folder)
        printed = fetch(["node", "-e", _STATEMENTS, server.dsn], self.name, folder=folder)
        self._statements: dict[str, str] = json.loads(printed.strip().splitlines()[-1])

    def enqueue(self, batch: int) -> list[str] | None:
        job = f"jsonb_build_object('name', 'q', 'data', '{BODY}'::jsonb)"
        jobs = f"(SELECT json_agg({job}) FROM generate_series(1, {batch}))"
        add = with_values(self._statements["add"], jobs, *["NULL"] * 8)
        return [f"{add};\n"]

    def dequeue(self, batch: int) -> list[str] | None:
        if batch != 1:
            return None
        take = with_values(self._statements["take"], "'q'", "1")
        done = with_values(self._statements["done"], "'q'", "ARRAY[:id]", "NULL")
        none = str(UUID(int=0))
        # The id goes back as text.
        done = done.replace("ARRAY[:id]", "ARRAY[:id]::uuid[]")
        return [f"SELECT '{none}' AS id \\gset\n{take} \\aset\n{done};\n"]

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        connection.execute(
            "INSERT INTO pgboss.job (name, data) SELECT 'q', %s::jsonb FROM generate_series(1, %s)",
            (BODY, messages),
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT count(*) FROM pgboss.job WHERE state < 'active'").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        connection.execute("DELETE FROM pgboss.job")
        connection.execute("VACUUM pgboss.job")
