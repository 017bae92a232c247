"""What the prompt offers beyond batches: completion, commands, records, pages, several lines at once."""

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from end_to_end.terminal import Terminal
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pgsb.cli import shell_prompt
from pgsb.cli.shell_completion import suggest
from pgsb.cli.shell_names import Names, Object, load_names
from pgsb.server.render import RecordRenderer
from pgsb.server.results import Number, Rows
from pgsb.user_folders import user_cache
from support import Connection, Database, rest_is_long

pytestmark = pytest.mark.one_postgres

Pgsb = Callable[..., Any]

SHOP = r"""CREATE DATABASE Shop
GO
USE Shop
GO
CREATE TABLE Orders (OrderId INT PRIMARY KEY, Symbol NVARCHAR(10) NULL, Grams INT DEFAULT 100)
CREATE QUEUE Inbox
CREATE SERVICE [//Shop] ON QUEUE Inbox ([DEFAULT])
GO
CREATE PROCEDURE Place @Id INT, @Symbol NVARCHAR(10) AS INSERT Orders VALUES (@Id, @Symbol, 1)
GO
"""


@pytest.fixture
def terminal(database: Database) -> Iterator[Terminal]:
    made = Terminal(database.dsn)
    yield made
    made.close()


# ---------------------------------------------------------------- completion

NAMES = Names(
    objects=[
        Object("dbo", "orders", "table", ("orderid", "symbol")),
        Object("dbo", "lines", "table", ("orderid", "product")),
        Object("sales", "orders", "view", ("total",)),
        Object("dbo", "Inbox", "queue", ("message_body", "conversation_handle")),
        Object("dbo", "place", "procedure", ("@id", "@symbol")),
        Object("dbo", "price", "function", ()),
    ],
    named=[
        ("service", "//Shop"),
        ("message type", "//Shop/Order"),
        ("database", "Shop"),
        ("database", "Stock"),
        ("schema", "dbo"),
        ("schema", "sales"),
    ],
    database="Shop",
    catalog=[Object("sys", "service_queues", "view", ("name", "is_receive_enabled"))],
)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("SELECT * FROM or|", ["orders"]),
        ("SELECT * FROM sales.|", ["orders"]),
        ("SELECT * FROM sys.serv|", ["service_queues"]),
        ("SELECT * FROM sys|", ["sys"]),
        ("SELECT * FROM Shop.dbo.|", ["Inbox", "lines", "orders"]),
        ("SELECT * FROM Stock.|", ["dbo", "sales"]),
        ("SELECT * FROM Stock.dbo.|", []),
        ("SELECT o.| FROM orders AS o", ["orderid", "symbol"]),
        ("SELECT * FROM orders AS o JOIN lines l ON l.|", ["orderid", "product"]),
        ("SELECT * FROM orders, lines WHERE pro|", ["product"]),
        ("SELECT * FROM sales.orders WHERE sales.orders.|", ["total"]),
        ("SELECT q.is| FROM sys.service_queues q", ["is_receive_enabled"]),
        ("SELECT dbo.|", ["price"]),
        ("SELECT sym| FROM orders", ["symbol"]),
        ("UPDATE orders SET sy|", ["symbol"]),
        ("RECEIVE TOP (1) mess| FROM Inbox", ["message_body"]),
        ("RECEIVE * FROM |", ["Inbox"]),
        ("EXEC pl|", ["place"]),
        ("EXEC place @|", ["@id", "@symbol"]),
        ("DECLARE @total INT; SELECT @t|", ["@total"]),
        ("USE St|", ["Stock"]),
        ("BEGIN DIALOG @d FROM SERVICE [//|", ["[//Shop]"]),
        ("BEGIN DIALOG @d FROM SERVICE [//Shop] TO SERVICE '//|", ["'//Shop'"]),
        ("SEND ON CONVERSATION @d MESSAGE TYPE |", ["[//Shop/Order]"]),
        ("SELECT * FROM orders AS o JOIN lines l ON prod|", ["product"]),
        ("rec|", ["RECEIVE"]),
        ("BEGIN DIA|", ["DIALOG"]),
        ("SELECT * FROM t WHERE or|", ["OR", "ORDER"]),
        ("SELECT 1\nGO\nCREATE MESSAGE TY|", ["TYPE"]),
        ("-- SELECT * FROM or|", []),
        ("-- @|", []),
        ("PRINT '@|", []),
        ("", []),
    ],
)
def test_what_fits_is_offered(typed: str, first: list[str]) -> None:
    offset = typed.find("|")
    text = typed.replace("|", "")
    found = suggest(text, offset if offset >= 0 else 0, lambda: NAMES, asked=False)
    assert [one.text for one in found][: max(len(first), 1)] == first


def test_a_suggestion_replaces_the_word_with_its_quote() -> None:
    found = suggest("SELECT * FROM [or", 17, lambda: NAMES)
    assert [(one.text, one.start) for one in found][:1] == [("[orders]", 14)]


def test_names_are_those_of_the_sessions_database(terminal: Terminal) -> None:
    terminal.type(SHOP.replace("\n", "\r") + ":quit\r")
    names = load_names(terminal.connection, "Shop")
    objects = {(one.name, one.kind): one.columns for one in names.objects}
    assert objects["Orders", "table"] == ("OrderId", "Symbol", "Grams")
    assert objects["Place", "procedure"] == ("@Id", "@Symbol")
    assert "message_body" in objects["Inbox", "queue"]
    assert "//Shop" in names.of_kind("service") and "Shop" in names.of_kind("database")
    assert "service_queues" in [one.name for one in names.catalog]
    assert names.database == "Shop"
    default = load_names(terminal.connection, terminal.connection.info.dbname)
    assert "Orders" not in [one.name for one in default.objects]


def test_the_prompt_completes_statements_and_commands(terminal: Terminal) -> None:
    terminal.type(SHOP.replace("\n", "\r") + ":quit\r")
    names = load_names(terminal.connection, "Shop")
    completer = shell_prompt._Completer(lambda: names)

    def completed(text: str) -> list[str]:
        event = CompleteEvent(completion_requested=True)
        found = completer.get_completions(Document(text), event)
        return [text[: len(text) + one.start_position] + one.text for one in found]

    assert completed("SELECT * FROM orde") == ["SELECT * FROM Orders"]
    assert completed("SELECT 1\n\\tim") == ["SELECT 1\n\\timing"]
    assert completed(":setv") == [":setvar"]
    assert completed("\\c Sh") == ["\\c Shop"]
    assert completed("\\d //") == ["\\d //Shop"]


def test_colours_follow_the_tokens() -> None:
    line = shell_prompt._Colours().lex_document(Document("SELECT 'a\nb', @x -- c\n\\timing"))
    assert [[part for part in line(number) if part[1].strip()] for number in range(3)] == [
        [("class:keyword", "SELECT"), ("class:string", "'a")],
        [("class:string", "b'"), ("", ","), ("class:variable", "@x"), ("class:comment", "-- c")],
        [("class:command", "\\timing")],
    ]


# ---------------------------------------------------------------- typing


def test_lines_are_changed_before_go_and_kept_as_one(terminal: Terminal) -> None:
    up, home = "\x1b[A", "\x01"
    # The first line is gone back to and changed; from inside the text Enter opens a line.
    assert terminal.type(f"'a'\r{up}{home}PRINT \x1b[B\rGO\r:quit\r") == "a\n"
    assert terminal.history.get_strings() == ["PRINT 'a'\n\nGO", ":quit"]


@pytest.mark.parametrize("key", ["\x1b[15~", "\x1b\r"], ids=["F5", "Esc Enter"])
def test_a_key_runs_without_go(terminal: Terminal, key: str) -> None:
    assert terminal.type(f"PRINT 'a'\rPRINT 'b'{key}:quit\r") == "a\nb\n"


def test_pasted_batches_run_one_after_the_other(terminal: Terminal) -> None:
    pasted = "\x1b[200~PRINT 'a'\nGO\nPRINT ':quit'\nGO\x1b[201~"
    assert terminal.type(pasted + "\r:quit\r") == "a\n:quit\n"


def test_a_directive_inside_a_string_is_text(terminal: Terminal) -> None:
    assert terminal.type("PRINT 'a\r:reset\r\\x\r'\rGO\r:quit\r") == "a\n:reset\n\\x\n\n"


def test_the_prompt_tells_database_and_transaction(terminal: Terminal) -> None:
    prompts = []
    for line in "CREATE DATABASE Shop|GO|USE Shop|GO|BEGIN TRAN|GO|PRINT 1|GO|ROLLBACK|GO".split("|"):
        terminal.shell.line(line)
        if line == "GO":
            prompts.append(terminal.shell.prompt)
    name = terminal.connection.info.dbname
    assert prompts == [f"{name} 1> ", "Shop 1> ", "Shop* 1> ", "Shop* 1> ", "Shop 1> "]


# ---------------------------------------------------------------- commands


@pytest.mark.long
def test_commands_look_the_database_up(terminal: Terminal) -> None:
    terminal.type(SHOP.replace("\n", "\r") + ":quit\r")

    def shown(command: str) -> list[list[str]]:
        terminal.send_to(io.StringIO())
        terminal.shell.renderer = terminal.renderer
        assert terminal.shell.line(command)
        assert isinstance(terminal.out, io.StringIO)
        return [line.split() for line in terminal.out.getvalue().splitlines() if line.strip()]

    assert shown("\\dt")[2:] == [["dbo", "Orders", "user", "table"]]
    assert shown("\\dt x*")[2:] == []
    assert shown("\\dq in*")[2:] == [["dbo", "Inbox", "0", "ON", "NULL", "//Shop"]]
    assert shown("\\ds //Shop")[2:] == [["//Shop", "Inbox", "DEFAULT"]]
    assert shown("\\dc DEFAULT")[2:] == [["DEFAULT", "DEFAULT", "BINARY", "ANY"]]
    assert [row[0] for row in shown("\\l") if row[0] == "Shop"] == ["Shop"]
    assert [row[1] for row in shown("\\d")[2:]] == ["Inbox", "Orders", "Place"]
    table = shown("\\d orders")
    assert table[2:4] == [
        ["OrderId", "int", "NOT", "NULL", "NULL"],
        ["Symbol", "nvarchar(10)", "NULL", "NULL"],
    ]
    assert table[4] == ["Grams", "int", "NULL", "((100))"]
    assert table[-1] == ["orders_pkey", "PRIMARY", "KEY", "OrderId"]
    assert "@Id" in shown("\\sf place")[2] and "@Id" in shown("\\d dbo.place")[2]
    assert shown("\\d Inbox")[-1] == ["dbo", "Inbox", "0", "ON", "NULL", "//Shop"]
    assert shown("\\d nothing") == ["There is nothing named nothing in Shop.".split()]
    # In an open transaction they see what it has made.
    for line in ("BEGIN TRAN", "GO", "CREATE TABLE Made (a INT)", "GO"):
        terminal.shell.line(line)
    assert ["dbo", "Made", "user", "table"] in shown("\\dt")
    assert shown(f"\\c {terminal.connection.info.dbname}") == []


def test_commands_of_the_prompt(
    terminal: Terminal, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "evil.sql").write_text("!!echo from a file\n:r evil.sql\n")
    shown = terminal.type(
        ":setvar who World\rPRINT 'Hello $(who)'\rGO\r:listvar\r:setvar who\r"
        "PRINT 'again'\r\\watch 0 c=2\r\\g\r\\timing on\rGO\r\\timing off\r"
        f":out {tmp_path}/out.txt\rPRINT 'into a file'\rGO\r:out stdout\r"
        f"!!echo typed\r:r {tmp_path}/evil.sql\r\\conninfo\r\\x on\rSELECT 1 AS a\rGO\r"
        ":on error exit\rSELECT 1/0\rGO\r"
    )
    said = capfd.readouterr()
    assert shown.startswith("Hello World\n")
    assert shown.count("again\n") == 3 and shown.count("(every 0 s)") == 2
    assert "\nTime: " in shown and "-[ RECORD 1 ]\na | 1\n" in shown
    assert shown.rstrip().endswith("Divide by zero error encountered.")
    assert (tmp_path / "out.txt").read_text() == "into a file\n"
    assert 'who = "World"' in said.out and "typed\n" in said.out and "from a file" not in said.out
    assert "commands of the operating system" in said.err
    assert "T-SQL database " + terminal.connection.info.dbname in said.out


@pytest.mark.parametrize(
    ("lines", "status", "out"),
    [
        ("SELECT 7 AS a\n:exit(SELECT 3)\nPRINT 'no'\n", 3, "a\n-\n7\n"),
        (":on error exit\nSELECT 1/0\nGO\nPRINT 'no'\nGO\n", 1, "Msg 8134"),
        ("SELECT 1/0\nGO\nPRINT 'yes'\n", 1, "Msg 8134"),
        ("PRINT 1\nGO\n\\q\nPRINT 'no'\n", 0, "1\n"),
    ],
)
def test_a_file_of_lines_leaves_with_a_status(
    database: Database, pgsb: Pgsb, lines: str, status: int, out: str
) -> None:
    left = pgsb("shell", "--dsn", database.dsn, stdin=lines)
    assert left.status == status and left.out.startswith(out)
    assert "no" not in left.out.split() and ("yes" in lines) == ("yes" in left.out)


def test_another_database_is_gone_to(
    database: Database, new_database: Callable[[], Database], pgsb: Pgsb, connect: Callable[..., Connection]
) -> None:
    other = new_database()
    lines = f"BEGIN TRAN\nGO\n:connect {other.dsn}\nROLLBACK\nGO\n:connect {other.dsn}\nPRINT DB_NAME()\nGO\n"
    left = pgsb("shell", "--dsn", database.dsn, stdin=lines + ":connect dbname=none host=/nowhere\n")
    assert left.out.endswith(f"{other.name}\n")
    assert "a transaction is open" in left.err and "cannot connect to" in left.err


# ---------------------------------------------------------------- what a screen shows


def test_a_result_wider_than_the_screen_is_shown_as_records(database: Database) -> None:
    terminal = Terminal(database.dsn, size=(40, 24))
    wide = "SELECT REPLICATE('x', 50) AS a, 7 AS number, NULL AS [none]"
    shown = terminal.type(f"SELECT 1 AS a\rGO\r{wide}\rGO\r\\x off\r{wide}\rGO\r:quit\r")
    terminal.close()
    table, records, last = shown.split("affected)\n\n")[:3]
    assert table.startswith("a\n-\n1\n")
    assert records.startswith(f"-[ RECORD 1 ]\na      | {'x' * 50}\nnumber | 7\nnone   | NULL\n\n")
    assert "RECORD" not in last


def test_records_with_lines_and_wide_letters_stay_in_column() -> None:
    out = io.StringIO()
    records = RecordRenderer(out)
    records.write(Rows(("名", None), [["a\nb", Number("1")]], last=False))
    records.write(Rows(None, [["c\x07", None]]))
    assert out.getvalue().splitlines() == [
        "-[ RECORD 1 ]-----",
        "名               | a",
        "                 | b",
        "(No column name) | 1",
        "-[ RECORD 2 ]-----",
        "名               | c·",
        "(No column name) | NULL",
        "",
    ]


MANY = "SET NOCOUNT ON; SELECT TOP 300 1 AS a FROM sys.all_columns"


def test_a_result_longer_than_the_screen_goes_through_the_pager(database: Database, tmp_path: Path) -> None:
    terminal = Terminal(database.dsn, size=(80, 24), pager=f"sh -c 'cat >> {tmp_path}/paged'")
    shown = terminal.type(
        f"PRINT 'p'\rSELECT 2 AS b\rGO\r{MANY}\rGO\r\\pager off\rSELECT 3 AS c\r{MANY}\rGO\r:quit\r"
    )
    terminal.close()
    assert (tmp_path / "paged").read_text() == "a\n-\n" + "1\n" * 300 + "\n"
    assert shown.startswith("p\nb\n-\n2\n") and "1\n" * 300 in shown


@pytest.mark.long
@pytest.mark.parametrize("pager", rest_is_long(["true", "less 'x"], "true"))
def test_a_pager_that_is_left_early_or_is_none_harms_nothing(database: Database, pager: str) -> None:
    terminal = Terminal(database.dsn, size=(80, 24), pager=pager)
    shown = terminal.type(f"{MANY} a, sys.all_columns b\rGO\rPRINT 'on'\rGO\r:quit\r".replace("300", "50000"))
    terminal.close()
    assert shown.endswith("on\n")


@pytest.mark.long
def test_the_prompt_on_a_terminal(database: Database) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from pgsb.cli.main import main; main()", "shell", "--dsn", database.dsn]
    environment = {**os.environ, "TERM": "xterm", "HOME": "/nonexistent", "XDG_STATE_HOME": "/nonexistent"}
    environment["XDG_CACHE_HOME"] = str(user_cache().parent)  # the parser's tables take seconds to make
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    keys = b"PRINT 'he' + 'llo'\rGO\r:quit\r"
    try:
        while piece := os.read(ours, 65536):
            shown += piece
            if b"\x1b[6n" in piece:  # where is the cursor?
                os.write(ours, b"\x1b[1;1R")
            if b" 1>" in shown and keys:
                os.write(ours, keys)
                keys = b""
    except OSError:
        pass  # the other side is closed: on Linux that is an error
    os.close(ours)
    assert process.wait() == 0
    assert b"GO runs" in shown and b"hello" in shown and database.name.encode() in shown
