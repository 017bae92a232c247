"""What Spark's Python readers get: Arrow batches out of arrays that the server made, without Spark."""

import datetime
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from bulk_desk import Desk

from pgsb.bulk import claim, rows
from pgsb.bulk.array_columns import Column
from pgsb.bulk.rows import STREAM_SCHEMA, fetch_part, fetch_rows
from support import Connection, Database

pyarrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]


def _rows(connection: Any, claim_id: int, partition: int = 0, size: int = 4) -> list[dict[str, Any]]:
    batches = list(fetch_part(connection, "dbo.target", claim_id, partition, size))
    assert all(0 < batch.num_rows <= size for batch in batches)
    for batch in batches:
        batch.validate(full=True)
    return [row for batch in batches for row in batch.to_pylist()]


def test_a_part_is_every_message_of_its_conversations_in_order(desk: Desk, connect: Connect) -> None:
    desk.connection.execute("SELECT ssb.create_message_type('Gr\u00fc\u00dfe')")
    desk.connection.execute(
        "SELECT ssb.create_contract('mixed', message_types => '{Gr\u00fc\u00dfe,note}',"
        " sent_by => '{ANY,ANY}')"
    )
    desk.connection.execute("SELECT ssb.alter_service('target', add_contracts => '{mixed}')")
    desk.send(3, 11)
    desk.send(5, 1)
    handle = desk.value("SELECT ssb.begin_dialog('source', 'target', 'mixed')")
    desk.connection.execute(
        "SELECT ssb.send(%s, 'Gr\u00fc\u00dfe', '\u00fc'::text), ssb.send(%s, 'note'),"
        " ssb.send(%s, 'note', ''::bytea)",
        (handle, handle, handle),
    )
    held = claim(connect(), "dbo.target", partitions=3)
    assert held is not None
    rows = [row for part in range(3) for row in _rows(connect(), held.claim_id, part)]
    expected = desk.connection.execute(
        "SELECT status, priority, queuing_order, conversation_group_id::text, conversation_handle::text,"
        " message_sequence_number, service_name, service_id, service_contract_name, service_contract_id,"
        " message_type_name, message_type_id, validation::text, message_body, message_enqueue_time"
        " FROM ssb_internal.claimed_message ORDER BY claim_partition, conversation_handle, queuing_order"
    ).fetchall()
    names = [one.split(" ")[0] for one in STREAM_SCHEMA.split(", ")]
    assert [list(row) for row in rows] == [names] * len(rows)
    assert {(row["claim_id"], row["queue"]) for row in rows} == {(held.claim_id, "dbo.target")}
    assert sorted(tuple(row.values())[2:-2] for row in rows) == sorted(row[2:] for row in expected)
    for one in {row["conversation_handle"] for row in rows}:
        orders = [row["queuing_order"] for row in rows if row["conversation_handle"] == one]
        assert orders == sorted(orders)
        places = [i for i, row in enumerate(rows) if row["conversation_handle"] == one]
        assert places == list(range(places[0], places[0] + len(places)))


def test_all_views_of_a_claim_have_the_same_rows(desk: Desk, connect: Connect) -> None:
    """Each with its way to make the texts of handles, for conversations of few and of many messages."""
    desk.send(2, 1)
    desk.send(2, 5)
    owner = connect()
    held = claim(owner, "dbo.target", partitions=2)
    assert held is not None
    wanted = "SELECT m::text FROM ssb_internal.{} AS m ORDER BY m.queuing_order"
    views = ("claimed_message", "claimed_in_long", "claimed_in_range")
    flat, long, ranges = (owner.execute(wanted.format(view)).fetchall() for view in views)
    assert len(flat) == 12 and long == flat and ranges == flat
    texts = owner.execute(
        "SELECT DISTINCT handle_text = conversation_handle::text AND group_text = conversation_group_id::text"
        "  FROM ssb_internal.claimed_in_long"
    ).fetchall()
    assert texts == [(True,)]
    other = connect()
    other.execute("SET ROLE pg_monitor")
    for view in views:
        assert other.execute(f"SELECT FROM ssb_internal.{view}").fetchall() == []


def test_another_role_reads_nothing_of_a_part(desk: Desk, connect: Connect) -> None:
    desk.send(1, 2)
    held = claim(connect(), "dbo.target", partitions=1)
    assert held is not None
    other = connect()
    other.execute("SET ROLE pg_monitor")
    assert _rows(other, held.claim_id) == []
    assert _rows(connect(), held.claim_id + 1) == []


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_a_moment_is_the_same_in_each_time_zone(desk: Desk, connect: Connect, zone: str) -> None:
    desk.send(1, 1)
    desk.connection.execute("UPDATE ssb.message_stored SET enqueued_at = '2026-10-25 00:30:00.0006+00'")
    held = claim(connect(), "dbo.target", partitions=1)
    assert held is not None
    other = connect()
    other.execute(f"SET TIME ZONE '{zone}'")
    moment = datetime.datetime(2026, 10, 25, 0, 30, 0, 1000, datetime.UTC)
    assert _rows(other, held.claim_id)[0]["message_enqueue_time"] == moment
    read = other.execute("SELECT message_enqueue_time FROM ssb_internal.claimed_message").fetchone()
    assert read is not None and read[0] == moment


def test_a_query_is_batches_of_its_columns(database: Database) -> None:
    kinds = {
        "flag": "boolean",
        "small": "short",
        "plain": "int",
        "big": "long",
        "real": "double",
        "text": "string",
        "bytes": "binary",
        "day": "date",
        "moment": "timestamp",
    }
    columns = [Column(name, kind, name) for name, kind in kinds.items()]
    relation = """(VALUES
        (1, true, 1::int2, -2, 3::int8, 0.5::float8, 'Gr\u00fc\u00dfe', '\\x00ff'::bytea, '1999-12-31'::date,
         '2026-01-02 03:04:05.678901+00'::timestamptz),
        (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (3, false, 32767::int2, 2147483647, 9223372036854775807, 'NaN', '', '', 'infinity', '-infinity'))
        AS v (place, flag, small, plain, big, real, text, bytes, day, moment)"""
    with psycopg.connect(database.dsn) as connection:
        batches = list(fetch_rows(connection, columns, relation, "place DESC", 2))
    assert [batch.num_rows for batch in batches] == [2, 1]
    last, none, first = (row for batch in batches for row in batch.to_pylist())
    assert set(none.values()) == {None}
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, datetime.UTC)
    day = datetime.date(1999, 12, 31)
    assert list(first.values()) == [True, 1, -2, 3, 0.5, "Gr\u00fc\u00dfe", b"\x00\xff", day, moment]
    assert [last["flag"], last["small"], last["big"], last["text"], last["bytes"]] == [
        False,
        32767,
        2**63 - 1,
        "",
        b"",
    ]
    # Arrow knows no moment beyond all others.
    assert last["real"] != last["real"] and last["day"] is None and last["moment"] is None


def test_a_batch_ends_before_its_bodies_outgrow_what_one_value_may_hold(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_BATCH_BYTES", 10)
    sizes = [4, 4, 4, 4, 25, 3, 0, 10, 10, 1, 9, 9, 9]
    columns = [Column("text", "string", "left(body, 2)"), Column("bytes", "binary", "body::bytea")]
    relation = f"(SELECT place, repeat('x', size) AS body FROM unnest(ARRAY{sizes}) WITH ORDINALITY"
    with psycopg.connect(database.dsn) as connection:
        found = list(fetch_rows(connection, columns, f"{relation} AS u (size, place)) AS s", "place", 1000))
    got = [[len(one["text"]) + len(one["bytes"]) for one in batch.to_pylist()] for batch in found]
    assert [size for batch in got for size in batch] == [size + min(size, 2) for size in sizes]
    assert all(len(batch) == 1 or sum(batch) < 20 for batch in got), got
    assert max(map(len, got)) > 1
