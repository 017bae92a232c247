"""Tokens → terminals of the grammar: what a word is at the place where it stands.

Nearly every word of T-SQL is a keyword in one place and a name in another, and an ordinary
statement has no mark at its end. :class:`TerminalChooser` decides both with the help of the
parser: it is given the terminals that the parser can take next, and answers with the one that
the token (or the run of tokens) stands for.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field

from .aliases import may_be_alias
from .problems import NESTED_TOO_DEEPLY
from .records import dataclass
from .tokens import RESERVED_WORDS, STATEMENT_WORDS, Token, TokenKind

__all__ = ["END_OF_BATCH", "END_OF_STATEMENT", "TerminalChooser", "TerminalNames", "UnexpectedText"]

END_OF_STATEMENT = "_EOS"
END_OF_BATCH = "$END"

_CONSTANT_WORDS = frozenset(
    {
        "NULL",
        "CURRENT_TIMESTAMP",
        "CURRENT_USER",
        "CURRENT_DATE",
        "CURRENT_TIME",
        "SESSION_USER",
        "SYSTEM_USER",
        "USER",
        "IDENTITYCOL",
        "ROWGUIDCOL",
    }
)
_FUNCTION_WORDS = frozenset(
    {
        "ALL",
        "ANY",
        "COALESCE",
        "CONTAINS",
        "CONVERT",
        "EXISTS",
        "FREETEXT",
        "IDENTITY",
        "LEFT",
        "NULLIF",
        "RIGHT",
        "SOME",
        "TRY_CONVERT",
        "TSEQUAL",
        "UPDATE",
    }
)
_OPERATOR_WORDS = frozenset({"AND", "OR", "IN", "IS", "LIKE", "BETWEEN", "ESCAPE"})
_SIGNS = frozenset({"+", "-", "~"})
_OPERATORS = frozenset(
    {"+", "-", "/", "%", "&", "|", "^", "<", ">", "<=", ">=", "<>", "!=", "!<", "!>", "||", "<<", ">>"}
)
_COMPOUND = frozenset({"+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "||="})

# Words that no parenthesis can hold: where one stands, a closing parenthesis is missing.
_NEVER_IN_PARENTHESES = frozenset(
    {
        "BEGIN",
        "BREAK",
        "COMMIT",
        "DEALLOCATE",
        "DECLARE",
        "GOTO",
        "IF",
        "PRINT",
        "RAISERROR",
        "RETURN",
        "ROLLBACK",
        "TRUNCATE",
        "WAITFOR",
        "WHILE",
    }
)
# After these words RECEIVE is a name: a column, a table, an alias.
_BEFORE_A_NAME = frozenset(
    {
        "AND",
        "AS",
        "BY",
        "DISTINCT",
        "EXEC",
        "EXECUTE",
        "FROM",
        "INTO",
        "JOIN",
        "NOT",
        "OR",
        "SELECT",
        "UPDATE",
        "WHERE",
    }
)
# RECEIVE (a) FROM q has a parenthesis there, as a table's name has: CREATE TABLE receive (a INT).
_BEFORE_AN_OPERAND = frozenset({"(", "+", "-", "~"})
_BEFORE_A_STATEMENT = frozenset({";", "BEGIN", "CATCH", "ELSE", "TRAN", "TRANSACTION", "TRY"})
# What follows a word that begins a statement of Service Broker, where the word could be a name.
_SECOND_WORDS = {"SEND": ("ON",), "GET": ("CONVERSATION",), "MOVE": ("CONVERSATION",)}
_CERTAIN = {
    "SEND": ("SEND", "ON", "CONVERSATION"),
    "GET": ("GET", "CONVERSATION", "GROUP"),
    "MOVE": ("MOVE", "CONVERSATION"),
}
_SERVICE_BROKER_WORDS = frozenset({"RECEIVE", *_CERTAIN})
_CLAUSES = frozenset({"FROM", "WHERE", "GROUP", "ORDER", "HAVING"})
# What ALTER … DROP takes off an object: no DROP statement of its own begins so.
_DROPPED_PARTS = frozenset(
    {
        "(",
        "ALL",
        "BLOCK",
        "ENCRYPTION",
        "FILE",
        "FILTER",
        "HIDDEN",
        "MASKED",
        "NOT",
        "PERIOD",
        "PERSISTED",
        "ROWGUIDCOL",
        "SPARSE",
        "TARGET",
        "VALUE",
    }
)
_DEEPEST_PARENTHESES = 400


@dataclass(frozen=True)
class TerminalNames:
    """The terminals of the grammar by the text that they stand for."""

    keywords: Mapping[str, str]
    """Single words, upper-case."""
    symbols: Mapping[str, str]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    """By first word: the words of a terminal of several words, the longest first."""
    texts: Mapping[str, str]
    """The other way round: the text that a terminal stands for."""

    @classmethod
    def of(cls, literals: Iterable[tuple[str, str]]) -> TerminalNames:
        """Sort the (name, text) pairs of the grammar's literal terminals."""
        keywords: dict[str, str] = {}
        symbols: dict[str, str] = {}
        phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        texts = dict(literals)
        for name, text in texts.items():
            words = tuple(text.split())
            if len(words) > 1:
                phrases.setdefault(words[0], []).append((words, name))
            elif text[0].isalpha():
                keywords[text] = name
            else:
                symbols[text] = name
        return cls(
            keywords,
            symbols,
            {first: tuple(sorted(some, key=lambda p: -len(p[0]))) for first, some in phrases.items()},
            texts,
        )


@dataclass
class UnexpectedText(Exception):
    """The token at ``index`` cannot stand where it stands; ``message`` overrides the default."""

    index: int
    message: str | None = None
    hint: str | None = None
    number: int | None = None
    opened_at: int | None = field(default=None)
    """The index of the parenthesis or CASE that is still open."""


# Looked up once: each token is asked for several of them.
_BINARY = TokenKind.BINARY
_BRACKETED = TokenKind.BRACKETED
_NUMBER = TokenKind.NUMBER
_PSEUDO_COLUMN = TokenKind.PSEUDO_COLUMN
_QUOTED = TokenKind.QUOTED
_STRING = TokenKind.STRING
_SYMBOL = TokenKind.SYMBOL
_VARIABLE = TokenKind.VARIABLE
_WORD = TokenKind.WORD

Choices = Mapping[str, int]
"""What the parser can take: terminal → (action, argument), as in a row of its table."""


class TerminalChooser:
    """Chooses the terminals of one batch."""

    def __init__(
        self,
        tokens: list[Token],
        names: TerminalNames,
        table: Sequence[Choices],
        starters: Container[str],
    ) -> None:
        """Keep the tokens and the parser's table.

        ``starters`` are the terminals that can begin a statement.
        """
        self._tokens = tokens
        self._count = len(tokens)
        self._names = names
        self._table = table
        self._starters = starters
        self._phrases = names.phrases

    # ------------------------------------------------------------------ one terminal

    def choose(self, index: int, choices: Choices) -> tuple[str, int] | None:
        """Return the terminal at ``index`` and the index after it; None when nothing fits.

        Raises UnexpectedText for a parenthesis or CASE that is not closed.
        """
        token = self._tokens[index]
        kind = token.kind
        if kind is _WORD:
            chosen = self._choose_word(index, token.word, choices)
        elif kind is _SYMBOL:
            chosen = self._choose_symbol(index, token.word, choices)
        elif kind is _VARIABLE:
            chosen = ("VARIABLE", index + 1) if "VARIABLE" in choices else None
        elif kind is _STRING:
            chosen = ("STRING", index + 1) if "STRING" in choices else None
        elif kind is _NUMBER:
            chosen = None
            if "INTEGER" in choices and token.text.isdecimal():
                chosen = ("INTEGER", index + 1)
            elif "NUMBER" in choices:
                chosen = ("NUMBER", index + 1)
        elif kind is _BINARY:
            chosen = ("BINARY", index + 1) if "BINARY" in choices else None
        elif kind is _PSEUDO_COLUMN:
            chosen = ("PSEUDO_COLUMN", index + 1) if "PSEUDO_COLUMN" in choices else None
        else:
            chosen = ("NAME", index + 1) if "NAME" in choices else None
            if "LABEL" in choices and self._is_label(index):
                chosen = "LABEL", index + 2
        if chosen is None:
            run = "TEXT" if "TEXT" in choices else "DESTINATION" if "DESTINATION" in choices else None
            if run is not None:
                end = self._end_of_text(index, run, choices)
                if end > index:
                    return run, end
        return chosen

    def starter(self, index: int) -> str | None:
        """Return the terminal with which the token at ``index`` begins or ends a statement.

        END and ELSE count, the end of the batch too. None when the token does neither.
        """
        if index >= self._count:
            return END_OF_BATCH
        token = self._tokens[index]
        if token.word == ";":
            return self._names.symbols[";"]
        if token.word == "(":
            return "SUBQUERY" if self._is_query(index) else None
        if token.kind is not _WORD:
            return "LABEL" if self._is_label(index) else None
        for words, terminal in self._phrases.get(token.word, ()):
            if terminal in self._starters and self._words_at(index, words):
                return terminal
        if self._is_label(index):
            return "LABEL"
        keyword = self._names.keywords.get(token.word)
        if keyword in self._starters or keyword in ("END", "ELSE"):
            return keyword
        return None

    def certain_starter(self, index: int) -> bool:
        """Tell whether a word that could be a name is the beginning of a statement all the same.

        SEND ON CONVERSATION, GET CONVERSATION GROUP, RECEIVE TOP …: SQL Server wants a
        semicolon before some of them, but nothing else can be meant.
        """
        token = self._tokens[index]
        word = token.word
        kind = token.kind
        if kind is not _WORD:
            return (kind is _BRACKETED or kind is _QUOTED) and self._is_label(index)
        if word in RESERVED_WORDS:
            return False
        if word == "RECEIVE":
            return self._receives(index)
        if word in _CERTAIN:
            return self._words_at(index, _CERTAIN[word])
        if self._is_label(index):
            return True
        for words, terminal in self._phrases.get(word, ()):
            if terminal in self._starters and self._words_at(index, words):
                return True
        return False

    def _choose_word(self, index: int, word: str, choices: Choices) -> tuple[str, int] | None:
        for words, terminal in self._phrases.get(word, ()):
            if terminal in choices and self._words_at(index, words):
                return terminal, index + len(words)
        if "CLASS" in choices:
            securable_class = self._class(index)
            if securable_class:
                return securable_class
        keyword = self._names.keywords.get(word, "")
        if word in RESERVED_WORDS:
            if keyword in choices:
                return keyword, index + 1
            return self._reserved_class(index, word, choices)
        if "LABEL" in choices and self._is_label(index):
            return "LABEL", index + 2
        if keyword in choices:
            name = choices.get("NAME")
            if name is None or ((choices[keyword] >= 0 or name < 0) and self._may_begin(index, word)):
                return keyword, index + 1
        if "NAME" in choices:
            return "NAME", index + 1
        return ("ANY_WORD", index + 1) if "ANY_WORD" in choices else None

    def _reserved_class(self, index: int, word: str, choices: Choices) -> tuple[str, int] | None:
        if word in _CONSTANT_WORDS and "CONSTANT_WORD" in choices:
            return "CONSTANT_WORD", index + 1
        if word in _OPERATOR_WORDS and "OPERATOR" in choices:
            return "OPERATOR", index + 1
        if word in _FUNCTION_WORDS and "FUNCTION_WORD" in choices and self._word(index + 1) == "(":
            return "FUNCTION_WORD", index + 1
        if word == "CASE" and "CASE_EXPRESSION" in choices:
            return "CASE_EXPRESSION", self._end_of_case(index)
        return ("ANY_WORD", index + 1) if "ANY_WORD" in choices else None

    def _choose_symbol(self, index: int, symbol: str, choices: Choices) -> tuple[str, int] | None:
        if symbol == ";":
            after = self._tokens[index + 1] if index + 1 < self._count else None
            if "MODULE_NUMBER" in choices and after and after.kind is _NUMBER and after.text.isdigit():
                return "MODULE_NUMBER", index + 2
            if END_OF_STATEMENT in choices:
                return END_OF_STATEMENT, index + 1
        exact = self._names.symbols.get(symbol)
        if exact in choices:
            assert exact is not None
            return exact, index + 1
        if symbol == "(" and "GROUP" in choices:
            return "GROUP", self._end_of_group(index)
        if symbol == "(" and "SUBQUERY" in choices and self._is_query(index):
            return "SUBQUERY", self._end_of_group(index)
        if symbol in _SIGNS and "SIGN" in choices:
            return "SIGN", index + 1
        if symbol in _OPERATORS and "OPERATOR" in choices:
            return "OPERATOR", index + 1
        if symbol in _COMPOUND and "COMPOUND" in choices:
            return "COMPOUND", index + 1
        if symbol == "{" and "BRACES" in choices:
            return "BRACES", self._end_of_braces(index)
        return None

    # ------------------------------------------------------------------ looking ahead

    def _word(self, index: int) -> str:
        return self._tokens[index].word if 0 <= index < self._count else ""

    def _words_at(self, index: int, words: tuple[str, ...]) -> bool:
        for word in words:
            if self._word(index) != word:
                return False
            index += 1
        return True

    def _is_label(self, index: int) -> bool:
        following = index + 1
        if following >= self._count or self._tokens[following].word != ":":
            return False
        return self._tokens[index].kind in (_WORD, _BRACKETED, _QUOTED)

    def _may_begin(self, index: int, word: str) -> bool:
        """Tell whether a word that may be a name is followed by what it has as a keyword."""
        if word == "RECEIVE":
            return self._receives(index)
        second = _SECOND_WORDS.get(word)
        return second is None or self._word(index + 1) in second

    def _receives(self, index: int) -> bool:
        """Tell whether RECEIVE at ``index`` begins a statement: what is around it decides."""
        before = self._tokens[index - 1] if index else None
        if before is not None and (
            before.word in _BEFORE_A_NAME
            or (before.kind is _SYMBOL and before.word not in (")", ";", ":", "("))
        ):
            return False
        if index + 1 >= self._count:
            return False
        after = self._tokens[index + 1]
        if after.kind is _SYMBOL:
            return after.word == "*" or (after.word in _BEFORE_AN_OPERAND and self._opens_statement(index))
        if after.word in RESERVED_WORDS:
            return (
                after.word in ("TOP", "CASE")
                or after.word in _CONSTANT_WORDS
                or (after.word in _FUNCTION_WORDS and self._word(index + 2) == "(")
            )
        return True

    def _opens_statement(self, index: int) -> bool:
        """Tell whether the token before ``index`` leaves room for nothing but a statement."""
        before = self._tokens[index - 1].word if index else ";"
        return before in _BEFORE_A_STATEMENT or (before == "(" and self._word(index - 2) == "WAITFOR")

    def _class(self, index: int) -> tuple[str, int] | None:
        for end in range(index + 1, min(index + 5, self._count)):
            if self._tokens[end].word == "::":
                return "CLASS", end + 1
            if self._tokens[end].kind is not _WORD:
                return None
        return None

    # ------------------------------------------------------------------ runs of tokens

    def _end_of_group(self, index: int) -> int:
        """Return the index after the parenthesis that closes the one at ``index``."""
        depth = 0
        tokens = self._tokens
        for position in range(index, self._count):
            word = tokens[position].word
            if word == "(":
                depth += 1
                if depth > _DEEPEST_PARENTHESES:
                    raise UnexpectedText(
                        position,
                        NESTED_TOO_DEEPLY,
                        f"more than {_DEEPEST_PARENTHESES} parentheses are open here",
                        191,
                    )
            elif word == ")":
                depth -= 1
                if depth == 0:
                    return position + 1
            elif word == ";" or word in _NEVER_IN_PARENTHESES:
                raise UnexpectedText(position, opened_at=index)
        raise UnexpectedText(self._count, opened_at=index)

    def _end_of_case(self, index: int) -> int:
        """Return the index after the END of the CASE at ``index``."""
        depth = 0
        position = index
        while position < self._count:
            word = self._tokens[position].word
            if word == "CASE":
                depth += 1
            elif word == "END":
                depth -= 1
                if depth == 0:
                    return position + 1
            elif word == "(":
                position = self._end_of_group(position)
                continue
            elif word in (";", ")") or (
                word in STATEMENT_WORDS and word != "ELSE" and not self._goes_on(position)
            ):
                break
            position += 1
        raise UnexpectedText(position, opened_at=index)

    def _end_of_braces(self, index: int) -> int:
        depth = 0
        for position in range(index, self._count):
            word = self._tokens[position].word
            if word == "{":
                depth += 1
            elif word == "}":
                depth -= 1
                if depth == 0:
                    return position + 1
            elif word == ";":
                break
        raise UnexpectedText(index)

    def _end_of_text(self, index: int, run: str, choices: Choices) -> int:
        """Return the index after the longest run of queries and DML from ``index`` on.

        It ends before a semicolon, an unmatched closing parenthesis, a word that begins a
        statement (unless that word goes on with this one), and before the keywords that the
        grammar wants after the run.
        """
        state = choices[run]
        following = self._table[state] if state >= 0 else {}
        position = index
        while position < self._count:
            token = self._tokens[position]
            word = token.word
            if token.kind is _SYMBOL:
                if word == "(":
                    if (
                        "SUBQUERY" in following
                        and position > index
                        and self._is_query(position)
                        and self._word(position - 1) not in ("AS", "TOP", "IN", "EXISTS")
                    ):
                        break
                    position = self._end_of_group(position)
                    continue
                if word in (";", ")"):
                    break
                if word == "{":
                    position = self._end_of_braces(position)
                    continue
            elif token.kind is _WORD:
                if word == "CASE":
                    position = self._end_of_case(position)
                    continue
                if self._ends_text(position, word, following) or (run == "DESTINATION" and word in _CLAUSES):
                    break
            position += 1
        return position

    def _is_query(self, position: int) -> bool:
        """Tell whether the parenthesis at ``position`` holds a query."""
        while self._word(position) == "(":
            position += 1
        return self._word(position) in ("SELECT", "WITH")

    def _ends_text(self, position: int, word: str, following: Choices) -> bool:
        if word in STATEMENT_WORDS:
            return not self._goes_on(position)
        if word in RESERVED_WORDS:
            if word == "WITH":
                return self._begins_table_expression(position)
            if word == "ADD":
                return self.starter(position) is not None
            return self._names.keywords.get(word) in following
        if not self.certain_starter(position):
            return False
        if word in _SERVICE_BROKER_WORDS and may_be_alias(self._tokens, position):
            raise UnexpectedText(position + 1, hint=f"write a semicolon before {word}: here it is an alias")
        return True

    def _goes_on(self, position: int) -> bool:
        """Tell whether a word that can begin a statement goes on with the one it stands in."""
        word, before, after = self._word(position), self._word(position - 1), self._word(position + 1)
        if before == "=":
            return True
        match word:
            case "UPDATE" | "DELETE" | "INSERT":
                # THEN UPDATE in MERGE, ON DELETE CASCADE, FOR UPDATE, UPDATE(column), AFTER INSERT
                return (
                    before in ("THEN", "FOR", "AFTER", "BEFORE")
                    or (before == "ON" and after in ("CASCADE", "NO", "SET"))
                    or (word == "UPDATE" and after == "(")
                )
            case "SET":
                # UPDATE SET in MERGE, ON DELETE SET NULL, ALTER … SET (…), SET LOCATION = …
                return (
                    (before in ("UPDATE", "DELETE") and self._word(position - 2) in ("THEN", "ON"))
                    or after in ("(", "LOCATION", "CONNECTION_OPTIONS", "RESOURCE_MANAGER_LOCATION")
                    or (after == "CREDENTIAL" and self._word(position + 2) == "=")
                )
            case "FETCH":
                return before in ("ROW", "ROWS") and after in ("NEXT", "FIRST")
            case "ROLLBACK":
                return before == "WITH"
            case "IF":
                return after == "EXISTS" and self._word(position + 2) != "("
            case "MERGE":
                return after in ("JOIN", "UNION", "RANGE")
            case "DROP":
                return (
                    after in _DROPPED_PARTS
                    or (after == "EVENT" and self._word(position + 2) not in ("SESSION", "NOTIFICATION"))
                    or (position + 1 < self._count and self._tokens[position + 1].kind is _STRING)
                )
            case "ALTER":
                return after in ("FILTER", "BLOCK")
            case "BULK":
                return after != "INSERT"
            case "END":
                # GENERATED ALWAYS AS ROW END
                return before == "ROW" and self._word(position - 2) == "AS"
        return False

    def _begins_table_expression(self, position: int) -> bool:
        """Tell whether WITH at ``position`` begins ``WITH name [(columns)] AS (`` or XMLNAMESPACES."""
        after = position + 1
        if self._word(after) == "XMLNAMESPACES":
            # CREATE SELECTIVE XML INDEX has the clause in its middle.
            return self._word(after + 1) == "(" and self._word(self._end_of_group(after + 1)) != "FOR"
        if after >= self._count or self._tokens[after].kind not in (
            _WORD,
            _BRACKETED,
            _QUOTED,
        ):
            return False
        after += 1
        if self._word(after) == "(":
            after = self._end_of_group(after)
        return self._word(after) == "AS" and self._word(after + 1) == "("
