"""Texts that are known before the program runs: what EXEC and sp_executesql are given.

:class:`Constants` follows the variables of a routine through its statements.  A known text is a
:data:`Template`: constant parts, and between them pieces that only the run time knows
(``N'SELECT * FROM ' + QUOTENAME(@table)``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...grammar.lexer import string_value
from ...grammar.records import dataclass
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from .mentions import assigned_variables


@dataclass(frozen=True)
class Piece:
    """A part of a text that is an expression over variables."""

    tokens: tuple[Token, ...]

    @property
    def variables(self) -> set[str]:
        """Return the variables it reads, folded."""
        return {token.text.lower() for token in self.tokens if token.kind == TokenKind.VARIABLE}


Template = tuple[str | Piece, ...]


def plain(template: Template | None) -> str | None:
    """Return the text of a template without pieces."""
    if template is None or not all(isinstance(part, str) for part in template):
        return None
    return "".join(part for part in template if isinstance(part, str))


class Constants:
    """The variables whose text is known at a place, by their folded names."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self._values: dict[str, Template] = {}

    def of_variable(self, name: str) -> Template | None:
        """Return the text that a variable holds."""
        return self._values.get(name.lower())

    def value(self, tokens: Sequence[Token]) -> Template | None:
        """Return the text that an expression gives; None when no part of it is constant."""
        parts: list[str | Piece] = []
        for term in _terms(tokens):
            if len(term) == 1 and term[0].kind == TokenKind.STRING:
                parts.append(string_value(term[0]))
            elif len(term) == 1 and term[0].text.lower() in self._values:
                parts += self._values[term[0].text.lower()]
            elif term:
                parts.append(Piece(tuple(term)))
            else:
                return None
        return tuple(parts) if any(isinstance(part, str) for part in parts) else None

    def follow(self, statement: nodes.Statement) -> None:
        """Take in what a statement does to variables."""
        match statement:
            case nodes.Declare(declarations=declarations):
                for declaration in declarations:
                    if isinstance(declaration, nodes.VariableDeclaration) and declaration.initial is not None:
                        self._set(declaration.variable.name, declaration.initial.tokens)
            case nodes.SetVariable(operator="="):
                self._set(statement.variable.name, statement.value.tokens)
            case nodes.SetVariable(operator="+="):
                known = self._values.get(statement.variable.key)
                added = self.value(statement.value.tokens) or (Piece(statement.value.tokens),)
                self.forget([statement.variable.key])
                if known is not None:
                    self._values[statement.variable.key] = known + added
            case nodes.SqlStatement(kind="SELECT", text=text) if _is_simple_select(text.tokens):
                # SELECT @v = expression
                self._set(text.tokens[1].text, [token for token in text.tokens[3:] if token.word != ";"])
            case _ if self._values:
                self.forget(assigned([statement]))

    def _set(self, name: str, tokens: Sequence[Token]) -> None:
        value = self.value(tokens)
        self.forget([name.lower()])
        if value is not None:
            self._values[name.lower()] = value

    def forget(self, names: Iterable[str]) -> None:
        """Know nothing of these variables from here on, nor of texts with pieces that read them."""
        changed = set(names)
        if not changed:
            return
        for name, value in list(self._values.items()):
            reads = any(isinstance(part, Piece) and part.variables & changed for part in value)
            if name in changed or reads:
                del self._values[name]


def _terms(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split at the + signs outside parentheses; parentheses around the whole are taken off."""
    body = [token for token in tokens if token.word != ";"]
    while len(body) > 2 and body[0].word == "(" and body[-1].word == ")" and _encloses(body):
        body = body[1:-1]
    if body and body[0].word == "SELECT":
        return [body]  # a subquery is one piece
    terms: list[list[Token]] = [[]]
    depth = 0
    for token in body:
        depth += (token.word in ("(", "CASE")) - (token.word in (")", "END"))
        if depth == 0 and token.word == "+":
            terms.append([])
        else:
            terms[-1].append(token)
    return terms


def _encloses(tokens: Sequence[Token]) -> bool:
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0 and index < len(tokens) - 1:
            return False
    return True


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
                result |= {a.value.tokens[0].text.lower() for a in arguments if a.output and a.value}
                if returned is not None:
                    result.add(returned.key)
            case _:
                # A variable in front of = (SELECT, RECEIVE, UPDATE), or anywhere in FETCH INTO.
                result |= assigned_variables(statement.tokens)
    return result
