"""A progress bar on a terminal's stderr, for work that takes its time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

# Fewer are done before anybody wonders.
_MANY = 20


@contextmanager
def progress_bar(length: int, label: str, output: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Give a function that counts one step, with its name.

    It shows something on a terminal only, and not where ``output`` is shown there, too.
    """
    shared = output is not None and output.isatty()
    if length < _MANY or shared or not sys.stderr.isatty():
        yield lambda name: None
        return
    bar: Any = click.progressbar(
        length=length, label=label, file=sys.stderr, item_show_func=lambda name: (name or "")[-40:]
    )
    with bar:
        yield lambda name: bar.update(1, name)


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 script``, ``2 scripts``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
