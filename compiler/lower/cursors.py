"""Cursors.

OPEN reads all rows into an array of text, one inner array a row, and FETCH moves a position in
it.  So a cursor lives through COMMIT and ROLLBACK, as T-SQL's does, and scrolls; it does not
see changes made after OPEN (T-SQL: a STATIC cursor).  Values return to their types on FETCH.

For cursor ``c`` there are ``c_rows`` and ``c_at``: NULL before DECLARE and after DEALLOCATE,
−1 closed, 0 before the first row, one more than the number of rows behind the last.

A cursor that others may use is kept by the session instead (session/kept_cursors.sql): one declared
GLOBAL, one that its routine does not deallocate itself, and one that is declared elsewhere, in
dynamic SQL for example.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...grammar.tokens import RESERVED_WORDS, Token, TokenKind
from .. import nodes
from ..analysis.cursor_rows import with_row_place
from ..catalog.names import fold
from ..catalog.objects import Expression, ResultColumn
from ..catalog.scope import Cursor
from ..catalog.types import INT, SqlType
from ..plpgsql import nodes as pl
from ..sql import translate
from ..sql.translate import convert_expression
from ..target import nodes as n
from ..target import queries as q
from .arguments import kind_of_kept_value
from .context import Context
from .dispatch import lower
from .results import columns_json

_SCROLLING = frozenset({"SCROLL", "STATIC", "KEYSET", "DYNAMIC", "INSENSITIVE"})
_READ_ONLY = frozenset({"READ_ONLY", "STATIC", "INSENSITIVE", "FAST_FORWARD"})


def declare_cursor_variable(variable: nodes.Variable, ctx: Context) -> None:
    """Declare ``@c CURSOR``; one that is handed to a procedure is a name by which the session keeps it."""
    name = variable.name.lstrip("@")
    if variable.key in ctx.passed_cursors:
        reference = ctx.new_variable(fold(name), "text")
        ctx.scope.cursor_variables[variable.key] = Cursor(
            name, "", "", key=n.Variable(reference), shown=variable.name
        )
    else:
        cursor = ctx.scope.cursor_variables[variable.key] = _new_cursor(name, ctx)
        cursor.shown = variable.name


def declare_cursor_parameter(variable: nodes.Variable, reference: str, ctx: Context) -> None:
    """Declare ``@c CURSOR VARYING OUTPUT``."""
    name = variable.name.lstrip("@")
    ctx.scope.cursor_variables[variable.key] = Cursor(
        name, "", "", key=n.Variable(reference), shown=variable.name
    )


def passed_cursors(body: Sequence[nodes.Statement]) -> frozenset[str]:
    """Return the variables (their keys) that stand alone as OUTPUT arguments of procedures."""
    result: set[str] = set()
    for statement in nodes.all_of(body):
        if isinstance(statement, nodes.Execute):
            for argument in statement.arguments:
                if argument.output and argument.value is not None and len(argument.value.tokens) == 1:
                    result.add(argument.value.tokens[0].text.lower())
    return frozenset(result)


def _new_cursor(name: str, ctx: Context) -> Cursor:
    rows = ctx.new_variable(f"{fold(name)}_rows", "text[]")
    at = ctx.new_variable(f"{fold(name)}_at", "integer")
    return Cursor(name, rows, at)


def _kept(name: str) -> Cursor:
    return Cursor(name, "", "", key=n.Text(fold(name)))


def _is_kept(name: str, definition: nodes.CursorDefinition, ctx: Context) -> bool:
    """Whether others may use the cursor; WHERE CURRENT OF wants it here."""
    key = fold(name)
    if "LOCAL" in definition.options or key in ctx.located_cursors:
        return False
    return "GLOBAL" in definition.options or key not in ctx.deallocated_cursors


def deallocated_cursors(body: Sequence[nodes.Statement]) -> frozenset[str]:
    """Return the cursors that a body deallocates by name."""
    return frozenset(
        fold(statement.cursor.name.text)
        for statement in nodes.all_of(body)
        if isinstance(statement, nodes.DeallocateCursor)
        and isinstance(statement.cursor.name, nodes.Identifier)
    )


def local_cursors(body: Sequence[nodes.Statement]) -> frozenset[str]:
    """Return the cursors that a body declares LOCAL."""
    return frozenset(
        fold(statement.name.text)
        for statement in nodes.all_of(body)
        if isinstance(statement, nodes.DeclareCursor) and "LOCAL" in statement.cursor.options
    )


def handed_cursors(body: Sequence[nodes.Statement], out_of_routine: Collection[str]) -> frozenset[str]:
    """Return the named cursors that a body assigns to variables (their keys) which others see too."""
    return frozenset(
        fold(statement.value.tokens[0].name)
        for statement in nodes.all_of(body)
        if isinstance(statement, nodes.SetVariable)
        and statement.variable.key in out_of_routine
        and len(statement.value.tokens) == 1
        and _is_name(statement.value.tokens[0])
    )


def _is_name(token: Token) -> bool:
    """Whether a cursor may be called so."""
    if token.kind is TokenKind.WORD:
        return token.text.upper() not in RESERVED_WORDS
    return token.kind in (TokenKind.BRACKETED, TokenKind.QUOTED)


def _named(name: str, definition: nodes.CursorDefinition, ctx: Context) -> Cursor:
    """Return the cursor that a DECLARE makes."""
    if _is_kept(name, definition, ctx):
        return _kept(name)
    key = fold(name)
    if key in ctx.handed_cursors and key not in ctx.located_cursors:
        # Whoever gets it finds it by this; its name is nobody else's.
        return Cursor(name, "", "", key=n.Variable(ctx.new_variable(key, "text")))
    return _new_cursor(name, ctx)


def _find(reference: nodes.CursorReference, ctx: Context) -> Cursor | None:
    if isinstance(reference.name, nodes.Variable):
        found = ctx.scope.cursor_variables.get(reference.name.key)
        if found is None:
            ctx.problem(
                f'Must declare the scalar variable "{reference.name.name}".', reference.span, number=137
            )
        return found
    name = reference.name.text
    key = ctx.scope.cursor_key(name, is_global=reference.is_global)
    if key not in ctx.scope.cursors:
        # Until it is declared, a LOCAL one does not hide the GLOBAL one.
        of_global = ctx.scope.cursor_key(name, is_global=True)
        key = of_global if of_global in ctx.scope.cursors else key
    if key not in ctx.scope.cursors:
        # Declared further down, or elsewhere if at all: else the statement fails (16916).
        declared = ctx.cursor_definitions.get(key, 0) > 0
        ctx.scope.cursors[key] = _new_cursor(name, ctx) if declared else _kept(name)
    return ctx.scope.cursors[key]


# ------------------------------------------------------------------ DECLARE, SET @c = CURSOR


@lower.register
def lower_declare_cursor(node: nodes.DeclareCursor, ctx: Context) -> list[pl.Statement]:
    """DECLARE c CURSOR: the query takes the values that variables have here."""
    is_local = "LOCAL" in node.cursor.options
    key = ctx.scope.cursor_key(node.name.text, is_global=not is_local)
    cursor = ctx.scope.cursors.get(key)
    if cursor is None:
        name = node.name.text
        cursor = ctx.scope.cursors[key] = _named(name, node.cursor, ctx)
    cursor.local = is_local
    return _define(node, node.cursor, cursor, ctx, fresh=True)


@lower.register
def lower_set_cursor(node: nodes.SetCursorVariable, ctx: Context) -> list[pl.Statement]:
    """SET @c = CURSOR FOR …"""
    cursor = ctx.scope.cursor_variables.get(node.variable.key)
    if cursor is None:
        ctx.problem(
            f'Must declare the scalar variable "{node.variable.name}".', node.variable.span, number=137
        )
        return []
    return _define(node, node.cursor, cursor, ctx, fresh=False)


def assign_cursor(node: nodes.SetVariable, ctx: Context) -> list[pl.Statement]:
    """``SET @c = other``: from here on both names mean the same cursor."""
    words = node.value.tokens
    if len(words) == 1:
        word = words[0]
        other = ctx.scope.cursor_variables.get(word.name.lower())
        check: list[pl.Statement] = []
        if other is None and _is_name(word):
            name = nodes.Identifier(text=word.name, span=node.value.span)
            other = _find(nodes.CursorReference(name=name, span=name.span), ctx)
            if other is not None and isinstance(other.key, n.Text):
                place = pl.Invoke("ssb_internal.place_of_cursor", (pl.Raw(other.key),))
                there = pl.Invoke("ssb_internal.require_cursor", (pl.Text(other.name), place))
                check = ctx.guard(node, [pl.Perform(there), *ctx.status(node)])
        mine = ctx.scope.cursor_variables[node.variable.key]
        if other is not None and isinstance(mine.key, n.Variable) and other.key is not None:
            return [*check, pl.Assign(mine.key.spelling, pl.Raw(other.key))]
        if other is not None and not mine.variable:
            ctx.scope.cursor_variables[node.variable.key] = other
            return check
    other_name = node.value.text
    if other_name.startswith("@"):
        ctx.problem(
            f"The variable '{other_name}' is not a cursor variable, but it is used in a place where a cursor "
            "variable is expected.",
            node.value.span,
            number=16948,
        )
    else:
        ctx.problem(f"A cursor with the name '{other_name}' does not exist.", node.value.span, number=16916)
    return []


def _define(
    node: nodes.Statement, definition: nodes.CursorDefinition, cursor: Cursor, ctx: Context, *, fresh: bool
) -> list[pl.Statement]:
    text, tree = definition.query, None
    table = ctx.located_cursors.get(fold(cursor.name))
    cursor.row_place = None
    cursor.read_only = definition.updatable == "READ ONLY" or not _READ_ONLY.isdisjoint(definition.options)
    cursor.update_columns = frozenset(fold(column.text) for column in definition.update_columns)
    if table is not None and not cursor.read_only:
        rows = ctx.scope.table_variable(table.name.name)
        info = rows.info if rows is not None else ctx.scope.table(table.name)
        found = with_row_place(text, table, info)
        if found is None:
            cursor.read_only = True
        elif rows is None or not found[1].moves:
            # Without a key rows of a table variable are not found again: WHERE CURRENT OF is refused.
            tree, cursor.row_place = found
    query = translate.translate_query(text, ctx.scope, ctx.problems, tree)
    if query is None:
        return []
    options = set(definition.options)
    cursor.scroll = bool(options & _SCROLLING) and not options & {"FORWARD_ONLY", "FAST_FORWARD"}
    # SCROLL alone has FETCH ABSOLUTE, which no dynamic cursor has: it is a KEYSET one.
    keeps = {"STATIC", "INSENSITIVE", "KEYSET", *(() if "DYNAMIC" in options else ("SCROLL",))}
    cursor.fixed = bool(options & keeps)
    columns = query.columns
    if columns is None:
        each = n.Call("json_each_text", (n.Call("row_to_json", (n.Every(n.Name(("q",))),)),))
        texts = n.Call("array_agg", (n.Name(("v", "value")),))
        values: n.Node = n.Subquery(q.Select((texts,), q.Aliased(each, "v"), breaks=q.Breaks.NEVER))
        source = q.Aliased(n.Subquery(n.Alone(query.code)), "q")
    else:
        names = tuple(f"c{number}" for number in range(1, len(columns) + 1))
        values = n.Array(tuple(n.Cast(n.Name(("q", name)), "text") for name in names))
        source = q.Aliased(n.Subquery(n.Alone(query.code)), "q", names, tight=True)
    if cursor.key is not None:
        cursor.columns = columns
        return _keep(node, cursor, values, source, ctx, fresh=fresh)
    cursor.queries.append(q.Select((n.Call("array_agg", (values,)),), source, breaks=q.Breaks.NEVER))
    if cursor.row_place is not None and columns is not None:
        columns = columns[: -len(cursor.row_place.columns)]
    cursor.columns = columns
    body: list[pl.Statement] = [pl.Assign(cursor.position, pl.Number(-1))]
    if fresh:
        check = pl.Invoke(
            "ssb_internal.declare_cursor", (pl.Text(cursor.shown or cursor.name), pl.Name(cursor.position))
        )
        body = [pl.Assign(cursor.position, check)]
    if len(cursor.queries) > 1 or _declared_again(cursor, ctx):
        chosen = cursor.chosen or ctx.new_variable(f"{cursor.position}_query", "integer")
        cursor.chosen = chosen
        body.append(pl.Assign(chosen, pl.Number(len(cursor.queries))))
    body += ctx.status(node, pl.Number(0))
    return ctx.guard(node, body) if fresh else body


def _keep(
    node: nodes.Statement, cursor: Cursor, values: n.Node, source: n.Node, ctx: Context, *, fresh: bool
) -> list[pl.Statement]:
    """DECLARE of a cursor that others may open: they find the rows that there are now."""
    key = cursor.key
    assert key is not None
    number = n.Over(n.Call("row_number"))
    row = n.Call("ssb_internal.add_cursor_row", (key, number, values))
    rows = q.Aliased(n.Subquery(q.Select((row,), source, breaks=q.Breaks.NEVER)), "r")
    cursor.queries = [q.Select((n.Call("count", (n.STAR,)),), rows, breaks=q.Breaks.NEVER)]
    flags = (pl.TRUE if cursor.scroll else pl.FALSE, pl.TRUE if cursor.fixed else pl.FALSE)
    shown = columns_json(cursor.columns)
    declare = pl.Invoke(
        "ssb_internal.keep_cursor", (pl.Raw(key), pl.Text(cursor.shown or cursor.name), *flags, shown)
    )
    body: list[pl.Statement] = []
    if isinstance(key, n.Variable):
        if fresh:
            place = pl.Invoke("ssb_internal.place_of_cursor", (pl.Raw(key),))
            body.append(pl.Perform(pl.Invoke("ssb_internal.declare_cursor", (pl.Text(cursor.name), place))))
        body.append(pl.Assign(key.spelling, pl.Cast(pl.Invoke("gen_random_uuid"), "text")))
    body += [pl.Perform(declare), *_read_kept(cursor, ctx), *ctx.status(node, pl.Number(0))]
    if _declared_again(cursor, ctx):
        cursor.queries = []  # Which one it is, only the run time knows: the rows are those of its DECLARE.
    return ctx.guard(node, body)


def _read_kept(cursor: Cursor, ctx: Context) -> list[pl.Statement]:
    """Read the rows of a kept cursor, where its query is known."""
    if not cursor.queries or cursor.key is None:
        return []
    count = ctx.outer_helper("cursor_count", "bigint")
    key = pl.Raw(cursor.key)
    return [
        pl.Perform(pl.Invoke("ssb_internal.empty_cursor", (key,))),
        pl.SelectInto(cursor.queries[0], (count,)),
        pl.Perform(pl.Invoke("ssb_internal.fill_cursor", (key, pl.Name(count)))),
    ]


def _declared_again(cursor: Cursor, ctx: Context) -> bool:
    """Whether the routine gives this cursor several queries."""
    return ctx.cursor_definitions.get(fold(cursor.name), 0) > 1


def count_definitions(body: Sequence[nodes.Statement]) -> dict[str, int]:
    """Return how many times each cursor of a body gets a query."""
    result: dict[str, int] = {}
    for statement in nodes.all_of(body):
        name = None
        if isinstance(statement, nodes.DeclareCursor):
            name = fold(statement.name.text)
        elif isinstance(statement, nodes.SetCursorVariable):
            name = fold(statement.variable.name.lstrip("@"))
        if name is not None:
            result[name] = result.get(name, 0) + 1
    return result


# ------------------------------------------------------------------ OPEN, CLOSE, DEALLOCATE


@lower.register
def lower_open(node: nodes.OpenCursor, ctx: Context) -> list[pl.Statement]:
    """OPEN: reads the rows."""
    cursor = _find(node.cursor, ctx)
    if cursor is None:
        return []
    ctx.scope.last_opened = cursor
    if cursor.key is not None:
        opened = pl.Invoke(
            "ssb_internal.open_kept_cursor", (pl.Raw(cursor.key), pl.Text(cursor.shown or cursor.name))
        )
        body = [pl.Perform(opened), *_read_kept(cursor, ctx), *ctx.status(node, pl.Number(0))]
        return ctx.guard(node, body)
    check = pl.Invoke(
        "ssb_internal.open_cursor", (pl.Text(cursor.shown or cursor.name), pl.Name(cursor.position))
    )
    reading: list[pl.Statement] = [pl.SelectInto(query, (cursor.rows,)) for query in cursor.queries]
    if cursor.chosen is not None:
        reading = [pl.Case(cursor.chosen, tuple((n, (read,)) for n, read in enumerate(reading, 1)))]
    body = [pl.Perform(check), *reading, pl.Assign(cursor.position, pl.Number(0))]
    return [*ctx.guard(node, [*body, *ctx.status(node, pl.Number(0))])]


@lower.register
def lower_close(node: nodes.CloseCursor, ctx: Context) -> list[pl.Statement]:
    """CLOSE."""
    return _change(node, node.cursor, "close", ctx)


@lower.register
def lower_deallocate(node: nodes.DeallocateCursor, ctx: Context) -> list[pl.Statement]:
    """DEALLOCATE."""
    return _change(node, node.cursor, "deallocate", ctx)


def _change(
    node: nodes.Statement, reference: nodes.CursorReference, verb: str, ctx: Context
) -> list[pl.Statement]:
    cursor = _find(reference, ctx)
    if cursor is None:
        return []
    body: list[pl.Statement]
    if cursor.key is not None:
        kept = pl.Invoke(
            f"ssb_internal.{verb}_kept_cursor", (pl.Raw(cursor.key), pl.Text(cursor.shown or cursor.name))
        )
        body = [pl.Perform(kept)]
        if verb == "deallocate":
            body = _drop_reference(reference, cursor, body, ctx)
    else:
        call = pl.Invoke(
            f"ssb_internal.{verb}_cursor", (pl.Text(cursor.shown or cursor.name), pl.Name(cursor.position))
        )
        body = [pl.Assign(cursor.position, call)]
    return [*ctx.guard(node, [*body, *ctx.status(node, pl.Number(0))])]


def _drop_reference(
    reference: nodes.CursorReference, cursor: Cursor, body: list[pl.Statement], ctx: Context
) -> list[pl.Statement]:
    """DEALLOCATE of a kept cursor by one of its names, ``body``: it goes with the last one."""
    if isinstance(reference.name, nodes.Variable):
        if not isinstance(cursor.key, n.Text):
            return body
        # The variable is one more name of a GLOBAL cursor, which stays.
        place = pl.Invoke("ssb_internal.place_of_cursor", (pl.Raw(cursor.key),))
        return [pl.Perform(pl.Invoke("ssb_internal.require_cursor", (pl.Text(cursor.name), place)))]
    others = tuple(one.key for one in ctx.scope.cursor_variables.values() if isinstance(one.key, n.Variable))
    if not isinstance(cursor.key, n.Variable) or not others:
        return body
    handed = pl.Raw(n.In(cursor.key, n.Items(others)))
    return [pl.If(((handed, (pl.Assign(cursor.key.spelling, pl.NULL),)),), tuple(body))]


# ------------------------------------------------------------------ FETCH


@lower.register
def lower_fetch(node: nodes.FetchCursor, ctx: Context) -> list[pl.Statement]:
    """FETCH: variables keep their values when there is no row; @@FETCH_STATUS is then −1."""
    cursor = _find(node.cursor, ctx)
    if cursor is None:
        return []
    columns = cursor.columns
    if columns is not None and node.into and len(columns) != len(node.into):
        ctx.problem(
            "Cursorfetch: The number of variables declared in the INTO list must match that of selected "
            "columns.",
            node.span,
            number=16924,
        )
        return []
    declared_here = cursor.key is None or bool(cursor.queries)
    if node.direction != "NEXT" and not cursor.scroll and declared_here:
        ctx.problem(
            f"fetch: The fetch type {node.direction.lower()} cannot be used with forward only cursors.",
            node.span,
            number=16911,
        )
        return []
    if cursor.key is not None and ctx.in_function:
        name = node.cursor.name
        shown = name.text if isinstance(name, nodes.Identifier) else name.name
        ctx.problem(
            f"A cursor with the name '{shown}' does not exist.",
            node.span,
            number=16916,
            hint="a function has the cursors only that it declares",
        )
        return []
    if cursor.key is not None:
        return _fetch_kept(node, cursor, ctx)
    arguments: list[pl.Expr] = [
        pl.Text(cursor.shown or cursor.name),
        pl.Name(cursor.position),
        pl.Raw(n.Call("array_length", (n.Variable(cursor.rows), n.Integer(1)))),
        pl.Text(node.direction),
    ]
    if node.offset is not None:
        arguments.append(ctx.value(node.offset, INT))
    at = cursor.position
    move = pl.Assign(at, pl.Invoke("ssb_internal.fetch", tuple(arguments)))
    found: list[pl.Statement] = []
    rowcount = ctx.liveness.after(node).rowcount
    if node.into:
        for number, variable in enumerate(node.into, 1):
            found += _fetch_into(cursor, number, variable, ctx)
    else:
        found.append(_show_row(cursor, ctx))
    session = ctx.session
    length = n.Call("array_length", (n.Variable(cursor.rows), n.Integer(1)))
    there = n.Between(n.Variable(at), n.Integer(1), length)
    status: list[pl.Statement] = [pl.Assign(f"{session}.fetch_status", _fetch_status(there, 0, -1))]
    if rowcount:
        status.append(pl.Assign(f"{session}.rowcount", pl.with_number(f"{session}.fetch_status", "+", 1)))
    body = [move, *status, pl.If(((pl.with_number(f"{session}.fetch_status", "=", 0), tuple(found)),))]
    return [*ctx.guard(node, [*body, *ctx.status(node)])]


def _fetch_kept(node: nodes.FetchCursor, cursor: Cursor, ctx: Context) -> list[pl.Statement]:
    """FETCH from a cursor that the session keeps."""
    assert cursor.key is not None
    key = pl.Raw(cursor.key)
    row = ctx.outer_helper("cursor_row", "text[]")
    arguments: list[pl.Expr] = [
        key,
        pl.Text(cursor.shown or cursor.name),
        pl.Number(len(node.into)) if node.into else pl.NULL,
        pl.Text(node.direction),
    ]
    if node.offset is not None:
        arguments.append(ctx.value(node.offset, INT))
    found: list[pl.Statement] = []
    kinds: list[pl.Expr] = []
    for number, variable in enumerate(node.into, 1):
        known = ctx.scope.variable(variable.name)
        if known is None:
            ctx.variable(variable)
            continue
        kinds.append(pl.Text(kind_of_kept_value(known.type)))
        type_ = cursor.columns[number - 1].type if cursor.columns else None
        cell = n.Element(n.Variable(row), n.Integer(number))
        found.append(pl.Assign(known.reference, pl.Raw(_typed(cell, type_, known.type))))
    if kinds and not cursor.columns:
        converted = pl.Invoke(
            "ssb_internal.fetched_values", (key, pl.Name(row), pl.Array(tuple(kinds), "text"))
        )
        found.insert(0, pl.Assign(row, converted))
    if not node.into:
        values = n.Cast(_as_json(n.Variable(row)), "text")
        width = pl.Raw(n.Call("cardinality", (n.Variable(row),)))
        columns = pl.Invoke("ssb_internal.kept_cursor_columns", (key, width))
        shown = pl.Invoke(
            "ssb_internal.show_collected", (pl.Name(ctx.session), pl.Raw(n.Array((values,))), columns)
        )
        found.append(pl.Assign(ctx.session, shown))
    session = ctx.session
    missing = n.IsNull(n.Variable(row))
    status: list[pl.Statement] = [pl.Assign(f"{session}.fetch_status", _fetch_status(missing, -1, 0))]
    if ctx.liveness.after(node).rowcount:
        status.append(pl.Assign(f"{session}.rowcount", pl.with_number(f"{session}.fetch_status", "+", 1)))
    body = [
        pl.Assign(row, pl.Invoke("ssb_internal.fetch_kept", tuple(arguments))),
        *status,
        pl.If(((pl.with_number(f"{session}.fetch_status", "=", 0), tuple(found)),)),
    ]
    return ctx.guard(node, [*body, *ctx.status(node)])


def _fetch_status(condition: n.Node, holds: int, else_: int) -> pl.Expr:
    """What @@FETCH_STATUS becomes."""
    return pl.Raw(n.Case(((condition, n.integer(holds)),), default=n.integer(else_)))


def _as_json(values: n.Node) -> n.Node:
    """The elements of an array as JSON."""
    rows = q.Aliased(n.Call("unnest", (values,)), "v")
    return n.Subquery(q.Select((n.Call("json_agg", (n.Name(("v",)),)),), rows, breaks=q.Breaks.NEVER))


def _row_of(cursor: Cursor) -> n.Node:
    """The row on which a cursor stands."""
    return n.Element(n.Variable(cursor.rows), n.Variable(cursor.position))


def _fetch_into(cursor: Cursor, number: int, variable: nodes.Variable, ctx: Context) -> list[pl.Statement]:
    known = ctx.scope.variable(variable.name)
    if known is None:
        ctx.variable(variable)
        return []
    cell = n.Element(_row_of(cursor), n.Integer(number))
    type_ = cursor.columns[number - 1].type if cursor.columns else None
    return [pl.Assign(known.reference, pl.Raw(_typed(cell, type_, known.type)))]


def _typed(cell: n.Node, source: SqlType | None, target: SqlType) -> n.Node:
    """Return a value read back from its text form, converted to the variable's type."""
    if source is None or source.name == target.name:
        return n.Cast(cell, target.postgres)
    if source.is_string:
        return convert_expression(Expression(cell, source), target).code
    return convert_expression(Expression(n.Cast(cell, source.postgres), source), target).code


def _show_row(cursor: Cursor, ctx: Context) -> pl.Statement:
    """FETCH without INTO: the row is a result set."""
    columns: tuple[ResultColumn, ...] = cursor.columns or ()
    if not columns:
        at = n.Variable(cursor.position)
        row: n.Node = n.Slice(n.Variable(cursor.rows), at, at)
        if cursor.row_place is not None:
            width = n.Call("array_length", (n.Variable(cursor.rows), n.Integer(2)))
            row = n.Slice(row, n.Integer(1), n.Sum("-", width, n.Integer(len(cursor.row_place.columns))))
        values = _as_json(row)
    else:
        cells = [n.Element(_row_of(cursor), n.Integer(number)) for number in range(1, len(columns) + 1)]
        typed = (
            n.Cast(cell, column.type.postgres) if column.type else cell
            for cell, column in zip(cells, columns, strict=True)
        )
        values = n.Call("json_build_array", tuple(typed))
    show = pl.Invoke(
        "ssb_internal.show_collected",
        (pl.Name(ctx.session), pl.Raw(n.Array((n.Cast(values, "text"),))), columns_json(columns or None)),
    )
    return pl.Assign(ctx.session, show)
