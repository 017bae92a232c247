"""Queries, DML, table DDL and expressions in T-SQL → PostgreSQL text: the way in for the lowering passes.

In the order of control flow, which is the order of imports from the last line to the first:

===============  ==========================================================================
translate        reads a statement or an expression, finds its handler, lays the text out
dml/             INSERT, UPDATE, DELETE, MERGE with OUTPUT; table variables; statements in FROM
query/           SELECT: FROM, set operations, TOP, SELECT @x = …, PIVOT, FOR XML, FOR JSON
ddl/             CREATE and ALTER TABLE, indexes, types, sequences, system versioning
expressions/     names, arithmetic, conditions, calls, windows, JSON constructors
functions/       the built-in functions, what each becomes
dispatch         the handlers of expressions and queries by node, of statements by verb
context          scope, problems and relations in scope while one statement is translated
interface        what comes out; what is asked of the surroundings: catalog/objects
assignments      what is converted for variables and columns; conversions: CAST, CONVERT, implicit ones
constant_texts   texts that both servers read alike; precedence: the type of several values together
values           a target tree (..target) with its T-SQL type
operand_types    what operators, aggregates and assignments refuse by type
query_result     a translated query; from_items: what FROM is made of
json_values      how values are written inside of JSON
parse/           our tokens → sqlglot trees; what cannot be read is a problem
===============  ==========================================================================

``parse/`` alone knows sqlglot's parser; the folders above know its nodes.

Variables come out under the name the scope gives them: ``reference`` where no relation is in scope,
``query_reference`` inside a query that has relations, where a bare name could be taken for a column.
Object names come out schema-qualified, types and functions too. String literals with line ends come out
as E'…\\n…', so that every line end in the result is layout and may be indented.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot import exp

from ...grammar.hints import (
    incorrect_syntax,
    misplaced_quote,
    missing,
    misspelt,
    of_neighbours,
    reserved_name,
)
from ...grammar.lexer import string_value
from ...grammar.problems import NESTED_TOO_DEEPLY, Problems, RoomToRecurse
from ...grammar.records import replace
from ...grammar.source import Span
from ...grammar.tokens import Token, TokenKind, words_of
from ..catalog.objects import (
    Expression,
    SqlScope,
    TableInfo,
)
from ..catalog.types import BOOLEAN, XML, SqlType
from ..nodes import SetVariable, SqlText
from ..target import nodes as n
from ..target import queries as q
from ..target.emit import has_open_case
from . import dispatch
from . import values as v
from .assignments import assign
from .context import Context, Relation
from .conversions import convert
from .ddl.tables import table_definition
from .dispatch import DEFINITION, query_tree
from .dml.insert import first_select, insert_target, select_into
from .dml.nested import find as find_composed
from .expressions.calls import xml_binding, xml_literals
from .expressions.names import condition, number, scalar, variable
from .functions import builtin
from .functions.xml_methods import xml_modify
from .interface import Assignment, Dml, InsertTarget, Query, Statement, TableVariableDml
from .operand_types import implicit_error
from .parse.dml import read_delete, read_insert, read_merge, read_update
from .parse.nodes import SetVariable as Assigned
from .parse.nodes import variable_name
from .parse.reader import Reader
from .parse.tokens import Unreadable, to_sqlglot
from .parse.trees import READERS, read_expression
from .precedence import common_of_types
from .query import for_json, for_xml
from .query.assignment import assignment
from .query.row_limits import limit_rows, refuse_order
from .query_result import ROWS, Targets
from .values import Value

Result = TypeVar("Result")

DEEPEST_NESTING = 300
"""Parentheses and CASEs inside one another that we follow; SQL Server stops at about as many."""

# Refused by name before they are read: their arguments have a syntax of their own.
_ROWSETS = frozenset(
    """
    OPENROWSET OPENQUERY OPENDATASOURCE CONTAINS FREETEXT CONTAINSTABLE FREETEXTTABLE CHANGETABLE
    SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYTABLE SEMANTICSIMILARITYDETAILSTABLE
    """.split()
)


_REFUSED = _ROWSETS | {"MATCH"}

# ---------------------------------------------------------------- expressions


Locked = tuple[Value, tuple[n.Node, ...]]
"""A value, and the locks in front of what has it."""

_NOTHING: Locked = (v.INVALID, ())


def translate_expression(
    text: SqlText,
    scope: SqlScope,
    problems: Problems,
    *,
    target: SqlType | None = None,
    columns: TableInfo | None = None,
    exact: bool = False,
    assigned: bool = False,
) -> Expression:
    """Translate one scalar expression.

    ``target``: the type it is assigned to; the result is then converted to it as T-SQL
    would do implicitly; ``exact``: it is PostgreSQL's type too, as an argument has to be
    where an assignment would convert; ``assigned``: 257 and 206 tell what no assignment
    converts.  ``columns``: columns in scope (RECEIVE's select list).
    After a problem the result is ``NULL``.
    """
    value = _trivial(text.tree, scope) if columns is None and len(text.tokens) <= 3 else None
    before: tuple[n.Node, ...] = ()
    if value is None:
        value, before = _translate(
            text, scope, problems, _NOTHING, lambda ctx: _expression(text, ctx), columns=columns
        )
    if target is not None:
        error = implicit_error(value, target) if assigned else None
        if error is not None:
            problems.add(error[1], at=text.span, number=error[0])
            value = v.INVALID
        value = convert(value, target) if exact else assign(value, target)
    return Expression(value.code, value.type, before)


def _tree(text: SqlText) -> exp.Expr:
    """The tree of an expression. Raises Unreadable."""
    if text.tree is None:
        return read_expression(text.tokens)
    # What translates a query changes its tree.
    return text.tree.copy() if "SELECT" in words_of(text.tokens) else text.tree


def _expression(text: SqlText, ctx: Context) -> Locked:
    return scalar(_tree(text), ctx), tuple(ctx.locks)


def translate_condition(
    text: SqlText, scope: SqlScope, problems: Problems, *, columns: TableInfo | None = None
) -> Expression:
    """Translate a search condition (IF, WHILE) to a PostgreSQL boolean."""

    def read(ctx: Context) -> Locked:
        return condition(_tree(text), ctx), tuple(ctx.locks)

    value, before = _translate(text, scope, problems, _NOTHING, read, columns=columns)
    # PL/pgSQL's IF would take the THEN of a CASE for its own.
    code = n.Paren(value.code) if has_open_case(value.code) else value.code
    return Expression(code, BOOLEAN, before)


def convert_expression(expression: Expression, target: SqlType) -> Expression:
    """Convert an already translated expression for an assignment to a variable of type ``target``."""
    value = assign(Value(expression.code, expression.type), target)
    return Expression(value.code, value.type)


def translate_method(
    variable_name: str, method: str, arguments: SqlText, scope: SqlScope, problems: Problems
) -> Expression | None:
    """``SET @x.modify('…')``: the new value of the variable; None after a problem."""

    def read(ctx: Context) -> Value | None:
        if method.lower() != "modify":
            ctx.problem(
                f"Incorrect use of the XML data type method '{method}'. A mutator method is expected in this "
                "context.",
                number=8113,
            )
            return None
        call = exp.Anonymous(this=method, expressions=[_tree(arguments)])
        literals = xml_literals(call, ctx)
        if literals is None:
            return None
        subject = variable(variable_name, call, ctx)
        try:
            return xml_modify(
                subject, literals[0], ctx.namespaces, lambda kind, name: xml_binding(kind, name, call, ctx)
            )
        except builtin.Wrong as error:
            ctx.problem(str(error), number=error.number)
            return None

    value = _translate(arguments, scope, problems, None, read)
    return None if value is None else Expression(value.code, XML)


# ---------------------------------------------------------------- statements


def translate_statement(text: SqlText, scope: SqlScope, problems: Problems) -> Statement | None:
    """Translate one query or DML statement; None after a problem (already reported)."""
    before = problems.error_count
    statement = _translate(text, scope, problems, None, lambda ctx: _locking(_statement(text, ctx), ctx))
    return statement if problems.error_count == before else None


def translate_compound(node: SetVariable, scope: SqlScope, problems: Problems) -> Statement | None:
    """Translate ``SET @v += e``, which is the same as ``SELECT @v += e``; None after a problem."""
    before = problems.error_count
    name, text = node.variable, SqlText(span=node.span, tokens=node.value.tokens)

    def read(ctx: Context) -> Statement | None:
        target = exp.Identifier(this=name.name)
        target.meta.update(start=name.span.start, end=name.span.end)
        item = Assigned(this=target, expression=_tree(node.value), operator=node.operator)
        return _locking(_select(exp.Select(expressions=[item]), ctx), ctx)

    statement = _translate(text, scope, problems, None, read)
    return statement if problems.error_count == before else None


def translate_query(
    text: SqlText,
    scope: SqlScope,
    problems: Problems,
    tree: exp.Select | None = None,
    *,
    named: bool = False,
) -> Query | None:
    """Translate a SELECT that must return rows (cursor, view, inline function).

    ``tree``: what the text has been read as, and changed since. ``named``: it is a view's or function's,
    where ORDER BY alone is wrong.
    """
    before = problems.error_count

    def read(ctx: Context) -> Query:
        if tree is not None:
            return _query(tree, ctx)
        tokens = _namespaces(list(text.tokens), ctx)
        whole = ctx.reader.whole(to_sqlglot(tokens), ctx.reader.query)
        if named:
            refuse_order(whole, ctx, inside=True)
        return _query(whole, ctx, ROWS if named else None)

    query = _translate(text, scope, problems, None, read)
    return query if problems.error_count == before else None


def translate_insert_target(text: SqlText, scope: SqlScope, problems: Problems) -> InsertTarget | None:
    """``INSERT [INTO] target [(columns)]`` in front of EXEC: where the procedure's rows go."""
    return _translate(text, scope, problems, None, lambda ctx: insert_target(text.tokens, ctx))


def translate_table_variable(
    text: SqlText, called: str, scope: SqlScope, problems: Problems
) -> TableInfo | None:
    """Translate the ``( … )`` after TABLE in DECLARE @t TABLE, CREATE TYPE … AS TABLE, RETURNS @t TABLE.

    ``called`` is what errors name it by.
    """
    return _translate(text, scope, problems, None, lambda ctx: table_definition(text.tokens, called, ctx))


def _statement(text: SqlText, ctx: Context) -> Statement | None:
    tokens = _namespaces(list(text.tokens), ctx)
    while tokens and tokens[-1].word == ";":
        tokens.pop()
    verb = _verb(tokens)
    if verb == "SELECT":
        node = ctx.reader.whole(to_sqlglot(tokens), ctx.reader.query)
        return _select(node, ctx)
    if verb not in _CHANGES or (verb == "UPDATE" and len(tokens) > 1 and tokens[1].word == "STATISTICS"):
        verb = DEFINITION
    return dispatch.statement(verb, tokens, ctx)


def _locking(statement: Statement | None, ctx: Context) -> Statement | None:
    """A statement with the locks in front of it that hints in it ask for."""
    if not ctx.locks or not isinstance(statement, Assignment | Dml | TableVariableDml):
        return statement
    return replace(statement, before=(*ctx.locks, *statement.before))


_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})


def _verb(tokens: list[Token]) -> str:
    """The statement's verb: behind common table expressions where it begins with WITH."""
    if not tokens:
        return ""
    if tokens[0].word == "(":
        return "SELECT"
    if tokens[0].word != "WITH":
        return tokens[0].word
    depth = 0
    for token in tokens:
        if token.word == "(":
            depth += 1
        elif token.word == ")":
            depth -= 1
        elif depth == 0 and token.word in ("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"):
            return token.word
    return "SELECT"


def _select(node: exp.Expr, ctx: Context) -> Statement | None:
    limit_rows(node)
    if first_select(node).args.get("into") is not None:
        return select_into(node, ctx)
    assigned = assignment(node, ctx)
    if assigned is not None:
        return assigned
    return _query_to_show(node, ctx)


def _query_to_show(node: exp.Expr, ctx: Context) -> Query:
    """A query for the client: FOR XML and FOR JSON of no rows, which are NULL elsewhere, are no row to it."""
    query = _query(node, ctx)
    if query.columns is None or [column.name for column in query.columns][:1] not in _DOCUMENTS:
        return query
    document = n.Name(("d", "document"))
    rows = q.Aliased(n.Subquery(query.code), "d", ("document",))
    return replace(query, code=q.Select((document,), rows, where=n.IsNull(document, negated=True)))


_DOCUMENTS = ([for_xml.RESULT_NAME], [for_json.RESULT_NAME])


def _query(node: exp.Expr, ctx: Context, targets: Targets | None = None) -> Query:
    result = query_tree(node, ctx, targets=targets)
    return Query(result.code, result.columns, tuple(ctx.locks))


def check_query(text: SqlText, scope: SqlScope, problems: Problems) -> None:
    """Report what cannot be read of a query or DML statement that nothing translates."""
    _translate(text, scope, problems, None, lambda ctx: _read(text, ctx))


def check_expression(text: SqlText, scope: SqlScope, problems: Problems) -> None:
    """Report what cannot be read of an expression that nothing translates."""
    _translate(text, scope, problems, None, lambda ctx: _tree(text))


def _read(text: SqlText, ctx: Context) -> object:
    tokens = _namespaces(list(text.tokens), ctx)
    verb = _verb(tokens)
    if verb == "INSERT":
        # A statement inside it is taken out of it before it is read.
        composed = find_composed(tokens)
        return read_insert(tokens if composed is None else composed.outer, ctx.reader)
    if verb in _READS:
        return _READS[verb](tokens, ctx.reader)
    return ctx.reader.whole(to_sqlglot(tokens), ctx.reader.query)


_READS: dict[str, Callable[[list[Token], Reader], object]] = {
    "UPDATE": read_update,
    "DELETE": read_delete,
    "MERGE": read_merge,
}


# ---------------------------------------------------------------- the frame around a translation


def _translate(
    text: SqlText,
    scope: SqlScope,
    problems: Problems,
    otherwise: Result,
    work: Callable[[Context], Result],
    *,
    columns: TableInfo | None = None,
) -> Result:
    """Run ``work`` with a fresh context; what cannot be read becomes a problem."""
    span = text.span
    ctx = Context(scope, problems, span.source, span, READERS.reader, text.tokens)
    if not _acceptable(text, ctx):
        return otherwise
    if columns is not None:
        stored = ctx.reads(columns.name, columns) if columns.name is not None else None
        ctx.frame.relations.append(Relation("", columns.columns, partial=columns.partial, stored=stored))
    try:
        with RoomToRecurse():
            result = work(ctx)
        if ctx.unsettled:
            ctx.settle()
        return result
    except Unreadable as error:
        start, end = error.start, error.end
        if error.near is None:
            start = end = max(span.start, min(end or span.end, span.end))
            start = max(start - 1, span.start)
        message, number, hint = error.message, error.number, error.hint
        place = next((i for i, token in enumerate(text.tokens) if token.start == error.start), None)
        if place is not None and error.near is not None and message.startswith("Incorrect syntax near"):
            message, number = incorrect_syntax(text.tokens[place])
            tokens = text.tokens
            hint = misplaced_quote(tokens, span.source, range(1, min(place + 1, len(tokens)))) or misspelt(
                tokens, place
            )
            hint = (
                hint or reserved_name(tokens, place) or of_neighbours(tokens, place) or missing(tokens, place)
            )
        problems.add(message, at=Span(span.source, start, max(end, start + 1)), hint=hint, number=number)
    except RecursionError:
        problems.add(NESTED_TOO_DEEPLY, at=span, number=191)
    return otherwise


def _acceptable(text: SqlText, ctx: Context) -> bool:
    """Nesting within bounds, and no rowset function that is refused by name."""
    depth = deepest = 0
    tokens = text.tokens
    if len(tokens) <= DEEPEST_NESTING and _REFUSED.isdisjoint([token.word for token in tokens]):
        return True
    for index, token in enumerate(tokens):
        word = token.word
        if word == "(" or word == "CASE":
            depth += 1
            deepest = max(deepest, depth)
        elif word == ")" or word == "END":
            depth -= 1
        elif word == "MATCH" and any(other.word in ("->", "<-") for other in tokens[index:]):
            ctx.problems.add(
                "MATCH over graph tables is not supported", at=Span(text.span.source, token.start, token.end)
            )
            return False
        elif word in _ROWSETS and index + 1 < len(tokens) and tokens[index + 1].word == "(":
            reason = builtin.REFUSED[word]
            ctx.problems.add(
                f"{word} is not supported: {reason}", at=Span(text.span.source, token.start, token.end)
            )
            return False
    if deepest > DEEPEST_NESTING:
        ctx.problem(NESTED_TOO_DEEPLY, number=191)
        return False
    return True


def _declare(named: Token, uri: str, ctx: Context) -> None:
    """Take a prefix of WITH XMLNAMESPACES, or report it."""
    prefix = named.name
    wrong: tuple[int, str] | None = None
    if prefix == "xmlns":
        wrong = (
            6871,
            (
                "Prefix 'xmlns' used in WITH XMLNAMESPACES is reserved and cannot be used as a user-defined "
                "prefix."
            ),
        )
    elif prefix == "xml" and uri != "http://www.w3.org/XML/1998/namespace":
        wrong = (
            6872,
            (
                "XML namespace prefix 'xml' can only be associated with the URI "
                "http://www.w3.org/XML/1998/namespace. This URI cannot be used with other prefixes."
            ),
        )
    elif not uri:
        wrong = 6874, "Empty URI is not allowed in WITH XMLNAMESPACES clause."
    elif prefix in ctx.namespaces:
        wrong = 6869, f"Attempt to redefine namespace prefix '{prefix}'"
    if wrong is not None:
        raise Unreadable(wrong[1], named.start, named.end, named.text, wrong[0])
    ctx.namespaces[prefix] = uri


def _namespaces(tokens: list[Token], ctx: Context) -> list[Token]:
    """Take ``WITH XMLNAMESPACES (…)`` off the front of a statement."""
    if len(tokens) < 3 or tokens[0].word != "WITH" or tokens[1].word != "XMLNAMESPACES":
        return tokens

    index = 3
    while index < len(tokens):
        if tokens[index].word == "DEFAULT" and index + 1 < len(tokens):
            ctx.namespaces[""] = string_value(tokens[index + 1])
            index += 2
        elif (
            tokens[index].kind == TokenKind.STRING
            and index + 2 < len(tokens)
            and tokens[index + 1].word == "AS"
        ):
            _declare(tokens[index + 2], string_value(tokens[index]), ctx)
            index += 3
        else:
            break
        if index < len(tokens) and tokens[index].word == ",":
            index += 1
            continue
        break
    if index >= len(tokens) or tokens[index].word != ")":
        near = tokens[min(index, len(tokens) - 1)]
        raise Unreadable(
            f"incorrect syntax near {near.text!r} in XMLNAMESPACES", near.start, near.end, near.text
        )
    rest = tokens[index + 1 :]
    if rest and rest[0].word == ",":
        return [tokens[0], *rest[1:]]
    return rest


# ---------------------------------------------------------------- the short way


def _trivial(node: exp.Expr | None, scope: SqlScope) -> Value | None:
    """One literal or one variable, and sums of two of them: most expressions of a program."""
    if not isinstance(node, exp.Add | exp.Sub):
        return _atom(node, scope)
    left, right = _atom(node.this, scope), _atom(node.expression, scope)
    if left is None or right is None or left.type is None or right.type is None:
        return None
    if left.type.family == right.type.family == "integer" and left.pg is None and right.pg is None:
        type_ = common_of_types([left.type, right.type])
        sign = "+" if isinstance(node, exp.Add) else "-"
        return Value(n.Sum(sign, left.code, right.code), type_)
    return None


def _atom(node: exp.Expr | None, scope: SqlScope) -> Value | None:
    if isinstance(node, exp.Column):
        name = variable_name(node)
        known = scope.variable(name) if name is not None else None
        return Value(n.Variable(known.reference), known.type) if known is not None else None
    if isinstance(node, exp.National):
        return v.string(node.name, national=True)
    if isinstance(node, exp.Literal):
        if node.is_string:
            return v.string(node.this)
        return number(node.this) if node.this.isdecimal() else None
    return v.NULL if isinstance(node, exp.Null) else None
