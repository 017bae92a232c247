"""No call of a script's or of the runtime's comes to a function or operator that somebody made in public."""

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from attack.planting.calls import calls, functions
from attack.planting.shadows import plant, reached
from end_to_end.tsql import Tsql

from support import Connection, Database

_TESTS = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shadowed(new_database: Callable[[], Database]) -> Database:
    """Shadows in public and in the schema of the superuser's own name, which his search_path has first."""
    database = new_database()
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE SCHEMA IF NOT EXISTS pgsb; CREATE TABLE public.plain AS SELECT 'a'::varchar AS a"
        )
        assert plant(connection, "public", "nobody") > 20000
        # They catch what names no schema: else this test could not fail.
        with pytest.raises(psycopg.Error):
            connection.execute(
                "SELECT upper(a), 1 / (length(a) - 1) FROM public.plain WHERE a = 'a'::varchar"
            )
            connection.execute("SELECT pg_catalog.int4div(1, 0)")
        assert connection.execute("SELECT upper(a) FROM public.plain").fetchone() == (None,)
        assert reached(connection) > 0
        connection.execute("ALTER SEQUENCE public.shadows_reached RESTART")
    return database


def _scripts() -> list[str]:
    whole = (_TESTS / "sql" / "scripts.sql").read_text(encoding="utf-8")
    cases = re.findall(r"^-- case: [^\n]*\n(.*?)^-- expect", whole, re.M | re.S)
    texts = [
        path.read_text(encoding="utf-8") for path in sorted((_TESTS / "end_to_end" / "scripts").glob("*.sql"))
    ]
    return [*cases, *(text for text in texts if "WAITFOR" not in text.upper())]


# 20,000 overloads cost PostgreSQL 15 ten times what they cost 18; what a text names is the same in both.
@pytest.mark.one_postgres
def test_scripts_reach_no_shadow(shadowed: Database) -> None:
    texts = _scripts()
    assert len(texts) > 100
    with closing(Tsql(shadowed.dsn)) as session:
        for text in texts:
            session.run(text)
            session.run("IF @@TRANCOUNT > 0 ROLLBACK")
            assert reached(session.connection) == 0, text


def test_no_function_of_ours_reaches_a_shadow(shadowed: Database, connect: Callable[..., Connection]) -> None:
    connection = connect(shadowed.dsn)
    connection.execute(
        "CREATE SCHEMA mallory; CREATE TABLE mallory.own (id integer); CREATE TEMP TABLE trap (id integer)"
    )
    # The test's own questions are not to be caught.
    connection.execute("SET search_path = pg_catalog")
    found = functions(connection, only_definers=False)
    connection.execute("RESET search_path")
    assert len(found) > 1000
    connection.execute("SET statement_timeout = '200ms'; SET client_min_messages = warning")
    done = 0
    for statement in calls(found, seed=1, rounds=1):
        try:
            with connection.transaction():
                connection.execute(f"{statement}".encode())
                done += 1
                raise psycopg.Rollback
        except psycopg.Error:
            continue
        finally:
            assert reached(connection) == 0, statement
    assert done > 300
