"""What the daemon is told: where to connect, its limits, and the external programs it may run."""

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..server.problems import ServerError


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
    ``max_readers`` bounds the readers of all queues together, None: 60 % of the
    server's max_connections. ``grace`` is how long SIGTERM waits for running
    programs. ``sweep`` is the pause between slow looks at everything. ``patience``:
    after this long a message in a free group gets one more reader. ``slow_reader``:
    a program that makes no progress for this long is reported.
    """

    dsn: str
    reader_dsn: str | None = None
    programs: Mapping[str, Program] = field(default_factory=dict)
    max_readers: int | None = None
    parked: int = 16
    grace: float = 10.0
    sweep: float = 1.0
    patience: float = 0.1
    slow_reader: float = 60.0
    longest_backoff: float = 5.0


def parse_program(text: str) -> Program:
    """``NAME=package.module:callable`` or ``NAME=command line``. Raises ServerError."""
    name, separator, value = text.partition("=")
    words = shlex.split(value) if separator else []
    if not name or not words:
        raise ServerError(
            f"cannot read the program {text!r}", hint="NAME=package.module:callable or NAME=command line"
        )
    return _program(name, words)


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
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ServerError(f"cannot read {path}: {error}") from None
    programs = data.pop("programs", {})
    if data or not isinstance(programs, dict):
        raise ServerError(f"{path}: only a table [programs] is known", hint='billing = "shop.billing:handle"')
    found = {}
    for name, value in programs.items():
        words = shlex.split(value) if isinstance(value, str) else value
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            raise ServerError(f"{path}: the program {name!r} is neither a string nor a list of strings")
        found[name] = _program(name, words)
    return found
