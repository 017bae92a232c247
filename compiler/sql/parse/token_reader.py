"""The tokens of one piece of a statement, and where the reader stands among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.parsers.tsql import TSQLParser
from sqlglot.tokenizer_core import Token as SqlToken
from sqlglot.tokenizer_core import TokenType as T

from .tokens import Unreadable

__all__ = ["TOP_WITH_OFFSET", "TokenReader", "placed"]

TOP_WITH_OFFSET = "A TOP can not be used in the same query or sub-query as a OFFSET."
"""Error 10741."""

Result = TypeVar("Result")
Node = TypeVar("Node", bound=exp.Expr)


class TokenReader(TSQLParser):
    """Starts on tokens, looks at them, consumes them, and says where something is wrong."""

    def start(self, tokens: list[SqlToken]) -> None:
        """Begin with ``tokens``."""
        self.reset()
        self.sql = ""
        self._chunks = [tokens]
        self._advance_chunk()

    def whole(self, tokens: list[SqlToken], read: Callable[[], Result | None]) -> Result:
        """Read ``tokens`` with ``read`` and see that nothing is left over."""
        self.start(tokens)
        result = read()
        if result is None or self._curr:
            self.fail()
        assert result is not None
        return result

    @property
    def at_end(self) -> bool:
        """No token is left."""
        return not self._curr

    def fail(self, message: str = "", token: Any = None) -> NoReturn:
        """Raise Unreadable at ``token`` (the current one)."""
        token = token or self._curr or None
        if not token:
            last = self._prev
            end = last.end if last else 0
            raise Unreadable(message or "incorrect syntax: the statement ends too early", end, end, None)
        text = token.text
        before = self._tokens[: self._index]
        if not message and token.token_type == T.FETCH and any(one.token_type == T.OFFSET for one in before):
            # Behind OFFSET n ROWS it is one too many only where there is a TOP.
            raise Unreadable(TOP_WITH_OFFSET, token.start, token.end, text, 10741)
        raise Unreadable(message or f"Incorrect syntax near '{text}'.", token.start, token.end, text)

    def raise_error(self, message: str, token: Any = None) -> None:
        """Turn sqlglot's complaints, which speak of its classes, into T-SQL's sentence."""
        self.fail(token=token if token else None)

    @property
    def current(self) -> SqlToken | None:
        """The current token; None at the end."""
        return self._curr or None

    def word(self, *words: str) -> bool:
        """Consume ``words`` (upper case) if they come next."""
        return bool(self._match_text_seq(*words))

    def take(self, token: T) -> bool:
        """Consume a token of this type if it comes next."""
        return bool(self._match(token))

    def peek(self, token: T, ahead: int = 0) -> bool:
        """Whether the token ``ahead`` places from here is of this type."""
        index = self._index + ahead
        return index < self._tokens_size and self._tokens[index].token_type == token

    @property
    def current_text(self) -> str:
        """The current token's text; empty at the end."""
        return self._curr.text if self._curr else ""

    @property
    def current_upper(self) -> str:
        """The current token's text in upper case unless it is quoted; empty at the end."""
        if not self._curr or self._curr.token_type in (T.IDENTIFIER, T.STRING, T.NATIONAL_STRING):
            return ""
        return str(self._curr.text.upper())

    def text_at(self, ahead: int) -> str:
        """The text of the token ``ahead`` places from here, in upper case."""
        index = self._index + ahead
        return str(self._tokens[index].text.upper()) if index < self._tokens_size else ""

    @property
    def offset(self) -> int:
        """Where the current token begins in the script; the end of the last one behind it."""
        if self._curr:
            return int(self._curr.start)
        return int(self._prev.end) if self._prev else 0

    def advance(self) -> None:
        """Consume the current token."""
        if not self._curr:
            self.fail()
        self._advance()

    def rest(self) -> None:
        """Consume everything that is left."""
        while self._curr:
            self._advance()

    def token_before_parenthesis(self) -> SqlToken:
        """The name of the function whose ``(`` has just been read."""
        return self._tokens[self._index - 2]

    # ------------------------------------------------------------ what its readers share

    def expression_(self) -> exp.Expr | None:
        """A scalar expression or search condition."""
        return self._parse_disjunction()

    def operand(self) -> exp.Expr | None:
        """A scalar expression without comparisons: what DEFAULT and AS of a computed column take."""
        return self._parse_bitwise()

    def order(self) -> exp.Expr:
        """ORDER BY and its items."""
        return self._parse_order() or self.fail()

    def skip_parenthesis(self) -> None:
        """Move behind the ``)`` that closes an already consumed ``(``."""
        depth = 1
        while depth:
            if not self._curr:
                self.fail()
            if self._curr.token_type == T.L_PAREN:
                depth += 1
            elif self._curr.token_type == T.R_PAREN:
                depth -= 1
            self._advance()


def placed(node: Node, token: Any) -> Node:
    """``node``, which stands where ``token`` does."""
    meta = node.meta
    meta["start"], meta["end"] = token.start, token.end
    return node


def placed_like(node: Node, other: exp.Expr) -> Node:
    """``node``, which stands where ``other`` does."""
    node.meta.update(other.meta)
    return node
