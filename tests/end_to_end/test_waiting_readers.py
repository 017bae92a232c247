"""WAITFOR (RECEIVE …) of what another session takes away meanwhile: an error of that statement."""

import pytest
from end_to_end.sessions import started
from end_to_end.tsql import Tsql

from activation import until
from support import Database

pytestmark = pytest.mark.one_postgres

PREPARED = """
SET NOCOUNT ON
CREATE QUEUE Near
CREATE QUEUE Far
CREATE QUEUE Farther
CREATE SERVICE [//Near] ON QUEUE Near
CREATE SERVICE [//Far] ON QUEUE Far ([DEFAULT])
GO
CREATE PROCEDURE Await @conversation UNIQUEIDENTIFIER, @group UNIQUEIDENTIFIER AS
IF @conversation IS NOT NULL
    WAITFOR (RECEIVE message_body FROM Far WHERE conversation_handle = @conversation), TIMEOUT 30000
ELSE IF @group IS NOT NULL
    WAITFOR (RECEIVE message_body FROM Far WHERE conversation_group_id = @group), TIMEOUT 30000
ELSE
    WAITFOR (GET CONVERSATION GROUP @group FROM Far), TIMEOUT 30000
PRINT 'and on'
GO
"""

WAITING = """
SET NOCOUNT ON
DECLARE @near UNIQUEIDENTIFIER, @far UNIQUEIDENTIFIER, @group UNIQUEIDENTIFIER
BEGIN DIALOG @near FROM SERVICE [//Near] TO SERVICE '//Far' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @near (N'first');
RECEIVE TOP (1) @far = conversation_handle, @group = conversation_group_id FROM Far
EXEC Await {handle}, {group}
PRINT 'last'
"""

TRYING = """
SET NOCOUNT ON
BEGIN TRY
    EXEC Await NULL, NULL
END TRY
BEGIN CATCH
    PRINT CONCAT('caught ', ERROR_NUMBER(), ' in line ', ERROR_LINE())
END CATCH
PRINT 'last'
"""

END = """
DECLARE @far UNIQUEIDENTIFIER
SELECT @far = conversation_handle FROM sys.conversation_endpoints WHERE is_initiator = 0
END CONVERSATION @far
"""


@pytest.mark.parametrize(
    ("script", "change", "error"),
    [
        (WAITING.format(handle="@far", group="NULL"), END, "Msg 8426"),
        (WAITING.format(handle="NULL", group="@group"), END, "Msg 8436"),
        (WAITING.format(handle="@far", group="NULL"), "ALTER SERVICE [//Far] ON QUEUE Farther", "Msg 8426"),
        (WAITING.format(handle="NULL", group="@group"), "DROP SERVICE [//Far]", "Msg 8436"),
        (WAITING.format(handle="NULL", group="NULL"), "ALTER QUEUE Far WITH STATUS = OFF", "Msg 9617"),
    ],
)
def test_the_next_statement_runs(database: Database, script: str, change: str, error: str) -> None:
    shown = _changed_meanwhile(database, script, change)
    assert [line.partition(",")[0] for line in shown if line.startswith(("Msg", "and", "last"))] == [
        error,
        "and on",
        "last",
    ]


def test_a_caller_catches_that_the_queue_has_gone(database: Database) -> None:
    shown = _changed_meanwhile(database, TRYING, "DROP SERVICE [//Far]\nGO\nDROP QUEUE Far")
    assert [line for line in shown if line] == ["caught 208 in line 7", "last"]


@pytest.mark.parametrize(("level", "number"), [("SNAPSHOT", 3960), ("REPEATABLE READ", 1205)])
def test_a_conflict_goes_to_catch(database: Database, level: str, number: int) -> None:
    """Who wants a conversation that another has changed since cannot have it, and nothing else will do."""
    prepared = f"""{PREPARED}
        CREATE TABLE Counter (n INT)
        INSERT Counter VALUES (0)
        DECLARE @near UNIQUEIDENTIFIER
        BEGIN DIALOG @near FROM SERVICE [//Near] TO SERVICE '//Far' WITH ENCRYPTION = OFF;
        SEND ON CONVERSATION @near (N'first')
        EXEC sp_getapplock 'changed', 'Exclusive', 'Session'"""
    reader = f"""
        SET TRANSACTION ISOLATION LEVEL {level}
        BEGIN TRAN
        DECLARE @n INT = (SELECT n FROM Counter)
        DECLARE @far UNIQUEIDENTIFIER = (SELECT conversation_handle FROM Far)
        EXEC sp_getapplock 'changed', 'Exclusive', 'Session'
        BEGIN TRY
            WAITFOR (RECEIVE @n = status FROM Far WHERE conversation_handle = @far), TIMEOUT 1
        END TRY
        BEGIN CATCH
            PRINT CONCAT('caught ', ERROR_NUMBER(), ' in line ', ERROR_LINE(), ' ', XACT_STATE())
        END CATCH
        ROLLBACK
        PRINT 'last'"""
    change = """
        DECLARE @far UNIQUEIDENTIFIER = (SELECT conversation_handle FROM Far)
        BEGIN CONVERSATION TIMER (@far) TIMEOUT = 100
        UPDATE Counter SET n += 1
        EXEC sp_releaseapplock 'changed', 'Session'"""
    shown = _changed_meanwhile(database, reader, change, prepared)
    assert shown == [f"caught {number} in line 8 -1", "last"]


def _changed_meanwhile(database: Database, script: str, change: str, prepared: str = PREPARED) -> list[str]:
    """What a session showed that slept while the change was made."""
    tsql = Tsql(database.dsn)
    tsql.run_well(prepared)
    waiter = started(database.dsn, script)
    asleep = "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event IN ('PgSleep', 'advisory')"
    until(lambda: tsql.connection.execute(asleep, [waiter.pid]).fetchone() is not None)
    tsql.run_well(change)
    waiter.join()
    tsql.close()
    return waiter.shown.splitlines()
