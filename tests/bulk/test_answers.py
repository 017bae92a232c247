"""What a completed claim says to its conversations: replies in order, then the end, whatever is special."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from bulk_desk import Desk

from pgsb.bulk import claim
from support import Connection

Connect = Callable[..., Connection]

_TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
_END = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"


def _answer(owner: Connection, replies: int, name: str = "note", *, end_all: bool = True) -> tuple[int, ...]:
    """Complete a claim of everything with so many replies to each conversation: replied, ended."""
    held = claim(owner, "dbo.target")
    assert held is not None
    row = owner.execute("SELECT ssb_internal.create_staging(%s, 'replies')", (held.claim_id,)).fetchone()
    assert row is not None
    # Two tasks: the second attempt of each counts, the first is that of one that was lost.
    owner.execute(
        f"INSERT INTO {row[0]} SELECT h.conversation_handle, %s,"
        " convert_to('<r>' || n || '</r>', 'UTF8'), n, a"
        "  FROM (SELECT DISTINCT conversation_handle FROM ssb_internal.claimed_message) AS h,"
        "       generate_series(1, %s) AS n, generate_series(7, 8) AS a",
        (name, replies),
    )
    count = owner.execute(f"SELECT count(*) FROM {row[0]} WHERE attempt_id = 8").fetchone()
    assert count is not None
    outputs = json.dumps([{"kind": "replies", "staging": row[0], "attempts": [8], "rows": count[0]}])
    done = owner.execute(
        "SELECT replied, ended FROM ssb_internal.complete_claim(%s, %s, end_all => %s)",
        (held.claim_id, outputs, end_all),
    ).fetchone()
    assert done is not None
    return tuple(int(str(one)) for one in done)


def _heard(desk: Desk) -> dict[str, list[tuple[str, str | None, int]]]:
    """What each conversation's initiator has in its queue."""
    rows = desk.connection.execute(
        "SELECT conversation_handle::text, message_type_name, convert_from(message_body, 'UTF8'),"
        " message_sequence_number FROM dbo.source ORDER BY queuing_order"
    ).fetchall()
    heard: dict[str, list[tuple[str, str | None, int]]] = {}
    for handle, name, body, number in rows:
        heard.setdefault(handle, []).append((name, body, number))
    return heard


@pytest.mark.parametrize("state", [0, 1, 2, 3])
def test_replies_and_end_are_one_sequence_for_each_conversation(
    desk: Desk, connect: Connect, state: int
) -> None:
    desk.connection.execute("SELECT setval('ssb.rotation_state', %s)", (state,))
    handles = desk.send(5, 2)
    assert _answer(connect(), 3) == (15, 5)
    expected: list[tuple[str, str | None, int]] = [("note", f"<r>{n}</r>", n - 1) for n in (1, 2, 3)]
    assert _heard(desk) == {handle: [*expected, (_END, None, 3)] for handle in handles}
    assert desk.waiting() == 0
    states = "SELECT state_desc, count(*) FROM sys.conversation_endpoints GROUP BY 1 ORDER BY 1"
    assert desk.connection.execute(states).fetchall() == [("CLOSED", 5), ("DISCONNECTED_INBOUND", 5)]


def test_replies_without_an_end_are_counted_on(desk: Desk, connect: Connect) -> None:
    handles = desk.send(2, 1)
    for round_ in range(3):
        if round_:
            desk.connection.execute(
                "SELECT ssb.send(h, 'trade', 'more'::text) FROM unnest(%s::uuid[]) AS h", (handles,)
            )
        assert _answer(connect(), 7, end_all=False) == (14, 0)
    numbers = [[one[2] for one in heard] for heard in _heard(desk).values()]
    assert all(one[:16] == list(range(16)) and one == sorted(set(one)) for one in numbers), numbers
    assert [len(one) for one in numbers] == [21, 21]


@pytest.mark.parametrize(
    "special",
    [
        "UPDATE ssb.conversation_endpoint SET lifetime = now() + interval '1 hour' WHERE NOT is_initiator",
        "SELECT ssb.alter_queue('dbo.source', retention => true)",
        "SELECT ssb.alter_message_type('note', 'WELL_FORMED_XML')",
        "SELECT ssb.move_conversation(%(second)s, conversation_group_id) FROM dbo.target LIMIT 1",
        f"SELECT set_config('pgsb.traceparent', '{_TRACE}', false)",
    ],
    ids=["lifetime", "retention", "validation", "group", "trace"],
)
def test_what_is_special_goes_the_long_way_with_the_same_outcome(
    desk: Desk, connect: Connect, special: str
) -> None:
    handles = desk.send(4, 2)
    second = desk.value("SELECT conversation_handle FROM dbo.target ORDER BY queuing_order DESC LIMIT 1")
    owner = connect()
    (owner if "set_config" in special else desk.connection).execute(special, {"second": second})
    assert _answer(owner, 2) == (8, 4)
    heard = _heard(desk)
    assert sorted(heard) == sorted(handles)
    for messages in heard.values():
        assert [one[0] for one in messages] == ["note", "note", _END]
        assert [one[1] for one in messages] == ["<r>1</r>", "<r>2</r>", None]
        assert [one[2] for one in messages] == [0, 1, 2]


def test_a_type_that_the_contract_has_not_is_refused_and_nothing_is_said(
    desk: Desk, connect: Connect
) -> None:
    desk.send(3, 1)
    with pytest.raises(Exception, match=r"(?i)message type"):
        _answer(connect(), 1, "unknown")
    assert _heard(desk) == {} and desk.waiting() == 3


def test_a_conversation_that_is_cut_or_got_more_is_not_ended(desk: Desk, connect: Connect) -> None:
    first, _ = desk.send(2, 2)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    desk.connection.execute("SELECT ssb.send(%s, 'trade', 'late'::text)", (first,))
    done = owner.execute(
        "SELECT deleted, ended FROM ssb_internal.complete_claim(%s, end_all => true)", (held.claim_id,)
    ).fetchone()
    assert done == (4, 1)
    assert desk.waiting() == 1


def test_both_sides_of_a_dialog_in_one_claim_end_one_after_the_other(desk: Desk, connect: Connect) -> None:
    desk.connection.execute(
        "SELECT ssb.create_service('own', queue => 'dbo.target', contracts => '{trades}')"
    )
    handle = desk.value("SELECT ssb.begin_dialog('own', 'target', 'trades')")
    desk.connection.execute("SELECT ssb.send(%s, 'trade', '1'::text)", (handle,))
    target = desk.value("SELECT conversation_handle FROM dbo.target")
    desk.connection.execute("SELECT ssb.send(%s, 'note', '2'::text)", (target,))
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None and held.conversations == 2
    done = owner.execute(
        "SELECT deleted, ended FROM ssb_internal.complete_claim(%s, end_all => true)", (held.claim_id,)
    ).fetchone()
    assert done == (2, 2)
    assert desk.value("SELECT count(*) FROM sys.conversation_endpoints WHERE state <> 'CD'") == 0


def _rows(node: dict[str, Any]) -> float:
    """The rows that a plan's nodes have met, those that a condition threw away among them."""
    own = sum(node.get(key, 0) for key in ("Actual Rows", *(key for key in node if "Removed" in key)))
    return float(own * node["Actual Loops"]) + sum(map(_rows, node.get("Plans", ())))


@pytest.mark.one_postgres
def test_an_answer_costs_each_conversation_the_same(desk: Desk, connect: Connect) -> None:
    owner = connect()
    seen: list[Any] = []
    owner.add_notice_handler(lambda told: seen.append(told.message_primary or ""))
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_format = json"):
        owner.execute("LOAD 'auto_explain'")
        owner.execute(f"SET auto_explain.{setting}")
    for setting in ("log_analyze = on", "log_timing = off", "log_level = notice"):
        owner.execute(f"SET auto_explain.{setting}")
    costs = []
    for conversations in (300, 1200):
        desk.send_each(conversations)
        seen.clear()
        assert _answer(owner, 1) == (conversations, conversations)
        plans = [json.loads(text.partition("plan:")[2]) for text in seen if "plan:" in text]
        answers = [one["Plan"] for one in plans if "named AS MATERIALIZED" in one["Query Text"]]
        assert len(answers) == 1
        costs.append(_rows(answers[0]) / conversations)
    assert costs[1] < 1.2 * costs[0], costs
