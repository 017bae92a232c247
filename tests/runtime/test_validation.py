"""What the target's message type asks of a body; checked when the message reaches the target's queue."""

import uuid

import pytest
from runtime.broker import END, ERROR, Pair, Session, refused

SCHEMA = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="order"><xs:complexType>
    <xs:sequence><xs:element name="line" type="xs:string" maxOccurs="unbounded"/></xs:sequence>
    <xs:attribute name="id" type="xs:int" use="required"/>
  </xs:complexType></xs:element>
</xs:schema>"""


def validated(session: Session, pair: Pair, validation: str, collection: str | None = None) -> uuid.UUID:
    session.do("SELECT ssb.alter_message_type(%s, %s, %s)", pair.request, validation, collection)
    return pair.dialog()


def refusal(session: Session, pair: Pair, handle: uuid.UUID, body: str | bytes | None) -> str:
    """The Error message that comes back for a body."""
    session.send(handle, pair.request, body)
    assert session.receive(pair.far) == []
    (message,) = session.receive(pair.near)
    assert message.type == ERROR and message.body is not None and message.handle == handle
    assert session.state(handle) == "ER"
    return message.body


@pytest.mark.parametrize("body", [None, "", b"\x00\x01", "<a>"])
def test_none_takes_everything(session: Session, pair: Pair, body: str | bytes | None) -> None:
    handle = validated(session, pair, "NONE")
    session.send(handle, pair.request, body)
    expected = body if body is None or isinstance(body, bytes) else body.encode()
    assert session.value("SELECT message_body FROM ssb.receive(%s)", pair.far) == expected


def test_empty_takes_nothing_else(session: Session, pair: Pair) -> None:
    handle = validated(session, pair, "EMPTY")
    session.send(handle, pair.request)
    session.send(handle, pair.request, b"")
    assert session.column("SELECT validation FROM ssb.receive(%s)", pair.far) == ["E ", "E "]
    assert "<Code>-8430</Code>" in refusal(session, pair, handle, "x")


@pytest.mark.parametrize("body", ["<a/>", "<a/><b/>", "text <a>x</a>", "<?xml version='1.0'?><a/>"])
def test_well_formed_xml_takes_fragments(session: Session, pair: Pair, body: str) -> None:
    handle = validated(session, pair, "WELL_FORMED_XML")
    session.send(handle, pair.request, body)
    assert session.rows("SELECT validation, message_body FROM ssb.receive(%s)", pair.far) == [
        ("X ", body.encode())
    ]


def test_an_element_of_a_hundred_attributes(session: Session, pair: Pair) -> None:
    handle = validated(session, pair, "WELL_FORMED_XML")
    attributes = " ".join(f'x{number}="1"' for number in range(100))
    session.send(handle, pair.request, f'<a {attributes} x="1"/>')
    assert len(session.receive(pair.far)) == 1
    assert "<Code>" in refusal(session, pair, handle, f'<a {attributes} x50="2"/>')


@pytest.mark.parametrize("body", ["<a>", "<a></b>", b"\xff\x00"])
def test_what_is_no_xml_comes_back_as_error(session: Session, pair: Pair, body: str | bytes | None) -> None:
    handle = validated(session, pair, "WELL_FORMED_XML")
    error = refusal(session, pair, handle, body)
    assert "<Code>-9615</Code>" in error and pair.request in error


@pytest.mark.parametrize("validation", ["WELL_FORMED_XML", "VALID_XML"])
@pytest.mark.parametrize("body", [None, ""])
def test_a_body_that_is_missing_or_of_zero_length_is_null_and_well_formed(
    session: Session, pair: Pair, body: str | None, validation: str
) -> None:
    name = f"dbo.c{uuid.uuid4().hex}" if validation == "VALID_XML" else None
    if name:
        session.do("SELECT ssb.create_xml_schema_collection(%s, %s)", name, SCHEMA)
    handle = validated(session, pair, validation, name)
    session.send(handle, pair.request, body)
    assert session.rows("SELECT validation, message_body FROM ssb.receive(%s)", pair.far) == [("X ", None)]


def test_the_declaration_of_a_text_is_no_error(session: Session, pair: Pair) -> None:
    """What .NET writes into a string says utf-16, and the string travels as UTF-8."""
    handle = validated(session, pair, "WELL_FORMED_XML")
    body = '<?xml version="1.0" encoding="utf-16"?><a>é</a>'
    session.send(handle, pair.request, body)
    assert session.column("SELECT sys.xml_of(message_body) FROM ssb.receive(%s)", pair.far) == ["<a>é</a>"]


def test_valid_xml_follows_the_schema(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.create_xml_schema_collection('dbo.orders', %s, spelling => 'Orders')", SCHEMA)
    handle = validated(session, pair, "VALID_XML", "dbo.orders")
    session.send(handle, pair.request, '<order id="1"><line>a</line></order>')
    assert len(session.receive(pair.far)) == 1
    assert "<Code>-9615</Code>" in refusal(session, pair, handle, "<order><line>a</line></order>")
    with refused(3716):
        session.do("SELECT ssb.drop_xml_schema_collection('dbo.orders')")
    session.do("SELECT ssb.alter_message_type(%s, 'NONE')", pair.request)
    session.do("SELECT ssb.drop_xml_schema_collection('dbo.orders')")


def test_a_refused_first_message_makes_no_target(session: Session, pair: Pair) -> None:
    handle = validated(session, pair, "EMPTY")
    refusal(session, pair, handle, "x")
    endpoints = session.column(
        "SELECT 1 FROM sys.conversation_endpoints WHERE far_service = %s", pair.initiator
    )
    assert len(endpoints) == 1
    session.end(handle)
    assert session.state(handle) is None


def test_after_a_refusal_both_sides_can_only_end(session: Session, pair: Pair) -> None:
    handle = validated(session, pair, "EMPTY")
    session.send(handle, pair.request)
    (message,) = session.receive(pair.far)
    refusal(session, pair, handle, "x")
    assert session.state(message.handle) == "ER"
    for side, kind in ((handle, pair.request), (message.handle, pair.reply)):
        with refused(8429, "'ER'"):
            session.send(side, kind)
        session.end(side)
    assert session.receive(pair.near) == [] and session.receive(pair.far) == []


def test_a_service_without_the_contract_refuses_the_dialog(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_service(%s, drop_contracts => ARRAY[%s])", pair.target, pair.contract)
    handle = pair.dialog()
    assert "<Code>-8408</Code>" in refusal(session, pair, handle, "x")


def test_system_messages_are_not_validated(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.end(near)
    assert session.rows(
        "SELECT message_type_name, validation, message_body FROM ssb.receive(%s)", pair.far
    ) == [(END, "E ", None)]
    session.end(far)


def test_an_altered_validation_holds_for_dialogs_under_way(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.send(near, pair.request, "x")
    session.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    assert len(session.receive(pair.far)) == 1
    assert "<Code>-8430</Code>" in refusal(session, pair, near, "x")
