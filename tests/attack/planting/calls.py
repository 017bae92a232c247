"""Calls of all functions of ours, found in the catalog, with values of every kind."""

import random
from collections.abc import Iterator

from psycopg import sql

from support import Connection

_FUNCTIONS = """
SELECT n.nspname::text, p.proname::text,
       ARRAY(SELECT format_type(a.type, NULL)
               FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n) ORDER BY a.n)
  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE (n.nspname IN ('ssb', 'ssb_internal', 'sys') OR n.nspname LIKE 'ssb\\_%%') AND p.prokind = 'f'
   AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
   AND (p.prosecdef OR NOT %s)
 ORDER BY 1, 2, 3
"""
_VALUES: dict[str, tuple[str, ...]] = {
    "text": (
        "'a'",
        "'dbo.t'",
        "'pg_temp.trap'",
        "'mallory.own'",
        "'<a/>'",
        "'[1]'",
        "'%s'",
        "'1'",
        "'//Note'",
        "'dbo.q'",
    ),
    "integer": ("1", "0", "65536"),
    "bigint": ("1", "0"),
    "smallint": ("1::smallint",),
    "boolean": ("true", "false"),
    "numeric": ("1.5",),
    "double precision": ("1.5",),
    "uuid": ("gen_random_uuid()",),
    "bytea": ("'\\x01'",),
    "json": ('\'[{"name":"a"}]\'',),
    "jsonb": ("'[]'",),
    "regclass": ("'mallory.own'::regclass", "'pg_temp.trap'::regclass"),
    "oid": ("'mallory.own'::regclass::oid", "'pg_temp.trap'::regclass::oid"),
    "interval": ("'1 s'",),
    "timestamp with time zone": ("now()",),
    "timestamp without time zone": ("now()::timestamp",),
    "date": ("'2024-02-29'",),
    "text[]": ("'{a,b}'", "'{SEND}'", "'{mallory}'", "'{pg_temp.trap}'"),
    "name": ("'mallory'",),
    "anyelement": ("1", "'a'::text"),
    "anycompatible": ("1", "'a'::text"),
    "sys.xml": ("'<a/>'",),
}


def functions(connection: Connection, *, only_definers: bool) -> list[tuple[str, str, list[str]]]:
    """Schema, name and types of arguments."""
    return [(row[0], row[1], row[2]) for row in connection.execute(_FUNCTIONS, [only_definers]).fetchall()]


def calls(found: list[tuple[str, str, list[str]]], seed: int, rounds: int) -> Iterator[str]:
    """Statements, each function ``rounds`` times with other arguments."""
    dice = random.Random(seed)
    for _ in range(rounds):
        for schema, name, types in found:
            values = [_value(type_, dice) for type_ in types]
            yield f"SELECT {sql.Identifier(schema, name).as_string()}({', '.join(values)})"


def _value(type_: str, dice: random.Random) -> str:
    known = _VALUES.get(type_)
    if known is None or dice.random() < 0.05:
        return "NULL" if type_.startswith("any") and type_ not in _VALUES else f"NULL::{type_}"
    chosen = dice.choice(known)
    return chosen if type_.startswith("any") or "::" in chosen else f"({chosen})::{type_}"
