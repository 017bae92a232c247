"""What becomes of a deadlock's victim that begins anew at once."""

import pytest
from end_to_end.sessions import Session, until_blocked
from end_to_end.tsql import Tsql

from support import Database

pytestmark = pytest.mark.one_postgres

RETRIES = """
SET NOCOUNT ON
DECLARE @tries INT = 0
WHILE @tries < 3
BEGIN
    SET @tries += 1
    BEGIN TRY
        BEGIN TRAN
        UPDATE Account SET amount += 1 WHERE id = 1
        EXEC sp_getapplock 'both have one', 'Exclusive', 'Session'
        EXEC sp_releaseapplock 'both have one', 'Session'
        UPDATE Account SET amount += 1 WHERE id = 2
        COMMIT
        PRINT CONCAT('done after ', @tries)
        BREAK
    END TRY
    BEGIN CATCH
        PRINT CONCAT('caught ', ERROR_NUMBER(), ' ', XACT_STATE())
        ROLLBACK
    END CATCH
END
"""

OTHER = """
SET NOCOUNT ON
BEGIN TRAN
UPDATE Account SET amount += 1 WHERE id = 2
UPDATE Account SET amount += 1 WHERE id = 1
COMMIT
PRINT 'other done'
"""


def test_the_victim_lets_the_other_have_its_locks_first(database: Database) -> None:
    """Else it would take them again before the other is awake, and be the victim until it gives up."""
    tsql = Tsql(database.dsn)
    tsql.run_well(
        "CREATE TABLE Account (id INT PRIMARY KEY, amount INT)\nINSERT Account VALUES (1, 0), (2, 0)"
    )
    tsql.run_well("EXEC sp_getapplock 'both have one', 'Exclusive', 'Session'")
    victim, other = Session(database.dsn, RETRIES), Session(database.dsn, OTHER)
    # Who looks for the deadlock first is its victim.
    victim.tsql.connection.execute("SET deadlock_timeout = '50ms'")
    other.tsql.connection.execute("SET deadlock_timeout = '60s'")
    victim.start()
    until_blocked(tsql.connection, victim.pid)
    other.start()
    until_blocked(tsql.connection, other.pid)
    tsql.run_well("EXEC sp_releaseapplock 'both have one', 'Session'")
    other.join()
    victim.join()
    tsql.close()
    assert (victim.shown.splitlines(), other.shown.splitlines()) == (
        ["caught 1205 -1", "done after 2"],
        ["other done"],
    )
