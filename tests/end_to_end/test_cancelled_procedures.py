"""What a procedure leaves in a session where a timeout has ended it between two transactions."""

from collections.abc import Callable

import psycopg
import pytest
from end_to_end.tsql import Tsql

from support import Database

SCRIPT = """
CREATE QUEUE dbo.work;
CREATE TABLE dbo.seen (n int);
GO
CREATE PROCEDURE dbo.inner_one @ms int AS
CREATE TABLE #t (n int);
INSERT INTO #t VALUES (2);
BEGIN TRANSACTION;
COMMIT;
IF @ms > 0 WAITFOR (RECEIVE * FROM dbo.work), TIMEOUT @ms;
INSERT INTO dbo.seen SELECT n FROM #t;
GO
CREATE PROCEDURE dbo.outer_one @ms int AS
CREATE TABLE #t (n int PRIMARY KEY);
INSERT INTO #t VALUES (1);
EXEC dbo.inner_one @ms;
INSERT INTO dbo.seen SELECT n FROM #t;
"""


@pytest.mark.parametrize("procedure", ["inner_one", "outer_one"])
def test_its_temporary_tables_are_gone(new_database: Callable[[], Database], procedure: str) -> None:
    database = new_database()
    script = Tsql(database.dsn)
    script.run_well(SCRIPT)
    script.close()
    with psycopg.connect(database.dsn, autocommit=True) as session:
        session.execute('CREATE TEMPORARY TABLE "#t" AS SELECT 0 AS n')
        session.execute("SET statement_timeout = '1s'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            session.execute(f"CALL dbo.{procedure}(60000)".encode())
        session.execute("SET statement_timeout = 0")
        session.execute("CALL dbo.outer_one(0)")
        assert session.execute("SELECT n FROM dbo.seen").fetchall() == [(2,), (1,)]
        # The session's own one is what it was.
        assert session.execute('SELECT n FROM pg_temp."#t"').fetchall() == [(0,)]
        left = "SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r'"
        assert session.execute(left).fetchone() == (1,)
