"""EXEC of a procedure, and INSERT … EXEC."""

from __future__ import annotations

from collections.abc import Sequence

from ...grammar.lexer import name_parts
from ...grammar.records import replace
from .. import nodes
from ..analysis.constants import plain
from ..catalog.names import fold, identifier, is_temporary
from ..catalog.objects import ColumnInfo, Expression, TableVariable
from ..catalog.scope import Procedure
from ..catalog.types import INT
from ..plpgsql import nodes as pl
from ..sql import translate
from ..sql.dml.columns import fillable
from ..sql.dml.table_variable_rows import appending_query
from ..sql.operand_types import implicit_error
from ..sql.values import Value
from ..target import nodes as n
from ..target import queries as q
from .arguments import (
    WrongArguments,
    argument_value,
    as_texts,
    converted_before,
    kind_of_kept_value,
    lower_argument,
    match_arguments,
    may_not_fit,
    narrowed,
    not_converted,
    passed_cursor,
    read_as,
    wrong_call,
)
from .context import Context, Mode
from .dispatch import lower, system_procedures
from .parameters import variable_type
from .results import sql


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

    if isinstance(node.module, nodes.Variable):
        spelled = ctx.variable(node.module)
        special = system_procedures["sp_executesql"](node, ctx)
        if special is not None:
            return special
        named = _system_name(node, node.module, ctx)
        system = system_procedures.find(named.name.text.lower()) if named is not None else None
        special = (
            system(replace(node, module=named), ctx) if system is not None and named is not None else None
        )
        if special is not None:
            return special
        name = pl.Invoke("ssb_internal.module_name", (spelled,), ctx.database_argument())
        return _execute_by_name(node, name, ctx, spelled)
    schema = node.module.schema
    if schema is None or schema.text.lower() in ("sys", "dbo", ""):
        system = system_procedures.find(node.module.name.text.lower())
        special = system(node, ctx) if system is not None else None
        if special is not None:
            return special
    module = ctx.object(node.module)
    key = ctx.catalog.key(module)
    known = ctx.catalog.procedures.get(key)
    # What a module calls may be made before it runs. In a batch a procedure of later on is not there,
    # or is another.
    is_later = ctx.catalog.to_make[key] > 0
    is_ahead = ctx.mode is Mode.BATCH and is_later and key not in ctx.catalog.begun
    missing = is_ahead or (key in ctx.catalog.gone and (ctx.mode is Mode.BATCH or not is_later))
    if known is None or missing:
        written = pl.Text(node.module.text)
        return _execute_by_name(node, pl.Text(ctx.catalog.sql_name(module)), ctx, written)
    return _execute_known(node, known, ctx)


def _system_name(node: nodes.Execute, variable: nodes.Variable, ctx: Context) -> nodes.QualifiedName | None:
    """Return the name that a variable holds, where it is known and may be a system procedure's."""
    text = plain(ctx.constants.before(node).of_variable(variable.name))
    parts = name_parts(text) if text is not None else None
    if not parts or len(parts) > 3 or (len(parts) > 1 and parts[-2].lower() not in ("sys", "dbo", "")):
        return None
    name, schema, database = [
        nodes.Identifier(span=variable.span, text=part) if part else None
        for part in [*parts[::-1], "", ""][:3]
    ]
    if name is None:
        return None
    return nodes.QualifiedName(span=variable.span, name=name, schema=schema, database=database)


def _execute_known(node: nodes.Execute, procedure: Procedure, ctx: Context) -> list[pl.Statement]:
    """A call of a procedure whose parameters the script tells."""
    try:
        chosen = match_arguments(node, procedure)
    except WrongArguments as error:
        return wrong_call(node, procedure.name.name, error, ctx)
    for parameter in procedure.parameters:
        given_to = chosen.get(parameter.name.lower())
        if given_to is not None and given_to.value is not None:
            wrong = not_converted(given_to.value, parameter.type, ctx)
            if wrong is not None:
                return wrong_call(node, procedure.name.name, wrong, ctx)
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
                scratch = ctx.helper(f"no_{fold(parameter.name)}", variable_type(parameter))
                given: pl.Expr = pl.NULL
                if parameter.default is not None:
                    given = argument_value(parameter.default, parameter.type, ctx)
                before.append(pl.Assign(scratch, given))
                value: pl.Expr = pl.Name(scratch)
            else:
                positional = False
                continue
        else:
            value = lower_argument(argument, parameter, ctx, before, after)
            if may_not_fit(value, argument.value, parameter, ctx):
                value = converted_before(value, argument.value, parameter, procedure, ctx, checked)
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
    asked, told = ctx.around_call()
    use, leave = _in_its_database(node, ctx)
    asked, told = [*asked, *use], [*leave, *told]
    given_back = ctx.guard(node, after) if after else []
    called = _where_there(call, node, ctx)
    return [*prepared, *asked, called, *told, *given_back, *_return_code(node, ctx), ctx.leave_if_failed()]


def _where_there(call: pl.Call, node: nodes.Execute, ctx: Context) -> pl.Call | pl.If:
    """What is gone when a module runs is error 2812 of its EXEC: no block around a CALL could catch it."""
    if ctx.mode is Mode.BATCH and not ctx.string_level:
        return call
    assert not isinstance(node.module, nodes.Variable)
    missing = pl.Invoke(
        "ssb_internal.missing_procedure",
        (pl.Name(ctx.session), pl.Number(ctx.line(node)), pl.Text(node.module.text)),
    )
    name = n.Text(call.procedure)
    alone = n.IsNull(n.Call("to_regproc", (name,)), negated=True)
    # to_regproc tells of a name that others have taken too as little as of one that is gone.
    there = n.AnyOf((alone, n.Call("ssb_internal.is_overloaded", (name,))))
    return pl.If(((pl.Raw(there), (call,)),), (pl.Assign(ctx.session, missing),))


def _in_its_database(node: nodes.Execute, ctx: Context) -> tuple[list[pl.Statement], list[pl.Statement]]:
    """Return what stands around the call of another database's procedure, which reads its own catalog."""
    assert not isinstance(node.module, nodes.Variable)
    if node.module.database is None or ctx.catalog.is_current(node.module.database.text):
        return [], []
    used = ctx.helper("database_used", "text")
    setting = pl.Invoke("current_setting", (pl.Text("pgsb.database"), pl.TRUE))
    named = pl.Text(node.module.database.text)
    return (
        [
            pl.Assign(used, setting),
            pl.Perform(pl.Invoke("ssb_internal.return_to_database", (named,))),
        ],
        [pl.Perform(pl.Invoke("ssb_internal.return_to_database", (pl.Name(used),)))],
    )


def _guarded(before: list[pl.Statement], node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    simple = all(
        isinstance(s, pl.Assign) and isinstance(s.value, pl.Constant | pl.Name | pl.Text) for s in before
    )
    return before if simple else ctx.guard(node, before)


def _return_code(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    if node.return_variable is None:
        return []
    variable = ctx.variable(node.return_variable)
    code = f"{ctx.session}.return_code"
    known = ctx.scope.variable(node.return_variable.name)
    if known is None or known.type.postgres_bare in ("integer", "bigint"):
        return [pl.Assign(variable.spelling, pl.Invoke("coalesce", (pl.Name(code), variable)))]
    if error := implicit_error(Value(n.Variable(code), INT), known.type):
        ctx.problem(error[1], node.return_variable.span, number=error[0])
        return []
    given = pl.Raw(n.IsNull(n.Variable(code), negated=True))
    value = translate.convert_expression(Expression(n.Variable(code), INT), known.type)
    return ctx.guard(node, [pl.If(((given, (pl.Assign(variable.spelling, pl.Raw(value.code)),)),))])


def _execute_by_name(node: nodes.Execute, name: pl.Expr, ctx: Context, shown: pl.Expr) -> list[pl.Statement]:
    """A procedure that only the run time knows: ssb_internal.execute looks its parameters up.

    Arguments travel as text: their names, OUTPUT marks and values in arrays.
    """
    values = ctx.helper("arguments", "text[]")
    names: list[str] = []
    texts: list[pl.Expr] = []
    strings: list[pl.Expr] = []
    after: list[pl.Statement] = []
    for number, argument in enumerate(node.arguments, 1):
        mark = argument.name.name if argument.name else ""
        if argument.value is None:
            names.append(f"{mark} DEFAULT")
            texts.append(pl.NULL)
            strings.append(pl.NULL)
            continue
        passed = as_texts(argument.value, ctx)
        output = " OUTPUT" if argument.output else ""
        names.append(f"{mark}{output} OF {passed.source}" if passed.source else f"{mark}{output}")
        texts.append(passed.exact)
        strings.append(passed.as_string or pl.NULL)
        if argument.output:
            variable = ctx.scope.variable(argument.value.alone)
            cursor = passed_cursor(argument.value, ctx)
            given = n.Element(n.Variable(values), n.Integer(number))
            if cursor is not None:
                after.append(pl.Assign(cursor, pl.Raw(given)))
            elif variable is not None:
                type_ = variable.type
                back = narrowed(n.Cast(given, read_as(type_).postgres), type_)
                after.append(pl.Assign(variable.reference, pl.Raw(back)))
    if any(string != pl.NULL for string in strings):
        texts += strings
    before = [pl.Assign(values, pl.Array(tuple(texts), "text"))]
    marks = pl.Array(tuple(pl.Text(text) for text in names), "text")
    session = pl.Name(ctx.session)
    line = pl.Number(ctx.line(node))
    call: pl.Statement = pl.Call("ssb_internal.execute", (name, marks, pl.Name(values), session, line, shown))
    written_out = _call_where_doomed(node, name, values, ctx)
    if written_out is not None:
        can_be = pl.Invoke("ssb_internal.can_call_where_doomed", (session, name, marks, shown))
        call = pl.If(((can_be, written_out),), (call,))
    asked, told = ctx.around_call()
    prepared = [*ctx.guard(node, before), *asked]
    given_back = ctx.guard(node, after) if after else []
    return [*prepared, call, *told, *given_back, *_return_code(node, ctx), ctx.leave_if_failed()]


_PASSED_AS_THEY_ARE = frozenset(
    {"string", "integer", "decimal", "float", "datetime", "uniqueidentifier", "bit", "binary"}
)
"""Families of types whose values a CALL passes without more ado."""


def _call_where_doomed(
    node: nodes.Execute, name: pl.Expr, values: str, ctx: Context
) -> tuple[pl.Statement, ...] | None:
    """Return the CALL written out, for a transaction that can only be rolled back: the procedure may do that.

    There nothing can be written that has a CALL in it (modules/execute.sql), so the caller has it, in CATCH,
    for what the script tells: the procedure's name and the arguments' types. The run time says whether the
    procedure takes them as they are. None where the script does not tell.
    """
    if not ctx.catches or ctx.mode not in (Mode.BATCH, Mode.PROCEDURE) or ctx.savepoints:
        return None
    if not isinstance(name, pl.Text) or name.value.startswith("pg_temp."):
        return None
    passed: list[str] = []
    given: list[pl.Statement] = []
    named: list[tuple[str, pl.Expr]] = []
    for argument in node.arguments:
        type_ = as_texts(argument.value, ctx).type if argument.value is not None else None
        if argument.value is None or type_ is None or type_.family not in _PASSED_AS_THEY_ARE:
            return None
        passed.append(ctx.helper(f"passed_{len(passed) + 1}", type_.postgres_bare))
        given.append(pl.Assign(passed[-1], argument_value(argument.value, type_, ctx)))
        if argument.name is not None:
            named.append((identifier(argument.name.name.removeprefix("@")), pl.Name(passed[-1])))
    positional = tuple(map(pl.Name, passed[: len(passed) - len(named)]))
    call = pl.Call(name.value, positional, (*named, ("session", pl.Name(ctx.session))))
    if not any(argument.output for argument in node.arguments):
        return (*given, call)
    back = pl.Array(tuple(pl.Cast(pl.Name(one), "text") for one in passed), "text")
    return (*given, call, pl.Assign(values, back))


@lower.register
def lower_insert_execute(node: nodes.InsertExecute, ctx: Context) -> list[pl.Statement]:
    """INSERT … EXEC: result sets are kept in the session while EXEC runs, then inserted.

    All of it is one statement: where the rows cannot be inserted, what EXEC did is undone too.
    """
    target = translate.translate_insert_target(node.target, ctx.scope, ctx.problems)
    if target is None or ctx.scope.session is None:
        return []
    session = pl.Name(ctx.session)
    calls = lower(node.execute, ctx)
    if calls and isinstance(calls[-1], pl.Exit | pl.If):
        calls.pop()
    arguments = _evaluates_arguments(calls)
    if target.table_variable is not None:
        captured = _insert_captured_rows(target.table_variable, target.columns, ctx)
        insert = [*map(sql, target.before), *captured]
    else:
        columns: pl.Expr = pl.NULL
        if target.columns is not None:
            columns = pl.Array(tuple(pl.Text(fold(column.name)) for column in target.columns), "text")
        named: tuple[tuple[str, pl.Expr], ...] = (("overriding", pl.TRUE),) if target.overriding else ()
        types = [column.type for column in target.columns or ()]
        if is_temporary(target.target) and any(type_ and type_.is_narrower_here for type_ in types):
            # No comment of a temporary table's column tells its type.
            words = ["" if type_ is None else type_.kept for type_ in types]
            told = pl.Array(tuple(pl.NULL if word is None else pl.Text(word) for word in words), "text")
            named = (*named, ("types", told))
        call = pl.Invoke("ssb_internal.insert_captured", (session, pl.Text(target.target), columns), named)
        counted = ctx.counted_rows()
        insert = [*map(sql, target.before), pl.Assign(ctx.session, call)]
        insert += ctx.note_identity(target.target, counted)
        insert += ctx.tell(target.target, counted)
    succeeded = pl.Assign(f"{ctx.session}.error", pl.Number(0))
    (inserted,) = ctx.guard(node, [*insert, *ctx.show_count(), succeeded], verb="INSERT")
    assert isinstance(inserted, pl.Block) and inserted.handler is not None
    # It is left below, once its transaction has ended.
    inserted = replace(inserted, handler=inserted.handler[:-1])
    after_call: list[pl.Statement] = [
        pl.Assign(f"{ctx.session}.capturing", pl.FALSE),
        pl.If(((pl.not_set(f"{ctx.session}.leaving"), (inserted,)),)),
    ]
    behind: list[pl.Statement] = []
    if any(map(_may_call_nothing, calls)) and ctx.liveness.after(node).error:
        # The error of an EXEC that did not come to its end is that of the statement, though no row was wrong.
        failed_with = ctx.helper("failed_with", "integer")
        error = n.Variable(f"{ctx.session}.error")
        came_to_no_end = n.IsNull(n.Variable(f"{ctx.session}.return_code"))
        kept = n.Case(((came_to_no_end, error),), default=n.Integer(0))
        after_call.insert(0, pl.Assign(failed_with, pl.Raw(kept)))
        succeeded_with = pl.with_number(f"{ctx.session}.error", "=", 0)
        behind = [pl.If(((succeeded_with, (pl.Assign(f"{ctx.session}.error", pl.Name(failed_with)),)),))]
    if ctx.mode not in (Mode.BATCH, Mode.PROCEDURE) or 0 not in ctx.depths.before(node):
        begin = pl.Assign(ctx.session, pl.Invoke("ssb_internal.begin_capture", (session,)))
        running = [begin, *calls[arguments:], *after_call, *behind]
    else:
        alone = ctx.helper("alone", "boolean")
        running = [
            pl.Assign(alone, ctx.session_field("autocommit")),
            pl.Assign(ctx.session, pl.Invoke("ssb_internal.begin_insert_execute", (session,))),
            *calls[arguments:],
            *after_call,
            pl.Call("ssb_internal.end_insert_execute", (session, pl.Name(alone))),
            *behind,
        ]
    if ctx.mode is not Mode.BATCH or ctx.string_level:
        # Another one may run the module or string that this stands in.
        refuse = pl.Invoke("ssb_internal.refuse_nested_insert", (session, pl.Number(ctx.line(node))))
        within = ctx.session_field("capturing")
        running = [pl.If(((within, (pl.Assign(ctx.session, refuse),)),), tuple(running))]
    return [*calls[:arguments], *running, ctx.leave_if_failed()]


def _may_call_nothing(statement: pl.Statement) -> bool:
    """Whether a statement calls a procedure that may be missing, or not take the arguments, when it runs."""
    if isinstance(statement, pl.If):
        return True  # _where_there, and what is written out for a transaction that can only be rolled back
    return isinstance(statement, pl.Call) and statement.procedure == "ssb_internal.execute"


def _evaluates_arguments(calls: Sequence[pl.Statement]) -> int:
    """Return how many of EXEC's statements only evaluate its arguments, each in a block that may fail."""
    count = 0
    for number, statement in enumerate(calls, 1):
        if isinstance(statement, pl.Block) and statement.handler:
            count = number
        elif not isinstance(statement, pl.Assign):
            break
    return count


def _insert_captured_rows(
    table: TableVariable, named: Sequence[ColumnInfo] | None, ctx: Context
) -> list[pl.Statement]:
    """Append the kept rows to a table variable."""
    columns = list(named) if named is not None else fillable(table.info.columns)
    values = [_captured_value(number, column) for number, column in enumerate(columns)]
    width = (n.Variable(f"{ctx.session}.captured"), n.Integer(len(columns)))
    rows = n.Call("unnest", (n.Call("ssb_internal.captured_of_width", width),))
    query = appending_query(table, f"@{table.reference}", columns, values, q.Aliased(rows, "r"))
    insert = pl.SelectInto(query, (table.reference, f"{ctx.session}.rowcount"))
    return [insert, *ctx.note_last_identity(table, n.Variable(f"{ctx.session}.rowcount"))]


def _captured_value(number: int, column: ColumnInfo) -> n.Node:
    """A kept cell as a value of a column: what came as bytes is text or xml there."""
    type_ = column.type
    if type_ is None:
        return n.infix("->>", n.Name(("r",)), n.Integer(number))
    read = read_as(type_)
    cell = n.infix("->", n.Name(("r",)), n.Integer(number))
    value = n.Call("ssb_internal.captured_value", (cell, n.Text(kind_of_kept_value(read))))
    if type_.family == "binary":
        return n.Cast(value, type_.unlimited.postgres)  # what is too long is an error
    return narrowed(n.Cast(value, read.unlimited.postgres), type_)
