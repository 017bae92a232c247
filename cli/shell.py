"""pgsb shell: an interactive prompt with history, completion and GO."""

import io
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import platformdirs
import psycopg
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from .. import __version__
from ..grammar.lexer import lex
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..server.connect import describe, find_target
from ..server.render import Renderer
from .options import compile_options, dsn_option
from .run import Runner, compile_settings, make_renderer, open_database

_OPEN_STRING, _OPEN_COMMENT = 105, 113
_GO = re.compile(r"\s*go(\s+\d+)?\s*(--.*)?", re.IGNORECASE)
_HELP = """\
GO [n]      run what was typed since the last GO, n times
:help       this
:list       show what was typed since the last GO
:reset      forget it
:r FILE     read a script: its lines are taken as if typed
:quit       leave (also: quit, exit, Ctrl-D)
Ctrl-C      forget the line, or cancel the running batch"""

_KEYWORDS = """
    ALTER AUTHORIZATION BEGIN CATCH CONVERSATION TIMER DIALOG TRANSACTION TRY BROKER PRIORITY CAST
    CLEANUP COMMIT CONTRACT CREATE CURRENT DATABASE DECLARE DELETE DESCRIPTION DROP ELSE EMPTY
    ENCRYPTION END ERROR EVENT NOTIFICATION EXEC EXECUTE FROM GET GROUP GO GRANT IF INITIATOR INSERT
    INTO LIFETIME MESSAGE TYPE MOVE NONE NVARCHAR(MAX) ON PRINT PROCEDURE QUEUE RECEIVE
    RELATED_CONVERSATION RELATED_CONVERSATION_GROUP REMOTE SERVICE BINDING RETENTION ROLLBACK ROUTE
    SCHEMA COLLECTION SELECT SEND SENT BY SET STATUS TABLE TARGET TIMEOUT TOP UNIQUEIDENTIFIER
    UPDATE USE VALIDATION VALID_XML VALUES VARBINARY(MAX) WAITFOR WELL_FORMED_XML WHERE WHILE WITH
    XML
""".split()
# Queues, tables and views of scripts under their PostgreSQL names; Service Broker's names as they are.
_NAMES = """
    SELECT relname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'v', 'p') AND n.nspname NOT IN
           ('pg_catalog', 'information_schema', 'ssb', 'ssb_internal')
       AND n.nspname !~ '^pg_'
    UNION SELECT name FROM sys.services
    UNION SELECT name FROM sys.service_contracts
    UNION SELECT name FROM sys.service_message_types
    UNION SELECT name FROM sys.databases
"""


class _Words(Completer):
    """Completes the word before the cursor: keywords, and the names of the database."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._names: list[str] | None = None

    def forget(self) -> None:
        """Names may have changed."""
        self._names = None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        word = document.get_word_before_cursor(pattern=re.compile(r"[^\s,;()=\[\]'\"]+"))
        if not word:
            return
        if self._names is None:
            self._names = self._load()
        for candidate in (*_KEYWORDS, *self._names):
            if candidate.lower().startswith(word.lower()):
                yield Completion(candidate, start_position=-len(word))

    def _load(self) -> list[str]:
        try:
            return sorted(row[0] for row in self._connection.execute(_NAMES))
        except psycopg.Error:
            # Inside a transaction that failed, say: then without names.
            return []


class Shell:
    """Takes lines, runs batches at GO. ``line`` says whether to go on."""

    def __init__(self, runner: Runner, renderer: Renderer) -> None:
        self._runner = runner
        self._renderer = renderer
        self._lines: list[str] = []
        self.failed = False

    @property
    def prompt(self) -> str:
        """The number of the line to come, as sqlcmd shows it; a star while a transaction is open."""
        return f"{len(self._lines) + 1}{'*' if self.depth else ''}> "

    @property
    def depth(self) -> int:
        """@@TRANCOUNT."""
        return self._runner.depth

    def end_transaction(self, word: str) -> None:
        """COMMIT or ROLLBACK the open transaction, however deep it is nested."""
        self._lines = [f"WHILE @@TRANCOUNT > 0 {word}"]
        self._run()

    def line(self, text: str) -> bool:
        """Take one line; False when it asks to leave."""
        word = text.strip().rstrip(";").lower()
        if word in (":quit", ":exit", "quit", "exit") and (word[0] == ":" or not self._lines):
            return False
        if word.startswith(":"):
            self._directive(text.strip())
        elif _GO.fullmatch(text) and not self._inside_literal():
            self._lines.append(text)
            self._run()
        else:
            self._lines.append(text)
        return True

    def _inside_literal(self) -> bool:
        """Whether a string or comment is still open: GO is a part of it then."""
        problems = Problems()
        for _ in lex(Source("<shell>", "\n".join(self._lines)), problems):
            pass
        return any(problem.number in (_OPEN_STRING, _OPEN_COMMENT) for problem in problems)

    def reset(self) -> None:
        """Forget what was typed since the last GO."""
        self._lines.clear()

    def finish(self) -> None:
        """At the end of a file that is not closed by GO, as sqlcmd does: run the rest."""
        if any(line.strip() for line in self._lines):
            self._run()

    def _directive(self, text: str) -> None:
        name, _, argument = text[1:].partition(" ")
        match name.lower():
            case "help":
                click.echo(_HELP)
            case "reset":
                self.reset()
            case "list":
                click.echo("\n".join(self._lines))
            case "r" if argument.strip():
                self._read(Path(argument.strip().strip('"')))
            case _:
                click.echo(f"unknown directive {text!r}; :help shows them", err=True)

    def _read(self, path: Path) -> None:
        try:
            source = Source.read(path)
        except OSError as error:
            click.echo(f"cannot read {path}: {error.strerror}", err=True)
            return
        for line in source.text.splitlines():
            if not self.line(line):
                break

    def _run(self) -> None:
        source = Source("<shell>", "\n".join(self._lines) + "\n")
        self._lines.clear()
        self.failed = not self._runner.run(source) or self.failed
        self._renderer.close()


@click.command("shell")
@dsn_option
@compile_options
def shell_command(dsn: str | None, database: str | None, collation: str) -> None:
    """Type T-SQL at a prompt; GO runs it. :help shows what else can be typed."""
    target = find_target(dsn)
    with open_database(target, database) as connection:
        renderer = make_renderer("table")
        runner = Runner(
            connection, compile_settings(connection, database, collation), renderer, interactive=True
        )
        shell = Shell(runner, renderer)
        if sys.stdin.isatty():
            click.echo(f"pgsb {__version__} on {describe(target)}; GO runs, :help helps, :quit leaves")
            _interact(connection, shell, PromptSession(history=_history()))
            runner.close()
            return
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        for line in sys.stdin:
            if not shell.line(line.rstrip("\n")):
                break
        else:
            shell.finish()
        if shell.depth:
            click.echo("the transaction that was left open is rolled back", err=True)
        runner.close()
    click.get_current_context().exit(1 if shell.failed else 0)


def _interact(connection: psycopg.Connection[Any], shell: Shell, prompt: PromptSession[str]) -> None:
    """Read lines from a terminal until :quit or Ctrl-D."""
    words = _Words(connection)
    while not connection.closed:
        try:
            text = prompt.prompt(shell.prompt, completer=words, auto_suggest=AutoSuggestFromHistory())
        except KeyboardInterrupt:
            shell.reset()
            continue
        except EOFError:
            if _may_leave(shell, prompt):
                return
            continue
        try:
            if not shell.line(text) and _may_leave(shell, prompt):
                return
        except KeyboardInterrupt:
            shell.reset()
            click.echo("canceled", err=True)
        words.forget()
    click.echo("the connection to the server is lost", err=True)


def _may_leave(shell: Shell, prompt: PromptSession[str]) -> bool:
    """With a transaction open, ask what becomes of it; False to stay."""
    if not shell.depth:
        return True
    while True:
        try:
            answer = prompt.prompt("A transaction is open: commit, rollback or stay? [stay] ").strip().lower()
        except (KeyboardInterrupt, EOFError):
            return False
        if not answer or "stay".startswith(answer):
            return False
        for word in ("commit", "rollback"):
            if word.startswith(answer):
                shell.end_transaction(word.upper())
                return not shell.depth


def _history() -> History:
    """The lines of earlier sessions; without a writable place for them, of this one only."""
    path = Path(platformdirs.user_state_dir("pgsb")) / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
