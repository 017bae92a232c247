"""One message and many, short conversations and long ones, small bodies and large: nothing is special."""

from collections.abc import Callable
from typing import Any

import pytest
from bulk_desk import Desk

from pgsb.bulk import Outputs, abandon, claim
from pgsb.bulk.complete import complete
from pgsb.bulk.job import run_job
from support import Connection, Database, end_counted

Connect = Callable[..., Connection]


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_body_of_eight_megabytes(spark: Any, desk: Desk, tcp: Callable[[Database], str]) -> None:
    (handle,) = desk.send(1, 2)
    large = "convert_to(repeat('x', 8388608), 'UTF8')"
    desk.connection.execute(f"SELECT ssb.send(%s, 'trade', {large})", (handle,))

    orders: list[int] = []

    def program(messages: Any) -> Outputs:
        orders.extend(row[0] for row in messages.select("queuing_order").collect())
        longest = messages.orderBy("queuing_order", ascending=False).limit(1)
        return Outputs(
            tables={
                "dbo.total": messages.selectExpr(
                    "conversation_handle", "1L AS messages", "CAST(length(message_body) AS LONG) AS sum"
                )
            },
            replies=longest.selectExpr("conversation_handle", "'note' AS message_type_name", "message_body"),
        )

    done = run_job(tcp(desk.database), "dbo.target", program)
    assert (done.completed, done.replied) == (3, 1)
    sizes = desk.connection.execute("SELECT sum FROM dbo.total ORDER BY 1").fetchall()
    assert sizes == [(1,), (1,), (8388608,)]
    assert orders == sorted(orders)
    assert desk.value("SELECT octet_length(message_body) FROM dbo.source") == 8388608


@pytest.mark.parametrize(
    ("conversations", "messages"), [(1, 1), (1, 5000), pytest.param(2000, 1, marks=pytest.mark.long)]
)
def test_claims_of_all_shapes(desk: Desk, connect: Connect, conversations: int, messages: int) -> None:
    handles = desk.connection.execute(
        "SELECT array_agg(ssb.begin_dialog('source', 'target', 'trades')) FROM generate_series(1, %s)",
        (conversations,),
    ).fetchone()
    assert handles is not None
    desk.connection.execute(
        "SELECT ssb.send_batch(array_agg(h), array_agg('trade'::text), array_agg(i::text::bytea ORDER BY i))"
        "  FROM unnest(%s::uuid[]) AS h, generate_series(1, %s) AS i",
        (handles[0], messages),
    )
    first = claim(connect(), "dbo.target", partitions=4)
    assert first is not None
    abandon(first)
    held = claim(connect(), "dbo.target", partitions=4)
    assert held is not None
    assert (held.conversations, held.messages) == (conversations, conversations * messages)
    # Every partition has its share; a conversation is in one only.
    shares = desk.connection.execute(
        "SELECT count(*) FROM ssb_internal.claimed_message GROUP BY claim_partition"
    ).fetchall()
    assert max(row[0] for row in shares) <= max(messages, held.messages // 4 + 1)
    assert (
        complete(held, Outputs(end_all=True, unread="complete"), desk.database.dsn).deleted == held.messages
    )
    assert desk.waiting() == 0


def test_the_statements_of_a_claim_do_not_grow_in_number(desk: Desk, connect: Connect) -> None:
    """One for all groups of a queue; several where it goes on, as only counting shows what a group has."""
    steps: list[int] = []
    desk.send(30, 20)
    for limit in (None, 300):
        session = connect()
        session.execute("SET track_functions = 'all'")
        held = claim(session, "dbo.target", max_messages=limit)
        assert held is not None and held.messages == (limit or 600)
        abandon(held)
        end_counted(session, desk.connection)
        calls = "SELECT sum(calls)::integer FROM pg_stat_user_functions WHERE funcname = 'claim_groups'"
        steps.append(desk.value(calls) - sum(steps))
    assert steps[0] == 1 and steps[1] <= 3
