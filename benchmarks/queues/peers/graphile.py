"""graphile-worker from the npm registry.

Its statements are not kept here: the library is asked for them, with a client
that only writes down what it is told to send.
"""

import json

from ..peer import BODY, Peer, cache, fetch, with_values
from ..server import BenchServer, Connection

_STATEMENTS = """
const { runMigrations } = require("graphile-worker");
const { batchGetJobs } = require("graphile-worker/dist/sql/getJobs");
const { batchCompleteJobs } = require("graphile-worker/dist/sql/completeJobs");
const options = { escapedWorkerSchema: "graphile_worker", workerSchema: "graphile_worker", logger: console,
                  resolvedPreset: { worker: { preparedStatements: false, useNodeTime: false } } };
const sent = [];
const client = { query: async query => {
  const text = typeof query === "string" ? query : query.text;
  sent.push(text);
  return { rows: text.includes("_private_tasks") ? [{ id: 1, identifier: "t" }] : [] };
} };
const withClient = callback => callback(client);
withClient.withRetries = withClient;
(async () => {
  await runMigrations({ connectionString: process.argv[1] });
  await batchGetJobs(options, withClient, { t: () => {} }, "bench", null, 1);
  const take = sent.pop();
  await batchCompleteJobs(options, withClient, "bench", [{ id: 1, job_queue_id: null }]);
  const done = sent.pop();
  await batchCompleteJobs(options, withClient, "bench", [{ id: 1, job_queue_id: 1 }]);
  console.log(JSON.stringify({ take, done, done_in_queue: sent.pop() }));
})().catch(error => { console.error(error.message); process.exit(1); });
"""


class GraphileWorker(Peer):
    """add_job(s); one statement takes a job, another completes it."""

    name = "graphile-worker"
    keeps_groups = True

    def install(self, server: BenchServer, connection: Connection) -> None:
        folder = cache() / "graphile-worker"
        folder.mkdir(exist_ok=True)
        if not (folder / "node_modules" / "graphile-worker").is_dir():
            fetch(
                ["npm", "install", "--no-fund", "--no-audit", "graphile-worker@0"], self.name, folder=folder
            )
        printed = fetch(["node", "-e", _STATEMENTS, server.dsn], self.name, folder=folder)
        self._statements: dict[str, str] = json.loads(printed.strip().splitlines()[-1])
        connection.execute("SELECT graphile_worker.add_job('t', '{}'::json)")
        self.clear(connection)
        row = connection.execute("SELECT id FROM graphile_worker._private_tasks").fetchone()
        assert row is not None
        self._task = row[0]

    def enqueue(self, batch: int) -> list[str] | None:
        if batch == 1:
            return [f"SELECT graphile_worker.add_job('t', '{BODY}'::json);\n"]
        spec = f"ROW('t', '{BODY}'::json, NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec"
        return [f"SELECT count(*) FROM graphile_worker.add_jobs(array_fill({spec}, ARRAY[{batch}]));\n"]

    def _script(self, done: str) -> str:
        # \aset sets nothing where no row came, so the id of before is reset first.
        take = with_values(self._statements["take"], "'bench'::text", f"'{{{self._task}}}'::int[]")
        complete = (
            with_values(self._statements[done], ":id", "'bench'")
            if done == "done"
            else with_values(self._statements[done], "ARRAY[:id]", "'bench'")
        )
        return f"\\set id 0\n{take} \\aset\n{complete};\n"

    def dequeue(self, batch: int) -> list[str] | None:
        return [self._script("done")] if batch == 1 else None

    def grouped(self) -> list[str] | None:
        return [self._script("done_in_queue")]

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        connection.execute(
            """SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
                 SELECT ROW('t', %(body)s::json,
                            CASE WHEN %(groups)s < %(messages)s THEN (i / %(batch)s %% %(groups)s)::text END,
                            NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec
                   FROM generate_series(1, %(messages)s) i))""",
            {"messages": messages, "groups": groups, "batch": batch, "body": BODY},
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT count(*) FROM graphile_worker._private_jobs").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        connection.execute(
            "TRUNCATE graphile_worker._private_jobs, graphile_worker._private_job_queues CASCADE"
        )
