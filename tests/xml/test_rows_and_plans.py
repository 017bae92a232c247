"""Rows of nodes(), how much they carry, and what the planner does with paths."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pgsb.compiler.sql.functions.xml_methods import levels_up
from support import Connection, Database

ORDERS = (
    '<orders at="noon"><order id="1"><who>ann</who><lines><line no="1"><what>nut</what></line>'
    '<line no="2"><what>bolt</what></line></lines></order>'
    '<order id="2"><who>bob</who><lines><line no="1"><what>cog</what></line></lines></order></orders>'
)


@pytest.fixture(scope="module")
def server(new_database: Callable[[], Database]) -> Iterator[Connection]:
    """One connection for all tests."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        yield connection


def rows(connection: Connection, path: str, upward: str, *columns: str) -> list[tuple[Any, ...]]:
    """`columns` (paths) of the nodes that `path` finds in ORDERS, carrying `upward` levels."""
    values = ", ".join(f"sys.xml_value(t.c, $c${column}$c$)" for column in columns)
    query = f"SELECT {values} FROM sys.xml_nodes('{ORDERS}'::text, '{path}', upward => {upward}) AS t(c)"
    return connection.execute(query + " ORDER BY t.place").fetchall()  # type: ignore[arg-type]


@pytest.mark.parametrize("upward", ["0", "1", "2", "3", "NULL"])
def test_a_row_knows_its_node_and_the_attributes_above(server: Connection, upward: str) -> None:
    assert rows(
        server, "/orders/order/lines/line", upward, "@no", "what[1]", "../../@id", "../../../@at", "."
    ) == [
        ("1", "nut", "1", "noon", "nut"),
        ("2", "bolt", "1", "noon", "bolt"),
        ("1", "cog", "2", "noon", "cog"),
    ]


@pytest.mark.parametrize("upward", ["2", "3", "NULL"])
def test_a_row_sees_as_far_up_as_it_was_told(server: Connection, upward: str) -> None:
    assert rows(server, "//line", upward, "../../who[1]", "count(../line)") == [
        ("ann", "2"),
        ("ann", "2"),
        ("bob", "1"),
    ]


@pytest.mark.parametrize(
    ("upward", "column"),
    [("0", "../what[1]"), ("1", "../../who[1]"), ("2", "(/orders/order/@id)[1]"), ("0", "count(//line)")],
)
def test_a_path_that_looks_further_is_refused(server: Connection, upward: str, column: str) -> None:
    with pytest.raises(psycopg.Error, match="looks further") as caught:
        rows(server, "//line", upward, column)
    assert caught.value.sqlstate == "T12KW"


def test_a_row_with_the_document_starts_paths_at_its_root(server: Connection) -> None:
    assert rows(server, "//line", "NULL", "(/orders/order/@id)[2]", "count(//line)") == [("2", "3")] * 3


def test_a_row_is_not_null(server: Connection) -> None:
    query = (
        "SELECT t.c IS NOT NULL, t.c IS NULL FROM sys.xml_nodes(%s::text, '//line[1]', upward => {}) AS t(c)"
    )
    for upward in ("0", "1", "NULL"):
        assert server.execute(query.format(upward), (ORDERS,)).fetchall() == [(True, False)] * 2  # type: ignore[arg-type]


def test_rows_sort_in_document_order(server: Connection) -> None:
    query = """SELECT string_agg(sys.xml_value(t.c, '@no'), ',' ORDER BY t.c DESC)
                 FROM sys.xml_nodes('<a><b no="2"/><c><b no="10"/></c><b no="1"/></a>'::text, '//b') t(c)"""
    assert server.execute(query).fetchone() == ("1,10,2",)


def test_attributes_and_texts_are_rows(server: Connection) -> None:
    for upward in ("0", "1", "NULL"):
        assert rows(server, "//line/@no", upward, ".", "../@no", "../../../@id") == [
            ("1", "1", "1"),
            ("2", "2", "1"),
            ("1", "1", "2"),
        ]
        assert [row[0] for row in rows(server, "//what/text()", upward, ".")] == ["nut", "bolt", "cog"]
    assert rows(server, "//line/@no", "1", "../what[1]")[1] == ("bolt",)
    assert rows(server, "//what/text()", "2", "../../@no")[1] == ("2",)


def test_rows_of_rows(server: Connection) -> None:
    query = """
        SELECT sys.xml_value(o.c, '@id'), sys.xml_value(l.c, '@no'), sys.xml_value(l.c, '../../who[1]'),
               sys.xml_query(l.c, 'what')::text, sys.xml_exist(l.c, 'what[. = "nut"]')
          FROM sys.xml_nodes(%s::text, '/orders/order', upward => 2) AS o(c)
         CROSS JOIN LATERAL sys.xml_nodes(o.c, 'lines/line', upward => 2) AS l(c)
         ORDER BY o.place, l.place"""
    assert server.execute(query, (ORDERS,)).fetchall() == [
        ("1", "1", "ann", "<what>nut</what>", 1),
        ("1", "2", "ann", "<what>bolt</what>", 0),
        ("2", "1", "bob", "<what>cog</what>", 0),
    ]
    whole = query.replace(", upward => 2", "")
    assert server.execute(whole, (ORDERS,)).fetchall() == server.execute(query, (ORDERS,)).fetchall()  # type: ignore[arg-type]


def test_rows_of_constructed_nodes(server: Connection) -> None:
    path = 'for $o in /orders/order return <z n="{$o/@id}"><v>{string($o/who[1])}</v></z>'
    query = """SELECT sys.xml_value(t.c, '@n'), sys.xml_value(t.c, 'v[1]'), sys.xml_value(t.c, '../@n')
                 FROM sys.xml_nodes(%s::text, %s) AS t(c)"""
    assert server.execute(query, (ORDERS, path)).fetchall() == [("1", "ann", None), ("2", "bob", None)]


def test_namespaces_above_a_row_are_in_scope(server: Connection) -> None:
    text = '<p:a xmlns:p="urn:p" xmlns="urn:d"><b p:n="1"><c>x</c></b></p:a>'
    query = """SELECT sys.xml_value(t.c, '@p:n', n), sys.xml_value(t.c, 'd:c[1]', n),
                      sys.xml_query(t.c, 'd:c', n)::text
                 FROM (VALUES ('{"p": "urn:p", "d": "urn:d"}'::jsonb)) AS v(n),
                      sys.xml_nodes(%s::text, '/p:a/d:b', n, upward => 0) AS t(c)"""
    assert server.execute(query, (text,)).fetchall() == [("1", "x", '<c xmlns="urn:d">x</c>')]


def test_a_constant_path_is_compiled_with_the_plan(server: Connection) -> None:
    server.execute("CREATE TEMP TABLE documents (x sys.xml)")
    plan = server.execute(
        "EXPLAIN (VERBOSE, COSTS OFF)"
        " SELECT sys.xml_value(x, '(/a/b)[1]'), sys.xml_exist(x, '/a') FROM documents"
    ).fetchall()
    text = "\n".join(row[0] for row in plan)
    assert "xq_value" in text
    assert "xq_compile" not in text
    with pytest.raises(psycopg.Error) as caught:  # no row is needed to see that this is no singleton
        server.execute("SELECT sys.xml_value(x, '/a/b') FROM documents")
    assert caught.value.sqlstate == "S2389"


def test_columns_of_type_xml_and_text_answer_alike(server: Connection) -> None:
    server.execute("CREATE TEMP TABLE kept (x sys.xml)")
    server.execute("INSERT INTO kept VALUES (sys.xml_of(%s::text))", (ORDERS,))
    query = """SELECT sys.xml_value(k.x, '(//who)[2]'), sys.xml_query(k.x, '/orders/order[1]/who')::text,
                      (SELECT count(*) FROM sys.xml_nodes(k.x, '//line')),
                      sys.xml_modify(k.x, 'delete /orders/order')::text FROM kept AS k"""
    assert server.execute(query).fetchone() == ("bob", "<who>ann</who>", 3, '<orders at="noon"/>')


def test_values_that_came_past_cast_are_understood(server: Connection) -> None:
    """As a program that fills a column of type xml by itself may write them."""
    text = "<?xml version='1.0'?>\n<a\n x = '1' ><![CDATA[<]]><b></b ></a >"
    query = (
        "SELECT sys.xml_value(%s::text, '/a[1]/@x'), sys.xml_value(%s::text, '/a[1]'),"
        " sys.xml_query(%s::text, '/a')::text"
    )
    assert server.execute(query, (text, text, text)).fetchone() == ("1", "<", '<a x="1">&lt;<b/></a>')


@pytest.mark.parametrize(
    ("path", "levels"),
    [
        ("@id", 0),
        (".", 0),
        ("../@id", 0),
        ("../../@p:id", 0),
        ("a/b[../@x = 1]", 0),
        ("../name[1]", 1),
        ("../@id[1]", 1),
        ("../../who", 2),
        ("parent::node()/a", 1),
        ("/a/b", None),
        ("(//a)[1]", None),
        ("count(/a)", None),
        ("for $x in /a return $x", None),
        ("if (a) then /b else ()", None),
        ('declare namespace p="http://x/y"; p:a/p:b', 0),
        ('(: /a .. :) b[. = "../c"]', 0),
    ],
)
def test_the_compiler_counts_what_a_path_needs(path: str, levels: int | None) -> None:
    assert levels_up(path) == levels


@pytest.mark.long
def test_bodies_of_a_large_table_become_xml(server: Connection) -> None:
    """Before version 17 PostgreSQL has no subtransactions, which an EXCEPTION needs, in parallel plans."""
    server.execute(
        "CREATE TABLE bodies AS SELECT convert_to('<a>' || i || '</a>', 'UTF8') AS body, 'QQ==' AS digits"
        "  FROM generate_series(1, 20000) AS i;"
        "ANALYZE bodies;"
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
    )
    for value in (
        "sys.xml_of(body)",
        "sys.try_xml_of(body)",
        "sys.xml_base64(digits)",
        "nullif(sys.xml_is_well_formed(body), false)",
        "sys.xml_value(sys.xml_of(body)::text, '(/a)[1]')",
    ):
        row = server.execute(f"SELECT count({value}) FROM bodies".encode()).fetchone()
        assert row == (20000,)


def test_no_function_for_parallel_plans_begins_a_subtransaction(server: Connection) -> None:
    found = server.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        r" WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys') AND p.proparallel <> 'u'"
        r"   AND p.prosrc ~ '\mEXCEPTION\s+WHEN'"
    ).fetchall()
    assert found == []


def test_no_function_for_parallel_plans_calls_one_that_is_not(server: Connection) -> None:
    """PostgreSQL believes the label: in a worker pg_backend_pid is another, inet_server_addr is NULL."""
    labels: dict[str, str] = {}
    bodies: list[tuple[str, str, str]] = []
    for name, schema, label, body in server.execute(
        "SELECT p.proname, n.nspname, p.proparallel,"
        " coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) FROM pg_proc AS p"
        " JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        " WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys', 'pg_catalog') AND p.prokind = 'f'"
    ):
        key = name if schema == "pg_catalog" else f"{schema}.{name}"
        labels[key] = max(labels.get(key, "u"), label, key="urs".index)
        if schema != "pg_catalog":
            bodies.append((key, label, re.sub(r"--.*|'[^']*'", "", body)))
    raising = {name for name, *_ in bodies if name.startswith("ssb_internal.raise_")}
    called = {
        (name, one)
        for name, label, body in bodies
        for one in re.findall(r"(?<![\w.])((?:ssb|ssb_internal|sys)\.\w+|\w+)\(", body)
        if "urs".index(labels.get(one, "s")) < "urs".index(label) and one not in raising
    }
    assert called == set()


def test_rows_of_many_joined_tables_become_xml_in_time_that_grows_with_them(server: Connection) -> None:
    """FOR XML AUTO: 20,000 rows took half a minute, since each copied what was there before."""
    nested = (
        "sys.xml_nested(ARRAY['c', 'o'], array_agg(ARRAY[format('<c a=\"%s\">', i / 10),"
        " format('<o b=\"%s\">', i)] ORDER BY i))"
    )
    server.execute("SET statement_timeout = '20s'")
    row = server.execute(f"SELECT length({nested}) FROM generate_series(1, 50000) AS i".encode()).fetchone()
    server.execute("RESET statement_timeout")
    assert row == (767800,)
    # As modules of earlier versions call it.
    pair = server.execute(
        f"SELECT {nested}, sys.xml_auto(ARRAY['c', 'o'], ARRAY[format('<c a=\"%s\">', i / 10),"
        " format('<o b=\"%s\">', i)] ORDER BY i) FROM generate_series(9, 11) AS i".encode()
    ).fetchone()
    assert pair is not None
    assert pair[0] == pair[1] == '<c a="0"><o b="9"/></c><c a="1"><o b="10"/><o b="11"/></c>'


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "'<a><![CDATA[' || repeat('<b>x</b>', 200000) || ']]></a>'",
        "'<a><!--' || repeat('<b>x</b>', 200000) || '--></a>'",
        "'<a>' || repeat('&lt;b&gt;&#233;', 200000) || '</a>'",
        "'<a>' || repeat('<![CDATA[<]]>y', 200000) || '</a>'",
        "repeat('<p:a xmlns:p=\"u\">', 20000) || repeat('</p:a>', 20000)",
        "(SELECT '<a ' || string_agg(format('xmlns:x%s=\"u\"', i), ' ') || '>'"
        " || string_agg(format('<x%s:b/>', i), '') || '</a>' FROM generate_series(1, 20000) i)",
        "(SELECT string_agg(format('<x%s:b xmlns:x%1$s=\"u\">', i), '' ORDER BY i)"
        " || string_agg(format('</x%s:b>', i), '' ORDER BY i DESC) FROM generate_series(1, 30000) i)",
        "(SELECT format('<a xmlns:x=\"u\"%s/>', string_agg(format(' x:a%s=\"\"', i), ''))"
        " FROM generate_series(1, 50000) i)",
        "'<a xmlns:x=\"' || repeat('u', 100000) || '\">' || repeat('<x:b/>', 50000) || '</a>'",
        "(SELECT format('<a%s/>', string_agg(format(' a%s =\"\"', i), '')) FROM generate_series(1, 30000) i)",
    ],
)
@pytest.mark.one_postgres
def test_text_is_read_in_time_that_grows_with_it(server: Connection, text: str) -> None:
    """A CDATA section with 40,000 tags inside took over a minute: each copied what was before."""
    server.execute("SET statement_timeout = '20s'")
    row = server.execute(f"SELECT sys.xml_is_well_formed({text})".encode()).fetchone()
    server.execute("RESET statement_timeout")
    assert row == (True,)


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("query", "for $x in /r/a return <z>{$x/b}</z>"),
        ("query", "<x>{/r/a}</x>"),
        ("value", "count(/r/a/b/..)"),
        ("value", "string(/r[1])"),
        ("modify", "delete /r/a/b"),
    ],
)
@pytest.mark.one_postgres
def test_nodes_are_found_in_time_that_grows_with_them(server: Connection, method: str, path: str) -> None:
    """A FLWOR over 100,000 elements took three minutes: what each gave was appended by copying all before."""
    server.execute("SET statement_timeout = '60s'")
    text = "<r>" + "<a><b>1</b></a>" * 100000 + "</r>"
    answer = server.execute(
        f"SELECT length(sys.xml_{method}(%s::text, %s)::text)".encode(), (text, path)
    ).fetchone()
    server.execute("RESET statement_timeout")
    lengths = {"for": 1500000, "<x>": 1500007, "cou": 6, "str": 100000, "del": 400007}
    assert answer == (lengths[path[:3]],)


@pytest.mark.parametrize(
    "path",
    [
        '(/orders/order[sql:variable("@i")]/@id)[1]',
        '(/orders/order)[sql:variable("@i")][1]/@id',
        '(/orders/order[position() = sql:variable("@i")]/@id)[1]',
        '(/orders/order[sql:variable("@i") = position()]/@id)[1]',
    ],
)
def test_a_place_that_sql_tells_is_taken_without_a_look_at_the_others(server: Connection, path: str) -> None:
    """Programs take a document's elements one after the other so."""
    variable = "jsonb_build_object('@i', %s::text::jsonb)"
    query = f"SELECT sys.xml_value('{ORDERS}'::text, '{path}', NULL, {variable})"
    with server.transaction(force_rollback=True):
        server.execute("SET LOCAL track_functions = 'all'")
        found = [
            server.execute(query, [place]).fetchone() for place in ("1", "2", "2.0", "1.5", "0", "-1", "3")
        ]  # type: ignore[arg-type]
        asked = server.execute(
            "SELECT count(*) FROM pg_stat_xact_user_functions WHERE funcname = 'xq_holds' AND calls > 0"
        ).fetchone()
    assert found == [("1",), ("2",), ("2",), (None,), (None,), (None,), (None,)]
    assert asked == (0,)
    # No number is no place.
    for value, shown in (('"x"', "1"), ("null", None), ("true", "1")):
        if path == '(/orders/order[sql:variable("@i")]/@id)[1]':
            assert server.execute(query, [value]).fetchone() == (shown,)  # type: ignore[arg-type]
