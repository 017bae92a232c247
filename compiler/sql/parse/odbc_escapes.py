"""ODBC's escape clauses: ``{fn …}``, ``{d '…'}``, ``{oj …}``, ``{escape '…'}`` → T-SQL's own words.

The scalar functions are those of the ODBC reference (appendix E); what T-SQL has under the same
name stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....grammar.tokens import Token, TokenKind, words_of

__all__ = ["without_escapes"]

_FUNCTIONS = {
    "BIT_LENGTH": "( DATALENGTH ( #0 ) * 8 )",
    "CHARACTER_LENGTH": "LEN ( #0 )",
    "CHAR_LENGTH": "LEN ( #0 )",
    "CONCAT": "( #0 + #1 )",
    "CURDATE": "CONVERT ( varchar ( 10 ) , GETDATE ( ) , 23 )",
    "CURRENT_DATE": "CONVERT ( varchar ( 10 ) , GETDATE ( ) , 23 )",
    "CURRENT_TIME": "CONVERT ( varchar ( 8 ) , GETDATE ( ) , 108 )",
    "CURRENT_TIMESTAMP": "GETDATE ( )",
    "CURTIME": "CONVERT ( varchar ( 8 ) , GETDATE ( ) , 108 )",
    "DATABASE": "DB_NAME ( )",
    "DAYNAME": "DATENAME ( weekday , #0 )",
    "DAYOFMONTH": "DAY ( #0 )",
    "DAYOFWEEK": "DATEPART ( weekday , #0 )",
    "DAYOFYEAR": "DATEPART ( dayofyear , #0 )",
    "HOUR": "DATEPART ( hour , #0 )",
    "IFNULL": "ISNULL ( #0 , #1 )",
    "INSERT": "STUFF ( #0 , #1 , #2 , #3 )",
    "LCASE": "LOWER ( #0 )",
    "LENGTH": "LEN ( #0 )",
    "LOCATE": "CHARINDEX ( #0 , #1 , #2 )",
    "MINUTE": "DATEPART ( minute , #0 )",
    "MOD": "( ( #0 ) % ( #1 ) )",
    "MONTHNAME": "DATENAME ( month , #0 )",
    "NOW": "GETDATE ( )",
    "OCTET_LENGTH": "DATALENGTH ( #0 )",
    "QUARTER": "DATEPART ( quarter , #0 )",
    "REPEAT": "REPLICATE ( #0 , #1 )",
    "SECOND": "DATEPART ( second , #0 )",
    "TIMESTAMPADD": "DATEADD ( #0 , #1 , #2 )",
    "TIMESTAMPDIFF": "DATEDIFF ( #0 , #1 , #2 )",
    "TRUNCATE": "ROUND ( #0 , #1 , 1 )",
    "UCASE": "UPPER ( #0 )",
    "USER": "USER_NAME ( )",
    "WEEK": "DATEPART ( week , #0 )",
}
"""#0 stands for the first argument; one that is not given goes with the comma in front of it."""

# All three of date and time are of type datetime; a time alone is of today.
_LITERALS = {
    "D": "CAST ( #0 AS datetime )",
    "T": "DATEADD ( day , DATEDIFF ( day , 0 , GETDATE ( ) ) , CAST ( #0 AS datetime ) )",
    "TS": "CAST ( #0 AS datetime )",
    "GUID": "CAST ( #0 AS uniqueidentifier )",
}
_INTERVALS = {"FRAC_SECOND": "nanosecond"}
_TYPES = {
    "BIGINT": "bigint",
    "BINARY": "binary",
    "BIT": "bit",
    "CHAR": "char",
    "DECIMAL": "decimal",
    "DOUBLE": "float",
    "FLOAT": "float",
    "GUID": "uniqueidentifier",
    "INTEGER": "int",
    "LONGVARBINARY": "varbinary",
    "LONGVARCHAR": "varchar",
    "NUMERIC": "numeric",
    "REAL": "real",
    "SMALLINT": "smallint",
    "TIMESTAMP": "datetime",
    "TINYINT": "tinyint",
    "TYPE_DATE": "date",
    "TYPE_TIME": "time",
    "TYPE_TIMESTAMP": "datetime",
    "VARBINARY": "varbinary",
    "VARCHAR": "varchar",
    "WCHAR": "nchar",
    "WLONGVARCHAR": "nvarchar",
    "WVARCHAR": "nvarchar",
}


def without_escapes(tokens: Sequence[Token]) -> Sequence[Token]:
    """Replace escape clauses; what is none stays, and is an error where it is read."""
    if "{" not in words_of(tokens):
        return tokens
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        end = _closing(tokens, index) if token.word == "{" else None
        if end is None:
            result.append(token)
            index += 1
            continue
        inner = without_escapes(tokens[index + 1 : end])
        replaced = _replaced(inner)
        result += tokens[index : end + 1] if replaced is None else replaced
        index = end + 1
    return result


def _closing(tokens: Sequence[Token], start: int) -> int | None:
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index].word == "{") - (tokens[index].word == "}")
        if depth == 0:
            return index
    return None


def _replaced(inner: Sequence[Token]) -> Sequence[Token] | None:
    """What an escape clause says; None where it is not known."""
    word = inner[0].word if inner else ""
    if word == "OJ" and len(inner) > 1:
        return inner[1:]
    if word == "ESCAPE" and len(inner) == 2:
        return inner
    if word in _LITERALS and len(inner) == 2 and inner[1].kind is TokenKind.STRING:
        return _filled(_LITERALS[word], [inner[1:]], inner[0])
    if word == "FN" and len(inner) > 1:
        return _function(inner[1:])
    return None


def _function(call: Sequence[Token]) -> Sequence[Token]:
    name = call[0].word
    arguments = _arguments(call)
    if name == "EXTRACT" and arguments and len(arguments[0]) > 2 and arguments[0][1].word == "FROM":
        return _filled("DATEPART ( #0 , #1 )", [arguments[0][:1], arguments[0][2:]], call[0])
    if name == "POSITION" and arguments:
        place = next((n for n, token in enumerate(arguments[0]) if token.word == "IN"), None)
        if place:
            parts = [arguments[0][:place], arguments[0][place + 1 :]]
            return _filled("CHARINDEX ( #0 , #1 )", parts, call[0])
    if name == "CONVERT" and len(arguments) == 2:
        type_ = _TYPES.get(arguments[1][0].word.removeprefix("SQL_"))
        if type_ is not None:
            return _filled(f"CONVERT ( {type_} , #0 )", arguments[:1], call[0])
    if name in ("TIMESTAMPADD", "TIMESTAMPDIFF") and arguments:
        unit = arguments[0][0].word.removeprefix("SQL_TSI_")
        arguments[0] = _filled(_INTERVALS.get(unit, unit.lower()), [], arguments[0][0])
    template = _FUNCTIONS.get(name)
    return call if template is None else _filled(template, arguments, call[0])


def _arguments(call: Sequence[Token]) -> list[Sequence[Token]]:
    """The arguments in the parentheses behind a function's name."""
    if len(call) < 4 or call[1].word != "(":
        return []
    result: list[Sequence[Token]] = []
    depth = 0
    start = 2
    for index in range(1, len(call)):
        word = call[index].word
        depth += (word == "(") - (word == ")")
        if (word == "," and depth == 1) or depth == 0:
            result.append(call[start:index])
            start = index + 1
        if depth == 0:
            break
    return result


def _filled(template: str, arguments: Sequence[Sequence[Token]], place: Token) -> list[Token]:
    """The template as tokens with the arguments in it."""
    result: list[Token] = []
    for piece in template.split():
        if piece[0] == "#":
            if int(piece[1:]) < len(arguments):
                result += arguments[int(piece[1:])]
            elif result and result[-1].word == ",":
                result.pop()
            continue
        kind = TokenKind.SYMBOL
        if piece.isdecimal():
            kind = TokenKind.NUMBER
        elif piece[0].isalpha():
            kind = TokenKind.WORD
        word = "" if kind is TokenKind.NUMBER else piece.upper()
        result.append(Token(kind, piece, place.start, place.end, word))
    return result
