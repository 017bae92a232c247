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
from dataclasses import replace

from sqlglot import exp

from ....grammar.records import dataclass
from ....grammar.tokens import Token
from ...catalog.names import ObjectName, fold, identifier, quote, unquoted
from ...catalog.objects import ColumnInfo, KeyInfo, TableInfo
from ...target import nodes as n
from ...target.emit import emit_at
from ...target.layout import BREAK, CLOSE, OPEN, layout
from ..assignments import store
from ..context import Context, OutputItem, Relation, object_name
from ..dispatch import translates
from ..expressions.names import condition, scalar
from ..interface import Dml, TableVariableDml
from ..messages import COLUMNS_DIFFER, is_default, values_differ
from ..parse.dml import Merge, MergeBranch, Output, read_merge
from ..query.from_clause import source as translate_source
from ..query.row_limits import changing_top, limit_of
from ..query.set_operations import ctes
from ..writer import select, with_clause
from .columns import advance_identity, fillable
from .output import leave, output_items, result_columns
from .set_clause import set_column, set_value
from .table_variable_rows import rows_into

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
    single: bool = False
    """The source has one row at most."""
    inserting: tuple[str, str, str] = ("", "", "")
    """INSERT INTO …, the values, and WHERE of the branch that inserts."""

    @property
    def head(self) -> str:
        """``dbo.t AS t``."""
        return f"{self.table} AS {self.target}"


@translates("MERGE")
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
        translated = _translate(work, definitions, recursive, ctx)
        if isinstance(translated, Dml) and any(b.action == "INSERT" for b in statement.branches):
            after = advance_identity(work.name, work.table, ctx)
            return replace(translated, after=(*translated.after, *after))
        return translated
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
    if statement.top is not None and statement.top.percent:
        ctx.unsupported("TOP … PERCENT in MERGE", statement.top.count)
    limit = limit_of(changing_top(statement.top, ctx), ctx, lambda: "")
    if limit is not None:
        body = select(expressions=["*"], from_=item.text, limit=limit)
    elif item.derived is not None:
        body, columns = item.derived
        head += columns
    else:
        body = select(expressions=["*"], from_=item.text)
    # Everything below refers to it several times: it is computed once.
    if item.text != head or limit is not None:
        definitions.append((head, body))
    ctx.frame.relations.insert(0, target)
    work = Work(
        statement, name, ctx.relation_name(name), info, quote(alias), quote(source_alias), relation, target
    )
    work.on = emit_at(condition(statement.on, ctx).code, n.AND)
    work.single = _one_row(statement.source)
    return work


def _one_row(node: exp.Expr) -> bool:
    """``(SELECT @a AS a, …)`` or ``(VALUES (…))``: no target row can match it twice."""
    while isinstance(node, exp.Subquery):
        node = node.this
    if isinstance(node, exp.Values):
        return len(node.expressions) == 1
    return isinstance(node, exp.Select) and node.args.get("from_") is None


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
    names: set[str] = {unquoted(head) for head, _ in definitions}
    for branch in statement.branches:
        kind = "matched" if branch.matched else ("by_source" if branch.by_source else "by_target")
        if (kind == "by_target") != (branch.action == "INSERT"):
            clause = {
                "matched": "WHEN MATCHED",
                "by_target": "WHEN NOT MATCHED",
                "by_source": "WHEN NOT MATCHED BY SOURCE",
            }[kind]
            ctx.problem(
                f"An action of type '{branch.action}' is not allowed in the '{clause}' clause of a MERGE "
                "statement.",
                number=10710 if kind == "by_target" else 10711,
            )
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
    own = emit_at(condition(branch.condition, ctx).code, n.AND) if branch.condition is not None else None
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
            value = set_value(item, column, ctx, work.target_relation.alias)
            sets.append(f"{identifier(item.column.name)} = {value.text}")
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
        # A query without columns gives each of its rows the defaults.
        work.inserting = (f"INSERT INTO {work.table}", "SELECT", where)
        return f"INSERT INTO {work.table}{BREAK}SELECT{BREAK}FROM {work.source}{BREAK}{where}"
    if columns is not None and len(columns) != len(branch.values):
        number, message = 213, COLUMNS_DIFFER
        if branch.columns:
            number = 109 if len(columns) > len(branch.values) else 110
            message = values_differ(len(columns), len(branch.values))
        ctx.problem(message, branch.values[0], number=number)
        return None
    texts, named = [], []
    for place, node in enumerate(branch.values):
        column = columns[place] if columns is not None else None
        if is_default(node):
            if column is None:
                ctx.unsupported("DEFAULT among the values of a MERGE without a column list", node)
                return None
            continue
        value = scalar(node, ctx)
        texts.append(store(value, column.type if column is not None else None).text)
        if column is not None:
            named.append(identifier(column.name))
    head = f"INSERT INTO {work.table}"
    if named:
        head += f" ({', '.join(named)})"
    if ctx.scope.identity_insert(work.name):
        head += " OVERRIDING SYSTEM VALUE"
    values = f"SELECT {', '.join(texts)}"
    work.inserting = (head, values, where)
    return f"{head}{BREAK}{values}{BREAK}FROM {work.source}{BREAK}{where}"


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
    once = _matched_once(work, definitions, ctx)
    if not outputs:
        for label, text, _ in parts:
            definitions.append((label, f"{OPEN}{text}{BREAK}RETURNING 1{CLOSE}"))
        counted = _union(f"SELECT FROM {label}" for label, _, _ in parts)
        query = f"SELECT count(*) FROM ({counted}) AS changed{once}"
        sql = f"{OPEN}{with_clause(definitions, recursive=recursive)}{BREAK}{query}{CLOSE}"
        return Dml(layout(sql), before=before, identity=identity, target=work.table, counts=True)
    if len(outputs) > 1:
        ctx.unsupported("two OUTPUT clauses of a MERGE", outputs[1].items[0])
        return None
    output = outputs[0]
    items: list[OutputItem] = []
    for label, text, branch in parts:
        items, returned, extra, paired = _returned(work, output, branch, ctx)
        listed = ", ".join(f"{value} AS c{place}" for place, value in enumerate(returned, 1))
        if paired:
            definitions += _paired(work, label, listed, {head for head, _ in definitions})
            continue
        if extra:
            # UPDATE does not give old values back before PostgreSQL 18: the row's old version joins in.
            text = text.replace(f"{BREAK}WHERE ", f", {extra}{BREAK}WHERE {_same_row(work)} AND ", 1)
            if f"{BREAK}FROM " not in text.split(f"{BREAK}WHERE ")[0]:
                text = text.replace(f", {extra}{BREAK}WHERE", f"{BREAK}FROM {extra}{BREAK}WHERE", 1)
        definitions.append((label, f"{OPEN}{text}{BREAK}RETURNING {listed}{CLOSE}"))
    labels = [_shown(f"c{place}", item) for place, item in enumerate(items, 1)]
    union = _union(f"SELECT * FROM {label}" for label, _, _ in parts)
    if ctx.captured is not None and output.target is None:
        rows = f"SELECT {', '.join(labels)} FROM ({union}) AS changed{once}"
        return leave(definitions, recursive, rows, items, before, (), ctx)
    if output.target is not None:
        source_text = f"SELECT {', '.join(labels)} FROM ({union}) AS changed{once}"
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
    query = f"SELECT {', '.join(shown)}{BREAK}FROM ({union}) AS changed{once}"
    sql = f"{OPEN}{with_clause(definitions, recursive=recursive)}{BREAK}{query}{CLOSE}"
    return Dml(layout(sql), output=result_columns(items), before=before, identity=identity, target=work.table)


def _matched_once(work: Work, definitions: list[tuple[str, str]], ctx: Context) -> str:
    """Error 8672 for a target row that two source rows would change: the WHERE that makes it run.

    UPDATE … FROM and DELETE … USING take one of the source rows, silently. Rows of a view have no ctid
    to be told apart by.
    """
    matched = [branch for branch in work.statement.branches if branch.matched]
    if work.single or not matched or work.info is None or work.info.read_only:
        return ""
    conditions = [work.on]
    if all(branch.condition is not None for branch in matched):
        owns = [
            emit_at(condition(branch.condition, ctx).code, n.AND) for branch in matched if branch.condition
        ]
        conditions.append(owns[0] if len(owns) == 1 else f"({' OR '.join(f'({own})' for own in owns)})")
    text = (
        f"{OPEN}SELECT ssb_internal.matched_twice(){BREAK}FROM {work.head}, {work.source}{BREAK}"
        f"WHERE {' AND '.join(conditions)}{BREAK}GROUP BY {work.target}.ctid HAVING count(*) > 1{CLOSE}"
    )
    name = _free("twice", {head for head, _ in definitions})
    definitions.append((name, text))
    return f"{BREAK}WHERE NOT EXISTS (SELECT FROM {name})"


def _paired(work: Work, label: str, listed: str, taken: set[str]) -> list[tuple[str, str]]:
    """The branch that inserts, with the source row of every inserted row beside it.

    INSERT … RETURNING sees the new row alone. Rows are inserted, and given back, in the order of the
    query; so their numbers join them.
    """
    head, values, where = work.inserting
    arriving, arrived = _free("arriving", taken), _free("arrived", taken)
    source = work.source
    return [
        (
            arriving,
            f"{OPEN}SELECT {source}.*, row_number() OVER () AS nth_row"
            f"{BREAK}FROM {source}{BREAK}{where}{CLOSE}",
        ),
        (
            arrived,
            f"{OPEN}{head}{BREAK}{values}{BREAK}FROM {arriving} AS {source}{BREAK}ORDER BY {source}.nth_row"
            f"{BREAK}RETURNING *{CLOSE}",
        ),
        (
            label,
            f"{OPEN}SELECT {listed}{BREAK}"
            f"FROM (SELECT {arrived}.*, row_number() OVER () AS nth_row FROM {arrived}) AS inserted{BREAK}"
            f"JOIN {arriving} AS {source} ON {source}.nth_row = inserted.nth_row{CLOSE}",
        ),
    ]


def _free(name: str, taken: set[str]) -> str:
    used = {unquoted(head.partition(" ")[0]) for head in taken}
    while name in used:
        name += "_rows"
    return name


def _union(queries: Iterable[str]) -> str:
    return f"{OPEN}{f' UNION ALL{BREAK}'.join(queries)}{CLOSE}"


_OLD_ROW = "(old_row.deleted)"
"""The old version of an updated row, whole: its columns are no names for the rest of the statement."""


def _old_rows(work: Work) -> str:
    place = ", old.ctid" if _key(work) is None else ""
    return f"(SELECT old AS deleted{place} FROM {work.table} AS old) AS old_row"


def _key(work: Work) -> KeyInfo | None:
    keys = work.info.keys if work.info is not None else ()
    return next((key for key in keys if key.primary), None)


def _same_row(work: Work) -> str:
    key = _key(work)
    if key is None:
        return f"old_row.ctid = {work.target}.ctid"
    return " AND ".join(f"{_OLD_ROW}.{identifier(c)} = {work.target}.{identifier(c)}" for c in key.columns)


def _returned(
    work: Work, output: Output, branch: MergeBranch, ctx: Context
) -> tuple[list[OutputItem], list[str], str, bool]:
    """Return (items, their texts, the relation with old values that an UPDATE needs, paired).

    ``paired``: the texts need the source row beside the inserted one.
    """
    columns = work.info.columns if work.info is not None else None
    ctx.pseudo["$action"] = n.Cast(n.Text(branch.action), "text")
    action, source = branch.action, work.source_relation
    inserted = Relation(
        "inserted",
        columns,
        prefix=n.Written(work.target),
        bare=action == "INSERT",
        nulls=action == "DELETE",
    )
    relations = [
        inserted,
        Relation(
            "deleted",
            columns,
            prefix=n.Written(_OLD_ROW if action == "UPDATE" else work.target),
            nulls=action == "INSERT",
        ),
        Relation(source.alias, source.columns, nulls=branch.by_source),
    ]
    items = output_items(output, relations, ctx)
    texts: list[str] = []
    paired = uses_old = False
    for item in items:
        if item.name == "*":
            # Columns that only the server knows: the whole row travels.
            texts.append(_whole_row(item, work, branch))
            uses_old = uses_old or texts[-1] == _OLD_ROW
            continue
        sides = {
            fold(column.parts[-2].name)
            for column in item.node.find_all(exp.Column)
            if column.args.get("table")
        }
        text: str | None = item.text
        if action == "INSERT" and source.alias in sides:
            text = _inserted_from(item, branch, ctx)
            paired = paired or text is None
        uses_old = uses_old or ("deleted" in sides and action == "UPDATE")
        texts.append(text or "")
    if paired:
        inserted.prefix, inserted.bare = None, False
        items = output_items(output, relations, ctx)
        texts = [item.text if item.name != "*" else _whole_row(item, work, branch) for item in items]
    ctx.pseudo.pop("$action", None)
    return items, texts, _old_rows(work) if uses_old else "", paired


def _whole_row(item: OutputItem, work: Work, branch: MergeBranch) -> str:
    side = fold(item.node.parts[-2].name) if isinstance(item.node, exp.Column) else ""
    if side == "inserted" and branch.action != "DELETE":
        return quote(fold(work.name.name)) if branch.action == "INSERT" else work.target
    if side == "deleted" and branch.action != "INSERT":
        return _OLD_ROW if branch.action == "UPDATE" else work.target
    return f"NULL::{work.table}"


def _shown(label: str, item: OutputItem) -> str:
    return f"(changed.{label}).*" if item.name == "*" else label


def _inserted_from(item: OutputItem, branch: MergeBranch, ctx: Context) -> str | None:
    """A source column by the column that it was inserted into; None where it was not."""
    for node, column in zip(branch.values or [], branch.columns, strict=False):
        if (
            isinstance(node, exp.Column)
            and item.value is not None
            and scalar(node, ctx).code == item.value.code
        ):
            return identifier(column.name)
    return None
