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
from .source import Source, Span
from .tokens import RESERVED_WORDS, Token, TokenKind

__all__ = [
    "EXAMPLES",
    "describe",
    "incorrect_syntax",
    "misplaced_quote",
    "missing",
    "misspelt",
    "never_altered",
    "no_condition",
    "no_conversation",
    "of_neighbours",
    "reserved_name",
]

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
            "DROP MESSAGE TYPE 'm'",
            "DROP EVENT NOTIFICATION 'e'",
            "USE 'd'",
            "BEGIN DIALOG @h FROM SERVICE 'a'",
            "BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' ON CONTRACT 'c'",
            "SEND ON CONVERSATION @h MESSAGE TYPE 'm'",
            "RECEIVE * FROM 'q'",
            "GET CONVERSATION GROUP @g FROM 'q'",
        ),
    ),
    (
        "expected NONE, EMPTY, WELL_FORMED_XML or VALID_XML",
        (
            "CREATE MESSAGE TYPE m VALIDATION =",
            "CREATE MESSAGE TYPE m VALIDATION = 'EMPTY'",
            "CREATE MESSAGE TYPE m VALIDATION = NULL",
            "CREATE MESSAGE TYPE m VALIDATION = 1",
            "CREATE MESSAGE TYPE m VALIDATION = @v",
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
    (
        "the dialog's handle is a variable: BEGIN DIALOG @handle",
        (
            "BEGIN DIALOG h",
            "BEGIN DIALOG FROM",
            "BEGIN DIALOG CONVERSATION h",
            "BEGIN DIALOG CONVERSATION FROM",
        ),
    ),
    (
        "write BEGIN DIALOG CONVERSATION @handle, or BEGIN CONVERSATION TIMER (@handle) TIMEOUT = seconds",
        ("BEGIN CONVERSATION @h", "BEGIN CONVERSATION DIALOG"),
    ),
    (
        "BEGIN DIALOG has FROM SERVICE, then TO SERVICE, ON CONTRACT, WITH",
        (
            "BEGIN DIALOG @h TO SERVICE 'b'",
            "BEGIN DIALOG @h ON CONTRACT c",
            "BEGIN DIALOG @h FROM SERVICE a ON CONTRACT c",
            "BEGIN DIALOG @h FROM SERVICE a WITH",
            "BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b' WITH ENCRYPTION = OFF ON",
        ),
    ),
    (
        "AUTHORIZATION stands before VALIDATION",
        ("CREATE MESSAGE TYPE m VALIDATION = NONE AUTHORIZATION dbo",),
    ),
    (
        "a service needs a queue, and its contracts in parentheses: ON QUEUE name (contract)",
        ("CREATE SERVICE s QUEUE q", "CREATE SERVICE s ON QUEUE q c", "CREATE SERVICE s ON QUEUE q [c]"),
    ),
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
    (
        "TIMEOUT stands behind the parenthesis of WAITFOR: WAITFOR (RECEIVE …), TIMEOUT 1000",
        (
            "RECEIVE * FROM q, TIMEOUT 1",
            "RECEIVE TOP (1) * FROM q, TIMEOUT 1",
            "RECEIVE * FROM q INTO @t, TIMEOUT 1",
            "RECEIVE TOP (1) * FROM q INTO @t, TIMEOUT 1",
            "RECEIVE * FROM q WHERE conversation_handle = @h, TIMEOUT 1",
            "RECEIVE TOP (1) * FROM q WHERE conversation_handle = @h, TIMEOUT 1",
            "WAITFOR (GET CONVERSATION GROUP @g FROM q, TIMEOUT 1)",
        ),
    ),
    (
        "a statement that is waited for stands in parentheses: WAITFOR (RECEIVE …), TIMEOUT 1000",
        ("WAITFOR RECEIVE", "WAITFOR GET"),
    ),
    ("TIMEOUT takes milliseconds, without =", ("WAITFOR (RECEIVE * FROM q), TIMEOUT =",)),
    ("TIMEOUT takes milliseconds, a number", ("WAITFOR (RECEIVE * FROM q), TIMEOUT '1'",)),
    ("write the time as a string: WAITFOR DELAY '00:00:05'", ("WAITFOR DELAY 5", "WAITFOR TIME 5")),
    ("write WAITFOR DELAY '00:00:05'", ("WAITFOR '1'", "WAITFOR 1")),
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
    (
        "AS is missing before the procedure's statements",
        (
            "CREATE PROCEDURE p SELECT 1",
            "CREATE PROCEDURE p BEGIN SELECT",
            "CREATE PROCEDURE p @a INT SELECT 1",
            "CREATE PROCEDURE p @a INT BEGIN SELECT",
            "CREATE PROCEDURE p @a VARCHAR(5) SELECT 1",
            "CREATE PROCEDURE p @a VARCHAR(5) BEGIN SELECT",
            "CREATE PROCEDURE p (@a INT) SELECT 1",
            "CREATE PROCEDURE p (@a INT) BEGIN SELECT",
            "CREATE PROCEDURE p WITH RECOMPILE SELECT 1",
            "CREATE PROCEDURE p WITH RECOMPILE BEGIN SELECT",
        ),
    ),
    (
        "the parameter has no type: @name type",
        (
            "CREATE PROCEDURE p @a AS SELECT 1",
            "CREATE PROCEDURE p @a, @b INT",
            "CREATE PROCEDURE p (@a)",
            "CREATE PROCEDURE p @a = 1",
        ),
    ),
    (
        "a comma is missing before it",
        (
            "CREATE PROCEDURE p @a INT @b",
            "CREATE PROCEDURE p @a VARCHAR(5) @b",
            "CREATE PROCEDURE p @a INT = 1 @b",
            "CREATE PROCEDURE p (@a INT @b",
            "CREATE FUNCTION f (@a INT @b",
        ),
    ),
    (
        "FOR is missing before the cursor's query",
        ("DECLARE c CURSOR SELECT 1", "DECLARE c CURSOR LOCAL SELECT 1"),
    ),
    (
        "RAISERROR has parentheses: RAISERROR ('text', 16, 1)",
        ("RAISERROR 'a', 16, 1", "RAISERROR N'a', 16, 1"),
    ),
    ("UPDATE has SET before FROM and WHERE", ("UPDATE t WHERE", "UPDATE t FROM")),
    ("T-SQL has no THEN after IF", ("IF 1 = 1 THEN",)),
    (
        "a securable's class is written with ::, as in SERVICE::name",
        (
            "GRANT SEND ON SERVICE s",
            "GRANT CONTROL ON CONTRACT c",
            "DENY SEND ON SERVICE s",
            "REVOKE SEND ON SERVICE s",
        ),
    ),
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
_ALONE = {
    "BEGIN_CATCH": "BEGIN TRY … END TRY is followed by BEGIN CATCH … END CATCH, with nothing between them",
    "TRY": "a BEGIN TRY block ends with END TRY",
    "CATCH": "a BEGIN CATCH block ends with END CATCH",
}
"""What to say where nothing but a terminal is expected."""
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


_OF_NAMES = frozenset({TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED, TokenKind.VARIABLE})
_OPERANDS = _OF_NAMES | {TokenKind.STRING, TokenKind.NUMBER, TokenKind.BINARY}


_OF_COMPUTE = ("AVG", "COUNT", "MAX", "MIN", "STDEV", "STDEVP", "SUM", "VAR", "VARP")
_OF_OTHER_LANGUAGES = {
    "DO": "T-SQL has no DO: a statement or a block BEGIN … END follows WHILE",
    "ELSEIF": "write ELSE IF",
    "ELSIF": "write ELSE IF",
    "ENDIF": "T-SQL has no END IF: a block ends with END",
    "LOOP": "T-SQL has no LOOP: a block ends with END",
    "NOTNULL": "write NOT NULL",
}


def of_neighbours(tokens: Sequence[Token], place: int) -> str | None:
    """Return what the unexpected token and the ones beside it tell, whatever the statement is."""
    if place >= len(tokens):
        return None
    token = tokens[place]
    before = tokens[place - 1] if place else None
    if token.word == "GO" and before is not None:
        return "GO stands alone on its line, and in no dynamic SQL: it is a word of tools as sqlcmd"
    if before is None:
        return None
    earlier = tokens[place - 2].word if place > 1 else ""
    if before.word == "ALTER" and earlier == "OR":
        return "CREATE OR ALTER is for procedures, functions, views and triggers"
    # ACTIVATION (DROP) has no object.
    if before.word in _OBJECT_VERBS and earlier != "(" and token.word not in RESERVED_WORDS:
        return f"the kind of object is missing, as in {before.word} QUEUE or {before.word} TABLE"
    if token.word in _OF_OTHER_LANGUAGES:
        return _OF_OTHER_LANGUAGES[token.word]
    if token.word == "=" and before.word == "=":
        return "T-SQL compares with one ="
    if token.text == "*=" or [each.text for each in tokens[max(place - 2, 0) : place]] == ["=", "*"]:
        return "SQL Server 2012 removed the joins *= and =*: write LEFT JOIN … ON or RIGHT JOIN … ON"
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if token.word == "COMPUTE" and following is not None and following.word in _OF_COMPUTE:
        return "SQL Server 2012 removed COMPUTE: write GROUP BY … WITH ROLLUP, or a second query"
    if token.word == "/" and following is not None and (before.word == "*" or following.word == "/"):
        if before.word == "*":
            return "there is no /* for the */"
        return "a name with other signs than letters and digits stands in brackets: [//…]"
    return None


_NEVER_ALTERED = ("AGGREGATE", "CONTRACT", "EVENT NOTIFICATION", "SYNONYM", "TYPE")


def never_altered(tokens: Sequence[Token], place: int) -> str | None:
    """Tell that ALTER does not know a kind of object that CREATE and DROP know."""
    if not place or tokens[place - 1].word != "ALTER":
        return None
    words = " ".join(token.word for token in tokens[place : place + 2])
    for kind in _NEVER_ALTERED:
        if f"{words} ".startswith(f"{kind} "):
            return f"T-SQL has no ALTER {kind}: drop it and create it again"
    return None


_OFTEN_BEHIND = frozenset({",", ")", ";", ".", "+", "=", "||"})


def misplaced_quote(tokens: Sequence[Token], source: Source, places: range) -> str | None:
    """Tell of the first string with a word right behind it at one of the places: a quote is missing there."""
    for index in places:
        before, token = tokens[index - 1], tokens[index]
        if before.kind is not TokenKind.STRING or before.end != token.start:
            continue
        if "\n" in before.text:
            is_wrong = token.word not in _OFTEN_BEHIND
        else:
            is_wrong = token.kind in _OPERANDS and token.word not in RESERVED_WORDS
        if is_wrong:
            line, column = source.line_of(before.start), source.column_of(before.start)
            return (
                f"the string at line {line}, column {column} ends right before '{token.text}': is a quote "
                "missing? Inside a string it is written twice, as in 'it''s'"
            )
    return None


_OBJECT_VERBS = frozenset({"ALTER", "CREATE", "DROP"})
_BEFORE_JOIN = frozenset({"CROSS", "FULL", "INNER", "LEFT", "RIGHT"})
_NO_NAMES = frozenset({",", ")", ";"})
_END_OF_OPERAND = frozenset({")", "END", "KEY", "NULL", "UNIQUE"})


_BEFORE_TABLES = frozenset({"FROM", "INTO", "JOIN", "TABLE", "UPDATE"})
_NOUNS = frozenset({"CHECK", "FILE", "GROUP", "INDEX", "KEY", "ORDER", "PERCENT", "PLAN", "RULE", "USER"})


def reserved_name(tokens: Sequence[Token], place: int) -> str | None:
    """Return how the reserved word at ``place`` is written where it is meant for a table's name."""
    if not 0 < place < len(tokens) or tokens[place - 1].word not in _BEFORE_TABLES:
        return None
    token = tokens[place]
    following = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if token.word not in _NOUNS & RESERVED_WORDS or following == "BY":
        return None
    return f"{token.word} is a reserved word: as a name it stands in brackets, [{token.text}]"


def no_conversation(tokens: Sequence[Token], place: int) -> str | None:
    """Tell what a SEND lacks that a batch begins with: without ON it was read as the call of a procedure."""
    if place not in (1, 2) or tokens[0].word != "SEND" or tokens[1].word == "ON":
        return None
    return "write ON CONVERSATION and the handle after SEND"


def missing(tokens: Sequence[Token], place: int) -> str | None:
    """Return which word or sign a query lacks before the unexpected token, as far as its neighbours tell."""
    token = tokens[place]
    following = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if token.word in ("ORDER", "GROUP") and following != "BY":
        return f"BY is missing after {token.word}"
    if token.word in ("PRIMARY", "FOREIGN") and following != "KEY":
        return f"KEY is missing after {token.word}"
    if token.word in ("MOVE", "RECEIVE", "SEND", "THROW"):
        return f"write a semicolon before {token.word}"
    before = tokens[place - 1] if place else None
    if before is None:
        return None
    for index in range(max(place - 2, 1), place + 1):
        is_name = tokens[index].kind in _OF_NAMES and tokens[index].word not in RESERVED_WORDS
        if tokens[index - 1].word == "." and not is_name and tokens[index].word != "*":
            return f"a name is missing after '{tokens[index - 2].text if index > 1 else ''}.'"
    if before.word in ("AS", "CONSTRAINT") and token.word in _NO_NAMES | RESERVED_WORDS:
        return f"a name is missing after {before.word}"
    if token.word in _BEFORE_JOIN and following not in ("JOIN", "OUTER", "APPLY", "("):
        return f"JOIN is missing after {token.word}"
    if before.word in (",", "(") and token.word in (",", ")", "="):
        return f"something is missing before '{token.text}'"
    call = _call_around(tokens, place)
    if token.word == "AS" and call is not None:
        return did_you_mean(call.text, _CALLS_WITH_AS)
    if call is not None and call.word in ("CAST", "TRY_CAST") and token.kind in _OF_NAMES:
        return f"write {call.word}(value AS type)"
    if before.word == "LIMIT":
        return "T-SQL has no LIMIT: write TOP (n) after SELECT, or OFFSET … FETCH after ORDER BY"
    maybe = "a comma or an operator"
    if token.word in (".", "(", "=") and before.kind in _OF_NAMES and before.word not in RESERVED_WORDS:
        maybe = "WHERE or AND" if token.word == "=" else maybe
        token, before = before, tokens[place - 2] if place > 1 else before
    if not _ends_operand(before) or token.word in RESERVED_WORDS | _CLAUSE_WORDS:
        return None
    if token.kind in _OPERANDS or (token.word == "(" and before.word == ")"):
        shown = token.text if token.kind is TokenKind.STRING else f"'{token.text}'"
        return f"something is missing before {shown}, {maybe} maybe"
    return None


_LONGEST_CALL = 1000
"""Tokens of a call within which a hint is looked for: a batch that is all wrong has thousands of errors."""
_CALLS_WITH_AS = ("CAST", "TRY_CAST", "PARSE", "TRY_PARSE")


def _ends_operand(token: Token) -> bool:
    if token.word in _END_OF_OPERAND:
        return True
    return token.kind in _OPERANDS and token.word not in RESERVED_WORDS


def _call_around(tokens: Sequence[Token], place: int) -> Token | None:
    """Return the word before the parenthesis in which a token stands."""
    depth = 0
    for index in range(place - 1, max(place - _LONGEST_CALL, 0), -1):
        word = tokens[index].word
        if word == ";":
            return None
        depth += (word == ")") - (word == "(")
        if depth < 0:
            return tokens[index - 1]
    return None


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
    if len(terminals) == 1 and (sentence := _ALONE.get(*terminals)) is not None:
        return sentence
    if {"CASE_EXPRESSION", "GROUP", "VARIABLE"} <= terminals:
        return "expected an expression"
    if "TEXT" in terminals or "DESTINATION" in terminals:
        return None
    if "NAME" in terminals:
        # That of IF EXISTS, which few kinds of object have behind DROP.
        terminals.discard("IF")
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
