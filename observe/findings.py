"""What ssb.diagnose finds, and conversations followed as they go wrong."""

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import psycopg
from psycopg.rows import class_row, tuple_row

from .. import __version__
from ..runtime_sql.installer import RUNTIME_VERSION

SEVERITIES = ("info", "warning", "error")
"""From the mildest to the gravest."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    ``number`` is that of its kind, and stays; ``object`` is what it is about; ``remedy`` is the statement
    that mends it, for ``run_with`` ("pgsb shell": T-SQL, "psql", "shell"); both None where there is none.
    """

    number: int
    severity: str
    object: str
    title: str
    detail: str
    meaning: str
    remedy: str | None
    run_with: str | None

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def of_another_version(installed: int) -> Finding | None:
    """123, where the runtime that a database has is not this pgsb's: its checks are those of its version.

    Told here: neither an earlier runtime nor a later one knows what this pgsb brings.
    """
    needed = int(RUNTIME_VERSION)
    if installed == needed:
        return None
    earlier = installed < needed
    return Finding(
        123,
        "warning",
        "the runtime",
        "the runtime is of another version than pgsb",
        f"it is version {installed}, this pgsb brings {needed}",
        "What is found is what the checks of its version know. pgsb upgrade brings an earlier runtime up to"
        " date; a later one wants the pgsb that installed it.",
        "pgsb upgrade" if earlier else None,
        "shell" if earlier else None,
    )


def worst_first(found: Sequence[Finding]) -> list[Finding]:
    """As ssb.diagnose has them: by severity, number and what they are about."""
    return sorted(
        found, key=lambda one: (-SEVERITIES.index(one.severity), one.number, one.object, one.detail)
    )


@dataclass(frozen=True)
class Dialog:
    """The dialog whose configuration is to be checked, as BEGIN DIALOG names it.

    ``to_broker`` is a service_broker_guid or CURRENT DATABASE; ``encryption`` on, off or anonymous.
    """

    from_service: str | None = None
    to_service: str | None = None
    to_broker: str | None = None
    contract: str | None = None
    encryption: str | None = None


def diagnose(
    connection: psycopg.Connection[Any],
    dialog: Dialog | None = None,
    *,
    far: psycopg.Connection[Any] | None = None,
    limits: dict[str, Any] | None = None,
    parts: Sequence[str] | None = None,
    level: str = "info",
    ignore: Sequence[int] = (),
) -> list[Finding]:
    """The findings of at least ``level``, worst first, without the numbers of ``ignore``.

    ``far`` is the other instance of the dialog: both ends are then compared. ``limits`` and ``parts`` are
    ssb.diagnose's. Raises psycopg.Error; 300 where the role is no operator.
    """
    dialog = dialog or Dialog()
    far_end = None
    if far is not None:
        guid = connection.execute(
            "SELECT d.service_broker_guid::text FROM sys.databases AS d"
            " WHERE d.name = pg_catalog.current_database()"
        ).fetchone()
        row = far.execute(
            "SELECT ssb_internal.describe_end(%s, %s, %s, %s, %s)",
            [
                dialog.to_service,
                dialog.to_broker,
                dialog.contract or "DEFAULT",
                dialog.from_service,
                guid[0] if guid else None,
            ],
        ).fetchone()
        far_end = json.dumps(row[0] if row else None)
    with connection.cursor(row_factory=class_row(Finding)) as cursor:
        cursor.execute(
            "SELECT * FROM ssb.diagnose(%s, %s, %s, %s, %s, %s::jsonb, %s, %s::jsonb, %s)",
            [
                dialog.from_service,
                dialog.to_service,
                dialog.to_broker,
                dialog.contract,
                dialog.encryption,
                json.dumps(limits or {}),
                __version__,
                far_end,
                list(parts) if parts is not None else None,
            ],
        )
        found = cursor.fetchall()
    if parts is None or "instance" in parts:
        other = of_another_version(_value(connection, "SELECT r.version FROM ssb.runtime_version AS r"))
        found = worst_first([*found, *([other] if other else [])])
    lowest = SEVERITIES.index(level)
    return [
        one for one in found if SEVERITIES.index(one.severity) >= lowest and one.number not in set(ignore)
    ]


@dataclass(frozen=True)
class Trouble:
    """What went wrong in one conversation; ``number`` is that of the kind of finding."""

    number: int
    conversation_handle: uuid.UUID
    service_name: str
    far_service: str
    detail: str


@dataclass(frozen=True)
class LogLine:
    """A warning or an error in the daemon's log."""

    log_id: int
    level: str
    event: str
    queue: str | None
    message: str


def watch(
    connection: psycopg.Connection[Any],
    handles: Sequence[uuid.UUID] = (),
    *,
    new: bool = False,
    timeout: float | None = None,
    pause: float = 1.0,
) -> Iterator[Trouble | LogLine]:
    """Each trouble once, as it comes, until ``timeout`` seconds are over.

    Of the conversations with these handles; with ``new`` of those that begin from now on; with
    neither of all, together with the daemon's log.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    after = _value(connection, "SELECT ssb_internal.last_conversation()") if new else None
    logged = _value(connection, "SELECT coalesce(max(log_id), 0) FROM ssb.log_recent")
    seen: set[Trouble] = set()
    while True:
        with connection.cursor(row_factory=class_row(Trouble)) as cursor:
            cursor.execute(
                "SELECT * FROM ssb_internal.conversation_troubles(%s, %s)",
                [list(handles) if handles else None, after],
            )
            troubles = set(cursor.fetchall())
        yield from sorted(troubles - seen, key=lambda one: (one.service_name, str(one.conversation_handle)))
        # What went away and comes again is news.
        seen = troubles
        if not handles and not new:
            with connection.cursor(row_factory=class_row(LogLine)) as lines:
                lines.execute(
                    "SELECT log_id, level, event, queue, message"
                    " FROM ssb_internal.log_lines(1000, NULL, '{warning,error}', %s) ORDER BY log_id",
                    [logged],
                )
                for line in lines:
                    logged = line.log_id
                    yield line
        left = pause if deadline is None else min(pause, deadline - time.monotonic())
        if left <= 0:
            return
        time.sleep(left)


def _value(connection: psycopg.Connection[Any], query: str) -> Any:
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]
