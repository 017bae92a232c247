"""Service programs that the tests run, also in processes of their own."""

import os
import time
from pathlib import Path
from typing import Any

from pgsb.bulk import Outputs


def totals(messages: Any) -> Outputs:
    """A row in dbo.total and a reply for each conversation, which is then ended."""
    sums = messages.selectExpr(
        "conversation_handle", "CAST(CAST(message_body AS STRING) AS LONG) AS value"
    ).groupBy("conversation_handle")
    from pyspark.sql import functions as f

    result = sums.agg(f.count("*").alias("messages"), f.sum("value").alias("sum")).persist()
    return Outputs(
        tables={"dbo.total": result},
        replies=result.selectExpr(
            "conversation_handle", "'note' AS message_type_name", "CAST(sum AS STRING) AS message_body"
        ),
        end_all=True,
    )


def totals_until_held(messages: Any) -> Outputs:
    """The same; while the test's flag is there, says that it has begun and never ends: it is killed then."""
    flag = Path(os.environ["PGSB_TEST_FLAG"])
    if flag.exists():
        flag.with_suffix(".begun").touch()
        time.sleep(300)
    return totals(messages)


def totals_with_a_straggler(messages: Any) -> Outputs:
    """The same; the first attempt at the first partition of the replies hands all its rows on and never ends.

    Only a second attempt, which Spark starts while the first still runs, can finish the job.
    """
    done = totals(messages)
    flag = Path(os.environ["PGSB_TEST_FLAG"])

    def straggle(batches: Any) -> Any:
        from pyspark import TaskContext

        yield from batches
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 0:
            flag.with_suffix(f".{context.attemptNumber()}").touch()
            if context.attemptNumber() == 0:
                time.sleep(300)

    replies = done.replies
    assert replies is not None
    return Outputs(tables=done.tables, replies=replies.mapInArrow(straggle, replies.schema), end_all=True)
