"""A receive-process-reply loop as compiled T-SQL beside the same loop written by hand in PL/pgSQL.

    python -m benchmarks.procedures [--messages 100000] [--rounds 5]

Each message is a transaction of its own with its own TRY/CATCH (EXCEPTION block): receive
it, write it to a table, reply on its dialog, commit. Both use the same engine functions, so
the ratio is what the compiled control flow costs.
"""

import argparse
import statistics
import time

from .queues.server import Connection, machine, running
from .tsql import run_script

SCRIPT = """
CREATE QUEUE dbo.InQ;
CREATE QUEUE dbo.OutQ;
CREATE MESSAGE TYPE M VALIDATION = NONE;
CREATE CONTRACT C (M SENT BY ANY);
CREATE SERVICE InS ON QUEUE dbo.InQ (C);
CREATE SERVICE OutS ON QUEUE dbo.OutQ (C);
CREATE TABLE dbo.Done (Id BIGINT NOT NULL PRIMARY KEY, Body NVARCHAR(MAX) NOT NULL);
GO
CREATE PROCEDURE dbo.ReplyAll AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @handle UNIQUEIDENTIFIER, @type NVARCHAR(256), @body VARBINARY(MAX), @order BIGINT;
    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;
            SET @handle = NULL;
            RECEIVE TOP (1) @handle = conversation_handle, @type = message_type_name,
                            @body = message_body, @order = queuing_order
              FROM dbo.InQ;
            IF @handle IS NULL
            BEGIN
                ROLLBACK TRANSACTION;
                BREAK;
            END;
            IF @type = N'M'
            BEGIN
                INSERT INTO dbo.Done (Id, Body) VALUES (@order, CAST(@body AS NVARCHAR(MAX)));
                SEND ON CONVERSATION @handle MESSAGE TYPE M (@body);
            END;
            COMMIT TRANSACTION;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
            PRINT ERROR_MESSAGE();
        END CATCH;
    END;
END;
"""

BY_HAND = """
CREATE PROCEDURE dbo.by_hand() LANGUAGE plpgsql AS $$
DECLARE
    received record;
    is_empty boolean;
BEGIN
    LOOP
        BEGIN
            SELECT conversation_handle, message_type_name, message_body, queuing_order INTO received
              FROM ssb.receive('dbo.inq', 1);
            is_empty := NOT FOUND;
            IF received.message_type_name = 'M' THEN
                INSERT INTO dbo.done (id, body)
                VALUES (received.queuing_order, convert_from(received.message_body, 'UTF8'));
                PERFORM ssb.send(received.conversation_handle, 'M', received.message_body);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '%', SQLERRM;
        END;
        COMMIT;
        EXIT WHEN is_empty;
    END LOOP;
END;
$$
"""

FILL = """
SELECT ssb.send_batch(array_agg(d.handle), array_agg('M'::text),
                      array_agg(convert_to(repeat('x', 200), 'UTF8')))
  FROM generate_series(1, %s) AS i
  JOIN (SELECT handle, row_number() OVER () - 1 AS number FROM dialog) AS d ON d.number = i %% 64
"""


def seconds(connection: Connection, procedure: str, messages: int) -> float:
    """Fill the queue, run the loop, and check that every message was processed and answered once."""
    connection.execute("TRUNCATE ssb.message_stored, dbo.done")
    connection.execute(FILL, (messages,))
    connection.execute("VACUUM ANALYZE")
    started = time.perf_counter()
    connection.execute(f"CALL {procedure}()")
    took = time.perf_counter() - started
    counts = connection.execute(
        "SELECT (SELECT count(*) FROM dbo.done), (SELECT count(*) FROM dbo.outq),"
        " (SELECT count(*) FROM dbo.inq)"
    ).fetchone()
    assert counts == (messages, messages, 0), f"{procedure}: processed, answered, left: {counts}"
    return took


def main() -> None:
    """Print each round's ratio, and their minimum, median and maximum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--postgres", help="Major version or bin directory")
    arguments = parser.parse_args()
    print(f"{machine()}")
    ratios = []
    with running(arguments.postgres) as server, server.database("procedures").connect() as connection:
        from pgsb.runtime_sql import installer

        installer.install(connection)
        run_script(connection, SCRIPT)
        connection.execute(BY_HAND.encode())
        connection.execute(
            "CREATE TABLE dialog AS SELECT ssb.begin_dialog('OutS', 'InS', 'C') AS handle"
            " FROM generate_series(1, 64)"
        )
        for number in range(arguments.rounds):
            compiled = seconds(connection, "dbo.replyall", arguments.messages)
            by_hand = seconds(connection, "dbo.by_hand", arguments.messages)
            ratios.append(compiled / by_hand)
            print(f"round {number + 1}: compiled {compiled:.2f} s, by hand {by_hand:.2f} s: {ratios[-1]:.2f}")
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    print(f"ratio {low:.2f} / {middle:.2f} / {high:.2f} (target: at most 1.3)")


if __name__ == "__main__":
    main()
