"""Bulk processing with Spark: claim → read → process → complete, exactly once.

- `problems`  what can go wrong, said in a sentence
- `claim`     sets messages of whole conversation groups aside
- `session`   a SparkSession with PostgreSQL's JDBC driver, and JDBC's address of a database
- `read`      a claim's messages as a DataFrame, one partition a task
- `columns`   bodies as text, JSON and XML; a schema for each message type
- `rows`      a claim's part as Arrow batches, for the Python readers of `streaming` and `looking`
- `staging`   executors write what a program made, attempt by attempt
- `packed_rows` rows on their way to COPY of their table, a page of them in each pack
- `complete`  results, replies, ends and deletion in one PostgreSQL transaction
- `program`   what a service program for Spark is: a function from a DataFrame to Outputs
- `job`       the loop: claim, read, run the program, complete
- `sending`   a DataFrame of bodies becomes messages on dialogs
- `streaming` the Structured Streaming source over the same claims

Importing this package needs no Spark; what works on DataFrames imports pyspark
when it is called (`pip install pg-service-broker[spark]`).
"""

from .claim import Claim, abandon, claim
from .problems import BulkError, ClaimLost
from .program import Outputs, each, load_program

__all__ = ["BulkError", "Claim", "ClaimLost", "Outputs", "abandon", "claim", "each", "load_program"]
