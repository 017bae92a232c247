"""A stream into files in a process that kills itself between the sink's write and Spark's commit.

Arguments: the DSN, the folder of the checkpoint, that of the files, and the number of the batch that is not
to be committed. Nothing is said to anybody: the driver and its JVM are gone at once.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

from bulk_desk import SMALL

from pgsb.bulk.datasource import register
from pgsb.bulk.options import JobOptions
from pgsb.bulk.session import spark_session


def die_when_written(begun: Path, note: Path) -> None:
    """``note`` is what the sink writes last. Spark's commit is the next file: no time to sleep then."""
    while not begun.exists():
        time.sleep(0.01)
    while not os.access(note, os.F_OK):
        pass
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run until killed."""
    dsn, checkpoint, out, batch = sys.argv[1:]
    spark = spark_session("pgsb killed stream", JobOptions(master="local[1]", settings=SMALL))
    register(spark)
    reader = spark.readStream.format("pgsb").options(dsn=dsn, queue="dbo.target", maxMessagesPerTrigger="2")
    frame = reader.load().selectExpr("CAST(message_body AS STRING) AS body", "queuing_order AS place")
    files = Path(checkpoint, "offsets", batch), Path(out, "_spark_metadata", batch)
    threading.Thread(target=die_when_written, args=files, daemon=True).start()
    writer = frame.writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main()
