"""FOR JSON PATH and AUTO: rows become JSON text, nested as the column names or tables say.

The objects are written out here; runtime_sql/for_clauses/for_json.sql writes the values.  A NULL
leaves its member out, which ``concat_ws`` does by itself.
"""

from __future__ import annotations

from dataclasses import field
from functools import reduce

from sqlglot import exp

from ....grammar.records import dataclass
from ...catalog import types as tm
from ...catalog.objects import ResultColumn
from ...target import nodes as n
from ..context import Context
from ..json_values import is_json, json_value, key_text
from ..parse.nodes import ForXml
from ..query_result import Shape
from ..values import Value

RESULT_NAME = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"
"""What SQL Server calls the column of a FOR JSON query."""


@dataclass
class Options:
    """The options of FOR JSON."""

    mode: str
    root: str | None = None
    nulls: bool = False
    wrapped: bool = True


def options(node: ForXml, ctx: Context) -> Options | None:
    """Read the options; None after a problem."""
    found = Options("")
    for option in node.args.get("options") or []:
        argument = option.expressions[0].name if option.expressions else None
        match option.name:
            case "PATH" | "AUTO" as mode if argument is None:
                found.mode = mode
            case "ROOT":
                found.root = "root" if argument is None else argument
            case "INCLUDE_NULL_VALUES" if argument is None:
                found.nulls = True
            case "WITHOUT_ARRAY_WRAPPER" if argument is None:
                found.wrapped = False
            case name:
                ctx.problem(f"Incorrect syntax near '{name}'.", option, number=102)
                return None
    if not found.mode:
        ctx.problem("FOR JSON needs PATH or AUTO", node, number=102)
        return None
    if found.root is not None and not found.wrapped:
        ctx.problem(
            "ROOT option and WITHOUT_ARRAY_WRAPPER option cannot be used together in FOR JSON. Remove one of "
            "these options.",
            node,
            number=13620,
        )
        return None
    return found


def result_column() -> ResultColumn:
    """The one column of a FOR JSON query."""
    return ResultColumn(RESULT_NAME, tm.NVARCHAR_MAX)


def written_json(node: exp.Expr, count: int) -> list[bool]:
    """Which columns of the select list are JSON already: JSON_QUERY and nested FOR JSON."""
    items = node.expressions if isinstance(node, exp.Select) else []
    if len(items) != count:
        # A star is in the list; a column of a table is never JSON.
        return [False] * count
    return [is_json(item.this if isinstance(item, exp.Alias) else item) for item in items]


def whole(
    found: Options, shape: Shape, ctx: Context, node: exp.Expr, *, many: bool, order: tuple[n.OrderItem, ...]
) -> n.Node:
    """The expression that turns rows into JSON: an aggregate when there may be ``many`` rows."""
    if found.mode == "AUTO" and isinstance(node, exp.Select) and node.args.get("from_") is None:
        ctx.problem(
            "FOR JSON AUTO requires at least one table for generating JSON objects. Use FOR JSON PATH or add "
            "a FROM clause with a table name.",
            node,
            number=13600,
        )
    raw = written_json(node, len(shape.values))
    tables = list(dict.fromkeys(table for table in shape.tables if table is not None))
    if found.mode == "AUTO" and len(tables) > 1:
        levels = _levels(found, shape, raw, tables, ctx, node)
        names = n.Array(tuple(n.Text(key_text(table)) for table in tables[1:]))
        rows = n.Group(n.Call("array_agg", (n.Array((n.Lines(tuple(levels)),)),), order))
        content: n.Node = n.Call("sys.json_auto", (n.Lines((names, rows)),))
    else:
        root = Members()
        for place, (name, value) in enumerate(zip(shape.names, shape.values, strict=True)):
            _add(root, name, value, raw[place], found, ctx, node)
        content = n.Call("concat", (n.Text("{"), root.code(), n.Text("}")))
        if many:
            content = n.Call("string_agg", (content, n.Text(",")), order)
    if found.root is not None:
        return _side_by_side(n.Text("{"), n.Text(key_text(found.root) + ":["), content, n.Text("]}"))
    return _side_by_side(n.Text("["), content, n.Text("]")) if found.wrapped else content


def _side_by_side(first: n.Node, *rest: n.Node) -> n.Node:
    """``a || b || c``."""
    return reduce(n.joined, rest, first)


@dataclass
class Members:
    """The members of an object: JSON text that is NULL when it vanishes, or an object in it."""

    values: dict[str, n.Node | Members] = field(default_factory=dict)

    def code(self) -> n.Node:
        """The members with commas between; the empty text where there are none."""
        members: list[n.Node] = []
        for name, value in self.values.items():
            if isinstance(value, Members):
                inner = n.Call("nullif", (value.code(), n.Text("")))
                members.append(_side_by_side(n.Text(key_text(name) + ":{"), inner, n.Text("}")))
            else:
                members.append(_side_by_side(n.Text(key_text(name) + ":"), value))
        return n.Call("concat_ws", (n.Text(","), *members))


def _add(
    root: Members, name: str | None, value: Value, raw: bool, found: Options, ctx: Context, node: exp.Expr
) -> None:
    if not name:
        ctx.problem(
            "Column expressions and data sources without names or aliases cannot be formatted as "
            "JSON text using "
            "FOR JSON clause. Add alias to the unnamed column or table.",
            node,
            number=13605,
            hint="add an alias",
        )
        return
    steps = name.split(".") if found.mode == "PATH" else [name]
    if not all(steps):
        ctx.problem(
            f"Property '{name}' cannot be generated in JSON output due to invalid character in the column "
            "name or alias. Column name or alias that contains '..', starts or ends with '.' is not allowed "
            "in query that has FOR JSON clause.",
            node,
            number=13603,
        )
        return
    parent = root
    for step in steps[:-1]:
        inner = parent.values.setdefault(step, Members())
        # Only neighbours share an object.
        if not isinstance(inner, Members) or list(parent.values)[-1] != step:
            return _conflict(name, ctx, node)
        parent = inner
    if steps[-1] in parent.values:
        return _conflict(name, ctx, node)
    parent.values[steps[-1]] = json_value(value, raw, nulls=found.nulls)
    return None


def _conflict(name: str, ctx: Context, node: exp.Expr) -> None:
    ctx.problem(
        f"Property '{name}' cannot be generated in JSON output due to a conflict with another column name or "
        "alias. Use different names and aliases for each column in SELECT list.",
        node,
        number=13601,
    )


def _levels(
    found: Options, shape: Shape, raw: list[bool], tables: list[str], ctx: Context, node: exp.Expr
) -> list[n.Node]:
    """The members of each table's object; a computed column belongs to the table before it."""
    members = {table: Members() for table in tables}
    current = tables[0]
    for place, (name, value, table) in enumerate(zip(shape.names, shape.values, shape.tables, strict=True)):
        current = table or current
        _add(members[current], name, value, raw[place], found, ctx, node)
    return [one.code() for one in members.values()]
