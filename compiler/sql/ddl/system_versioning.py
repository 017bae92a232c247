"""System-versioned (temporal) tables: periods, SYSTEM_VERSIONING, FOR SYSTEM_TIME.

The work is done in the server (statements/system_versioning.sql): triggers set the period's columns and
keep former rows in the history table.  Here their declarations are read, and what the script
may do with the columns is known.
"""

from __future__ import annotations

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ...catalog import types as tm
from ...catalog.names import ObjectName, fold, other_than_folded
from ...catalog.objects import ColumnInfo, TableInfo
from ...target import nodes as n
from ...target import statements as s
from ...target.emit import emit
from ..context import Context, object_name
from ..conversions import convert
from ..expressions.names import scalar
from ..parse.reader import Reader
from .definitions import Definition


@dataclass(frozen=True)
class Versioning:
    """``SYSTEM_VERSIONING = ON (HISTORY_TABLE = h)`` or ``= OFF``."""

    on: bool
    history: ObjectName | None = None


def read_versioning(reader: Reader) -> Versioning | None:
    """Return what the options ahead, up to the statement's end, say about SYSTEM_VERSIONING.

    Nothing is consumed. HISTORY_RETENTION_PERIOD and DATA_CONSISTENCY_CHECK ask for nothing that
    could be had here: rows stay, and what is wrong in a history is found in any case.
    """
    ahead = 0
    while reader.text_at(ahead) != "SYSTEM_VERSIONING":
        if not reader.text_at(ahead):
            return None
        ahead += 1
    if reader.text_at(ahead + 2) == "OFF":
        return Versioning(False)
    while text := reader.text_at(ahead):
        if text == "HISTORY_TABLE":
            return Versioning(True, object_name(reader.target_at(ahead + 2)))
        ahead += 1
    return Versioning(True)


def require_generated(definition: Definition, ctx: Context) -> None:
    """The period names the columns that are GENERATED ALWAYS, and both come together."""
    generated = [column for column in definition.columns if column.generated]
    if definition.period is None:
        if generated:
            ctx.problem(
                "Cannot create generated always column when SYSTEM_TIME period is not defined.",
                generated[0].name,
                number=13509,
            )
        return
    for number, word, name in zip((13506, 13507), ("START", "END"), definition.period, strict=True):
        if fold(name) not in {fold(column.name.name) for column in generated}:
            ctx.problem(
                f"System-versioned table SYSTEM_TIME period definition {word.lower()} column name not "
                f"matching 'GENERATED ALWAYS AS ROW {word}' column name.",
                number=number,
            )


def add_period(definition: Definition, sql: str) -> list[n.Node]:
    """What gives a table its period, once its columns are there."""
    if definition.period is None:
        return []
    start, end = (fold(name) for name in definition.period)
    hidden = {fold(column.name.name) for column in definition.columns if column.hidden}
    flags = (n.truth(start in hidden), n.truth(end in hidden)) if hidden else ()
    arguments = (n.Text(sql), n.Text(start), n.Text(end), *flags)
    return [s.Effect(n.Call("ssb_internal.add_period", arguments))]


def start_versioning(sql: str, versioning: Versioning, ctx: Context) -> n.Node:
    """SYSTEM_VERSIONING = ON."""
    arguments = [n.Text(sql)]
    if versioning.history is not None:
        name = versioning.history
        arguments += map(n.Text, (ctx.defined_name(name), *other_than_folded([name.name])))
    return s.Effect(n.Call("ssb_internal.start_versioning", tuple(arguments)))


def history_table(info: TableInfo, versioning: Versioning) -> list[TableInfo]:
    """The history as the script sees it: columns without identity, keys or defaults."""
    if versioning.history is None:
        return []
    columns = tuple(ColumnInfo(column.name, column.type, column.nullable) for column in info.columns)
    return [TableInfo(versioning.history, columns)]


def without_period(info: TableInfo) -> TableInfo:
    """A table whose period has been dropped: its columns are like others."""
    return replace(
        info, columns=tuple(replace(column, generated=False, hidden=False) for column in info.columns)
    )


def explicit_value(table: ObjectName, node: exp.Expr | None, ctx: Context) -> None:
    """13536: a value for a column that the period sets."""
    full = f"{table.database or ctx.scope.database}.{table.schema or 'dbo'}.{table.name}"
    ctx.problem(
        f"Cannot insert an explicit value into a GENERATED ALWAYS column in table '{full}'. Use INSERT with "
        "a column list to exclude the GENERATED ALWAYS column, or insert a DEFAULT into GENERATED ALWAYS "
        "column.",
        node,
        number=13536,
    )


def versions(version: exp.Expr, table: n.Node, ctx: Context) -> n.Node:
    """``t FOR SYSTEM_TIME …`` as a call that gives t's rows and former rows."""
    kind = version.args["kind"]
    given = version.args.get("expression")
    nodes = given.expressions if isinstance(given, exp.Tuple) else [given] if given is not None else []
    if len(nodes) != {"AS OF": 1, "ALL": 0}.get(kind, 2):
        ctx.problem("Incorrect syntax near 'FOR SYSTEM_TIME'.", version, number=102)
    moments = [convert(scalar(node, ctx), tm.DATETIME2).code for node in nodes]
    return n.Call("ssb_internal.row_versions", (n.Cast(n.NULL, emit(table)), n.Text(kind), *moments))
