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

from ...grammar.lexer import bracketed, open_quote
from ...grammar.source import Source
from ...grammar.tokens import TokenKind
from .. import nodes
from ..analysis.constants import Piece, Template
from ..analysis.mentions import tokens_of
from ..catalog.names import COLUMNS_OF, SCHEMA_OF, database_and_schema, unquoted
from ..catalog.objects import ResultColumn, ScalarVariable
from ..catalog.types import INT
from ..plpgsql import nodes as pl
from ..sql import translate
from ..sql.interface import Assignment, Ddl, Dml, Query
from ..target import nodes as n
from ..target import statements as s
from ..target.emit import text_of
from .context import Context, Placeholder
from .results import columns_json

_NAME = "pgsb_placeholder_{}_"
_ANY_NAME = re.compile(r"pgsb_placeholder_(\d+)_", re.I)
_PART = r"""(?:\w+|"(?:[^"]|"")+")"""
_DOTTED = re.compile(rf"{_PART}(?:\.{_PART})*")
_LEXEME = re.compile(rf"(?P<string>E?'(?:[^']|'')*')|{_DOTTED.pattern}")
"""A string or a dotted name in PostgreSQL's text."""
_QUALIFIED = re.compile(
    r"""(?:(?P<schema>\w+|"(?:[^"]|"")+")\.)?(?P<last>"(?:[^"]|"")*?pgsb_placeholder_\d+_(?:[^"]|"")*\""""
    r"|\w*?pgsb_placeholder_\d+_\w*)",
    re.I,
)
"""A name with a placeholder in its last part."""

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
        if kind == "name" and part.quoted_by is not None:
            # [this] ends a name that breaks off before it, and is no part of what follows
            name = f" {name} "
        text += f"@{name}" if kind == "value" else name
    return text, pieces


def _kind(before: str, piece: Piece) -> str:
    """Tell what stands where the text breaks off."""
    inside = open_quote(before)
    if inside is TokenKind.STRING:
        return "text"
    if inside is TokenKind.BRACKETED:
        return "name"
    if piece.quoted_by is not None:
        # QUOTENAME(@value, '''') makes a string of it.
        return "value" if piece.quoted_by == "'" else "name"
    words = tokens_of(Source("text", before))
    if not words:
        return "value"
    last = words[-1]
    # A name that breaks off: N'CREATE QUEUE Queue' + CAST(@n AS nvarchar(10))
    breaks_off = last.kind is TokenKind.WORD and last.end == len(before)
    return "name" if last.word == "." or breaks_off or last.word.lower() in _BEFORE_NAMES else "value"


def left_over(statements: list[pl.Statement]) -> bool:
    """Tell whether a placeholder stands where none could be replaced."""
    return any(mentions_piece(text) for text in pl.texts(statements))


def may_be_sql(placed: Placeholder, ctx: Context) -> bool:
    """Tell whether a piece may hold more than a value (a condition), or than a name (a list of them)."""
    if placed.kind == "text" or placed.is_quoted:
        return False
    if placed.piece.has_query:
        return True
    known = [ctx.scope.variable(name) for name in placed.piece.variables]
    if not known:
        return placed.kind == "name"  # CHAR(10), SPACE(1)
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
    locks: list[pl.Statement] = []
    if isinstance(translated, Query | Dml | Assignment) and all(map(_is_lock, translated.before)):
        for one in translated.before:
            sql, using, named = _execution(one, names, ctx)
            locks.append(pl.Execute(sql, (), using, named))
        translated = dataclasses.replace(translated, before=())
    match translated:
        case Query(before=()):
            cursor = ctx.outer_helper("result", "refcursor")
            show = pl.Invoke(
                "ssb_internal.show", (pl.Name(session), pl.Name(cursor), _columns(translated.columns, ctx))
            )
            sql, using, named = _execution(translated.code, names, ctx)
            opened = pl.OpenExecute(cursor, sql, using, named)
            body = [pl.Assign(cursor, pl.NULL), opened, pl.Assign(session, show)]
        case Dml(before=(), after=(), output=None, counts=False):
            sql, using, named = _execution(translated.code, names, ctx)
            body = [pl.Execute(sql, (), using, named), *ctx.count_rows(node)]
        case Ddl():
            texts = [_execution(one, names, ctx) for one in translated.statements]
            body = [pl.Execute(sql, named=named) for sql, _, named in texts]
        case Assignment(before=(), rows=rows, query=query) if rows is not None:
            targets = tuple(names[target] for target in translated.targets)
            if translated.exactly_one_row and query is not None:
                sql, using, named = _execution(query, names, ctx)
                body = [pl.Execute(sql, targets, using, named)]
            else:
                record = ctx.helper(Assignment.RECORD, "record")
                sql, using, named = _execution(rows, names, ctx)
                assignments = tuple(
                    pl.Assign(target, pl.Raw(_named(value, names)))
                    for target, value in zip(targets, translated.values, strict=True)
                )
                body = [pl.ForExecute(record, sql, using, assignments, named)]
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
    guarded = ctx.guard(node, [*locks, *body], verb=verb)
    return guarded if isinstance(translated, Query | Assignment) else [*guarded, *ctx.autocommit(node)]


def _is_lock(statement: n.Node) -> bool:
    return isinstance(statement, s.LockTable | s.LockKey)


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


def _execution(
    code: n.Node, names: dict[str, str], ctx: Context
) -> tuple[pl.Expr, tuple[pl.Expr, ...], tuple[str, ...]]:
    """Return the text to execute, pieces put in, the variables that are its parameters, and what it names."""
    used: dict[str, str] = {}

    def numbered(node: n.Node) -> n.Node | None:
        if isinstance(node, n.Variable) and node.spelling in names:
            return n.Variable(used.setdefault(node.spelling, f"${len(used) + 1}"))
        return None

    text = text_of(n.replaced(code, numbered))
    named = tuple(name for name in pl.names(code) if not mentions_piece(name))
    return _sql_with_pieces(text, ctx), tuple(pl.Name(names[number]) for number in used), named


def _sql_with_pieces(sql: str, ctx: Context) -> pl.Expr:
    """Return an expression for PostgreSQL text with its placeholders replaced at run time."""
    parts: list[pl.Expr] = []
    at = 0
    for match in _LEXEME.finditer(sql):
        if not mentions_piece(match[0]):
            continue
        parts.append(pl.Text(sql[at : match.start()]))
        if match["string"]:
            # What is put in has its quotes doubled by the script, but a backslash is itself in T-SQL.
            doubled = "'\\" if match[0].startswith("E") else "'"
            parts += _string_with_pieces(match[0], ctx, doubled)
        elif match[0].startswith(COLUMNS_OF):
            table = _name_with_pieces(re.findall(_PART, match[0].removeprefix(COLUMNS_OF)), ctx)
            name = table[0] if len(table) == 1 else _concat(table)
            parts.append(pl.Invoke("ssb_internal.fillable_columns", (name,)))
        else:
            parts += _name_with_pieces(re.findall(_PART, match[0]), ctx)
        at = match.end()
    return _concat([*parts, pl.Text(sql[at:])])


def _name_with_pieces(names: list[str], ctx: Context) -> list[pl.Expr]:
    """Return a dotted name: a part with a piece together with the plain one before it, its schema."""
    result: list[pl.Expr] = []
    place = 0
    while place < len(names):
        name, after = names[place], names[place + 1 : place + 2]
        if after and mentions_piece(after[0]):
            result.append(_name_of(after[0], name, ctx))
            place += 1
        else:
            result.append(_name_of(name, None, ctx) if mentions_piece(name) else pl.Text(name))
        place += 1
        if place < len(names):
            result.append(pl.Text("."))
    return result


def _string_with_pieces(text: str, ctx: Context, doubled: str = "") -> list[pl.Expr]:
    """Return a string's text: parts of the script's strings, and names that travel as data.

    ``doubled``: what the string writes twice that is once in its value.
    """
    pieces = {placed.number: placed for placed in ctx.placeholders}
    parts: list[pl.Expr] = []
    at = 0
    if SCHEMA_OF in text:
        for match in _DOTTED.finditer(text):
            if SCHEMA_OF in match[0]:
                parts += _string_with_pieces(text[at : match.start()], ctx, doubled)
                names = _name_with_pieces(re.findall(_PART, match[0]), ctx)
                parts += [_with_doubled(doubled, name) for name in names]
                at = match.end()
        return [*parts, *_string_with_pieces(text[at:], ctx, doubled)]
    for match in _QUALIFIED.finditer(text):
        placed = pieces.get(_number(match["last"]))
        if placed is None:
            continue
        parts.append(pl.Text(text[at : match.start()]))
        if placed.kind == "text":
            parts += _with_variables(match[0], ctx, doubled.replace("'", ""), as_written="'" in doubled)
        else:
            # ssb_internal.drop_constraint('dbo.t', '…')
            name = match["last"].replace("''", "'") if doubled else match["last"]
            parts.append(_with_doubled(doubled, _name_of(name, match["schema"], ctx)))
        at = match.end()
    return [*parts, pl.Text(text[at:])]


def _with_variables(text: str, ctx: Context, doubled: str = "", *, as_written: bool = False) -> list[pl.Expr]:
    """Return the parts of a text, for each placeholder its piece: what it means, or as it is written."""
    pieces = {placed.number: placed for placed in ctx.placeholders}
    parts: list[pl.Expr] = []
    at = 0
    for match in _ANY_NAME.finditer(text):
        if (placed := pieces.get(int(match[1]))) is not None:
            value: pl.Expr = pl.Name(placed.variable) if as_written else _meaning(placed)
            parts += pl.Text(text[at : match.start()]), _with_doubled(doubled, value)
            at = match.end()
    return [*parts, pl.Text(text[at:])]


def _meaning(placed: Placeholder) -> pl.Expr:
    """Return what a piece means: the script has doubled the quotes, or the brackets, that are part of it."""
    value: pl.Expr = pl.Name(placed.variable)
    if placed.kind == "text":
        return pl.Invoke("replace", (value, pl.Text("''"), pl.Text("'")))
    if placed.is_bracketed:
        return pl.Invoke("replace", (value, pl.Text("]]"), pl.Text("]")))
    return value


def _with_doubled(characters: str, value: pl.Expr) -> pl.Expr:
    for character in characters:
        value = pl.Invoke("replace", (value, pl.Text(character), pl.Text(2 * character)))
    return value


def _concat(parts: list[pl.Expr]) -> pl.Expr:
    return pl.Invoke("concat", _merged(parts))


def _merged(parts: list[pl.Expr]) -> tuple[pl.Expr, ...]:
    """Return the parts of a text, constants that follow each other as one."""
    result: list[pl.Expr] = []
    for part in parts:
        if isinstance(part, pl.Text) and result and isinstance(result[-1], pl.Text):
            result[-1] = pl.Text(result[-1].value + part.value)
        elif part != pl.Text(""):
            result.append(part)
    return tuple(result)


def _number(name: str) -> int:
    """The first placeholder in a name that has one."""
    return int(_ANY_NAME.findall(name)[0])


def _spelled(name: str, ctx: Context) -> pl.Expr:
    """Return a name without PostgreSQL's quotes, of which pieces are the whole or parts."""
    parts = _merged(_with_variables(unquoted(name), ctx))
    return parts[0] if len(parts) == 1 else pl.Invoke("concat", parts)


def _name_of(name: str, schema: str | None, ctx: Context) -> pl.Expr:
    """Return the PostgreSQL name of which a piece is the whole or a part."""
    if SCHEMA_OF in name:
        return pl.Invoke("quote_ident", (_schema_of(name, ctx),))
    placed = next((one for one in ctx.placeholders if one.number == _number(name)), None)
    if placed is None:
        return pl.Text(name if schema is None else f"{schema}.{name}")
    if placed.kind == "value":
        return pl.Invoke("ssb_internal.dynamic_value", (pl.Name(placed.variable),))
    if placed.kind == "text":
        return _concat(_with_variables(name if schema is None else f"{schema}.{name}", ctx))
    value = _spelled(name, ctx)
    if placed.is_bracketed:
        # Dots and blanks are part of the name.
        value = pl.Invoke("ssb_internal.bracketed_identifier", (value,))
    if schema is None:
        return pl.Invoke("ssb_internal.dynamic_identifier", (value,))
    qualifier = _schema_of(schema, ctx) if mentions_piece(schema) else pl.Text(unquoted(schema))
    return pl.Invoke("ssb_internal.dynamic_name", (qualifier, value))


def _schema_of(name: str, ctx: Context) -> pl.Expr:
    """Return the PostgreSQL schema, unquoted, of which the run time alone knows the name or the database."""
    if SCHEMA_OF not in name:
        return pl.Invoke("ssb_internal.dynamic_schema", (_as_written(unquoted(name), ctx),))
    database, schema = database_and_schema(unquoted(name))
    return pl.Invoke("ssb_internal.dynamic_schema", (_as_written(schema, ctx), _as_written(database, ctx)))


def _as_written(name: str, ctx: Context) -> pl.Expr:
    """Return a name in T-SQL's spelling: dots and blanks of what stood in brackets are part of it."""
    if not mentions_piece(name):
        return pl.Text(bracketed(name))
    value = _spelled(name, ctx)
    if any(one.number == _number(name) and one.is_bracketed for one in ctx.placeholders):
        return pl.Invoke("ssb_internal.bracketed_identifier", (value,))
    return value


# ------------------------------------------------------------------ everything else


def fill(statements: list[pl.Statement], ctx: Context) -> list[pl.Statement]:
    """Replace the placeholders that are left: names as data, strings in expressions."""
    return [_filled(statement, ctx) for statement in statements]


def name_as_data(name: pl.Text, ctx: Context) -> pl.Expr:
    """Return a name that travels as data, with its pieces put in: in a query :func:`fill` does not look."""
    return _data(name.value, ctx) if ctx.placeholders and mentions_piece(name.value) else name


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
    if SCHEMA_OF in value:
        return _concat(_string_with_pieces(value, ctx))
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
            texts += [_meaning(pieces[number])] if number is not None else []
        return texts[0] if len(texts) == 1 else pl.Invoke("concat", tuple(texts))
    if whole is not None and (placed := pieces.get(_number(whole["last"]))) is not None:
        if whole["schema"] is not None:
            return _name_of(whole["last"], whole["schema"], ctx)
        if placed.kind == "name":
            # A service, a message type, the spelling of a queue: case counts, brackets do not.
            name = _spelled(whole["last"], ctx)
            return pl.Invoke("sys.parsename", (name, pl.Number(1))) if isinstance(name, pl.Name) else name
    return _concat(_string_with_pieces(value, ctx))


def _string(code: n.Node, ctx: Context) -> n.Node | None:
    """What stands for a string literal of a static expression with a piece in it."""
    if not isinstance(code, n.Text) or not _ANY_NAME.search(code.value):
        return None
    return pl.tree(_concat(_string_with_pieces(code.value, ctx)))
