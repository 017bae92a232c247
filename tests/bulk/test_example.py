"""The example's job on a small day, checked against the generator's own trades."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest

from pgsb.bulk.job import run_job
from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from support import Database

pytestmark = pytest.mark.one_postgres

EXAMPLE = Path(__file__).parents[2] / "examples" / "end_of_day"
sys.path.insert(0, str(EXAMPLE))


def load() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("end_of_day_run", EXAMPLE / "run.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


@pytest.mark.long
def test_the_days_trades_become_positions(
    spark: Any, database: Database, tcp: Callable[[Database], str]
) -> None:
    example = load()
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
        head, *lines = example.picture(connection)
        assert head.split() == ["symbol", "accounts", "quantity", "value"]
        totals: dict[str, float] = {}
        for (_, symbol), (_, value) in expected.items():
            totals[symbol] = totals.get(symbol, 0.0) + value
        assert {line.split()[0] for line in lines} == totals.keys()
        largest = max(totals, key=lambda symbol: abs(totals[symbol]))
        assert [line.split()[0] for line in lines if "█" * 30 in line] == [largest]


def test_what_is_missing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    example = load()
    monkeypatch.setattr(example.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(
        example.importlib.metadata,
        "requires",
        lambda name: ["click>=8", "pyspark>=4.0; extra == 'spark'", 'pandas<3; extra == "spark"'],
    )
    ran: list[list[str]] = []
    monkeypatch.setattr(example.subprocess, "run", lambda command, check: ran.append(command))
    monkeypatch.setattr(example.sys, "base_prefix", sys.prefix + "/base")
    example.install_spark()
    assert ran == [[sys.executable, "-m", "pip", "install", "pyspark>=4.0", "pandas<3"]]
    monkeypatch.setattr(example.sys, "base_prefix", sys.prefix)
    with pytest.raises(click.ClickException, match="no virtual environment"):
        example.install_spark()
