"""MERGE.

PostgreSQL has MERGE from 15 on, with RETURNING and NOT MATCHED BY SOURCE from 17 on.  What
comes out here runs on 14 to 18: one common table expression a WHEN branch, all over the
same snapshot.  A branch excludes the rows that earlier ones took; rows are changed
through the ON condition itself, so a row that another session changed meanwhile is
checked again.

The HOLDLOCK hint, which makes an upsert safe in SQL Server, locks the table against
other writers first: key ranges cannot be locked here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from ..grammar.tokens import Token
from . import ordinary_sql_values as v
from .names import ObjectName, fold, identifier, literal, quote
from .ordinary_sql_context import Context, Relation, object_name
from .ordinary_sql_dml_tools import is_default
from .ordinary_sql_expressions import condition, scalar
from .ordinary_sql_interface import ColumnInfo, Dml, TableInfo, TableVariableDml
from .ordinary_sql_layout import BREAK, CLOSE, OPEN, layout
from .ordinary_sql_output import OutputItem, fillable, leave, output_items, result_columns
from .ordinary_sql_queries import ctes
from .ordinary_sql_relations import source as translate_source
from .ordinary_sql_set import set_column, set_value
from .ordinary_sql_statements import Merge, MergeBranch, Output, read_merge
from .ordinary_sql_table_variables import rows_into
from .ordinary_sql_top import changing_top, limit_of
from .ordinary_sql_values import Value
from .ordinary_sql_writing import select, with_clause

_LOCKING = frozenset({"HOLDLOCK", "SERIALIZABLE", "TABLOCK", "TABLOCKX", "XLOCK", "UPDLOCK"})


@dataclass
class Work:
    """A MERGE being translated."""

    statement: Merge
    name: ObjectName
    table: str
    info: TableInfo | None
    target: str
    """The target's alias, quoted."""
    source: str
    """The source's alias, quoted."""
    source_relation: Relation
    target_relation: Relation
    on: str = ""

    @property
    def head(self) -> str:
        """``dbo.t AS t``."""
        return f"{self.table} AS {self.target}"


def merge(tokens: list[Token], ctx: Context) -> Dml | TableVariableDml | None:
    """Translate a MERGE statement."""
    statement = read_merge(tokens, ctx.reader)
    if statement.target.name.startswith("@"):
        ctx.unsupported("MERGE into a table variable", statement.target, hint="use UPDATE and INSERT")
        return None
    definitions, recursive = ctes(statement.with_, ctx)
    ctx.push()
    try:
        work = _open(statement, definitions, ctx)
        return _translate(work, definitions, recursive, ctx)
    finally:
        ctx.pop()


def _open(statement: Merge, definitions: list[tuple[str, str]], ctx: Context) -> Work:
    """Bring both relations into sight; the source becomes a common table expression under its alias."""
    name = object_name(statement.target)
    info = ctx.scope.table(name)
    alias = fold(statement.target.alias or name.name)
    target = Relation(
        alias, info.columns if info is not None else None, name if not statement.target.alias else None
    )
    item = translate_source(statement.source, ctx, "")
    relation = item.relation or Relation("source", None)
    source_alias = relation.alias
    head, body = quote(source_alias), ""
    derived = _derived(item.text, head)
    if statement.top is not None and statement.top.percent:
        ctx.unsupported("TOP … PERCENT in MERGE", statement.top.count)
    limit = limit_of(changing_top(statement.top, ctx), ctx, lambda: "")
    if limit is not None:
        body = select(expressions=["*"], from_=item.text, limit=limit)
    elif derived is not None:
        head, body = derived
    else:
        body = select(expressions=["*"], from_=item.text)
    # Everything below refers to it several times: it is computed once.
    if item.text != head or limit is not None:
        definitions.append((head, body))
    ctx.frame.relations.insert(0, target)
    work = Work(
        statement, name, ctx.relation_name(name), info, quote(alias), quote(source_alias), relation, target
    )
    work.on = condition(statement.on, ctx).at(v.AND)
    return work


def _derived(text: str, alias: str) -> tuple[str, str] | None:
    """``(query) AS alias (columns)`` as the head and body of a common table expression."""
    query, separator, tail = text.rpartition(f") AS {alias}")
    if not separator or not query.startswith("(") or not (tail == "" or tail.startswith(" (")):
        return None
    return f"{alias}{tail}", query[1:]


def _translate(
    work: Work, definitions: list[tuple[str, str]], recursive: bool, ctx: Context
) -> Dml | TableVariableDml | None:
    statement = work.statement
    hints = {hint.name.upper() for hint in statement.target.args.get("hints") or ()}
    before: tuple[str, ...] = ()
    if hints & _LOCKING:
        before = (f"LOCK TABLE {work.table} IN SHARE ROW EXCLUSIVE MODE",)
    parts: list[tuple[str, str, MergeBranch]] = []
    labels = {"UPDATE": "updated", "DELETE": "deleted", "INSERT": "inserted"}
    taken: dict[str, list[str]] = {"matched": [], "by_target": [], "by_source": []}
    names: set[str] = {fold(head.strip('"')) for head, _ in definitions}
    for branch in statement.branches:
        kind = "matched" if branch.matched else ("by_source" if branch.by_source else "by_target")
        if (kind == "by_target") != (branch.action == "INSERT"):
            ctx.problem(f"{branch.action} cannot stand in this WHEN clause of MERGE", number=10711)
            return None
        text = _branch(work, branch, kind, taken[kind], ctx)
        if text is None:
            return None
        label = labels[branch.action]
        while label in names:
            label += "_rows"
        names.add(label)
        parts.append((label, text, branch))
    return _finish(work, definitions, recursive, parts, before, ctx)


def _branch(work: Work, branch: MergeBranch, kind: str, taken: list[str], ctx: Context) -> str | None:
    conditions: list[str] = []
    own = condition(branch.condition, ctx).at(v.AND) if branch.condition is not None else None
    if kind == "matched":
        conditions.append(work.on)
    elif kind == "by_target":
        conditions.append(f"NOT EXISTS (SELECT FROM {work.head} WHERE {work.on})")
    else:
        conditions.append(f"NOT EXISTS (SELECT FROM {work.source} WHERE {work.on})")
    conditions += [f"({earlier}) IS NOT TRUE" for earlier in taken]
    if own is not None:
        conditions.append(own)
        taken.append(own)
    else:
        taken.append("true")
    where = f"WHERE {' AND '.join(conditions)}"
    if branch.action == "UPDATE":
        sets = []
        for item in branch.sets:
            if item.column is None or item.variable is not None:
                ctx.unsupported("a variable in SET of a MERGE", item.value)
                return None
            column = set_column(item.column, work.info, ctx)
            sets.append(f"{identifier(item.column.name)} = {set_value(item, column, ctx).text}")
        pieces = [f"UPDATE {work.head}", f"SET {', '.join(sets)}"]
        if kind == "matched":
            pieces.append(f"FROM {work.source}")
        return BREAK.join([*pieces, where])
    if branch.action == "DELETE":
        pieces = [f"DELETE FROM {work.head}"]
        if kind == "matched":
            pieces.append(f"USING {work.source}")
        return BREAK.join([*pieces, where])
    return _insert(work, branch, where, ctx)


def _insert(work: Work, branch: MergeBranch, where: str, ctx: Context) -> str | None:
    columns: list[ColumnInfo] | None = None
    if branch.columns:
        columns = [_known(work.info, node.name) for node in branch.columns]
    elif work.info is not None:
        columns = fillable(work.info.columns, identity=ctx.scope.identity_insert(work.name))
    if branch.values is None:
        ctx.unsupported("DEFAULT VALUES in a MERGE")
        return None
    if columns is not None and len(columns) != len(branch.values):
        ctx.problem(
            f"VALUES has {len(branch.values)} values for {len(columns)} columns",
            branch.values[0],
            number=10709,
        )
        return None
    texts, named = [], []
    for place, node in enumerate(branch.values):
        column = columns[place] if columns is not None else None
        if is_default(node):
            if column is None or not branch.columns:
                ctx.unsupported("DEFAULT among the values of a MERGE without a column list", node)
                return None
            continue
        value = scalar(node, ctx)
        texts.append(v.store(value, column.type if column is not None else None).text)
        if column is not None:
            named.append(identifier(column.name))
    head = f"INSERT INTO {work.table}"
    if named:
        head += f" ({', '.join(named)})"
    if ctx.scope.identity_insert(work.name):
        head += " OVERRIDING SYSTEM VALUE"
    query = f"SELECT {', '.join(texts)}{BREAK}FROM {work.source}{BREAK}{where}"
    return f"{head}{BREAK}{query}"


def _known(info: TableInfo | None, name: str) -> ColumnInfo:
    for column in info.columns if info is not None else ():
        if fold(column.name) == fold(name):
            return column
    return ColumnInfo(name, None)


# ---------------------------------------------------------------- OUTPUT


def _finish(
    work: Work,
    definitions: list[tuple[str, str]],
    recursive: bool,
    parts: list[tuple[str, str, MergeBranch]],
    before: tuple[str, ...],
    ctx: Context,
) -> Dml | TableVariableDml | None:
    outputs = work.statement.outputs
    identity = any(branch.action == "INSERT" for _, _, branch in parts)
    if not outputs:
        for label, text, _ in parts:
            definitions.append((label, f"{OPEN}{text}{BREAK}RETURNING 1{CLOSE}"))
        counted = _union(f"SELECT FROM {label}" for label, _, _ in parts)
        query = f"SELECT count(*) FROM ({counted}) AS changed"
        sql = f"{OPEN}{with_clause(definitions, recursive=recursive)}{BREAK}{query}{CLOSE}"
        return Dml(layout(sql), before=before, identity=identity, target=work.table, counts=True)
    if len(outputs) > 1:
        ctx.unsupported("two OUTPUT clauses of a MERGE", outputs[1].items[0])
        return None
    output = outputs[0]
    items: list[OutputItem] = []
    for label, text, branch in parts:
        items, returned, extra = _returned(work, output, branch, ctx)
        if extra:
            # UPDATE does not give old values back before PostgreSQL 18: the row's old version joins in.
            text = text.replace(f"{BREAK}WHERE ", f", {extra}{BREAK}WHERE {_same_row(work)} AND ", 1)
            if f"{BREAK}FROM " not in text.split(f"{BREAK}WHERE ")[0]:
                text = text.replace(f", {extra}{BREAK}WHERE", f"{BREAK}FROM {extra}{BREAK}WHERE", 1)
        listed = ", ".join(f"{value} AS c{place}" for place, value in enumerate(returned, 1))
        definitions.append((label, f"{OPEN}{text}{BREAK}RETURNING {listed}{CLOSE}"))
    labels = [_shown(f"c{place}", item) for place, item in enumerate(items, 1)]
    union = _union(f"SELECT * FROM {label}" for label, _, _ in parts)
    if ctx.captured is not None and output.target is None:
        rows = f"SELECT {', '.join(labels)} FROM ({union}) AS changed"
        return leave(definitions, recursive, rows, items, before, (), ctx)
    if output.target is not None:
        source_text = f"SELECT {', '.join(labels)} FROM ({union}) AS changed"
        with_ = f"{with_clause(definitions, recursive=recursive)}{BREAK}"
        if output.target.name.startswith("@") and any(item.name == "*" for item in items):
            ctx.unsupported(
                "OUTPUT … INTO a table variable with '*' of a table that the script does not create",
                output.items[0],
                hint="name the columns",
            )
            return None
        if output.target.name.startswith("@"):
            types = [item.value.type if item.value is not None else None for item in items]
            return rows_into(
                output.target, output.columns, source_text, types, ctx, with_=with_, before=before
            )
        name = object_name(output.target)
        info = ctx.scope.table(name)
        columns = output.columns or ([c.name for c in fillable(info.columns)] if info is not None else [])
        head = f"INSERT INTO {ctx.relation_name(name)}"
        if columns:
            head += f" ({', '.join(identifier(column) for column in columns)})"
        return Dml(
            layout(f"{OPEN}{with_}{head}{BREAK}{source_text}{CLOSE}"),
            before=before,
            identity=identity,
            target=work.table,
        )
    shown = [
        f"{label} AS {identifier(item.name)}" if item.name and item.name != "*" else label
        for label, item in zip(labels, items, strict=True)
    ]
    query = f"SELECT {', '.join(shown)}{BREAK}FROM ({union}) AS changed"
    sql = f"{OPEN}{with_clause(definitions, recursive=recursive)}{BREAK}{query}{CLOSE}"
    return Dml(layout(sql), output=result_columns(items), before=before, identity=identity, target=work.table)


def _union(queries: Iterable[str]) -> str:
    return f"{OPEN}{f' UNION ALL{BREAK}'.join(queries)}{CLOSE}"


def _same_row(work: Work) -> str:
    key = next((key for key in (work.info.keys if work.info is not None else ()) if key.primary), None)
    if key is None:
        return f"old_row.ctid = {work.target}.ctid"
    return " AND ".join(f"old_row.{identifier(c)} = {work.target}.{identifier(c)}" for c in key.columns)


def _returned(
    work: Work, output: Output, branch: MergeBranch, ctx: Context
) -> tuple[list[OutputItem], list[str], str]:
    """(items, RETURNING texts, the relation with old values that an UPDATE needs)."""
    columns = work.info.columns if work.info is not None else None
    ctx.pseudo["$action"] = f"{literal(branch.action)}::text"
    empty = "inserted" if branch.action == "DELETE" else ("deleted" if branch.action == "INSERT" else "")
    relations = [
        Relation("inserted", columns, prefix="" if branch.action == "INSERT" else work.target),
        Relation("deleted", columns, prefix="old_row" if branch.action == "UPDATE" else work.target),
    ]
    carries_source = branch.matched
    source = work.source_relation
    relations.append(Relation(source.alias, source.columns, prefix=None))
    items = output_items(output, relations, ctx)
    texts = []
    uses_old = False
    for item, node in zip(items, _expanded(output, items), strict=True):
        if item.name == "*":
            # Columns that only the server knows: the whole row travels.
            texts.append(_whole_row(item, node, work, branch))
            uses_old = uses_old or texts[-1] == "old_row"
            continue
        names = (
            {fold(column.parts[-2].name) for column in node.find_all(exp.Column) if column.args.get("table")}
            if node is not None
            else set()
        )
        prefix = item.text.partition(".")[0]
        side = names if node is not None else {_side(item, work, branch)}
        null = (
            f"NULL::{item.value.type.postgres}"
            if item.value is not None and item.value.type is not None
            else "NULL"
        )
        if empty and (empty in side):
            texts.append(null)
        elif source.alias in side and not carries_source:
            texts.append(_source_text(item, work, branch, null, ctx))
        else:
            if "deleted" in side and branch.action == "UPDATE":
                uses_old = True
            texts.append(item.text)
        del prefix
    ctx.pseudo.pop("$action", None)
    return items, texts, f"{work.table} AS old_row" if uses_old else ""


def _whole_row(item: OutputItem, node: exp.Expr | None, work: Work, branch: MergeBranch) -> str:
    side = fold(node.parts[-2].name) if isinstance(node, exp.Column) else ""
    if side == "inserted" and branch.action != "DELETE":
        return quote(fold(work.name.name)) if branch.action == "INSERT" else work.target
    if side == "deleted" and branch.action != "INSERT":
        return "old_row" if branch.action == "UPDATE" else work.target
    return f"NULL::{work.table}"


def _shown(label: str, item: OutputItem) -> str:
    return f"(changed.{label}).*" if item.name == "*" else label


def _expanded(output: Output, items: list[OutputItem]) -> list[exp.Expr | None]:
    """For every item the node it comes from; None for one of a ``*``."""
    nodes: list[exp.Expr | None] = []
    stars = sum(
        1 for node in output.items if isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )
    width = (len(items) - (len(output.items) - stars)) // stars if stars else 0
    for node in output.items:
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            side = exp.Column(this=exp.to_identifier("x"), table=exp.to_identifier(node.parts[-2].name))
            nodes += [side] * width
        else:
            nodes.append(node)
    return nodes


def _side(item: OutputItem, work: Work, branch: MergeBranch) -> str:
    return "deleted" if item.text.startswith("old_row.") else "inserted"


def _source_text(item: OutputItem, work: Work, branch: MergeBranch, null: str, ctx: Context) -> str:
    """A source column of an inserted row: INSERT … RETURNING does not see it."""
    if branch.by_source:
        return null
    wanted = item.text
    for node, column in zip(branch.values or [], branch.columns, strict=False):
        if isinstance(node, exp.Column) and scalar(node, ctx).text == wanted:
            return identifier(column.name)
    ctx.unsupported(
        "a source column in OUTPUT of a MERGE that the INSERT branch does not insert",
        hint="PostgreSQL before 17 gives back columns of the target only",
    )
    return null


def _value(text: str) -> Value:
    return Value(text)
