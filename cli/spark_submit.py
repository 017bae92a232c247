"""The entry for spark-submit: ``spark-submit --jars postgresql.jar spark_submit.py --queue Q --program M:F``.

The same options as ``pgsb spark run``; Spark's own come from spark-submit.
"""

from pgsb.cli.spark import run_command

if __name__ == "__main__":
    run_command()
