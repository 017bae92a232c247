"""The dashboard's overview as lines of text, for people on ssh."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
from psycopg.rows import dict_row

from ..findings import Finding, diagnose

Line = list[tuple[str, str]]
"""Pieces of a line: style class and text."""

SORTS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "d": ("depth", lambda row: -row["depth"]),
    "a": ("age", lambda row: -(row["oldest_age"] or timedelta()).total_seconds()),
    "i": ("in", lambda row: -float(row["in_per_second"] or 0)),
    "o": ("out", lambda row: -float(row["out_per_second"] or 0)),
    "n": ("name", lambda row: row["queue"]),
}
_HEAD = (
    f"{'QUEUE':36} {'STATE':18} {'WAITING':>9} {'OLDEST':>8} {'IN/S':>8} {'OUT/S':>8} {'READERS':>9}  HELD BY"
)


@dataclass(frozen=True)
class Picture:
    """One look at an instance."""

    name: str
    at: str
    queues: list[dict[str, Any]]
    findings: list[Finding]
    daemons: list[str]
    is_locked: bool = False
    """Somebody has locked what queues and daemons are read from: both are empty, and 117 names him."""


def look(connection: psycopg.Connection[Any], findings: list[Finding] | None = None) -> Picture:
    """Ask the measures; the checks too, unless their last answer is given. Raises psycopg.Error.

    Where a lock keeps the measures waiting longer than lock_timeout, the checks tell whose it is.
    """
    row = connection.execute("SELECT to_char(clock_timestamp(), 'HH24:MI:SS')").fetchone()
    at = row[0] if row else ""
    try:
        with connection.cursor(row_factory=dict_row) as cursor:
            queues = cursor.execute("SELECT * FROM ssb_internal.queue_measures(NULL, 1000)").fetchall()
        daemons = connection.execute(
            "SELECT host || CASE WHEN is_leading THEN ' leads' ELSE ' stands by' END"
            " FROM ssb_internal.daemons_running() ORDER BY is_leading DESC, host"
        ).fetchall()
    except psycopg.errors.LockNotAvailable:
        return Picture(
            connection.info.dbname, at, [], diagnose(connection, level="warning"), [], is_locked=True
        )
    return Picture(
        connection.info.dbname,
        at,
        queues,
        diagnose(connection, level="warning") if findings is None else findings,
        [name for (name,) in daemons],
    )


def lines(picture: Picture, sort: str = "d", wanted: str = "", shown: bool = True) -> list[Line]:
    """The whole picture; the terminal cuts what does not fit. ``shown``: with the findings' details."""
    depth = sum(row["depth"] for row in picture.queues)
    readers = sum(row["readers"] for row in picture.queues)
    found: list[Line] = [[("class:title", f" {picture.name} ")]]
    if picture.is_locked:
        found[0] += [("", f" {picture.at}  "), ("class:bad", "a lock keeps the queues from being read")]
    else:
        found[0] += [
            ("", f" {picture.at}  {depth:,} messages in {len(picture.queues)} queues, {readers} readers  "),
            ("class:good" if picture.daemons else "class:bad", ", ".join(picture.daemons) or "no daemon"),
        ]
    found.append([])
    for one in picture.findings if shown else []:
        css = "class:bad" if one.severity == "error" else "class:warning"
        found.append(
            [
                (css, f" {one.number} {one.severity} "),
                ("bold", one.object),
                ("", f"  {one.title}: {one.detail}"),
            ]
        )
        if one.remedy:
            found.append([("class:faint", f"     {one.run_with}: {one.remedy}")])
    if not picture.findings:
        found.append([("class:good", " nothing is wrong")])
    elif not shown:
        found.append([("class:bad", f" {len(picture.findings)} findings: f shows them")])
    found += [[], [("class:head", _HEAD)]]
    chosen = [row for row in picture.queues if wanted.lower() in row["queue"].lower()]
    chosen.sort(key=lambda row: (SORTS[sort][1](row), row["queue"]))
    found += [_queue(row) for row in chosen]
    return found


def _queue(row: dict[str, Any]) -> Line:
    state = row["state"].lower()
    if row["rollbacks_in_a_row"] and state == "on":
        state = f"on, {row['rollbacks_in_a_row']} rollbacks"
    if row["quarantined_groups"]:
        state = f"{state}, {row['quarantined_groups']} aside"
    rates = f"{_rate(row['in_per_second']):>8} {_rate(row['out_per_second']):>8}"
    readers = "-"
    if row["is_activation_enabled"]:
        readers = f"{row['readers']}/{row['readers_wanted']}/{row['max_readers']}"
    return [
        ("bold" if row["depth"] else "", f"{_cut(row['queue'], 36):36} "),
        ("" if state == "on" else "class:bad", f"{_cut(state, 18):18} "),
        ("", f"{'~' if row['is_estimate'] else ''}{row['depth']:,}".rjust(9)),
        ("", f" {_age(row['oldest_age']):>8} {rates}"),
        ("", f" {readers:>9}  {row['held_by'] or ''}"),
    ]


def _cut(text: str, width: int) -> str:
    # Names are other people's: nothing in them moves the cursor.
    text = "".join(one if one.isprintable() else " " for one in text)
    return text if len(text) <= width else text[: width - 1] + "…"


def _rate(value: Any) -> str:
    return "-" if value is None else f"{value:.1f}"


def _age(value: timedelta | None) -> str:
    if value is None:
        return ""
    seconds = int(value.total_seconds())
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}" if seconds >= 60 else f"{seconds} s"
