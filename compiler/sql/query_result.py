"""What a translated query is, and the types its columns shall have."""

from __future__ import annotations

from ...grammar.records import dataclass, replace
from ..catalog import types as tm
from ..catalog.objects import ResultColumn
from ..target import nodes as n
from ..target import queries as q
from . import values as v
from .assignments import store
from .conversions import convert
from .precedence import differs_in_decimals
from .values import Value

NOTHING_SELECTED = q.Select((n.NULL,), breaks=q.Breaks.NEVER)
"""What a reported problem leaves behind in place of a query."""


@dataclass
class QueryTree:
    """A translated query: its tree, columns, and the select list's values.

    ``columns`` is None when a ``*`` could not be expanded.
    """

    code: n.Node
    columns: tuple[ResultColumn, ...] | None
    values: list[Value] | None = None
    one_row: bool = False
    """Aggregates without GROUP BY: exactly one row."""
    at_most_one: bool = False
    filtered: bool = False
    listed: bool = False
    """It has just these columns, whatever the tables have that it reads."""


@dataclass
class Targets:
    """Types that the columns of a query shall have.

    ``exact``: to the letter, as the parts of a recursive query need it.
    """

    types: list[tm.SqlType | None]
    exact: bool = False
    store: bool = False
    """The columns go into a table's columns: converted as an assignment is."""
    leading: bool = False
    """PostgreSQL takes the columns' types from the query: the first of UNION and the like, or DISTINCT."""
    rows: bool = False
    """Another query reads the rows, or a table is made of them: a column of NULL is an int, beyond ``types``,
    too, and one of a bit or xml has that type in PostgreSQL."""

    def convert(self, position: int, value: Value, *, sorted_by: bool = False) -> Value:
        """The value of the column at ``position``, converted; as it is where DISTINCT is ``sorted_by`` it."""
        wanted = self.types[position] if position < len(self.types) else None
        if self.rows and value.is_null:
            type_ = wanted or tm.INT
            return v.cast(value, type_.postgres, type_)
        if self.rows and not sorted_by:
            value = v.with_domain(value)
        if wanted is None or value.family == "boolean":
            return value
        if self.store:
            stored = store(value, wanted)
            # PostgreSQL makes text of a column whose rows are all literals or NULL.
            bare = stored.is_null or (stored is value and isinstance(value.constant, str))
            return convert(stored, wanted) if self.leading and bare and not wanted.is_string else stored
        if not self.exact:
            return convert(value, wanted) if mismatched(value, wanted) else value
        if (
            value.pg is None
            and value.type is not None
            and value.constant is None
            and value.type.postgres == wanted.postgres
            and not v.may_lose_domain(value)
            and (_has_one_spelling(wanted) or n.is_cast_to(value.code, wanted.postgres))
        ):
            return value
        if isinstance(value.constant, int) and wanted.name == "int":
            return value
        converted = (
            convert(value, wanted) if mismatched(value, wanted) else v.cast(value, wanted.postgres, wanted)
        )
        return replace(converted, type=wanted)


ROWS = Targets([], rows=True)
"""Of a query in FROM, WITH, a view or a function."""


def _has_one_spelling(type_: tm.SqlType) -> bool:
    """PostgreSQL gives every value of the type the same type: no function takes its length from it.

    A varchar(50) column passes for text everywhere else, and the result of a function has no precision.
    """
    return not type_.is_string and "(" not in type_.postgres


def mismatched(value: Value, type_: tm.SqlType | None) -> bool:
    """PostgreSQL would not find T-SQL's common type for this column by itself."""
    if value.is_null or value.type is None or type_ is None:
        return False
    if value.family == type_.family or (value.type.is_numeric and type_.is_numeric):
        return differs_in_decimals(value, type_)
    return not (value.type.is_datetime and type_.is_datetime)


@dataclass
class Shape:
    """The names and values of a query whose rows become XML."""

    names: list[str | None]
    values: list[Value]
    tables: list[str | None]
    """For AUTO: the element (table) that each column belongs to."""


def atom(value: Value) -> n.Node:
    """A value as FOR XML prints it."""
    code = value.code
    if value.is_null:
        code = n.Cast(code, "text")
    elif value.pg == "numeric" and value.type is not None and value.type.name == "bigint":
        code = n.Cast(code, "bigint")
    elif value.family == "xml":
        code = v.with_domain(value).code
    return n.Call("sys.xml_atom", (code, *v.shown_decimals(value)))
