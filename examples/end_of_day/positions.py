"""The service program: the day's trades become positions, and each account gets one reply."""

from typing import Any

from pgsb.bulk import Outputs

TRADE = "account string, symbol string, quantity long, price decimal(10,2)"


def book(messages: Any) -> Outputs:
    """Sum quantity and value per account and symbol; answer each dialog with what it made of it."""
    from pyspark.sql import functions as f

    trades = messages.where("message_type_name = '//EndOfDay/Trade'").select(
        "conversation_handle", f.from_json(f.col("message_body").cast("string"), TRADE).alias("trade")
    )
    positions = (
        trades.groupBy("conversation_handle", "trade.account", "trade.symbol")
        .agg(
            f.sum("trade.quantity").alias("quantity"),
            f.sum(f.expr("trade.quantity * trade.price")).cast("decimal(18,2)").alias("value"),
        )
        .persist()
    )
    replies = positions.groupBy("conversation_handle").agg(
        f.to_json(f.sort_array(f.collect_list(f.struct("symbol", "quantity", "value")))).alias("message_body")
    )
    return Outputs(
        tables={"dbo.positions": positions.drop("conversation_handle")},
        replies=replies.selectExpr("*", "'//EndOfDay/Position' AS message_type_name"),
        end_all=True,
    )
