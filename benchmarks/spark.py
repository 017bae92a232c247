"""Messages per second through a bulk job, beside plain Spark and beside compiled T-SQL readers.

    python -m benchmarks.spark [--messages 100000] [--rounds 3] [--postgres 18]

All of them sum up bodies of 200 bytes over messages / 100 conversations, on one durable server:

- bulk     pgsb.bulk.job.run_job on local[2]: claim, read, aggregate, write the sums, and for each
           conversation one reply and its end
- plain    the same bytes from one table into another through Spark's JDBC: what it costs without a queue
- readers  two sessions CALL a compiled T-SQL procedure that does the job group by group, on a tenth
           of the messages
- singly   the same message by message (RECEIVE TOP (1)), on a hundredth of the messages

The messages of a hundred conversations at a time are interleaved. A first round of each with a tenth of
the messages is thrown away: the JVM compiles. Prints minimum, median and maximum of
the rounds, the ratios of the medians, and the machine's load. Run in a checkout, from its root.
"""

import argparse
import os
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgsb.bulk import Outputs
from pgsb.bulk.job import run_job
from pgsb.bulk.session import jdbc_options, spark_session
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


class Bench:
    """One database with the services, and what is done to it."""

    def __init__(self, dsn: str, messages: int) -> None:
        self.dsn = dsn
        self.messages = messages
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.spark = spark_session(
            "pgsb benchmark",
            master="local[2]",
            settings={"spark.log.level": "OFF", "spark.driver.memory": "2g"},
        )
        define(self.connection)

    def bulk(self) -> float:
        """Messages per second of the bulk job."""
        self._fill(self.messages)
        before = time.perf_counter()
        done = run_job(self.dsn, "dbo.bulkqueue", totals, max_messages=self.messages)
        seconds = time.perf_counter() - before
        if done.completed != self.messages:
            raise SystemExit(f"{done.completed} of {self.messages} messages were completed")
        self._check(self.messages)
        return self.messages / seconds

    def plain(self) -> float:
        """Rows per second of Spark reading and writing the same bytes."""
        self.connection.execute("DROP TABLE IF EXISTS dbo.plain_in, dbo.plain_out")
        self.connection.execute(
            "CREATE TABLE dbo.plain_in AS SELECT i / %s AS conversation, i AS place,"
            " convert_to(lpad((i %% 1000)::text, 10, '0') || repeat('x', 190), 'UTF8') AS body"
            " FROM generate_series(0, %s - 1) AS i",
            (PER_CONVERSATION, self.messages),
        )
        self.connection.execute("CREATE TABLE dbo.plain_out (LIKE dbo.plain_in)")
        self.connection.execute("ANALYZE dbo.plain_in")
        options = {**jdbc_options(self.dsn), "fetchsize": "1000"}
        url = options.pop("url")
        half = self.messages // 2
        before = time.perf_counter()
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
        """Dialogs with their messages, and an empty table of results; not timed."""
        self.connection.execute("TRUNCATE dbo.totals")
        for start in range(0, messages // PER_CONVERSATION, 100):
            dialogs = min(100, messages // PER_CONVERSATION - start)
            self.connection.execute(
                "WITH d AS MATERIALIZED ("
                "   SELECT ssb.begin_dialog('//Bulk/Source', '//Bulk/Target', '//Bulk/Items') AS handle"
                "     FROM generate_series(1, %s))"
                " SELECT ssb.send_batch(array_agg(handle ORDER BY i, handle), array_agg('//Bulk/Item'::text),"
                "          array_agg(convert_to(lpad(i::text, 10, '0') || repeat('x', 190), 'UTF8')"
                "                    ORDER BY i, handle))"
                "   FROM d, generate_series(1, %s) AS i",
                (dialogs, PER_CONVERSATION),
            )
        self.connection.execute("VACUUM ANALYZE")

    def _check(self, messages: int) -> None:
        """Every conversation was summed up once, and answered."""
        row = self.connection.execute("SELECT count(*), sum(items), sum(amount) FROM dbo.totals").fetchone()
        expected = messages // PER_CONVERSATION
        if row != (expected, messages, expected * PER_CONVERSATION * (PER_CONVERSATION + 1) // 2):
            raise SystemExit(f"wrong results: {row}")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--postgres", help="a major version or a bin directory")
    arguments = parser.parse_args()
    with running(arguments.postgres) as server:
        bench = Bench(over_tcp(server.dsn), arguments.messages)
        runs: dict[str, Callable[[], float]] = {
            "bulk": bench.bulk,
            "plain": bench.plain,
            "readers": bench.readers,
            "singly": bench.singly,
        }
        rates: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(arguments.rounds + 1):
            bench.messages = arguments.messages if number else max(PER_CONVERSATION, arguments.messages // 10)
            for name, run in runs.items():
                rate = run()
                print(f"round {number} {name}: {rate:,.0f}/s", file=sys.stderr, flush=True)
                if number:
                    rates[name].append(rate)
        print(
            f"PostgreSQL {server.version}, {arguments.messages:,} messages, {arguments.rounds} rounds, "
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        )
        for name, all_rates in rates.items():
            low, middle, high = min(all_rates), statistics.median(all_rates), max(all_rates)
            print(f"{name:8} {low:>10,.0f} {middle:>10,.0f} {high:>10,.0f} messages/s (min, median, max)")
        bulk = statistics.median(rates["bulk"])
        for name in ("plain", "readers", "singly"):
            print(f"bulk / {name}: {bulk / statistics.median(rates[name]):.2f}")
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
