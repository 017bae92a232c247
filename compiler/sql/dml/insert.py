"""INSERT and SELECT … INTO."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from ....grammar.problems import NAME_MISSING
from ....grammar.records import dataclass, replace
from ....grammar.tokens import Token
from ...catalog import types as tm
from ...catalog.builtin_relations import QUEUE_COLUMNS
from ...catalog.names import AGGREGATES, COLUMNS_OF, ObjectName, fold, is_placeholder, refusal_of_schema
from ...catalog.objects import ColumnInfo, TableInfo, TableVariable
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ..assignments import store
from ..context import Context, Relation, changed_table_variable, object_name
from ..conversions import reconcile
from ..ddl.system_versioning import explicit_value
from ..ddl.tables import holding_of_global, keeping_of_column_types, keeping_of_spelling
from ..dispatch import handles, query_tree, translates
from ..expressions.names import scalar
from ..interface import Dml, InsertTarget, TableVariableDml
from ..parse.dml import Insert, read_insert
from ..parse.nodes import NextValue, SetVariable, is_default, is_variable
from ..query.from_clause import ROWS_DIFFER
from ..query.lock_hints import locks_whole_table
from ..query.row_limits import changing_top, limited, top_rows
from ..query.set_operations import ctes
from ..query_result import ROWS, QueryTree, Targets
from ..values import Value
from .columns import (
    advance_identity,
    fillable,
    refuse_computed,
    refuse_count,
    refuse_explicit,
    refuse_implicit,
    refuse_numbers,
    refuse_repeated,
    refuse_unlisted,
)
from .nested import find as find_composed
from .nested import rows as composed_rows
from .output import Changing, finish
from .set_clause import share_next_values
from .table_variable_rows import is_rowversion, needs_query
from .table_variables import insert_into_variable
from .update_delete import delete, update

__all__ = ["delete", "insert", "insert_target", "select_into", "update"]

MOST_ROWS = 1000
"""Of the VALUES of an INSERT (error 10738); VALUES as a derived table may have more."""


@dataclass
class Target:
    """What an INSERT fills."""

    name: ObjectName
    sql: str
    info: TableInfo | None
    variable: TableVariable | None = None


def _target(table: exp.Table, ctx: Context) -> Target | None:
    name = object_name(table)
    if is_variable(table):
        variable = changed_table_variable(name.name, table, ctx)
        if variable is None:
            return None
        return Target(name, "", variable.info, variable)
    if name.server:
        ctx.refuse_server(table)
        return None
    info = ctx.scope.table(name)
    ctx.reads(name, info)
    if info is None:
        ctx.unknown(name, table)
    return Target(name, ctx.relation_name(name), info)


def _columns(statement: Insert, target: Target, ctx: Context) -> list[ColumnInfo] | None:
    """The columns to fill, in order; None when no list is given and the table is unknown."""
    info = target.info
    if statement.columns:
        columns = []
        refuse_repeated(statement.columns, ctx)
        for node in statement.columns:
            known = _find(info, node.name)
            if known is not None and known.computed is not None:
                refuse_computed(node, ctx)
            if known is None and target.variable is not None:
                ctx.problem(f"Invalid column name '{node.name}'.", node, number=207)
            elif known is None:
                ctx.unbound_target(node, target.name, info)
            columns.append(known or ColumnInfo(node.name, None))
        return columns
    if info is None:
        return None
    return fillable(info.columns, identity=ctx.scope.identity_insert(target.name), versions=True)


def _find(info: TableInfo | None, name: str) -> ColumnInfo | None:
    for column in info.columns if info is not None else ():
        if fold(column.name) == fold(name):
            return column
    return None


def _refuse_explicit(
    statement: Insert, columns: list[ColumnInfo] | None, target: Target, ctx: Context
) -> tuple[n.Node, ...]:
    if target.variable is not None:
        return refuse_numbers((columns or ()) if statement.columns else (), target.name.name)
    names = [node.name for node in statement.columns] if statement.columns or statement.defaults else None
    return (
        *refuse_explicit((columns or ()) if statement.columns else (), target.name, target.sql, ctx),
        *refuse_implicit(names, target.info, target.name, target.sql, ctx),
    )


def insert_target(tokens: tuple[Token, ...], ctx: Context) -> InsertTarget | None:
    """The part of INSERT … EXEC in front of EXEC."""
    statement = read_insert(list(tokens), ctx.reader)
    if statement.outputs:
        ctx.problem("The OUTPUT clause cannot be used in an INSERT...EXEC statement.", number=483)
    target = _target(statement.target, ctx)
    if target is None:
        return None
    columns = _columns(statement, target, ctx)
    return InsertTarget(
        target.sql,
        tuple(columns) if columns is not None else None,
        target.variable,
        overriding=ctx.scope.identity_insert(target.name),
        before=_refuse_explicit(statement, columns, target, ctx),
    )


@translates("INSERT")
def insert(tokens: list[Token], ctx: Context) -> Dml | TableVariableDml | None:
    """Translate an INSERT statement."""
    composed = find_composed(tokens)
    statement = read_insert(composed.outer if composed is not None else tokens, ctx.reader)
    if statement.execute:
        ctx.problem("incorrect syntax: INSERT needs VALUES, a SELECT, DEFAULT VALUES or EXEC", number=102)
        return None
    target = _target(statement.target, ctx)
    if target is None:
        return None
    if target.variable is None and locks_whole_table(_hints_of(statement.target), changes=True):
        ctx.locks[s.LockTable(n.Variable(target.sql), "EXCLUSIVE")] = None
    definitions, recursive = ctes(statement.with_, ctx)
    before: tuple[n.Node, ...] = ()
    after: tuple[n.Node, ...] = ()
    if composed is not None:
        inner = composed_rows(composed, ctx)
        if inner is None:
            return None
        definitions += inner.definitions
        recursive = recursive or inner.recursive
        before, after = inner.before, inner.after
    columns = _columns(statement, target, ctx)
    statement.top = changing_top(statement.top, ctx)
    plain = statement.top is None and (target.variable is None or not needs_query(target.variable))
    if plain and target.variable is not None and not statement.with_ and composed is None:
        _values_of_one_row(statement, columns or [])
    if plain and columns is not None and statement.rows is not None and len(statement.rows) == 1:
        names = [column.name for column in columns]
        share_next_values(zip(names, statement.rows[0].expressions, strict=False), target.info, ctx)
    rows = _rows(statement, columns, target, ctx) if statement.rows is not None else None
    query = _query(statement, columns, target, ctx) if statement.query is not None else None
    if rows is not None and statement.top is not None:
        rows, query = top_rows(rows, [column.type for column in columns or ()], statement.top, ctx)
    if target.variable is not None:
        added = insert_into_variable(
            statement, target.variable, columns or [], rows, query, definitions, recursive, ctx
        )
        refused = _refuse_explicit(statement, columns, target, ctx)
        return replace(added, before=(*refused, *added.before)) if refused and added is not None else added
    source: n.Node = s.DEFAULT_VALUES
    if rows is not None:
        source = q.Values(tuple(tuple(cell.code for cell in row) for row in rows))
    elif query is not None:
        source = limited(query, statement.top, ctx)
    unlisted = columns is None and not statement.defaults
    if unlisted and ctx.scope.is_module and not is_placeholder(target.sql):
        # PostgreSQL would fill the identity column with the first value.
        count = n.Integer(len(rows[0])) if rows else n.NULL
        before = (*before, s.Effect(n.Call("ssb_internal.refuse_identity", (n.Text(target.sql), count))))
    before = (*before, *_refuse_explicit(statement, columns, target, ctx))
    everything = target.info is not None and columns is not None and len(columns) == len(target.info.columns)
    listed = columns if statement.columns or not everything else None
    changing = Changing(
        definitions,
        recursive,
        s.Insert(
            n.Variable(_with_columns(target.sql) if unlisted else target.sql),
            () if statement.defaults else tuple(fold(column.name) for column in listed or ()),
            source,
            overriding=not statement.defaults and ctx.scope.identity_insert(target.name),
        ),
        before=before,
        identity=_may_set_identity(target),
        target=target.sql,
        after=(*after, *advance_identity(target.name, target.sql, ctx)),
    )
    inserted = Relation(
        "inserted",
        target.info.columns if target.info is not None else None,
        bare=True,
        stored=ctx.stored_name(target.name, target.info),
    )
    return finish(changing, statement.outputs, [inserted], ctx)


def _hints_of(table: exp.Table) -> frozenset[str]:
    return frozenset(hint.name.upper() for hint in table.args.get("hints") or ())


def _with_columns(table: str) -> str:
    """A table that only the run time knows, followed by what the run time knows of its columns."""
    return f"{table} {COLUMNS_OF}{table}" if is_placeholder(table) else table


def _may_set_identity(target: Target) -> bool:
    return target.info is None or any(column.identity is not None for column in target.info.columns)


_EXPLICIT_ROWVERSION = (
    "Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the "
    "timestamp column, or insert a DEFAULT into the timestamp column."
)


def _rows(
    statement: Insert, columns: list[ColumnInfo] | None, target: Target, ctx: Context
) -> list[list[Value]]:
    """The rows of VALUES, converted to the columns' types; DEFAULT stays a word."""
    if len(statement.rows or []) > MOST_ROWS:
        ctx.problem(
            "The number of row value expressions in the INSERT statement exceeds the maximum allowed number "
            f"of {MOST_ROWS} row values.",
            (statement.rows or [])[MOST_ROWS],
            number=10738,
            hint="insert them by several statements, or SELECT from VALUES as a derived table",
        )
        return []
    rows: list[list[Value]] = []
    width = len(columns) if columns is not None else len((statement.rows or [exp.Tuple()])[0].expressions)
    for node in statement.rows or []:
        if len(node.expressions) != width:
            alike = len({len(row.expressions) for row in statement.rows or []}) == 1
            if columns is None or not alike:
                ctx.problem(ROWS_DIFFER, node, number=10709)
            elif statement.columns:
                refuse_count(width, len(node.expressions), node, ctx)
            else:
                refuse_unlisted(len(node.expressions), target.info, target.name, node, ctx)
            return []
        row = []
        for place, cell in enumerate(node.expressions):
            if is_default(cell):
                row.append(Value(n.DEFAULT))
                continue
            if columns is not None and is_rowversion(columns[place]):
                ctx.problem(_EXPLICIT_ROWVERSION, cell, number=273)
                return []
            if columns is not None and columns[place].generated:
                explicit_value(object_name(statement.target), cell, ctx)
                return []
            row.append(scalar(cell, ctx))
        rows.append(row)
    if len(rows) > 1:
        _agree(rows, columns)
    if columns is None:
        return rows
    return [
        [
            value if is_default(cell) else store(ctx.implicitly(value, column.type, cell), column.type)
            for value, column, cell in zip(row, columns, node.expressions, strict=True)
        ]
        for row, node in zip(rows, statement.rows or [], strict=True)
    ]


def _values_of_one_row(statement: Insert, columns: list[ColumnInfo]) -> None:
    """``INSERT @t SELECT @a, @b`` becomes VALUES.

    One row is appended in place, where a query copies all rows that are there.
    """
    query = statement.query
    if not isinstance(query, exp.Select) or any(
        value for key, value in query.args.items() if key != "expressions"
    ):
        return
    items = [item.unalias() for item in query.expressions]
    if len(items) == len(columns) and not any(map(_is_of_select_alone, items)):
        statement.rows, statement.query = [exp.Tuple(expressions=items)], None


def _is_of_select_alone(item: exp.Expr) -> bool:
    """Tell whether an item may not stand in VALUES, or means something else there."""
    if is_default(item) or isinstance(item, SetVariable):
        return True
    return any(
        isinstance(node, exp.Query | exp.Star | exp.Window | exp.WithinGroup | NextValue)
        or (isinstance(node, exp.Anonymous) and node.name.upper() in AGGREGATES)
        for node in item.walk()
    )


_BEFORE_STRINGS = frozenset(
    {"integer", "bit", "decimal", "float", "date", "time", "datetime", "datetimeoffset"}
)
"""Families that a string beside them is converted to."""


def _agree(rows: list[list[Value]], columns: list[ColumnInfo] | None) -> None:
    """Rows of different types in a column: converted to the common one, as those of UNION ALL.

    Where the column's type is known this matters for strings alone, which may not be numbers or dates.
    """
    for place in range(len(rows[0])):
        cells = [row[place] for row in rows]
        if any(cell.code is n.DEFAULT for cell in cells):
            continue
        if columns is None or columns[place].type is None:
            _replace(rows, place, reconcile(cells)[0])
        elif columns[place].type != tm.VARIANT and any(cell.family in _BEFORE_STRINGS for cell in cells):
            agreed = reconcile(cells)[0]
            texts = [cell.is_string for cell in cells]
            _replace(rows, place, [b if text else a for a, b, text in zip(cells, agreed, texts, strict=True)])


def _replace(rows: list[list[Value]], place: int, cells: list[Value]) -> None:
    for row, cell in zip(rows, cells, strict=True):
        row[place] = cell


def _query(statement: Insert, columns: list[ColumnInfo] | None, target: Target, ctx: Context) -> n.Node:
    assert statement.query is not None
    if any(column.generated for column in columns or ()):
        explicit_value(object_name(statement.target), statement.query, ctx)
    targets = Targets([column.type for column in columns], store=True) if columns is not None else None
    result = query_tree(statement.query, ctx, targets=targets)
    if result.columns is not None and columns is not None and len(result.columns) != len(columns):
        fewer = len(result.columns) < len(columns)
        if statement.columns:
            ctx.problem(
                f"The select list for the INSERT statement contains {'fewer' if fewer else 'more'} items "
                "than the insert list. The number of SELECT values must match the number of INSERT columns.",
                statement.query,
                number=120 if fewer else 121,
            )
        else:
            refuse_unlisted(len(result.columns), target.info, target.name, statement.query, ctx)
    elif any(map(is_rowversion, columns or ())):
        ctx.problem(_EXPLICIT_ROWVERSION, statement.target, number=273)
    return result.code


# ---------------------------------------------------------------- SELECT … INTO


def first_select(node: exp.Expr) -> exp.Expr:
    """The first SELECT of a query: INTO stands in it, whatever UNION, EXCEPT and INTERSECT follow."""
    while isinstance(node, (exp.SetOperation, exp.Subquery)):
        node = node.this
    return node


def select_into(node: exp.Expr, ctx: Context) -> Dml | None:
    """``SELECT … INTO t FROM …``: CREATE TABLE … AS."""
    node = node.copy()
    into = first_select(node).args["into"]
    table = into.this
    if isinstance(table, exp.Table) and table.args.get("this") is None:
        table = into.find(exp.Table)
    first_select(node).set("into", None)
    identities = _identity_items(node, ctx)
    name = object_name(table)
    if is_variable(table):
        ctx.problem("SELECT … INTO makes a table; use INSERT for a table variable", table, number=102)
        return None
    result = query_tree(node, ctx, targets=ROWS)
    infos: tuple[ColumnInfo, ...] = ()
    if result.columns is not None:
        names: set[str] = set()
        for column in result.columns:
            if column.name is None:
                ctx.problem(NAME_MISSING, node, number=1038)
            elif fold(column.name) in names:
                ctx.problem(
                    f"Column names in each table must be unique. Column name '{column.name}' in table "
                    f"'{name.name}' is specified more than once.",
                    node,
                    number=2705,
                )
            names.add(fold(column.name or ""))
        nullable = [value.nullable for value in result.values or []]
        infos = tuple(
            ColumnInfo(
                column.name or "",
                column.type,
                nullable=nullable[place] if place < len(nullable) else True,
                identity=identities.get(fold(column.name or "")),
            )
            for place, column in enumerate(result.columns)
        )
    if name.is_of_system:
        return Dml(s.Effect(refusal_of_schema(name)), target=ctx.defined_name(name))
    sql = ctx.relation_name(name)
    after: list[n.Node] = []
    for column_name, (seed, increment) in identities.items():
        key = fold(column_name)
        counting = s.AddIdentity(seed, increment)
        actions = (s.AlterColumn(key, s.SET_NOT_NULL), s.AlterColumn(key, counting))
        after.append(s.AlterTable(sql, actions, short=True))
        sequence = n.Call("pg_get_serial_sequence", (n.Text(sql), n.Text(key)))
        highest = q.Select((n.Call("max", (n.Name((key,)),)),), n.Variable(sql), breaks=q.Breaks.NEVER)
        after.append(s.Effect(n.Call("setval", (sequence, n.Subquery(highest)))))
    after += keeping_of_spelling(name, sql, [column.name for column in infos])
    after += keeping_of_column_types(name, sql, infos, ctx)
    defines = (TableInfo(name, infos, partial=result.columns is None),) if infos else ()
    return Dml(
        s.CreateTableAs(n.Variable(sql), _with_lengths(node, result, ctx)),
        before=tuple(holding_of_global(name, sql)),
        after=tuple(after),
        defines=defines,
        target=sql,
    )


_QUEUE_TEXTS = {column.name: column.type for column in QUEUE_COLUMNS if column.type and column.type.is_string}


def _with_lengths(node: exp.Expr, result: QueryTree, ctx: Context) -> n.Node:
    """The query of SELECT … INTO; names from a queue, whose view has them as text, get their types."""
    columns = result.columns or ()
    names = [fold(column.name or "") for column in columns]
    items = node.expressions
    # A star is in the list: then nothing but a column's own name tells what it is.
    plain = len(items) == len(columns) and not any(item.is_star for item in items)
    sources = [fold(item.unalias().name) for item in items] if plain else names
    texts = [
        column.type if column.type is not None and _QUEUE_TEXTS.get(source) == column.type else None
        for source, column in zip(sources, columns, strict=True)
    ]
    if not any(texts) or len(set(names)) < len(names) or not _reads_queue(node, ctx):
        return result.code
    casts: list[n.Node] = []
    for name, type_ in zip(names, texts, strict=True):
        column = n.Name((name,))
        casts.append(column if type_ is None else q.Labelled(n.Cast(column, type_.postgres), name))
    return q.Select(tuple(casts), q.Aliased(n.Subquery(result.code), "r"))


def _reads_queue(node: exp.Expr, ctx: Context) -> bool:
    return any(
        (info := ctx.scope.table(object_name(table))) is not None and info.is_queue
        for table in node.find_all(exp.Table)
    )


def _whole_number(node: exp.Expr) -> int | None:
    """The value of an integer constant with its sign; None for anything else."""
    sign, inner = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
    digits = inner.name if isinstance(inner, exp.Literal) and not inner.is_string else ""
    return sign * int(digits) if digits.isdecimal() else None


def _identity_items(node: exp.Expr, ctx: Context) -> dict[str, tuple[int, int]]:
    """Replace ``IDENTITY(int, 1, 1) AS id`` by the rows' numbers; the table then gets the identity."""
    found: dict[str, tuple[int, int]] = {}
    for item in node.expressions:
        call = item.this if isinstance(item, exp.Alias) else item
        if not isinstance(call, exp.Anonymous) or call.name.upper() != "IDENTITY":
            continue
        if not isinstance(item, exp.Alias):
            ctx.problem(NAME_MISSING, call, number=1038)
            continue
        if not call.expressions:
            ctx.problem("IDENTITY(…) in SELECT … INTO needs a type", call, number=102)
            continue
        numbers = [number for part in call.expressions[1:] if (number := _whole_number(part)) is not None]
        if len(numbers) != len(call.expressions) - 1 or len(numbers) > 2:
            ctx.problem("the seed and the increment of IDENTITY(…) are whole numbers", call, number=102)
            continue
        seed, increment = [*numbers, 1, 1][:2] if numbers else (1, 1)
        found[fold(item.alias)] = (seed, increment)
        call.replace(RowNumber(seed=seed, increment=increment, type=call.expressions[0].name))
    return found


class RowNumber(exp.Expression):
    """The identity values of SELECT IDENTITY(…) … INTO."""

    arg_types: ClassVar[dict[str, bool]] = {"seed": True, "increment": True, "type": True}


@handles(RowNumber)
def _row_number(node: RowNumber, ctx: Context) -> Value:
    seed, increment = node.args["seed"], node.args["increment"]
    try:
        type_ = tm.sql_type(node.args["type"])
    except tm.TypeError_:
        type_ = tm.INT
    number: n.Node = n.Over(n.Call("row_number"))
    if (seed, increment) != (1, 1):
        steps = n.Product("*", n.Sum("-", number, n.Integer(1)), n.integer(increment))
        number = n.Sum("+", n.integer(seed), steps)
    return Value(n.Cast(number, type_.postgres), type_, nullable=False)
