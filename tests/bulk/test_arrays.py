"""Arrow's columns as PostgreSQL's arrays, and messages sent from them, without Spark."""

import uuid
from typing import Any

import psycopg
import pytest

from pgsb.bulk.binary_copy import BinaryArray, BinaryArrayDumper, array
from pgsb.bulk.problems import BulkError
from pgsb.bulk.sending import Dialogs, count_send, send_rows
from support import Database

pyarrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.one_postgres


@pytest.fixture
def connection(database: Database) -> Any:
    with psycopg.connect(database.dsn, autocommit=True) as session:
        session.adapters.register_dumper(BinaryArray, BinaryArrayDumper)
        yield session


@pytest.mark.parametrize(
    ("type_", "values", "read"),
    [
        ("text", ["a", None, "", "Gr\u00fc\u00dfe"], ["a", None, "", "Gr\u00fc\u00dfe"]),
        ("bytea", [b"\x00\xff", b"", None], [b"\x00\xff", b"", None]),
        ("bytea", [None, None], [None, None]),
        ("uuid", ["00000000-0000-0000-0000-00000000000A", None], [uuid.UUID(int=10), None]),
        ("text", [], []),
    ],
)
def test_a_column_is_an_array(connection: Any, type_: str, values: list[Any], read: list[Any]) -> None:
    column = pyarrow.array(values, pyarrow.binary() if type_ == "bytea" else pyarrow.string())
    for one in (column, pyarrow.concat_arrays([column.slice(0, 0), column]).slice(0)):
        got = connection.execute(f"SELECT %b::{type_}[]", (array(one, type_, "c"),)).fetchone()
        assert got == (read,)
    if len(values) > 1:
        got = connection.execute(f"SELECT %b::{type_}[]", (array(column.slice(1), type_, "c"),)).fetchone()
        assert got == (read[1:],)


def test_what_is_no_uuid_is_named() -> None:
    with pytest.raises(BulkError, match="conversation_handle holds 'x'"):
        array(pyarrow.array(["x"]), "uuid", "conversation_handle")


def test_keys_have_a_dialog_each_and_rows_without_one_their_own(connection: Any) -> None:
    connection.execute(
        "SELECT ssb.create_queue('dbo.q'); SELECT ssb.create_service('s', 'dbo.q', '{DEFAULT}')"
    )
    batches = [
        (
            pyarrow.array(["a", None, "b", "a", None]),
            pyarrow.repeat("DEFAULT", 5),
            pyarrow.array([b"1", b"2", b"3", None, b"5"]),
        ),
        (pyarrow.array(["a", "c"]), pyarrow.repeat("DEFAULT", 2), pyarrow.array(["6", "7"])),
    ]
    send_id = uuid.uuid4()
    for expected in (7, 0):
        with connection.transaction():
            assert send_rows(connection, iter(batches), Dialogs("s", "s"), send_id, 0) == expected
    # The same rows in other partitions would be lost, or come twice.
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="divided into other partitions"):
        send_rows(connection, iter(batches[1:]), Dialogs("s", "s"), send_id, 0)
    count_send(connection, send_id, -1, 1)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="divided into other partitions"):
        send_rows(connection, iter(batches), Dialogs("s", "s"), send_id, 1)
    rows = connection.execute(
        "SELECT array_agg(convert_from(message_body, 'UTF8') ORDER BY queuing_order)"
        " FROM dbo.q GROUP BY conversation_handle"
    ).fetchall()
    assert sorted(rows, key=str) == [(["1", None, "6"],), (["2"],), (["3"],), (["5"],), (["7"],)]
