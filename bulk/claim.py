"""Claims: messages of whole conversation groups, set aside for one bulk job."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import psycopg
from psycopg.rows import class_row

from .connections import Connection, require_own_session
from .problems import BulkError, first_line, hint_of, told

# For one reader; there are as many at a time as Spark has cores.
_FETCH_ROWS = 5000
_FETCH_BYTES = 64 * 1024 * 1024
# There is no such relation, it has not a queue's columns, and the runtime's error 208.
_NO_QUEUE = ("42P01", "42703", "S0208")


@dataclass(frozen=True)
class Claim:
    """What `claim` set aside.

    ``messages`` and ``bytes`` (of bodies) are totals over ``conversations``
    conversations, spread over ``partitions`` partitions of about equal numbers of
    messages; ``largest`` is the size of the largest body in bytes. ``connection`` is
    the session that holds the claim: when it ends, the claim ends, and the messages
    are in the queue again. ``ranges``: the lowest and the highest number of the conversations of
    each partition (None of one that has none), where the claim has most of all messages; else empty.
    """

    claim_id: int
    queue: str
    claimed_at: datetime
    conversations: int
    messages: int
    bytes: int
    largest: int
    partitions: int
    connection: Connection
    ranges: tuple[tuple[int, int] | None, ...] = ()

    @property
    def fetch_size(self) -> int:
        """Rows that a reader asks for at a time: no more than it can hold of the largest bodies."""
        return max(1, min(_FETCH_ROWS, _FETCH_BYTES // max(1, self.largest)))


def claim(
    connection: Connection,
    queue: str,
    *,
    max_messages: int | None = None,
    max_bytes: int | None = None,
    partitions: int = 2,
    stream: str | None = None,
    wait: int | None = None,
) -> Claim | None:
    """Claim messages of ``queue`` (``'schema.name'``), or return None when none is free.

    Groups are claimed whole, the most urgent and oldest first, as many as fit into
    the limits (None: no limit); a single group that is larger than the limits is
    cut, in order. Meanwhile RECEIVE passes these groups. The connection must be in
    autocommit mode and belong to the job alone.

    A claim of a ``stream`` (its name) outlives the session: it waits ``wait`` seconds for the
    stream to come again.

    Raises BulkError: no permission, no such queue, a disabled queue.
    """
    if not connection.autocommit:
        raise BulkError(
            "a claim needs a connection in autocommit mode", "psycopg.connect(dsn, autocommit=True)"
        )
    with explained(queue), connection.cursor(row_factory=class_row(_Made)) as cursor:
        row = cursor.execute(
            "SELECT claim_id, claimed_at, conversations, messages, bytes, largest, firsts, lasts"
            "  FROM ssb_internal.claim_messages(%s, %s, %s, %s, stream => %s, wait => %s)"
            " WHERE claim_id IS NOT NULL",
            (queue, max_messages, max_bytes, partitions, stream, wait),
        ).fetchone()
    return None if row is None else row.claim(queue, partitions, connection, row.ranges)


@dataclass(frozen=True)
class _Row:
    """What the server tells of a claim."""

    claim_id: int
    claimed_at: datetime
    conversations: int
    messages: int
    bytes: int
    largest: int

    def claim(
        self,
        queue: str,
        partitions: int,
        connection: Connection,
        ranges: tuple[tuple[int, int] | None, ...] = (),
    ) -> Claim:
        return Claim(
            self.claim_id,
            queue,
            self.claimed_at,
            self.conversations,
            self.messages,
            self.bytes,
            self.largest,
            partitions,
            connection,
            ranges,
        )


@dataclass(frozen=True)
class _Made(_Row):
    """The same of one that is made: of each partition its first and its last conversation."""

    firsts: list[int | None] | None
    lasts: list[int | None] | None

    @property
    def ranges(self) -> tuple[tuple[int, int] | None, ...]:
        pairs = zip(self.firsts or (), self.lasts or (), strict=True)
        return tuple(None if first is None or last is None else (first, last) for first, last in pairs)


@dataclass(frozen=True)
class _Found(_Row):
    """The same of one that was made before, whoever divided it."""

    partitions: int


def require_readable(connection: Connection, dsn: str, queue: str) -> None:
    """Ask whether the queue can be read, which takes a moment: starting Spark for it takes many.

    Raises BulkError: a pooler that would take the claim's session away, no runtime, no such queue, no
    permission.
    """
    with explained(queue):
        require_own_session(connection, dsn)
        connection.execute("SELECT ssb.message_is_waiting(%s)", (queue,))


@contextmanager
def explained(queue: str) -> Iterator[None]:
    """Make BulkError, or ClaimLost where the connection ended, of what PostgreSQL says about the queue."""
    try:
        yield
    except psycopg.OperationalError as error:
        lost = "the connection to PostgreSQL was lost"
        raise told(error, lost, f"the queue {queue} cannot be read in bulk") from error
    except psycopg.Error as error:
        if error.sqlstate in _NO_QUEUE:
            spelt = "name it as PostgreSQL spells it, such as dbo.daysales"
            if any(char in queue for char in "*?,"):
                spelt += '; several and patterns are for format("pgsb")'
            raise BulkError(f"there is no queue {queue}", spelt) from error
        hint = hint_of(error)
        if isinstance(error, psycopg.errors.InvalidSchemaName) and '"ssb' in str(error):
            hint = "there is no runtime in this database: `pgsb install` puts it there"
        raise BulkError(f"the queue {queue} cannot be read in bulk: {first_line(error)}", hint) from error


def find_claim(connection: Connection, queue: str, claim_id: int, claimed_at: str) -> Claim | None:
    """The caller's claim with this number, which another session holds; None when it has ended.

    Numbers begin anew in each database: ``claimed_at`` (ISO 8601) tells it from any other.
    """
    with connection.cursor(row_factory=class_row(_Found)) as cursor:
        row = cursor.execute(
            "SELECT %s AS claim_id, claimed_at, conversations, messages, bytes, largest, partitions"
            "  FROM ssb_internal.claim_of(%s)",
            (claim_id, claim_id),
        ).fetchone()
    if row is None or row.claimed_at != datetime.fromisoformat(claimed_at):
        return None
    return row.claim(queue, row.partitions, connection)


def abandon(held: Claim) -> None:
    """Give the messages back to the queue at once. Raises BulkError when it was ended before."""
    try:
        held.connection.execute("SELECT ssb_internal.abandon_claim(%s)", (held.claim_id,))
    except psycopg.OperationalError as error:
        claim_ = f"claim {held.claim_id}"
        raise told(error, f"{claim_} ended with its connection", f"{claim_} cannot be abandoned") from error
    except psycopg.Error as error:
        raise BulkError(
            f"claim {held.claim_id} cannot be abandoned: {first_line(error)}", hint_of(error)
        ) from error
