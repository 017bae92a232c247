"""A SparkSession that reaches PostgreSQL, and clear words where it cannot be had."""

import contextlib
import importlib.metadata
import importlib.util
import locale
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .connections import DRIVER, Server
from .options import JobOptions, require_files
from .problems import BulkError, explain
from .staging import OWN_SESSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
WORKERS = "pgsb.bulk.workers"
"""The process from which Python's workers are forked, where it is on this machine."""
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


def spark_session(name: str, options: JobOptions | None = None) -> "SparkSession":
    """The running SparkSession, else a new one. Raises BulkError.

    A session that runs already keeps its settings: where the options want others, BulkError names them.
    """
    options = options or JobOptions()
    require_files((*options.py_files, *options.archives))
    if importlib.util.find_spec("pyspark") is not None:
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is not None:
            # Before anything is asked of this machine: the driver of Spark Connect is on another.
            require_classic(active)
            _require_alike(active, options)
            _require_driver(active)
            _send_files(active, options)
            return active
    require_java()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    wanted = dict(options.settings)
    master = options.master or wanted.get("spark.master")
    builder = SparkSession.builder.appName(name)
    under_submit = "PYSPARK_GATEWAY_PORT" in os.environ
    if not under_submit:
        name_files_in_utf8()
        # Spark's own bars would be drawn into ours, and into log files.
        builder = builder.master(master or "local[2]").config("spark.ui.showConsoleProgress", "false")
        if (master or "local").startswith("local"):
            # One machine: the workers' Python is ours, and nothing listens beyond it. Spark's UI is on
            # (spark.ui.enabled): where SPARK_LOCAL_IP says.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            builder = (
                builder.config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "4")
            )
            if _is_installed() and os.environ["PYSPARK_PYTHON"] == sys.executable:
                builder = builder.config("spark.python.daemon.module", WORKERS)
        if "spark.jars.packages" not in wanted and "spark.jars" not in wanted:
            builder = builder.config("spark.jars", str(jdbc_jar()))
    builder = builder.config("spark.sql.session.timeZone", "UTC").config(OWN_SESSION, "true")
    builder = builder.config("spark.sql.python.filterPushdown.enabled", "true")
    for key, value in wanted.items():
        builder = builder.config(key, value)
    try:
        session: SparkSession = builder.getOrCreate()
        _require_driver(session)
        _send_files(session, options)
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise BulkError(
            f"Spark does not start: {explain(error)}",
            "see --master and --conf; what its JVM said stands above",
        ) from error
    except KeyboardInterrupt as interrupted:
        _end_jvm(interrupted.__traceback__)
        raise
    return session


def _end_jvm(trace: TracebackType | None) -> None:
    """End the JVM that PySpark was waiting for: with nobody to tell its port to it would stay for ever.

    Only PySpark's function that starts it knows its process. One that has told its port ends by itself.
    """
    while trace is not None:
        frame = trace.tb_frame
        started = frame.f_locals.get("proc") if frame.f_code.co_name == "launch_gateway" else None
        if isinstance(started, subprocess.Popen):
            started.kill()
            started.wait()
        trace = trace.tb_next


def silence() -> None:
    """Let the JVM of an interrupted job, which ends behind it, say nothing more: its tasks are cut off.

    In a thread of its own, which has a connection of its own: that of this one waits for another answer.
    """
    if "pyspark" not in sys.modules:
        return
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    context = SparkContext._active_spark_context

    def say() -> None:
        with contextlib.suppress(Py4JError, OSError):
            context.setLogLevel("OFF")

    if context is not None:
        thread = threading.Thread(target=say, daemon=True)
        thread.start()
        thread.join(2)


def _is_installed() -> bool:
    """Whether each process of this Python finds this package, and not only one that was told where it is."""
    try:
        importlib.metadata.version("pg-service-broker")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def name_files_in_utf8() -> None:
    """Let the JVM that is started next find files whose names ASCII cannot write, in the POSIX locale.

    Python does so by itself (PEP 540); Java does not find its own classes in such a folder.
    """
    if locale.getencoding().upper() in ("ANSI_X3.4-1968", "US-ASCII", "ASCII"):
        os.environ["LC_ALL"] = "C.UTF-8"


def require_classic(session: Any) -> None:
    """Raise BulkError for a Spark Connect session, whose driver is on another machine."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise BulkError(
            "a bulk job runs in Spark's driver, and this session is Spark Connect's",
            'run the job on the cluster: spark-submit "$(pgsb spark script)"; here format("pgsb") reads and '
            "writes",
        )


def _require_alike(session: Any, options: JobOptions) -> None:
    """Raise BulkError where a session that runs already is not as the options want it."""
    wanted = dict(options.settings)
    if options.master is not None:
        wanted["spark.master"] = options.master
    if not wanted:
        return
    conf = session.sparkContext.getConf()
    other = []
    for key, value in wanted.items():
        there = session.conf.get(key, conf.get(key, ""))
        if there != value:
            other.append(f"{key} is {there or 'not set'}, not {value}")
    if other:
        raise BulkError(
            f"the SparkSession that runs already has other settings: {'; '.join(other)}",
            "set them where it is made, or stop it first: spark.stop()",
        )


def _send_files(session: Any, options: JobOptions) -> None:
    """Modules and archives for executors: to those that are there and those that come.

    The settings for it (spark.submit.pyFiles, spark.archives) are spark-submit's, which has run by now.
    """
    for path in options.py_files:
        session.sparkContext.addPyFile(path)
    for path in options.archives:
        session.sparkContext.addArchive(path)


def require_executors(session: Any, program: object, modules: Sequence[str] = ()) -> None:
    """Raise BulkError unless the executors' Python has what tasks import: which module, on which host.

    Asked by one small job before the first claim. Executors that share this process's machine and
    Python need not be asked.
    """
    context = session.sparkContext
    if (
        context.master.startswith("local")
        and os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable
    ):
        return
    own = getattr(program, "__module__", None)
    needed = ["pgsb.bulk", "psycopg", "pyarrow", *modules]
    if own and own not in ("__main__", "builtins") and not own.startswith("pgsb."):
        needed.append(own)

    # Without a name that a module knows it is sent whole, and needs nothing there.
    def look(_: object) -> object:
        import importlib
        import socket
        import sys

        missing = []
        for name in needed:
            try:
                importlib.import_module(name)
            except ImportError as error:
                missing.append((socket.gethostname(), sys.executable, name, str(error)))
        return missing

    tasks = max(2, context.defaultParallelism)
    found = context.parallelize(range(tasks), tasks).flatMap(look).distinct().collect()
    if any(name == own for _, _, name, _ in found):
        # The program's own module, which is nowhere but here: its functions go along whole.
        from pyspark.cloudpickle import register_pickle_by_value

        register_pickle_by_value(sys.modules[str(own)])
        found = [one for one in found if one[2] != own]
    if found:
        host, python, name, reason = sorted(found)[0]
        raise BulkError(
            f"the executors cannot import {name}: {reason} (on {host}, {python})",
            "install it there, or send it: --py-files for modules, --archives env.tar.gz#env with "
            "PYSPARK_PYTHON=./env/bin/python for an environment",
        )


def require_java_passes(session: "SparkSession", server: Server) -> None:
    """Raise BulkError where a pooler lets psycopg pass and Java not, which says more at the beginning."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    options = server.jdbc_of_claims
    url = options.pop("url")
    try:
        # Asks for the columns, and runs nothing.
        session.read.jdbc(url, "(SELECT 1 AS one) AS nothing", properties=options)
    except (Py4JJavaError, PySparkException) as error:
        raise BulkError(
            f"Java is not let through the pooler on the way to the server: {explain(error)}",
            "PgBouncer: ignore_startup_parameters = extra_float_digits; or connect to PostgreSQL itself",
        ) from error


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
