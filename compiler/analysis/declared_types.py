"""Types that batches make, and that batches after them declare variables of.

PL/pgSQL looks the types of a block's variables up before the block runs: one that the block
itself makes is not there yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import nodes
from ..catalog.names import fold


def types_made(statements: Sequence[nodes.Statement]) -> set[str]:
    """Return the folded names, without schemas, of types and XML schema collections that are created."""
    result: set[str] = set()
    for statement in nodes.all_of(statements):
        if isinstance(statement, nodes.SqlStatement) and statement.kind == "CREATE TYPE":
            tokens = statement.text.tokens[2:]
            last = 0
            while tokens[last + 1 : last + 2] and tokens[last + 1].text == ".":
                last += 2
            result.update(fold(token.name) for token in tokens[last : last + 1])
        elif isinstance(statement, nodes.CreateXmlSchemaCollection):
            result.add(fold(statement.name.name.text))
    return result


def types_declared(statements: Sequence[nodes.Statement]) -> set[str]:
    """Return the folded names, without their schemas, of the types and collections of variables."""
    result: set[str] = set()
    for statement in nodes.all_of(statements):
        if isinstance(statement, nodes.Declare):
            for declaration in statement.declarations:
                if isinstance(declaration, nodes.VariableDeclaration):
                    names = (declaration.type.name, declaration.type.xml_collection)
                    result.update(fold(name.name.text) for name in names if name is not None)
    return result


def variable_names(body: Sequence[nodes.Statement]) -> list[str]:
    """Return the names of all variables that a body declares."""
    return [
        declaration.variable.name
        for statement in nodes.all_of(body)
        if isinstance(statement, nodes.Declare)
        for declaration in statement.declarations
    ]
