"""Few rows go through the driver, without a job of Spark's.

A job plans, starts tasks and makes a session for each of them: 0.2 s for some thousand replies, whose rows
are computed in some milliseconds. A claim's conversations, where they are few, are read in the claim's own
session, and Spark keeps them in its plan. What a program makes of them row by row its optimizer has computed
before anything runs: a local relation, whose rows need no task, and no attempt of one that may not count.
"""

import re
from typing import TYPE_CHECKING, Any

from .claim import Claim, explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_LOCAL = 20_000
"""Conversations of a claim that Spark is given in its plan. They are some MB of the driver's memory."""
CONVERSATION_COLUMNS = (
    "conversation_handle::text AS conversation_handle, conversation_group_id::text AS conversation_group_id,"
    " service_name, service_contract_name, priority, messages, bytes"
)
"""What a program sees of a claimed conversation, of ssb_internal.conversation_in_claim."""
_ROW_BY_ROW = frozenset({"Project", "Filter", "SubqueryAlias", "LocalRelation"})


def claimed_conversations(held: Claim, identity: str) -> Any:
    """A claim's conversations as an Arrow table. Raises BulkError, and ClaimLost where it has ended."""
    import pyarrow

    query = (
        f"SELECT {CONVERSATION_COLUMNS} FROM ssb_internal.conversation_in_claim WHERE claim_id = %(claim)s"
        f" UNION ALL SELECT {CONVERSATION_COLUMNS}"
        "  FROM ssb_internal.end_of_conversations(%(claim)s, %(identity)s)"
    )
    text, number = pyarrow.string(), pyarrow.int64()
    types = (text, text, text, text, pyarrow.int16(), number, number)
    with explained(held.queue), held.connection.cursor(binary=True) as cursor:
        cursor.execute(query.encode(), {"claim": held.claim_id, "identity": identity})
        assert cursor.description is not None
        names = [one.name for one in cursor.description]
        columns = list(zip(*cursor, strict=True)) or [()] * len(names)
    return pyarrow.table(
        [pyarrow.array(values, type_) for values, type_ in zip(columns, types, strict=True)], names=names
    )


def frame_of(spark: "SparkSession", table: Any) -> "DataFrame":
    """A frame that has the table's rows in its plan.

    Spark makes a session the active one that creates a frame. That of a stream's batch is a copy of the
    user's: it would stay the one that getActiveSession answers, and that the next job uses.
    """
    kind = type(spark)
    active = kind._activeSession
    try:
        return spark.createDataFrame(table)
    finally:
        kind._activeSession = active


def computed_rows(frame: "DataFrame", types: tuple[str, ...]) -> Any:
    """The frame's rows as an Arrow batch, where Spark's optimizer has computed them; else None.

    ``types`` are those of `binary_copy.encode`, one for each column.
    """
    import pyarrow

    execution = frame._jdf.queryExecution()
    # An optimizer that has nothing to do for it takes as long as for what it will run.
    if not plan_words(execution.analyzed()) <= _ROW_BY_ROW:
        return None
    if execution.optimizedPlan().getClass().getSimpleName() != "LocalRelation":
        return None
    arrow = {
        "uuid": pyarrow.string(),
        "text": pyarrow.string(),
        "bytea": pyarrow.binary(),
        "int8": pyarrow.int64(),
        "int4": pyarrow.int32(),
    }
    rows = frame.collect()
    columns = []
    for place, type_ in enumerate(types):
        values = [row[place] for row in rows]
        if type_ == "bytea":
            values = [None if value is None else bytes(value) for value in values]
        columns.append(pyarrow.array(values, arrow[type_]))
    return pyarrow.RecordBatch.from_arrays(columns, names=frame.columns)


def plan_words(plan: Any) -> frozenset[str]:
    """What a plan of Spark's consists of: each line begins with such a word, behind its branches."""
    return frozenset(re.findall(r"^[\s:+-]*(\w+)", plan.toString(), re.MULTILINE))
