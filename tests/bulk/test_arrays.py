"""Arrow's columns as PostgreSQL's arrays, and messages sent from them, without Spark."""

import uuid
from typing import Any

import psycopg
import pytest

from pgsb.bulk.binary_copy import (
    HEADER,
    TRAILER,
    UUID_OR_TEXT,
    BinaryArray,
    BinaryArrayDumper,
    array,
    encode,
    text_of,
)
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
    got = connection.execute(f"SELECT %b::{type_}[]", (array(pyarrow.nulls(2), type_, "c"),)).fetchone()
    assert got == ([None, None],)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string()])
@pytest.mark.parametrize("places", [slice(0, 2), slice(1, None), slice(3, 5), slice(4, 6)])
def test_a_uuid_travels_as_bytes_and_what_may_be_one_as_text(
    connection: Any, kind: Any, places: slice
) -> None:
    usual = "0a1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c5d"
    spelled = [
        usual,
        usual.upper(),
        f"{{{usual}}}",
        None,
        "x",
        "",
        usual[:-1] + "g",
        usual[:7] + "-d" + usual[9:],
    ]
    spelled.append("\x00" + usual[1:])
    is_usual = [one in (usual, usual.upper()) for one in spelled]
    batch = pyarrow.RecordBatch.from_pydict({"c": pyarrow.array(spelled, kind)[places]})
    connection.execute(f'CREATE TEMP TABLE t (c uuid, "{text_of("c")}" bytea, row_number int8, attempt int8)')
    with connection.cursor().copy("COPY t FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(HEADER + encode(batch, (UUID_OR_TEXT,), 7, 3).to_pybytes() + TRAILER)
    rows = connection.execute("SELECT * FROM t ORDER BY row_number").fetchall()
    chosen = list(zip(spelled, is_usual, strict=True))[places]
    assert rows == [
        (uuid.UUID(one) if known else None, None if known or one is None else one.encode(), 3 + place, 7)
        for place, (one, known) in enumerate(chosen)
    ]


def test_what_is_no_uuid_is_named() -> None:
    with pytest.raises(BulkError, match="conversation_handle holds 'x'"):
        array(pyarrow.array(["x"]), "uuid", "conversation_handle")


@pytest.mark.parametrize("type_", ["text", "uuid"])
@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.string(), pyarrow.large_string()])
def test_what_is_no_text_is_named(type_: str, kind: Any) -> None:
    """Bytes of a key out of Kafka, say; and Spark's CAST of bytes to a string looks at none of them."""
    wrong = pyarrow.array([b"fine", None, b"\xff\xfe"], pyarrow.large_binary())
    wrong = wrong.cast(kind) if kind == pyarrow.binary() else wrong.view(pyarrow.large_string()).cast(kind)
    with pytest.raises(BulkError, match=r"^key holds b'\\xff\\xfe', which is no text in UTF-8"):
        array(wrong, type_, "key")


def test_a_text_with_a_nul_is_named() -> None:
    with pytest.raises(BulkError, match=r"^message_type_name holds 'a\\x00b': "):
        array(pyarrow.array(["a", "a\0b", None]), "text", "message_type_name")


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
