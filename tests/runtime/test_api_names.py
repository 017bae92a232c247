"""Whatever is given for a name or a body: what the words say is done, or an error of SQL Server's comes."""

import re
from collections.abc import Callable

import psycopg
import pytest
from runtime.broker import Session, refused

from support import Connection

BAD = (
    *(None, "", "a.b.c.d.e", '"', "[", "dbo.", "\u0001", "no such name", "dbo.none", "it's"),
    *("x" * 300, "ü" * 129),
)
BAD_LISTS = ("NULL", "'{}'", "'{NULL}'", "ARRAY['']", "'{no such name,NULL}'", "ARRAY[repeat('x', 300)]")


@pytest.mark.long
def test_every_function_answers_a_bad_name_with_a_number(connect: Callable[..., Connection]) -> None:
    """Each text, list of texts and handle of each public function, the others being well."""
    sql = connect()
    sql.execute("SELECT ssb.create_queue('dbo.q'); SELECT ssb.create_service('s', 'dbo.q', '{DEFAULT}')")
    functions = sql.execute(
        "SELECT p.proname, p.prokind, proargtypes::regtype[]::text[] FROM pg_proc AS p"
        " WHERE pronamespace = 'ssb'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')"
        " AND prorettype <> 'trigger'::regtype AND proname !~ 'wait|afar|diagnose|trace' ORDER BY 1"
    ).fetchall()
    good = {"text": "'dbo.q'::text", "uuid": "gen_random_uuid()", "integer": "1", "boolean": "true"}
    wrong = []
    for name, kind, types in functions:
        for place, type_ in enumerate(types):
            bad_ones = {
                "text": [psycopg.sql.Literal(bad).as_string() + "::text" for bad in BAD],
                "text[]": [f"{bad}::text[]" for bad in BAD_LISTS],
                "uuid": ["NULL::uuid"],
            }
            for bad in bad_ones.get(type_, []):
                values = [good.get(one, f"NULL::{one}") for one in types]
                values[place] = bad
                call = f"{'CALL' if kind == 'p' else 'SELECT * FROM'} ssb.{name}({', '.join(values)})"
                try:
                    with sql.transaction(force_rollback=True):
                        sql.execute("SET LOCAL statement_timeout = '5s'")
                        sql.execute(call.encode())
                except psycopg.Error as error:
                    if not re.match("S[0-9]{4}|T[0-9A-Z]{4}", error.sqlstate or ""):
                        wrong.append((error.sqlstate, call, str(error).splitlines()[0]))
    assert wrong == []


def test_a_body_of_text_by_its_name(connect: Callable[..., Connection]) -> None:
    session = Session(connect())
    session.do("SELECT ssb.create_queue('dbo.q'); SELECT ssb.create_service('s', 'dbo.q', '{DEFAULT}')")
    handle = session.value("SELECT ssb.begin_dialog('s', 's')")
    session.do("SELECT ssb.send(%s, body => 'C:\\new é  ')", handle)
    session.do("SELECT ssb.send(%s, body => %s::text)", handle, "typed ")
    session.do("SELECT ssb.send(%s, body => %s::bytea)", handle, b"bytes")
    with refused(8433):
        session.do("SELECT ssb.send(%s, body => NULL::text)", handle)
    with pytest.raises(psycopg.Error) as caught:
        session.do("SELECT ssb.send(%s, 'hello')", handle)
    assert caught.value.sqlstate == "S8428"
    assert "ssb.send(handle, body => …)" in (caught.value.diag.message_hint or "")
    got = session.column("SELECT message_body FROM ssb.receive('dbo.q')")
    assert got == ["C:\\new é  ".encode(), b"typed ", b"bytes"]


def test_a_watched_queue_without_activation_notifies(connect: Callable[..., Connection]) -> None:
    session = Session(connect())
    session.do("SELECT ssb.create_queue('dbo.q'); SELECT ssb.create_service('s', 'dbo.q', '{DEFAULT}')")
    number = session.value("SELECT object_id FROM sys.service_queues WHERE name = 'q'")
    session.do("LISTEN ssb_arrival")
    handle = session.value("SELECT ssb.begin_dialog('s', 's')")
    session.send(handle, "DEFAULT", "not watched")
    session.do("SELECT ssb.watch_queue('dbo.q', true)")
    session.send(handle, "DEFAULT", "watched")
    session.do("SELECT ssb.watch_queue('dbo.q', false)")
    session.send(handle, "DEFAULT", "not any more")
    notices = [(one.channel, one.payload) for one in session.connection.notifies(timeout=0.2)]
    assert notices == [("ssb_arrival", str(number))]


def test_a_queue_named_as_in_t_sql_is_told_its_name_here(connect: Callable[..., Connection]) -> None:
    sql = connect()
    sql.execute("SELECT ssb.create_database('Sales'), ssb.use_database('Sales')")
    sql.execute("SELECT ssb.create_queue('sales_dbo.orders', spelling => 'Orders')")
    for name in ("dbo.Orders", "dbo.orders"):
        with pytest.raises(psycopg.Error) as caught:
            sql.execute("SELECT FROM ssb.receive(%s)", [name])
        assert caught.value.sqlstate == "S0208"
        assert (caught.value.diag.message_hint or "").endswith(
            "that of the database [Sales] is 'sales_dbo.orders'."
        )
    with pytest.raises(psycopg.Error) as caught:
        sql.execute("SELECT FROM ssb.receive('dbo.none')")
    assert caught.value.diag.message_hint is None
