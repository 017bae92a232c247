"""Whether a queue hands out what a group has in order, while others read too."""

from ..peers.bare import BareTable
from ..run import Contender
from ..server import pgbench

READERS = 8


def check_order(one: Contender, messages: int) -> None:
    """Each message once, those of a group in order, with eight readers at the same time.

    A group is locked until its reader commits, so the table's own numbering is the order of receipt.
    """
    table, number, group = (
        ("bare", "id", "grp") if isinstance(one.peer, BareTable) else ("message", "queuing_order", "sender")
    )
    one.peer.clear(one.connection)
    one.peer.fill(one.connection, messages, 20, 1)
    one.connection.execute(
        f"UPDATE {table} SET body = {number}::text::bytea;"
        " CREATE TABLE received (place bigserial PRIMARY KEY, grp text NOT NULL, message bigint)".encode()
    )
    one.connection.execute(f"VACUUM {table}".encode())
    scripts = one.peer.grouped()
    assert scripts is not None
    gone = scripts[0].rstrip().rstrip(";")
    script = (
        f"WITH gone AS ({gone}) INSERT INTO received (grp, message)"
        f" SELECT {group}, convert_from(body, 'UTF8')::bigint FROM gone;\n"
    )
    while one.peer.left(one.connection):
        pgbench(one.server, [script], clients=READERS, transactions=messages // READERS // 4)
    row = one.connection.execute(
        """
        SELECT count(*), count(DISTINCT message), count(*) FILTER (WHERE message < previous)
          FROM (SELECT message, lag(message) OVER (PARTITION BY grp ORDER BY place) AS previous
                  FROM received) AS r
        """
    ).fetchone()
    assert row == (messages, messages, 0), f"{one.peer.name}: received, different, out of order: {row}"
    one.connection.execute("DROP TABLE received")
