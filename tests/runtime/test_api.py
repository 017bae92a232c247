"""Schema ssb shows the API: all in it is documented and has a COMMENT."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support import Connection

API = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")

WHAT_TO_DO = "put it into ssb_internal, or give it a line in runtime_sql/comments.sql and in docs/api.md"


def test_every_routine_of_ssb_is_documented_and_has_a_comment(connect: Callable[..., Connection]) -> None:
    routines = (
        connect()
        .execute(
            "SELECT proname::text, oid::regprocedure::text, obj_description(oid, 'pg_proc') IS NOT NULL"
            " FROM pg_proc WHERE pronamespace = 'ssb'::regnamespace"
        )
        .fetchall()
    )
    documented = set(re.findall(r"\bssb\.(\w+)\(", API))
    assert [name for _, name, has_comment in routines if not has_comment] == [], WHAT_TO_DO
    assert sorted({name for name, _, _ in routines} - documented) == [], WHAT_TO_DO
    assert sorted(documented - {name for name, _, _ in routines}) == [], "docs/api.md names what is not there"


def test_every_view_and_column_of_ssb_has_a_comment(connect: Callable[..., Connection]) -> None:
    columns = connect().execute(
        "SELECT c.relname || coalesce('.' || a.attname, '') FROM pg_class AS c"
        " CROSS JOIN LATERAL (SELECT attnum, attname::text FROM pg_attribute"
        "  WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped UNION ALL SELECT 0, NULL) AS a"
        " WHERE c.relnamespace = 'ssb'::regnamespace AND (c.relkind = 'v' OR c.relname = 'message')"
        " AND CASE WHEN c.relkind = 'c' AND attnum = 0 THEN obj_description(c.reltype, 'pg_type')"
        "     ELSE CASE attnum WHEN 0 THEN obj_description(c.oid, 'pg_class')"
        "          ELSE col_description(c.oid, attnum) END END IS NULL"
    )
    assert columns.fetchall() == [], WHAT_TO_DO


@pytest.mark.one_postgres
def test_compiled_text_calls_what_is_there(connect: Callable[..., Connection]) -> None:
    """The expected texts of the compiler call functions by name: each of them exists where they say."""
    cases = Path(__file__).parents[1] / "compiler" / "cases"
    called = {
        match
        for path in cases.rglob("*")
        if path.is_file()
        for match in re.findall(r"\b(ssb(?:_internal)?\.\w+)\(", path.read_text(encoding="utf-8"))
    }
    there = {
        row[0]
        for row in connect().execute(
            "SELECT pronamespace::regnamespace::text || '.' || proname FROM pg_proc"
            " UNION ALL SELECT relnamespace::regnamespace::text || '.' || relname FROM pg_class"
        )
    }
    assert len(called) > 100
    assert sorted(called - there) == []
