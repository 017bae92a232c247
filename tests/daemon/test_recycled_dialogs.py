"""ssb.send_recycled: dialogs are reused by key and changed in time, and no message is lost or overtaken."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from activation import Daemon, activate, until
from support import Connection, Database

Start = Callable[..., Daemon]

TARGET = """
DECLARE m ssb.message; n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive('dbo.to_queue', 1) LOOP
            n := n + 1;
            IF m.message_type_name = 'Item' THEN
                INSERT INTO dbo.stream (body) VALUES (convert_from(m.message_body, 'UTF8'));
            ELSE
                PERFORM ssb.end_conversation(m.conversation_handle);
            END IF;
        END LOOP;
        COMMIT;
        EXIT WHEN n = 0;
    END LOOP;
END;
"""


@pytest.fixture
def stream(sql: Connection) -> Connection:
    sql.execute(
        """
        SELECT ssb.create_message_type('Item');
        SELECT ssb.create_message_type('EndOfStream', validation => 'EMPTY');
        SELECT ssb.create_contract('Stream', '{Item,EndOfStream}', '{INITIATOR,INITIATOR}');
        SELECT ssb.alter_service('//To', add_contracts => '{Stream}');
        CREATE TABLE dbo.stream (place bigint GENERATED ALWAYS AS IDENTITY, body text);
        """
    )
    return sql


def _activate_both(sql: Connection, readers: int) -> None:
    activate(sql, TARGET, readers=readers)
    sql.execute(
        "SELECT ssb.alter_queue('dbo.from_queue', activation_status => true,"
        " activation_procedure => 'ssb.end_recycled_dialogs', max_queue_readers => 1)"
    )


def _send(sql: Connection, key: str, body: str, **options: Any) -> Any:
    extra = "".join(f", {name} => %({name})s" for name in options)
    row = sql.execute(
        f"SELECT ssb.send_recycled(%(key)s, '//From', '//To', 'Stream', 'Item', %(body)s::text{extra})",
        {"key": key, "body": body, **options},
    ).fetchone()
    assert row is not None
    return row[0]


def test_a_key_keeps_its_dialog_until_the_count_is_reached(stream: Connection) -> None:
    handles = [_send(stream, "k", str(n), max_messages=3) for n in range(7)]
    assert len(set(handles)) == 3
    assert handles[0] == handles[2] != handles[3] == handles[5] != handles[6]
    assert _send(stream, "other", "x") not in handles


def test_messages_of_a_key_come_in_order_and_dialogs_are_ended(
    stream: Connection, daemon: Start, database: Database, connect: Callable[..., Connection]
) -> None:
    _activate_both(stream, readers=4)
    daemon()
    sessions = {key: connect() for key in "abc"}

    def flood(key: str) -> None:
        for number in range(40):
            _send(sessions[key], key, f"{key}{number:03}", max_messages=4)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(flood, sessions))
    until(lambda: stream.execute("SELECT count(*) FROM dbo.stream").fetchone() == (120,))
    for key in sessions:
        bodies = [
            row[0]
            for row in stream.execute(
                "SELECT body FROM dbo.stream WHERE starts_with(body, %s) ORDER BY place", [key]
            )
        ]
        assert bodies == [f"{key}{number:03}" for number in range(40)]
    # One open dialog a key is left.
    until(
        lambda: (
            stream.execute(
                "SELECT count(*) FROM sys.conversation_endpoints WHERE is_initiator = 1"
            ).fetchone()
            == (3,)
        )
    )


@pytest.mark.long
def test_an_idle_key_is_closed_by_its_timer(stream: Connection, daemon: Start) -> None:
    _activate_both(stream, readers=1)
    daemon()
    _send(stream, "k", "only", max_age="1 second")
    until(
        lambda: stream.execute(
            "SELECT 1 WHERE NOT EXISTS (SELECT FROM sys.conversation_endpoints WHERE state <> 'CD')"
        ).fetchone()
    )
    assert stream.execute("SELECT array_agg(body) FROM dbo.stream").fetchone() == (["only"],)


def test_after_an_error_the_key_begins_anew(stream: Connection) -> None:
    first = _send(stream, "k", "a")
    stream.execute(
        "SELECT ssb.end_conversation(conversation_handle, 1, 'no') FROM ssb.receive('dbo.to_queue')"
    )
    assert _send(stream, "k", "b") != first


def test_null_is_an_options_default_and_every_age_goes(stream: Connection) -> None:
    handle = _send(stream, "k", "a", max_age=None, max_messages=None, closing_type=None)
    until_timer = "SELECT dialog_timer - now() FROM ssb.conversation_endpoint WHERE conversation_handle = %s"
    (left,) = stream.execute(until_timer, [handle]).fetchall()[0]
    assert 3500 < left.total_seconds() <= 3600
    handle = _send(stream, "old", "a", max_age="100000000 years")
    (left,) = stream.execute(until_timer, [handle]).fetchall()[0]
    assert left.days == 24855  # as far as a timer reaches


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("NULL, '//From', '//To', 'Stream'", "T0BKS"),
        ("'k', NULL, '//To', 'Stream'", "S8421"),
        ("'k', '//From', NULL, 'Stream'", "S8421"),
        ("'k', '//From', '//To', NULL", "S8417"),
    ],
)
def test_what_has_to_be_named_is_asked_for(stream: Connection, name: str, error: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        stream.execute(f"SELECT ssb.send_recycled({name}, 'Item', 'x'::text)".encode())
    assert caught.value.sqlstate == error
