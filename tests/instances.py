"""Two instances in two databases, for tests of what goes between them."""

from typing import Any

import psycopg
from dialogs import Statements, begin, send

from activation import until
from support import Database

END = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"
ERROR = "http://schemas.microsoft.com/SQL/ServiceBroker/Error"
NEAR, FAR = "TCP://near.example:4022", "TCP://far.example:4022"

_COMMON = """
SELECT ssb.alter_database(NULL, 'NEW_BROKER');
SELECT ssb.ensure_schema('dbo');
SELECT ssb.create_endpoint('BrokerEndpoint', 'STARTED', 4022);
SELECT ssb.create_message_type('//Ask');
SELECT ssb.create_message_type('//Answer');
SELECT ssb.create_message_type('//Xml', 'WELL_FORMED_XML');
SELECT ssb.create_contract('//Talk', '{//Ask,//Answer,//Xml}', '{INITIATOR,TARGET,ANY}');
"""


class Side(Statements):
    """One instance: an owner's session, its service and queue, and the messages it says and hears."""

    def __init__(self, database: Database, queue: str, service: str) -> None:
        self.database = database
        self.queue = queue
        self.service = service
        super().__init__(psycopg.connect(database.dsn, autocommit=True))

    def begin(self, to: str, **options: Any) -> Any:
        return begin(self.connection, self.service, to, "//Talk", **{"encryption": False, **options})

    def send(self, handle: Any, kind: str, *bodies: str) -> None:
        send(self.connection, handle, *bodies, kind=kind)

    def receive(self, count: int = 1) -> list[tuple[Any, str, str | None]]:
        """At least so many messages: handle, type, body."""
        got: list[tuple[Any, str, str | None]] = []

        def more() -> bool:
            found = self.connection.execute(
                "SELECT conversation_handle, message_type_name, convert_from(message_body, 'UTF8')"
                " FROM ssb.receive(%s)",
                [self.queue],
            ).fetchall()
            got.extend(found)
            return len(got) >= count

        # A dialog that was parked tries again after 30 seconds at the latest.
        until(more, 60)
        return got

    def waiting(self) -> list[str]:
        return self.column(
            "SELECT transmission_status FROM sys.transmission_queue ORDER BY message_sequence_number"
        )

    def states(self) -> list[str]:
        return self.column("SELECT state_desc FROM sys.conversation_endpoints ORDER BY security_timestamp")

    def guid(self) -> str:
        return str(
            self.value("SELECT service_broker_guid FROM sys.databases WHERE name = current_database()")
        )


def make_side(database: Database, queue: str, service: str) -> Side:
    """A new instance in a database, with its service, queue and endpoint."""
    side = Side(database, queue, service)
    side.do(_COMMON)
    side.do("SELECT ssb.create_queue(%s)", queue)
    side.do("SELECT ssb.create_service(%s, %s, '{//Talk}')", service, queue)
    return side
