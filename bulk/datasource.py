"""``format("pgsb")``: queues as a source and a sink of Spark, batch and streaming.

- ``spark.read`` looks at a queue, or at a view of conversations, and takes nothing
- ``spark.readStream`` takes messages in claims (`streaming`)
- ``df.write`` and ``df.writeStream`` send (`writing`)
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .looking import FilteredReader, QueueReader, view_schema
from .problems import BulkError, as_a_sentence
from .pushed_filters import is_asked
from .rows import QUEUE_SCHEMA, STREAM_SCHEMA
from .source_options import SourceOptions, read_options
from .streaming import QueueStreamReader, RefusedStream
from .writing import MessageStreamWriter, MessageWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    # What is used of pyspark's class; types are checked without it too.
    class DataSource:
        """A format's name, schema, readers and writers."""

        options: Mapping[str, str]

else:
    try:
        from pyspark.sql.datasource import DataSource
    except ImportError as error:  # pragma: no cover - told when the package is used without Spark
        raise ImportError("pyspark is not installed: pip install 'pg-service-broker[spark]'") from error


# What Spark calls a type that its DDL spells otherwise.
_SIMPLE = {"short": "smallint", "long": "bigint", "timestamp_ltz": "timestamp"}
# What is called a timestamp may be without a time zone in a session (spark.sql.timestampType).
_MOMENTS = {"timestamp": "timestamp_ltz"}


class QueueDataSource(DataSource):
    """What Spark asks for by the name pgsb."""

    @classmethod
    def name(cls) -> str:
        """What format() takes."""
        return "pgsb"

    @as_a_sentence
    def schema(self) -> str:
        """The columns as a DDL string: of a view its own, of a queue the documented ones.

        Spark asks before it knows whether it will stream, so a look at a queue has the stream's
        columns too: queue and claim_id, which is null.
        """
        options = read_options(self.options)
        told = view_schema(options) if options.view else STREAM_SCHEMA
        columns = (one.split(" ") for one in told.split(", "))
        return ", ".join(f"{name} {_MOMENTS.get(kind, kind)}" for name, kind in columns)

    @as_a_sentence
    def reader(self, schema: Any) -> QueueReader:
        """A look that takes nothing."""
        look = FilteredReader if is_asked() else QueueReader
        return look(self._reading(schema))

    def streamReader(self, schema: Any) -> QueueStreamReader | RefusedStream:
        """A stream of claims."""
        try:
            options = self._reading(schema)
            if options.view:
                raise BulkError("a view cannot be streamed", 'a look at it is spark.read.format("pgsb")')
        except BulkError as error:
            return RefusedStream(error)
        return QueueStreamReader(options)

    def _reading(self, schema: Any) -> SourceOptions:
        """The options. Raises BulkError where columns were told by `schema()` that are not the source's."""
        given = [(field.name, field.dataType.simpleString()) for field in schema.fields]
        there = [one.split(" ") for one in self.schema().split(", ")]
        if given != [(name.strip("`"), _SIMPLE.get(kind, kind)) for name, kind in there]:
            raise BulkError(
                'format("pgsb") has columns of its own', "leave schema(…) away, and choose with select(…)"
            )
        options = read_options(self.options)
        told = {"load(…)": options.path, "queue": options.queue, "view": options.view}
        several = [name for name, value in told.items() if value]
        if len(several) > 1:
            raise BulkError(
                f"{' and '.join(several)} are told: {', '.join(str(told[one]) for one in several)}",
                "one of them says what is read",
            )
        return replace(options, queue=options.path or options.queue)

    @as_a_sentence
    def writer(self, schema: Any, overwrite: bool) -> MessageWriter:
        """Sends each row of a batch."""
        return MessageWriter(read_options(self.options, to_write=True), schema, overwrite)

    @as_a_sentence
    def streamWriter(self, schema: Any, overwrite: bool) -> MessageStreamWriter:
        """Sends each row of a stream, once."""
        return MessageStreamWriter(read_options(self.options, to_write=True), schema, overwrite)


__all__ = ["QUEUE_SCHEMA", "STREAM_SCHEMA", "QueueDataSource"]


def register(spark: "SparkSession") -> None:
    """Make ``format("pgsb")`` known to a session, where Spark has not found pyspark_pgsb by itself."""
    spark.dataSource.register(QueueDataSource)
