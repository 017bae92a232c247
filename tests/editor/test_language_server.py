"""The language server as an editor meets it: a process that is spoken to by LSP messages."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pgsb.cli import lsp as command
from pgsb.editor import dialect

ROOT = Path(__file__).parents[2]
DEFINITIONS = """CREATE MESSAGE TYPE [//shop/Order] VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT OrderContract ([//shop/Order] SENT BY INITIATOR);
CREATE QUEUE dbo.Orders;
CREATE SERVICE OrderService ON QUEUE dbo.Orders (OrderContract);
CREATE TABLE dbo.Customers (id INT);
GO
CREATE PROCEDURE dbo.TakeOrder AS RECEIVE TOP (1) * FROM dbo.Orders;
"""
DIALOG = (
    "DECLARE @h UNIQUEIDENTIFIER;\nBEGIN DIALOG @h FROM SERVICE OrderService TO SERVICE 'OrderService';\n"
)


class Editor:
    """Speaks LSP with one process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._received: queue.Queue[dict[str, Any]] = queue.Queue()
        self._number = 0
        self._opened: set[str] = set()
        self._kept: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        out = self._process.stdout
        assert out is not None
        while header := out.readline():
            length = int(header.split(b":")[1])
            while out.readline().strip():
                pass
            self._received.put(json.loads(out.read(length)))

    def _send(self, **message: Any) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def _await(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while True:
            message = self._received.get(timeout=20)
            if wanted(message):
                return message
            self._kept.append(message)

    def ask(self, method: str, params: Any) -> Any:
        self._number += 1
        number = self._number
        self._send(id=number, method=method, params=params)
        answer = self._await(lambda message: message.get("id") == number and "method" not in message)
        assert "error" not in answer, answer
        return answer["result"]

    def tell(self, method: str, params: Any) -> None:
        self._send(method=method, params=params)

    def close_all(self) -> None:
        for uri in sorted(self._opened):
            self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        self._opened.clear()
        # Its answer comes after everything that was said about them.
        self.ask("textDocument/documentSymbol", {"textDocument": {"uri": "file:///none.sql"}})
        self._kept.clear()

    def open(self, uri: str, text: str) -> None:
        self._opened.add(uri)
        item = {"uri": uri, "languageId": "sql", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, text: str) -> None:
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def diagnostics(self, uri: str, version: int = 1) -> list[dict[str, Any]]:
        """Those that are published for a version of a script."""

        def is_it(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            published = message.get("method") == "textDocument/publishDiagnostics"
            return published and params["uri"] == uri and params.get("version") == version

        found: list[dict[str, Any]] = self._await(is_it)["params"]["diagnostics"]
        return found

    def at(self, method: str, uri: str, line: int, character: int) -> Any:
        position = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": position})

    def completed(self, uri: str, text: str) -> dict[str, str]:
        """Label → detail of what can follow a text."""
        self.open(uri, text)
        lines = text.split("\n")
        items = self.at("completion", uri, len(lines) - 1, len(lines[-1]))
        return {item["label"]: item["detail"] for item in items}


@pytest.fixture
def editor(process: Editor) -> Iterator[Editor]:
    """The server with no script open."""
    yield process
    process.close_all()


@pytest.fixture(scope="module")
def process() -> Iterator[Editor]:
    process = subprocess.Popen(
        [sys.executable, "-m", "pgsb.cli.main", "lsp", "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        one = Editor(process)
        answer = one.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        assert answer["capabilities"].get("positionEncoding", "utf-16") == "utf-16"
        one.tell("initialized", {})
        yield one
        one.ask("shutdown", None)
        one.tell("exit", None)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def test_a_mistake_is_marked_and_the_mark_goes_when_it_is_mended(editor: Editor) -> None:
    editor.open("file:///a.sql", "PRINT 1;\nPRINT @missing;\n")
    (found,) = editor.diagnostics("file:///a.sql")
    assert found["range"] == {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 14}}
    assert (found["severity"], found["code"], found["source"]) == (1, 137, "pgsb")
    editor.change("file:///a.sql", 2, "PRINT 1;\n")
    assert editor.diagnostics("file:///a.sql", 2) == []


def test_places_are_counted_in_utf_16(editor: Editor) -> None:
    editor.open("file:///a.sql", "PRINT N'😀é'; PRINT @missing;\r\nPRINT @other")
    first, second = editor.diagnostics("file:///a.sql")
    # The emoji is two units, the é one.
    assert first["range"]["start"] == {"line": 0, "character": 20}
    assert first["range"]["end"] == {"line": 0, "character": 28}
    assert second["range"]["start"] == {"line": 1, "character": 6}


def test_a_hint_and_a_warning_are_shown_as_such(editor: Editor) -> None:
    unheeded = "SET ANSI_DEFAULTS ON;\nSET ANSI_WARNINGS OFF;\nSET ANSI_WARNINGS, ANSI_PADDING ON"
    editor.open("file:///a.sql", f"{unheeded};\nGO\nPRINT 'open")
    first, warning, error = editor.diagnostics("file:///a.sql")
    assert (first["severity"], warning["severity"], error["severity"]) == (2, 2, 1)
    assert warning["message"].startswith("SET ANSI_WARNINGS OFF has no effect")
    assert "hint: a quote inside a string is written twice" in error["message"]


@pytest.mark.long
def test_broken_texts_leave_the_server_at_work(editor: Editor) -> None:
    uri = "file:///a.sql"
    editor.open(uri, "")
    texts = [
        "CREATE",
        "((((",
        "'",
        "[",
        '"',
        "/*",
        "BEGIN TRY",
        ")" * 900,
        "(" * 3000,
        "\0",
        "😀",
        "GO 99999999999",
    ]
    texts += [DEFINITIONS[:length] for length in range(0, len(DEFINITIONS), 23)]
    for version, text in enumerate(texts, 2):
        editor.change(uri, version, text)
        lines = text.split("\n")
        for method in ("completion", "hover", "definition"):
            editor.at(method, uri, len(lines) - 1, len(lines[-1]))
        editor.at("completion", uri, 99, 99)
    editor.change(uri, 999, "PRINT @x")
    assert [one["code"] for one in editor.diagnostics(uri, 999)] == [137]
    for text in texts[:12]:
        editor.change(uri, 1000 + texts.index(text), text)
        found = editor.diagnostics(uri, 1000 + texts.index(text))
        assert not [one for one in found if "internal error" in one["message"]]


def test_scripts_know_the_types_of_the_other_open_ones(editor: Editor) -> None:
    editor.open("file:///use.sql", "DECLARE @t dbo.Kind; SELECT a FROM @t;")
    (found,) = editor.diagnostics("file:///use.sql")
    assert found["code"] == 2715
    editor.open("file:///made.sql", "CREATE TYPE dbo.Kind AS TABLE (a INT);")
    assert editor.diagnostics("file:///use.sql") == []


def test_directives_of_sqlcmd_are_obeyed(editor: Editor) -> None:
    editor.open("file:///a.sql", ":setvar NAME longer_than_that\nGO\nPRINT '$(NAME)';\n  PRINT @missing;\n")
    (found,) = editor.diagnostics("file:///a.sql")
    assert found["range"]["start"] == {"line": 3, "character": 8}


def test_a_problem_behind_a_variable_has_its_place(editor: Editor) -> None:
    editor.open("file:///a.sql", ":setvar N longer_than_that\nCREATE QUEUE $(N) WITH STATUS = MAYBE;\n")
    (found,) = editor.diagnostics("file:///a.sql")
    assert found["range"] == {"start": {"line": 1, "character": 32}, "end": {"line": 1, "character": 37}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BEGIN DIALOG @h FROM SERVICE ", {"OrderService": "service"}),
        ("BEGIN DIALOG @h FROM SERVICE a TO SERVICE '", {"'OrderService'": "service"}),
        ("BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' ON CONTRACT Or", {"OrderContract": "contract"}),
        ("SEND ON CONVERSATION @h MESSAGE TYPE [", {"[//shop/Order]": "message type"}),
        ("CREATE SERVICE s ON QUEUE dbo.", {"Orders": "queue"}),
        ("RECEIVE * FROM ", {"Orders": "queue"}),
        ("SELECT * FROM dbo.", {"Customers": "table", "Orders": "queue"}),
        ("EXEC ", {"TakeOrder": "procedure"}),
    ],
)
def test_names_are_offered_where_they_fit(editor: Editor, text: str, expected: dict[str, str]) -> None:
    editor.open("file:///made.sql", DEFINITIONS)
    offered = editor.completed("file:///a.sql", "PRINT 1\nGO\n" + text)
    assert {name: kind for name, kind in offered.items() if kind != "keyword"} == expected


@pytest.mark.parametrize(
    ("text", "fit", "do_not"),
    [
        ("", {"BEGIN DIALOG", "CREATE", "RECEIVE", "END CONVERSATION"}, {"CLEANUP", "INITIATOR"}),
        ("CREATE ", {"MESSAGE TYPE", "CONTRACT", "QUEUE"}, {"SELECT", "CLEANUP"}),
        ("END CONVERSATION @h WITH ", {"CLEANUP", "ERROR"}, {"SELECT", "CREATE"}),
        ("CREATE CONTRACT c (m SENT BY I", {"INITIATOR", "TARGET", "ANY"}, {"SELECT"}),
        ("BEGIN DIALOG @h FROM ", {"SERVICE"}, {"SELECT"}),
        ("nonsense here\nCREATE QUEUE q WITH ", {"ACTIVATION", "RETENTION"}, {"SELECT"}),
        ("SELECT a FROM t WH", {"WHERE", "GROUP"}, set()),
    ],
)
def test_keywords_are_offered_where_the_grammar_accepts_them(
    editor: Editor, text: str, fit: set[str], do_not: set[str]
) -> None:
    offered = editor.completed("file:///a.sql", text).keys()
    assert fit <= offered
    assert not do_not & offered


@pytest.mark.parametrize("text", ["-- CREATE ", "/* CREATE ", "PRINT @"])
def test_nothing_is_offered_in_comments_and_for_variables(editor: Editor, text: str) -> None:
    assert editor.completed("file:///a.sql", text) == {}


def test_a_completion_replaces_what_was_typed(editor: Editor) -> None:
    editor.open("file:///made.sql", DEFINITIONS)
    editor.open("file:///a.sql", "PRINT N'😀' SEND ON CONVERSATION @h MESSAGE TYPE [//sh")
    (item,) = editor.at("completion", "file:///a.sql", 0, 54)
    assert item["textEdit"]["newText"] == "[//shop/Order]"
    assert item["textEdit"]["range"]["start"] == {"line": 0, "character": 49}


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("CREATE QUEUE dbo.Work", "CREATE QUEUE Db.dbo.q"),
        ("END CONVERSATION @handle WITH CLEANUP", "END CONVERSATION @h WITH CLEANUP"),
        (
            "CREATE PROCEDURE p AS BEGIN PRINT 1; MOVE CONVERSATION @a TO @b; END",
            "MOVE CONVERSATION @h TO @g",
        ),
        ("BULK INSERT t FROM 'x'", "BULK INSERT t FROM 'x'"),
    ],
)
def test_hover_shows_the_row_of_the_page(editor: Editor, text: str, sample: str) -> None:
    page = (ROOT / "docs" / "dialect.md").read_text(encoding="utf-8")
    editor.open("file:///a.sql", "DECLARE @a INT\n" + text)
    column = text.index("MOVE") + 2 if "MOVE" in text else len(text) - 2
    shown = editor.at("hover", "file:///a.sql", 1, column)["contents"]["value"]
    assert shown.startswith(f"```sql\n{sample}\n```\n")
    assert shown.split("```\n", 1)[1] in page


def test_hover_is_silent_where_no_row_fits(editor: Editor) -> None:
    editor.open("file:///a.sql", "SELECT a FROM t;\nCREATE TABLE t (a INT);\n\n\n")
    assert editor.at("hover", "file:///a.sql", 0, 8) is None
    assert editor.at("hover", "file:///a.sql", 3, 0) is None


def test_every_row_of_the_page_is_known_to_hover() -> None:
    page = (ROOT / "docs" / "dialect.md").read_text(encoding="utf-8")
    samples = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert [row.sample for row in dialect.rows()] == samples


def test_a_name_leads_to_its_definition_in_another_script(editor: Editor) -> None:
    editor.open("file:///made.sql", DEFINITIONS)
    editor.open("file:///a.sql", DIALOG)
    start, end = DEFINITIONS.split("\n")[3].index("OrderService"), len("OrderService")
    expected = {"start": {"line": 3, "character": start}, "end": {"line": 3, "character": start + end}}
    name, string = DIALOG.split("\n")[1].index("OrderService"), DIALOG.split("\n")[1].index("'OrderService")
    for column in (name, name + 4, string + 3):
        (found,) = editor.at("definition", "file:///a.sql", 1, column)
        assert (found["uri"], found["range"]) == ("file:///made.sql", expected)
    assert not editor.at("definition", "file:///a.sql", 0, 2)
    editor.tell("textDocument/didClose", {"textDocument": {"uri": "file:///made.sql"}})
    assert not editor.at("definition", "file:///a.sql", 1, name)


def test_the_symbols_of_a_script_are_what_it_creates(editor: Editor) -> None:
    editor.open("file:///made.sql", DEFINITIONS)
    found = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": "file:///made.sql"}})
    assert [(one["detail"], one["name"]) for one in found] == [
        ("message type", "[//shop/Order]"),
        ("contract", "OrderContract"),
        ("queue", "dbo.Orders"),
        ("service", "OrderService"),
        ("table", "dbo.Customers"),
        ("procedure", "dbo.TakeOrder"),
    ]


def test_without_the_extra_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(command.ServerError, match="pygls is not installed") as raised:
        command.lsp_command.main([], standalone_mode=False)
    assert raised.value.hint == "pip install 'pg-service-broker[lsp]'"
