"""Scalar expressions and search conditions → PostgreSQL text with a T-SQL type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from . import functions
from . import ordinary_sql_values as v
from . import type_map as tm
from .names import ObjectName, fold, identifier, literal, quote
from .ordinary_sql_context import Context, Relation, expression, handles, object_name
from .ordinary_sql_interface import ColumnInfo
from .ordinary_sql_reading import AtTimeZone, Conversion, NextValue, SetVariable
from .ordinary_sql_values import Value
from .xml_methods import XML_METHODS, xml_method

BOOLEAN = tm.BOOLEAN

# ---------------------------------------------------------------- conditions and values


def condition(node: exp.Expression | None, ctx: Context) -> Value:
    """Translate a search condition."""
    value = expression(node, ctx)
    if value.type is not BOOLEAN and not value.is_null:
        ctx.problem(
            "an expression of non-boolean type is specified where a condition is expected", node, number=4145
        )
    return value


def scalar(node: exp.Expression | None, ctx: Context) -> Value:
    """Translate an expression that must have a value, which conditions have not in T-SQL."""
    value = expression(node, ctx)
    if value.type is BOOLEAN:
        return ctx.problem("a condition has no value in T-SQL", node, number=102, hint="CASE WHEN … THEN 1 ELSE 0 END")
    return value


def _flatten(node: exp.Expression, kind: type) -> list[exp.Expression]:
    """The operands of a chain ``a AND b AND c``, without recursion."""
    operands: list[exp.Expression] = []
    while isinstance(node, kind):
        operands.append(node.args["expression"])
        node = node.this
    operands.append(node)
    operands.reverse()
    return operands


@handles(exp.And)
def _and(node: exp.And, ctx: Context) -> Value:
    texts = [condition(operand, ctx).at(v.AND) for operand in _flatten(node, exp.And)]
    return Value(" AND ".join(texts), v.AND, BOOLEAN)


@handles(exp.Or)
def _or(node: exp.Or, ctx: Context) -> Value:
    texts = [condition(operand, ctx).at(v.OR) for operand in _flatten(node, exp.Or)]
    return Value(" OR ".join(texts), v.OR, BOOLEAN)


@handles(exp.Not)
def _not(node: exp.Not, ctx: Context) -> Value:
    inner = node.this
    if isinstance(inner, exp.In):
        return _in(inner, ctx, negate=True)
    if isinstance(inner, exp.Between):
        return _between(inner, ctx, negate=True)
    if isinstance(inner, exp.Is):
        return _is(inner, ctx, negate=True)
    if isinstance(inner, (exp.Like, exp.Escape)):
        return _like_node(inner, ctx, negate=True)
    if isinstance(inner, (exp.NullSafeEQ, exp.NullSafeNEQ)):
        return _distinct(inner, ctx, negate=True)
    return Value(f"NOT {condition(inner, ctx).at(v.NOT)}", v.NOT, BOOLEAN)


@handles(exp.Paren)
def _paren(node: exp.Paren, ctx: Context) -> Value:
    value = expression(node.this, ctx)
    if value.level >= v.CAST:
        return value
    return replace(value, text=f"({value.text})", level=v.ATOM, constant=None)


@handles(exp.Is)
def _is(node: exp.Is, ctx: Context, negate: bool = False) -> Value:
    if not isinstance(node.expression, exp.Null):
        return ctx.problem("IS must be followed by NULL, NOT NULL or DISTINCT FROM", node, number=102)
    negate = negate or bool(node.args.get("negate"))
    value = scalar(node.this, ctx)
    return Value(f"{value.at(v.RANGE)} IS {'NOT ' if negate else ''}NULL", v.IS, BOOLEAN)


@handles(exp.NullSafeEQ, exp.NullSafeNEQ)
def _distinct(node: exp.Binary, ctx: Context, negate: bool = False) -> Value:
    left, right = _align(scalar(node.this, ctx), scalar(node.expression, ctx), ctx)
    distinct = isinstance(node, exp.NullSafeNEQ) != negate
    return Value(f"{left.at(v.RANGE)} IS {'' if distinct else 'NOT '}DISTINCT FROM {right.at(v.RANGE)}", v.IS, BOOLEAN)


_COMPARISONS: dict[type, str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


@handles(*_COMPARISONS)
def _comparison(node: exp.Binary, ctx: Context) -> Value:
    operator = _COMPARISONS[type(node)]
    if isinstance(node.expression, (exp.Any, exp.All)):
        return _quantified(node, operator, ctx)
    left, right = _align(scalar(node.this, ctx), scalar(node.expression, ctx), ctx)
    return Value(f"{left.at(v.RANGE)} {operator} {right.at(v.RANGE)}", v.COMPARE, BOOLEAN)


def _quantified(node: exp.Binary, operator: str, ctx: Context) -> Value:
    quantifier = node.expression
    left = scalar(node.this, ctx)
    query = quantifier.this
    if isinstance(query, (exp.Subquery, exp.Paren)):
        query = query.this
    if not isinstance(query, exp.Query):
        return ctx.problem("ALL, ANY and SOME take a subquery", node, number=102)
    word = "ANY" if isinstance(quantifier, exp.Any) else "ALL"
    right = _subquery_text(query, ctx)
    aligned, _ = _align(left, right, ctx)
    return Value(f"{aligned.at(v.RANGE)} {operator} {word} {right.text}", v.COMPARE, BOOLEAN)


@handles(exp.Between)
def _between(node: exp.Between, ctx: Context, negate: bool = False) -> Value:
    subject = scalar(node.this, ctx)
    low, high = scalar(node.args["low"], ctx), scalar(node.args["high"], ctx)
    aligned, low = _align(subject, low, ctx)
    same, high = _align(subject, high, ctx)
    word = "NOT BETWEEN" if negate else "BETWEEN"
    if aligned.text != same.text:
        text = f"{aligned.at(v.RANGE)} >= {low.at(v.RANGE)} AND {same.at(v.RANGE)} <= {high.at(v.RANGE)}"
        return Value(f"NOT ({text})", v.NOT, BOOLEAN) if negate else Value(text, v.AND, BOOLEAN)
    return Value(f"{aligned.at(v.OTHER)} {word} {low.at(v.OTHER)} AND {high.at(v.OTHER)}", v.RANGE, BOOLEAN)


@handles(exp.In)
def _in(node: exp.In, ctx: Context, negate: bool = False) -> Value:
    subject = scalar(node.this, ctx)
    word = "NOT IN" if negate else "IN"
    query = node.args.get("query")
    if query is not None:
        right = _subquery_text(query, ctx)
        aligned, _ = _align(subject, right, ctx)
        return Value(f"{aligned.at(v.OTHER)} {word} {right.text}", v.RANGE, BOOLEAN)
    items = [scalar(item, ctx) for item in node.expressions]
    # T-SQL converts the whole list and the subject to one type.
    known = [item for item in items if item.type is not None]
    strongest = v.common_type([subject, *known]) if subject.type is not None else None
    if strongest is not None and subject.family != strongest.family and not (
        subject.type is not None and subject.type.is_numeric and strongest.is_numeric
    ):
        subject = v.assign(subject, strongest)
    texts = []
    aligned = subject
    for item in items:
        aligned, right = _align(subject, item, ctx)
        texts.append(right.text)
    if not texts:
        return ctx.problem("IN takes at least one value", node, number=102)
    return Value(f"{aligned.at(v.OTHER)} {word} ({', '.join(texts)})", v.RANGE, BOOLEAN)


@handles(exp.Exists)
def _exists(node: exp.Exists, ctx: Context) -> Value:
    query = node.this
    if isinstance(query, (exp.Subquery, exp.Paren)):
        query = query.this
    if not isinstance(query, exp.Query):
        return ctx.problem("EXISTS takes a subquery", node, number=102)
    return Value(f"EXISTS {_subquery_text(query, ctx).text}", v.ATOM, BOOLEAN)


# ---------------------------------------------------------------- comparison of unlike types


def _align(left: Value, right: Value, ctx: Context) -> tuple[Value, Value]:
    """Convert the side of lower precedence where PostgreSQL would not; fold case where asked to."""
    left, right = _align_types(left, right)
    text = left.is_string or right.is_string
    explicit = left.collation or right.collation
    if explicit in ("ci", "name") or (explicit is None and ctx.scope.case_insensitive and text):
        if not (left.is_null or right.is_null):
            return case_folded(left), case_folded(right)
    return left, right


def _align_types(left: Value, right: Value) -> tuple[Value, Value]:
    a, b = left.type, right.type
    if a is None or b is None or a.family == b.family or BOOLEAN in (a, b):
        return left, right
    if a.is_numeric and b.is_numeric or a.is_datetime and b.is_datetime:
        return left, right
    if "user" in (a.family, b.family) or "variant" in (a.family, b.family):
        return left, right
    target = v.common_of_types([a, b])
    if target is None:
        return left, right
    if a.family != target.family:
        return v.assign(left, target), right
    return left, v.assign(right, target)


def case_folded(value: Value) -> Value:
    """A string as SQL Server's usual collations compare it: case and trailing blanks do not count."""
    if isinstance(value.constant, str):
        return replace(value, text=literal(value.constant.rstrip(" ").lower()), constant=value.constant.rstrip(" ").lower())
    text = value.text
    if value.type is None or value.type.name != "sysname":
        text = f"rtrim({text})"
    return v.call("lower", text, type=value.type, nullable=value.nullable)


@handles(exp.Collate)
def _collate(node: exp.Collate, ctx: Context) -> Value:
    value = scalar(node.this, ctx)
    name = node.expression.name.lower()
    if name in ("database_default", "catalog_default"):
        return value
    if name.endswith(("_bin", "_bin2")):
        return replace(value, text=f'{value.at(v.CAST)} COLLATE "C"', level=v.UNARY, collation="cs", constant=None)
    if "_cs" in name:
        return replace(value, collation="cs")
    if "_ci" in name:
        return replace(value, collation="ci")
    return ctx.problem(f"no collation named {node.expression.name!r}", node.expression, number=448)


# ---------------------------------------------------------------- LIKE


@handles(exp.Like)
def _like(node: exp.Like, ctx: Context) -> Value:
    return _like_node(node, ctx)


@handles(exp.Escape)
def _escape(node: exp.Escape, ctx: Context) -> Value:
    return _like_node(node, ctx)


def _like_node(node: exp.Expression, ctx: Context, negate: bool = False) -> Value:
    escape: Value | None = None
    like = node
    if isinstance(node, exp.Escape):
        like = node.this
        escape = scalar(node.expression, ctx)
    if not isinstance(like, exp.Like):
        return ctx.problem("ESCAPE belongs to LIKE", node, number=102)
    negate = negate != bool(like.args.get("negate"))
    subject, pattern = scalar(like.this, ctx), scalar(like.expression, ctx)
    if subject.type is not None and not subject.is_string:
        subject = v.as_text(subject)
    if pattern.type is not None and not pattern.is_string and not pattern.is_null:
        pattern = v.as_text(pattern)
    explicit = subject.collation or pattern.collation
    if explicit in ("ci", "name") or (explicit is None and ctx.scope.case_insensitive):
        subject = v.call("lower", subject.text, type=subject.type)
        if isinstance(pattern.constant, str):
            pattern = v.string(pattern.constant.lower())
        else:
            pattern = v.call("lower", pattern.text, type=pattern.type)
    word = "NOT LIKE" if negate else "LIKE"
    constant = pattern.constant
    if pattern.is_null or (isinstance(constant, str) and "[" not in constant):
        tail = ""
        if escape is not None:
            tail = f" ESCAPE {escape.at(v.OTHER)}"
        elif isinstance(constant, str) and "\\" in constant:
            tail = " ESCAPE ''"
        return Value(f"{subject.at(v.OTHER)} {word} {pattern.at(v.OTHER)}{tail}", v.RANGE, BOOLEAN)
    arguments = [subject.text, pattern.text, *([escape.text] if escape is not None else [])]
    value = v.call("sys.like", *arguments, type=BOOLEAN)
    return Value(f"NOT {value.text}", v.NOT, BOOLEAN) if negate else value


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
        amount = text[1:].replace(",", "") or "0"
        return Value(amount, v.ATOM, tm.MONEY, nullable=False)
    if "e" in text or "E" in text:
        mantissa = text + "0" if text[-1] in "eE+-" else text
        return Value(f"{mantissa}::double precision", v.CAST, tm.FLOAT, nullable=False)
    if "." in text:
        whole, _, fraction = text.partition(".")
        scale = len(fraction)
        precision = max(len(whole.lstrip("0")) + scale, 1)
        shown = f"{whole or '0'}.{fraction}" if fraction else f"{whole or '0'}"
        return Value(shown, v.ATOM, tm.decimal(precision, scale), pg="numeric" if fraction else None, nullable=False)
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
    return Value(f"'\\x{digits}'::bytea", v.CAST, type_, nullable=False)


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
    if table is None:
        quoted = bool(leaf.args.get("quoted"))
        if not quoted:
            if name.startswith("@@"):
                return global_variable(name, node, ctx)
            if name.startswith("@"):
                return variable(name, node, ctx)
            if name.startswith("$"):
                return _pseudo_column(name, node, ctx)
            special = functions.NAMES_WITHOUT_PARENTHESES.get(name.lower())
            if special is not None:
                return special
            if name.lower() == "identitycol":
                return _identity_column(node, ctx)
        return _bare_column(name, node, ctx)
    return _qualified_column(node, name, ctx)


def variable(name: str, node: exp.Expression, ctx: Context) -> Value:
    """``@name``."""
    known = ctx.scope.variable(name)
    if known is None:
        if ctx.scope.table_variable(name) is not None:
            return ctx.problem(f"the table variable {name} cannot be used as a scalar", node, number=137)
        return ctx.problem(f"must declare the scalar variable {name!r}", node, number=137)
    text = known.query_reference if ctx.has_relations else known.reference
    return Value(text, v.ATOM, known.type)


def global_variable(name: str, node: exp.Expression, ctx: Context) -> Value:
    """``@@name``."""
    known = ctx.scope.global_variable(name.lower())
    if known is not None:
        return Value(known.sql, _level_of(known.sql), known.type)
    value = functions.GLOBAL_VARIABLES.get(name.lower())
    if value is not None:
        return value
    reason = functions.REFUSED_GLOBALS.get(name.lower())
    if reason is not None:
        return ctx.problem(f"{name} is not supported: {reason}", node)
    return ctx.problem(f"must declare the scalar variable {name!r}", node, number=137)


def _level_of(sql: str) -> int:
    """How tightly text from outside binds, as far as it must be known."""
    return v.ATOM if sql.replace("_", "").replace(".", "").isalnum() or sql.endswith(")") and " " not in sql else v.OR


def _pseudo_column(name: str, node: exp.Expression, ctx: Context) -> Value:
    lowered = name.lower()
    if lowered == "$identity":
        return _identity_column(node, ctx)
    if lowered == "$action":
        action = ctx.pseudo.get("$action")
        if action is not None:
            return Value(action, v.ATOM, tm.nvarchar(10))
    return ctx.unsupported(f"the pseudo-column {name}", node)


def _identity_column(node: exp.Expression, ctx: Context) -> Value:
    for relation in ctx.frame.relations:
        for column in relation.columns or ():
            if column.identity is not None:
                return Value(identifier(column.name), v.ATOM, column.type, nullable=False)
    return ctx.unsupported("IDENTITYCOL of a table that the script does not create", node)


def _bare_column(name: str, node: exp.Expression, ctx: Context) -> Value:
    text = identifier(name)
    for frame in ctx.frame.levels():
        unknown = False
        for relation in frame.relations:
            column = relation.column(name)
            if column is not None:
                text = relation.spell(text) if relation.qualify else _spelling(relation, name, text)
                return _of_column(text, column)
            unknown = unknown or relation.columns is None or relation.partial
            if relation.renamed and fold(name) in relation.renamed:
                return Value(relation.renamed[fold(name)], v.ATOM)
        if unknown:
            qualified = next((r for r in frame.relations if r.qualify and (r.columns is None or r.partial)), None)
            return Value(qualified.spell(text) if qualified is not None else text, v.ATOM)
    if not ctx.has_relations:
        return ctx.problem(f"invalid column name {name!r}", node, number=207)
    return Value(text, v.ATOM)


def _spelling(relation: Relation, name: str, text: str) -> str:
    if relation.renamed is not None:
        return relation.renamed.get(fold(name), text)
    return text


def _qualified_column(node: exp.Column, name: str, ctx: Context) -> Value:
    parts = [part.name for part in node.parts[:-1]]
    relation = find_relation(parts, ctx)
    column_text = identifier(name)
    if relation is None:
        return Value(f"{identifier(parts[-1])}.{column_text}", v.ATOM)
    if name.startswith("$") and name.lower() == "$identity":
        for column in relation.columns or ():
            if column.identity is not None:
                return Value(relation.spell(identifier(column.name)), v.ATOM, column.type)
    if relation.renamed is not None and fold(name) in relation.renamed:
        text = relation.renamed[fold(name)]
    else:
        text = relation.spell(column_text)
    known = relation.column(name)
    if known is None:
        return Value(text, v.ATOM)
    return _of_column(text, known)


def _of_column(text: str, column: ColumnInfo) -> Value:
    collation = "name" if column.holds_names else None
    return Value(text, v.ATOM, column.type, nullable=column.nullable, collation=collation)


def find_relation(parts: list[str], ctx: Context) -> Relation | None:
    """The relation that ``alias`` or ``schema.table`` means, innermost query first."""
    wanted = fold(parts[-1])
    for frame in ctx.frame.levels():
        for relation in frame.relations:
            if relation.alias == wanted:
                return relation
            if relation.name is not None and fold(relation.name.name) == wanted and len(parts) > 1:
                return relation
    return None


# ---------------------------------------------------------------- arithmetic


@handles(exp.Neg)
def _negative(node: exp.Neg, ctx: Context) -> Value:
    value = scalar(node.this, ctx)
    if isinstance(value.constant, int) and value.level == v.ATOM:
        return v.integer(-value.constant)
    if value.is_string:
        value = v.convert(value, tm.INT)
    text = value.at(v.UNARY)
    return Value(f"-{text}" if not text.startswith("-") else f"-({text})", v.UNARY, value.type, pg=value.pg)


@handles(exp.BitwiseNot)
def _bitwise_not(node: exp.BitwiseNot, ctx: Context) -> Value:
    value = scalar(node.this, ctx)
    if value.family == "bit":
        return Value(f"1 - {value.at(v.MULTIPLY)}", v.ADD, tm.BIT)
    return Value(f"~{value.at(v.UNARY)}", v.OTHER, value.type)


@handles(exp.Add)
def _add(node: exp.Add, ctx: Context) -> Value:
    operands = _flatten(node, exp.Add)
    result = scalar(operands[0], ctx)
    for operand in operands[1:]:
        result = _plus(result, scalar(operand, ctx), ctx)
    return result


def _plus(left: Value, right: Value, ctx: Context) -> Value:
    a, b = left.type, right.type
    if left.is_null or right.is_null:
        return _plus_null(left, right)
    if a is not None and b is not None:
        if a.is_string and b.is_string:
            return _concatenate(left, right)
        if a.family == b.family == "binary":
            return Value(f"{left.at(v.OTHER)} || {right.at(v.ADD)}", v.OTHER, v.common_of_types([a, b]))
        if a.is_numeric and b.is_numeric:
            return _numeric("+", left, right, ctx)
        if a.is_string and b.is_numeric:
            return _numeric("+", _number_of(left, b), right, ctx)
        if a.is_numeric and b.is_string:
            return _numeric("+", left, _number_of(right, a), ctx)
        if a.is_datetime or b.is_datetime:
            return v.call("sys.add", left.text, right.text, type=_moment(a, b))
        if "xml" in (a.family, b.family):
            return ctx.problem("'+' does not take xml", number=8117)
        return v.call("sys.add", left.text, right.text)
    # One type is for the server to know.  Text that is no number can only be joined.
    for value in (left, right):
        if isinstance(value.constant, str) and not v.is_numeric_text(value.constant):
            joined = Value(f"{left.at(v.OTHER)} || {right.at(v.ADD)}", v.OTHER, tm.NVARCHAR_MAX)
            return joined
    return v.call("sys.add", left.text, right.text)


def _plus_null(left: Value, right: Value) -> Value:
    known = left.type or right.type
    if known is not None and known.is_string:
        return Value(f"{left.at(v.OTHER)} || {right.at(v.ADD)}", v.OTHER, known)
    if known is not None and known.is_numeric:
        return Value(f"{left.at(v.ADD)} + {right.at(v.MULTIPLY)}", v.ADD, known)
    return replace(v.NULL, type=known)


def _concatenate(left: Value, right: Value) -> Value:
    type_ = _joined_type(left, right)
    return Value(
        f"{_kept_blanks(left).at(v.OTHER)} || {_kept_blanks(right).at(v.ADD)}",
        v.OTHER,
        type_,
        nullable=left.nullable or right.nullable,
    )


def _kept_blanks(value: Value) -> Value:
    """char(n) keeps its padding in T-SQL when it is joined; PostgreSQL would cut it."""
    if value.type is not None and value.type.name in ("char", "nchar") and value.constant is None:
        if (value.type.length or 1) > 1 and not value.text.startswith("rpad("):
            return v.call("rpad", value.text, str(value.type.length), type=value.type)
    return value


def _joined_type(left: Value, right: Value) -> tm.SqlType:
    assert left.type is not None and right.type is not None
    make = tm.nvarchar if left.type.is_unicode or right.type.is_unicode else tm.varchar
    total = v.limit(left.type) + v.limit(right.type)
    if tm.MAX in (left.type.length, right.type.length):
        return make(10**9)
    return make(min(total, 4000 if make is tm.nvarchar else 8000))


def _moment(a: tm.SqlType, b: tm.SqlType) -> tm.SqlType:
    return a if a.is_datetime else b


def _number_of(text: Value, other: tm.SqlType) -> Value:
    """A string beside a number becomes that number's type."""
    return v.assign(text, other) if not isinstance(text.constant, str) else v.convert(text, other)


_ARITHMETIC: dict[type, str] = {exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}


@handles(*_ARITHMETIC)
def _arithmetic(node: exp.Binary, ctx: Context) -> Value:
    operator = _ARITHMETIC[type(node)]
    left, right = scalar(node.this, ctx), scalar(node.expression, ctx)
    a, b = left.type, right.type
    if operator == "-":
        if (a is not None and a.is_datetime) or (b is not None and b.is_datetime):
            moment = tm.DATETIME if a is None or b is None else _moment(a, b)
            return v.call("sys.subtract", left.text, right.text, type=moment)
        if (a is None and not left.is_null) or (b is None and not right.is_null):
            return v.call("sys.subtract", left.text, right.text)
    if a is not None and a.is_string:
        left = _number_of(left, b if b is not None and b.is_numeric else tm.INT)
    if b is not None and b.is_string:
        right = _number_of(right, a if a is not None and a.is_numeric else tm.INT)
    return _numeric(operator, left, right, ctx)


_LEVEL = {"+": v.ADD, "-": v.ADD, "*": v.MULTIPLY, "/": v.MULTIPLY, "%": v.MULTIPLY}


def _numeric(operator: str, left: Value, right: Value, ctx: Context) -> Value:
    """Arithmetic on numbers with T-SQL's result type; decimal division is cut to its scale."""
    level = _LEVEL[operator]
    text = f"{left.at(level)} {operator} {right.at(level + 1)}"
    a, b = left.type, right.type
    if a is None or b is None:
        known = a or b
        return Value(text, level, known if known is not None and known.family == "float" else None)
    type_ = _arithmetic_type(operator, left, right)
    pg = "bigint" if "bigint" in (left.pg, right.pg) else ("numeric" if "numeric" in (left.pg, right.pg) else None)
    if pg is not None and type_.name not in ("int", "bigint"):
        pg = None
    if operator == "/" and type_.family == "decimal" and not (left.is_null or right.is_null):
        return v.call("trunc", text, str(4 if type_.name != "decimal" else type_.scale or 0), type=type_)
    if a.name in ("bit", "tinyint", "smallint") and b.name in ("bit", "tinyint", "smallint"):
        # Small integers would overflow sooner in PostgreSQL only for smallint, which T-SQL keeps too.
        return Value(text, level, type_)
    return Value(text, level, type_, pg=pg)


def _arithmetic_type(operator: str, left: Value, right: Value) -> tm.SqlType:
    a, b = left.type, right.type
    assert a is not None and b is not None
    if "float" in (a.family, b.family):
        return tm.FLOAT
    if a.family in ("integer", "bit") and b.family in ("integer", "bit"):
        common = v.common_of_types([a, b]) or tm.INT
        return common if common.name != "bit" else tm.BIT
    if {a.name, b.name} <= {"money", "smallmoney", "int", "bigint", "smallint", "tinyint", "bit"}:
        return tm.MONEY
    (p1, s1), (p2, s2) = v.digits(a, left.constant), v.digits(b, right.constant)
    if operator in "+-":
        scale = max(s1, s2)
        return tm.decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if operator == "*":
        return tm.decimal(p1 + p2 + 1, s1 + s2)
    if operator == "/":
        scale = max(6, s1 + p2 + 1)
        return tm.decimal(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return tm.decimal(min(p1 - s1, p2 - s2) + scale, scale)


_BITWISE: dict[type, str] = {exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "#"}


@handles(*_BITWISE)
def _bitwise(node: exp.Binary, ctx: Context) -> Value:
    left, right = scalar(node.this, ctx), scalar(node.expression, ctx)
    text = f"{left.at(v.OTHER)} {_BITWISE[type(node)]} {right.at(v.ADD)}"
    type_ = v.common_type([left, right])
    return Value(text, v.OTHER, type_)


# ---------------------------------------------------------------- CASE, conversions, functions


@handles(exp.Case)
def _case(node: exp.Case, ctx: Context) -> Value:
    values = [scalar(branch.args["true"], ctx) for branch in node.args["ifs"]]
    default = node.args.get("default")
    if default is not None:
        values.append(scalar(default, ctx))
    if all(value.is_null for value in values):
        return ctx.problem("at least one result of CASE must not be the constant NULL", node, number=8133)
    converted, type_ = v.reconcile(values)
    subject = scalar(node.this, ctx) if node.this is not None else None
    parts = ["CASE"]
    simple = subject is not None
    tests: list[str] = []
    for branch in node.args["ifs"]:
        if subject is None:
            tests.append(condition(branch.this, ctx).text)
            continue
        left, right = _align(subject, scalar(branch.this, ctx), ctx)
        if left.text != subject.text:
            simple = False
        tests.append(right.at(v.RANGE))
    if subject is not None and not simple:
        tests = []
        for branch in node.args["ifs"]:
            left, right = _align(subject, scalar(branch.this, ctx), ctx)
            tests.append(f"{left.at(v.RANGE)} = {right.at(v.RANGE)}")
    if subject is not None and simple:
        parts.append(subject.text)
    for test, value in zip(tests, converted, strict=False):
        parts.append(f"WHEN {test} THEN {value.text}")
    if default is not None:
        parts.append(f"ELSE {converted[-1].text}")
    parts.append("END")
    nullable = default is None or any(value.nullable for value in values)
    return Value(" ".join(parts), v.ATOM, type_, nullable=nullable)


@handles(Conversion)
def _conversion(node: Conversion, ctx: Context) -> Value:
    kind = node.args["kind"]
    to = ctx.type_of(node.args["to"], cast=True)
    value = scalar(node.this, ctx)
    style_node = node.args.get("style")
    if to is None:
        return v.INVALID
    if kind in ("PARSE", "TRY_PARSE"):
        prefix = "sys.parse_" if kind == "PARSE" else "sys.try_parse_"
        arguments = [value.text]
        if style_node is not None:
            arguments.append(scalar(style_node, ctx).text)
        return v.call(prefix + to.name, *arguments, type=to)
    style = scalar(style_node, ctx) if style_node is not None else None
    if to.family == "table":
        return ctx.problem("a value cannot be converted to table", node, number=243)
    return v.convert(value, to, style=style, attempt=kind.startswith("TRY_"))


@handles(AtTimeZone)
def _at_time_zone(node: AtTimeZone, ctx: Context) -> Value:
    value = scalar(node.this, ctx)
    return v.call("sys.at_time_zone", value.text, scalar(node.args["zone"], ctx).text, type=tm.DATETIMEOFFSET)


@handles(exp.Trim)
def _trim(node: exp.Trim, ctx: Context) -> Value:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(node.args.get("position") or "", "btrim")
    value = v.as_text(scalar(node.this, ctx))
    arguments = [value.text]
    if node.expression:
        arguments.append(scalar(node.expression, ctx).text)
    return v.call(name, *arguments, type=value.type)


@handles(NextValue)
def _next_value(node: NextValue, ctx: Context) -> Value:
    name = ctx.relation_name(object_name(node.this))
    return v.call("nextval", literal(name), type=tm.BIGINT, nullable=False)


@handles(exp.Concat)
def _adjacent(node: exp.Concat, ctx: Context) -> Value:
    return ctx.problem("two string literals need '+' between them", node, number=102)


@handles(exp.Anonymous)
def _function(node: exp.Anonymous, ctx: Context) -> Value:
    name = node.name
    upper = name.upper()
    ours = ctx.scope.context_function(name.lower()) if not node.expressions else None
    if ours is not None:
        return Value(ours.sql, _level_of(ours.sql), ours.type)
    if upper == "UPDATE" and len(node.expressions) == 1:
        updated = ctx.scope.updated_column(node.expressions[0].name)
        if updated is not None:
            return Value(updated.sql, v.OR, BOOLEAN)
    if upper == "IIF":
        return _iif(node, ctx)
    arguments = _arguments(node, upper, ctx)
    if arguments is None:
        return v.INVALID
    try:
        value = functions.translate(name, arguments, functions.Surroundings(ctx.other_database()))
    except functions.Wrong as error:
        return ctx.problem(str(error), node, number=error.number, hint=error.hint)
    if value is None:
        hint = None
        if ctx.scope.user_function(ObjectName(name, "dbo")) is not None:
            hint = f"a user function is called with its schema: dbo.{name}"
        return ctx.problem(f"{name!r} is not a recognized built-in function name", node, number=195, hint=hint)
    if upper in functions.AGGREGATES:
        ctx.frame.aggregates += 1
    return value


def _arguments(node: exp.Anonymous, upper: str, ctx: Context) -> list[Value] | None:
    """The arguments of a built-in; date parts are words, COUNT takes ``*``, aggregates DISTINCT."""
    values: list[Value] = []
    for position, argument in enumerate(node.expressions):
        if position == 0 and upper in functions.DATE_PART_FUNCTIONS:
            word = argument.name.lower() if isinstance(argument, exp.Column) else ""
            part = functions.DATE_PARTS.get(word)
            if part is None or argument.args.get("table") is not None:
                ctx.problem(f"{argument.name or 'this'!r} is not a recognized {node.name.lower()} option", argument, number=155)
                return None
            values.append(Value(literal(part), v.ATOM))
        elif isinstance(argument, exp.Star) and upper in ("COUNT", "COUNT_BIG"):
            values.append(Value("*", v.ATOM, tm.INT))
        elif isinstance(argument, exp.Distinct):
            if upper not in functions.AGGREGATES:
                ctx.problem("DISTINCT belongs in an aggregate", argument, number=102)
                return None
            inner = scalar(argument.expressions[0], ctx)
            values.append(replace(inner, text=f"DISTINCT {inner.text}", level=v.ATOM, constant=None))
        else:
            values.append(scalar(argument, ctx))
    return values


def _iif(node: exp.Anonymous, ctx: Context) -> Value:
    if len(node.expressions) != 3:
        return ctx.problem("the iif function requires 3 arguments", node, number=174)
    test = condition(node.expressions[0], ctx)
    branches = [scalar(node.expressions[1], ctx), scalar(node.expressions[2], ctx)]
    if all(branch.is_null for branch in branches):
        return ctx.problem("at least one result of IIF must not be the constant NULL", node, number=8133)
    (yes, no), type_ = v.reconcile(branches)
    nullable = any(branch.nullable for branch in branches)
    return Value(f"CASE WHEN {test.text} THEN {yes.text} ELSE {no.text} END", v.ATOM, type_, nullable=nullable)


# ---------------------------------------------------------------- dotted calls: XML methods, user functions


@handles(exp.Dot)
def _dot(node: exp.Dot, ctx: Context) -> Value:
    last = node.expression
    if isinstance(last, exp.Anonymous):
        method = last.name.lower()
        prefix = dotted_names(node.this)
        if method in XML_METHODS and not (prefix is not None and _names_schema(prefix, ctx)):
            return xml_call(node.this, last, ctx)
        if prefix is not None:
            return _user_function(prefix, last, ctx)
        return ctx.unsupported(f"the method {last.name!r}", last)
    names = dotted_names(node)
    if names is not None:
        return Value(".".join(identifier(name) for name in names[-2:]), v.ATOM)
    return ctx.problem("incorrect syntax near '.'", node, number=102)


def dotted_names(node: exp.Expression) -> list[str] | None:
    """``a.b.c`` as a list, None when there is more in it than names."""
    if isinstance(node, exp.Identifier):
        return [node.name]
    if isinstance(node, exp.Column):
        return [part.name for part in node.parts]
    if isinstance(node, exp.Dot):
        left, right = dotted_names(node.this), dotted_names(node.expression)
        return None if left is None or right is None else left + right
    return None


def _names_schema(prefix: list[str], ctx: Context) -> bool:
    """``dbo.value(…)``: a schema, unless a relation or variable has that name."""
    if prefix[0].startswith("@"):
        return False
    return len(prefix) == 1 and fold(prefix[0]) in ("dbo", "sys") and find_relation(prefix, ctx) is None


def xml_call(subject_node: exp.Expression, call: exp.Anonymous, ctx: Context) -> Value:
    """``x.value('…', '…')`` and its relatives."""
    subject = xml_subject(subject_node, ctx)
    literals = xml_literals(call, ctx)
    if literals is None:
        return v.INVALID
    try:
        return xml_method(subject, call.name.lower(), literals, ctx.namespaces, lambda kind, name: xml_binding(kind, name, call, ctx))
    except functions.Wrong as error:
        return ctx.problem(str(error), call, number=error.number, hint=error.hint)


def xml_literals(call: exp.Anonymous, ctx: Context) -> list[str] | None:
    """The arguments of an xml method, which must be string literals; None after a problem."""
    literals: list[str] = []
    for argument in call.expressions:
        if isinstance(argument, exp.National) or (isinstance(argument, exp.Literal) and argument.is_string):
            literals.append(argument.name)
        else:
            ctx.problem(
                f"the arguments of the xml method {call.name!r} must be string literals", argument, number=8172
            )
            return None
    return literals


def xml_subject(node: exp.Expression, ctx: Context) -> Value:
    if isinstance(node, exp.Dot) and dotted_names(node) is not None:
        names = dotted_names(node) or []
        parts = [exp.to_identifier(name, quoted=not name.startswith("@")) for name in names]
        column = exp.Column(this=parts[-1], table=parts[-2] if len(parts) > 1 else None)
        return scalar(column, ctx)
    return scalar(node, ctx)


def xml_binding(kind: str, name: str, node: exp.Expression, ctx: Context) -> Value:
    """What sql:variable("@x") and sql:column("t.c") stand for."""
    if kind == "variable":
        return variable(name, node, ctx)
    parts = [part.strip("[]") for part in name.split(".")]
    identifiers = [exp.to_identifier(part, quoted=True) for part in parts]
    column = exp.Column(this=identifiers[-1], table=identifiers[-2] if len(parts) > 1 else None)
    return scalar(column, ctx)


def _user_function(prefix: list[str], call: exp.Anonymous, ctx: Context) -> Value:
    padded: list[str | None] = [None, None, *prefix]
    if len(prefix) > 3:
        return ctx.unsupported("a function on a linked server", call)
    name = ObjectName(call.name, padded[-1], padded[-2] if len(prefix) > 1 else None, prefix[0] if len(prefix) > 2 else None)
    if name.server:
        return ctx.unsupported("a function on a linked server", call)
    if fold(name.schema or "") == "sys":
        return _function(call, ctx)
    known = ctx.scope.user_function(name)
    texts = []
    for position, argument in enumerate(call.expressions):
        if isinstance(argument, exp.Column) and argument.name.upper() == "DEFAULT" and not argument.this.quoted:
            if any(not _is_default(rest) for rest in call.expressions[position:]):
                return ctx.unsupported("DEFAULT before another argument of a function", argument)
            break
        value = scalar(argument, ctx)
        if known is not None and position < len(known.parameters):
            to = known.parameters[position]
            value = v.assign(value, to)
            if value.constant is None and not value.is_null and (value.type is None or value.type.postgres_bare != to.postgres_bare or value.pg):
                value = v.cast(value, to.postgres_bare, to)
        texts.append(value.text)
    target = name.sql(ctx.scope.database, ctx.scope.default_database)
    return v.call(target, *texts, type=known.result if known is not None else None)


def _is_default(node: Any) -> bool:
    return isinstance(node, exp.Column) and node.name.upper() == "DEFAULT" and not node.this.quoted


@handles(exp.ScopeResolution)
def _scope_resolution(node: exp.ScopeResolution, ctx: Context) -> Value:
    return ctx.unsupported("a method of a CLR type (::)", node)


# ---------------------------------------------------------------- windows and ordered aggregates


@handles(exp.Window)
def _window(node: exp.Window, ctx: Context) -> Value:
    aggregates = ctx.frame.aggregates
    value = expression(node.this, ctx)
    ctx.frame.aggregates = aggregates
    if isinstance(node.this, exp.WithinGroup):
        return ctx.unsupported("an ordered aggregate with OVER", node, hint="PostgreSQL has it without OVER only; group by the partition")
    if node.args.get("alias") is not None and not node.args.get("partition_by"):
        if node.args.get("order") is None and node.args.get("spec") is None:
            return Value(f"{value.text} OVER {identifier(node.args['alias'].name)}", v.ATOM, value.type, pg=value.pg)
    parts = []
    if node.args.get("partition_by"):
        keys = ", ".join(scalar(key, ctx).text for key in node.args["partition_by"])
        parts.append(f"PARTITION BY {keys}")
    order = node.args.get("order")
    if order is not None:
        parts.append(order_by(order, ctx))
    spec = node.args.get("spec")
    if spec is not None:
        parts.append(_frame(spec, ctx))
    text = f"{value.text} OVER ({' '.join(parts)})"
    return Value(text, v.ATOM, value.type, pg=value.pg, nullable=value.nullable)


def _frame(spec: exp.WindowSpec, ctx: Context) -> str:
    def side(value: Any, direction: Any) -> str:
        text = value if isinstance(value, str) else scalar(value, ctx).text
        return f"{text} {direction}" if direction else text

    start = side(spec.args.get("start"), spec.args.get("start_side"))
    end = spec.args.get("end")
    kind = spec.args.get("kind", "ROWS").upper()
    if end is None:
        return f"{kind} {start}"
    return f"{kind} BETWEEN {start} AND {side(end, spec.args.get('end_side'))}"


def order_by(order: exp.Order, ctx: Context, *, resolve: Any = None) -> str:
    """``ORDER BY …`` with T-SQL's place of NULLs: first when ascending, last when descending."""
    return "ORDER BY " + ", ".join(order_item(item, ctx, resolve=resolve) for item in order.expressions)


def order_item(item: exp.Ordered, ctx: Context, *, resolve: Any = None) -> str:
    """One item of ORDER BY."""
    value = resolve(item.this) if resolve is not None else None
    if value is None:
        value = scalar(item.this, ctx)
    text = value.text
    if value.collation == "ci" or (value.collation is None and ctx.scope.case_insensitive and value.is_string):
        if not value.is_literal:
            text = f"lower({text})"
    descending = bool(item.args.get("desc"))
    if descending:
        text += " DESC"
    if value.nullable and not value.is_null and "SELECT NULL" not in text:
        text += " NULLS LAST" if descending else " NULLS FIRST"
    return text


@handles(exp.WithinGroup)
def _within_group(node: exp.WithinGroup, ctx: Context) -> Value:
    inner = node.this
    value = expression(inner, ctx)
    order = node.expression
    text = order_by(order, ctx)
    if isinstance(inner, exp.Anonymous) and inner.name.upper() == "STRING_AGG":
        return replace(value, text=f"{value.text[:-1]} {text})")
    ctx.frame.aggregates += 1
    return replace(value, text=f"{value.text} WITHIN GROUP ({text})")


# ---------------------------------------------------------------- subqueries


@handles(exp.Subquery)
def _subquery(node: exp.Subquery, ctx: Context) -> Value:
    inner = node.this
    while isinstance(inner, exp.Subquery):
        inner = inner.this
    return _subquery_text(inner, ctx)


@handles(exp.Select, exp.Union, exp.Except, exp.Intersect)
def _select(node: exp.Query, ctx: Context) -> Value:
    return _subquery_text(node, ctx)


def _subquery_text(query: exp.Expression, ctx: Context) -> Value:
    from .ordinary_sql_queries import query_text

    result = query_text(query, ctx)
    type_ = None
    if result.columns is not None and len(result.columns) == 1:
        type_ = result.columns[0].type
    pg = result.values[0].pg if result.values and len(result.values) == 1 else None
    return Value(f"({result.sql})", v.ATOM, type_, pg=pg)


@handles(SetVariable)
def _set_variable(node: SetVariable, ctx: Context) -> Value:
    return ctx.problem("a variable is assigned in the select list of a SELECT statement only", node, number=102)


@handles(exp.Tuple)
def _tuple(node: exp.Tuple, ctx: Context) -> Value:
    return ctx.problem("a list in parentheses cannot stand here", node, number=102)
