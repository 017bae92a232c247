"""Spark looks for data sources in modules whose names begin with pyspark_: here is ``format("pgsb")``."""

from pgsb.bulk.datasource import QueueDataSource as DefaultSource

__all__ = ["DefaultSource"]
