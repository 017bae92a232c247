"""Reads scripts: files or stdin, with sqlcmd's variables and directives."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from ..grammar.problems import Problems
from ..grammar.source import Source
from .sqlcmd import Script, compose


def read_script(name: str, variables: Mapping[str, str], problems: Problems) -> Script:
    """Read a script by its path, or stdin by the name ``-``.

    Problems with variables and directives are added to ``problems``. Raises click.UsageError
    for a file that cannot be read.
    """
    if name == "-":
        source = Source.from_bytes("<stdin>", sys.stdin.buffer.read())
    else:
        try:
            source = Source.read(Path(name))
        except OSError as error:
            raise click.UsageError(f"cannot read {name}: {error.strerror}") from None
    if source.text.count("\0") > 3:  # a single one has a place that can be told
        raise click.UsageError(f"cannot read {source.name}: it is no text, but binary data")
    return compose(source, variables, problems)
