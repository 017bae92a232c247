"""The service program: the day's trades become positions, and each account gets one reply."""

from typing import Any

from pgsb.bulk import Outputs
from pgsb.bulk.columns import by_type, json

TRADE = "//EndOfDay/Trade"
SCHEMA = "account string, symbol string, quantity long, price decimal(10,2)"


def book(messages: Any) -> Outputs:
    """Sum quantity and value per account and symbol; answer each dialog with what it made of it."""
    from pyspark.sql import functions as f

    read, failed = by_type(messages, {TRADE: json(SCHEMA)})
    positions = (
        read[TRADE]
        .groupBy("conversation_handle", "body.account", "body.symbol")
        .agg(
            f.sum("body.quantity").alias("quantity"),
            f.sum(f.expr("body.quantity * body.price")).cast("decimal(18,2)").alias("value"),
        )
        .persist()
    )
    replies = positions.groupBy("conversation_handle").agg(
        f.to_json(f.sort_array(f.collect_list(f.struct("symbol", "quantity", "value")))).alias("message_body")
    )
    return Outputs(
        tables={"dbo.positions": positions.drop("conversation_handle")},
        replies=replies.selectExpr("*", "'//EndOfDay/Position' AS message_type_name"),
        # A trade that cannot be read is set aside with those behind it, until somebody decides.
        errors=failed,
        failures="quarantine",
        end_all=True,
    )
