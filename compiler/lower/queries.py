"""Queries and DML inside a routine: SELECT, INSERT, UPDATE, DELETE, MERGE, tables' DDL.

The text comes from :mod:`pgsb.compiler.sql.translate`; what stands here is how it runs: result sets,
row counts, assignments, table variables.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...grammar.problems import Problems
from ...grammar.records import replace
from ...grammar.source import Span
from ...grammar.tokens import Token
from .. import nodes
from ..analysis.may_fail import cannot_raise
from ..catalog.names import ObjectName, fold, other_than_folded, refusal_of_schema
from ..catalog.objects import TableInfo
from ..catalog.scope import Scope, TableType
from ..plpgsql import nodes as pl
from ..sql import translate
from ..sql.dml.table_variable_rows import last_number, next_number
from ..sql.interface import Assignment, Ddl, Dml, Query, TableVariableDml
from ..target import nodes as n
from ..target import queries as q
from ..target import statements as s
from .context import Context, Mode
from .dispatch import lower
from .placeholders import lower_executed, mentions
from .results import columns_json, output_rows, show, sql
from .rules import remember_rule

TABLE_TYPE_COMMENT = "AS TABLE "


@lower.register
def lower_sql(node: nodes.SqlStatement, ctx: Context) -> list[pl.Statement]:
    """Lower a query or DML statement by what its translation turns out to be."""
    if remember_rule(node, ctx):
        return []
    created = table_type_statement(node, ctx)
    if created is not None:
        body: list[pl.Statement] = [*map(sql, created), *ctx.status(node, pl.Number(0))]
        return [*ctx.guard(node, body, verb=node.kind), *ctx.autocommit(node)]
    return lower_translated(node, node.text, node.kind.split()[0], ctx)


def table_type_statement(node: nodes.SqlStatement, ctx: Context) -> tuple[n.Node, ...] | None:
    """``CREATE TYPE name AS TABLE (…)``: remember the type and return the PostgreSQL statements.

    None for every other statement; none of them where the statement is no such definition.
    """
    words = node.text.words
    if node.kind != "CREATE TYPE" or "TABLE" not in words:
        return None
    table = words.index("TABLE")
    tokens = node.text.tokens
    if words[table - 1] != "AS":
        return None
    if words[table + 1 : table + 2] != ("(",):
        ctx.problem(
            "Incorrect syntax: a table type needs its columns in parentheses.", node.text.span, number=102
        )
        return ()
    if table % 2 or table > 6 or any(word != "." for word in words[3 : table - 1 : 2]):
        ctx.problem(f"Incorrect syntax near '{tokens[3].text}'.", node.text.span, number=102)
        return ()
    last = _closing(tokens, table + 1) + 1  # WITH (MEMORY_OPTIMIZED = ON) may follow, and says nothing here
    name = ObjectName(*reversed([token.name for token in tokens[2 : table - 1 : 2]]))
    span = Span(node.span.source, tokens[table + 1].start, tokens[last - 1].end)
    text = nodes.SqlText(span=span, tokens=tokens[table + 1 : last])
    # Inside IF TYPE_ID(…) IS NULL the type may be there already, as the server says: that one stays.
    known = ctx.catalog.table_types.get(ctx.catalog.key(name)) if ctx.nesting else None
    info = known.info if known is not None else define_table_type(name, text, ctx.scope, ctx.problems)
    if info is None:
        return None
    if name.is_of_system:
        return (s.Effect(refusal_of_schema(name)),)
    row_type = ctx.catalog.sql_name(name)
    columns = tuple(
        (fold(column.name), column.type.postgres if column.type else "text") for column in info.columns
    )
    # Keys, checks and defaults are for the scripts that use the type later: see server/learn.py.
    spelling = "".join(f"T-SQL name: {spelled}\n" for spelled in other_than_folded([name.name]))
    return (
        s.CreateType(row_type, columns),
        s.CommentOn("TYPE", row_type, spelling + TABLE_TYPE_COMMENT + span.text),
    )


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """The place of the parenthesis that closes the one at ``opening``; the last token where none does."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += (tokens[place].word == "(") - (tokens[place].word == ")")
        if depth == 0 and tokens[place].word == ")":
            return place
    return len(tokens) - 1


def define_table_type(
    name: ObjectName, text: nodes.SqlText, scope: Scope, problems: Problems
) -> TableInfo | None:
    """Remember a table type by the definition in parentheses."""
    info = translate.translate_table_variable(text, name.name, scope, problems)
    if info is not None:
        catalog = scope.catalog
        catalog.table_types[catalog.key(name)] = TableType(catalog.sql_name(name), info)
    return info


def announce_type(node: nodes.SqlStatement, ctx: Context) -> None:
    """``CREATE TYPE name FROM base``: remember the type ahead of its turn."""
    translated = translate.translate_statement(node.text, ctx.scope, ctx.problems)
    if isinstance(translated, Ddl):
        remember(translated, ctx)


@lower.register
def lower_create_table(node: nodes.CreateTable, ctx: Context) -> list[pl.Statement]:
    """Lower CREATE TABLE."""
    return lower_translated(node, node.text, "CREATE", ctx)


def lower_translated(
    node: nodes.Statement, text: nodes.SqlText, verb: str, ctx: Context
) -> list[pl.Statement]:
    """Translate and lower one query or DML statement. ``verb`` names it in constraint violations."""
    if ctx.placeholders and mentions(text):
        # What stands behind the colon may be a piece.
        definition = node.definition_verb.partition(":")[0] if isinstance(node, nodes.SqlStatement) else ""
        return lower_executed(node, text, definition or verb, ctx)
    translated = translate.translate_statement(text, ctx.scope, ctx.problems)
    match translated:
        case Query():
            return lower_query(node, translated, ctx)
        case Assignment():
            return lower_assignment(node, translated, ctx)
        case Dml():
            return lower_dml(node, translated, verb, ctx)
        case TableVariableDml():
            return lower_table_variable(node, translated, ctx)
        case Ddl():
            return lower_ddl(node, translated, verb, ctx)
    return []


# ------------------------------------------------------------------ result sets


def lower_query(node: nodes.Statement, query: Query, ctx: Context) -> list[pl.Statement]:
    """A result set: opened as a cursor and sent by ssb_internal.show, which sets @@ROWCOUNT."""
    if ctx.in_function:
        ctx.problem(
            "Select statements included within a function cannot return data to a client.",
            node.span,
            number=444,
        )
        return []
    cursor = ctx.outer_helper("result", "refcursor")
    show = pl.Invoke(
        "ssb_internal.show", (pl.Name(ctx.session), pl.Name(cursor), columns_json(query.columns))
    )
    # A cursor variable keeps the portal's name; NULL lets OPEN choose a new one.
    body: list[pl.Statement] = [sql(statement) for statement in query.before]
    body += [pl.Assign(cursor, pl.NULL), pl.Open(cursor, query.code), pl.Assign(ctx.session, show)]
    return ctx.guard(node, body)


# ------------------------------------------------------------------ SELECT @v =


def lower_assignment(node: nodes.Statement, assignment: Assignment, ctx: Context) -> list[pl.Statement]:
    """SELECT @a = …: the last row wins, no row leaves the variables alone."""
    if assignment.rows is None:
        return _assign_values(node, assignment, ctx)
    before: list[pl.Statement] = [sql(statement) for statement in assignment.before]
    writes = isinstance(node, nodes.SqlStatement) and node.kind == "UPDATE"
    verb = "UPDATE" if writes else None
    live = ctx.liveness.after(node) if ctx.scope.session else None
    rowcount = f"{ctx.session}.rowcount" if live and live.rowcount else None
    if assignment.exactly_one_row and assignment.query is not None:
        body: list[pl.Statement] = [*before, pl.SelectInto(assignment.query, assignment.targets)]
        return [*ctx.guard(node, [*body, *ctx.status(node, pl.Number(1))])]
    record = ctx.helper(Assignment.RECORD, "record")
    assignments: list[pl.Statement] = [
        pl.Assign(target, pl.Raw(_with_record(value, record)))
        for target, value in zip(assignment.targets, assignment.values, strict=True)
    ]
    if assignment.at_most_one_row:
        body = [*before, pl.SelectInto(assignment.rows, (record,))]
        if rowcount:
            body.append(pl.GetRowCount(rowcount))
        body.append(pl.If(((pl.Name("FOUND"), tuple(assignments)),)))
    else:
        count: list[pl.Statement] = []
        body = before
        if rowcount:
            body.append(pl.Assign(rowcount, pl.Number(0)))
            count.append(pl.Assign(rowcount, pl.with_number(rowcount, "+", 1)))
        body.append(pl.ForRows(record, assignment.rows, (*assignments, *count)))
    guarded = ctx.guard(node, [*body, *ctx.status(node)], verb=verb)
    return [*guarded, *(ctx.autocommit(node) if writes else [])]


def _with_record(value: n.Node, record: str) -> n.Node:
    """A value over the record of the rows, under the name that it has here."""
    if record == Assignment.RECORD:
        return value

    def renamed(node: n.Node) -> n.Node | None:
        if isinstance(node, n.Name) and len(node.parts) > 1 and node.parts[0] == Assignment.RECORD:
            return n.Member(n.Variable(record), node.parts[1])
        return None

    return n.replaced(value, renamed)


def _assign_values(node: nodes.Statement, assignment: Assignment, ctx: Context) -> list[pl.Statement]:
    statements = [
        *map(sql, assignment.before),
        *(
            pl.Assign(target, pl.Raw(value))
            for target, value in zip(assignment.targets, assignment.values, strict=True)
        ),
    ]
    if isinstance(node, nodes.SqlStatement) and _all_safe(assignment, ctx):
        return [*statements, *ctx.status(node, pl.Number(1))]
    return [*ctx.guard(node, [*statements, *ctx.status(node, pl.Number(1))])]


def _all_safe(assignment: Assignment, ctx: Context) -> bool:
    """Tell whether no value of ``SELECT @a = …, @b = …`` can raise."""
    variables = [ctx.scope.variable(name) for name in assignment.target_names]
    return len(assignment.sources) == len(variables) and all(
        variable is not None and cannot_raise(source, ctx.scope, variable.type)
        for source, variable in zip(assignment.sources, variables, strict=True)
    )


# ------------------------------------------------------------------ DML


def lower_dml(node: nodes.Statement, dml: Dml, verb: str, ctx: Context) -> list[pl.Statement]:
    """INSERT, UPDATE, DELETE, MERGE; rows of OUTPUT go to the client or into a table variable."""
    if ctx.mode is Mode.FUNCTION:
        ctx.problem(
            f"Invalid use of a side-effecting operator '{verb}' within a function.", node.span, number=443
        )
        return []
    body = [*ctx.make_temporary_tables(dml.defines), *(sql(statement) for statement in dml.before)]
    body += ctx.begin_telling(dml)
    inserted: n.Node | None = None
    told = False
    if dml.output is not None:
        inserted = n.TRUE
        body += output_rows(dml, ctx)
    elif dml.moved is not None:
        place = ctx.helper("row_place", "text")
        body += [pl.Sql(_with_place(dml.code), (place,)), *ctx.count_rows(node)]
        body.append(
            pl.If(
                (
                    (
                        pl.Raw(n.IsNull(n.Variable(place), negated=True)),
                        (pl.Assign(dml.moved, pl.Name(place)),),
                    ),
                )
            )
        )
    elif dml.counts:
        inserted = ctx.counted_rows()
        body += [pl.SelectInto(dml.code, (f"{ctx.session}.rowcount",)), *ctx.show_count()]
    else:
        body.append(sql(dml.code))
        tells = ctx.tells_always(dml)
        if not tells and not dml.after and (ctx.scope.identity is None or not dml.identity):
            body += ctx.end_telling(dml, n.Variable("FOUND") if dml.identity else n.FALSE, verb)
            told = True
        elif dml.identity:
            # FOUND is the statement's only directly behind it; an assignment leaves the row count alone.
            found = ctx.helper("inserted", "boolean")
            body.append(pl.Assign(found, pl.Name("FOUND")))
            inserted = n.Variable(found)
        body += ctx.count_rows(node)
    body += [sql(statement) for statement in dml.after]
    body += [pl.Perform(call) for call in ctx.bind_views(dml.defines)]
    if dml.identity and inserted is not None:
        # Behind what follows a given value: it moves the identity.
        body += ctx.note_identity(dml.target, inserted)
    if not told:
        body += ctx.end_telling(dml, inserted if dml.identity and inserted is not None else n.FALSE, verb)
    for table in dml.defines:
        ctx.define(table)
    return [*ctx.guard(node, [*body, *ctx.status(node)], verb=verb), *ctx.autocommit(node)]


# ------------------------------------------------------------------ table variables


def lower_table_variable(node: nodes.Statement, dml: TableVariableDml, ctx: Context) -> list[pl.Statement]:
    """INSERT, UPDATE, DELETE of a table variable: a new value of its array."""
    reference = dml.variable.reference
    into = dml.into_before or dml.into
    body: list[pl.Statement] = [*map(sql, into.before if into is not None else ()), *map(sql, dml.before)]
    if dml.changes is not None:
        body += ctx.begin_telling(dml.changes)
    if dml.output_before is not None:
        body += show(dml.output_before, ctx)
    # Nothing stays of a statement that fails: of two variables none has its new rows before both are there.
    made, last = reference, list[pl.Statement]()
    if dml.into_before is not None:
        assert dml.into_before.replace is not None
        kept = dml.into_before.variable
        rows = ctx.helper("kept_rows", f"{kept.row_type}[]")
        number = ctx.helper("kept_count" if kept == dml.variable else "row_count", "bigint")
        body.append(pl.SelectInto(dml.into_before.replace, (rows, number)))
        if kept == dml.variable:
            # Behind the rows as the statement leaves them.
            made = ctx.helper("made_rows", f"{kept.row_type}[]")
            last = [pl.Assign(reference, pl.Raw(_with_last_rows(made, rows, number)))]
        else:
            last = [pl.Assign(kept.reference, pl.Name(rows))]
    elif dml.into is not None:
        made = ctx.helper("made_rows", f"{dml.variable.row_type}[]")
        last = [pl.Assign(reference, pl.Name(made))] if dml.into.variable != dml.variable else []
    counted = ctx.scope.session is not None
    column = dml.variable.identity
    if dml.variable.counter is not None and column is not None:
        if dml.append is not None:
            body.append(pl.Assign(dml.variable.counter, pl.Raw(next_number(dml.variable, column))))
        elif _verb(node) == "DELETE":
            body.append(pl.Assign(dml.variable.counter, pl.Raw(last_number(dml.variable, column))))
    if dml.append is not None:
        row = pl.Raw(dml.append)
        if dml.unique:
            new_row = ctx.helper("new_row", dml.variable.row_type)
            body.append(pl.Assign(new_row, row))
            here = n.Variable(dml.variable.query_reference.removesuffix(reference) + new_row)
            body += [pl.Perform(pl.Raw(_with_row(condition, here))) for condition in dml.unique]
            row = pl.Raw(n.Variable(new_row))
        appended = pl.Invoke("array_append", (pl.Name(reference), row))
        body.append(pl.Assign(made, appended))
        if counted and ctx.counts(node):
            body.append(pl.Assign(f"{ctx.session}.rowcount", pl.Number(1)))
        added: n.Node = n.Integer(1)
    else:
        assert dml.replace is not None
        count = f"{ctx.session}.rowcount" if counted else ctx.helper("row_count", "bigint")
        added = n.Variable(count)
        body.append(pl.SelectInto(dml.replace, (made, count)))
    if dml.into is not None:
        assert dml.into.replace is not None
        there = n.Variable(dml.variable.query_reference)
        here = n.Variable(dml.variable.query_reference.removesuffix(reference) + made)
        told = n.replaced(_with_number(dml.into.replace, added), lambda node: here if node == there else None)
        body.append(pl.SelectInto(told, (dml.into.variable.reference, ctx.helper("row_count", "bigint"))))
    body += last
    if dml.output_after is not None:
        body += show(replace(dml.output_after, code=_with_number(dml.output_after.code, added)), ctx)
    elif counted and ctx.counts(node):
        body += ctx.show_count()
    if dml.changes is not None:
        body += [sql(statement) for statement in dml.changes.after]
        inserted = n.Comparison(">", added, n.Integer(0)) if dml.changes.identity else n.FALSE
        if dml.changes.identity:
            body += ctx.note_identity(dml.changes.target, inserted)
        body += ctx.end_telling(dml.changes, inserted, _verb(node))
    elif _verb(node) == "INSERT":
        body += ctx.note_last_identity(dml.variable, added)
    return [*ctx.guard(node, [*body, *ctx.status(node)], verb=_verb(node))]


def _with_last_rows(made: str, rows: str, number: str) -> n.Node:
    """The array ``made`` with so many rows behind it, the last ones of ``rows``."""
    count = n.Call("cardinality", (n.Variable(rows),))
    first = n.Sum("+", n.Sum("-", count, n.Variable(number)), n.Integer(1))
    return n.joined(n.Variable(made), n.Slice(n.Variable(rows), first, count))


def _with_place(change: n.Node) -> n.Node:
    """An UPDATE that gives its row's new place back."""
    if isinstance(change, q.With):
        return replace(change, body=_with_place(change.body))
    assert isinstance(change, s.Update)
    return s.Returning(change, (n.Name(("ctid",)),), line=True)


def _with_number(query: n.Node, added: n.Node) -> n.Node:
    """A query over the rows that a statement has added, with their number."""
    return n.replaced(query, lambda node: added if node is TableVariableDml.ADDED else None)


def _with_row(condition: n.Node, row: n.Node) -> n.Node:
    """A condition of the row that is about to be appended."""
    return n.replaced(condition, lambda node: row if node is TableVariableDml.NEW_ROW else None)


def _verb(node: nodes.Statement) -> str:
    return node.kind.split()[0] if isinstance(node, nodes.SqlStatement) else "INSERT"


# ------------------------------------------------------------------ DDL


def lower_ddl(node: nodes.Statement, ddl: Ddl, verb: str, ctx: Context) -> list[pl.Statement]:
    """CREATE TABLE, ALTER TABLE, CREATE INDEX …"""
    makes = isinstance(node, nodes.CreateTable)
    remember(ddl, ctx, makes=makes)
    body: list[pl.Statement] = [sql(statement) for statement in ddl.statements]
    if not body:
        return []
    if makes:
        body = [*ctx.make_temporary_tables(ddl.defines), *body]
    body += [pl.Perform(call) for call in ctx.bind_views(ddl.defines)]
    # '': errors have no word for it, but one of a DDL trigger's stands in the detail.
    if isinstance(node, nodes.SqlStatement):
        verb = node.definition_verb
    elif makes:
        verb = ""
    return [*ctx.guard(node, [*body, *ctx.status(node, pl.Number(0))], verb=verb), *ctx.autocommit(node)]


def remember(ddl: Ddl, ctx: Context, *, makes: bool = True) -> None:
    """Keep what the script knows of its tables up to date; ``makes``: the statement makes them."""
    for name in ddl.drops:
        ctx.catalog.tables.pop(ctx.catalog.key(name), None)
    for table in ddl.defines:
        ctx.define(table, makes=makes)
    for name, base, not_null in ddl.types:
        ctx.catalog.define_type(name, base, not_null)
