"""1,000 queues read in turn by one session, and the same messages read from one of them.

- 1,000 bare tables: one for each queue, with a statement and a plan each, in one function.
- the lower bound: one table, a column tells the queue; a group's row is locked; nothing is known of a queue.
- … + sequences: two for each queue, asked as ours asks: may the caller read, is the queue on, the last order.
- … + marks: what a session knows of a queue it keeps in a setting, which it makes in its first visit.
- … + last order: in which it reads the queue's sequence as a table, since functions leave no lock on it.
- ours.

None but ours is right when readers roll back, looks for what falls due, or knows names of queues. Numbers are
full also when quick. A session's beginning is in all figures, as it is in those of the conditions.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..conditions import ManyQueues
from ..peer import BODY
from ..peers.lower_bound import MESSAGES, first_of_group, function, receive_one, walk_indexes
from ..profile import processor_seconds
from ..report import OURS
from ..run import Outcome, Say
from ..scenarios import Scenario
from ..server import BenchServer, Connection, pgbench

_QUEUES, _EACH = 1000, 20
# How often each queue is visited: half of its messages are read. Where processor time is counted, the later
# visits cost as much as each other, so fewer do.
_VISITS = _EACH // 2
_COUNTED = 3

_TABLES = f"""
{MESSAGES}
CREATE TABLE queue (queue_id integer PRIMARY KEY, order_sequence regclass NOT NULL,
                    state_sequence regclass NOT NULL);
CREATE TABLE conversation (endpoint_id bigint PRIMARY KEY, handle uuid NOT NULL);
DO $$ BEGIN
    FOR i IN 0..{_QUEUES - 1} LOOP
        EXECUTE format('CREATE SEQUENCE order_%s; CREATE SEQUENCE state_%s', i, i);
        INSERT INTO queue VALUES (i, format('order_%s', i)::regclass, format('state_%s', i)::regclass);
        INSERT INTO conversation VALUES (i, gen_random_uuid());
    END LOOP;
END $$;
"""
_SEQUENCES = (
    "SELECT pg_sequence_last_value(q.order_sequence) INTO v_last FROM queue AS q"
    " WHERE q.queue_id = receive.queue AND coalesce(pg_sequence_last_value(q.state_sequence), 0) = 0"
    " AND has_sequence_privilege(session_user, q.order_sequence, 'USAGE');"
)
# {0}: what the first visit finds out.
_MARKS = (
    " IF coalesce(current_setting('bound.mark_' || queue, true), '') = '' THEN {0}"
    " v_mark := set_config('bound.mark_' || queue, '0', false); END IF;"
)
_READ = "EXECUTE format('SELECT s.last_value FROM order_%s AS s', queue) INTO v_last;"


class _Queues(ABC):
    """1,000 queues in a database of their own; the messages in all of them or in the first."""

    name: str
    call = "SELECT * FROM receive({queue})"

    def __init__(self, server: BenchServer) -> None:
        self.server = server.database("bench_" + "".join(c if c.isalnum() else "_" for c in self.name))
        self.connection = self.server.connect()

    @abstractmethod
    def fill(self, queues: int) -> None:
        """All messages, in turn over so many queues."""

    @abstractmethod
    def left(self) -> int:
        """How many wait."""

    def _number(self, query: str) -> int:
        row = self.connection.execute(query.encode()).fetchone()
        assert row is not None
        return int(row[0])


class _BareTables(_Queues):
    name = "1,000 bare tables"

    def __init__(self, server: BenchServer) -> None:
        super().__init__(server)
        for number in range(_QUEUES):
            self.connection.execute(
                f"CREATE TABLE bare_{number} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                " enqueued_at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL)".encode()
            )
        walk_indexes(self.connection)
        result = "RETURNS TABLE (id bigint, body bytea)"
        self.connection.execute(
            function(f"receive(queue integer) {result}", "", _choice(0, _QUEUES)).encode()
        )

    def fill(self, queues: int) -> None:
        tables = ", ".join(f"bare_{number}" for number in range(_QUEUES))
        self.connection.execute(f"TRUNCATE {tables}".encode())
        self.connection.execute(
            f"DO $$ BEGIN FOR i IN 0..{queues - 1} LOOP EXECUTE format('INSERT INTO bare_%s (body)"
            f" SELECT %L::bytea FROM generate_series(1, {_QUEUES * _EACH // queues})', i, '{BODY}');"
            " END LOOP; END $$".encode()
        )

    def left(self) -> int:
        tables = " UNION ALL ".join(f"SELECT id FROM bare_{number}" for number in range(_QUEUES))
        return self._number(f"SELECT count(*) FROM ({tables}) AS b")


def _choice(first: int, end: int) -> str:
    """Statements that receive from one of the tables ``first`` to ``end`` - 1: ten comparisons for 1,000."""
    if end - first == 1:
        table = f"bare_{first}"
        chosen = f"SELECT b.id FROM {table} AS b ORDER BY b.id LIMIT 1 FOR UPDATE SKIP LOCKED"
        return f"RETURN QUERY DELETE FROM {table} AS d WHERE d.id = ({chosen}) RETURNING d.id, d.body;"
    middle = (first + end) // 2
    return f"IF queue < {middle} THEN {_choice(first, middle)} ELSE {_choice(middle, end)} END IF;"


class _LowerBound(_Queues):
    name = "the lower bound"
    asked = ""

    def __init__(self, server: BenchServer) -> None:
        super().__init__(server)
        walk_indexes(self.connection)
        receive = receive_one(
            first_of_group(queue="receive.queue"), arguments="queue integer", asked=self.asked
        )
        self.connection.execute(f"{_TABLES}{receive}".encode())
        self.connection.execute("ANALYZE")

    def fill(self, queues: int) -> None:
        self.connection.execute("TRUNCATE message")
        each = _QUEUES * _EACH // queues
        self.connection.execute(
            "INSERT INTO message SELECT q.queue_id, nextval(q.order_sequence), i, clock_timestamp(),"
            f" q.queue_id, 1, 5, 'N', '{BODY}'"
            f" FROM generate_series(1, {each}) AS i, queue AS q WHERE q.queue_id < {queues}".encode()
        )

    def left(self) -> int:
        return self._number("SELECT count(*) FROM message")


class _Sequences(_LowerBound):
    name = "+ sequences"
    asked = _SEQUENCES


class _Marks(_LowerBound):
    name = "+ marks"
    asked = _SEQUENCES + _MARKS.format("")


class _Reads(_LowerBound):
    name = "+ last order"
    asked = _SEQUENCES + _MARKS.format(_READ)


class _Ours(_Queues):
    name = OURS
    call = "SELECT * FROM ssb.receive('dbo.q' || {queue}, 1)"

    def __init__(self, server: BenchServer) -> None:
        self._case = ManyQueues(server, "limits_queues", _QUEUES * _EACH, 1)
        self.server, self.connection = self._case.server, self._case.connection

    def fill(self, queues: int) -> None:
        self._case.fill_some(queues)

    def left(self) -> int:
        return self._number("SELECT count(*) FROM ssb.message_stored")


_RIVALS: Sequence[type[_Queues]] = (_BareTables, _LowerBound, _Sequences, _Marks, _Reads, _Ours)


def queues(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Rates in turn and from one, processor time of first and of later visits; and the ratios of either."""
    title = f"Limits: RECEIVE TOP(1), {_QUEUES:,} queues in turn"
    one = Outcome(Scenario("Limits: RECEIVE TOP(1), the same messages in one queue", "special", 1, 1))
    many = Outcome(Scenario(title, "special", 1, 1))
    shares = [
        Outcome(Scenario(f"{title}, by {what} (target: ours 0.67)", "special", 1, 1, unit="x one queue"))
        for what in ("rate", "processor time")
    ]
    prices = [
        Outcome(Scenario(f"{title}, {which}, processor time", "special", 1, 1, unit="us a message"))
        for which in ("in one queue", "first visit", "later visits")
    ]
    places = []
    for kind in _RIVALS:
        places.append(kind(server))
        say(f"{title}: {kind.name} is ready")
    for number in range(3 if quick else 7):
        for place in places:
            found = [_rate(place, count, synchronous_commit) for count in (1, _QUEUES)]
            visits = [_prices(place, count) for count in (1, _QUEUES)]
            plain, turns = ((first + (_VISITS - 1) * later) / _VISITS for first, later in visits)
            values = (*found, found[1] / found[0], plain / turns, plain, *visits[1])
            for outcome, value in zip((one, many, *shares, *prices), values, strict=True):
                outcome.rates.setdefault(place.name, []).append(value)
        say(f"{title}: round {number + 1}")
    for place in places:
        place.connection.close()
    return [one, many, *shares, *prices]


def _fill(place: _Queues, count: int) -> None:
    place.fill(count)
    place.connection.execute("VACUUM ANALYZE")


def _rate(place: _Queues, count: int, synchronous_commit: bool) -> float:
    _fill(place, count)
    done = pgbench(
        place.server,
        [f"\\set n :n + 1\n\\set q :n % {count}\n{place.call.format(queue=':q')};\n"],
        clients=1,
        transactions=_QUEUES * _VISITS,
        synchronous_commit=synchronous_commit,
        variables={"n": 0},
    )
    _check(place, _VISITS)
    return done.rate


def _prices(place: _Queues, count: int) -> tuple[float, float]:
    """Microseconds a message of a session's first visits to so many queues and of the later ones."""
    _fill(place, count)
    with place.server.connect() as session:
        session.execute("SET synchronous_commit = off")
        first = _took(place, session, count, 1)
        later = _took(place, session, count, _COUNTED - 1)
    _check(place, _COUNTED)
    return first, later


def _took(place: _Queues, session: Connection, count: int, visits: int) -> float:
    statement = place.call.format(queue="%s::integer").encode()
    before = processor_seconds(session.info.backend_pid)
    for number in range(visits * _QUEUES):
        session.execute(statement, (number % count,), prepare=True)
    after = processor_seconds(session.info.backend_pid)
    return float("nan") if before is None or after is None else (after - before) / visits / _QUEUES * 1e6


def _check(place: _Queues, visits: int) -> None:
    left = place.left()
    assert left == _QUEUES * (_EACH - visits), f"{place.name}: {left} messages wait"
