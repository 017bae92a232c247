"""What is said where Spark, Java or the driver is missing; and how a DSN becomes JDBC's."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from bulk_desk import SMALL
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict

from pgsb.bulk import BulkError, Outputs, connections, load_program
from pgsb.bulk import session as bulk_session
from pgsb.bulk.connections import Server
from pgsb.bulk.job import run_job
from pgsb.bulk.problems import explain
from pgsb.cli.spark import spark_command
from support import Database


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "PGSB_JDBC_JAR", "PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)


def _java(directory: Path, banner: str) -> None:
    program = directory / "java"
    program.write_text(f"#!/bin/sh\necho '{banner}' >&2\n")
    program.chmod(0o755)


def test_pyspark_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_session.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BulkError, match="pyspark is not installed") as raised:
        bulk_session.require_java()
    assert raised.value.hint == "pip install 'pg-service-broker[spark]'"


@pytest.mark.parametrize(("package", "version"), [("pyspark", "3.5.1"), ("pyarrow", "14.0.2")])
def test_a_package_too_old(monkeypatch: pytest.MonkeyPatch, package: str, version: str) -> None:
    monkeypatch.setattr(bulk_session.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(
        bulk_session.importlib.metadata, "version", lambda name: version if name == package else "99.0"
    )
    with pytest.raises(BulkError, match=f"{package} {version} is too old: [0-9]+ or newer") as raised:
        bulk_session.require_java()
    assert raised.value.hint == "pip install --upgrade 'pg-service-broker[spark]'"


@pytest.mark.parametrize(
    ("encoding", "left"), [("ANSI_X3.4-1968", "C.UTF-8"), ("utf-8", "POSIX"), ("iso-8859-1", "POSIX")]
)
def test_java_finds_files_in_a_locale_without_their_letters(
    monkeypatch: pytest.MonkeyPatch, encoding: str, left: str
) -> None:
    """In LC_ALL=POSIX it did not find its own classes in a checkout whose path has an umlaut."""
    monkeypatch.setenv("LC_ALL", "POSIX")
    monkeypatch.setattr(bulk_session.locale, "getencoding", lambda: encoding)
    bulk_session.name_files_in_utf8()
    assert os.environ["LC_ALL"] == left


def test_java_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bulk_session.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BulkError, match="no Java on this machine") as raised:
        bulk_session.require_java()
    assert raised.value.hint and "default-jre" in raised.value.hint


def test_java_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bulk_session.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _java(tmp_path, 'openjdk version "1.8.0_402"')
    with pytest.raises(BulkError, match="is Java 8; Spark needs 17"):
        bulk_session.require_java()


def test_driver_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bulk_session, "_JARS", (str(tmp_path / "none.jar"),))
    with pytest.raises(BulkError, match="JDBC driver is not on this machine"):
        bulk_session.jdbc_jar()
    monkeypatch.setenv("PGSB_JDBC_JAR", str(tmp_path / "mine.jar"))
    with pytest.raises(BulkError, match="which is no file"):
        bulk_session.jdbc_jar()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (None, "cannot be read as a jar"),
        ({"com/mysql/Driver.class": ""}, "is not PostgreSQL's JDBC driver"),
        (
            {
                "org/postgresql/Driver.class": "",
                "META-INF/MANIFEST.MF": "Implementation-Version: 9.4.1212\r\n",
            },
            "is version 9.4; 42.2 or newer is needed",
        ),
    ],
)
def test_a_jar_that_is_not_the_driver(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, members: dict[str, str] | None, said: str
) -> None:
    jar = tmp_path / "driver.jar"
    if members is None:
        jar.write_text("no jar")
    else:
        with zipfile.ZipFile(jar, "w") as archive:
            for name, text in members.items():
                archive.writestr(name, text)
    monkeypatch.setenv("PGSB_JDBC_JAR", str(jar))
    with pytest.raises(BulkError, match=said):
        bulk_session.jdbc_jar()


def test_a_jar_that_is_the_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jar = tmp_path / "driver.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/postgresql/Driver.class", "")
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nBundle-Version: 42.7.7\r\n")
    monkeypatch.setenv("PGSB_JDBC_JAR", str(jar))
    assert bulk_session.jdbc_jar() == jar


def test_a_role_is_taken_by_both_drivers() -> None:
    dsn = connections.acting_as(
        "host=db port=1 dbname=d user=u options='-c jit=off'", r"back\slash and blank"
    )
    options = r"-c jit=off -c role=back\\slash\ and\ blank"
    assert conninfo_to_dict(dsn)["options"] == Server(dsn, "").jdbc["options"] == options


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nocolon", "names no program"),
        ("no_such_module:f", "cannot be imported"),
        ("jobs/sales.py:f", "that is a file's name: sales:f, from its directory"),
        ("json:nothing", "has no function"),
        ("leaves:f", r"module leaves calls sys\.exit\('no'\) when it is imported"),
        ("slips:f", r"slips cannot be imported: SyntaxError: .*\(slips\.py, line 2\)"),
        ("forgets:f", r"forgets cannot be imported: NameError: name 'x' .*forgets\.py, line 1\)"),
    ],
)
def test_a_program_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, said: str
) -> None:
    for module, text in (
        ("leaves", "import sys; sys.exit('no')"),
        ("slips", "def f(m):\n  return ("),
        ("forgets", "x"),
    ):
        (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BulkError, match=said):
        load_program(name)
    arguments = ["run", "--dsn", "host=127.0.0.1 dbname=x", "--queue", "dbo.q", "--program", name]
    result = CliRunner().invoke(spark_command, arguments)
    assert result.exit_code == 1
    assert "Traceback" not in result.output and "defect" not in result.output


class _JavaError(Exception):
    """As py4j's: the text is of no use, the cause lies in the JVM."""

    __module__ = "py4j.protocol"

    def __init__(self, *causes: str, is_dead: bool = False) -> None:
        super().__init__("An error occurred while calling o1.collectToPython.")
        self.java_exception = self
        self._causes = list(causes)
        self._is_dead = is_dead

    def __str__(self) -> str:
        # py4j asks the JVM for its text.
        if self._is_dead:
            raise ConnectionRefusedError(111, "Connection refused")
        return super().__str__()

    def getCause(self) -> "_JavaError | None":
        if self._is_dead:
            raise ConnectionRefusedError(111, "Connection refused")
        return _JavaError(*self._causes[1:]) if len(self._causes) > 1 else None

    def toString(self) -> str:
        return self._causes[0]


def test_what_the_jvm_says_is_the_deepest_cause() -> None:
    pytest.importorskip("py4j")
    error = _JavaError(
        "org.apache.spark.SparkException: Job aborted", "java.lang.OutOfMemoryError: Java heap space"
    )
    assert explain(error) == "java.lang.OutOfMemoryError: Java heap space"
    assert explain(_JavaError("x", is_dead=True)).startswith("Spark's JVM ")
    driver = "org.postgresql.util.PSQLException: Could not read SSL key file client.key."
    errors = pytest.importorskip("pyspark.errors")
    error = errors.AnalysisException("[FAILED_JDBC.CONNECTION] Failed JDBC", {})
    error._origin = _JavaError("org.apache.spark.sql.AnalysisException: x", driver, "java.io.IOException: y")
    assert explain(error) == driver


@pytest.mark.parametrize("reason", ["", ": Fatal Python error: Segmentation fault"])
def test_a_worker_that_has_died_is_called_so(reason: str) -> None:
    """It was java.io.EOFException, which is all that the JVM sees of it."""
    errors = pytest.importorskip("pyspark.errors")
    error = errors.PySparkException("Job aborted due to stage failure")
    crashed = f"org.apache.spark.SparkException: Python worker exited unexpectedly (crashed){reason}"
    error._origin = _JavaError("org.apache.spark.SparkException: x", crashed, "java.io.EOFException")
    said = explain(error)
    assert said.startswith("a Python process that ran a task has died: killed") and said.endswith(
        reason or "tells where)"
    )


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (
            'psycopg.errors.UndefinedColumn: column "wrong" of relation "t" does not exist\nLINE 1\n',
            'psycopg.errors.UndefinedColumn: column "wrong" of relation "t" does not exist',
        ),
        # Whatever the class is called, and without a word, too.
        ("SystemExit: no more\n", "SystemExit: no more"),
        ("sales.Refused: no\nsecond line\n", "sales.Refused: no"),
        ("AssertionError\n", "AssertionError"),
    ],
)
def test_the_traceback_of_a_worker_ends_with_what_happened(last: str, said: str) -> None:
    errors = pytest.importorskip("pyspark.errors")
    error = errors.PySparkException(
        "An exception was thrown from the Python worker: Traceback (most recent call last):\n"
        f'  File "staging.py", line 67, in write\n    with (\n{last}'
    )
    assert explain(error) == said


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("kill -KILL $$", r"was killed \(SIGKILL\), as where"),
        ("kill -TERM $$", r"was stopped \(SIGTERM\)$"),
        # As Java ends behind that signal.
        ("exit 143", r"was stopped \(SIGTERM\)$"),
        ("kill -ABRT $$", r"has crashed \(SIGABRT\); "),
        ("exit 52", "had too little memory: --conf"),
        ("exit 1", "has ended with the exit status 1; "),
        (None, "has ended$"),
    ],
)
def test_what_is_known_of_a_jvm_that_has_gone_is_told(
    monkeypatch: pytest.MonkeyPatch, command: str | None, said: str
) -> None:
    """One that was stopped with its job was asked whether it had too little memory."""
    pyspark = pytest.importorskip("pyspark")
    process = None if command is None else subprocess.Popen(["sh", "-c", command])
    monkeypatch.setattr(pyspark.SparkContext, "_gateway", SimpleNamespace(proc=process))
    assert re.search(f"^Spark's JVM {said}", explain(_JavaError("x", is_dead=True)))


def test_a_connection_refused_by_the_jvm_is_told_from_others() -> None:
    """A driver whose JVM was killed sees nothing but that; a program's own connection is its own."""
    clientserver = pytest.importorskip("py4j.clientserver")
    java_gateway = pytest.importorskip("py4j.java_gateway")
    java = clientserver.JavaParameters(port=_unused_port())
    properties = java_gateway.GatewayProperty(False, java_gateway.PythonProxyPool())
    client = clientserver.JavaClient(java, clientserver.PythonParameters(), properties)
    with pytest.raises(ConnectionRefusedError) as dead:
        client.send_command("m\n")
    assert explain(dead.value).startswith("Spark's JVM ")
    with pytest.raises(ConnectionRefusedError) as own:
        socket.create_connection(("127.0.0.1", _unused_port()))
    assert explain(own.value).startswith("ConnectionRefusedError: ")


def _unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.mark.one_postgres
def test_a_queue_that_cannot_be_read_starts_no_jvm(
    monkeypatch: pytest.MonkeyPatch, database: Database, empty_database: Database
) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("pgsb.bulk.job.spark_session", started)
    for dsn, said in (
        ("host=127.0.0.1 port=1 password=hidden", "no connection to PostgreSQL"),
        (empty_database.dsn, "cannot be read in bulk"),
        (database.dsn, "there is no queue dbo.nowhere"),
    ):
        with pytest.raises(BulkError, match=said) as caught:
            run_job(dsn, "dbo.nowhere", lambda messages: Outputs())
        assert "hidden" not in str(caught.value)
        assert (caught.value.hint is not None and "pgsb install" in caught.value.hint) == (
            dsn == empty_database.dsn
        )
    # A queue that can be read, by a way that Java does not know.
    with psycopg.connect(database.dsn, autocommit=True) as owner:
        owner.execute("SELECT ssb.create_queue('dbo.q')")
    with pytest.raises(BulkError, match="JDBC cannot use the unix socket"):
        run_job(database.dsn, "dbo.q", lambda messages: Outputs())


@pytest.mark.long
def test_a_spark_that_does_not_start() -> None:
    pytest.importorskip("pyspark")
    # In a process of its own: other tests have a session here.
    program = (
        "from pgsb.bulk import BulkError; from pgsb.bulk.options import JobOptions\n"
        "from pgsb.bulk.session import spark_session\n"
        f"try: spark_session('x', JobOptions(master='nowhere', settings={SMALL!r}))\n"
        "except BulkError as error: print(error, error.hint, sep='|')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    message, hint = done.stdout.strip().split("|")
    assert message.startswith("Spark does not start: ") and "--master" in hint
    assert "Master must either be yarn or start with spark" in done.stderr


@pytest.mark.long
def test_a_jvm_that_is_starting_ends_with_the_job_that_is_interrupted(tmp_path: Path) -> None:
    """Ctrl-C does not reach it, and PySpark forgets it: it told nobody its port, and stayed for ever."""
    pytest.importorskip("pyspark")
    born = tmp_path / "born"
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    # Spark asks it first what to start.
    words = f"sh -c 'echo $$ >{born}; exec sleep 600'"
    java.write_text(
        '#!/bin/sh\nif [ "$1" = -version ]; then echo \'openjdk version "17.0.1"\' >&2\n'
        f"else printf '\\0\\n'; printf '%s\\0' {words}; fi\n"
    )
    java.chmod(0o755)
    # What a shell starts behind itself ignores Ctrl-C, and so do its children.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pgsb.bulk.options import JobOptions; from pgsb.bulk.session import spark_session\n"
        "spark_session('x', JobOptions(settings={'spark.jars': 'driver.jar'}))\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, env={**os.environ, "JAVA_HOME": str(tmp_path)}, stderr=subprocess.PIPE, text=True
    ) as job:
        while not born.exists() or not born.read_text().strip():
            assert job.poll() is None, job.communicate()[1]
            time.sleep(0.05)
        job.send_signal(signal.SIGINT)
        try:
            _, told = job.communicate(timeout=60)
        finally:
            job.kill()
    assert told.endswith("KeyboardInterrupt\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(born.read_text()), 0)
