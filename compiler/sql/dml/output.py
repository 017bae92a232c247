"""OUTPUT: rows of INSERT, UPDATE, DELETE and MERGE that go to the client, a table or a table variable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ...catalog.names import fold, is_placeholder, is_temporary
from ...catalog.objects import ColumnInfo, ResultColumn, TableInfo
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ..context import Context, OutputItem, Relation, object_name
from ..expressions.names import own_name, scalar
from ..interface import Dml, TableVariableDml
from ..parse.dml import Output
from ..parse.nodes import is_variable
from ..values import Value
from .columns import fillable, fitted
from .table_variable_rows import rows_into


def output_items(
    output: Output, relations: list[Relation], ctx: Context, target: str | None = None
) -> list[OutputItem]:
    """Translate the items of OUTPUT with ``inserted``, ``deleted`` and the FROM relations in scope.

    ``target``: the table that is changed, where ``*`` of its rows may be left to the run time.
    """
    frame = ctx.push()
    frame.relations = relations
    items: list[OutputItem] = []
    for node in output.items:
        inner = node.this if isinstance(node, exp.Alias) else node
        if (subquery := inner.find(exp.Query)) is not None:
            ctx.problem("Subqueries are not allowed in the OUTPUT clause.", subquery, number=10705)
            continue
        if isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star):
            items += _star(inner, relations, ctx, target)
            continue
        value = scalar(inner, ctx)
        name = node.alias if isinstance(node, exp.Alias) else own_name(inner)
        items.append(OutputItem(value.code, name, value, node))
    ctx.pop()
    return items


def _star(node: exp.Column, relations: list[Relation], ctx: Context, target: str | None) -> list[OutputItem]:
    wanted = fold(node.parts[-2].name)
    for relation in relations:
        if relation.alias == wanted:
            every_of = target if wanted in ("inserted", "deleted") else None
            if relation.columns is None or relation.partial or _follows(relation, every_of, ctx):
                return [OutputItem(relation.every(), "*", None, node, every_of)]
            renamed = relation.renamed or {}
            values = [
                Value(
                    renamed.get(fold(column.name)) or relation.spell(fold(column.name)),
                    column.type,
                    nullable=column.nullable,
                )
                for column in relation.columns
            ]
            return [
                OutputItem(value.code, column.name, value, node)
                for value, column in zip(values, relation.columns, strict=True)
            ]
    ctx.problem(
        f"The column prefix '{node.parts[-2].name}' does not match with a table name or alias name "
        "used in the query.",
        node,
        number=107,
    )
    return []


def _follows(relation: Relation, every_of: str | None, ctx: Context) -> bool:
    """Whether ``*`` is what the table has when a module runs, as in SELECT: that may change."""
    return (
        every_of is not None
        and ctx.scope.is_module
        and relation.stored == every_of
        and relation.renamed is None
        and not any(column.hidden for column in relation.columns or ())
    )


def result_columns(items: list[OutputItem]) -> tuple[ResultColumn, ...]:
    """Names and types of OUTPUT's columns; a ``*`` that is not known stands as one column named ``*``."""
    return tuple(
        ResultColumn(item.name, item.value.type if item.value is not None else None, every_of=item.every_of)
        for item in items
    )


def shown(items: list[OutputItem]) -> tuple[n.Node, ...]:
    """The columns for the client."""
    return tuple(
        item.code if item.name in (None, "*") else q.labelled(item.code, fold(item.name or ""))
        for item in items
    )


def numbered(codes: Iterable[n.Node]) -> tuple[n.Node, ...]:
    """``code AS c1, code AS c2 …``."""
    return tuple(q.Labelled(code, f"c{place}") for place, code in enumerate(codes, 1))


@dataclass
class Changing:
    """A statement whose RETURNING list is still open."""

    with_: list[q.Definition]
    """Common table expressions in front of it."""
    recursive: bool
    code: s.Change
    """The statement without WITH and RETURNING."""
    before: tuple[n.Node, ...] = ()
    after: tuple[n.Node, ...] = ()
    identity: bool = False
    target: str = ""


def finish(
    statement: Changing, outputs: list[Output], relations: list[Relation], ctx: Context
) -> Dml | TableVariableDml | None:
    """Close a changing statement with what its OUTPUT clauses ask for."""
    into = [output for output in outputs if output.target is not None]
    client = [output for output in outputs if output.target is None]
    if len(into) > 1 or len(client) > 1:
        ctx.problem("a statement has at most one OUTPUT clause and one OUTPUT … INTO", number=102)
        return None
    definitions = list(statement.with_)
    if not outputs:
        return _dml(statement, definitions, statement.code, None)
    may_follow = ctx.captured is None and not into and not is_temporary(statement.target)
    changed_table = statement.target if may_follow and not is_placeholder(statement.target) else None
    client_items = output_items(client[0], relations, ctx, changed_table) if client else []
    if ctx.captured is not None and not into:
        return capture(statement, client_items, ctx)
    if not into:
        code = replace(statement.code, returning=shown(client_items))
        statement.before = (*refuse_triggers(statement.target, [statement.code]), *statement.before)
        return _dml(statement, definitions, code, result_columns(client_items))
    kept = output_items(into[0], relations, ctx)
    all_items = [*kept, *client_items]
    if any(item.name == "*" for item in all_items):
        ctx.unsupported(
            "OUTPUT … INTO with '*' of a table that the script does not create",
            into[0].items[0],
            hint="name the columns: inserted.a, inserted.b",
        )
        return None
    labels: list[n.Node] = [n.Name((f"c{place}",)) for place in range(1, len(all_items) + 1)]
    listed = numbered(item.code for item in all_items)
    definitions.append(q.Definition("changed", replace(statement.code, returning=listed)))
    changed = n.Name(("changed",))
    kept_labels = labels[: len(kept)]
    target = into[0].target
    assert target is not None
    if is_variable(target):
        if client_items:
            ctx.unsupported("OUTPUT … INTO a table variable beside OUTPUT to the client", into[0].items[0])
            return None
        filled = rows_into(
            target,
            into[0].columns,
            q.Select(tuple(kept_labels), changed, breaks=q.Breaks.NEVER),
            [item.value.type if item.value else None for item in kept],
            ctx,
            definitions=definitions,
            recursive=statement.recursive,
            before=statement.before,
        )
        return filled and replace(filled, changes=_dml(statement, [], statement.code, None))
    name = object_name(target)
    info = ctx.scope.table(name)
    columns = into[0].columns
    if not columns and info is not None:
        columns = [column.name for column in fillable(info.columns)]
    values = for_columns(kept_labels, kept, columns, info)
    rows = q.Select(tuple(values), changed, breaks=q.Breaks.NEVER)
    insertion = s.Insert(n.Variable(ctx.relation_name(name)), tuple(map(fold, columns)), rows)
    if not client_items:
        return _dml(statement, definitions, insertion, None)
    definitions.append(q.Definition("kept", insertion))
    columns_shown = (
        q.Labelled(label, fold(item.name)) if item.name else label
        for label, item in zip(labels[len(kept) :], client_items, strict=True)
    )
    rows = q.Select(tuple(columns_shown), changed, breaks=q.Breaks.NEVER)
    return _dml(statement, definitions, rows, result_columns(client_items))


def for_columns(
    codes: list[n.Node], items: list[OutputItem], columns: list[str], info: TableInfo | None
) -> list[n.Node]:
    """What OUTPUT … INTO puts into the columns of a table, of which ``info`` tells the types."""
    if info is None or len(columns) != len(items):
        return codes
    known = {fold(column.name): column for column in info.columns}
    wanted = [known.get(fold(column)) or ColumnInfo(column, None) for column in columns]
    return fitted(codes, [item.value.type if item.value else None for item in items], wanted)


def refuse_triggers(target: str, changes: Sequence[s.Change]) -> tuple[n.Node, ...]:
    """Error 334, as the statement begins: rows go to the client, and a trigger wants those changes."""
    if is_temporary(target):
        return ()
    events = n.Array(
        tuple(n.Text(event) for event in sorted({type(one).__name__.upper() for one in changes}))
    )
    return (s.Effect(n.Call("ssb_internal.refuse_output", (n.Text(target), events))),)


def capture(statement: Changing, items: list[OutputItem], ctx: Context) -> Dml:
    """Leave the rows of a statement inside an INSERT (nested.py) to that INSERT."""
    body = replace(statement.code, returning=numbered(item.code for item in items))
    definitions = [*statement.with_, q.Definition("composed", body)]
    labels = tuple(n.Name((f"c{place}",)) for place in range(1, len(items) + 1))
    rows = q.Select(labels, n.Name(("composed",)), breaks=q.Breaks.NEVER)
    return leave(definitions, statement.recursive, rows, items, statement.before, statement.after, ctx)


def leave(
    definitions: list[q.Definition],
    recursive: bool,
    rows: n.Node,
    items: list[OutputItem],
    before: tuple[n.Node, ...],
    after: tuple[n.Node, ...],
    ctx: Context,
) -> Dml:
    """Fill ``ctx.captured``; the Dml returned is not used."""
    captured = ctx.captured
    assert captured is not None
    captured.definitions, captured.recursive, captured.rows = definitions, recursive, rows
    captured.items, captured.before, captured.after = items, before, after
    captured.filled = True
    return Dml(n.NOTHING)


def _dml(
    statement: Changing,
    definitions: list[q.Definition],
    code: n.Node,
    output: tuple[ResultColumn, ...] | None,
) -> Dml:
    return Dml(
        q.with_definitions(definitions, code, recursive=statement.recursive),
        output=output,
        before=statement.before,
        after=statement.after,
        identity=statement.identity,
        target=statement.target,
    )
