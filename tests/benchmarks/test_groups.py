"""The benchmark of groups in order: all queues have the same, and an order that breaks is seen."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from pgsb.benchmarks.queues import run
from pgsb.benchmarks.queues.limits.order import check_order
from pgsb.benchmarks.queues.peer import Peer
from pgsb.benchmarks.queues.peers.bare import BareTable
from pgsb.benchmarks.queues.peers.lower_bound import AdvisoryReceives, LowerBoundReceives
from pgsb.benchmarks.queues.scenarios import Scenario
from pgsb.benchmarks.queues.server import BenchServer, running
from pgsb.server.problems import ServerError

# What is tested is the benchmark, which says on which version its figures were taken.
pytestmark = pytest.mark.one_postgres

Install = Callable[[type[Peer]], run.Contender]


@pytest.fixture(scope="module")
def server(pg_major: int) -> Iterator[BenchServer]:
    try:
        with running(str(pg_major)) as found:
            yield found
    except ServerError as reason:
        # The benchmarks start a server of their own, which not every machine has programs for.
        pytest.skip(str(reason))


@pytest.fixture
def install(server: BenchServer) -> Iterator[Install]:
    """Installs a queue in a database of its own; its connection is closed afterwards."""
    with ExitStack() as stack:

        def installed(kind: type[Peer]) -> run.Contender:
            (one,) = run.contenders(server, (kind,), print)
            stack.enter_context(one.connection)
            return one

        yield installed


class _LaterFirst(LowerBoundReceives):
    name = "later first"
    functions = LowerBoundReceives.functions.replace(
        "ORDER BY m.queuing_order LIMIT 1)", "ORDER BY m.queuing_order DESC LIMIT 1)"
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", [BareTable, LowerBoundReceives, AdvisoryReceives])
def test_what_keeps_groups_keeps_them_beside_other_readers(install: Install, kind: type[Peer]) -> None:
    check_order(install(kind), 400)


@pytest.mark.long
def test_a_group_out_of_order_is_seen(install: Install) -> None:
    with pytest.raises(AssertionError, match=r"later first: received, different, out of order: \(400, 400, "):
        check_order(install(_LaterFirst), 400)


@pytest.mark.long
@pytest.mark.parametrize(
    ("speeds", "groups"),
    [
        ({"slow": 400.0, "fast": 1000.0}, {"slow": 6, "fast": 6}),
        ({"slow": 100.0, "fast": 1000.0}, {"slow": 2, "fast": 6}),
    ],
)
def test_queues_in_a_round_have_the_same_groups_unless_one_is_far_slower(
    install: Install, speeds: dict[str, float], groups: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled: dict[str, int] = {}

    class Counted(BareTable):
        def fill(self, connection: object, messages: int, groups: int, batch: int) -> None:
            filled[self.name] = groups
            super().fill(connection, messages, groups, batch)

    ready = [install(type(name, (Counted,), {"name": name})) for name in speeds]
    measure = run._measure

    def measured(scenario, contender, seconds, synchronous_commit, speed, filled=None):
        if speed is None or filled is None:
            return speeds[contender.peer.name]
        return measure(scenario, contender, seconds, synchronous_commit, speed, filled)

    monkeypatch.setattr(run, "_measure", measured)
    monkeypatch.setattr(run, "settle", lambda connection: None)
    run.run(
        Scenario("groups", "grouped", 1, 2, messages=1000, groups=1),
        ready,
        rounds=1,
        seconds=2,
        synchronous_commit=False,
        profile=False,
        say=print,
    )
    assert filled == groups
