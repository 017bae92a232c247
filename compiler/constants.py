"""Strings that are known before the program runs: what EXEC and sp_executesql are given.

:class:`Constants` follows the variables of a routine through its statements; a variable is
known as long as every path gave it the same constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..grammar.lexer import string_value
from ..grammar.tokens import Token, TokenKind
from . import nodes


class Constants:
    """The variables whose value is known at a place, by their folded names."""

    def __init__(self, values: dict[str, str | None] | None = None) -> None:
        """Start with nothing known."""
        self._values = dict(values or {})

    def value(self, tokens: Sequence[Token]) -> str | None:
        """Return the string that an expression surely gives; None when it is not known."""
        parts: list[str] = []
        expect_term = True
        depth = 0
        for token in tokens:
            if token.word == "(" and expect_term:
                depth += 1
            elif token.word == ")" and not expect_term and depth:
                depth -= 1
            elif expect_term and token.kind == TokenKind.STRING:
                parts.append(string_value(token))
                expect_term = False
            elif expect_term and token.kind == TokenKind.VARIABLE:
                known = self._values.get(token.text.lower())
                if known is None:
                    return None
                parts.append(known)
                expect_term = False
            elif token.word == "+" and not expect_term:
                expect_term = True
            else:
                return None
        return None if expect_term or depth else "".join(parts)

    def follow(self, statement: nodes.Statement) -> None:
        """Take in what a statement does to variables."""
        match statement:
            case nodes.Declare(declarations=declarations):
                for declaration in declarations:
                    if isinstance(declaration, nodes.VariableDeclaration) and declaration.initial is not None:
                        self._set(declaration.variable.name, declaration.initial.tokens)
                    elif isinstance(declaration, nodes.VariableDeclaration):
                        self._values.pop(declaration.variable.key, None)
            case nodes.SetVariable(operator="="):
                self._set(statement.variable.name, statement.value.tokens)
            case nodes.SetVariable(operator="+="):
                known = self._values.get(statement.variable.key)
                added = self.value(statement.value.tokens)
                self._values[statement.variable.key] = (
                    None if known is None or added is None else known + added
                )
            case nodes.SqlStatement(kind="SELECT", text=text) if _is_simple_select(text.tokens):
                # SELECT @v = constant
                self._set(text.tokens[1].text, [token for token in text.tokens[3:] if token.word != ";"])
            case _:
                self.forget(assigned([statement]))

    def _set(self, name: str, tokens: Sequence[Token]) -> None:
        self._values[name.lower()] = self.value(tokens)

    def forget(self, names: Iterable[str]) -> None:
        """Know nothing of these variables from here on."""
        for name in names:
            self._values.pop(name, None)


def _is_simple_select(tokens: Sequence[Token]) -> bool:
    """Tell whether a SELECT is ``SELECT @v = expression`` without FROM and further variables."""
    words = {token.word for token in tokens}
    return (
        len(tokens) > 3
        and tokens[1].kind == TokenKind.VARIABLE
        and tokens[2].word == "="
        and not words & {"FROM", ",", "WHERE"}
    )


def assigned(body: Iterable[nodes.Statement]) -> set[str]:
    """Return the variables that statements may change, folded names with @."""
    result: set[str] = set()
    for statement in body:
        children = nodes.children_of(statement)
        if children:
            result |= assigned(children)
            continue
        match statement:
            case nodes.SetVariable(variable=variable) | nodes.SetMethod(variable=variable):
                result.add(variable.key)
            case nodes.Declare(declarations=declarations):
                result |= {declaration.variable.key for declaration in declarations}
            case nodes.Print() | nodes.Send() | nodes.EndConversation() | nodes.Return():
                pass
            case nodes.Execute(arguments=arguments, return_variable=returned):
                result |= {a.value.text.strip().lower() for a in arguments if a.output and a.value}
                if returned is not None:
                    result.add(returned.key)
            case _:
                # A variable in front of = (SELECT, RECEIVE, UPDATE), or anywhere in FETCH INTO.
                text = statement.span.text.lower()
                for word in _variables(text):
                    result.add(word)
    return result


def _variables(text: str) -> set[str]:
    import re

    if "=" not in text and "fetch" not in text and "into" not in text and "dialog" not in text:
        return set()
    return set(re.findall(r"@[\w#$]+", text))
