"""Files as SQL Server's tools write them, and places in them."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from pgsb.compiler.builder.batches import parse_script
from pgsb.grammar import source as sources
from pgsb.grammar.problems import CompileError, Problems
from pgsb.grammar.source import Source

_TEXT = "PRINT N'Grüße, 日本'\r\nGO\r\nSELECT 1"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_file_is_read_by_its_mark(mark: bytes, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "script.sql"
    path.write_bytes(mark + _TEXT.encode(encoding))
    source = Source.read(path)
    assert source.text == _TEXT
    assert source.encoding == encoding
    assert source.name == str(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["SELECT 1\r\nGO\r\n", "PRINT N'5 €';\r\n", "-- Ждите сообщений\r\nGO\r\n"])
def test_utf_16_without_a_mark_is_recognised(encoding: str, text: str) -> None:
    source = Source.from_bytes("x", text.encode(encoding))
    assert (source.text, source.encoding) == (text, encoding)


def test_a_zero_byte_in_utf_8_makes_no_utf_16_of_it() -> None:
    assert Source.from_bytes("x", b"PRINT 'a\0b';\n").text == "PRINT 'a\0b';\n"


def test_what_is_not_utf_8_is_windows_1252() -> None:
    source = Source.from_bytes("x", b"PRINT 'caf\xe9 \x80 \x81'")
    assert source.encoding == "cp1252"
    assert source.text == "PRINT 'café € \x81'"


def test_an_empty_file_is_an_empty_script() -> None:
    source = Source.from_bytes("x", b"")
    assert parse_script(source, Problems()).batches == ()
    assert source.line_count == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_and_columns_count_from_one(newline: str) -> None:
    source = Source("x", newline.join(["ab", "", "cde", "f"]))
    at = source.text.index("d")
    span = source.span(at, at + 1)
    assert (span.line, span.column, span.text) == (3, 2, "d")
    assert source.line_text(3) == "cde"
    assert source.line_count == 4
    assert source.span(0, len(source.text)).end_line == 4


def test_line_ends_may_be_mixed() -> None:
    source = Source("x", "a\rb\r\nc\nd")
    assert [source.line_text(line) for line in range(1, 5)] == ["a", "b", "c", "d"]
    assert source.line_of(source.text.index("d")) == 4


def _report(text: str) -> str:
    problems = Problems()
    parse_script(Source("orders.sql", text), problems)
    return problems.report()


def test_a_report_shows_place_line_caret_and_hint() -> None:
    assert _report("CREATE QUEUE q;\nCREATE SERVICE s ON QUEUE 'q'") == (
        "orders.sql:2:27: error 102: Incorrect syntax near 'q'.\n"
        "    2 | CREATE SERVICE s ON QUEUE 'q'\n"
        "      |                           ^^^\n"
        "hint: this name is no string: write it in brackets or bare"
    )


def test_the_caret_stands_right_after_tabs() -> None:
    lines = _report("PRINT\t'a'\t)").splitlines()
    assert lines[1:3] == ["    1 | PRINT   'a'     )", "      |                 ^"]


def test_the_caret_counts_wide_and_combining_characters_as_terminals_do() -> None:
    lines = _report("PRINT N'日本e\u0301' )").splitlines()
    assert lines[2].index("^") - lines[1].index("P") == len("PRINT N'") + 4 + 1 + len("' ")


def test_of_a_very_long_line_the_neighbourhood_is_shown() -> None:
    lines = _report(f"PRINT '{'x' * 500}' ) PRINT '{'y' * 500}'").splitlines()
    assert len(lines[1]) < 200
    assert lines[1][lines[2].index("^")] == ")"


@pytest.mark.parametrize(
    "text",
    [
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'hush' )",
        "CREATE LOGIN l WITH PASSWORD = N'''hush''', BOGUS = 1",
        "CREATE LOGIN l WITH PASSWORD\n= 0xABCDEF HASHED, BOGUS = 1",
        "CREATE DATABASE SCOPED CREDENTIAL c WITH IDENTITY = 'i', SECRET = 'hush' )",
        "EXEC (N'CREATE LOGIN l WITH PASSWORD = ''hush'', CHECK_POLICY = OFF') )",
        "EXEC dbo.p @rmtpassword = N'hush', )",
        "SELECT ENCRYPTBYPASSPHRASE('hush', x) FROM )",
        f"ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'hush{'hush' * 100}' )",
        f"ALTER LOGIN l WITH OLD_PASSWORD = 'hush{'x' * 20}'{' ' * 140})",
        "CREATE CERTIFICATE c FROM FILE = 'c' WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'hush', BOGUS = 1)",
    ],
)
def test_a_report_shows_no_password_that_stands_in_its_line(text: str) -> None:
    report = _report(text)
    assert "error" in report
    assert "hush" not in report and "ABCDEF" not in report


def test_what_stands_behind_a_password_is_shown() -> None:
    lines = _report("CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'hush' foo 'bar'").splitlines()
    assert lines[1].endswith("PASSWORD = '****' foo 'bar'")
    assert lines[1][lines[2].index("^") :].startswith("foo")


def test_a_problem_that_spans_lines_is_marked_on_its_first() -> None:
    lines = _report("CREATE QUEUE 'a\nb'").splitlines()
    assert lines[1].endswith("'a")
    assert lines[2].endswith("^^")
    assert not lines[2].endswith("^^^")


@pytest.mark.parametrize("text", ["SELECT 1\0", "PRINT 'a\0b'", "SELECT '\ud800'"])
def test_characters_that_postgresql_cannot_hold_are_refused(text: str) -> None:
    assert "cannot stand in a script" in _report(text) or "is not a character" in _report(text)


def test_problems_are_told_together_in_the_order_of_their_places() -> None:
    problems = Problems()
    parse_script(Source("x.sql", "SELECT @a\nGO\nGOTO x\nBREAK\nGO\nCREATE QUEUE"), problems)
    assert [(p.span.line, p.number) for p in problems] == [(1, 137), (3, 133), (4, 135), (6, 102)]
    with pytest.raises(CompileError) as error:
        problems.raise_if_any()
    assert error.value.problems is problems
    assert str(error.value) == problems.report()


def test_a_warning_stops_nothing() -> None:
    problems = Problems()
    source = Source("x.sql", "SELECT 1")
    problems.add("look here", source.span(0, 6), severity="warning")
    problems.raise_if_any()
    assert problems.errors == ()
    assert str(next(iter(problems))).startswith("x.sql:1:1: warning: look here")


def test_a_batch_with_problems_says_so() -> None:
    problems = Problems()
    script = parse_script(Source("x.sql", "SELECT 1\nGO\nSELECT @a\nGO\nCREATE\nGO\nSELECT 2"), problems)
    assert [batch.has_errors for batch in script.batches] == [False, True, True, False]


def test_a_script_without_an_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 1024**2)
    with pytest.raises(OSError, match="at most 1 MB"):
        Source.read(Path("/dev/zero"))


def test_the_largest_script_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 7)
    path = tmp_path / "script.sql"
    path.write_text("PRINT 1")
    assert Source.read(path).text == "PRINT 1"
    path.write_text("PRINT 10")
    with pytest.raises(OSError, match="at most"):
        Source.read(path)
