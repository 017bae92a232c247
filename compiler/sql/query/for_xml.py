"""FOR XML PATH, RAW and AUTO: rows become XML text, nested as the column names or tables say.

The nesting is known here, so it is written out; what depends on the row (NULLs, formats,
escaping) is left to the builders of runtime_sql/xml/README.md.
"""

from __future__ import annotations

import re
import string
from dataclasses import field

from sqlglot import exp

from ....grammar.records import dataclass
from ...catalog import types as tm
from ...catalog.names import fold
from ...catalog.objects import ResultColumn
from ...catalog.types import SqlType
from ...target import nodes as n
from ...target import queries as q
from ..context import Context, Relation
from ..conversions import as_text
from ..expressions.names import find_relation
from ..parse.nodes import ForXml
from ..query_result import Shape, atom
from ..values import Value
from .for_xml_explicit import explicit

RESULT_NAME = "XML_F52E2B61-18A1-11d1-B105-00805F49916B"
"""What SQL Server calls the column of a FOR XML query."""


@dataclass
class Options:
    """The options of FOR XML."""

    mode: str
    row: str
    root: str | None = None
    typed: bool = False
    elements: bool = False
    xsinil: bool = False
    base64: bool = False


def options(node: ForXml, ctx: Context) -> Options | None:
    """Read the options; None after a problem."""
    found = Options("", "row")
    for option in node.args.get("options") or []:
        name = option.name
        argument = option.expressions[0].name if option.expressions else None
        if name in ("PATH", "RAW"):
            found.mode, found.row = name, "row" if argument is None else argument
        elif name == "AUTO" or name == "EXPLICIT":
            found.mode = name
        elif name == "ROOT":
            found.root = "root" if argument is None else argument
        elif name == "TYPE":
            found.typed = True
        elif name in ("ELEMENTS", "ELEMENTS ABSENT"):
            found.elements = True
        elif name == "ELEMENTS XSINIL":
            found.elements = found.xsinil = True
        elif name in ("XMLDATA", "XMLSCHEMA"):
            ctx.unsupported(f"{name} of FOR XML", option)
            return None
        elif name == "BINARY BASE64":
            found.base64 = True
        else:
            ctx.problem(f"Incorrect syntax near '{name}'.", option, number=102)
            return None
    if not found.mode:
        ctx.problem("FOR XML needs PATH, RAW, AUTO or EXPLICIT", node, number=102)
        return None
    if found.mode in ("PATH", "RAW") and found.row:
        _check_name(found.row, "Row", found.row, found, ctx, node)
    if found.root == "":
        ctx.problem("Empty root tag name can't be specified with FOR XML.", node, number=6861)
    elif found.root is not None:
        _check_name(found.root, "ROOT", found.root, found, ctx, node)
    return found


def _check_name(step: str, what: str, written: str, found: Options, ctx: Context, node: exp.Expr) -> None:
    """Report a name that XML does not take, and a prefix that nothing declares."""
    prefix, colon, local = step.partition(":")
    declared = not colon or prefix == "xml" or prefix in ctx.namespaces or (prefix == "xsi" and found.xsinil)
    parts = (prefix, local) if colon else (step,)
    for part in parts:
        wrong = next(
            (one for place, one in enumerate(part) if not _may_stand(one, place)), "" if part else ":"
        )
        if wrong:
            ctx.problem(
                f"{what} name '{written}' contains an invalid XML identifier as required by FOR XML; "
                f"'{wrong}'(0x{ord(wrong):04X}) is the first character at fault.",
                node,
                number=6850,
            )
            return
    if not declared:
        ctx.problem(
            f"XML name space prefix '{prefix}' declaration is missing for FOR XML {what.lower()} name "
            f"'{written}'.",
            node,
            number=6846,
        )


def result_column(found: Options) -> ResultColumn:
    """The one column of a FOR XML query; it has no name where it is xml."""
    return ResultColumn(None if found.typed else RESULT_NAME, result_type(found))


def result_type(found: Options) -> SqlType:
    """Xml with TYPE, else nvarchar(max)."""
    return tm.XML if found.typed else tm.NVARCHAR_MAX


def whole(
    found: Options, shape: Shape, ctx: Context, node: exp.Expr, *, many: bool, order: tuple[n.OrderItem, ...]
) -> n.Node:
    """The expression that turns rows into XML: an aggregate when there may be ``many`` rows."""
    if found.mode in ("RAW", "EXPLICIT") and not found.base64:
        _refuse_bytes(shape, ctx, node)
    if found.mode == "EXPLICIT":
        content = explicit(shape, ctx, node, order)
    elif found.mode == "AUTO":
        content = _auto(found, shape, ctx, node, order, many)
    else:
        declarations = None if found.root is not None else _declarations(found, ctx)
        row = _row(found, shape, declarations, ctx, node)
        content = row
        if many:
            only_data = not found.row and all(
                name is not None and name.endswith("data()") for name in shape.names
            )
            content = n.Call("string_agg", (row, n.Text(" " if only_data else "")), order)
    if found.root is not None:
        content = _element(found.root, _declarations(found, ctx) or EMPTY, content)
    return n.Call("sys.xml_of_content", (content,)) if found.typed else content


def _refuse_bytes(shape: Shape, ctx: Context, node: exp.Expr) -> None:
    """Report bytes that nothing says how to write."""
    for name, value in zip(shape.names, shape.values, strict=True):
        if value.family == "binary":
            ctx.problem(
                "FOR XML EXPLICIT and RAW modes currently do not support addressing binary data as URLs in "
                f"column '{name or ''}'. Remove the column, or use the BINARY BASE64 mode, or create the URL "
                "directly using the 'dbobject/TABLE[@PK1=\"V1\"]/@COLUMN' syntax.",
                node,
                number=6829,
            )
            return


EMPTY = n.Text("")
"""No attributes."""


def _declarations(found: Options, ctx: Context) -> n.Text | None:
    if not ctx.namespaces and not found.xsinil:
        return None
    text = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"' if found.xsinil else ""
    for prefix, uri in reversed(ctx.namespaces.items()):
        escaped = uri.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        text += f' xmlns{":" + prefix if prefix else ""}="{escaped}"'
    return n.Text(text)


def _row(found: Options, shape: Shape, declarations: n.Text | None, ctx: Context, node: exp.Expr) -> n.Node:
    tree = Element(found.row)
    if found.mode == "PATH":
        _path_tree(tree, shape, found, ctx, node)
    else:
        seen: set[str] = set()
        for name, value in zip(shape.names, shape.values, strict=True):
            if name is None:
                if value.family == "xml":
                    tree.children.append(atom(value))
                else:
                    ctx.problem(_UNNAMED, node, number=6809)
                continue
            tag = _tag(name, ctx)
            if found.elements or value.family == "xml":
                tree.children.append(_leaf(tag, value, found))
            else:
                _only_once(name, seen, ctx, node)
                tree.attributes.append(_attribute(tag, value))
    attributes = [*([declarations] if declarations is not None else []), *tree.attributes]
    if not found.row:
        if tree.attributes:
            ctx.problem(_OMITTED_ROW, node, number=6864)
        return _concat(tree.codes(_declarations(found, ctx)))
    return _element(found.row, _concat(attributes), _concat(tree.codes(), always=True))


def _only_once(name: str, seen: set[str], ctx: Context, node: exp.Expr) -> None:
    """Report an attribute that its tag has already: at the last column of that name."""
    if name in seen:
        columns = [one for one in node.expressions if one.alias_or_name == name]
        ctx.problem(
            f"Column name '{name}' is repeated. The same attribute cannot be generated more than once on the "
            "same XML tag.",
            columns[-1] if columns else node,
            number=6810,
        )
    seen.add(name)


def _element(name: str, attributes: n.Node, content: n.Node) -> n.Node:
    return n.Group(n.Call("sys.xml_element", (n.Text(name), attributes, n.Line(content))))


def _attribute(name: str, value: Value) -> n.Node:
    return n.Call("sys.xml_attribute", (n.Text(name), atom(value)))


def _leaf(tag: str, value: Value, found: Options, declarations: n.Text | None = None) -> n.Node:
    further: tuple[n.Node, ...] = (n.TRUE,) if found.xsinil else ()
    if declarations is not None:
        further = (n.TRUE if found.xsinil else n.FALSE, declarations)
    return n.Call("sys.xml_leaf", (n.Text(tag), atom(value), *further))


def _concat(codes: list[n.Node], *, always: bool = False) -> n.Node:
    """Pieces of XML side by side: NULL ones vanish, and no piece at all is the empty text."""
    if not codes:
        return EMPTY
    if len(codes) == 1 and not always and isinstance(codes[0], n.Text):
        return codes[0]
    return n.Call("concat", (n.Lines(tuple(codes)),))


# ---------------------------------------------------------------- PATH


@dataclass
class Element:
    """An element that columns build together; ``children`` are trees and elements in order."""

    name: str
    attributes: list[n.Node] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """Those of the columns that are attributes."""
    children: list[n.Node | Element] = field(default_factory=list)
    data: bool = False
    """The last child is a list that further data() columns join."""
    leaf: tuple[Value, Options] | None = None
    """Nothing but one value so far."""

    def codes(self, declarations: n.Text | None = None) -> list[n.Node]:
        """The children, each as a tree, with the namespaces that no element around them declares."""
        return [child.code(declarations) if isinstance(child, Element) else child for child in self.children]

    def code(self, declarations: n.Text | None = None) -> n.Node:
        """The element: nothing when it turns out empty."""
        if self.leaf is not None:
            return _leaf(self.name, *self.leaf, declarations)
        parts = (n.Text(self.name), _concat(self.attributes), _concat(self.codes()))
        return n.Call("sys.xml_group", parts if declarations is None else (*parts, declarations))


_UNNAMED = (
    "Unnamed tables cannot be used as XML identifiers as well as unnamed columns cannot be used for "
    "attribute names. Name unnamed columns/tables using AS in the SELECT statement."
)
_OMITTED_ROW = (
    "Row tag omission (empty row tag name) cannot be used with attribute-centric FOR XML serialization."
)
_INSTRUCTION = re.compile(r"processing-instruction\((.+)\)\Z")
_TESTS = ("*", "node()", "text()", "data()", "comment()")


def _is_test(step: str) -> bool:
    """Whether a step of a column's name is no name itself."""
    return step in _TESTS or _INSTRUCTION.match(step) is not None


def _path_tree(root: Element, shape: Shape, found: Options, ctx: Context, node: exp.Expr) -> None:
    data: dict[int, list[n.Node]] = {}
    for name, value in zip(shape.names, shape.values, strict=True):
        steps = [] if name is None else name.split("/")
        if name is not None and (name == "" or any(step == "" for step in steps)):
            ctx.problem(
                f"FOR XML PATH error in column '{name}' - '//' and leading and trailing '/' are not allowed "
                "in simple path expressions.",
                node,
                number=6849,
            )
            continue
        last = steps[-1] if steps else "*"
        for place, step in enumerate(steps, 1):
            if not _is_test(step):
                # The last step alone may be an attribute.
                named = step.removeprefix("@") if place == len(steps) else step
                _check_name(named, "Column", name or "", found, ctx, node)
        element = root
        for step in steps[:-1]:
            element = _descend(element, step)
        if last.startswith("@"):
            if element.children or element.leaf is not None:
                ctx.problem(
                    f"Attribute-centric column '{name}' must not come after a non-attribute-centric sibling "
                    "in XML hierarchy in FOR XML PATH.",
                    node,
                    number=6852,
                )
                return  # the columns behind it come after that sibling, too
            if value.family == "xml":
                ctx.problem(
                    f"Column '{name}' has invalid data type for attribute-centric XML serialization in "
                    "FOR XML PATH.",
                    node,
                    number=6851,
                )
            _only_once(name or "", element.names, ctx, node)
            element.attributes.append(_attribute(last[1:], value))
            continue
        if element.leaf is not None:
            element.children.append(atom(element.leaf[0]))
            element.leaf = None
        if last in ("*", "node()", "text()"):
            element.children.append(atom(value))
        elif last == "data()":
            if element.children and element.data:
                pieces = data[id(element)]
                pieces.append(atom(value))
                element.children[-1] = n.Call("concat_ws", (n.Text(" "), *pieces))
            else:
                data[id(element)] = [atom(value)]
                element.children.append(n.Call("concat_ws", (n.Text(" "), atom(value))))
            element.data = True
            continue
        elif last == "comment()":
            element.children.append(n.Call("sys.xml_comment", (_plain(value),)))
        elif (match := _INSTRUCTION.match(last)) is not None:
            instruction = (n.Text(match.group(1)), _plain(value))
            element.children.append(n.Call("sys.xml_instruction", instruction))
        else:
            _value_element(element, last, value, found)
        element.data = False


def _plain(value: Value) -> n.Node:
    return as_text(value).code


def _descend(element: Element, step: str) -> Element:
    """The element ``step`` that neighbouring columns share."""
    last = element.children[-1] if element.children else None
    if isinstance(last, Element) and last.name == step:
        if last.leaf is not None:
            last.children.append(atom(last.leaf[0]))
            last.leaf = None
        return last
    fresh = Element(step)
    element.children.append(fresh)
    return fresh


def _value_element(parent: Element, name: str, value: Value, found: Options) -> None:
    """A column that is an element; a neighbour of the same name goes into the same one."""
    last = parent.children[-1] if parent.children else None
    if isinstance(last, Element) and last.name == name:
        if last.leaf is not None:
            last.children.append(atom(last.leaf[0]))
            last.leaf = None
        last.children.append(atom(value))
        return
    parent.children.append(Element(name, leaf=(value, found)))


# ---------------------------------------------------------------- AUTO


def _auto(
    found: Options, shape: Shape, ctx: Context, node: exp.Expr, order: tuple[n.OrderItem, ...], many: bool
) -> n.Node:
    """One element a table, nested in the order in which their columns appear."""
    if isinstance(node, exp.Select) and node.args.get("from_") is None:
        ctx.problem(
            "FOR XML AUTO requires at least one table for generating XML tags. Use FOR XML RAW or add a FROM "
            "clause with a table name.",
            node,
            number=6800,
        )
    elements: list[str] = []
    columns: dict[str, list[tuple[str, Value]]] = {}
    attribute_names: dict[str, set[str]] = {}
    current = ""
    for name, value, table in zip(shape.names, shape.values, shape.tables, strict=True):
        if table is not None:
            current = table
        if current not in columns:
            elements.append(current)
            columns[current] = []
            attribute_names[current] = set()
        if name is None and value.family != "xml":
            ctx.problem(_UNNAMED, node, number=6809)
        if name is not None and not found.elements and value.family != "xml":
            _only_once(name, attribute_names[current], ctx, node)
        columns[current].append((_tag(name or "", ctx), value))
    declarations = None if found.root is not None else _declarations(found, ctx)
    openings = []
    for level, element in enumerate(elements):
        tag = _tag(element, ctx)
        attributes: list[n.Node] = []
        content: list[n.Node] = []
        for name, value in columns[element]:
            if not name:
                content.append(atom(value))
            elif found.elements or value.family == "xml":
                content.append(_leaf(name, value, found))
            else:
                attributes.append(_attribute(name, value))
        if level == 0 and declarations is not None:
            attributes.insert(0, declarations)
        openings.append((tag, attributes, content))
    if len(openings) == 1:
        tag, attributes, content = openings[0]
        row = _element(tag, _concat(attributes), _concat(content, always=True))
        if not many:
            return row
        return n.Call("string_agg", (row, EMPTY), order)
    names = n.Array(tuple(n.Text(tag) for tag, _, _ in openings))
    tags = n.Array(
        tuple(
            n.Call("concat", (n.Text(f"<{tag}"), *attributes, n.Text(">"), *content))
            for tag, attributes, content in openings
        )
    )
    return n.Call("sys.xml_nested", (names, n.Call("array_agg", (tags,), order)))


def column_tables(node: exp.Expr, count: int, ctx: Context) -> list[str | None]:
    """For AUTO: the name of the table that each column of the select list comes from."""
    tables: list[str | None] = []
    if not isinstance(node, exp.Select):
        return [None] * count
    shown = _shown_names(node)
    for item in node.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        if isinstance(inner, exp.Star):
            for relation in ctx.frame.relations:
                tables += [shown.get(relation.alias, relation.alias)] * _count_shown(relation)
            continue
        if not isinstance(inner, exp.Column):
            tables.append(None)
            continue
        found: Relation | None
        if inner.args.get("table") is not None:
            found = find_relation([part.name for part in inner.parts[:-1]], ctx)
        else:
            found = next((r for r in ctx.frame.relations if r.column(inner.name) is not None), None)
            if found is None and len(ctx.frame.relations) == 1:
                found = ctx.frame.relations[0]
        name = shown.get(found.alias, found.alias) if found is not None else None
        if isinstance(inner.this, exp.Star):
            tables += [name] * (_count_shown(found) if found is not None else 0)
        else:
            tables.append(name)
    return tables


def _count_shown(relation: Relation) -> int:
    """Number of columns that ``*`` stands for."""
    return sum(not column.hidden for column in relation.columns or ())


def _shown_names(node: exp.Select) -> dict[str, str]:
    """Relations as the script spells them: alias, else the dotted name."""
    names: dict[str, str] = {}
    from_ = node.args.get("from_")
    items = [from_.this] if from_ is not None else []
    items += [join.this for join in node.args.get("joins") or []]
    for item in items:
        alias = item.args.get("alias")
        if alias is not None and alias.name:
            names[fold(alias.name)] = alias.name
        elif isinstance(item, exp.Table):
            names[fold(item.name)] = ".".join(part.name for part in item.parts)
    return names


_LETTERS = frozenset(string.ascii_letters + "_")
_FURTHER = frozenset(string.digits + ".-\u00b7")


def _may_stand(character: str, place: int) -> bool:
    """Whether an XML name may have the character there (no pattern: its ranges take long to compile)."""
    return character in _LETTERS or "\u00c0" <= character <= "\uffff" or (place > 0 and character in _FURTHER)


def _tag(name: str, ctx: Context) -> str:
    """The tag for the name of a column or table (RAW, AUTO): a prefix that is declared stays one."""
    prefix, colon, local = name.partition(":")
    if colon and local and prefix in ctx.namespaces:
        return f"{prefix}:{xml_name(local)}"
    return xml_name(name)


def xml_name(name: str) -> str:
    """An XML name for any identifier: what does not fit becomes ``_xHHHH_`` (RAW, AUTO)."""
    out = []
    for place, character in enumerate(name):
        escape_like = character == "_" and re.match(r"_x[0-9A-Fa-f]{4}_", name[place:]) is not None
        if _may_stand(character, place) and not escape_like:
            out.append(character)
        else:
            out.append(f"_x{ord(character):04X}_")
    return "".join(out)


def wrap(inner: n.Node, count: int, expression: n.Node) -> n.Node:
    """The XML expression over a query of ``count`` columns."""
    labels = tuple(f"c{place}" for place in range(1, count + 1))
    return q.Select((expression,), q.Aliased(n.Subquery(inner), "r", labels))


def labelled(values: list[Value]) -> list[Value]:
    """The columns of the query inside, as :func:`wrap` names them."""
    return [
        Value(n.Name(("r", f"c{place}")), value.type, pg=value.pg) for place, value in enumerate(values, 1)
    ]
