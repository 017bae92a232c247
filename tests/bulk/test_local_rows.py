"""Few conversations, and what a program makes of them row by row, go through the driver."""

from collections.abc import Callable
from typing import Any

import pytest
from bulk_desk import Desk

from pgsb.bulk import BulkError, ClaimLost, Outputs, abandon, claim, program
from pgsb.bulk.claim import Claim
from pgsb.bulk.complete import complete
from pgsb.bulk.connections import Server, reached
from pgsb.bulk.local_rows import computed_rows
from pgsb.bulk.program import Context
from support import Connection, Database

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]


def _context(spark: Any, desk: Desk, tcp: Tcp, held: Claim) -> Context:
    server = Server(tcp(desk.database), reached(held.connection).identity)
    return Context(spark, server, "dbo.target", held.claim_id, held.partitions, held)


def _held(connect: Connect) -> Claim:
    held = claim(connect(), "dbo.target")
    assert held is not None
    return held


def test_conversations_are_the_same_whoever_reads_them(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.send(2, 3)
    desk.send(1, 1, body="größer".encode())
    context = _context(spark, desk, tcp, _held(connect))
    of_driver = context.conversations
    monkeypatch.setattr(program, "MOST_LOCAL", 2)
    of_tasks = context.conversations
    assert of_driver.schema.simpleString() == of_tasks.schema.simpleString()
    assert sorted(of_driver.collect()) == sorted(of_tasks.collect())
    assert sorted(one.bytes for one in of_driver.collect())[-1] == len("größer".encode())
    plans = [one._jdf.queryExecution().optimizedPlan().toString() for one in (of_driver, of_tasks)]
    assert "JDBC" not in plans[0] and "JDBC" in plans[1]


@pytest.mark.parametrize("is_local", [True, False])
def test_replies_and_ends_of_few_need_no_job(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, is_local: bool
) -> None:
    """And are the same as those of one."""
    handles = desk.send(3, 2)
    held = _held(connect)
    all_ = _context(spark, desk, tcp, held).conversations
    numbered = all_.selectExpr(
        "*", "CASE WHEN messages > 1 THEN encode('é;\\t', 'UTF-8') END AS message_body"
    )
    replies = numbered.where("bytes > 0").selectExpr(
        "upper(conversation_handle) AS conversation_handle", "'note' AS message_type_name", "message_body"
    )
    failed = desk.value(
        "SELECT conversation_handle::text FROM ssb.conversation_endpoint"
        " WHERE NOT is_initiator ORDER BY endpoint_id LIMIT 1"
    )
    ends = all_.where(f"conversation_handle = '{failed}'").selectExpr(
        "conversation_handle", "7 AS error_code", "CAST(NULL AS STRING) || 'x' AS error_text"
    )
    ends = ends.fillna("with a\0 NUL", ["error_text"])
    if not is_local:
        replies, ends = replies.repartition(2), ends.repartition(1)
    spark.sparkContext.setJobGroup(f"replies {is_local}", "replies")
    complete(held, Outputs(replies=replies, ends=ends, unread="complete"), tcp(desk.database))
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(f"replies {is_local}")
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert (len(jobs) == 0) is is_local
    answers = desk.replies()
    assert sorted(body for kind, body in answers if kind == "note") == ["é;\t"] * len(handles)
    (error,) = (body for kind, body in answers if kind != "note")
    assert error is not None and "<Code>7</Code>" in error and "with a\ufffd NUL" in error


def test_what_needs_a_job_has_one(spark: Any, desk: Desk, tcp: Tcp, connect: Connect) -> None:
    desk.send(2, 2)
    all_ = _context(spark, desk, tcp, _held(connect)).conversations.selectExpr("conversation_handle")
    rows = computed_rows(all_.where("conversation_handle IS NOT NULL"), ("uuid",))
    assert rows.num_rows == 2 and rows.schema.names == ["conversation_handle"]
    assert computed_rows(all_.where("conversation_handle = 'none'"), ("uuid",)).num_rows == 0
    for frame in (all_.distinct(), all_.union(all_), all_.repartition(3), spark.range(2), all_.join(all_)):
        assert computed_rows(frame, ("uuid",)) is None


@pytest.mark.parametrize(
    ("handle", "said"),
    [
        ("nullif(conversation_handle, conversation_handle)", "conversation_handle is null in a row of the"),
        ("'no handle'", "no handle"),
    ],
)
def test_a_handle_that_is_none_is_told_as_in_a_task(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, handle: str, said: str
) -> None:
    desk.send(1, 1)
    held = _held(connect)
    replies = _context(spark, desk, tcp, held).conversations.selectExpr(f"{handle} AS conversation_handle")
    with pytest.raises(BulkError, match=said):
        complete(held, Outputs(replies=replies, unread="complete"), tcp(desk.database))
    abandon(held)
    assert desk.waiting() == 1


def test_of_a_claim_that_has_ended_there_are_no_conversations(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect
) -> None:
    """None would be answered, and the messages be deleted."""
    desk.send(1, 1)
    held = _held(connect)
    context = _context(spark, desk, tcp, held)
    abandon(held)
    with pytest.raises(BulkError, match=rf"claim {held.claim_id} "):
        assert context.conversations.count() == 0
    held.connection.close()
    with pytest.raises(ClaimLost, match=r"the connection (to PostgreSQL )?was"):
        assert context.conversations.count() == 0
