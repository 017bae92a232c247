"""RECEIVE, WAITFOR ( … ), WAITFOR DELAY and TIME."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...grammar.lexer import string_value
from ...grammar.records import dataclass, replace
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..analysis.mentions import looks_at_other_rows, variables_in
from ..catalog.builtin_relations import QUEUE_COLUMNS, queue_table
from ..catalog.names import DEFAULT_SCHEMA, fold
from ..catalog.objects import Expression, ResultColumn, TableInfo
from ..catalog.scope import object_name
from ..catalog.types import BIGINT, INT, SYSNAME, UNIQUEIDENTIFIER, SqlType
from ..plpgsql import nodes as pl
from ..sql.dml.columns import COLUMNS_DIFFER, fillable
from ..sql.dml.table_variable_rows import appending_query
from ..sql.query.row_limits import NO_ROW_COUNT, counts_rows
from ..sql.translate import convert_expression
from ..target import nodes as n
from ..target import queries as q
from .context import Context
from .dialogs import get_group
from .dispatch import lower
from .placeholders import mentions, name_as_data
from .results import columns_json

_COLUMN_TYPES = {column.name: column.type for column in QUEUE_COLUMNS}
_NEVER_NULL = frozenset(column.name for column in QUEUE_COLUMNS if not column.nullable)


@dataclass(frozen=True)
class _Item:
    """One item of the list: its tree over the queue's columns, and its name."""

    code: n.Node
    name: str | None
    type: SqlType | None
    plain: bool
    """A bare column."""


def _plain(name: str, type_: SqlType | None) -> _Item:
    return _Item(n.Name((name,)), name, type_, True)


def _source(node: nodes.Receive, ctx: Context) -> n.Node:
    """Return ``ssb.receive('dbo.q', …)``."""
    arguments: list[pl.Expr] = [name_as_data(ctx.broker_queue(node.queue), ctx)]
    if node.top is not None:
        count = ctx.value(node.top, BIGINT)
        # A piece that only the run time knows is text here, and looked at there.
        if not (mentions(node.top) or counts_rows(ctx.expression(node.top).type)):
            ctx.problem(NO_ROW_COUNT, node.top.span, number=1060)
        # NULL is all messages to ssb.receive, and 1060 to RECEIVE.
        arguments.append(count if node.top.alone.isdigit() else pl.Invoke("sys.top_count", (count,)))
    named: tuple[tuple[str, pl.Expr], ...] = ()
    if node.where is not None:
        parameter, value = _wanted(node.where, ctx)
        if not node.where.value.alone.endswith("'"):
            # NULL is any conversation to ssb.receive, and 8418 or 8420 to RECEIVE.
            value = pl.Invoke("coalesce", (value, pl.Invoke(f"ssb_internal.no_{parameter}", ())))
        named = ((parameter, value),)
    return pl.tree(pl.Invoke("ssb.receive", tuple(arguments), named))


def _wanted(where: nodes.ReceiveFilter, ctx: Context) -> tuple[str, pl.Expr]:
    """Return the argument that names the conversation or the conversation group."""
    parameter = "conversation" if where.column == "conversation_handle" else "conversation_group"
    return parameter, ctx.given(where.value, UNIQUEIDENTIFIER)


def _without_queue(text: nodes.SqlText, queue: nodes.QualifiedName) -> nodes.SqlText:
    """Return an expression over the queue's columns without ``queue.`` or ``dbo.queue.`` before them."""
    name = fold(queue.name.text)
    schema = DEFAULT_SCHEMA if queue.schema is None else fold(queue.schema.text)
    qualifiers = [(schema, name), (name,)]
    if queue.database is not None:
        qualifiers = [(fold(queue.database.text), schema, name), *qualifiers]
    tokens = text.tokens
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        index += _length_of_qualifier(tokens, index, qualifiers)
        kept.append(tokens[index])
        index += 1
    return text if len(kept) == len(tokens) else replace(text, tokens=tuple(kept))


def _length_of_qualifier(tokens: Sequence[Token], index: int, qualifiers: Sequence[tuple[str, ...]]) -> int:
    """Return how many tokens the queue's name before a column has at ``index``; 0: none stands there."""
    if index and tokens[index - 1].word == ".":
        return 0
    for qualifier in qualifiers:
        end = index + 2 * len(qualifier)
        column = tokens[end : end + 2]
        # dbo.f(message_body) calls a function, whatever the queue's name.
        if not column or (len(column) == 2 and column[1].word in ("(", ".")):
            continue
        parts, dots = tokens[index:end:2], tokens[index + 1 : end : 2]
        if all(dot.word == "." for dot in dots) and tuple(fold(part.name) for part in parts) == qualifier:
            return end - index
    return 0


def _item(text: nodes.SqlText, queue: TableInfo, ctx: Context, target: SqlType | None = None) -> _Item:
    column = fold(text.tokens[0].name) if len(text.tokens) == 1 else ""
    if column in _COLUMN_TYPES:
        type_ = _COLUMN_TYPES[column]
        if target is None or _flows_into(type_, target):
            return _plain(column, type_)
    if looks_at_other_rows(text.tree):
        ctx.problem(
            "Aggregates are not allowed in the RECEIVE list.",
            text.span,
            hint="RECEIVE … INTO a table variable, and SELECT from that",
            number=4142,
        )
    value = ctx.expression(text, target, queue)
    return _Item(value.code, None, value.type, False)


def _flows_into(source: SqlType | None, target: SqlType) -> bool:
    """Whether a column can be assigned as it is: nothing to convert, nothing to cut off."""
    if source is None:
        return False
    if source.is_string and target.name in ("varchar", "nvarchar", "sysname", "text", "ntext"):
        # Names of services, contracts and message types have at most 128 characters.
        return target.length in (-1, None) or (target.length or 0) >= 128 or target.name == SYSNAME.name
    if source.family == "binary":
        return target.family == "binary" and target.length == -1
    return source.name == target.name


def _select_list(node: nodes.Receive, ctx: Context) -> list[_Item]:
    items: list[_Item] = []
    queue = queue_table(object_name(node.queue))
    for item in node.items:
        match item:
            case nodes.ReceiveStar():
                items += [_plain(column.name, column.type) for column in QUEUE_COLUMNS]
            case nodes.ReceiveColumn():
                read = _item(_without_queue(item.expression, node.queue), queue, ctx)
                if item.alias is not None:
                    read = _Item(read.code, item.alias.text, read.type, False)
                items.append(read)
            case nodes.ReceiveAssignment():
                variable = ctx.scope.variable(item.variable.name)
                text = _without_queue(item.expression, node.queue)
                items.append(_item(text, queue, ctx, variable.type if variable else None))
    return items


def receive_query(node: nodes.Receive, ctx: Context) -> tuple[n.Node, tuple[ResultColumn, ...]]:
    """Return the query of a RECEIVE that shows its rows, and its columns."""
    items = _select_list(node, ctx)
    columns = tuple(ResultColumn(item.name, item.type) for item in items)
    if all(isinstance(item, nodes.ReceiveStar) for item in node.items) and len(node.items) == 1:
        return _all_of(_source(node, ctx)), columns
    codes: list[n.Node] = []
    for number, item in enumerate(items, 1):
        if item.plain:
            codes.append(item.code)
        else:
            codes.append(q.Labelled(item.code, f"column_{number}" if item.name is None else item.name))
    return q.Select(tuple(codes), _source(node, ctx), breaks=q.Breaks.NEVER), columns


def _all_of(source: n.Node) -> n.Node:
    return q.Select((n.STAR,), source, breaks=q.Breaks.NEVER)


# ------------------------------------------------------------------ RECEIVE


@lower.register
def lower_receive(node: nodes.Receive, ctx: Context) -> list[pl.Statement]:
    """Lower RECEIVE: into variables, into a table variable, or to the client."""
    if not node.assigns and node.into is None:
        query, columns = receive_query(node, ctx)
        cursor = ctx.outer_helper("result", "refcursor")
        show = pl.Invoke("ssb_internal.show", (pl.Name(ctx.session), pl.Name(cursor), columns_json(columns)))
        body: list[pl.Statement] = [
            pl.Assign(cursor, pl.NULL),
            pl.Open(cursor, query),
            pl.Assign(ctx.session, show),
        ]
        return [*ctx.guard(node, body), *ctx.autocommit(node)]
    attempt = _attempt(node, ctx, waiting=None, status_of=node)
    return [*ctx.guard(node, [*attempt, *ctx.status(node)]), *ctx.autocommit(node)]


def _attempt(
    node: nodes.Receive, ctx: Context, *, waiting: str | None, status_of: nodes.Statement
) -> list[pl.Statement]:
    """One try to receive into variables or a table variable; leaves loop ``waiting`` when rows came."""
    rowcount = f"{ctx.session}.rowcount"
    counted = ctx.liveness.after(status_of).rowcount
    leave = [pl.Exit(waiting)] if waiting else []
    if node.into is not None:
        return _attempt_into_table(node, ctx, waiting=waiting)
    items = _select_list(node, ctx)
    targets = []
    for item in node.items:
        assert isinstance(item, nodes.ReceiveAssignment)
        targets.append(ctx.variable(item.variable).spelling)
    received = ctx.helper("received", "record")
    if _reads_assigned(node):
        return _accumulate(node, ctx, received, targets, counted=counted, waiting=waiting)
    columns = [
        item.name if item.plain and item.name is not None else f"value_{number}"
        for number, item in enumerate(items, 1)
    ]
    chosen = dict.fromkeys(
        item.code if item.plain else q.Labelled(item.code, column)
        for column, item in zip(columns, items, strict=True)
    )
    query = q.Select(tuple(chosen), _source(node, ctx), breaks=q.Breaks.LIST)
    assignments: tuple[pl.Statement, ...] = tuple(
        pl.Assign(target, pl.Name(f"{received}.{column}"))
        for target, column in zip(targets, columns, strict=True)
    )
    if node.top is not None and node.top.alone == "1":
        body: list[pl.Statement] = [pl.SelectInto(query, (received,))]
        if counted:
            body.append(pl.GetRowCount(rowcount))
        return [*body, pl.If(((pl.Name("FOUND"), (*assignments, *leave)),))]
    body = []
    if counted:
        body.append(pl.Assign(rowcount, pl.Number(0)))
        assignments = (*assignments, pl.Assign(rowcount, pl.with_number(rowcount, "+", 1)))
    body.append(pl.ForRows(received, query, assignments))
    if waiting:
        # FOR leaves FOUND true when there was a row.
        body.append(pl.Exit(waiting, pl.Name("FOUND")))
    return body


def _reads_assigned(node: nodes.Receive) -> bool:
    """Whether a value reads a variable that the same RECEIVE assigns."""
    assigned = {
        item.variable.name.lower() for item in node.items if isinstance(item, nodes.ReceiveAssignment)
    }
    return any(
        not assigned.isdisjoint(variables_in(item.expression.tree))
        for item in node.items
        if isinstance(item, nodes.ReceiveAssignment)
    )


def _accumulate(
    node: nodes.Receive,
    ctx: Context,
    received: str,
    targets: list[str],
    *,
    counted: bool,
    waiting: str | None,
) -> list[pl.Statement]:
    """``@s = @s + …``: by message, from left to right; each value sees what is assigned by then."""
    read = {
        fold(token.name)
        for item in node.items
        if isinstance(item, nodes.ReceiveAssignment)
        for token in item.expression.tokens
    }
    record = n.Variable(received)
    columns = tuple(n.Member(record, name) for name in _COLUMN_TYPES if name in read)
    assignments: list[pl.Statement] = []
    for item, target in zip(_select_list(node, ctx), targets, strict=True):
        value = item.code
        if item.plain and item.name is not None:
            value = n.Member(record, item.name)
        elif columns:
            message = q.Aliased(n.Subquery(q.Select(columns, breaks=q.Breaks.NEVER)), "m")
            value = n.Subquery(q.Select((value,), message, breaks=q.Breaks.NEVER))
        assignments.append(pl.Assign(target, pl.Raw(value)))
    rowcount = f"{ctx.session}.rowcount"
    body: list[pl.Statement] = []
    if counted:
        body.append(pl.Assign(rowcount, pl.Number(0)))
        assignments.append(pl.Assign(rowcount, pl.with_number(rowcount, "+", 1)))
    body.append(pl.ForRows(received, _all_of(_source(node, ctx)), tuple(assignments)))
    if waiting:
        body.append(pl.Exit(waiting, pl.Name("FOUND")))
    return body


def _converted(item: _Item, target: SqlType | None) -> n.Node:
    """An item for a column: message_body may become text or xml there."""
    if target is None:
        return item.code
    if item.type is None:
        unlimited = n.Cast(n.Paren(item.code), target.unlimited.postgres)
        return item.code if target.limit is None else unlimited
    if item.type.family in ("string", "binary"):
        target = target.unlimited
    return convert_expression(Expression(item.code, item.type), target).code


def _attempt_into_table(node: nodes.Receive, ctx: Context, *, waiting: str | None) -> list[pl.Statement]:
    """RECEIVE … INTO @t: the rows are appended, all at once, converted and checked as INSERT's are."""
    assert node.into is not None
    table = ctx.scope.table_variable(node.into.name)
    if table is None:
        known = ctx.scope.variable(node.into.name)
        if known is None or known.type.family != "table":  # else its declaration is reported
            ctx.problem(f'Must declare the table variable "{node.into.name}".', node.into.span, number=1087)
        return []
    if table.read_only:
        message = f'The table-valued parameter "{node.into.name}" is READONLY and cannot be modified.'
        ctx.problem(message, node.into.span, number=10700)
        return []
    items = _select_list(node, ctx)
    columns = fillable(table.info.columns)
    if len(items) != len(columns):
        ctx.problem(COLUMNS_DIFFER, node.into.span, number=213)
        return []
    row = [_converted(item, column.type) for item, column in zip(items, columns, strict=True)]
    rowcount = f"{ctx.session}.rowcount"
    never_null = {place for place, item in enumerate(items) if item.plain and item.name in _NEVER_NULL}
    query = appending_query(table, node.into.name, columns, row, _source(node, ctx), never_null)
    body: list[pl.Statement] = [pl.SelectInto(query, (table.reference, rowcount))]
    shown = ctx.show_count()
    if waiting and not shown:
        body.append(pl.Exit(waiting, pl.with_number(rowcount, ">", 0)))
    elif not waiting:
        body += shown
    return body


# ------------------------------------------------------------------ WAITFOR ( … )


@lower.register
def lower_wait_for_message(node: nodes.WaitForMessage, ctx: Context) -> list[pl.Statement]:
    """WAITFOR (RECEIVE | GET CONVERSATION GROUP): try, wait until something may be there, try again.

    The wait stands outside the exception block, because it may end an empty transaction
    between polls so that it does not hold back vacuum.
    """
    label = ctx.label("waiting")
    inner = node.statement
    deadline = None
    result: list[pl.Statement] = []
    if node.timeout is not None:
        deadline = ctx.helper("deadline", "timestamptz")
        call = pl.Invoke("ssb_internal.deadline", (ctx.given(node.timeout, INT),))
        computed = pl.Assign(deadline, call)
        never_raises = ctx.expression(node.timeout, INT).cannot_raise
        result += [computed] if never_raises else ctx.guard(node, [computed])
    done: n.Node | None = None
    show: list[pl.Statement] = []
    if isinstance(inner, nodes.GetConversationGroup):
        group = ctx.variable(inner.variable).spelling
        attempt = [
            *ctx.status(node),
            *get_group_waiting(node, inner, ctx),
            pl.Exit(label, pl.Raw(n.IsNull(n.Variable(group), negated=True))),
        ]
    elif inner.assigns or inner.into is not None:
        attempt = [*ctx.status(node), *_attempt(inner, ctx, waiting=label, status_of=node)]
        if inner.into is not None and (show := ctx.show_count()):
            done = ctx.counted_rows()
    else:
        rows = ctx.outer_helper("output_rows", "text[]")
        query, columns = receive_query(inner, ctx)
        values = n.Call("ssb_internal.row_values", (n.Call("row_to_json", (n.Every(n.Name(("m",))),)),))
        messages = q.Aliased(n.Subquery(query), "m")
        collect = q.Select((n.Call("array_agg", (values,)),), messages, breaks=q.Breaks.NEVER)
        attempt = [pl.SelectInto(collect, (rows,))]
        done = n.IsNull(n.Variable(rows), negated=True)
        shown = pl.Invoke("coalesce", (pl.Name(rows), pl.NO_ROWS))
        call = pl.Invoke("ssb_internal.show_collected", (pl.Name(ctx.session), shown, columns_json(columns)))
        show = [pl.Assign(ctx.session, call)]
    guarded = ctx.guard(node, attempt, after_error=[pl.Exit(label)])
    named: list[tuple[str, pl.Expr]] = []
    if isinstance(inner, nodes.Receive) and inner.where is not None:
        named.append(_wanted(inner.where, ctx))
    if not ctx.savepoints:
        named.append(("may_commit", pl.Invoke("ssb_internal.may_commit", (pl.Name(ctx.session),))))
    until: pl.Expr = pl.Name(deadline) if deadline else pl.NULL
    wait = pl.Call("ssb.wait_for_message", (ctx.broker_queue(inner.queue), until), tuple(named))
    timed_out = n.Comparison(">=", n.Call("clock_timestamp"), n.Variable(deadline)) if deadline else None
    leave: list[pl.Statement] = []
    if done is not None:
        # Inside the loop: a RECEIVE that failed left it before, and shows nothing.
        ended = done if timed_out is None else n.AnyOf((done, timed_out))
        leave = [pl.If(((pl.Raw(ended), (*show, pl.Exit(label))),))]
    elif timed_out is not None:
        leave = [pl.Exit(label, pl.Raw(timed_out))]
    loop = pl.Loop((*guarded, *leave, wait), label=label)
    return [*result, loop, *ctx.autocommit(node)]


def get_group_waiting(
    node: nodes.WaitForMessage, inner: nodes.GetConversationGroup, ctx: Context
) -> list[pl.Statement]:
    """One try of a waiting GET CONVERSATION GROUP."""
    body = get_group(inner, ctx)
    if not ctx.liveness.after(node).rowcount:
        body = body[:1]
    return body


# ------------------------------------------------------------------ WAITFOR DELAY, TIME

_TIME = re.compile(
    r"\s*(?:(?:[01]?\d|2[0-3]):[0-5]?\d(?::[0-5]?\d(?:[.:]\d{1,3})?)?(?:\s*[AP]M)?)?\s*",
    re.IGNORECASE | re.ASCII,
)
"""What a string may say; the empty one is no time at all."""
_WAITED_FOR = frozenset({"datetime", "int", "smallint"})
"""Types of variables that WAITFOR takes, beside strings: numbers are seconds."""


@lower.register
def lower_wait_for_time(node: nodes.WaitForTime, ctx: Context) -> list[pl.Statement]:
    """WAITFOR DELAY and TIME: until a moment, which is computed once."""
    deadline = ctx.helper("deadline", "timestamptz")
    function = "ssb_internal.delay_end" if node.kind == "DELAY" else "ssb_internal.next_time"
    value = ctx.expression(node.value)
    written = node.value.tokens[0]
    if written.kind is TokenKind.STRING:
        time = string_value(written)
        if _TIME.fullmatch(time) is None:
            ctx.problem(
                f"Incorrect time syntax in time string '{time}' used with WAITFOR.",
                node.value.span,
                number=148,
            )
    elif value.type is not None and not (value.type.is_string or value.type.name in _WAITED_FOR):
        text = f"Waitfor delay and waitfor time cannot be of type {value.type.name}."
        told = (pl.Number(9815), pl.Text(text), pl.Number(16), pl.Number(0))
        return ctx.guard(node, [pl.Perform(pl.Invoke("ssb_internal.raise_error", told))])
    computed = pl.Assign(deadline, pl.Invoke(function, (pl.Raw(value.code),)))
    may_commit = () if ctx.savepoints else (("may_commit", ctx.session_field("autocommit")),)
    wait = pl.Call("ssb_internal.wait_until", (pl.Name(deadline),), may_commit)
    return [*ctx.guard(node, [computed, *ctx.status(node, pl.Number(0))]), wait]
