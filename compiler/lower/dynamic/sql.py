"""EXEC of a string and sp_executesql.

The string is a batch of its own: its variables, its SET options, its RETURN and the names it
cannot resolve end with it.  Where its text is known before the program runs (literals, and
variables that surely hold one) it is compiled in place, as an inner block; parts of it may be
unknown (:mod:`..placeholders`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ....grammar.lexer import name_parts
from ....grammar.problems import Problem, Problems
from ....grammar.records import dataclass
from ....grammar.source import Source
from ....grammar.tokens import TokenKind
from ... import nodes
from ...analysis.callees import call_effect, callee_reads
from ...analysis.constants import Template, plain
from ...analysis.declared_types import variable_names
from ...analysis.live_status import Status
from ...analysis.structured_jumps import structured
from ...analysis.transaction_depth import Depths
from ...builder.batches import parse_script
from ...catalog.names import behind_use_first, fold, use_first
from ...catalog.objects import Expression, ScalarVariable
from ...catalog.scope import ProcedureParameter, Scope, TableType, sets_row_limit
from ...catalog.types import NVARCHAR_MAX, SqlType
from ...check.error_levels import level_of
from ...check.statements import check_chains
from ...plpgsql import nodes as pl
from ...sql.translate import convert_expression
from ...target import nodes as n
from ..arguments import (
    WrongArguments,
    argument_value,
    may_not_fit,
    not_converted,
    refused_where_unfit,
    wrong_call,
)
from ..context import SESSION_TYPE, Context, Mode, Placeholder
from ..dispatch import lower, system_procedures
from ..leaving import as_another, kept_settings, leave_if_nested_too_deep
from ..parameters import refuse_readonly, require_readonly
from ..placeholders import fill, left_over, may_be_sql, place
from ..routines import lower_text_body
from .runtime_compilation import lower_runtime_compiled

T = TypeVar("T")


@dataclass(frozen=True)
class _DynamicParameter:
    """A parameter of sp_executesql: its name without @, type, and whether it is OUTPUT.

    One of a table type has the type's name in ``written``.
    """

    name: str
    type: SqlType
    output: bool
    table: TableType | None = None
    written: str = ""
    default: nodes.SqlText | None = None


@lower.register
def lower_execute_string(node: nodes.ExecuteString, ctx: Context) -> list[pl.Statement]:
    """Lower ``EXEC ('…')``."""
    if ctx.mode is Mode.FUNCTION:
        ctx.problem(
            "Invalid use of a side-effecting operator 'EXECUTE STRING' within a function.",
            node.span,
            number=443,
        )
        return []
    if node.at_server is not None:
        ctx.problem("EXEC … AT a linked server is not supported", node.span)
        return []
    template = ctx.constants.before(node).value(node.text)
    if template is None:
        return lower_runtime_compiled(node, node.text, None, (), ctx)
    return _lower_template(
        node,
        template,
        (),
        (),
        ctx,
        lambda certain: lower_runtime_compiled(node, node.text, None, (), ctx, certain=certain),
    )


@system_procedures.register("sp_executesql")
def lower_execute_sql(node: nodes.Execute, ctx: Context) -> list[pl.Statement] | None:
    """Lower EXEC sp_executesql, and EXEC of a variable that holds its name; None where it does not."""
    if isinstance(node.module, nodes.QualifiedName):
        named = node.module.database
        return _lower_executesql(node, ctx, fold(named.text) if named is not None else "")
    database = _database_of_executesql(ctx.constants.before(node).of_variable(node.module.name))
    if isinstance(database, str):
        return _lower_executesql(node, ctx, database)
    if database is None:
        return None
    use = pl.Invoke("ssb_internal.use_of_name", (ctx.variable(node.module),))
    return _lower_executesql(node, ctx, prefix=use)


def _database_of_executesql(template: Template | None) -> str | pl.Expr | None:
    """Return the database in the name of sp_executesql that a variable holds.

    ``N'db.sys.sp_executesql'`` gives its name, '' where it names none; None: the name is another's or not
    known. Where only the run time knows the database the caller has to ask for it.
    """
    # What only the run time knows stands for the beginning of the name: a database, or it and a schema.
    text = "".join(part if isinstance(part, str) else "unknown." for part in template or ())
    named = name_parts(text) or [""]
    if named[-1].lower() != "sp_executesql":
        return None
    if template is None or plain(template) is None:
        return pl.NULL
    return fold(named[0]) if len(named) > 2 else ""


def _lower_executesql(
    node: nodes.Execute, ctx: Context, database: str = "", prefix: pl.Expr | None = None
) -> list[pl.Statement]:
    """Lower ``EXEC sp_executesql N'…', N'@a int, @b int OUTPUT', @a = …, @b = @x OUTPUT``.

    ``database``: where it runs, ``db.sys.sp_executesql``. ``prefix``: the same, known at run time only.
    """
    arguments = list(node.arguments)
    by_name = {a.name.key: a for a in arguments if a.name is not None}
    positional = [a for a in arguments if a.name is None]
    # Where the first ones have no names, @stmt and @params may be parameters of the text.
    if positional:
        statement: nodes.Argument | None = positional.pop(0)
    else:
        statement = by_name.pop("@stmt", None) or by_name.pop("@statement", None)
    definition = positional.pop(0) if positional else by_name.pop("@params", None)
    if statement is None or statement.value is None:
        ctx.problem(
            "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.", node.span, number=214
        )
        return []
    for what, argument in (("statement", statement), ("parameters", definition)):
        if argument is not None and argument.value is not None and _is_no_nvarchar(argument.value, ctx):
            message = f"Procedure expects parameter '@{what}' of type 'ntext/nchar/nvarchar'."
            return wrong_call(node, "sp_executesql", WrongArguments(214, message), ctx)
    known = ctx.constants.before(node)
    template = known.value(statement.value)
    parameters: tuple[_DynamicParameter, ...] = ()
    declared: str | None = ""
    if definition is not None and definition.value is not None:
        declared = plain(known.value(definition.value))
    text = statement.value
    rest = [*positional, *(a for a in arguments if a.name is not None and a.name.key in by_name)]
    # sp_executesql returns @@ERROR as the text leaves it.
    last_error = ctx.session_field("error")

    def late(certain: bool) -> list[pl.Statement]:
        written = definition.value if definition is not None else None
        use = pl.Text(use_first(database)) if database else prefix
        return lower_runtime_compiled(node, text, written, rest, ctx, levels=2, certain=certain, prefix=use)

    if template is None or declared is None or prefix is not None:
        return _with_return_code(node, late(True), ctx, last_error)
    parameters = _parameters(node, declared, ctx)
    values: list[nodes.Argument | None] = []
    for number, parameter in enumerate(parameters):
        value = by_name.get(f"@{parameter.name.lower()}")
        if value is None and number < len(positional):
            value = positional[number]
        values.append(value)
    wrong = _wrong_arguments(node, parameters, values, positional, by_name, declared, template)
    for parameter, value in zip(parameters, values, strict=True):
        if wrong is None and value is not None and value.value is not None and parameter.table is None:
            wrong = not_converted(value.value, parameter.type, ctx)
    if wrong is not None:
        return wrong_call(node, "", wrong, ctx)
    if database:
        template = (use_first(database), *template)
    body = _lower_template(node, template, parameters, tuple(values), ctx, late, levels=2)
    return _with_return_code(node, body, ctx, last_error)


def _is_no_nvarchar(text: nodes.SqlText, ctx: Context) -> bool:
    """Tell whether an argument is a varchar for sure: sp_executesql takes nvarchar alone."""
    if len(text.tokens) != 1 or text.tokens[0].kind not in (TokenKind.STRING, TokenKind.VARIABLE):
        return False
    type_ = ctx.expression(text).type
    return type_ is not None and type_.is_string and not type_.is_unicode


def _wrong_arguments(
    node: nodes.Execute,
    parameters: tuple[_DynamicParameter, ...],
    values: list[nodes.Argument | None],
    positional: list[nodes.Argument],
    by_name: dict[str, nodes.Argument],
    declared: str,
    template: Template,
) -> WrongArguments | None:
    """Return how the arguments of sp_executesql do not fit its parameters."""
    if len(positional) > len(parameters):
        return WrongArguments(8144, "Procedure or function  has too many arguments specified.")
    names = {f"@{parameter.name.lower()}" for parameter in parameters}
    for key, argument in by_name.items():
        if key not in names and argument.name is not None:
            return WrongArguments(8145, f"{argument.name.name} is not a parameter for procedure .")
    given = [f"@{parameter.name.lower()}" for parameter in parameters[: len(positional)]]
    given += [a.name.key for a in node.arguments if a.name is not None and a.name.key in names]
    for key in given:
        if given.count(key) > 1:
            return WrongArguments(8143, f"Parameter '{key}' was supplied multiple times.")
    for parameter, value in zip(parameters, values, strict=True):
        needed = parameter.default is None and parameter.table is None
        if needed and (value is None or value.value is None):
            text = plain(template) or "…"
            return WrongArguments(
                8178,
                f"The parameterized query '({declared}){text}' expects the parameter "
                f"'@{parameter.name}', which was not supplied.",
            )
    return None


def lower_system_query(node: nodes.Execute, declared: str, text: str, ctx: Context) -> list[pl.Statement]:
    """Lower EXEC of a procedure that is a T-SQL text with these parameters: ``EXEC sp_help 'dbo.t'``."""
    assert isinstance(node.module, nodes.QualifiedName)
    name = node.module.name.text.lower()
    parameters = _parameters(node, declared, ctx)
    by_name = {a.name.key: a for a in node.arguments if a.name is not None}
    positional = [a for a in node.arguments if a.name is None]
    if len(positional) > len(parameters):
        ctx.problem(f"Procedure or function {name} has too many arguments specified.", node.span, number=8144)
        return []
    values: list[nodes.Argument | None] = [
        by_name.get(f"@{parameter.name.lower()}")
        or (positional[number] if number < len(positional) else None)
        for number, parameter in enumerate(parameters)
    ]
    database = node.module.database
    whole = f"{use_first(database.text)}{text}" if database is not None else text
    body, _ = lower_text(node, (whole,), parameters, tuple(values), ctx, procedure=name)
    return with_failure_code(node, body, ctx)


def with_failure_code(node: nodes.Execute, body: list[pl.Statement], ctx: Context) -> list[pl.Statement]:
    """What a system procedure does, with the code that it returns: 1 where its last statement failed."""
    return _with_return_code(node, body, ctx, pl.Invoke("least", (ctx.session_field("error"), pl.Number(1))))


def _with_return_code(
    node: nodes.Execute, body: list[pl.Statement], ctx: Context, code: pl.Expr
) -> list[pl.Statement]:
    if node.return_variable is not None:
        body.append(pl.Assign(ctx.variable(node.return_variable).spelling, code))
    return body


def _parameters(node: nodes.Execute, text: str, ctx: Context) -> tuple[_DynamicParameter, ...]:
    """Read the parameter list of sp_executesql as the parameters of a procedure."""
    if not text.strip():
        return ()
    source = Source(
        f"parameters of sp_executesql, line {ctx.line(node)}", f"CREATE PROCEDURE p {text} AS RETURN"
    )
    script = parse_script(source, ctx.problems)
    if not script.batches or not isinstance(script.batches[0].statements[0], nodes.CreateProcedure):
        return ()
    procedure = script.batches[0].statements[0]
    result: list[_DynamicParameter] = []
    for number, parameter in enumerate(procedure.parameters, 1):
        name, table = parameter.variable.name.removeprefix("@"), ctx.catalog.table_type_of(parameter.type)
        if table is None:
            refuse_readonly(parameter, ctx)
            type_ = ctx.type_of(parameter.type, number)
            result.append(_DynamicParameter(name, type_, parameter.output, default=parameter.default))
        else:
            require_readonly(parameter, ctx)
            result.append(_DynamicParameter(name, NVARCHAR_MAX, False, table, parameter.type.span.text))
    return tuple(result)


# ------------------------------------------------------------------ a string in place


class _Trial:
    """Lowering that may turn out not to be possible: what it changed in the context can be undone."""

    def __init__(self, ctx: Context) -> None:
        """Remember the context; problems are kept apart from now on."""
        self._ctx = ctx
        self._problems = ctx.problems
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any]]] = [
            (changed, dict(changed))
            for changed in (
                ctx.declarations,
                ctx.helpers,
                ctx.counters,
                ctx.temporary_tables,
                ctx.frame.declarations,
                ctx.frame.helpers,
                ctx.catalog.tables,
            )
        ]
        self._taken = set(ctx.scope.taken)
        self._prelude = len(ctx.prelude)
        ctx.problems = Problems()

    def undo(self) -> None:
        """Go back to what was before."""
        for changed, kept in self._dicts:
            changed.clear()
            changed.update(kept)
        self._ctx.scope.taken.intersection_update(self._taken)
        del self._ctx.prelude[self._prelude :]
        self._ctx.problems = self._problems

    def keep(self) -> None:
        """Take over what was found."""
        self._problems.extend(self._ctx.problems)
        self._ctx.problems = self._problems


def _lower_template(
    node: nodes.Statement,
    template: Template,
    parameters: tuple[_DynamicParameter, ...],
    values: tuple[nodes.Argument | None, ...],
    ctx: Context,
    late: Callable[[bool], list[pl.Statement]],
    *,
    levels: int = 1,
) -> list[pl.Statement]:
    """Lower a text in place where that is possible; ``late`` lowers it to be translated when it runs.

    A piece that stands where a value does may turn out to be more: that is looked at when it runs.
    """
    trial = _Trial(ctx)
    has_rows = any(parameter.table is not None for parameter in parameters)
    if plain(template) is not None:
        (body, _), still = _with_synonyms(
            ctx, lambda: lower_text(node, template, parameters, values, ctx, levels=levels)
        )
        wrong = ctx.problems.errors
        if not wrong or any(problem.span.source.name != _name_of_text(node, ctx) for problem in wrong):
            trial.keep()
            if still is None or has_rows:
                return body
            return [pl.If(((pl.Raw(still), tuple(body[:-1])),), tuple(late(False)[:-1])), body[-1]]
        trial.undo()
        return _fail_at_run_time(wrong, ctx)
    (body, placed), still = _with_synonyms(
        ctx, lambda: lower_text(node, template, parameters, values, ctx, levels=levels)
    )
    if ctx.problems.errors or left_over(body):
        trial.undo()
        return late(True)
    trial.keep()
    unsure = [one for one in placed if may_be_sql(one, ctx)]
    if (not unsure and still is None) or has_rows:
        # Rows cannot go to the client and back.
        return body
    # The pieces first, then one way or the other.
    first, rest = body[:1], body[1:]
    names = [one.variable for one in unsure if one.kind == "name"]
    scalars: list[str] = []
    lists: list[str] = []
    for one in unsure:
        if one.kind == "value":
            read = any(one.scalar in text for text in pl.texts(rest))
            (scalars if read else lists).append(one.variable)
    checks = [
        n.Call(function, tuple(map(n.Variable, variables)))
        for function, variables in (
            ("ssb_internal.are_dynamic_values", lists),
            ("ssb_internal.are_dynamic_scalars", scalars),
            ("ssb_internal.are_dynamic_names", names),
        )
        if variables
    ]
    if still is not None:
        checks.insert(0, still)
    check = pl.Raw(n.all_of(checks) or n.TRUE)
    # Whichever it is, the last statement leaves on an error: callers put something before it.
    return [*first, pl.If(((check, tuple(rest[:-1])),), tuple(late(False)[:-1])), rest[-1]]


def _with_synonyms(ctx: Context, lowered: Callable[[], T]) -> tuple[T, n.Call | None]:
    """Lower a text, with what tells that its synonyms stand for what they do now; None without any."""
    catalog = ctx.catalog
    known = dict(catalog.synonyms)
    around, catalog.followed_in_text = catalog.followed_in_text, {}
    result = lowered()
    followed, catalog.followed_in_text = catalog.followed_in_text, around
    named = [name for name, target in followed.items() if known.get(catalog.key(name)) == target]
    if not named:
        return result, None
    lists = [
        n.Array(tuple(n.Text(catalog.sql_name(each)) for each in names))
        for names in (named, [followed[name] for name in named])
    ]
    return result, n.Call("ssb_internal.are_synonyms", tuple(lists))


def _fail_at_run_time(wrong: Sequence[Problem], ctx: Context) -> list[pl.Statement]:
    """A text that does not compile fails where it is executed, as any dynamic SQL: TRY can catch it."""
    for problem in wrong:
        hint = problem.hint or "the text fails when it is executed"
        ctx.problems.add(problem.message, problem.span, hint, problem.number, "warning")
    number = wrong[0].number or 102
    severity, state = level_of(number)
    arguments = (
        pl.Name(ctx.session),
        pl.Number(wrong[0].span.line),
        pl.Number(number),
        pl.Text(wrong[0].message),
        pl.Number(severity),
        pl.Number(state),
    )
    return [
        pl.Assign(ctx.session, pl.Invoke("ssb_internal.wrong_text", arguments)),
        ctx.leave_if_failed(),
    ]


def _name_of_text(node: nodes.Statement, ctx: Context) -> str:
    return f"dynamic SQL, line {ctx.line(node)}"


def _table_parameter(
    parameter: _DynamicParameter,
    table: TableType,
    argument: nodes.Argument | None,
    before: list[pl.Statement],
    inner: Context,
    ctx: Context,
) -> pl.Declaration:
    """Declare a parameter of a table type; without an argument it has no rows."""
    rows = f"{table.row_type}[]"
    value: pl.Expr = pl.NO_ROWS
    if argument is not None and argument.value is not None:
        given = ctx.scope.table_variable(argument.value.alone)
        if given is None or given.row_type != table.row_type:
            ctx.problem(
                f"Operand type clash: {argument.value.text} is incompatible with {parameter.written}",
                argument.value.span,
                number=206,
            )
        else:
            passed = ctx.helper(f"{fold(parameter.name)}_passed", rows)
            before.append(pl.Assign(passed, pl.Name(given.reference)))
            value = pl.Name(passed)
    name = f"@{parameter.name}"
    variable = inner.scope.declare_table(name, table.row_type, table.info, read_only=True)
    return pl.Declaration(variable.reference, rows, value)


def lower_text(
    node: nodes.Statement,
    template: Template,
    parameters: tuple[_DynamicParameter, ...],
    values: tuple[nodes.Argument | None, ...],
    ctx: Context,
    *,
    levels: int = 1,
    procedure: str | None = None,
) -> tuple[list[pl.Statement], list[Placeholder]]:
    """Compile the text of a dynamic batch into an inner block; its last statement leaves on an error.

    ``levels``: by how much @@NESTLEVEL grows, 2 for sp_executesql. ``procedure``: the system procedure whose
    text it is, which its errors name. Returns its pieces too.
    """
    text, placed, before = _place_pieces(template, ctx)
    statements = _read_text(node, text, parameters, placed, ctx)
    label = ctx.label("string")
    inner = _inner_context(node, statements, label, ctx)
    inner.own_text_at = node.span if procedure is not None else None
    inner.placeholders = placed
    for one in placed:
        if one.kind == "value":
            inner.scope.variables[_variable_of(one)] = ScalarVariable(one.scalar, one.scalar, NVARCHAR_MAX)
    declarations, given_back = _pass_parameters(parameters, values, before, inner, ctx)
    if not all(isinstance(one, pl.Assign) and isinstance(one.value, pl.Name) for one in given_back):
        # What a parameter holds may be no value of the caller's variable.
        given_back = ctx.guard(node, given_back)
    after: list[pl.Statement] = []
    if inner.at_end:
        # The label of the declarations qualifies variables in queries; another one is left at the end.
        inner.body_label = f"{label}_statements"
    database = ctx.catalog.database
    body = lower_text_body(statements, inner)
    if placed:
        body = fill(body, inner)
    if ctx.catalog.database != database:
        # USE holds to the end of the text.
        ctx.catalog.database = database
        used = ctx.helper("database_used", "text")
        before.append(pl.Assign(used, pl.Invoke("current_setting", (pl.Text("pgsb.database"), pl.TRUE))))
        after.append(pl.Perform(pl.Invoke("ssb_internal.return_to_database", (pl.Name(used),))))
    keep, put_back = kept_settings(statements, inner)
    if ctx.mode is not Mode.BATCH:
        body.insert(0, leave_if_nested_too_deep(inner.body_label, ctx.session))
    outer = ctx.new_variable("caller", SESSION_TYPE)
    session = pl.Name(ctx.session)
    declarations += inner.declarations.values()
    core: list[pl.Statement] = [pl.Block(tuple(body), label=label, declarations=tuple(declarations))]
    if inner.at_end:
        ends: list[pl.Statement] = [
            pl.Block(tuple(body), label=inner.body_label),
            pl.If(((pl.not_set(f"{ctx.session}.leaving"), tuple(inner.at_end)),)),
        ]
        core = [pl.Block(tuple(ends), label=label, declarations=tuple(declarations))]
    ctx.prelude += inner.prelude
    enter = (session,) if levels == 1 else (session, pl.Number(levels))
    lowered: list[pl.Statement] = [
        pl.Assign(outer, session),
        pl.Assign(ctx.session, pl.Invoke("ssb_internal.enter_string", enter)),
        *([pl.Assign(f"{ctx.session}.procedure", pl.Text(procedure))] if procedure is not None else []),
        *keep,
        *core,
        *put_back,
        *inner.drop_temporary_tables(),
        pl.Assign(ctx.session, pl.Invoke("ssb_internal.leave", (session, pl.Name(outer)))),
        *after,
        *given_back,
    ]
    lowered = as_another(node, lowered, ctx)
    if before:
        # Without its values the text does not run, even where the error ends nothing else.
        # Nor where a piece is NULL: then it all is.
        ready = ctx.helper("ready", "boolean")
        known = n.all_of([n.IsNull(n.Variable(one.variable), negated=True) for one in placed])
        is_ready = pl.TRUE if known is None else pl.Raw(known)
        prepared = [pl.Assign(ready, pl.FALSE), *before, pl.Assign(ready, is_ready)]
        lowered = [*ctx.guard(node, prepared), pl.If(((pl.Name(ready), tuple(lowered)),))]
    return [*lowered, ctx.leave_if_failed()], placed


def _variable_of(placed: Placeholder) -> str:
    return f"@pgsb_placeholder_{placed.number}_"


def _place_pieces(template: Template, ctx: Context) -> tuple[str, list[Placeholder], list[pl.Statement]]:
    """Return the text, what stands in it for pieces known at run time, and what sets those pieces."""
    text, pieces = place(template)
    before: list[pl.Statement] = []
    placed: list[Placeholder] = []
    for number, (piece, kind, is_bracketed) in enumerate(pieces, 1):
        variable = ctx.new_variable(f"piece_{number}", "text")
        before.append(pl.Assign(variable, ctx.value(piece.text, NVARCHAR_MAX)))
        is_quoted = is_bracketed or piece.quoted_by is not None
        placed.append(Placeholder(number, piece, kind, variable, is_quoted, is_bracketed))
    return text, placed, before


def _read_text(
    node: nodes.Statement,
    text: str,
    parameters: Sequence[_DynamicParameter],
    placed: Sequence[Placeholder],
    ctx: Context,
) -> tuple[nodes.Statement, ...]:
    """Return the text's statements, with variables for parameters and pieces; none where one is wrong."""
    variables = [f"@{parameter.name} {parameter.written or parameter.type.text}" for parameter in parameters]
    variables += [f"{_variable_of(one)} nvarchar(max)" for one in placed if one.kind == "value"]
    # On the first line, so that the lines of the text stay what they are.
    whole = f"DECLARE {', '.join(variables)}; {text}" if variables else text
    source = Source(
        _name_of_text(node, ctx),
        whole,
        quoted_identifiers=ctx.catalog.quoted_identifiers,
        begins=len(whole) - len(behind_use_first(text)),
        is_one_batch=True,
    )
    script = parse_script(source, ctx.problems)
    for batch in script.batches:
        check_chains(batch, ctx.problems)
    if any(batch.has_errors for batch in script.batches):
        return ()  # nothing will run; modules inside modules would be written out again and again
    statements = tuple(statement for batch in script.batches for statement in batch.statements)
    return structured(statements[1:] if variables else statements)


def _pass_parameters(
    parameters: Sequence[_DynamicParameter],
    values: Sequence[nodes.Argument | None],
    before: list[pl.Statement],
    inner: Context,
    ctx: Context,
) -> tuple[list[pl.Declaration], list[pl.Statement]]:
    """Declare the parameters, and return what hands OUTPUT back; what makes the values joins ``before``."""
    after: list[pl.Statement] = []
    declarations: list[pl.Declaration] = []
    for parameter, argument in zip(parameters, values, strict=True):
        if parameter.table is not None:
            declarations.append(_table_parameter(parameter, parameter.table, argument, before, inner, ctx))
            continue
        value: pl.Expr | None = None
        if parameter.default is not None and (argument is None or argument.value is None):
            value = argument_value(parameter.default, parameter.type, ctx)
        if argument is not None and argument.value is not None:
            # Through a variable of the outer block: the inner one may have the same name.
            passed = ctx.helper(f"{fold(parameter.name)}_passed", parameter.type.postgres)
            given = argument_value(argument.value, parameter.type, ctx)
            assign: pl.Statement = pl.Assign(passed, given)
            fits = ctx.mode is Mode.FUNCTION or not may_not_fit(
                given, argument.value, ProcedureParameter(parameter.name, parameter.type), ctx
            )
            before.append(
                assign if fits else refused_where_unfit(assign, argument.value, parameter.type, ctx)
            )
            value = pl.Name(passed)
        variable = inner.scope.declare(f"@{parameter.name}", parameter.type)
        declarations.append(pl.Declaration(variable.reference, parameter.type.postgres, value))
        if argument is not None and argument.output and argument.value is not None and value is not None:
            target = ctx.scope.variable(argument.value.alone)
            if target is not None:
                assert isinstance(value, pl.Name)
                # Only where the batch came to its end.
                keep = pl.Assign(value.spelling, pl.Name(variable.reference))
                inner.at_end.append(keep)
                after.append(pl.Assign(target.reference, _back(value.spelling, parameter.type, target.type)))
    return declarations, after


def _back(reference: str, source: SqlType, target: SqlType) -> pl.Expr:
    if source == target or (source.postgres == target.postgres and not target.is_narrower_here):
        return pl.Name(reference)
    return pl.Raw(convert_expression(Expression(n.Variable(reference), source), target).code)


def _inner_context(
    node: nodes.Statement, statements: tuple[nodes.Statement, ...], label: str, ctx: Context
) -> Context:
    """Return the context of a dynamic batch: a scope of its own in the same PL/pgSQL code."""
    scope = Scope(ctx.catalog, label=label)
    scope.session = ctx.scope.session
    scope.limits_rows = ctx.scope.limits_rows or sets_row_limit(statements)
    scope.taken = ctx.scope.taken
    scope.taken_around = ctx.scope.taken_around
    scope.avoid = (
        ctx.scope.taken | ctx.scope.taken_around | {fold(v.reference) for v in ctx.scope.variables.values()}
    )
    scope.reserve(variable_names(statements))
    scope.row_type_prefix = f"{ctx.scope.row_type_prefix}{label}@"
    scope.row_type_home = ctx.scope.routine or ctx.scope.row_type_home
    scope.level_hint = ctx.scope.level_hint
    scope.changed_tables = ctx.scope.changed_tables
    inner = Context(
        catalog=ctx.catalog,
        scope=scope,
        problems=ctx.problems,
        mode=ctx.mode,
        first_line=1,
        depths=Depths(statements, ctx.depths.before(node), call_effect(ctx.catalog), careful=True),
        liveness=Status(statements, ctx.liveness.after(node), callee_reads(ctx.catalog)),
        body_label=label,
        frame=ctx.frame,
        text=statements[0].span.source.own_text if statements else None,
    )
    inner.counters = ctx.counters
    inner.nocount = ctx.nocount
    inner.xact_abort = ctx.xact_abort
    inner.savepoints = ctx.savepoints
    inner.string_level = ctx.string_level + 1
    return inner
