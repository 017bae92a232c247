"""What the tests of bulk processing do to a queue: ``from bulk_desk import Desk``."""

from dialogs import Statements

from support import Connection, Database

# Jobs of a few rows: what takes time is starting the JVM, compiling and planning.
SMALL = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.locality.wait": "0",
    "spark.ui.enabled": "false",
}


class Desk(Statements):
    """What tests do to the queue ``dbo.target`` and see of it."""

    def __init__(self, connection: Connection, database: Database) -> None:
        super().__init__(connection)
        self.database = database

    def send(self, conversations: int, messages: int, *, body: bytes | None = None) -> list[str]:
        """Begin dialogs and send ``messages`` on each: bodies 1, 2, 3, … as text."""
        handles = [
            str(row[0])
            for row in self.connection.execute(
                "SELECT ssb.begin_dialog('source', 'target', 'trades') FROM generate_series(1, %s)",
                (conversations,),
            )
        ]
        for handle in handles:
            self.connection.execute(
                "SELECT ssb.send_batch(array_agg(%s::uuid), array_agg('trade'::text),"
                " array_agg(coalesce(%s, i::text::bytea) ORDER BY i)) FROM generate_series(1, %s) AS i",
                (handle, body, messages),
            )
        return handles

    def send_each(self, conversations: int) -> None:
        """A message on each of so many new dialogs."""
        self.connection.execute(
            "SELECT ssb.send_batch(array_agg(ssb.begin_dialog('source', 'target', 'trades')),"
            " array_agg('trade'::text), array_agg('1'::bytea)) FROM generate_series(1, %s)",
            (conversations,),
        )

    def waiting(self) -> int:
        """Messages in the queue."""
        return int(self.value("SELECT count(*) FROM dbo.target"))

    def replies(self) -> list[tuple[str, str | None]]:
        """What came back to the source's queue: types and bodies."""
        return self.connection.execute(
            "SELECT message_type_name, convert_from(message_body, 'UTF8')"
            "  FROM dbo.source ORDER BY queuing_order"
        ).fetchall()


def make_desk(connection: Connection, database: Database) -> Desk:
    """A source and a target service with their queues, and a table for results."""
    for statement in (
        "SELECT ssb.create_queue('dbo.source')",
        "SELECT ssb.create_queue('dbo.target')",
        "SELECT ssb.create_message_type('trade')",
        "SELECT ssb.create_message_type('note')",
        "SELECT ssb.create_contract('trades', message_types => '{trade,note}', sent_by => '{ANY,ANY}')",
        "SELECT ssb.create_service('source', queue => 'dbo.source')",
        "SELECT ssb.create_service('target', queue => 'dbo.target', contracts => '{trades}')",
        "CREATE TABLE dbo.total (conversation_handle uuid, messages bigint, sum bigint)",
    ):
        connection.execute(statement)
    return Desk(connection, database)
