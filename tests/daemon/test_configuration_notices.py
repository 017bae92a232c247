"""Dynamic routing: the Broker Configuration Notice service is asked for routes and bindings, and obeyed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from instances import FAR, Side
from secured import begin, others_certificate, own_certificate, script

from activation import Daemon, until

pytestmark = pytest.mark.one_postgres

_SERVICE = "SQL/ServiceBroker/BrokerConfiguration"
_CONTRACT = "http://schemas.microsoft.com/SQL/ServiceBroker/BrokerConfigurationNotice"


def serve(side: Side) -> None:
    side.do("SELECT ssb.create_queue('dbo.notices')")
    side.do("SELECT ssb.create_service(%s, 'dbo.notices', %s)", _SERVICE, [_CONTRACT])
    side.do("SELECT ssb.create_route('ToNotices', 'LOCAL', %s)", _SERVICE)


def asked(side: Side) -> list[tuple[str, str, str]]:
    """Handle, kind and body of each notice that has come."""
    rows: list[tuple[str, str, str]] = side.connection.execute(
        "SELECT conversation_handle, message_type_name, convert_from(message_body, 'UTF8')"
        " FROM ssb.receive('dbo.notices', 100)"
    ).fetchall()
    return [(handle, kind.removeprefix(_CONTRACT + "/"), body) for handle, kind, body in rows]


def test_a_service_that_makes_the_route_makes_the_dialog_go_on(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    serve(near)
    near.do("SELECT ssb.create_service('//Here', 'dbo.near_queue', '{//Talk}')")
    near.send(near.begin("//Here"), "//Ask", "nobody is asked for what is here")
    assert near.waiting() == []
    handles = [near.begin("//Far"), near.begin("//Far")]
    for handle in handles:
        near.send(handle, "//Ask", "where are you")
    assert all("asked for a route" in status for status in near.waiting())
    daemons(near)
    daemons(far)
    ((notice, kind, body),) = until(lambda: asked(near))
    assert kind == "MissingRoute"
    assert body == (
        f'<MissingRoute xmlns="{_CONTRACT}/MissingRoute"><SERVICE_NAME>//Far</SERVICE_NAME></MissingRoute>'
    )
    near.do("SELECT ssb.create_route('Found', %s, '//Far')", FAR)
    near.do("SELECT ssb.end_conversation(%s)", notice)
    # Whether a binding is to be had is asked too, whatever ENCRYPTION says. Without one it goes on.
    ((notice, kind, _),) = until(lambda: asked(near))
    assert kind == "MissingRemoteServiceBinding"
    near.do("SELECT ssb.end_conversation(%s, 1, 'none')", notice)
    assert [body for _, _, body in far.receive(2)] == ["where are you"] * 2
    assert asked(near) == []


def test_a_refusal_is_remembered_for_ten_minutes(near: Side, daemons: Callable[..., Daemon]) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    serve(near)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one")
    daemons(near)
    ((notice, _, _),) = until(lambda: asked(near))
    near.send(handle, "//Ask", "two")
    near.do("SELECT ssb.end_conversation(%s, 500, 'nobody knows')", notice)
    until(lambda: all("could not be found" in status for status in near.waiting()))
    near.send(near.begin("//Far"), "//Ask", "three")
    assert all("could not be found" in status for status in near.waiting())
    assert len(near.waiting()) == 3
    assert near.value("SELECT count(*) FROM ssb.configuration_notice WHERE answered_at IS NOT NULL") == 1
    near.do("UPDATE ssb.configuration_notice SET answered_at = answered_at - interval '10 minutes'")
    near.send(near.begin("//Other"), "//Ask", "this wakes the daemon")
    until(lambda: any("//Far" in body for _, _, body in asked(near)))
    until(lambda: all("asked for a route" in status for status in near.waiting()))


@pytest.mark.long
def test_a_service_that_cannot_be_asked_is_one_that_refuses(
    near: Side, daemons: Callable[..., Daemon]
) -> None:
    near.do("SELECT ssb.drop_route('ToFar')")
    serve(near)
    near.do("SELECT ssb.alter_service(%s, drop_contracts => %s)", _SERVICE, [_CONTRACT])
    near.send(near.begin("//Far"), "//Ask", "one")
    daemons(near)
    until(lambda: all("could not be found" in status for status in near.waiting()))
    # Nobody would ever end the dialog that has failed.
    until(lambda: near.value("SELECT count(*) FROM sys.conversation_endpoints WHERE is_system = 1") == 0)


@pytest.mark.long
def test_a_binding_is_asked_for_before_a_dialog_leaves(
    near: Side, far: Side, daemons: Callable[..., Daemon], keys: None, tmp_path: Path
) -> None:
    own_certificate(far, "Far", tmp_path)
    others_certificate(near, "Far", tmp_path)
    script(near, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'")
    script(far, "GRANT SEND ON SERVICE::[//Far] TO public")
    serve(near)
    daemons(near)
    daemons(far)
    near.send(begin(near, "//Far"), "//Ask", "sealed")
    ((notice, kind, body),) = until(lambda: asked(near))
    assert kind == "MissingRemoteServiceBinding"
    assert "<SERVICE_NAME>//Far</SERVICE_NAME>" in body
    until(lambda: any("remote service binding" in status for status in near.waiting()))
    script(near, "CREATE REMOTE SERVICE BINDING b TO SERVICE '//Far' WITH USER = FarThere, ANONYMOUS = ON")
    near.do("SELECT ssb.end_conversation(%s)", notice)
    assert [body for _, _, body in far.receive(1)] == ["sealed"]
