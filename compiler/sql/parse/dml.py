"""INSERT, UPDATE, DELETE and MERGE as read: clauses around sqlglot's queries and expressions.

sqlglot's own reading of these statements loses or refuses too much of T-SQL (OUTPUT …
INTO, ``SET @x = col = …``, TOP, FROM in DELETE), so the clauses are taken apart here and
only what is an expression, a query or a FROM clause goes to it.
"""

from __future__ import annotations

from dataclasses import field

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import TokenType as T

from ....grammar.records import dataclass
from ....grammar.tokens import Token
from .nodes import is_variable
from .reader import Reader
from .tokens import to_sqlglot


@dataclass
class Output:
    """``OUTPUT items [INTO target [(columns)]]``."""

    items: list[exp.Expr]
    target: exp.Table | None = None
    columns: list[str] = field(default_factory=list)


@dataclass
class Top:
    """``TOP (count) [PERCENT]``; without a count only SET ROWCOUNT limits the statement."""

    count: exp.Expr | None
    percent: bool = False


@dataclass
class SetItem:
    """One item of SET: ``column = value``, ``@v = value``, ``@v = column = value``, ``column.modify(…)``."""

    value: exp.Expr
    column: exp.Expr | None = None
    """A Column node."""
    variable: exp.Identifier | None = None
    operator: str = "="
    method: str | None = None
    """modify or WRITE; ``value`` is then the call."""


@dataclass
class Insert:
    """INSERT as read.  Exactly one of ``rows``, ``query``, ``defaults``, ``execute``."""

    target: exp.Table
    with_: exp.With | None
    top: Top | None
    columns: list[exp.Identifier]
    outputs: list[Output]
    rows: list[exp.Tuple] | None = None
    query: exp.Expr | None = None
    defaults: bool = False
    execute: bool = False


@dataclass
class Change:
    """UPDATE or DELETE as read."""

    target: exp.Table
    with_: exp.With | None
    top: Top | None
    sets: list[SetItem]
    outputs: list[Output]
    source: exp.Select
    """A SELECT whose FROM, joins and WHERE are the statement's."""
    cursor: str | None = None
    """WHERE CURRENT OF: the cursor's name, with @ for a variable."""


@dataclass
class MergeBranch:
    """``WHEN [NOT] MATCHED [BY …] [AND condition] THEN …``."""

    matched: bool
    by_source: bool
    condition: exp.Expr | None
    action: str
    """UPDATE, DELETE or INSERT."""
    sets: list[SetItem] = field(default_factory=list)
    columns: list[exp.Identifier] = field(default_factory=list)
    values: list[exp.Expr] | None = None
    """None: DEFAULT VALUES."""


@dataclass
class Merge:
    """MERGE as read."""

    target: exp.Table
    source: exp.Expr
    on: exp.Expr
    with_: exp.With | None
    top: Top | None
    branches: list[MergeBranch]
    outputs: list[Output]


def from_items(change: Change) -> list[exp.Expr]:
    """The items of FROM as nodes."""
    from_ = change.source.args.get("from_")
    if from_ is None:
        return []
    return [from_.this, *(join.this for join in change.source.args.get("joins") or [])]


# ---------------------------------------------------------------- reading


def read_insert(tokens: list[Token], reader: Reader) -> Insert:
    """Read a whole INSERT statement, or the part of one in front of EXEC."""
    reader.start(to_sqlglot(tokens))
    with_ = reader.with_()
    _expect(reader, T.INSERT)
    top = read_top(reader)
    reader.take(T.INTO)
    target = reader.target()
    columns: list[exp.Identifier] = []
    if (
        reader.peek(T.L_PAREN)
        and not reader.peek(T.SELECT, 1)
        and not reader.peek(T.WITH, 1)
        and not reader.peek(T.L_PAREN, 1)
    ):
        columns = read_names(reader)
    outputs = read_outputs(reader)
    insert = Insert(target, with_, top, columns, outputs)
    if reader.take(T.VALUES):
        insert.rows = [_row(reader)]
        while reader.take(T.COMMA):
            insert.rows.append(_row(reader))
    elif not columns and reader.word("DEFAULT"):
        if not reader.take(T.VALUES):
            reader.fail()
        insert.defaults = True
    elif reader.at_end:
        insert.execute = True
    else:
        insert.query = reader.query() or reader.fail()
    reader.options()
    _end(reader)
    return insert


def read_update(tokens: list[Token], reader: Reader) -> Change:
    """Read a whole UPDATE statement."""
    reader.start(to_sqlglot(tokens))
    with_ = reader.with_()
    _expect(reader, T.UPDATE)
    top = read_top(reader)
    target = reader.target()
    _expect(reader, T.SET)
    sets = read_sets(reader)
    outputs = read_outputs(reader)
    return _rest(reader, Change(target, with_, top, sets, outputs, exp.Select()))


def read_delete(tokens: list[Token], reader: Reader) -> Change:
    """Read a whole DELETE statement."""
    reader.start(to_sqlglot(tokens))
    with_ = reader.with_()
    _expect(reader, T.DELETE)
    top = read_top(reader)
    reader.take(T.FROM)
    target = reader.target()
    outputs = read_outputs(reader)
    return _rest(reader, Change(target, with_, top, [], outputs, exp.Select()))


def _rest(reader: Reader, change: Change) -> Change:
    """FROM, WHERE and OPTION of an UPDATE or DELETE."""
    from_ = reader.from_()
    if from_ is not None:
        change.source.set("from_", from_)
        for join in reader.joins():
            change.source.append("joins", join)
    if reader.take(T.WHERE):
        if reader.word("CURRENT", "OF"):
            if reader.text_at(1):
                reader.word("GLOBAL")
            change.cursor = reader.current_text
            reader.advance()
            reader.options()
            _end(reader)
            return change
        change.source.set("where", exp.Where(this=reader.expression_() or reader.fail()))
    reader.options()
    _end(reader)
    return change


_JOINING = frozenset({"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER"})


def read_merge(tokens: list[Token], reader: Reader) -> Merge:
    """Read a whole MERGE statement."""
    reader.start(to_sqlglot(tokens))
    with_ = reader.with_()
    _expect(reader, T.MERGE)
    top = read_top(reader)
    reader.take(T.INTO)
    target = reader.target(alias=True)
    if not reader.word("USING"):
        reader.fail()
    source = reader.table_source()
    if reader.current_upper in _JOINING:
        reader.fail("a join as the source of MERGE is not supported: write USING (SELECT … FROM …) AS s")
    _expect(reader, T.ON)
    on = reader.expression_() or reader.fail()
    branches: list[MergeBranch] = []
    while reader.take(T.WHEN):
        branches.append(_branch(reader))
    outputs = read_outputs(reader)
    reader.options()
    _end(reader)
    if not branches:
        reader.fail("MERGE needs a WHEN clause")
    return Merge(target, source, on, with_, top, branches, outputs)


def _branch(reader: Reader) -> MergeBranch:
    negated = reader.take(T.NOT)
    if not reader.word("MATCHED"):
        reader.fail()
    by_source = False
    if reader.word("BY"):
        if reader.word("SOURCE"):
            by_source = True
        elif not reader.word("TARGET"):
            reader.fail()
    condition = (reader.expression_() or reader.fail()) if reader.take(T.AND) else None
    _expect(reader, T.THEN)
    branch = MergeBranch(not negated, by_source, condition, "")
    if reader.take(T.UPDATE):
        _expect(reader, T.SET)
        branch.action, branch.sets = "UPDATE", read_sets(reader)
    elif reader.take(T.DELETE):
        branch.action = "DELETE"
    elif reader.take(T.INSERT):
        branch.action = "INSERT"
        if reader.peek(T.L_PAREN):
            branch.columns = read_names(reader)
        if reader.word("DEFAULT"):
            _expect(reader, T.VALUES)
        else:
            _expect(reader, T.VALUES)
            branch.values = list(_row(reader).expressions)
    else:
        reader.fail()
    return branch


# ---------------------------------------------------------------- clauses


def read_top(reader: Reader) -> Top | None:
    """``TOP (n) [PERCENT]`` or ``TOP n``."""
    if not reader.take(T.TOP):
        return None
    if reader.take(T.L_PAREN):
        count = reader.expression_() or reader.fail()
        _expect(reader, T.R_PAREN)
    else:
        count = reader.number() or reader.fail()
    return Top(count, reader.take(T.PERCENT))


def read_names(reader: Reader) -> list[exp.Identifier]:
    """``(a, b, …)``."""
    _expect(reader, T.L_PAREN)
    names = [reader.name()]
    while reader.take(T.COMMA):
        names.append(reader.name())
    _expect(reader, T.R_PAREN)
    return names


def read_sets(reader: Reader) -> list[SetItem]:
    """The items of SET."""
    items = [_set_item(reader)]
    while reader.take(T.COMMA):
        items.append(_set_item(reader))
    return items


def _set_item(reader: Reader) -> SetItem:
    target = Parser._parse_column(reader)
    if isinstance(target, exp.Dot) and isinstance(target.expression, exp.Anonymous):
        return SetItem(target.expression, column=target.this, method=target.expression.name.lower())
    if not isinstance(target, exp.Column):
        reader.fail()
    if is_variable(target):
        operator = _operator(reader)
        if operator == "=" and reader.is_assignment_ahead():
            column = Parser._parse_column(reader)
            second = _operator(reader)
            return SetItem(
                reader.expression_() or reader.fail(), column=column, variable=target.this, operator=second
            )
        return SetItem(reader.expression_() or reader.fail(), variable=target.this, operator=operator)
    operator = _operator(reader)
    return SetItem(reader.expression_() or reader.fail(), column=target, operator=operator)


def _operator(reader: Reader) -> str:
    if reader.take(T.EQ):
        return "="
    text = reader.current_text
    if reader.take(T.COLON_EQ):
        return text
    reader.fail()
    raise AssertionError


def read_outputs(reader: Reader) -> list[Output]:
    """Up to two OUTPUT clauses: one INTO a table, one to the client."""
    outputs: list[Output] = []
    while reader.word("OUTPUT"):
        output = Output(reader.projections())
        if reader.take(T.INTO):
            output.target = reader.target()
            if reader.peek(T.L_PAREN) and not reader.peek(T.SELECT, 1):
                output.columns = [name.name for name in read_names(reader)]
        outputs.append(output)
    return outputs


def _row(reader: Reader) -> exp.Tuple:
    _expect(reader, T.L_PAREN)
    values = [reader.expression_() or reader.fail()]
    while reader.take(T.COMMA):
        values.append(reader.expression_() or reader.fail())
    _expect(reader, T.R_PAREN)
    return exp.Tuple(expressions=values)


def _expect(reader: Reader, token: T) -> None:
    if not reader.take(token):
        reader.fail()


def _end(reader: Reader) -> None:
    if not reader.at_end:
        reader.fail()
