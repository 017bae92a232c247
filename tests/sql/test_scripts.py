"""Queries and DML in whole scripts, compiled and run: what SQL Server would answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from end_to_end.tsql import Tsql, begin
from secured import certificate_row
from sessions import Lender
from sql.translating import Givens, translate

from pgsb.compiler.catalog.names import ObjectName
from pgsb.compiler.catalog.objects import ColumnInfo, KeyInfo, TableInfo
from pgsb.compiler.catalog.types import INT
from support import Connection, Database, end_counted


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Database:
    """One database for the module; every test uses tables of its own."""
    return new_database()


@pytest.fixture(scope="module")
def lender(shared: Database, shares_sessions: bool) -> Iterator[Lender]:
    made = Lender(shared.dsn, shares_sessions, begin, prepare_threshold=None)
    yield made
    made.close()


@pytest.fixture
def session(lender: Lender) -> Iterator[Tsql]:
    """A T-SQL session."""
    connection = lender.lend()
    yield Tsql(connection)
    lender.take_back(connection)


_CASE = re.compile(r"^-- case: (.*)\n((?:.*\n)*?)-- expect\n((?:(?!-- case: ).*\n?)*)", re.MULTILINE)
_SCRIPTS = {
    name: (script, expected.strip("\n"))
    for name, script, expected in _CASE.findall(
        (Path(__file__).parent / "scripts.sql").read_text(encoding="utf-8")
    )
}


@pytest.mark.parametrize("name", _SCRIPTS)
def test_results(session: Tsql, name: str) -> None:
    script, expected = _SCRIPTS[name]
    session.run_well(script)
    shown = "\n\n".join(
        "\n".join(" | ".join("NULL" if cell is None else cell for cell in row) for row in rows)
        for rows in session.results
    )
    assert shown == expected


ERRORS = {
    "duplicate key of a table variable": (
        "DECLARE @t table (id int PRIMARY KEY); INSERT @t VALUES (1); INSERT @t VALUES (1)", 2627),
    "duplicate unique key of a table variable": (
        "DECLARE @t table (a int UNIQUE); INSERT @t SELECT 1 UNION ALL SELECT 1", 2627),
    "duplicate key through update": (
        "DECLARE @t table (id int PRIMARY KEY); INSERT @t VALUES (1), (2); UPDATE @t SET id = 1", 2627),
    "null in a table variable": ("DECLARE @t table (a int NOT NULL); INSERT @t VALUES (NULL)", 515),
    "null left out in a table variable": (
        "DECLARE @t table (a int NOT NULL, b int); INSERT @t (b) VALUES (1)", 515),
    "null through update": (
        "DECLARE @t table (a int NOT NULL); INSERT @t VALUES (1); UPDATE @t SET a = NULL", 515),
    "check of a table variable": ("DECLARE @t table (a int CHECK (a > 0)); INSERT @t VALUES (0)", 547),
    "conversion": ("SELECT CAST('abc' AS int)", 245),
    "explicit identity": ("CREATE TABLE dbo.e1 (id int IDENTITY); INSERT e1 (id) VALUES (1)", 544),
    "division by zero": ("DECLARE @n int = 0; SELECT 1 / @n", 8134),
    "bit that an int does not have": ("SELECT GET_BIT(1, 32)", 1023),
    "missing table": ("SELECT * FROM dbo.no_such_table", 208),
    "types that clash": ("DECLARE @u uniqueidentifier = NEWID(), @i int; SET @i = @u", 206),
    "two source rows of MERGE for one row": (
        "CREATE TABLE dbo.mg2 (id int); INSERT mg2 VALUES (1);"
        "MERGE mg2 USING (VALUES (1), (1)) AS s (id) ON mg2.id = s.id WHEN MATCHED THEN DELETE;", 8672),
    "a day that no month has": ("DECLARE @d date = '2010-02-30'", 241),
    "a day that no month has, as a constant": ("SELECT CAST('20100230' AS datetime)", 242),
    "overflow": ("DECLARE @n int = 2147483647; SET @n = @n + 1", 8115),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(session: Tsql, name: str) -> None:
    script, number = ERRORS[name]
    session.run(script)
    assert [error.number for error in session.errors] == [number]


def test_an_explicit_identity_names_its_table(session: Tsql) -> None:
    session.run("CREATE TABLE E2 (id int IDENTITY) CREATE TABLE #E3 (id int IDENTITY)")
    session.run("INSERT E2 (id) VALUES (1) INSERT #E3 (id) VALUES (1)")
    tables = [error.message.split("'")[1] for error in session.errors]
    assert tables == ["E2", "#e3"]


def test_set_language_is_told(session: Tsql) -> None:
    session.run_well("SET LANGUAGE German; SET LANGUAGE 'us_english'")
    assert session.prints == [f"Changed language setting to {name}." for name in ("Deutsch", "us_english")]


def test_an_operator_that_the_types_lack(session: Tsql) -> None:
    session.connection.execute("CREATE TABLE dbo.flags (f boolean)")
    session.run("SELECT * FROM dbo.flags WHERE f = 1")
    assert [(error.number, error.message) for error in session.errors] == [
        (402, "The data types boolean and int are incompatible in the equal to operator.")
    ]


def test_ignored_duplicates_are_told_once_a_statement(session: Tsql) -> None:
    session.run_well(
        "CREATE TABLE dbo.told (a int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON));"
        "DECLARE @t table (a int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON));"
        "INSERT @t VALUES (1); INSERT @t VALUES (1), (1); PRINT '-'; INSERT @t VALUES (1), (2); PRINT '-';"
        "INSERT told VALUES (1), (1), (1); PRINT '-'; INSERT told SELECT a FROM @t"
    )
    ignored = "Duplicate key was ignored."
    assert session.prints == [ignored, "-", ignored, "-", ignored, "-", ignored]


def test_case_insensitive_collation(shared: Database) -> None:
    session = Tsql(shared.dsn, collation="ci")
    session.run_well(
        "DECLARE @s nvarchar(10) = N'ABC '; IF @s = N'abc' PRINT 'equal'; IF @s LIKE 'a%' PRINT 'like';"
        "CREATE TABLE dbo.ci1 (v varchar(5)); INSERT ci1 VALUES ('x'), ('Y');"
        "SELECT v FROM ci1 WHERE v IN ('X', 'y') ORDER BY v"
    )
    assert session.prints == ["equal", "like"]
    assert session.results == [[["x"], ["Y"]]]
    session.close()


def test_case_insensitive_collation_in_definitions_of_columns(shared: Database) -> None:
    session = Tsql(shared.dsn, collation="ci")
    session.run_well(
        """
        CREATE TABLE dotted (k varchar(20) CHECK (CHARINDEX('!', k) = 0 AND 'X' LIKE k + '%'),
            part AS LEFT(k, CHARINDEX('.', k + '.') - 1),
            at AS PATINDEX('%[.]%', k), other AS REPLACE(k, 'A', '-'));
        INSERT dotted (k) VALUES ('x'); SELECT * FROM dotted
        """
    )
    assert session.results == [[["x", "x", "0", "x"]]]
    session.close()


def test_case_insensitive_collation_orders_by_aliases_and_positions(shared: Database) -> None:
    session = Tsql(shared.dsn, collation="ci")
    session.run_well(
        "CREATE TABLE dbo.ci2 (v varchar(5)); INSERT ci2 VALUES ('b'), ('A'), ('c');"
        "SELECT v + '!' AS w FROM ci2 ORDER BY w;"
        "SELECT v, COUNT(*) AS n FROM ci2 GROUP BY v ORDER BY 1 DESC;"
        "SELECT DISTINCT v AS w FROM ci2 WHERE v < 'c' ORDER BY w DESC;"
        "SELECT v FROM ci2 WHERE v = 'a' UNION SELECT 'D' ORDER BY v"
    )
    assert session.results == [
        [["A!"], ["b!"], ["c!"]],
        [["c", "1"], ["b", "1"], ["A", "1"]],
        [["b"], ["A"]],
        [["A"], ["D"]],
    ]
    session.close()


def test_case_insensitive_collation_concerns_strings_only(shared: Database) -> None:
    session = Tsql(shared.dsn, collation="ci")
    session.run_well(
        "DECLARE @h uniqueidentifier = 'A326E034-D4CF-4E8B-8D98-4D7E1926C904', @d datetime = '20260131';"
        "IF @h = 'a326e034-d4cf-4e8b-8d98-4d7e1926c904' PRINT 'equal';"
        "IF @h IN ('a326e034-d4cf-4e8b-8d98-4d7e1926c904') PRINT 'in';"
        "IF @h IN (SELECT N'a326e034-d4cf-4e8b-8d98-4d7e1926c904') PRINT 'found';"
        "IF @d = '2026-01-31 00:00' PRINT 'date';"
        "SELECT CASE @h WHEN '00000000-0000-0000-0000-000000000000' THEN 'none' ELSE 'one' END"
    )
    assert session.prints == ["equal", "in", "found", "date"]
    assert session.results == [[["one"]]]
    session.close()


def test_least_and_greatest_of_bytes(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.run_well(
        "CREATE TABLE #u (u uniqueidentifier, b varbinary(4));"
        "INSERT #u VALUES ('A0000000-0000-0000-0000-000000000001', 0x02),"
        " ('A0000000-0000-0000-0000-000000000002', 0x01), (NULL, NULL);"
        "SELECT MIN(u), MAX(u), MIN(b), MAX(b) FROM #u; SELECT MAX(u) OVER () FROM #u WHERE u IS NULL"
    )
    low, high = (f"A0000000-0000-0000-0000-00000000000{n}" for n in (1, 2))
    assert session.results == [[[low, high, "0x01", "0x02"]], [[None]]]
    session.close()


def test_output_into_converts(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.run_well(
        "CREATE TABLE #s (i int, b varbinary(9)); CREATE TABLE #k (x xml, n varchar(9)); SET NOCOUNT ON;"
        "DECLARE @t TABLE (n nvarchar(9), x xml); INSERT #s (i, b) VALUES (1, 0x3C612F3E);"
        "UPDATE #s SET i = 2 OUTPUT deleted.b, inserted.b INTO @t; SELECT * FROM @t;"
        "DELETE #s OUTPUT deleted.b, deleted.b INTO #k; SELECT * FROM #k"
    )
    assert session.results == [[["<a/>", "<a/>"]], [["<a/>", "<a/>"]]]
    session.close()


def test_an_endpoint_shows_how_it_authenticates_and_encrypts(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.connection.execute(certificate_row("c1"))
    show = (
        "SELECT connection_auth, connection_auth_desc, encryption_algorithm, encryption_algorithm_desc"
        " FROM sys.service_broker_endpoints;"
    )
    session.run_well(
        "CREATE ENDPOINT shown STATE = STARTED AS TCP (LISTENER_PORT = 4022) FOR SERVICE_BROKER"
        " (AUTHENTICATION = WINDOWS NTLM CERTIFICATE c1, ENCRYPTION = REQUIRED ALGORITHM AES RC4)\nGO\n"
        f"{show} ALTER ENDPOINT shown FOR SERVICE_BROKER (AUTHENTICATION = CERTIFICATE c1 WINDOWS,"
        f" ENCRYPTION = SUPPORTED ALGORITHM AES); {show}"
        " ALTER ENDPOINT shown FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS, ENCRYPTION = DISABLED);"
        f"{show} DROP ENDPOINT shown; USE master; DROP CERTIFICATE c1"
    )
    assert session.results == [
        [["5", "NTLM, CERTIFICATE", "6", "AES, RC4"]],
        [["10", "CERTIFICATE, NEGOTIATE", "4", "NONE, AES"]],
        [["3", "NEGOTIATE", "0", "NONE"]],
    ]
    session.close()


def test_a_queue_keeps_its_name(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.run_well(
        "CREATE QUEUE dbo.steady\nGO\n"
        "BEGIN TRY EXEC sp_rename 'dbo.steady', 'moved' END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH;"
        "BEGIN TRY EXEC sp_rename 'dbo.steady.status', 's', 'COLUMN' END TRY"
        " BEGIN CATCH PRINT ERROR_NUMBER() END CATCH;"
        "SELECT COUNT(status) FROM steady"
    )
    assert session.prints == ["15225", "15248"]
    assert session.results == [[["0"]]]
    session.close()


def test_a_missing_temporary_table_is_called_by_its_name(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.run_well(
        "CREATE PROCEDURE dbo.no_temp AS INSERT #missing VALUES (1)\nGO\n"
        "BEGIN TRY EXEC dbo.no_temp END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH\nGO\n"
        "BEGIN TRY EXEC dbo.no_temp END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH"
    )
    assert session.prints == ["Invalid object name '#missing'."] * 2
    session.close()


def test_a_binary_value_beside_a_number_is_a_number(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.run_well(
        "DECLARE @v varbinary(4) = 0x10; SELECT 5 + 0x01, 40 - @v, @v * 2, 0xFF % 16, 0x01 + 0x02;"
        "SELECT @@MICROSOFTVERSION / 0x01000000"
    )
    assert session.results == [[["6", "24", "32", "15", "0x0102"]], [["16"]]]
    session.close()


def test_a_conflict_names_the_database_of_its_table(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.run_well(
        "CREATE DATABASE ConflictDb\nGO\nUSE ConflictDb\nGO\n"
        "CREATE TABLE t (a int CONSTRAINT small CHECK (a < 5))\nGO\nUSE master\nGO\n"
        "BEGIN TRY INSERT ConflictDb.dbo.t VALUES (9) END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH"
    )
    assert session.prints == [
        'The INSERT statement conflicted with the CHECK constraint "small". The conflict occurred in '
        'database "ConflictDb", table "dbo.t", column \'a\'.'
    ]
    session.close()


def test_a_duplicate_key_is_spelled_as_in_sql_server(shared: Database) -> None:
    session = Tsql(shared.dsn)
    session.run_well(
        "CREATE TABLE spelled (a datetime, b varbinary(4), c money, d datetime2(3), e varchar(5),\n"
        "PRIMARY KEY (a, b, c, d, e))\nGO\nBEGIN TRY INSERT spelled\n"
        "SELECT '20300103 21:30:15', 0xAB01, 5, '20300103', 'x' FROM (VALUES (1), (2)) AS n (i) END TRY\n"
        "BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH"
    )
    key = "(Jan  3 2030  9:30PM, 0xAB01, 5.00, 2030-01-03 00:00:00, x)."
    assert session.prints[0].endswith(f"The duplicate key value is {key}")
    session.close()


# ---------------------------------------------------------------- locks


@pytest.fixture
def locks(shared: Database, session: Tsql) -> Iterator[Tsql]:
    """A session in a transaction; the table has rows 1 and 2."""
    session.run_well(
        "IF OBJECT_ID('dbo.locked') IS NULL CREATE TABLE dbo.locked (id int PRIMARY KEY, v int)\nGO\n"
        "DELETE locked; INSERT locked VALUES (1, 1), (2, 2)"
    )
    yield session


def _blocks(dsn: str, statement: str) -> bool:
    """Whether another session would have to wait for ``statement``."""
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("SET lock_timeout = '20ms'")
        try:
            other.execute(statement.encode())
        except psycopg.errors.LockNotAvailable:
            return True
        return False


@pytest.mark.parametrize(
    ("hint", "readers_wait", "writers_wait"),
    [
        ("NOLOCK", False, False),
        ("HOLDLOCK", False, True),
        ("UPDLOCK", True, True),
        ("XLOCK, ROWLOCK", True, True),
    ],
)
def test_hints_lock_the_row_found(
    shared: Database, locks: Tsql, hint: str, readers_wait: bool, writers_wait: bool
) -> None:
    query = translate(f"SELECT v FROM dbo.locked WITH ({hint}) WHERE id = 1", _keyed(), "statements")
    with psycopg.connect(shared.dsn) as holder:
        holder.execute(query.encode())
        assert _blocks(shared.dsn, "SELECT v FROM dbo.locked WHERE id = 1 FOR SHARE") == readers_wait
        assert _blocks(shared.dsn, "UPDATE dbo.locked SET v = 9 WHERE id = 1") == writers_wait
        assert not _blocks(shared.dsn, "UPDATE dbo.locked SET v = 9 WHERE id = 2")


def _keyed() -> Givens:
    columns = tuple(ColumnInfo(name, INT) for name in ("id", "v"))
    name = ObjectName("locked", "dbo")
    info = TableInfo(name, columns, keys=(KeyInfo(("id",), primary=True),))
    return Givens(tables={name.parts("", None): info})


@pytest.mark.parametrize(
    ("condition", "same_waits", "other_waits", "insert_waits"),
    [("id = 7", True, False, False), ("id > 7", True, True, True)],
)
def test_what_is_not_there_is_locked(
    shared: Database, locks: Tsql, condition: str, same_waits: bool, other_waits: bool, insert_waits: bool
) -> None:
    def query(where: str) -> str:
        text = f"SELECT v FROM dbo.locked WITH (UPDLOCK, HOLDLOCK) WHERE {where}"
        return translate(text, _keyed(), "statements").replace("PERFORM", "SELECT")

    with psycopg.connect(shared.dsn) as holder:
        holder.execute(query(condition).encode())
        assert _blocks(shared.dsn, query(condition)) == same_waits
        assert _blocks(shared.dsn, query("id = 8")) == other_waits
        assert _blocks(shared.dsn, "INSERT INTO dbo.locked VALUES (9, 9)") == insert_waits


def test_readpast_passes_locked_rows(shared: Database, locks: Tsql) -> None:
    with psycopg.connect(shared.dsn) as holder:
        holder.execute("SELECT * FROM dbo.locked WHERE id = 1 FOR UPDATE")
        locks.run_well(
            "SELECT TOP (1) id FROM dbo.locked WITH (UPDLOCK, READPAST) ORDER BY id;"
            "DELETE TOP (5) FROM dbo.locked WITH (READPAST) OUTPUT deleted.id"
        )
    assert locks.results == [[["2"]], [["2"]]]


def test_ignored_duplicates_of_two_sessions(
    shared: Database, session: Tsql, connect: Callable[..., Connection]
) -> None:
    session.run_well("CREATE TABLE dbo.ignoring (k int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON))")
    first, second = connect(shared.dsn, autocommit=False), connect(shared.dsn)
    first.execute("INSERT INTO dbo.ignoring VALUES (1)")
    second.execute("SET lock_timeout = '20ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        second.execute("INSERT INTO dbo.ignoring VALUES (1)")
    first.commit()
    assert second.execute("INSERT INTO dbo.ignoring VALUES (1), (2)").rowcount == 1


def test_a_name_is_looked_up_once_for_a_query(shared: Database, session: Tsql) -> None:
    session.run_well("CREATE TABLE dbo.looked_up (k int); CREATE TABLE dbo.looked_up_too (k int)")
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {shared.name} SET track_functions = 'all'".encode())
    counted = Tsql(shared.dsn)
    counted.run_well(
        "DECLARE @n sysname = N'dbo.looked_up';"
        "SELECT name FROM sys.tables WHERE object_id = OBJECT_ID(@n) OR object_id = OBJECT_ID('looked_up')"
    )
    assert counted.results == [[["looked_up"]]]
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        end_counted(counted.connection, connection)
        query = "SELECT calls FROM pg_stat_user_functions WHERE schemaname = 'sys' AND funcname = 'object_id'"
        assert connection.execute(query).fetchall() == [(2,)]


def test_a_batch_that_does_not_compile_leaves_its_error_to_the_next_one(session: Tsql) -> None:
    session.run(
        "BEGIN TRANSACTION\nGO\nCREATE TABLE dbo.ec1 (a int)\nGO\nSELECT @nope\nGO\n"
        "PRINT @@ERROR\nIF @@ERROR = 0 SET NOEXEC ON\nGO\nPRINT 'not executed'\nCOMMIT\nGO\n"
        "SET NOEXEC OFF\nIF @@TRANCOUNT > 0 ROLLBACK\nSELECT OBJECT_ID('dbo.ec1')"
    )
    assert [error.number for error in session.errors] == [137]
    assert session.prints == ["137"]
    assert session.results == [[[None]]]


def test_what_goes_to_another_schema_leaves_its_rights_behind(
    shared: Database, session: Tsql, connect: Callable[..., Connection]
) -> None:
    connection = connect(shared.dsn)
    connection.execute("CREATE ROLE transfer_reader")
    try:
        for text in (
            "CREATE SCHEMA kept",
            "CREATE TABLE dbo.transferred_table (a int, b int)",
            "CREATE SEQUENCE dbo.transferred_numbers",
            "CREATE PROCEDURE dbo.transferred_module AS SELECT 1",
            "GRANT SELECT, INSERT ON dbo.transferred_table TO transfer_reader",
            "GRANT UPDATE ON dbo.transferred_numbers TO transfer_reader",
            "GRANT EXECUTE ON dbo.transferred_module TO transfer_reader",
        ):
            session.run_well(text)
        connection.execute("GRANT UPDATE (b) ON dbo.transferred_table TO transfer_reader")
        depends = (
            "SELECT count(*) FROM pg_shdepend WHERE refobjid = 'transfer_reader'::regrole"
            " AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        assert connection.execute(depends).fetchone() == (4,)
        for name in ("dbo.transferred_table", "dbo.transferred_numbers", "OBJECT::dbo.transferred_module"):
            session.run_well(f"ALTER SCHEMA kept TRANSFER {name}")
        assert connection.execute(depends).fetchone() == (0,)
    finally:
        connection.execute("DROP OWNED BY transfer_reader; DROP ROLE transfer_reader")
