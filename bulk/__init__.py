"""Bulk processing with Spark: claim → read → process → complete, exactly once.

- `problems`     what can go wrong, said in a sentence
- `connections`  all connections of a job, and where they lead
- `claim`        sets messages of whole conversation groups aside
- `session`      a SparkSession with PostgreSQL's JDBC driver, and JDBC's address of a database
- `read`         a claim's messages as a DataFrame, one partition a task
- `columns`      bodies as text, JSON and XML; a schema for each message type
- `rows`         a claim's part as Arrow batches, for the Python readers of `streaming` and `looking`
- `array_columns`, `binary_copy`  columns between Arrow and PostgreSQL, without Python touching a value
- `transport`    how a Spark column travels into a column of a table: its type on the way, its cast
- `staging`      executors write what a program made, attempt by attempt
- `local_rows`   few conversations and replies go through the driver, without a job of Spark's
- `packed_rows`  rows on their way to COPY of their table, a page of them in each pack
- `tables`       results from staging tables into their tables, and rows that PostgreSQL refuses
- `copying_ahead`  rows from files of packs into their table while tasks still write others
- `complete`     results, replies, ends and deletion in one PostgreSQL transaction
- `program`      what a service program for Spark is: a function from a DataFrame to Outputs
- `options`      what a job may be told
- `job`          the loop: claim, read, run the program, complete
- `workers`      the process from which Python's workers are forked, where Spark runs on this machine
- `cached`, `watching`, `progress`  what a program has cached; how far Spark's tasks and the job are
- `sending`      a DataFrame of bodies becomes messages on dialogs
- `datasource`   ``format("pgsb")``, which Spark finds in `found_by_spark`; `source_options`: its options
- `looking`, `streaming`, `writing`  its look that takes nothing, its stream over claims, its sink
- `pushed_filters`  what `looking` asks of the server instead of leaving it to Spark's where(…)

Importing this package needs no Spark; what works on DataFrames imports pyspark
when it is called (`pip install pg-service-broker[spark]`).
"""

from .claim import Claim, abandon, claim
from .problems import BulkError, ClaimLost, NotConnected
from .program import Outputs, each, load_program

__all__ = [
    "BulkError",
    "Claim",
    "ClaimLost",
    "NotConnected",
    "Outputs",
    "abandon",
    "claim",
    "each",
    "load_program",
]
