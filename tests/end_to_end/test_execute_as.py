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


def test_who_may_change_a_system_versioned_table_need_not_reach_its_history(
    database: Database, tsql: Tsql
) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE pricing")
        try:
            tsql.run_well(
                "CREATE TABLE dbo.Price (id int PRIMARY KEY, amount int,"
                " f datetime2 GENERATED ALWAYS AS ROW START, u datetime2 GENERATED ALWAYS AS ROW END,"
                " PERIOD FOR SYSTEM_TIME (f, u)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.Was));"
                "INSERT dbo.Price (id, amount) VALUES (1, 5);"
                "GRANT SELECT, INSERT, UPDATE, DELETE ON dbo.Price TO pricing"
            )
            tsql.run_well("EXECUTE AS USER = 'pricing'; UPDATE dbo.Price SET amount = 6; REVERT")
            tsql.run(
                "EXECUTE AS USER = 'pricing'"
                "\nGO\nINSERT dbo.Was VALUES (2, 3, '2020-01-01', '2021-01-01')"
                "\nGO\nSELECT amount FROM dbo.Price FOR SYSTEM_TIME ALL"
                "\nGO\nREVERT"
            )
            assert [error.number for error in tsql.errors] == [229, 229]
            # Nor with triggers of its own, from which the history's rows usually come.
            connection.execute(
                "SET ROLE pricing; CREATE TEMP TABLE mine (id int, amount int, f timestamp, u timestamp)"
            )
            connection.execute(
                "CREATE FUNCTION pg_temp.forge() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN"
                " INSERT INTO dbo.was VALUES (2, 3, '2020-01-01', '2021-01-01'); RETURN NULL; END $$;"
                "CREATE TRIGGER forge AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION pg_temp.forge()"
            )
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("INSERT INTO mine VALUES (1)")
            connection.execute(
                "DROP TRIGGER forge ON mine; INSERT INTO mine VALUES (1, 1, '2020-01-01', NULL)"
            )
            for keeper in connection.execute(
                "SELECT tgfoid::regproc FROM pg_trigger WHERE tgnargs = 4 AND tgname = 'system_versioning'"
            ).fetchall():
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(
                        f"CREATE TRIGGER forge AFTER DELETE ON mine FOR EACH ROW"
                        f" EXECUTE FUNCTION {keeper[0]}('f', 'u', 'dbo.was', '6')".encode()
                    )
            connection.execute(
                "CREATE TRIGGER forge AFTER DELETE ON mine FOR EACH ROW"
                " EXECUTE FUNCTION sys.keep_history('f', 'u', 'dbo.was', '6')"
            )
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("DELETE FROM mine")
            connection.execute("RESET ROLE")
            tsql.run_well("SELECT amount FROM dbo.Was")
            assert tsql.results == [[["5"]]]
        finally:
            connection.execute("RESET ROLE; DROP OWNED BY pricing; DROP ROLE pricing")


def test_what_is_denied_has_its_severity_in_every_statement(database: Database, tsql: Tsql) -> None:
    """Handlers of dialogs' statements are not told it."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE outsider")
        try:
            tsql.run_well(
                "CREATE QUEUE dbo.Inbox\nCREATE SERVICE [//In] ON QUEUE dbo.Inbox\nGO\n"
                "CREATE PROCEDURE dbo.Told AS\n"
                "PRINT CONCAT_WS(' ', ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE())\nGO\n"
                "GRANT EXECUTE ON dbo.Told TO outsider"
            )
            tsql.run(
                "DECLARE @h UNIQUEIDENTIFIER, @less INT = -1\n"
                "BEGIN DIALOG @h FROM SERVICE [//In] TO SERVICE '//In' WITH ENCRYPTION = OFF\n"
                "BEGIN TRY BEGIN CONVERSATION TIMER (@h) TIMEOUT = @less END TRY\n"
                "BEGIN CATCH EXEC dbo.Told END CATCH\n"
                "EXECUTE AS USER = 'outsider'\n"
                "BEGIN TRY RECEIVE * FROM dbo.Inbox END TRY BEGIN CATCH EXEC dbo.Told END CATCH\n"
                "BEGIN TRY END CONVERSATION @h END TRY BEGIN CATCH EXEC dbo.Told END CATCH\n"
                "BEGIN TRY DROP QUEUE dbo.Inbox END TRY BEGIN CATCH EXEC dbo.Told END CATCH\n"
                "REVERT"
            )
            assert tsql.prints == ["1080 15 1", "229 14 5", "229 14 5", "3701 11 5"]
        finally:
            connection.execute("DROP OWNED BY outsider; DROP ROLE outsider")


def test_no_revert_goes_back_from_with_no_revert(database: Database, tsql: Tsql) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest_for_good")
        try:
            tsql.run(
                "EXECUTE AS USER = 'guest_for_good' WITH NO REVERT\nREVERT\nPRINT @@ERROR\n"
                "EXEC ('EXECUTE AS CALLER')\nPRINT USER_NAME()\nGO\nPRINT USER_NAME()\nGO\n"
                "EXEC ('EXECUTE AS USER = ''guest_for_good'' WITH NO REVERT')"
            )
            assert tsql.prints == ["15591", "guest_for_good", "guest_for_good"]
            assert [error.number for error in tsql.errors] == [15591, 15590]
        finally:
            connection.execute("DROP OWNED BY guest_for_good; DROP ROLE guest_for_good")


def test_who_owns_a_schema_makes_tables_and_modules_there(database: Database, tsql: Tsql) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE mason; CREATE ROLE heir")
        try:
            tsql.run_well("CREATE SCHEMA yard AUTHORIZATION mason\nGO\nCREATE SCHEMA street")
            tsql.run(
                "EXECUTE AS USER = 'mason'\nCREATE TABLE yard.Stone (a int)\nGO\n"
                "CREATE PROCEDURE yard.Lay AS INSERT yard.Stone VALUES (1)\nGO\nEXEC yard.Lay\nREVERT\n"
                "GRANT ALTER ON SCHEMA::yard TO mason\n"
                "ALTER AUTHORIZATION ON SCHEMA::yard TO heir\n"
                "EXECUTE AS USER = 'heir'\nCREATE TABLE yard.Wall (a int)\nGO\n"
                "CREATE TABLE street.Wall (a int)\nGO\nREVERT\n"
                "EXECUTE AS USER = 'mason'\nCREATE TABLE yard.Gate (a int)\nGO\nREVERT"
            )
            assert [(e.number, e.message.split('"')[1]) for e in tsql.errors] == [
                (2760, "street"),
                (2760, "yard"),
            ]
            assert tsql.prints == ["PostgreSQL has no ALTER to grant on 'yard': only the owner may."]
        finally:
            connection.execute("DROP OWNED BY mason, heir CASCADE; DROP ROLE mason, heir")


def test_revert_finds_roles_of_any_name(database: Database, tsql: Tsql) -> None:
    names = ["a,b.c", 'd"e,', "UPPER f"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    before = tsql.scalar("SELECT current_user")
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        for name in quoted:
            connection.execute(f"CREATE ROLE {name} SUPERUSER".encode())
        try:
            for name in names:
                tsql.connection.execute("SELECT ssb_internal.execute_as(%s)", [name])
            for name in [*reversed(names[:-1]), before]:
                tsql.run_well("REVERT")
                assert tsql.scalar("SELECT current_user") == name
        finally:
            for name in quoted:
                connection.execute(f"DROP ROLE {name}".encode())


def test_execute_as_ends_with_what_says_it(database: Database, tsql: Tsql) -> None:
    said = "CREATE TABLE #t (a int) EXECUTE AS USER = 'somebody_else' PRINT USER_NAME()"
    text = said.replace("'", "''")
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE somebody_else")
        try:
            tsql.run_well(
                f"CREATE PROCEDURE p AS {said}\nGO\nCREATE TABLE t (a int)\nGO\n"
                f"CREATE TRIGGER tr ON t AFTER INSERT AS {said}"
            )
            for frame in ("EXEC p", f"EXEC (N'{text}')", "INSERT t VALUES (1)"):
                tsql.run_well(f"{frame}\nPRINT USER_NAME()")
                assert tsql.prints == ["somebody_else", "dbo"], frame
            # No ROLLBACK undoes them.
            tsql.run_well("BEGIN TRAN EXECUTE AS USER = 'somebody_else' ROLLBACK PRINT USER_NAME()")
            assert tsql.prints == ["somebody_else"]
            tsql.run_well("BEGIN TRAN REVERT ROLLBACK PRINT USER_NAME()")
            assert tsql.prints == ["dbo"]
        finally:
            connection.execute("DROP ROLE somebody_else")


_UNDONE = {
    "transaction": "BEGIN TRAN {} ROLLBACK",
    "savepoint": "BEGIN TRAN SAVE TRAN s {} ROLLBACK TRAN s COMMIT",
    "both": "BEGIN TRAN SAVE TRAN s {} ROLLBACK TRAN s ROLLBACK",
    "error": "SET XACT_ABORT ON BEGIN TRAN {} SELECT 1/0 AS x",
    "conversion": "BEGIN TRAN {} SELECT CAST('x' AS int) AS x",
    "doomed": "BEGIN TRY BEGIN TRAN {} SELECT CAST('x' AS int) AS x END TRY BEGIN CATCH END CATCH",
}


@pytest.mark.parametrize("undone", _UNDONE)
def test_no_rollback_undoes_execute_as_and_revert(database: Database, tsql: Tsql, undone: str) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE clerk_for_now")
        try:
            for said, user in (("EXECUTE AS USER = 'clerk_for_now'", "clerk_for_now"), ("REVERT", "dbo")):
                tsql.run(_UNDONE[undone].format(f"{said} EXEC (N'PRINT USER_NAME()')"))
                assert tsql.prints == [user]
                tsql.run_well("PRINT USER_NAME() EXEC (N'PRINT USER_NAME()')")
                assert tsql.prints == [user, user]
        finally:
            connection.execute("DROP ROLE clerk_for_now")


def test_who_runs_is_spelled_as_create_user_and_create_login_have_it(database: Database, tsql: Tsql) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute('CREATE ROLE "app worker"')
        try:
            tsql.run_well(
                "CREATE LOGIN [App WORKER] WITH PASSWORD = 'x';"
                " CREATE USER [App Worker] FOR LOGIN [App WORKER]"
            )
            tsql.run_well(
                "EXECUTE AS USER = 'App Worker'"
                " SELECT USER_NAME(), CURRENT_USER, SESSION_USER, SUSER_SNAME(), USER_NAME(USER_ID())"
            )
            assert tsql.results == [[["App Worker", "App Worker", "App Worker", "App WORKER", "App Worker"]]]
            tsql.run_well("REVERT")
        finally:
            connection.execute('DROP OWNED BY "app worker"; DROP ROLE "app worker"')


_REFUSED = {
    "CREATE TABLE dbo.more (a INT)": (2760, "dbo"),
    "CREATE OR ALTER PROCEDURE dbo.p AS PRINT 2": (2760, "dbo"),
    "ALTER TABLE dbo.stock ADD b INT": (4902, "dbo.stock"),
    "CREATE INDEX i ON dbo.stock (a)": (1088, "dbo.stock"),
    "IF 1 = 1 TRUNCATE TABLE dbo.stock": (1088, "dbo.stock"),
    "IF 1 = 1 DROP TABLE dbo.stock": (3701, "table 'dbo.stock'"),
    "DROP VIEW dbo.shown": (3701, "view 'dbo.shown'"),
    "DROP PROCEDURE dbo.p": (3701, "procedure 'dbo.p'"),
    "DROP FUNCTION dbo.f": (3701, "function 'dbo.f'"),
    "DROP TRIGGER dbo.t": (3701, "trigger 'dbo.t'"),
    "SELECT a FROM dbo.stock": (229, "'stock'"),
}


def test_definitions_of_somebody_without_rights_are_refused_by_number(database: Database, tsql: Tsql) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE visitor")
        try:
            tsql.run_well(
                "CREATE TABLE dbo.stock (a INT)\nGO\nCREATE VIEW dbo.shown AS SELECT a FROM dbo.stock\nGO\n"
                "CREATE PROCEDURE dbo.p AS PRINT 1\nGO\n"
                "CREATE FUNCTION dbo.f() RETURNS INT AS BEGIN RETURN 1 END\nGO\n"
                "CREATE TRIGGER dbo.t ON dbo.stock AFTER INSERT AS PRINT 1\nGO\n"
                "CREATE USER visitor WITHOUT LOGIN"
            )
            statements = "\nGO\n".join(_REFUSED)
            tsql.run(f"EXECUTE AS USER = 'visitor'\nGO\n{statements}\nGO\nREVERT")
            told = [(error.number, error.message) for error in tsql.errors]
            assert [number for number, _ in told] == [number for number, _ in _REFUSED.values()]
            for (_, message), (_, named) in zip(told, _REFUSED.values(), strict=True):
                assert named in message
        finally:
            connection.execute("DROP OWNED BY visitor; DROP ROLE visitor")


def test_what_is_denied_is_the_right_that_is_missing(database: Database, tsql: Tsql) -> None:
    """The object is named as it was made, and is the session's database's own."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE onlooker")
        try:
            tsql.run_well(
                "CREATE DATABASE elsewhere\nGO\nUSE elsewhere\nGO\n"
                "CREATE QUEUE dbo.OrderLines\nCREATE TABLE dbo.Kept (a int)\n"
                f"GO\nUSE [{database.name}]\nGO\n"
                "CREATE QUEUE dbo.OrderLines\nCREATE TABLE dbo.Source (a int)\n"
                "CREATE TABLE dbo.Kept (a int PRIMARY KEY)\n"
                "GRANT INSERT, UPDATE, DELETE ON dbo.Kept TO onlooker\nGRANT INSERT ON dbo.Source TO onlooker"
            )
            missing = {
                "SELECT * FROM orderlines": ("SELECT", "OrderLines"),
                "INSERT dbo.Kept SELECT a FROM dbo.Source": ("SELECT", "Source"),
                "UPDATE dbo.Kept SET a += 1": ("SELECT", "Kept"),
                "DELETE dbo.Source": ("DELETE", "Source"),
                "MERGE dbo.Kept k USING (SELECT 1) s (a) ON s.a = k.a WHEN MATCHED THEN DELETE": (
                    "SELECT",
                    "Kept",
                ),
            }
            tsql.run(f"EXECUTE AS USER = 'onlooker'; {'; '.join(missing)}; REVERT")
            text = "The {} permission was denied on the object '{}', database '{}', schema 'dbo'."
            told = [(e.number, e.message) for e in tsql.errors]
            assert told == [(229, text.format(*one, database.name)) for one in missing.values()]
            tsql.run_well(
                "SELECT OBJECT_NAME(major_id), type, USER_NAME(grantee_principal_id)"
                " FROM sys.database_permissions ORDER BY 1, 2"
            )
            given = [("Kept", "DL"), ("Kept", "IN"), ("Kept", "UP"), ("Source", "IN")]
            assert [[name, code.strip(), who] for name, code, who in tsql.results[-1]] == [
                [*one, "onlooker"] for one in given
            ]
        finally:
            connection.execute("DROP OWNED BY onlooker; DROP ROLE onlooker")


@pytest.mark.parametrize("text", ["'{}'", "@t"], ids=["known", "unknown"])
def test_a_text_that_is_executed_as_another_runs_as_that_one_or_not_at_all(
    database: Database, tsql: Tsql, text: str
) -> None:
    inside = "PRINT CURRENT_USER; BEGIN TRAN; ROLLBACK; PRINT CURRENT_USER; EXECUTE AS USER = 'other_guest'"
    given = text.format(inside.replace("'", "''"))
    batch = """
        DECLARE @t NVARCHAR(300);
        SET @t = {parts};
        {before}EXEC ({given}) AS {kind} = N'{role}';
        PRINT CONCAT('then ', CURRENT_USER, @@TRANCOUNT);
    """

    def run(role: str, kind: str = "USER", before: str = "") -> list[str]:
        # What only the run time knows.
        parts = f"CONCAT('{inside.replace(chr(39), chr(39) * 2)}', CASE WHEN @@SPID < 0 THEN 'x' END)"
        tsql.run(batch.format(parts=parts, before=before, given=given, kind=kind, role=role))
        return tsql.prints

    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE text_guest; CREATE ROLE other_guest; GRANT other_guest TO text_guest")
        try:
            for kind in ("USER", "LOGIN"):
                assert run("text_guest", kind) == ["text_guest", "text_guest", "then dbo0"]
                assert tsql.errors == []
            assert run("nobody_here") == ["then dbo0"]
            assert [error.number for error in tsql.errors] == [15517]
            assert run("nobody_here", "LOGIN") == ["then dbo0"]
            assert [error.number for error in tsql.errors] == [15406]
            # EXECUTE AS around it still holds.
            assert run("nobody_here", before="EXECUTE AS USER = 'text_guest'; ") == ["then text_guest0"]
            tsql.run("REVERT")
        finally:
            for name in ("text_guest", "other_guest"):
                connection.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
