"""What a queue offers to take part in the benchmark.

A peer says its statements; the harness runs them with pgbench. Message bodies
are BODY: 200 bytes, the same for all (as JSON text where a queue takes only JSON).
"""

import re
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

from pgsb.user_folders import user_cache

from .server import BenchServer, Connection

PAYLOAD = "x" * 191
BODY = f'{{"a":"{PAYLOAD}"}}'


class Unavailable(Exception):
    """Why a peer cannot take part on this machine; the message is shown."""


class Peer(ABC):
    """One queue, in a database of its own.

    The scripts are pgbench's: each is one transaction that enqueues or consumes
    ``batch`` messages. ``single`` scripts have batch 1.
    """

    name: str
    # Messages of one group are handed out in order, one reader at a time.
    keeps_groups: bool = False

    @abstractmethod
    def install(self, server: BenchServer, connection: Connection) -> None:
        """Set the queue up in the connection's empty database. Raises Unavailable."""

    @abstractmethod
    def enqueue(self, batch: int) -> list[str] | None:
        """Scripts that enqueue ``batch`` messages in one transaction; None: no such thing."""

    @abstractmethod
    def dequeue(self, batch: int) -> list[str] | None:
        """Scripts that consume up to ``batch`` messages for good in one transaction."""

    @abstractmethod
    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        """Put messages into the empty queue, in turn over ``groups``, ``batch`` of one group in a row."""

    @abstractmethod
    def left(self, connection: Connection) -> int:
        """How many messages wait."""

    @abstractmethod
    def clear(self, connection: Connection) -> None:
        """Make the queue empty and its tables as new."""

    def grouped(self) -> list[str] | None:
        """Scripts that consume one message in group order; None where groups are unknown."""
        return None


def cache() -> Path:
    """Where third-party packages are kept between runs: the user's cache folder, never the checkout."""
    folder = user_cache().with_name("pgsb-bench")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch(command: list[str], what: str, *, folder: Path | None = None) -> str:
    """Run a package manager and return what it printed. Raises Unavailable with its last words."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Unavailable(f"{what}: no {command[0]} on this machine") from None
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Unavailable(
            f"{what}: {' '.join(command[:3])} failed: {words[-1] if words else done.returncode}"
        )
    return done.stdout


def with_values(statement: str, *values: str) -> str:
    """The statement with $1, $2, … replaced by SQL values, on one line and without comments, for pgbench."""
    text = re.sub(r"--[^\n]*", " ", statement)
    text = re.sub(r"\$(\d+)", lambda match: values[int(match[1]) - 1], text)
    return " ".join(text.split()).rstrip("; ")
