"""The example's job on a small day, checked against the generator's own trades."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgsb.bulk.job import run_job
from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from support import Database

pytestmark = pytest.mark.one_postgres

EXAMPLE = Path(__file__).parents[2] / "examples" / "end_of_day"
sys.path.insert(0, str(EXAMPLE))


def test_the_days_trades_become_positions(
    spark: Any, database: Database, tcp: Callable[[Database], str]
) -> None:
    spec = importlib.util.spec_from_file_location("end_of_day_run", EXAMPLE / "run.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    from positions import book

    with psycopg.connect(database.dsn, autocommit=True) as connection:
        for batch in compile_script(Source.read(EXAMPLE / "setup.sql")).batches:
            for statement in batch.statements:
                connection.execute(statement.sql.encode())
        assert example.make_day(connection, 3, 60, 7) == 60
        expected: dict[tuple[str, str], list[float]] = {}
        for (body,) in connection.execute(
            "SELECT convert_from(message_body, 'UTF8') FROM dbo.backofficequeue"
        ):
            trade = json.loads(body)
            position = expected.setdefault((trade["account"], trade["symbol"]), [0, 0.0])
            position[0] += trade["quantity"]
            position[1] += trade["quantity"] * trade["price"]
        done = run_job(tcp(database), "dbo.backofficequeue", book)
        assert (done.completed, done.replied) == (60, 3)
        rows = connection.execute(
            "SELECT account, symbol, quantity, value::float FROM dbo.positions"
        ).fetchall()
        assert {(row[0], row[1]): (row[2], round(row[3], 2)) for row in rows} == {
            key: (quantity, round(value, 2)) for key, (quantity, value) in expected.items()
        }
        states = connection.execute(
            "SELECT message_type_name, count(*) FROM dbo.deskqueue GROUP BY 1"
        ).fetchall()
        assert sorted(count for _, count in states) == [3, 3]
