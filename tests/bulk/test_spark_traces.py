"""A Spark job that runs continues the traces of the messages that it has read."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bulk_desk import Desk

from pgsb.bulk import load_program
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from support import Database

pytestmark = pytest.mark.one_postgres

sys.path.insert(0, str(Path(__file__).parent))
totals = load_program("programs:totals")
PARENT = "00-{}-00f067aa0ba902b7-01"


@pytest.mark.long
def test_replies_of_a_job_continue_their_messages_traces(
    spark: Any, desk: Desk, tcp: Callable[[Database], str]
) -> None:
    traces = [number * 32 for number in "ab"]
    asked = []
    for trace in traces:
        desk.connection.execute("SELECT ssb.set_trace_context(%s)", (PARENT.format(trace),))
        asked += [(handle, trace) for handle in desk.send(1, 2)]
    desk.connection.execute("SELECT ssb.set_trace_context(NULL)")
    asked += [(handle, None) for handle in desk.send(1, 2)]
    done = run_job(tcp(desk.database), "dbo.target", totals, JobOptions(max_messages=100))
    assert (done.completed, done.replied) == (6, 3)
    heard = desk.connection.execute(
        "SELECT q.conversation_handle::text, split_part(t.traceparent, '-', 2)"
        "  FROM dbo.source AS q JOIN ssb.conversation_endpoint AS e USING (conversation_handle)"
        "  LEFT JOIN ssb.message_trace AS t"
        "    ON t.endpoint_id = e.endpoint_id AND t.queuing_order = q.queuing_order"
        " WHERE q.message_type_name = 'note'"
    ).fetchall()
    assert sorted(heard, key=str) == sorted(asked, key=str)
