"""Errors of bulk processing that a person can act on."""

import functools
import re
import signal
import subprocess
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import ParamSpec, TypeVar

import psycopg

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

MOST_INTEGER = 2**31 - 1
MOST_LONG = 2**63 - 1
"""What PostgreSQL's integer and bigint hold."""
MOST_PARTITIONS = 100_000
"""Each is a task, and an object in the driver's memory."""
_OUT_OF_MEMORY = 52
"""Spark's own exit status."""
_DEAD_WORKER = (
    "a Python process that ran a task has died: killed, as where memory runs out, or crashed in a library "
    "(--conf spark.python.worker.faulthandler.enabled=true tells where)"
)


class BulkError(Exception):
    """A job cannot go on; the message says why and ``hint`` what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            # What Spark raises instead holds this one's traceback as text, and nothing else of it.
            self.add_note(hint)


def require_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise BulkError unless the value is one of the words that there are."""
    if value not in choices:
        raise BulkError(f"{name} is {' or '.join(choices)}, not {value}")


def require_number(name: str, value: object, most: int) -> None:
    """Raise BulkError unless the value is a whole number from 1 to ``most``."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise BulkError(f"{name} is {str(value)[:100]}, and must be a number from 1 to {most:,}")


def as_a_sentence(method: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """The method, whose BulkErrors come without a traceback and a cause; psycopg's errors become such.

    A source's errors are shown by Spark as their traceback: the sentence stood behind forty lines of ours.
    """

    @functools.wraps(method)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        try:
            return method(*arguments, **named)
        except (BulkError, psycopg.Error) as error:
            raise _bare(error) from None

    return call


def rows_or_a_sentence(
    method: Callable[_Arguments, Iterator[_Result]],
) -> Callable[_Arguments, Iterator[_Result]]:
    """The same for a generator, which raises only when it is asked."""

    @functools.wraps(method)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> Iterator[_Result]:
        try:
            yield from method(*arguments, **named)
        except (BulkError, psycopg.Error) as error:
            raise _bare(error) from None

    return call


def _bare(error: BulkError | psycopg.Error) -> BulkError:
    own = BulkError(first_line(error), hint_of(error)) if isinstance(error, psycopg.Error) else error
    return own.with_traceback(None)


class NotConnected(BulkError):
    """No session with PostgreSQL was to be had: nothing was claimed yet, or the server is away."""


class ClaimLost(BulkError):
    """The session that held the claim ended: its messages are back in the queue, nothing was done."""


# psycopg calls by one name (OperationalError) connections that end and what a server that is there refuses.
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_GONE = ("08", "57P01", "57P02", "57P03", "57P05")
DISABLED = "S9617"
_HELP = {
    "S0229": "GRANT RECEIVE ON the queue to the role that connects, or to the one that the option role names",
    "25006": "the server is a standby, or read-only: name the primary (target_session_attrs=read-write)",
    "42501": "GRANT what is missing to the role that connects, or to the one that the option role names",
    "53100": "the server's disk is full: make room there, then run it again",
    "53200": "the server has too little memory: smaller claims, a smaller work_mem, or fewer tasks at a time",
    "53300": "fewer tasks at a time, or a higher max_connections",
    "53400": "a limit of the server's, such as temp_file_limit: raise it, or make smaller claims",
    "55P03": "another session has the lock (pg_blocking_pids, pg_locks): end it, or raise lock_timeout",
    "57014": "statement_timeout of this login, or pg_cancel_backend: raise the one, or see who did the other",
    DISABLED: "ALTER QUEUE … WITH STATUS = ON; pgsb diagnose tells whether poison messages stopped it (301)",
    "58": "see the server's log: its disk or its files have failed",
}


def has_ended(error: psycopg.OperationalError) -> bool:
    """Whether the connection is gone, and not merely a statement refused."""
    return error.sqlstate is None or error.sqlstate.startswith(_GONE)


def told(error: psycopg.OperationalError, lost: str, refused: str) -> BulkError:
    """What it was: ClaimLost behind ``lost`` where the connection ended, else BulkError behind ``refused``.

    ClaimLost too where PostgreSQL rolled back for others' sake (class 40, a deadlock), which may be tried
    again, and where the runtime says that there is no such claim (55006).
    """
    text = first_line(error)
    if has_ended(error):
        return ClaimLost(f"{lost}: {text}")
    state = error.sqlstate or ""
    sentence = f"{refused}: {text} (SQLSTATE {state})"
    if state.startswith("40") or state == "55006":
        return ClaimLost(sentence, hint_of(error))
    return BulkError(sentence, hint_of(error))


def explain(error: Exception) -> str:
    """The line of a Spark or Python error that tells what happened: Spark wraps a worker's traceback."""
    from py4j.protocol import Py4JError, Py4JNetworkError

    if isinstance(error, (ConnectionError, Py4JNetworkError)) and _came_from(error, "py4j"):
        return _dead_jvm()
    cause = getattr(error, "java_exception", None)
    try:
        text = str(error)  # asks the JVM, too
        if cause is None and (origin := getattr(error, "_origin", None)) is not None:
            cause = origin.getCause()  # PySpark has made an error of its own of it, and says nothing of this
        # What the driver says of the matter tells more than why it came to that.
        while (
            cause is not None
            and cause.getCause() is not None
            and not cause.toString().startswith("org.postgresql.")
        ):
            if dead := re.search(r"Python worker exited unexpectedly \(crashed\)(: .+)?", cause.toString()):
                # Its own cause is that nothing more came from it.
                return _DEAD_WORKER + (dead[1] or "")
            cause = cause.getCause()
        if cause is not None:
            text = f"{cause.toString()}\n{text}"
    except (Py4JError, OSError):
        return _dead_jvm()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # The last line of a Python traceback inside, whatever the error is called:
    # psycopg.errors.UndefinedColumn, SystemExit.
    # One that was raised without a word has its name alone: AssertionError.
    own: list[str] = re.findall(
        r"Traceback \(most recent.*\n(?:[ \t].*\n)+([A-Za-z_][\w.]*(?:: .*)?)$", text, re.M
    )
    own = own or [line for line in lines if re.match(r"^(\w+\.)*\w*(Error|Exception|Warning)\b: ", line)]
    if own and type(error).__module__.startswith(("pyspark", "py4j")):
        return own[-1]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def _dead_jvm() -> str:
    """What is known of Spark's JVM, which answers no more."""
    from pyspark import SparkContext

    # None where spark-submit has started us, and not we it.
    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return "Spark's JVM has ended"
    try:
        status = process.wait(2)
    except subprocess.TimeoutExpired:
        return "Spark's JVM does not answer"
    if status == _OUT_OF_MEMORY:
        return "Spark's JVM had too little memory: --conf spark.driver.memory=4g"
    # Java ends by itself after the signals that ask for it, with such a status.
    number = -status if status < 0 else status - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"Spark's JVM has ended with the exit status {status}; what it said stands above"
    if name == "SIGKILL":
        return f"Spark's JVM was killed ({name}), as where the machine's memory runs out"
    if name in ("SIGTERM", "SIGINT", "SIGHUP"):
        return f"Spark's JVM was stopped ({name})"
    return f"Spark's JVM has crashed ({name}); what it said stands above"


def _came_from(error: BaseException, package: str) -> bool:
    """Whether a module of the package raised it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and str(frames[-1].f_globals.get("__name__", "")).partition(".")[0] == package


def first_line(error: psycopg.Error) -> str:
    """The message of a PostgreSQL error without its context; the error's name where it has none."""
    said = (error.diag.message_primary or str(error)).strip()
    return said.splitlines()[0] if said else type(error).__name__


def breaks_policy(error: psycopg.Error) -> bool:
    """Whether a policy of the table (row-level security) refuses the row.

    PostgreSQL calls that by the number of a right that is missing, in words of the server's language.
    """
    return error.diag.source_function == "ExecWithCheckOptions"


def hint_of(error: psycopg.Error) -> str | None:
    """The hint of a PostgreSQL error, or what helps against its kind."""
    state = error.sqlstate or ""
    if breaks_policy(error):
        return error.diag.message_hint
    if state == "S0229" and not first_line(error).startswith("The RECEIVE "):
        # Of a table, which no right to receive helps.
        state = "42501"
    return error.diag.message_hint or help_for(state)


def help_for(state: str) -> str | None:
    """What helps against errors of this SQLSTATE."""
    return _HELP.get(state) or _HELP.get(state[:2])
