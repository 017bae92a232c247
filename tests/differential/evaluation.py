"""Values, conditions and rows: what a session's expressions see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from . import rules
from . import syntax as s
from .flat import Code
from .render import table_name
from .rules import Doubtful, Error, Raised
from .trace import Row

INT_MAX, INT_MIN = 2**31 - 1, -(2**31)


@dataclass
class TableValue:
    """A table's definition and rows; rows keep the order of insertion."""

    columns: tuple[s.ColumnDef, ...]
    rows: list[Row] = field(default_factory=list)


@dataclass
class Cursor:
    """A local static cursor: its rows while it is open, and the place of the current one."""

    definition: s.DeclareCursor
    rows: list[list[s.Value]] | None = None
    place: int = -1


@dataclass(eq=False)
class Frame:
    """One running procedure, EXEC string or batch."""

    code: Code
    variables: dict[str, s.Value] = field(default_factory=dict)
    types: dict[str, s.Type] = field(default_factory=dict)
    tables: dict[str, TableValue] = field(default_factory=dict)
    pc: int = 0
    caught: dict[int, Error] = field(default_factory=dict)  # TRY → the error its CATCH handles
    call: s.Exec | None = None
    text: s.ExecText | None = None
    procedure: s.Procedure | None = None
    entry_trancount: int = 0
    options: tuple[bool, bool] = (False, False)  # the caller's XACT_ABORT and NOCOUNT
    status: int | None = None
    faulted: bool = False
    temporary: set[str] = field(default_factory=set)
    cursors: dict[str, Cursor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, type_ in self.code.variables.items():
            self.types[name] = type_
            self.variables[name] = None
        for name, columns in self.code.tables.items():
            self.tables[name] = TableValue(columns)


class Session(ABC):
    """The state that outlives a statement, and how expressions read it."""

    def __init__(self) -> None:
        self.tables = {table.name: TableValue(table.columns) for table in s.TABLES}
        self.stack: list[Frame] = []
        self.trancount = 0
        self.doomed = False
        self.last_error: int | None = None  # None: nobody may read it now
        self.rowcount: int | None = None
        self.fetch_status: int | None = None

    def current_error(self) -> Error | None:
        """What ERROR_NUMBER() and its family speak of.

        TRY...CATCH page: the error of the inmost CATCH around the call, also from a
        procedure called there; NULL outside.
        """
        for frame in reversed(self.stack):
            catches = frame.code.steps[frame.pc - 1].catches
            if catches:
                return frame.caught[catches[-1]]
        return None

    def find_table(self, frame: Frame, name: str) -> TableValue:
        """Deferred name resolution: 208 when the statement is reached."""
        table = frame.tables.get(name, self.tables.get(name))
        if table is None:
            raise Raised(rules.no_such_object(table_name(name)))
        return table

    def matching(self, frame: Frame, name: str, where: s.Cond | None) -> list[Row]:
        table = self.find_table(frame, name)
        rows = sorted(table.rows, key=lambda row: row["id"])
        return [row for row in rows if where is None or self.condition(where, row) is True]

    def fit(self, value: s.Value, type_: s.Type) -> s.Value:
        """Assignment to a variable or parameter: nvarchar(n) cuts silently, int takes text that is a number.

        "Data type conversion" page and nvarchar page.
        """
        if value is None or type_.length == 0:
            return value
        if type_.length is not None:
            return str(value)[: type_.length]
        return value if isinstance(value, int) else self.to_int(value)

    def to_int(self, value: str) -> int:
        """CAST and CONVERT page; the empty string is 0."""
        text = value.strip(" ")
        if text == "":
            return 0
        digits = text[1:] if text[0] in "+-" else text
        if not (digits.isascii() and digits.isdigit()):
            raise Raised(rules.conversion(value))
        return self.in_range(int(text))

    def in_range(self, number: int) -> int:
        if not INT_MIN <= number <= INT_MAX:
            raise Raised(rules.overflow())
        return number

    def text(self, value: s.Value) -> str:
        if value is None:
            raise Doubtful("PRINT of NULL")
        return str(value)

    def value(self, expr: s.Expr, row: Row) -> s.Value:
        frame = self.stack[-1]
        match expr:
            case s.Const(value):
                return value
            case s.Var(name):
                return frame.variables[name]
            case s.Column(name):
                return row[name]
            case s.Fn(name):
                return self.function(name)
            case s.Concat(parts):
                values = [self.value(part, row) for part in parts]
                return "".join("" if value is None else str(value) for value in values)
            case s.IsNull(value, default):
                inner = self.value(value, row)
                return self.value(default, row) if inner is None else inner
            case s.Case(condition, value, otherwise):
                # CASE page: the branch that is not chosen is not computed.
                return self.value(value if self.condition(condition, row) is True else otherwise, row)
            case s.Cast(value, type_):
                return self.fit(self.value(value, row), type_)
            case s.Bin(op, left, right):
                return self.arithmetic(op, self.value(left, row), self.value(right, row))
            case s.Call(name, args):
                return self.call_function(name, [self.value(arg, row) for arg in args])
            case s.Scalar(what, table, where, column):
                return self.scalar(what, self.matching(frame, table, where), column)
        raise TypeError(expr)

    @abstractmethod
    def call_function(self, name: str, args: list[s.Value]) -> s.Value:
        """The value of a scalar function of the program."""

    def scalar(self, what: str, rows: list[Row], column: str | None) -> s.Value:
        if what == "count":
            return len(rows)
        assert column is not None
        if what == "column":
            if len(rows) > 1:
                raise Doubtful("a subquery of several rows")
            return rows[0][column] if rows else None
        values = [value for row in rows if isinstance(value := row[column], int)]
        if not values:
            return None
        if what == "sum":
            return self.in_range(sum(values))
        return max(values) if what == "max" else min(values)

    def arithmetic(self, op: str, left: s.Value, right: s.Value) -> s.Value:
        if left is None or right is None:
            if op in "/%" and right == 0:
                raise Doubtful("NULL divided by zero")
            return None
        if isinstance(left, str) and isinstance(right, str):
            if op != "+":
                raise TypeError(op)
            return left + right
        if not isinstance(left, int) or not isinstance(right, int):
            raise Doubtful("arithmetic on text")
        if op == "+":
            return self.in_range(left + right)
        if op == "-":
            return self.in_range(left - right)
        if op == "*":
            return self.in_range(left * right)
        if right == 0:
            raise Raised(rules.divide_by_zero())
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return self.in_range(quotient) if op == "/" else left - quotient * right

    def function(self, name: str) -> s.Value:
        match name:
            case "@@ERROR" | "@@ROWCOUNT":
                value = self.last_error if name == "@@ERROR" else self.rowcount
                if value is None:
                    raise Doubtful(f"{name} before any statement of the batch")
                return value
            case "@@TRANCOUNT":
                return self.trancount
            case "@@FETCH_STATUS":
                if self.fetch_status is None:
                    raise Doubtful("@@FETCH_STATUS without a good FETCH")
                return self.fetch_status
            case "XACT_STATE()":
                # XACT_STATE page.
                return -1 if self.doomed else min(self.trancount, 1)
        error = self.current_error()
        if error is None:
            return None
        match name:
            case "ERROR_NUMBER()":
                return error.number
            case "ERROR_SEVERITY()":
                return error.severity
            case "ERROR_STATE()":
                return error.state
            case "ERROR_LINE()" | "ERROR_PROCEDURE()":
                if error.line < 0:
                    raise Doubtful("the place of an error inside a function")
                return error.line if name == "ERROR_LINE()" else error.procedure
            case "ERROR_MESSAGE()":
                if error.number not in rules.EXACT_TEXT and error.number < 50000:
                    raise Doubtful("a text that names the server's own objects")
                return error.message
        raise TypeError(name)

    def condition(self, cond: s.Cond, row: Row) -> bool | None:
        match cond:
            case s.Compare(op, left, right):
                return compare(op, self.value(left, row), self.value(right, row))
            case s.NullTest(value, negated):
                return (self.value(value, row) is None) != negated
            case s.Not(inner):
                truth = self.condition(inner, row)
                return None if truth is None else not truth
            case s.Logic(op, left, right):
                one, two = self.condition(left, row), self.condition(right, row)
                if op == "AND":
                    return False if one is False or two is False else (None if None in (one, two) else True)
                return True if one is True or two is True else (None if None in (one, two) else False)
            case s.Exists(table, where):
                return bool(self.matching(self.stack[-1], table, where))
        raise TypeError(cond)


def compare(op: str, left: s.Value, right: s.Value) -> bool | None:
    """NULL makes it unknown."""
    if left is None or right is None:
        return None
    if isinstance(left, str) != isinstance(right, str):
        raise Doubtful("a number compared with text")
    a: s.Value = left.rstrip(" ").lower() if isinstance(left, str) else left
    b: s.Value = right.rstrip(" ").lower() if isinstance(right, str) else right
    answers: dict[str, bool] = {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    return answers[op]
