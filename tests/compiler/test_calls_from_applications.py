"""Compiled procedures as applications call them: by name, inside and outside a transaction."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from end_to_end.tsql import Tsql

from support import Connection, Database

SCRIPT = """
CREATE TABLE dbo.t (id int PRIMARY KEY);
GO
CREATE PROCEDURE dbo.adds @id int, @twice int = NULL OUTPUT AS
SET NOCOUNT ON;
BEGIN TRANSACTION;
INSERT INTO dbo.t (id) VALUES (@id);
SET @twice = @id * 2;
COMMIT;
GO
CREATE PROCEDURE dbo.gives_up @id int AS
BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO dbo.t (id) VALUES (@id);
    THROW 50001, N'no', 7;
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK;
    THROW;
END CATCH
GO
CREATE PROCEDURE dbo.leaves_open AS
BEGIN TRANSACTION;
INSERT INTO dbo.t (id) VALUES (99);
GO
CREATE PROCEDURE dbo.outer_one AS
BEGIN TRY
    EXEC dbo.gives_up 5;
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH
"""


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Database:
    database = new_database()
    session = Tsql(database.dsn)
    session.run_well(SCRIPT)
    session.connection.close()
    return database


@pytest.fixture
def application(shared: Database) -> Iterator[Connection]:
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        connection.execute("DELETE FROM dbo.t")
        yield connection


def ids(connection: Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT id FROM dbo.t ORDER BY id")]


def test_a_call_outside_a_transaction_commits_by_itself(application: Connection, shared: Database) -> None:
    row = application.execute("CALL dbo.adds(id => 4)").fetchone()
    assert row is not None
    assert row[0] == 8
    with psycopg.connect(shared.dsn) as other:
        assert ids(other) == [4]


def test_the_hidden_session_comes_back_empty(application: Connection) -> None:
    row = application.execute("CALL dbo.adds(4)").fetchone()
    assert row is not None
    assert row[-1] is None


def test_an_error_is_raised_with_number_procedure_and_line(application: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        application.execute("CALL dbo.gives_up(1)")
    assert caught.value.sqlstate == "T12KX"
    assert caught.value.diag.message_primary == "no"
    assert caught.value.diag.message_detail == "Msg 50001, Level 16, State 7, Procedure gives_up, Line 5"
    assert ids(application) == []


def test_inside_a_transaction_commit_only_counts(shared: Database, application: Connection) -> None:
    with psycopg.connect(shared.dsn) as connection:
        connection.execute("CALL dbo.adds(6)")
        connection.rollback()
    assert ids(application) == []


def test_inside_a_transaction_rollback_ends_it_with_the_reason(shared: Database) -> None:
    with psycopg.connect(shared.dsn) as connection:
        connection.execute("INSERT INTO dbo.t VALUES (77)")
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("CALL dbo.gives_up(7)")
        assert caught.value.diag.message_primary == "no"
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR


def test_rollback_of_a_callee_is_real_outside_a_transaction(application: Connection) -> None:
    application.execute("CALL dbo.outer_one()")
    assert ids(application) == []


def test_a_transaction_that_a_procedure_leaves_open_is_error_266(application: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        application.execute("CALL dbo.leaves_open()")
    assert caught.value.sqlstate == "S0266"
    assert ids(application) == []


def test_set_options_of_the_connection_reach_the_procedure(application: Connection) -> None:
    notices: list[str | None] = []
    application.add_notice_handler(lambda diag: notices.append(diag.message_primary))
    application.execute("CALL dbo.outer_one()")
    assert notices == ["(1 row affected)", "no"]
    notices.clear()
    application.execute("SET pgsb.nocount = on")
    application.execute("CALL dbo.outer_one()")
    assert notices == ["no"]


def test_a_savepoint_of_the_application_undoes_a_call(shared: Database, application: Connection) -> None:
    with psycopg.connect(shared.dsn) as connection:
        with pytest.raises(psycopg.Error), connection.transaction():
            connection.execute("CALL dbo.gives_up(8)")
        connection.execute("CALL dbo.adds(9)")
        connection.commit()
    assert ids(application) == [9]
