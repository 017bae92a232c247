"""Each line of cases/*.txt is one call of a T-SQL built-in and what it answers.

    expression -> text of the answer      (NULL for none)
    expression -> error 245: message      (SQL Server's number)
    expression -> sqlstate 22003          (PostgreSQL's own error)
    set name = value                      (for the lines that follow, in that file)
    -- a comment

Expectations come from SQL Server's reference, not from running the functions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from cases import arrows

from support import Connection, Database

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """One expectation and where it stands."""

    place: str
    expression: str
    expected: str
    settings: tuple[tuple[str, str], ...]


def cases(path: Path) -> Iterator[Case]:
    """Read a case file, in order."""
    settings: dict[str, str] = {}
    for place, what, expected in arrows(path):
        if what.startswith("set "):
            name, _, value = what.removeprefix("set ").partition(" = ")
            settings[name] = value
        else:
            assert expected is not None, f"{place}: no arrow"
            yield Case(place, what, expected, tuple(settings.items()))


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Iterator[Connection]:
    """One connection for all cases, in the time zone that they expect."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def error_number(sqlstate: str) -> int | None:
    """SQL Server's number of one of our SQLSTATEs."""
    if sqlstate[0] == "S" and sqlstate[1:].isdigit():
        return int(sqlstate[1:])
    return int(sqlstate[1:], 36) if sqlstate[0] == "T" else None


def answer(connection: Connection, expression: str) -> str:
    """What the expression gives, in the notation of the case files."""
    try:
        row = connection.execute(f"SELECT ({expression})::text".encode()).fetchone()
    except psycopg.Error as error:
        number = error_number(error.sqlstate or "")
        if number is None:
            return f"sqlstate {error.sqlstate}"
        return f"error {number}: {error.diag.message_primary}"
    assert row is not None
    return "NULL" if row[0] is None else str(row[0])


def answer_with_settings(connection: Connection, case: Case) -> str:
    """As `answer`, with what the file has set for this line."""
    for name, value in case.settings:
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    try:
        return answer(connection, case.expression)
    finally:
        for name, _ in case.settings:
            connection.execute("SELECT set_config(%s, '', false)", (name,))


# A test for each file, which tells all of its lines that are wrong: one for each of the thousand lines
# costs several times what the line costs.
@pytest.mark.parametrize("file", sorted(CASES.glob("*.txt")), ids=lambda path: path.stem)
def test_answers_as_sql_server_does(shared: Connection, file: Path) -> None:
    answers = [(case, answer_with_settings(shared, case)) for case in cases(file)]
    assert answers
    wrong = [
        f"{case.place}: {case.expression} -> {got}, not {case.expected}"
        for case, got in answers
        if got != case.expected
    ]
    assert not wrong, "\n".join(wrong)


_OTHER_FORMS = {
    "DateStyle": "German, YMD",
    "IntervalStyle": "iso_8601",
    "bytea_output": "escape",
    "extra_float_digits": "-15",
    "xmloption": "document",
    "xmlbinary": "hex",
}


def _value(connection: Connection, case: Case) -> object:
    """The answer as PostgreSQL's binary form has it, in which no setting has a part."""
    for name, value in case.settings:
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    try:
        row = connection.cursor(binary=True).execute(f"SELECT {case.expression}".encode()).fetchone()
        return repr(row)
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary
    finally:
        for name, _ in case.settings:
            connection.execute("SELECT set_config(%s, '', false)", (name,))


@pytest.mark.long
@pytest.mark.one_postgres
def test_no_answer_depends_on_the_forms_of_the_session(new_database: Callable[[], Database]) -> None:
    """FORMAT(date, 'yyyy') was 2e+03 where extra_float_digits was negative."""
    dsn = new_database().dsn
    with (
        psycopg.connect(dsn, autocommit=True) as usual,
        psycopg.connect(dsn, autocommit=True) as other,
    ):
        for connection in (usual, other):
            connection.execute("SET TimeZone = 'UTC'; SET search_path = pg_catalog")
        for name, value in _OTHER_FORMS.items():
            other.execute("SELECT set_config(%s, %s, false)", (name, value))
        all_cases = [case for file in sorted(CASES.glob("*.txt")) for case in cases(file)]
        differing = [case.place for case in all_cases if _value(usual, case) != _value(other, case)]
    assert len(all_cases) > 1000
    assert differing == []
