"""OUTPUT: rows of INSERT, UPDATE, DELETE and MERGE that go to the client, a table or a table variable."""

from __future__ import annotations

from sqlglot import exp

from ....grammar.records import dataclass
from ...catalog.names import fold, identifier
from ...catalog.objects import ColumnInfo, ResultColumn
from ...target.emit import emit
from ...target.layout import BREAK, CLOSE, OPEN, layout
from ..context import Context, OutputItem, Relation, object_name
from ..expressions.names import scalar
from ..interface import Dml, TableVariableDml
from ..parse.dml import Output
from ..values import Value
from ..writer import with_clause
from .columns import fillable, fitted
from .table_variable_rows import rows_into


def output_items(output: Output, relations: list[Relation], ctx: Context) -> list[OutputItem]:
    """Translate the items of OUTPUT with ``inserted``, ``deleted`` and the FROM relations in scope."""
    frame = ctx.push()
    frame.relations = relations
    items: list[OutputItem] = []
    for node in output.items:
        inner = node.this if isinstance(node, exp.Alias) else node
        if isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star):
            items += _star(inner, relations, ctx)
            continue
        value = scalar(inner, ctx)
        name = node.alias if isinstance(node, exp.Alias) else None
        if name is None and isinstance(inner, exp.Column) and not inner.name.startswith("@"):
            name = inner.name
        text = value.text
        items.append(OutputItem(text, name, value, node))
    ctx.pop()
    return items


def _star(node: exp.Column, relations: list[Relation], ctx: Context) -> list[OutputItem]:
    wanted = fold(node.parts[-2].name)
    for relation in relations:
        if relation.alias == wanted:
            if relation.columns is None or relation.partial:
                return [OutputItem(emit(relation.every()), "*", None, node)]
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
                OutputItem(value.text, column.name, value, node)
                for value, column in zip(values, relation.columns, strict=True)
            ]
    ctx.problem(
        f"The column prefix '{node.parts[-2].name}' does not match with a table name or alias name "
        "used in the query.",
        node,
        number=107,
    )
    return []


def result_columns(items: list[OutputItem]) -> tuple[ResultColumn, ...]:
    """Names and types of OUTPUT's columns; a ``*`` that is not known stands as one column named ``*``."""
    return tuple(
        ResultColumn(item.name, item.value.type if item.value is not None else None) for item in items
    )


def returning(items: list[OutputItem]) -> str:
    """The RETURNING list for the client."""
    texts = []
    for item in items:
        plain = item.name is None or item.name == "*" or item.text.rpartition(".")[2] == identifier(item.name)
        texts.append(item.text if plain else f"{item.text} AS {identifier(item.name or '')}")
    return f"RETURNING {', '.join(texts)}"


@dataclass
class Changing:
    """A statement whose RETURNING list is still open."""

    with_: list[tuple[str, str]]
    """Common table expressions in front of it: (head, body)."""
    recursive: bool
    text: str
    """The statement without WITH and RETURNING, with layout marks."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
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
        return _dml(statement, _with(definitions, statement.recursive) + statement.text, None)
    client_items = output_items(client[0], relations, ctx) if client else []
    if ctx.captured is not None and not into:
        return capture(statement, client_items, ctx)
    if not into:
        text = f"{OPEN}{_inside(statement.text)}{BREAK}{returning(client_items)}{CLOSE}"
        return _dml(statement, _with(definitions, statement.recursive) + text, result_columns(client_items))
    kept = output_items(into[0], relations, ctx)
    all_items = [*kept, *client_items]
    if any(item.name == "*" for item in all_items):
        ctx.unsupported(
            "OUTPUT … INTO with '*' of a table that the script does not create",
            into[0].items[0],
            hint="name the columns: inserted.a, inserted.b",
        )
        return None
    labels = [f"c{place}" for place in range(1, len(all_items) + 1)]
    listed = ", ".join(f"{item.text} AS {label}" for item, label in zip(all_items, labels, strict=True))
    definitions.append(("changed", f"{OPEN}{_inside(statement.text)}{BREAK}RETURNING {listed}{CLOSE}"))
    kept_labels = labels[: len(kept)]
    target = into[0].target
    assert target is not None
    if target.name.startswith("@"):
        if client_items:
            ctx.unsupported("OUTPUT … INTO a table variable beside OUTPUT to the client", into[0].items[0])
            return None
        return rows_into(
            target,
            into[0].columns,
            f"SELECT {', '.join(kept_labels)} FROM changed",
            [item.value.type if item.value else None for item in kept],
            ctx,
            with_=_with(definitions, statement.recursive),
            before=statement.before,
        )
    name = object_name(target)
    info = ctx.scope.table(name)
    columns = into[0].columns
    if not columns and info is not None:
        columns = [column.name for column in fillable(info.columns)]
    head = f"INSERT INTO {ctx.relation_name(name)}"
    if columns:
        head += f" ({', '.join(identifier(column) for column in columns)})"
    values = kept_labels
    if info is not None and len(columns) == len(kept):
        known = {fold(column.name): column for column in info.columns}
        wanted = [known.get(fold(column)) or ColumnInfo(column, None) for column in columns]
        values = fitted(kept_labels, [item.value.type if item.value else None for item in kept], wanted)
    insertion = f"{OPEN}{head}{BREAK}SELECT {', '.join(values)} FROM changed{CLOSE}"
    if not client_items:
        return _dml(statement, _with(definitions, statement.recursive) + insertion, None)
    definitions.append(("kept", insertion))
    shown = ", ".join(
        f"{label} AS {identifier(item.name)}" if item.name else label
        for label, item in zip(labels[len(kept) :], client_items, strict=True)
    )
    text = f"SELECT {shown} FROM changed"
    return _dml(statement, _with(definitions, statement.recursive) + text, result_columns(client_items))


def capture(statement: Changing, items: list[OutputItem], ctx: Context) -> Dml:
    """Leave the rows of a statement inside an INSERT (nested.py) to that INSERT."""
    labels = [f"c{place}" for place in range(1, len(items) + 1)]
    listed = ", ".join(f"{item.text} AS {label}" for item, label in zip(items, labels, strict=True))
    body = f"{OPEN}{_inside(statement.text)}{BREAK}RETURNING {listed}{CLOSE}"
    definitions = [*statement.with_, ("composed", body)]
    rows = f"SELECT {', '.join(labels)} FROM composed"
    return leave(definitions, statement.recursive, rows, items, statement.before, statement.after, ctx)


def leave(
    definitions: list[tuple[str, str]],
    recursive: bool,
    rows: str,
    items: list[OutputItem],
    before: tuple[str, ...],
    after: tuple[str, ...],
    ctx: Context,
) -> Dml:
    """Fill ``ctx.captured``; the Dml returned is not used."""
    captured = ctx.captured
    assert captured is not None
    captured.definitions, captured.recursive, captured.rows = definitions, recursive, rows
    captured.items, captured.before, captured.after = items, before, after
    captured.filled = True
    return Dml("")


def _inside(text: str) -> str:
    """A statement without its own group, so that a further clause breaks with the others."""
    return text[1:-1] if text.startswith(OPEN) and text.endswith(CLOSE) else text


def _with(definitions: list[tuple[str, str]], recursive: bool) -> str:
    if not definitions:
        return ""
    return f"{with_clause(definitions, recursive=recursive)}{BREAK}"


def _dml(statement: Changing, text: str, output: tuple[ResultColumn, ...] | None) -> Dml:
    return Dml(
        layout(f"{OPEN}{text}{CLOSE}"),
        output=output,
        before=statement.before,
        after=statement.after,
        identity=statement.identity,
        target=statement.target,
    )
