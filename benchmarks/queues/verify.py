"""Every message arrives once, and in the order of its conversation: checked before anything is measured.

Senders number their messages, and now and then stay in their transaction while others
overtake them; readers write what they receive into a table, in the transaction that
received it, and roll back now and then. A group is locked until its reader commits, so
the table's own numbering is the order of receipt.
"""

import threading
from collections.abc import Sequence

from .peers.ours import Ours
from .server import BenchServer, Connection, pgbench

_SENDERS = 8
_READERS = 4


def verify(server: BenchServer, messages: int) -> int:
    """Send and receive about ``messages`` at the same time. Returns how many; raises AssertionError."""
    own = server.database("bench_verify")
    connection = own.connect()
    ours = Ours()
    ours.install(own, connection)
    connection.execute(
        "CREATE TABLE received (number bigserial PRIMARY KEY, conversation uuid, message bigint,"
        " position bigint)"
    )
    # Rollbacks in a row, which chance brings here, would disable the queue.
    connection.execute("SELECT ssb.alter_queue('dbo.target', poison_message_handling => false)")
    each = max(1, messages // _SENDERS)
    senders = threading.Thread(target=_send, args=(own, ours.handles[:_SENDERS], each))
    senders.start()
    while senders.is_alive() or ours.left(connection):
        pgbench(own, _reading(), clients=_READERS, transactions=each // 20 + 1)
    senders.join()
    return _check(connection, each)


def _send(server: BenchServer, handles: Sequence[str], each: int) -> None:
    # Each client has a dialog and a count of its own.
    chosen = "\n".join(
        f"\\if :client_id = {number}\nSELECT ssb.send('{handle}', 'm', (:n)::text::bytea);\n\\endif"
        for number, handle in enumerate(handles)
    )
    script = (
        f"\\set n :n + 1\n\\set slow random(1, 50)\nBEGIN;\n{chosen}\n"
        "\\if :slow = 1\n\\sleep 30 ms\n\\endif\nCOMMIT;\n"
    )
    pgbench(server, [script], clients=len(handles), transactions=each, variables={"n": 0})


def _reading() -> list[str]:
    keep = (
        "INSERT INTO received (conversation, message, position)"
        " SELECT conversation_handle, convert_from(message_body, 'UTF8')::bigint, message_sequence_number"
        " FROM ssb.receive('dbo.target', {top});\n"
    )
    return [
        *(keep.format(top=top) for top in (1, 3, 100)),
        f"BEGIN;\n{keep.format(top=1)}ROLLBACK;\n",
    ]


def _check(connection: Connection, each: int) -> int:
    rows = connection.execute(
        """
        SELECT conversation, count(*), count(DISTINCT message), min(message), max(message),
               bool_and(is_next), bool_and(is_above)
          FROM (SELECT conversation, message,
                       message = lag(message, 1, 0::bigint) OVER w + 1 AS is_next,
                       position > lag(position, 1, -1::bigint) OVER w AS is_above
                  FROM received WINDOW w AS (PARTITION BY conversation ORDER BY number)) AS r
         GROUP BY conversation
        """
    ).fetchall()
    assert len(rows) == _SENDERS, f"messages of {len(rows)} of {_SENDERS} conversations came"
    for conversation, count, distinct, first, last, in_order, is_above in rows:
        assert count == distinct, f"{conversation}: {count - distinct} messages came twice"
        assert (first, last, count) == (1, each, each), f"{conversation}: {each} sent, {count} came"
        assert in_order, f"{conversation}: messages came out of order"
        assert is_above, f"{conversation}: message_sequence_number does not rise"
    return sum(int(row[1]) for row in rows)
