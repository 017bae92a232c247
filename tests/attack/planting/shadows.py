"""Functions and operators that stand in the way of PostgreSQL's own: same names, closer types of arguments.

Whoever may create functions in a schema of somebody's search_path catches calls that name no schema. Each
shadow counts in a sequence, which no ROLLBACK takes back, when it runs as somebody else than its maker.
"""

import itertools
from collections.abc import Iterable

from support import Connection

COUNTER = "public.shadows_reached"
_TYPES = (
    *("text", "varchar", "bpchar", "name", "integer", "smallint", "bigint", "numeric", "float8"),
    *(
        "boolean",
        "timestamp",
        "timestamptz",
        "date",
        "interval",
        "uuid",
        "bytea",
        "json",
        "jsonb",
        'sys."bit"',
        "text[]",
    ),
)
_FEW = ("text", "varchar", "integer", "bigint")
_OPERATORS = (
    *("=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "~", "~*", "!~", "!~*", "~~", "!~~"),
    *("->", "->>", "#>", "#>>", "@>", "<@", "&&", "&", "|", "#", "<<", ">>", "^"),
)

# Each of PostgreSQL's functions that the runtime's text names without a schema, or that scripts come to.
_USED = """
SELECT DISTINCT p.proname::text FROM pg_proc AS p
  JOIN (SELECT DISTINCT (regexp_matches(lower(f.prosrc), '(?<![\\w.])([a-z_]\\w*)\\s*\\(', 'g'))[1] AS name
          FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace
         WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys') OR n.nspname LIKE 'ssb\\_%%'
        UNION SELECT unnest(%s::text[])) AS u ON u.name = p.proname
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
   AND p.proname !~ '^(count|nextval|set_config)$'
 ORDER BY 1
"""
_BY_SCRIPTS = (
    "upper lower length substr left right round abs ceil floor now concat concat_ws replace ltrim rtrim"
).split()


def plant(connection: Connection, schema: str, maker: str, *, exact: bool = False) -> int:
    """Create the shadows in a schema; returns how many. ``exact``: those of PostgreSQL's own signatures too.

    The maker's own calls do not count.
    """
    connection.execute(f"CREATE SEQUENCE IF NOT EXISTS {COUNTER}; GRANT ALL ON {COUNTER} TO PUBLIC".encode())
    names = [row[0] for row in connection.execute(_USED, [_BY_SCRIPTS]).fetchall()]
    signatures = [(name, types) for name in names for types in _argument_types()]
    if exact:
        signatures += connection.execute(
            "SELECT p.proname::text, string_to_array(pg_get_function_identity_arguments(p.oid), ', ')"
            " FROM pg_proc AS p"
            " WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.proname = ANY (%s)"
            " AND p.provariadic = 0 AND p.proargmodes IS NULL AND p.proargnames IS NULL",
            [names],
        ).fetchall()
    body = f"IF current_user <> '{maker}' THEN PERFORM pg_catalog.nextval('{COUNTER}'); END IF; RETURN NULL;"
    _create(connection, (_function(schema, name, types, body) for name, types in signatures))
    _create(
        connection,
        (
            text
            for left, right in itertools.product(_TYPES, repeat=2)
            for text in (
                _function(schema, "shadow_of_operator", (left, right), body, "boolean"),
                *(
                    f"CREATE OPERATOR {schema}.{name} (FUNCTION = {schema}.shadow_of_operator,"
                    f" LEFTARG = {left}, RIGHTARG = {right})"
                    for name in _OPERATORS
                ),
            )
        ),
    )
    row = connection.execute(
        "SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = %s::regnamespace)"
        " + (SELECT count(*) FROM pg_operator WHERE oprnamespace = %s::regnamespace)",
        [schema, schema],
    ).fetchone()
    assert row is not None
    return int(row[0])


def reached(connection: Connection) -> int:
    """How often a shadow has run as another than its maker."""
    row = connection.execute(
        f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {COUNTER}".encode()
    ).fetchone()
    assert row is not None
    return int(row[0])


def _argument_types() -> Iterable[tuple[str, ...]]:
    yield from ((one,) for one in _TYPES)
    yield from itertools.product(_FEW, repeat=2)
    yield from ((one, one) for one in _TYPES[4:])
    yield from itertools.product(("text", "varchar", "integer"), repeat=3)
    yield from (("text",) * 4, ("text", "text", "text", "integer"), ("text", "text", "integer", "integer"))


def _function(schema: str, name: str, types: Iterable[str], body: str, result: str = "text") -> str:
    return (
        f'CREATE FUNCTION {schema}."{name}"({", ".join(types)}) RETURNS {result} LANGUAGE plpgsql AS'
        f" $shadow$ BEGIN {body} END $shadow$"
    )


def _create(connection: Connection, statements: Iterable[str]) -> None:
    """Run them; what cannot be created (a signature that stands already) is passed over."""
    block = (
        "DO $all$ DECLARE v text; BEGIN"
        " FOREACH v IN ARRAY current_setting('pgsb_test.statements')::text[] LOOP"
        " BEGIN EXECUTE v; EXCEPTION WHEN duplicate_function OR undefined_object OR feature_not_supported"
        " OR syntax_error OR invalid_function_definition OR insufficient_privilege"
        " THEN NULL; END; END LOOP; END $all$"
    )
    pending = list(statements)
    for first in range(0, len(pending), 2000):
        connection.execute(
            "SELECT set_config('pgsb_test.statements', %s::text[]::text, false)",
            [pending[first : first + 2000]],
        )
        connection.execute(block)
