"""Dynamic SQL with pieces that only the run time knows: names, values, parts of strings.

The text is compiled with a placeholder for each piece, ``pgsb_placeholder_1_``: inside a string
literal part of the string, where a name stands a name, elsewhere a variable.  Afterwards the
tree is rewritten: names that travel as data become expressions, queries and DML becomes EXECUTE
of its PostgreSQL text with the piece put in, variables as parameters.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...grammar.lexer import open_quote
from ...grammar.tokens import TokenKind
from .. import nodes
from ..analysis.constants import Piece, Template
from ..catalog.objects import ResultColumn, ScalarVariable
from ..catalog.types import INT
from ..plpgsql import nodes as pl
from ..sql import translate
from ..sql.interface import Assignment, Ddl, Dml, Query
from ..target import nodes as n
from ..target.emit import text_of
from .context import Context, Placeholder
from .results import columns_json

_NAME = "pgsb_placeholder_{}_"
_INSIDE = "q"
"""In front of a number: the placeholder stands inside a string."""
_ANY_NAME = re.compile(r"pgsb_placeholder_(\d+)_", re.I)
_QUALIFIED = re.compile(
    r"""(?:(?P<schema>\w+)\.)?(?:"(?P<quoted_head>[^"']*?)pgsb_placeholder_(?P<quoted_inside>q?)(?P<quoted>\d+)_(?P<quoted_tail>[^"']*)\""""
    r"|(?P<head>\w*?)pgsb_placeholder_(?P<inside>q?)(?P<number>\d+)_(?P<tail>\w*))",
    re.I,
)

# A name that breaks off: N'CREATE QUEUE Queue' + CAST(@n AS nvarchar(10))
_PART_OF_NAME = re.compile(r"(?<![\w@#$])[^\W\d]\w*\Z")

# Words behind which the name of an object stands.
_BEFORE_NAMES = frozenset(
    """
    from join into update table exec execute proc procedure queue service contract type database use view
    index trigger function schema user role route login insert delete merge priority binding notification
    synonym sequence column apply truncate
    """.split()
)


def place(template: Template) -> tuple[str, list[tuple[Piece, str, bool]]]:
    """Return the T-SQL text with placeholders; of each piece the kind, and whether it is in brackets."""
    text = ""
    pieces: list[tuple[Piece, str, bool]] = []
    for part in template:
        if isinstance(part, str):
            text += part
            continue
        kind = _kind(text, part)
        pieces.append((part, kind, open_quote(text) is TokenKind.BRACKETED))
        name = _NAME.format(len(pieces))
        text += f"@{name}" if kind == "value" else name
    return text, pieces


def _kind(before: str, piece: Piece) -> str:
    """Tell what stands where the text breaks off."""
    inside = open_quote(before)
    if inside is TokenKind.STRING:
        return "text"
    if inside is TokenKind.BRACKETED:
        return "name"
    if piece.tokens[0].word == "QUOTENAME":
        # QUOTENAME(@value, '''') makes a string of it.
        return "value" if piece.tokens[-2].text == "''''" else "name"
    stripped = before.rstrip()
    if stripped.endswith(".") or _PART_OF_NAME.search(before):
        return "name"
    word = re.search(r"(\w+)\s*\Z", before)
    return "name" if word and word.group(1).lower() in _BEFORE_NAMES else "value"


def left_over(statements: list[pl.Statement]) -> bool:
    """Tell whether a placeholder stands where none could be replaced."""
    return any(mentions_piece(text) for text in pl.texts(statements))


def may_be_sql(placed: Placeholder, ctx: Context) -> bool:
    """Tell whether a piece may hold more than a value (a condition), or than a name (a list of them)."""
    if placed.kind == "text" or placed.is_quoted:
        return False
    if any(token.word == "SELECT" for token in placed.piece.tokens):
        return True
    known = [ctx.scope.variable(name) for name in placed.piece.variables]
    return any(variable is None or variable.type.is_string for variable in known)


# ------------------------------------------------------------------ queries and DML


def mentions_piece(name: str) -> bool:
    """Tell whether a name is, or has in it, what only the run time knows."""
    return _ANY_NAME.search(name) is not None


def mentions(text: nodes.SqlText) -> bool:
    """Tell whether a statement has a placeholder in it."""
    return _ANY_NAME.search(" ".join(token.text for token in text.tokens)) is not None


@contextmanager
def _numbered_variables(ctx: Context) -> Iterator[dict[str, str]]:
    """Let variables come out as $1, $2 …; yields number → PL/pgSQL name."""
    scope = ctx.scope
    scalars, tables = scope.variables, scope.table_variables
    names: dict[str, str] = {}
    scope.variables, scope.table_variables = {}, {}
    values = {
        f"@{_NAME.format(placed.number)}": placed for placed in ctx.placeholders if placed.kind == "value"
    }
    for key, scalar in scalars.items():
        if key in values:
            # A number, a string or a list of values, put in as it is.
            is_text = may_be_sql(values[key], ctx)
            scope.variables[key] = ScalarVariable(key[1:], key[1:], INT, is_text=is_text)
            continue
        number = f"${len(names) + 1}"
        names[number] = scalar.reference
        scope.variables[key] = ScalarVariable(number, number, scalar.type)
    for key, table in tables.items():
        number = f"${len(names) + 1}"
        names[number] = table.reference
        scope.table_variables[key] = dataclasses.replace(table, reference=number, query_reference=number)
    try:
        yield names
    finally:
        scope.variables, scope.table_variables = scalars, tables


def lower_executed(node: nodes.Statement, text: nodes.SqlText, verb: str, ctx: Context) -> list[pl.Statement]:
    """Lower queries and DML with placeholders: EXECUTE of its text, variables as parameters."""
    with _numbered_variables(ctx) as names:
        translated = translate.translate_statement(text, ctx.scope, ctx.problems)
    if translated is None:
        return []
    session = ctx.session
    body: list[pl.Statement] = []
    match translated:
        case Query(before=()):
            cursor = ctx.outer_helper("result", "refcursor")
            show = pl.Invoke(
                "ssb_internal.show", (pl.Name(session), pl.Name(cursor), _columns(translated.columns, ctx))
            )
            sql, using = _execution(translated.code, names, ctx)
            body = [pl.Assign(cursor, pl.NULL), pl.OpenExecute(cursor, sql, using), pl.Assign(session, show)]
        case Dml(before=(), after=(), output=None, counts=False):
            sql, using = _execution(translated.code, names, ctx)
            body = [pl.Execute(sql, (), using), *ctx.count_rows(node)]
        case Ddl():
            body = [pl.Execute(_execution(one, names, ctx)[0]) for one in translated.statements]
        case Assignment(before=(), rows=rows, query=query) if rows is not None:
            targets = tuple(names[target] for target in translated.targets)
            if translated.exactly_one_row and query is not None:
                sql, using = _execution(query, names, ctx)
                body = [pl.Execute(sql, targets, using)]
            else:
                record = ctx.helper(Assignment.RECORD, "record")
                sql, using = _execution(rows, names, ctx)
                assignments = tuple(
                    pl.Assign(target, pl.Raw(_named(value, names)))
                    for target, value in zip(targets, translated.values, strict=True)
                )
                body = [pl.ForExecute(record, sql, using, assignments)]
            body += ctx.status(node, pl.Number(1))
        case Assignment(rows=None):
            # No relation: a placeholder inside a string literal.
            body = [
                pl.Assign(names[target], pl.Raw(_named(value, names)))
                for target, value in zip(translated.targets, translated.values, strict=True)
            ]
            body += ctx.status(node, pl.Number(1))
        case _:
            ctx.problem("this statement cannot stand in dynamic SQL with unknown parts", text.span)
            return []
    guarded = ctx.guard(node, body, verb=verb)
    return guarded if isinstance(translated, Query | Assignment) else [*guarded, *ctx.autocommit(node)]


def _columns(columns: tuple[ResultColumn, ...] | None, ctx: Context) -> pl.Expr:
    """Return what is known of a result set's columns, with the names that only the run time knows."""
    if not any(column.name is not None and mentions_piece(column.name) for column in columns or ()):
        return columns_json(columns)
    return pl.Invoke(
        "json_build_array",
        tuple(
            pl.Invoke(
                "json_build_object",
                (
                    pl.Text("name"),
                    pl.NULL if column.name is None else _data(column.name, ctx),
                    pl.Text("type"),
                    pl.NULL if column.type is None else pl.Text(column.type.postgres),
                ),
            )
            for column in columns or ()
        ),
    )


def _named(code: n.Node, names: dict[str, str]) -> n.Node:
    """A value with PL/pgSQL's variables in place of the numbered ones."""
    return n.replaced(code, lambda node: _renamed(node, names))


def _renamed(node: n.Node, names: dict[str, str]) -> n.Node | None:
    if isinstance(node, n.Variable) and node.spelling in names:
        return n.Variable(names[node.spelling])
    return None


def _execution(code: n.Node, names: dict[str, str], ctx: Context) -> tuple[pl.Expr, tuple[pl.Expr, ...]]:
    """Return the text to execute, pieces put in, and the variables that it uses as parameters."""
    used: dict[str, str] = {}

    def numbered(node: n.Node) -> n.Node | None:
        if isinstance(node, n.Variable) and node.spelling in names:
            return n.Variable(used.setdefault(node.spelling, f"${len(used) + 1}"))
        if isinstance(node, n.Text):
            return n.Text(_ANY_NAME.sub(rf"pgsb_placeholder_{_INSIDE}\1_", node.value))
        return None

    text = text_of(n.replaced(code, numbered))
    return _text_with_pieces(text, ctx), tuple(pl.Name(names[number]) for number in used)


def _text_with_pieces(sql: str, ctx: Context) -> pl.Expr:
    """Return an expression for PostgreSQL text with its placeholders replaced at run time."""
    pieces = {placed.number: placed for placed in ctx.placeholders}
    parts: list[pl.Expr] = []
    at = 0
    for match in _QUALIFIED.finditer(sql):
        placed = pieces.get(_number(match))
        if placed is None:
            continue
        inside = match["quoted_inside"] or match["inside"] or ""
        if placed.kind == "text":
            # As it is: where it stands in a string, the script has doubled its quotes.
            group = "quoted" if match["quoted"] else "number"
            parts.append(pl.Text(sql[at : match.start(group) - len("pgsb_placeholder_" + inside)]))
            parts.append(pl.Name(placed.variable))
            at = match.end(group) + 1
            continue
        parts.append(pl.Text(sql[at : match.start()]))
        name = _name_of(placed, match, ctx)
        if inside:
            # A name that travels as data: ssb_internal.drop_constraint('dbo.t', '…').
            name = pl.Invoke("replace", (name, pl.Text("'"), pl.Text("''")))
        parts.append(name)
        at = match.end()
    parts.append(pl.Text(sql[at:]))
    return pl.Invoke("concat", tuple(part for part in parts if part != pl.Text("")))


def _number(match: re.Match[str]) -> int:
    return int(match["quoted"] or match["number"])


def _joined(placed: Placeholder, match: re.Match[str]) -> pl.Expr:
    """Return what a piece is with the parts of the name before and behind it."""
    head = match["quoted_head"] or match["head"] or ""
    tail = match["quoted_tail"] or match["tail"] or ""
    if not head and not tail:
        return pl.Name(placed.variable)
    around: list[pl.Expr] = [pl.Text(head), pl.Name(placed.variable), pl.Text(tail)]
    return pl.Invoke("concat", tuple(part for part in around if part != pl.Text("")))


def _name_of(placed: Placeholder, match: re.Match[str], ctx: Context) -> pl.Expr:
    """Return the PostgreSQL name of which a piece is the whole or a part."""
    if placed.kind == "value":
        return pl.Invoke("ssb_internal.dynamic_value", (pl.Name(placed.variable),))
    value = _joined(placed, match)
    if placed.is_bracketed:
        # Dots and blanks are part of the name.
        value = pl.Invoke("sys.quotename", (value,))
    if match["schema"] is None:
        return pl.Invoke("ssb_internal.dynamic_identifier", (value,))
    schema = match["schema"]
    qualifier = _text_with_pieces(schema, ctx) if mentions_piece(schema) else pl.Text(schema)
    return pl.Invoke("ssb_internal.dynamic_name", (qualifier, value))


# ------------------------------------------------------------------ everything else


def fill(statements: list[pl.Statement], ctx: Context) -> list[pl.Statement]:
    """Replace the placeholders that are left: names as data, strings in expressions."""
    return [_filled(statement, ctx) for statement in statements]


def _filled(node: Any, ctx: Context) -> Any:
    """Return a tree with its placeholders replaced."""
    if isinstance(node, tuple):
        return tuple(_filled(item, ctx) for item in node)
    if isinstance(node, pl.Text) and _ANY_NAME.search(node.value):
        return _data(node.value, ctx)
    if isinstance(node, pl.Raw):
        return pl.Raw(n.replaced(node.code, lambda code: _string(code, ctx)))
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        changes = {
            field.name: _filled(getattr(node, field.name), ctx)
            for field in dataclasses.fields(node)
            if not isinstance(getattr(node, field.name), str | int | None)
        }
        return dataclasses.replace(node, **changes)
    return node


def _data(value: str, ctx: Context) -> pl.Expr:
    """A name that travels as data: a queue as 'schema.name', a service by its bare name."""
    pieces = {placed.number: placed for placed in ctx.placeholders}
    whole = _QUALIFIED.fullmatch(value)
    numbers = [int(number) for number in _ANY_NAME.findall(value)]
    if (whole is None or whole["schema"] is None) and all(
        number in pieces and pieces[number].is_bracketed for number in numbers
    ):
        around = _ANY_NAME.split(value)[::2]
        texts: list[pl.Expr] = []
        for text, number in zip(around, [*numbers, None], strict=True):
            texts += [pl.Text(text)] if text else []
            texts += [pl.Name(pieces[number].variable)] if number is not None else []
        return texts[0] if len(texts) == 1 else pl.Invoke("concat", tuple(texts))
    if whole is not None and _number(whole) in pieces:
        placed = pieces[_number(whole)]
        if whole["schema"] is not None:
            return _name_of(placed, whole, ctx)
        if placed.kind == "name":
            # A service, a message type, the spelling of a queue: case counts, brackets do not.
            joined = _joined(placed, whole)
            return (
                pl.Invoke("sys.parsename", (joined, pl.Number(1))) if isinstance(joined, pl.Name) else joined
            )
    return _text_with_pieces(value, ctx)


def _string(code: n.Node, ctx: Context) -> n.Node | None:
    """What stands for a string literal of a static expression with a piece in it."""
    if not isinstance(code, n.Text) or not _ANY_NAME.search(code.value):
        return None
    return pl.tree(_text_with_pieces(code.value, ctx))
