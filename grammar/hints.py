"""What to say about a malformed statement, besides where it is.

:func:`describe` puts into words what the grammar could have taken. :data:`EXAMPLES` are mistakes
that people make: a sentence, and malformed snippets. The parser parses the snippets, and where
it gives up on one of them it says the sentence when it gives up on a script in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .lexer import string_value
from .problems import did_you_mean
from .source import Span
from .tokens import RESERVED_WORDS, Token, TokenKind

__all__ = ["EXAMPLES", "describe", "incorrect_syntax", "no_condition"]

EXAMPLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "this name is no string: write it in brackets or bare",
        (
            "CREATE QUEUE 'q'",
            "CREATE SERVICE 's'",
            "CREATE SERVICE s ON QUEUE 'q'",
            "CREATE SERVICE s ON QUEUE q ('c')",
            "CREATE CONTRACT 'c'",
            "CREATE CONTRACT c ('m' SENT BY ANY)",
            "CREATE MESSAGE TYPE 'm'",
            "CREATE ROUTE 'r'",
            "DROP QUEUE 'q'",
            "USE 'd'",
            "BEGIN DIALOG @h FROM SERVICE 'a'",
            "BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' ON CONTRACT 'c'",
            "SEND ON CONVERSATION @h MESSAGE TYPE 'm'",
            "RECEIVE * FROM 'q'",
            "GET CONVERSATION GROUP @g FROM 'q'",
        ),
    ),
    (
        "DROP takes one of this kind: write a statement for each",
        ("DROP SERVICE a, b", "DROP QUEUE a, b", "DROP ROUTE a, b", "DROP CONTRACT a, b"),
    ),
    (
        "TO SERVICE takes a string or a variable: TO SERVICE 'name'",
        (
            "BEGIN DIALOG @h FROM SERVICE a TO SERVICE b",
            "CREATE REMOTE SERVICE BINDING b TO SERVICE s",
            "CREATE EVENT NOTIFICATION n ON SERVER FOR e TO SERVICE s",
        ),
    ),
    (
        "a conversation handle is a variable",
        (
            "END CONVERSATION h",
            "SEND ON CONVERSATION h",
            "MOVE CONVERSATION h",
            "GET CONVERSATION GROUP g",
        ),
    ),
    ("the dialog's handle is a variable: BEGIN DIALOG @handle", ("BEGIN DIALOG h", "BEGIN DIALOG FROM")),
    (
        "write ON CONVERSATION and the handle after SEND",
        ("BEGIN SEND CONVERSATION @h", "BEGIN SEND @h", "BEGIN SEND MESSAGE", "BEGIN SEND ON END"),
    ),
    (
        "RECEIVE needs *, columns or assignments before FROM",
        ("BEGIN RECEIVE FROM q", "BEGIN RECEIVE TOP (1) FROM q"),
    ),
    (
        "a RECEIVE is filtered by one condition: a conversation handle or a conversation group",
        (
            "RECEIVE * FROM q WHERE conversation_handle = @h AND",
            "RECEIVE * FROM q WHERE conversation_handle = @h OR",
            "RECEIVE * FROM q WHERE conversation_handle IN (1)",
            "RECEIVE * FROM q WHERE conversation_handle <> @h",
            "RECEIVE * FROM q WHERE EXISTS",
        ),
    ),
    (
        "RECEIVE has INTO behind the queue: RECEIVE … FROM queue INTO @table",
        ("RECEIVE * INTO @t", "RECEIVE a INTO @t", "RECEIVE TOP (1) a INTO @t", "RECEIVE * INTO t"),
    ),
    (
        "RECEIVE has no ORDER BY: messages come in the order of their conversation",
        (
            "RECEIVE * FROM q ORDER BY",
            "RECEIVE TOP (1) * FROM q ORDER BY",
            "RECEIVE * FROM q WHERE conversation_handle = @h ORDER BY",
        ),
    ),
    ("TIMEOUT belongs to WAITFOR: WAITFOR (RECEIVE …), TIMEOUT 1000", ("RECEIVE * FROM q, TIMEOUT 1",)),
    (
        "the comma before TIMEOUT is missing",
        ("WAITFOR (RECEIVE * FROM q) TIMEOUT 1", "WAITFOR (GET CONVERSATION GROUP @g FROM q) TIMEOUT 1"),
    ),
    (
        "WAITFOR ( … ) takes RECEIVE or GET CONVERSATION GROUP",
        ("WAITFOR (SELECT 1)", "WAITFOR (WAITFOR", "WAITFOR (1)"),
    ),
    (
        "WITH ERROR = number needs DESCRIPTION = 'text'",
        (
            "END CONVERSATION @h WITH ERROR = 1",
            "END CONVERSATION @h WITH ERROR = 1;",
            "BEGIN END CONVERSATION @h WITH ERROR = 1 END",
            "END CONVERSATION @h WITH ERROR = @n END",
            "END CONVERSATION @h WITH ERROR = 1, DESCRIPTION",
        ),
    ),
    (
        "write CREATE XML SCHEMA COLLECTION name AS N'…'",
        (
            "CREATE XML SCHEMA COLLECTION N'x'",
            "CREATE XML SCHEMA COLLECTION @x",
            "CREATE XML SCHEMA COLLECTION AS",
        ),
    ),
    (
        "write SENT BY INITIATOR, SENT BY TARGET or SENT BY ANY",
        ("CREATE CONTRACT c (m)", "CREATE CONTRACT c (m,"),
    ),
    ("write ON QUEUE and the name of the queue", ("CREATE SERVICE s ON q", "CREATE SERVICE s ON [q]")),
    (
        "a service needs a queue: ON QUEUE name",
        ("CREATE SERVICE s", "CREATE SERVICE s;", "CREATE SERVICE s (c)", "CREATE SERVICE s CREATE"),
    ),
    (
        "BEGIN TRY … END TRY is followed by BEGIN CATCH … END CATCH, with nothing between them",
        ("BEGIN TRY SELECT 1 END TRY", "BEGIN TRY SELECT 1 END TRY;", "BEGIN TRY SELECT 1 END TRY SELECT 2"),
    ),
    (
        "a block holds at least one statement",
        ("BEGIN END", "BEGIN TRY END TRY", "IF 1 = 1 BEGIN END"),
    ),
    ("the name of a variable begins with @", ("SET a =", "SET [a] =", "DECLARE a int", "DECLARE a AS")),
    ("T-SQL assigns with =", ("SET @a :", "DECLARE @a int :")),
    ("write SET @variable = value", ("SET @a 1", "SET @a 'x'", "SET @a @b", "SET @a (1)", "SET @a NULL")),
    (
        "THROW takes a number, a message and a state: constants or variables, no expressions",
        (
            "THROW 50000;",
            "THROW 50000",
            "THROW 50000, 'x';",
            "THROW 50000, 'x'",
            "THROW 50000 + 1",
            "THROW 50000, 'x' + 'y'",
            "THROW 50000, N('x')",
            "THROW 50000, CONCAT('x', 'y'), 1",
        ),
    ),
    (
        "a type is missing: DECLARE @name type",
        ("DECLARE @a", "DECLARE @a;", "DECLARE @a = 1", "DECLARE @a, @b int"),
    ),
    (
        "an argument of EXEC is a constant or a variable, no expression: put it into a variable",
        (
            "EXEC p 1 + 1",
            "EXEC p 'a' + 'b'",
            "EXEC p @a + 1",
            "EXEC p @a = 1 + 1",
            "EXEC p f(1)",
            "EXEC p @a = f(1)",
            "EXEC p (1)",
            "EXEC p @a = (1)",
        ),
    ),
    (
        "the name of a procedure is missing",
        ("CREATE PROCEDURE @a int", "CREATE PROCEDURE AS", "CREATE PROCEDURE (@a int)"),
    ),
    (
        "a condition is missing",
        ("IF BEGIN", "IF PRINT", "IF SELECT", "WHILE BEGIN", "WHILE PRINT", "IF THEN"),
    ),
    ("a statement is missing after the condition", ("IF 1 = 1", "WHILE 1 = 1", "IF @a = @b", "IF 1 = 1;")),
    ("UPDATE has SET before FROM and WHERE", ("UPDATE t WHERE", "UPDATE t FROM")),
    ("T-SQL has no THEN after IF", ("IF 1 = 1 THEN",)),
    ("T-SQL has no END IF: a block ends with END", ("BEGIN IF 1 = 1 BEGIN PRINT 'x' END IF", "BEGIN END IF")),
    ("FETCH has FROM after the direction: FETCH NEXT FROM cursor", ("FETCH NEXT c", "FETCH NEXT @c")),
)

_WORDS = {
    "NAME": "a name",
    "VARIABLE": "a variable",
    "STRING": "a string",
    "INTEGER": "a number",
    "NUMBER": "a number",
    "BINARY": "a binary constant",
    "GROUP": "(",
    "_EOS": "the end of the statement",
    "$END": "the end of the batch",
}
_NOT_SAID = frozenset(
    {
        "ANY_WORD",
        "BRACES",
        "CLASS",
        "COMPOUND",
        "CONSTANT_WORD",
        "DOT",
        "FUNCTION_WORD",
        "INVALID",
        "LABEL",
        "MODULE_NUMBER",
        "OPERATOR",
        "PSEUDO_COLUMN",
        "SEMICOLON",
        "SIGN",
        "SUBQUERY",
    }
)
_FIRST = ("NAME", "VARIABLE", "STRING")
_MOST_WORDS = 8
_LONGEST_NEAR = 60


def incorrect_syntax(token: Token) -> tuple[str, int]:
    """Return SQL Server's message and number for a token that cannot stand where it does."""
    if token.kind is TokenKind.WORD and token.word in RESERVED_WORDS:
        return f"Incorrect syntax near the keyword '{token.text}'.", 156
    text = string_value(token) if token.kind is TokenKind.STRING else token.name
    shown = " ".join(text.split())
    return (
        f"Incorrect syntax near '{shown if len(shown) <= _LONGEST_NEAR else shown[:_LONGEST_NEAR] + '…'}'.",
        102,
    )


_CLAUSE_WORDS = frozenset(
    """
    APPLY AUTO FIRST FOLLOWING JSON LAST MATCHED NEXT OFFSET ONLY OUTPUT PARTITION PATH PRECEDING RANGE RAW
    ROOT ROW ROWS SOURCE TARGET TIES TYPE USING XML
    """.split()
)
"""Words of queries that are not reserved."""
_BEFORE_NAMES = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "AS", "."})
"""What stands behind them is a name, whatever keyword it is like."""


def misspelt(tokens: Sequence[Token], place: int) -> str | None:
    """Return the hint that the unexpected token, or a name before it, may be meant for a keyword."""
    for index in range(min(place, len(tokens) - 1), max(place - 1, 0) - 1, -1):
        token = tokens[index]
        if index and index < place and tokens[index - 1].word in _BEFORE_NAMES:
            continue
        if token.kind is TokenKind.WORD and token.word not in RESERVED_WORDS | _CLAUSE_WORDS:
            hint = did_you_mean(token.text, RESERVED_WORDS)
            if hint is not None:
                return hint
    return None


def describe(terminals: Iterable[str], texts: Mapping[str, str]) -> str | None:
    """Return "expected a, b or c", None when there are too many to be of help.

    ``texts`` are the texts of the terminals that stand for fixed words.
    """
    terminals = set(terminals)
    if {"CASE_EXPRESSION", "GROUP", "VARIABLE"} <= terminals:
        return "expected an expression"
    if "TEXT" in terminals or "DESTINATION" in terminals:
        return None
    words: list[str] = []
    for terminal in sorted(terminals - _NOT_SAID, key=lambda name: (name not in _FIRST, name)):
        word = _WORDS.get(terminal) or texts.get(terminal, terminal)
        if not word[0].isalpha():
            word = f"'{word}'"
        if word not in words:
            words.append(word)
    if not words or len(words) > _MOST_WORDS:
        return None
    if len(words) == 1:
        return f"expected {words[0]}"
    return f"expected {', '.join(words[:-1])} or {words[-1]}"


_GAP = r"(?:\s|--[^\n]*|/\*.*?\*/)*"
_NEXT = re.compile(_GAP + r"(?!GO\b)(@*\w+|\[[^]]*\]|\S)", re.DOTALL | re.IGNORECASE)
_LAST = re.compile(r"[@\w]+|\S")


def no_condition(span: Span) -> str:
    """Error 4145: a value stands at ``span`` where a condition is expected.

    SQL Server names the word behind it, at the end of the batch the last one.
    """
    text = span.source.text
    end = span.end
    for _ in range(text.count("(", span.start, end) - text.count(")", span.start, end)):
        end = text.find(")", end) + 1 or end
    following = _NEXT.match(text, end)
    near = (
        following.group(1) if following is not None else (_LAST.findall(text[span.start : end]) or [""])[-1]
    )
    return (
        "An expression of non-boolean type specified in a context where a condition is expected, near "
        f"'{near.strip('[]')}'."
    )
