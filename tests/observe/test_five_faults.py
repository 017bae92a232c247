"""Who knows nothing of it finds five faults, each by pgsb diagnose and on the dashboard's first page."""

import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable

import psycopg
import pytest
from observe_desk import Browser

from activation import send, tsql
from pgsb.observe.dashboard.options import Options
from pgsb.observe.dashboard.serve import DashboardThread
from pgsb.server.connect import Target
from support import Connection, Database

pytestmark = pytest.mark.one_postgres


@pytest.fixture
def faulty(sql: Connection, connect: Callable[..., Connection]) -> set[tuple[int, str]]:
    """A queue that is off, a program that is gone, a queue stopped by poison, a typing error, no daemon."""
    send(sql, "x")
    tsql(sql, "ALTER QUEUE dbo.to_queue WITH STATUS = OFF;")
    for name in ("gone", "poisoned"):
        sql.execute("SELECT ssb.create_queue(%s)", [f"dbo.{name}"])
        sql.execute("SELECT ssb.create_service(%s, %s, '{DEFAULT}')", [f"//{name}", f"dbo.{name}"])
        sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', %s), body => 'x'::bytea)", [f"//{name}"])
    sql.execute("CREATE PROCEDURE dbo.program() LANGUAGE sql AS 'SELECT 1'")
    sql.execute(
        "SELECT ssb.alter_queue('dbo.gone', activation_status => true, activation_procedure => 'dbo.program',"
        " max_queue_readers => 1)"
    )
    sql.execute("DROP PROCEDURE dbo.program")
    for _ in range(6):
        reader = connect(autocommit=False)
        # The sixth is told that the queue has stopped.
        with contextlib.suppress(psycopg.Error):
            reader.execute("SELECT * FROM ssb.receive('dbo.poisoned')")
        reader.rollback()
        reader.close()
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//Typo'), body => 'x'::bytea)")
    sql.execute("UPDATE ssb.transmission SET enqueued_at = enqueued_at - interval '1 hour'")
    return {
        (302, "dbo.to_queue"),
        (305, "dbo.gone"),
        (301, "dbo.poisoned"),
        (501, "//Typo"),
        (201, "pgsb broker"),
    }


@pytest.mark.long
def test_both_find_all_five_in_time(faulty: set[tuple[int, str]], database: Database) -> None:
    began = time.monotonic()
    shown = subprocess.run(
        [sys.executable, "-m", "pgsb.cli.main", "diagnose", "--dsn", database.dsn, "--format", "json",
         "--ignore", "103,106"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert shown.returncode == 3, shown.stderr
    told = json.loads(shown.stdout)
    assert faulty <= {(one["number"], one["object"]) for one in told}
    # Nothing else is wrong, but the rollbacks that stopped the queue.
    assert {one["number"] for one in told} <= {number for number, _ in faulty} | {309}
    options = Options({"shop": Target(database.dsn, False, "")}, patience=30.0)
    with DashboardThread(options) as running:
        _, page, _ = Browser(running.url).get("/")
    on_page = set(re.findall(r'data-keep="finding (\d+) ([^"]*)"', page))
    assert {(str(number), about) for number, about in faulty} <= on_page
    # For each: what to press, ready to copy.
    for one in told:
        if one["remedy"] and one["number"] in (301, 302):
            assert one["remedy"].replace("'", "&#39;") in page
    assert time.monotonic() - began < 60
