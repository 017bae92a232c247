"""Random histories: the engine does what the model in plain Python does."""

import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from runtime.broker import END, ERROR, Session, sqlstate
from runtime.model import Endpoint, Model

from support import Database

QUEUES = ("dbo.a", "dbo.b")
TYPES = {"m": "m", "EndDialog": END, "Error": ERROR}


class Broker(RuleBasedStateMachine):
    """Rules do the same to the model and to the engine, and compare what both say."""

    session: Session

    def __init__(self) -> None:
        super().__init__()
        self.model = Model(list(QUEUES))
        self.handles: dict[Endpoint, uuid.UUID] = {}
        self.session.do("DELETE FROM ssb.message_stored")
        self.session.do("DELETE FROM ssb.transmission")
        self.session.do("DELETE FROM ssb.retained_message")
        self.session.do("DELETE FROM ssb.conversation_endpoint")
        self.session.do("SELECT ssb.drop_broker_priority(p.name) FROM sys.conversation_priorities AS p")
        for queue in QUEUES:
            self.session.do("SELECT ssb.alter_queue(%s, status => true, retention => false)", queue)

    def compare(self, expected: object, statement: str, *values: Any) -> list[Any]:
        """Run the statement; it fails exactly where the model refuses."""
        try:
            rows = self.session.rows(statement, *values)
        except psycopg.Error as error:
            assert isinstance(expected, int), f"refused with {error.sqlstate}: {error}"
            assert error.sqlstate == sqlstate(expected), str(error)
            return []
        assert not isinstance(expected, int), f"should have been refused with {expected}"
        return rows

    def known(self) -> list[Endpoint]:
        """Endpoints whose handle the test has seen."""
        return [e for e in self.model.endpoints if e in self.handles]

    def pick(self, data: st.DataObject) -> Endpoint | None:
        known = self.known()
        return data.draw(st.sampled_from(known)) if known else None

    def learn_targets(self) -> None:
        """The target's handle, for those that the model has made."""
        for endpoint in self.model.endpoints:
            if endpoint not in self.handles and endpoint.far is not None and not endpoint.is_initiator:
                found = self.session.column(
                    "SELECT f.conversation_handle FROM ssb.conversation_endpoint AS e"
                    " JOIN ssb.conversation_endpoint AS f ON f.conversation_id = e.conversation_id"
                    " AND f.is_initiator <> e.is_initiator WHERE e.conversation_handle = %s",
                    self.handles[endpoint.far],
                )
                if found:
                    self.handles[endpoint] = found[0]

    @initialize(sides=st.sampled_from([("dbo.a", "dbo.b"), ("dbo.b", "dbo.b")]))
    def one_dialog(self, sides: tuple[str, str]) -> None:
        self._begin(*sides, None)

    @rule(near=st.sampled_from(QUEUES), far=st.sampled_from(QUEUES), related=st.booleans(), data=st.data())
    def begin(self, near: str, far: str, related: bool, data: st.DataObject) -> None:
        self._begin(near, far, self.pick(data) if related else None)

    def _begin(self, near: str, far: str, related: Endpoint | None) -> None:
        made = self.model.begin(near, far, related)
        rows = self.compare(
            made,
            "SELECT ssb.begin_dialog(%s, %s, 'c', related_conversation => %s)",
            near,
            far,
            self.handles[related] if related else None,
        )
        if isinstance(made, Endpoint):
            self.handles[made] = rows[0][0]

    @rule(body=st.text("xyz", min_size=1, max_size=3), times=st.integers(1, 3), data=st.data())
    def send(self, body: str, times: int, data: st.DataObject) -> None:
        endpoint = self.pick(data)
        # From the 17th message of a side on its numbers may have gaps (conversations/send.sql).
        for _ in range(times if endpoint and endpoint.sent <= 12 else 0):
            assert endpoint is not None
            expected = self.model.send(endpoint, body)
            self.compare(
                expected, "SELECT ssb.send(%s, 'm', %s::bytea)", self.handles[endpoint], body.encode()
            )
        self.learn_targets()

    @rule(queue=st.sampled_from(QUEUES), top=st.sampled_from([None, 1, 2]))
    def receive(self, queue: str, top: int | None) -> None:
        self._check_rows(self.model.receive(queue, top), "SELECT * FROM ssb.receive(%s, %s)", queue, top)

    @rule(queue=st.sampled_from(QUEUES), data=st.data())
    def receive_from(self, queue: str, data: st.DataObject) -> None:
        if endpoint := self.pick(data):
            self._check_rows(
                self.model.receive_from(queue, endpoint),
                "SELECT * FROM ssb.receive(%s, NULL, %s)",
                queue,
                self.handles[endpoint],
            )

    def _check_rows(self, expected: Any, statement: str, *values: Any) -> None:
        columns = "conversation_handle, message_type_name, message_body, message_sequence_number"
        rows = self.compare(expected, statement.replace("*", columns), *values)
        if not isinstance(expected, int):
            assert [
                (handle, kind, None if body is None or kind == ERROR else body.decode(), number)
                for handle, kind, body, number in rows
            ] == [(self.handles[e], TYPES[m.type], m.body, m.number) for e, m in expected]

    @rule(queue=st.sampled_from(QUEUES), top=st.sampled_from([None, 1]))
    def receive_and_roll_back(self, queue: str, top: int | None) -> None:
        if self.model.queues[queue].enabled:
            with self.session.connection.transaction(force_rollback=True):
                self.session.receive(queue, top)
            # Five of these would be poison, which the model leaves out.
            self.session.do("SELECT ssb_internal.forget_attempts(q) FROM ssb.queue AS q")

    @rule(with_error=st.booleans(), data=st.data())
    def end(self, with_error: bool, data: st.DataObject) -> None:
        if endpoint := self.pick(data):
            self.compare(
                self.model.end(endpoint, with_error),
                "SELECT ssb.end_conversation(%s, %s, %s)",
                self.handles[endpoint],
                *((1, "x") if with_error else (None, None)),
            )
            self.learn_targets()

    @rule(data=st.data())
    def clean_up(self, data: st.DataObject) -> None:
        if endpoint := self.pick(data):
            expected = self.model.clean_up(endpoint)
            self.compare(expected, "SELECT ssb.end_conversation(%s, cleanup => true)", self.handles[endpoint])

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        endpoint, to = self.pick(data), self.pick(data)
        if endpoint and to:
            group = self.session.column(
                "SELECT conversation_group_id FROM ssb.conversation_endpoint WHERE conversation_handle = %s",
                self.handles[to],
            )
            if group:
                expected = self.model.move(endpoint, to)
                self.compare(
                    expected, "SELECT ssb.move_conversation(%s, %s)", self.handles[endpoint], group[0]
                )

    @rule(queue=st.sampled_from(QUEUES), enabled=st.booleans())
    def set_status(self, queue: str, enabled: bool) -> None:
        self.model.set_status(queue, enabled)
        self.session.do("SELECT ssb.alter_queue(%s, status => %s)", queue, enabled)
        self.learn_targets()

    @rule(queue=st.sampled_from(QUEUES), retains=st.booleans())
    def set_retention(self, queue: str, retains: bool) -> None:
        self.model.queues[queue].retains = retains
        self.session.do("SELECT ssb.alter_queue(%s, retention => %s)", queue, retains)

    @rule(
        local=st.sampled_from((None, *QUEUES)),
        remote=st.sampled_from((None, *QUEUES)),
        level=st.sampled_from([None, 2, 5, 9]),
    )
    def set_level(self, local: str | None, remote: str | None, level: int | None) -> None:
        """CREATE, ALTER or DROP BROKER PRIORITY, of a name that says what it matches."""
        name, match = f"{local} {remote}", (local, remote)
        if level is None and match in self.model.levels:
            self.session.do("SELECT ssb.drop_broker_priority(%s)", name)
        elif match in self.model.levels:
            self.session.do("SELECT ssb.alter_broker_priority(%s, priority_level => %s)", name, level)
        elif level is not None:
            self.session.do("SELECT ssb.create_broker_priority(%s, 'c', %s, %s, %s)", name, *match, level)
        self.model.levels.pop(match, None)
        if level is not None:
            self.model.levels[match] = level

    @rule(near=st.sampled_from(QUEUES), far=st.sampled_from(QUEUES), times=st.integers(1, 3))
    def send_new(self, near: str, far: str, times: int) -> None:
        """New dialogs with one message each: their first SEND keeps the path that the next one takes."""
        for _ in range(times):
            made = self.model.begin(near, far)
            assert isinstance(made, Endpoint)
            refusal = self.model.send(made, "new")
            if refusal is not None:
                self.model.endpoints.remove(made)
            rows = self.compare(
                refusal, "SELECT ssb.send_new(%s, %s, 'c', 'm', %s::bytea)", near, far, b"new"
            )
            if refusal is None:
                self.handles[made] = rows[0][0]
        self.learn_targets()

    @invariant()
    def the_catalog_shows_the_same(self) -> None:
        shown = {
            handle: (state, priority)
            for handle, state, priority in self.session.rows(
                "SELECT conversation_handle, state, priority FROM sys.conversation_endpoints"
            )
        }
        expected = {
            self.handles[e]: (state, e.priority) for e in self.known() if (state := e.state()) is not None
        }
        assert {h: s for h, s in shown.items() if h in expected} == expected
        assert set(shown) == set(expected)

    @invariant()
    def the_queues_hold_the_same(self) -> None:
        for queue in QUEUES:
            sides = [e for e in self.model.endpoints if e.queue.name == queue]
            held = sorted((-e.priority, m.order, self.handles[e], m.number) for e in sides for m in e.inbox)
            assert self.session.rows(
                f"SELECT conversation_handle, message_sequence_number FROM {queue} WHERE status = 1"
                " ORDER BY priority DESC, queuing_order"
            ) == [(handle, number) for *_, handle, number in held]
            kept = sorted((self.handles[e], number, status) for e in sides for number, status in e.retained)
            assert kept == sorted(
                self.session.rows(
                    "SELECT conversation_handle, message_sequence_number, status"
                    f" FROM {queue} WHERE status <> 1"
                )
            )

    @invariant()
    def the_transmission_queue_holds_the_same(self) -> None:
        waiting = sorted((self.handles[e], number) for e in self.known() for _, _, number in e.waiting)
        assert waiting == sorted(
            self.session.rows(
                "SELECT conversation_handle, message_sequence_number FROM sys.transmission_queue"
            )
        )


@pytest.fixture
def broker(new_database: Callable[[], Database]) -> Iterator[type[Broker]]:
    """The state machine on a database with a service on each queue."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        session = Session(connection)
        session.do("SELECT ssb.create_message_type('m'), ssb.create_contract('c', '{m}', '{ANY}')")
        for queue in QUEUES:
            session.do("SELECT ssb.create_queue(%s)", queue)
            session.do("SELECT ssb.create_service(%s, %s, '{c}')", queue, queue)
        yield type("BrokerHere", (Broker,), {"session": session})


def test_random_histories(broker: type[Broker]) -> None:
    run_state_machine_as_test(
        broker,
        settings=settings(
            max_examples=int(os.environ.get("PGSB_MODEL_EXAMPLES", "25")),
            stateful_step_count=25,
            deadline=None,
            derandomize="PGSB_MODEL_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
