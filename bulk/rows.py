"""Rows for Spark's Python sources as Arrow batches: what a claim holds, and what a query finds."""

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from .array_columns import Column, aggregate, fixed, numbers, record_batch, varying

QUEUE_SCHEMA = (
    "status short, priority short, queuing_order long, conversation_group_id string, "
    "conversation_handle string, message_sequence_number long, service_name string, service_id int, "
    "service_contract_name string, service_contract_id int, message_type_name string, message_type_id int, "
    "validation string, message_body binary, message_enqueue_time timestamp"
)
STREAM_SCHEMA = f"{QUEUE_SCHEMA}, claim_id int, queue string"
_UUID = 36
# Texts and bodies of one batch of `fetch_rows`, about; a row that has more is alone in its batch.
_BATCH_BYTES = 32 << 20


def fetch_rows(
    connection: psycopg.Connection[Any], columns: Sequence[Column], relation: str, order: str, size: int
) -> Iterator[Any]:
    """The rows of ``relation`` (SQL) as batches of at most ``size`` rows and some 64 MiB, or of one row.

    The caller ends the transaction.
    """
    connection.execute("SET LOCAL enable_hashagg = off")
    query = aggregate(columns, relation, order, size, _BATCH_BYTES)
    connection.execute(f"DECLARE pgsb_rows BINARY NO SCROLL CURSOR FOR {query}".encode())
    while True:
        # Not by a cursor of psycopg's, which would make Python's values of the fields.
        cursor = connection.execute("FETCH 1 FROM pgsb_rows", binary=True)
        if not cursor.rowcount:
            return
        yield record_batch(columns, _fields(cursor))


def fetch_part(
    connection: psycopg.Connection[Any], queue: str, claim_id: int, partition: int, size: int
) -> Iterator[Any]:
    """The messages of a part of a claim, at most ``size`` in a batch, with the columns of STREAM_SCHEMA.

    Conversation by conversation, each in order, which is the same whenever it is read.
    """
    place: tuple[int, int] = (-1, -1)
    while True:
        cursor = connection.execute(
            "SELECT * FROM ssb_internal.claimed_part(%s, %s, %s, %s, %s)",
            (claim_id, partition, *place, size),
            binary=True,
        )
        batch, place = _part(_fields(cursor), queue, claim_id)
        if not batch.num_rows:
            return
        yield batch


def _fields(cursor: Any) -> list[bytes | None]:
    result = cursor.pgresult
    assert result is not None
    return [result.get_value(0, number) for number in range(result.nfields)]


def _part(values: list[bytes | None], queue: str, claim_id: int) -> tuple[Any, tuple[int, int]]:
    """A row of ssb_internal.claimed_part as a batch, and where the next one begins."""
    import numpy
    import pyarrow

    given = iter(values)
    ids, orders = numbers(next(given), "long"), numbers(next(given), "long")
    count = len(orders)
    sequence, priority = fixed(next(given), "long"), fixed(next(given), "short")
    types, enqueued = numbers(next(given), "int"), fixed(next(given), "timestamp")
    validation = varying(next(given), numbers(next(given), "int"), "string")
    body = varying(next(given), numbers(next(given), "int"), "binary")
    # Of each conversation, in the order in which the messages name them; of each type.
    conversations = numbers(next(given), "long")
    handles, groups = (
        varying(next(given), numpy.full(len(conversations), _UUID), "string") for _ in range(2)
    )
    service = varying(next(given), numbers(next(given), "int"), "string")
    service_id = fixed(next(given), "int")
    contract = varying(next(given), numbers(next(given), "int"), "string")
    contract_id = fixed(next(given), "int")
    type_ids = numbers(next(given), "int")
    type_names = varying(next(given), numbers(next(given), "int"), "string")
    place = pyarrow.array(numpy.searchsorted(conversations, ids))
    arrays = [
        pyarrow.repeat(pyarrow.scalar(1, pyarrow.int16()), count),
        priority,
        pyarrow.array(orders, pyarrow.int64()),
        groups.take(place),
        handles.take(place),
        sequence,
        service.take(place),
        service_id.take(place),
        contract.take(place),
        contract_id.take(place),
        type_names.take(pyarrow.array(numpy.searchsorted(type_ids, types))),
        pyarrow.array(types, pyarrow.int32()),
        validation,
        body,
        enqueued,
        pyarrow.repeat(pyarrow.scalar(claim_id, pyarrow.int32()), count),
        pyarrow.repeat(queue, count),
    ]
    names = [column.split(" ")[0] for column in STREAM_SCHEMA.split(", ")]
    last = (int(ids[-1]), int(orders[-1])) if count else (-1, -1)
    return pyarrow.RecordBatch.from_arrays(arrays, names=names), last
