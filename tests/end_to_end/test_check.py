"""pgsb check for programs and for many files: formats, folders, a share for each processor."""

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pgsb.compiler.checking import check_scripts
from pgsb.grammar.source import Source

Pgsb = Callable[..., Any]
ROOT = Path(__file__).parents[2]
BAD = "PRINT 'ä';\nGO\nCREATE QUEUE Orders WITH STATUS = MAYBE;\nGO\nPRINT @x;\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "database" / "deeper").mkdir(parents=True)
    (tmp_path / "database" / "bad, 100%.sql").write_text(BAD, encoding="utf-8")
    (tmp_path / "database" / "deeper" / "good.SQL").write_text("PRINT 1;\nGO\nPRINT 2;\n")
    (tmp_path / "database" / "notes.txt").write_text("no script")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_columns_that_nobody_has_are_warned_of_in_any_order_of_scripts() -> None:
    tables = Source(
        "tables.sql", "CREATE TABLE dbo.Orders (Id int, Customer int);\nGO\nCREATE QUEUE dbo.Inbox;"
    )
    uses = Source(
        "uses.sql",
        "SELECT Custommer, o.Id FROM dbo.Orders;\nGO\nSELECT Later, Dynamic FROM dbo.Orders;\nGO\n"
        "CREATE PROCEDURE dbo.Reads AS RECEIVE TOP (1) conversation_handel FROM dbo.Inbox;\nGO\n"
        "SELECT name FROM sys.service_queue;\nGO\nSELECT anything FROM dbo.Unknown;",
    )
    adds = Source(
        "adds.sql",
        "ALTER TABLE dbo.Orders ADD Later int;\nGO\nEXEC (N'ALTER TABLE dbo.Orders ADD Dynamic int');",
    )
    for processes in (1, 3):
        found = check_scripts([tables, uses, adds], processes=processes)
        assert not found.errors
        assert [(one.span.line, one.number, one.message, one.hint) for one in found] == [
            (1, 207, "Invalid column name 'Custommer'.", "did you mean 'Customer'?"),
            (1, 4104, 'The multi-part identifier "o.Id" could not be bound.', None),
            (5, 207, "Invalid column name 'conversation_handel'.", "did you mean 'conversation_handle'?"),
            (7, 208, "Invalid object name 'sys.service_queue'.", "did you mean 'service_queues'?"),
        ]


def test_scripts_know_tables_views_and_queues_of_later_ones() -> None:
    texts = {
        "a.sql": "CREATE PROCEDURE a AS SELECT Nam FROM dbo.Seen;\nGO\n"
        "CREATE PROCEDURE b AS RECEIVE conversation_handel FROM [In box];",
        "b.sql": "CREATE OR ALTER VIEW dbo.Seen AS SELECT Name FROM dbo.Kept;",
        "c.sql": "CREATE TABLE dbo.Kept (Name int, Other int REFERENCES dbo.Others);\nGO\n"
        "CREATE PROCEDURE c AS SELECT Nam FROM dbo.Others;",
        "d.sql": "CREATE TABLE dbo.Others (Id int PRIMARY KEY, Name int);",
        "e.sql": "CREATE QUEUE [In box];",
    }
    sources = [Source(name, text) for name, text in texts.items()]
    for processes in (1, 3):
        found = check_scripts(sources, processes=processes)
        assert sorted((one.span.source.name, one.span.line, one.message) for one in found) == [
            ("a.sql", 1, "Invalid column name 'Nam'."),
            ("a.sql", 3, "Invalid column name 'conversation_handel'."),
            ("c.sql", 3, "Invalid column name 'Nam'."),
        ]


def test_an_order_in_which_scripts_run_is_kept() -> None:
    of_a_database = [
        Source("1.sql", "CREATE DATABASE One;\nGO\nUSE One;\nGO\nCREATE TABLE dbo.t (a int);"),
        Source("2.sql", "CREATE PROCEDURE p AS SELECT b FROM t;"),
        Source("3.sql", "USE master;\nGO\nCREATE TABLE dbo.u (b int);"),
        Source("4.sql", "SELECT c FROM u;"),
    ]
    changed = [
        Source("1.sql", "CREATE TABLE dbo.t (a int);"),
        Source("2.sql", "SELECT a + 1 AS b FROM t;\nGO\nDROP TABLE t;"),
        Source("3.sql", "CREATE TABLE dbo.t (a xml);\nGO\nSELECT a + 1 AS b FROM t;"),
    ]
    found = [
        [(one.span.source.name, one.number) for one in check_scripts(scripts)]
        for scripts in (of_a_database, changed)
    ]
    assert found == [[("2.sql", 207), ("4.sql", 207)], [("3.sql", 402)]]


def test_names_that_are_almost_those_of_others_are_warned_of() -> None:
    script = """CREATE MESSAGE TYPE [//Shop/Order1] VALIDATION = NONE;
CREATE CONTRACT [//Shop/Contract] ([//Shop/Order1] SENT BY ANY, [//Shop/Order2] SENT BY ANY);
CREATE QUEUE dbo.ShopQueue;
CREATE SERVICE [//Shop/Service] ON QUEUE dbo.ShopQueu ([//Shop/Contracts]);
GO
DECLARE @h uniqueidentifier;
BEGIN DIALOG @h FROM SERVICE [//Shop/Service] TO SERVICE '//Shop/Servize' ON CONTRACT [//Shop/Contract];
SEND ON CONVERSATION @h MESSAGE TYPE [//Shop/Ordr1] ('x');
WAITFOR (RECEIVE * FROM dbo.shopquue), TIMEOUT 10;
RECEIVE * FROM dbo.SHOPQUEUE;
SELECT * FROM dbo.Custommers; INSERT INTO Custommers VALUES (1); DELETE FROM dbo.Elsewhere;
SELECT c.Id FROM dbo.Customers AS c; SELECT * FROM dbo.Custumers;
EXEC (N'CREATE TABLE dbo.Custumers (Id int)');
BEGIN DIALOG @h FROM SERVICE [//Shop/Service] TO SERVICE '//Elsewhere/Service';
"""
    found = check_scripts(
        [Source("shop.sql", script), Source("z.sql", "CREATE TABLE dbo.Customers (Id int)")]
    )
    assert [(one.span.line, one.message, one.hint) for one in found] == [
        (4, "no script creates the queue 'ShopQueu'", "did you mean 'ShopQueue'?"),
        (4, "no script creates the contract '//Shop/Contracts'", "did you mean '//Shop/Contract'?"),
        (7, "no script creates the service '//Shop/Servize'", "did you mean '//Shop/Service'?"),
        (8, "no script creates the message type '//Shop/Ordr1'", "did you mean '//Shop/Order1'?"),
        (9, "no script creates the queue 'shopquue'", "did you mean 'ShopQueue'?"),
        (11, "Invalid object name 'dbo.Custommers'.", "did you mean 'customers'?"),
        (11, "Invalid object name 'Custommers'.", "did you mean 'customers'?"),
    ]


def test_two_letters_that_have_changed_places_are_a_slip_in_a_short_name_too() -> None:
    script = """CREATE MESSAGE TYPE Order_ VALIDATION = NONE;
CREATE CONTRACT Orders (Order_ SENT BY ANY);
CREATE QUEUE Inbox; CREATE QUEUE AB; CREATE QUEUE Lane12;
GO
DECLARE @h uniqueidentifier;
BEGIN DIALOG @h FROM SERVICE Here TO SERVICE 'There' ON CONTRACT Ordres;
RECEIVE * FROM Inbxo; RECEIVE * FROM BA; RECEIVE * FROM Lane21; RECEIVE * FROM Index_;
"""
    assert [(one.message, one.hint) for one in check_scripts([Source("shop.sql", script)])] == [
        ("no script creates the contract 'Ordres'", "did you mean 'Orders'?"),
        ("no script creates the queue 'Inbxo'", "did you mean 'Inbox'?"),
    ]


@pytest.mark.usefixtures("folder")
def test_a_folder_stands_for_its_scripts(pgsb: Pgsb) -> None:
    left = pgsb("check", "database")
    assert left.status == 1
    assert left.err.endswith("\n\n2 scripts, 5 batches, 2 errors\n")
    assert pgsb("check", "database/deeper").err == "1 script, 2 batches, no problems\n"


@pytest.mark.usefixtures("folder")
def test_what_compile_has_written_is_no_script(pgsb: Pgsb) -> None:
    good = Path("database", "deeper", "good.SQL")
    written = Path("database", "deeper", "written.sql")
    assert pgsb("compile", str(good), "-o", str(written)).status == 0
    why = f"{written}: it is PostgreSQL's: pgsb compile wrote it\n"
    for paths in (["database/deeper"], [str(written), str(good)]):
        left = pgsb("check", *paths)
        assert (left.status, left.err) == (0, f"not read: {why}1 script, 2 batches, no problems\n")
    for command in ("check", "compile", "run"):
        left = pgsb(command, str(written))
        assert left.status == 2 and left.err.endswith(f"\nError: cannot read {why}")


@pytest.mark.usefixtures("folder")
def test_a_link_that_leads_outside_is_left_out(pgsb: Pgsb, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("hidden words")
    inside = Path("database", "deeper")
    inside.joinpath("again.sql").symlink_to("good.SQL")
    link = inside / "link.sql"
    link.symlink_to(secret)
    where = "outside of the working directory and of the folders given"
    why = f"not read: {link}: it is a link that leads {where}\n"
    left = pgsb("check", str(inside))
    assert (left.status, left.err) == (0, f"{why}2 scripts, 4 batches, no problems\n")
    # Named, it is meant.
    assert "hidden" in pgsb("check", str(link)).err


def test_a_script_may_come_through_a_pipe(pgsb: Pgsb, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("PRINT 1\nGO\nPRINT 2\n",))
    writer.start()
    left = pgsb("check", str(pipe))
    writer.join()
    assert left.err == "1 script, 2 batches, no problems\n"


def test_a_folder_without_scripts_is_an_error(pgsb: Pgsb, tmp_path: Path) -> None:
    left = pgsb("check", str(tmp_path))
    assert (left.status, "has no .sql files" in left.err) == (2, True)


def test_names_in_scripts_move_no_terminal(pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("EXEC [\x1b]0;mine\x07\x9b31m];\nEXEC dbo.p @\x1b[2J = 1;\n")
    for arguments in (["check", str(tmp_path)], ["compile", str(tmp_path / "a.sql")]):
        left = pgsb(*arguments)
        assert "·" in left.err
        assert not set("\x1b\x07\x9b") & set(left.err)
    left = pgsb("check", "--format", "json", str(tmp_path))
    assert not set("\x1b\x07\x9b") & set(left.out)
    assert any("\x9b" in one["message"] for one in json.loads(left.out)["problems"])


@pytest.mark.usefixtures("folder")
def test_json_is_as_its_schema_says(pgsb: Pgsb) -> None:
    left = pgsb("check", "--format", "json", "database")
    shown = json.loads(left.out)
    schema = json.loads((ROOT / "docs/schemas/check.json").read_text())
    jsonschema.validate(shown, schema)
    assert (left.status, left.err, shown["scripts"], shown["errors"], shown["warnings"]) == (1, "", 2, 2, 0)
    assert shown["problems"][0] == {
        "file": "database/bad, 100%.sql",
        "line": 3,
        "column": 35,
        "end_line": 3,
        "end_column": 40,
        "severity": "error",
        "number": 102,
        "message": "Incorrect syntax near 'MAYBE'.",
        "hint": "expected OFF or ON",
    }


def test_lines_of_run_are_as_their_schema_says(pgsb: Pgsb, database: Any) -> None:
    script = "PRINT 'a';\nSELECT 1 AS a, NULL AS b;\nGO\nRAISERROR('x', 16, 1);\nGO\nCREATE QUEUE q WITH X;\n"
    left = pgsb("run", "--dsn", database.dsn, "--format", "json", "-", stdin=script)
    schema = json.loads((ROOT / "docs/schemas/run.json").read_text())
    lines = [json.loads(line) for line in left.out.splitlines()]
    assert [line["type"] for line in lines] == ["print", "result", "rowcount", "error", "error"]
    for line in lines:
        jsonschema.validate(line, schema)


@pytest.mark.usefixtures("folder")
def test_github_shows_each_problem_at_its_line(pgsb: Pgsb) -> None:
    first, second = pgsb("check", "--format", "github", "database").out.splitlines()
    assert first == (
        "::error file=database/bad%2C 100%25.sql,line=3,endLine=3,col=35,endColumn=40,title=Msg 102"
        "::Incorrect syntax near 'MAYBE'.%0Ahint: expected OFF or ON"
    )
    assert second.startswith("::error file=database/bad%2C 100%25.sql,line=5,")
    assert pgsb("check", "--format", "github", "database/deeper").out == ""


@pytest.mark.usefixtures("folder")
def test_sarif_has_rules_and_places(pgsb: Pgsb) -> None:
    shown = json.loads(pgsb("check", "--format", "sarif", "database").out)
    (run,) = shown["runs"]
    assert shown["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["102", "137"]
    result = run["results"][0]
    assert (result["ruleId"], result["level"]) == ("102", "error")
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 35, "endLine": 3, "endColumn": 40}


def test_sarif_names_files_by_uris(pgsb: Pgsb, folder: Path) -> None:
    absolute = str(folder / "database" / "bad, 100%.sql")
    for given, named in (
        ("database/bad, 100%.sql", "database/bad%2C%20100%25.sql"),
        (absolute, Path(absolute).as_uri()),
    ):
        (run,) = json.loads(pgsb("check", "--format", "sarif", given).out)["runs"]
        places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
        assert {place["artifactLocation"]["uri"] for place in places} == {named}


def test_names_in_another_case_and_unknown_procedures_are_told() -> None:
    """Of all scripts together; names in the text of dynamic SQL count."""
    definitions = """
CREATE MESSAGE TYPE [//Order]
CREATE CONTRACT Orders ([//order] SENT BY ANY, [DEFAULT] SENT BY ANY)
CREATE QUEUE q
CREATE SERVICE Shop ON QUEUE q (orders, Orders, [Default])
CREATE SERVICE shop ON QUEUE q
GO
CREATE PROC Made AS EXEC('CREATE PROCEDURE dbo.[Dyna mic]]] AS EXEC(''ALTER PROC Deeper AS PRINT 1'')')
DECLARE @who sysname = N'us' EXEC('CREATE PROC [Of ' + @who + '] AS PRINT 1')
-- CREATE PROC Noted AS PRINT 1
"""
    uses = """
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE Shop TO SERVICE 'SHOP' ON CONTRACT Orders;
SEND ON CONVERSATION @h MESSAGE TYPE [//Order] ('x');
IF 1 = 1 EXEC dbo.MADE ELSE EXEC Nope 1
EXEC [Dyna mic]]]; EXEC "deeper"; EXEC Noted; EXEC sp_who; EXEC sp_nope; EXEC elsewhere...p; EXEC [of us]
INSERT #t EXEC Nope2
"""
    problems = check_scripts([Source("a.sql", uses), Source("b.sql", definitions)])
    told = [
        (problem.span.text, re.sub(r"'.*", "", problem.message).strip())
        for problem in problems
        if problem.severity == "warning"
    ]
    assert told == [
        ("'SHOP'", "the service"),
        ("Nope", "no script creates the procedure"),
        ("Noted", "no script creates the procedure"),
        ("sp_nope", "no script creates the procedure"),
        ("Nope2", "no script creates the procedure"),
        ("[//order]", "the message type"),
        ("orders", "the contract"),
        ("[Default]", "the contract"),
        ("shop", "the service"),
    ]


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        ("msdb.dbo.sp_send_dbmail @subject = N'a'", "Database Mail"),
        ("msdb.dbo.sp_start_job N'Nightly'", "SQL Server Agent"),
        ("master..xp_cmdshell 'dir'", "extended stored procedures"),
        ("sp_OACreate 'a', @t OUTPUT", "OLE Automation"),
        ("sp_addlinkedserver N'far'", "linked servers"),
        ("sys.sp_cdc_enable_db", "change data capture"),
    ],
)
def test_what_is_there_instead_of_a_procedure_of_the_system_is_told(call: str, missing: str) -> None:
    found = list(check_scripts([Source("a.sql", f"DECLARE @t int;\nEXEC {call};")]))
    assert [(one.severity, one.message.partition("'")[0]) for one in found] == [
        ("warning", "no script creates the procedure ")
    ]
    assert found[0].hint is not None and missing in found[0].hint
    made = Source("b.sql", f"CREATE PROCEDURE dbo.{call.split()[0].rpartition('.')[2]} AS RETURN 0;")
    assert not [one for one in check_scripts([Source("a.sql", f"EXEC {call.split()[0]};"), made]) if one.hint]


def test_a_trigger_order_that_is_not_obeyed_is_told() -> None:
    (problem,) = check_scripts([Source("a.sql", "EXEC sp_settriggerorder 'dbo.tr', 'First', 'INSERT'")])
    assert (problem.severity, problem.message.split(":")[0]) == (
        "warning",
        "sp_settriggerorder has no effect",
    )


@pytest.mark.parametrize(
    ("statement", "told", "instead"),
    [
        ("EXEC sp_procoption 'dbo.p', 'startup', 'on'", "sp_procoption has no effect", "a timer"),
        ("EXEC master..sp_addsrvrolemember 'u', 'sysadmin'", "sp_addsrvrolemember has no effect", "roles"),
        ("EXEC sp_denylogin 'u'", "sp_denylogin has no effect", "pg_hba.conf"),
        ("EXEC sp_changeobjectowner 'a.t', 'dbo'", "sp_changeobjectowner has no effect", "TRANSFER"),
        ("ALTER DATABASE CURRENT SET ENCRYPTION ON", "ENCRYPTION ON has no effect", "file system"),
        (
            "ALTER DATABASE d SET CHANGE_TRACKING = ON (AUTO_CLEANUP = ON)",
            "CHANGE_TRACKING has no effect",
            "trigger",
        ),
        ("ALTER DATABASE d SET PARTNER = 'TCP://x:5022'", "PARTNER has no effect", "replication"),
        ("ALTER DATABASE d SET HADR AVAILABILITY GROUP = ag", "HADR has no effect", "replication"),
        ("SET TEXTSIZE 100", "SET TEXTSIZE has no effect", "whole"),
        ("EXEC sp_configure 'nested triggers', 0", "sp_configure has no effect", "stays 1"),
        (
            "EXEC sp_configure @configname = 'Two digit year cutoff', @configvalue = 2040",
            "sp_configure has no effect",
            "stays 2049",
        ),
        (
            "CREATE DATABASE d ON (FILENAME = 'd.mdf') FOR ATTACH WITH ENABLE_BROKER",
            "CREATE DATABASE … FOR ATTACH makes an empty database",
            "pg_restore",
        ),
        (
            "CREATE DATABASE d ON (FILENAME = 'd.mdf') FOR ATTACH_REBUILD_LOG",
            "CREATE DATABASE … FOR ATTACH makes an empty database",
            "pg_restore",
        ),
    ],
)
def test_what_a_script_would_rely_on_and_does_not_get_is_told(
    statement: str, told: str, instead: str
) -> None:
    (problem,) = check_scripts([Source("a.sql", statement)])
    assert (problem.severity, problem.message.split(":")[0]) == ("warning", told)
    assert instead in f"{problem.message} {problem.hint}"


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER DATABASE CURRENT SET ENCRYPTION OFF, CHANGE_TRACKING = OFF, HADR OFF, READ_WRITE",
        "ALTER DATABASE CURRENT SET PARTNER OFF",
        "SET TEXTSIZE 2147483647; SET TEXTSIZE -1; SET TEXTSIZE 0",
        "EXEC sp_configure 'nested triggers', 1; EXEC sp_configure 'max degree of parallelism', 4",
        "DECLARE @n INT = 0; EXEC sp_configure 'nested triggers', @n",
    ],
)
def test_what_stays_as_it_is_is_not_told(statement: str) -> None:
    assert list(check_scripts([Source("a.sql", statement)])) == []


@pytest.mark.long
def test_processes_find_what_one_finds() -> None:
    sources = []
    for number in range(40):
        text = f"CREATE TABLE dbo.t{number} (a INT);\nGO\n" + "".join(
            f"CREATE PROCEDURE dbo.p{number}_{part} AS\nBEGIN\n  -- {'x' * 400}\n"
            f"  DECLARE @n INT = (SELECT COUNT(*) FROM dbo.t{number});\n"
            f"  EXEC dbo.p{number}_{max(part - 1, 0)};\n  PRINT @n{'x' if part % 5 == 3 else ''};\nEND;\nGO\n"
            for part in range(8)
        )
        sources.append(Source(f"file{number:02}.sql", text))
    seen: list[tuple[str, int]] = []
    alone = check_scripts(sources)
    shared = check_scripts(
        sources, processes=3, progress=lambda source, count: seen.append((source.name, count))
    )
    assert alone.report() == shared.report()
    assert alone.error_count == 40
    assert seen == [(source.name, 9) for source in sources]


def test_the_hook_and_the_action_call_the_command_as_it_is(pgsb: Pgsb) -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    action = (ROOT / "action.yml").read_text()
    assert re.search(r"^  entry: pgsb check$", hook, re.MULTILINE)
    # A script alone would not know the types and tables of those that are not changed.
    (options,) = yaml.safe_load(hook)
    assert options["pass_filenames"] is False and options["args"] == ["."]
    formats = set(re.findall(r"pgsb check --format (\w+)", action))
    assert formats == {"sarif", "github"}
    assert all(one in pgsb("check", "--help").out for one in formats)


HTTPS = """IF N'x' = N'https://schemas.microsoft.com/sql/servicebroker/enddialog' PRINT 1
GO
CREATE SERVICE s ON QUEUE q ([https://schemas.microsoft.com/SQL/Notifications/PostEventNotification])
DECLARE @x xml
SELECT @x.query('declare namespace e="https://schemas.microsoft.com/SQL/ServiceBroker/Error"; /e:Error')
PRINT 'https://schemas.microsoft.com/SQL/ServiceBroker/Mine'
PRINT 'http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer'
"""


def test_names_of_the_system_written_with_https_are_told(pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(HTTPS)
    left = pgsb("check", "--format", "json", str(tmp_path / "a.sql"))
    told = [(one["line"], one["column"], one["hint"]) for one in json.loads(left.out)["problems"]]
    assert (left.status, told) == (
        0,
        [
            (1, 13, "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"),
            (3, 31, "http://schemas.microsoft.com/SQL/Notifications/PostEventNotification"),
            (5, 39, "http://schemas.microsoft.com/SQL/ServiceBroker/Error"),
        ],
    )


@pytest.mark.parametrize("procedure", ["sp_MSforeachdb", "master.sys.sp_MSforeachtable"])
def test_a_warning_about_a_system_procedure_stands_at_its_exec(
    pgsb: Pgsb, tmp_path: Path, procedure: str
) -> None:
    (tmp_path / "each.sql").write_text(f"PRINT 1\nEXEC {procedure} 'PRINT ''?'''\n")
    left = pgsb("check", "--format", "json", str(tmp_path))
    (warning,) = json.loads(left.out)["problems"]
    assert (Path(warning["file"]).name, warning["line"], warning["column"]) == ("each.sql", 2, 1)
    assert "not known before the program runs" in warning["message"]


@pytest.mark.parametrize(
    ("script", "number", "meant"),
    [
        ("DECLARE @body xml; SET @bdoy = NULL", 137, "@body"),
        ("DECLARE @rows TABLE (a int); SELECT * FROM @rosw", 1087, "@rows"),
        ("SELECT @@ROWCONT", 137, "@@ROWCOUNT"),
        ("DECLARE @a varchr(9)", 2715, "varchar"),
        ("SELECT CAST(1 AS nvarhcar(9))", 243, "nvarchar"),
        ("CREATE TYPE dbo.amount FROM int\nGO\nDECLARE @a ammount", 2715, "amount"),
        ("SELECT GETDAT()", 195, "GETDATE"),
        ("SELECT LENGTH('a')", 195, "LEN"),
        ("SELECT DATEPART(yaer, GETDATE())", 155, "year"),
        ("SET NOCONT ON", 195, "NOCOUNT"),
        ("GOTO donee\ndone:", 133, "done"),
        ("EXEC sp_executsql N'SELECT 1'", None, "sp_executesql"),
        ("CREATE PROCEDURE dbo.Orders_Take AS PRINT 1\nGO\nEXEC dbo.Order_Take", None, "Orders_Take"),
        ("CREATE PROCEDURE dbo.p @order int AS PRINT 1\nGO\nEXEC dbo.p @ordr = 1", 8145, "@order"),
        ("CREATE EVENT NOTIFICATION e ON DATABASE FOR DROP_TABEL TO SERVICE 's', 'i'", 1084, "DROP_TABLE"),
        ("CREATE QUEUE q WITH ACTIVATION (MAX_QUEUE_READER = 1)", 102, "MAX_QUEUE_READERS"),
        ("ALTER DATABASE x SET ENABLE_BROKR", 102, "ENABLE_BROKER"),
        ("GRANT SEDN ON SERVICE::s TO u", 102, "SEND"),
        ("DECLARE @h uniqueidentifier\nEND CONVERSTAION @h", 156, "END CONVERSATION"),
        ("DECLARE @h uniqueidentifier\nEND DIALOG @h", 156, "END CONVERSATION"),
        ("SELCT * FROM t", 102, "SELECT"),
        ("RECIEVE TOP (1) * FROM q", 156, "RECEIVE"),
        ("WAITFOR (RECIEVE * FROM q), TIMEOUT 1", 102, "RECEIVE"),
        ("PRINT 1\nSNED ON CONVERSATION @h ('x')", 102, "SEND"),
        ("BEGIN TRANSACTOIN", 102, "TRANSACTION"),
        ("DECLARE c CURSR FOR SELECT 1", 102, "CURSOR"),
        ("COMIT", None, "COMMIT"),
        ("SELECT * FORM t", 102, "FROM"),
        ("SELECT * FROM t WHRE a = 1", 102, "WHERE"),
        ("SELECT a FROM t ORDR BY a", 156, "ORDER"),
        ("SELECT a FROM t WHERE a BETWEN 1 AND 2", 102, "BETWEEN"),
        ("IF EXIST (SELECT 1 FROM t) PRINT 'x'", 4145, "EXISTS"),
        ("SELECT * FROM t WITH (NOLOCK, UPDLOC)", 321, "UPDLOCK"),
    ],
)
def test_what_is_almost_a_name_or_word_is_told(script: str, number: int | None, meant: str) -> None:
    (found,) = check_scripts([Source("s.sql", script)])
    assert (found.number, found.hint) == (number, f"did you mean '{meant}'?")


@pytest.mark.parametrize(
    "script",
    [
        "DECLARE @row1 int; SET @row2 = 1",  # digits tell names apart
        "DECLARE @a int; SET @b = 1",
        "SELECT FOO(1)",
        "ALTER DATABASE x SET BROKER",  # which one? NEW_BROKER would end every dialog
        "SET STATISTICS SPACE ON",
    ],
)
def test_what_is_not_near_is_not_guessed(script: str) -> None:
    assert all("did you mean" not in (one.hint or "") for one in check_scripts([Source("s.sql", script)]))


def test_what_an_ssdt_project_built_is_not_read(folder: Path, pgsb: Pgsb) -> None:
    """bin and obj beside a .sqlproj repeat its scripts; anywhere else they are folders like any other."""
    for below in ("project/Bin/Debug", "project/obj", "project/tables", "database/bin"):
        (folder / below).mkdir(parents=True)
        (folder / below / "one.sql").write_text("PRINT 1;\n")
    (folder / "project" / "shop.sqlproj").write_text("<Project/>")
    (folder / "database" / "bad, 100%.sql").unlink()
    left = pgsb("check", ".")
    assert (left.status, left.err) == (0, "3 scripts, 4 batches, no problems\n")


@pytest.mark.parametrize("command", ["check", "assess"])
def test_a_link_in_a_folder_leads_to_no_script_elsewhere(
    folder: Path, pgsb: Pgsb, tmp_path_factory: pytest.TempPathFactory, command: str
) -> None:
    """An error shows the line that it is about: of a file that the writer of the folder cannot read."""
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.sql"
    secret.write_text("hunter2 is secret\n")
    (folder / "linked").mkdir()
    (folder / "linked" / "one.sql").symlink_to(secret)
    left = pgsb(command, "linked")
    assert "leads outside of the" in left.out + left.err
    assert "hunter2" not in left.out + left.err
    (folder / "linked" / "one.sql").unlink()
    (folder / "meant.sql").write_text("PRINT 1;\n")
    (folder / "linked" / "one.sql").symlink_to(folder / "meant.sql")
    left = pgsb(command, "linked")
    assert left.status == 0, left.err
    assert "leads outside of the" not in left.out + left.err
