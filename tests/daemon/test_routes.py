"""Routes between two instances: which one a dialog takes, and what it says where there is none."""

from collections.abc import Callable

import psycopg
import pytest
from instances import FAR, NEAR, Side

from activation import Daemon, until


@pytest.mark.one_postgres
def test_a_mirror_is_tried_second(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    near.do(
        "SELECT ssb.create_route('ToFar', 'TCP://gone.example:1', '//Far', %s, mirror_address => %s)",
        far.guid(),
        FAR,
    )
    daemons(near)
    near.send(near.begin("//Far"), "//Ask", "by the mirror")
    assert [body for _, _, body in far.receive(1)] == ["by the mirror"]


@pytest.mark.one_postgres
def test_a_connection_uri_is_an_address(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.alter_route('ToFar', %s)", far.database.dsn)
    daemons(near, addresses={})
    near.send(near.begin("//Far"), "//Ask", "straight")
    assert [body for _, _, body in far.receive(1)] == ["straight"]
    for address in (
        "postgresql://courier:secret@far/db",
        "postgresql://far/db?password=secret",
        "postgresql://far/db?passwor%64=secret",
    ):
        for words in ("%s", "'TCP://a:1', '//Far', 'i', mirror_address => %s"):
            with pytest.raises(psycopg.Error, match="password") as caught:
                near.do(f"SELECT ssb.create_route('r', {words})", address)
            assert "secret" not in str(caught.value)


@pytest.mark.one_postgres
def test_a_host_whose_name_can_be_none_is_told(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.alter_route('ToFar', 'postgresql://a..b/db')")
    running = daemons(near, addresses={})
    near.send(near.begin("//Far"), "//Ask", "later")
    until(lambda: any("no connection URI" in status for status in near.waiting()), 10)
    near.do("SELECT ssb.alter_route('ToFar', %s)", far.database.dsn)
    assert [body for _, _, body in far.receive(1)] == ["later"]
    assert running.messages("internal_error") == []


@pytest.mark.one_postgres
def test_a_transport_route_takes_the_address_from_the_name(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    far.do("SELECT ssb.create_service(%s, 'dbo.far_queue', '{//Talk}')", f"{FAR}/Far")
    near.do("SELECT ssb.create_route('AnyOther', 'TRANSPORT')")
    near.do("SELECT ssb.drop_route('AutoCreatedLocal')")
    daemons(near)
    near.send(near.begin(f"{FAR}/Far"), "//Ask", "by name")
    assert [body for _, _, body in far.receive(1)] == ["by name"]
    near.send(near.begin("//Nowhere"), "//Ask", "lost")
    assert any("No route matches the destination" in status for status in near.waiting())


@pytest.mark.one_postgres
def test_a_route_that_has_expired_is_none(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.alter_route('ToFar', lifetime => 1000)")
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "hello")
    near.do("UPDATE ssb.route SET expires_at = clock_timestamp() WHERE name = 'ToFar'")
    daemons(near)
    until(lambda: any("could not be found" in status for status in near.waiting()))
    near.do("SELECT ssb.alter_route('ToFar', lifetime => 1000)")
    assert [body for _, _, body in far.receive(1)] == ["hello"]
    # It counts for new dialogs only.
    near.do("UPDATE ssb.route SET expires_at = clock_timestamp() WHERE name = 'ToFar'")
    near.send(near.begin("//Far"), "//Ask", "a new one")
    near.send(handle, "//Ask", "an old one")
    assert [body for _, _, body in far.receive(1)] == ["an old one"]


@pytest.mark.one_postgres
def test_the_most_exact_route_counts(near: Side) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    name = "TCP://by.name:1/Far"
    for route, address, service, instance in [
        ("a", "TRANSPORT", None, None),
        ("b", "TCP://any:1", None, None),
        ("c", "TCP://named:1", name, None),
        ("d", "TCP://exact:1", name, "i"),
    ]:
        near.do("SELECT ssb.create_route(%s, %s, %s, %s)", route, address, service, instance)
    found = "SELECT address FROM ssb_internal.find_route(5, %s, %s, NULL, false)"
    assert near.value(found, name, None) == "TCP://named:1"
    assert near.value(found, name, "I") == "TCP://exact:1"
    assert near.value(found, name, "j") == "TCP://named:1"
    # AutoCreatedLocal says as much, but the service is not here.
    assert {near.value(found, "//Other", None) for _ in range(30)} == {"TCP://any:1"}
    near.do("SELECT ssb.drop_route('AutoCreatedLocal')")
    assert near.value(found, "//Other", None) == "TCP://any:1"
    near.do("SELECT ssb.drop_route('b'), ssb.drop_route('c'), ssb.drop_route('d')")
    assert near.value(found, name, None) == "TCP://by.name:1"
    assert near.value(found, "//Other", None) is None


def test_a_change_of_routes_brings_a_dialog_home_until_it_has_left(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    near.do("SELECT ssb.create_service('//Far', 'dbo.near_queue', '{//Talk}')")
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one")
    near.do("SELECT ssb.drop_route('ToFar')")
    assert [body for _, _, body in near.receive(1)] == ["one"]
    near.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
    away = near.begin("//Far")
    near.send(away, "//Ask", "two")
    daemon = daemons(near)
    assert [body for _, _, body in far.receive(1)] == ["two"]
    daemon.broker.stop()
    near.do("SELECT ssb.drop_route('ToFar')")
    near.send(away, "//Ask", "three")
    near.send(handle, "//Ask", "four")
    assert any("could not be found" in status for status in near.waiting())
    assert [body for _, _, body in near.receive(1)] == ["four"]
    near.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
    daemons(near)
    assert [body for _, _, body in far.receive(1)] == ["three"]


@pytest.mark.one_postgres
def test_a_reply_needs_a_route_back(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    far.do("SELECT ssb.drop_route('ToNear')")
    daemons(near)
    daemons(far)
    near.send(near.begin("//Far"), "//Ask", "hello")
    ((there, _, _),) = far.receive(1)
    far.send(there, "//Answer", "where are you")
    assert any("could not be found" in status for status in far.waiting())
    far.do("SELECT ssb.create_route('ToNear', %s, '//Near', %s)", NEAR, near.guid().upper())
    assert [body for _, _, body in near.receive(1)] == ["where are you"]


@pytest.mark.one_postgres
def test_the_broker_instance_is_obeyed(near: Side, far: Side, daemons: Callable[..., Daemon]) -> None:
    daemons(near)
    wrong = near.begin("//Far", broker_instance="11111111-2222-3333-4444-555555555555")
    near.send(wrong, "//Ask", "to nobody")
    near.send(near.begin("//Far", broker_instance=far.guid().upper()), "//Ask", "to you")
    assert [body for _, _, body in far.receive(1)] == ["to you"]
    until(lambda: any("matched a LOCAL route" in status for status in near.waiting()))
    near.do("SELECT ssb.end_conversation(%s)", wrong)
    near.do("SELECT ssb.end_conversation(%s, cleanup => true)", wrong)
    assert near.waiting() == []
