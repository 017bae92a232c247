"""Each line of cases/*.txt is one call of the XML runtime and what it answers.

    xml TEXT -> ANSWER          CAST(TEXT AS XML); style1 … with white space kept, style2 …
    value | query | exist | modify | nodes PATH -> ANSWER     on the current document
    sql EXPRESSION -> ANSWER    any SQL expression
    doc TEXT                    the document of the lines that follow
    ns JSON / vars JSON         namespaces and variables of the lines that follow (null: none)
    … -> error 2389: MESSAGE    SQL Server's number and text
    -- a comment

In TEXT, PATH and ANSWER \\n, \\r, \\t and \\uXXXX stand for the characters. An ANSWER is NULL for none;
`nodes` gives the markup of each row, joined by ` | `. Expectations come from SQL Server's reference.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from cases import arrows

from support import Connection, Database

CASES = Path(__file__).parent / "cases"

METHODS = {
    "value": "sys.xml_value({doc}, {path}, {ns}, {vars})",
    "query": "sys.xml_query({doc}, {path}, {ns}, {vars})",
    "exist": "sys.xml_exist({doc}, {path}, {ns}, {vars})",
    "modify": "sys.xml_modify({doc}, {path}, {ns}, {vars})",
    "nodes": "(SELECT coalesce(string_agg(sys.xml_query(t.c, '.')::text, ' | ' ORDER BY t.place), '')"
    " FROM sys.xml_nodes({doc}, {path}, {ns}, {vars}) AS t(c))",
    "xml": "sys.xml_of({path})",
    "style1": "sys.xml_of({path}, 1)",
    "style2": "sys.xml_of({path}, 2)",
}


@dataclass(frozen=True)
class Case:
    """One expectation and where it stands."""

    place: str
    expression: str
    arguments: tuple[str, ...]
    expected: str


def unescape(text: str) -> str:
    """Resolve the escapes of the case files."""
    return re.sub(
        r"\\(n|r|t|u[0-9a-fA-F]{4})",
        lambda m: {"n": "\n", "r": "\r", "t": "\t"}.get(m[1]) or chr(int(m[1][1:], 16)),
        text,
    )


def cases(path: Path) -> Iterator[Case]:
    """Read a case file, in order."""
    doc, namespaces, variables = "", "NULL", "NULL"
    for place, what, expected in arrows(path):
        word, _, rest = what.partition(" ")
        if word == "doc":
            doc, namespaces, variables = unescape(rest), "NULL", "NULL"
        elif word == "ns":
            namespaces = "NULL" if rest == "null" else f"'{rest}'::jsonb"
        elif word == "vars":
            variables = "NULL" if rest == "null" else f"'{rest}'::jsonb"
        else:
            assert expected is not None, f"{place}: no arrow"
            if word == "sql":
                yield Case(place, unescape(rest), (), unescape(expected))
                continue
            text = METHODS[word]
            arguments = [doc] if "{doc}" in text else []
            arguments.append(unescape(rest))
            sql = text.format(doc="sys.xml_of(%s::text, 1)", path="%s::text", ns=namespaces, vars=variables)
            yield Case(place, sql, tuple(arguments), unescape(expected))


@pytest.fixture(scope="module")
def shared(new_database: Callable[[], Database]) -> Iterator[Connection]:
    """One connection for all cases."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def answer(connection: Connection, case: Case) -> str:
    """What the server says, in the notation of the case files."""
    try:
        query = f"SELECT ({case.expression})::text"
        row = connection.execute(query, case.arguments or None).fetchone()  # type: ignore[arg-type]
    except psycopg.Error as error:
        state = error.sqlstate or ""
        number = f"error {int(state[1:])}" if re.fullmatch(r"S\d{4}", state) else f"sqlstate {state}"
        return f"{number}: {error.diag.message_primary}"
    assert row is not None
    return "NULL" if row[0] is None else str(row[0])


# A test for each file, which tells all of its lines that are wrong.
@pytest.mark.parametrize("file", sorted(CASES.glob("*.txt")), ids=lambda path: path.stem)
def test_cases(shared: Connection, file: Path) -> None:
    answers = [(case, answer(shared, case)) for case in cases(file)]
    assert answers
    wrong = [
        f"{case.place}: {case.expression} {case.arguments} -> {got}, not {case.expected}"
        for case, got in answers
        if got != case.expected
    ]
    assert not wrong, "\n".join(wrong)
