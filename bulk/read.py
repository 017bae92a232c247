"""A claim's messages as a DataFrame."""

from typing import TYPE_CHECKING

from .claim import Claim
from .connections import same_place
from .session import require_classic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The queue's documented columns, in their documented order (CREATE QUEUE page).
COLUMNS = (
    "status",
    "priority",
    "queuing_order",
    "conversation_group_id",
    "conversation_handle",
    "message_sequence_number",
    "service_name",
    "service_id",
    "service_contract_name",
    "service_contract_id",
    "message_type_name",
    "message_type_id",
    "validation",
    "message_body",
    "message_enqueue_time",
)
# The same as expressions. Java takes a uuid apart and puts its text together again, at the price of
# the rest of the row: PostgreSQL's text is cheaper. And char(2) would come with its blank.
_TEXTS = {
    "conversation_group_id": "group_text",
    "conversation_handle": "handle_text",
    "validation": "validation::text",
}
_SELECTED = ", ".join(f"{_TEXTS[name]} AS {name}" if name in _TEXTS else name for name in COLUMNS)
# Bytes of a body from which on PostgreSQL sorts, which moves references to large values only.
# Spark moves the values, but sorts many small ones on all machines, and not at all for an aggregate.
_LARGE = 65536
# Messages of a conversation, on average, from which on its texts are made once and not for each.
_LONG = 4


def read(
    spark: "SparkSession",
    held: Claim,
    dsn: str | None = None,
    *,
    ordered: bool = True,
    split: int | None = None,
) -> "DataFrame":
    """The claimed messages: the queue's documented columns, one partition a task.

    A conversation is in one partition, and in order there (sorted by
    conversation_handle, queuing_order) unless ``ordered`` is False. ``split`` cuts
    all messages into that many ranges of queuing_order instead, for claims of few
    very long conversations whose order does not matter; nothing is sorted then.

    Filters and the choice of columns are pushed down to PostgreSQL: what reads no
    message_body does not fetch it. Reading again gives the same rows.

    The readers go where the claim's session is; ``dsn`` is another way to the same
    database, for a session on a unix socket, which Java cannot use. A reader that is
    elsewhere fails, and so does one whose claim has ended.
    """
    require_classic(spark)
    server = same_place(held.connection, dsn)
    options = server.jdbc_of_claims
    is_sorted_there = ordered and split is None and held.largest > _LARGE
    order = " ORDER BY c.conversation_handle, c.queuing_order" if is_sorted_there else ""
    if split is None:
        predicates = [f"claim_partition = {number}" for number in range(held.partitions)]
    else:
        # With the part's number, since what stands behind the rows has no order.
        ranges = enumerate(_ranges(held, split))
        predicates = [f"({condition} OR part = {number})" for number, condition in ranges]
    parts = len(predicates) if split is None else -len(predicates)
    view = "claimed_in_long" if held.messages >= _LONG * held.conversations else "claimed_message"
    if view == "claimed_in_long" and split is None and held.ranges:
        view = "claimed_in_range"
        predicates = [_of_partition(number, one) for number, one in enumerate(held.ranges)]
    # Behind the last row the session says that it is in the claim's database, and that it read its part
    # to the end. No column of the program's is a constant there: a filter that comes down, and be it
    # IS NOT NULL of a join, would tell the planner that there is nothing to be said.
    relation = (
        f"(SELECT * FROM (SELECT {_SELECTED}, claim_partition, NULL::integer AS part, queuing_order AS place,"
        " endpoint_id"
        f" FROM ssb_internal.{view} AS c WHERE claim_id = {held.claim_id:d}{order}) AS c"
        f" UNION ALL SELECT {_SELECTED}, p.part, p.part, NULL::bigint, NULL::bigint"
        f" FROM pg_catalog.generate_series(0, {len(predicates) - 1:d}) AS p (part) CROSS JOIN LATERAL"
        f" ssb_internal.end_of_reading({held.claim_id:d}, '{server.identity}', {parts:d}, p.part) AS c"
        ") AS m"
    )
    # Bodies as bytes: without the threshold the driver asks for text, twice as many, and decodes it. Spark
    # would write a property's name in lower case, in which the driver does not know it.
    url = options.pop("url") + "&prepareThreshold=-1"
    properties = {**options, "fetchsize": str(held.fetch_size)}
    frame = spark.read.jdbc(url, relation, predicates=predicates, properties=properties).select(*COLUMNS)
    if ordered and split is None and not is_sorted_there:
        frame = frame.sortWithinPartitions("conversation_handle", "queuing_order")
    return frame


def _of_partition(number: int, conversations: tuple[int, int] | None) -> str:
    """The predicate of a partition: its conversations, and the range in which all their messages are."""
    if conversations is None:
        return f"claim_partition = {number}"
    first, last = conversations
    return f"claim_partition = {number} AND (endpoint_id BETWEEN {first:d} AND {last:d} OR part = {number})"


def _ranges(held: Claim, count: int) -> list[str]:
    """Predicates on ``place``, the queuing_order: ``count`` ranges with about equal numbers of messages."""
    rows = held.connection.execute(
        "SELECT pg_catalog.percentile_disc(x) WITHIN GROUP (ORDER BY queuing_order)"
        "  FROM ssb_internal.claimed_message AS m, pg_catalog.unnest(%s::float[]) AS x"
        " WHERE m.claim_id = %s GROUP BY x ORDER BY x",
        ([number / count for number in range(1, count)], held.claim_id),
    ).fetchall()
    bounds = [int(str(row[0])) for row in rows]
    starts: list[int | None] = [None, *bounds]
    ends: list[int | None] = [*bounds, None]
    return [
        " AND ".join(
            part
            for part in (
                f"place >= {start}" if start is not None else "",
                f"place < {end}" if end is not None else "",
            )
            if part
        )
        or "true"
        for start, end in zip(starts, ends, strict=True)
    ]
