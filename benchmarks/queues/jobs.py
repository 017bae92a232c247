"""A job from enqueue to done: the same clients put it in and take it out, one job after the other.

Ours in the ways in which applications use dialogs, beside queues whose jobs are rows. A new dialog
for each job is how most Service Broker applications work.
"""

from dataclasses import dataclass

from .peer import BODY, Peer, Unavailable
from .peers.graphile import GraphileWorker
from .peers.ours import OWN_DIALOG, Ours
from .peers.pgboss import PgBoss
from .peers.pgmq import Pgmq
from .peers.pgqueuer import PgQueuer
from .peers.procrastinate import Procrastinate
from .profile import Watch
from .report import OURS
from .run import Outcome, Say
from .scenarios import Scenario, Target
from .server import BenchServer, Connection, pgbench

_SEND_NEW = f"SELECT ssb.send_new('source', 'target', 'c', 'm', '{BODY}'::bytea);\n"
_FINISH = """\\set dice random(1, 50)
\\if :dice = 1
SELECT ssb.end_finished('dbo.source', 1000);
\\endif
"""
_RECEIVE_AND_END = "SELECT count(*) FROM ssb.receive_and_end('dbo.target');\n"
_RECEIVE_AND_END_SETS = """\\set dice random(1, 20)
\\if :dice = 1
SELECT count(*) FROM ssb.receive_and_end('dbo.target', groups => 20);
\\endif
"""
_RECEIVE = "SELECT count(*) FROM ssb.receive('dbo.target', 1);\n"
_END_ONE = "SELECT ssb.end_conversation(m.conversation_handle) FROM ssb.receive('dbo.{queue}', 1) AS m;\n"

WAYS = {
    "new, by statements": "SELECT ssb.begin_dialog('source', 'target', 'c') AS h \\gset\n"
    f"SELECT ssb.send(:h, 'm', '{BODY}'::bytea);\n"
    + _END_ONE.format(queue="target")
    + _END_ONE.format(queue="source"),
    "new, one by one": _SEND_NEW + _RECEIVE_AND_END + _FINISH,
    OURS: _SEND_NEW + _RECEIVE_AND_END_SETS + _FINISH,
    "recycled": "SELECT ssb.send_recycled('k' || :client_id, 'source', 'target', 'c', 'm',"
    f" '{BODY}'::bytea);\n{_RECEIVE}",
    "open": f"{OWN_DIALOG}SELECT ssb.send(:handle, 'm', '{BODY}'::bytea);\n{_RECEIVE}",
}
"""Scripts of ours by name; the one called as we are is what the targets are for."""


@dataclass
class _Place:
    name: str
    server: BenchServer
    connection: Connection
    script: str
    peer: Peer


def _places(server: BenchServer, say: Say) -> list[_Place]:
    own = server.database("bench_jobs")
    connection = own.connect()
    ours = Ours()
    ours.install(own, connection)
    places = [_Place(name, own, connection, script, ours) for name, script in WAYS.items()]
    for kind in (Pgmq, GraphileWorker, PgBoss, Procrastinate, PgQueuer):
        peer: Peer = kind()
        database = server.database(f"bench_jobs_{peer.name.replace('-', '_').replace('.', '_')}")
        connection = database.connect()
        try:
            peer.install(database, connection)
        except Unavailable as reason:
            say(str(reason))
            connection.close()
            continue
        add, take = peer.enqueue(1), peer.dequeue(1)
        if add is None or take is None:
            connection.close()
            continue
        places.append(_Place(peer.name, database, connection, "".join((*add, *take)), peer))
    return places


def jobs(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Jobs/s and processor time a job, 1 and 8 clients in turns; who leaves many jobs has not done them."""
    places = _places(server, say)
    outcomes = []
    for clients in (1, 8):
        outcome = Outcome(
            Scenario(
                f"Jobs: enqueue to done, {clients} clients",
                "special",
                1,
                clients,
                targets=(Target(("pgmq",), 1.0), Target(("graphile-worker",), 1.0)),
                unit="jobs/s",
            )
        )
        cost = Outcome(
            Scenario(f"{outcome.scenario.name}, processor time", "special", 1, clients, unit="µs a job")
        )
        for _ in range(2 if quick else 7):
            for place in places:
                place.peer.clear(place.connection)
                with Watch(place.server, skip=1) as watch:
                    done = pgbench(
                        place.server,
                        [place.script],
                        clients=clients,
                        seconds=1 if quick else 10,
                        synchronous_commit=synchronous_commit,
                        warm_up=1,
                    )
                left = place.peer.left(place.connection)
                # What was in other clients' hands, or waits for its set; the initiators' ends.
                if left > 2000 + done.transactions // 10:
                    raise AssertionError(f"{place.name}: {left} of {done.transactions} jobs were not done")
                outcome.rates.setdefault(place.name, []).append(done.rate)
                seen = watch.profile(done.rate)
                if seen is not None and seen.processor:
                    cost.rates.setdefault(place.name, []).append(seen.processor)
        outcomes += [outcome, cost] if cost.rates else [outcome]
        say(outcome.scenario.name)
    for place in places:
        place.connection.close()
    return outcomes
