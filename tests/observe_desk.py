"""A prepared database with something on every page of the dashboard, and the dashboard in front of it."""

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import Any

import dialogs

from activation import tsql
from support import Connection

HURRY = "ALTER FUNCTION ssb.diagnose SET lock_timeout = '0.2s'"
"""Where a table is locked it waits for two seconds else, before it says whose that is."""

SHOP = """
CREATE MESSAGE TYPE [//Shop/Order] VALIDATION = NONE;
CREATE MESSAGE TYPE [//Shop/Confirmation] VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT [//Shop/Orders] ([//Shop/Order] SENT BY INITIATOR, [//Shop/Confirmation] SENT BY TARGET);
CREATE QUEUE dbo.Counter;
CREATE QUEUE dbo.Orders WITH STATUS = ON, POISON_MESSAGE_HANDLING (STATUS = ON, QUARANTINE = ON);
CREATE QUEUE dbo.Billing;
CREATE QUEUE dbo.Shipping;
CREATE SERVICE [//Shop/Counter] ON QUEUE dbo.Counter ([DEFAULT]);
CREATE SERVICE [//Shop/Orders] ON QUEUE dbo.Orders ([//Shop/Orders], [DEFAULT]);
CREATE SERVICE [//Shop/Billing] ON QUEUE dbo.Billing ([DEFAULT]);
CREATE SERVICE [//Shop/Shipping] ON QUEUE dbo.Shipping ([DEFAULT]);
GO
CREATE ROUTE Warehouse WITH SERVICE_NAME = '//Warehouse/Stock', ADDRESS = 'TCP://warehouse:4022';
GO
CREATE PROCEDURE dbo.BookOrder AS PRINT 'booked';
GO
ALTER QUEUE dbo.Orders WITH ACTIVATION (
    STATUS = ON, PROCEDURE_NAME = dbo.BookOrder, MAX_QUEUE_READERS = 4, EXECUTE AS OWNER);
"""

_HISTORY = """
INSERT INTO ssb.queue_sample (sampled_at, queue_ids, orders, depths)
SELECT t.at, array_agg(q.queue_id ORDER BY q.queue_id),
       array_agg((1000 + 40 * n + (30 * sin(n / 7.0 + q.queue_id))::integer)::bigint ORDER BY q.queue_id),
       array_agg(greatest(0, (25 + 20 * sin(n / 9.0 + q.queue_id % 7) + n % 5))::bigint ORDER BY q.queue_id)
  FROM ssb.queue AS q, generate_series(0, 230) AS n,
       LATERAL (SELECT now() - interval '1 hour' + n * interval '15 seconds' AS at) AS t
 WHERE q.name LIKE 'dbo.%' GROUP BY t.at
"""


@dataclass
class Shop:
    """Handles by what they are for."""

    order: str
    poisoned: str
    ended: str
    waiting: str


def open_shop(connection: Connection) -> Shop:
    """Queues with messages of each kind, groups in quarantine, messages that wait, a log, a history."""
    tsql(connection, SHOP)
    # Its program would be looked for by a daemon; here none runs.
    connection.execute("UPDATE ssb.queue SET is_activation_enabled = false WHERE name = 'dbo.orders'")

    def begin(from_service: str, to_service: str, contract: str = "DEFAULT") -> str:
        return str(dialogs.begin(connection, from_service, to_service, contract))

    def say(handle: str, body: bytes, message_type: str = "DEFAULT") -> None:
        dialogs.send(connection, handle, body, kind=message_type)

    order = begin("//Shop/Counter", "//Shop/Orders", "//Shop/Orders")
    say(order, json.dumps({"order": 4711, "item": "Brötchen", "count": 3}).encode(), "//Shop/Order")
    taken = connection.execute("SELECT conversation_handle FROM ssb.receive('dbo.orders', 1)").fetchone()
    assert taken is not None
    say(
        str(taken[0]),
        b"<confirmation order='4711'><ready>today</ready></confirmation>",
        "//Shop/Confirmation",
    )
    say(order, "NVARCHAR as T-SQL sends it: größer".encode("utf-16-le"), "//Shop/Order")
    say(order, b"\x00\x01\x02 bytes \xff\xfe", "//Shop/Order")
    connection.execute("SELECT ssb.begin_conversation_timer(%s::uuid, 3600)", [order])
    ended = begin("//Shop/Counter", "//Shop/Billing")
    say(ended, b"bill this")
    connection.execute(
        "SELECT ssb.end_conversation(conversation_handle, 9001, 'The customer is not known')"
        " FROM ssb.receive('dbo.billing', 1)"
    )
    for number in range(12):
        say(begin("//Shop/Orders", "//Shop/Billing"), f"invoice {number}".encode())
    for number in range(5):
        say(begin("//Shop/Billing", "//Shop/Shipping"), f"parcel {number}".encode())
    waiting = begin("//Shop/Counter", "//Warehouse/Stock")
    say(waiting, b"how many are left?")
    say(begin("//Shop/Counter", "//Shop/Complaints"), b"nobody listens")
    for number in range(3):
        poisoned = begin("//Shop/Counter", "//Shop/Orders", "//Shop/Orders")
        say(poisoned, f'{{"order": {5000 + number}, "item": null}}'.encode(), "//Shop/Order")
        connection.execute(
            "WITH g AS (INSERT INTO ssb.quarantined_group (queue_id, lock_id, conversation_group_id,"
            "  endpoint_id, queuing_order, rollbacks, error)"
            " SELECT f.queue_id, f.lock_id, f.conversation_group_id, f.endpoint_id, m.queuing_order, 5, %s"
            "  FROM ssb.conversation_endpoint e"
            "  JOIN ssb.conversation_endpoint f ON f.endpoint_id = e.far_endpoint_id"
            "  JOIN ssb.message_stored m ON m.endpoint_id = f.endpoint_id"
            "  WHERE e.conversation_handle = %s::uuid"
            " RETURNING *) UPDATE ssb.conversation_endpoint l SET claim_id = -g.quarantine_id FROM g"
            " WHERE l.endpoint_id = g.lock_id",
            ["null value in column item" if number < 2 else "deadlock detected", poisoned],
        )
    connection.execute("SELECT ssb.alter_queue('dbo.shipping', status => false)")
    connection.execute(
        "INSERT INTO ssb.broker_log (level, event, queue, program, error_number, message) VALUES"
        " ('info', 'leading', NULL, NULL, NULL, 'this daemon leads (shop [4711])'),"
        " ('info', 'print', 'dbo.orders', 'dbo.bookorder', NULL, 'booked order 4711'),"
        " ('error', 'reader_failed', 'dbo.orders', 'dbo.bookorder', 515, 'null value in column item'),"
        " ('warning', 'transport_failed', NULL, NULL, NULL,"
        "  'The instance at ''tcp://warehouse:4022'' cannot be reached: connection refused')"
    )
    connection.execute("SELECT ssb_internal.sample_queues()")
    connection.execute(_HISTORY)
    return Shop(order, poisoned, ended, waiting)


@dataclass
class Browser:
    """A browser without a window: follows redirects, keeps cookies."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def get(self, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
        return self._open(urllib.request.Request(self.url + path, headers={**self.headers, **headers}))

    def post(self, path: str, fields: dict[str, Any], **headers: str) -> tuple[int, str, dict[str, str]]:
        data = urllib.parse.urlencode(fields, doseq=True).encode()
        return self._open(
            urllib.request.Request(self.url + path, data=data, headers={**self.headers, **headers})
        )

    def _open(self, request: urllib.request.Request) -> tuple[int, str, dict[str, str]]:
        try:
            with self._opener.open(request, timeout=30) as answer:
                return answer.status, answer.read().decode(), dict(answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), dict(error.headers)
