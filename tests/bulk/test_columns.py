"""Columns of bodies: text, JSON, XML; a schema for each message type; what cannot be read is NULL."""

import datetime
import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import needs_spark  # noqa: F401
import pytest
from bulk_desk import Desk, make_desk

from pgsb.bulk import BulkError, Outputs, columns
from pgsb.bulk.datasource import register
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.sending import Dialogs, send
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

ORDER = b'<o id="7"><a>1</a><a>x</a>tail</o>'
PREFIXED = b'<p:o xmlns:p="urn:p" p:id="3"><p:a>5</p:a></p:o>'


def _values(spark: Any, column: Any, *bodies: bytes | None) -> list[Any]:
    frame = spark.createDataFrame([(one,) for one in bodies], "message_body binary")
    return [row[0] for row in frame.select(column).collect()]


@pytest.mark.long
def test_text_obeys_marks_and_refuses_what_is_none(spark: Any) -> None:
    utf16 = ["ä\U0001f600".encode(f"utf-16-{end}") for end in ("le", "be")]
    got = _values(
        spark,
        columns.text(),
        "ä\U0001f600".encode(),
        b"\xef\xbb\xbf" + "ä\U0001f600".encode(),
        b"\xff\xfe" + utf16[0],
        b"\xfe\xff" + utf16[1],
        b"\xff\xfe\x00",
        b"\xe4",
        b"",
        None,
    )
    assert got == ["ä\U0001f600"] * 4 + [None, None, "", None]


@pytest.mark.long
def test_text_without_a_mark_is_what_the_instance_has(spark: Any) -> None:
    wide = ["日本", "ä\U0001f600", '<?xml version="1.0" encoding="utf-16"?><o id="é"/>', '{"id": 5}', ""]
    bodies = [one.encode("utf-16-le") for one in wide]
    with columns.reading("utf16"):
        text, xml, id_ = columns.text(), columns.xml_value("/o/@id"), columns.json_value("$.id", "int")
    assert _values(spark, text, *bodies, b"\xef\xbb\xbfa", b"\xff\xfea\0", b"a", b"\x00\xd8", None) == [
        *wide,
        "a",
        "a",
        None,
        None,
        None,
    ]
    assert _values(spark, xml, *bodies) == [None, None, "é", None, None]
    assert _values(spark, id_, *bodies) == [None, None, None, 5, None]
    assert _values(spark, columns.text(), "ä".encode()) == ["ä"]


@pytest.mark.long
def test_a_job_reads_and_sends_utf16_where_the_instance_has_it(
    spark: Any, utf16: Database, tcp: Callable[[Database], str], connect: Callable[..., Connection]
) -> None:
    connection = connect(utf16.dsn)
    desk = make_desk(connection, utf16)
    connection.execute("CREATE TABLE dbo.spoken (body text)")
    (handle,) = connection.execute("SELECT ssb.begin_dialog('source', 'target', 'trades')").fetchone() or (
        "",
    )
    connection.execute("SELECT ssb.send(%s, 'trade', '日本'::text)", [handle])

    def program(messages: Any) -> Outputs:
        spoken = messages.select("conversation_handle", columns.text().alias("body"))
        replies = spoken.selectExpr(
            "conversation_handle", "'note' AS message_type_name", "body AS message_body"
        )
        return Outputs(tables={"dbo.spoken": spoken.select("body")}, replies=replies)

    run_job(tcp(utf16), "dbo.target", program, JobOptions(mode="once"))
    assert desk.value("SELECT body FROM dbo.spoken") == "日本"
    assert desk.value("SELECT message_body FROM dbo.source") == "日本".encode("utf-16-le")
    frame = spark.createDataFrame([("é",)], "message_body string")
    send(frame, tcp(utf16), message_type="trade", dialogs=Dialogs("source", "target", "trades"))
    assert desk.value("SELECT message_body FROM dbo.target") == "é".encode("utf-16-le")
    connection.execute("DELETE FROM dbo.spoken")
    options = {"dsn": tcp(utf16), "fromService": "source", "toService": "target", "contract": "trades"}
    register(spark)
    frame.write.format("pgsb").mode("append").options(**options, messageType="note").save()
    sent = connection.execute("SELECT message_body FROM dbo.target WHERE message_type_name = 'note'")
    assert sent.fetchall() == [("é".encode("utf-16-le"),)]


@pytest.mark.long
def test_text_is_null_where_utf16_is_broken(spark: Any) -> None:
    """As Python's strict decoder says, for all sequences of three units that could look like others."""
    units = (0x0041, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0x00D8, 0xDC41)
    sequences = [one for count in range(4) for one in itertools.product(units, repeat=count)]
    bodies, wanted = [], []
    for order, mark in (("little", b"\xff\xfe"), ("big", b"\xfe\xff")):
        for sequence in sequences:
            body = b"".join(unit.to_bytes(2, order) for unit in sequence)
            bodies.append(mark + body)
            try:
                wanted.append(body.decode(f"utf-16-{order[0]}e"))
            except UnicodeDecodeError:
                wanted.append(None)
    assert _values(spark, columns.text(), *bodies) == wanted
    assert None in wanted and len(wanted) > 1600
    # Long ones too: no recursion of the regular expression's.
    long = "x\U0001f600" * 200_000
    broken = b"\xff\xfe" + long.encode("utf-16-le") + b"\x00\xd8"
    got = _values(spark, columns.text(), b"\xff\xfe" + long.encode("utf-16-le"), broken)
    assert got == [long, None]


def test_json_by_schema(spark: Any) -> None:
    bodies = [
        b'{"day": "2026-01-02", "n": 1, "more": true}',
        b"{}",
        b'{"n": "many"}',
        b"no json",
        b"[1]",
        None,
    ]
    got = _values(spark, columns.json("day date, n int"), *bodies)
    assert [one and tuple(one) for one in got[:2]] == [(datetime.date(2026, 1, 2), 1), (None, None)]
    assert got[2:] == [None] * 4


def test_a_json_value_by_path(spark: Any) -> None:
    bodies = [b'{"o": {"id": 4}}', b'{"o": {"id": "x"}}', b'{"o": 1}', b"nope", None]
    assert _values(spark, columns.json_value("$.o.id", "int"), *bodies) == [4, None, None, None, None]


def test_xml_by_schema(spark: Any) -> None:
    bodies = [
        b'<o id="7"><a>1</a><a>2</a></o>',
        PREFIXED.replace(b"p:id", b"id"),
        b'<o id="x"/>',
        b"<o",
        None,
    ]
    got = _values(spark, columns.xml("_id int, a array<int>"), *bodies)
    assert [one and (one["_id"], one["a"]) for one in got] == [(7, [1, 2]), (3, [5]), None, None, None]


@pytest.mark.long
def test_xml_values_by_path(spark: Any) -> None:
    wanted = {
        ("(/o/@id)[1]", "int"): 7,
        ("/o/@id", "string"): "7",
        ("@id", "int"): 7,
        ("//a", "int"): 1,
        ("a[2]", "string"): "x",
        ("a", "array<string>"): ["1", "x"],
        ("/o", "string"): "1xtail",
        ("/o/a/text()", "int"): 1,
        ("/o[@id!='a/@b']", "string"): "1xtail",
        ("/o/b", "string"): None,
        ("/a", "string"): None,
        ("a[2]", "int"): None,
        ("/o/@none", "int"): None,
    }
    row = columns.xml_row({f"{path} {kind}": (path, kind) for path, kind in wanted})
    (got,) = _values(spark, row, ORDER)
    assert got.asDict() == {f"{path} {kind}": value for (path, kind), value in wanted.items()}


@pytest.mark.long
def test_xml_names_have_namespaces(spark: Any) -> None:
    for namespaces, path in (({"q": "urn:p"}, "/q:o/q:a"), ({"": "urn:p"}, "/o/a")):
        got = _values(spark, columns.xml_value(path, "int", namespaces=namespaces), PREFIXED)
        assert got == [5]
    assert _values(spark, columns.xml_value("@q:id", "int", namespaces={"q": "urn:p"}), PREFIXED) == [3]
    assert _values(spark, columns.xml_value("/o/a", "int"), PREFIXED) == [None]


@pytest.mark.long
def test_many_values_of_xml_at_once(spark: Any) -> None:
    row = columns.xml_row({"id": ("/o/@id", "decimal(5,2)"), "all": ("//a", "array<int>")})
    bodies = [
        ORDER,
        b'<o id="1"/><o id="2"/>',
        '<?xml version="1.0" encoding="utf-16"?><o id="9"/>'.encode("utf-16"),
        b'<!DOCTYPE o [<!ENTITY e "x">]><o>&e;</o>',
        b"<o",
        None,
    ]
    got = [one and (one["id"], one["all"]) for one in _values(spark, row, *bodies)]
    assert got == [
        (Decimal(7), [1, None]),
        (Decimal(1), []),
        (Decimal(9), []),
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("path", ["/a[[", "q:a", "a/@q:id", "a/@*"])
def test_a_path_that_is_none_is_refused_at_once(spark: Any, path: str) -> None:
    with pytest.raises(BulkError):
        columns.xml_value(path)


@pytest.mark.long
def test_each_type_is_read_by_its_schema_and_the_rest_fails(
    spark: Any, desk: Desk, tcp: Callable[[Database], str]
) -> None:
    """In every conversation: what comes after an unreadable message stays behind it."""
    good, bad, worse = desk.send(3, 0)
    for handle, kind, body in (
        (good, "trade", '{"n": 1}'),
        (good, "note", "<a>x</a>"),
        (good, "trade", '{"n": 2}'),
        (bad, "trade", '{"n": 10}'),
        (bad, "trade", "no json"),
        (bad, "trade", '{"n": 20}'),
        (worse, "note", "<a"),
        (worse, "trade", '{"n": 30}'),
    ):
        desk.connection.execute("SELECT ssb.send(%s, %s, %s::text)", (handle, kind, body))
    desk.connection.execute("SELECT ssb.end_conversation(%s)", (good,))
    seen: dict[str, list[Any]] = {}

    def program(messages: Any) -> Outputs:
        bodies = {"trade": columns.json("n long"), "note": columns.xml_value("/a")}
        by_type, failed = columns.by_type(messages, bodies)
        seen["trade"] = [row.body.n for row in by_type["trade"].orderBy("queuing_order").collect()]
        seen["note"] = [row.body for row in by_type["note"].collect()]
        seen["errors"] = sorted(row.error for row in failed.collect())
        _, undeclared = columns.by_type(messages, {"trade": bodies["trade"]})
        seen["undeclared"] = [row.error for row in undeclared.where("error LIKE '% note'").collect()]
        return Outputs(errors=failed)

    done = run_job(tcp(desk.database), "dbo.target", program, JobOptions(mode="once"))
    assert seen == {
        "trade": [1, 2, 10],
        "note": ["x"],
        "errors": [f"the body does not fit the schema of message type {name}" for name in ("note", "trade")],
        "undeclared": ["no schema is declared for message type note"] * 2,
    }
    # The broker's own EndDialog is no failure.
    assert (done.completed, done.failed) == (5, 2)
    assert desk.waiting() == 4


XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="Order"><xs:complexType>
<xs:sequence><xs:element name="Item" maxOccurs="unbounded" type="xs:string"/></xs:sequence>
<xs:attribute name="id" type="xs:int"/></xs:complexType></xs:element></xs:schema>"""


@pytest.mark.long
def test_a_schema_collection_is_a_schema(spark: Any, desk: Desk, tcp: Callable[[Database], str]) -> None:
    desk.connection.execute("SELECT ssb.create_xml_schema_collection('dbo.orders', %s)", (XSD,))
    desk.connection.execute(
        "SELECT ssb.create_message_type('order', 'VALID_XML', schema_collection => 'dbo.orders')"
    )
    dsn = tcp(desk.database)
    schema = columns.declared_schema(spark, dsn, "dbo.target", "order")
    got = _values(spark, columns.xml(schema), b'<Order id="4"><Item>a</Item><Item>b</Item></Order>')
    assert [(one["_id"], one["Item"]) for one in got] == [(4, ["a", "b"])]
    with pytest.raises(BulkError, match="declares no schema"):
        columns.declared_schema(spark, dsn, "dbo.target", "trade")
