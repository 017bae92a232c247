"""What the daemon is told: where it and others are, its limits, and the external programs it may run."""

import os
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..server.connect import read_dsn
from ..server.problems import ServerError
from .spans import SpanSink

_ADDRESS = re.compile(r"tcp://([^]:/[]+|\[[0-9a-f:.%]+\])(:[0-9]+)?/?", re.IGNORECASE)


@dataclass(frozen=True)
class Program:
    """An external program that a queue may name: a Python callable or a command line.

    ``callable`` is "package.module:name"; ``command`` an argument vector, run without
    a shell. One of them is set.
    """

    name: str
    callable: str | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class BrokerOptions:
    """Settings of one daemon; times in seconds.

    ``reader_dsn`` is the login of service programs where it is not the daemon's own.
    ``addresses``: of routes, in small letters, and the connection strings of the instances there.
    ``max_readers`` bounds the readers of all queues together, None: 60 % of the
    server's max_connections. ``grace`` is how long SIGTERM waits for running
    programs. ``sweep`` is the pause between slow looks at everything. ``patience``:
    after this long a message in a free group gets one more reader. ``slow_reader``:
    a program that makes no progress for this long is reported. ``sample`` is the pause
    between samples of all queues, for rates and history. ``spans`` gets the spans of what
    the daemon and the programs that it starts do; None: nothing is traced.
    """

    dsn: str
    reader_dsn: str | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, Program] = field(default_factory=dict)
    max_readers: int | None = None
    parked: int = 16
    grace: float = 10.0
    sweep: float = 1.0
    patience: float = 0.1
    slow_reader: float = 60.0
    longest_backoff: float = 5.0
    heartbeat: float = 1.0
    sample: float = 15.0
    spans: SpanSink | None = None


def parse_address(text: str) -> tuple[str, str]:
    """``TCP://host:port=DSN``: the address in small letters, and the DSN. Raises ServerError.

    The text is not repeated in an error: there may be a password in it.
    """
    address, separator, dsn = text.partition("=")
    if not separator or not _ADDRESS.fullmatch(address):
        raise ServerError(
            "cannot read an address of another instance",
            hint="TCP://host:4022=postgresql://…, or key=value words",
        )
    return address.lower().removesuffix("/"), _checked_dsn(dsn, address)


def read_addresses(path: Path) -> dict[str, str]:
    """The addresses of a TOML file.

    ::

        [addresses]
        "TCP://warehouse:4022" = "postgresql://courier@warehouse/stock"

    Raises ServerError for a file that is not like that.
    """
    data = _read_toml(path)
    addresses = data.pop("addresses", {})
    if data or not isinstance(addresses, dict) or not all(isinstance(one, str) for one in addresses.values()):
        raise ServerError(
            f"{path}: only a table [addresses] is known", hint='"TCP://warehouse:4022" = "postgresql://…"'
        )
    for address in addresses:
        if not _ADDRESS.fullmatch(address):
            raise ServerError(
                f"{path}: {address!r} is no address", hint="TCP://host:port, as in CREATE ROUTE"
            )
    return {
        address.lower().removesuffix("/"): _checked_dsn(dsn, address) for address, dsn in addresses.items()
    }


def find_addresses(options: Iterable[str], files: Iterable[Path]) -> dict[str, str]:
    """Of the file in PGSB_ADDRESSES, of the files, of the options: the last counts. Raises ServerError."""
    found: dict[str, str] = {}
    if named := os.environ.get("PGSB_ADDRESSES"):
        found.update(read_addresses(Path(named)))
    for file in files:
        found.update(read_addresses(file))
    found.update(parse_address(text) for text in options)
    return found


def _checked_dsn(dsn: str, address: str) -> str:
    if not read_dsn(dsn, address):
        raise ServerError(f"cannot read the connection string of {address}")
    return dsn


def parse_program(text: str) -> Program:
    """``NAME=package.module:callable`` or ``NAME=command line``. Raises ServerError."""
    name, separator, value = text.partition("=")
    words = _words(value) if separator else []
    if not name or not words:
        raise ServerError(
            f"cannot read the program {text!r}", hint="NAME=package.module:callable or NAME=command line"
        )
    return _program(name, words)


def _words(command: str) -> list[str]:
    """The words of a command line as a shell reads them; none where a quotation does not end."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _program(name: str, words: list[str]) -> Program:
    module, colon, attribute = words[0].partition(":")
    if len(words) == 1 and colon and "/" not in words[0] and attribute.isidentifier() and module:
        return Program(name, callable=words[0])
    return Program(name, command=tuple(words))


def read_programs(path: Path) -> dict[str, Program]:
    """The allow-list of a TOML file.

    ::

        [programs]
        billing = "shop.billing:handle"
        mailer = ["/usr/local/bin/mailer", "--once"]

    Raises ServerError for a file that is not like that.
    """
    data = _read_toml(path)
    programs = data.pop("programs", {})
    if data or not isinstance(programs, dict):
        raise ServerError(f"{path}: only a table [programs] is known", hint='billing = "shop.billing:handle"')
    found = {}
    for name, value in programs.items():
        words = _words(value) if isinstance(value, str) else value
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            raise ServerError(f"{path}: the program {name!r} is no command line and no list of its words")
        found[name] = _program(name, words)
    return found


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ServerError(f"cannot read {path}: {error}") from None
