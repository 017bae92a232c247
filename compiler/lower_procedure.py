"""CREATE PROCEDURE, EXEC of a procedure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..grammar.lexer import identifier_text
from ..grammar.tokens import TokenKind
from . import nodes, ordinary_sql
from . import plpgsql as pl
from .flow_status import BOTH, DEAD, Live, Status
from .flow_transactions import ANY, CallEffect, Depths, State
from .lower import Context, Mode, comments, lower, lower_body
from .lower_flow import lower_branch
from .names import fold, quote
from .ordinary_sql import ColumnInfo, TableVariable
from .ordinary_sql_output import fillable
from .ordinary_sql_table_variables import appending_query
from .parameters import conversions, converted, may_overflow, needs_variable
from .scope import Catalog, Procedure, ProcedureParameter, Scope, UnknownType, object_name, sets_row_limit
from .type_map import NVARCHAR_MAX, SqlType

SESSION_TYPE = "ssb.session"

# ------------------------------------------------------------------ signatures


def signature(node: nodes.CreateProcedure, catalog: Catalog) -> Procedure:
    """Return what callers must know of a procedure. Unknown types count as text."""
    parameters = []
    for parameter in node.parameters:
        type_: SqlType | None = None
        table_type = catalog.table_type_of(parameter.type)
        if table_type is None and parameter.type.name.name.text.lower() != "cursor":
            try:
                type_ = catalog.type_of(parameter.type)
            except UnknownType:
                type_ = NVARCHAR_MAX
        parameters.append(
            ProcedureParameter(
                parameter.variable.name.lstrip("@"),
                type_,
                parameter.output,
                parameter.default,
                table_type.row_type if table_type else None,
            )
        )
    name = object_name(node.name)
    used = {fold(v.lstrip("@")) for v in variable_names(node.body)}
    used |= {fold(parameter.name) for parameter in parameters}
    session = next(word for word in ("session", "ssb_session", "ssb_session_") if word not in used)
    return Procedure(name, catalog.sql_name(name), tuple(parameters), session)


def pg_type(parameter: ProcedureParameter) -> str:
    """Return the PostgreSQL type of a parameter, without length: routines have none."""
    if parameter.table_type is not None:
        return f"{parameter.table_type}[]"
    if parameter.type is None:
        return "text"
    return parameter.type.postgres_bare


# ------------------------------------------------------------------ CREATE PROCEDURE


def lower_create_procedure(node: nodes.CreateProcedure, context: Context) -> list[pl.TopLevel]:
    """Lower CREATE, ALTER and CREATE OR ALTER PROCEDURE.

    The hidden last parameter carries the session from caller to callee and back; an
    application leaves it out.
    """
    catalog = context.catalog
    clause = node.options.execute_as
    if clause is not None and clause.principal != "CALLER":
        context.problems.add(
            "EXECUTE AS of a procedure is recorded in the source only: it runs with its caller's rights",
            clause.span,
            hint="PostgreSQL allows no COMMIT in a procedure that runs with its owner's rights",
            severity="warning",
        )
    procedure = signature(node, catalog)
    catalog.define_procedure(procedure)
    name = fold(node.name.name.text)
    label = free_label(name, node.text.tokens)
    # Where the routine's name means something else in it, all parameters are copied into variables.
    copied = [p for p in procedure.parameters if label != quote(name) or needs_variable(p.type)]
    if copied:
        label = quote(fold(f"{name}_body"))
    scope = Scope(catalog, label=label, routine=procedure.sql_name)
    scope.reserve(variable_names(node.body))
    scope.reserve(parameter.variable.name for parameter in node.parameters)
    scope.taken |= {fold(label.strip('"')), name, procedure.session}
    scope.session = procedure.session
    scope.limits_rows = sets_row_limit(node.body)
    ctx = Context(
        catalog=catalog,
        scope=scope,
        problems=context.problems,
        mode=Mode.PROCEDURE,
        first_line=context.first_line,
        depths=Depths(node.body, ANY, call_effect(catalog), careful=True),
        liveness=Status(node.body, BOTH, callee_reads(catalog)),
        body_label=label,
        routine_name=node.name.name.text,
    )
    caller = ctx.outer_helper("caller", SESSION_TYPE)
    parameters: list[pl.Parameter] = []
    defaults = False
    for written, known in zip(node.parameters, procedure.parameters, strict=True):
        parameters.append(_parameter(written, known, ctx, must_default=defaults))
        defaults = defaults or parameters[-1].default is not None
        _declare_parameter(written, known, ctx, None if known in copied else quote(name))
    parameters.append(pl.Parameter(scope.session, SESSION_TYPE, "INOUT", pl.NULL))
    entry = _entry(procedure, copied, quote(name), ctx)
    given_back = [parameter for parameter in copied if parameter.output]
    kept = _keep_outputs([p for p in procedure.parameters if p not in copied], ctx)
    if given_back:
        ctx.body_label = quote(fold(f"{name}_statements"))
    body = [*lower_routine_body(node.body, ctx), *comments(node.closing_comments)]
    if given_back:
        back = tuple(pl.Assign(f"{quote(name)}.{p.reference}", pl.Name(p.reference)) for p in given_back)
        body = [
            pl.Block(tuple(body), label=ctx.body_label),
            pl.If(((pl.Raw(f"NOT {scope.session}.leaving"), back),)),
        ]
    session = pl.Name(scope.session)
    outer: list[pl.Statement] = [
        pl.Call("ssb.enter", (session, pl.Name(caller), pl.Text(node.name.name.text))),
        pl.Block(
            (leave_if_nested_too_deep(label, scope.session), *entry, *body),
            label=label,
            declarations=tuple(ctx.declarations.values()),
        ),
    ]
    if ctx.savepoints:
        # The end of a savepoint's block makes a doomed transaction writable again.
        forbid = pl.Perform(pl.Invoke("ssb.forbid_writing"))
        outer.append(pl.If(((ctx.session_field("doomed"), (forbid,)),)))
    outer += ctx.drop_temporary_tables()
    if kept:
        outer.append(pl.If(((ctx.session_field("leaving"), tuple(kept)),)))
    outer.append(pl.Assign(scope.session, pl.Invoke("ssb.leave", (session, pl.Name(caller)))))
    block = pl.Block(tuple(outer), declarations=tuple(ctx.frame.declarations.values()))
    arguments = ", ".join([*(pg_type(parameter) for parameter in procedure.parameters), SESSION_TYPE])
    prepare = pl.Invoke(
        "ssb.prepare_module",
        (pl.Text(node.action), pl.Text("PROCEDURE"), pl.Text(procedure.sql_name), pl.Text(arguments)),
    )
    routine = pl.Routine(
        procedure.sql_name,
        tuple(parameters),
        block,
        tag=node.name.name.text,
        preface=tuple(pl.Comment(comment.text) for comment in node.comments),
    )
    return [pl.Select(prepare), *ctx.prelude, routine]


def _entry(
    procedure: Procedure, copied: Sequence[ProcedureParameter], name: str, ctx: Context
) -> list[pl.Statement]:
    """Convert the arguments to the declared types, into variables those that are ``copied``.

    What does not fit fails the EXEC (8114).
    """
    risky: list[pl.Statement] = []
    for parameter in copied:
        reference = parameter.reference
        outside = f"{name}.{reference}"
        exact = pg_type(parameter) if parameter.type is None else parameter.type.postgres
        initial: pl.Expr | None = converted(outside, parameter.type) or pl.Name(outside)
        if may_overflow(parameter.type):
            initial = None
            risky.append(pl.Assign(reference, pl.Name(outside)))
        elif needs_variable(parameter.type):
            initial = pl.Name(outside)
        ctx.declarations[reference] = pl.Declaration(reference, exact, initial)
    result = conversions([(p.reference, p.type) for p in procedure.parameters if p not in copied])
    if risky:
        arguments = (pl.Name(ctx.session), pl.Number(0), pl.Text(ctx.routine_name or ""))
        failed = pl.Invoke(
            "ssb.failed_argument",
            (*arguments, pl.Name("SQLSTATE"), pl.Name("SQLERRM"), pl.Text("numeric")),
        )
        handler = (pl.Assign(ctx.session, failed), pl.Exit(ctx.body_label))
        result.append(pl.Block(tuple(risky), handler=handler))
    return result


def leave_if_nested_too_deep(label: str, session: str) -> pl.Exit:
    """First in a module: ssb.enter and ssb.enter_string raise error 217 beyond 32 levels."""
    return pl.Exit(label, pl.Raw(f"{session}.leaving"), note="nested deeper than 32")


def call_effect(catalog: Catalog) -> CallEffect:
    """Return what EXEC does to @@TRANCOUNT: found in the procedure's body where the script has it."""
    results: dict[tuple[tuple[str, str], int], tuple[State, State]] = {}

    def effect(call: nodes.Statement, state: State) -> tuple[State, State]:
        if not isinstance(call, nodes.Execute) or not isinstance(call.module, nodes.QualifiedName):
            return state, state
        key = catalog.key(object_name(call.module))
        body = catalog.bodies.get(key)
        if body is None:
            return state, state
        after: set[int] = set()
        thrown: set[int] = set()
        for depth in state:
            if (key, depth) not in results:
                # A recursive call counts as one that leaves the depth as it was.
                same = frozenset({depth})
                results[key, depth] = (same, same)
                depths = Depths(body, same, effect)
                results[key, depth] = (depths.exit, depths.anywhere)
            after |= results[key, depth][0]
            thrown |= results[key, depth][1]
        return frozenset(after) or state, frozenset(thrown)

    return effect


def callee_reads(catalog: Catalog) -> Callable[[nodes.Execute], Live]:
    """Return what a called procedure may read of @@ERROR and @@ROWCOUNT before it sets them."""
    results: dict[tuple[str, str], Live] = {}

    def reads(call: nodes.Execute) -> Live:
        if not isinstance(call.module, nodes.QualifiedName):
            return BOTH
        if call.module.name.text.lower().startswith("sp_"):
            return DEAD
        key = catalog.key(object_name(call.module))
        body = catalog.bodies.get(key)
        if body is None:
            return BOTH
        if key not in results:
            results[key] = DEAD  # a recursive call reads what the first one reads
            results[key] = Status(body, DEAD, reads).at_entry
        return results[key]

    return reads


def _parameter(
    written: nodes.Parameter, known: ProcedureParameter, ctx: Context, *, must_default: bool
) -> pl.Parameter:
    default: pl.Expr | None = pl.Raw("'{}'") if known.table_type is not None else None
    if written.default is not None:
        default = argument_value(written.default, known.type, ctx)
    elif must_default and default is None:
        # PostgreSQL wants a default behind every parameter that has one; NULL stands for "none".
        default = pl.NULL
    return pl.Parameter(known.reference, pg_type(known), "INOUT" if known.output else "IN", default)


def _declare_parameter(
    written: nodes.Parameter, known: ProcedureParameter, ctx: Context, qualifier: str | None
) -> None:
    name = written.variable.name
    table = ctx.catalog.table_type_of(written.type)
    if table is not None:
        ctx.scope.declare_table(name, table.row_type, table.info, qualifier=qualifier)
    elif known.type is None:
        from .lower_cursor import declare_cursor_parameter

        declare_cursor_parameter(written.variable, known.reference, ctx)
    else:
        ctx.scope.declare(name, ctx.type_of(written.type), qualifier=qualifier)


def _keep_outputs(parameters: Sequence[ProcedureParameter], ctx: Context) -> list[pl.Statement]:
    """OUTPUT parameters stay as they were when an error ends the procedure: keep them at entry."""
    result: list[pl.Statement] = []
    for parameter in parameters:
        if not parameter.output:
            continue
        name = ctx.scope.helper(f"{fold(parameter.name)}_at_entry")
        ctx.frame.declarations[name] = pl.Declaration(name, pg_type(parameter), pl.Name(parameter.reference))
        result.append(pl.Assign(parameter.reference, pl.Name(name)))
    return result


def lower_routine_body(body: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Lower the body of a routine; a lone BEGIN … END around it disappears.

    GOTO and savepoints give it another shape.
    """
    from .control_flow import lower_with_jumps, needs_jumps
    from .cursor_rows import located_cursors
    from .lower_cursor import count_definitions, deallocated_cursors, passed_cursors

    statements: tuple[nodes.Statement, ...] = tuple(body)
    ctx.cursor_definitions = count_definitions(statements)
    ctx.deallocated_cursors = deallocated_cursors(statements)
    ctx.passed_cursors = passed_cursors(statements)
    ctx.located_cursors = located_cursors(statements)
    if needs_jumps(statements):
        return lower_with_jumps(statements, ctx)
    if len(statements) == 1 and isinstance(statements[0], nodes.Block):
        result = [*comments(statements[0].comments), *lower_branch(statements[0], ctx)]
    else:
        result = lower_body(statements, ctx)
    if result and result[-1] == pl.Exit(ctx.body_label):
        result.pop()  # RETURN at the very end
    return result


def free_label(name: str, tokens: Sequence[object]) -> str:
    """Return a block label: the routine's name, unless the text uses it as an identifier elsewhere."""
    seen = sum(
        1
        for token in tokens
        if getattr(token, "kind", None) in (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)
        and fold(getattr(token, "text", "").strip('[]"')) == name
    )
    return quote(name) if seen <= 1 else quote(fold(f"{name}_body"))


def variable_names(body: Sequence[nodes.Statement]) -> list[str]:
    """Return the names of all variables that a body declares."""
    result: list[str] = []
    for statement in body:
        if isinstance(statement, nodes.Declare):
            result += [declaration.variable.name for declaration in statement.declarations]
        result += variable_names(nodes.children_of(statement))
    return result


# ------------------------------------------------------------------ EXEC


@lower.register
def lower_execute(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """Lower EXEC of a procedure: a CALL, so that COMMIT and ROLLBACK stay possible in it."""
    if ctx.mode is Mode.FUNCTION:
        ctx.problem(
            "Invalid use of a side-effecting operator 'EXECUTE STRING' within a function.",
            node.span,
            number=443,
        )
        return []
    from .lower_system_procedures import lower_system_procedure

    if isinstance(node.module, nodes.Variable):
        spelled = ctx.variable(node.module)
        from .lower_dynamic import database_of_executesql, lower_executesql

        database = database_of_executesql(ctx.constants.of_variable(node.module.name))
        if isinstance(database, str):
            return lower_executesql(node, ctx, database)
        if database is not None:
            return lower_executesql(node, ctx, prefix=pl.Invoke("ssb.use_of_name", (spelled,)))
        name = pl.Invoke("ssb.module_name", (spelled,), ctx.database_argument())
        return _execute_by_name(node, name, ctx, spelled)
    special = lower_system_procedure(node, ctx)
    if special is not None:
        return special
    module = ctx.object(node.module)
    known = ctx.catalog.procedures.get(ctx.catalog.key(module))
    if known is None:
        written = pl.Text(node.module.text)
        return _execute_by_name(node, pl.Text(ctx.catalog.sql_name(module)), ctx, written)
    return _execute_known(node, known, ctx)


_WORDS = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


def argument_value(text: nodes.SqlText, target: SqlType | None, ctx: Context) -> pl.Expr:
    """Return an argument: a constant, a variable, or a bare word, which T-SQL takes as a string."""
    if len(text.tokens) == 1 and text.tokens[0].kind in _WORDS:
        token = text.tokens[0]
        if token.word != "NULL":
            return pl.Text(identifier_text(token))
    return ctx.value(text, target)


def _execute_known(node: nodes.Execute, procedure: Procedure, ctx: Context) -> list[pl.Statement]:
    """A call of a procedure whose parameters the script tells."""
    try:
        chosen = _match_arguments(node, procedure)
    except WrongArguments as error:
        return wrong_call(node, procedure.name.name, error, ctx)
    checked: list[pl.Statement] = []
    before: list[pl.Statement] = []
    after: list[pl.Statement] = []
    arguments: list[pl.Expr] = []
    named: list[tuple[str, pl.Expr]] = []
    positional = True
    for parameter in procedure.parameters:
        argument = chosen.get(parameter.name.lower())
        if argument is None or argument.value is None:
            if parameter.output:
                scratch = ctx.helper(f"no_{fold(parameter.name)}", pg_type(parameter))
                given: pl.Expr = pl.NULL
                if parameter.default is not None:
                    given = argument_value(parameter.default, parameter.type, ctx)
                before.append(pl.Assign(scratch, given))
                value: pl.Expr = pl.Name(scratch)
            else:
                positional = False
                continue
        else:
            value = _argument(argument, parameter, ctx, before, after)
            if _may_not_fit(value, parameter):
                value = _converted_before(value, argument.value, parameter, procedure, ctx, checked)
        if positional:
            arguments.append(value)
        else:
            named.append((parameter.reference, value))
    session = pl.Name(ctx.session)
    if positional:
        call = pl.Call(procedure.sql_name, (*arguments, session))
    else:
        call = pl.Call(procedure.sql_name, tuple(arguments), (*named, (procedure.session, session)))
    prepared = [*checked, *_guarded(before, node, ctx)]
    return [*prepared, call, *after, *_return_code(node, ctx), ctx.leave_if_failed(node)]


def _may_not_fit(value: pl.Expr, parameter: ProcedureParameter) -> bool:
    """Whether a constant or a variable may not convert to the parameter's type."""
    if not isinstance(value, pl.Raw) or parameter.type is None or parameter.type.is_string:
        return False
    return value.sql.startswith("sys.convert_") or (parameter.type.family == "integer" and "::" in value.sql)


def _converted_before(
    value: pl.Expr,
    written: nodes.SqlText,
    parameter: ProcedureParameter,
    procedure: Procedure,
    ctx: Context,
    checked: list[pl.Statement],
) -> pl.Expr:
    """Convert an argument ahead of the CALL, which no exception block may surround; 8114 where it fails."""
    assert parameter.type is not None
    scratch = ctx.helper(f"{fold(parameter.name)}_in", pg_type(parameter))
    assign = pl.Assign(scratch, value)
    if ctx.mode in (Mode.FUNCTION, Mode.PLAIN):
        checked.append(assign)
        return pl.Name(scratch)
    source = ctx.expression(written, None).type or NVARCHAR_MAX
    told = (pl.Text(procedure.name.name), pl.Name("SQLSTATE"), pl.Name("SQLERRM"))
    types = (pl.Text(_shown_type(source)), pl.Text(_shown_type(parameter.type)))
    failed = pl.Invoke(
        "ssb.unfit_argument", (pl.Name(ctx.session), pl.Number(ctx.line(written)), *told, *types)
    )
    handler = (pl.Assign(ctx.session, failed), ctx.leave_after_error(written))
    checked.append(pl.Block((assign,), handler=handler))
    return pl.Name(scratch)


def _shown_type(type_: SqlType) -> str:
    """Return the type's name as error 8114 has it."""
    return "numeric" if type_.name == "decimal" else type_.name


def _guarded(before: list[pl.Statement], node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    simple = all(
        isinstance(s, pl.Assign) and isinstance(s.value, pl.Constant | pl.Name | pl.Text) for s in before
    )
    return before if simple else ctx.guard(node, before)


def _match_arguments(node: nodes.Execute, procedure: Procedure) -> dict[str, nodes.Argument]:
    """Return the argument of each parameter that has one. Raises WrongArguments."""
    result: dict[str, nodes.Argument] = {}
    by_name = {parameter.name.lower(): parameter for parameter in procedure.parameters}
    name = procedure.name.name
    for number, argument in enumerate(node.arguments):
        if argument.name is not None:
            key = argument.name.name.lstrip("@").lower()
            if key not in by_name:
                raise WrongArguments(8145, f"{argument.name.name} is not a parameter for procedure {name}.")
        elif number >= len(procedure.parameters):
            raise WrongArguments(8144, f"Procedure or function {name} has too many arguments specified.")
        else:
            key = procedure.parameters[number].name.lower()
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
    """Return what a call does whose arguments do not fit: it fails."""
    arguments = (
        pl.Name(ctx.session),
        pl.Number(ctx.line(node)),
        pl.Number(error.number),
        pl.Text(error.message),
        pl.Text(name),
    )
    return [pl.Assign(ctx.session, pl.Invoke("ssb.wrong_call", arguments)), ctx.leave_if_failed(node)]


class WrongArguments(Exception):
    """A call that fails at run time whatever happens; number and text as SQL Server gives them."""

    def __init__(self, number: int, message: str) -> None:
        """Keep both."""
        super().__init__(message)
        self.number = number
        self.message = message


def _argument(
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
        if table is not None:
            return pl.Name(table.reference)
    cursor = _passed_cursor(text, ctx)
    if cursor is not None and parameter.type is None and parameter.output:
        return pl.Name(cursor)
    variable = (
        ctx.scope.variable(token.text) if token is not None and token.kind == TokenKind.VARIABLE else None
    )
    if not parameter.output:
        value = argument_value(text, parameter.type, ctx)
        same = (
            variable is not None
            and parameter.type is not None
            and (variable.type.postgres_bare == parameter.type.postgres_bare)
        )
        return value if same or parameter.type is None else _spelled_out(value, parameter.type)
    if argument.output and variable is not None and parameter.type is not None:
        if variable.type.postgres_bare == parameter.type.postgres_bare:
            return pl.Name(variable.reference)
        # Another type: through a variable of the parameter's type, and back.
        scratch = ctx.helper(f"{fold(parameter.name)}_out", pg_type(parameter))
        before.append(pl.Assign(scratch, argument_value(text, parameter.type, ctx)))
        from .ordinary_sql import Expression, convert_expression

        back = convert_expression(Expression(scratch, parameter.type), variable.type)
        after.append(pl.Assign(variable.reference, pl.Raw(back.sql)))
        return pl.Name(scratch)
    scratch = ctx.helper(f"no_{fold(parameter.name)}", pg_type(parameter))
    before.append(pl.Assign(scratch, argument_value(text, parameter.type, ctx)))
    return pl.Name(scratch)


def _spelled_out(value: pl.Expr, target: SqlType) -> pl.Expr:
    """Return the argument with the cast that PostgreSQL needs to find the procedure.

    An integer becomes a smallint in an assignment, but not as an argument.
    """
    if target.postgres_bare not in ("smallint", "sys.bit"):
        return value
    converted = isinstance(value, pl.Raw) and value.sql.startswith("sys.convert_")
    return value if converted or value == pl.NULL else pl.Cast(value, target.postgres_bare)


def _return_code(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    if node.return_variable is None:
        return []
    variable = ctx.variable(node.return_variable)
    code = f"{ctx.session}.return_code"
    return [pl.Assign(variable.spelling, pl.Raw(f"coalesce({code}, {variable.spelling})"))]


def _execute_by_name(node: nodes.Execute, name: pl.Expr, ctx: Context, shown: pl.Expr) -> list[pl.Statement]:
    """A procedure that only the run time knows: ssb.execute looks its parameters up.

    Arguments travel as text: their names, OUTPUT marks and values in arrays.
    """
    values = ctx.helper("arguments", "text[]")
    names: list[str] = []
    texts: list[pl.Expr] = []
    after: list[pl.Statement] = []
    for number, argument in enumerate(node.arguments, 1):
        mark = argument.name.name if argument.name else ""
        if argument.value is None:
            names.append(f"{mark} DEFAULT")
            texts.append(pl.NULL)
            continue
        names.append(f"{mark} OUTPUT" if argument.output else mark)
        texts.append(_as_text(argument.value, ctx))
        if argument.output:
            variable = ctx.scope.variable(argument.value.text.strip())
            cursor = _passed_cursor(argument.value, ctx)
            if cursor is not None:
                after.append(pl.Assign(cursor, pl.Name(f"{values}[{number}]")))
            elif variable is not None:
                cast = pl.Cast(pl.Name(f"{values}[{number}]"), variable.type.postgres)
                after.append(pl.Assign(variable.reference, cast))
    before = [pl.Assign(values, pl.Array(tuple(texts), "text"))]
    marks = pl.Array(tuple(pl.Text(text) for text in names), "text")
    session = pl.Name(ctx.session)
    line = pl.Number(ctx.line(node))
    call = pl.Call("ssb.execute", (name, marks, pl.Name(values), session, line, shown))
    return [*ctx.guard(node, before), call, *after, *_return_code(node, ctx), ctx.leave_if_failed(node)]


def _passed_cursor(text: nodes.SqlText, ctx: Context) -> str | None:
    """Return the variable that names a cursor which is an argument, None for other arguments."""
    if len(text.tokens) != 1:
        return None
    cursor = ctx.scope.cursor_variables.get(text.tokens[0].text.lower())
    return cursor.key if cursor is not None and cursor.variable else None


def _as_text(text: nodes.SqlText, ctx: Context) -> pl.Expr:
    """Return an argument as PostgreSQL writes it: T-SQL's text of a datetime has no seconds."""
    table = ctx.scope.table_variable(text.tokens[0].text) if len(text.tokens) == 1 else None
    if table is not None:
        # Its rows, for a table-valued parameter.
        return pl.Cast(pl.Name(table.reference), "text")
    cursor = _passed_cursor(text, ctx)
    if cursor is not None:
        return pl.Name(cursor)
    word = len(text.tokens) == 1 and text.tokens[0].kind in _WORDS
    written = None if word else ctx.expression(text)
    if written is None or written.type is None or written.type.family in ("string", "integer"):
        return argument_value(text, NVARCHAR_MAX, ctx)
    return pl.Cast(pl.Raw(written.sql), "text")


# ------------------------------------------------------------------ INSERT … EXEC


@lower.register
def lower_insert_execute(node: nodes.InsertExecute, ctx: Context) -> list[pl.Statement]:
    """INSERT … EXEC: result sets are kept in the session while EXEC runs, then inserted."""
    target = ordinary_sql.translate_insert_target(node.target, ctx.scope, ctx.problems)
    if target is None or ctx.scope.session is None:
        return []
    session = ctx.session
    was = ctx.helper("was_capturing", "boolean")
    begin = pl.Assign(session, pl.Invoke("ssb.begin_capture", (pl.Name(session),)))
    end = pl.Assign(f"{session}.capturing", pl.Name(was))
    calls = lower(node.execute, ctx)
    if calls and isinstance(calls[-1], pl.Exit | pl.If):
        calls.insert(len(calls) - 1, end)
    else:
        calls.append(end)
    if target.table_variable is not None:
        insert = _insert_captured_rows(target.table_variable, target.columns, ctx)
    else:
        columns: pl.Expr = pl.NULL
        if target.columns is not None:
            columns = pl.Array(tuple(pl.Text(fold(column.name)) for column in target.columns), "text")
        overriding = (("overriding", pl.TRUE),) if target.overriding else ()
        call = pl.Invoke(
            "ssb.insert_captured", (pl.Name(session), pl.Text(target.target), columns), overriding
        )
        insert = [pl.Assign(session, call)]
    inserted = ctx.guard(node, [*insert, *ctx.show_count(), *ctx.status(node)], verb="INSERT")
    was_set = pl.Assign(was, ctx.session_field("capturing"))
    return [was_set, begin, *calls, *inserted, *ctx.autocommit(node)]


def _insert_captured_rows(
    table: TableVariable, named: Sequence[ColumnInfo] | None, ctx: Context
) -> list[pl.Statement]:
    """Append the kept rows to a table variable."""
    columns = list(named) if named is not None else fillable(table.info.columns)
    values = [_captured_value(number, column) for number, column in enumerate(columns)]
    source = f"unnest(ssb.captured_of_width({ctx.session}.captured, {len(columns)})) AS r"
    query = appending_query(table, f"@{table.reference}", columns, values, source)
    return [pl.SelectInto(query, (table.reference, f"{ctx.session}.rowcount"))]


def _captured_value(number: int, column: ColumnInfo) -> str:
    """A kept cell as a value of a column: what came as bytes is text or xml there."""
    type_ = column.type
    if type_ is None:
        return f"r ->> {number}"
    kind = {"binary": "bytea", "xml": "xml"}.get(type_.family, "text")
    return f"ssb.captured_value(r -> {number}, '{kind}')::{type_.unlimited.postgres}"
