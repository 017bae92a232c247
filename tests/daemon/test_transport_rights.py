"""Who may bring messages from another instance, and what such a role can do with that, and cannot."""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from end_to_end.tsql import Tsql

from pgsb.daemon.config import find_addresses, parse_address, read_addresses
from pgsb.server.problems import ServerError
from support import Database

_SERVICE = """
SELECT ssb.create_message_type('//Ask');
SELECT ssb.create_contract('//Talk', '{//Ask}', '{ANY}');
SELECT ssb.create_queue('dbo.q');
SELECT ssb.create_service('//Open', 'dbo.q', '{//Talk}');
SELECT ssb.create_service('//Closed', 'dbo.q', '{//Talk}');
SELECT ssb.create_endpoint('BrokerEndpoint', 'STARTED', 4022);
"""
_UNKNOWN = "The message has a number or is of a kind that is not known here."
_ERROR = (
    b'<Error xmlns="http://schemas.microsoft.com/SQL/ServiceBroker/Error"><Code>%s</Code>'
    b"<Description>%s</Description></Error>"
)
_TAKE = (
    "SELECT next_number, status, refusal_code FROM ssb.take_from_afar(%s::jsonb, %s::integer[], %s::bigint[],"
    " %s::text[], %s::text[], %s::bytea[])"
)


@pytest.fixture
def owner(database: Database) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(_SERVICE)
        connection.execute("CREATE ROLE courier LOGIN; CREATE ROLE rival LOGIN")
        yield connection
        connection.execute("DROP OWNED BY courier, rival CASCADE; DROP ROLE courier; DROP ROLE rival")


@pytest.fixture
def login(database: Database, owner: object) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    opened: list[psycopg.Connection[Any]] = []

    def open_one(role: str) -> psycopg.Connection[Any]:
        opened.append(psycopg.connect(database.dsn, autocommit=True, user=role))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


class Dialog:
    """What a courier says of one dialog that its own instance has begun."""

    def __init__(self, to: str = "//Open", key: str | None = None, conversation: str | None = None) -> None:
        self.header = {
            "conversation_id": conversation or str(uuid.uuid4()),
            "is_initiator": True,
            "key": key or str(uuid.uuid4()),
            "to_service": to,
            "to_instance": None,
            "from_service": "//Afar",
            "from_instance": str(uuid.uuid4()),
            "contract": "//Talk",
            "lifetime": None,
            "is_encrypted": False,
        }

    def bring(self, by: psycopg.Connection[Any], *numbers: int, kind: str | None = "message") -> Any:
        count = len(numbers)
        values = [json.dumps([self.header]), [0] * count, list(numbers), ["//Ask"] * count, [kind] * count]
        return by.execute(_TAKE, [*values, [f"{number}".encode() for number in numbers]]).fetchone()


def bodies(owner: psycopg.Connection[Any]) -> list[str]:
    return [
        row[0]
        for row in owner.execute(
            "SELECT convert_from(message_body, 'UTF8') FROM dbo.q ORDER BY queuing_order"
        )
    ]


def test_connect_on_the_endpoint_lets_a_role_in_and_send_on_a_service_through(
    owner: psycopg.Connection[Any], login: Callable[[str], psycopg.Connection[Any]]
) -> None:
    courier = login("courier")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="CONNECT"):
        Dialog().bring(courier, 0)
    # On the database it is another right.
    owner.execute("SELECT ssb.grant_permission('{CONNECT}', 'DATABASE', NULL, '{courier}')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="CONNECT"):
        Dialog().bring(courier, 0)
    owner.execute("SELECT ssb.grant_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier}')")
    _, status, _ = Dialog().bring(courier, 0)
    assert "permission" in status
    owner.execute("SELECT ssb.grant_permission('{SEND}', 'SERVICE', '//Open', '{courier}')")
    assert Dialog().bring(courier, 0, 1) == (2, None, None)
    assert "permission" in Dialog("//Closed").bring(courier, 0)[1]
    owner.execute("SELECT ssb.grant_permission('{SEND}', 'SERVICE', '//Closed', '{public}')")
    assert Dialog("//Closed").bring(courier, 0) == (1, None, None)
    owner.execute("SELECT ssb.deny_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier}')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match=r"CONNECT permission on .* State 84"):
        Dialog().bring(courier, 0)
    owner.execute("SET default_transaction_read_only = on")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction, match="a standby, or set to be read only"):
        owner.execute("SELECT ssb_internal.take_sealed(gen_random_uuid(), '[]', '{}', '{}', '{}', '{}')")
    owner.execute("RESET default_transaction_read_only")
    owner.execute("SELECT ssb.alter_endpoint('BrokerEndpoint', 'DISABLED')")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="not started"):
        Dialog().bring(owner, 0)


def test_a_set_that_no_daemon_makes_is_refused_at_once(owner: psycopg.Connection[Any]) -> None:
    header = Dialog().header
    few: list[Any] = [[header], [0], [0], ["//Ask"], ["message"], [b"x"]]
    for at, too_much in (
        (0, [header] * 10_001),
        (1, [0] * 10_001),
        (2, list(range(10_001))),
        (3, ["//Ask"] * 10_001),
        (4, ["message"] * 10_001),
        (5, [b""] * 10_001),
        (5, [b"x" * 2**24] * 2),
    ):
        said = [*few[:at], too_much, *few[at + 1 :]]
        with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="none that a daemon makes"):
            owner.execute(_TAKE, [json.dumps(said[0]), *said[1:]])
    assert bodies(owner) == []
    # A daemon that does not know of fragments sends a large body as it is.
    assert owner.execute(_TAKE, [json.dumps(few[0]), *few[1:5], [b"x" * 2**25]]).fetchone() == (1, None, None)


@pytest.mark.parametrize(
    ("sets", "bodies_of_one"),
    [(1000, "'{x}'"), (9, "ARRAY[decode(repeat('00', 30 * 1048576), 'hex')]")],
    ids=["many", "large"],
)
def test_sealed_sets_of_one_sender_that_wait_are_limited(
    owner: psycopg.Connection[Any],
    login: Callable[[str], psycopg.Connection[Any]],
    sets: int,
    bodies_of_one: str,
) -> None:
    """He alone is refused, and brings the next one when some of his are opened."""
    owner.execute("SELECT ssb.grant_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier,rival}')")
    # As a daemon that is busy.
    owner.execute("SELECT pg_advisory_lock_shared(ssb_internal.transport_lock())")
    owner.execute(
        "INSERT INTO ssb.sealed_set (set_id, sender, dialogs, places, numbers, bodies, exchanges)"
        f" SELECT gen_random_uuid(), 'courier', '[]', '{{}}', '{{}}', b.bodies, '{{}}'"
        f" FROM (SELECT {bodies_of_one}::bytea[] AS bodies) AS b CROSS JOIN generate_series(1, %s)",
        [sets],
    )
    courier = login("courier")
    bring = "SELECT ssb_internal.take_sealed(gen_random_uuid(), '[{}]', '{0}', '{0}', '{x}', '{}')"
    with pytest.raises(
        psycopg.errors.ConfigurationLimitExceeded, match=f'{sets} sets .* which "courier" has brought, wait'
    ):
        courier.execute(bring)
    assert login("rival").execute(bring).fetchone() == ([],)
    owner.execute(
        "DELETE FROM ssb.sealed_set WHERE set_id = (SELECT min(set_id::text)::uuid FROM ssb.sealed_set"
        " WHERE sender = 'courier')"
    )
    assert courier.execute(bring).fetchone() == ([],)


def test_nobody_else_speaks_in_a_conversation(
    owner: psycopg.Connection[Any], login: Callable[[str], psycopg.Connection[Any]]
) -> None:
    owner.execute("SELECT ssb.grant_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier,rival}')")
    owner.execute("SELECT ssb.grant_permission('{SEND}', 'SERVICE', '//Open', '{courier,rival}')")
    dialog = Dialog()
    assert dialog.bring(login("courier"), 0) == (1, None, None)
    rival = login("rival")
    seen = rival.execute("SELECT conversation_id::text FROM sys.conversation_endpoints").fetchone()
    assert seen == (dialog.header["conversation_id"],)
    for kind in ("message", "end", "error"):
        next_number, status, _ = Dialog(conversation=seen[0]).bring(rival, 1, kind=kind)
        assert next_number == 0
        assert "does not come from the instance" in status
    assert bodies(owner) == ["0"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        rival.execute("SELECT session_key FROM ssb.remote_conversation")
    for function in (
        "transport_peers('{}')",
        "follow_routes('')",
        "next_set(1, NULL, 1, 1, 1, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "settle_sent('[]')",
        "settle_taken('{}', '{}', '{}', NULL)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rival.execute(f"SELECT ssb_internal.{function}")


@pytest.mark.parametrize(
    "body",
    [
        None,
        b"",
        b"no XML",
        b"\xff\xfe<\x00",
        b"<Error><Code>1</Code></Error>",
        _ERROR % (b"one", b"x"),
        _ERROR % (b"99999999999", b"x"),
        _ERROR % (b"5", b"\x01"),
        _ERROR % (b"5", b"&x;"),
    ],
)
def test_an_error_that_is_none_is_replaced_by_one_that_says_so(
    owner: psycopg.Connection[Any], body: bytes | None
) -> None:
    """Programs make XML of it: each try failed, and poison handling disabled the queue."""
    assert b"<Code>-9615</Code><Description>A message of type 'http" in brought_error(owner, body)


@pytest.mark.parametrize(
    "body",
    [_ERROR % (b"5", b"a &lt; b"), b"\xff\xfe" + (_ERROR % (b"-5", b"")).decode().encode("utf-16-le")],
    ids=["utf-8", "utf-16"],
)
def test_an_error_comes_as_it_was_sent(owner: psycopg.Connection[Any], body: bytes) -> None:
    assert brought_error(owner, body) == body


def brought_error(owner: psycopg.Connection[Any], body: bytes | None) -> bytes:
    """What is on the queue after an Error with this body has come from another instance."""
    dialog = Dialog()
    assert dialog.bring(owner, 0) == (1, None, None)
    taken = owner.execute(
        _TAKE, (json.dumps([dialog.header]), [0], [1], [None], ["error"], [body])
    ).fetchone()
    assert taken == (2, None, None)
    found = owner.execute(
        "SELECT message_body FROM dbo.q WHERE message_type_name LIKE '%/Error'"
        " AND sys.xml_is_well_formed(message_body)"
    ).fetchall()
    assert len(found) == 1
    return bytes(found[0][0])


def test_the_user_of_a_remote_service_binding_brings_the_replies(
    owner: psycopg.Connection[Any], login: Callable[[str], psycopg.Connection[Any]]
) -> None:
    owner.execute("SELECT ssb.grant_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier,rival}')")
    owner.execute("SELECT ssb.create_route('r', 'TCP://afar:4022', '//Afar')")
    owner.execute("SELECT ssb.create_remote_service_binding('b', '//Afar', 'courier')")
    owner.execute("SELECT ssb.send(ssb.begin_dialog('//Open', '//Afar', '//Talk'), '//Ask', 'x'::text)")
    row = owner.execute(
        "SELECT conversation_id::text, session_key::text FROM ssb.remote_conversation"
    ).fetchone()
    assert row is not None
    reply = Dialog(conversation=row[0], key=row[1])
    reply.header["is_initiator"] = False
    assert "remote service binding" in reply.bring(login("rival"), 0)[1]
    assert reply.bring(login("courier"), 0) == (1, None, None)
    assert bodies(owner) == ["0"]


def test_what_comes_twice_is_taken_once_and_a_gap_is_not_taken(owner: psycopg.Connection[Any]) -> None:
    dialog = Dialog()
    assert "dropped" in dialog.bring(owner, 1)[1]
    assert dialog.bring(owner, 0, 1) == (2, None, None)
    assert dialog.bring(owner, 0, 1) == (2, None, None)
    assert dialog.bring(owner, 1, 2) == (3, None, None)
    next_number, status, _ = dialog.bring(owner, 4)
    assert next_number == 3
    assert "number 3" in status
    # A gap that is filled with what does not count: what has come, another dialog's message, no number.
    other = json.dumps([dialog.header, Dialog().header])
    for places, numbers in (([0, 0, 0], [3, 1, 5]), ([0, 1, 0], [3, 0, 5]), ([0, 0, 0], [3, None, 5])):
        values = [other, places, numbers, ["//Ask"] * 3, ["message"] * 3, [b"3", b"x", b"5"]]
        owner.execute("BEGIN")
        answers = dict(owner.execute(_TAKE.replace("status, refusal_code", "status"), values).fetchall())
        owner.execute("ROLLBACK")
        assert 6 not in answers, (places, numbers)
    assert bodies(owner) == ["0", "1", "2"]
    # The sender has thrown number 3 away for an Error.
    assert dialog.bring(owner, 5, kind="error") == (6, None, None)
    assert dialog.bring(owner, 4, kind="error") == (6, None, None)
    # Nothing comes behind it, and nothing else is.
    for kind in ("", "Message", "fragment", "fragment -1 5 x", "fragment 0 99999999999999999999 x", None):
        assert dialog.bring(owner, 6, kind=kind)[:2] == (6, _UNKNOWN)
    assert dialog.bring(owner, 6, 7) == (8, None, None)
    assert dialog.bring(owner, 8, kind="fragment 0 5 x") == (9, None, None)
    kinds = owner.execute("SELECT message_type_name FROM dbo.q ORDER BY queuing_order").fetchall()
    assert [kind.rsplit("/", 1)[1] for (kind,) in kinds] == ["Ask", "Ask", "Ask", "Error"]
    # Also after this side has ended, and its endpoint has gone.
    owner.execute("SELECT ssb.end_conversation(conversation_handle) FROM sys.conversation_endpoints")
    assert dialog.bring(owner, 0, 1) == (9, None, None)
    owner.execute("SELECT ssb_internal.remove_endpoint(e) FROM ssb.conversation_endpoint AS e")
    assert dialog.bring(owner, 0, 1, 2) == (9, None, None)
    assert bodies(owner) == []
    owner.execute("SELECT ssb_internal.forget_remote_conversations()")
    assert owner.execute("SELECT count(*) FROM ssb.remote_conversation").fetchone() == (1,)
    owner.execute("UPDATE ssb.remote_conversation SET taken_at = now() - interval '2 days'")
    owner.execute("SELECT ssb_internal.forget_remote_conversations()")
    assert owner.execute("SELECT count(*) FROM ssb.remote_conversation").fetchone() == (0,)


def test_messages_do_not_wait_for_a_group_that_is_in_use(
    database: Database, owner: psycopg.Connection[Any]
) -> None:
    dialog = Dialog()
    dialog.bring(owner, 0)
    with psycopg.connect(database.dsn) as reader:
        assert len(reader.execute("SELECT message_body FROM ssb.receive('dbo.q')").fetchall()) == 1
        owner.execute("SET lock_timeout = '2s'")
        assert dialog.bring(owner, 1) == (2, None, None)
        assert dialog.bring(owner, 2, kind="end") == (3, None, None)
        kinds = reader.execute("SELECT message_type_name FROM ssb.receive('dbo.q')").fetchall()
        assert [kind.rsplit("/", 1)[1] for (kind,) in kinds] == ["Ask", "EndDialog"]
        reader.execute("SELECT ssb.end_conversation(conversation_handle) FROM sys.conversation_endpoints")


def test_only_the_runtimes_owner_sends_the_daemon_to_a_connection_uri(
    owner: psycopg.Connection[Any], login: Callable[[str], psycopg.Connection[Any]]
) -> None:
    owner.execute("SELECT ssb.grant_permission('{CREATE ROUTE}', 'DATABASE', NULL, '{courier}')")
    courier = login("courier")
    courier.execute("SELECT ssb.create_route('r', 'TCP://afar:4022', '//Afar')")
    with pytest.raises(psycopg.Error, match="owner of the runtime"):
        courier.execute("SELECT ssb.create_route('s', 'postgresql://afar/db', '//Afar')")
    owner.execute("SELECT ssb.create_route('s', 'postgresql://afar/db', '//Afar')")


def test_msdb_tells_which_services_are_for_outsiders(owner: psycopg.Connection[Any]) -> None:
    owner.execute("SELECT ssb.create_route('elsewhere', 'TCP://farther:4022', '//Open', database => 'msdb')")
    assert Dialog().bring(owner, 0)[1] == (
        "Could not forward the message because forwarding is disabled in this SQL Server instance."
    )
    assert Dialog("//Closed").bring(owner, 0) == (1, None, None)


def test_an_endpoint_is_not_changed_in_a_transaction(database: Database) -> None:
    session = Tsql(database.dsn)
    options = "AS TCP (LISTENER_PORT = 4022) FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS)"
    try:
        for statement in (
            f"CREATE ENDPOINT e {options}",
            f"ALTER ENDPOINT e {options}",
            "DROP ENDPOINT e",
        ):
            session.run(f"BEGIN TRANSACTION\nGO\n{statement}\nGO\nROLLBACK")
            assert [error.number for error in session.errors] == [226]
            session.errors.clear()
            session.run_well(statement)
        # A certificate is a user's: no login's that is none.
        session.run(
            "CREATE LOGIN someone WITH PASSWORD = 'x'\nGO\nUSE master\nGO\n"
            "CREATE CERTIFICATE c AUTHORIZATION someone WITH SUBJECT = 'x'"
        )
        assert [error.number for error in session.errors] == [15151]
    finally:
        session.close()


def test_addresses_are_read_and_no_password_is_repeated(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parse_address("TCP://Host:4022=host=x dbname=y") == ("tcp://host:4022", "host=x dbname=y")
    for wrong in (
        "Host:4022=host=x",
        "TCP://Host:4022=postgresql://u:secret@[/x",
        "TCP://Host:4022=postgresql://u:secret@a..b/x",
        "TCP://Host:4022=secret",
        "x",
    ):
        with pytest.raises(ServerError) as caught:
            parse_address(wrong)
        assert "secret" not in str(caught.value)
    file = tmp_path / "addresses.toml"
    file.write_text('[addresses]\n"TCP://A:1/" = "host=a"\n"TCP://b" = "host=b"\n')
    assert read_addresses(file) == {"tcp://a:1": "host=a", "tcp://b": "host=b"}
    monkeypatch.setenv("PGSB_ADDRESSES", str(file))
    assert find_addresses(["TCP://b=host=c"], []) == {"tcp://a:1": "host=a", "tcp://b": "host=c"}
    for text in ("[programs]\na = 'b'", '[addresses]\n"a" = "host=a"', '[addresses]\n"TCP://a:1" = 1', "["):
        file.write_text(text)
        with pytest.raises(ServerError):
            read_addresses(file)
