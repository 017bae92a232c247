"""A SparkSession that reaches PostgreSQL, and clear words where it cannot be had."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from .problems import BulkError, explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER = "org.postgresql.Driver"
OLDEST_JAVA = 17
OLDEST_SPARK = 4
OLDEST_ARROW = 15
OLDEST_DRIVER = (42, 2)
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
        return _checked(Path(named))
    for place in _JARS:
        if Path(place).is_file():
            return _checked(Path(place))
    raise BulkError(
        "PostgreSQL's JDBC driver is not on this machine",
        "Debian: apt-get install libpostgresql-jdbc-java; else set PGSB_JDBC_JAR to the jar's path, "
        f"or let Spark fetch it: --conf spark.jars.packages={PACKAGE}",
    )


def _checked(jar: Path) -> Path:
    """The jar, if it holds the driver, of a version that knows today's passwords (SCRAM) and Java's time."""
    hint = f"Debian: apt-get install libpostgresql-jdbc-java; or --conf spark.jars.packages={PACKAGE}"
    try:
        with zipfile.ZipFile(jar) as archive:
            if f"{DRIVER.replace('.', '/')}.class" not in archive.namelist():
                raise BulkError(f"{jar} is not PostgreSQL's JDBC driver", hint)
            manifest = archive.read("META-INF/MANIFEST.MF").decode("utf-8", "replace")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise BulkError(f"{jar} cannot be read as a jar: {error}", hint) from error
    version = re.search(r"^(?:Implementation|Bundle)-Version: *(\d+)\.(\d+)", manifest, re.MULTILINE)
    if version is not None and (int(version[1]), int(version[2])) < OLDEST_DRIVER:
        oldest = ".".join(map(str, OLDEST_DRIVER))
        raise BulkError(f"{jar} is version {version[1]}.{version[2]}; {oldest} or newer is needed", hint)
    return jar


def require_java() -> None:
    """Raise BulkError unless pyspark and a Java that Spark runs on are installed."""
    if importlib.util.find_spec("pyspark") is None:
        raise BulkError("pyspark is not installed", "pip install 'pg-service-broker[spark]'")
    _require_recent("pyspark", OLDEST_SPARK)
    _require_recent("pyarrow", OLDEST_ARROW)
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        raise BulkError(
            f"no Java on this machine (Spark needs version {OLDEST_JAVA} or newer)",
            "Debian: apt-get install default-jre-headless; or set JAVA_HOME",
        )
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    if found is None or int(found[1]) < OLDEST_JAVA:
        raise BulkError(
            f"{java} is Java {found[1] if found else '?'}; Spark needs {OLDEST_JAVA} or newer",
            "Debian: apt-get install default-jre-headless; or set JAVA_HOME",
        )


def _require_recent(package: str, oldest: int) -> None:
    """Raise BulkError unless the package is there, in that major version or a newer one."""
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        # Spark's own distribution under spark-submit has pyspark on its path, and no metadata.
        if importlib.util.find_spec(package) is not None:
            return
        raise BulkError(f"{package} is not installed", "pip install 'pg-service-broker[spark]'") from None
    if int(version.partition(".")[0]) < oldest:
        raise BulkError(
            f"{package} {version} is too old: {oldest} or newer is needed",
            "pip install --upgrade 'pg-service-broker[spark]'",
        )


def spark_session(
    name: str, *, master: str | None = None, settings: Mapping[str, str] | None = None
) -> "SparkSession":
    """The running SparkSession, else a new one (``master`` default: local[2]). Raises BulkError."""
    require_java()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    wanted = dict(settings or {})
    builder = SparkSession.builder.appName(name)
    under_submit = "PYSPARK_GATEWAY_PORT" in os.environ
    if not under_submit:
        # Spark's own bars would be drawn into ours, and into log files.
        builder = builder.master(master or "local[2]").config("spark.ui.showConsoleProgress", "false")
        if (master or "local").startswith("local"):
            # One machine: the workers' Python is ours, and nothing listens beyond it.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            builder = (
                builder.config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.shuffle.partitions", "4")
            )
        if "spark.jars.packages" not in wanted and "spark.jars" not in wanted:
            builder = builder.config("spark.jars", str(jdbc_jar()))
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    for key, value in wanted.items():
        builder = builder.config(key, value)
    try:
        session: SparkSession = builder.getOrCreate()
        _require_driver(session)
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise BulkError(
            f"Spark does not start: {explain(error)}",
            "see --master and --conf; what its JVM said stands above",
        ) from error
    return session


def _require_driver(session: "SparkSession") -> None:
    """Raise BulkError when Spark's JVM does not have the driver, as when spark-submit was not given it."""
    from py4j.protocol import Py4JJavaError

    jvm = session.sparkContext._jvm
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(DRIVER)
    except Py4JJavaError as error:
        raise BulkError(
            "Spark does not have PostgreSQL's JDBC driver",
            f"spark-submit --packages {PACKAGE}, or --jars with the jar's path",
        ) from error


def acting_as(dsn: str, role: str) -> str:
    """The DSN with SET ROLE in every session that is made by it, in psycopg and in JDBC."""
    before = conninfo_to_dict(dsn).get("options")
    # libpq takes options apart at blanks; a backslash keeps one.
    escaped = re.sub(r"([\\ ])", r"\\\1", role)
    return make_conninfo(dsn, options=f"{before} -c role={escaped}" if before else f"-c role={escaped}")


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
    # The driver knows these by the same names. It does not look at the environment: without them it
    # would trust a server that libpq refuses.
    for name in ("sslmode", "sslrootcert", "options"):
        value = parts.get(name) or (os.environ.get(f"PG{name.upper()}") if name != "options" else None)
        if value:
            options[name] = value
    return options
