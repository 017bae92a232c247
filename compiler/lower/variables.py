"""DECLARE, SET @v, SET @x.modify, SET options, USE."""

from __future__ import annotations

from ...grammar.lexer import bracketed, string_value
from ...grammar.tokens import TokenKind
from .. import nodes
from ..analysis.live_status import DEAD
from ..analysis.may_fail import text_cannot_raise
from ..analysis.mentions import changed_tables, is_literal
from ..catalog.names import fold, part_name, quote
from ..catalog.objects import ScalarVariable, TableInfo, TableVariable
from ..catalog.types import BIGINT, SqlType
from ..plpgsql import nodes as pl
from ..sql import translate
from ..sql.interface import Assignment
from .context import Context, Mode, Translated
from .cursors import assign_cursor, declare_cursor_variable
from .dispatch import invocations, is_system_procedure, lower
from .placeholders import mentions_piece
from .results import sql

# SET options that say nothing here: PostgreSQL behaves as their default value says, or they are
# about plans and statistics of SQL Server.
_WITHOUT_EFFECT = frozenset(
    """
    ANSI_NULLS ANSI_PADDING ANSI_WARNINGS ANSI_DEFAULTS ANSI_NULL_DFLT_ON ANSI_NULL_DFLT_OFF ARITHABORT
    ARITHIGNORE CONCAT_NULL_YIELDS_NULL NUMERIC_ROUNDABORT QUOTED_IDENTIFIER CURSOR_CLOSE_ON_COMMIT
    DEADLOCK_PRIORITY FORCEPLAN PARSEONLY NOEXEC FMTONLY QUERY_GOVERNOR_COST_LIMIT REMOTE_PROC_TRANSACTIONS
    SHOWPLAN_ALL SHOWPLAN_TEXT SHOWPLAN_XML TEXTSIZE OFFSETS
    FIPS_FLAGGER ROWCOUNT RESULT_SET_CACHING DISABLE_DEF_CNST_CHK ERRLVL NO_BROWSETABLE
    """.split()
)


@lower.register
def lower_declare(node: nodes.Declare, ctx: Context) -> list[pl.Statement]:
    """Hoist the variables; their initial values are assigned where DECLARE stands.

    A DECLARE before anything else with a harmless initial value becomes one declaration.
    """
    result: list[pl.Statement] = []
    for place, declaration in enumerate(node.declarations, 1):
        name = declaration.variable.name
        if _declared(ctx, name):
            ctx.problem(
                f"The variable name '{name}' has already been declared. Variable names must be unique "
                "within a query batch or stored procedure.",
                declaration.variable.span,
                number=134,
            )
            continue
        match declaration:
            case nodes.TableVariableDeclaration():
                declare_table_variable(declaration, ctx)
            case nodes.CursorVariableDeclaration():
                declare_cursor_variable(declaration.variable, ctx)
            case nodes.VariableDeclaration():
                result += _declare_scalar(node, declaration, place, ctx)
    return result


def _declared(ctx: Context, name: str) -> bool:
    scope = ctx.scope
    return (
        scope.variable(name) is not None
        or scope.table_variable(name) is not None
        or name.lower() in scope.cursor_variables
    )


def _declare_scalar(
    node: nodes.Declare, declaration: nodes.VariableDeclaration, place: int, ctx: Context
) -> list[pl.Statement]:
    name = declaration.variable.name
    if declaration.type.name.name.text.lower() == "cursor":
        declare_cursor_variable(declaration.variable, ctx)
        return []
    table_type = ctx.catalog.table_type_of(declaration.type)
    if table_type is not None:
        declare_rows(name, table_type.row_type, table_type.info, ctx)
        return []
    type_ = ctx.type_of(declaration.type, place)
    if type_.name in ("text", "ntext", "image"):
        ctx.problem(
            "The text, ntext, and image data types are invalid for local variables.",
            declaration.span,
            number=2739,
        )
    # The initial value must not see the variable itself: T-SQL declares from left to right.
    initial = ctx.expression(declaration.initial, type_, assigned=True) if declaration.initial else None
    variable = ctx.scope.declare(name, type_)
    first = not ctx.started and ctx.nesting == 0 and ctx.liveness.after(node) == DEAD
    if (
        initial is not None
        and first
        and declaration.initial is not None
        and is_literal(declaration.initial.tree)
    ):
        ctx.declarations[variable.reference] = pl.Declaration(
            variable.reference, type_.postgres, pl.Raw(initial.code)
        )
        return []
    ctx.declarations[variable.reference] = pl.Declaration(variable.reference, type_.postgres)
    if initial is None:
        return []
    ctx.started = ctx.started or ctx.nesting == 0
    return assign(node, variable, initial, ctx)


def declare_table_variable(declaration: nodes.TableVariableDeclaration, ctx: Context) -> None:
    """Declare ``@t TABLE (…)``: an array of a composite type that is made before the routine."""
    name = declaration.variable.name
    info = translate.translate_table_variable(declaration.definition.text, name, ctx.scope, ctx.problems)
    if info is None:
        ctx.scope.declare(name, SqlType("table"))  # what reads it is not wrong, too
        return
    row_type = table_row_type(ctx, name.lstrip("@"))
    define_row_type(row_type, info, ctx)
    declare_rows(name, row_type, info, ctx)


def declare_rows(name: str, row_type: str, info: TableInfo, ctx: Context) -> TableVariable:
    """Declare the variables of a table variable: its rows, and the last number of its identity column."""
    variable = ctx.scope.declare_table(name, row_type, info, counts=True)
    ctx.declarations[variable.reference] = pl.Declaration(variable.reference, f"{row_type}[]", pl.NO_ROWS)
    column = variable.identity
    if variable.counter is not None and column is not None and column.type is not None:
        ctx.declarations[variable.counter] = pl.Declaration(variable.counter, column.type.postgres)
    return variable


def table_row_type(ctx: Context, variable: str) -> str:
    """Name the composite type of a table variable: beside its routine, or in pg_temp for a batch."""
    name = f"@{ctx.scope.row_type_prefix}{variable}"
    home = ctx.scope.routine or ctx.scope.row_type_home
    return f"pg_temp.{quote(fold(name))}" if home is None else part_name(home, name)


def define_row_type(row_type: str, info: TableInfo, ctx: Context) -> None:
    """Make the composite type anew, before the routine that declares variables of it."""
    columns = ", ".join(
        f"{quote(fold(column.name))} {column.type.postgres if column.type else 'text'}"
        for column in info.columns
    )
    call = pl.Invoke("ssb_internal.define_row_type", (pl.Text(row_type), pl.Text(columns)))
    ctx.prelude.append(pl.Select(call))


def assign(
    node: nodes.Statement, variable: ScalarVariable, value: Translated, ctx: Context
) -> list[pl.Statement]:
    """Assign an expression to a scalar variable; @@ROWCOUNT is 1 after it."""
    assignment = pl.Assign(variable.reference, pl.Raw(value.code))
    body = [*map(sql, value.before), assignment, *ctx.status(node, pl.Number(1))]
    return body if value.cannot_raise else ctx.guard(node, body)


@lower.register
def lower_set_variable(node: nodes.SetVariable, ctx: Context) -> list[pl.Statement]:
    """Lower ``SET @v = value`` and the compound assignments (``+=`` …)."""
    key = node.variable.key
    if key in ctx.scope.cursor_variables:
        return assign_cursor(node, ctx)
    variable = ctx.scope.variable(node.variable.name)
    if variable is None:
        ctx.variable(node.variable)
        return []
    if node.operator == "=":
        return assign(node, variable, ctx.expression(node.value, variable.type, assigned=True), ctx)
    return _compound(node, variable, ctx)


def _compound(node: nodes.SetVariable, variable: ScalarVariable, ctx: Context) -> list[pl.Statement]:
    """``SET @v += e``: the same as ``SELECT @v += e``."""
    translated = translate.translate_compound(node, ctx.scope, ctx.problems)
    if not isinstance(translated, Assignment) or len(translated.values) != 1:
        return []
    joins = node.operator == "+=" and variable.type.is_string
    never_raises = joins and text_cannot_raise(node.value.tree, ctx.scope)
    value = Translated(translated.values[0], variable.type, never_raises, translated.before)
    return assign(node, variable, value, ctx)


@lower.register
def lower_set_method(node: nodes.SetMethod, ctx: Context) -> list[pl.Statement]:
    """Lower ``SET @x.modify('…')``."""
    variable = ctx.scope.variable(node.variable.name)
    if variable is None:
        ctx.variable(node.variable)
        return []
    value = translate.translate_method(
        node.variable.name, node.method.text, node.arguments, ctx.scope, ctx.problems
    )
    if value is None:
        return []
    return assign(node, variable, Translated(value.code, value.type, False), ctx)


# ------------------------------------------------------------------ SET options


@lower.register
def lower_set_option(node: nodes.SetOption, ctx: Context) -> list[pl.Statement]:
    """Lower SET options: NOCOUNT and XACT_ABORT are fields of the session."""
    result: list[pl.Statement] = []
    certain = ctx.nesting == 0
    for name in node.names:
        match name:
            case "NOCOUNT" | "XACT_ABORT":
                field = name.lower()
                if ctx.in_function:
                    continue
                value: pl.Expr = pl.TRUE if node.on else pl.FALSE
                if name == "NOCOUNT":
                    value = pl.Invoke("ssb_internal.no_count", (value,))
                result.append(pl.Assign(f"{ctx.session}.{field}", value))
                if certain:
                    ctx.note_option(field, node.on)
                else:
                    ctx.forget_option(field)
            case "IDENTITY_INSERT" if node.table is not None:
                calls = [pl.Perform(call) for call in _identity_insert(node, ctx)]
                return [*ctx.guard(node, [*calls, *ctx.status(node, pl.Number(0))]), *ctx.autocommit(node)]
            case "NOEXEC" if ctx.mode is Mode.BATCH:
                result.append(pl.Assign(f"{ctx.session}.noexec", pl.TRUE if node.on else pl.FALSE))
            case "NOEXEC" if node.on:
                ctx.problem(
                    "SET NOEXEC ON in a procedure, function or trigger is not supported.",
                    node.span,
                    hint="set it in the script, behind the call",
                )
            case "ROWCOUNT" if ctx.scope.limits_rows and node.argument is not None:
                return _row_limit(node, node.argument, ctx)
            case "DATEFIRST" | "DATEFORMAT" | "LANGUAGE":
                calls = [pl.Perform(call) for call in _option_calls(name, node, ctx)]
                return ctx.guard(node, [*calls, *ctx.status(node, pl.Number(0))])
            case "QUOTED_IDENTIFIER" if ctx.lasts:
                ctx.catalog.quoted_identifiers = node.on
            case _:
                calls = [pl.Perform(call) for call in _option_calls(name, node, ctx)]
                if (name, node.value) == ("TRANSACTION ISOLATION LEVEL", "SNAPSHOT") and ctx.scope.session:
                    within = pl.Invoke(
                        "ssb_internal.refuse_snapshot_in_transaction", (ctx.session_field("trancount"),)
                    )
                    result += ctx.guard(node, [pl.Perform(within), *calls])
                else:
                    result += calls
                if name == "TRANSACTION ISOLATION LEVEL":
                    # PostgreSQL's transaction has begun already; the next one has the new level.
                    result += ctx.autocommit(node)
    return [*result, *ctx.status(node, pl.Number(0))]


def _row_limit(node: nodes.SetOption, argument: nodes.SqlText, ctx: Context) -> list[pl.Statement]:
    """SET ROWCOUNT: a field of the session; the procedure or batch that sets it obeys it."""
    if ctx.lasts:
        ctx.catalog.row_limited = node.value != "0" or (ctx.nesting > 0 and ctx.catalog.row_limited)
    limit = pl.Invoke("ssb_internal.row_limit", (ctx.value(argument, BIGINT),))
    assign_limit = pl.Assign(f"{ctx.session}.row_limit", limit)
    return ctx.guard(node, [assign_limit, *ctx.status(node, pl.Number(0))])


@invocations.register
def set_option_calls(node: nodes.SetOption, ctx: Context) -> list[pl.Invoke] | None:
    """Return what SET options do at top level."""
    result: list[pl.Invoke] = []
    for name in node.names:
        match name:
            case "NOEXEC":
                result.append(_set_config("pgsb.noexec", "on" if node.on else "off"))
            case "NOCOUNT" | "XACT_ABORT":
                result.append(_set_config(f"pgsb.{name.lower()}", "on" if node.on else "off"))
                setattr(ctx.catalog, name.lower(), node.on)
            case "IDENTITY_INSERT" if node.table is not None:
                result += _identity_insert(node, ctx)
            case "QUOTED_IDENTIFIER":
                ctx.catalog.quoted_identifiers = node.on
            case _:
                result += _option_calls(name, node, ctx)
    return result


def _identity_insert(node: nodes.SetOption, ctx: Context) -> list[pl.Invoke]:
    """SET IDENTITY_INSERT: what follows in the text is compiled by it; 1088 and 8106 are known as it runs."""
    assert node.table is not None
    key = ctx.catalog.key(ctx.object(node.table))
    if node.on:
        ctx.catalog.identity_insert.add(key)
    else:
        ctx.catalog.identity_insert.discard(key)
    if node.table.name.text.startswith("#"):
        return []
    parts = (node.table.database, node.table.schema, node.table.name)
    quoted = ".".join(bracketed(part.text) if part else "" for part in parts).lstrip(".")
    names: tuple[pl.Expr, ...] = (pl.Text(quoted), pl.Text(node.table.text))
    if ctx.mode in (Mode.BATCH, Mode.PLAIN) and ctx.string_level == 0:
        names += (pl.TRUE if node.on else pl.FALSE,)
    return [pl.Invoke("ssb_internal.require_identity", names, ctx.database_argument())]


def _set_config(name: str, value: str) -> pl.Invoke:
    return pl.Invoke("set_config", (pl.Text(name), pl.Text(value), pl.FALSE))


def _option_calls(name: str, node: nodes.SetOption, ctx: Context) -> list[pl.Invoke]:
    if name == "LOCK_TIMEOUT":
        if node.argument is not None and node.value.lstrip("-").isdecimal():
            # -1 waits for ever, 0 does not wait at all; PostgreSQL's 0 is SQL Server's -1.
            milliseconds = int(node.value)
            if milliseconds > 2**31 - 1:
                ctx.problem(
                    f"Incorrect syntax near '{node.value}'.",
                    node.argument.span,
                    number=102,
                    hint="milliseconds, up to 2147483647",
                )
            return [_set_config("lock_timeout", f"{1 if milliseconds == 0 else max(milliseconds, 0)}ms")]
        ctx.problem("SET LOCK_TIMEOUT takes a number here", node.span)
        return []
    if name == "TRANSACTION ISOLATION LEVEL":
        # READ UNCOMMITTED does not exist in PostgreSQL; SNAPSHOT is what REPEATABLE READ does there.
        level = {"READ UNCOMMITTED": "read committed", "SNAPSHOT": "repeatable read"}.get(
            node.value, node.value.lower()
        )
        # pgsb.snapshot tells SNAPSHOT from REPEATABLE READ, and the level where PostgreSQL's is another.
        snapshot = {"SNAPSHOT": "on", "READ UNCOMMITTED": "read uncommitted"}.get(node.value, "off")
        if _holds_by_locks(node, ctx):
            level, snapshot = "read committed", level
        return [_set_config("default_transaction_isolation", level), _set_config("pgsb.snapshot", snapshot)]
    if name in ("DATEFIRST", "DATEFORMAT", "LANGUAGE") and node.argument is not None:
        (token,) = node.argument.tokens[:1]
        if token.kind is TokenKind.VARIABLE:
            given: pl.Expr = pl.Cast(ctx.value(node.argument), "text")
        else:
            alone = token.name if len(node.argument.tokens) == 1 else node.value
            given = pl.Text(string_value(token) if token.kind is TokenKind.STRING else alone)
        return [pl.Invoke("sys.set_date_option", (pl.Text(name), given))]
    if name == "CONTEXT_INFO" and node.argument is not None:
        return [pl.Invoke("sys.set_context_info", (ctx.value(node.argument),))]
    if name == "IMPLICIT_TRANSACTIONS":
        if node.on and (ctx.string_level or ctx.nesting or ctx.mode not in (Mode.BATCH, Mode.PLAIN)):
            # What follows it would ask the run time whether it begins a transaction.
            ctx.problem(
                "SET IMPLICIT_TRANSACTIONS ON in a module, dynamic SQL or a branch is not supported",
                node.span,
                hint="set it in the script, or write BEGIN TRANSACTION where a transaction begins",
            )
        return [_set_config("pgsb.implicit_transactions", "on" if node.on else "off")]
    if name in _WITHOUT_EFFECT or name.startswith("STATISTICS"):
        return []
    ctx.problem(f"'{name}' is not a recognized SET option.", node.span, number=195)
    return []


_LEVEL_HINTS = {"REPEATABLE READ": "REPEATABLEREAD", "SERIALIZABLE": "HOLDLOCK"}


def _holds_by_locks(node: nodes.SetOption, ctx: Context) -> bool:
    """In a procedure that receives let the statements from here on keep the level by locks, as in SQL Server.

    At PostgreSQL's levels of these names readers of one queue that write to one table fail beside one
    another: five times, and the queue is disabled.
    """
    if not ctx.receiving:
        return False
    hint = _LEVEL_HINTS.get(node.value, "")
    ctx.scope.level_hint = hint
    ctx.scope.changed_tables = {
        name
        for one in nodes.all_of(ctx.receiving)
        if isinstance(one, nodes.SqlStatement)
        for name in changed_tables(one.kind, one.text.tokens)
    }
    for one in nodes.all_of(ctx.receiving) if hint else ():
        if isinstance(one, nodes.Execute) and one.span.start > node.span.start and not _is_of_the_system(one):
            ctx.problems.add(
                f"What a procedure called here reads is not kept at {node.value}: in a procedure that "
                "receives messages the level is kept by locks of its own statements",
                one.span,
                hint=f"in the called procedure, write WITH ({hint}) behind tables that are to stay as read",
                severity="warning",
            )
    return bool(hint)


def _is_of_the_system(call: nodes.Execute) -> bool:
    return isinstance(call.module, nodes.QualifiedName) and is_system_procedure(call.module)


@invocations.register
def use_calls(node: nodes.Use, ctx: Context) -> list[pl.Invoke] | None:
    """USE: the names that follow are those of another T-SQL database."""
    if mentions_piece(node.database.text):
        ctx.problem("the database is known at run time only", node.span)
        return []
    ctx.catalog.database = fold(node.database.text)
    return [pl.Invoke("ssb.use_database", (pl.Text(node.database.text),))]


@lower.register
def lower_empty(node: nodes.EmptyStatement, ctx: Context) -> list[pl.Statement]:
    """A lone semicolon does nothing."""
    return []
