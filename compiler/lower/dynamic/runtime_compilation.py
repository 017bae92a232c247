"""EXEC and sp_executesql of a text that only the run time knows.

No T-SQL can be translated in the server.  So the compiled script hands the text to
ssb_internal.execute_text (session/runtime_compiled_sql.sql), which asks the client that runs the script; it
compiles it with :func:`compile_at_run_time` and sends back PostgreSQL text, which the session
then runs as a procedure of its own in pg_temp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from ....grammar.lexer import bracketed, lex
from ....grammar.problems import Problems
from ....grammar.records import dataclass, replace
from ....grammar.source import Source, Span
from ... import nodes
from ...analysis.callees import call_effect, callee_reads
from ...analysis.declared_types import variable_names
from ...analysis.live_status import BOTH, Status
from ...analysis.structured_jumps import structured
from ...analysis.transaction_depth import ANY, Depths
from ...builder.batches import parse_script
from ...catalog.names import ObjectName, behind_use_first, fold
from ...catalog.objects import ColumnInfo, Expression, names_of_columns
from ...catalog.scope import Catalog, Scope, TableType, UnknownType, sets_row_limit
from ...catalog.types import NVARCHAR_MAX, SqlType
from ...plpgsql import emit
from ...plpgsql import nodes as pl
from ...sql.translate import convert_expression, translate_table_variable
from ...target import nodes as n
from ..arguments import Texts, as_texts, raises_unfit, type_not_converted
from ..context import SESSION_TYPE, Context, Mode
from ..leaving import as_another, end_of_savepoints, kept_settings, leave_if_nested_too_deep
from ..routines import lower_text_body

ROUTINE = "pg_temp.ssb_text"
"""What ssb_internal.execute_text calls."""


_TABLE = "TABLE "
"""Begins a mark that tells a table instead of an argument."""


# ------------------------------------------------------------------ in the script


def lower_runtime_compiled(
    node: nodes.Statement,
    text: nodes.SqlText,
    definition: nodes.SqlText | None,
    arguments: Sequence[nodes.Argument],
    ctx: Context,
    *,
    levels: int = 1,
    certain: bool = True,
    prefix: pl.Expr | None = None,
) -> list[pl.Statement]:
    """Lower the statement to a call of ssb_internal.execute_text; arguments travel as text, as for execute.

    ``prefix``: what the text begins with, USE of a database.
    ``certain``: it will come to that, not only for some values of the text's parts.
    """
    if certain:
        ctx.problems.add(
            "the text of this dynamic SQL is not known before the program runs: it can run under `pgsb run` "
            "and `pgsb broker`, which translate it then",
            ctx.own_text_at or text.span,
            severity="warning",
        )
    wanted = ctx.helper("dynamic_text", "text")
    values = ctx.helper("arguments", "text[]")
    marks: list[pl.Expr] = []
    texts: list[pl.Expr] = []
    after: list[pl.Statement] = []
    for number, argument in enumerate(arguments, 1):
        name = argument.name.name if argument.name else ""
        passed = as_texts(argument.value, ctx) if argument.value is not None else Texts(pl.NULL)
        output = " OUTPUT" if argument.output else ""
        marks.append(pl.Text(f"{name}{output} OF {passed.type.text}" if passed.type else f"{name}{output}"))
        texts.append(passed.exact)
        if argument.output and argument.value is not None:
            variable = ctx.scope.variable(argument.value.alone)
            if variable is not None:
                given = n.Element(n.Variable(values), n.Integer(number))
                after.append(pl.Assign(variable.reference, pl.Raw(n.Cast(given, variable.type.postgres))))
    marks += [pl.Text(mark) for mark in _marks_of_tables(ctx)]
    parameters: pl.Expr = pl.NULL if definition is None else ctx.value(definition, NVARCHAR_MAX)
    whole = _whole(node, text, ctx)
    before = [
        pl.Assign(wanted, whole if prefix is None else pl.Invoke("concat", (prefix, whole))),
        pl.Assign(values, pl.Array(tuple(texts), "text")),
    ]
    call = pl.Call(
        "ssb_internal.execute_text",
        (
            pl.Name(wanted),
            parameters,
            pl.Array(tuple(marks), "text"),
            pl.Name(values),
            pl.Name(ctx.session),
            pl.Number(ctx.line(node)),
            pl.Number(levels),
        ),
    )
    return [*ctx.guard(node, before), *as_another(node, [call], ctx), *after, ctx.leave_if_failed()]


def _marks_of_tables(ctx: Context) -> list[str]:
    """Tell the client the temporary tables of the body: the server keeps neither spellings nor all types."""
    own = [
        table
        for key, table in ctx.catalog.tables.items()
        if ctx.catalog.sql_name(ObjectName(key[1])) in ctx.temporary_tables
    ]
    marks = []
    for table in own:
        columns = [_declaration(column) for column in table.columns]
        if table.name is not None and not table.partial and None not in columns:
            marks.append(f"{_TABLE}{bracketed(table.name.name)} ({', '.join(filter(None, columns))})")
    return marks


def _declaration(column: ColumnInfo) -> str | None:
    """Return a column as CREATE TABLE declares it; None where its type is unknown."""
    if column.type is None or column.type.family == "user" or column.type.collection is not None:
        return None
    name = bracketed(column.name)
    if column.computed is not None:
        return f"{name} AS CAST(NULL AS {column.type.text})"
    identity = " IDENTITY" if column.identity else ""
    return f"{name} {column.type.text}{identity} {'NULL' if column.nullable else 'NOT NULL'}"


def _whole(node: nodes.Statement, text: nodes.SqlText, ctx: Context) -> pl.Expr:
    """Return the text. EXEC ('…' + @v) is no expression: it joins parts of any type, NULL as nothing."""
    starts = [0]
    if isinstance(node, nodes.ExecuteString):
        depth = 0
        for index, token in enumerate(text.tokens):
            depth += (token.word == "(") - (token.word == ")")
            if token.text == "+" and depth == 0:
                starts.append(index + 1)
    if len(starts) == 1:
        return ctx.value(text, NVARCHAR_MAX)
    parts = []
    for start, end in zip(starts, [*(start - 1 for start in starts[1:]), len(text.tokens)], strict=True):
        tokens = text.tokens[start:end]
        if not tokens:
            ctx.problem("Incorrect syntax near '+'.", text.span, number=102)
            return pl.NULL
        span = Span(text.span.source, tokens[0].start, tokens[-1].end)
        parts.append(ctx.value(nodes.SqlText(span=span, tokens=tokens), NVARCHAR_MAX))
    return pl.Invoke("concat", tuple(parts))


# ------------------------------------------------------------------ in the client


@dataclass(frozen=True)
class RuntimeCompiledText:
    """What a session asks to be translated.

    ``parameters`` declares them as sp_executesql has it; ``marks`` are the arguments,
    ``[@name][ OUTPUT][ OF type]`` each, the type T-SQL's; without one it is the parameter's. Behind them
    stand the body's temporary tables, ``TABLE #name (columns)`` each.
    ``level`` is @@NESTLEVEL inside the text, ``levels`` by how much it grows.
    """

    text: str
    parameters: str | None
    marks: tuple[str, ...]
    database: str
    level: int
    levels: int


class RuntimeCompilationError(Exception):
    """The text cannot run; number, message and line as SQL Server gives them."""

    def __init__(self, number: int, message: str, line: int = 1) -> None:
        """Keep them."""
        super().__init__(message)
        self.number = number
        self.message = message
        self.line = line


@dataclass(frozen=True)
class _Parameter:
    name: str
    type: SqlType
    output: bool
    table: TableType | None
    """Its type, where that is of tables: the argument is the text of an array of rows."""
    written: str
    """The type as it is declared."""


def compile_at_run_time(request: RuntimeCompiledText, catalog: Catalog) -> tuple[str, ...]:
    """Return the statements that make ROUTINE, in order. Raises RuntimeCompilationError.

    What the text defines and the database it changes to stay in ``catalog`` only as far as
    they outlive it in the server: the definitions, not the database.
    """
    database = catalog.database
    catalog.database = request.database.lower()
    tables = [mark for mark in request.marks if mark.startswith(_TABLE)]
    request = replace(request, marks=tuple(mark for mark in request.marks if mark not in tables))
    try:
        for mark in tables:
            _know_better(mark.removeprefix(_TABLE), catalog)
        problems = Problems()
        parameters = _parameters(request, catalog, problems)
        text = request.text
        if parameters:
            # On the first line, so that the lines of the text stay what they are.
            declared = ", ".join(f"@{parameter.name} {parameter.written}" for parameter in parameters)
            text = f"DECLARE {declared}; {text}"
        source = Source(
            "dynamic SQL",
            text,
            quoted_identifiers=catalog.quoted_identifiers,
            begins=len(text) - len(behind_use_first(request.text)),
            is_one_batch=True,
        )
        script = parse_script(source, problems)
        _raise_first(problems)
        statements = tuple(statement for batch in script.batches for statement in batch.statements)
        if parameters:
            statements = statements[1:]
        routine, prelude = _routine(request, statements, parameters, catalog, problems)
        _raise_first(problems)
        return (*(emit.top_level(item) for item in prelude), emit.top_level(routine))
    finally:
        catalog.database = database


def _know_better(declared: str, catalog: Catalog) -> None:
    """Take columns as the body declares them, ``#name (columns)``, where the server has such ones."""
    source = Source("temporary table", declared)
    problems = Problems()
    name, *tokens = lex(source, problems)
    text = nodes.SqlText(span=source.span(0, len(declared)), tokens=tuple(tokens))
    info = translate_table_variable(text, name.text, Scope(catalog), problems)
    key = catalog.key(ObjectName(name.name))
    known = catalog.tables.get(key)
    if info is None or known is None:
        return
    columns = info.columns
    if names_of_columns(known) != names_of_columns(info):  # ALTER TABLE has changed it
        declared_as = {fold(column.name): column for column in columns}
        columns = tuple(_as_declared(column, declared_as.get(fold(column.name))) for column in known.columns)
    catalog.tables[key] = replace(known, name=ObjectName(name.name), columns=columns)


def _as_declared(column: ColumnInfo, declared: ColumnInfo | None) -> ColumnInfo:
    """Return a column of the server's as it is declared, its name alone where it is of another type."""
    if declared is None:
        return column
    if column.type is None or declared.type is None or column.type.postgres != declared.type.postgres:
        return replace(column, name=declared.name)
    return declared


def _raise_first(problems: Problems) -> None:
    for problem in problems.errors:
        raise RuntimeCompilationError(problem.number or 102, problem.message, problem.span.line)


def _parameters(request: RuntimeCompiledText, catalog: Catalog, problems: Problems) -> tuple[_Parameter, ...]:
    """Read the declaration of the parameters as that of a procedure."""
    if not (request.parameters or "").strip():
        return ()
    source = Source("parameters of sp_executesql", f"CREATE PROCEDURE p {request.parameters} AS RETURN")
    script = parse_script(source, problems)
    _raise_first(problems)
    procedure = script.batches[0].statements[0]
    assert isinstance(procedure, nodes.CreateProcedure)
    result = []
    for place, parameter in enumerate(procedure.parameters, 1):
        table = catalog.table_type_of(parameter.type)
        try:
            type_ = NVARCHAR_MAX if table is not None else catalog.type_of(parameter.type, place)
        except UnknownType as unknown:
            raise RuntimeCompilationError(unknown.number, str(unknown)) from None
        written = parameter.type.span.text if table is not None else type_.text
        name = parameter.variable.name.removeprefix("@")
        result.append(_Parameter(name, type_, parameter.output, table, written))
    return tuple(result)


def _type_of(written: str, catalog: Catalog) -> SqlType:
    """Return the type of an argument."""
    request = RuntimeCompiledText("", f"@p {written}", (), "", 0, 0)
    return _parameters(request, catalog, Problems())[0].type


@dataclass(frozen=True)
class _Place:
    """The argument of a parameter."""

    number: int
    output: bool
    """It is marked so."""
    type: SqlType | None
    """None: its text is of the parameter's type."""


def _places(
    request: RuntimeCompiledText, parameters: Sequence[_Parameter], catalog: Catalog
) -> dict[str, _Place]:
    """Return the argument of each parameter."""
    known = {parameter.name.lower() for parameter in parameters}
    result: dict[str, _Place] = {}
    for number, mark in enumerate(request.marks, 1):
        written, _, source = mark.partition(" OF ")
        name, _, output = written.partition(" ")
        key = name.removeprefix("@").lower()
        if not name:
            if number > len(parameters):
                raise RuntimeCompilationError(
                    8144, "Procedure or function  has too many arguments specified."
                )
            key = parameters[number - 1].name.lower()
        elif key not in known:
            raise RuntimeCompilationError(8145, f"{name} is not a parameter for procedure .")
        if key in result:
            raise RuntimeCompilationError(8143, f"Parameter '@{key}' was supplied multiple times.")
        result[key] = _Place(number, output == "OUTPUT", _type_of(source, catalog) if source else None)
    for parameter in parameters:
        if parameter.name.lower() not in result:
            if parameter.table is not None:
                continue  # it has no rows
            raise RuntimeCompilationError(
                8178,
                f"The parameterized query '({request.parameters}){request.text[:100]}' expects the parameter "
                f"'@{parameter.name}', which was not supplied.",
            )
        given = result[parameter.name.lower()].type
        if parameter.table is not None and given is not None:
            raise RuntimeCompilationError(
                206, f"Operand type clash: {given.name} is incompatible with {parameter.written}"
            )
        wrong = type_not_converted(given, parameter.type)
        if wrong is not None:
            raise RuntimeCompilationError(wrong.number, wrong.message)
    return result


def _converted(value: Expression, target: SqlType) -> pl.Expr:
    return pl.Raw(value.code if value.type == target else convert_expression(value, target).code)


@dataclass
class _Exchange:
    """How parameters become variables of a routine that gets the caller's values as text, and go back."""

    declared: list[pl.Declaration] = field(default_factory=list)
    reads: list[pl.Statement] = field(default_factory=list)
    writes: list[pl.Statement] = field(default_factory=list)


def _exchange(
    parameters: Sequence[_Parameter], places: Mapping[str, _Place], values: str, scope: Scope
) -> _Exchange:
    """Declare the parameters; ``values`` is the variable with the caller's, which have their ``places``."""
    taken = _Exchange()
    for parameter in parameters:
        place = places.get(parameter.name.lower())
        if parameter.table is not None:
            rows = f"{parameter.table.row_type}[]"
            table = scope.declare_table(
                f"@{parameter.name}", parameter.table.row_type, parameter.table.info, read_only=True
            )
            taken.declared.append(pl.Declaration(table.reference, rows, pl.NO_ROWS))
            if place is not None:
                cell = n.Element(n.Variable(values), n.Integer(place.number))
                taken.reads.append(pl.Assign(table.reference, pl.Raw(n.Cast(cell, rows))))
            continue
        assert place is not None
        cell = n.Element(n.Variable(values), n.Integer(place.number))
        source = place.type or parameter.type
        variable = scope.declare(f"@{parameter.name}", parameter.type)
        taken.declared.append(pl.Declaration(variable.reference, parameter.type.postgres))
        given = Expression(n.Cast(cell, source.postgres), source)
        read = pl.Assign(variable.reference, _converted(given, parameter.type))
        is_as_it_was = source.postgres == parameter.type.postgres
        taken.reads.append(read if is_as_it_was else raises_unfit(read, source, parameter.type))
        if place.output and parameter.output:
            result = _converted(Expression(n.Variable(variable.reference), parameter.type), source)
            taken.writes.append(pl.Assign(cell, pl.Cast(result, "text")))
    return taken


def _routine(
    request: RuntimeCompiledText,
    statements: tuple[nodes.Statement, ...],
    parameters: Sequence[_Parameter],
    catalog: Catalog,
    problems: Problems,
) -> tuple[pl.Routine, list[pl.TopLevel]]:
    """Return a procedure over text[] without INOUT parameters.

    The text may roll back the very transaction that made the procedure, and PostgreSQL looks
    result types up after a call; results come back in a setting.
    """
    label = "string_1"
    names = {fold(name.lstrip("@")) for name in variable_names(statements)}
    names |= {fold(parameter.name) for parameter in parameters}
    session = next(word for word in ("session", "ssb_session", "ssb_session_") if word not in names)
    scope = Scope(catalog, label=label)
    scope.reserve(variable_names(statements))
    scope.reserve(f"@{parameter.name}" for parameter in parameters)
    scope.taken |= {label, session}
    scope.session = session
    scope.limits_rows = sets_row_limit(statements)
    scope.row_type_prefix = f"text_{request.level}@"
    statements = structured(statements)
    ctx = Context(
        catalog=catalog,
        scope=scope,
        problems=problems,
        mode=Mode.BATCH,
        first_line=1,
        depths=Depths(statements, ANY, call_effect(catalog), careful=True),
        liveness=Status(statements, BOTH, callee_reads(catalog)),
        body_label=label,
        text=statements[0].span.source.own_text if statements else None,
    )
    ctx.string_level = 1
    if any(parameter.output for parameter in parameters):
        # The label of the block with the declarations qualifies names; errors leave the one inside.
        ctx.body_label = f"{label}_body"
    values = ctx.scope.helper("arguments")
    caller = ctx.scope.helper("caller")
    taken = _exchange(parameters, _places(request, parameters, catalog), values, scope)
    body: list[pl.Statement] = [leave_if_nested_too_deep(ctx.body_label, session)]
    failed = pl.Invoke(
        "ssb_internal.failed", (pl.Name(session), pl.Number(1), pl.Name("SQLSTATE"), pl.Name("SQLERRM"))
    )
    if taken.reads:
        # Without its values the text does not run, whatever the error ends.
        handler = (pl.Assign(session, failed), pl.Exit(ctx.body_label))
        body.append(pl.Block(tuple(taken.reads), handler=handler))
    body += lower_text_body(statements, ctx)
    declarations = (*taken.declared, *ctx.declarations.values())
    if ctx.body_label != label:
        whole = pl.Block(tuple(body), label=ctx.body_label)
        given_back = pl.Block(tuple(taken.writes), handler=(pl.Assign(session, failed),))
        came_to_its_end = pl.If(((pl.not_set(f"{session}.leaving"), (given_back,)),))
        body = [whole, came_to_its_end] if taken.writes else [whole]
    name = pl.Name(session)
    keep, put_back = kept_settings(statements, ctx)
    outer: list[pl.Statement] = [
        pl.Assign(session, pl.Invoke("ssb_internal.enter_string", (name, pl.Number(request.levels)))),
        *keep,
        pl.Block(tuple(body), label=label, declarations=declarations),
    ]
    outer += [*end_of_savepoints(ctx), *put_back, *ctx.drop_temporary_tables()]
    outer.append(pl.Assign(session, pl.Invoke("ssb_internal.leave", (name, pl.Name(caller)))))
    answer = pl.Array((pl.Cast(name, "text"), pl.Cast(pl.Name(values), "text")), "text")
    outer.append(
        pl.Perform(pl.Invoke("set_config", (pl.Text("pgsb.answer"), pl.Cast(answer, "text"), pl.FALSE)))
    )
    block = pl.Block(
        tuple(outer),
        declarations=(
            pl.Declaration(caller, SESSION_TYPE, name),
            *ctx.frame.declarations.values(),
        ),
    )
    routine = pl.Routine(
        ROUTINE,
        (pl.Parameter(values, "text[]"), pl.Parameter(session, SESSION_TYPE)),
        block,
        tag="text",
    )
    return routine, ctx.prelude
