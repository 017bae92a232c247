"""What an installed runtime consists of, for tests that compare two installations."""

from support import Connection

# Columns of tables go by name: an upgrade adds them at the end, a fresh table may have them in the middle.
# No statement of the runtime writes a table by position (tests/upgrade sees to it), but for ssb.dialog_path.
OBJECTS = """
SELECT n.nspname || '.' || c.relname || ' ' || c.relkind::text || ' ' || coalesce(string_agg(
           a.attname || ':' || format_type(a.atttypid, a.atttypmod)
           || CASE WHEN a.attnotnull THEN '!' ELSE '' END || coalesce(pg_get_expr(d.adbin, d.adrelid), ''),
           ',' ORDER BY CASE WHEN c.relkind <> 'r' OR c.relname = 'dialog_path' THEN a.attnum END,
           a.attname), '')
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys') GROUP BY n.nspname, c.relname, c.relkind
UNION ALL
SELECT p.oid::regprocedure || ' ' || md5(pg_get_functiondef(p.oid)) FROM pg_proc AS p
 WHERE p.pronamespace::regnamespace::text IN ('ssb', 'ssb_internal', 'sys') AND p.prokind <> 'a'
UNION ALL
SELECT k.conrelid::regclass || ' ' || pg_get_constraintdef(k.oid) FROM pg_constraint AS k
 WHERE k.connamespace::regnamespace::text IN ('ssb', 'ssb_internal', 'sys') AND k.conrelid <> 0
UNION ALL
SELECT pg_describe_object(d.classoid, d.objoid, d.objsubid) || ': ' || d.description
  FROM pg_description AS d
  LEFT JOIN pg_proc AS p ON d.classoid = 'pg_proc'::regclass AND p.oid = d.objoid
  LEFT JOIN pg_type AS t ON d.classoid = 'pg_type'::regclass AND t.oid = d.objoid
  LEFT JOIN pg_class AS c ON d.classoid = 'pg_class'::regclass AND c.oid = d.objoid
  JOIN pg_namespace AS n ON n.oid = coalesce(p.pronamespace, t.typnamespace, c.relnamespace)
 WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys')
UNION ALL
SELECT t.typname || ' ' || t.typtype::text FROM pg_type AS t
 WHERE t.typnamespace::regnamespace::text IN ('ssb', 'ssb_internal', 'sys') AND t.typtype IN ('d', 'e')
ORDER BY 1
"""


def objects(connection: Connection) -> list[str]:
    """Everything in our schemas, defined."""
    return [row[0] for row in connection.execute(OBJECTS)]
