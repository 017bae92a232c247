"""What must not slow RECEIVE: each condition beside the plain case, round by round."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .peer import BODY
from .peers.ours import Ours
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, pgbench

_TARGET = (Target(("plain",), 1 / 1.5),)
_RECEIVE = "SELECT * FROM ssb.receive('dbo.target', 1);\n"


class _Case:
    """A database in a condition: `prepare` once, then `fill` and read in each round."""

    def __init__(self, server: BenchServer, name: str, messages: int, groups: int) -> None:
        self.server = server.database("bench_" + "".join(c if c.isalnum() else "_" for c in name))
        self.connection = self.server.connect()
        self.peer = Ours()
        self.peer.install(self.server, self.connection)
        self.messages, self.groups = messages, groups
        if groups > len(self.peer.handles):
            self.peer.clone_dialogs(self.connection, groups - len(self.peer.handles))
        self.connection.execute("VACUUM ANALYZE")

    def fill(self) -> None:
        self.peer.clear(self.connection)
        self.peer.fill(self.connection, self.messages, self.groups, 1)
        self.connection.execute("VACUUM ANALYZE")

    @contextmanager
    def held(self) -> Iterator[None]:
        """What lasts while the readers read."""
        yield

    def scripts(self) -> list[str]:
        return [_RECEIVE]


class _LockedAhead(_Case):
    """One hot group, held by another session, has the oldest messages."""

    def fill(self) -> None:
        self.peer.clear(self.connection)
        self.peer.fill(self.connection, self.messages, 1, self.messages)
        self.peer.fill(self.connection, self.messages, self.groups, 1)
        self.connection.execute("VACUUM ANALYZE")

    @contextmanager
    def held(self) -> Iterator[None]:
        with self.server.connect() as other, other.transaction():
            other.execute("SELECT ssb.get_conversation_group('dbo.target')")
            yield


class _StaleStatistics(_Case):
    """ANALYZE saw empty tables, and never comes again."""

    def fill(self) -> None:
        self.peer.clear(self.connection)
        self.connection.execute("VACUUM ANALYZE ssb.message_0, ssb.message_1")
        for table in ("ssb.message_0", "ssb.message_1", "ssb.conversation_endpoint"):
            self.connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
        self.peer.fill(self.connection, self.messages, self.groups, 1)


class _FreshlyTruncated(_Case):
    """TRUNCATE, and messages before any statistics."""

    def fill(self) -> None:
        self.peer.clear(self.connection)
        self.peer.fill(self.connection, self.messages, self.groups, 1)


class ManyQueues(_Case):
    """The messages lie in as many queues, each with services and a dialog of its own."""

    queues = 1000

    def __init__(self, server: BenchServer, name: str, messages: int, groups: int) -> None:
        super().__init__(server, name, messages, 1)
        for number in range(self.queues):
            self.connection.execute(
                f"SELECT ssb.create_queue('dbo.q{number}'),"
                f" ssb.create_service('s{number}', queue => 'dbo.q{number}', contracts => '{{c}}')"
            )
        self.connection.execute(
            f"CREATE TABLE dialog AS SELECT i AS number, ssb.begin_dialog('source', 's' || i, 'c') AS handle"
            f" FROM generate_series(0, {self.queues - 1}) AS i"
        )

    def fill(self) -> None:
        self.fill_some(self.queues)
        self.connection.execute("VACUUM ANALYZE")

    def fill_some(self, queues: int) -> None:
        """All messages in so many of the queues."""
        self.peer.clear(self.connection)
        self.connection.execute(
            f"SELECT ssb.send_batch(array_agg(d.handle), array_agg('m'::text), array_agg('{BODY}'::bytea))"
            f" FROM (SELECT handle FROM dialog ORDER BY number LIMIT {queues}) AS d,"
            f" generate_series(1, {self.messages} / {queues}) AS i"
        )

    def scripts(self) -> list[str]:
        # One queue after the other, so that none runs empty.
        return [f"\\set n :n + 1\n\\set q :n % {self.queues}\nSELECT * FROM ssb.receive('dbo.q' || :q, 1);\n"]


def conditions(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """RECEIVE TOP(1) by one reader, 10,000 groups (a tenth of every number when quick)."""
    part = 10 if quick else 1
    cases: list[tuple[str, Callable[[], _Case]]] = [
        ("10,000 locked messages ahead", lambda: _LockedAhead(server, "locked", 10_000 // part, 1000)),
        ("stale statistics", lambda: _StaleStatistics(server, "stale", 20_000 // part, 10_000 // part)),
        ("freshly truncated", lambda: _FreshlyTruncated(server, "truncated", 20_000 // part, 10_000 // part)),
        ("100,000 groups", lambda: _Case(server, "groups", 100_000 // part, 100_000 // part)),
        ("1,000,000 open conversations", lambda: _Case(server, "open", 20_000 // part, 1_000_000 // part)),
        ("1,000 queues", lambda: _many_queues(server, 20_000 // part, 1000 // part)),
    ]
    plain = _Case(server, "plain", 20_000 // part, 10_000 // part)
    outcomes = []
    for name, make in cases:
        case = make()
        note = f" (numbers divided by {part})" if part > 1 else ""
        outcome = Outcome(Scenario(f"RECEIVE TOP(1), {name}{note}", "special", 1, 1, targets=_TARGET))
        for _ in range(3 if quick else 7):
            outcome.rates.setdefault(OURS, []).append(_rate(case, synchronous_commit))
            outcome.rates.setdefault("plain", []).append(_rate(plain, synchronous_commit))
        case.connection.close()
        outcomes.append(outcome)
        say(outcome.scenario.name)
    plain.connection.close()
    return outcomes


def _many_queues(server: BenchServer, messages: int, queues: int) -> _Case:
    kind = type("_ManyQueuesOf", (ManyQueues,), {"queues": queues})
    case: _Case = kind(server, "queues", messages, 1)
    return case


def _rate(case: _Case, synchronous_commit: bool) -> float:
    case.fill()
    wanted = min(case.messages, 20_000) // 2
    before = _stored(case.connection)
    with case.held():
        done = pgbench(
            case.server,
            case.scripts(),
            clients=1,
            transactions=wanted,
            synchronous_commit=synchronous_commit,
            variables={"n": 0},
        )
    received = before - _stored(case.connection)
    assert received == wanted, f"{wanted} receives gave {received} messages"
    return done.rate


def _stored(connection: Connection) -> int:
    row = connection.execute("SELECT count(*) FROM ssb.message_stored").fetchone()
    assert row is not None
    return int(row[0])
