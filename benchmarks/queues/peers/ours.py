"""Our queue through the functions that compiled scripts call."""

from pgsb.runtime_sql import installer

from ..peer import BODY, Peer
from ..server import BenchServer, Connection

# At least one for each client.
_DIALOGS = 128

# Each client sends on a dialog of its own, as applications do that keep dialogs by session:
# two that send on one dialog would wait for each other's commit.
OWN_DIALOG = """\\if :started = 0
SELECT handle FROM bench_dialog WHERE number = :client_id + 1 \\gset
\\set started 1
\\endif
"""


class Ours(Peer):
    """ssb.send on open dialogs; ssb.receive, which deletes as it returns."""

    name = "pgsb"
    keeps_groups = True

    def __init__(self) -> None:
        self.handles: list[str] = []

    def install(self, server: BenchServer, connection: Connection) -> None:
        installer.install(connection)
        connection.execute(
            """
            SELECT ssb.create_queue('dbo.source'), ssb.create_queue('dbo.target');
            SELECT ssb.create_message_type('m');
            SELECT ssb.create_contract('c', message_types => '{m}', sent_by => '{ANY}');
            SELECT ssb.create_service('source', queue => 'dbo.source');
            SELECT ssb.create_service('target', queue => 'dbo.target', contracts => '{c}')
            """
        )
        self._open(connection, _DIALOGS)
        self.handles = [
            str(row[0]) for row in connection.execute("SELECT handle FROM bench_dialog ORDER BY number")
        ]

    def _open(self, connection: Connection, dialogs: int) -> None:
        """Make dialogs, each with its first message received, as long-lived dialogs are."""
        connection.execute("CREATE TABLE IF NOT EXISTS bench_dialog (number serial, handle uuid)")
        connection.execute(
            "INSERT INTO bench_dialog (handle) SELECT ssb.begin_dialog('source', 'target', 'c')"
            " FROM generate_series(1, %s)",
            (dialogs,),
        )

    def clone_dialogs(self, connection: Connection, dialogs: int) -> None:
        """As `_open`, for numbers that would take minutes: copies of a dialog that has carried a message."""
        connection.execute("SELECT ssb.send(%s, 'm', 'x'::bytea)", (self.handles[0],))
        connection.execute("SELECT count(*) FROM ssb.receive('dbo.target')")
        names = [
            row[0]
            for row in connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = 'ssb.conversation_endpoint'::regclass"
                " AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum"
            )
        ]
        # Two numbers for each copy; what names another row of the pair is renumbered alike.
        renumbered = {
            "endpoint_id": "n.near",
            "lock_id": "n.near",
            "far_endpoint_id": "n.far",
            "conversation_handle": "n.handle",
            "conversation_group_id": "gen_random_uuid()",
            "conversation_id": "n.conversation",
        }
        values = ", ".join(renumbered.get(name, f"e.{name}") for name in names)
        connection.execute(
            f"""
            CREATE TEMP TABLE pair AS
            SELECT nextval('ssb.endpoint_id') AS a, nextval('ssb.endpoint_id') AS b,
                   gen_random_uuid() AS conversation,
                   gen_random_uuid() AS handle_a, gen_random_uuid() AS handle_b
              FROM generate_series(1, {dialogs});
            INSERT INTO ssb.conversation_endpoint ({", ".join(names)})
            SELECT {values}
              FROM ssb.conversation_endpoint AS e
             CROSS JOIN LATERAL (
                SELECT p.a AS near, p.b AS far, p.handle_a AS handle, p.conversation FROM pair AS p
                 WHERE e.is_initiator
                 UNION ALL
                SELECT p.b, p.a, p.handle_b, p.conversation FROM pair AS p WHERE NOT e.is_initiator) AS n
             WHERE e.conversation_id = (SELECT o.conversation_id FROM ssb.conversation_endpoint AS o
                                         WHERE o.conversation_handle = '{self.handles[0]}');
            INSERT INTO bench_dialog (handle) SELECT handle_a FROM pair;
            DROP TABLE pair
            """
        )

    def enqueue(self, batch: int) -> list[str] | None:
        single = f"SELECT ssb.send(:handle, 'm', '{BODY}'::bytea)"
        return [f"{OWN_DIALOG}{single if batch == 1 else self.set_of(':handle', batch)};\n"]

    def spread(self) -> list[str]:
        """Scripts that send one message on any of the dialogs, for few clients: they rarely meet."""
        return [f"SELECT ssb.send('{handle}', 'm', '{BODY}'::bytea);\n" for handle in self.handles]

    def set_of(self, handle: str, batch: int) -> str:
        """A statement that sends ``batch`` messages on the dialog that the SQL expression gives."""
        return (
            f"SELECT ssb.send_batch(array_fill({handle}::uuid, ARRAY[{batch}]),"
            f" array_fill('m'::text, ARRAY[{batch}]), array_fill('{BODY}'::bytea, ARRAY[{batch}]))"
        )

    def dequeue(self, batch: int) -> list[str] | None:
        # What service programs read.
        return [
            "SELECT conversation_handle, message_type_name, message_body"
            f" FROM ssb.receive('dbo.target', {batch});\n"
        ]

    def grouped(self) -> list[str] | None:
        return self.dequeue(1)

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        row = connection.execute("SELECT count(*) FROM bench_dialog").fetchone()
        assert row is not None
        if row[0] < groups:
            self._open(connection, groups - row[0])
        connection.execute(
            """SELECT ssb.send_batch(array_agg(d.handle ORDER BY i), array_agg('m'::text),
                                     array_agg(%(body)s::bytea))
                 FROM generate_series(0, %(messages)s - 1) i
                 JOIN (SELECT handle, row_number() OVER (ORDER BY number) - 1 AS number FROM bench_dialog) d
                   ON d.number = i / %(batch)s %% %(groups)s""",
            {"messages": messages, "batch": batch, "groups": groups, "body": BODY.encode()},
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT count(*) FROM dbo.target").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        # All sessions' low-water marks stay right: orders are never drawn again.
        connection.execute("TRUNCATE ssb.message_stored")
