"""Reads scripts: files or stdin, sqlcmd's variables and the directives that set them."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from ..grammar.problems import Problems
from ..grammar.source import Source

_VARIABLE = re.compile(r"\$\(([A-Za-z_][\w-]*)\)")
# A directive of sqlcmd stands alone on its line, the colon first.
_DIRECTIVE = re.compile(
    r"^[ \t]*:(setvar|on[ \t]+error|r|connect|out|error|perftrace|listvar|reset|quit|exit|help|xml)"
    r"\b[ \t]*(.*?)[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SETVAR = re.compile(r'([A-Za-z_][\w-]*)(?:[ \t]+(?:"((?:[^"]|"")*)"|(\S+)))?')


@dataclass(frozen=True)
class Script:
    """One script, its variables replaced. ``stop_on_error`` is what ``:on error`` asks for, or None."""

    source: Source
    stop_on_error: bool | None = None


def read_script(name: str, variables: Mapping[str, str], problems: Problems) -> Script:
    """Read a script by its path, or stdin by the name ``-``.

    Problems with variables are added to ``problems``. Raises click.UsageError for a
    file that cannot be read.
    """
    if name == "-":
        source = Source.from_bytes("<stdin>", sys.stdin.buffer.read())
    else:
        try:
            source = Source.read(Path(name))
        except OSError as error:
            raise click.UsageError(f"cannot read {name}: {error.strerror}") from None
    return substitute(source, variables, problems)


def substitute(source: Source, variables: Mapping[str, str], problems: Problems) -> Script:
    """Replace $(NAME) as sqlcmd does, obeying ``:setvar`` and ``:on error``.

    A value given on the command line wins over ``:setvar``, that over the environment.
    A script with no directive and no value given is left as it is, $(…) included: to
    SQL Server that is ordinary text.
    """
    text = source.text
    if ":" not in text and not variables:
        return Script(source)
    # Pieces between directives, since a variable may change from line to line.
    values = dict(variables)
    stop: bool | None = None
    pieces: list[str] = []
    position, active = 0, bool(variables)
    for match in _DIRECTIVE.finditer(text):
        pieces.append(_replace(source, position, match.start(), values, active, problems))
        position = match.end()
        active = True
        directive = " ".join(match[1].lower().split())
        span = source.span(match.start(), match.end())
        if directive == "setvar":
            setting = _SETVAR.fullmatch(match[2])
            if setting is None:
                problems.add(f"cannot read {match[2]!r} as NAME VALUE", at=span, hint=':setvar name "value"')
            elif setting[1] not in variables:
                quoted, bare = setting[2], setting[3]
                values[setting[1]] = quoted.replace('""', '"') if quoted is not None else bare or ""
        elif directive == "on error" and match[2].lower() in ("exit", "ignore"):
            stop = match[2].lower() == "exit"
        else:
            problems.add(
                f"sqlcmd's directive :{directive} is not supported",
                at=span,
                hint="only :setvar and :on error are; instead of :r give several scripts to pgsb run",
            )
    pieces.append(_replace(source, position, len(text), values, active, problems))
    return Script(Source(source.name, "".join(pieces), source.encoding), stop)


def _replace(
    source: Source, start: int, end: int, values: Mapping[str, str], active: bool, problems: Problems
) -> str:
    if not active:
        return source.text[start:end]

    def value(match: re.Match[str]) -> str:
        found = values.get(match[1], os.environ.get(match[1]))
        if found is None:
            problems.add(
                f"no value for the variable {match[1]!r}",
                at=source.span(match.start(), match.end()),
                hint=f"-v {match[1]}=…",
            )
            return match[0]
        return found

    # finditer with bounds: `sub` on a slice would lose the places.
    pieces, position = [], start
    for match in _VARIABLE.finditer(source.text, start, end):
        pieces += [source.text[position : match.start()], value(match)]
        position = match.end()
    return "".join([*pieces, source.text[position:end]])
