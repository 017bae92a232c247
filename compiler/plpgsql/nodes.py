"""The target tree: PL/pgSQL blocks and statements, as the lowering passes build them.

Expressions are small: :class:`Raw` holds a tree that the translation of queries and DML made, the
others are what the lowering itself needs (literals, calls, variables).  Only
:mod:`.emit` turns any of it into text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields, is_dataclass

from ...grammar.records import dataclass
from ..target import nodes as n

# ------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Raw:
    """An expression or a condition of the target tree."""

    code: n.Node


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal."""

    value: str


@dataclass(frozen=True, slots=True)
class Number:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class Constant:
    """TRUE, FALSE, NULL or another word that stands for itself."""

    word: str


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or a field, spelled as it must be: ``handle``, ``session.trancount``."""

    spelling: str


@dataclass(frozen=True, slots=True)
class Invoke:
    """``function(argument, …, name => argument, …)``; ``function`` is schema-qualified."""

    function: str
    arguments: tuple[Expr, ...] = ()
    named: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Array:
    """``ARRAY[…]``; an empty one needs its element type."""

    items: tuple[Expr, ...]
    element_type: str | None = None


@dataclass(frozen=True, slots=True)
class Cast:
    """``operand::type``."""

    operand: Expr
    type: str


Expr = Raw | Text | Number | Constant | Name | Invoke | Array | Cast

TRUE = Constant("true")
FALSE = Constant("false")
NULL = Constant("NULL")
NO_ROWS = Text("{}")
"""An array without elements, of whatever type its place has."""


def with_number(variable: str, operator: str, number: int) -> Raw:
    """``variable operator number``."""
    return Raw(n.infix(operator, n.Variable(variable), n.integer(number)))


def not_set(variable: str) -> Raw:
    """``NOT variable``."""
    return Raw(n.Not(n.Variable(variable)))


def tree(node: Expr) -> n.Node:
    """An expression as a part of a query."""
    match node:
        case Raw(code):
            return code
        case Text(value):
            return n.Text(value)
        case Number(value):
            return n.integer(value)
        case Constant(word):
            return n.NULL if word == NULL.word else n.Word(word)
        case Name(spelling):
            return n.Variable(spelling)
        case Invoke(function, arguments, named):
            by_name = (n.NamedArgument(name, _argument(value)) for name, value in named)
            return n.Call(function, (*map(_argument, arguments), *by_name))
        case Array(items, element_type):
            array = n.Array(tuple(map(tree, items))) if items else n.Text("{}")
            return n.Cast(array, f"{element_type}[]") if element_type else array
        case Cast(operand, type_):
            return n.Cast(tree(operand), type_)


def _argument(node: Expr) -> n.Node:
    """An argument, whose own queries break into lines as anywhere in PL/pgSQL."""
    return n.Alone(node.code) if isinstance(node, Raw) else tree(node)


_fields_of: dict[type, tuple[str, ...]] = {}


def _field_names(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node; what is no node has none."""
    if kind not in _fields_of:
        _fields_of[kind] = tuple(one.name for one in fields(kind)) if is_dataclass(kind) else ()
    return _fields_of[kind]


def texts(tree: object) -> Iterator[str]:
    """Yield every string that a tree holds: names, literals, text of queries."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, tuple | list):
            waiting += node
        else:
            waiting += [getattr(node, one) for one in _field_names(type(node))]


def names(tree: object) -> Iterator[str]:
    """Yield the dotted names in a tree, of functions and relations; strings and comments name nothing.

    What EXECUTE reads is a string too: its statement says what that names.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            if "." in node:
                yield node
        elif isinstance(node, n.Name):
            if len(node.parts) > 1:
                yield ".".join(node.parts)
        elif isinstance(node, tuple):
            waiting += node
        elif not isinstance(node, _SAYS):
            waiting += [getattr(node, one) for one in _field_names(type(node))]


# ------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True)
class Declaration:
    """``name type [:= initial];``"""

    name: str
    type: str
    initial: Expr | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """Comment lines, as the programmer wrote them (``-- …`` or ``/* … */``)."""

    text: str


_SAYS = (n.Text, Text, Comment)


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line, to set blocks apart."""


@dataclass(frozen=True, slots=True)
class Null:
    """``NULL;``."""


@dataclass(frozen=True, slots=True)
class Assign:
    """``target := value;``."""

    target: str | n.Element
    """A variable as it is spelled, or an element of an array."""
    value: Expr
    note: str | None = None
    """A remark behind it: what T-SQL word it stands for."""


@dataclass(frozen=True, slots=True)
class Sql:
    """A SQL statement."""

    statement: n.Node
    into: tuple[str, ...] = ()
    """For a statement that returns one row: INTO these."""


@dataclass(frozen=True, slots=True)
class Define:
    """A routine that is made inside a block."""

    routine: Routine


@dataclass(frozen=True, slots=True)
class SelectInto:
    """``SELECT values INTO targets FROM source`` for an expression list; ``query`` is a whole query."""

    query: n.Node
    into: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Perform:
    """``PERFORM call;``."""

    call: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """``CALL procedure(…);``."""

    procedure: str
    arguments: tuple[Expr, ...] = ()
    named: tuple[tuple[str, Expr], ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Execute:
    """``EXECUTE text [INTO …] [USING …];``. ``named``: the :func:`names` of what the text was made of."""

    text: Expr
    into: tuple[str, ...] = ()
    using: tuple[Expr, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitIf:
    """``IF condition THEN COMMIT; END IF;`` on one line."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class AssignIf:
    """``IF condition THEN target := value; END IF;`` on one line."""

    condition: Expr
    target: str
    value: Expr


@dataclass(frozen=True, slots=True)
class GetRowCount:
    """``GET DIAGNOSTICS target = ROW_COUNT;``."""

    target: str


@dataclass(frozen=True, slots=True)
class GetDetail:
    """``GET STACKED DIAGNOSTICS target = PG_EXCEPTION_DETAIL;``, and the hint too if it is wanted."""

    target: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """``EXIT [label] [WHEN condition];``."""

    label: str | None = None
    when: Expr | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    """``CONTINUE [label] [WHEN condition];``."""

    label: str | None = None
    when: Expr | None = None


@dataclass(frozen=True, slots=True)
class Return:
    """``RETURN [value];``."""

    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class ReturnQuery:
    """``RETURN QUERY query;``."""

    query: n.Node


@dataclass(frozen=True, slots=True)
class Open:
    """``OPEN cursor FOR query;``."""

    cursor: str
    query: n.Node


@dataclass(frozen=True, slots=True)
class OpenExecute:
    """``OPEN cursor FOR EXECUTE text [USING …];``. ``named``: as for :class:`Execute`."""

    cursor: str
    text: Expr
    using: tuple[Expr, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForExecute:
    """``FOR record IN EXECUTE text [USING …] LOOP … END LOOP;``. ``named``: as for :class:`Execute`."""

    record: str
    text: Expr
    using: tuple[Expr, ...]
    body: tuple[Statement, ...]
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """``[<<label>>] [DECLARE …] BEGIN … [EXCEPTION WHEN OTHERS THEN …] END;``.

    ``handler``: the statements of the exception handler; None: there is none.
    """

    body: tuple[Statement, ...]
    label: str | None = None
    declarations: tuple[Declaration, ...] = ()
    handler: tuple[Statement, ...] | None = None
    note: str | None = None
    condition: str = "OTHERS"
    """What the handler catches."""


@dataclass(frozen=True, slots=True)
class Raise:
    """``RAISE EXCEPTION USING ERRCODE = …, MESSAGE = …;``."""

    sqlstate: str
    message: str


@dataclass(frozen=True, slots=True)
class If:
    """``IF … THEN … [ELSIF …] [ELSE …] END IF;``."""

    branches: tuple[tuple[Expr, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...] | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """``[<<label>>] [WHILE condition] LOOP … END LOOP;``."""

    body: tuple[Statement, ...]
    condition: Expr | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ForRows:
    """``FOR record IN query LOOP … END LOOP;``."""

    record: str
    query: n.Node
    body: tuple[Statement, ...]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ForCount:
    """``FOR counter IN 1..times LOOP … END LOOP;``."""

    counter: str
    times: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """Short statements that belong together, on one line."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """``CASE selector WHEN n THEN … END CASE;``: the state machine of GOTO."""

    selector: str
    branches: tuple[tuple[int, tuple[Statement, ...]], ...]


Statement = (
    Comment
    | Blank
    | Null
    | Assign
    | Sql
    | Define
    | SelectInto
    | Perform
    | Call
    | Execute
    | CommitIf
    | AssignIf
    | GetRowCount
    | GetDetail
    | Exit
    | Continue
    | Return
    | ReturnQuery
    | Open
    | OpenExecute
    | ForExecute
    | Block
    | Raise
    | If
    | Loop
    | ForRows
    | ForCount
    | Together
    | Case
)


# ------------------------------------------------------------------ top level


@dataclass(frozen=True, slots=True)
class Plain:
    """A top-level SQL statement."""

    statement: n.Node
    returns_rows: bool = False
    counts_rows: bool = False
    """Its row count is one that T-SQL shows."""
    columns: tuple[str | None, ...] | None = None
    """Names of its result's columns as the script spells them."""
    fractions: tuple[int | None, ...] = ()
    """The digits behind the seconds of its result's dates and times, of which PostgreSQL tells nothing
    where they are no columns of a table."""


@dataclass(frozen=True, slots=True)
class Select:
    """A top-level ``SELECT call`` whose only result is what the function does."""

    call: Expr
    returns_rows: bool = False
    """The value is a result that the script asks for."""


@dataclass(frozen=True, slots=True)
class Do:
    """``DO $tag$ … $tag$``."""

    body: Block
    tag: str = "batch"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a routine."""

    name: str
    type: str
    mode: str = "IN"
    default: Expr | None = None


@dataclass(frozen=True, slots=True)
class Routine:
    """``CREATE OR REPLACE PROCEDURE|FUNCTION``; ``returns`` is None for a procedure.

    ``sql_body``: the query of a LANGUAGE sql function instead of a block.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Block | None
    tag: str
    returns: str | None = None
    replace: bool = True
    attributes: tuple[str, ...] = ()
    sql_body: n.Node | None = None
    preface: tuple[Comment, ...] = field(default=())


TopLevel = Plain | Select | Do | Routine | Comment
