"""Scalar expressions: literals, names, subqueries.

The other kinds of expression have files of their own (conditions, arithmetic, calls,
windows); all register their handlers with ..context.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ....grammar.hints import no_condition
from ....grammar.problems import NAME_MISSING, did_you_mean
from ....grammar.records import replace
from ....grammar.tokens import TokenKind
from ...catalog import types as tm
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo
from ...target import nodes as n
from ...target import queries as q
from .. import values as v
from ..assignments import load
from ..context import Context, Frame, Relation
from ..conversions import untyped_xml
from ..dispatch import expression, handles, query_tree
from ..functions import builtin
from ..parse.nodes import SetVariable, is_variable, unwrapped
from ..values import Value

BOOLEAN = tm.BOOLEAN

_MOMENTS = (tm.DATETIME, tm.DATE)
"""The types of CURRENT_TIMESTAMP and CURRENT_DATE."""


def condition(node: exp.Expr | None, ctx: Context) -> Value:
    """Translate a search condition."""
    value = expression(node, ctx)
    if value.type is not BOOLEAN and not value.is_null:
        ctx.problem(no_condition(ctx.reach(node)), node, number=4145)
    return value


def scalar(node: exp.Expr | None, ctx: Context) -> Value:
    """Translate an expression that must have a value, which conditions have not in T-SQL."""
    value = expression(node, ctx)
    if value.type is BOOLEAN:
        return ctx.problem(
            "a condition has no value in T-SQL", node, number=102, hint="CASE WHEN … THEN 1 ELSE 0 END"
        )
    return value


@handles(exp.Paren)
def _paren(node: exp.Paren, ctx: Context) -> Value:
    value = expression(node.this, ctx)
    return value if value.code.level >= n.CAST else replace(value, code=n.Paren(value.code))


# ---------------------------------------------------------------- literals and names


@handles(exp.Literal)
def _literal(node: exp.Literal, ctx: Context) -> Value:
    text = node.this
    if node.is_string:
        return v.string(text)
    return number(text)


def number(text: str) -> Value:
    """A number literal as T-SQL types it: int, decimal, float (1e3) or money ($1.50)."""
    if text[0] in "$£€¥":
        whole, _, fraction = text[1:].replace(",", "").strip().partition(".")
        return Value(n.Number(f"{whole or '0'}.{fraction[:4]:0<4}"), tm.MONEY, nullable=False)
    if "e" in text or "E" in text:
        mantissa = text + "0" if text[-1] in "eE+-" else text
        return Value(n.Cast(n.Number(mantissa), "double precision"), tm.FLOAT, nullable=False)
    if "." in text:
        whole, _, fraction = text.partition(".")
        scale = len(fraction)
        precision = max(len(whole.lstrip("0")) + scale, 1)
        shown = f"{whole or '0'}.{fraction}"
        return Value(
            n.Number(shown), tm.decimal(precision, scale), pg="numeric" if fraction else None, nullable=False
        )
    return v.integer(int(text))


@handles(exp.National)
def _national(node: exp.National, ctx: Context) -> Value:
    return v.string(node.name, national=True)


@handles(exp.HexString)
def _hex(node: exp.HexString, ctx: Context) -> Value:
    digits = node.name
    if len(digits) % 2:
        digits = "0" + digits
    length = max(len(digits) // 2, 1)
    type_ = tm.SqlType("varbinary", length=length if length <= 8000 else tm.MAX)
    return Value(n.Cast(n.Bytes(digits), "bytea"), type_, nullable=False)


@handles(exp.Null)
def _null(node: exp.Null, ctx: Context) -> Value:
    return v.NULL


@handles(exp.Identifier)
def _identifier(node: exp.Identifier, ctx: Context) -> Value:
    return _column(exp.Column(this=node), ctx)


@handles(exp.Column)
def _column(node: exp.Column, ctx: Context) -> Value:
    leaf = node.this
    if isinstance(leaf, exp.Star):
        return ctx.problem("'*' cannot stand here", node, number=102)
    name = node.name
    table = node.args.get("table")
    if not name:
        return ctx.problem(NAME_MISSING, node, number=1038)
    if table is None:
        quoted = bool(leaf.args.get("quoted"))
        if not quoted:
            if name.startswith("@@"):
                return global_variable(name, node, ctx)
            if name.startswith("@"):
                return variable(name, node, ctx)
            if name.startswith("$"):
                return _pseudo_column(name, node, ctx)
            special = builtin.NAMES_WITHOUT_PARENTHESES.get(name.lower())
            if special is not None:
                return at_one_moment(special, node, ctx) if special.type in _MOMENTS else special
            if name.lower() == "identitycol":
                return _identity_column(node, ctx)
        return _bare_column(name, node, ctx)
    return _qualified_column(node, name, ctx)


def of_rows(ctx: Context) -> bool:
    """Whether PostgreSQL would compute an expression for each row of a query or change."""
    levels = list(ctx.frame.levels())
    return any(frame.relations for frame in levels) and not any(frame.defining for frame in levels)


def computed_once(value: Value) -> Value:
    """A value that depends on no row, as a subquery: PostgreSQL computes it once for all rows."""
    return replace(value, code=n.Subquery(q.Select((value.code,), breaks=q.Breaks.NEVER)))


def at_one_moment(value: Value, node: exp.Expr, ctx: Context) -> Value:
    """GETDATE() and its like: one moment for all rows of a statement.

    Not in WHERE and ON: there the planner reads the clock itself, to know how many rows are due.
    """
    clause = node.find_ancestor(exp.Where, exp.Join, exp.Select)
    if isinstance(clause, (exp.Where, exp.Join)) or not of_rows(ctx):
        return value
    return computed_once(value)


_CONDITIONAL = frozenset(("ISNULL", "COALESCE", "IIF", "CHOOSE"))


def computed_late(value: Value, operand: Value, *, fails: bool, node: exp.Expr, ctx: Context) -> Value:
    """A value of constants that cannot be, computed where it is asked for alone.

    PostgreSQL computes what reads no row while it plans, in a branch that is never reached and for rows
    that are not there; variables have their values then. A subquery around ``operand`` hides it.
    ``fails``: of this constant comes no value.
    """
    branch = next((one for one in _ancestors(node) if _is_conditional(one)), None)
    if fails:
        hidden = branch is not None or of_rows(ctx)
    else:
        hidden = (
            branch is not None
            and (isinstance(operand.code, n.Variable) or _is_of_variables(node))
            and ((of_rows(ctx) and _reads_row(branch)) or branch.find(exp.Query) is not None)
        )
    if not hidden:
        return value
    late = computed_once(operand).code
    return replace(value, code=n.replaced(value.code, lambda one: late if one is operand.code else None))


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while isinstance(parent, exp.Expr) and not isinstance(parent, exp.Query):
        yield parent
        parent = parent.parent


def _is_conditional(node: exp.Expr) -> bool:
    return isinstance(node, exp.Case) or (
        isinstance(node, exp.Anonymous) and node.name.upper() in _CONDITIONAL
    )


def _is_of_variables(node: exp.Expr) -> bool:
    """Whether an expression reads variables and nothing else that the planner does not know."""
    columns = list(node.find_all(exp.Column))
    return bool(columns) and all(map(is_variable, columns)) and node.find(exp.Query) is None


def _reads_row(node: exp.Expr) -> bool:
    return any(not is_variable(column) for column in node.find_all(exp.Column))


def own_name(node: exp.Expr) -> str | None:
    """The name that an item of a result has without AS: a column's; a variable and CURRENT_USER have none."""
    node = unwrapped(node)
    if not isinstance(node, exp.Column):
        return None
    name: str = node.name
    if node.args.get("table") is not None or node.this.args.get("quoted"):
        return name
    if name.startswith("$"):
        return name if name.lower() == "$action" else None
    return None if name.startswith("@") or name.lower() in builtin.NAMES_WITHOUT_PARENTHESES else name


def variable(name: str, node: exp.Expr, ctx: Context) -> Value:
    """``@name``."""
    known = ctx.scope.variable(name)
    if known is None:
        if ctx.scope.table_variable(name) is not None:
            return ctx.problem(
                f'Must declare the scalar variable "{name}".',
                node,
                number=137,
                hint="where it is an argument, check takes the procedure's script too, compile --after it",
            )
        if ctx.scope.is_cursor(name):
            return ctx.problem(
                f"the cursor variable {name} cannot be an argument or a value here",
                node,
                hint="fill a temporary table and let the caller read it",
            )
        return ctx.problem(f'Must declare the scalar variable "{name}".', node, number=137)
    spelled = known.query_reference if ctx.has_relations else known.reference
    code = known.value if known.value is not None else n.Variable(spelled)
    return untyped_xml(Value(code, None if known.is_text else known.type))


_OF_SESSION = ("@@rowcount", "@@error", "@@trancount", "@@fetch_status", "@@nestlevel", "@@procid")
"""Those that the scope knows."""


def global_variable(name: str, node: exp.Expr, ctx: Context) -> Value:
    """``@@name``: the system's, or one that the script declares."""
    if ctx.scope.variable(name) is not None:
        return variable(name, node, ctx)
    known = ctx.scope.global_variable(name.lower())
    if known is not None:
        _refuse_hidden(name, known.code, node, ctx)
        return Value(known.code, known.type)
    value = builtin.GLOBAL_VARIABLES.get(name.lower())
    if value is not None:
        return value
    reason = builtin.REFUSED_GLOBALS.get(name.lower())
    if reason is not None:
        return ctx.problem(f"{name} is not supported: {reason}", node)
    hint = did_you_mean(name, map(str.upper, (*builtin.GLOBAL_VARIABLES, *_OF_SESSION)))
    return ctx.problem(f'Must declare the scalar variable "{name}".', node, number=137, hint=hint)


def _refuse_hidden(name: str, code: n.Node, node: exp.Expr, ctx: Context) -> None:
    """Refuse ``@@name`` where a table is called as the record that keeps it: its column would be read."""
    member = code.operand if isinstance(code, n.Cast) else code
    if not isinstance(member, n.Member) or not isinstance(member.of, n.Variable):
        return
    record, field = member.of.name, member.name
    for frame in ctx.frame.levels():
        for relation in frame.relations:
            if relation.alias == record and (relation.columns is None or relation.column(field)):
                ctx.problem(
                    f"{name} beside a table that is called {record}: its column {field} would be read",
                    node,
                    hint=f"give the table an alias, or put {name} into a variable before",
                )


def _pseudo_column(name: str, node: exp.Expr, ctx: Context) -> Value:
    lowered = name.lower()
    if lowered == "$identity":
        return _identity_column(node, ctx)
    if lowered == "$action":
        action = ctx.pseudo.get("$action")
        if action is not None:
            return Value(action, tm.nvarchar(10))
    return ctx.unsupported(f"the pseudo-column {name}", node)


def _identity_column(node: exp.Expr, ctx: Context) -> Value:
    for relation in ctx.frame.relations:
        for column in relation.columns or ():
            if column.identity is not None:
                return Value(n.Name((fold(column.name),)), column.type, nullable=False)
    return ctx.unsupported("IDENTITYCOL of a table that the script does not create", node)


def _bare_column(name: str, node: exp.Expr, ctx: Context) -> Value:
    folded = fold(name)
    for frame in ctx.frame.levels():
        unknown = False
        for relation in frame.relations:
            column = relation.column(name)
            if column is not None:
                _refuse_ambiguous(relation, frame, name, node, ctx)
                ctx.bind_column(relation, name)
                return _of_column(_spelling(relation, folded, relation.qualify), column)
            unknown = unknown or relation.columns is None or relation.partial
            if relation.renamed and folded in relation.renamed:
                return Value(relation.renamed[folded])
        if unknown:
            qualified = next(
                (r for r in frame.relations if r.qualify and (r.columns is None or r.partial)), None
            )
            return Value(qualified.spell(folded) if qualified is not None else n.Name((folded,)))
    if not ctx.has_relations:
        quoted = isinstance(node, exp.Column) and bool(node.this.args.get("quoted"))
        return ctx.problem(f"Invalid column name '{name}'.", node, number=207, hint=_meant(name, quoted, ctx))
    ctx.unbound(f"Invalid column name '{name}'.", folded, node)
    return Value(n.Name((folded,)))


def _meant(name: str, quoted: bool, ctx: Context) -> str | None:
    """Return what a name may be meant for where there are no columns."""
    if quoted:
        in_brackets = any(token.kind is TokenKind.BRACKETED and token.name == name for token in ctx.tokens)
        return None if in_brackets else "a string stands in single quotes; in double quotes it is a name"
    if name.upper() in builtin.FUNCTIONS:
        return f"a function is called with parentheses: {name}()"
    if name.upper() in ("TRUE", "FALSE"):
        return f"T-SQL has no {name.upper()}: a bit is 1 or 0"
    return None


def _refuse_ambiguous(first: Relation, frame: Frame, name: str, node: exp.Expr, ctx: Context) -> None:
    """Error 209: another table of the same query has a column of this name, too."""
    if len(frame.relations) == 1 or fold(name) in frame.results:
        return
    among = [relation for relation in frame.relations if relation.column(name) is not None]
    plain = all(relation.prefix is None and not relation.bare and not relation.nulls for relation in among)
    if plain and any(relation.alias != first.alias for relation in among):
        ctx.wrong(f"Ambiguous column name '{name}'.", 209, node)


def _spelling(relation: Relation, column: str, qualified: bool) -> n.Node:
    """A column by its folded name, as a query with this relation reads it."""
    if not qualified and relation.renamed is not None and column in relation.renamed:
        return relation.renamed[column]
    return relation.spell(column) if qualified else n.Name((column,))


def _qualified_column(node: exp.Column, name: str, ctx: Context) -> Value:
    parts = [part.name for part in node.parts[:-1]]
    relation = find_relation(parts, ctx)
    folded = fold(name)
    if relation is None:
        whole = ".".join([*parts, name])
        told = f'The multi-part identifier "{whole}" could not be bound.'
        ctx.unbound(told, "", node, number=4104)
        return Value(n.Name((fold(parts[-1]), folded)))
    if name.startswith("$") and name.lower() == "$identity":
        for column in relation.columns or ():
            if column.identity is not None:
                return untyped_xml(Value(relation.spell(fold(column.name)), column.type))
    ctx.bind_column(relation, name)
    code = (relation.renamed or {}).get(folded) or relation.spell(folded)
    known = relation.column(name)
    if known is None and folded not in (relation.renamed or {}):
        ctx.unbound(f"Invalid column name '{name}'.", folded, node.this, owner=relation)
    return Value(code) if known is None else _of_column(code, known)


def _of_column(code: n.Node, column: ColumnInfo) -> Value:
    value = load(code, column)
    return untyped_xml(replace(value, collation="name") if column.holds_names else value)


def column_of(relation: Relation, column: ColumnInfo, ctx: Context) -> Value:
    """A column that ``*`` stands for: with its relation's name where others could have it too."""
    folded = fold(column.name)
    known = (relation.renamed or {}).get(folded)
    qualified = relation.qualify or len(ctx.frame.relations) > 1
    return _of_column(known or _spelling(relation, folded, qualified), column)


def find_relation(parts: list[str], ctx: Context) -> Relation | None:
    """The relation that ``alias`` or ``schema.table`` means, innermost query first."""
    wanted = fold(parts[-1])
    for frame in ctx.frame.levels():
        for relation in frame.relations:
            if _is_of_another_schema(relation, parts):
                continue
            if relation.alias == wanted:
                return relation
            if relation.name is not None and fold(relation.name.name) == wanted and len(parts) > 1:
                return relation
    return None


def _is_of_another_schema(relation: Relation, parts: list[str]) -> bool:
    """``other.t`` where FROM has ``dbo.t``."""
    schema = relation.name.schema if relation.name is not None else None
    return bool(schema and len(parts) > 1 and parts[-2]) and fold(parts[-2]) != fold(schema or "")


# ---------------------------------------------------------------- subqueries


@handles(exp.Subquery)
def _subquery(node: exp.Subquery, ctx: Context) -> Value:
    inner = node.this
    while isinstance(inner, exp.Subquery):
        inner = inner.this
    value = subquery(inner, ctx)
    query = value.code.query if isinstance(value.code, n.Subquery) else None
    if isinstance(query, q.Select) and query == q.Select(query.items, breaks=query.breaks):
        item = query.items[0] if len(query.items) == 1 else n.NULL
        code = item.value if isinstance(item, q.Labelled) else item
        if code == n.NULL:
            return v.NULL  # (SELECT NULL), which PostgreSQL takes for a text
        if v.differs_by_row(code):
            # (SELECT NEWID()): PostgreSQL would compute a query once for all rows.
            return replace(value, code=n.Paren(code))
    return value


@handles(exp.Select, exp.Union, exp.Except, exp.Intersect)
def _select(node: exp.Query, ctx: Context) -> Value:
    return subquery(node, ctx)


def subquery(query: exp.Expr, ctx: Context, *, one_column: bool = True) -> Value:
    """A query in parentheses, as a scalar or the right side of IN; that of EXISTS has any columns."""
    result = query_tree(query, ctx)
    if one_column and result.columns is not None and len(result.columns) > 1:
        ctx.problem(
            "Only one expression can be specified in the select list when the subquery is not introduced "
            "with EXISTS.",
            query,
            number=116,
        )
    type_ = None
    if result.columns is not None and len(result.columns) == 1:
        type_ = result.columns[0].type
    pg = result.values[0].pg if result.values and len(result.values) == 1 else None
    return Value(n.Subquery(result.code), type_, pg=pg)


@handles(SetVariable)
def _set_variable(node: SetVariable, ctx: Context) -> Value:
    return ctx.problem(
        "a variable is assigned in the select list of a SELECT statement only", node, number=102
    )


@handles(exp.Tuple)
def _tuple(node: exp.Tuple, ctx: Context) -> Value:
    return ctx.problem("a list in parentheses cannot stand here", node, number=102)
