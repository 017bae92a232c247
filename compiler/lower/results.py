"""Result sets: their columns as JSON for the client, and the rows of queries and of OUTPUT."""

from __future__ import annotations

import json

from ..catalog.objects import ResultColumn
from ..plpgsql import nodes as pl
from ..sql.interface import Assignment, Dml, Query
from ..target import nodes as n
from ..target import statements as s
from .context import Context


def columns_json(columns: tuple[ResultColumn, ...] | None) -> pl.Expr:
    """Return what is known of a result set's columns, as ssb_internal.show takes it."""
    if columns is None:
        return pl.NULL
    known = [
        {"name": column.name, "type": column.type.postgres if column.type else None}
        | ({"of": column.every_of} if column.every_of is not None else {})
        for column in columns
    ]
    return pl.Text(json.dumps(known, ensure_ascii=False, separators=(",", ":")))


def sql(statement: n.Node) -> pl.Statement:
    """A statement of SQL; for one whose row nobody wants PL/pgSQL asks for PERFORM."""
    if isinstance(statement, s.Effect):
        return pl.Perform(pl.Raw(statement.call))
    return pl.Sql(statement)


def output_rows(dml: Dml, ctx: Context) -> list[pl.Statement]:
    """Send the rows of OUTPUT to the client: a cursor cannot run a statement that changes data."""
    record = ctx.helper(Assignment.RECORD, "record")
    rows = ctx.outer_helper("output_rows", "text[]")
    values = pl.Invoke("ssb_internal.row_values", (pl.Invoke("row_to_json", (pl.Name(record),)),))
    append = pl.Assign(rows, pl.Invoke("array_append", (pl.Name(rows), values)))
    show = pl.Invoke(
        "ssb_internal.show_collected", (pl.Name(ctx.session), pl.Name(rows), columns_json(dml.output))
    )
    return [
        pl.Assign(rows, pl.NO_ROWS),
        pl.ForRows(record, dml.code, (append,)),
        pl.Assign(ctx.session, show),
    ]


def show(query: Query, ctx: Context) -> list[pl.Statement]:
    """Run a query and send its rows to the client."""
    cursor = ctx.outer_helper("result", "refcursor")
    show = pl.Invoke(
        "ssb_internal.show", (pl.Name(ctx.session), pl.Name(cursor), columns_json(query.columns))
    )
    return [pl.Assign(cursor, pl.NULL), pl.Open(cursor, query.code), pl.Assign(ctx.session, show)]
