"""Dialogs with priorities, and on queues that retain: the fast path makes what the slow one does."""

import itertools
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from interleaving.pauses import changed
from runtime.broker import END, Pair, Session, refused, start_and_block
from runtime.test_retention import contents

from support import rest_is_long

Open = Callable[[], Session]
Level = Callable[..., str]

SLOW_PATHS = ["send_slow_path", "receive_slow_path", "make_endpoint", "deliver", "close_endpoint"]
LEVELS = """
SELECT e.priority FROM ssb.conversation_endpoint AS n
  JOIN ssb.conversation_endpoint AS e ON e.conversation_id = n.conversation_id
 WHERE n.conversation_handle = %s ORDER BY NOT e.is_initiator
"""
SHAPE = """
SELECT e.is_initiator, e.lock_id = e.endpoint_id, e.sent_count, e.priority, e.far_priority, e.near_order,
       e.near_state, e.contract_id, e.far_contract_id, e.plain_type, e.far_queue_id, e.far_order, e.far_state,
       e.service_id, e.queue_id, e.service_name, e.contract_name, e.far_service, e.far_broker_instance,
       e.has_waiting, e.lifetime,
       ARRAY(SELECT (m.queue_id, m.message_sequence_number, m.message_type_id, m.priority, m.validation,
                     m.body)
               FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id)::text,
       ARRAY(SELECT (r.queue_id, r.status, r.message_sequence_number, r.message_type_id, r.priority,
                     r.validation, r.body)
               FROM ssb.retained_message AS r WHERE r.endpoint_id = e.endpoint_id)::text
  FROM ssb.conversation_endpoint AS n
  JOIN ssb.conversation_endpoint AS e ON e.conversation_id = n.conversation_id
 WHERE n.conversation_handle = %s ORDER BY e.is_initiator
"""
KEPT = """
SELECT near_priority, far_priority FROM ssb.dialog_path
 WHERE from_service = %s AND to_service = %s AND epoch = pg_sequence_last_value('ssb.dialog_path_epoch')
"""


@pytest.fixture
def level(session: Session) -> Iterator[Level]:
    """Creates a priority, and returns its name; drops all."""

    def create(priority_level: int, **match: str | None) -> str:
        words = "".join(f", {key} => %s" for key in match)
        name = f"level {next(_names)}"
        session.do(
            f"SELECT ssb.create_broker_priority(%s, priority_level => %s{words})",
            name,
            priority_level,
            *match.values(),
        )
        return name

    yield create
    session.do("SELECT ssb.drop_broker_priority(p.name) FROM sys.conversation_priorities AS p")


_names = itertools.count()


@contextmanager
def no_slow_path(session: Session) -> Iterator[None]:
    """Each of SLOW_PATHS fails."""
    with ExitStack() as stack:
        functions = session.column(
            "SELECT p.oid::regprocedure::text FROM pg_proc AS p"
            " WHERE p.pronamespace = 'ssb_internal'::regnamespace AND p.proname = ANY (%s)",
            SLOW_PATHS,
        )
        assert len(functions) >= len(SLOW_PATHS)
        for function in functions:
            stack.enter_context(
                changed(
                    session,
                    function,
                    lambda text: text.replace("\nBEGIN\n", "\nBEGIN RAISE EXCEPTION 'slow path';\n", 1),
                )
            )
        yield


@contextmanager
def paths_forgotten(another: Open) -> Iterator[None]:
    """Somebody is changing definitions: no path is kept, all goes step by step."""
    other = another()
    other.do("SELECT ssb.create_route('nowhere', 'LOCAL', service_name => '//nowhere')")
    yield
    other.rollback()


def levels(session: Session, handle: uuid.UUID) -> list[int]:
    """Of both sides, the initiator's first."""
    return session.column(LEVELS, handle)


def begun(pair: Pair, session: Session | None = None) -> uuid.UUID:
    """By two statements."""
    near = pair.dialog(session)
    pair.say(near, "job", session=session)
    return near


KINDS = {
    "high": ({"priority_level": 8}, False),
    "low": ({"priority_level": 3}, False),
    "retention": (None, True),
    "both": ({"priority_level": 8}, True),
}


def define(session: Session, pair: Pair, level: Level, kind: str) -> None:
    match, retains = KINDS[kind]
    if match is not None:
        level(**match, contract=pair.contract)
    for queue in (pair.near, pair.far):
        session.do("SELECT ssb.alter_queue(%s, retention => %s)", queue, retains)


@pytest.mark.parametrize("top", [1, None])
@pytest.mark.parametrize("kind", KINDS)
def test_a_life_takes_no_slow_path(
    session: Session, pair: Pair, level: Level, kind: str, top: int | None
) -> None:
    define(session, pair, level, kind)

    def live(near: uuid.UUID) -> None:
        pair.say(near, "more")
        (first,) = session.receive(pair.far, 1)
        if top == 1:
            assert session.bodies(pair.far, 1) == ["more"]
        else:
            assert session.bodies(pair.far) == ["more"]
        session.send(first.handle, pair.reply, "answer")
        session.end(first.handle)
        received = session.receive(pair.near, top)
        received += session.receive(pair.near, top) if top else []
        assert [m.type for m in received] == [pair.reply, END]
        session.end(near)

    live(begun(pair))
    with no_slow_path(session):
        live(begun(pair))
        live(pair.send_new())
        assert session.receive(pair.far) == session.receive(pair.near) == []
    assert contents(session, pair.far) == contents(session, pair.near) == []


@pytest.mark.parametrize("kind", KINDS)
def test_all_ways_make_the_same(session: Session, pair: Pair, level: Level, another: Open, kind: str) -> None:
    define(session, pair, level, kind)
    with paths_forgotten(another):
        step_by_step = [session.rows(SHAPE, handle) for handle in (begun(pair), pair.send_new())]
        assert session.rows(KEPT, pair.initiator, pair.target) == []
    begun(pair)
    with no_slow_path(session):
        fast = [session.rows(SHAPE, handle) for handle in (begun(pair), pair.send_new())]
    expected = (KINDS[kind][0] or {"priority_level": 5})["priority_level"]
    assert session.rows(KEPT, pair.initiator, pair.target) == [(expected, expected)]
    assert len(fast[0]) == 2
    assert step_by_step == [fast[0]] * 2 and fast[1] == fast[0]


PLACES = list(itertools.product((True, False), repeat=3))
"""Whether contract, local and remote service are given; each line counts more than those below it."""


def test_any_of_contract_local_and_remote_service(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    names = {}
    for number, (contract, local, remote) in zip((9, 8, 7, 6, 4, 3, 2, 1), PLACES, strict=True):
        match = {
            "contract": pair.contract if contract else None,
            "local_service": pair.initiator if local else None,
            "remote_service": pair.target if remote else None,
        }
        names[contract, local, remote] = (number, level(number, **match))
    # Beside them one of another contract, and one for dialogs the other way round.
    level(10, contract="DEFAULT")
    level(10, local_service=pair.target, remote_service=pair.target)
    for place in [*PLACES, None]:
        nears = [names[p][0] for p in PLACES if p in names]
        # At the target the services change places: only what has ANY for both is for it.
        fars = [names[p][0] for p in PLACES if p in names and p[1:] == (False, False)]
        expected = [(nears or [5])[0], (fars or [5])[0]]
        with paths_forgotten(another):
            assert levels(session, begun(pair)) == expected
        assert [levels(session, begun(pair)) for _ in range(2)] == [expected] * 2
        with no_slow_path(session):
            assert levels(session, pair.send_new()) == expected
        if place is not None:
            session.do("SELECT ssb.drop_broker_priority(%s)", names.pop(place)[1])


def test_local_dialogs_have_their_level_whether_it_is_honored_or_not(
    session: Session, pair: Pair, level: Level
) -> None:
    level(9, contract=pair.contract, local_service=pair.target)
    low = Pair(session)
    session.do("SELECT ssb.alter_service(%s, queue => %s)", low.target, pair.far)
    for value in ("ON", "OFF"):
        session.do("SELECT ssb.alter_database(NULL, 'HONOR_BROKER_PRIORITY', %s)", value)
        begun(pair)
        low.send_new("low")
        pair.send_new("high")
        assert [session.bodies(pair.far, 1) for _ in range(3)] == [["job"], ["high"], ["low"]]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("SELECT ssb.alter_broker_priority(%s, priority_level => 2)", [8, 2]),
        ("SELECT ssb.drop_broker_priority(%s)", [8, 5]),
        (
            "SELECT ssb.drop_broker_priority(%s),"
            " ssb.create_broker_priority('later', local_service => '{target}', priority_level => 10)",
            [8, 10],
        ),
    ],
)
def test_a_level_is_that_of_the_moment_when_its_side_is_made(
    session: Session, pair: Pair, level: Level, another: Open, change: str, expected: list[int]
) -> None:
    name = level(8, contract=pair.contract)
    assert levels(session, begun(pair)) == [8, 8]
    early = [pair.dialog() for _ in range(2)]
    changing = another()
    changing.do(change.format(target=pair.target), name)
    # Not committed: nothing has changed.
    pair.say(early[0], "job")
    assert levels(session, early[0]) == [8, 8]
    assert session.rows(KEPT, pair.initiator, pair.target) == []
    changing.commit()
    pair.say(early[1], "job")
    assert levels(session, early[1]) == expected
    # What comes back has the level of the side that receives it.
    far = session.value(
        "SELECT f.conversation_handle FROM ssb.conversation_endpoint AS f"
        " JOIN ssb.conversation_endpoint AS e ON e.far_endpoint_id = f.endpoint_id"
        " WHERE e.conversation_handle = %s",
        early[1],
    )
    session.send(far, pair.reply, "answer")
    assert session.column(f"SELECT priority FROM {pair.near}") == [8]
    queued = session.column(f"SELECT priority FROM {pair.far}")
    assert queued == sorted([8, 8, expected[1]], reverse=True)
    again = pair.send_new()
    assert levels(session, again) == [expected[1] if expected[1] != 10 else 5, expected[1]]


def test_a_reader_that_knows_one_level_finds_the_others(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    reader = another()
    reader.connection.autocommit = True
    for body in ("first", "low", "low too"):
        pair.send_new(body)
    assert reader.bodies(pair.far, 1) == ["first"]
    name = level(9, contract=pair.contract)
    for body in ("high", "high too"):
        pair.send_new(body)
    assert [body for _ in range(5) for body in reader.bodies(pair.far, 1)] == [
        "high",
        "high too",
        "low",
        "low too",
    ]
    session.do("SELECT ssb.drop_broker_priority(%s)", name)
    pair.send_new("last")
    assert reader.bodies(pair.far, 1) == ["last"]


def test_a_change_that_is_rolled_back_was_none(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    name = level(8, contract=pair.contract)
    begun(pair)
    changing = another()
    changing.do("SELECT ssb.alter_broker_priority(%s, priority_level => 2)", name)
    # Its own dialogs have it, and the path that they keep goes with it.
    assert [levels(changing, begun(pair, changing)) for _ in range(2)] == [[2, 2]] * 2
    assert levels(changing, pair.send_new(session=changing)) == [2, 2]
    changing.do("SAVEPOINT one")
    changing.do("SELECT ssb.drop_broker_priority(%s)", name)
    assert [levels(changing, begun(pair, changing)) for _ in range(2)] == [[5, 5]] * 2
    changing.do("ROLLBACK TO SAVEPOINT one")
    assert [levels(changing, begun(pair, changing)) for _ in range(2)] == [[2, 2]] * 2
    assert levels(session, begun(pair)) == [8, 8]
    changing.rollback()
    assert [levels(session, begun(pair)) for _ in range(2)] == [[8, 8]] * 2
    with no_slow_path(session):
        assert levels(session, pair.send_new()) == [8, 8]


def test_sessions_that_begin_the_first_dialogs_of_a_level_at_once(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    level(8, contract=pair.contract)
    first, second, changing = another(), another(), another()
    begun(pair, first)
    # The queue's levels are in one row: whoever is second waits this once.
    waiting = start_and_block(session, second, lambda: begun(pair, second))
    changing.do("SET lock_timeout = '2s'")
    changing.do(
        "SELECT ssb.create_broker_priority('far', %s, %s, priority_level => 3)", pair.contract, pair.target
    )
    changing.commit()
    first.commit()
    assert levels(second, waiting.result()) == [8, 3]
    second.commit()
    # The first one's path is of what was before the change.
    assert levels(session, pair.send_new("new")) == [8, 3]
    assert session.column("SELECT priorities FROM ssb.queue WHERE name = %s", pair.far) == [[8, 5, 3]]
    assert [session.bodies(pair.far) for _ in range(4)] == [["job"], ["job"], ["new"], []]


def test_a_path_that_is_rolled_back_takes_its_levels_with_it(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    level(8, contract=pair.contract)
    first = another()
    begun(pair, first)
    first.rollback()
    assert session.rows(KEPT, pair.initiator, pair.target) == []
    assert session.column("SELECT priorities FROM ssb.queue WHERE name = %s", pair.far) == [[5]]
    pair.send_new("high")
    assert session.bodies(pair.far) == ["high"]


@pytest.mark.one_postgres
def test_dialogs_that_leave_have_their_level_here_and_on_their_way_where_it_is_honored(
    session: Session, pair: Pair, level: Level
) -> None:
    far = f"{pair.target}/away"
    session.do("SELECT ssb.create_route(%s, 'TCP://one.example:4022', %s)", far, far)
    name = level(8, contract=pair.contract, remote_service=far)
    statement = (
        "SELECT e.priority, t.priority FROM ssb.conversation_endpoint AS e"
        " JOIN ssb.transmission AS t ON t.endpoint_id = e.endpoint_id WHERE e.conversation_handle = %s"
    )

    def sent() -> list[tuple[int, int]]:
        apart = session.value("SELECT ssb.begin_dialog(%s, %s, %s)", pair.initiator, far, pair.contract)
        pair.say(apart, "job")
        return session.rows(statement, apart) + session.rows(statement, pair.send_new(far=far))

    assert [sent(), sent()] == [[(8, 5)] * 2] * 2
    # Paths are kept of those that have none, as before.
    assert session.rows(KEPT, pair.initiator, far) == []
    session.do("SELECT ssb.alter_database(NULL, 'HONOR_BROKER_PRIORITY', 'ON')")
    try:
        assert [sent(), sent()] == [[(8, 8)] * 2] * 2
    finally:
        session.do("SELECT ssb.alter_database(NULL, 'HONOR_BROKER_PRIORITY', 'OFF')")
    early = session.value("SELECT ssb.begin_dialog(%s, %s, %s)", pair.initiator, far, pair.contract)
    session.do("SELECT ssb.drop_broker_priority(%s)", name)
    pair.say(early, "job")
    assert session.rows(statement, early) == [(8, 5)]
    assert [sent(), sent()] == [[(5, 5)] * 2] * 2
    assert session.rows(KEPT, pair.initiator, far) == [(5, 5)]


def test_a_route_that_leads_away_before_the_first_message(session: Session, pair: Pair, level: Level) -> None:
    level(8, contract=pair.contract)
    begun(pair)
    early = pair.dialog()
    session.do("SELECT ssb.create_route('away', 'TCP://one.example:4022', %s)", pair.target)
    session.do("SELECT ssb.alter_route('AutoCreatedLocal', 'TCP://one.example:4022')")
    try:
        pair.say(early, "job")
        assert levels(session, early) == [8]
        assert len(session.transmissions(early)) == 1
    finally:
        session.do("SELECT ssb.alter_route('AutoCreatedLocal', 'LOCAL'), ssb.drop_route('away')")
        session.do("SELECT ssb.end_conversation(%s, cleanup => true)", early)


@pytest.mark.long(on="older")
@pytest.mark.parametrize("seed", rest_is_long(range(3), 0))
def test_the_highest_level_whose_group_is_free_comes_first(
    session: Session, pair: Pair, level: Level, another: Open, seed: int
) -> None:
    """Two readers with marks of their own, and one who holds a group; against a list in Python."""
    chance = random.Random(seed)
    readers, holder = [another(), another()], another()
    waiting: list[tuple[int, int, uuid.UUID, str]] = []
    dialogs: list[tuple[int, uuid.UUID]] = []
    for number in (9, 5, 2):
        name = level(number, contract=pair.contract)
        for _ in range(3):
            near = begun(pair)
            (message,) = session.receive(pair.far)
            dialogs.append((number, near))
            assert levels(session, near)[1] == number
            assert message.body == "job"
        session.do("SELECT ssb.drop_broker_priority(%s)", name)
    order = itertools.count()
    for turn in range(120):
        for _ in range(chance.choice((0, 1, 1, 2))):
            number, near = chance.choice(dialogs)
            pair.say(near, f"{turn}")
            waiting.append((-number, next(order), near, f"{turn}"))
        held = None
        if chance.random() < 0.4 and waiting:
            waiting.sort()
            held = waiting[0][2]
            assert holder.bodies(pair.far, 1) == [waiting[0][3]]
        reader, top = chance.choice(readers), chance.choice((1, None))
        free = sorted(entry for entry in waiting if entry[2] != held)
        first = [entry for entry in free if entry[2] == free[0][2]][:top]
        assert reader.bodies(pair.far, top) == [entry[3] for entry in first]
        if chance.random() < 0.2:
            # Tried before: these go the long way, and five of them in a row are poison.
            reader.rollback()
            session.do(
                "SELECT ssb_internal.forget_attempts(q) FROM ssb.queue AS q WHERE q.name = %s", pair.far
            )
        else:
            reader.commit()
            waiting = [entry for entry in waiting if entry not in first]
        holder.rollback()
        if held is not None:
            session.do(
                "SELECT ssb_internal.forget_attempts(q) FROM ssb.queue AS q WHERE q.name = %s", pair.far
            )


MARK = """
SELECT (current_setting('ssb.read_position_' || queue_id || '_9')::bigint[])[1] FROM ssb.queue WHERE name = %s
"""
LONG_AGO = """
SELECT set_config('ssb.read_position_' || q.queue_id || '_9', p.position::text, false)
  FROM ssb.queue AS q
 CROSS JOIN LATERAL (SELECT v[1:3] || 0::bigint || v[5:] AS position
                       FROM CAST(current_setting('ssb.read_position_' || q.queue_id || '_9') AS bigint[]) AS v
                    ) AS p
 WHERE q.name = %s
"""
"""As if the mark had been seen to in an earlier tenth of a second."""


def test_the_mark_of_a_level_that_is_empty_is_raised(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    """Else a reader of lower ones would pass what others received there, until VACUUM removes it."""
    name = level(9, contract=pair.contract)
    high = begun(pair)
    session.do("SELECT ssb.drop_broker_priority(%s)", name)
    low = begun(pair)
    reader = another()
    for _ in range(2):
        assert reader.bodies(pair.far, 1) == ["job"]
        reader.commit()
    for _ in range(4):
        pair.say(high, *(str(number) for number in range(100)))
        assert len(session.bodies(pair.far)) == 100
        pair.say(low, "low")
        reader.do(LONG_AGO, pair.far)
        assert reader.bodies(pair.far, 1) == ["low"]
        reader.commit()
    assert reader.value(MARK, pair.far) >= 300


@pytest.mark.parametrize("where", ["conversation", "conversation_group"])
def test_what_is_received_by_name_is_retained(session: Session, pair: Pair, where: str) -> None:
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.far)
    near = pair.dialog()
    pair.say(near, "a", "b", "c")
    (first,) = session.receive(pair.far, 1)
    wanted = first.handle if where == "conversation" else session.group(first.handle)
    assert [m.body for m in session.receive(pair.far, 1, **{where: wanted})] == ["b"]
    assert [m.body for m in session.receive(pair.far, **{where: wanted})] == ["c"]
    assert [(status, body) for status, _, body in contents(session, pair.far)] == [
        (0, "a"),
        (0, "b"),
        (0, "c"),
    ]


@pytest.mark.parametrize("retaining", ["near", "far"])
def test_retention_that_is_switched_between_the_statements(
    session: Session, pair: Pair, another: Open, retaining: str
) -> None:
    queue = pair.near if retaining == "near" else pair.far
    begun(pair)
    early = pair.dialog()
    other = another()
    other.do("SELECT ssb.alter_queue(%s, retention => true)", queue)
    assert session.receive(pair.far)[0].body == "job"
    other.commit()
    pair.say(early, "one", "two")
    with no_slow_path(session):
        pair.say(early, "three")
        new = pair.send_new("four")
        assert [session.bodies(pair.far, 1) for _ in range(4)] == [["one"], ["two"], ["three"], ["four"]]
    status = 3 if retaining == "near" else 0
    words = ["one", "two", "three", "four"]
    assert [(s, body) for s, _, body in contents(session, queue)] == [(status, word) for word in words]
    session.do("SELECT ssb.alter_queue(%s, retention => false)", queue)
    pair.say(early, "five")
    pair.send_new("six")
    assert [session.bodies(pair.far, 1) for _ in range(2)] == [["five"], ["six"]]
    assert len(contents(session, queue)) == 4
    session.end(early)
    session.end(new)
    assert contents(session, pair.near) == []


def test_what_is_kept_of_a_message_without_a_body(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    near = pair.dialog()
    session.send(near, pair.request, None)
    session.send(near, pair.request, "")
    pair.send_new("")
    assert contents(session, pair.near) == [(3, pair.request, None)] * 3
    session.do("SELECT ssb.alter_message_type(%s, 'WELL_FORMED_XML')", pair.request)
    session.send(near, pair.request, "<a/>")
    assert contents(session, pair.near)[3:] == [(3, pair.request, "<a/>")]


def test_dialogs_that_share_a_group_on_a_queue_that_retains(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    pair.say(first, "a")
    pair.say(second, "b")
    pair.say(second, "c")
    assert [(status, body) for status, _, body in contents(session, pair.near)] == [
        (3, "a"),
        (3, "b"),
        (3, "c"),
    ]
    session.end(first)
    assert [body for *_, body in contents(session, pair.near)] == ["b", "c"]


def test_an_error_is_received_before_what_it_overtakes_on_any_level(
    session: Session, pair: Pair, level: Level
) -> None:
    level(8, contract=pair.contract)
    near = pair.send_new("job")
    session.end(near, error=7, description="no")
    types = [m.type for m in session.receive(pair.far)]
    assert len(types) == 2 and types[1] == pair.request
    assert session.receive(pair.far) == []


def test_who_may_not_receive_from_a_queue_with_levels(session: Session, pair: Pair, level: Level) -> None:
    level(8, contract=pair.contract)
    pair.send_new()
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    near = begun(pair)
    far = session.value(f"SELECT conversation_handle FROM {pair.far} LIMIT 1")
    session.do("CREATE ROLE level_stranger")
    try:
        session.do("SET ROLE level_stranger")
        with refused(229):
            session.receive(pair.far)
        with refused(229):
            session.receive(pair.far, conversation=far)
        with refused(229):
            session.value("SELECT ssb.get_conversation_group(%s)", pair.far)
        with refused(8494):
            pair.send_new()
        with refused(229):
            pair.say(near, "no")
        with refused(229):
            session.end(near)
    finally:
        session.do("RESET ROLE")
        session.do("DROP ROLE level_stranger")


def test_what_was_passed_at_one_level_is_not_looked_for_at_the_next_one(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    """There, what a rollback has put back comes before what the same dialog sent afterwards."""
    name = level(9, contract=pair.contract)
    # Taken for an order, its number would be that of a message far behind.
    session.do("SELECT setval('ssb.endpoint_id', nextval('ssb.endpoint_id') + 100000)")
    high, others = begun(pair), pair.dialog()
    holder, reader = another(), another()
    assert holder.bodies(pair.far, 1) == ["job"]
    for _ in range(3):
        pair.say(others, *(str(number) for number in range(130)))
        for _ in range(130):
            assert len(reader.bodies(pair.far, 1)) == 1
            reader.commit()
    assert reader.value(SKIPPED, pair.far) == 1
    session.do("SELECT ssb.drop_broker_priority(%s)", name)
    first, second = begun(pair), pair.dialog()
    pair.say(second, "put back", "sent afterwards")
    assert another().bodies(pair.far, 1) == ["job"]
    with session.connection.transaction(force_rollback=True):
        assert session.bodies(pair.far, 1) == ["put back"]
    assert reader.bodies(pair.far, 1) == ["put back"]
    reader.rollback()
    assert levels(session, high)[1] == 9 and levels(session, first)[1] == 5


SKIPPED = """
SELECT (current_setting('ssb.read_position_' || queue_id || '_9')::bigint[])[5] FROM ssb.queue WHERE name = %s
"""
SWITCHED = """
WITH moved AS (DELETE FROM ssb.message_0 RETURNING *)
INSERT INTO ssb.message_1 SELECT * FROM moved
"""
ONE_OF_BEFORE = """
SELECT set_config('ssb.read_position_' || q.queue_id || '_9', p.high::text, false),
       set_config('ssb.read_position_' || q.queue_id || '_5', p.low::text, false)
  FROM ssb.queue AS q
 CROSS JOIN LATERAL (SELECT h[1:3] || (date_part('epoch', clock_timestamp()) * 10)::bigint || h[5:] AS high,
                            l[1:5] || pg_sequence_last_value('ssb.rotation_state') || l[7:] AS low
                       FROM CAST(current_setting('ssb.read_position_' || queue_id || '_9') AS bigint[]) AS h,
                            CAST(current_setting('ssb.read_position_' || queue_id || '_5') AS bigint[]) AS l
                    ) AS p
 WHERE q.name = %s
"""
"""The mark of the higher level is of before the switch and was seen to just now, the other is of after it."""


def test_a_level_whose_mark_is_of_before_the_switch_of_tables_is_looked_at(
    session: Session, pair: Pair, level: Level, another: Open
) -> None:
    """Its messages may be where the mark says, in a snapshot older than the switch: none before them."""
    session.do("TRUNCATE ssb.message_0, ssb.message_1")
    state = session.value(
        "SELECT setval('ssb.rotation_state', (s.state / 8 + 1) * 8)"
        " FROM (SELECT coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) AS state) AS s"
    )
    name = level(9, contract=pair.contract)
    high = begun(pair)
    session.do("SELECT ssb.drop_broker_priority(%s)", name)
    low = begun(pair)
    reader = another()
    for _ in range(2):
        assert len(reader.receive(pair.far)) == 1
        reader.commit()
    pair.say(high, "high")
    pair.say(low, "low")
    reader.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    assert reader.value(f"SELECT count(*) FROM {pair.far}") == 2
    session.do(SWITCHED)
    session.do("SELECT setval('ssb.rotation_state', %s)", state + 1)
    reader.do(ONE_OF_BEFORE, pair.far)
    assert reader.bodies(pair.far) == []
    reader.rollback()
    assert reader.bodies(pair.far) == ["high"]
    reader.rollback()
    session.do("SELECT setval('ssb.rotation_state', %s)", state + 8)
    session.do("TRUNCATE ssb.message_0, ssb.message_1")
