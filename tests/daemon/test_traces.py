"""Trace context travels with messages, also over instances, and every program continues it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from instances import Side
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from activation import Daemon, activate, send, until
from pgsb.daemon.config import Program
from pgsb.daemon.spans import Span
from pgsb.observe.traces.export import Exporter
from support import Connection, Database, rest_is_long

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
REPLY = """
DECLARE m ssb.message;
BEGIN
    FOR m IN SELECT * FROM ssb.receive('dbo.to_queue', 1) LOOP
        PERFORM ssb.send(m.conversation_handle, 'DEFAULT', 'answer'::text);
    END LOOP;
    COMMIT;
END;
"""


def traces(connection: Connection, queue: str) -> list[str | None]:
    """Of the messages in the queue, in order, the traceparent of each."""
    return [
        row[0]
        for row in connection.execute(
            "SELECT t.traceparent FROM ssb.message_stored AS m JOIN ssb.queue AS q ON q.queue_id = m.queue_id"
            " LEFT JOIN ssb.message_trace AS t"
            "   ON t.endpoint_id = m.endpoint_id AND t.queuing_order = m.queuing_order"
            " WHERE q.name = %s ORDER BY m.queuing_order",
            [queue],
        ).fetchall()
    ]


def trace_id(traceparent: str | None) -> str:
    assert traceparent is not None
    return traceparent.split("-")[1]


@pytest.mark.parametrize("retains", [False, True])
def test_every_way_of_sending_takes_the_sessions_context(sql: Connection, retains: bool) -> None:
    sql.execute("SELECT ssb.alter_queue('dbo.from_queue', retention => %s)", [retains])
    sql.execute("SELECT ssb.create_message_type('//Xml', 'WELL_FORMED_XML')")
    sql.execute("SELECT ssb.create_contract('//Mixed', '{//Xml,DEFAULT}', '{ANY,ANY}')")
    sql.execute("SELECT ssb.alter_service('//To', add_contracts => '{//Mixed}')")
    plain = send(sql, "first is made with the target's side", "before")
    sql.execute("SELECT ssb.set_trace_context(%s, 'vendor=1')", [PARENT])
    send(sql, "once more", conversation=plain)
    send(sql, "a new dialog")
    sql.execute("SELECT ssb.send_new('//From', '//To', 'DEFAULT', 'DEFAULT', 'both at once'::text)")
    (checked,) = sql.execute("SELECT ssb.begin_dialog('//From', '//To', '//Mixed')").fetchone() or ()
    sql.execute("SELECT ssb.send(%s, '//Xml', '<a/>'::text)", [checked])
    sql.execute("SELECT ssb.send(%s)", [checked])
    sql.execute("SELECT ssb.send_many(ARRAY[%s, %s]::uuid[], 'DEFAULT', 'to all'::text)", [plain, checked])
    sql.execute(
        "SELECT ssb.send_batch(array_fill(%s::uuid, '{5}'), array_fill('DEFAULT'::text, '{5}'),"
        " array_fill('\\x00'::bytea, '{5}'))",
        [plain],
    )
    sql.execute("SELECT ssb.set_trace_context(NULL)")
    send(sql, "afterwards", conversation=plain)
    assert traces(sql, "dbo.to_queue") == [None, None, *[PARENT] * 12, None]
    assert sql.execute("SELECT DISTINCT tracestate FROM ssb.message_trace").fetchall() == [("vendor=1",)]


def test_waiting_messages_keep_it(sql: Connection) -> None:
    handle = send(sql, "the queue is on")
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', status => false)")
    with sql.transaction():
        sql.execute("SELECT ssb.set_trace_context(%s, 'x=1', is_local => true)", [PARENT])
        send(sql, "waits", conversation=handle)
    other = PARENT.replace("4bf9", "aaaa")
    send(sql, "without", "told afterwards", conversation=handle)
    assert sql.execute("SELECT ssb.trace_message(%s, %s)", [handle, other]).fetchone() == (True,)
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', status => true)")
    assert traces(sql, "dbo.to_queue") == [None, PARENT, None, other]


def test_who_forgets_them_reads_the_old_ones_alone(sql: Connection) -> None:
    read = (
        "SELECT sum(idx_tup_fetch + seq_tup_read) FROM pg_stat_xact_user_tables"
        " WHERE relname IN ('message_trace', 'trace_span')"
    )
    with sql.transaction(force_rollback=True):
        sql.execute(
            "INSERT INTO ssb.message_trace (endpoint_id, queuing_order, traceparent, noted_at)"
            " SELECT -1, n, %s, now() - CASE WHEN n = 1 THEN interval '25 hours' ELSE interval '1 hour' END"
            " FROM generate_series(1, 3000) AS n",
            [PARENT],
        )
        sql.execute(
            "INSERT INTO ssb.trace_span (traceparent, name, kind, began_at, ended_at)"
            " SELECT %s, 'x', 'producer', now(),"
            " now() - CASE WHEN n = 1 THEN interval '2 hours' ELSE interval '1 minute' END"
            " FROM generate_series(1, 3000) AS n",
            [PARENT],
        )
        (before,) = sql.execute(read).fetchone() or ()
        sql.execute("SET LOCAL enable_seqscan = off")
        sql.execute("SELECT ssb_internal.forget_traces()")
        (after,) = sql.execute(read).fetchone() or ()
        assert 2 <= after - before < 100
        (left,) = (
            sql.execute("SELECT count(*) FROM ssb.message_trace WHERE endpoint_id = -1").fetchone() or ()
        )
        assert left == 2999


@pytest.mark.parametrize("by_name", [False, True])
def test_what_is_received_is_continued(sql: Connection, by_name: bool) -> None:
    handle = send(sql, "one")
    sql.execute("SELECT ssb.set_trace_context(%s)", [PARENT])
    send(sql, "two", conversation=handle)
    # This session has no context of its own to begin with, and continues what comes.
    sql.execute("SET pgsb.traceparent = 'continue'")
    with sql.transaction():
        rows = sql.execute("SELECT conversation_handle FROM ssb.receive('dbo.to_queue', 1)").fetchall()
        send(sql, "nothing to continue", conversation=rows[0][0])
    with sql.transaction():
        sql.execute(
            "SELECT ssb.receive('dbo.to_queue', 1, conversation => %s)", [rows[0][0] if by_name else None]
        )
        send(sql, "the same conversation", conversation=rows[0][0])
        send(sql, "another")
    send(sql, "another transaction")
    assert traces(sql, "dbo.from_queue") == [None, PARENT]
    assert traces(sql, "dbo.to_queue") == [PARENT, None]


@pytest.mark.parametrize("nonsense", ["nonsense", PARENT + "0", PARENT.upper()])
def test_what_is_no_context_is_none(nonsense: str, sql: Connection) -> None:
    sql.execute("SELECT set_config('pgsb.traceparent', %s, false)", [nonsense])
    send(sql, "sent all the same")
    assert traces(sql, "dbo.to_queue") == [None]


@pytest.mark.long
def test_a_service_program_continues_it_and_its_spans_are_told(
    sql: Connection, daemon: Callable[..., Daemon]
) -> None:
    memory = InMemorySpanExporter()
    with Exporter(SimpleSpanProcessor(memory)) as exporter:
        activate(sql, REPLY)
        daemon(spans=exporter)
        sql.execute("SELECT ssb.set_trace_context(%s)", [PARENT])
        send(sql, "question")

        def told() -> list[Any]:
            return list(memory.get_finished_spans())

        until(lambda: {"activate", "receive", "send"} <= {one.name.split()[0] for one in told()})
        (answer,) = traces(sql, "dbo.from_queue")
        spans = {one.name: one for one in told()}
    received, sent = spans["receive dbo.to_queue"], spans["send DEFAULT"]
    activation = next(
        one
        for one in told()
        if one.name == "activate dbo.to_queue" and one.context.span_id == received.links[0].context.span_id
    )
    assert f"{received.context.trace_id:032x}" == f"{sent.context.trace_id:032x}" == TRACE
    assert f"{received.parent.span_id:016x}" == PARENT.split("-")[2]
    assert sent.parent.span_id == received.context.span_id
    assert answer is not None
    assert answer.split("-")[2] == f"{sent.context.span_id:016x}"
    assert activation.parent is None
    assert activation.attributes == {
        "messaging.system": "pgsb",
        "pgsb.queue": "dbo.to_queue",
        "pgsb.program": "dbo.program",
    }
    assert sent.attributes["pgsb.to_service"] == "//From"
    assert sql.execute("SELECT count(*) FROM ssb.trace_span").fetchone() == (0,)


@pytest.mark.one_postgres
def test_a_program_that_fails_has_a_span_with_its_error(
    sql: Connection, daemon: Callable[..., Daemon]
) -> None:
    spans: list[Span] = []
    activate(sql, "BEGIN RAISE EXCEPTION 'no paper'; END;")
    daemon(spans=spans.append)
    send(sql, "print")
    until(lambda: spans)
    assert (spans[0].name, spans[0].error) == ("activate dbo.to_queue", "no paper")


@pytest.mark.long
@pytest.mark.one_postgres
def test_an_external_program_continues_it(
    sql: Connection, daemon: Callable[..., Daemon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "traced_desk.py").write_text(
        "def answer(session, message):\n    session.reply(message, body='answer')\n", encoding="utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(sys.path)}")
    spans: list[Span] = []
    sql.execute(
        "SELECT ssb.alter_queue('dbo.to_queue', activation_status => true, external_program => 'answering',"
        " max_queue_readers => 1, execute_as => 'OWNER')"
    )
    sql.execute("SELECT ssb.set_trace_context(%s)", [PARENT])
    send(sql, "question")
    daemon(spans=spans.append, programs={"answering": Program("answering", "traced_desk:answer")})
    until(lambda: traces(sql, "dbo.from_queue"))
    (answer,) = traces(sql, "dbo.from_queue")
    until(lambda: any(one.name == "send DEFAULT" for one in spans))
    sent = next(one for one in spans if one.name == "send DEFAULT")
    assert sent.trace == answer
    assert trace_id(answer) == TRACE


@pytest.mark.one_postgres
@pytest.mark.parametrize("is_traced", rest_is_long([False, True], True))
def test_it_crosses_to_another_instance_and_back(
    is_traced: bool, near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    spans: list[Span] = []
    options = {"spans": spans.append} if is_traced else {}
    near.do("SELECT ssb.set_trace_context(%s, 'x=1')", PARENT)
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one")
    near.do("SELECT ssb.set_trace_context(NULL)")
    near.send(handle, "//Ask", "two")
    daemons(near, **options)
    daemons(far, **options)
    until(lambda: len(traces(far.connection, "dbo.far_queue")) == 2)
    arrived, none = traces(far.connection, "dbo.far_queue")
    assert none is None
    assert trace_id(arrived) == TRACE
    assert far.column("SELECT tracestate FROM ssb.message_trace") == ["x=1"]
    far.do("SET pgsb.traceparent = 'continue'")
    with far.connection.transaction():
        ((there, _, _), *_) = far.receive(2)
        far.send(there, "//Answer", "three")
    until(lambda: traces(near.connection, "dbo.near_queue"))
    (answer,) = traces(near.connection, "dbo.near_queue")
    assert trace_id(answer) == TRACE
    if is_traced:
        until(lambda: len(spans) == 2)
        by_type = {one.attributes["pgsb.message_type"]: one for one in spans}
        first, second = by_type["//Ask"], by_type["//Answer"]
        assert (first.parent, first.trace) == (f"{PARENT} x=1", f"{arrived} x=1")
        assert (second.parent, second.trace) == (f"{arrived} x=1", f"{answer} x=1")
        assert first.name == "transport TCP://far.example:4022"
    else:
        assert arrived == answer == PARENT


def test_a_job_that_completes_a_claim_continues_each_messages_trace(sql: Connection) -> None:
    other = PARENT.replace("4bf9", "aaaa")
    for parent in (PARENT, other, None):
        sql.execute("SELECT ssb.set_trace_context(%s)", [parent])
        send(sql, "numbers")
    (claim_id,) = (
        sql.execute(
            "SELECT claim_id FROM ssb_internal.claim_messages('dbo.to_queue', NULL, NULL, 1)"
        ).fetchone()
        or ()
    )
    (staging,) = sql.execute("SELECT ssb_internal.create_staging(%s, 'replies')", [claim_id]).fetchone() or ()
    sql.execute(
        f"INSERT INTO {staging} SELECT e.conversation_handle, 'DEFAULT', '\\x00', e.endpoint_id, 1"
        "  FROM ssb.claimed_conversation AS c JOIN ssb.conversation_endpoint AS e USING (endpoint_id)"
    )
    sql.execute(
        "SELECT set_config('pgsb.traceparent', %s, false), set_config('pgsb.record_spans', 'on', false)",
        [PARENT.replace("4bf9", "bbbb")],
    )
    outputs = [{"kind": "replies", "staging": staging, "attempts": [1], "rows": 3}]
    sql.execute("SELECT ssb_internal.complete_claim(%s, %s::jsonb)", [claim_id, json.dumps(outputs)])
    first, second, third = traces(sql, "dbo.from_queue")
    assert (trace_id(first), trace_id(second), third) == (TRACE, trace_id(other), None)
    job, *sends = sql.execute("SELECT name, parent, links FROM ssb.trace_span ORDER BY ended_at").fetchall()
    assert (job[0], trace_id(job[1])) == ("process dbo.to_queue", "bbbb" + TRACE[4:])
    assert sorted(job[2]) == sorted([PARENT, other])
    assert [(one[0], one[1]) for one in sends] == [("send DEFAULT", PARENT), ("send DEFAULT", other)]


@pytest.mark.long
@pytest.mark.one_postgres
def test_the_command_tells_the_exporter_that_is_chosen(
    sql: Connection, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    activate(sql, REPLY)
    send(sql, "question")
    command = [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", database.dsn, "--traces"]
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "nowhere")
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 1
    assert "OpenTelemetry has no exporter 'nowhere'" in refused.stderr
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: traces(sql, "dbo.from_queue"))
        finally:
            process.terminate()
            out, _ = process.communicate()
    assert '"name": "activate dbo.to_queue"' in out
    assert '"service.name": "pgsb"' in out
