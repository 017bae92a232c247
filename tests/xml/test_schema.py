"""XML Schema: what is valid, what is not and why, and which schemas are refused.

schemas/valid/*.txt: the inside of a schema (the prefix xs is declared), a line of dashes, then one
body a line and the reason for which SQL Server would reject it, nothing for a valid one. Reasons are
shortened: without "XML Validation:" and "Location:". \\n in a body is a line end.
schemas/refused.txt: the inside of a schema, and the error of CREATE XML SCHEMA COLLECTION.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from support import Connection, Database

SCHEMAS = Path(__file__).parent / "schemas"
REFUSED = tuple(
    line.rpartition(" -> ")[::2]
    for line in (SCHEMAS / "refused.txt").read_text(encoding="utf-8").splitlines()
)


@pytest.fixture(scope="module")
def server(new_database: Callable[[], Database]) -> Iterator[Connection]:
    """One connection for all cases."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE collection (schema jsonb)")
        yield connection


def schema(inside: str, attributes: str = "") -> str:
    """A schema document around declarations."""
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" {attributes}>{inside}</xs:schema>'


def create(connection: Connection, schemas: str) -> None:
    """Compile documents into the one collection that `reason` uses."""
    connection.execute("TRUNCATE collection")
    connection.execute("INSERT INTO collection VALUES (ssb_internal.compile_xml_schema(%s))", (schemas,))


def reason(connection: Connection, body: str) -> str:
    """Why a body is not valid, in the short form of the tables; '' if it is."""
    row = connection.execute(
        "SELECT ssb_internal.xml_schema_validate(schema, %s::text) FROM collection", (body,)
    ).fetchone()
    assert row is not None
    return re.sub(r"^XML Validation: ", "", row[0] or "").replace(" Location: ", " ")


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("valid/*.txt")), ids=lambda path: path.stem)
def test_bodies_are_judged(server: Connection, path: Path) -> None:
    inside, _, bodies = path.read_text(encoding="utf-8").partition("----\n")
    create(server, '<?xml version="1.0"?>\n' + schema(inside))
    lines = bodies.splitlines()
    assert lines
    for line in lines:
        body, arrow, expected = line.rpartition(" -> ")
        assert arrow, line
        assert f"{body} -> {reason(server, body.replace(chr(92) + 'n', chr(10)))}" == f"{body} -> {expected}"


@pytest.mark.parametrize(("inside", "expected"), REFUSED)
def test_a_schema_is_refused_by_name_and_place(server: Connection, inside: str, expected: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        create(server, schema(inside))
    number = int((caught.value.sqlstate or "S0")[1:])
    assert f"{number}: {caught.value.diag.message_primary}" == expected


def test_what_is_no_schema_is_refused(server: Connection) -> None:
    for text, number in (("<a/>", 2378), ("", 2378), ("<xs:schema", 9400), (None, 6361)):
        with pytest.raises(psycopg.Error) as caught:
            server.execute("SELECT ssb_internal.compile_xml_schema(%s)", (text,))
        assert caught.value.sqlstate == f"S{number}"
        with pytest.raises(psycopg.Error) as caught:  # ALTER XML SCHEMA COLLECTION … ADD
            server.execute(
                "SELECT ssb_internal.xml_schema_merge(ssb_internal.compile_xml_schema(%s), %s)",
                (schema('<xs:element name="x"/>'), text),
            )
        assert caught.value.sqlstate == f"S{number}"


def test_many_and_deep_elements_are_counted_in_one_pass(server: Connection) -> None:
    create(
        server,
        schema(
            '<xs:element name="many"><xs:complexType><xs:sequence>'
            '<xs:element name="x" minOccurs="3" maxOccurs="1000"/>'
            "</xs:sequence></xs:complexType></xs:element>"
            '<xs:element name="tree"><xs:complexType><xs:sequence>'
            '<xs:element ref="tree" minOccurs="0" maxOccurs="unbounded"/>'
            "</xs:sequence></xs:complexType></xs:element>"
        ),
    )
    assert (
        reason(server, "<many>" + "<x/>" * 2 + "</many>")
        == "Invalid content. Expected element(s): 'x'. /*:many[1]"
    )
    assert reason(server, "<many>" + "<x/>" * 1000 + "</many>") == ""
    assert (
        reason(server, "<many>" + "<x/>" * 1001 + "</many>")
        == "Unexpected element(s): x. /*:many[1]/*:x[1001]"
    )
    assert reason(server, "<tree>" * 1200 + "</tree>" * 1200) == ""


@pytest.mark.long
@pytest.mark.one_postgres
def test_particles_of_one_name_and_many_ids_cost_what_the_body_is_long(server: Connection) -> None:
    """1,000 elements that two particles admit took a minute, as each doubled the ways to where it is."""
    create(
        server,
        schema(
            '<xs:element name="twice"><xs:complexType><xs:sequence>'
            '<xs:element name="x" minOccurs="0" maxOccurs="unbounded"/>'
            '<xs:element name="x" minOccurs="0" maxOccurs="unbounded"/>'
            "</xs:sequence></xs:complexType></xs:element>"
            '<xs:element name="ids"><xs:complexType><xs:sequence><xs:element name="x" maxOccurs="unbounded">'
            '<xs:complexType><xs:attribute name="i" type="xs:ID"/></xs:complexType>'
            "</xs:element></xs:sequence></xs:complexType></xs:element>"
        ),
    )
    server.execute("SET statement_timeout = '30s'")
    assert reason(server, "<twice>" + "<x/>" * 3000 + "</twice>") == ""
    assert reason(server, "<ids>" + "".join(f'<x i="n{i}"/>' for i in range(10000)) + "</ids>") == ""
    server.execute("RESET statement_timeout")


@pytest.mark.one_postgres
def test_a_pattern_may_count_further_than_a_regular_expression_of_postgresql(server: Connection) -> None:
    long = "<long>" + "ab" * 150 + "c</long>"
    create(
        server,
        schema(
            '<xs:element name="long"><xs:simpleType><xs:restriction base="xs:string">'
            '<xs:pattern value="(a|b){2,300}c"/></xs:restriction></xs:simpleType></xs:element>'
        ),
    )
    assert reason(server, long) == ""
    assert reason(server, long.replace("<long>", "<long>a")).startswith("Invalid simple type value")


@pytest.mark.one_postgres
def test_a_large_schema_is_compiled_in_time_that_grows_with_it(server: Connection) -> None:
    """3,000 enumerated values took half a minute: each was counted from the first one on."""
    values = "".join(f'<xs:enumeration value="v{i}"/>' for i in range(3000))
    server.execute("SET statement_timeout = '10s'")
    create(
        server,
        schema(
            '<xs:element name="x"><xs:simpleType><xs:restriction base="xs:string">'
            f"{values}</xs:restriction></xs:simpleType></xs:element>"
        ),
    )
    server.execute("RESET statement_timeout")
    assert reason(server, "<x>v2999</x>") == ""
    assert reason(server, "<x>v3000</x>") == "Invalid simple type value: 'v3000'. /*:x[1]"


@pytest.mark.one_postgres
def test_a_model_too_large_is_refused(server: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        create(
            server,
            schema(
                '<xs:complexType name="t"><xs:sequence maxOccurs="40">'
                + '<xs:element name="a"/>' * 80
                + "</xs:sequence></xs:complexType>"
            ),
        )
    assert caught.value.sqlstate == "S6998"


def test_namespaces_meet_across_documents(server: Connection) -> None:
    orders = schema(
        """<xs:import namespace="urn:types"/><xs:element name="order"><xs:complexType><xs:sequence>
             <xs:element name="line" type="t:Line" maxOccurs="unbounded"/>
             <xs:element ref="t:note" minOccurs="0"/>
           </xs:sequence><xs:attribute ref="t:at"/></xs:complexType></xs:element>""",
        'targetNamespace="urn:orders" xmlns:t="urn:types" elementFormDefault="qualified"',
    )
    types = schema(
        """<xs:complexType name="Line"><xs:sequence><xs:element name="qty" type="xs:int"/></xs:sequence>
           </xs:complexType><xs:element name="note" type="xs:string"/>
           <xs:attribute name="at" type="xs:date"/>""",
        'targetNamespace="urn:types"',
    )
    create(server, orders + types)
    good = (
        '<o:order xmlns:o="urn:orders" xmlns:t="urn:types" t:at="2026-11-20"><o:line><qty>1</qty></o:line>'
        "<t:note>n</t:note></o:order>"
    )
    assert reason(server, good) == ""
    assert reason(server, good.replace("<qty>", "<o:qty>").replace("</qty>", "</o:qty>")) == (
        "Invalid content. Expected element(s): 'qty'. Found: element '{urn:orders}qty' instead. "
        "/*:order[1]/*:line[1]/*:qty[1]"
    )
    assert reason(server, good.replace("t:at", "at")) == (
        "Attribute 'at' is not permitted in this context. /*:order[1]/@*:at"
    )
    assert reason(server, '<order xmlns="urn:orders"><line><qty xmlns="">1</qty></line></order>') == ""
    assert reason(server, "<order/>") == "Declaration not found for element 'order'. /*:order[1]"
    row = server.execute("SELECT ssb_internal.xml_schema_namespaces(schema) FROM collection").fetchone()
    assert row == (["urn:orders", "urn:types"],)


def test_a_collection_grows(server: Connection) -> None:
    first = schema(
        '<xs:element name="a" type="T"/>'
        '<xs:simpleType name="T"><xs:restriction base="xs:int"/></xs:simpleType>'
    )
    second = schema('<xs:element name="b" type="T"/>')
    create(server, first)
    server.execute("UPDATE collection SET schema = ssb_internal.xml_schema_merge(schema, %s)", (second,))
    assert reason(server, "<a>1</a><b>2</b>") == ""
    with pytest.raises(psycopg.Error) as caught:
        server.execute("UPDATE collection SET schema = ssb_internal.xml_schema_merge(schema, %s)", (first,))
    assert caught.value.sqlstate == "S6310"


def test_bytes_are_validated_in_their_encoding(server: Connection) -> None:
    create(
        server,
        schema(
            '<xs:element name="a"><xs:simpleType><xs:restriction base="xs:string"><xs:length value="1"/>'
            "</xs:restriction></xs:simpleType></xs:element>"
        ),
    )
    query = "SELECT ssb_internal.xml_schema_validate(schema, %s::bytea) FROM collection"
    for encoding, declared in (("utf-8", "utf-8"), ("latin-1", "iso-8859-1"), ("utf-16", "utf-16")):
        body = f'<?xml version="1.0" encoding="{declared}"?><a>é</a>'.encode(encoding)
        assert server.execute(query, (body,)).fetchone() == (None,)
    assert server.execute(query, (b"<a>",)).fetchone() == (
        "XML parsing: line 1, character 3, unexpected end of input",
    )


def test_a_typed_value_is_checked_with_the_number_of_its_fault(server: Connection) -> None:
    create(
        server,
        schema(
            '<xs:element name="a"><xs:complexType>'
            '<xs:sequence><xs:element name="b" type="xs:int"/></xs:sequence>'
            '<xs:attribute name="c" use="required"/></xs:complexType></xs:element>'
        ),
    )
    query = "SELECT ssb_internal.typed_xml(sys.xml_of(%s::text), schema, %s)::text FROM collection"
    good = '<a c="1"><b>2</b></a>'
    assert server.execute(query, (good, True)).fetchone() == (good,)
    assert server.execute(query, (good + good, False)).fetchone() == (good + good,)
    for body, document, number in (
        (good + good, True, 6901),
        ('<a c="1" d="2"/>', False, 6905),
        ("<a/>", False, 6906),
        ('<a c="1"/>', False, 6908),
        ('<a c="1">t</a>', False, 6909),
        ('<a c="1"><b><c/></b></a>', False, 6912),
        ("<z/>", False, 6913),
        (good.replace("</a>", "<b>1</b></a>"), False, 6923),
        (good.replace("2", "x"), False, 6926),
        ('<a c="1"><z/></a>', False, 6965),
    ):
        with pytest.raises(psycopg.Error) as caught:
            server.execute(query, (body, document))
        assert (body, caught.value.sqlstate) == (body, f"S{number}")
