"""Our tokens → sqlglot's.

The words become keywords only where T-SQL has them as keywords; everything else is a
name.  Offsets stay those of the script.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token as SqlToken
from sqlglot.tokenizer_core import TokenType as T

from ....grammar.lexer import string_value
from ....grammar.tokens import RESERVED_WORDS, Token, TokenKind
from .odbc_escapes import without_escapes

__all__ = ["HINT_WORDS", "RESERVED", "T", "Unreadable", "to_sqlglot"]


class Unreadable(ParseError):
    """A place where no T-SQL can go on; offsets are those of the script."""

    def __init__(
        self, message: str, start: int, end: int, near: str | None, number: int = 102, hint: str | None = None
    ) -> None:
        """``near`` is the offending token's text, None at the end of the statement."""
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.near = near
        self.number = number
        self.hint = hint


_KEYWORDS: dict[str, T] = {
    word: getattr(T, name or word)
    for word, name in {
        "SELECT": "", "FROM": "", "WHERE": "", "HAVING": "", "UNION": "", "EXCEPT": "", "INTERSECT": "",
        "ALL": "", "DISTINCT": "", "TOP": "", "AS": "ALIAS", "ON": "", "JOIN": "", "INNER": "", "LEFT": "",
        "RIGHT": "", "FULL": "", "OUTER": "", "CROSS": "", "PIVOT": "", "UNPIVOT": "", "WITH": "",
        "VALUES": "", "INTO": "", "CASE": "", "WHEN": "", "THEN": "", "ELSE": "", "END": "", "AND": "",
        "OR": "", "NOT": "", "IN": "", "IS": "", "NULL": "", "LIKE": "", "ESCAPE": "", "BETWEEN": "",
        "EXISTS": "", "ANY": "", "SOME": "", "OVER": "", "FETCH": "", "FOR": "", "ASC": "", "DESC": "",
        "COLLATE": "", "TABLESAMPLE": "TABLE_SAMPLE", "OPTION": "", "PERCENT": "", "SET": "",
        "UPDATE": "", "INSERT": "", "DELETE": "", "MERGE": "",
    }.items()
}  # fmt: skip

_SYMBOLS: dict[str, T] = {
    "(": T.L_PAREN, ")": T.R_PAREN, ",": T.COMMA, ".": T.DOT, ";": T.SEMICOLON, "*": T.STAR, "+": T.PLUS,
    "-": T.DASH, "/": T.SLASH, "%": T.MOD, "=": T.EQ, "<>": T.NEQ, "!=": T.NEQ, "<": T.LT, ">": T.GT,
    "<=": T.LTE, ">=": T.GTE, "!<": T.GTE, "!>": T.LTE, "&": T.AMP, "|": T.PIPE, "^": T.CARET,
    "~": T.TILDE, "::": T.DCOLON, "{": T.L_BRACE, "}": T.R_BRACE, ":": T.COLON, "$": T.DOLLAR,
    "+=": T.COLON_EQ, "-=": T.COLON_EQ, "*=": T.COLON_EQ, "/=": T.COLON_EQ, "%=": T.COLON_EQ,
    "&=": T.COLON_EQ, "|=": T.COLON_EQ, "^=": T.COLON_EQ, "||=": T.COLON_EQ, "||": T.DPIPE,
    # sqlglot reads these two as pairs of signs; its tokens of other dialects stand for them.
    "<<": T.LT_AT, ">>": T.AT_GT,
}  # fmt: skip

_ALWAYS = frozenset(_KEYWORDS) - {"UPDATE"}
"""Keywords wherever they stand, but behind a dot."""
_CONTEXTUAL = frozenset("APPLY ROWS RANGE OFFSET FIRST NEXT CUBE ROLLUP XML".split())

RESERVED = T.COMMAND
"""The type of reserved words that sqlglot's grammar of queries does not know: never names."""

_RESERVED_IN_EXPRESSIONS = frozenset(
    """
    COALESCE CONTAINS CONVERT DEFAULT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER FREETEXT
    IDENTITY IDENTITYCOL NULLIF OPENDATASOURCE OPENQUERY OPENROWSET OPENXML ROWGUIDCOL SESSION_USER
    SYSTEM_USER TRY_CONVERT UPDATE USER CONTAINSTABLE FREETEXTTABLE
    """.split()
)
"""Reserved words that stand for functions and values."""

HINT_WORDS = frozenset(
    """
    NOLOCK READUNCOMMITTED UPDLOCK REPEATABLEREAD SERIALIZABLE READCOMMITTED TABLOCK TABLOCKX PAGLOCK
    ROWLOCK NOWAIT READPAST XLOCK SNAPSHOT NOEXPAND HOLDLOCK READCOMMITTEDLOCK KEEPIDENTITY
    KEEPDEFAULTS IGNORE_CONSTRAINTS IGNORE_TRIGGERS FORCESEEK FORCESCAN INDEX
    SPATIAL_WINDOW_MAX_CELLS
    """.split()
)

_NAME_KINDS = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED, TokenKind.VARIABLE)


# Looked up once, as in grammar/terminals.
_BINARY = TokenKind.BINARY
_BRACKETED = TokenKind.BRACKETED
_NUMBER = TokenKind.NUMBER
_QUOTED = TokenKind.QUOTED
_STRING = TokenKind.STRING
_SYMBOL = TokenKind.SYMBOL
_WORD = TokenKind.WORD


def to_sqlglot(tokens: Sequence[Token]) -> list[SqlToken]:
    """Turn our tokens into sqlglot's; ``start`` is the offset in the script, ``end`` one past."""
    tokens = without_escapes(tokens)
    out: list[SqlToken] = []
    count = len(tokens)
    index = 0
    while index < count:
        token = tokens[index]
        kind, text, start, end, word = token
        following = tokens[index + 1] if index + 1 < count else None
        previous = tokens[index - 1] if index else None
        if kind is _WORD and word in _ALWAYS and (previous is None or previous.word != "."):
            out.append(SqlToken(_KEYWORDS[word], text, 1, 1, start, end))
        elif kind is _WORD:
            token_type: T | None = None
            if previous is None or previous.word != ".":
                next_word = following.word if following is not None else ""
                if word in ("GROUP", "ORDER", "PARTITION") and next_word == "BY":
                    pair = {"GROUP": T.GROUP_BY, "ORDER": T.ORDER_BY, "PARTITION": T.PARTITION_BY}[word]
                    assert following is not None
                    out.append(SqlToken(pair, f"{word} BY", 1, 1, start, following.end))
                    index += 2
                    continue
                if word == "GROUPING" and next_word == "SETS":
                    assert following is not None
                    out.append(SqlToken(T.GROUPING_SETS, "GROUPING SETS", 1, 1, start, following.end))
                    index += 2
                    continue
                if word == "WINDOW" and _defines_window(tokens, index):
                    out.append(SqlToken(T.WINDOW, "WINDOW", 1, 1, start, end))
                    index += 1
                    continue
                if word == "UPDATE" and next_word == "(":  # the function of triggers
                    out.append(SqlToken(T.VAR, text, 1, 1, start, end))
                    index += 1
                    continue
                token_type = _KEYWORDS.get(word)
                if token_type is None and word in _CONTEXTUAL:
                    token_type = _contextual(word, previous, following)
                if token_type is None and word in RESERVED_WORDS and word not in _RESERVED_IN_EXPRESSIONS:
                    token_type = RESERVED
            out.append(SqlToken(token_type or T.VAR, text, 1, 1, start, end))
        elif kind is _SYMBOL:
            if (
                word == "("
                and previous is not None
                and following is not None
                and following.word in HINT_WORDS
                and _is_bare_hint(tokens, index, previous)
            ):
                out.append(SqlToken(T.WITH, "WITH", 1, 1, start, start))
            symbol = _SYMBOLS.get(word)
            if symbol is None:
                raise Unreadable(f"Incorrect syntax near '{text}'.", start, end, text)
            out.append(SqlToken(symbol, text, 1, 1, start, end))
        elif kind in (_BRACKETED, _QUOTED):
            out.append(SqlToken(T.IDENTIFIER, token.name, 1, 1, start, end))
        elif kind is _STRING:
            national = text[0] in "nN"
            out.append(
                SqlToken(T.NATIONAL_STRING if national else T.STRING, string_value(token), 1, 1, start, end)
            )
        elif kind is _NUMBER:
            out.append(SqlToken(T.NUMBER, text, 1, 1, start, end))
        elif kind is _BINARY:
            out.append(
                SqlToken(T.HEX_STRING, text[2:].replace("\\\r\n", "").replace("\\\n", ""), 1, 1, start, end)
            )
        else:  # VARIABLE, PSEUDO_COLUMN
            out.append(SqlToken(T.VAR, text, 1, 1, start, end))
        index += 1
    return out


def _defines_window(tokens: Sequence[Token], index: int) -> bool:
    """``WINDOW name AS (``: the clause of SQL Server 2022; elsewhere WINDOW is a name."""
    if index + 3 >= len(tokens) or index == 0:
        return False
    name, word, parenthesis = tokens[index + 1 : index + 4]
    return name.kind in _NAME_KINDS and word.word == "AS" and parenthesis.word == "("


def _contextual(word: str, previous: Token | None, following: Token | None) -> T | None:
    """Words that are keywords in one place and names everywhere else."""
    before = previous.word if previous is not None else ""
    after = following.word if following is not None else ""
    if word == "APPLY" and before in ("CROSS", "OUTER"):
        return T.APPLY
    if word in ("ROWS", "RANGE") and (
        after in ("BETWEEN", "UNBOUNDED", "CURRENT")
        or (following is not None and following.kind == TokenKind.NUMBER and before != "FETCH")
    ):
        return T.ROWS if word == "ROWS" else T.RANGE
    counted = following is not None and following.kind in (TokenKind.NUMBER, TokenKind.VARIABLE)
    if word == "OFFSET" and (counted or after == "("):
        return T.OFFSET
    if word in ("FIRST", "NEXT") and before == "FETCH":
        return T.FIRST if word == "FIRST" else T.NEXT
    if word in ("CUBE", "ROLLUP") and (after == "(" or before == "WITH"):
        return T.CUBE if word == "CUBE" else T.ROLLUP
    if word == "XML" and before == "FOR":
        return T.XML
    return None


def _is_bare_hint(tokens: Sequence[Token], index: int, previous: Token) -> bool:
    """``FROM t (NOLOCK)`` and ``FROM t AS a (NOLOCK)``: hints without WITH."""
    if previous.kind not in _NAME_KINDS or (
        previous.kind == TokenKind.WORD and previous.word in RESERVED_WORDS
    ):
        return False
    at = index + 1
    while at < len(tokens) and tokens[at].word != ")":
        if tokens[at].word not in HINT_WORDS and tokens[at].word != ",":
            return False
        at += 1
    return at < len(tokens)
