"""T-SQL tokens → sqlglot trees: the reader.

sqlglot's T-SQL parser is taught, by subclassing, to be stricter and truer:

* It gets the tokens of our own lexer, so that offsets in the tree are offsets in the
  script and only T-SQL's keywords are keywords.
* No function has a parser or class of its own (sqlglot would normalise DATEADD and a
  hundred others, losing what they mean): each stays a call by name.  CAST, CONVERT,
  PARSE and their TRY_ forms, whose arguments are types, become :class:`Conversion`.
* ``&``, ``|`` and ``^`` bind like ``+`` and ``-``, as in T-SQL.
* What it cannot read raises :class:`Unreadable` with the token; nothing becomes an
  opaque Command that would be echoed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.tsql import TSQL
from sqlglot.errors import ErrorLevel
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from ....grammar.problems import did_you_mean
from .json import read_json_text
from .nodes import IN_PARENTHESES, AtTimeZone, Conversion, ForXml, Held, NextValue, SetVariable, TypeName
from .token_reader import TokenReader, placed
from .tokens import HINT_WORDS, RESERVED, Unreadable
from .types import read_cast, read_convert, read_type_name

_NO_TABLE_HINT = (
    '"{}" is not a recognized table hints option. If it is intended as a parameter to a table-valued '
    "function or to the CHANGETABLE function, ensure that your database compatibility mode is set to 90."
)
_UNLOCKED_TARGET = (
    "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, UPDATE, DELETE "
    "or MERGE statements."
)
_ALIASES = frozenset((T.ALIAS, T.VAR, T.IDENTIFIER, T.STRING, T.NATIONAL_STRING))
_LONE = frozenset((T.VAR, T.IDENTIFIER, T.STRING, T.NATIONAL_STRING, T.NUMBER, T.NULL))
"""Operands of one token, unless something goes on with them."""
_ENDS = frozenset((T.SENTINEL, T.COMMA, T.R_PAREN, T.THEN, T.WHEN, T.ELSE, T.END, T.FROM, T.WHERE, T.ALIAS))
"""What ends an expression that stands before it."""
_ENDS_OPERAND = _ENDS | frozenset((T.EQ, T.NEQ, T.LT, T.GT, T.LTE, T.GTE, T.AND, T.OR))
_ENDS_TERM = _ENDS_OPERAND | frozenset(
    (T.PLUS, T.DASH, T.STAR, T.SLASH, T.MOD, T.AMP, T.PIPE, T.CARET, T.IS, T.IN, T.LIKE, T.BETWEEN, T.NOT)
)
_SAME_IN_PARENTHESES = (exp.Column, exp.National, exp.Literal)
"""Operands that mean the same in parentheses, wherever they stand: nothing else has to think of them."""
_FOR_MODES = frozenset(("PATH", "RAW", "AUTO", "EXPLICIT"))
_WITH_NAME = frozenset(("PATH", "RAW", "ROOT", "XMLSCHEMA"))
"""Options of FOR XML and FOR JSON that may have a name in parentheses."""
_NO_CALLABLES: dict[str, Callable[..., Any]] = {}


def _json_text(kind: str) -> Callable[[Reader], exp.Expr]:
    return lambda reader: read_json_text(reader, kind)


def _in_order(place: int, read: Callable[[Any], Any]) -> Callable[[Reader], Any]:
    """A clause of SELECT that may not stand behind one of a later ``place``."""

    def clause(reader: Reader) -> Any:
        if reader.clause > place:
            reader.fail()
        reader.clause = place
        return read(reader)

    return clause


class Reader(TokenReader):
    """Reads one piece of a statement at a time; see the module's docstring."""

    FUNCTIONS: ClassVar[dict[Any, Any]] = _NO_CALLABLES
    NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
    STATEMENT_PARSERS: ClassVar[dict[Any, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[Any, Any]] = {
        "CASE": lambda self: self._parse_case(),
        "NEXT": lambda self: self._read_next_value(),
    }
    FUNCTION_PARSERS: ClassVar[dict[Any, Any]] = {
        "CAST": lambda self: read_cast(self, "CAST"),
        "TRY_CAST": lambda self: read_cast(self, "TRY_CAST"),
        "CONVERT": lambda self: read_convert(self, "CONVERT"),
        "TRY_CONVERT": lambda self: read_convert(self, "TRY_CONVERT"),
        "PARSE": lambda self: read_cast(self, "PARSE"),
        "TRY_PARSE": lambda self: read_cast(self, "TRY_PARSE"),
        "TRIM": lambda self: self._parse_trim(),
        **{
            kind: _json_text(kind)
            for kind in ("JSON_OBJECT", "JSON_ARRAY", "JSON_OBJECTAGG", "JSON_ARRAYAGG")
        },
    }
    # In the order in which they stand.
    QUERY_MODIFIER_PARSERS: ClassVar[dict[Any, Any]] = {
        token: _in_order(place, read)
        for place, (token, read) in enumerate(
            (
                (T.WHERE, Parser.QUERY_MODIFIER_PARSERS[T.WHERE]),
                (T.GROUP_BY, Parser.QUERY_MODIFIER_PARSERS[T.GROUP_BY]),
                (T.HAVING, Parser.QUERY_MODIFIER_PARSERS[T.HAVING]),
                (T.WINDOW, lambda self: ("windows", self._parse_window_clause())),
                (T.ORDER_BY, Parser.QUERY_MODIFIER_PARSERS[T.ORDER_BY]),
                (T.OFFSET, Parser.QUERY_MODIFIER_PARSERS[T.OFFSET]),
                (T.FETCH, Parser.QUERY_MODIFIER_PARSERS[T.FETCH]),
                (T.FOR, lambda self: ("for_", self._read_for())),
                (T.OPTION, lambda self: ("options", self._read_options())),
            )
        )
    }
    RANGE_PARSERS: ClassVar[dict[Any, Any]] = {
        token: Parser.RANGE_PARSERS[token] for token in (T.BETWEEN, T.IN, T.IS, T.LIKE)
    }
    BITWISE: ClassVar[dict[Any, Any]] = {}
    TERM: ClassVar[dict[Any, Any]] = {
        T.PLUS: exp.Add,
        T.DASH: exp.Sub,
        T.AMP: exp.BitwiseAnd,
        T.PIPE: exp.BitwiseOr,
        T.CARET: exp.BitwiseXor,
        T.LT_AT: exp.BitwiseLeftShift,
        T.AT_GT: exp.BitwiseRightShift,
        T.DPIPE: exp.DPipe,
        T.COLLATE: exp.Collate,
    }
    FACTOR: ClassVar[dict[Any, Any]] = {T.STAR: exp.Mul, T.SLASH: exp.Div, T.MOD: exp.Mod}
    ASSIGNMENT: ClassVar[dict[Any, Any]] = {}
    COLUMN_OPERATORS: ClassVar[dict[Any, Any]] = {
        T.DOT: None,
        T.DCOLON: lambda self, this, to: exp.ScopeResolution(this=this, expression=to),
    }
    PLACEHOLDER_PARSERS: ClassVar[dict[Any, Any]] = {}
    JOIN_METHODS: ClassVar[set[Any]] = set()
    SUPPORTS_IMPLICIT_UNNEST = False

    # The words of T-SQL that no bare alias may be: mapped tokens never are names.
    _NAMES: ClassVar[set[Any]] = {T.VAR, T.FIRST, T.NEXT, T.ROWS, T.RANGE, T.OFFSET, T.APPLY, T.XML}
    ID_VAR_TOKENS: ClassVar[set[Any]] = _NAMES
    ALIAS_TOKENS: ClassVar[set[Any]] = _NAMES
    TABLE_ALIAS_TOKENS: ClassVar[set[Any]] = _NAMES - {T.OFFSET, T.APPLY}
    FUNC_TOKENS: ClassVar[set[Any]] = _NAMES | {T.LEFT, T.RIGHT, T.IDENTIFIER, T.ANY, T.ALL, T.SOME, T.EXISTS}
    WINDOW_ALIAS_TOKENS: ClassVar[set[Any]] = {T.VAR}
    UPDATE_ALIAS_TOKENS: ClassVar[set[Any]] = TABLE_ALIAS_TOKENS

    def __init__(self) -> None:
        """One reader serves a whole compilation; each ``read_…`` starts afresh."""
        super().__init__(error_level=ErrorLevel.IMMEDIATE, dialect=TSQL())
        self.clause = -1
        """The place of the clause that was read last, of the query that is being read."""

    # ------------------------------------------------------------ queries and expressions

    def query(self) -> exp.Expr | None:
        """A SELECT with everything that may follow it."""
        if self.peek(T.L_PAREN):
            query = self._parse_set_operations(self._parse_select(nested=True, parse_subquery_alias=False))
        else:
            query = self._parse_select()
        return query if query is None else self._parse_query_modifiers(query)

    # ------------------------------------------------------------ pieces for the DML and DDL readers

    def name(self) -> exp.Identifier:
        """An identifier."""
        token = self._curr
        if not token or token.token_type not in (T.IDENTIFIER, *self._NAMES) or _is_variable(token):
            self.fail()
        self._advance()
        return placed(exp.Identifier(this=token.text, quoted=token.token_type == T.IDENTIFIER), token)

    def number(self) -> exp.Expr | None:
        """A number literal or a variable."""
        if self._curr and _is_variable(self._curr):
            return self._parse_column()
        return self._parse_number()

    def target(self, *, alias: bool = False, hinted: bool = True) -> exp.Table:
        """The table that a statement changes, with its hints and, in MERGE, its alias."""
        start = self._curr
        table = Parser._parse_table_parts(self, schema=True)
        if not isinstance(table, exp.Table):
            self.fail()
        table.meta["start"], table.meta["end"] = start.start, self._prev.end
        hints = self._parse_table_hints() if hinted else None
        if alias and self.current_upper != "USING":
            named = self._parse_table_alias(alias_tokens=self.TABLE_ALIAS_TOKENS)
            if named is not None:
                table.set("alias", named)
            hints = hints or self._parse_table_hints()
        if any(hint.name.upper() in ("NOLOCK", "READUNCOMMITTED") for hint in hints or ()):
            last = self._prev
            raise Unreadable(_UNLOCKED_TARGET, start.start, last.end, start.text, 1065)
        if hints:
            table.set("hints", hints)
        return table

    def target_at(self, ahead: int) -> exp.Table:
        """The name of a table ``ahead`` places from here; nothing is consumed."""
        index = self._index
        self._advance(min(ahead, self._tokens_size - index))
        if self.at_end:
            self.fail()
        table = Parser._parse_table_parts(self, schema=True)
        self._retreat(index)
        if not isinstance(table, exp.Table):
            self.fail()
        return table

    def table_source(self) -> exp.Expr:
        """One item of FROM."""
        source: exp.Expr = self._parse_table() or self.fail()
        return source

    def with_(self) -> exp.With | None:
        """WITH and its common table expressions, if they come next."""
        return self._parse_with()

    def from_(self) -> exp.From | None:
        """FROM and its first item, if they come next."""
        return self._parse_from()

    def joins(self) -> list[exp.Join]:
        """The joins that follow FROM's first item."""
        return list(self._parse_joins())

    def projections(self) -> list[exp.Expr]:
        """A select list."""
        return self._parse_projections()[0]

    def options(self) -> None:
        """OPTION ( … ), which is read and dropped."""
        if self.peek(T.OPTION):
            self._read_options()

    def is_assignment_ahead(self) -> bool:
        """``column =`` or ``a.column =`` comes next: the second half of ``@x = column = value``."""
        index = self._index
        while index + 1 < self._tokens_size and self._tokens[index].token_type in (T.VAR, T.IDENTIFIER):
            following = self._tokens[index + 1].token_type
            if following in (T.EQ, T.COLON_EQ):
                return not _is_variable(self._tokens[index])
            if following != T.DOT:
                return False
            index += 2
        return False

    # ------------------------------------------------------------ what differs

    def _parse_statement(self) -> exp.Expr | None:
        return self.query()

    def _parse_query_modifiers(self, this: Any) -> Any:
        outer, self.clause = self.clause, -1
        result = super()._parse_query_modifiers(this)
        self.clause = outer
        return result

    def _parse_limit(self, this: Any = None, top: bool = False, skip_limit_token: bool = False) -> Any:
        limit = super()._parse_limit(this, top, skip_limit_token)
        if top and limit is not None and (self.peek(T.DISTINCT) or self.peek(T.ALL)):
            self.fail()  # they stand before TOP
        return limit

    def _parse_projections(self) -> tuple[list[exp.Expr], None]:
        items = self._parse_csv(self._read_projection)
        return items or self.fail(), None

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        expected = self.peek(T.ALIAS)
        ahead = 1 if expected else 0
        if this is not None and self.peek(T.NATIONAL_STRING, ahead):
            self._advance(ahead)
            token = self._curr
            self._advance()
            alias = placed(exp.Identifier(this=token.text, quoted=True), token)
            return self.expression(exp.Alias(this=this, alias=alias))
        aliased = super()._parse_alias(this, explicit)
        if expected and not isinstance(aliased, exp.Alias):
            self.fail()
        return aliased

    def _parse_table_alias(self, alias_tokens: Any = None) -> exp.TableAlias | None:
        expected = self.peek(T.ALIAS)
        self._refuse_string(1 if expected else 0)
        alias = super()._parse_table_alias(alias_tokens)
        if expected and (alias is None or alias.this is None):
            self.fail()
        return alias

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        group = super()._parse_group(skip_group_by_token)
        if group is not None and not any(group.args.values()):
            self.fail()
        return group

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        named = self.peek(T.VAR, 1) or self.peek(T.IDENTIFIER, 1)
        if self.peek(T.OVER) and not self.peek(T.L_PAREN, 1) and not named:
            self._advance()
            self.fail()
        if isinstance(this, exp.Window) and self.peek(T.OVER):
            self.fail()
        return super()._parse_window(this, alias)

    def _read_projection(self) -> exp.Expr | None:
        token, after = self._curr, self._next
        if token and after and token.token_type in (T.VAR, T.IDENTIFIER, T.STRING, T.NATIONAL_STRING):
            variable = _is_variable(token)
            if variable and (after.token_type == T.COLON_EQ or after.token_type == T.EQ):
                self._advance(2)
                value = self._parse_disjunction() or self.fail()
                return SetVariable(
                    this=placed(exp.Identifier(this=token.text), token),
                    expression=value,
                    operator=after.text,
                )
            if not variable and after.token_type == T.EQ:
                # alias = expression
                self._advance(2)
                value = self._parse_disjunction() or self.fail()
                alias = placed(exp.Identifier(this=token.text, quoted=True), token)
                return self.expression(exp.Alias(this=value, alias=alias))
        item = self._parse_disjunction()
        if isinstance(item, exp.Concat) and len(item.expressions) == 2:
            # 'value' 'alias': two strings side by side.
            value, name = item.expressions
            return self.expression(exp.Alias(this=value, alias=exp.to_identifier(name.name, quoted=True)))
        if isinstance(item, exp.Star) and self._curr and self._curr.token_type in _ALIASES:
            self.fail()  # all columns have no alias
        return item if item is None else self._parse_alias(item)

    def _parse_dcolon(self) -> exp.Expr | None:
        # A static method of a CLR type, which is refused; sqlglot would take its name for a type's.
        name = self.name()
        while self._match(T.DOT):
            self.name()
        if self._match(T.L_PAREN):
            self.skip_parenthesis()
        return name

    def _parse_disjunction(self) -> exp.Expr | None:
        # Most expressions are one operand: the levels of precedence need not be gone through.
        if self._next.token_type in _ENDS and self._curr.token_type in _LONE:
            return self._lone()
        return super()._parse_disjunction()

    def _parse_bitwise(self) -> exp.Expr | None:
        if self._next.token_type in _ENDS_OPERAND and self._curr.token_type in _LONE:
            return self._lone()
        return super()._parse_bitwise()

    def _lone(self) -> exp.Expr | None:
        """An operand of one token."""
        token = self._curr
        kind = token.token_type
        names = kind is T.VAR or kind is T.IDENTIFIER
        if not names or token.text.upper() in self.NO_PAREN_FUNCTION_PARSERS:
            return self._parse_type()
        self._advance()
        name = exp.Identifier(this=token.text, quoted=kind is T.IDENTIFIER)
        return exp.Column(this=placed(name, token))

    def _parse_unary(self) -> exp.Expr | None:
        if self._next.token_type in _ENDS_TERM and self._curr.token_type in _LONE:
            return self._lone()
        this = super()._parse_unary()
        while this is not None and self.peek(T.VAR) and self._match_text_seq("AT", "TIME", "ZONE"):
            this = AtTimeZone(this=this, zone=super()._parse_unary() or self.fail())
        return this

    def _parse_paren(self) -> exp.Expr | None:
        this = super()._parse_paren()
        if not isinstance(this, exp.Paren) or self.peek(T.DOT):
            return this
        inner = this.this
        if not isinstance(inner, _SAME_IN_PARENTHESES) or isinstance(inner.this, exp.Star):
            return this
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return this  # ORDER BY (1) is no place in the select list
        inner.meta[IN_PARENTHESES] = True
        return inner

    def _parse_at_time_zone(self, this: exp.Expr | None) -> exp.Expr | None:
        return this  # read behind the operand, in _parse_unary

    def _parse_interval(self, *args: Any, **kwargs: Any) -> None:
        """T-SQL has none."""

    def _parse_column_ops(self, this: exp.Expr | None) -> exp.Expr | None:
        if isinstance(this, exp.Column) and self.peek(T.DOT) and self.peek(T.DOT, 1):
            self._advance()  # other..t.a: the table's name alone finds it among those of FROM
        if this is None or isinstance(this, exp.Column | exp.Dot) or not self.peek(T.DOT):
            return super()._parse_column_ops(this)
        # Of (SELECT …).value(…) sqlglot would take the columns of the whole query for parts of a name.
        result = super()._parse_column_ops(Held())
        if result is None or isinstance(result, Held):
            return this
        for held in list(result.find_all(Held)):
            held.replace(this)
        return result

    def _parse_star_op(self, *keywords: str) -> list[exp.Expr] | None:
        return None  # behind * EXCEPT begins another query, as anywhere in T-SQL

    def _parse_table_parts(self, *args: Any, **kwargs: Any) -> Any:
        # Past TSQLParser, which cuts the # off temporary names.
        return Parser._parse_table_parts(self, *args, **kwargs)

    def _parse_table_part(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        self._refuse_string(0)
        return super()._parse_table_part(*args, **kwargs)

    def _refuse_string(self, ahead: int) -> None:
        """In T-SQL a string names a column of a result, never a table."""
        if self.peek(T.STRING, ahead) or self.peek(T.NATIONAL_STRING, ahead):
            self.fail(token=self._tokens[self._index + ahead])

    def _parse_function(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if self.peek(T.EXISTS) and self.peek(T.L_PAREN, 1) and self.peek(T.L_PAREN, 2):
            # sqlglot looks for a query behind the first parenthesis only.
            self._advance(2)
            query = self.query()
            if query is None or not self._match(T.R_PAREN):
                self.fail()
            return exp.Exists(this=query)
        # In FROM and behind APPLY, which read it in different ways.
        part = Parser._parse_function(self, *args, **kwargs)
        if (
            isinstance(part, exp.Anonymous)
            and part.name.upper() in ("OPENJSON", "OPENXML")
            and self._match_pair(T.WITH, T.L_PAREN)
        ):
            part.meta["columns"] = self._read_json_columns()
        elif isinstance(part, exp.Anonymous) and part.name.upper() == "OPENXML" and self._match(T.WITH):
            part.meta["like"] = self._parse_table_parts()
        return part

    def _read_json_columns(self) -> list[tuple[str, TypeName, str | None, bool]]:
        """``WITH (name type 'path' AS JSON, …)`` of OPENJSON and OPENXML, behind its parenthesis."""
        columns = []
        while True:
            token = self._curr
            if not token or token.token_type not in (T.VAR, T.IDENTIFIER):
                self.fail()
            self._advance()
            type_ = self.type_name()
            path = self._parse_string()
            as_json = bool(self._match(T.ALIAS)) and (self.word("JSON") or bool(self.fail()))
            columns.append((token.text, type_, path.name if path is not None else None, as_json))
            if not self._match(T.COMMA):
                break
        if not self._match(T.R_PAREN):
            self.fail()
        return columns

    def _parse_table(self, *args: Any, **kwargs: Any) -> Any:
        if self.peek(T.DCOLON):
            self._advance()  # ::fn_listextendedproperty(…), version 2000's way to call the system's functions
        table = Parser._parse_table(self, *args, **kwargs)
        if isinstance(table, exp.Table) and table.args.get("sample") and not table.args.get("hints"):
            table.set("hints", self._parse_table_hints())
        if isinstance(table, exp.Table) and self.current_upper == "HOLDLOCK":
            # The one hint that may stand without parentheses.
            token = self._curr
            self._advance()
            table.set("hints", [*(table.args.get("hints") or []), placed(exp.Var(this="HOLDLOCK"), token)])
        if isinstance(table, exp.Table) and table.args.get("hints") and table.args.get("alias") is None:
            # FROM t (NOLOCK) AS a
            table.set("alias", self._parse_table_alias(alias_tokens=self.TABLE_ALIAS_TOKENS))
        return table

    def _parse_table_sample(self, as_modifier: bool = False) -> exp.TableSample | None:
        if as_modifier or not self._match(T.TABLE_SAMPLE):
            return None
        method = self.name() if not self.peek(T.L_PAREN) else None
        if not self._match(T.L_PAREN):
            self.fail()
        count = self._parse_disjunction() or self.fail()
        rows = not self._match(T.PERCENT) and self.word("ROWS")
        if not self._match(T.R_PAREN):
            self.fail()
        seed = None
        if self.word("REPEATABLE"):
            if not self._match(T.L_PAREN):
                self.fail()
            seed = self._parse_disjunction() or self.fail()
            if not self._match(T.R_PAREN):
                self.fail()
        sizes = {"size" if rows else "percent": count}
        return exp.TableSample(method=method, seed=seed, **sizes)

    def _parse_id_var(self, any_token: bool = True, tokens: Any = None) -> exp.Expr | None:
        # any_token would take every keyword for a name, e.g. in `x AS FROM`.
        return Parser._parse_id_var(self, any_token=False, tokens=tokens)

    def _parse_case(self) -> exp.Expr | None:
        start = self._prev
        subject = None if self._curr and self._curr.token_type == T.WHEN else self._parse_disjunction()
        branches = []
        while self._match(T.WHEN):
            condition = self._parse_disjunction() or self.fail()
            if not self._match(T.THEN):
                self.fail()
            value = self._parse_disjunction() or self.fail()
            branches.append(exp.If(this=condition, true=value))
        default = (self._parse_disjunction() or self.fail()) if self._match(T.ELSE) else None
        if not branches or not self._match(T.END):
            self.fail()
        return placed(exp.Case(this=subject, ifs=branches, default=default), start)

    def _parse_csv(self, parse_method: Callable[[], Any], sep: T = T.COMMA) -> list[Any]:
        # Nothing behind a comma is an error, not an end.
        first = parse_method()
        items = [] if first is None else [first]
        while self._match(sep):
            item = parse_method()
            items.append(self.fail() if item is None else item)
        return items

    def _parse_join(self, *args: Any, **kwargs: Any) -> Any:
        comma = self.peek(T.COMMA)
        join = super()._parse_join(*args, **kwargs)
        if join is not None and comma:
            join.meta["comma"] = True
        return join

    def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:
        # A function's argument: no lambdas, aliases or ORDER BY inside.
        if self._match(T.DISTINCT):
            return exp.Distinct(expressions=[self._parse_disjunction() or self.fail()])
        self._match(T.ALL)
        if self._curr and self._curr.token_type in (T.SELECT, T.WITH):
            self.fail()
        return self._parse_disjunction()

    def _parse_ordered(self, parse_method: Any = None) -> exp.Ordered | None:
        this = self._parse_disjunction()
        if this is None:
            return None
        descending = bool(self._match(T.DESC))
        if not descending:
            self._match(T.ASC)
        return exp.Ordered(this=this, desc=descending, nulls_first=not descending)

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        low = self._parse_bitwise() or self.fail()
        if not self._match(T.AND):
            self.fail()
        return exp.Between(this=this, low=low, high=self._parse_bitwise() or self.fail())

    def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
        if not self._match(T.L_PAREN):
            self.fail()
        if self._curr and self._curr.token_type in (T.SELECT, T.WITH):
            result = exp.In(this=this, query=self.query())
        else:
            result = exp.In(this=this, expressions=self._parse_csv(self._parse_disjunction))
        if not self._match(T.R_PAREN):
            self.fail()
        return result

    def _parse_escape(self, this: exp.Expr | None) -> exp.Expr | None:
        if not self._match(T.ESCAPE):
            return this
        return exp.Escape(this=this, expression=self._parse_unary() or self.fail())

    def _parse_table_hints(self) -> list[exp.Expr] | None:
        if not self._match_pair(T.WITH, T.L_PAREN):
            return None
        hints: list[exp.Expr] = []
        while not self._match(T.R_PAREN):
            if self._match(T.COMMA):
                continue
            token = self._curr
            if not token or token.token_type not in (T.VAR, RESERVED):
                self.fail()
            if token.text.upper() not in HINT_WORDS:
                raise Unreadable(
                    _NO_TABLE_HINT.format(token.text),
                    token.start,
                    token.end,
                    token.text,
                    321,
                    did_you_mean(token.text, HINT_WORDS),
                )
            self._advance()
            hints.append(placed(exp.Var(this=token.text.upper()), token))
            equal = self._match(T.EQ)
            if self._match(T.L_PAREN):
                self.skip_parenthesis()
            elif equal:
                self._advance()
        return hints

    def _read_options(self) -> exp.Expr | None:
        self._match(T.OPTION)
        if not self._match(T.L_PAREN):
            self.fail()
        self.skip_parenthesis()
        return exp.Var(this="OPTION")

    def _parse_into(self) -> exp.Into | None:
        if self.peek(T.INTO) and not self.peek(T.VAR, 1) and not self.peek(T.IDENTIFIER, 1):
            self._advance()
            self.fail()
        into = super()._parse_into()
        if into is not None and self._match(T.ON):
            self._parse_id_var()  # a filegroup
        return into

    def _read_for(self) -> exp.Expr | None:
        start = self._curr
        self._match(T.FOR)
        kind = self._curr.text.upper() if self._curr else ""
        if kind not in ("XML", "JSON", "BROWSE"):
            self.fail()
        self._advance()
        options: list[exp.Expr] = []
        seen: set[str] = set()
        while kind != "BROWSE":
            token = self._curr
            if not token or token.token_type not in (T.VAR, T.XML):
                self.fail()
            self._advance()
            name = token.text.upper()
            if name == "ELEMENTS" and self._curr and self._curr.text.upper() in ("XSINIL", "ABSENT"):
                name = f"ELEMENTS {self._curr.text.upper()}"
                self._advance()
            elif name == "BINARY":
                if not self._match_text_seq("BASE64"):
                    self.fail()
                name = "BINARY BASE64"
            kept = name.partition(" ")[0]
            if (kept in _FOR_MODES) == bool(options) or kept in seen:
                self.fail(token=token)  # the mode comes first, and nothing twice
            seen.add(kept)
            argument = None
            if kept in _WITH_NAME and self._match(T.L_PAREN):
                argument = self._parse_string() or self.fail()
                if not self._match(T.R_PAREN):
                    self.fail()
            options.append(
                placed(exp.Anonymous(this=name, expressions=[argument] if argument else []), token)
            )
            if not self._match(T.COMMA):
                break
        return placed(ForXml(kind=kind, options=options), start)

    def type_name(self) -> TypeName:
        """A type: ``int``, ``decimal(10, 2)``, ``varchar(max)``, ``double precision``, ``dbo.phone``."""
        return read_type_name(self)

    def _read_next_value(self) -> exp.Expr | None:
        if not self._match_text_seq("VALUE", "FOR"):
            self._retreat(self._index - 1)
            return None
        return NextValue(this=Parser._parse_table_parts(self))


def _is_variable(token: Token) -> bool:
    return token.token_type == T.VAR and token.text.startswith("@")


__all__ = [
    "AtTimeZone",
    "Conversion",
    "ForXml",
    "NextValue",
    "Reader",
    "SetVariable",
    "TypeName",
]
