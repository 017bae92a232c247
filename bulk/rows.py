"""Rows of a queue for Spark's Python sources: their schema, and PostgreSQL's rows as Arrow batches."""

from collections.abc import Iterator
from typing import Any

import psycopg

QUEUE_SCHEMA = (
    "status short, priority short, queuing_order long, conversation_group_id string, "
    "conversation_handle string, message_sequence_number long, service_name string, service_id int, "
    "service_contract_name string, service_contract_id int, message_type_name string, message_type_id int, "
    "validation string, message_body binary, message_enqueue_time timestamp"
)
STREAM_SCHEMA = f"{QUEUE_SCHEMA}, claim_id int, queue string"


def fetch_batches(
    connection: psycopg.Connection[Any], query: Any, values: Any, size: int, schema: str = STREAM_SCHEMA
) -> Iterator[Any]:
    """The query's rows as Arrow's record batches of ``size`` rows; the caller ends the transaction."""
    import pyarrow

    arrow = arrow_schema(schema)
    with connection.cursor(name="pgsb_rows", binary=True) as cursor:
        cursor.execute(query, values)
        while rows := cursor.fetchmany(size):
            columns = zip(*rows, strict=True)
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array(one, type=field.type) for one, field in zip(columns, arrow, strict=True)],
                schema=arrow,
            )


def arrow_schema(schema: str) -> Any:
    """A DDL string of plain columns for Arrow; executors have no SparkSession that could parse it."""
    import pyarrow

    types = {
        "boolean": pyarrow.bool_(),
        "short": pyarrow.int16(),
        "int": pyarrow.int32(),
        "long": pyarrow.int64(),
        "double": pyarrow.float64(),
        "string": pyarrow.string(),
        "binary": pyarrow.binary(),
        "date": pyarrow.date32(),
        "timestamp": pyarrow.timestamp("us", tz="UTC"),
    }
    pairs = (column.rsplit(" ", 1) for column in schema.split(", "))
    return pyarrow.schema([(name.strip("`"), types[kind]) for name, kind in pairs])
