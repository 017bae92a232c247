"""Values, notices and errors of the server as SQL Server's tools show them."""

import io
import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgsb.server.render import CsvRenderer, JsonRenderer, TableRenderer
from pgsb.server.results import (
    ErrorEvent,
    Event,
    NoticeReader,
    Number,
    Print,
    RowCount,
    RowReader,
    Rows,
    error_of,
    number_of_sqlstate,
)
from support import Connection

VALUES = {
    "NULL::text": "NULL",
    "'text'::varchar(10)": "text",
    "'ab'::char(4)": "ab",
    "true": "1",
    "false": "0",
    "42": "42",
    "12345678901234567890.50::numeric(30,2)": "12345678901234567890.50",
    "12.5::numeric(19,4)": "12.5000",
    "0.1::float8": "0.1",
    "'\\xc3a9'::bytea": "0xC3A9",
    "''::bytea": "0x",
    "'6f9619ff-8b86-d011-b42d-00c04fc964ff'::uuid": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
    "'2026-11-20'::date": "2026-11-20",
    "'07:00:00.5'::time(3)": "07:00:00.500",
    "'2026-11-20 07:00:00.123'::timestamp(3)": "2026-11-20 07:00:00.123",
    "'2026-11-20 07:00:00'::timestamp(3)": "2026-11-20 07:00:00.000",
    "'2026-11-20 07:00:00'::timestamp(0)": "2026-11-20 07:00:00",
    "'2026-11-20 07:00:00.5'::timestamp(6)": "2026-11-20 07:00:00.500000",
    "'2026-11-20 07:00:00.5'::timestamp": "2026-11-20 07:00:00.500",
    "'2026-11-20 07:00:00.1234'::timestamp": "2026-11-20 07:00:00.1234",
    "'2026-11-20 07:00:00+00'::timestamptz(2)": "2026-11-20 07:00:00.00 +00:00",
    "'infinity'::timestamp": "infinity",
    """'{"a": [1.50, null, "x"], "b": {"c": 1}}'::jsonb""": '{"a": [1.50, null, "x"], "b": {"c": 1}}',
    "'NaN'::float8": "NaN",
}


@pytest.fixture
def server(postgres: str, connect: Callable[..., Connection]) -> Connection:
    """A session of the server alone: these tests leave nothing in its database."""
    connection = connect(postgres)
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _shown(events: list[Event]) -> str:
    out = io.StringIO()
    renderer = TableRenderer(out)
    for event in events:
        renderer.write(event)
    renderer.close()
    return out.getvalue()


def _json(events: list[Event]) -> list[Any]:
    out = io.StringIO()
    renderer = JsonRenderer(out)
    for event in events:
        renderer.write(event)
    renderer.close()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def _collect(server: Connection) -> list[Event]:
    events: list[Event] = []
    server.add_notice_handler(NoticeReader(events.append))
    return events


def _raise(server: Connection, sqlstate: str, message: str, detail: str = "") -> None:
    """What compiled code does to reach the client from inside a block."""
    server.execute(
        sql.SQL("DO $do$ BEGIN RAISE INFO USING ERRCODE = {}, MESSAGE = {}, DETAIL = {}; END $do$").format(
            sqlstate, message, detail
        )
    )


@pytest.mark.parametrize(("expression", "expected"), VALUES.items())
def test_a_value_of_a_plain_select(server: Connection, expression: str, expected: str) -> None:
    result = server.execute(f"SELECT {expression} AS v".encode()).pgresult
    assert result is not None
    reader = RowReader()
    rows = reader.read(result)
    assert _shown([Rows(reader.names, rows)]).splitlines()[2].strip() == expected


@pytest.mark.parametrize(("expression", "expected"), VALUES.items())
def test_the_same_value_from_inside_a_block(server: Connection, expression: str, expected: str) -> None:
    events = _collect(server)
    type_ = "pg_catalog.format_type(pg_typeof(v), {}::int)"
    modifier = server.execute(f"SELECT {expression} AS v".encode()).pgresult
    assert modifier is not None
    server.execute(
        "DO $do$ DECLARE payload text; BEGIN "
        "SELECT json_build_object('columns', json_build_array(json_build_object('name', 'v', 'type', "
        f"{type_.format(modifier.fmod(0))})), 'rows', json_build_array(json_build_array(v)), 'last', true) "
        f"INTO payload FROM (SELECT {expression} AS v) AS q; "
        "RAISE INFO USING ERRCODE = 'SR001', MESSAGE = payload; END $do$".encode()
    )
    assert _shown(events).splitlines()[2].strip() == expected


def test_who_cannot_answer_the_session_says_so(server: Connection) -> None:
    """The server has ended, or has no connection left: libpq's callback would print a traceback."""
    told: list[str] = []

    def fails(request: str) -> None:
        raise psycopg.OperationalError(f"connection failed:\n{request}")

    server.add_notice_handler(
        NoticeReader([].append, lambda *notice: told.append(": ".join(notice)), fails, fails)
    )
    for sqlstate in ("SX001", "SX002"):
        _raise(server, sqlstate, sqlstate)
    assert told == [
        f"WARNING: pgsb could not answer the session: connection failed: {one}" for one in ("SX001", "SX002")
    ]


def test_everything_keeps_its_order(server: Connection) -> None:
    events = _collect(server)
    _raise(server, "SP001", "first")
    columns = '[{"name":"a","type":"integer"},{"name":null,"type":null}]'
    _raise(server, "SR001", f'{{"columns":{columns},"rows":[[1,"x"]]}}')
    _raise(server, "SC001", "(1 row affected)", "1")
    _raise(server, "SE001", "no such conversation", "Msg 8426, Level 16, State 1, Procedure dbo.p, Line 3")
    _raise(server, "SP001", "last")
    assert events == [
        Print("first"),
        Rows(("a", None), [[Number("1"), "x"]]),
        RowCount(1),
        ErrorEvent(8426, 16, 1, "dbo.p", 3, "no such conversation", sqlstate="SE001"),
        Print("last"),
    ]
    assert _shown(events) == (
        "first\n"
        "a (No column name)\n"
        "- ----------------\n"
        "1 x\n"
        "\n(1 row affected)\n\n"
        "Msg 8426, Level 16, State 1, Procedure dbo.p, Line 3\n"
        "no such conversation\n"
        "last\n"
    )
    assert _json(events) == [
        {"type": "print", "text": "first"},
        {"type": "result", "columns": ["a", None], "rows": [[1, "x"]]},
        {"type": "rowcount", "count": 1},
        {
            "type": "error",
            "number": 8426,
            "severity": 16,
            "state": 1,
            "procedure": "dbo.p",
            "line": 3,
            "message": "no such conversation",
        },
        {"type": "print", "text": "last"},
    ]


def test_a_result_in_pieces_is_one_table_and_one_json_object(server: Connection) -> None:
    events = _collect(server)
    _raise(server, "SR001", '{"columns":[{"name":"n","type":"integer"}],"rows":[[1],[2]],"last":false}')
    _raise(server, "SR001", '{"rows":[[30]],"last":true}')
    assert _shown(events) == "n\n--\n 1\n 2\n30\n\n"
    assert _json(events) == [{"type": "result", "columns": ["n"], "rows": [[1], [2], [30]]}]


def test_numbers_keep_every_digit_in_json() -> None:
    out = io.StringIO()
    digits = "123456789012345678901234567890.10"
    JsonRenderer(out).write(Rows(("n",), [[Number(digits)], [Number("NaN")], [None]]))
    assert out.getvalue() == f'{{"type":"result","columns":["n"],"rows":[[{digits}],["NaN"],[null]]}}\n'


def test_csv_holds_the_result_sets_and_messages_go_elsewhere() -> None:
    out, messages = io.StringIO(), io.StringIO()
    renderer = CsvRenderer(out, messages)
    renderer.write(Print("hello"))
    renderer.write(Rows(("a", None), [["x,y", None], ['say "hi"', Number("2")]]))
    renderer.write(RowCount(2))
    renderer.write(Rows(("b",), []))
    renderer.close()
    assert out.getvalue() == 'a,\n"x,y",\n"say ""hi""",2\n\nb\n'
    assert messages.getvalue() == "hello\n"


def test_wide_characters_keep_columns_in_line() -> None:
    shown = _shown([Rows(("a", "b"), [["日本", "x"], ["abc", "y"]])])
    assert shown == "a    b\n---- -\n日本 x\nabc  y\n\n"


def test_a_terminal_is_not_steered_by_data() -> None:
    assert "\x1b" not in _shown([Print("\x1b[2J"), Rows(("a",), [["\x1b]0;title\x07"]])])


def test_no_rows_still_show_the_columns() -> None:
    assert _shown([Rows(("name",), [])]) == "name\n----\n\n"


def test_an_error_of_the_server_carries_its_number(server: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        server.execute(
            "DO $$ BEGIN RAISE EXCEPTION 'the conversation is not found' USING ERRCODE = 'S8426', "
            "HINT = 'look around'; END $$"
        )
    error = error_of(caught.value, line=7)
    assert (error.number, error.severity, error.state, error.line) == (8426, 16, 1, 7)
    assert (error.message, error.hint) == ("the conversation is not found", "look around")


def test_an_error_of_five_digits_has_its_number_in_base_36() -> None:
    assert number_of_sqlstate("T0BOV") == 15151
    assert number_of_sqlstate("TZZZZ") is None
    assert number_of_sqlstate("42P01") is None


def test_a_canceled_query_is_told_as_management_studio_does(server: Connection) -> None:
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        server.execute("SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(5)")
    assert error_of(caught.value).message == "Query was canceled by user."


def test_a_timeout_is_no_users_doing(server: Connection) -> None:
    server.execute("SET statement_timeout = 1")
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        server.execute("SELECT pg_sleep(5)")
    assert error_of(caught.value).message == (
        "Query was canceled (canceling statement due to statement timeout)."
    )


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ('[1, "x"]', [Rows(("a", None), [[Number("1"), "x"]])]),
        ("[]", [Rows((), [[]])]),
    ],
)
def test_a_row_of_another_width_than_the_script_expected(
    server: Connection, row: str, shown: list[Event]
) -> None:
    events = _collect(server)
    _raise(server, "SR001", f'{{"columns": [{{"name": "a", "type": "integer"}}], "rows": [{row}]}}')
    assert events == shown
