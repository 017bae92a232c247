"""What a statement or an expression mentions: variables, functions, @@ERROR and its like, queries, locks.

Questions about an expression go to its tree. Whole statements are asked by their tokens, in this file alone:
they are read when they are translated. A word in a string, a comment or brackets mentions nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from ...grammar.lexer import lex, string_value
from ...grammar.problems import Problems
from ...grammar.source import Source
from ...grammar.tokens import Token, TokenKind, words_of
from ..catalog.names import AGGREGATES, fold

_STRING = TokenKind.STRING
_VARIABLE = TokenKind.VARIABLE
_WORD = TokenKind.WORD
_DELIMITED = (TokenKind.BRACKETED, TokenKind.QUOTED)
_NAMES = (_WORD, *_DELIMITED)
_STATE_VARIABLES = frozenset(
    {
        "@@CURSOR_ROWS",
        "@@ERROR",
        "@@FETCH_STATUS",
        "@@NESTLEVEL",
        "@@OPTIONS",
        "@@PROCID",
        "@@ROWCOUNT",
        "@@TRANCOUNT",
    }
)
_STATE_FUNCTIONS = frozenset({"XACT_STATE", "ROWCOUNT_BIG"})
_CHANGING = ("INSERT", "UPDATE", "DELETE", "MERGE")
_BEFORE_TARGET = ("TOP", "(", "PERCENT", "INTO", "FROM")
_ROW_LOCKS = ("XLOCK", "UPDLOCK", "REPEATABLEREAD")


def variables(tokens: Iterable[Token]) -> set[str]:
    """Return the local variables, in lower case with their @."""
    return {
        token.text.lower() for token in tokens if token.kind is _VARIABLE and not token.text.startswith("@@")
    }


def global_variables(tokens: Iterable[Token]) -> set[str]:
    """Return ``@@ERROR`` and its like, in upper case."""
    return {token.text.upper() for token in tokens if token.kind is _VARIABLE and token.text.startswith("@@")}


def names(tokens: Iterable[Token]) -> set[str]:
    """Return the words and names, variables without their @, in lower case."""
    found: set[str] = set()
    quoted: list[Token] = []
    for token in tokens:
        kind, text, _, _, _ = token
        if kind is _WORD or kind is _VARIABLE:
            found.add(text)
        elif kind in _DELIMITED:
            quoted.append(token)
    found.update(token.name for token in quoted)
    return {name.lstrip("@").lower() for name in found}


def _texts_within(tokens: Sequence[Token], word: str) -> Iterator[Sequence[Token]]:
    """Yield the tokens, and those of each string in them that has ``word``: EXEC may make code of it."""
    waiting: list[Sequence[Token]] = [tokens]
    while waiting:
        found = waiting.pop()
        yield found
        strings = [token for token in found if token.kind is _STRING and word in token.text.upper()]
        waiting += [tokens_of(Source("string", string_value(token))) for token in strings]


def tokens_of(source: Source) -> list[Token]:
    """Return the tokens of a text without its comments, whatever is wrong with it."""
    return [token for token in lex(source, Problems()) if token.kind is not TokenKind.COMMENT]


def temporary_names(tokens: Sequence[Token]) -> set[str]:
    """Return the folded names of temporary objects, in strings too."""
    return {
        fold(token.name)
        for text in _texts_within(tokens, "#")
        for token in text
        if "#" in token.text and token.kind in _NAMES and token.name.startswith("#")
    }


def created_procedures(tokens: Sequence[Token]) -> tuple[set[str], set[str]]:
    """Return the folded names of the procedures that CREATE or ALTER makes, in strings too, and beginnings.

    With a beginning a string ends: what is joined to it may be the rest of the name.
    """
    found: set[str] = set()
    begun: set[str] = set()
    for text in _texts_within(tokens, "PROC"):
        words = [token.word for token in text]
        for place, word in enumerate(words):
            if word in ("PROC", "PROCEDURE") and words[place - 1 : place] in (["CREATE"], ["ALTER"]):
                place += 1
                while words[place + 1 : place + 2] == ["."]:
                    place += 2
                for name in text[place : place + 1]:
                    found.add(fold(name.name))
                    if text is not tokens and name is text[-1] and name.kind in _NAMES:
                        begun.add(fold(name.text.lstrip('["')))
    return found, begun - {""}


def has_word(tokens: Iterable[Token], *words: str) -> bool:
    """Tell whether one of the keywords stands among the tokens."""
    return not frozenset(words).isdisjoint(words_of(tokens))


def has_query(tree: exp.Expr | None) -> bool:
    """Tell whether a query stands in an expression."""
    return any(isinstance(node, exp.Query) for node in _nodes(tree))


def is_literal(tree: exp.Expr | None) -> bool:
    """Tell whether an expression is one literal, sign included."""
    while isinstance(tree, exp.Neg):
        tree = tree.this
    return isinstance(tree, exp.Literal | exp.National | exp.HexString)


def _nodes(tree: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield what an expression is made of, in no order: in half of the time that sqlglot's walk takes."""
    waiting = [] if tree is None else [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for value in node.args.values():
            if isinstance(value, exp.Expr):
                waiting.append(value)
            elif value.__class__ is list:
                waiting += [item for item in value if isinstance(item, exp.Expr)]


def variables_in(tree: exp.Expr | None) -> set[str]:
    """Return the variables in an expression, ``@@ERROR`` and its like too, in lower case."""
    return {
        node.this.lower()
        for node in _nodes(tree)
        if node.__class__ is exp.Identifier and node.this[:1] == "@" and not node.args.get("quoted")
    }


def status_read_in(tree: exp.Expr | None) -> tuple[bool, bool]:
    """Tell whether an expression reads @@ERROR, and whether @@ROWCOUNT or ROWCOUNT_BIG()."""
    error = rowcount = False
    for node in _nodes(tree):
        kind = node.__class__
        if kind is exp.Identifier:
            if node.this[:2] == "@@" and not node.args.get("quoted"):
                name = node.this.upper()
                error = error or name == "@@ERROR"
                rowcount = rowcount or name == "@@ROWCOUNT"
        elif kind is exp.Anonymous:
            rowcount = rowcount or node.name.upper() == "ROWCOUNT_BIG"
    return error, rowcount


def is_of_the_moment(tree: exp.Expr) -> bool:
    """Tell whether an expression reads tables or the session, or calls functions of users."""
    for node in _nodes(tree):
        match node:
            case exp.Query():
                return True
            case exp.Dot(expression=exp.Anonymous()):
                return True
            case exp.Anonymous():
                name = node.name.upper()
                if name in _STATE_FUNCTIONS or name.startswith("ERROR_"):
                    return True
    return not _STATE_VARIABLES.isdisjoint(map(str.upper, variables_in(tree)))


def reads_status(tokens: Iterable[Token]) -> tuple[bool, bool]:
    """Tell whether @@ERROR is read, and whether @@ROWCOUNT or ROWCOUNT_BIG() is."""
    error = rowcount = False
    for kind, text, _, _, word in tokens:
        if kind is _VARIABLE:
            if text.startswith("@@"):
                name = text.upper()
                error = error or name == "@@ERROR"
                rowcount = rowcount or name == "@@ROWCOUNT"
        elif word == "ROWCOUNT_BIG":
            rowcount = True
    return error, rowcount


def reads_session(tokens: Sequence[Token]) -> bool:
    """Tell whether something of the session variable is read: @@TRANCOUNT, ERROR_NUMBER() …"""
    for place, token in enumerate(tokens):
        if token.kind is _VARIABLE and token.text.upper() in _STATE_VARIABLES:
            return True
        if token.word in _STATE_FUNCTIONS:
            return True
        if token.word.startswith("ERROR_") and [t.word for t in tokens[place + 1 : place + 2]] == ["("]:
            return True
    return False


def reads_identity(tokens: Sequence[Token]) -> bool:
    """Tell whether SCOPE_IDENTITY() or @@IDENTITY stands among the tokens."""
    for kind, text, _, _, word in tokens:
        if word == "SCOPE_IDENTITY" or (kind is _VARIABLE and text.upper() == "@@IDENTITY"):
            return True
    return False


def locks_table(tokens: Sequence[Token]) -> bool:
    """Tell whether hints become LOCK TABLE, which must stand in one transaction with its statement."""
    if has_word(tokens, "TABLOCKX", "HOLDLOCK", "SERIALIZABLE"):
        return True
    if has_word(tokens, "MERGE") and has_word(tokens, "TABLOCK"):
        return True
    # Of several tables some cannot be locked row by row.
    return has_word(tokens, *_ROW_LOCKS)


def changed_tables(kind: str, tokens: Sequence[Token]) -> set[str]:
    """Return the folded last name of the table that INSERT, UPDATE, DELETE or MERGE changes.

    Of ``UPDATE o … FROM dbo.Orders AS o`` both names.
    """
    place = next((place for place, token in enumerate(tokens) if token.word == kind), len(tokens)) + 1
    depth = 0
    while place < len(tokens) and (depth or tokens[place].word in _BEFORE_TARGET):
        depth += (tokens[place].word == "(") - (tokens[place].word == ")")
        place += 1
    while place + 2 < len(tokens) and tokens[place + 1].word == ".":
        place += 2
    if kind not in _CHANGING or place >= len(tokens):
        return set()
    target = fold(tokens[place].name)
    aliased = (at for at in range(2, len(tokens)) if fold(tokens[at].name) == target)
    return {target} | {fold(tokens[at - 1 - (tokens[at - 1].word == "AS")].name) for at in aliased}


def assigned_variables(tokens: Sequence[Token]) -> set[str]:
    """Return the variables that a statement may give a value: ``=``, INTO, FETCH, a dialog handle."""
    gives = any("=" in token.word for token in tokens)
    if not gives and not has_word(tokens, "FETCH", "INTO", "DIALOG", "GROUP"):
        return set()
    return variables(tokens)


def calls_functions(tokens: Sequence[Token]) -> set[str]:
    """Return the folded names that stand behind a dot and before ``(``: functions of users are called so."""
    return {
        fold(name.name)
        for dot, name, parenthesis in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if dot.word == "." and name.kind in _NAMES and parenthesis.word == "("
    }


def looks_at_other_rows(expression: exp.Expr | None) -> bool:
    """Tell whether an aggregate or window function is called; what a query within calls is its own."""
    if expression is None:
        return False
    return any(
        isinstance(node, exp.Window)
        # dbo.max(…) is a user's.
        or (
            isinstance(node, exp.Anonymous)
            and node.name.upper() in AGGREGATES
            and not isinstance(node.parent, exp.Dot)
        )
        for node in expression.walk(prune=lambda node: isinstance(node, exp.Query))
    )
