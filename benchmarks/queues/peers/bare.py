"""The yardstick: a table with an index, FOR UPDATE SKIP LOCKED, nothing else.

It keeps no conversations, no types, no contracts. Group order, where asked for,
comes from an advisory lock per group.
"""

from ..peer import BODY, Peer
from ..server import BenchServer, Connection

_BATCHES = 64


class BareTable(Peer):
    """INSERT, and DELETE … FOR UPDATE SKIP LOCKED RETURNING."""

    name = "bare table"
    keeps_groups = True

    def install(self, server: BenchServer, connection: Connection) -> None:
        connection.execute(
            """
            CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, grp integer NOT NULL,
                               enqueued_at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL);
            CREATE INDEX bare_grp ON bare (grp, id)
            """
        )

    def enqueue(self, batch: int) -> list[str] | None:
        if batch == 1:
            insert = f"INSERT INTO bare (grp, body) VALUES (:g, '{BODY}');\n"
        else:
            insert = f"INSERT INTO bare (grp, body) SELECT :g, '{BODY}' FROM generate_series(1, {batch});\n"
        return [f"\\set g random(1, {_BATCHES})\n{insert}"]

    def dequeue(self, batch: int) -> list[str] | None:
        if batch == 1:
            chosen = "id = (SELECT id FROM bare ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)"
        else:
            chosen = f"id = ANY (ARRAY(SELECT id FROM bare ORDER BY id LIMIT {batch} FOR UPDATE SKIP LOCKED))"
        return [f"DELETE FROM bare WHERE {chosen} RETURNING id, grp, body;\n"]

    def grouped(self) -> list[str] | None:
        # The first message whose group nobody else works on. OFFSET 0 keeps the
        # planner from taking locks on rows that the LIMIT leaves out.
        return [
            "DELETE FROM bare WHERE id = (SELECT min(b.id) FROM bare b WHERE b.grp = ("
            "SELECT g.grp FROM (SELECT grp FROM bare ORDER BY id OFFSET 0) g"
            " WHERE pg_try_advisory_xact_lock(g.grp) LIMIT 1)) RETURNING id, grp, body;\n"
        ]

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        connection.execute(
            "INSERT INTO bare (grp, body) SELECT (i / %s) %% %s, %s FROM generate_series(0, %s) i",
            (batch, groups, BODY.encode(), messages - 1),
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT count(*) FROM bare").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        connection.execute("TRUNCATE bare")
