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

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ....grammar.tokens import Token
from ...catalog.names import ObjectName, fold
from ...catalog.objects import ColumnInfo, KeyInfo, TableInfo
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ..assignments import store
from ..context import Context, OutputItem, Relation, object_name
from ..dispatch import translates
from ..expressions.names import condition, scalar
from ..interface import Dml, TableVariableDml
from ..parse.dml import Merge, MergeBranch, Output, read_merge
from ..parse.nodes import is_default, is_variable
from ..query.from_clause import source as translate_source
from ..query.lock_hints import RANGES, held, lock_beside
from ..query.row_limits import changing_top, limit_of
from ..query.set_operations import ctes
from ..query_result import NOTHING_SELECTED
from .columns import (
    advance_identity,
    fillable,
    refuse_count,
    refuse_explicit,
    refuse_implicit,
    refuse_repeated,
    refuse_unlisted,
)
from .output import for_columns, leave, numbered, output_items, refuse_triggers, result_columns
from .set_clause import set_column, set_value, share_next_values
from .table_variable_rows import rows_into

_LOCKING = frozenset({"HOLDLOCK", "SERIALIZABLE", "TABLOCK", "TABLOCKX", "XLOCK", "UPDLOCK"})


@dataclass
class Work:
    """A MERGE being translated."""

    statement: Merge
    name: ObjectName
    table: str
    info: TableInfo | None
    target: n.Name
    """The target's alias."""
    source: n.Name
    """The source's alias."""
    source_relation: Relation
    target_relation: Relation
    on: n.Node
    single: bool
    """The source has one row at most."""

    @property
    def head(self) -> n.Node:
        """``dbo.t AS t``."""
        return q.Aliased(n.Variable(self.table), self.target.parts[-1])


@translates("MERGE")
def merge(tokens: list[Token], ctx: Context) -> Dml | TableVariableDml | None:
    """Translate a MERGE statement."""
    statement = read_merge(tokens, ctx.reader)
    if is_variable(statement.target):
        ctx.unsupported("MERGE into a table variable", statement.target, hint="use UPDATE and INSERT")
        return None
    definitions, recursive = ctes(statement.with_, ctx)
    ctx.push()
    try:
        work = _open(statement, definitions, ctx)
        translated = _translate(work, definitions, recursive, ctx)
        if not any(branch.action == "INSERT" for branch in statement.branches):
            return translated
        after = advance_identity(work.name, work.table, ctx)
        if isinstance(translated, TableVariableDml) and translated.changes is not None:
            return replace(translated, changes=replace(translated.changes, after=after))
        if isinstance(translated, Dml):
            return replace(translated, after=(*translated.after, *after))
        return translated
    finally:
        ctx.pop()


def _open(statement: Merge, definitions: list[q.Definition], ctx: Context) -> Work:
    """Bring both relations into sight; the source becomes a common table expression under its alias."""
    name = object_name(statement.target)
    info = ctx.scope.table(name)
    alias = fold(statement.target.alias or name.name)
    target = Relation(
        alias,
        info.columns if info is not None else None,
        name if not statement.target.alias else None,
        stored=ctx.reads(name, info),
    )
    item = translate_source(statement.source, ctx, "")
    lock_beside(item, None, ctx)
    relation = item.relation or Relation("source", None)
    source_alias = relation.alias
    if statement.top is not None and statement.top.percent:
        ctx.unsupported("TOP … PERCENT in MERGE", statement.top.count)
    limit = limit_of(changing_top(statement.top, ctx), ctx, lambda: NOTHING_SELECTED)
    source, derived = n.Name((source_alias,)), item.derived
    # Everything below refers to it several times: it is computed once.
    if limit is None and derived is not None and isinstance(derived.item, n.Subquery):
        definitions.append(q.Definition(source_alias, derived.item.query, derived.columns))
    elif item.code != source or limit is not None:
        definitions.append(q.Definition(source_alias, q.Select((n.STAR,), item.code, limit=limit)))
    ctx.frame.relations.insert(0, target)
    return Work(
        statement,
        name,
        ctx.relation_name(name),
        info,
        n.Name((alias,)),
        source,
        relation,
        target,
        condition(statement.on, ctx).code,
        _one_row(statement.source),
    )


def _one_row(node: exp.Expr) -> bool:
    """``(SELECT @a AS a, …)`` or ``(VALUES (…))``: no target row can match it twice."""
    while isinstance(node, exp.Subquery):
        node = node.this
    if isinstance(node, exp.Values):
        return len(node.expressions) == 1
    return isinstance(node, exp.Select) and node.args.get("from_") is None


_CLAUSES = {
    "matched": "WHEN MATCHED",
    "by_target": "WHEN NOT MATCHED",
    "by_source": "WHEN NOT MATCHED BY SOURCE",
}


def _comes_too_late(branch: MergeBranch, earlier: list[MergeBranch], kind: str, ctx: Context) -> bool:
    """Report a clause behind one that takes all rows, or of the same action."""
    clause = _CLAUSES[kind]
    if any(one.action == branch.action for one in earlier):
        ctx.problem(
            f"An action of type '{branch.action}' cannot appear more than once in a '{clause}' clause of a "
            "MERGE statement.",
            number=10714,
        )
        return True
    if any(one.condition is None for one in earlier):
        ctx.problem(
            f"In a MERGE statement, a '{clause}' clause with a search condition cannot appear after a "
            f"'{clause}' clause with no search condition.",
            number=5324,
        )
        return True
    return False


def _translate(
    work: Work, definitions: list[q.Definition], recursive: bool, ctx: Context
) -> Dml | TableVariableDml | None:
    statement = work.statement
    hints = frozenset(hint.name.upper() for hint in statement.target.args.get("hints") or ())
    before: tuple[n.Node, ...] = ()
    if hints & _LOCKING or held(hints, work.name, ctx.scope) & RANGES:
        before = (s.LockTable(n.Variable(work.table), "SHARE ROW EXCLUSIVE"),)
    listed = [node.name for one in statement.branches if one.action == "INSERT" for node in one.columns]
    inserted = [_known(work.info, name) for name in listed]
    before = (*before, *refuse_explicit(inserted, work.name, work.table, ctx))
    for one in (branch for branch in statement.branches if branch.action == "INSERT"):
        given = [node.name for node in one.columns] if one.columns or one.values is None else None
        before = (*before, *refuse_implicit(given, work.info, work.name, work.table, ctx))
    parts: list[tuple[str, s.Change, MergeBranch]] = []
    labels = {"UPDATE": "updated", "DELETE": "deleted", "INSERT": "inserted"}
    taken: dict[str, list[n.Node]] = {"matched": [], "by_target": [], "by_source": []}
    names: set[str] = {definition.name for definition in definitions}
    said: dict[str, list[MergeBranch]] = {kind: [] for kind in taken}
    for branch in statement.branches:
        kind = "matched" if branch.matched else ("by_source" if branch.by_source else "by_target")
        if (kind == "by_target") != (branch.action == "INSERT"):
            ctx.problem(
                f"An action of type '{branch.action}' is not allowed in the '{_CLAUSES[kind]}' clause of a "
                "MERGE statement.",
                number=10710 if kind == "by_target" else 10711,
            )
            return None
        if _comes_too_late(branch, said[kind], kind, ctx):
            return None
        said[kind].append(branch)
        change = _branch(work, branch, kind, taken[kind], ctx)
        if change is None:
            return None
        label = labels[branch.action]
        while label in names:
            label += "_rows"
        names.add(label)
        parts.append((label, change, branch))
    return _finish(work, definitions, recursive, parts, before, ctx)


def _branch(work: Work, branch: MergeBranch, kind: str, taken: list[n.Node], ctx: Context) -> s.Change | None:
    """One WHEN clause: a row without a partner sees its own side only."""
    both = ctx.frame.relations
    if kind != "matched":
        by_source = kind == "by_source"
        ctx.frame.relations = [one for one in both if (one is work.target_relation) == by_source]
    try:
        return _action(work, branch, kind, taken, ctx)
    finally:
        ctx.frame.relations = both


def _action(work: Work, branch: MergeBranch, kind: str, taken: list[n.Node], ctx: Context) -> s.Change | None:
    conditions: list[n.Node] = []
    own = condition(branch.condition, ctx).code if branch.condition is not None else None
    if kind == "matched":
        conditions.append(work.on)
    else:
        partner = work.head if kind == "by_target" else work.source
        found = q.Select((), partner, where=work.on, breaks=q.Breaks.NEVER)
        conditions.append(n.Not(n.Exists(n.Subquery(found))))
    conditions += [n.Is(n.Paren(earlier), "NOT TRUE") for earlier in taken]
    if own is not None:
        conditions.append(own)
    taken.append(n.TRUE if own is None else _in_parentheses(own))
    where = n.all_of(conditions)
    if branch.action == "UPDATE":
        sets: list[tuple[str, n.Node]] = []
        refuse_repeated((item.column for item in branch.sets), ctx)
        new = [(item.column.name, item.value) for item in branch.sets if item.column is not None]
        share_next_values(new, work.info, ctx)
        for item in branch.sets:
            if item.column is None or item.variable is not None:
                ctx.unsupported("a variable in SET of a MERGE", item.value)
                return None
            column = set_column(item.column, work.info, ctx)
            if work.info is not None and column not in work.info.columns:
                ctx.unbound_target(item.column, work.name, work.info)
            value = set_value(item, column, ctx, work.target_relation.alias)
            sets.append((fold(item.column.name), value.code))
        return s.Update(work.head, tuple(sets), (work.source,) if kind == "matched" else (), where)
    if branch.action == "DELETE":
        return s.Delete(work.head, (work.source,) if kind == "matched" else (), where)
    return _insert(work, branch, where, ctx)


def _in_parentheses(own: n.Node) -> n.Node:
    """A condition as it stood among the others."""
    return own if own.level >= n.AND else n.Paren(own)


def _insert(work: Work, branch: MergeBranch, where: n.Node | None, ctx: Context) -> s.Insert | None:
    table = n.Variable(work.table)
    rows = q.Select((), work.source, where=where, breaks=q.Breaks.OUTER)
    columns: list[ColumnInfo] | None = None
    if branch.columns:
        columns = [_known(work.info, node.name) for node in branch.columns]
        refuse_repeated(branch.columns, ctx)
        for listed, known in zip(branch.columns, columns, strict=True):
            if work.info is not None and known not in work.info.columns:
                ctx.unbound_target(listed, work.name, work.info)
    elif work.info is not None:
        identity = ctx.scope.identity_insert(work.name)
        columns = fillable(work.info.columns, identity=identity, versions=True)
    if branch.values is None:
        # A query without columns gives each of its rows the defaults.
        return s.Insert(table, (), rows)
    if columns is not None and len(columns) != len(branch.values):
        given = len(branch.values)
        if branch.columns:
            refuse_count(len(columns), given, branch.values[0], ctx)
        else:
            refuse_unlisted(given, work.info, work.name, branch.values[0], ctx)
        return None
    codes: list[n.Node] = []
    named: list[str] = []
    for place, node in enumerate(branch.values):
        column = columns[place] if columns is not None else None
        if is_default(node):
            if column is None:
                ctx.unsupported("DEFAULT among the values of a MERGE without a column list", node)
                return None
            continue
        value = scalar(node, ctx)
        codes.append(store(value, column.type if column is not None else None).code)
        if column is not None:
            named.append(fold(column.name))
    overriding = ctx.scope.identity_insert(work.name)
    return s.Insert(table, tuple(named), replace(rows, items=tuple(codes)), overriding)


def _known(info: TableInfo | None, name: str) -> ColumnInfo:
    for column in info.columns if info is not None else ():
        if fold(column.name) == fold(name):
            return column
    return ColumnInfo(name, None)


# ---------------------------------------------------------------- OUTPUT


def _finish(
    work: Work,
    definitions: list[q.Definition],
    recursive: bool,
    parts: list[tuple[str, s.Change, MergeBranch]],
    before: tuple[n.Node, ...],
    ctx: Context,
) -> Dml | TableVariableDml | None:
    outputs = work.statement.outputs
    identity = any(branch.action == "INSERT" for _, _, branch in parts)
    once = _matched_once(work, definitions, ctx)
    if not outputs:
        for label, change, _ in parts:
            definitions.append(q.Definition(label, replace(change, returning=(n.Integer(1),))))
        count = n.Call("count", (n.STAR,))
        counted = q.Select((count,), _united(parts, ()), where=once, breaks=q.Breaks.LATE)
        query = q.With(tuple(definitions), counted, recursive)
        return Dml(query, before=before, identity=identity, target=work.table, counts=True)
    if len(outputs) > 1:
        ctx.unsupported("two OUTPUT clauses of a MERGE", outputs[1].items[0])
        return None
    output = outputs[0]
    items: list[OutputItem] = []
    for label, change, branch in parts:
        items, returned, old_rows, paired = _returned(work, output, branch, ctx)
        listed = numbered(returned)
        if paired and isinstance(change, s.Insert):
            definitions += _paired(work, label, change, listed, definitions)
            continue
        if old_rows is not None and isinstance(change, s.Update):
            # UPDATE does not give old values back before PostgreSQL 18: the row's old version joins in.
            where = n.all_of([*_same_row(work), *([change.where] if change.where is not None else [])])
            change = replace(change, sources=(*change.sources, old_rows), where=where)
        definitions.append(q.Definition(label, replace(change, returning=listed)))
    labels = [_shown(f"c{place}", item) for place, item in enumerate(items, 1)]
    rows = q.Select(tuple(labels), _united(parts, (n.STAR,)), where=once, breaks=q.Breaks.LATE)
    if ctx.captured is not None and output.target is None:
        return leave(definitions, recursive, rows, items, before, (), ctx)
    if output.target is not None:
        if is_variable(output.target) and any(item.name == "*" for item in items):
            ctx.unsupported(
                "OUTPUT … INTO a table variable with '*' of a table that the script does not create",
                output.items[0],
                hint="name the columns",
            )
            return None
        if is_variable(output.target):
            types = [item.value.type if item.value is not None else None for item in items]
            kept = rows_into(
                output.target,
                output.columns,
                rows,
                types,
                ctx,
                definitions=definitions,
                recursive=recursive,
                before=before,
            )
            changes = Dml(n.NOTHING, identity=identity, target=work.table)
            return kept and replace(kept, changes=changes)
        name = object_name(output.target)
        info = ctx.scope.table(name)
        columns = output.columns or ([c.name for c in fillable(info.columns)] if info is not None else [])
        table = n.Variable(ctx.relation_name(name))
        rows = replace(rows, items=tuple(for_columns(labels, items, columns, info)))
        insertion = s.Insert(table, tuple(map(fold, columns)), rows, breaks=q.Breaks.OUTER)
        into = q.With(tuple(definitions), insertion, recursive)
        return Dml(into, before=before, identity=identity, target=work.table)
    columns_shown = (
        q.Labelled(label, fold(item.name)) if item.name and item.name != "*" else label
        for label, item in zip(labels, items, strict=True)
    )
    rows = replace(rows, items=tuple(columns_shown), breaks=q.Breaks.OUTER)
    return Dml(
        q.With(tuple(definitions), rows, recursive),
        output=result_columns(items),
        before=(*refuse_triggers(work.table, [change for _, change, _ in parts]), *before),
        identity=identity,
        target=work.table,
    )


def _matched_once(work: Work, definitions: list[q.Definition], ctx: Context) -> n.Node | None:
    """Error 8672 for a target row that two source rows would change: the WHERE that makes it run.

    UPDATE … FROM and DELETE … USING take one of the source rows, silently. Rows of a view have no ctid
    to be told apart by.
    """
    matched = [branch for branch in work.statement.branches if branch.matched]
    if work.single or not matched or work.info is None or work.info.read_only:
        return None
    conditions = [work.on]
    if all(branch.condition is not None for branch in matched):
        owns = [condition(branch.condition, ctx).code for branch in matched if branch.condition]
        either = n.AnyOf(tuple(n.Paren(_in_parentheses(own)) for own in owns))
        conditions.append(owns[0] if len(owns) == 1 else either)
    query = q.Select(
        (n.Call("ssb_internal.matched_twice"),),
        work.head,
        (q.Join(",", work.source),),
        n.all_of(conditions),
        group=(n.Name((*work.target.parts, "ctid")),),
        having=n.Comparison(">", n.Call("count", (n.STAR,)), n.Integer(1)),
        breaks=q.Breaks.PAIRED,
    )
    name = _free("twice", definitions)
    definitions.append(q.Definition(name, query))
    found = q.Select((), n.Name((name,)), breaks=q.Breaks.NEVER)
    return n.Not(n.Exists(n.Subquery(found)))


def _paired(
    work: Work, label: str, change: s.Insert, listed: tuple[n.Node, ...], taken: list[q.Definition]
) -> list[q.Definition]:
    """The branch that inserts, with the source row of every inserted row beside it.

    INSERT … RETURNING sees the new row alone. Rows are inserted, and given back, in the order of the
    query; so their numbers join them.
    """
    chosen = change.source
    assert isinstance(chosen, q.Select)
    arriving, arrived = _free("arriving", taken), _free("arrived", taken)
    alias = work.source.parts[-1]
    nth_row = n.Name((alias, "nth_row"))
    source = q.Aliased(n.Name((arriving,)), alias)
    rows = replace(chosen, source=source, where=None, order=(n.OrderItem(nth_row),))
    inserted = replace(_with_numbers(n.Name((arrived,))), breaks=q.Breaks.NEVER)
    return [
        q.Definition(arriving, replace(_with_numbers(work.source), where=chosen.where)),
        q.Definition(arrived, replace(change, source=rows, returning=(n.STAR,))),
        q.Definition(
            label,
            q.Select(
                listed,
                q.Aliased(n.Subquery(inserted), "inserted"),
                (q.Join("JOIN", source, n.Comparison("=", nth_row, n.Name(("inserted", "nth_row")))),),
            ),
        ),
    ]


def _with_numbers(rows: n.Name) -> q.Select:
    """All columns of ``rows``, and the row's number."""
    return q.Select((n.Every(rows), q.Labelled(n.Over(n.Call("row_number")), "nth_row")), rows)


def _free(name: str, taken: list[q.Definition]) -> str:
    used = {definition.name for definition in taken}
    while name in used:
        name += "_rows"
    return name


def _united(parts: list[tuple[str, s.Change, MergeBranch]], items: tuple[n.Node, ...]) -> n.Node:
    """The rows of all branches."""
    first, *rest = (q.Select(items, n.Name((label,)), breaks=q.Breaks.NEVER) for label, _, _ in parts)
    union = q.SetOperation(first, tuple(("UNION ALL", query) for query in rest), short=True)
    return q.Aliased(n.Subquery(union), "changed")


_OLD_ROW = n.Paren(n.Name(("old_row", "deleted")))
"""The old version of an updated row, whole: its columns are no names for the rest of the statement."""


def _row_of(relation: n.Node, work: Work) -> n.Node:
    """A whole row, by its type: the relation's name alone would be a column of that name."""
    return n.Cast(n.Every(relation), work.table)


def _old_rows(work: Work) -> n.Node:
    place = (n.Name(("old", "ctid")),) if _key(work) is None else ()
    items = (q.Labelled(_row_of(n.Name(("old",)), work), "deleted"), *place)
    query = q.Select(items, q.Aliased(n.Variable(work.table), "old"), breaks=q.Breaks.NEVER)
    return q.Aliased(n.Subquery(query), "old_row")


def _key(work: Work) -> KeyInfo | None:
    keys = work.info.keys if work.info is not None else ()
    return next((key for key in keys if key.primary), None)


def _same_row(work: Work) -> list[n.Node]:
    key = _key(work)
    if key is None:
        return [n.Comparison("=", n.Name(("old_row", "ctid")), n.Member(work.target, "ctid"))]
    return [
        n.Comparison("=", n.Member(_OLD_ROW, column), n.Member(work.target, column))
        for column in map(fold, key.columns)
    ]


def _returned(
    work: Work, output: Output, branch: MergeBranch, ctx: Context
) -> tuple[list[OutputItem], list[n.Node], n.Node | None, bool]:
    """Return (items, their trees, the relation with old values that an UPDATE needs, paired).

    ``paired``: the trees need the source row beside the inserted one.
    """
    columns = work.info.columns if work.info is not None else None
    ctx.pseudo["$action"] = n.Cast(n.Text(branch.action), "text")
    action, source = branch.action, work.source_relation
    stored = ctx.stored_name(work.name, work.info)
    inserted = Relation(
        "inserted",
        columns,
        stored=stored,
        prefix=work.target,
        bare=action == "INSERT",
        nulls=action == "DELETE",
    )
    relations = [
        inserted,
        Relation(
            "deleted",
            columns,
            prefix=_OLD_ROW if action == "UPDATE" else work.target,
            nulls=action == "INSERT",
            stored=stored,
        ),
        Relation(
            source.alias,
            source.columns,
            nulls=branch.by_source,
            stored=source.stored,
            declared=source.declared,
        ),
    ]
    items = output_items(output, relations, ctx, work.table if columns is None else None)
    codes: list[n.Node] = []
    paired = uses_old = False
    for item in items:
        if item.name == "*":
            # Columns that only the server knows: the whole row travels.
            codes.append(_whole_row(item, work, branch))
            uses_old = uses_old or codes[-1] is _OLD_ROW
            continue
        sides = {
            fold(column.parts[-2].name)
            for column in item.node.find_all(exp.Column)
            if column.args.get("table")
        }
        code: n.Node | None = item.code
        if action == "INSERT" and source.alias in sides:
            code = _inserted_from(item, branch, ctx)
            paired = paired or code is None
        uses_old = uses_old or ("deleted" in sides and action == "UPDATE")
        codes.append(code or n.NOTHING)
    if paired:
        inserted.prefix, inserted.bare = None, False
        items = output_items(output, relations, ctx, work.table if columns is None else None)
        codes = [item.code if item.name != "*" else _whole_row(item, work, branch) for item in items]
    ctx.pseudo.pop("$action", None)
    return items, codes, _old_rows(work) if uses_old else None, paired


def _whole_row(item: OutputItem, work: Work, branch: MergeBranch) -> n.Node:
    side = fold(item.node.parts[-2].name) if isinstance(item.node, exp.Column) else ""
    if side == "inserted" and branch.action != "DELETE":
        inserted = n.Name((fold(work.name.name),))
        return _row_of(inserted if branch.action == "INSERT" else work.target, work)
    if side == "deleted" and branch.action != "INSERT":
        return _OLD_ROW if branch.action == "UPDATE" else _row_of(work.target, work)
    return n.Cast(n.NULL, work.table)


def _shown(label: str, item: OutputItem) -> n.Node:
    return n.Every(n.Paren(n.Name(("changed", label)))) if item.name == "*" else n.Name((label,))


def _inserted_from(item: OutputItem, branch: MergeBranch, ctx: Context) -> n.Node | None:
    """A source column by the column that it was inserted into; None where it was not."""
    for node, column in zip(branch.values or [], branch.columns, strict=False):
        if (
            isinstance(node, exp.Column)
            and item.value is not None
            and scalar(node, ctx).code == item.value.code
        ):
            return n.Name((fold(column.name),))
    return None
