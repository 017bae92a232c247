"""The process from which Spark forks its Python workers, with the modules that each of them needs.

Spark's own has next to none of them: each worker imports Arrow, NumPy, psycopg and what is here for itself,
for 0.7 s of the processor's time. Workers end when they had nothing to do for a minute, so a job that looks
at its queue now and then would pay for that each time, and for each core.

    python -m pgsb.bulk.workers pyspark.worker      (what Spark's spark.python.daemon.module leads to)
"""

import gc
import importlib
import sys

from pyspark.daemon import manager

TASKS = "pyspark.worker"
"""The module that runs tasks. Others plan, one after the other, and need little."""
_NEEDED = (TASKS, "pyarrow", "numpy", "psycopg", "pgsb.bulk.staging", "pgsb.bulk.streaming")


def main() -> None:
    """Import, and serve as Spark's own does."""
    if sys.argv[1:2] == [TASKS]:
        for name in _NEEDED:
            importlib.import_module(name)
        # What is there by now is no garbage: no worker need look at it, nor copy its pages.
        gc.collect()
        gc.freeze()
    manager()


if __name__ == "__main__":
    main()
