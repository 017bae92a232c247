"""PgQ from Debian's packages, next to the server that they are for.

Its consumers take batches between two ticks; every registered consumer gets
every event. One consumer reads here.
"""

from ..peer import BODY, Peer, Unavailable, fetch
from ..server import BenchServer, Connection


class Pgq(Peer):
    """insert_event; next_batch + get_batch_events + finish_batch."""

    name = "PgQ"

    def install(self, server: BenchServer, connection: Connection) -> None:
        major = server.version.split(".")[0]
        available = "SELECT 1 FROM pg_available_extensions WHERE name = 'pgq'"
        if not connection.execute(available).fetchone():
            fetch(["apt-get", "install", "-y", "-qq", f"postgresql-{major}-pgq3"], "PgQ")
        if not connection.execute(available).fetchone():
            raise Unavailable(
                f"PgQ: not packaged for the server that runs ({server.version} in {server.bin})"
            )
        connection.execute("CREATE EXTENSION IF NOT EXISTS pgq")
        connection.execute("SELECT pgq.create_queue('q')")
        # A tick whenever one is asked for and there is an event. (force_tick would skip
        # thousands of event numbers, from which pending_events is computed.)
        for setting, value in (
            ("ticker_max_count", "1"),
            ("ticker_max_lag", "0"),
            ("ticker_idle_period", "0"),
        ):
            connection.execute("SELECT pgq.set_queue_config('q', %s, %s)", (setting, value))
        connection.execute("SELECT pgq.register_consumer('q', 'c')")

    def enqueue(self, batch: int) -> list[str] | None:
        if batch == 1:
            return [f"SELECT pgq.insert_event('q', 't', '{BODY}');\n"]
        return [f"SELECT count(pgq.insert_event('q', 't', '{BODY}')) FROM generate_series(1, {batch});\n"]

    def dequeue(self, batch: int) -> list[str] | None:
        if batch == 1:
            return None  # a consumer has one reader, who takes what came between two ticks
        return [
            "SELECT pgq.next_batch('q', 'c') AS b \\gset\n"
            "SELECT * FROM pgq.get_batch_events(:b);\n"
            "SELECT pgq.finish_batch(:b);\n"
        ]

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        for _ in range(messages // batch):
            connection.execute(
                "SELECT count(pgq.insert_event('q', 't', %s)) FROM generate_series(1, %s)", (BODY, batch)
            )
            self._tick(connection)

    def _tick(self, connection: Connection) -> None:
        connection.execute("SELECT pgq.ticker('q')")

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT pending_events FROM pgq.get_consumer_info('q', 'c')").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        self._tick(connection)
        # The consumer starts anew at the last tick; what is before it is nobody's any more.
        connection.execute("SELECT pgq.unregister_consumer('q', 'c'), pgq.register_consumer('q', 'c')")
        connection.execute("SELECT pgq.maint_rotate_tables_step1('q')")
        connection.execute("SELECT pgq.maint_rotate_tables_step2()")
