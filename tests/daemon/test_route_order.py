"""Which of several routes a dialog takes, and what a connection must be."""

from collections.abc import Callable

import pytest
from instances import FAR, Side

from activation import Daemon, until
from pgsb.daemon import peer


def route(side: Side, service: str, instance: str | None = None) -> tuple[str, str | None]:
    row = side.connection.execute(
        "SELECT address, mirror_address FROM ssb_internal.find_route(5, %s, %s, NULL, false)",
        [service, instance],
    ).fetchone()
    assert row is not None
    return row


def add(side: Side, name: str, address: str, **options: str) -> None:
    words = "".join(f", {option} => %s" for option in options)
    side.do(f"SELECT ssb.create_route(%s, %s{words})", name, address, *options.values())


def test_local_is_taken_only_where_the_service_is(near: Side) -> None:
    """A LOCAL route and one that leads away, both for the name: today's service here, tomorrow's there."""
    add(near, "a", "LOCAL", service_name="//Both")
    add(near, "b", "TCP://one:4022", service_name="//Both")
    assert {route(near, "//Both") for _ in range(20)} == {("TCP://one:4022", None)}
    near.do("SELECT ssb.create_service('//Both', 'dbo.near_queue')")
    assert {route(near, "//Both") for _ in range(20)} == {("LOCAL", None)}
    # Of an instance that the dialog names: one without it here.
    assert route(near, "//Both", "11111111-1111-1111-1111-111111111111") == ("TCP://one:4022", None)


def test_a_route_with_the_name_and_the_instance_says_most(near: Side) -> None:
    one, two = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
    add(near, "a", "TCP://any:4022", service_name="//S")
    add(near, "b", "TCP://one:4022", service_name="//S", broker_instance=one)
    assert route(near, "//S", one) == ("TCP://one:4022", None)
    assert route(near, "//S", two) == ("TCP://any:4022", None)
    assert route(near, "//S") == ("TCP://any:4022", None)
    near.do("SELECT ssb.drop_route('a')")
    # No route for this instance, but the one of every name: which is here.
    assert route(near, "//S", two) == ("LOCAL", None)
    assert route(near, "//S") == ("TCP://one:4022", None)


def test_several_share_new_dialogs_and_a_mirror_comes_first(near: Side) -> None:
    add(near, "a", "TCP://one:4022", service_name="//S")
    add(near, "b", "TCP://two:4022", service_name="//S")
    assert {route(near, "//S")[0] for _ in range(60)} == {"TCP://one:4022", "TCP://two:4022"}
    instance = "11111111-1111-1111-1111-111111111111"
    add(
        near, "c", "TCP://p:4022", service_name="//S", broker_instance=instance, mirror_address="TCP://m:4022"
    )
    add(near, "d", "TCP://q:4022", service_name="//S", broker_instance=instance)
    assert {route(near, "//S", instance) for _ in range(20)} == {("TCP://p:4022", "TCP://m:4022")}


def test_transport_is_last_but_for_local_without_the_service(near: Side) -> None:
    add(near, "t", "TRANSPORT")
    assert route(near, "TCP://there:4022/Service") == ("TCP://there:4022", None)
    assert route(near, "//Plain") == ("LOCAL", None)
    near.do("SELECT ssb.create_service('TCP://there:4022/Service', 'dbo.near_queue')")
    assert route(near, "TCP://there:4022/Service") == ("LOCAL", None)


def test_a_service_that_is_elsewhere_is_reached_beside_a_local_route_of_its_name(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """It was a matter of chance, and half the messages stayed for ever."""
    add(near, "local", "LOCAL", service_name="//Far")
    daemons(near)
    for number in range(8):
        near.send(near.begin("//Far"), "//Ask", str(number))
    assert {body for _, _, body in far.receive(8)} == {str(number) for number in range(8)}
    assert near.waiting() == []


def test_an_endpoint_that_requires_encryption_sends_nothing_without_tls(
    near: Side, far: Side, daemons: Callable[..., Daemon], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken for a connection through the network: the socket's address is hidden from the transport."""
    looked = peer.lack_of_encryption

    async def over_the_network(near_side: object, far_side: object, address: str) -> str | None:
        class Far:
            pgconn = type("", (), {"ssl_in_use": False})
            info = type("", (), {"host": "192.0.2.1"})

        return await looked(near_side, Far(), address)  # type: ignore[arg-type]

    monkeypatch.setattr(peer, "lack_of_encryption", over_the_network)
    daemons(near)
    near.send(near.begin("//Far"), "//Ask", "hello")
    until(lambda: any("has no TLS" in status for status in near.waiting()), 20)
    assert far.value("SELECT count(*) FROM ssb.message_stored") == 0
    near.do("SELECT ssb.alter_endpoint('BrokerEndpoint', encryption => 'SUPPORTED')")
    assert [body for _, _, body in far.receive(1)] == ["hello"]
    assert FAR in near.column("SELECT address FROM ssb.transport_connection")
