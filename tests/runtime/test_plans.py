"""The statements of SEND and RECEIVE are index probes, whatever the statistics say.

Plans are looked at where they run: auto_explain logs those inside the functions,
as messages to the client.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from runtime.broker import Pair, Session

from pgsb import runtime_sql

BIG = ("message_0", "message_1", "conversation_endpoint", "queue", "contract_message_usage", "transmission")
PROBES = ("Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Tid Scan")


class Plans:
    """The plans of every statement that ran inside the functions."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seen: list[Any] = []
        columns = session.rows(
            "SELECT c.relname, a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
            " WHERE c.relnamespace = 'ssb'::regnamespace AND c.relkind = 'i' AND a.attnum = 1"
        )
        self.first_column: dict[str, str] = dict(columns)
        session.connection.add_notice_handler(self._notice)

    def _notice(self, diagnostic: Any) -> None:
        text = diagnostic.message_primary or ""
        if "plan:" in text:
            self.seen.append(json.loads(text.partition("plan:")[2]))

    def is_probe(self, node: dict[str, Any]) -> bool:
        """Whether the condition is on the index's first column: without that all of the index is read."""
        return f"({self.first_column[node['Index Name']]} " in node.get("Index Cond", "")

    def scans(self) -> Iterator[tuple[str, str, str]]:
        """Node type and relation of everything scanned, and the statement."""

        def walk(node: dict[str, Any], statement: str) -> Iterator[tuple[str, str, str]]:
            if "Relation Name" in node and node["Node Type"] != "ModifyTable":
                kind = node["Node Type"]
                if node["Relation Name"] in BIG and kind.startswith("Index") and not self.is_probe(node):
                    kind = "Whole " + kind
                yield kind, node["Relation Name"], statement
            for child in node.get("Plans", ()):
                yield from walk(child, statement)

        for plan in self.seen:
            yield from walk(plan["Plan"], " ".join(plan["Query Text"].split()))

    def sorts_of_locks(self) -> Iterator[str]:
        """Statements that sort what they lock: they lock all there is before they return one."""

        def locks(node: dict[str, Any]) -> bool:
            return node["Node Type"] == "LockRows" or any(map(locks, node.get("Plans", ())))

        def sorts(node: dict[str, Any]) -> bool:
            return (node["Node Type"] == "Sort" and locks(node)) or any(map(sorts, node.get("Plans", ())))

        return (" ".join(plan["Query Text"].split()) for plan in self.seen if sorts(plan["Plan"]))


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan's nodes, its own first."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


@pytest.fixture
def plans(session: Session) -> Plans:
    try:
        session.do("LOAD 'auto_explain'")
    except Exception as error:
        if "auto_explain" not in str(error):
            raise
        pytest.fail("this PostgreSQL has no auto_explain")
    for setting, value in (
        ("log_min_duration", "0"),
        ("log_nested_statements", "on"),
        ("log_format", "json"),
        ("log_level", "notice"),
    ):
        session.do(f"SET auto_explain.{setting} = {value}")
    session.do("SET client_min_messages = notice")
    return Plans(session)


def prepare(
    session: Session, another: Callable[[], Session], state: str
) -> tuple[Pair, uuid.UUID, uuid.UUID]:
    """A dialog with messages on tables whose statistics are as `state` says."""
    session.do("TRUNCATE ssb.message_0, ssb.message_1")
    pair = Pair(session)
    near, far = pair.conversing()
    if state == "empty when analysed":
        # Without a page: a scan of all of an index costs what a probe costs.
        session.do("VACUUM (FULL, ANALYZE)")
    elif state == "stale":
        session.do(
            "SELECT ssb.send(ssb.begin_dialog(%s, %s, %s), %s) FROM generate_series(1, 300)",
            pair.initiator,
            pair.target,
            pair.contract,
            pair.request,
        )
        session.do("VACUUM ANALYZE ssb.message_0, ssb.message_1, ssb.conversation_endpoint, ssb.queue")
        session.do("DELETE FROM ssb.message_stored")
    elif state == "vacuumed in vain":
        # No row lives, an old snapshot keeps them all: the planner expects one row of each index.
        report = another()
        report.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        report.do("SELECT count(*) FROM pg_class")
        # So many on so many dialogs that the index by endpoint is higher by a level than the other.
        session.do(
            "SELECT ssb.send_batch((SELECT array_agg(h[1 + i %% 128] ORDER BY i)"
            "                         FROM generate_series(1, n) AS i),"
            " array_fill(%s::text, ARRAY[n]), array_fill('x'::bytea, ARRAY[n]))"
            " FROM (SELECT 72000, array_agg(ssb.begin_dialog(%s, %s, %s))"
            "         FROM generate_series(1, 128)) AS v (n, h)",
            pair.request,
            pair.initiator,
            pair.target,
            pair.contract,
        )
        session.do("DELETE FROM ssb.message_stored")
        session.do("VACUUM ssb.message_0, ssb.message_1")
        assert session.value("SELECT ssb_internal.is_vacuumed_in_vain('ssb.message_0')")
    session.send(pair.dialog(), pair.request, "held")
    session.do("SELECT ssb.send(%s, %s, 'x'::bytea) FROM generate_series(1, 200)", near, pair.request)
    return pair, near, far


@pytest.mark.long
@pytest.mark.parametrize("state", ["never analysed", "empty when analysed", "stale", "vacuumed in vain"])
def test_send_and_receive_probe_indexes(
    session: Session, another: Callable[[], Session], plans: Plans, state: str
) -> None:
    pair, near, far = prepare(session, another, state)
    session.send(pair.dialog(), pair.request, "first message")
    # The first message is in other hands.
    assert another().bodies(pair.far, 1) == ["held"]
    plans.seen.clear()
    session.connection.execute("SELECT ssb.send(%s, %s, 'x'::bytea)", (near, pair.request))
    for statement in (
        "SELECT * FROM ssb.receive(%s, 1)",
        "SELECT * FROM ssb.receive(%s, 10)",
        "SELECT ssb.get_conversation_group(%s)",
        "SELECT ssb.message_is_waiting(%s)",
        "SELECT * FROM ssb.receive(%s)",
        "SELECT * FROM ssb.receive(%s)",
        "SELECT * FROM ssb.receive(%s)",
    ):
        session.rows(statement, pair.far)
    session.rows("SELECT * FROM ssb.receive(%s, NULL, %s)", pair.far, far)
    session.end(far)
    scans = list(plans.scans())
    assert len(scans) > 30
    wrong = {scan for scan in scans if scan[1] in BIG and scan[0] not in PROBES}
    assert wrong == set()
    assert list(plans.sorts_of_locks()) == []
    # Both ways of RECEIVE: past a message of a locked group, and the slow path.
    statements = [plan["Query Text"] for plan in plans.seen]
    assert any("NOT EXISTS" in text and "SKIP LOCKED" in text for text in statements)
    assert any("WITH gone" in text for text in statements)


RUNTIME = Path(runtime_sql.__file__).parent
OFTEN = ("conversations", "definitions/names.sql", "definitions/check_permissions.sql", "schema/locks.sql")
SELDOM = {"forget_key_locks"}


@pytest.mark.one_postgres
def test_what_statements_call_keeps_its_plans() -> None:
    """Before PostgreSQL 18 a function in SQL that has settings is parsed and planned anew in each call."""
    files = [file for name in OFTEN for file in sorted((RUNTIME / name).rglob("*.sql")) or [RUNTIME / name]]
    assert len(files) > 20
    found = []
    for file in files:
        for function in file.read_text().split("CREATE OR REPLACE FUNCTION ")[1:]:
            head = function.partition("AS $$")[0]
            name = head.partition("(")[0].partition(".")[2]
            if "LANGUAGE sql" in head and "\nSET " in head and "SETOF" not in head and "TABLE" not in head:
                found.append(name)
    assert set(found) == SELDOM


def test_looks_at_queues_and_conversations_compute_what_is_asked_for(session: Session) -> None:
    queue = Pair(session).far
    session.do("SET enable_sort = off")
    for look in (f"SELECT FROM {queue} LIMIT 1", f"SELECT EXISTS (SELECT FROM {queue})"):
        plan = [row[0].strip() for row in session.rows(f"EXPLAIN {look}")]
        assert any("Merge Append" in line for line in plan)
        assert not any(line.startswith("->  Sort ") for line in plan)
    session.do("RESET enable_sort")
    plan = session.rows("EXPLAIN VERBOSE SELECT state_desc FROM sys.conversation_endpoints")
    assert not any("number(" in row[0] or "principal_id_of" in row[0] for row in plan)


MANY = """
INSERT INTO ssb.transmission
       (database_id, endpoint_id, to_service, message_sequence_number, message_type_name, is_end_of_dialog,
        is_conversation_error, enqueued_at, transmission_status, peer_id)
SELECT 5, n, '//elsewhere', 0, 'waits', false, false, now(), 'waits', %s FROM generate_series(1, 40000) AS n
"""


def test_the_daemons_sweep_does_not_read_all_that_waits(session: Session, plans: Plans) -> None:
    """Where much waits for services that are elsewhere: one probe for each service that is here."""
    session.do(MANY, None)
    session.do("ANALYZE ssb.transmission")
    plans.seen.clear()
    session.rows("SELECT * FROM ssb_internal.broker_sweep('{}')")
    scans = {scan for scan in plans.scans() if scan[1] == "transmission" and "ssb.service" in scan[2]}
    assert {kind for kind, *_ in scans} == {"Index Only Scan"}
    session.do("DELETE FROM ssb.transmission")


def test_reading_a_set_probes_indexes(session: Session, plans: Plans) -> None:
    """Where statistics say that nothing waits, a scan of all of another index costs what a probe costs."""
    pair = Pair(session)
    session.do("SELECT ssb.create_endpoint('plans', 'STARTED', 4022)")
    session.do("SELECT ssb.create_route('plans', 'TCP://plans.example:4022', '//plans')")
    session.do("VACUUM (FULL, ANALYZE) ssb.transmission")
    begin = "SELECT ssb.begin_dialog(%s, '//plans', %s, encryption => false)"
    for _ in range(9):
        session.send(session.value(begin, pair.initiator, pair.contract), pair.request, "a", "b")
    plans.seen.clear()
    peer = session.value("SELECT peer_id FROM ssb.transport_peer WHERE address LIKE '%%plans%%'")
    session.rows("SELECT * FROM ssb_internal.transport_peers('{}')")
    for after in (None, 1):
        session.rows(
            "SELECT numbers FROM ssb_internal.next_set(%s, NULL, 5, 10000, 5000, '{}', 5, %s, 1,"
            " NULL, NULL, NULL, NULL, NULL)",
            peer,
            after,
        )
    scans = [scan for scan in plans.scans() if scan[1] == "transmission"]
    assert len(scans) > 8
    assert {scan for scan in scans if scan[0] not in PROBES} == set()
    session.do("SELECT ssb.drop_endpoint('plans'), ssb.drop_route('plans')")
    session.do("DELETE FROM ssb.transmission")


@pytest.mark.parametrize("retention", [False, True])
def test_a_dialogs_life_has_no_plan_node_that_only_passes_rows_on(
    session: Session, plans: Plans, retention: bool
) -> None:
    """Setting nodes up is what a life costs most: no gate for a condition without a column, no subquery."""
    pair = Pair(session, retention=retention)
    session.do("SELECT ssb.alter_queue(%s, retention => %s)", pair.near, retention)
    for fused in (False, True):
        for _ in range(2):  # the second one finds the path
            plans.seen.clear()
            if fused:
                pair.send_new(b"x")
            else:
                session.send(pair.dialog(), pair.request, "x")
            session.do("SELECT ssb.get_conversation_group(%s)", pair.far)
            for queue in (pair.far, pair.near):
                taken = session.value("SELECT conversation_handle FROM ssb.receive(%s, 1)", queue)
                session.do("SELECT ssb.end_conversation(%s)", taken)
        texts = {" ".join(plan["Query Text"].split()) for plan in plans.seen}
        assert len([text for text in texts if "ssb.conversation_endpoint" in text]) >= 4
        passing = {
            (plan["Query Text"], node["Node Type"])
            for plan in plans.seen
            for node in nodes(plan["Plan"])
            if "One-Time Filter" in node or node["Node Type"] == "Subquery Scan"
        }
        assert passing == set()


@pytest.mark.parametrize("forbidden", ["enable_indexscan", "enable_nestloop", "enable_sort"])
def test_messages_come_in_order_whatever_plans_a_setting_forbids(session: Session, forbidden: str) -> None:
    """A DELETE returns its rows in the order of its scan: through the table that is not the queue's."""
    pair = Pair(session)
    handle = pair.dialog()
    bodies = [str(number) for number in range(80)]
    session.send(handle, pair.request, *bodies[:60])
    session.do(f"SET {forbidden} = off")
    assert session.bodies(pair.far, 40) == bodies[:40]
    session.do("VACUUM ssb.message_0, ssb.message_1")
    session.send(handle, pair.request, *bodies[60:])  # in the room of the first
    assert session.bodies(pair.far, 100) == bodies[40:]
    session.do(f"RESET {forbidden}")
