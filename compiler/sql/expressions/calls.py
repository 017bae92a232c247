"""Conversions, built-in functions, user functions, and the methods of the xml type."""

from __future__ import annotations

from sqlglot import exp

from ....grammar.lexer import name_parts
from ....grammar.problems import did_you_mean
from ....grammar.records import replace
from ...catalog import types as tm
from ...catalog.names import AGGREGATES, ObjectName, fold
from ...catalog.objects import ColumnInfo, UserFunction
from ...target import nodes as n
from .. import values as v
from ..assignments import assign, load, store
from ..constant_texts import has_no_value
from ..context import Context, object_name
from ..conversions import as_text, convert, reconcile
from ..dispatch import handles
from ..functions import builtin
from ..functions.builders import text_of_first
from ..functions.xml_methods import XML_METHODS, xml_method
from ..json_values import is_json
from ..operand_types import argument_error, conversion_error
from ..parse.nodes import (
    IN_PARENTHESES,
    AtTimeZone,
    Conversion,
    NextValue,
    constant_text,
    is_default,
    is_variable,
)
from ..values import Value
from .conditions import ONLY_NULLS, lowered, without_accents
from .names import (
    at_one_moment,
    computed_late,
    computed_once,
    condition,
    find_relation,
    of_rows,
    scalar,
    variable,
)

BOOLEAN = tm.BOOLEAN

_LOOKUPS = frozenset(("DB_ID", "OBJECT_ID", "SCHEMA_ID", "TYPE_ID", "USER_ID", "DATABASE_PRINCIPAL_ID"))
"""Functions that search the catalog: each call takes a millisecond."""


_CLOCKS = frozenset(("GETDATE", "GETUTCDATE", "SYSDATETIME", "SYSUTCDATETIME", "SYSDATETIMEOFFSET"))
"""Functions that read the clock."""


_PARSED = frozenset(
    """
    tinyint smallint int bigint decimal money smallmoney float real
    date time datetime smalldatetime datetime2 datetimeoffset
    """.split()
)
"""The types that PARSE makes."""

_ONLY_A_DEFAULT = (
    "The newsequentialid() built-in function can only be used in a DEFAULT expression for a column of type "
    "'uniqueidentifier' in a CREATE TABLE or ALTER TABLE statement. It cannot be combined with other "
    "operators to form a complex scalar expression."
)


@handles(Conversion)
def _conversion(node: Conversion, ctx: Context) -> Value:
    kind = node.args["kind"]
    to = ctx.type_of(node.args["to"], cast=True)
    value = scalar(node.this, ctx)
    style_node = node.args.get("style")
    if to is None:
        return v.INVALID
    if kind in ("PARSE", "TRY_PARSE"):
        if to.name not in _PARSED:
            return ctx.problem(f"Invalid data type {to.name} in function {kind}.", node, number=10761)
        if error := argument_error(kind, [value]):
            return ctx.problem(error[1], node, number=error[0])
        prefix = "sys.parse_" if kind == "PARSE" else "sys.try_parse_"
        arguments = [value.code]
        if style_node is not None:
            arguments.append(scalar(style_node, ctx).code)
        if to.family != "decimal" or to.name in ("money", "smallmoney"):
            parsed = v.call(prefix + to.name, *arguments, type=replace(to, precision=None, scale=None))
            return parsed if to.scale is None else convert(parsed, to)
        if style_node is None:
            arguments.append(n.Text("en-US"))
        arguments += [n.Integer(18 if to.precision is None else to.precision), n.Integer(to.scale or 0)]
        return v.call(prefix + to.name, *arguments, type=to)
    style = scalar(style_node, ctx) if style_node is not None else None
    if to.family == "table":
        return ctx.problem("Type table is not a defined system type.", node, number=243)
    error = conversion_error(value, to)
    if error is not None:
        return ctx.problem(error[1], node, number=error[0])
    if ctx.stored and value.is_string and to.name in _STORED_MOMENTS:
        return _stored_moment(value, to, style, kind.startswith("TRY_"))
    converted = convert(value, to, style=style, attempt=kind.startswith("TRY_"))
    narrowed = value.type is not None and value.type.is_numeric and isinstance(converted.code, n.Call)
    if kind.startswith("TRY_") or not (to.is_numeric or to.is_datetime) or not (value.is_string or narrowed):
        return converted
    fails = isinstance(value.constant, str) and has_no_value(value.constant, to)
    return computed_late(converted, value, fails=fails, node=node, ctx=ctx)


_STORED_MOMENTS = ("date", "time", "datetime", "datetime2", "smalldatetime")


def _stored_moment(value: Value, to: tm.SqlType, style: Value | None, attempt: bool) -> Value:
    """A string read as a date in a computed column: by the DATEFORMAT with which its row was written."""
    arguments = (
        value.code,
        n.Text(to.name),
        n.Integer(0) if style is None else style.code,
        n.truth(attempt),
        n.Text("nvarchar" if value.type is not None and value.type.is_unicode else "varchar"),
    )
    return v.cast(v.call("sys.moment_stored", *arguments, type=tm.DATETIME2), to.postgres, to)


@handles(AtTimeZone)
def _at_time_zone(node: AtTimeZone, ctx: Context) -> Value:
    arguments = [scalar(node.this, ctx), scalar(node.args["zone"], ctx)]
    error = argument_error("AT TIME ZONE", arguments)
    if error is not None:
        return ctx.problem(error[1], node, number=error[0])
    return builtin.with_clock("sys.at_time_zone", arguments)


@handles(exp.Date, exp.Time, exp.Timestamp)
def _odbc_literal(node: exp.Expr, ctx: Context) -> Value:
    """``{d '…'}``, ``{t '…'}``, ``{ts '…'}``."""
    return convert(scalar(node.this, ctx), tm.DATETIME)


@handles(exp.Trim)
def _trim(node: exp.Trim, ctx: Context) -> Value:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(node.args.get("position") or "", "btrim")
    value = as_text(scalar(node.this, ctx))
    arguments = [value.code]
    if node.expression:
        arguments.append(scalar(node.expression, ctx).code)
    return v.call(name, *arguments, type=value.type)


@handles(NextValue)
def _next_value(node: NextValue, ctx: Context) -> Value:
    name = ctx.relation_name(object_name(node.this))
    row = node.find_ancestor(exp.Select, exp.Tuple)
    # All that one row asks of a sequence is one value.
    again = node.meta.get("again")
    if again is None:
        again = row is not None and ctx.numbered.setdefault((id(row), name), node) is not node
    return v.call("currval" if again else "nextval", n.Text(name), type=tm.BIGINT, nullable=False)


@handles(exp.Concat)
def _adjacent(node: exp.Concat, ctx: Context) -> Value:
    return ctx.problem("two string literals need '+' between them", node, number=102)


@handles(exp.Anonymous)
def _function(node: exp.Anonymous, ctx: Context) -> Value:
    upper = node.name.upper()
    if upper in builtin.WINDOW_FUNCTIONS:
        return ctx.problem(f"The function '{node.name}' must have an OVER clause.", node, number=10753)
    if upper == "NEWSEQUENTIALID":
        return ctx.problem(_ONLY_A_DEFAULT, node, number=302, hint="NEWID() stands anywhere")
    before = ctx.frame.aggregates
    value = function_value(node, ctx)
    if upper in AGGREGATES and (ctx.frame.aggregates > before + 1 or node.find(exp.Query) is not None):
        return ctx.problem(
            "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.",
            node,
            number=130,
        )
    if upper in _LOOKUPS and node.find_ancestor(exp.Where, exp.Join) and not _reads_rows(node):
        # WHERE object_id = OBJECT_ID('t'): PostgreSQL would search once for each row.
        return computed_once(value)
    if upper == "RAND" and not node.expressions and of_rows(ctx):
        return computed_once(value)
    return at_one_moment(value, node, ctx) if upper in _CLOCKS else v.unwrap(value)


def default_value(node: exp.Expr, ctx: Context) -> Value:
    """A column's DEFAULT: an expression, or NEWSEQUENTIALID() by itself."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "NEWSEQUENTIALID":
        return function_value(node, ctx)
    if (
        isinstance(node, exp.Column)
        and not is_variable(node)
        and node.name.lower() not in builtin.NAMES_WITHOUT_PARENTHESES
    ):
        return ctx.problem(
            f'The name "{node.name}" is not permitted in this context. Valid expressions are constants, '
            "constant expressions, and (in some contexts) variables. Column names are not permitted.",
            node,
            number=128,
        )
    return scalar(node, ctx)


def _reads_rows(node: exp.Anonymous) -> bool:
    """Whether a column stands in it, or a query; a variable is no column of a row."""
    return any(
        isinstance(inner, exp.Subquery) or not is_variable(inner)
        for inner in node.find_all(exp.Column, exp.Subquery)
    )


def function_value(node: exp.Anonymous, ctx: Context) -> Value:
    """A built-in function's call; an aggregate is not yet put into what stands around it."""
    name = node.name
    upper = name.upper()
    words = name.lower()
    if [argument.name.lower() for argument in node.expressions] == ["@@procid"]:
        words += "(@@procid)"
    ours = ctx.scope.context_function(words) if words != name.lower() or not node.expressions else None
    if ours is not None:
        return Value(ours.code, ours.type)
    if upper == "UPDATE" and len(node.expressions) == 1:
        updated = ctx.scope.updated_column(node.expressions[0].name)
        if updated is not None:
            return Value(updated.code, BOOLEAN)
    if upper == "COLUMNS_UPDATED" and not node.expressions:
        bits = ctx.scope.updated_columns()
        if bits is None:
            return ctx.problem(
                "COLUMNS_UPDATED() is not supported outside triggers on tables that the script creates",
                node,
                hint="ask UPDATE(column)",
            )
        return Value(bits.code, bits.type)
    if upper == "CURSOR_STATUS" and len(node.expressions) == 2:
        kind, cursor = map(constant_text, node.expressions)
        if kind is None or cursor is None:
            return ctx.problem("CURSOR_STATUS takes texts that are known before the program runs", node)
        status = ctx.scope.cursor_status(kind.lower(), cursor)
        if status is not None:
            return Value(status.code, status.type or tm.SMALLINT)
    if upper == "IIF":
        return _iif(node, ctx)
    arguments = _arguments(node, upper, ctx)
    if arguments is None:
        return v.INVALID
    if upper in _SEARCHES and len(arguments) > 1:
        collation = _collation_of_search(arguments, ctx)
        if upper == "REPLACE" and collation in ("ci", "ci_ai") and len(arguments) == 3:
            given = [as_text(argument).code for argument in arguments]
            return v.call("sys.replace_ci", *given, type=text_of_first(arguments))
        if upper != "REPLACE" and collation is not None:
            arguments[:2] = [_as_searched(argument, collation) for argument in arguments[:2]]
    if ctx.stored and upper in ("JSON_VALUE", "JSON_QUERY") and arguments and arguments[0].is_string:
        arguments[0] = _json_or_null(arguments[0])
    try:
        value = builtin.translate(name, arguments, builtin.Surroundings(ctx.other_database(), ctx.stored))
    except builtin.Wrong as error:
        return ctx.problem(str(error), node, number=error.number, hint=error.hint)
    if value is None:
        hint = builtin.meant_by(name)
        if ctx.scope.user_function(ObjectName(name, "dbo")) is not None:
            hint = f"a user function is called with its schema: dbo.{name}"
        return ctx.problem(
            f"'{name}' is not a recognized built-in function name.", node, number=195, hint=hint
        )
    if upper in AGGREGATES:
        ctx.frame.aggregates += 1
    return value


def _json_or_null(text: Value) -> Value:
    """What a computed column reads: where it is no JSON, a CHECK is to say so, not the column before it."""
    is_read = n.Comparison("=", n.Call("sys.isjson", (text.code,)), n.Integer(1))
    return replace(text, code=n.Case(((is_read, text.code),)), nullable=True)


_SEARCHES = frozenset(("CHARINDEX", "PATINDEX", "REPLACE"))
"""Functions that look for one string in another."""


def _collation_of_search(arguments: list[Value], ctx: Context) -> str | None:
    """How CHARINDEX and its like compare: None where case and accents count."""
    sides = arguments[:2]
    explicit = next((value.collation for value in sides if value.collation), None)
    collation = explicit or ("ci" if ctx.scope.case_insensitive else None)
    ignores = collation in ("ci", "ci_ai", "cs_ai") and all(value.is_string for value in sides)
    return collation if ignores else None


def _as_searched(value: Value, collation: str) -> Value:
    if collation.endswith("_ai"):
        value = without_accents(value)
    if collation == "cs_ai":
        return value
    return lowered(value)


def _arguments(node: exp.Anonymous, upper: str, ctx: Context) -> list[Value] | None:
    """The arguments of a built-in; date parts are words, COUNT takes ``*``, aggregates DISTINCT."""
    values: list[Value] = []
    for position, argument in enumerate(node.expressions):
        if position == 0 and upper in builtin.DATE_PART_FUNCTIONS:
            is_word = isinstance(argument, exp.Column) and IN_PARENTHESES not in argument.meta
            if not is_word or is_variable(argument):
                message = f"Invalid parameter 1 specified for {node.name.lower()}."
                ctx.problem(message, argument, number=1023)
                return None
            word = argument.name.lower()
            part = builtin.DATE_PARTS.get(word)
            if part is None or argument.args.get("table") is not None:
                ctx.problem(
                    f"'{argument.name}' is not a recognized {node.name.lower()} option.",
                    argument,
                    number=155,
                    hint=did_you_mean(word, builtin.DATE_PARTS),
                )
                return None
            values.append(Value(n.Text(part)))
        elif isinstance(argument, exp.Star) and upper in ("COUNT", "COUNT_BIG"):
            values.append(Value(n.STAR, tm.INT))
        elif isinstance(argument, exp.Star) and upper in ("CHECKSUM", "BINARY_CHECKSUM"):
            columns = _columns_in_scope(node, ctx)
            if columns is None:
                return None
            values += columns
        elif isinstance(argument, exp.Distinct):
            if upper not in AGGREGATES:
                ctx.problem("DISTINCT belongs in an aggregate", argument, number=102)
                return None
            inner = scalar(argument.expressions[0], ctx)
            values.append(replace(inner, code=n.Distinct(inner.code)))
        elif position == 1 and upper == "ISJSON" and isinstance(argument, exp.Column):
            if argument.name.upper() not in ("VALUE", "ARRAY", "OBJECT", "SCALAR"):
                ctx.problem(f"'{argument.name}' is not a recognized isjson option.", argument, number=155)
                return None
            values.append(Value(n.Text(argument.name.upper())))
        elif position == 2 and upper == "JSON_MODIFY":
            values.append(_new_json(argument, ctx))
        else:
            values.append(scalar(argument, ctx))
    return values


def _columns_in_scope(node: exp.Anonymous, ctx: Context) -> list[Value] | None:
    """The columns of all tables in FROM, for CHECKSUM(*); None after a problem."""
    found: list[Value] = []
    for relation in ctx.frame.relations:
        if relation.columns is None:
            ctx.unsupported(
                f"{node.name}(*) over a table that the script does not create",
                node,
                hint="name the columns",
            )
            return None
        for column in relation.columns:
            code = relation.spell(fold(column.name))
            found.append(Value(code, column.type, nullable=column.nullable))
    return found


def _new_json(node: exp.Expr, ctx: Context) -> Value:
    """The new value of JSON_MODIFY: JSON as it is, a bit as true or false, everything else by its type."""
    value = scalar(node, ctx)
    if is_json(node):
        return v.cast(value, "json", tm.NVARCHAR_MAX)
    if value.type is not None and value.type.family == "bit":
        return Value(n.Paren(n.Comparison("=", value.code, n.Integer(1))), BOOLEAN)
    return value


def _iif(node: exp.Anonymous, ctx: Context) -> Value:
    if len(node.expressions) != 3:
        return ctx.problem("The iif function requires 3 argument(s).", node, number=174)
    test = condition(node.expressions[0], ctx)
    branches = [scalar(node.expressions[1], ctx), scalar(node.expressions[2], ctx)]
    if all(branch.is_null for branch in branches):
        return ctx.problem(ONLY_NULLS, node, number=8133)
    (yes, no), type_ = reconcile(branches)
    nullable = any(branch.nullable for branch in branches)
    return Value(n.Case(((test.code, yes.code),), default=no.code), type_, nullable=nullable)


# ---------------------------------------------------------------- dotted calls: XML methods, user functions


@handles(exp.Dot)
def _dot(node: exp.Dot, ctx: Context) -> Value:
    last = node.expression
    if isinstance(last, exp.Anonymous):
        method = last.name.lower()
        prefix = dotted_names(node.this)
        if method in XML_METHODS and not (prefix is not None and _names_schema(prefix, ctx)):
            return xml_call(node.this, last, ctx)
        if prefix is not None and prefix[0].startswith("@"):
            return _unknown_method(node.this, last, ctx)
        if prefix is not None:
            return _user_function(prefix, last, ctx)
        return ctx.unsupported(f"the method '{last.name}'", last)
    names = dotted_names(node)
    if names is not None:
        return Value(n.Name(tuple(fold(name) for name in names[-2:])))
    return ctx.problem("Incorrect syntax near '.'.", node, number=102)


def dotted_names(node: exp.Expr) -> list[str] | None:
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


def _unknown_method(subject_node: exp.Expr, call: exp.Anonymous, ctx: Context) -> Value:
    """``@x.method(…)`` that no type has: 227 of an xml, 258 of what has no methods at all."""
    type_ = xml_subject(subject_node, ctx).type
    if type_ is not None and type_.family not in ("xml", "unknown"):
        return ctx.problem(f"Cannot call methods on {type_.text}.", call, number=258)
    return ctx.problem(
        f'"{call.name}" is not a valid function, property, or field.',
        call,
        number=227,
        hint=did_you_mean(call.name, ("exist", "modify", "nodes", "query", "value")),
    )


def xml_call(subject_node: exp.Expr, call: exp.Anonymous, ctx: Context) -> Value:
    """``x.value('…', '…')`` and its relatives."""
    subject = xml_subject(subject_node, ctx)
    literals = xml_literals(call, ctx)
    if literals is None:
        return v.INVALID
    try:
        return xml_method(
            subject,
            call.name.lower(),
            literals,
            ctx.namespaces,
            lambda kind, name: xml_binding(kind, name, call, ctx),
        )
    except builtin.Wrong as error:
        return ctx.problem(str(error), call, number=error.number, hint=error.hint)


def xml_literals(call: exp.Anonymous, ctx: Context) -> list[str] | None:
    """The arguments of an xml method, which must be string literals; None after a problem."""
    literals: list[str] = []
    for place, argument in enumerate(call.expressions, 1):
        if isinstance(argument, exp.National) or (isinstance(argument, exp.Literal) and argument.is_string):
            literals.append(argument.name)
        else:
            ctx.problem(
                f'The argument {place} of the XML data type method "{call.name}" must be a string literal.',
                argument,
                number=8172,
            )
            return None
    return literals


def xml_subject(node: exp.Expr, ctx: Context) -> Value:
    """The value that a method is called on."""
    if isinstance(node, exp.Dot) and dotted_names(node) is not None:
        names = dotted_names(node) or []
        parts = [exp.to_identifier(name, quoted=not name.startswith("@")) for name in names]
        column = exp.Column(this=parts[-1], table=parts[-2] if len(parts) > 1 else None)
        return scalar(column, ctx)
    return scalar(node, ctx)


def xml_binding(kind: str, name: str, node: exp.Expr, ctx: Context) -> Value:
    """What sql:variable("@x") and sql:column("t.c") stand for."""
    if kind == "variable":
        return variable(name, node, ctx)
    parts = name_parts(name) or [name]
    identifiers = [exp.to_identifier(part, quoted=True) for part in parts]
    column = exp.Column(this=identifiers[-1], table=identifiers[-2] if len(parts) > 1 else None)
    return scalar(column, ctx)


def _user_function(prefix: list[str], call: exp.Anonymous, ctx: Context) -> Value:
    padded: list[str | None] = [None, None, *prefix]
    if prefix[-1].lower() == "$partition":
        return ctx.unsupported("$PARTITION", call, hint="partition functions do not exist here")
    if len(prefix) > 3:
        return ctx.unsupported("a function on a linked server", call)
    name = ObjectName(
        call.name, padded[-1], padded[-2] if len(prefix) > 1 else None, prefix[0] if len(prefix) > 2 else None
    )
    if name.server:
        return ctx.unsupported("a function on a linked server", call)
    # The functions fn_… lie in sys, and are found from master too.
    if fold(name.schema or "") == "sys" or (
        fold(name.database or "") == "master" and call.name.upper().startswith("FN_")
    ):
        return _function(call, ctx)
    ctx.bind(name, call, is_function=True)
    known = ctx.scope.user_function(ctx.scope.synonym(name))
    if known is None:
        ctx.scope.note_missing_function(name)
    given = user_arguments(call, known, ctx, prefix)
    result = known.result if known is not None else None
    called = v.call(ctx.relation_name(name), *given, type=result)
    return load(called.code, ColumnInfo("", result)) if result == tm.BIT_KEPT_AS_BOOLEAN else called


def table_argument(node: exp.Expr, ctx: Context) -> n.Node | None:
    """The rows of a table variable that is handed to a function; None for any other argument."""
    if not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return None
    variable = ctx.scope.table_variable(node.name) if is_variable(node) else None
    if variable is None:
        return None
    return n.Variable(variable.query_reference if ctx.has_relations else variable.reference)


def user_arguments(
    call: exp.Anonymous, known: UserFunction | None, ctx: Context, prefix: list[str]
) -> list[n.Node]:
    """The arguments of a user's function, converted to its parameters' types.

    The DEFAULTs that end them are left out: PostgreSQL's functions know their defaults. Behind another
    DEFAULT the arguments have their names.
    """
    name = ".".join([*prefix, call.name])
    if known is not None and not _right_number(call, known, name, ctx):
        return []
    arguments: list[exp.Expr] = list(call.expressions)
    while arguments and is_default(arguments[-1]):
        arguments.pop()
    given: list[n.Node] = []
    named = False
    for position, argument in enumerate(arguments):
        if is_default(argument):
            if known is None or not known.names:
                ctx.unsupported("DEFAULT before another argument of a function", argument)
                return []
            named = True
            continue
        code = _user_argument(argument, position, known, ctx)
        if named and known is not None:
            code = n.NamedArgument(known.names[position], code)
        given.append(code)
    return given


def _right_number(call: exp.Anonymous, known: UserFunction, name: str, ctx: Context) -> bool:
    given, wanted = len(call.expressions), len(known.parameters)
    if given < wanted:
        message = f"An insufficient number of arguments were supplied for the procedure or function {name}."
        ctx.problem(message, call, number=313)
    elif given > wanted:
        ctx.problem(f"Procedure or function {name} has too many arguments specified.", call, number=8144)
    return given == wanted


def _user_argument(argument: exp.Expr, position: int, known: UserFunction | None, ctx: Context) -> n.Node:
    rows = table_argument(argument, ctx)
    if rows is not None:
        return rows
    value = scalar(argument, ctx)
    to = known.parameters[position] if known is not None and position < len(known.parameters) else None
    if to == tm.MOMENT and value.type is not None and value.type.is_numeric:
        # A number of days, as datetime takes it: what else the parameter may be takes none.
        to = tm.DATETIME
    if to == tm.BIT_KEPT_AS_BOOLEAN:
        return store(value, to).code
    if to is not None:
        value = assign(value, to)
        # A bare 1 is an integer, which PostgreSQL takes for no smallint.
        narrower = isinstance(value.constant, int) and to.postgres_bare in ("smallint", "sys.bit")
        if narrower or (
            value.constant is None
            and not value.is_null
            and (value.type is None or value.type.postgres_bare != to.postgres_bare or value.pg)
        ):
            value = v.cast(value, to.postgres_bare, to)
    return value.code


@handles(exp.ScopeResolution)
def _scope_resolution(node: exp.ScopeResolution, ctx: Context) -> Value:
    return ctx.unsupported("a method of a CLR type (::)", node)
