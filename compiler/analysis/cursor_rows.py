"""WHERE CURRENT OF: which cursors are named so, and how the row that one stands on is found again.

The cursor's query gives the row's primary key besides its columns where the script tells the
key and no UPDATE at the cursor changes it, else the row's ctid, which an UPDATE at the cursor
renews. Both come behind the columns that FETCH sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot import exp

from ...grammar.records import dataclass
from ...grammar.tokens import Token
from .. import nodes
from ..catalog.names import AGGREGATES, ObjectName, fold
from ..catalog.objects import RowPlace, TableInfo
from ..sql.parse.dml import from_items, read_delete, read_update
from ..sql.parse.token_reader import placed_like
from ..sql.parse.tokens import Unreadable, to_sqlglot
from ..sql.parse.trees import READERS

__all__ = ["LocatedTable", "RowPlace", "located_cursors", "with_row_place"]


_GROUPING = ("distinct", "group", "having")


@dataclass(frozen=True)
class LocatedTable:
    """The table that is changed at a cursor, and the columns that UPDATE sets there."""

    name: ObjectName
    changed: frozenset[str]


def located_cursors(body: Sequence[nodes.Statement]) -> dict[str, LocatedTable]:
    """Return the cursors that UPDATE or DELETE … WHERE CURRENT OF name, with the tables they change."""
    result: dict[str, LocatedTable] = {}
    for statement in nodes.all_of(body):
        if (
            isinstance(statement, nodes.SqlStatement)
            and statement.kind in ("UPDATE", "DELETE")
            and ("CURRENT", "OF") in pairwise(statement.text.words)
        ):
            for cursor, table in _at_cursor(statement):
                before = result[cursor].changed if cursor in result else frozenset()
                result[cursor] = LocatedTable(table.name, table.changed | before)
    return result


def _at_cursor(statement: nodes.SqlStatement) -> Iterator[tuple[str, LocatedTable]]:
    """Yield the cursor and the table of UPDATE or DELETE; nothing where the statement cannot be read."""
    read = read_update if statement.kind == "UPDATE" else read_delete
    try:
        change = read(list(statement.text.tokens), READERS.reader)
    except (Unreadable, RecursionError):
        return  # reported where it is translated
    if change.cursor is not None:
        named = [item for item in from_items(change) if isinstance(item, exp.Table) and item.alias]
        wanted = fold(change.target.name)
        table = next((item for item in named if fold(item.alias) == wanted), change.target)
        name = ObjectName(table.name, table.db or None, table.catalog or None)
        changed = frozenset(fold(item.column.name) for item in change.sets if item.column is not None)
        yield fold(change.cursor.lstrip("@")), LocatedTable(name, changed)


def with_row_place(
    text: nodes.SqlText, table: LocatedTable, info: TableInfo | None
) -> tuple[exp.Select, RowPlace] | None:
    """Return a cursor's query with, behind its columns, what finds the row of ``table`` again.

    None where a row of the query is no single row of the table.
    """
    select = _updatable(text.tokens)
    item = _named(table.name, select) if select is not None else None
    if select is None or item is None:
        return None
    key = next((key.columns for key in info.keys if key.primary), None) if info is not None else None
    if key is not None and not table.changed.isdisjoint(map(fold, key)):
        key = None
    columns: list[tuple[str, str]] = []
    for name in key or ():
        column = next((c for c in info.columns if fold(c.name) == fold(name)), None) if info else None
        if column is None or column.type is None:
            columns.clear()
            break
        columns.append((name, column.type.postgres))
    if item.name.startswith("@") and not item.alias:
        # What T-SQL has no name for: columns of a table variable.
        item.set("alias", exp.TableAlias(this=exp.Identifier(this="pgsb_rows", quoted=True)))
    for number, name in enumerate([name for name, _ in columns] or ["ctid"], 1):
        # Under a name of its own: ORDER BY may name a column of the query that has the same.
        alias = exp.Identifier(this=f"pgsb_place_{number}", quoted=True)
        select.append("expressions", exp.Alias(this=_column_of(item, name), alias=alias))
    return select, RowPlace(tuple((fold(name), type_) for name, type_ in columns) or (("ctid", "tid"),))


def _named(table: ObjectName, select: exp.Select) -> exp.Table | None:
    """The table of a query that a name means: of several with the same, that of its schema."""
    found = [one for one in _tables(select) if fold(one.name) == fold(table.name)]
    schema = fold(table.schema or "dbo")
    return next((one for one in found if fold(one.db or "dbo") == schema), found[0] if found else None)


def _column_of(table: exp.Table, name: str) -> exp.Column:
    """A column, at the place where the table is named."""
    parts = (exp.Identifier(this=part, quoted=True) for part in (name, table.alias or table.name))
    column, relation = (placed_like(part, table.this) for part in parts)
    return exp.Column(this=column, table=relation)


def _updatable(tokens: Sequence[Token]) -> exp.Select | None:
    """Return a cursor's query where each of its rows is one row of each table."""
    reader = READERS.reader
    try:
        query = reader.whole(to_sqlglot(tokens), reader.query)
    except (Unreadable, RecursionError):
        return None  # reported where it is translated
    if not isinstance(query, exp.Select) or any(query.args.get(key) for key in _GROUPING):
        return None
    asked = [*query.expressions, *filter(None, [query.args.get("order")])]
    own = (node for value in asked for node in value.walk(prune=_has_rows_of_its_own))
    return None if any(isinstance(n, exp.Anonymous) and n.name.upper() in AGGREGATES for n in own) else query


def _has_rows_of_its_own(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query | exp.Window)


def _tables(item: exp.Expr) -> Iterator[exp.Table]:
    """Yield the tables that FROM names, those in a joined table in parentheses too."""
    from_ = item.args.get("from_")
    for one in [from_ and from_.this, *(join.this for join in item.args.get("joins") or ())]:
        if isinstance(one, exp.Table):
            yield one
        if isinstance(one, exp.Subquery) and isinstance(one.this, exp.Table):
            yield from (one.this, *_tables(one.this))
