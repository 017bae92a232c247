"""Programs that set an isolation level read one queue side by side: none fails for the others' sake."""

from collections.abc import Callable

import pytest

from activation import Daemon, send, tsql, until
from support import Connection

PROGRAM = """
CREATE TABLE dbo.Customer (id int PRIMARY KEY, orders int NOT NULL);
CREATE TABLE dbo.Total (n int NOT NULL);
CREATE TABLE dbo.Failed (number int);
INSERT dbo.Total VALUES (0);
GO
CREATE PROCEDURE dbo.take_orders AS
BEGIN
    SET NOCOUNT ON;
    SET TRANSACTION ISOLATION LEVEL {level};
    DECLARE @h uniqueidentifier, @id int, @orders int;
    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;
            WAITFOR (
                RECEIVE TOP (1) @h = conversation_handle, @id = CAST(CAST(message_body AS varchar(9)) AS int)
                  FROM dbo.to_queue
            ), TIMEOUT 500;
            IF @@ROWCOUNT = 0 BEGIN COMMIT; BREAK; END
            SELECT @orders = orders FROM dbo.Customer WHERE id = @id;
            IF @@ROWCOUNT = 0
                INSERT dbo.Customer VALUES (@id, 1);
            ELSE
                UPDATE dbo.Customer SET orders = @orders + 1 WHERE id = @id;
            UPDATE dbo.Total SET n = n + 1;
            END CONVERSATION @h;
            COMMIT;
        END TRY
        BEGIN CATCH
            DECLARE @number int = ERROR_NUMBER();
            IF XACT_STATE() <> 0 ROLLBACK;
            INSERT dbo.Failed VALUES (@number);
        END CATCH
    END
END
GO
ALTER QUEUE dbo.to_queue WITH ACTIVATION
    (STATUS = ON, PROCEDURE_NAME = dbo.take_orders, MAX_QUEUE_READERS = 4, EXECUTE AS OWNER);
"""
CUSTOMERS = 3
MESSAGES = 90


@pytest.mark.long
@pytest.mark.one_postgres
def test_at_repeatable_read_readers_wait_for_one_another(
    sql: Connection, daemon: Callable[..., Daemon]
) -> None:
    """It does not keep two from finding the same customer missing, in SQL Server either: so all are there."""
    tsql(sql, PROGRAM.format(level="REPEATABLE READ"))
    sql.execute("INSERT INTO dbo.customer SELECT n, 0 FROM generate_series(0, %s) AS n", [CUSTOMERS - 1])
    for number in range(MESSAGES):
        send(sql, str(number % CUSTOMERS))
    daemon()
    until(lambda: sql.execute("SELECT n FROM dbo.total").fetchone() == (MESSAGES,))
    found = sql.execute("SELECT id, orders FROM dbo.customer ORDER BY id").fetchall()
    assert found == [(customer, MESSAGES // CUSTOMERS) for customer in range(CUSTOMERS)]
    assert sql.execute("SELECT count(*) FROM dbo.failed").fetchone() == (0,)


@pytest.mark.long
@pytest.mark.one_postgres
def test_at_serializable_two_do_not_add_the_same_row(sql: Connection, daemon: Callable[..., Daemon]) -> None:
    tsql(sql, PROGRAM.format(level="SERIALIZABLE"))
    for number in range(MESSAGES):
        send(sql, str(number // 4))
    daemon()
    until(lambda: sql.execute("SELECT n FROM dbo.total").fetchone() == (MESSAGES,))
    assert sql.execute("SELECT sum(orders), count(*) FROM dbo.customer").fetchone() == (
        MESSAGES,
        MESSAGES // 4 + 1,
    )
    assert sql.execute("SELECT count(*) FROM dbo.failed").fetchone() == (0,)
