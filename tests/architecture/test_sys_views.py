"""The compiler knows every view of schema sys as the runtime makes it: its columns, their order and types."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import REWRITING

from pgsb.compiler.catalog import event_types, sys_views
from pgsb.compiler.check.system_names import SYSTEM_NAMES
from support import Connection

_COLUMNS = """
SELECT c.relname, a.attname, regexp_replace(format_type(a.atttypid, a.atttypmod), '\\(\\d+\\)', '')
  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = 'sys'::regnamespace AND c.relkind = 'v' ORDER BY c.relname, a.attnum
"""
_KINDS = {
    "text": "ns",
    "character": "ns",
    "bpchar": "ns",
    "uuid": "g",
    "bytea": "x",
    "bigint": "l",
    "integer": "iy",
    "smallint": "hiy",
    'sys."bit"': "b",
    "real": "r",
    "double precision": "f",
    "timestamp without time zone": "d",
}
"""Kinds of columns that a type may have, the usual one first; bits that are numbers stay what they are."""


@pytest.mark.one_postgres
def test_the_compiler_knows_every_column_of_every_view(connect: Callable[[], Connection]) -> None:
    connection = connect()
    views: dict[str, list[str]] = {}
    for view, column, type_ in connection.execute(_COLUMNS):
        allowed = _KINDS[type_]
        known = dict(entry.split(":") for entry in sys_views.VIEWS.get(view, "").split())
        kind = known.get(column, "")
        if not kind or kind not in allowed:
            named = column == "name" or column.endswith(("_desc", "_name", "type"))
            kind = "s" if named and "s" in allowed else allowed[0]
        views.setdefault(view, []).append(f"{column}:{kind}")
    if REWRITING:
        _write(views)
    assert {view: text.split() for view, text in sys_views.VIEWS.items()} == views


@pytest.mark.one_postgres
def test_the_compiler_and_the_runtime_know_the_same_events(connect: Callable[[], Connection]) -> None:
    connection = connect()
    (newer,) = connection.execute("SELECT ssb_internal.newer_events()").fetchone() or ((),)
    assert set(newer) == event_types.NEWER_EVENTS
    names = {
        name for (name,) in connection.execute("SELECT type_name FROM sys.event_notification_event_types")
    }
    assert names == event_types.DDL_EVENTS | event_types.OTHER_EVENTS
    triggers = {name for (name,) in connection.execute("SELECT type_name FROM sys.trigger_event_types")}
    assert triggers == event_types.DDL_EVENTS


@pytest.mark.one_postgres
def test_the_compiler_and_the_runtime_know_the_same_names_of_the_system(
    connect: Callable[[], Connection],
) -> None:
    names = connect().execute(
        """
        SELECT name FROM sys.service_message_types WHERE message_type_id < 65536 AND name <> 'DEFAULT'
        UNION SELECT name FROM sys.service_contracts WHERE service_contract_id < 65536 AND name <> 'DEFAULT'
        UNION SELECT name FROM sys.services WHERE service_id <= 3
        """
    )
    assert {name for (name,) in names} == set(SYSTEM_NAMES)


def _write(views: dict[str, list[str]]) -> None:
    path = Path(sys_views.__file__)
    entries = []
    for view, columns in views.items():
        line = f'    "{view}": "{" ".join(columns)}",\n'
        if len(line) > 111:
            body = textwrap.fill(
                " ".join(columns),
                110,
                initial_indent=" " * 8,
                subsequent_indent=" " * 8,
                break_long_words=False,
            )
            line = f'    "{view}": """\n{body}\n    """,\n'
        entries.append(line)
    text = re.sub(
        r"(?s)(VIEWS: dict\[str, str\] = \{\n).*?(\n?\}\n)",
        lambda match: match[1] + "".join(entries) + "}\n",
        path.read_text(encoding="utf-8"),
    )
    path.write_text(text, encoding="utf-8")
    sys_views.VIEWS.update({view: " ".join(columns) for view, columns in views.items()})
