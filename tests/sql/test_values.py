"""What translated expressions answer on a server: the lines of values.txt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sql.translating import Givens, sql_text

from pgsb.compiler.sql.translate import translate_expression
from pgsb.compiler.target.emit import text_of
from pgsb.grammar.problems import Problems
from support import Connection, Database

_LINES = [
    line
    for line in (Path(__file__).parent / "values.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("--")
]


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Database:
    """One database for all lines: none changes anything."""
    return new_database()


def _answer(connection: Connection, expression: str) -> str:
    problems = Problems()
    translated = translate_expression(sql_text(expression), Givens(), problems)
    assert not problems, problems.report()
    try:
        row = connection.execute(f"SELECT {text_of(translated.code)}".encode()).fetchone()
    except psycopg.Error as error:
        return f"error {error.diag.sqlstate}"
    assert row is not None
    value = row[0]
    return "0x" + value.hex().upper() if isinstance(value, bytes) else str(value)


def test_expressions_answer_as_sql_server_does(
    shared: Database, connect: Callable[[str], Connection]
) -> None:
    connection = connect(shared.dsn)
    wrong = []
    for line in _LINES:
        expression, _, expected = line.rpartition(" -> ")
        answer = _answer(connection, expression)
        if answer != expected:
            wrong.append(f"{expression} -> {answer}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_there_are_many() -> None:
    assert len(_LINES) == len(set(_LINES)) > 200
