"""Options that several commands share."""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..server.problems import ServerError

F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V", str, str | None, tuple[str, ...])


class NamedPath(click.Path):
    """A path that has a name. An empty one, of a shell's variable that is not set, would be this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is empty; the rest is click's."""
        if not os.fspath(value):
            self.fail("the name is empty: is a variable of the shell not set?", param, ctx)
        return super().convert(value, param, ctx)


UNCHECKED_PATH = NamedPath(allow_dash=True, readable=False)
"""A file, a folder or ``-`` as it was typed: who opens it finds it. Shells complete names of files."""


class Seconds(click.FloatRange):
    """A time in seconds, short enough for PostgreSQL's settings in milliseconds: under 25 days."""

    MOST = 2_147_483

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse what is no time besides: nan compares with nothing, and would wait for ever."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds) or seconds > self.MOST:
            self.fail(f"{value} is no number of seconds up to {self.MOST:,}.", param, ctx)
        return seconds


def dsn_option(function: F) -> F:
    """``--dsn``."""
    return click.option(
        "--dsn",
        metavar="DSN",
        callback=not_empty,
        help="PostgreSQL to use: postgresql://… or key=value words. "
        "Default: DATABASE_URL, the PG* variables, or a private server.",
    )(function)


def not_empty(_ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """Refuse ``--dsn ""``: a variable of the shell that is not set must not lead to another server."""
    if given is not None and not given.strip():
        raise click.BadParameter(
            "it is empty; left out it is DATABASE_URL, the PG* variables or a private server"
            if param.name == "dsn"
            else "it is empty"
        )
    return given


def checked_by(read: Callable[[str], object]) -> Callable[[click.Context, click.Parameter, V], V]:
    """A callback for values that ``read`` reads: what it raises ServerError for is wrong usage."""

    def check(_ctx: click.Context, _param: click.Parameter, given: V) -> V:
        for one in (given,) if isinstance(given, str) else given or ():
            try:
                read(one)
            except ServerError as error:
                raise click.BadParameter(f"{error}: {error.hint}" if error.hint else str(error)) from None
        return given

    return check


def _parse_address(text: str) -> object:
    # The daemon is loaded for those who say where other instances are.
    from ..daemon.config import parse_address

    return parse_address(text)


def addresses_options(function: F) -> F:
    """``--address`` and ``--addresses``: where other instances are."""
    function = click.option(
        "--addresses",
        "address_files",
        multiple=True,
        metavar="FILE",
        type=NamedPath(exists=True, dir_okay=False, path_type=Path),
        help="The same from the table [addresses] of a TOML file. Default: that of PGSB_ADDRESSES.",
    )(function)
    return click.option(
        "--address",
        "addresses",
        multiple=True,
        metavar="TCP://HOST:PORT=DSN",
        callback=checked_by(_parse_address),
        help="The PostgreSQL database of the instance that routes name by this address.",
    )(function)


def compile_options(function: F) -> F:
    """``-d`` and ``--collation``: what the compiler must know beside the text."""
    function = click.option(
        "--collation",
        type=click.Choice(["cs", "ci"]),
        default="cs",
        show_default=True,
        help="How = compares strings: case-sensitive as PostgreSQL does, or case-insensitive and "
        "ignoring trailing blanks as SQL Server does by default.",
    )(function)
    return click.option(
        "-d",
        "--database",
        metavar="TSQLDB",
        callback=not_empty,
        help="T-SQL database to begin in, as after USE. Default: the one named like the PostgreSQL database.",
    )(function)


def variables_option(function: F) -> F:
    """``-v NAME=VALUE``, collected to a dict."""
    return click.option(
        "-v",
        "--variable",
        "variables",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_split_variables,
        help="Value of $(NAME) in the scripts; may be repeated.",
    )(function)


def _split_variables(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    variables = {}
    for one in given:
        name, separator, value = one.partition("=")
        if not separator or re.fullmatch(r"[A-Za-z_][\w-]*", name) is None:
            raise click.BadParameter(f"{one!r} is not NAME=VALUE")
        variables[name] = value
    return variables
