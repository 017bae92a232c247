"""Messages per second through a bulk job, beside plain Spark and beside compiled T-SQL readers.

    python -m benchmarks.spark [--messages 100000] [--size 200] [--rounds 3] [--postgres 18]

All of them sum up bodies of 200 bytes (--size) over messages / 100 conversations, on one durable server:

- bulk     pgsb.bulk.job.run_job on local[2]: claim, read, aggregate, write the sums, and for each
           conversation one reply and its end
- plain    the same bytes from one table into another through Spark's JDBC (with reWriteBatchedInserts):
           what it costs without a queue. Its table was filled and not vacuumed since, the messages were
- plain-vacuumed  the same with its table vacuumed before the clock begins, as the messages are
- rows     a bulk job that writes a row for each message, and nothing else
- replied  the same, with a reply and an end for each conversation
- rows-overlap, replied-overlap  both in four claims, one completed while the next is computed
- readers  two sessions CALL a compiled T-SQL procedure that does the job group by group, on a tenth
           of the messages
- singly   the same message by message (RECEIVE TOP (1)), on a hundredth of the messages

The messages of a hundred conversations at a time are interleaved. A first round of each with a tenth of
the messages is thrown away: the JVM compiles. Prints minimum, median and maximum of
the rounds, of the ratios in each round, and the machine's load. Run in a checkout, from its root.
"""

import argparse
import os
import resource
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgsb.bulk import Outputs
from pgsb.bulk.connections import jdbc_options
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.program import Context
from pgsb.bulk.session import spark_session
from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from pgsb.runtime_sql.installer import install

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.queues.server import running

PER_CONVERSATION = 100
DEFINITIONS = """
CREATE MESSAGE TYPE [//Bulk/Item] VALIDATION = NONE
CREATE CONTRACT [//Bulk/Items] ([//Bulk/Item] SENT BY ANY)
CREATE QUEUE SourceQueue
CREATE QUEUE BulkQueue
CREATE SERVICE [//Bulk/Source] ON QUEUE SourceQueue ([//Bulk/Items])
CREATE SERVICE [//Bulk/Target] ON QUEUE BulkQueue ([//Bulk/Items])
CREATE TABLE Totals (Conversation UNIQUEIDENTIFIER, Items BIGINT, Amount BIGINT)
GO
CREATE PROCEDURE Readers AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @items TABLE (handle UNIQUEIDENTIFIER, body VARBINARY(MAX));
    DECLARE @handle UNIQUEIDENTIFIER, @count BIGINT, @amount BIGINT, @reply VARCHAR(40);
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        RECEIVE conversation_handle, message_body FROM BulkQueue INTO @items;
        IF @@ROWCOUNT = 0
        BEGIN
            COMMIT;
            BREAK;
        END
        SELECT @handle = MAX(CAST(handle AS VARCHAR(36))), @count = COUNT(*),
               @amount = SUM(CAST(SUBSTRING(CAST(body AS VARCHAR(200)), 1, 10) AS BIGINT)) FROM @items;
        INSERT INTO Totals (Conversation, Items, Amount) VALUES (@handle, @count, @amount);
        SET @reply = CAST(@amount AS VARCHAR(40));
        SEND ON CONVERSATION @handle MESSAGE TYPE [//Bulk/Item] (@reply);
        END CONVERSATION @handle;
        DELETE FROM @items;
        COMMIT;
    END
END
GO
CREATE PROCEDURE SingleReaders AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @handle UNIQUEIDENTIFIER, @body VARBINARY(MAX), @items BIGINT, @amount BIGINT, @reply VARCHAR(40);
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        SET @handle = NULL;
        RECEIVE TOP (1) @handle = conversation_handle, @body = message_body FROM BulkQueue;
        IF @handle IS NULL
        BEGIN
            COMMIT;
            BREAK;
        END
        SET @amount = CAST(SUBSTRING(CAST(@body AS VARCHAR(200)), 1, 10) AS BIGINT);
        UPDATE Totals SET Items = Items + 1, Amount = Amount + @amount WHERE Conversation = @handle;
        IF @@ROWCOUNT = 0
            INSERT INTO Totals (Conversation, Items, Amount) VALUES (@handle, 1, @amount);
        SELECT @items = Items, @amount = Amount FROM Totals WHERE Conversation = @handle;
        IF @items = 100
        BEGIN
            SET @reply = CAST(@amount AS VARCHAR(40));
            SEND ON CONVERSATION @handle MESSAGE TYPE [//Bulk/Item] (@reply);
            END CONVERSATION @handle;
        END
        COMMIT;
    END
END
GO
CREATE INDEX TotalsByConversation ON Totals (Conversation);
GO
"""


def totals(messages: Any) -> Outputs:
    """The bulk job's program."""
    from pyspark.sql import functions as f

    amount = f.substring(f.col("message_body").cast("string"), 1, 10).cast("long")
    result = (
        messages.select("conversation_handle", amount.alias("amount"))
        .groupBy(f.col("conversation_handle").alias("conversation"))
        .agg(f.count("*").alias("items"), f.sum("amount").alias("amount"))
        .persist()
    )
    return Outputs(
        tables={"dbo.totals": result},
        replies=result.selectExpr(
            "conversation AS conversation_handle",
            "'//Bulk/Item' AS message_type_name",
            "CAST(amount AS STRING) AS message_body",
        ),
        end_all=True,
    )


def define(connection: psycopg.Connection[Any]) -> None:
    """The runtime, the services and the procedure of the readers."""
    install(connection)
    for batch in compile_script(Source("definitions.sql", DEFINITIONS)).batches:
        for statement in batch.statements:
            connection.execute(statement.sql.encode())


def copy(messages: Any) -> Outputs:
    """A row for each message."""
    return Outputs(
        tables={
            "dbo.copied": messages.selectExpr(
                "conversation_handle AS conversation", "queuing_order AS place", "message_body AS body"
            )
        }
    )


def copy_and_reply(messages: Any, context: Context) -> Outputs:
    """The same, with a reply and an end for each conversation."""
    return Outputs(
        tables=copy(messages).tables,
        replies=context.conversations.selectExpr(
            "conversation_handle", "'//Bulk/Item' AS message_type_name", "'done' AS message_body"
        ),
        end_all=True,
    )


class Bench:
    """One database with the services, and what is done to it."""

    def __init__(self, dsn: str, messages: int, size: int = 200) -> None:
        self.dsn = dsn
        self.messages = messages
        self.filler = size - 10  # behind ten digits
        self.started: Counter[str] = Counter()
        self.connection = psycopg.connect(dsn, autocommit=True)
        settings = {"spark.log.level": "OFF", "spark.driver.memory": "2g", "spark.ui.enabled": "false"}
        self.spark = spark_session("pgsb benchmark", JobOptions(master="local[2]", settings=settings))
        define(self.connection)

    def bulk(self) -> float:
        """Messages per second of the bulk job."""
        self._fill(self.messages)
        before, self.started = time.perf_counter(), self.processor()
        done = run_job(self.dsn, "dbo.bulkqueue", totals, JobOptions(max_messages=self.messages))
        seconds = time.perf_counter() - before
        if done.completed != self.messages:
            raise SystemExit(f"{done.completed} of {self.messages} messages were completed")
        self._check(self.messages)
        return self.messages / seconds

    def rows(self) -> float:
        """Messages per second of a job that writes a row for each message."""
        return self._job(copy, JobOptions(max_messages=self.messages, ordered=False))

    def replied(self) -> float:
        """The same, with a reply and an end for each conversation."""
        return self._job(copy_and_reply, JobOptions(max_messages=self.messages, ordered=False))

    def rows_overlap(self) -> float:
        """Messages per second of `rows` in claims that overlap."""
        return self._job(
            copy, JobOptions(max_messages=max(1, self.messages // 4), ordered=False, overlap=True)
        )

    def replied_overlap(self) -> float:
        """The same of `replied`."""
        return self._job(
            copy_and_reply, JobOptions(max_messages=max(1, self.messages // 4), ordered=False, overlap=True)
        )

    def _job(self, program: Any, options: JobOptions) -> float:
        """Plain Spark does not sort: neither do ``options``."""
        self._fill(self.messages)
        self.connection.execute("DROP TABLE IF EXISTS dbo.copied")
        self.connection.execute("CREATE TABLE dbo.copied (conversation uuid, place bigint, body bytea)")
        before, self.started = time.perf_counter(), self.processor()
        done = run_job(self.dsn, "dbo.bulkqueue", program, options)
        if done.completed != self.messages or done.written != self.messages:
            raise SystemExit(f"{done.completed} of {self.messages} messages, {done.written} rows")
        return self.messages / (time.perf_counter() - before)

    def processor(self) -> "Counter[str]":
        """Microseconds of the processor that the server, the JVM and Python (driver, workers) used so far."""
        with psycopg.connect(self.dsn) as connection:
            row = connection.execute(
                "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int"
            ).fetchone()
        assert row is not None
        roots = {row[0]: "server", os.getpid(): "Python"}
        # What a process has used counts as its parent's once that has noticed its end: between two looks at
        # the same processes that has not happened.
        used, after = descendants(roots), descendants(roots)
        while used.keys() != after.keys():
            time.sleep(0.02)
            used, after = after, descendants(roots)
        total: Counter[str] = Counter()
        for part, spent in after.values():
            total[part] += spent
        return total

    def plain_vacuumed(self) -> float:
        """The same with the rows in the state in which the jobs find their messages."""
        return self.plain("VACUUM ANALYZE dbo.plain_in")

    def plain(self, prepare: str = "ANALYZE dbo.plain_in") -> float:
        """Rows per second of Spark reading and writing the same bytes."""
        self.connection.execute("DROP TABLE IF EXISTS dbo.plain_in, dbo.plain_out")
        self.connection.execute(
            "CREATE TABLE dbo.plain_in AS SELECT i / %s AS conversation, i AS place,"
            " convert_to(lpad((i %% 1000)::text, 10, '0') || repeat('x', %s), 'UTF8') AS body"
            " FROM generate_series(0, %s - 1) AS i",
            (PER_CONVERSATION, self.filler, self.messages),
        )
        self.connection.execute("CREATE TABLE dbo.plain_out (LIKE dbo.plain_in)")
        self.connection.execute(prepare.encode())
        options = {**jdbc_options(self.dsn), "fetchsize": "1000"}
        url = options.pop("url") + "&reWriteBatchedInserts=true"
        half = self.messages // 2
        before, self.started = time.perf_counter(), self.processor()
        frame = self.spark.read.jdbc(
            url, "dbo.plain_in", predicates=[f"place < {half}", f"place >= {half}"], properties=options
        )
        frame.write.jdbc(url, "dbo.plain_out", mode="append", properties=options)
        return self.messages / (time.perf_counter() - before)

    def readers(self) -> float:
        """Messages per second of two T-SQL readers, a group at a time."""
        return self._read("dbo.readers", self.messages // 10)

    def singly(self) -> float:
        """Messages per second of two T-SQL readers, a message at a time."""
        return self._read("dbo.singlereaders", self.messages // 100)

    def _read(self, procedure: str, messages: int) -> float:
        count = max(PER_CONVERSATION, messages // PER_CONVERSATION * PER_CONVERSATION)
        self._fill(count)
        self.started = self.processor()

        def read() -> None:
            with psycopg.connect(self.dsn, autocommit=True, prepare_threshold=None) as connection:
                connection.execute(f"CALL {procedure}()".encode())

        threads = [threading.Thread(target=read) for _ in range(2)]
        before = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - before
        self._check(count)
        return count / seconds

    def _fill(self, messages: int) -> None:
        """Dialogs with their messages, and an empty table of results; not timed.

        Nothing else waits: initiators have read what the job before has answered, as those of an application
        do. What waits for others makes a completion dearer, and would grow from round to round.
        """
        self.connection.execute("TRUNCATE dbo.totals")
        answered = "SELECT count(*) FROM ssb.receive_and_end('dbo.sourcequeue', groups => 1000)"
        while self.connection.execute(answered).fetchone() != (0,):
            pass
        for start in range(0, messages // PER_CONVERSATION, 100):
            dialogs = min(100, messages // PER_CONVERSATION - start)
            self.connection.execute(
                "WITH d AS MATERIALIZED ("
                "   SELECT ssb.begin_dialog('//Bulk/Source', '//Bulk/Target', '//Bulk/Items') AS handle"
                "     FROM generate_series(1, %s))"
                " SELECT ssb.send_batch(array_agg(handle ORDER BY i, handle), array_agg('//Bulk/Item'::text),"
                "          array_agg(convert_to(lpad(i::text, 10, '0') || repeat('x', %s), 'UTF8')"
                "                    ORDER BY i, handle))"
                "   FROM d, generate_series(1, %s) AS i",
                (dialogs, self.filler, PER_CONVERSATION),
            )
        self.connection.execute("VACUUM ANALYZE")

    def _check(self, messages: int) -> None:
        """Every conversation was summed up once, and answered."""
        row = self.connection.execute("SELECT count(*), sum(items), sum(amount) FROM dbo.totals").fetchone()
        expected = messages // PER_CONVERSATION
        if row != (expected, messages, expected * PER_CONVERSATION * (PER_CONVERSATION + 1) // 2):
            raise SystemExit(f"wrong results: {row}")


def descendants(roots: dict[int, str]) -> dict[int, tuple[str, int]]:
    """Of ``roots`` and what they have started: which part it is, and what it and its dead children have used.

    In microseconds. A JVM is a part of its own, whose children are its root's.
    """
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
            except OSError:
                continue
            fields = rest.split()
            ticks = sum(map(int, fields[11:15]))
            found[int(entry.name)] = (int(fields[1]), name, ticks * 1_000_000 // os.sysconf("SC_CLK_TCK"))
    ours = {}
    for number, (_, name, spent) in found.items():
        above = number
        while above in found and above not in roots:
            above = found[above][0]
        if above in roots:
            ours[number] = ("JVM" if name == "java" else roots[above], spent)
    return ours


def _three(ratios: list[float]) -> str:
    return " / ".join(f"{one(ratios):.2f}" for one in (min, statistics.median, max))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=200, help="bytes of a body, 10 at least")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="some of the above, by commas")
    parser.add_argument("--postgres", help="a major version or a bin directory")
    arguments = parser.parse_args()
    if arguments.size < 10:
        parser.error("--size is 10 at least: a body begins with its amount")
    with running(arguments.postgres) as server:
        bench = Bench(over_tcp(server.dsn), arguments.messages, arguments.size)
        runs: dict[str, Callable[[], float]] = {
            "bulk": bench.bulk,
            "plain": bench.plain,
            "plain-vacuumed": bench.plain_vacuumed,
            "rows": bench.rows,
            "replied": bench.replied,
            "rows-overlap": bench.rows_overlap,
            "replied-overlap": bench.replied_overlap,
            "readers": bench.readers,
            "singly": bench.singly,
        }
        if arguments.only:
            runs = {name: runs[name] for name in arguments.only.split(",")}
        rates: dict[str, list[float]] = {name: [] for name in runs}
        costs: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(arguments.rounds + 1):
            bench.messages = arguments.messages if number else max(PER_CONVERSATION, arguments.messages // 10)
            for name, run in runs.items():
                rate = run()
                share = {"readers": 10, "singly": 100}.get(name, 1)
                spent = bench.processor()
                spent.subtract(bench.started)
                parts = {part: used / bench.messages * share for part, used in spent.items()}
                cost = sum(parts.values())
                told = ", ".join(f"{part} {used:.1f}" for part, used in sorted(parts.items()))
                print(
                    f"round {number} {name}: {rate:,.0f}/s, {cost:.1f} µs ({told})",
                    file=sys.stderr,
                    flush=True,
                )
                if number:
                    rates[name].append(rate)
                    costs[name].append(cost)
        print(
            f"PostgreSQL {server.version}, {arguments.messages:,} messages of {arguments.size} bytes, "
            f"{arguments.rounds} rounds, "
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        )
        for name in runs:
            low, middle, high = min(rates[name]), statistics.median(rates[name]), max(rates[name])
            shown = "".join(f"{one(costs[name]):8.1f}" for one in (min, statistics.median, max))
            print(f"{name:15} {low:>10,.0f} {middle:>10,.0f} {high:>10,.0f}/s {shown} µs of processor")
        for over, under in (
            *((name, one) for one in ("plain", "plain-vacuumed") for name in runs),
            ("replied", "rows"),
        ):
            if over != under and {over, under} <= runs.keys():
                times = [b / a for a, b in zip(rates[over], rates[under], strict=True)]
                used = [a / b for a, b in zip(costs[over], costs[under], strict=True)]
                print(
                    f"{over} / {under}, by rounds: {_three(times)} x the time, {_three(used)} x the processor"
                )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory of the driver's Python: {peak:.0f} MiB")
        bench.spark.stop()


def over_tcp(dsn: str) -> str:
    """The server of the harness over 127.0.0.1, with its password: Java has no unix sockets."""
    user = conninfo_to_dict(dsn)["user"]
    with psycopg.connect(dsn) as connection:
        row = connection.execute(
            "SELECT current_setting('port'), current_setting('data_directory'), current_database()"
        ).fetchone()
    assert row is not None
    password = (Path(row[1]).parent / "password").read_text().strip()
    return make_conninfo(host="127.0.0.1", port=row[0], user=user, password=password, dbname=row[2])


if __name__ == "__main__":
    main()
