"""pgsb sqlcmd: `pgsb run` with sqlcmd's own letters, for scripts and schedules that call sqlcmd."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import click
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ..server.connect import Target, find_target
from .options import UNCHECKED_PATH, F, Seconds, not_empty, variables_option
from .run import run_command

# What needs no answer here, and what does: letter → sentence, None for what is done anyway.
_TAKEN = {
    "E": "the role is that of the DSN or the PG* variables",
    "C": None,
    "I": None,
    "j": None,
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
                help=f"Accepted and ignored: {sentence}." if sentence else None,
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
        return super().parse_args(ctx, list(_each_variable(args)))


def _each_variable(arguments: list[str]) -> Iterator[str]:
    """One -v is for all the variables behind it: ``-v A=1 B=2``."""
    before = ""
    of_variables = False
    for argument in arguments:
        if before != "-v":
            if of_variables and re.match(r"[A-Za-z_][\w-]*=", argument):
                yield "-v"
            else:
                of_variables = argument.startswith("-v")
        yield argument
        before = argument


@click.command("sqlcmd", cls=_Letters, context_settings={"help_option_names": ["-?", "--help"]})
@click.option(
    "-S",
    "server",
    metavar="HOST[,PORT]",
    callback=not_empty,
    help="The PostgreSQL server; a DSN is taken, too.",
)
@click.option("-d", "database", metavar="NAME", callback=not_empty, help="The database: see above.")
@click.option("-U", "user", metavar="NAME", callback=not_empty, help="The role.")
@click.option("-P", "password", metavar="TEXT", help="Its password; better PGPASSWORD.")
@click.option(
    "-i",
    "inputs",
    multiple=True,
    metavar="FILE",
    type=UNCHECKED_PATH,
    help="A script; several with commas.",
)
@click.option("-Q", "queries", multiple=True, metavar="TEXT", help="Run this text and leave.")
@click.option("-q", "first", multiple=True, metavar="TEXT", help="The same; for a prompt: pgsb shell.")
@click.option(
    "-o", "output", default="-", metavar="FILE", type=UNCHECKED_PATH, help="Write results and messages there."
)
@click.option("-b", "stops", is_flag=True, help="Stop at the first batch with an error.")
@click.option("-e", "echo", is_flag=True, help="Write each batch before what it gives.")
@click.option(
    "-h", "headers", type=int, default=0, metavar="ROWS", help="Repeat names after so many rows; -1: none."
)
@click.option("-s", "separator", default=" ", metavar="TEXT", help="Between columns.")
@click.option("-W", "trim", is_flag=True, help="Columns without padding.")
@click.option("-w", "width", type=click.IntRange(1), metavar="COLUMNS", help="Break lines at this width.")
@click.option("-t", "timeout", type=Seconds(0), metavar="SECONDS", help="Cancel what runs longer.")
@click.option("-r", "-r0", "-r1", "_errors", is_flag=True, hidden=True)
@click.option("-k", "-k1", "-k2", "_control", is_flag=True, hidden=True)
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

    -d is the T-SQL database to begin in, where the PostgreSQL database is named otherwise: by a DSN of -S,
    DATABASE_URL, PGDATABASE, or as the private server's. Else it is the PostgreSQL database, in which the
    T-SQL database of the same name is the one to begin in.
    """
    scripts = tuple(name for given in inputs for name in given.split(",") if name)
    texts = (*first, *queries)
    kept = {name: value for name, value in options.items() if not name.startswith(("ignored_", "_"))}
    target = _target(server, user, password)
    if database and not _names_database(target):
        target, database = _with(target, dbname=database), None
    ctx.invoke(
        run_command,
        scripts=scripts if scripts or texts else ("-",),
        queries=texts,
        dsn=target,
        database=database or None,
        collation="cs",
        form="table",
        on_error="continue",
        **kept,
    )


def _target(server: str | None, user: str | None, password: str | None) -> Target:
    """The server that -S names, else the environment, else the private one, with the login of -U and -P."""
    password = password or (os.environ.get("SQLCMDPASSWORD") if user else None)
    login = {name: value for name, value in (("user", user), ("password", password)) if value}
    if server is None:
        return _with(find_target(), **login)
    if "://" in server or "=" in server:
        return _with(Target(server, False, "-S"), **login)
    host, _, port = server.removeprefix("tcp:").partition(",")
    if host in (".", "(local)"):
        host = "localhost"
    if "\\" in host:
        raise click.UsageError(f"-S {server}: PostgreSQL has no named instances; they are ports: HOST,PORT")
    if port and not (port.isascii() and port.isdigit()):
        raise click.UsageError(f"-S {server}: a port is a number: HOST,PORT")
    if host.count(":") == 1:  # an address of IPv6 has more
        raise click.UsageError(f"-S {server}: the port stands behind a comma: HOST,PORT")
    return Target(make_conninfo("", host=host, **({"port": port} if port else {}), **login), False, "-S")


def _with(target: Target, **words: str) -> Target:
    try:
        return replace(target, dsn=make_conninfo(target.dsn, **words))
    except psycopg.ProgrammingError:
        # libpq's words repeat the piece that it cannot read, perhaps half a password.
        raise click.UsageError(f"cannot read the connection string of {target.source}") from None


def _names_database(target: Target) -> bool:
    return "dbname" in conninfo_to_dict(target.dsn) or bool(
        target.source != "-S" and os.environ.get("PGDATABASE")
    )
