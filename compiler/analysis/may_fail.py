"""Which expressions can never raise an error, so that they need no exception block.

Conservative: what is not surely safe is not safe.  Arithmetic on integers may overflow
(8115), comparisons between different kinds of values convert (245), queries may meet
missing tables; joining strings, comparing like with like and testing for NULL cannot fail.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...grammar.tokens import Token, TokenKind
from ..catalog.objects import SqlScope
from ..catalog.types import SqlType

# Functions that take any arguments of one kind and cannot fail, with the kind of their result
# (None: that of the arguments).
_FUNCTIONS: dict[str, str | None] = {
    "ISNULL": None,
    "COALESCE": None,
    "CONCAT": "string",
    "NEWID": "uniqueidentifier",
    "GETDATE": "datetime",
    "SYSDATETIME": "datetime",
    "GETUTCDATE": "datetime",
    "ERROR_NUMBER": "number",
    "ERROR_SEVERITY": "number",
    "ERROR_STATE": "number",
    "ERROR_LINE": "number",
    "ERROR_MESSAGE": "string",
    "ERROR_PROCEDURE": "string",
    "XACT_STATE": "number",
    "LEN": "number",
    "DB_NAME": "string",
    "SUSER_SNAME": "string",
    "SUSER_NAME": "string",
    "USER_NAME": "string",
    "SYSTEM_USER": "string",
    "HOST_NAME": "string",
    "APP_NAME": "string",
}
_GLOBALS = {
    "@@ERROR": "number",
    "@@ROWCOUNT": "number",
    "@@TRANCOUNT": "number",
    "@@FETCH_STATUS": "number",
    "@@CURSOR_ROWS": "number",
    "@@OPTIONS": "number",
    "@@NESTLEVEL": "number",
    "@@SPID": "number",
    "@@PROCID": "number",
    "@@SERVERNAME": "string",
    "@@VERSION": "string",
}
_COMPARISONS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">=", "!<", "!>"})
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_ANY = "any"
"""NULL goes with every kind."""


def _kind(type_: SqlType) -> str:
    return "number" if type_.is_numeric else type_.family


def condition_cannot_raise(tokens: Sequence[Token], scope: SqlScope) -> bool:
    """Tell whether a search condition can never raise."""
    return all(_safe_test(part, scope) for part in _conjuncts(tokens))


def _conjuncts(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split at AND, OR and NOT, whatever parentheses group them."""
    parts: list[list[Token]] = [[]]
    depth = calls = 0
    for index, token in enumerate(tokens):
        if token.word == "(":
            depth += 1
            previous = tokens[index - 1] if index else None
            if calls or (previous is not None and previous.word in _FUNCTIONS):
                calls += 1
        elif token.word == ")":
            depth -= 1
            calls = max(calls - 1, 0)
        following = tokens[index + 1].word if index + 1 < len(tokens) else ""
        if not calls and token.word in ("AND", "OR", "NOT") and following != "IN":
            parts.append([])
        elif token.word == "NOT" and following == "IN":
            continue
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _safe_test(tokens: list[Token], scope: SqlScope) -> bool:
    tokens = _unwrap(tokens)
    if not tokens:
        return True
    words = [token.word for token in tokens]
    if words[-2:] == ["IS", "NULL"] or (words[-1:] == ["NULL"] and "IS" in words):
        return _operand(tokens[: words.index("IS")], scope) is not None
    if words[-1:] == ["IS"] or words == ["NULL"]:  # … IS NOT NULL was split at NOT
        return _operand(tokens[:-1], scope) is not None if len(tokens) > 1 else True
    places = [index for index, word in enumerate(words) if word in _COMPARISONS]
    if not places and words.count("IN") == 1:
        return _safe_list(tokens, words.index("IN"), scope)
    if len(places) != 1:
        return False
    left = _operand(tokens[: places[0]], scope)
    right = _operand(tokens[places[0] + 1 :], scope)
    return left is not None and right is not None and (left == right or _ANY in (left, right))


def _safe_list(tokens: list[Token], place: int, scope: SqlScope) -> bool:
    """``x IN (a, b, …)`` with IN at ``place``."""
    items = tokens[place + 1 :]
    if len(items) < 3 or items[0].word != "(" or not _encloses(items):
        return False
    kinds = {_operand(item, scope) for item in [tokens[:place], *_split(items[1:-1], ",")]}
    return None not in kinds and len(kinds - {_ANY}) <= 1


def _unwrap(tokens: list[Token]) -> list[Token]:
    """Take off parentheses that splitting at AND and OR left unbalanced, and those around it all."""
    opens = sum(token.word == "(" for token in tokens)
    closes = sum(token.word == ")" for token in tokens)
    while opens > closes and tokens and tokens[0].word == "(":
        tokens, opens = tokens[1:], opens - 1
    while closes > opens and tokens and tokens[-1].word == ")":
        tokens, closes = tokens[:-1], closes - 1
    while len(tokens) > 2 and tokens[0].word == "(" and tokens[-1].word == ")" and _encloses(tokens):
        tokens = tokens[1:-1]
    return tokens


def _encloses(tokens: list[Token]) -> bool:
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0 and index < len(tokens) - 1:
            return False
    return True


def cannot_raise(tokens: Sequence[Token], scope: SqlScope, target: SqlType | None) -> bool:
    """Tell whether an expression, converted to ``target``, can never raise."""
    kind = _operand(list(tokens), scope)
    if kind is None:
        return False
    if target is not None and target.collection is not None:
        return False
    if target is None or kind == _ANY:
        return True
    if target.is_string:
        # A number's text fits into (max), and a lone literal or variable is seen to fit.
        return kind == "string" or (kind == "number" and (target.length == -1 or len(tokens) == 1))
    if kind != _kind(target):
        return False
    if kind != "number":
        return kind in ("uniqueidentifier", "xml", "datetime", "binary")
    return _fits(list(tokens), scope, target)


def _fits(tokens: list[Token], scope: SqlScope, target: SqlType) -> bool:
    """Whether numbers need no narrowing on their way into ``target``."""
    if target.family in ("decimal", "float"):
        return all(token.kind != TokenKind.NUMBER or len(token.text) < 6 for token in tokens) and not any(
            token.kind == TokenKind.VARIABLE for token in tokens
        )
    for token in tokens:
        if token.kind == TokenKind.NUMBER:
            limit = {"tinyint": 255, "smallint": 32767, "bit": 10**9}.get(target.name, 2147483647)
            if not token.text.isdecimal() or int(token.text) > limit:
                return False
        elif token.kind == TokenKind.VARIABLE:
            if token.text.startswith("@@"):
                if target.name not in ("int", "bigint"):
                    return False
                continue
            variable = scope.variable(token.text)
            if variable is None:
                return False
            source = variable.type.name
            if source == "bit" or source == target.name:
                continue
            if source not in _INTEGERS or target.name not in _INTEGERS:
                return False
            if _INTEGERS.index(source) > _INTEGERS.index(target.name):
                return False
        elif (token.word == "-" and target.name in ("tinyint", "bit")) or (
            token.word in _FUNCTIONS and target.name not in ("int", "bigint")
        ):
            return False
    return True


def _operand(tokens: list[Token], scope: SqlScope) -> str | None:
    """Return the kind of value that a safe expression gives; None: not safe."""
    tokens = _unwrap(tokens)
    if not tokens:
        return None
    if len(tokens) == 1:
        return _atom(tokens[0], scope)
    if len(tokens) == 2 and tokens[0].word == "-" and tokens[1].kind == TokenKind.NUMBER:
        return "number"
    terms = _split(tokens, "+")
    if len(terms) > 1:
        kinds = {_operand(term, scope) for term in terms} - {_ANY}
        return "string" if kinds == {"string"} else None
    return _function(tokens, scope)


def _atom(token: Token, scope: SqlScope) -> str | None:
    if token.kind == TokenKind.STRING:
        return "string"
    if token.kind == TokenKind.NUMBER:
        return "number"
    if token.kind == TokenKind.BINARY:
        return "binary"
    if token.word == "NULL":
        return _ANY
    if token.kind == TokenKind.VARIABLE:
        if token.text.startswith("@@"):
            return _GLOBALS.get(token.text.upper())
        variable = scope.variable(token.text)
        return _kind(variable.type) if variable is not None else None
    return _FUNCTIONS.get(token.word) if token.word == "SYSTEM_USER" else None


def _function(tokens: list[Token], scope: SqlScope) -> str | None:
    name = tokens[0].word
    if name not in _FUNCTIONS or len(tokens) < 3 or tokens[1].word != "(" or tokens[-1].word != ")":
        return None
    inside = tokens[2:-1]
    if not _balanced(inside):
        return None
    kinds = [_operand(part, scope) for part in _split(inside, ",")] if inside else []
    if None in kinds:
        return None
    known = {kind for kind in kinds if kind is not None and kind != _ANY}
    result = _FUNCTIONS[name]
    if name == "CONCAT":
        return "string" if known <= {"string", "number"} else None
    if result is not None:
        return result if not kinds or known <= {"string"} else None
    return next(iter(known), _ANY) if len(known) <= 1 else None


def _balanced(tokens: list[Token]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.word == "(") - (token.word == ")")
        if depth < 0:
            return False
    return depth == 0


def _split(tokens: list[Token], separator: str) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0 and token.word == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
