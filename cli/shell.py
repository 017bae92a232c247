"""pgsb shell: an interactive prompt with history, completion and GO."""

import io
import os
import shutil
import sys

import click
import psycopg

from .. import __version__
from ..server.connect import Target, describe, find_target
from ..server.problems import ServerError
from .options import compile_options, dsn_option
from .run import Runner, compile_settings, open_database, wants_color
from .shell_batches import Shell
from .shell_output import ShellRenderer, usual_pager


@click.command("shell")
@dsn_option
@compile_options
def shell_command(dsn: str | None, database: str | None, collation: str) -> None:
    """Type T-SQL at a prompt; GO runs it. :help shows what else can be typed."""
    target = find_target(dsn)
    typed = sys.stdin.isatty()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    renderer = ShellRenderer(sys.stdout, color=wants_color(), size=_size, pager=usual_pager())
    opened: list[psycopg.Connection[tuple[object, ...]]] = []

    def connected(to: Target, begin_in: str | None) -> Runner:
        connection = open_database(to, begin_in)
        opened.append(connection)
        settings = compile_settings(connection, begin_in, collation)
        return Runner(connection, settings, renderer, interactive=True)

    def reconnect(other: str) -> Runner:
        runner = connected(Target(other, False, ":connect"), None)
        opened.pop(0).close()
        shell.target = Target(other, False, ":connect")
        return runner

    try:
        shell = Shell(connected(target, database), renderer, target=target, reconnect=reconnect, typed=typed)
        if typed:
            _type(shell)
        else:
            _read(shell)
        shell.runner.close()
    finally:
        renderer.close()
        for connection in opened:
            connection.close()
    click.get_current_context().exit(shell.status or (1 if shell.failed and not typed else 0))


def _type(shell: Shell) -> None:
    """Prompt until the user leaves."""
    try:
        # Loaded for who types: a script in a pipe needs nothing of it.
        from .shell_prompt import interact, new_prompt
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "prompt_toolkit":
            raise
        raise ServerError(
            "the prompt needs prompt_toolkit, which is not installed",
            hint="pip install 'pg-service-broker[shell]'; without it: pgsb run FILE, pgsb shell < FILE",
        ) from None
    click.echo(f"pgsb {__version__} on {describe(shell.target)}; GO runs, :help helps, :quit leaves")
    interact(shell, new_prompt())


def _read(shell: Shell) -> None:
    """Take the lines of a pipe or file."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    for line in sys.stdin:
        if not shell.line(line.rstrip("\n")):
            break
    else:
        shell.finish()
    if shell.depth:
        click.echo("the transaction that was left open is rolled back", err=True)


def _size() -> os.terminal_size | None:
    return shutil.get_terminal_size() if sys.stdout.isatty() else None
