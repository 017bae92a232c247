"""Random histories: the engine does what the model in plain Python does.

For long runs: `PGSB_MODEL_EXAMPLES=3000 PGSB_MODEL_STEPS=60`, with `--timeout=0 --hypothesis-seed=…`.
"""

import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from runtime.broker import END, ERROR, TIMER, Session, sqlstate
from runtime.model import Endpoint, Message, Model

from support import Database

HERE, OTHER = "", "Other"
SERVICES = (
    ("a", "dbo.a", HERE),
    ("b", "dbo.b", HERE),
    ("b too", "dbo.b", HERE),
    ("x", "other_dbo.x", OTHER),
)
NAMES = tuple(name for name, *_ in SERVICES)
QUEUES = tuple(dict.fromkeys(queue for _, queue, _ in SERVICES))
TYPES = {"m": "m", "EndDialog": END, "Error": ERROR, "DialogTimer": TIMER}
TOPS = st.sampled_from([None, None, 1, 2])

# From the 17th message of a side on its numbers may have gaps (conversations/send.sql).
COUNTED = 12


class Broker(RuleBasedStateMachine):
    """Rules do the same to the model and to the engine, and compare what both say."""

    session: Session

    def __init__(self) -> None:
        super().__init__()
        self.model = Model(SERVICES)
        self.handles: dict[Endpoint, uuid.UUID] = {}
        self.groups: dict[int, uuid.UUID] = {}
        self.database = HERE
        self.session.do("DELETE FROM ssb.message_stored")
        self.session.do("DELETE FROM ssb.transmission")
        self.session.do("DELETE FROM ssb.retained_message")
        self.session.do("DELETE FROM ssb.urgent_conversation")
        self.session.do("DELETE FROM ssb.conversation_endpoint")
        for database in (OTHER, HERE):
            self._use(database)
            self.session.do("SELECT ssb.drop_broker_priority(p.name) FROM sys.conversation_priorities AS p")
        for queue in QUEUES:
            self.session.do(
                "SELECT ssb.alter_queue(%s, status => true, retention => false,"
                " poison_message_handling => true)",
                queue,
            )

    def _use(self, database: str) -> None:
        self.session.do("SELECT ssb.use_database(coalesce(nullif(%s, ''), current_database()))", database)

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

    def pick(self, data: st.DataObject, *states: str) -> Endpoint | None:
        """Most often one that there is, in one of these states if it has one."""
        known = self.known()
        if known and data.draw(st.integers(0, 5)) > 0:
            known = [e for e in known if (e.state() in states if states else e.state())] or known
        return self._named(data, known)[0] if known else None

    @staticmethod
    def _named(data: st.DataObject, pool: list[Endpoint], max_size: int = 1) -> list[Endpoint]:
        """Drawn by their names, which is what a failing test prints."""
        names = {endpoint.name: endpoint for endpoint in pool}
        drawn = st.lists(
            st.sampled_from(sorted(names)), unique=True, min_size=max_size == 1, max_size=max_size
        )
        return [names[name] for name in data.draw(drawn)]

    def pick_several(self, data: st.DataObject, *states: str) -> list[Endpoint]:
        pool = [e for e in self.known() if e.state() in states]
        return self._named(data, pool, 8) if pool else []

    def learn_targets(self) -> None:
        """The handles and groups of those that the model has made."""
        for endpoint in self.model.endpoints:
            if endpoint not in self.handles and endpoint.far is not None and not endpoint.is_initiator:
                self._learn(endpoint, self._handle_of_target(self.handles[endpoint.far]))

    def _handle_of_target(self, handle: uuid.UUID) -> uuid.UUID:
        found: uuid.UUID = self.session.value(
            "SELECT f.conversation_handle FROM ssb.conversation_endpoint AS e"
            " JOIN ssb.conversation_endpoint AS f ON f.conversation_id = e.conversation_id"
            " AND f.is_initiator <> e.is_initiator WHERE e.conversation_handle = %s",
            handle,
        )
        return found

    def _learn(self, endpoint: Endpoint, handle: uuid.UUID) -> None:
        self.handles[endpoint] = handle
        group = self.session.value(
            "SELECT conversation_group_id FROM ssb.conversation_endpoint WHERE conversation_handle = %s",
            handle,
        )
        assert self.groups.setdefault(endpoint.group, group) == group

    @initialize(sides=st.sampled_from([("a", "b"), ("b too", "b"), ("a", "x")]))
    def one_dialog(self, sides: tuple[str, str]) -> None:
        self._begin(*sides)

    @rule(database=st.sampled_from([HERE, OTHER]))
    def use(self, database: str) -> None:
        """What begins dialogs, has priorities and shows endpoints from now on."""
        self.database = database
        self._use(database)

    def _here(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from([name for name, _, of in SERVICES if of == self.database]))

    @rule(far=st.sampled_from(NAMES), how=st.sampled_from(["alone", "related", "group"]), data=st.data())
    def begin(self, far: str, how: str, data: st.DataObject) -> None:
        near = self._here(data)
        related = self.pick(data) if how == "related" else None
        group = data.draw(st.sampled_from(sorted(self.groups))) if how == "group" else None
        self._begin(near, far, related, group)

    def _begin(self, near: str, far: str, related: Endpoint | None = None, group: int | None = None) -> None:
        made = self.model.begin(near, far, related, group)
        rows = self.compare(
            made,
            "SELECT ssb.begin_dialog(%s, %s, 'c', related_conversation => %s,"
            " related_conversation_group => %s)",
            near,
            far,
            self.handles[related] if related else None,
            None if group is None else self.groups[group],
        )
        if isinstance(made, Endpoint):
            self._learn(made, rows[0][0])

    @rule(body=st.text("xyz", min_size=1, max_size=3), times=st.integers(1, 3), data=st.data())
    def send(self, body: str, times: int, data: st.DataObject) -> None:
        endpoint = self.pick(data, "SO", "CO")
        for _ in range(times if endpoint and endpoint.sent <= COUNTED else 0):
            assert endpoint is not None
            expected = self.model.send(endpoint, body)
            self.compare(
                expected, "SELECT ssb.send(%s, 'm', %s::bytea)", self.handles[endpoint], body.encode()
            )
        self.learn_targets()

    @rule(twice=st.booleans(), data=st.data())
    def send_set(self, twice: bool, data: st.DataObject) -> None:
        """One call for all of them, each met again at the end if `twice`."""
        several = [
            e
            for e in self.pick_several(data, "SO", "CO")
            if e.sent <= COUNTED and (e.queue.enabled or not e.queue.retains)
        ]
        several += several if twice else []
        for endpoint in several:
            assert self.model.send(endpoint, "set") is None
        handles = [self.handles[endpoint] for endpoint in several]
        if twice:
            self.session.do(
                "SELECT ssb.send_batch(%s, %s, %s)", handles, ["m"] * len(handles), [b"set"] * len(handles)
            )
        else:
            self.session.do("SELECT ssb.send_many(%s, 'm', 'set'::bytea)", handles)
        self.learn_targets()

    @rule(queue=st.sampled_from(QUEUES), top=TOPS)
    def receive(self, queue: str, top: int | None) -> None:
        self._check_rows(self.model.receive(queue, top), "SELECT * FROM ssb.receive(%s, %s)", queue, top)

    @rule(queue=st.sampled_from(QUEUES))
    def receive_all(self, queue: str) -> None:
        """Until nothing comes: then the session looks further back, and for what waits elsewhere."""
        expected: Any = [None]
        while expected and not isinstance(expected, int):
            expected = self.model.receive(queue, None)
            self._check_rows(expected, "SELECT * FROM ssb.receive(%s)", queue)

    @rule(queue=st.sampled_from(QUEUES), own=st.booleans(), top=TOPS, data=st.data())
    def receive_from(self, queue: str, own: bool, top: int | None, data: st.DataObject) -> None:
        if endpoint := self.pick(data):
            queue = endpoint.queue.name if own else queue
            self._check_rows(
                self.model.receive_from(queue, endpoint, top),
                "SELECT * FROM ssb.receive(%s, %s, %s)",
                queue,
                top,
                self.handles[endpoint],
            )

    @rule(queue=st.sampled_from(QUEUES), own=st.booleans(), top=TOPS, data=st.data())
    def receive_group(self, queue: str, own: bool, top: int | None, data: st.DataObject) -> None:
        if endpoint := self.pick(data):
            queue = endpoint.queue.name if own else queue
            self._check_rows(
                self.model.receive_group(queue, endpoint.group, top),
                "SELECT * FROM ssb.receive(%s, %s, conversation_group => %s)",
                queue,
                top,
                self.groups[endpoint.group],
            )

    @rule(queue=st.sampled_from(QUEUES), then=st.booleans(), top=TOPS)
    def get_group(self, queue: str, then: bool, top: int | None) -> None:
        """GET CONVERSATION GROUP, and as programs do it, RECEIVE from that group."""
        first = self.model.first(queue)
        expected = 9617 if not self.model.queues[queue].enabled else first and self.groups[first.group]
        rows = self.compare(expected, "SELECT ssb.get_conversation_group(%s)", queue)
        assert isinstance(expected, int) or rows == [(expected,)]
        if then and not isinstance(expected, int) and first is not None:
            self._check_rows(
                self.model.receive_group(queue, first.group, top),
                "SELECT * FROM ssb.receive(%s, %s, conversation_group => %s)",
                queue,
                top,
                expected,
            )

    def _check_rows(self, expected: Any, statement: str, *values: Any) -> None:
        columns = "conversation_handle, message_type_name, message_body, message_sequence_number"
        rows = self.compare(expected, statement.replace("*", columns), *values)
        if not isinstance(expected, int):
            assert [
                (handle, kind, None if body is None or kind == ERROR else body.decode(), number)
                for handle, kind, body, number in rows
            ] == [(self.handles[e], TYPES[m.type], m.body, m.number) for e, m in expected]

    @rule(queue=st.sampled_from(QUEUES), top=TOPS, times=st.sampled_from([1, 1, 2, 4, 5]))
    def receive_and_roll_back(self, queue: str, top: int | None, times: int) -> None:
        if not self.model.queues[queue].fails:
            # What is found of a rollback before a commit is taken for one after it.
            self._pardon(queue)
        for _ in range(times):
            expected = self.model.wanted(queue, top)
            with self.session.connection.transaction(force_rollback=True):
                self._check_rows(expected, "SELECT * FROM ssb.receive(%s, %s)", queue, top)
            self.model.roll_back(queue, top)

    def _pardon(self, *queues: str) -> None:
        """Rollbacks are known by the messages that they have put back: where one goes, or an END puts it
        back, the engine may count one less, or one more."""
        for queue in queues or QUEUES:
            self.model.queues[queue].fails = 0
            if self.model.queues[queue].enabled:
                self.session.do("SELECT ssb_internal.pardon(q) FROM ssb.queue AS q WHERE q.name = %s", queue)

    @rule(
        what=st.sampled_from(
            [
                "ssb.send(%s, 'm', 'lost'::bytea)",
                "ssb.end_conversation(%s)",
                "ssb.end_conversation(%s, 1, 'lost')",
                "ssb.end_conversation(%s, cleanup => true)",
                "ssb.begin_conversation_timer(%s, 60)",
            ]
        ),
        data=st.data(),
    )
    def do_and_roll_back(self, what: str, data: st.DataObject) -> None:
        """Nothing is seen of it afterwards."""
        self._pardon()
        if endpoint := self.pick(data):
            with self.session.connection.transaction(force_rollback=True):
                try:
                    with self.session.connection.transaction():
                        self.session.do(f"SELECT {what}", self.handles[endpoint])
                except psycopg.Error as error:
                    assert error.sqlstate and error.sqlstate.startswith("S")

    @rule(with_error=st.booleans(), data=st.data())
    def end(self, with_error: bool, data: st.DataObject) -> None:
        self._pardon()
        if endpoint := self.pick(data):
            self.compare(
                self.model.end(endpoint, with_error),
                "SELECT ssb.end_conversation(%s, %s, %s)",
                self.handles[endpoint],
                *((1, "x") if with_error else (None, None)),
            )
            self.learn_targets()

    @rule(data=st.data())
    def end_set(self, data: st.DataObject) -> None:
        self._pardon()
        several = self.pick_several(data, "SO", "CO", "DI", "ER")
        before = {m for e in self.model.endpoints for m in e.inbox}
        for endpoint in several:
            assert self.model.end(endpoint) is None
        self.session.do("SELECT ssb.end_conversations(%s)", [self.handles[endpoint] for endpoint in several])
        self.learn_targets()
        self._reorder({self.handles[e]: m for e in self.known() for m in e.inbox if m not in before})

    def _reorder(self, told: dict[uuid.UUID, Message]) -> None:
        """A set says nothing of the order between conversations: those of the fast path come first."""
        orders = iter(sorted(message.order for message in told.values()))
        for queue in QUEUES:
            for handle, number in self.session.rows(
                f"SELECT conversation_handle, message_sequence_number FROM {queue}"
                " WHERE status = 1 ORDER BY queuing_order"
            ):
                if handle in told and told[handle].number == number:
                    told.pop(handle).order = next(orders)
        assert not told

    @rule(data=st.data())
    def clean_up(self, data: st.DataObject) -> None:
        self._pardon()
        if endpoint := self.pick(data):
            expected = self.model.clean_up(endpoint)
            self.compare(expected, "SELECT ssb.end_conversation(%s, cleanup => true)", self.handles[endpoint])

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        if endpoint := self.pick(data):
            alike = [e.group for e in self.known() if e.service is endpoint.service]
            group = data.draw(st.sampled_from(alike + sorted(self.groups)))
            expected = self.model.move(endpoint, group)
            self.compare(
                expected,
                "SELECT ssb.move_conversation(%s, %s)",
                self.handles[endpoint],
                self.groups[group],
            )

    @rule(data=st.data())
    def timer_runs_out(self, data: st.DataObject) -> None:
        if endpoint := self.pick(data):
            handle = self.handles[endpoint]
            expected = self.model.run_out(endpoint)
            self.compare(expected, "SELECT ssb.begin_conversation_timer(%s, 60)", handle)
            if expected is None:
                self.session.do(
                    "UPDATE ssb.conversation_endpoint SET dialog_timer = now(), due_at = now()"
                    " WHERE conversation_handle = %s",
                    handle,
                )
                self.session.do("SELECT ssb.deliver_due(%s)", endpoint.queue.name)

    @rule(queue=st.sampled_from(QUEUES), enabled=st.booleans())
    def set_status(self, queue: str, enabled: bool) -> None:
        self.model.set_status(queue, enabled)
        self.session.do("SELECT ssb.alter_queue(%s, status => %s)", queue, enabled)
        self.session.do("SELECT ssb.deliver_due(%s)", queue)
        self.learn_targets()

    @rule(queue=st.sampled_from(QUEUES), retains=st.booleans())
    def set_retention(self, queue: str, retains: bool) -> None:
        self.model.queues[queue].retains = retains
        self.session.do("SELECT ssb.alter_queue(%s, retention => %s)", queue, retains)

    @rule(queue=st.sampled_from(QUEUES), handles=st.booleans())
    def set_poison_message_handling(self, queue: str, handles: bool) -> None:
        self.model.handle_poison(queue, handles)
        self.session.do("SELECT ssb.alter_queue(%s, poison_message_handling => %s)", queue, handles)

    @rule(
        remote=st.sampled_from((None, *NAMES)),
        level=st.sampled_from([None, 2, 5, 9]),
        is_any=st.booleans(),
        data=st.data(),
    )
    def set_level(self, remote: str | None, level: int | None, is_any: bool, data: st.DataObject) -> None:
        """CREATE, ALTER or DROP BROKER PRIORITY, of a name that says what it matches."""
        local = None if is_any else self._here(data)
        name, match = f"{local} {remote}", (self.database, local, remote)
        if level is None and match in self.model.levels:
            self.session.do("SELECT ssb.drop_broker_priority(%s)", name)
        elif match in self.model.levels:
            self.session.do("SELECT ssb.alter_broker_priority(%s, priority_level => %s)", name, level)
        elif level is not None:
            self.session.do(
                "SELECT ssb.create_broker_priority(%s, 'c', %s, %s, %s)", name, local, remote, level
            )
        self.model.levels.pop(match, None)
        if level is not None:
            self.model.levels[match] = level

    @rule(far=st.sampled_from(NAMES), times=st.integers(1, 3), data=st.data())
    def send_new(self, far: str, times: int, data: st.DataObject) -> None:
        """New dialogs with one message each: their first SEND keeps the path that the next one takes."""
        near = self._here(data)
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
                self._learn(made, rows[0][0])
        self.learn_targets()

    @invariant()
    def the_catalog_shows_the_same(self) -> None:
        shown = {
            handle: (state, priority, group)
            for handle, state, priority, group in self.session.rows(
                "SELECT conversation_handle, state, priority, conversation_group_id"
                " FROM sys.conversation_endpoints"
            )
        }
        assert shown == {
            self.handles[e]: (state, e.priority, self.groups[e.group])
            for e in self.known()
            if e.service.database == self.database and (state := e.state()) is not None
        }

    @invariant()
    def the_queues_are_on(self) -> None:
        assert dict(
            self.session.rows(
                "SELECT q.name, ssb_internal.is_accepting(q.state_sequence)"
                " AND NOT ssb_internal.is_poisoned(q) FROM ssb.queue AS q WHERE q.name = ANY (%s)",
                list(QUEUES),
            )
        ) == {queue.name: queue.enabled for queue in self.model.queues.values()}

    @invariant()
    def the_queues_hold_the_same(self) -> None:
        for queue in QUEUES:
            rows = self.session.rows(
                f"SELECT status, conversation_handle, message_sequence_number FROM {queue}"
                " ORDER BY priority DESC, queuing_order"
            )
            sides = [e for e in self.model.endpoints if e.queue.name == queue]
            held: list[tuple[int, Endpoint, Message]] = [(-e.priority, e, m) for e in sides for m in e.inbox]
            held.sort(key=lambda row: (row[0], row[2].order))
            assert [tuple(row) for status, *row in rows if status == 1] == [
                (self.handles[e], m.number) for _, e, m in held
            ]
            kept = sorted((status, self.handles[e], n) for e in sides for n, status in e.retained)
            assert kept == sorted(row for row in rows if row[0] != 1)

    @invariant()
    def the_transmission_queue_holds_the_same(self) -> None:
        waiting = sorted(
            (self.handles[e], number)
            for e in self.known()
            if e.service.database == self.database
            for _, _, number in e.waiting
        )
        assert waiting == sorted(
            self.session.rows(
                "SELECT conversation_handle, message_sequence_number FROM sys.transmission_queue"
            )
        )


@pytest.fixture
def broker(new_database: Callable[[], Database]) -> Iterator[type[Broker]]:
    """The state machine on a database with the services of two T-SQL databases."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        session = Session(connection)
        session.do("SELECT ssb.create_database(%s)", OTHER)
        for queue in QUEUES:
            session.do("SELECT ssb.create_queue(%s)", queue)
        for database in (None, OTHER):
            session.do(
                "SELECT ssb.create_message_type('m', database => d),"
                " ssb.create_contract('c', '{m}', '{ANY}', database => d) FROM (SELECT %s::text) AS d (d)",
                database,
            )
        for name, queue, of in SERVICES:
            session.do("SELECT ssb.create_service(%s, %s, '{c}', database => %s)", name, queue, of or None)
        yield type("BrokerHere", (Broker,), {"session": session})


@pytest.mark.long
def test_random_histories(broker: type[Broker]) -> None:
    run_state_machine_as_test(
        broker,
        settings=settings(
            max_examples=int(os.environ.get("PGSB_MODEL_EXAMPLES", "25")),
            stateful_step_count=int(os.environ.get("PGSB_MODEL_STEPS", "25")),
            deadline=None,
            derandomize="PGSB_MODEL_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
