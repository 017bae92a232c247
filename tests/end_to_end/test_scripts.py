"""Scripts in the styles of many people: what each prints is kept beside it.

A script that begins with ``-- times: 2`` runs twice in one session, as a deployment does; one that begins
with ``-- from: 15`` runs on PostgreSQL 15 and newer.
PGSB_GOLDEN=rewrite (make golden) writes the expectations anew; the diff is to be read.
"""

import os
import re
from pathlib import Path

import pytest
from end_to_end.tsql import Tsql

from pgsb.grammar.source import Source
from support import Database, rest_is_long

GUID = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")
# Of a function that is gone PostgreSQL tells its number.
GONE = re.compile(r"'function \d+'")
SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.sql"))


# Those that take longest: of what is in them others have fewer statements.
_LONG = """
catalog_values ddl_triggers defaults_put_back generated_by_ssms late_bound_views numbers_from_system_views
objects_used_wrongly procedures_that_drop_themselves shop_and_stock synonyms system_procedures
trigger_identity two_databases
""".split()


@pytest.mark.parametrize(
    "script",
    rest_is_long(SCRIPTS, *(script for script in SCRIPTS if script.stem not in _LONG)),
    ids=lambda path: path.stem,
)
def test_a_script_prints_what_is_kept_beside_it(tsql: Tsql, database: Database, script: Path) -> None:
    text = Source.read(script).text
    times = re.match(r"-- times: (\d+)\n", text)
    oldest = re.match(r"-- from: (\d+)\n", text)
    version = tsql.connection.info.server_version // 10_000
    if oldest and version < int(oldest[1]):
        pytest.skip(f"PostgreSQL {version} does otherwise: docs/dialect.md tells how")
    printed = "".join(tsql.run(text, script.name) for _ in range(int(times[1]) if times else 1))
    shown = GONE.sub("'function <number>'", GUID.sub("<guid>", printed)).replace("\r", "")
    shown = shown.replace(database.name, "<database>")
    expected = script.with_suffix(".out")
    if os.environ.get("PGSB_GOLDEN") == "rewrite":
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")
