"""Tells the compiler which tables and functions the server has, whoever made them: an earlier script or none.

Their columns decide what `INSERT t VALUES …` fills (not IDENTITY columns), what ``+`` means and
what `*` stands for, as for tables that the script itself creates.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import psycopg

from ..compiler.catalog import types as tm
from ..compiler.catalog.builtin_relations import queue_table
from ..compiler.catalog.names import ObjectName, fold, quote
from ..compiler.catalog.objects import ColumnInfo, KeyInfo, TableInfo, UserFunction, names_of_columns
from ..compiler.catalog.scope import Catalog, KnownNames, Scope, TableType
from ..compiler.catalog.types import SqlType
from ..compiler.lower.queries import TABLE_TYPE_COMMENT
from ..compiler.nodes import SqlText
from ..compiler.sql.translate import translate_table_variable
from ..compiler.target import nodes as n
from ..grammar.lexer import lex
from ..grammar.problems import Problems
from ..grammar.source import Source

V = TypeVar("V")

_DESCRIBED = """
       r.kind, r.column_names, r.column_types, r.are_not_null, r.identities, r.computed_by, r.kept_types
  FROM ssb_internal.described_relation AS r
"""
_NOT_OF_SYSTEM = (
    "r.schema_name NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys', 'information_schema')"
    " AND r.schema_name !~ '^pg_'"
)
_TABLES = f"""
SELECT r.schema_name, r.name, r.spelled,{_DESCRIBED}
 WHERE r.relkind IN ('r', 'p', 'f', 'v', 'm') AND {_NOT_OF_SYSTEM}
"""
# The rows of a table-valued function are of a type that is made for it.
_ROWS_OF_FUNCTIONS = f"""
SELECT r.schema_name, p.proname,
       ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), p.proname),{_DESCRIBED}
  JOIN pg_proc AS p ON p.prorettype = r.reltype AND p.proretset AND p.pronamespace = r.relnamespace
 WHERE r.relkind IN ('c', 'v') AND {_NOT_OF_SYSTEM}
   AND r.reltype = ANY (ARRAY(SELECT o.prorettype FROM pg_proc AS o WHERE o.proretset AND o.oid >= 16384))
"""
# Another row as soon as somebody makes, changes or drops what the statements here read. (Keys, spellings,
# synonyms and row versions stand in pg_index, pg_description and pg_trigger.) Each text of dynamic SQL makes
# a temporary procedure, and programs make temporary tables, of which nothing is read. A sum and not the
# greatest: a transaction may commit after one with a greater number, and numbers begin anew after 2^32.
_NO_TEMPORARY = "NOT IN (SELECT oid FROM pg_class WHERE relpersistence = 't')"
_IN_NO_TEMPORARY_SCHEMA = "<> ALL (ARRAY(SELECT oid FROM pg_namespace WHERE nspname ~ '^pg_(toast_)?temp_'))"
_STATE = f"""
SELECT * FROM (SELECT count(*), sum(xmin::text::bigint) FROM pg_attribute
                WHERE attrelid >= 16384 AND attrelid {_NO_TEMPORARY}) AS a
 CROSS JOIN (SELECT count(*), sum(xmin::text::bigint) FROM pg_proc
              WHERE oid >= 16384 AND pronamespace {_IN_NO_TEMPORARY_SCHEMA}) AS p
 CROSS JOIN (SELECT count(*), sum(xmin::text::bigint) FROM pg_type
              WHERE oid >= 16384 AND typnamespace {_IN_NO_TEMPORARY_SCHEMA}) AS t
 CROSS JOIN (SELECT count(*), sum(xmin::text::bigint) FROM pg_index
              WHERE indexrelid >= 16384 AND indrelid {_NO_TEMPORARY}) AS i
 CROSS JOIN (SELECT count(*), sum(xmin::text::bigint) FROM pg_description WHERE objoid >= 16384) AS d
 CROSS JOIN (SELECT count(*), sum(xmin::text::bigint) FROM pg_trigger) AS r
"""
# By pg_class's own key: a table made later has a greater number. With which transactions are under way.
_MADE_SINCE = """
SELECT pg_snapshot_xmin(s.now)::text::bigint, pg_snapshot_xmax(s.now)::text::bigint,
       c.oid::bigint, c.nspname, c.relname
  FROM (SELECT pg_current_snapshot() AS now) AS s
  LEFT JOIN (SELECT c.oid, n.nspname, c.relname
               FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
              WHERE c.oid > %s AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
                AND n.nspname NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys', 'information_schema')
                AND n.nspname !~ '^pg_') AS c ON true
"""
# What a catalog takes for a table or view, or for a type: its columns; '{}' for a type, NULL where none is.
_AS_THEY_ARE = """
SELECT k.schema, k.name, k.is_type,
       CASE WHEN k.is_type THEN CASE WHEN to_regtype(k.spelled) IS NOT NULL THEN '{}'::text[] END
            WHEN k.relation IS NOT NULL THEN
                ARRAY(SELECT a.attname::text FROM pg_attribute AS a
                       WHERE a.attrelid = k.relation AND a.attnum > 0 AND NOT a.attisdropped
                       ORDER BY a.attnum)
       END
  FROM (SELECT u.*, f.spelled,
               -- Of a table-valued function the type of its rows.
               coalesce(to_regclass(f.spelled)::oid,
                        (SELECT nullif(t.typrelid, 0)
                           FROM pg_proc AS p JOIN pg_type AS t ON t.oid = p.prorettype
                          WHERE p.proretset AND p.proname = u.name
                            AND p.pronamespace = to_regnamespace(quote_ident(u.schema))
                          LIMIT 1)) AS relation
          FROM unnest(%s::text[], %s::text[], %s::boolean[]) AS u (schema, name, is_type)
         CROSS JOIN LATERAL (SELECT format('%%I.%%I', u.schema, u.name) AS spelled) AS f) AS k
"""
_KEYS = """
SELECT n.nspname, c.relname, i.indisprimary,
       (SELECT array_agg(a.attname::text ORDER BY k.place)
          FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place)
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number)
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL
   AND n.nspname NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys', 'information_schema')
   AND n.nspname !~ '^pg_'
"""
# What CREATE TYPE … FROM made.
_DOMAINS = """
SELECT n.nspname, t.typname, format_type(t.typbasetype, t.typtypmod),
       ssb_internal.kept_type(obj_description(t.oid, 'pg_type')),
       EXISTS (SELECT FROM pg_constraint AS k WHERE k.contypid = t.oid AND k.conname = 'columns are NOT NULL')
  FROM pg_type AS t
  JOIN pg_namespace AS n ON n.oid = t.typnamespace
 WHERE t.typtype = 'd' AND n.nspname !~ '^pg_'
   AND n.nspname NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys', 'information_schema')
"""
# What CREATE TYPE … AS TABLE made: the comment keeps its T-SQL.
_TABLE_TYPES = """
SELECT n.nspname, t.typname, c.text
  FROM pg_type AS t
  JOIN pg_namespace AS n ON n.oid = t.typnamespace
 CROSS JOIN LATERAL (SELECT ssb_internal.comment_without_name(obj_description(t.oid, 'pg_type')) AS text) AS c
 -- Asked first, in the scan itself: each of the server's tables and views has such a type.
 WHERE t.typtype = 'c' AND t.typnamespace = ANY (ARRAY(
           SELECT x.oid FROM pg_namespace AS x
            WHERE x.nspname NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys', 'information_schema')
              AND x.nspname !~ '^pg_'))
   AND starts_with(c.text, %s)
"""
_SYNONYMS = """
SELECT n.nspname, c.relname, t.part[2], ssb_internal.tsql_schema(t.part[1]),
       ssb_internal.database_name(ssb_internal.database_of_schema(t.part[1]))
  FROM ssb_internal.synonym AS s
  JOIN pg_class AS c ON c.oid = s.oid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 CROSS JOIN LATERAL (SELECT parse_ident(s.target) AS part) AS t
"""
# Functions that can be called by one name only; and those that return rows, whether they are alone or not.
_FUNCTIONS = """
SELECT n.nspname, p.proname, p.proretset, p.of_that_name = 1 AND p.prokind = 'f',
       CASE WHEN p.proretset THEN NULL ELSE format_type(p.prorettype, NULL) END,
       (SELECT coalesce(array_agg(format_type(a.type, NULL) ORDER BY a.place), '{}')
          FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (type, place))
  -- The server's own functions are many: they are read once, and neither joined nor counted.
  FROM (SELECT o.pronamespace, o.proname, o.prokind, o.proretset, o.prorettype, o.proargtypes,
               count(*) OVER (PARTITION BY o.pronamespace, o.proname) AS of_that_name
          FROM pg_proc AS o
         WHERE o.pronamespace = ANY (ARRAY(
                   SELECT x.oid FROM pg_namespace AS x
                    WHERE x.nspname NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys', 'information_schema')
                      AND x.nspname !~ '^pg_'))) AS p
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE (p.proretset OR (p.of_that_name = 1 AND p.prokind = 'f'))
   AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
"""
# Tables with a period for system time.
_PERIODS = """
SELECT n.nspname, c.relname, p.start_column, p.end_column, p.start_is_hidden, p.end_is_hidden
  FROM ssb_internal.system_period AS p
  JOIN pg_class AS c ON c.oid = p.relation
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
"""
# The column's name is the trigger's argument, which ends with a zero byte.
_ROWVERSIONS = """
SELECT n.nspname, c.relname, convert_from(rtrim(t.tgargs, '\\x00'), current_setting('server_encoding'))
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE t.tgfoid = to_regprocedure('sys.set_rowversion()')
"""
_TYPES: dict[str, SqlType] = {
    "integer": tm.INT,
    "bigint": tm.BIGINT,
    "smallint": tm.SMALLINT,
    'sys."bit"': tm.BIT,
    "boolean": tm.BIT_KEPT_AS_BOOLEAN,
    "double precision": tm.FLOAT,
    "real": tm.REAL,
    "text": tm.NVARCHAR_MAX,
    "character varying": tm.NVARCHAR_MAX,
    "bytea": tm.VARBINARY_MAX,
    "uuid": tm.UNIQUEIDENTIFIER,
    "date": tm.DATE,
    "time without time zone": tm.TIME,
    "timestamp(3) without time zone": tm.DATETIME,
    "timestamp(0) without time zone": tm.SMALLDATETIME,
    "timestamp without time zone": SqlType("datetime2", scale=7),
    "timestamp with time zone": tm.DATETIMEOFFSET,
    "sys.xml": tm.XML,
}
_PARAMETERS: dict[str, SqlType] = {
    "numeric": tm.decimal(38, 19),
    "timestamp without time zone": tm.MOMENT,
}
"""Of parameters PostgreSQL does not keep the precision: the function itself rounds to it."""
_SIZED = re.compile(r"(character varying|character|numeric)\((\d+)(?:,(\d+))?\)")


class Knowledge:
    """Keeps a session's catalog up with the server: procedures and other sessions make tables, too.

    ``follows``: also tables that the session knows already and that somebody has changed, as at a prompt,
    where hours may pass.
    """

    def __init__(self, connection: psycopg.Connection[Any], catalog: Catalog, *, follows: bool) -> None:
        """Learn what there is. Raises psycopg.Error."""
        self._connection = connection
        self._catalog = catalog
        self._follows = follows
        self._last = 0
        self._next: tuple[int, int] | None = None
        """The greatest number that was seen, and the first transaction that had not begun then."""
        self._state = self._read_state() if follows else None
        learn_tables(connection, catalog)
        self._unknown()

    def refresh(self) -> None:
        """Learn what has come since, between two batches; what cannot be read now is left for later."""
        now = Catalog(default_database=self._catalog.default_database)
        try:
            if self._follows:
                state, self._state = self._state, self._read_state()
                if state == self._state:
                    return
            elif not self._unknown():
                return
            learn_tables(self._connection, now)
        except psycopg.DatabaseError:
            # A timeout of the script's own SET, a cancellation, a lost connection: the batches tell.
            return
        for key, info in now.tables.items():
            known = self._catalog.tables.get(key)
            if known is None or (
                self._follows and (known.is_of_server or names_of_columns(known) != names_of_columns(info))
            ):
                self._catalog.tables[key] = info
        # What the session has made itself is known better.
        self._catalog.functions = now.functions | self._catalog.functions
        self._take_synonyms(now.synonyms)
        self._catalog.types = now.types | self._catalog.types
        self._catalog.table_types = now.table_types | self._catalog.table_types
        self._catalog.not_null_types |= now.not_null_types

    def settle(self, before: KnownNames, *, failed: bool) -> None:
        """Put right, between two batches, what the last ones were compiled to make, change or drop.

        An error, an IF that was not entered or a ROLLBACK may have left it as it was ``before``.
        ``failed``: they had an error. What cannot be read now stays as the batches say.
        """
        catalog = self._catalog
        relations = _changed(before.tables, catalog.tables) | _changed(before.synonyms, catalog.synonyms)
        types = _changed(before.types, catalog.types) | _changed(before.table_types, catalog.table_types)
        if failed:  # such a statement is alone in its batch
            catalog.functions = {**catalog.functions, **before.functions}
        if not relations and not types:
            return
        asked = [(*key, False) for key in relations] + [(*key, True) for key in types]
        try:
            if _changed(before.synonyms, catalog.synonyms):
                # Behind DROP, that of another is made in a way that the batches do not tell.
                self._take_synonyms(_synonyms(self._connection))
            found = self._connection.execute(_AS_THEY_ARE, [list(part) for part in zip(*asked, strict=True)])
            columns = {tuple(key): names for *key, names in found}
            for key in types:
                is_there = columns[*key, True] is not None
                _settle(key, before.types, catalog.types, is_there)
                _settle(key, before.table_types, catalog.table_types, is_there)
                if key in before.not_null_types and catalog.types.get(key) is before.types[key]:
                    catalog.not_null_types.add(key)
            strange = [
                key for key in relations if not self._settle_relation(key, before, columns[*key, False])
            ]
            if strange:
                now = Catalog(default_database=catalog.default_database)
                learn_tables(self._connection, now)
                for key in strange:
                    if (info := now.tables.get(key)) is not None:
                        told = (catalog.tables.get(key), before.tables.get(key))
                        # What a script says of a type is more than what the server keeps of it.
                        catalog.tables[key] = next((t for t in told if t and _types(t) == _types(info)), info)
        except psycopg.DatabaseError:
            return

    def hint_of_capitals(self, name: str) -> str | None:
        """Return what to do where a table is not found because it has capitals in its name."""
        folded = fold(name.rpartition(".")[2])
        for schema, known in self._catalog.tables:
            if known != folded and fold(known) == folded:
                has = f"{quote(schema)}.{quote(known)}"
                return (
                    f"PostgreSQL has {has}; a T-SQL name is found in small letters: "
                    f"ALTER TABLE {has} RENAME TO {quote(folded)}, and its columns likewise"
                )
        return None

    def _settle_relation(
        self, key: tuple[str, str], before: KnownNames, columns: Sequence[str] | None
    ) -> bool:
        """Take what was known of a relation before or behind the batches; False where neither is it."""
        catalog = self._catalog
        _settle(key, before.synonyms, catalog.synonyms, columns is not None)
        was, tables = before.tables.get(key), catalog.tables
        if columns is None or key in catalog.synonyms:
            tables.pop(key, None)
        elif (known := tables.get(key)) is None or names_of_columns(known) != columns:
            if was is None or names_of_columns(was) != columns:
                return False
            tables[key] = was
        elif was is not None and names_of_columns(was) == columns and _types(was) != _types(known):
            return False  # ALTER COLUMN, which may have failed
        return True

    def _take_synonyms(self, there: Mapping[tuple[str, str], ObjectName]) -> None:
        """Take what synonyms stand for on the server; the catalog's spelling where it is the same."""
        known, sql_name = self._catalog.synonyms, self._catalog.sql_name
        known |= {
            key: target
            for key, target in there.items()
            if key not in known or sql_name(known[key]) != sql_name(target)
        }

    def _read_state(self) -> tuple[Any, ...] | None:
        return read_state(self._connection)

    def _unknown(self) -> bool:
        """Whether the server has got tables or views that the catalog does not have, or a synonym anew."""
        found = self._connection.execute(_MADE_SINCE, [self._last]).fetchall()
        (first, following), made = found[0][:2], [row[2:] for row in found if row[2] is not None]
        # Who was under way may have made a table with a smaller number than one that was there already.
        if self._next is None or first >= self._next[1]:
            if self._next is not None:
                self._last = self._next[0]
            self._next = max((number for number, *_ in made), default=self._last), following
        tables, synonyms = self._catalog.tables, self._catalog.synonyms
        keys = [(schema, name) for _, schema, name in made]
        return any(key not in tables or key in synonyms for key in keys)


def read_state(connection: psycopg.Connection[Any]) -> tuple[Any, ...] | None:
    """Return what is another as soon as `learn_tables` would find something else. Raises psycopg.Error."""
    return connection.execute(_STATE).fetchone()


Name = tuple[str, str]


def _synonyms(connection: psycopg.Connection[Any]) -> dict[Name, ObjectName]:
    return {
        (schema, name): ObjectName(target, target_schema, database)
        for schema, name, target, target_schema, database in connection.execute(_SYNONYMS)
    }


def _changed(before: Mapping[Name, object], now: Mapping[Name, object]) -> set[Name]:
    return {key for key in before.keys() | now.keys() if before.get(key) is not now.get(key)}


def _settle(key: Name, before: Mapping[Name, V], now: dict[Name, V], is_there: bool) -> None:
    """Keep in ``now`` what is there, and nothing else: what a batch dropped and is there was there before."""
    if not is_there:
        now.pop(key, None)
    elif key not in now and key in before:
        now[key] = before[key]


def _types(table: TableInfo) -> list[tuple[str, str | None, bool]]:
    """The columns with their types as PostgreSQL's, and whether they may be NULL."""
    return [
        (fold(column.name), column.type.postgres if column.type else None, column.nullable)
        for column in table.columns
    ]


_NULLS_NOT_DISTINCT = 150000
"""The first version with that."""


def learn_tables(connection: psycopg.Connection[Any], catalog: Catalog) -> None:
    """Add the server's tables, views, functions and alias types to ``catalog``. Raises psycopg.Error."""
    told = connection.execute(
        "SELECT ssb.nvarchar_encoding() = 'utf16', EXISTS (SELECT FROM ssb_internal.unbound_views())"
    ).fetchone()
    national, has_unbound = told or (False, False)
    catalog.tells_varchar = national
    catalog.has_dropped = catalog.has_dropped or has_unbound
    catalog.nulls_are_equal = connection.info.server_version >= _NULLS_NOT_DISTINCT
    catalog.knows_server = True
    keys: dict[tuple[str, str], list[KeyInfo]] = {}
    for schema, name, primary, columns in connection.execute(_KEYS):
        keys.setdefault((schema, name), []).append(KeyInfo(tuple(columns), primary=primary))
    for row in connection.execute(_TABLES):
        key, info = _relation(row, national)
        catalog.tables[key] = replace(info, keys=() if info.is_queue else tuple(keys.get(key, ())))
    has_rows_of_functions = False
    for schema, name, returns_rows, is_one, result, parameters in connection.execute(_FUNCTIONS):
        has_rows_of_functions = has_rows_of_functions or returns_rows
        if not is_one:
            continue
        # A result has no precision: a timestamp may be a datetime as well as a datetime2.
        told = result is not None and not result.startswith(("timestamp", "time"))
        known_result = type_of(result, national) if told else None
        catalog.functions[schema, name] = UserFunction(
            known_result,
            tuple(_PARAMETERS.get(one) or type_of(one, national) for one in parameters),
        )
    # Planned for nothing where there are none, it would be the most expensive statement here.
    for row in connection.execute(_ROWS_OF_FUNCTIONS) if has_rows_of_functions else ():
        schema, name, spelled, _, *columns = row
        result = tuple(_column(national, *parts) for parts in zip(*columns, strict=True))
        function = TableInfo(ObjectName(spelled, schema), result, read_only=True, is_of_server=True)
        catalog.tables.setdefault((schema, name), function)
    catalog.synonyms |= _synonyms(connection)
    for schema, name, start, end, start_is_hidden, end_is_hidden in connection.execute(_PERIODS):
        _add_period(catalog, (schema, name), {start: start_is_hidden, end: end_is_hidden})
    for schema, name, versioned in connection.execute(_ROWVERSIONS):
        _add_rowversion(catalog, (schema, name), versioned)
    for schema, name, base, kept, not_null in connection.execute(_DOMAINS):
        known = _told(kept, base) or type_of(base, national)
        if known is not None:
            catalog.types[schema, name] = known
            if not_null:
                catalog.not_null_types.add((schema, name))
    for schema, name, description in connection.execute(_TABLE_TYPES, [TABLE_TYPE_COMMENT]):
        rows = _table_type(description.removeprefix(TABLE_TYPE_COMMENT), catalog)
        if rows is not None:
            catalog.table_types[schema, name] = TableType(f"{quote(schema)}.{quote(name)}", rows)


def relations_of_text(rows: Sequence[Sequence[Any]], catalog: Catalog) -> dict[Name, TableInfo]:
    """Return what ssb_internal.relations_of_text tells of relations, by their keys in ``catalog``."""
    return dict(_relation(row, catalog.tells_varchar) for row in rows)


def _relation(row: Sequence[Any], national: bool) -> tuple[Name, TableInfo]:
    """Return what ssb_internal.described_relation tells of a table, view or queue, and its key."""
    schema, name, spelled, kind, *columns = row
    if kind == "queue":
        # Its view has no lengths.
        return (schema, name), replace(queue_table(ObjectName(spelled, schema)), is_of_server=True)
    object_name = ObjectName(spelled, schema)
    return object_name.parts("", None) if object_name.is_temporary else (schema, name), TableInfo(
        object_name,
        tuple(_column(national, *parts) for parts in zip(*columns, strict=True)),
        read_only=kind in ("v", "m"),
        is_of_server=True,
    )


def _add_period(catalog: Catalog, table: tuple[str, str], hidden: dict[str, bool]) -> None:
    """Mark the period's columns of a table, with whether each is hidden."""
    known = catalog.tables.get(table)
    if known is None:
        # Another session has made it since the tables were read.
        return
    catalog.tables[table] = replace(
        known,
        versioned=True,
        columns=tuple(
            replace(column, generated=True, hidden=hidden[fold(column.name)])
            if fold(column.name) in hidden
            else column
            for column in known.columns
        ),
    )


def _add_rowversion(catalog: Catalog, table: tuple[str, str], name: str) -> None:
    """Mark the rowversion column of a table."""
    known = catalog.tables.get(table)
    if known is not None:
        columns = tuple(
            replace(column, type=SqlType("rowversion")) if fold(column.name) == name else column
            for column in known.columns
        )
        catalog.tables[table] = replace(known, columns=columns)


def _table_type(definition: str, catalog: Catalog) -> TableInfo | None:
    source = Source("table type", definition)
    problems = Problems()
    text = SqlText(span=source.span(0, len(definition)), tokens=tuple(lex(source, problems)))
    return translate_table_variable(text, "", Scope(catalog), problems)


def _told(kept: str | None, written: str) -> SqlType | None:
    """The type that a comment tells of what PostgreSQL has as ``written``.

    None where that is none of its: who alters a column in PostgreSQL does not ask its comment.
    """
    told = tm.kept_type(kept) if kept is not None else None
    if told is None:
        return None
    # In a view PostgreSQL keeps no digits.
    is_so = written.startswith(told.postgres) or (written == "numeric" and told.postgres.startswith(written))
    return told if is_so else None


def _column(
    national: bool,
    name: str,
    type_: str,
    not_null: bool,
    identity: str | None,
    computed: str | None,
    kept: str | None,
) -> ColumnInfo:
    is_varchar = kept == "varchar"
    known = type_of(type_, national and not is_varchar)
    if known is not None and is_varchar and known.is_unicode:
        known = replace(known, name="varchar")  # varchar(max), of which the server's type tells nothing
    known = _told(kept, type_) or known
    return ColumnInfo(
        name,
        known,
        nullable=not not_null,
        identity=(1, 1) if identity else None,
        by_default=identity == "BY DEFAULT",
        # As the server spells it.
        computed=n.Deparsed(computed) if computed is not None else None,
    )


_TIMED = re.compile(r"(timestamp|time)\((\d)\) (with|without) time zone")
_TIMED_NAMES = {
    ("timestamp", "without"): "datetime2",
    ("timestamp", "with"): "datetimeoffset",
    ("time", "without"): "time",
    ("time", "with"): "time",
}


def type_of(written: str, national: bool) -> SqlType | None:
    """The T-SQL type that a PostgreSQL one, as format_type writes it, stands for; None for others.

    Whether a varchar was an nvarchar PostgreSQL does not keep. ``national``, where their bytes differ: it was
    the one that is kept as SQL Server keeps it, unless its comment or a cast says otherwise.
    """
    known = _TYPES.get(written)
    if known is not None:
        return known
    timed = _TIMED.fullmatch(written)
    if timed is not None:
        # A seventh decimal is not kept.
        return SqlType(_TIMED_NAMES[timed[1], timed[3]], scale=7 if timed[2] == "6" else int(timed[2]))
    sized = _SIZED.fullmatch(written)
    if sized is None:
        return None
    numbers: Sequence[int] = [int(number) for number in sized.groups()[1:] if number is not None]
    match sized[1]:
        case "character varying":
            return tm.nvarchar(numbers[0]) if national else tm.varchar(numbers[0])
        case "character":
            return SqlType("nchar" if national else "char", length=numbers[0])
        case _:
            return tm.decimal(numbers[0], numbers[1] if len(numbers) > 1 else 0)
