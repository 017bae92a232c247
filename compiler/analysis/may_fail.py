"""Which expressions can never raise an error, so that they need no exception block.

Conservative: what is not known to be harmless may raise.  Arithmetic on integers may overflow
(8115), comparisons between different kinds of values convert (245), queries may meet
missing tables; joining strings, comparing like with like and testing for NULL cannot fail.
"""

from __future__ import annotations

from sqlglot import exp

from ..catalog.objects import SqlScope
from ..catalog.types import SqlType
from ..sql.parse.nodes import operands, unwrapped, variable_name

# Functions that take any arguments of one kind and cannot fail, with the kind of their result
# (None: that of the arguments).
_FUNCTIONS: dict[str, str | None] = {
    "ISNULL": None,
    "COALESCE": None,
    "CONCAT": "string",
    "NEWID": "uniqueidentifier",
    "GETDATE": "datetime",
    "SYSDATETIME": "datetime",
    "GETUTCDATE": "datetime",
    "ERROR_NUMBER": "number",
    "ERROR_SEVERITY": "number",
    "ERROR_STATE": "number",
    "ERROR_LINE": "number",
    "ERROR_MESSAGE": "string",
    "ERROR_PROCEDURE": "string",
    "XACT_STATE": "number",
    "LEN": "number",
    "DB_NAME": "string",
    "SUSER_SNAME": "string",
    "SUSER_NAME": "string",
    "USER_NAME": "string",
    "SYSTEM_USER": "string",
    "HOST_NAME": "string",
    "APP_NAME": "string",
}
_GLOBALS = {
    "@@ERROR": "number",
    "@@ROWCOUNT": "number",
    "@@TRANCOUNT": "number",
    "@@FETCH_STATUS": "number",
    "@@CURSOR_ROWS": "number",
    "@@OPTIONS": "number",
    "@@NESTLEVEL": "number",
    "@@SPID": "number",
    "@@PROCID": "number",
    "@@SERVERNAME": "string",
    "@@VERSION": "string",
}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.GT, exp.LTE, exp.GTE)
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_DATETIMES = ("smalldatetime", "datetime", "datetime2")
_ANY = "any"
"""NULL goes with every kind."""


def condition_cannot_raise(condition: exp.Expr | None, scope: SqlScope) -> bool:
    """Tell whether a search condition can never raise; None, which could not be read, may."""
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.And | exp.Or):
            waiting += (node.this, node.expression)
        elif isinstance(node, exp.Not | exp.Paren):
            waiting.append(node.this)
        elif node is None or not _test_cannot_raise(node, scope):
            return False
    return True


def _test_cannot_raise(node: exp.Expr, scope: SqlScope) -> bool:
    if isinstance(node, exp.Is):
        return isinstance(node.expression, exp.Null) and _kind_of(node.this, scope) is not None
    if isinstance(node, exp.In):
        if node.args.get("query") is not None:
            return False
        items = [node.this, *node.expressions]
    elif isinstance(node, _COMPARISONS):
        items = [node.this, node.expression]
    else:
        return False
    kinds = {_kind_of(item, scope) for item in items}
    return None not in kinds and len(kinds - {_ANY}) <= 1


def cannot_raise(node: exp.Expr | None, scope: SqlScope, target: SqlType | None) -> bool:
    """Tell whether an expression, converted to ``target``, can never raise."""
    kind = None if node is None else _kind_of(node, scope)
    if node is None or kind is None:
        return False
    if target is not None and target.collection is not None:
        return False
    if target is None or kind == _ANY:
        return True
    if target.is_string:
        return kind == "string" or (kind == "number" and _text_fits(node, scope, target))
    if kind != _kind(target):
        return False
    if kind == "datetime":
        return all(_is_in_range(part, scope, target) for part in node.walk())
    if kind != "number":
        return kind in ("uniqueidentifier", "xml", "binary")
    return all(_fits(part, scope, target) for part in node.walk())


def text_cannot_raise(node: exp.Expr | None, scope: SqlScope) -> bool:
    """Tell whether an expression is a string, or NULL, that can never raise: ``@text += 1`` is a sum."""
    return node is not None and _kind_of(node, scope) in ("string", _ANY)


_LONGEST = {"bit": 1, "tinyint": 3, "smallint": 6, "int": 11, "bigint": 20}
"""Characters of the longest number of a type, its sign included."""


def _text_fits(node: exp.Expr, scope: SqlScope, target: SqlType) -> bool:
    """Tell whether a number's text surely fits into a string type: that of a lone literal or variable may."""
    room = target.limit
    if room is None:
        return True
    if isinstance(node, exp.Literal):
        return len(node.this) <= room
    name = variable_name(node)
    if name is None:
        return False
    variable = None if name.startswith("@@") else scope.variable(name)
    if variable is not None and variable.type.name not in _LONGEST:
        digits = variable.type.precision if variable.type.family == "decimal" else None
        # Beside its digits a sign, a point, and a zero in front of it.
        return digits is not None and digits + 3 <= room
    type_ = "int" if variable is None else variable.type.name
    # What does not fit into a string that is not national is an asterisk.
    is_starred = type_ != "bigint" and not target.is_unicode
    return is_starred or _LONGEST[type_] <= room


def _kind(type_: SqlType) -> str:
    return "number" if type_.is_numeric else type_.family


def _fits(node: exp.Expr, scope: SqlScope, target: SqlType) -> bool:
    """Tell whether one part of a number needs no narrowing on its way into ``target``."""
    broad = target.family in ("decimal", "float")
    if isinstance(node, exp.Literal) and not node.is_string:
        text: str = node.this
        if broad:
            whole, point, rest = text.partition(".")
            # What stands behind the point may round up to one digit more.
            return (whole + rest).isdecimal() and len(whole + point) <= min(_digits(target), 5)
        limit = {"tinyint": 255, "smallint": 32767, "bit": 10**9}.get(target.name, 2147483647)
        return text.isdecimal() and int(text) <= limit
    name = variable_name(node)
    if name is not None:
        if broad:
            return False
        if name.startswith("@@"):
            return target.name in ("int", "bigint")
        variable = scope.variable(name)
        return variable is not None and _widens(variable.type.name, target.name)
    if isinstance(node, exp.Neg):
        return target.name not in ("tinyint", "bit")
    if isinstance(node, exp.Anonymous):
        return _digits(target) >= 10 if broad else target.name in ("int", "bigint")
    return True


def _is_in_range(node: exp.Expr, scope: SqlScope, target: SqlType) -> bool:
    """Tell whether one part of a moment is one of ``target``; what the clock says is."""
    name = variable_name(node)
    variable = scope.variable(name) if name is not None else None
    return variable is None or _is_narrower(_DATETIMES, variable.type.name, target.name)


def _digits(target: SqlType) -> int:
    """How many digits before the point always fit."""
    if target.name in ("decimal", "numeric"):
        return (target.precision or 18) - (target.scale or 0)
    return 5 if target.name == "smallmoney" else 14


def _widens(source: str, target: str) -> bool:
    return source == "bit" or _is_narrower(_INTEGERS, source, target)


def _is_narrower(types: tuple[str, ...], source: str, target: str) -> bool:
    """Tell whether each value of ``source`` is one of ``target``; ``types``: each holds those before it."""
    known = source in types and target in types
    return source == target or (known and types.index(source) <= types.index(target))


def _kind_of(node: exp.Expr, scope: SqlScope) -> str | None:
    """Return the kind of value that an expression gives which cannot raise; None: it may."""
    node = unwrapped(node)
    match node:
        case exp.Literal():
            return "string" if node.is_string else "number"
        case exp.National():
            return "string"
        case exp.HexString():
            return "binary"
        case exp.Null():
            return _ANY
        case exp.Column():
            return _kind_of_name(node, scope)
        case exp.Neg(this=exp.Literal() as number):
            return None if number.is_string else "number"
        case exp.Add():
            kinds = {_kind_of(operand, scope) for operand in operands(node, exp.Add)} - {_ANY}
            return "string" if kinds == {"string"} else None
        case exp.Anonymous():
            return _kind_of_call(node, scope)
    return None


def _kind_of_name(node: exp.Column, scope: SqlScope) -> str | None:
    name = variable_name(node)
    if name is None:
        quoted = node.args.get("table") is not None or node.this.args.get("quoted")
        return "string" if node.name.upper() == "SYSTEM_USER" and not quoted else None
    if name.startswith("@@"):
        return _GLOBALS.get(name.upper())
    variable = scope.variable(name)
    return _kind(variable.type) if variable is not None else None


def _kind_of_call(node: exp.Anonymous, scope: SqlScope) -> str | None:
    name = node.this.upper() if isinstance(node.this, str) else ""
    if name not in _FUNCTIONS:
        return None
    kinds = {_kind_of(argument, scope) for argument in node.expressions}
    if None in kinds:
        return None
    known = {kind for kind in kinds if kind is not None and kind != _ANY}
    result = _FUNCTIONS[name]
    if name == "CONCAT":
        return "string" if known <= {"string", "number"} else None
    if result is not None:
        return result if known <= {"string"} else None
    if len(known) > 1 or (known & {"number", "datetime"} and not _are_of_the_first_type(node, scope)):
        return None
    return next(iter(known), _ANY)


def _are_of_the_first_type(node: exp.Anonymous, scope: SqlScope) -> bool:
    """Tell whether a variable comes first, whose type has all values: ISNULL converts to it."""
    first, *others = node.expressions
    name = variable_name(first)
    variable = scope.variable(name) if name is not None else None
    return variable is not None and all(cannot_raise(other, scope, variable.type) for other in others)
