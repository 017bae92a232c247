"""A SparkSession that reaches PostgreSQL, and clear words where it cannot be had."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

from .problems import BulkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER = "org.postgresql.Driver"
OLDEST_JAVA = 17
# Where distributions put the driver: Debian's libpostgresql-jdbc-java first.
_JARS = (
    "/usr/share/java/postgresql.jar",
    "/usr/share/java/postgresql-jdbc/postgresql.jar",
    "/usr/share/java/postgresql-jdbc.jar",
)
# The driver for clusters whose machines reach a Maven repository.
PACKAGE = "org.postgresql:postgresql:42.7.7"


def jdbc_jar() -> Path:
    """PostgreSQL's JDBC driver: PGSB_JDBC_JAR, else where distributions put it. Raises BulkError."""
    named = os.environ.get("PGSB_JDBC_JAR")
    if named:
        if not Path(named).is_file():
            raise BulkError(f"PGSB_JDBC_JAR names {named}, which is no file")
        return Path(named)
    for place in _JARS:
        if Path(place).is_file():
            return Path(place)
    raise BulkError(
        "PostgreSQL's JDBC driver is not on this machine",
        "Debian: apt-get install libpostgresql-jdbc-java; else set PGSB_JDBC_JAR to the jar's path, "
        f"or let Spark fetch it: --conf spark.jars.packages={PACKAGE}",
    )


def require_java() -> None:
    """Raise BulkError unless pyspark and a Java that Spark runs on are installed."""
    if importlib.util.find_spec("pyspark") is None:
        raise BulkError("pyspark is not installed", "pip install 'pg-service-broker[spark]'")
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        raise BulkError(
            f"no Java on this machine (Spark needs version {OLDEST_JAVA} or newer)",
            "Debian: apt-get install openjdk-17-jre-headless; or set JAVA_HOME",
        )
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    if found is None or int(found[1]) < OLDEST_JAVA:
        raise BulkError(
            f"{java} is Java {found[1] if found else '?'}; Spark needs {OLDEST_JAVA} or newer",
            "Debian: apt-get install openjdk-17-jre-headless; or set JAVA_HOME",
        )


def spark_session(
    name: str, *, master: str | None = None, settings: Mapping[str, str] | None = None
) -> "SparkSession":
    """The running SparkSession, else a new one (``master`` default: local[2]). Raises BulkError."""
    require_java()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    wanted = dict(settings or {})
    builder = SparkSession.builder.appName(name)
    under_submit = "PYSPARK_GATEWAY_PORT" in os.environ
    if not under_submit:
        builder = builder.master(master or "local[2]")
        if (master or "local").startswith("local"):
            # One machine: the workers' Python is ours, and nothing listens beyond it.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            builder = (
                builder.config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.ui.showConsoleProgress", "false")
                .config("spark.sql.shuffle.partitions", "4")
            )
        if "spark.jars.packages" not in wanted and "spark.jars" not in wanted:
            builder = builder.config("spark.jars", str(jdbc_jar()))
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    for key, value in wanted.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    return session


def jdbc_options(dsn: str) -> dict[str, str]:
    """Spark's JDBC options (url, user, password, driver) for a libpq connection string.

    A server on a unix socket is not reachable for Java: BulkError says so.
    """
    parts = {key: str(value) for key, value in conninfo_to_dict(dsn).items() if value is not None}
    host = parts.get("host") or os.environ.get("PGHOST") or "localhost"
    if host.startswith("/"):
        raise BulkError(
            f"JDBC cannot use the unix socket in {host}",
            "name the server's TCP address, for example host=127.0.0.1",
        )
    port = parts.get("port") or os.environ.get("PGPORT") or "5432"
    user = parts.get("user") or os.environ.get("PGUSER") or os.environ.get("USER") or "postgres"
    database = parts.get("dbname") or os.environ.get("PGDATABASE") or user
    options = {
        "url": f"jdbc:postgresql://{host}:{port}/{quote(database, safe='')}?ApplicationName=pgsb-spark",
        "driver": DRIVER,
        "user": user,
    }
    password = parts.get("password") or os.environ.get("PGPASSWORD")
    if password:
        options["password"] = password
    if "sslmode" in parts:
        options["sslmode"] = parts["sslmode"]
    return options
