"""pgsb run: scripts on a server, batch by batch."""

import contextlib
import dataclasses
import io
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
import psycopg

from ..compiler.catalog.names import fold
from ..compiler.compiled import CompiledBatch, CompileOptions
from ..compiler.session import CompileSession
from ..grammar.problems import Problems
from ..grammar.records import replace
from ..grammar.source import Source
from ..runtime_sql import installer
from ..server.connect import (
    Target,
    connect,
    find_target,
    no_runtime,
    older_runtime,
    opening,
    require_daemon,
    require_owner,
)
from ..server.execute import Executor, error_event
from ..server.key_statements import KeyAnswerer
from ..server.learn import Knowledge
from ..server.problems import ServerError
from ..server.render import CsvRenderer, JsonRenderer, Layout, Redirection, Renderer, TableRenderer
from ..server.results import ErrorEvent, Event, Print
from ..server.translate import Translator
from .options import (
    UNCHECKED_PATH,
    NamedPath,
    Seconds,
    addresses_options,
    compile_options,
    dsn_option,
    variables_option,
)
from .progress import counted, progress_bar
from .scripts import count_batches, keep_scripts, read_script
from .sqlcmd import Script, compose

if TYPE_CHECKING:
    from ..daemon.embedded import EmbeddedBroker


# What sqlcmd's letters are here, where they are not the same.
_LETTERS = {
    "S": "--dsn",
    "U": "--dsn",
    "E": "--dsn",
    "P": "PGPASSWORD",
    "h": "--headers",
    **dict.fromkeys("aACcDfFgGHIjkKlLmMNpRruVxXyYzZ"),
}
_ROWS = re.compile(r"-?\d+")
# The state with which RAISERROR ends a script of sqlcmd's.
_QUITS = 127
# From this severity on an error ends the connection.
_FATAL = 20
# A daemon that has just ended has left by then: who stands by has looked twice.
_BEHIND_SECONDS = 1.2


class _Command(click.Command):
    """Says of a letter that sqlcmd has what it is here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; -h before a number is sqlcmd's, not the help."""
        for option, value in itertools.pairwise(args):
            if option == "-h" and _ROWS.fullmatch(value):
                self._refuse(ctx, "h")
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name[1:] in _LETTERS:
                self._refuse(ctx, error.option_name[1:])
            raise

    def _refuse(self, ctx: click.Context, letter: str) -> None:
        here = _LETTERS[letter]
        ctx.fail(
            f"-{letter} is a letter of sqlcmd; here it is {here}. pgsb sqlcmd takes sqlcmd's letters"
            if here
            else f"-{letter} is a letter of sqlcmd: pgsb sqlcmd takes it, or says why not"
        )


@click.command("run", cls=_Command)
@click.argument("scripts", nargs=-1, metavar="SCRIPT...", type=UNCHECKED_PATH)
@dsn_option
@compile_options
@variables_option
@click.option(
    "-i",
    "--input",
    "inputs",
    multiple=True,
    metavar="FILE",
    type=UNCHECKED_PATH,
    help="A script, as an argument is.",
)
@click.option(
    "-Q",
    "-q",
    "--query",
    "queries",
    multiple=True,
    metavar="TEXT",
    help="Run this text instead of a file. May be repeated: one batch each.",
)
@click.option(
    "-o",
    "--output",
    type=NamedPath(dir_okay=False, allow_dash=True),
    default="-",
    help="Write results and messages into this file instead of to stdout.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="table: as SQL Server Management Studio's text output. json: one object a line. "
    "csv: result sets only, messages on stderr.",
)
@click.option(
    "--on-error",
    type=click.Choice(["continue", "stop"]),
    default="continue",
    show_default=True,
    help="After a batch with an error: run the next one, or stop.",
)
@click.option("-b", "stops", is_flag=True, help="The same as --on-error stop, as in sqlcmd.")
@click.option("-e", "--echo", is_flag=True, help="Write each batch before what it gives.")
@click.option(
    "--headers",
    type=int,
    default=0,
    metavar="ROWS",
    help="Repeat column names after so many rows; -1: no column names.",
)
@click.option("-s", "--separator", default=" ", metavar="TEXT", help="Text between the columns of a table.")
@click.option("-W", "--trim", is_flag=True, help="Columns of a table without padding.")
@click.option(
    "-w", "--width", type=click.IntRange(1), metavar="COLUMNS", help="Break lines of a table at this width."
)
@click.option(
    "-t",
    "--timeout",
    type=Seconds(0),
    metavar="SECONDS",
    help="Cancel a statement that runs longer.",
)
@click.option(
    "--activate",
    is_flag=True,
    help="Run the activation daemon for the length of the scripts; what programs print goes to stderr.",
)
@click.option(
    "--settle",
    type=Seconds(0),
    metavar="SECONDS",
    help="With --activate: at the end, wait at most this long until no message waits in an activated queue "
    "and no program is at work.  [default: 10]",
)
@addresses_options
def run_command(
    scripts: tuple[str, ...],
    inputs: tuple[str, ...],
    queries: tuple[str, ...],
    dsn: str | Target | None,
    database: str | None,
    collation: str,
    variables: dict[str, str],
    output: str,
    form: str,
    on_error: str,
    stops: bool,
    echo: bool,
    headers: int,
    separator: str,
    trim: bool,
    width: int | None,
    timeout: float | None,
    activate: bool,
    settle: float | None,
    addresses: tuple[str, ...],
    address_files: tuple[Path, ...],
) -> None:
    """Run T-SQL scripts; - is stdin.

    Exit status 1 when a batch had an error of severity above 10.
    """
    if settle is not None and not activate:
        raise click.UsageError("--settle needs --activate")
    if (addresses or address_files) and not activate:
        raise click.UsageError("--address and --addresses need --activate")
    if not (scripts or inputs or queries):
        raise click.UsageError('a script is missing: pgsb run orders.sql, pgsb run -Q "SELECT 1", pgsb run -')
    problems = Problems()
    files: set[Path] = set()
    read = [
        read_script(name, variables, problems, environment=os.environ, files=files)
        for name in (*scripts, *inputs)
    ]
    read += [
        compose(Source("<query>", text), variables, problems, environment=os.environ) for text in queries
    ]
    for one in (output, *(one.file for script in read for one in script.outputs)):
        keep_scripts([one], [*scripts, *inputs, *files])
    problems.raise_if_any()
    target = dsn if isinstance(dsn, Target) else find_target(dsn)
    layout = Layout(headers, separator, trim, width)
    failed, started = False, 0
    with (
        open_database(target, database) as connection,
        activation(connection, target, activate, addresses, address_files) as broker,
        # Behind all that may fail before a batch runs: what the file held until now stays then.
        writing_to(output) as out,
    ):
        renderer = make_renderer(form, out, layout)
        runner = Runner(connection, compile_settings(connection, database, collation), renderer)
        if timeout:  # Not before: what is looked up for the scripts has no limit.
            connection.execute(
                "SELECT pg_catalog.set_config('statement_timeout', %s, false)",
                # Zero would be no limit: the shortest that there is.
                [str(max(1, round(timeout * 1000)))],
            )
        runner.echoes = echo
        try:
            with progress_bar(
                sum(count_batches(script.source) for script in read), "running", out
            ) as advance:
                runner.advance = advance
                for script in read:
                    started += 1
                    succeeded, stopped = runner.run_script(script, stop=stops or on_error == "stop")
                    failed = failed or not succeeded
                    if stopped:
                        break
            if broker is not None and not broker.settle(10.0 if settle is None else settle):
                print("activated programs are still at work", file=sys.stderr)
        finally:
            runner.finish()
        if sys.stderr.isatty():
            left_out = len(read) - started
            click.echo(_summary(started, left_out, runner.batches, runner.failed_batches), err=True)
    click.get_current_context().exit(1 if failed else 0)


def _summary(scripts: int, left_out: int, batches: int, failed: int) -> str:
    """The closing line: what was run, and how much of it failed."""
    wrong = f"{counted(failed, 'batch', 'batches')} with errors" if failed else "no problems"
    rest = f", {counted(left_out, 'script')} left out" if left_out else ""
    return f"{counted(scripts, 'script')}, {counted(batches, 'batch', 'batches')}, {wrong}{rest}"


@contextlib.contextmanager
def writing_to(name: str) -> Iterator[TextIO]:
    """The file for ``-o``, stdout for ``-``."""
    if name == "-":
        yield sys.stdout
        return
    with open(name, "w", encoding="utf-8", newline="\n") as file:
        yield file


@contextlib.contextmanager
def activation(
    connection: psycopg.Connection[Any],
    target: Target,
    wanted: bool,
    addresses: tuple[str, ...] = (),
    address_files: tuple[Path, ...] = (),
) -> Iterator["EmbeddedBroker | None"]:
    """The daemon in a thread, leading before the first statement runs; None when it is not wanted.

    Raises ServerError where the role may not lead, as `pgsb broker` does, and on a standby, where none leads.
    """
    if not wanted:
        yield None
        return
    require_daemon()
    require_owner(connection, target)
    (is_standby,) = connection.execute("SELECT pg_catalog.pg_is_in_recovery()").fetchone() or (False,)
    if is_standby:
        raise ServerError(
            "the server is a standby, on which no service program starts",
            hint="name its primary, or leave --activate out",
        )
    # asyncio and the daemon are loaded for those who ask for them.
    from ..daemon.config import BrokerOptions, find_addresses
    from ..daemon.embedded import EmbeddedBroker
    from ..daemon.log import program_sink

    options = BrokerOptions(target.dsn, grace=2.0, addresses=find_addresses(addresses, address_files))
    with EmbeddedBroker(options, program_sink(sys.stderr)) as broker:
        if not broker.wait_until_leading(5.0, behind=_BEHIND_SECONDS):
            print(
                "another daemon starts service programs here: this one stands by"
                if broker.counts.state == "standing_by"
                else "service programs do not start: the daemon has not begun",
                file=sys.stderr,
            )
        yield broker


class Runner:
    """Compiles and runs scripts one after the other on one connection, as one session."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        options: CompileOptions,
        renderer: Renderer,
        *,
        interactive: bool = False,
    ) -> None:
        self._connection = connection
        self._interactive = interactive
        self.echoes = False
        self.batches = 0
        self.failed_batches = 0
        self.advance: Callable[[str], None] = lambda name: None
        self._redirected = Redirection(renderer.write)
        self._session = CompileSession(options)
        self._only_broker = installer.installed_parts(connection) == "broker"
        self._knowledge = Knowledge(connection, self._session.catalog, follows=interactive)
        self._warned = 0
        self._renderer = renderer
        translator = Translator.of(connection, lambda: self._session.catalog)
        self._quits = False
        self._executor = Executor(
            connection,
            self._write,
            translate=translator,
            use_keys=KeyAnswerer(connection),
            interactive=interactive,
        )

    def _write(self, event: Event) -> None:
        if isinstance(event, ErrorEvent | Print) and event.state == _QUITS:
            self._quits = True
        if isinstance(event, ErrorEvent) and event.severity >= _FATAL and not self._interactive:
            self._quits = True
        if isinstance(event, ErrorEvent) and event.number == 208 and event.hint is None:
            name = event.message.partition("'")[2].rpartition("'")[0]
            event = dataclasses.replace(event, hint=self._knowledge.hint_of_capitals(name))
        self._redirected.write(event)

    @property
    def depth(self) -> int:
        """@@TRANCOUNT between two batches; above 0 a transaction is open, which only a prompt can have."""
        return self._executor.depth

    @property
    def closed(self) -> bool:
        """Whether the connection is lost."""
        return bool(self._connection.closed)

    def current_database(self) -> str | None:
        """The T-SQL database that USE chose; None while a transaction is open, and nobody can ask."""
        if self.depth or self._connection.closed:
            return None
        row = self._connection.execute("SELECT ssb.db_name()").fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        """Leave an open transaction, which is rolled back."""
        self._executor.close()

    def finish(self) -> None:
        """Write what is still held, and close the files of :out and :error."""
        self._renderer.close()
        self._redirected.close()

    def run(self, source: Source) -> bool:
        """Run a text; False when a batch had an error.

        Raises ServerError when the connection breaks.
        """
        return self.run_script(Script(source))[0]

    def run_script(self, script: Script, *, stop: bool = False) -> tuple[bool, bool]:
        """Run a script; tell whether no batch had an error, and whether one of them ended the script.

        ``stop`` leaves out what follows a batch with an error, unless the script itself says what to
        do then. RAISERROR of state 127 does so in any case, whatever its severity, and so does a fatal
        error. Raises ServerError when the connection breaks.
        """
        succeeded = True
        self._quits = False
        database = self._session.catalog.database
        if self._interactive and not self.depth and not self._connection.closed:
            self._knowledge.refresh()
        batches = self._compile(script, stop)
        while (batch := next(batches, None)) is not None:
            self.advance(script.source.name)
            self._warn()
            self._redirected.follow(script.outputs, script.source.line_start(batch.line))
            if self.echoes and batch.span is not None:
                self._redirected.write(Print(batch.span.text.strip("\r\n")))
            failed = False
            if batch.problems:
                if not any(batch is told for told in self._executor.told):
                    refusals = [error_event(problem, batch) for problem in batch.problems]
                    for refusal in refusals:
                        self._redirected.write(refusal)
                    self._executor.keep_refusal(refusals[-1])
                failed = True
            elif self._only_broker and (missing := _missing_parts(batch)) is not None:
                self._redirected.write(missing)
                self._executor.keep_refusal(missing)
                failed = True
            elif not self._executor.run(batch):
                failed = True
            if self._connection.closed:
                raise ServerError("the connection to the server is lost")
            if self._executor.broken_off is not None:
                batches = self._without_transaction(batch, script, batches, stop)
            if self._session.catalog.database != database:
                self._stay()
            database = self._session.catalog.database
            self._settle(failed)
            # Others may make a synonym anew at any time.
            if (batch.calls or self._session.catalog.synonyms) and not self.depth:
                self._knowledge.refresh()
            self.batches += 1
            failed = failed or self._quits
            self.failed_batches += failed
            succeeded = succeeded and not failed
            if self._quits or (failed and script.stop_at(batch.line, stop)):
                return succeeded, True
        return succeeded, False

    def _without_transaction(
        self, batch: CompiledBatch, script: Script, following: Iterator[CompiledBatch], stop: bool
    ) -> Iterator[CompiledBatch]:
        """What follows a batch whose error ended the batches of its transaction with it.

        Those are compiled anew, for they run without the transaction.
        """
        joined = {line for line, _ in batch.joined} | {refused.line for _, refused in batch.refused}
        behind = list(itertools.islice(following, len(joined - {batch.line})))
        reached = self._executor.broken_off or batch.line
        done = [each.span for each in (batch, *behind) if each.span is not None and each.line <= reached]
        left = [each.span for each in behind if each.span is not None and each.line > reached]
        if left:
            # From the GO on, so that the first of them begins where it did.
            rest = script.source.only(done[-1].end, left[-1].end)
            yield from self._compile(replace(script, source=rest), stop)
        yield from following

    def _stay(self) -> None:
        """After a batch with USE, which may have failed or not been reached: where the session is counts."""
        actual = self.current_database()
        if actual is not None:
            self._session.catalog.database = fold(actual)

    def _settle(self, failed: bool) -> None:
        """What follows meets the tables, types and procedures that are there, not what was to be made."""
        if failed:
            self._session.forget_made()
        before = self._session.before
        if before is not None and not self.depth:
            self._session.before = None
            self._knowledge.settle(before, failed=failed)

    def _warn(self) -> None:
        """Write what `pgsb check` warns of and was not written yet: on stderr, results stay as they are."""
        found = self._session.problems.since(self._warned)
        self._warned += len(found)
        for problem in found:
            # One with a number is an error of the server's when it comes to that.
            if problem.severity == "warning" and problem.number is None:
                print(problem, file=sys.stderr)

    def _compile(self, script: Script, stop: bool) -> Iterator[CompiledBatch]:
        # What is wrong at a place is told once a script: the next may be wrong at the same place.
        self._session.problems, self._warned = Problems(), 0
        if self._interactive:
            return self._session.compile_batches(script.source, lambda: self.depth > 0)
        return self._session.compile_script(script.source, stops=lambda line: script.stop_at(line, stop))


def open_database(
    target: Target, database: str | None = None, seconds: float | None = None
) -> psycopg.Connection[Any]:
    """Connect, and see to the runtime: installed by itself on the private server, demanded elsewhere.

    ``database`` is the T-SQL database to begin in; ``seconds`` as for connect. Raises ServerError, also
    where there is none of that name.
    """
    connection = connect(target, seconds)
    with opening(target, connection):
        _require_runtime(connection, target)
        if database is not None:
            try:
                connection.execute("SELECT ssb.use_database(%s)", [database])
            except psycopg.DatabaseError as error:
                raise ServerError(error.diag.message_primary or str(error)) from error
    return connection


def _require_runtime(connection: psycopg.Connection[Any], target: Target) -> None:
    if target.private:
        installer.install(connection)
        return
    installed = installer.installed_version(connection)
    if installed is None:
        installer.require_data(connection)
        raise no_runtime(target)
    if int(installed) < int(installer.RUNTIME_VERSION):
        raise older_runtime(target, installed, installer.RUNTIME_VERSION)


def compile_settings(
    connection: psycopg.Connection[Any], database: str | None, collation: str
) -> CompileOptions:
    """What the compiler is told about the server, and the server about how strings compare."""
    if collation != "cs":
        connection.execute("SELECT pg_catalog.set_config('pgsb.collation', %s, false)", [collation])
    return CompileOptions(
        database=database,
        default_database=connection.info.dbname,
        collation=collation,
        keep_source=True,
    )


def make_renderer(form: str, out: TextIO | None = None, layout: Layout | None = None) -> Renderer:
    """The writer for ``--format``: UTF-8 for programs, a ? for what a terminal does not know for people."""
    out = sys.stdout if out is None else out
    if out is sys.stdout and isinstance(out, io.TextIOWrapper):
        if form == "table":
            out.reconfigure(errors="replace")
        else:
            out.reconfigure(encoding="utf-8")
    if form == "json":
        return JsonRenderer(out)
    if form == "csv":
        return CsvRenderer(out, sys.stderr)
    return TableRenderer(out, color=out is sys.stdout and wants_color(), places=True, layout=layout)


def wants_color() -> bool:
    """Colour is for terminals whose user has not said NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _missing_parts(batch: CompiledBatch) -> ErrorEvent | None:
    """Error 15281 for a batch that calls more than the broker's part of the runtime."""
    if installer.parts_needed(name for one in batch.statements for name in one.names) == "broker":
        return None
    return ErrorEvent(
        number=15281,
        severity=16,
        state=1,
        procedure=None,
        line=1,
        message="The batch needs all parts of the runtime; this database has only the part broker.",
        hint="pgsb install --parts all adds the others. Queues and messages stay.",
    )
