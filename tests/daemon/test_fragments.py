"""Large messages travel in fragments, between which other dialogs' messages go."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from instances import Side
from psycopg.types.json import Jsonb

from activation import Daemon, until
from pgsb.daemon import transport_sets
from support import Database, rest_is_long

_SEND_LARGE = "SELECT ssb.send(%s, '//Ask', convert_to(rpad(%s, %s, 'x'), 'UTF8'))"
_ARRIVED = (
    "SELECT rtrim(convert_from(substring(message_body FOR 100), 'UTF8'), 'x'), length(message_body)"
    " FROM dbo.far_queue ORDER BY queuing_order"
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """Fragments of 1,000 bytes."""
    monkeypatch.setattr(transport_sets, "FRAGMENT", 1000)
    return 1000


def arrived(far: Side) -> list[tuple[str, int]]:
    return far.connection.execute(_ARRIVED).fetchall()


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_small_message_does_not_wait_behind_a_large_one(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """64 MB. Of either side no more is in a set than a fragment."""
    large, other = near.begin("//Far"), near.begin("//Far")
    near.send(other, "//Ask", "first")
    daemons(near)
    until(lambda: len(arrived(far)) == 1)
    near.do(_SEND_LARGE, large, "large", 64 * 2**20)
    until(lambda: far.value("SELECT count(*) FROM ssb.message_fragment") > 0)
    near.send(large, "//Ask", "behind it")
    near.send(other, "//Ask", "urgent")
    until(lambda: len(arrived(far)) == 4, 60)
    assert arrived(far) == [("first", 5), ("urgent", 6), ("large", 64 * 2**20), ("behind it", 9)]
    assert far.value("SELECT count(*) FROM ssb.message_fragment") == 0
    until(lambda: near.waiting() == [])


@pytest.mark.parametrize("length", rest_is_long([1000, 1001, 2000, 4500], 1001))
def test_every_byte_arrives_once_and_in_order(
    near: Side, far: Side, daemons: Callable[..., Daemon], small: int, length: int
) -> None:
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "before")
    body = "".join(f"{number:06}," for number in range(length))[:length]
    near.send(handle, "//Ask", body, "after", body)
    near.do("SELECT ssb.end_conversation(%s)", handle)
    daemons(near)
    assert [one[2] for one in far.receive(5)] == ["before", body, "after", body, None]
    until(lambda: near.waiting() == [])


@pytest.mark.long
@pytest.mark.one_postgres
def test_priorities_hold_beside_a_large_message(
    near: Side, far: Side, daemons: Callable[..., Daemon], small: int
) -> None:
    near.do("SELECT ssb.alter_database(NULL, 'HONOR_BROKER_PRIORITY', 'ON')")
    near.do("SELECT ssb.create_broker_priority('p', contract => '//Talk', priority_level => 9)")
    urgent = near.begin("//Far")
    near.do("SELECT ssb.drop_broker_priority('p')")
    large = near.begin("//Far")
    near.do(_SEND_LARGE, large, "large", 200 * small)
    near.do(_SEND_LARGE, urgent, "urgent and large", 3 * small)
    near.send(urgent, "//Ask", "urgent")
    daemons(near)
    until(lambda: len(arrived(far)) == 3)
    assert [body for body, _ in arrived(far)] == ["urgent and large", "urgent", "large"]


@pytest.mark.long
@pytest.mark.one_postgres
def test_it_goes_on_where_it_was_cut_off(
    near: Side, far: Side, daemons: Callable[..., Daemon], small: int
) -> None:
    """The target's queue is off, the sender's daemon stops, and what the sender knows of it is lost."""
    handle = near.begin("//Far")
    near.do(_SEND_LARGE, handle, "large", 300 * small)
    one = daemons(near)
    until(lambda: far.value("SELECT count(*) FROM ssb.message_fragment") > 5)
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => false)")
    until(lambda: any("local service" in status for status in near.waiting()))
    one.broker.stop()
    kept = far.value("SELECT count(*) FROM ssb.message_fragment")
    assert 5 < kept < 300
    near.do("UPDATE ssb.remote_conversation SET sent_bytes = 0, retry_at = NULL")
    near.do("UPDATE ssb.transmission AS t SET peer_id = r.peer_id FROM ssb.remote_conversation AS r")
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => true)")
    daemons(near)
    until(lambda: len(arrived(far)) == 1)
    assert arrived(far) == [("large", 300 * small)]


# ---------------------------------------------------------------------------- by hand


@pytest.fixture
def owner(database: Database) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT ssb.create_message_type('//Ask'), ssb.create_contract('//Talk', '{//Ask}', '{ANY}'),"
            " ssb.create_queue('dbo.q'), ssb.create_service('//Open', 'dbo.q', '{//Talk}'),"
            " ssb.create_endpoint('BrokerEndpoint', 'STARTED', 4022)"
        )
        yield connection


def header() -> dict[str, Any]:
    """What another instance says of a dialog that it begins."""
    return {
        "conversation_id": str(uuid.uuid4()),
        "is_initiator": True,
        "key": str(uuid.uuid4()),
        "to_service": "//Open",
        "from_service": "//Remote",
        "from_instance": str(uuid.uuid4()),
        "contract": "//Talk",
        "is_encrypted": False,
    }


def bring(by: psycopg.Connection[Any], dialog: dict[str, Any], kind: str, body: str, number: int = 0) -> Any:
    """Returns next_number, taken_bytes and status."""
    row = by.execute(
        "SELECT next_numbers[1], others FROM ssb_internal.take_from_peer(jsonb_build_array(%s::jsonb), '{0}',"
        " %s::bigint[], '{//Ask}', %s::text[], %s::bytea[])",
        [Jsonb(dialog), [number], [kind], [body.encode()]],
    ).fetchone()
    assert row is not None
    if row[1] is None:
        return row[0], None, None
    (other,) = row[1]
    return other["next_number"], other["taken_bytes"], other["status"]


def bodies(owner: psycopg.Connection[Any]) -> list[Any]:
    rows = owner.execute("SELECT convert_from(message_body, 'UTF8') FROM dbo.q ORDER BY queuing_order")
    return [body for (body,) in rows.fetchall()]


def kept(owner: psycopg.Connection[Any]) -> Any:
    return owner.execute("SELECT count(*) FROM ssb.message_fragment").fetchone()


def test_replays_gaps_and_another_message_of_that_number(owner: psycopg.Connection[Any]) -> None:
    dialog = header()
    assert bring(owner, dialog, "fragment 0 9 a", "one") == (0, 3, None)
    assert bring(owner, dialog, "fragment 0 9 a", "one") == (0, 3, None)
    missing = "Byte 3 of message number 0 of this conversation has not come."
    assert bring(owner, dialog, "fragment 6 9 a", "six") == (0, 3, missing)
    assert bring(owner, dialog, "fragment 3 9 a", "far too long") == (0, 3, missing)
    assert bring(owner, dialog, "fragment 3 9 a", "") == (0, 3, missing)
    assert (
        bring(owner, dialog, "message", "small", 1)[2]
        == "Message number 0 of this conversation has not come."
    )
    assert bring(owner, dialog, "fragment 3 9 a", "two") == (0, 6, None)
    # Its sender was restored to an earlier time, and means another message.
    assert bring(owner, dialog, "fragment 6 9 b", "six")[:2] == (0, 0)
    assert bring(owner, dialog, "fragment 0 9 b", "ONE") == (0, 3, None)
    assert bring(owner, dialog, "fragment 3 9 b", "TWO") == (0, 6, None)
    assert bring(owner, dialog, "fragment 6 9 b", "six") == (1, None, None)
    assert bring(owner, dialog, "fragment 6 9 b", "six") == (1, None, None)
    assert bring(owner, dialog, "message", "small", 1) == (2, None, None)
    assert bodies(owner) == ["ONETWOsix", "small"]
    assert kept(owner) == (0,)


def test_a_message_that_no_value_can_hold_keeps_nothing(owner: psycopg.Connection[Any]) -> None:
    dialog = header()
    too_long = "Message number 0 of this conversation is longer than 1 GB."
    assert bring(owner, dialog, f"fragment 0 {2**30} a", "one") == (0, 0, too_long)
    assert kept(owner) == (0,)
    assert bring(owner, dialog, "fragment 0 3 b", "two") == (1, None, None)


def test_fragments_of_a_message_that_never_ends_are_forgotten(owner: psycopg.Connection[Any]) -> None:
    failed, ended, open_one = header(), header(), header()
    for dialog in (failed, ended, open_one):
        assert bring(owner, dialog, "fragment 0 9 a", "one") == (0, 3, None)
    # The sender gives it up.
    assert bring(owner, failed, "error", "<Error/>", 0) == (1, None, None)
    assert kept(owner) == (2,)
    owner.execute(
        "SELECT ssb.end_conversation(conversation_handle) FROM sys.conversation_endpoints"
        " WHERE conversation_id = %s",
        [ended["conversation_id"]],
    )
    owner.execute("SELECT ssb_internal.forget_remote_conversations()")
    assert kept(owner) == (1,)
    assert bring(owner, ended, "fragment 3 9 a", "two")[0] == 1  # nobody reads it
    assert kept(owner) == (1,)
    assert bring(owner, open_one, "fragment 3 6 a", "two")[1] == 0  # of another length: another message
    assert kept(owner) == (0,)
