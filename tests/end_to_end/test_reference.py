"""The reference has every command and every option; what there is comes from the commands themselves."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import click

from pgsb.cli.main import _COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md")))


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name, one in command.commands.items():
        yield from _commands(one, f"{path} {name}")


ALL = [
    found
    for name, (where, _) in _COMMANDS.items()
    for found in _commands(
        getattr(importlib.import_module("pgsb.cli." + where.split(":")[0]), where.split(":")[1]), name
    )
]


def test_every_command_is_in_the_reference() -> None:
    missing = [name for name, _ in ALL if not re.search(rf"\bpgsb {name.replace(' ', ' +')}\b", PAGES)]
    assert missing == []


def test_every_option_is_in_the_reference() -> None:
    missing = [
        f"pgsb {name}: {option.opts}"
        for name, command in ALL
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden and not _is_named(option)
    ]
    assert missing == []


def _is_named(option: click.Option) -> bool:
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", PAGES) for name in option.opts)
