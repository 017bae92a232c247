"""EXECUTE AS in the middle of a batch: what the session has made for itself must not be in the way."""

import psycopg
import pytest
from end_to_end.tsql import Tsql

from support import Database

_SCRIPT = """
CREATE PROCEDURE dbo.first_one @a INT AS PRINT CONCAT('first ', @a);
GO
CREATE PROCEDURE dbo.second_one @b NVARCHAR(10) AS PRINT 'second ' + @b;
GO
GRANT EXECUTE ON dbo.first_one TO {role}; GRANT EXECUTE ON dbo.second_one TO {role};
GO
"""
_BATCH = """
DECLARE @p NVARCHAR(50) = 'dbo.first_one', @t NVARCHAR(100) = N'PRINT ''text''';
EXEC @p 1;
EXEC (@t);
EXECUTE AS USER = '{role}';
EXEC @p 2;
SET @p = 'dbo.second_one';
EXEC @p 'x';
EXEC (@t);
REVERT;
EXEC @p 'y';
EXEC (@t);
"""


@pytest.mark.parametrize("owner", ["superuser", "plain"])
def test_exec_by_name_and_of_text_goes_on_as_another(database: Database, tsql: Tsql, owner: str) -> None:
    role = f"courier_{owner}"
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            f"CREATE ROLE {role}; CREATE ROLE starter_{owner}; GRANT {role} TO starter_{owner}"
        )
        try:
            tsql.run(_SCRIPT.format(role=role))
            if owner == "plain":
                connection.execute("GRANT ALL ON ALL ROUTINES IN SCHEMA dbo TO starter_plain")
                tsql.run("EXECUTE AS USER = 'starter_plain'")
            tsql.run(_BATCH.format(role=role))
            assert tsql.errors == []
            assert tsql.prints == ["first 1", "text", "first 2", "second x", "text", "second y", "text"]
            tsql.run("REVERT")
        finally:
            for name in (role, f"starter_{owner}"):
                connection.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
