"""Dialogs between instances that are secured: fully, anonymously or not at all; and attacks on them."""

import asyncio
import json
import struct
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from instances import END, Side
from secured import begin, others_certificate, own_certificate, script

from activation import Daemon
from activation import until as until_at_last
from pgsb.daemon.dialog_security import DialogSecurity, PairKey
from pgsb.daemon.peer import Peer, Sent
from pgsb.daemon.sealed_arrivals import ArrivedBlock, Opened, require_whole
from pgsb.daemon.sealed_sets import SealedBlock, SealedSet, divided
from pgsb.daemon.transport_sets import MESSAGES, MOST_MESSAGES, Run, json_of, placed
from pgsb.daemon.transport_sets import Side as SealedSide
from pgsb.daemon.transport_values import NULL, RawBigints, RawTexts, array_of, cut, element, loaded
from pgsb.security.certificates import public_key_of, read_certificate
from pgsb.security.dialogs import (
    Answer,
    Contents,
    NotGenuine,
    PairCipher,
    make_exchange,
    open_exchange,
    read_exchange,
    require_current,
)
from pgsb.security.keys import new_key

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.one_postgres]

_BINDING = "Dialog security is not available for this conversation because there is no remote service binding"


def until(condition: Callable[[], Any]) -> Any:
    return until_at_last(condition, 20)


@pytest.fixture
def travelled(far: Side) -> Iterator[Side]:
    """Keeps each set of sealed messages that reaches the far instance, as its server sees it."""
    far.do("CREATE TABLE dbo.travelled AS SELECT * FROM ssb.sealed_set WITH NO DATA")
    far.do(
        "CREATE FUNCTION dbo.keep() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN INSERT INTO dbo.travelled SELECT NEW.*; RETURN NULL; END$$"
    )
    far.do("CREATE TRIGGER keep AFTER INSERT ON ssb.sealed_set FOR EACH ROW EXECUTE FUNCTION dbo.keep()")
    yield far


def test_nothing_leaves_in_the_clear_without_a_binding(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    """No certificate, no binding, no master key: the message waits, and says for what."""
    daemons(near)
    daemons(far)
    near.send(begin(near, "//Far"), "//Ask", "secret")
    until(lambda: any(_BINDING in status for status in near.waiting()))
    # One that need not be encrypted goes.
    near.send(near.begin("//Far", encryption=False), "//Ask", "open")
    assert [body for _, _, body in far.receive(1)] == ["open"]
    assert far.value("SELECT count(*) FROM sys.conversation_endpoints") == 1
    until(lambda: len(near.waiting()) == 1)


@pytest.mark.long
def test_full_security_both_ways(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], travelled: Side
) -> None:
    daemons(near)
    daemons(far)
    handle = begin(near, "//Far")
    near.send(handle, "//Ask", "secret one", "secret two")
    got = far.receive(2)
    assert [(kind, body) for _, kind, body in got] == [("//Ask", "secret one"), ("//Ask", "secret two")]
    there = got[0][0]
    until(lambda: near.waiting() == [])
    far.send(there, "//Answer", "secret three")
    assert near.receive(1) == [(handle, "//Answer", "secret three")]
    until(lambda: far.waiting() == [])
    far.do("SELECT ssb.end_conversation(%s)", there)
    assert near.receive(1) == [(handle, END, None)]
    near.do("SELECT ssb.end_conversation(%s)", handle)
    assert near.states() == []
    # On the wire: neither bodies, nor message types, in any form.
    came = far.column("SELECT array_to_string(bodies, '', '') || dialogs::text FROM dbo.travelled")
    assert came
    for word in ("secret", b"secret".hex(), "//Ask", b"//Ask".hex()):
        assert all(word not in one for one in came)
    # Each side has made a key, told the other one, and nothing of it lies there in the clear.
    for side in (near, far):
        assert side.column("SELECT is_outbound FROM ssb.dialog_key ORDER BY 1") == [False, True]
    row = far.connection.execute(
        "SELECT e.inbound_session_key_identifier <> e.outbound_session_key_identifier, p.name, q.name"
        " FROM sys.conversation_endpoints AS e"
        " JOIN sys.database_principals AS p ON p.principal_id = e.principal_id"
        " JOIN sys.database_principals AS q ON q.principal_id = e.far_principal_id"
    ).fetchone()
    assert row == (True, "Far", "NearThere")


def test_the_forms_of_a_database_change_nothing_that_crosses(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    """extra_float_digits made 2033 of the moment at which a key was made, and whole hours of a lifetime."""
    for side in (near, far):
        name = side.value("SELECT quote_ident(current_database())")
        for setting in (
            "extra_float_digits = -15",
            "DateStyle = 'SQL, DMY'",
            "IntervalStyle = 'sql_standard'",
            "TimeZone = 'Asia/Kathmandu'",
            "bytea_output = 'escape'",
        ):
            side.do(f"ALTER DATABASE {name} SET {setting}")
        daemons(side)
    sealed = begin(near, "//Far", lifetime=3400)
    plain = near.begin("//Far", encryption=False, lifetime=3400)
    for handle, body in ((sealed, "secret"), (plain, "open")):
        near.send(handle, "//Ask", body)
        assert [got for _, _, got in far.receive(1)] == [body]
    lives = far.column("SELECT date_part('epoch', lifetime - now()) FROM ssb.conversation_endpoint")
    assert lives == pytest.approx([3400, 3400], abs=60)


def test_what_a_set_has_of_a_pair_is_told_in_its_order(near: Side, far: Side, full: None) -> None:
    """So it is sealed as it stands, and the set's dialogs are not named twice."""
    handles = [begin(near, "//Far", lifetime=1000 + number) for number in range(12)]
    with near.connection.transaction():
        for handle in (*reversed(handles), *handles[:3]):
            near.send(handle, "//Ask", "x")
    row = near.connection.execute(
        "SELECT s.endpoints, s.sides, s.conversation_ids, s.keys, s.contracts, s.lifetimes, s.dialogs"
        " FROM ssb.transport_peer AS p CROSS JOIN LATERAL ssb_internal.next_set(p.peer_id, NULL, 500,"
        " 1000000, 500000, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) AS s"
    ).fetchone()
    assert row is not None
    endpoints, (side,), conversations, keys, contracts, lifetimes, dialogs = row
    assert endpoints == sorted(endpoints)
    assert side["endpoints"] is None  # the set's
    expected = near.connection.execute(
        "SELECT e.conversation_id, r.session_key FROM ssb.conversation_endpoint AS e"
        " JOIN ssb.remote_conversation AS r ON r.endpoint_id = e.endpoint_id ORDER BY e.endpoint_id"
    ).fetchall()
    assert list(zip(conversations, keys, strict=True)) == expected
    assert contracts == ["//Talk"] * 12
    assert [round(one) - 1000 for one in lifetimes] == pytest.approx(range(12), abs=3)
    told = {name: side[name] for name in ("is_initiator", "to_service", "to_instance", "from_service")}
    assert told == {
        "is_initiator": True,
        "to_service": "//Far",
        "to_instance": None,
        "from_service": "//Near",
    }
    assert side["from_instance"] == near.guid()
    # What may not leave in the clear is not even read for that.
    assert "//Talk" not in dialogs
    assert all(str(key) not in dialogs for key in keys)


@pytest.mark.one_postgres
def test_dialogs_of_pairs_that_take_turns_are_told_in_their_order(near: Side) -> None:
    """They were sorted by the pairs, which is dearer than all else that is looked up of them."""
    near.do("SELECT ssb.create_route('ToSecond', 'TCP://far.example:4022', '//Second')")
    for number in range(120):
        near.send(near.begin(("//Far", "//Second")[number * number % 7 % 2]), "//Ask", "x")
    told = near.connection.execute(
        "SELECT s.to_service, s.endpoints FROM ssb.transport_peer AS p"
        " CROSS JOIN (SELECT array_agg(r.endpoint_id ORDER BY r.endpoint_id) AS endpoints"
        " FROM ssb.remote_conversation AS r) AS r"
        " CROSS JOIN LATERAL ssb_internal.secure_dialogs(r.endpoints, p.peer_id) AS s"
    ).fetchall()
    assert {service for service, _ in told} == {"//Far", "//Second"}
    assert sum(len(endpoints) for _, endpoints in told) == 120
    assert all(endpoints == sorted(endpoints) for _, endpoints in told)


@pytest.mark.long
def test_dialogs_of_several_pairs_go_in_one_set(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], travelled: Side
) -> None:
    """Two that are secured, each a block, and one in the clear between them."""
    for service in ("//Second", "//Open"):
        far.do("SELECT ssb.create_service(%s, 'dbo.far_queue', '{//Talk}')", service)
        near.do("SELECT ssb.create_route(%s, 'TCP://far.example:4022', %s)", f"To{service}", service)
    script(far, "ALTER AUTHORIZATION ON SERVICE::[//Second] TO Far")
    script(far, "GRANT SEND ON SERVICE::[//Second] TO NearThere; GRANT SEND ON SERVICE::[//Open] TO public")
    script(near, "CREATE REMOTE SERVICE BINDING Also TO SERVICE '//Second' WITH USER = FarThere")
    services = ["//Far", "//Second", "//Open"] * 4
    handles = [near.begin(service, encryption=service != "//Open") for service in services]
    bodies = [[f"{at} {number}" for number in range(1 + at % 3)] for at in range(len(handles))]
    with near.connection.transaction():
        for handle, those in zip(handles, bodies, strict=True):
            near.send(handle, "//Ask", *those)
    daemons(far)
    until(lambda: far.value("SELECT ssb_internal.has_transport_daemon()"))
    daemons(near)
    got: dict[Any, list[str | None]] = {}
    for handle, _, body in far.receive(sum(map(len, bodies))):
        got.setdefault(handle, []).append(body)
    assert sorted(map(str, got.values())) == sorted(map(str, bodies))
    until(lambda: near.waiting() == [])
    found = far.connection.execute(
        "SELECT s.name, r.security, count(*) FROM ssb.remote_conversation AS r"
        " JOIN ssb.service AS s ON s.service_id = r.service_id GROUP BY 1, 2 ORDER BY 1"
    ).fetchall()
    assert found == [("//Far", "F", 4), ("//Open", "N", 4), ("//Second", "F", 4)]
    blocks = far.value("SELECT dialogs FROM dbo.travelled ORDER BY came_at LIMIT 1")
    assert sorted((one["to_service"], len(one["conversation_ids"])) for one in blocks) == [
        ("//Far", 4),
        ("//Second", 4),
    ]


@pytest.mark.parametrize("is_traced", [False, True])
def test_traces_travel_beside_the_sealed_messages_that_they_are_of(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], is_traced: bool
) -> None:
    spans: list[Any] = []
    options = {"spans": spans.append} if is_traced else {}
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    handles = [begin(near, "//Far") for _ in range(3)]
    with near.connection.transaction():
        for handle in handles:
            near.send(handle, "//Ask", "plain")
        near.do("SELECT ssb.set_trace_context(%s, 'x=1')", parent)
        near.send(handles[1], "//Ask", "traced")
        near.do("SELECT ssb.set_trace_context(NULL)")
        near.send(handles[2], "//Ask", "plain")
    daemons(far, **options)
    daemons(near, **options)
    until(lambda: near.waiting() == [])
    found = far.connection.execute(
        "SELECT convert_from(m.body, 'UTF8'), t.traceparent, t.tracestate FROM ssb.message_stored AS m"
        " LEFT JOIN ssb.message_trace AS t"
        " ON (t.endpoint_id, t.queuing_order) = (m.endpoint_id, m.queuing_order)"
    ).fetchall()
    assert sorted(body for body, _, _ in found) == ["plain"] * 4 + ["traced"]
    ((body, arrived, state),) = [one for one in found if one[1] is not None]
    assert (body, arrived[:35], state) == ("traced", parent[:35], "x=1")
    assert (arrived == parent) != is_traced
    assert [one.name for one in spans] == ["transport TCP://far.example:4022"] * is_traced


@pytest.mark.long
def test_sealed_sets_grow_as_long_as_they_are_answered(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], travelled: Side
) -> None:
    handle = begin(near, "//Far")
    near.send(handle, "//Ask", *["x"] * 3500)
    daemons(far)
    until(lambda: far.value("SELECT ssb_internal.has_transport_daemon()"))
    daemons(near)
    until(lambda: near.waiting() == [])
    sizes = far.column("SELECT cardinality(numbers) FROM dbo.travelled ORDER BY came_at")
    assert sizes == [500, 1000, 2000]


def test_sealed_sets_are_small_again_when_an_answer_is_late() -> None:
    settled: list[Any] = []

    async def settle(answers: Any) -> None:
        settled.append(answers)

    class Silent:
        async def execute(self, *_: Any) -> "Silent":
            return self

        async def fetchall(self) -> list[Any]:
            return []

    one = Peer(1, "TCP://far:4022", None, far=cast(Any, Silent()), set_messages=MOST_MESSAGES)
    one.sent[uuid.uuid4()] = Sent({0: 7}, settle, None, sent_at=time.monotonic() - 60)
    asyncio.run(one.listen(may_wait=False))
    assert one.set_messages == MESSAGES
    assert [list(answers) for answers in settled] == [[7]]


@pytest.mark.long
def test_anonymous_security_uses_the_initiators_key(
    near: Side, far: Side, daemons: Callable[..., Daemon], tmp_path: Path, travelled: Side
) -> None:
    own_certificate(far, "Far", tmp_path)
    others_certificate(near, "Far", tmp_path)
    script(near, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'")
    script(near, "CREATE REMOTE SERVICE BINDING b TO SERVICE '//Far' WITH USER = FarThere, ANONYMOUS = ON")
    daemons(near)
    daemons(far)
    # A binding forces encryption, whatever BEGIN DIALOG says.
    handle = begin(near, "//Far", encryption=False)
    near.send(handle, "//Ask", "who am I?")
    until(lambda: any("permission to access" in status for status in near.waiting()))
    script(far, "GRANT SEND ON SERVICE::[//Far] TO public")
    ((there, _, _),) = far.receive(1)
    # Who has seen everything on its way, and may send anonymously under a key of his own, does not take part.
    header = travelled.value("SELECT dialogs -> 0 FROM dbo.travelled ORDER BY came_at DESC LIMIT 1")
    der = bytes(far.value("SELECT der FROM ssb.certificate"))
    public = public_key_of(read_certificate(der))
    key_id, key, exchange, _ = make_exchange("//Near", "//Far", (sha256(der).hexdigest(), public), None)
    header |= {"key_id": str(key_id)}
    forged = Contents(
        *(element(uuid.UUID(header["conversation_ids"][0]).bytes), element(uuid.uuid4().bytes)),
        *(element(b"//Talk"), NULL, element(b"//Ask"), element(b"message"), element(b"forged")),
    )
    cipher = PairCipher(key_id, key, True)
    nonce, sealed = cipher.seal(header, placed(0, 1), element((1).to_bytes(8, "big")), forged)
    set_id = str(uuid.uuid4())
    values = [set_id, json.dumps([header]), [0], [1], [sealed], [exchange]]
    far.do("SELECT ssb_internal.take_sealed(%s, %s, %s, %s, %s, %s)", *values)
    (said,) = far.value("SELECT answers FROM ssb_internal.set_answers(ARRAY[%s::uuid], 5)", set_id)
    (answer,) = json.loads(cipher.open_answer(nonce, said["sealed"]).others[1:])
    assert "does not come from the instance" in answer["status"]
    far.send(there, "//Answer", "nobody")
    assert near.receive(1) == [(handle, "//Answer", "nobody")]
    assert near.column("SELECT is_outbound FROM ssb.dialog_key") == [True]
    assert far.column("SELECT is_outbound FROM ssb.dialog_key") == [False, False]
    assert far.value("SELECT far_principal_id FROM sys.conversation_endpoints") == 0


@pytest.mark.long
def test_send_is_checked_as_the_mapped_user(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    script(far, "REVOKE SEND ON SERVICE::[//Far] FROM NearThere; GRANT SEND ON SERVICE::[//Far] TO public")
    script(far, "DENY SEND ON SERVICE::[//Far] TO NearThere")
    daemons(near)
    daemons(far)
    near.send(begin(near, "//Far"), "//Ask", "hello")
    until(lambda: any("permission to access" in status for status in near.waiting()))
    script(far, "CREATE ROLE senders; REVOKE SEND ON SERVICE::[//Far] FROM NearThere, public")
    script(far, "GRANT SEND ON SERVICE::[//Far] TO senders; ALTER ROLE senders ADD MEMBER NearThere")
    assert [body for _, _, body in far.receive(1)] == ["hello"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("broken", "status", "mended"),
    [
        ("DROP MASTER KEY", "The database master key is required", "CREATE MASTER KEY"),
        ("DROP CERTIFICATE FarCert", "there is no security certificate bound", None),
        ("DROP CERTIFICATE NearCert", "there is no security certificate bound", None),
        ("ALTER CERTIFICATE NearCert REMOVE PRIVATE KEY", "There is no private key", None),
        (
            "ALTER CERTIFICATE NearCert WITH PRIVATE KEY (ENCRYPTION BY PASSWORD = 'p')",
            "password protected",
            "ALTER CERTIFICATE NearCert WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'p')",
        ),
        (
            "ALTER CERTIFICATE FarCert WITH ACTIVE FOR BEGIN_DIALOG = OFF",
            "disabled for use with BEGIN DIALOG",
            "ALTER CERTIFICATE FarCert WITH ACTIVE FOR BEGIN_DIALOG = ON",
        ),
        (
            "DROP REMOTE SERVICE BINDING ToFar",
            _BINDING,
            "CREATE REMOTE SERVICE BINDING b TO SERVICE '//Far' WITH USER = FarThere",
        ),
    ],
)
def test_what_is_missing_is_told_and_the_message_goes_when_it_is_there(
    near: Side,
    far: Side,
    full: None,
    daemons: Callable[..., Daemon],
    broken: str,
    status: str,
    mended: str | None,
) -> None:
    if broken == "DROP MASTER KEY":
        script(near, "ALTER CERTIFICATE NearCert WITH PRIVATE KEY (ENCRYPTION BY PASSWORD = 'p')")
        script(
            near,
            "ALTER CERTIFICATE NearCert REMOVE PRIVATE KEY; ALTER REMOTE SERVICE BINDING ToFar"
            " WITH ANONYMOUS = ON",
        )
        script(far, "GRANT SEND ON SERVICE::[//Far] TO public")
    script(near, broken)
    daemons(near)
    daemons(far)
    near.send(begin(near, "//Far"), "//Ask", "hello")
    until(lambda: any(status in one for one in near.waiting()))
    assert far.value("SELECT count(*) FROM sys.conversation_endpoints") == 0
    if mended is not None:
        script(near, mended)
        assert [body for _, _, body in far.receive(1)] == ["hello"]


@pytest.mark.long
def test_dates_of_certificates_count(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    daemons(near)
    daemons(far)
    near.do("UPDATE ssb.certificate SET expiry_date = now() - interval '1 day' WHERE owner = 'Near'")
    near.send(begin(near, "//Far"), "//Ask", "hello")
    until(lambda: any("has expired" in status for status in near.waiting()))
    near.do(
        "UPDATE ssb.certificate SET expiry_date = now() + interval '9 days',"
        " start_date = now() + interval '1 day' WHERE owner = 'Near'"
    )
    until(lambda: any("is not yet valid" in status for status in near.waiting()))


@pytest.mark.long
def test_certificates_are_renewed_while_a_dialog_lives(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], tmp_path: Path
) -> None:
    """Both are valid for a while, then the old one is dropped on either side."""
    daemons(near)
    daemons(far)
    handle = begin(near, "//Far")
    near.send(handle, "//Ask", "one")
    ((there, _, _),) = far.receive(1)
    far.send(there, "//Answer", "two")
    assert near.receive(1) == [(handle, "//Answer", "two")]
    before = near.column("SELECT key_id FROM ssb.dialog_key WHERE is_outbound")
    script(
        near,
        f"""CREATE CERTIFICATE Newer AUTHORIZATION Near WITH SUBJECT = 'newer', EXPIRY_DATE = '20501231'
        BACKUP CERTIFICATE Newer TO FILE = '{tmp_path}/newer.cer'""",
    )
    # The far side does not know it yet: what comes under it is dropped there, and waits here.
    near.send(handle, "//Ask", "three")
    until(lambda: any("key is not known" in status for status in near.waiting()))
    script(far, f"CREATE CERTIFICATE Newer AUTHORIZATION NearThere FROM FILE = '{tmp_path}/newer.cer'")
    assert [body for _, _, body in far.receive(1)] == ["three"]
    script(near, "DROP CERTIFICATE NearCert")
    script(far, "DROP CERTIFICATE NearCert")
    near.send(handle, "//Ask", "four")
    assert [body for _, _, body in far.receive(1)] == ["four"]
    far.send(there, "//Answer", "five")
    assert near.receive(1) == [(handle, "//Answer", "five")]
    assert near.column("SELECT key_id FROM ssb.dialog_key WHERE is_outbound") != before


@pytest.mark.long
def test_a_set_that_is_changed_or_comes_again_gives_nothing(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], travelled: Side
) -> None:
    """Every byte that counts, in what a forwarder could hand on; each variant as a set of its own."""
    daemons(near)
    daemon = daemons(far)
    handle = begin(near, "//Far")
    near.send(handle, "//Ask", "one")
    assert [body for _, _, body in far.receive(1)] == ["one"]
    near.send(handle, "//Ask", "two")
    assert [body for _, _, body in far.receive(1)] == ["two"]
    other = begin(near, "//Far")
    near.send(other, "//Ask", "other")
    assert [body for _, _, body in far.receive(1)] == ["other"]
    sets = far.connection.execute(
        "SELECT dialogs, places, numbers, bodies, exchanges FROM dbo.travelled ORDER BY came_at"
    ).fetchall()
    first, second, third = sets[0], sets[1], sets[2]

    def bring(dialogs: Any, places: Any, numbers: Any, bodies: Any, exchanges: Any) -> list[dict[str, Any]]:
        set_id = str(uuid.uuid4())
        far.do(
            "SELECT ssb_internal.take_sealed(%s::uuid, %s::jsonb, %s::integer[], %s::bigint[], %s::bytea[],"
            " %s::text[])",
            set_id,
            json.dumps(dialogs),
            places,
            numbers,
            bodies,
            exchanges,
        )
        answers: list[dict[str, Any]] = far.value(
            "SELECT answers FROM ssb_internal.set_answers(ARRAY[%s::uuid], 5)", set_id
        )
        return answers

    # As it was: taken already, and the answer says so.
    assert "sealed" in bring(*first)[0]
    dialogs, places, _, bodies, exchanges = second
    fresh = [2]
    body = bytes(bodies[0])
    variants: list[Any] = [
        (dialogs, places, fresh, [body], exchanges),  # another number
        (dialogs, places, fresh, [body[:-1]], exchanges),  # cut
        (dialogs, places, fresh, [b""], exchanges),
        (dialogs, places, fresh, [third[3][0]], exchanges),  # of another conversation
        *[
            (dialogs, places, fresh, [body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]], exchanges)
            for at in range(0, len(body), 7)
        ],
    ]
    for name, value in (
        ("conversation_ids", third[0][0]["conversation_ids"]),
        ("conversation_ids", second[0][0]["conversation_ids"] * 2),
        ("conversation_ids", []),
        ("conversation_ids", 5),
        ("is_initiator", False),
        ("to_service", "//Near"),
        ("from_service", "//Other"),
        ("contract", "DEFAULT"),
        ("from_instance", str(uuid.uuid4())),
        ("key_id", str(uuid.uuid4())),
    ):
        variants.append(([dialogs[0] | {name: value}], places, fresh, [body], exchanges))
    # A dialog that never was, under a key that is known.
    variants.append(([first[0][0] | {"conversation_ids": [str(uuid.uuid4())]}], *first[1:]))
    variants.append((dialogs, places, [None], [body], exchanges))
    variants.append(([{}], places, fresh, [body], exchanges))
    variants.append((dialogs, places, fresh, [body], ["{}", "no JSON"]))
    for variant in variants:
        bring(*variant)
    # JSON that PostgreSQL takes and Python does not read, and a place that no answer can name.
    unreadable = '"key", "key_id": "k", "to_service": "s", "place": 1e400'
    for header in ("[" * 3000 + "]" * 3000, "1" * 5000, unreadable):
        far.do(
            "SELECT ssb_internal.take_sealed(gen_random_uuid(), %s::jsonb, %s::integer[], %s::bigint[],"
            " %s::bytea[], '{}')",
            f'[{{"more": {header}}}]',
            *(places, fresh, [body]),
        )
    until(lambda: far.value("SELECT count(*) FROM ssb.sealed_set") == 0)
    assert far.value("SELECT count(*) FROM ssb.message_stored") == 0
    assert far.value("SELECT count(*) FROM sys.conversation_endpoints") == 2
    assert any("was dropped" in line.message for line in daemon.lines if line.event == "message_dropped")
    assert daemon.broker.counts.totals["messages_corrupted"] > 5
    # The dialogs go on.
    near.send(handle, "//Ask", "three")
    assert [body for _, _, body in far.receive(1)] == ["three"]


def test_a_secured_conversation_takes_nothing_in_the_clear(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    daemons(near)
    daemons(far)
    near.send(begin(near, "//Far"), "//Ask", "one")
    far.receive(1)
    row = far.connection.execute(
        "SELECT conversation_id::text, session_key::text FROM ssb.remote_conversation"
    ).fetchone()
    assert row is not None
    header = {
        "conversation_id": row[0],
        "is_initiator": True,
        "key": row[1],
        "to_service": "//Far",
        "to_instance": None,
        "from_service": "//Near",
        "from_instance": near.guid(),
        "contract": "//Talk",
        "lifetime": None,
        "is_encrypted": True,
    }
    take = (
        "SELECT t.next_number, t.status FROM ssb.take_from_afar(%s::jsonb, '{0}', %s, '{//Ask}', '{message}',"
        " %s) AS t"
    )
    answer = far.connection.execute(take, [json.dumps([header]), [1], [b"forged"]]).fetchone()
    assert answer == (0, "The message does not have the security of its conversation.")
    header |= {"conversation_id": str(uuid.uuid4())}
    answer = far.connection.execute(take, [json.dumps([header]), [0], [b"forged"]]).fetchone()
    assert answer is not None
    assert "in the clear" in answer[1]
    # Whoever says himself that it was opened is not believed.
    header |= {"security": "F", "database_id": 5, "far_user": "NearThere", "key_id": str(uuid.uuid4())}
    answer = far.connection.execute(take, [json.dumps([header]), [0], [b"forged"]]).fetchone()
    assert answer is not None
    assert "in the clear" in answer[1]
    assert far.value("SELECT count(*) FROM ssb.message_stored") == 0


def test_a_courier_may_bring_sealed_messages_and_see_nothing(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    far.do("CREATE ROLE courier LOGIN")
    try:
        far.do("SELECT ssb.grant_permission('{CONNECT}', 'ENDPOINT', 'BrokerEndpoint', '{courier}')")
        dsn = psycopg.conninfo.make_conninfo(far.database.dsn, user="courier")
        daemons(near, addresses={"tcp://far.example:4022": dsn})
        daemons(far)
        near.send(begin(near, "//Far"), "//Ask", "hello")
        assert [body for _, _, body in far.receive(1)] == ["hello"]
        with psycopg.connect(dsn, autocommit=True) as courier:
            for call in (
                "SELECT * FROM ssb.sealed_set",
                "SELECT ssb_internal.next_sealed_set(NULL, NULL)",
                "SELECT ssb_internal.keys_of('{}')",
                "SELECT ssb_internal.key_material(5, '', '')",
                "SELECT ssb_internal.take_opened('[]', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    courier.execute(call)
    finally:
        far.do("DROP OWNED BY courier CASCADE")
        far.do("DROP ROLE courier")


def test_who_brings_more_than_can_be_opened_makes_nobody_else_wait(near: Side) -> None:
    near.do(
        "INSERT INTO ssb.sealed_set (set_id, sender, dialogs, places, numbers, bodies, exchanges)"
        " SELECT gen_random_uuid(), s, '[]', '{}', '{}', '{}', '{}'"
        " FROM unnest('{b,b,b,b,a,a,c}'::text[]) WITH ORDINALITY AS u (s, n) ORDER BY n"
    )
    order, answered = "", None
    while True:
        row = near.connection.execute(
            "SELECT n.set_id, s.sender, s.came_at FROM ssb_internal.next_sealed_set(%s, '[]') AS n"
            " JOIN ssb.sealed_set AS s ON s.set_id = n.set_id",
            [answered],
        ).fetchone()
        if row is None:
            break
        answered, order = row[0], order + row[1]
    assert order == "abcabbb"


@pytest.mark.long
def test_without_a_daemon_there_messages_wait(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon]
) -> None:
    daemons(near)
    near.send(begin(near, "//Far"), "//Ask", "hello")
    until(lambda: any("no daemon that could open" in status for status in near.waiting()))
    daemons(far)
    assert [body for _, _, body in far.receive(1)] == ["hello"]


@pytest.mark.long
def test_between_databases_of_an_instance_keys_are_wanted_where_that_is_said(near: Side) -> None:
    """LOCAL_DIALOG_SECURITY; nothing is sealed there in any case."""
    script(
        near,
        """CREATE DATABASE Other
        GO
        USE Other
        GO
        CREATE MESSAGE TYPE [//Ask]
        CREATE CONTRACT [//Talk] ([//Ask] SENT BY ANY)
        CREATE USER TargetOwner WITHOUT LOGIN
        CREATE QUEUE q
        CREATE SERVICE [//Elsewhere] AUTHORIZATION TargetOwner ON QUEUE q ([//Talk])
        GRANT SEND ON SERVICE::[//Elsewhere] TO public""",
    )
    near.send(begin(near, "//Elsewhere"), "//Ask", "as ever")
    assert near.waiting() == []
    near.do("SELECT ssb.alter_database(NULL, 'LOCAL_DIALOG_SECURITY', 'on')")
    near.send(near.begin("//Elsewhere"), "//Ask", "open")
    near.send(begin(near, "//Near"), "//Ask", "in one database")
    assert near.waiting() == []
    near.send(begin(near, "//Elsewhere"), "//Ask", "strict")
    (status,) = near.waiting()
    assert status.startswith(_BINDING)
    script(
        near,
        """CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'
        CREATE USER Them WITHOUT LOGIN
        CREATE CERTIFICATE TheirCert AUTHORIZATION Them WITH SUBJECT = 'them', EXPIRY_DATE = '20401231'
        CREATE REMOTE SERVICE BINDING b TO SERVICE '//Elsewhere' WITH USER = Them, ANONYMOUS = ON""",
    )
    (status,) = near.waiting()
    assert status.startswith("Could not save a dialog session key. A master key is required")
    script(near, "USE Other\nGO\nCREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'")
    assert near.waiting() == []


# ------------------------------------------------------------------ without a server

_HEADER = {
    "is_initiator": True,
    "to_service": "b",
    "to_instance": None,
    "from_service": "a",
    "from_instance": None,
}


def _dialog(contract: str = "c", lifetime: float | None = None) -> tuple[bytes, bytes, bytes, bytes]:
    """Columns of one."""
    left = struct.pack(">d", lifetime) if lifetime is not None else None
    return (
        element(uuid.uuid4().bytes),
        element(uuid.uuid4().bytes),
        element(contract.encode()),
        element(left),
    )


def _columns(*dialogs: tuple[bytes, bytes, bytes, bytes]) -> tuple[bytes, bytes, bytes, bytes]:
    ids, keys, contracts, lifetimes = (b"".join(column) for column in zip(*dialogs, strict=True))
    return ids, keys, contracts, lifetimes


def _contents(*dialogs: tuple[bytes, bytes, bytes, bytes]) -> Contents:
    return Contents(*_columns(*dialogs), element(b"type"), element(b"message"), element(b"body"))


def test_a_block_opens_as_a_whole_with_its_key_direction_and_place_only() -> None:
    key_id, key = uuid.uuid4(), new_key()
    cipher = PairCipher(key_id, key, True)
    contents = _contents(_dialog(lifetime=1.5), _dialog("d"))
    nonce, sealed = cipher.seal(_HEADER, b"01", b"3", contents)
    assert cipher.open(_HEADER, b"01", b"3", sealed) == contents
    assert cipher.seal(_HEADER, b"01", b"3", contents)[1] != sealed
    for places, numbers in ((b"01", b"4"), (b"00", b"3"), (b"0", b"13"), (b"", b"013"), (b"01", b"")):
        with pytest.raises(NotGenuine):
            cipher.open(_HEADER, places, numbers, sealed)
    for header in ({"to_service": "c"}, {"from_service": "c"}, {"to_instance": "i"}, {"from_instance": "i"}):
        with pytest.raises(NotGenuine):
            cipher.open(_HEADER | header, b"01", b"3", sealed)
    for other in (
        PairCipher(key_id, new_key(), True),
        PairCipher(uuid.uuid4(), key, True),
        PairCipher(key_id, key, False),
    ):
        with pytest.raises(NotGenuine):
            other.open(_HEADER, b"01", b"3", sealed)
    told = Answer(b"numbers", b"instances", b"")
    answer = cipher.seal_answer(nonce, told)
    assert cipher.open_answer(nonce, answer) == told
    for wrong in ((b"other", answer), (nonce, answer[:-2]), (nonce, "zz"), (nonce, sealed.hex())):
        with pytest.raises(NotGenuine):
            cipher.open_answer(*wrong)


def test_what_was_sealed_in_another_form_does_not_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its header says: that is not bound to it."""
    key_id, key = uuid.uuid4(), new_key()
    _, sealed = PairCipher(key_id, key, True).seal(_HEADER, b"", b"", _contents(_dialog()))
    monkeypatch.setattr("pgsb.security.dialogs.BLOCK_VERSION", 6)
    with pytest.raises(NotGenuine):
        PairCipher(key_id, key, True).open(_HEADER, b"", b"", sealed)


@pytest.mark.parametrize("plain", [b"", bytes(27), bytes(29), b"\xff" * 28, bytes(27) + b"\x01"])
def test_whoever_has_the_key_seals_nothing_that_is_no_block(
    plain: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    cipher = PairCipher(uuid.uuid4(), new_key(), True)
    monkeypatch.setattr("pgsb.security.dialogs._joined", lambda parts: plain)
    _, sealed = cipher.seal(_HEADER, b"", b"", _contents(_dialog()))
    with pytest.raises(NotGenuine, match="has not the parts"):
        cipher.open(_HEADER, b"", b"", sealed)


@pytest.mark.parametrize("column", ["conversation_ids", "keys", "contracts", "lifetimes", "types", "bodies"])
def test_columns_of_a_block_that_have_more_or_less_than_it_says_move_nobody_elses(column: str) -> None:
    """Whoever has the key: two elements for one, NULLs in the room of one, a length that is none."""
    contents = _contents(_dialog(lifetime=1.0))
    block = ArrivedBlock({}, 1, 1, placed(0, 1), bigints_element(0), b"")
    require_whole(block, contents)
    own = getattr(contents, column)
    length = len(own)
    wrong = [b"", own * 2, own[:-1], own + NULL, NULL * 2, b"\xff\xff\xff\xfe" + own[4:]]
    if length % 4 == 0:
        wrong.append(NULL * (length // 4))
    for one in wrong:
        with pytest.raises(NotGenuine, match="not as many"):
            require_whole(block, replace(contents, **{column: one}))


def test_what_was_opened_divides_into_its_dialogs() -> None:
    first = _contents(_dialog("a", 1.5), _dialog("b"))
    second = _contents(_dialog("c"))
    opened = Opened()
    for number, (contents, count, traces) in enumerate(((first, 2, {"1": {"4": "t"}}), (second, 1, {}))):
        numbers = b"".join(bigints_element(4) for _ in range(count))
        places = b"".join(placed(place, 1) for place in range(count))
        block = ArrivedBlock({"traces": traces}, count, count, places, numbers, b"")
        many = {name: getattr(contents, name) * count for name in ("types", "kinds", "bodies")}
        opened.add(block, replace(contents, **many), {"key_id": number})
    parts = opened.apart()
    assert [one.blocks[0]["key_id"] for one in parts] == [0, 0, 1]
    assert [one.blocks[0]["traces"] for one in parts] == [{}, {"0": {"4": "t"}}, {}]
    assert [one.columns[2] for one in parts] == [[element(name)] for name in (b"a", b"b", b"c")]
    assert [(one.dialogs, one.count) for one in parts] == [(1, 1)] * 3
    assert {one.columns[4][0] for one in parts} == {placed(0, 1)}


def test_a_kept_cipher_is_that_of_its_key() -> None:
    security = DialogSecurity(lambda text: None, lambda: None)
    key_id, key = uuid.uuid4(), new_key()
    _, sealed = security._cipher(key_id, key, True).seal(_HEADER, b"", b"1", _contents(_dialog()))
    for other in (security._cipher(key_id, new_key(), True), security._cipher(key_id, key, False)):
        with pytest.raises(NotGenuine):
            other.open(_HEADER, b"", b"1", sealed)
    assert security._cipher(key_id, key, True).open(_HEADER, b"", b"1", sealed).types == element(b"type")
    assert len(security._ciphers) == 3


def test_keys_that_were_renewed_or_are_gone_leave_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    security = DialogSecurity(lambda text: None, lambda: None)
    now = datetime.now(UTC)
    gone, there, old, renewed, opened = (uuid.uuid4() for _ in range(5))
    for key_id, made_at in ((gone, now), (there, now), (old, now - timedelta(hours=13)), (renewed, now)):
        security._keep_pair(PairKey(key_id, new_key(), "{}", made_at))
        security._cipher(key_id, b"k" * 32, True)
    security._opened.keep((opened, b"sealed"), new_key())
    security._opened.keep((there, b"sealed by an older master key"), new_key())
    security._forget_pair(renewed)
    assert renewed not in security._pairs
    assert all(name[0] != renewed for name in security._ciphers)

    async def known(near: Any, key_ids: list[uuid.UUID]) -> list[dict[str, Any]]:
        return [{"key_id": one, "sealed_key": b"sealed"} for one in key_ids if one != gone]

    monkeypatch.setattr(security, "_known", known)
    asyncio.run(security.forget_keys(Any))  # type: ignore[arg-type]
    assert set(security._pairs) == {there}
    assert security._opened.ids == {opened}
    assert {name[0] for name in security._ciphers} == {there}


@pytest.mark.long
def test_a_key_of_a_clock_that_was_ahead_is_made_anew(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the clock is right again what waits goes, and does not wait until that time has come."""

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=365)

    daemons(far)
    with monkeypatch.context() as patch:
        patch.setattr("pgsb.security.dialogs.datetime", Ahead)
        daemons(near)
        near.send(begin(near, "//Far"), "//Ask", "early")
        until(lambda: any("clocks of the two differ" in status for status in near.waiting()))
    assert [body for _, _, body in far.receive(1)] == ["early"]


def test_an_exchange_is_for_one_and_from_one() -> None:
    one, two, three = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(3))
    key_id, key, text, made_at = make_exchange("a", "b", ("far", two.public_key()), ("near", one))
    read = read_exchange(text)
    assert (read.key_id, read.from_service, read.to_service, read.made_at) == (key_id, "a", "b", made_at)
    assert open_exchange(read, two, one.public_key()) == key
    for own, sender in ((three, one.public_key()), (two, three.public_key()), (two, None)):
        with pytest.raises(NotGenuine):
            open_exchange(read, own, sender)
    changed = json.loads(text)
    changed["said"] = changed["said"].replace('"to": "b"', '"to": "c"')
    with pytest.raises(NotGenuine):
        open_exchange(read_exchange(json.dumps(changed)), two, one.public_key())
    # Unsigned it must not pass for signed.
    changed = json.loads(text)
    changed["signature"] = None
    with pytest.raises(NotGenuine):
        open_exchange(read_exchange(json.dumps(changed)), two, one.public_key())
    for broken in ("", "{}", "[]", '{"said": "{}", "signature": null}', text[:-5]):
        with pytest.raises(NotGenuine):
            read_exchange(broken)
    now = datetime.now(UTC)
    require_current(now, now)
    for made_at, reason in (
        (now - timedelta(hours=24), "too old"),
        (now + timedelta(hours=1), "clocks .* differ"),
    ):
        with pytest.raises(NotGenuine, match=reason):
            require_current(made_at, now)


def _answer(numbers: list[int], instances: list[str | None], others: Any = None) -> Answer:
    names = [element(one.encode() if one is not None else None) for one in instances]
    return Answer(
        array_of(RawBigints, len(numbers), [bigints_element(one) for one in numbers]),
        array_of(RawTexts, len(names), names),
        json_of(others) if others else b"",
    )


def _run(place: int, number: int, message: int = 0) -> Run:
    parts = (element(b"t"), element(b"message"), element(b"b"), bigints_element(message))
    return Run(place, 1, bigints_element(number), *parts)


def test_an_answer_that_is_not_genuine_settles_nothing() -> None:
    key_id, key = uuid.uuid4(), new_key()
    cipher = PairCipher(key_id, key, True)
    side = SealedSide(_HEADER, [7, 8], _columns(_dialog(), _dialog()))
    runs = [_run(0, 4, 1), _run(1, 4, 2)]
    block = SealedBlock.of_runs(cipher, key_id, side, runs, side.endpoints, {})
    SealedSet.of([block], [])
    genuine = _answer([5, 5], [None, "i"])
    nonce = block.nonce

    def sealed(said: Answer) -> dict[str, Any]:
        return {"place": 0, "sealed": cipher.seal_answer(nonce, said)}

    read = block.read(sealed(genuine))
    first, second = block.rows(read)
    assert (first["endpoint_id"], first["next_number"], first["instance"]) == (7, 5, None)
    assert (second["endpoint_id"], second["next_number"], second["instance"]) == (8, 5, "i")
    settled, rest = block.settled(read)
    assert settled is not None and rest == []
    assert (loaded(settled.ids), loaded(settled.endpoints)) == ([1, 2], [7, 8])
    assert loaded(settled.key_ids) == [key_id, key_id]
    # One that was taken in part, and one that was not.
    refused = {"place": 1, "next_number": 0, "status": "no"}
    in_part = {"place": 1, "next_number": 4}
    for numbers, other, left in (([5, 0], in_part, [1]), ([5, 0], refused, [1]), ([4, 0], refused, [0, 1])):
        settled, rest = block.settled(block.read(sealed(_answer(numbers, [None, "i"], [other]))))
        assert rest == left
        assert (settled is not None) == (left == [1])
        if settled is not None:
            assert (loaded(settled.ids), loaded(settled.endpoints)) == ([1], [7])
    no_numbers = [
        replace(genuine, next_numbers=one) for one in (b"", b"[5, 5]", bytes(12), genuine.instances)
    ]
    no_numbers += [_answer(one, [None, "i"]) for one in ([5], [5, 5, 5], [5, -1], [5, 0], [5, 2**63 - 1])]
    no_names = [replace(genuine, instances=one) for one in (b"", bytes(12), genuine.next_numbers)]
    no_names += [_answer([5, 5], one) for one in ([None], ["x" * 37, None], ["a\0b", None])]
    no_others = [
        replace(genuine, others=one) for one in (b"\x01", b"[]", b"\x01" + b"[" * 100_000, b"\x01\xff")
    ]
    no_others += [
        _answer([5, 5], [None, "i"], one)
        for one in (5, [5], [{"place": 0}], [{"place": 2, "next_number": 0}])
    ]
    for forged in (
        {},
        {"place": 0, "next_number": 5},
        {"place": 0, "sealed": "00"},
        {"place": 0, "sealed": 5},
        {"place": 0, "sealed": cipher.seal_answer(b"earlier", genuine)},
        {"place": 0, "status": None, "refusal": "never", "refusal_code": 1, "next_number": 9},
        # Whoever has the key may write anything: also what no function here takes, or nobody reads.
        *map(sealed, (*no_numbers, *no_names, *no_others)),
        *(
            sealed(_answer([5, 5], [None, "i"], [{"place": 0, "next_number": 5} | said]))
            for said in (
                {"refusal": "no", "refusal_code": 2**31},
                {"refusal": "no", "refusal_code": False},
                {"taken_bytes": 2**70},
                {"status": "a\0b"},
                {"status": "a\ud800b"},
                {"instance": "x" * 37},
                {"place": "0"},
                {"place": -1},
                {"place": [0]},
            )
        ),
        *({"status": status} for status in ("a\0b", "a\ud800b", 5, ["x"])),
    ):
        assert block.settled(block.read(forged)) == (None, [0, 1]), forged
        for answer in block.rows(block.read(forged)):
            assert answer["next_number"] == 0
            assert answer["status"]
            assert "refusal" not in answer
        assert len(block.read({"status": "x" * 10_000}).others[0]["status"]) < 4_000


def test_an_end_is_settled_by_itself_whatever_else_was_taken() -> None:
    cipher = PairCipher(uuid.uuid4(), new_key(), True)
    side = SealedSide(_HEADER, [7, 8], _columns(_dialog(), _dialog()))
    end = replace(_run(1, 4, 2), kinds=element(b"end"))
    block = SealedBlock.of_runs(cipher, uuid.uuid4(), side, [_run(0, 4, 1), end], side.endpoints, {})
    SealedSet.of([block], [])
    read = block.read({"sealed": cipher.seal_answer(block.nonce, _answer([5, 5], [None, None]))})
    settled, rest = block.settled(read)
    assert settled is not None
    assert (loaded(settled.ids), rest) == ([1], [1])


def bigints_element(number: int) -> bytes:
    """An element of a bigint[]."""
    return element(number.to_bytes(8, "big", signed=True))


def test_messages_of_one_dialog_that_others_are_between_stay_in_their_order() -> None:
    """Of two priorities: its second run is beside those of others, or before its first."""
    cipher, key_id = PairCipher(uuid.uuid4(), new_key(), True), uuid.uuid4()
    side = SealedSide(_HEADER, [7, 8], _columns(_dialog("c"), _dialog("d")))
    endpoints = [7, 8, 7]
    block = SealedBlock.of_runs(
        cipher, key_id, side, [_run(0, 1, 1), _run(2, 0, 3), _run(1, 0, 2)], endpoints, {}
    )
    assert block.placed(0) == b"".join(placed(place, 1) for place in (0, 0, 1))
    assert block.placed(3) == b"".join(placed(place, 1) for place in (3, 3, 4))
    contents = cipher.open(_HEADER, block.placed(0), block.numbers, block.sealed())
    assert contents.conversation_ids == side.columns[0]
    told = [uuid.UUID(one).bytes for one in block.told()["conversation_ids"]]
    assert told == [one[4:] for one in cut(side.columns[0], [1, 1])]
    # What is not in the order of its numbers is not settled unseen, where more is said than "taken".
    said = _answer([2, 1], [None, None], [{"place": 1, "next_number": 1}])
    settled, rest = block.settled(block.read({"sealed": cipher.seal_answer(block.nonce, said)}))
    assert settled is not None
    assert (loaded(settled.endpoints), rest) == ([8], [0])


def test_dialogs_that_are_sealed_apart_tell_their_own() -> None:
    side = SealedSide(_HEADER, [7, 8], _columns(_dialog("c"), _dialog("d")))
    cipher, key_id = PairCipher(uuid.uuid4(), new_key(), True), uuid.uuid4()
    parts = divided(side)
    blocks = [
        SealedBlock.of_runs(cipher, key_id, part, [_run(at, 0, at)], [7, 8], {1: {"0": "t"}})
        for at, part in enumerate(parts)
    ]
    assert [one.endpoints for one in blocks] == [[7], [8]]
    assert [one.told().get("traces") for one in blocks] == [None, {"0": {"0": "t"}}]
    together = SealedSet.of(blocks, [])
    assert together.places == {0: 7, 1: 8}
    assert [one.placed(0) for one in blocks] == [placed(0, 1)] * 2
