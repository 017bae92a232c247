"""Arguments of EXEC: which parameter each belongs to, and its value."""

from __future__ import annotations

from ...grammar.problems import did_you_mean
from ...grammar.records import dataclass
from ...grammar.tokens import TokenKind
from .. import nodes
from ..catalog.names import fold, unquoted
from ..catalog.objects import Expression
from ..catalog.scope import Procedure, ProcedureParameter
from ..catalog.types import INT, MAX, MOMENT, MONEY, NVARCHAR_MAX, SqlType, nvarchar
from ..plpgsql import nodes as pl
from ..sql.operand_types import implicit_error
from ..sql.translate import convert_expression
from ..sql.values import Value
from ..target import nodes as n
from .context import Context, Mode
from .parameters import variable_type

_NUMBERS = ("integer", "decimal", "float")
_BY_ASSIGNMENT = frozenset(
    {
        ("bigint", "integer"),
        ("double precision", "real"),
        ("double precision", "numeric"),
        ("real", "numeric"),
    }
)
"""Conversions that PostgreSQL makes in an assignment, but not to find a procedure."""
_WORDS = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


def argument_value(text: nodes.SqlText, target: SqlType | None, ctx: Context) -> pl.Expr:
    """Return an argument: a constant, a variable, or a bare word, which T-SQL takes as a string."""
    if len(text.tokens) == 1 and text.tokens[0].kind in _WORDS:
        token = text.tokens[0]
        if token.word != "NULL":
            word = Expression(n.Text(token.name), NVARCHAR_MAX)
            if target is None or target.is_string:
                return pl.Text(token.name)
            return pl.Raw(convert_expression(word, target).code)
    return ctx.value(text, target)


def not_converted(written: nodes.SqlText, target: SqlType | None, ctx: Context) -> WrongArguments | None:
    """Return errors 257 and 206: no assignment converts the argument to the parameter's type."""
    if target is None:
        return None
    if len(written.tokens) == 1 and written.tokens[0].kind in _WORDS:
        null = written.tokens[0].word == "NULL"
        return None if null else type_not_converted(nvarchar(4000), target)
    given = ctx.expression(written)
    return None if given.code == n.NULL else type_not_converted(given.type, target)


def type_not_converted(source: SqlType | None, target: SqlType) -> WrongArguments | None:
    """Return the same of a value that is no literal NULL."""
    error = implicit_error(Value(n.Variable("given"), source), target)
    return None if error is None else WrongArguments(*error)


def may_not_fit(value: pl.Expr, written: nodes.SqlText, parameter: ProcedureParameter, ctx: Context) -> bool:
    """Whether a constant or a variable may not convert to the parameter's type."""
    if not isinstance(value, pl.Raw) or parameter.type is None:
        return False
    code = value.code
    if parameter.type.is_string:
        # A string is cut; a number or a uniqueidentifier must have room.
        source = ctx.expression(written).type if n.is_conversion(code) else None
        return source is not None and not source.is_string and parameter.type.length != MAX
    if parameter.type.family == "xml":
        return code.__class__ in (n.Call, n.Cast)
    return n.is_conversion(code) or (parameter.type.family in _NUMBERS and code.__class__ is n.Cast)


def refused_where_unfit(
    assign: pl.Statement, written: nodes.SqlText, target: SqlType, ctx: Context
) -> pl.Statement:
    """Return an assignment of an argument that raises 8114 where it cannot be converted."""
    word = len(written.tokens) == 1 and written.tokens[0].kind in _WORDS
    source = NVARCHAR_MAX if word else ctx.expression(written, None).type or NVARCHAR_MAX
    return raises_unfit(assign, source, target)


def raises_unfit(assign: pl.Statement, source: SqlType, target: SqlType) -> pl.Statement:
    """Return an assignment that raises 8114 where its value cannot be converted."""
    types = (pl.Text(_shown_type(source)), pl.Text(_shown_type(target)))
    told = (pl.Name("SQLSTATE"), pl.Name("SQLERRM"), *types)
    return pl.Block((assign,), handler=(pl.Perform(pl.Invoke("ssb_internal.raise_unfit", told)),))


def converted_before(
    value: pl.Expr,
    written: nodes.SqlText,
    parameter: ProcedureParameter,
    procedure: Procedure,
    ctx: Context,
    checked: list[pl.Statement],
) -> pl.Expr:
    """Convert an argument ahead of the CALL, which no exception block may surround; 8114 where it fails."""
    assert parameter.type is not None
    scratch = ctx.helper(f"{fold(parameter.name)}_in", variable_type(parameter))
    assign = pl.Assign(scratch, value)
    if ctx.mode in (Mode.FUNCTION, Mode.PLAIN):
        checked.append(assign)
        return pl.Name(scratch)
    word = len(written.tokens) == 1 and written.tokens[0].kind in _WORDS
    source = NVARCHAR_MAX if word else ctx.expression(written, None).type or NVARCHAR_MAX
    told = (pl.Text(procedure.name.name), pl.Name("SQLSTATE"), pl.Name("SQLERRM"))
    types = (pl.Text(_shown_type(source)), pl.Text(_shown_type(parameter.type)))
    failed = pl.Invoke(
        "ssb_internal.unfit_argument", (pl.Name(ctx.session), pl.Number(ctx.line(written)), *told, *types)
    )
    handler = (pl.Assign(ctx.session, failed), ctx.leave_after_error())
    checked.append(pl.Block((assign,), handler=handler))
    return pl.Name(scratch)


def _shown_type(type_: SqlType) -> str:
    """Return the type's name as error 8114 has it."""
    return "numeric" if type_.name == "decimal" else type_.name


def match_arguments(node: nodes.Execute, procedure: Procedure) -> dict[str, nodes.Argument]:
    """Return the argument of each parameter that has one. Raises WrongArguments."""
    result: dict[str, nodes.Argument] = {}
    by_name = {parameter.name.lower(): parameter for parameter in procedure.parameters}
    name = procedure.name.name
    if node.arguments and not procedure.parameters:
        raise WrongArguments(8146, f"Procedure {name} has no parameters and arguments were supplied.")
    for number, argument in enumerate(node.arguments):
        if argument.name is not None:
            key = argument.name.name.removeprefix("@").lower()
            if key not in by_name:
                known = (f"@{parameter.name}" for parameter in procedure.parameters)
                raise WrongArguments(
                    8145,
                    f"{argument.name.name} is not a parameter for procedure {name}.",
                    did_you_mean(argument.name.name, known),
                )
        elif number >= len(procedure.parameters):
            raise WrongArguments(8144, f"Procedure or function {name} has too many arguments specified.")
        else:
            key = procedure.parameters[number].name.lower()
        if key in result:
            raise WrongArguments(8143, f"Parameter '@{by_name[key].name}' was supplied multiple times.")
        if argument.output and not by_name[key].output:
            raise WrongArguments(
                8162,
                f'The formal parameter "@{by_name[key].name}" was not declared as an OUTPUT parameter, '
                "but the actual parameter passed in requested output.",
            )
        result[key] = argument
    for parameter in procedure.parameters:
        given = result.get(parameter.name.lower())
        needed = parameter.default is None and parameter.table_type is None and parameter.type is not None
        if needed and (given is None or given.value is None):
            raise WrongArguments(
                201,
                f"Procedure or function '{name}' expects parameter '@{parameter.name}', "
                "which was not supplied.",
            )
    return result


def wrong_call(node: nodes.Execute, name: str, error: WrongArguments, ctx: Context) -> list[pl.Statement]:
    """Return what a call does whose arguments do not fit: it fails, of which `check` warns."""
    ctx.problems.add(error.message, node.span, error.hint, error.number, "warning")
    arguments = (
        pl.Name(ctx.session),
        pl.Number(ctx.line(node)),
        pl.Number(error.number),
        pl.Text(error.message),
        pl.Text(name),
    )
    return [
        pl.Assign(ctx.session, pl.Invoke("ssb_internal.wrong_call", arguments)),
        ctx.leave_if_failed(),
    ]


class WrongArguments(Exception):
    """A call that fails at run time whatever happens; number and text as SQL Server gives them."""

    def __init__(self, number: int, message: str, hint: str | None = None) -> None:
        """Keep all."""
        super().__init__(message)
        self.number = number
        self.message = message
        self.hint = hint


def lower_argument(
    argument: nodes.Argument,
    parameter: ProcedureParameter,
    ctx: Context,
    before: list[pl.Statement],
    after: list[pl.Statement],
) -> pl.Expr:
    """Return one argument; OUTPUT wants a variable that can be written."""
    assert argument.value is not None
    text = argument.value
    token = text.tokens[0] if len(text.tokens) == 1 else None
    if parameter.table_type is not None and token is not None:
        table = ctx.scope.table_variable(token.text)
        if table is not None and table.row_type == parameter.table_type:
            return pl.Name(table.reference)
        given = ctx.expression(text).type if table is None else None
        shown = "table" if table is not None else given.name if given is not None else "void type"
        ctx.problem(
            f"Operand type clash: {shown} is incompatible with "
            f"{unquoted(parameter.table_type.rpartition('.')[2])}",
            text.span,
            number=206,
        )
        return pl.NULL
    cursor = passed_cursor(text, ctx)
    if cursor is not None and parameter.type is None and parameter.output:
        return pl.Name(cursor)
    variable = (
        ctx.scope.variable(token.text) if token is not None and token.kind == TokenKind.VARIABLE else None
    )
    if not parameter.output:
        if parameter.type is not None and _needs_assignment(text, parameter.type, ctx):
            return ctx.argument(text, parameter.type)
        value = argument_value(text, parameter.type, ctx)
        same = (
            variable is not None
            and parameter.type is not None
            and (variable.type.postgres_bare == parameter.type.postgres_bare)
        )
        return value if same or parameter.type is None else _spelled_out(value, parameter.type)
    if argument.output and variable is not None and parameter.type is not None:
        if _holds(variable.type, parameter.type):
            return pl.Name(variable.reference)
        # Another type, or a shorter one: through a variable of the parameter's type, and back.
        scratch = ctx.helper(f"{fold(parameter.name)}_out", variable_type(parameter))
        before.append(pl.Assign(scratch, argument_value(text, parameter.type, ctx)))
        back = convert_expression(Expression(n.Variable(scratch), parameter.type), variable.type)
        after.append(pl.Assign(variable.reference, pl.Raw(back.code)))
        return pl.Name(scratch)
    scratch = ctx.helper(f"no_{fold(parameter.name)}", variable_type(parameter))
    before.append(pl.Assign(scratch, argument_value(text, parameter.type, ctx)))
    return pl.Name(scratch)


def _holds(variable: SqlType, parameter: SqlType) -> bool:
    """Whether a variable takes every value of a parameter as it is: no CALL cuts or rounds one."""
    if variable.postgres_bare != parameter.postgres_bare:
        return False
    if variable.is_narrower_here and variable != parameter:
        return False
    if variable.postgres in (variable.postgres_bare, parameter.postgres):
        return True
    return variable.is_string and (variable.length or 1) >= (parameter.length or 1)


def _needs_assignment(text: nodes.SqlText, target: SqlType, ctx: Context) -> bool:
    """Tell whether an argument has a wider type than the parameter."""
    if len(text.tokens) == 1 and text.tokens[0].kind in _WORDS:
        return False
    source = ctx.expression(text, None).type
    return source is not None and (source.postgres_bare, target.postgres_bare) in _BY_ASSIGNMENT


def _spelled_out(value: pl.Expr, target: SqlType) -> pl.Expr:
    """Return the argument with the cast that PostgreSQL needs to find the procedure.

    An integer becomes a smallint in an assignment, but not as an argument.
    """
    if target.postgres_bare not in ("smallint", "sys.bit"):
        return value
    converted = isinstance(value, pl.Raw) and n.is_conversion(value.code)
    return value if converted or value == pl.NULL else pl.Cast(value, target.postgres_bare)


def passed_cursor(text: nodes.SqlText, ctx: Context) -> str | None:
    """Return the variable that names a cursor which is an argument, None for other arguments."""
    if len(text.tokens) != 1:
        return None
    cursor = ctx.scope.cursor_variables.get(text.tokens[0].text.lower())
    return cursor.key.spelling if cursor is not None and isinstance(cursor.key, n.Variable) else None


_WIDER = {"tinyint": INT, "smallmoney": MONEY, "smalldatetime": MOMENT, "datetime": MOMENT}
"""Of types that are narrower than PostgreSQL's, what a text is read as before it is converted."""


def read_as(type_: SqlType) -> SqlType:
    """Return the type as which a value that comes as text is read: one that holds more, or itself."""
    return _WIDER.get(type_.name, type_.unlimited) if type_.is_narrower_here else type_


def narrowed(code: n.Node, type_: SqlType) -> n.Node:
    """Return a value that has been cast to the type of ``read_as`` as one of ``type_``, or its error."""
    if not type_.is_narrower_here:
        return code
    return convert_expression(Expression(code, read_as(type_)), type_).code


def kind_of_kept_value(type_: SqlType) -> str:
    """Return a type as ssb_internal.captured_value takes it, which converts what was kept as text."""
    return "xml" if type_.family == "xml" else "string" if type_.is_string else type_.postgres_bare


@dataclass
class Texts:
    """An argument on its way to a procedure that only the run time knows."""

    exact: pl.Expr
    """As PostgreSQL writes it."""
    source: str | None = None
    """PostgreSQL's type, or money; None: the text is read as the parameter's type."""
    as_string: pl.Expr | None = None
    """For a parameter that is a string, where T-SQL writes it otherwise: a datetime without its seconds."""
    type: SqlType | None = None
    """T-SQL's type."""


def as_texts(text: nodes.SqlText, ctx: Context) -> Texts:
    """Return an argument as text."""
    table = ctx.scope.table_variable(text.tokens[0].text) if len(text.tokens) == 1 else None
    if table is not None:
        # Its rows, for a table-valued parameter.
        return Texts(pl.Cast(pl.Name(table.reference), "text"))
    cursor = passed_cursor(text, ctx)
    if cursor is not None:
        return Texts(pl.Name(cursor))
    word = len(text.tokens) == 1 and text.tokens[0].kind in _WORDS
    written = None if word else ctx.expression(text)
    if written is None or written.type is None:
        return Texts(
            argument_value(text, NVARCHAR_MAX, ctx),
            "text" if word else None,
            type=NVARCHAR_MAX if word else None,
        )
    type_ = written.type
    if type_.family in ("string", "integer"):
        exact = argument_value(text, NVARCHAR_MAX, ctx)
        return Texts(exact, type_.postgres_bare, type=NVARCHAR_MAX if type_.is_string else type_)
    exact = pl.Cast(pl.Raw(written.code), "text")
    if type_.family in ("user", "variant", "xml"):
        return Texts(exact)
    string = convert_expression(Expression(written.code, type_), NVARCHAR_MAX)
    source = "money" if type_.name in ("money", "smallmoney") else type_.postgres_bare
    return Texts(exact, source, pl.Raw(string.code), type_)
