"""No function of the runtime is found by its caller's search_path, and none that it calls.

Every function pins its search_path, or has an SQL-standard body (bound when it was made), or names the
schema of every function and operator in it. Types are found in pg_catalog, unless whoever runs the function
has put another schema before that: his own doing, for where he has other rights the path is pinned.
"""

import re
from collections.abc import Callable

import psycopg
import pytest
from attack.planting.scripts import run_any, run_well

from support import Connection, Database

# All schemas of ours, those to come too.
_OURS = "n.nspname IN ('sys', 'ssb') OR n.nspname LIKE 'ssb\\_%'"

_UNPINNED = f"""
SELECT p.oid::regprocedure::text, l.lanname, p.prosrc
  FROM pg_proc AS p
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
  JOIN pg_language AS l ON l.oid = p.prolang
 WHERE ({_OURS}) AND l.lanname <> 'internal' AND p.prosqlbody IS NULL
   AND NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(p.proconfig, '{{}}'))
 ORDER BY 1
"""

_KEYWORDS = frozenset(
    """AND AS BEGIN BEGIN_ATOMIC CASE COALESCE ELSE ELSIF END EXCEPTION EXECUTE EXISTS FOREACH FROM GREATEST
    IF IN     INTO IS LEAST
    LOOP NOT NULLIF OPERATOR OR PERFORM RETURN ROW SELECT SET THEN USING VALUES WHEN WHERE WHILE
    CALL RAISE ARRAY ALL ANY ON COMMIT ROLLBACK""".split()
)


def _strip(body: str) -> str:
    """The code without comments, and with every literal empty."""
    body = re.sub(r"--[^\n]*", "", body)
    return re.sub(r"'(?:[^']|'')*'", "''", body)


def unqualified(body: str) -> list[str]:
    """What in the body is found by the search_path: functions without a schema, bare operators, NULLIF.

    ``:=``, ``=>`` and ``=`` in GET DIAGNOSTICS are no operators; ``*`` in SELECT * is none.
    """
    code = _strip(body)
    found = [
        name
        for name in re.findall(r"(?<![\w.\"$])([A-Za-z_]\w*)\s*\(", code)
        if name.upper() not in _KEYWORDS or name.upper() == "NULLIF"
    ]
    code = re.sub(r"OPERATOR\(pg_catalog\.[^)]+\)", " ", code)
    # EXCEPTION WHEN …, cursors and named arguments.
    code = re.sub(
        r":=|=>|::|\.\.|GET (STACKED )?DIAGNOSTICS \w+ = |USING ERRCODE = |,\s*(MESSAGE|DETAIL|HINT) = "
        r"|<<|>>|\.\*",
        " ",
        code,
    )
    found += re.findall(r"[-+*/<>=~!@%^&|?]+", code)
    found += list(re.findall(r"\b(LIKE|ILIKE|BETWEEN|SIMILAR|DISTINCT FROM)\b", code))
    # IN and CASE x WHEN compare by =.
    found += ["IN" for _ in re.findall(r"\bIN\s*\(", code)]
    found += ["CASE WHEN" for _ in re.findall(r"\bCASE\s+(?!WHEN\b)", re.sub(r"\bEND CASE\b", "", code))]
    return found


# IS DISTINCT FROM of two bigint: equal types find PostgreSQL's own operator first.
_EXACT = {"ssb.wait_for_message": {"DISTINCT FROM"}}


def test_every_function_pins_its_search_path_or_needs_none(
    connect: Callable[..., Connection], database: Database
) -> None:
    loose = {}
    for signature, _, source in connect(database.dsn).execute(_UNPINNED).fetchall():
        name = signature.partition("(")[0]
        words = [word for word in unqualified(source) if word not in _EXACT.get(name, ())]
        if words:
            loose[signature] = words
    assert loose == {}, "add SET search_path = pg_catalog, pg_temp, or BEGIN ATOMIC, or qualify"


@pytest.mark.parametrize(
    "body, words",
    [
        ("SELECT pg_catalog.upper(a)", []),
        ("SELECT upper(a)", ["upper"]),
        ("SELECT a OPERATOR(pg_catalog.+) 1", []),
        ("SELECT a + 1", ["+"]),
        ("BEGIN x := nullif(a, ''); END", ["nullif"]),
        ("SELECT a LIKE 'x -- ('", ["LIKE"]),
        ("BEGIN RETURN a IN ('x', 'y'); END", ["IN"]),
        ("BEGIN FOR a IN SELECT 1 LOOP END LOOP; END", []),
        ("BEGIN RETURN CASE a WHEN 1 THEN 2 END; END", ["CASE WHEN"]),
        ("BEGIN RETURN CASE WHEN a THEN 2 END; END", []),
        ("BEGIN CALL ssb_internal.enter(session, caller => 'a'); END", []),
    ],
)
def test_what_counts_as_found_by_the_search_path(body: str, words: list[str]) -> None:
    assert unqualified(body) == words


_PROCEDURE = """
CREATE TABLE dbo.seen (n integer, path text)
GO
CREATE PROCEDURE dbo.looks @fail bit = 0 AS
BEGIN
    INSERT INTO dbo.seen VALUES (1, NULL)
    BEGIN TRANSACTION
    INSERT INTO dbo.seen VALUES (2, NULL)
    COMMIT
    INSERT INTO dbo.seen VALUES (3, NULL)
    BEGIN TRANSACTION
    ROLLBACK
    INSERT INTO dbo.seen VALUES (4, NULL)
    WAITFOR DELAY '00:00:00.010'
    INSERT INTO dbo.seen VALUES (5, NULL)
    IF @fail = 1 THROW 50001, 'no', 1
END
"""


@pytest.fixture
def looking(database: Database, connect: Callable[..., Connection]) -> Connection:
    """An application's connection; a trigger on dbo.seen notes the search_path of each INSERT."""
    run_well(database.dsn, _PROCEDURE)
    connection = connect(database.dsn)
    connection.execute(
        "CREATE FUNCTION public.note_path() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN NEW.path := current_setting('search_path'); RETURN NEW; END $$;"
        " CREATE TRIGGER note BEFORE INSERT ON dbo.seen FOR EACH ROW EXECUTE FUNCTION public.note_path()"
    )
    return connection


def _paths(connection: Connection) -> set[str]:
    return {path for (path,) in connection.execute("SELECT path FROM dbo.seen").fetchall()}


def _own_path(connection: Connection) -> str:
    row = connection.execute("SHOW search_path").fetchone()
    assert row is not None
    return str(row[0])


def test_a_procedure_that_an_application_calls_runs_in_the_engines_path(looking: Connection) -> None:
    looking.execute("CALL dbo.looks()")
    assert looking.execute("SELECT count(*) FROM dbo.seen").fetchone() == (5,)
    assert _paths(looking) == {"pg_catalog, pg_temp"}
    assert _own_path(looking) == '"$user", public'


def test_the_application_has_its_own_path_back_after_an_error(looking: Connection) -> None:
    with pytest.raises(psycopg.Error, match="no"):
        looking.execute("CALL dbo.looks(1::sys.bit)")
    assert _paths(looking) == {"pg_catalog, pg_temp"}
    assert _own_path(looking) == '"$user", public'


def test_inside_the_applications_transaction_too(database: Database, looking: Connection) -> None:
    run_well(
        database.dsn,
        "CREATE PROCEDURE dbo.once AS INSERT INTO dbo.seen VALUES (1, NULL)\nGO\n"
        "CREATE PROCEDURE dbo.outer_one AS BEGIN EXEC dbo.once; DECLARE @p sysname = 'dbo.once'; EXEC @p END",
    )
    looking.autocommit = False
    looking.execute("SET LOCAL search_path = dbo, public")
    looking.execute("CALL dbo.outer_one()")
    assert _own_path(looking) == "dbo, public"
    assert _paths(looking) == {"pg_catalog, pg_temp"}
    looking.commit()
    assert _own_path(looking) == '"$user", public'


_SHADOWS = """
CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.reached VALUES ('format', current_user);
    RETURN pg_catalog.format($1, $2); END $$;
CREATE FUNCTION public.concat(text, text) RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.reached VALUES ('concat', current_user);
    RETURN pg_catalog.concat($1, $2); END $$;
"""


def test_exec_by_name_runs_nothing_that_stands_in_public(
    database: Database, connect: Callable[..., Connection]
) -> None:
    """What was seen: a superuser who only did EXEC @p ran somebody's format(text, text)."""
    run_well(database.dsn, "CREATE PROCEDURE dbo.p @a int AS PRINT 'x'")
    attacker = connect(database.dsn)
    attacker.execute(
        "CREATE TABLE public.reached (name text, who text); GRANT ALL ON public.reached TO PUBLIC"
    )
    attacker.execute(_SHADOWS)
    run_well(database.dsn, "DECLARE @p sysname = 'dbo.p'; EXEC @p 1")
    run_any(database.dsn, "DECLARE @p sysname = 'dbo.none'; EXEC @p 1")
    application = connect(database.dsn)
    application.execute("CALL dbo.p(1)")
    for query in (
        "SELECT ssb_internal.tsql_spelling('dbo.p')",
        "SELECT sys.formatmessage('%s', 'x')",
        "SELECT sys.name_parts('a.b')",
    ):
        application.execute(query.encode())
    assert attacker.execute("SELECT * FROM public.reached").fetchall() == []
