"""pgsb sqlcmd: `pgsb run` with sqlcmd's own letters, for scripts and schedules that call sqlcmd."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import click
import psycopg
from psycopg.conninfo import make_conninfo

from .options import F, Seconds, variables_option
from .run import run_command

# What needs no answer here, and what does: letter → sentence, None for what is done anyway.
_TAKEN = {
    "E": "the role is that of the DSN or the PG* variables",
    "C": None,
    "I": None,
    "j": None,
    "k": None,
    "M": "libpq tries every address of a host",
    "N": "TLS is chosen in the DSN: sslmode=require",
    "u": "output is UTF-8",
}
_WITH_VALUE = {
    "a": None,
    "f": "scripts tell their encoding themselves; output is UTF-8",
    "H": None,
    "K": "a replica is chosen in the DSN: target_session_attrs=read-only",
    "l": "the time to connect is chosen in the DSN: connect_timeout=10",
    "m": "errors of every severity are shown",
    "V": "the exit status is 1 from severity 11 on",
    "y": "columns are as wide as their values",
    "Y": "columns are as wide as their values",
}
_REFUSED = {
    "A": "there is no administrator's connection of its own",
    "c": "a batch ends with GO",
    "D": "data sources are services of PostgreSQL: -S service=NAME",
    "F": "pgsb run --format json and csv are the others",
    "g": "columns are not encrypted by the driver",
    "G": "who logs in is checked by pg_hba.conf",
    "L": "servers are not listed; name one with -S",
    "p": "there are no statistics of the network",
    "R": "numbers and dates are written the same everywhere",
    "x": "a script without -v and without directives keeps $(…) as it is",
    "X": "commands of the operating system are never run",
    "z": "passwords are changed with ALTER ROLE",
    "Z": "passwords are changed with ALTER ROLE",
}


def _ignored(letters: Mapping[str, str | None], *, value: bool) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for letter, sentence in reversed(list(letters.items())):
            function = click.option(
                f"-{letter}",
                f"ignored_{'value' if value else 'flag'}_{ord(letter)}",
                is_flag=not value,
                default=None if value else False,
                hidden=sentence is None,
                help=f"Taken, and changes nothing: {sentence}." if sentence else None,
            )(function)
        return function

    return decorate


class _Letters(click.Command):
    """Says why a letter of sqlcmd is not here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, but a refused letter has its reason."""
        for argument in args:
            reason = _REFUSED.get(argument[1:2]) if argument[:1] == "-" and argument[:2] != "--" else None
            if reason is not None:
                ctx.fail(f"-{argument[1]} is not here: {reason}")
        return super().parse_args(ctx, args)


@click.command("sqlcmd", cls=_Letters, context_settings={"help_option_names": ["-?", "--help"]})
@click.option("-S", "server", metavar="HOST[,PORT]", help="The PostgreSQL server; a DSN is taken, too.")
@click.option("-d", "database", metavar="NAME", help="The PostgreSQL database.")
@click.option("-U", "user", metavar="NAME", help="The role.")
@click.option("-P", "password", metavar="TEXT", help="Its password; better PGPASSWORD.")
@click.option("-i", "inputs", multiple=True, metavar="FILE", help="A script; several with commas.")
@click.option("-Q", "queries", multiple=True, metavar="TEXT", help="Run this text and leave.")
@click.option("-q", "first", multiple=True, metavar="TEXT", help="The same; for a prompt: pgsb shell.")
@click.option("-o", "output", default="-", metavar="FILE", help="Write results and messages there.")
@click.option("-b", "stops", is_flag=True, help="Stop at the first batch with an error.")
@click.option("-e", "echo", is_flag=True, help="Write each batch before what it gives.")
@click.option("-h", "headers", type=int, default=0, metavar="ROWS", help="Names again after ROWS; -1: never.")
@click.option("-s", "separator", default=" ", metavar="TEXT", help="Between columns.")
@click.option("-W", "trim", is_flag=True, help="Columns without padding.")
@click.option("-w", "width", type=click.IntRange(1), metavar="COLUMNS", help="Break lines there.")
@click.option("-t", "timeout", type=Seconds(0), metavar="SECONDS", help="Cancel what runs longer.")
@click.option("-r", "-r0", "-r1", "_errors", is_flag=True, hidden=True)
@_ignored(_TAKEN, value=False)
@_ignored(_WITH_VALUE, value=True)
@variables_option
@click.pass_context
def sqlcmd_command(
    ctx: click.Context,
    /,
    server: str | None,
    database: str | None,
    user: str | None,
    password: str | None,
    inputs: tuple[str, ...],
    queries: tuple[str, ...],
    first: tuple[str, ...],
    **options: Any,
) -> None:
    """Run scripts with the options of sqlcmd. Without -i and -Q the script comes from stdin.

    -d names the PostgreSQL database; the T-SQL database to begin in is the one of the same name, or
    what USE says.
    """
    scripts = tuple(name for given in inputs for name in given.split(",") if name)
    texts = (*first, *queries)
    kept = {name: value for name, value in options.items() if not name.startswith(("ignored_", "_"))}
    ctx.invoke(
        run_command,
        scripts=scripts if scripts or texts else ("-",),
        queries=texts,
        dsn=_dsn(server, database, user, password),
        collation="cs",
        form="table",
        on_error="continue",
        **kept,
    )


def _dsn(server: str | None, database: str | None, user: str | None, password: str | None) -> str | None:
    """The DSN that sqlcmd's letters come to; None where they leave it to the environment."""
    password = password or (os.environ.get("SQLCMDPASSWORD") if user else None)
    words = {"dbname": database, "user": user, "password": password}
    given = {name: value for name, value in words.items() if value}
    if server is None:
        return make_conninfo("", **given) if given else None
    if "://" in server or "=" in server:
        try:
            return make_conninfo(server, **given)
        except psycopg.ProgrammingError:
            # libpq's words repeat the piece that it cannot read, perhaps half a password.
            raise click.UsageError("cannot read the connection string of -S") from None
    host, _, port = server.removeprefix("tcp:").partition(",")
    if host in (".", "(local)"):
        host = "localhost"
    if "\\" in host:
        raise click.UsageError(f"-S {server}: PostgreSQL has no named instances; they are ports: HOST,PORT")
    return make_conninfo("", host=host, **({"port": port} if port else {}), **given)
