"""Nodes of the tree that sqlglot lacks: what T-SQL has and the reader makes of it."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp


def variable_name(node: exp.Expr | None) -> str | None:
    """Return the name of the variable that an expression is, ``@`` included; None where it is none."""
    if not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return None
    name = node.this
    if not isinstance(name, exp.Identifier) or name.args.get("quoted"):
        return None
    text: str = name.this
    return text if text[:1] == "@" else None


def is_variable(node: exp.Expr) -> bool:
    """Tell whether the name of a column or table, or a name by itself, is a variable: ``[@a]`` is none."""
    if not node.name.startswith("@"):
        return False
    if isinstance(node, exp.Identifier):
        return not node.args.get("quoted")
    qualified = node.args.get("table") is not None or node.args.get("db") is not None
    return not qualified and not node.this.args.get("quoted")


def is_default(node: exp.Expr) -> bool:
    """The word DEFAULT in place of a value."""
    return (
        isinstance(node, exp.Column)
        and node.name.upper() == "DEFAULT"
        and node.args.get("table") is None
        and not node.this.args.get("quoted")
    )


IN_PARENTHESES = "in_parentheses"
"""In the ``meta`` of an operand whose parentheses the reader left out: a word that is no operand has none."""


def unwrapped(node: exp.Expr) -> exp.Expr:
    """Return what stands in the parentheses around the whole of an expression."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def operands(node: exp.Expr, kind: type[exp.Binary] | tuple[type[exp.Binary], ...]) -> list[exp.Expr]:
    """Return what operators of a kind join, from left to right; parentheses belong to an operand."""
    result: list[exp.Expr] = []
    while isinstance(node, kind):
        result.append(node.expression)
        node = node.this
    return [node, *reversed(result)]


def constant_text(node: exp.Expr) -> str | None:
    """Return what a literal is, or several that ``+`` joins; None of anything else."""
    parts = [unwrapped(part) for part in operands(unwrapped(node), exp.Add)]
    if len(parts) == 1:
        (literal,) = parts
        if isinstance(literal, exp.National) or (isinstance(literal, exp.Literal) and literal.is_string):
            return literal.name
        return None
    texts = [constant_text(part) for part in parts]
    known = [text for text in texts if text is not None]
    return "".join(known) if len(known) == len(texts) else None


class Conversion(exp.Expression):
    """CAST, CONVERT, PARSE and their TRY_ forms.

    ``kind``: the function's name in upper case; ``to``: a :class:`TypeName`; ``style``:
    the style (CONVERT) or culture (PARSE).
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "to": True, "style": False, "kind": True}


class TypeName(exp.Expression):
    """A type as written: ``this`` its name, ``arguments`` its lengths (-1 for max).

    ``collection`` of xml(collection): the parts of its name, then whether DOCUMENT stood there.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "arguments": False,
        "schema": False,
        "collection": False,
    }


class SetVariable(exp.Expression):
    """``@x = expression`` or ``@x += expression`` in a select list."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True, "operator": True}


class ForXml(exp.Expression):
    """FOR XML / FOR JSON / FOR BROWSE: ``kind`` and a list of options (word, argument)."""

    arg_types: ClassVar[dict[str, bool]] = {"kind": True, "options": False}


class Held(exp.Expression):
    """Stands for an expression while sqlglot reads the methods behind it."""

    arg_types: ClassVar[dict[str, bool]] = {}


class NextValue(exp.Expression):
    """NEXT VALUE FOR sequence."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class RecursionLevel(exp.Expression):
    """How deep the rows of a recursive query are, read of the relation ``this``: ``most`` at most."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "most": True}


class AtTimeZone(exp.Expression):
    """``x AT TIME ZONE z``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "zone": True}


class JsonText(exp.Expression):
    """JSON_OBJECT, JSON_ARRAY, JSON_OBJECTAGG and JSON_ARRAYAGG, as ``kind`` says.

    ``keys``: the names of an object's members; ``nulls``: whether NULL is written as null, else it
    is left out.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "kind": True,
        "keys": False,
        "expressions": False,
        "order": False,
        "nulls": True,
    }
