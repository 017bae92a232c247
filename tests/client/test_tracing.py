"""Trace context goes with a message, and who receives it continues the trace."""

import asyncio
from collections.abc import Callable, Iterator

import psycopg
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import pgsb.client
from pgsb.client.tracing import traced
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def sql(connect: Callable[..., Connection]) -> Connection:
    connection = connect()
    connection.execute(
        "SELECT ssb.create_queue('dbo.near'), ssb.create_queue('dbo.far'),"
        " ssb.create_service('//Near', 'dbo.near'), ssb.create_service('//Far', 'dbo.far', '{DEFAULT}')"
    )
    return connection


@pytest.fixture
def session(database: Database, sql: Connection) -> Iterator[pgsb.client.Session]:
    with pgsb.client.connect(database.dsn) as one:
        yield one


def test_each_message_has_its_own_context(session: pgsb.client.Session) -> None:
    handle = session.begin_dialog("//Near", "//Far")
    other = PARENT.replace("4bf9", "aaaa")
    for body, parent in [("a", PARENT), ("b", None), ("c", other)]:
        session.send(handle, body=body)
        if parent:
            assert session.sql.execute(
                "SELECT ssb.trace_message(%s, %s, 'x=1')", [handle, parent]
            ).fetchone() == (True,)
    received = session.receive("dbo.far")
    assert [message.text for message in received] == ["a", "b", "c"]
    found = session.sql.execute(
        "SELECT * FROM ssb.message_traces(%s, %s) ORDER BY 1",
        [received[0].conversation, [message.queuing_order for message in received]],
    ).fetchall()
    assert found == [(received[0].queuing_order, PARENT, "x=1"), (received[2].queuing_order, other, "x=1")]
    # Told once: nothing is left behind.
    assert session.sql.execute("SELECT count(*) FROM ssb.message_trace").fetchone() == (0,)


def test_what_was_not_sent_here_has_none(session: pgsb.client.Session, database: Database) -> None:
    for service in ("//Far", "//Nowhere"):
        handle = session.begin_dialog("//Near", service)
        session.send(handle, body="x")
        with pgsb.client.connect(database.dsn) as other:
            assert other.sql.execute("SELECT ssb.trace_message(%s, %s)", [handle, PARENT]).fetchone() == (
                False,
            )


def test_wrong_contexts_are_errors(session: pgsb.client.Session) -> None:
    handle = session.begin_dialog("//Near", "//Far")
    session.send(handle, body="x")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="is no W3C traceparent"):
        session.sql.execute("SELECT ssb.trace_message(%s, 'nonsense')", [handle])
    with pytest.raises(psycopg.Error, match="is not found"):
        session.sql.execute("SELECT ssb.trace_message(gen_random_uuid(), %s)", [PARENT])


def test_contexts_are_for_those_who_may(
    session: pgsb.client.Session, sql: Connection, database: Database
) -> None:
    handle = session.begin_dialog("//Near", "//Far")
    session.send(handle, body="x")
    session.sql.execute("SELECT ssb.trace_message(%s, %s)", [handle, PARENT])
    sql.execute("CREATE ROLE tracer_nobody LOGIN")
    try:
        with psycopg.connect(database.dsn, user="tracer_nobody", autocommit=True) as other:
            for asked in ("ssb.trace_message(%s, %s)", "ssb.message_traces(%s, ARRAY[0, 1]::bigint[])"):
                with pytest.raises(psycopg.Error, match="RECEIVE permission was denied"):
                    other.execute(f"SELECT {asked}", [handle, PARENT][: asked.count("%s")])
    finally:
        sql.execute("DROP ROLE tracer_nobody")


def test_spans_of_sender_and_receiver_are_one_trace(session: pgsb.client.Session) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    near = traced(session, tracer)
    with tracer.start_as_current_span("order") as order:
        handle = near.begin_dialog("//Near", "//Far")
        near.send(handle, body="three rolls")
    with near.transaction():
        (message,) = near.receive("dbo.far")
        with near.processing(message):
            near.reply(message, body="ready")
    (answer,) = near.receive("dbo.near")
    with near.processing(answer):
        pass
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert {span.context.trace_id for span in spans.values() if span.context} == {
        order.get_span_context().trace_id
    }
    names = [span.name for span in exporter.get_finished_spans()]
    assert names == ["send DEFAULT", "order", "send DEFAULT", "process DEFAULT", "process DEFAULT"]
    first, _, reply, processed, heard = exporter.get_finished_spans()
    assert processed.parent is not None and first.context is not None
    assert processed.parent.span_id == first.context.span_id
    assert reply.parent is not None and processed.context is not None
    assert reply.parent.span_id == processed.context.span_id
    assert heard.parent is not None and reply.context is not None
    assert heard.parent.span_id == reply.context.span_id


def test_an_untraced_session_writes_nothing(session: pgsb.client.Session) -> None:
    handle = session.begin_dialog("//Near", "//Far")
    session.send(handle, body="x")
    assert session.sql.execute("SELECT count(*) FROM ssb.message_trace").fetchone() == (0,)
    near = traced(session)
    (message,) = near.receive("dbo.far")
    # Without a context of its sender a message begins a trace of its own.
    with near.processing(message) as span:
        assert span is not None


def test_a_new_dialog_carries_the_trace_with_its_first_message(session: pgsb.client.Session) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    near = traced(session, provider.get_tracer("test"))
    handle = near.send_new("//Near", "//Far", body="three rolls")
    (message,) = near.receive("dbo.far")
    with near.processing(message):
        pass
    with pytest.raises(pgsb.client.BrokerError):
        near.send_new("//Near", "//Far", "no such contract")
    sent, processed, failed = exporter.get_finished_spans()
    assert sent.attributes is not None and sent.context is not None
    assert sent.attributes["messaging.message.conversation_id"] == str(handle)
    assert processed.parent is not None and processed.parent.span_id == sent.context.span_id
    assert failed.name == "send DEFAULT" and not failed.status.is_ok
    assert session.sql.execute("SELECT count(*) FROM ssb.message_trace").fetchone() == (0,)


def test_a_session_sets_its_context_without_opentelemetry(
    session: pgsb.client.Session, database: Database
) -> None:
    session.set_trace(PARENT, "x=1")
    handle = session.begin_dialog("//Near", "//Far")
    session.send(handle, body="one")

    async def send_two() -> None:
        async with await pgsb.client.connect_async(database.dsn) as other:
            await other.set_trace(PARENT)
            await other.send(handle, body="two")
            await other.set_trace(None)
            await other.send(handle, body="three")

    asyncio.run(send_two())
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        session.set_trace("nonsense")
    found = session.sql.execute(
        "SELECT traceparent, tracestate FROM ssb.message_trace ORDER BY queuing_order"
    ).fetchall()
    assert found == [(PARENT, "x=1"), (PARENT, None)]
