"""Methods of the xml type: .value, .query, .exist, .nodes, .modify → the runtime's sys.xml_… functions.

The contract stands in runtime_sql/xml/README.md.  Paths stay text: the runtime compiles
them.  What WITH XMLNAMESPACES declared travels as a jsonb literal, what
``sql:variable("@x")`` and ``sql:column("c")`` name as a jsonb object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from ...catalog import types as tm
from ...target import nodes as n
from .. import values as v
from ..conversions import convert
from ..values import Value
from .builtin import Wrong

XML_METHODS = frozenset({"value", "query", "exist", "nodes", "modify"})

_BINDING = re.compile(r"""sql:(variable|column)\s*\(\s*(["'])(.*?)\2\s*\)""")
_TYPE = re.compile(
    r"\s*([A-Za-z_][A-Za-z0-9_ ]*?)\s*(?:\(\s*(max|\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*\Z", re.IGNORECASE
)

Binding = Callable[[str, str], Value]
"""(``variable`` or ``column``, the name written) → its value."""


def xml_arguments(path: str, namespaces: dict[str, str], binding: Binding) -> list[n.Node]:
    """The arguments after the subject: path, namespaces, bound values; trailing ones left out."""
    arguments: list[n.Node] = [n.Text(path)]
    bound: dict[str, Value] = {}
    for kind, _, name in _BINDING.findall(path):
        if name.lower() not in bound:
            bound[name.lower()] = binding(kind, name)
    if namespaces or bound:
        known = n.Text(json.dumps(namespaces, ensure_ascii=False)) if namespaces else n.NULL
        arguments.append(known)
    if bound:
        pairs = [code for name, value in bound.items() for code in (n.Text(name), _bound(value))]
        arguments.append(n.Call("jsonb_build_object", tuple(pairs)))
    return arguments


def _bound(value: Value) -> n.Node:
    """A value as sql:variable() hands it over: xml, binary as objects, bit as boolean, GUIDs in capitals."""
    if value.family == "xml":
        return n.Call("jsonb_build_object", (n.Text("xml"), value.code))
    if value.family == "binary":
        return n.Call("jsonb_build_object", (n.Text("base64"), n.Call("sys.xml_atom", (value.code,))))
    if value.family == "bit":
        return n.Comparison("=", value.code, n.Integer(1))
    if value.family == "uniqueidentifier":
        return n.Call("sys.xml_atom", (value.code,))
    return value.code


def xml_type(text: str) -> tm.SqlType:
    """The type in ``.value('…', 'type')``.  Raises Wrong."""
    match = _TYPE.match(text)
    if match is None:
        raise Wrong(f"Type {text} is not a defined system type.", 243)
    name, first, second = match.groups()
    # More digits than any size has would only be work for int(), which refuses 4,301.
    arguments = [
        tm.MAX if part.lower() == "max" else int(part.lstrip("0")[:20] or 0)
        for part in (first, second)
        if part
    ]
    try:
        type_ = tm.sql_type(name, tuple(arguments))
    except tm.TypeError_ as error:
        raise Wrong(str(error), error.number or 243) from None
    if type_.family in ("xml", "variant", "table", "cursor") or type_.name in ("text", "ntext", "image"):
        raise Wrong(f"The data type '{type_.text}' used in the VALUE method is invalid.", 9500)
    return type_


def xml_method(
    subject: Value, name: str, literals: list[str], namespaces: dict[str, str], binding: Binding
) -> Value:
    """Write ``subject.name('…')`` as a scalar expression.

    Raises Wrong for a wrong number of arguments and for a method that cannot stand in an
    expression.
    """
    wanted = 2 if name == "value" else 1
    if len(literals) != wanted:
        raise Wrong(f"The {name} function requires {wanted} argument(s).", 174)
    if subject.type is not None and subject.type.family not in ("xml", "unknown", "variant"):
        raise Wrong(f"Cannot call methods on {subject.type.text}.", 258)
    arguments = [subject.code, *xml_arguments(literals[0], namespaces, binding)]
    if name == "query":
        return v.call("sys.xml_query", *arguments, type=tm.XML)
    if name == "exist":
        return v.call("sys.xml_exist", *arguments, type=tm.BIT)
    if name == "value":
        return _value(arguments, xml_type(literals[1]))
    if name == "nodes":
        raise Wrong(
            '"nodes" is not a valid function, property, or field.', 227, "it stands in FROM and APPLY"
        )
    raise Wrong(
        "Incorrect use of the XML data type method 'modify'. A non-mutator method is expected in this "
        "context.",
        8137,
    )


def _value(arguments: list[n.Node], to: tm.SqlType) -> Value:
    text = v.call("sys.xml_value", *arguments, type=tm.NVARCHAR_MAX)
    if to.family == "binary":
        decoded = v.call("sys.xml_base64", text.code, *arguments[1:3], type=tm.VARBINARY_MAX)
        return decoded if to.length in (None, tm.MAX) else convert(decoded, to)
    if to.family == "bit":
        return v.call("sys.xml_boolean", text.code, type=to)
    return convert(text, to)


def xml_modify(subject: Value, dml: str, namespaces: dict[str, str], binding: Binding) -> Value:
    """The new value of ``subject`` after ``subject.modify('dml')``."""
    if subject.type is not None and subject.type.family != "xml":
        raise Wrong(f"Cannot call methods on {subject.type.text}.", 258)
    return v.call("sys.xml_modify", subject.code, *xml_arguments(dml, namespaces, binding), type=tm.XML)


def xml_nodes(
    subject: Value, path: str, namespaces: dict[str, str], binding: Binding, *, upward: int | None
) -> n.Node:
    """The call that yields the rows of ``subject.nodes('path')``.

    ``upward``: the most that `levels_up` says of the paths used on the rows.
    """
    arguments = [subject.code, *xml_arguments(path, namespaces, binding)]
    if upward is not None:
        arguments.append(n.NamedArgument("upward", n.Integer(upward)))
    return n.Call("sys.xml_nodes", tuple(arguments))


_STRING_OR_COMMENT = re.compile(r"""\(:.*?:\)|"[^"]*"|'[^']*'""", re.DOTALL)
_ATTRIBUTE_ABOVE = re.compile(r"\.\.(?:\s*/\s*\.\.)*\s*/\s*@[\w.:-]+(?![\w.:-]|\s*[\[/(])")
_ROOT = re.compile(
    r"(?:^|[^\w*.)\]\s/]|\b(?:and|by|div|else|eq|ge|gt|in|is|le|lt|mod|ne|or|return|satisfies|then|where))\s*/"
)


def levels_up(path: str) -> int | None:
    """How far above its node a path used on a row of nodes() may look; None: at the whole document.

    Attributes of ancestors (``../../@id``) count nothing: every row knows them.  The number may be
    too great, never too small: the runtime refuses (9508) what a row cannot answer.
    """
    bare = _STRING_OR_COMMENT.sub('""', path).strip()
    if _ROOT.search(bare):
        return None
    if ".." not in _ATTRIBUTE_ABOVE.sub("", bare) and "parent::" not in bare:
        return 0
    return bare.count("..") + bare.count("parent::")
