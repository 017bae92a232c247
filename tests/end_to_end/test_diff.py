"""From old definitions to new ones: the same catalog as from the new scripts alone, and nothing is lost."""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from end_to_end.tsql import Tsql

from pgsb.compiler.compiled import CompiledScript
from pgsb.compiler.pipeline import CompileOptions, CompileSession
from pgsb.diff.compare import Difference, compare
from pgsb.grammar.problems import CompileError
from pgsb.grammar.source import Source
from support import Database, rest_is_long

CATALOG = """
SELECT name, validation_desc FROM sys.service_message_types WHERE name LIKE '//%' ORDER BY name;
SELECT name FROM sys.service_contracts WHERE name LIKE '//%' ORDER BY name;
SELECT c.name AS contract, t.name, u.is_sent_by_initiator, u.is_sent_by_target
  FROM sys.service_contract_message_usages AS u
  JOIN sys.service_contracts AS c ON c.service_contract_id = u.service_contract_id
  JOIN sys.service_message_types AS t ON t.message_type_id = u.message_type_id
 WHERE c.name LIKE '//%' ORDER BY c.name, t.name;
SELECT name, is_receive_enabled, is_retention_enabled, is_poison_message_handling_enabled,
       is_activation_enabled, activation_procedure, max_readers
  FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY name;
SELECT s.name, q.name AS queue FROM sys.services AS s
  JOIN sys.service_queues AS q ON q.object_id = s.service_queue_id WHERE s.name LIKE '//%' ORDER BY s.name;
SELECT s.name, c.name AS contract FROM sys.service_contract_usages AS u
  JOIN sys.services AS s ON s.service_id = u.service_id
  JOIN sys.service_contracts AS c ON c.service_contract_id = u.service_contract_id
 WHERE s.name LIKE '//%' ORDER BY s.name, c.name;
SELECT name, remote_service_name, lifetime, address FROM sys.routes
 WHERE name <> 'AutoCreatedLocal' ORDER BY name;
SELECT p.name, p.priority, p.remote_service_name, c.name AS contract, s.name AS local_service
  FROM sys.conversation_priorities AS p
  LEFT JOIN sys.service_contracts AS c ON c.service_contract_id = p.service_contract_id
  LEFT JOIN sys.services AS s ON s.service_id = p.local_service_id ORDER BY p.name;
SELECT name, service_name FROM sys.event_notifications ORDER BY name;
SELECT t.name AS tab, c.name, TYPE_NAME(c.user_type_id) AS type, c.max_length, c.is_nullable
  FROM sys.columns AS c JOIN sys.tables AS t ON t.object_id = c.object_id ORDER BY t.name, c.name;
SELECT name, type FROM sys.objects WHERE type IN ('P', 'V', 'FN', 'TR', 'C', 'UQ', 'SN') AND is_ms_shipped = 0
 ORDER BY name;
SELECT OBJECT_NAME(object_id) AS module, REPLACE(REPLACE(definition, ';', ''), 'CREATE   ', 'CREATE ')
  FROM sys.sql_modules ORDER BY 1;
SELECT name FROM sys.indexes WHERE name LIKE 'ix%' ORDER BY name;
SELECT name, type FROM sys.objects WHERE type IN ('U', 'SO', 'TF', 'IF') AND is_ms_shipped = 0 ORDER BY name;
SELECT name, port FROM sys.tcp_endpoints ORDER BY name;
SELECT name, remote_service_name FROM sys.remote_service_bindings ORDER BY name;
SELECT n.name, OBJECT_NAME(n.parent_id) AS queue, e.type_desc
  FROM sys.event_notifications AS n JOIN sys.events AS e ON e.object_id = n.object_id ORDER BY n.name, queue;
SELECT name, USER_NAME(principal_id) AS owner FROM sys.routes ORDER BY name;
SELECT name, type FROM sys.database_principals WHERE name IN ('u', 'v', 'r') ORDER BY name;
SELECT USER_NAME(role_principal_id) AS role, USER_NAME(member_principal_id) AS member
  FROM sys.database_role_members ORDER BY role, member;
SELECT class_desc, permission_name, state, USER_NAME(grantee_principal_id) AS grantee
  FROM sys.database_permissions WHERE class > 1 OR class = 1 AND OBJECT_NAME(major_id) IN ('a', 'x', 'y')
 ORDER BY class_desc, permission_name, grantee;
SELECT class_desc, permission_name FROM sys.server_permissions WHERE class = 105;
"""


HERE = "'current database'"
GUARD = "IF EXISTS (SELECT * FROM a) THROW 50000, N'Queue a still has messages: it is not dropped.', 1;"


def difference(old: str, new: str, **options: bool) -> Difference:
    found = compare([Source("old.sql", old)], [Source("new.sql", new)], **options)
    found.problems.raise_if_any()
    return found


def statements(old: str, new: str, **options: bool) -> list[str]:
    return [" ".join(step.text.split()) for step in difference(old, new, **options).steps()]


def refusals(old: str, new: str) -> list[tuple[str, str, int]]:
    found = compare([Source("old.sql", old)], [Source("new.sql", new)])
    return [
        (one.message, one.span.source.name, one.span.line)
        for one in found.problems
        if one.severity == "error"
    ]


def test_the_name_of_a_file_is_no_statement() -> None:
    new = Source("new\nDROP TABLE t --.sql", "CREATE QUEUE q")
    assert compare([], [new]).script() == "-- new?DROP TABLE t --.sql:1\nCREATE QUEUE q;\nGO\n"


def test_nothing_lies_between_a_script_and_itself() -> None:
    for name in ("order_desk", "trade_desk", "travel_booking", "hello_world"):
        for script in (Path(__file__).parents[2] / "examples" / name).glob("*.sql"):
            text = script.read_text()
            assert list(compare([Source("a", text)], [Source("b", text)]).steps()) == [], script


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "CREATE QUEUE q",
            "CREATE QUEUE dbo.Q WITH STATUS = OFF, RETENTION = ON, POISON_MESSAGE_HANDLING (STATUS = OFF)",
            ["ALTER QUEUE dbo.Q WITH STATUS = OFF, RETENTION = ON, POISON_MESSAGE_HANDLING (STATUS = OFF)"],
        ),
        (
            "CREATE QUEUE q WITH ACTIVATION (PROCEDURE_NAME = p, MAX_QUEUE_READERS = 2, EXECUTE AS SELF)",
            "CREATE QUEUE q",
            ["ALTER QUEUE q WITH ACTIVATION (DROP)"],
        ),
        (
            "CREATE QUEUE q WITH ACTIVATION (PROCEDURE_NAME = p, MAX_QUEUE_READERS = 2, EXECUTE AS SELF)",
            "CREATE QUEUE q; ALTER QUEUE q WITH ACTIVATION (PROCEDURE_NAME = p, MAX_QUEUE_READERS = 5, "
            "EXECUTE AS OWNER)",
            ["ALTER QUEUE q WITH ACTIVATION (STATUS = OFF, MAX_QUEUE_READERS = 5, EXECUTE AS OWNER)"],
        ),
        ("CREATE QUEUE q WITH STATUS = ON, RETENTION = OFF", "CREATE QUEUE q", []),
        (
            "CREATE QUEUE q WITH RETENTION = ON; ALTER QUEUE q WITH RETENTION = OFF, STATUS = OFF",
            "CREATE QUEUE q",
            ["ALTER QUEUE q WITH STATUS = ON"],
        ),
        (
            "CREATE MESSAGE TYPE m VALIDATION = EMPTY; ALTER MESSAGE TYPE m VALIDATION = NONE",
            "CREATE MESSAGE TYPE m VALIDATION = VALID_XML WITH SCHEMA COLLECTION dbo.c",
            ["ALTER MESSAGE TYPE m VALIDATION = VALID_XML WITH SCHEMA COLLECTION dbo.c"],
        ),
        (
            "CREATE SERVICE s ON QUEUE q (a, b)",
            "CREATE SERVICE s ON QUEUE r (b, [c d])",
            ["ALTER SERVICE s ON QUEUE r", "ALTER SERVICE s (ADD CONTRACT [c d], DROP CONTRACT a)"],
        ),
        (
            "CREATE ROUTE r WITH SERVICE_NAME = 's', LIFETIME = 60, ADDRESS = 'LOCAL'",
            "CREATE ROUTE r WITH SERVICE_NAME = 's', ADDRESS = 'LOCAL'",
            ["DROP ROUTE r", "CREATE ROUTE r WITH SERVICE_NAME = 's', ADDRESS = 'LOCAL'"],
        ),
        (
            "CREATE BROKER PRIORITY p FOR CONVERSATION",
            "CREATE BROKER PRIORITY p FOR CONVERSATION SET (PRIORITY_LEVEL = 9)",
            [
                "ALTER BROKER PRIORITY p FOR CONVERSATION SET (CONTRACT_NAME = ANY, "
                "LOCAL_SERVICE_NAME = ANY, REMOTE_SERVICE_NAME = ANY, PRIORITY_LEVEL = 9)"
            ],
        ),
        (
            "CREATE REMOTE SERVICE BINDING b TO SERVICE 's' WITH USER = u",
            "CREATE REMOTE SERVICE BINDING b TO SERVICE 's' WITH USER = u, ANONYMOUS = ON",
            ["ALTER REMOTE SERVICE BINDING b WITH USER = u, ANONYMOUS = ON"],
        ),
        ("CREATE PROC p AS PRINT 1 -- a", "CREATE PROC P AS\n  PRINT 1", []),
        ("CREATE PROC p AS PRINT 1", "ALTER PROC p AS PRINT 2", ["CREATE OR ALTER PROC p AS PRINT 2"]),
        ("CREATE VIEW v AS SELECT 1 AS a", "GO", ["DROP VIEW v"]),
        (
            "CREATE TABLE t (a INT NOT NULL, b INT)",
            "CREATE TABLE T (B BIGINT NOT NULL, A INT NOT NULL, c INT DEFAULT 0 NOT NULL)",
            ["ALTER TABLE T ALTER COLUMN B BIGINT NOT NULL", "ALTER TABLE T ADD c INT DEFAULT 0 NOT NULL"],
        ),
        (
            "CREATE TABLE t (a INT NULL CHECK (a IS NOT NULL OR 1 = 1), b INT DEFAULT NULL)",
            "CREATE TABLE t (a INT CHECK (a IS NOT NULL OR 1 = 1), b INT DEFAULT NULL NULL,"
            " c INT CHECK (c IS NOT NULL OR a IS NULL))",
            ["ALTER TABLE t ADD c INT CHECK (c IS NOT NULL OR a IS NULL)"],
        ),
        (
            "CREATE TABLE t (a INT NOT NULL CHECK (a IS NOT NULL))",
            "CREATE TABLE t (a INT NULL CHECK (a IS NOT NULL))",
            ["ALTER TABLE t ALTER COLUMN a INT NULL"],
        ),
        (
            "CREATE TABLE t (a INT NOT NULL, b INT, CONSTRAINT k PRIMARY KEY (a, B))",
            "CREATE TABLE t (a INT, b BIGINT, CONSTRAINT k PRIMARY KEY (a, B))",
            [
                "ALTER TABLE t DROP CONSTRAINT k",
                "ALTER TABLE t ALTER COLUMN b BIGINT NOT NULL",
                "ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (a, B)",
            ],
        ),
        (
            "CREATE TABLE t (a INT, CONSTRAINT old CHECK (a > 0))",
            "CREATE TABLE t (a INT, CONSTRAINT new CHECK (a > 1))",
            ["ALTER TABLE t DROP CONSTRAINT old", "ALTER TABLE t ADD CONSTRAINT new CHECK (a > 1)"],
        ),
        (
            "CREATE TABLE t (a INT, b INT, INDEX [by a] (a), INDEX c (b), INDEX d (b))",
            "CREATE TABLE t (a BIGINT, b INT, INDEX [by a] (a), INDEX c UNIQUE (b))",
            [
                "DROP INDEX [by a] ON t",
                "DROP INDEX c ON t",
                "DROP INDEX d ON t",
                "ALTER TABLE t ALTER COLUMN a BIGINT NULL",
                "ALTER TABLE t ADD INDEX [by a] (a)",
                "ALTER TABLE t ADD INDEX c UNIQUE (b)",
            ],
        ),
        (
            "CREATE TABLE t (a INT); ALTER TABLE t ADD b INT",
            "CREATE TABLE t (a INT); ALTER TABLE t ADD b INT; ALTER TABLE t ADD c INT",
            ["ALTER TABLE t ADD c INT"],
        ),
        (
            "CREATE INDEX i ON t (a)",
            "CREATE INDEX i ON dbo.t (b)\nCREATE TABLE t (a INT, b INT)",
            ["DROP INDEX i ON dbo.t", "CREATE INDEX i ON dbo.t (b)", "CREATE TABLE t (a INT, b INT)"],
        ),
        (
            "GRANT SELECT ON t TO a WITH GRANT OPTION; ALTER ROLE r ADD MEMBER a",
            "GRANT INSERT ON t TO a",
            ["REVOKE SELECT ON t FROM a CASCADE", "ALTER ROLE r DROP MEMBER a", "GRANT INSERT ON t TO a"],
        ),
        (
            f"CREATE EVENT NOTIFICATION n ON QUEUE q FOR QUEUE_ACTIVATION TO SERVICE 's', {HERE}",
            f"CREATE EVENT NOTIFICATION n ON QUEUE q FOR BROKER_QUEUE_DISABLED TO SERVICE 's', {HERE}",
            [
                "DROP EVENT NOTIFICATION n ON QUEUE q",
                f"CREATE EVENT NOTIFICATION n ON QUEUE q FOR BROKER_QUEUE_DISABLED TO SERVICE 's', {HERE}",
            ],
        ),
        (
            "CREATE QUEUE a",
            "CREATE DATABASE [My Shop]\nGO\nUSE [My Shop]\nCREATE QUEUE a\nGO\nUSE master\nCREATE QUEUE b",
            [
                GUARD,
                "CREATE DATABASE [My Shop]",
                f"{GUARD} DROP QUEUE a",
                "CREATE QUEUE a",
                "CREATE QUEUE b",
            ],
        ),
    ],
)
def test_a_difference(old: str, new: str, expected: list[str]) -> None:
    assert statements(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "sentence", "place"),
    [
        (
            "CREATE CONTRACT c (m SENT BY ANY)",
            "GO\nCREATE CONTRACT c (m SENT BY TARGET)",
            "Contract c changes, and no statement changes it in place.",
            ("new.sql", 2),
        ),
        ("CREATE TABLE t (a INT)", "GO", "Table t is gone: its rows would be lost.", ("old.sql", 1)),
        (
            "CREATE QUEUE x; CREATE SERVICE s ON QUEUE x",
            "CREATE TABLE x (a INT); CREATE QUEUE y; CREATE SERVICE s ON QUEUE y",
            "Queue x makes way for another object, and a service is on it.",
            ("old.sql", 1),
        ),
        (
            "CREATE TABLE t (a INT, b INT)",
            "CREATE TABLE t (b INT)",
            "Column a of t is gone: its values would be lost.",
            ("new.sql", 1),
        ),
        (
            "CREATE TABLE t (a INT)",
            "CREATE TABLE t (a INT,\nb INT NOT NULL)",
            "Column b of t is new and NOT NULL: rows have no value for it.",
            ("new.sql", 2),
        ),
        (
            "CREATE TABLE t (a INT)",
            "CREATE TABLE t (a INT IDENTITY)",
            "Column a of t changes in more than its type and NULL.",
            ("new.sql", 1),
        ),
        (
            "CREATE TABLE t (a INT, CHECK (a > 0))",
            "CREATE TABLE t (a INT)",
            "A constraint of t without a name changes or is gone.",
            ("new.sql", 1),
        ),
        (
            "CREATE TABLE t (a INT); ALTER TABLE t ADD b INT",
            "CREATE TABLE t (a INT, b INT)",
            "Table t is made by CREATE TABLE and ALTER TABLE, and not only new ones follow.",
            ("new.sql", 1),
        ),
        (
            "CREATE TYPE y FROM INT",
            "CREATE TYPE y FROM BIGINT",
            "Type y changes, and no statement changes it in place.",
            ("new.sql", 1),
        ),
        (
            "CREATE FUNCTION f() RETURNS INT AS BEGIN RETURN 1 END",
            "CREATE FUNCTION f() RETURNS TABLE AS RETURN SELECT 1 AS a",
            "Function f changes, and no statement changes it in place.",
            ("new.sql", 1),
        ),
        ("CREATE DATABASE d", "GO", "Database d is gone: no difference drops it.", ("old.sql", 1)),
        (
            "ALTER AUTHORIZATION ON SERVICE::s TO u",
            "GO",
            "This statement is gone, and no statement undoes it.",
            ("old.sql", 1),
        ),
        (
            "GO",
            "SET QUOTED_IDENTIFIER OFF",
            "Scripts under SET QUOTED_IDENTIFIER OFF cannot be compared.",
            ("new.sql", 1),
        ),
    ],
)
def test_what_is_not_done_in_place_is_refused_by_name(
    old: str, new: str, sentence: str, place: tuple[str, int]
) -> None:
    assert refusals(old, new) == [(sentence, *place)]


@pytest.mark.parametrize(
    "broken",
    ["CREATE UNIQUE INDEX ix (a)", "CREATE INDEX ix ON", "CREATE INDEX", "CREATE TABLE", "CREATE VIEW"],
)
def test_a_statement_that_breaks_off_before_its_name_has_a_place(broken: str) -> None:
    for old, new in (("GO", broken), (broken, "GO")):
        (refusal, *_) = refusals(old, new)
        assert refusal[2] == 1


def test_what_defines_nothing_is_told_and_left_out() -> None:
    found = compare(
        [Source("o", "PRINT 1\nINSERT t VALUES (1)")], [Source("n", "INSERT t VALUES (1)\nEXEC p")]
    )
    assert [(one.message, one.severity) for one in found.problems] == [
        ("EXEC defines nothing: it is left out of the difference.", "warning")
    ]
    assert list(found.steps()) == []


def test_files_in_any_order_give_steps_that_run() -> None:
    texts = ("CREATE VIEW dbo.v AS SELECT a FROM dbo.t", "CREATE TABLE dbo.t (a int REFERENCES dbo.u)")
    new = [
        Source(f"{at}.sql", text)
        for at, text in enumerate((*texts, "CREATE TABLE dbo.u (a int PRIMARY KEY)"))
    ]
    made = [step.place.source.name for step in compare([], new).steps()]
    assert made == ["2.sql", "1.sql", "0.sql"]
    gone = [step.text for step in compare(new, [], allow_drop=True).steps()]
    assert gone == ["DROP VIEW dbo.v", "DROP TABLE dbo.t", "DROP TABLE dbo.u"]


def test_with_allow_drop_nothing_is_asked() -> None:
    old = "CREATE QUEUE q; CREATE SERVICE s ON QUEUE q; CREATE TABLE t (a INT, b INT); CREATE TABLE u (a INT)"
    assert statements(old, "CREATE TABLE t (a INT)", allow_drop=True) == [
        "ALTER TABLE t DROP COLUMN b",
        "DROP TABLE u",
        "DROP SERVICE s",
        "DROP QUEUE q",
    ]


# ------------------------------------------------------------------ in a server


def apply(psql: str, database: Database, old: str, new: str, allow_drop: bool = False) -> str:
    """Run the difference as a migration does: compiled, by psql. Gives what went wrong."""
    session = CompileSession(CompileOptions(keep_source=True))
    for _ in session.compile_script(Source("old.sql", old)):
        pass
    source = difference(old, new, allow_drop=allow_drop).source()
    session.catalog.connect_anew()
    batches = list(session.compile_script(source))
    session.problems.raise_if_any()
    text = CompiledScript(tuple(batches), session.problems).text()
    shown = subprocess.run(
        [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.dsn],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stderr if shown.returncode else ""


def catalog(database: Database) -> str:
    session = Tsql(database.dsn)
    try:
        return session.run_well(CATALOG)
    finally:
        session.close()


def run(database: Database, text: str) -> str:
    session = Tsql(database.dsn)
    try:
        return session.run_well(text)
    finally:
        session.close()


BASE = """
CREATE MESSAGE TYPE [//m] VALIDATION = NONE;
CREATE CONTRACT [//c] ([//m] SENT BY INITIATOR);
CREATE QUEUE Jobs; CREATE QUEUE Boss;
CREATE SERVICE [//worker] ON QUEUE Jobs ([//c]);
CREATE SERVICE [//boss] ON QUEUE Boss;
"""
SEND = """
SET NOCOUNT ON;
DECLARE @d UNIQUEIDENTIFIER;
BEGIN DIALOG @d FROM SERVICE [//boss] TO SERVICE '//worker' ON CONTRACT [//c] WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @d MESSAGE TYPE [//m] (N'one');
SEND ON CONVERSATION @d MESSAGE TYPE [//m] (N'two');
"""


def test_a_queue_keeps_its_messages_and_dialogs(database: Database, psql: str) -> None:
    run(database, BASE + SEND)
    new = BASE.replace("QUEUE Jobs;", "QUEUE Jobs WITH RETENTION = ON;") + "CREATE TABLE Mine (Id INT);"
    assert apply(psql, database, BASE, new) == ""
    shown = run(database, "SET NOCOUNT ON; RECEIVE CAST(message_body AS NVARCHAR(9)) AS body FROM Jobs;")
    assert shown.split()[-2:] == ["one", "two"]


@pytest.mark.long
def test_a_queue_that_is_gone_is_dropped_when_it_is_empty(database: Database, psql: str) -> None:
    run(database, BASE + SEND)
    new = "\n".join(line for line in BASE.splitlines() if "[//worker]" not in line).replace(
        "CREATE QUEUE Jobs;", ""
    )
    before = catalog(database)
    assert "Service [//worker] still has open dialogs: it is not dropped." in apply(psql, database, BASE, new)
    assert catalog(database) == before
    run(
        database,
        "DECLARE @d UNIQUEIDENTIFIER;\n" + "SELECT TOP (1) @d = conversation_handle FROM Jobs;\n"
        "END CONVERSATION @d WITH CLEANUP;\nRECEIVE * FROM Jobs;",
    )
    assert apply(psql, database, BASE, new) == ""
    assert "Jobs" not in catalog(database) and "//worker" not in catalog(database)


def test_the_rows_of_a_table_stay(database: Database, psql: str) -> None:
    gone = "gone INT DEFAULT 1 CONSTRAINT [C 1] CHECK (gone > 0) UNIQUE"
    old = f"CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(3), {gone});"
    new = "CREATE TABLE t (id INT PRIMARY KEY, a NVARCHAR(20) NOT NULL, b INT NOT NULL DEFAULT 7);"
    run(database, f"{old}\nINSERT t VALUES (1, 'one', 9);")
    with pytest.raises(CompileError, match="Column gone of t is gone"):
        apply(psql, database, old, new)
    assert apply(psql, database, old, new, allow_drop=True) == ""
    assert run(database, "SET NOCOUNT ON; SELECT * FROM t;").split()[-3:] == ["1", "one", "7"]


def test_what_depends_on_a_column_makes_way_for_its_type(database: Database, psql: str) -> None:
    old = "CREATE TABLE t (a INT, b INT, CONSTRAINT c CHECK (a > 0));\nCREATE INDEX i ON t (a);"
    new = old.replace("a INT", "a BIGINT")
    run(database, old)
    assert apply(psql, database, old, new) == ""
    assert "DEFAULT" not in (changed := difference(old, new).script())
    assert [changed.count(word) for word in ("DROP INDEX", "DROP CONSTRAINT", "CREATE INDEX")] == [1, 1, 1]
    old = old.replace("a INT", "a INT DEFAULT 7")
    with pytest.raises(CompileError, match="Column a of t changes its type, and has a constraint"):
        apply(psql, database, old, old.replace("a INT", "a BIGINT"))


ENDPOINT = (
    "CREATE ENDPOINT {} STATE = STARTED AS TCP (LISTENER_PORT = {}) "
    "FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS);"
)
PRIORITY = "CREATE BROKER PRIORITY {} FOR CONVERSATION SET (REMOTE_SERVICE_NAME = N'{}', PRIORITY_LEVEL = 3);"
BINDING = "CREATE REMOTE SERVICE BINDING {} TO SERVICE '{}' WITH USER = u;"
NOTIFICATION = "CREATE EVENT NOTIFICATION n ON QUEUE {} FOR {} TO SERVICE 's', 'current database';"
QUEUES = "CREATE USER u WITHOUT LOGIN; CREATE QUEUE q1; CREATE QUEUE q2; CREATE SERVICE s ON QUEUE q1;"
P = "\nGO\nCREATE PROCEDURE p AS RETURN 0;"
ACTIVATED = "WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = p, MAX_QUEUE_READERS = 1, EXECUTE AS SELF)"
OVER_X = (
    "CREATE TRIGGER tr ON x INSTEAD OF INSERT AS PRINT 'i';\nGO\nCREATE VIEW y AS SELECT a FROM x;\nGO\n"
    "GRANT SELECT ON x TO public; GRANT SELECT ON y TO public;"
)
VIEWS = "CREATE TABLE t (a INT);\nGO\nCREATE VIEW x AS SELECT a FROM t;\nGO\n"


@pytest.mark.one_postgres
@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            ENDPOINT.format("e1", 4022),
            ENDPOINT.format("e2", 4022),
            id="one endpoint",
            marks=pytest.mark.long,
        ),
        pytest.param(
            PRIORITY.format("p1", "//X") + PRIORITY.format("p2", "//Y"),
            PRIORITY.format("p1", "//Y") + PRIORITY.format("p2", "//X"),
            id="priorities change places",
            marks=pytest.mark.long,
        ),
        pytest.param(
            PRIORITY.format("p1", "//X"),
            PRIORITY.format("p2", "//X"),
            id="priority of another name",
            marks=pytest.mark.long,
        ),
        pytest.param(
            QUEUES + BINDING.format("b1", "//X") + BINDING.format("b2", "//Y"),
            QUEUES + BINDING.format("b1", "//Y") + BINDING.format("b3", "//X"),
            id="bindings change places",
        ),
        pytest.param(
            QUEUES + NOTIFICATION.format("q1", "QUEUE_ACTIVATION") + P,
            QUEUES.replace("QUEUE q1;", f"QUEUE q1 {ACTIVATED};", 1) + P,
            id="activation instead of its notification",
            marks=pytest.mark.long,
        ),
        pytest.param(
            QUEUES
            + NOTIFICATION.format("q1", "BROKER_QUEUE_DISABLED")
            + NOTIFICATION.format("q2", "BROKER_QUEUE_DISABLED"),
            QUEUES + NOTIFICATION.format("q2", "QUEUE_ACTIVATION"),
            id="notifications of one name",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "CREATE ROLE r; CREATE USER v WITHOUT LOGIN; ALTER ROLE r ADD MEMBER v; CREATE QUEUE a;\n"
            "GRANT RECEIVE ON a TO r;",
            "CREATE ROLE v; CREATE USER r WITHOUT LOGIN; ALTER ROLE v ADD MEMBER r; CREATE QUEUE a;\n"
            "GRANT RECEIVE ON a TO r;",
            id="a user instead of a role",
        ),
        pytest.param(
            VIEWS + OVER_X + "DENY VIEW DEFINITION ON x TO public;",
            "CREATE TABLE t (a INT);\nCREATE TABLE x (a INT);\nGO\n" + OVER_X,
            id="a table instead of a view",
        ),
        pytest.param(
            "CREATE TABLE t (a INT);\nCREATE SEQUENCE d;\nCREATE SYNONYM c FOR t;\n"
            "GO\nCREATE PROCEDURE a AS RETURN 0;\nGO\nCREATE FUNCTION b () RETURNS INT AS BEGIN RETURN 1 END",
            "CREATE TABLE t (a INT);\nCREATE SYNONYM d FOR t;\nCREATE QUEUE c;\n"
            "GO\nCREATE FUNCTION a () RETURNS INT AS BEGIN RETURN 1 END\nGO\nCREATE PROCEDURE b AS RETURN 0;",
            id="modules of other kinds",
        ),
        pytest.param(
            ENDPOINT.format("e", 4022) + "GRANT CONNECT ON ENDPOINT::e TO public;\n"
            "CREATE USER u WITHOUT LOGIN; CREATE ROUTE r WITH SERVICE_NAME = 'x', ADDRESS = 'TCP://x:1';\n"
            "GRANT CONTROL ON ROUTE::r TO u; ALTER AUTHORIZATION ON ROUTE::r TO u;",
            ENDPOINT.format("e", 4023) + "GRANT CONNECT ON ENDPOINT::e TO public;\n"
            "CREATE USER u WITHOUT LOGIN; CREATE ROUTE r WITH SERVICE_NAME = 'x', ADDRESS = 'TCP://x:2';\n"
            "GRANT CONTROL ON ROUTE::r TO u; ALTER AUTHORIZATION ON ROUTE::r TO u;",
            id="what is granted on an endpoint and a route",
        ),
    ],
)
def test_what_is_in_the_way_of_another_goes_first(
    new_database: Callable[[], Database], psql: str, old: str, new: str
) -> None:
    changed, fresh = new_database(), new_database()
    run(changed, f"{old}\n")
    run(fresh, f"{new}\n")
    assert apply(psql, changed, old, new, allow_drop=True) == ""
    assert catalog(changed) == catalog(fresh)


def random_script(random: random.Random) -> str:
    """A script that runs: objects that may be there, each in one of its forms."""

    def maybe(*forms: str) -> str:
        return f"{random.choice(forms)}\n" if random.random() < 0.75 else ""

    def one_of(*forms: str) -> str:
        return f"{random.choice(forms)}\n"

    poison = "POISON_MESSAGE_HANDLING (STATUS = OFF)"
    activation = "ACTIVATION (PROCEDURE_NAME = dbo.Work, MAX_QUEUE_READERS = {}, EXECUTE AS OWNER)"
    kept = random.random() < 0.5
    return "".join(
        (
            one_of(*(f"CREATE MESSAGE TYPE [//a] VALIDATION = {check};" for check in ("NONE", "EMPTY"))),
            maybe("CREATE MESSAGE TYPE [//b];", "CREATE MESSAGE TYPE [//b] VALIDATION = WELL_FORMED_XML;"),
            "CREATE CONTRACT [//c] ([//a] SENT BY ANY);\n",
            "CREATE CONTRACT [//d] ([//a] SENT BY TARGET, [DEFAULT] SENT BY INITIATOR);\n" if kept else "",
            one_of(
                *(
                    f"CREATE TABLE T1 ({columns});"
                    for columns in ("a INT", "a BIGINT, b INT", "a INT NOT NULL")
                )
            ),
            maybe(
                *(
                    f"CREATE TABLE T2 (x NVARCHAR(9){rest});"
                    for rest in (", CONSTRAINT c2 CHECK (x > '')", "")
                )
            ),
            maybe(*(f"CREATE {unique} INDEX ix1 ON T1 (a);" for unique in ("", "UNIQUE"))),
            "GO\n",
            one_of(
                "CREATE PROCEDURE dbo.Work AS PRINT 1;",
                "CREATE PROCEDURE Work AS DECLARE @n INT = 1 PRINT @n;",
            ),
            "GO\n",
            maybe("CREATE VIEW V AS SELECT a FROM T1;", "CREATE VIEW V AS SELECT a, 1 AS one FROM T1;"),
            "GO\n",
            maybe(*(f"CREATE FUNCTION F() RETURNS INT AS BEGIN RETURN {n} END" for n in (1, 2))),
            "GO\n",
            maybe(*(f"CREATE TRIGGER Tr ON T1 AFTER {event} AS PRINT 1" for event in ("INSERT", "DELETE"))),
            "GO\n",
            one_of(
                "CREATE QUEUE Q1;",
                "CREATE QUEUE Q1 WITH RETENTION = ON;",
                f"CREATE QUEUE Q1 WITH STATUS = OFF, {poison};",
                f"CREATE QUEUE Q1 WITH {activation.format(3)};",
                f"CREATE QUEUE Q1;\nALTER QUEUE Q1 WITH {activation.format(8)};",
            ),
            maybe("CREATE QUEUE Q2;", f"CREATE QUEUE Q2 WITH {poison};"),
            one_of(*(f"CREATE SERVICE [//s] ON QUEUE Q1 ([{contract}]);" for contract in ("//c", "DEFAULT"))),
            "CREATE SERVICE [//t] ON QUEUE dbo.Q1 ([//d], [//c]);\n" if kept else "",
            maybe("CREATE ROUTE r WITH SERVICE_NAME = 'x', ADDRESS = 'TCP://x:1';"),
            maybe("CREATE ROUTE r2 WITH ADDRESS = 'LOCAL';", "CREATE ROUTE r2 WITH ADDRESS = 'TCP://y:1';"),
            maybe(
                "CREATE BROKER PRIORITY p FOR CONVERSATION SET (PRIORITY_LEVEL = 9);",
                "CREATE BROKER PRIORITY p FOR CONVERSATION SET (CONTRACT_NAME = [//c]);",
            ),
            maybe("CREATE SYNONYM S1 FOR dbo.T1;", "CREATE SYNONYM S1 FOR dbo.T2;"),
            maybe(
                f"CREATE EVENT NOTIFICATION n ON QUEUE Q1 FOR BROKER_QUEUE_DISABLED TO SERVICE '//s', {HERE};"
            ),
        )
    )


@pytest.mark.long
@pytest.mark.one_postgres
@pytest.mark.parametrize(
    # Each seed tries the same with other definitions.
    "seed",
    rest_is_long(range(8), 0),
)
def test_old_and_the_difference_give_what_new_alone_gives(
    new_database: Callable[[], Database], psql: str, seed: int
) -> None:
    source = random.Random(seed)
    old, new = random_script(source), random_script(source)
    changed, fresh = new_database(), new_database()
    run(changed, old)
    run(fresh, new)
    assert apply(psql, changed, old, new, allow_drop=True) == ""
    assert catalog(changed) == catalog(fresh), (
        f"{old}\n--------\n{new}\n--------\n{difference(old, new, allow_drop=True).script()}"
    )


def test_the_command(pgsb: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, text in (("old", "CREATE QUEUE q\nGO\n"), ("new", "CREATE QUEUE q WITH STATUS = OFF\nGO\n")):
        Path(folder).mkdir()
        Path(folder, "shop.sql").write_text(text)
    shown = pgsb("compile", "--diff", "old", "new", "--tsql")
    assert (shown.status, shown.out) == (0, "-- new/shop.sql:1\nALTER QUEUE q WITH STATUS = OFF;\nGO\n")
    assert pgsb("compile", "--diff", "old", "new", "-o", "out.sql").status == 0
    text = Path("out.sql").read_text()
    assert "the difference from old to new: change those" in text.splitlines()[0]
    assert "-- new/shop.sql:1\n" in text and "ssb.alter_queue('dbo.q', status => false)" in text
    Path("new/shop.sql").write_text("INSERT t VALUES (1)\nGO\nCREATE TABLE t (a INT, b INT NOT NULL)\n")
    Path("old/shop.sql").write_text("CREATE TABLE t (a INT)")
    refused = pgsb("compile", "--diff", "old", "new", "-o", "out.sql")
    assert refused.status == 1 and "new/shop.sql:3:24: error: Column b of t is new" in refused.err
    assert Path("out.sql").read_text() == text
    assert pgsb("compile", "new", "--tsql").status == 2
    Path("new/shop.sql").write_text("EXEC p\nGO\nCREATE TABLE t (a INT)\n")
    Path("new/whole.sql").write_text(":r new/shop.sql\n")
    told = pgsb("compile", "--diff", "old", "new", "-o", "out.sql")
    assert told.err.count("new/shop.sql:1:1: warning: EXEC defines nothing") == 1
