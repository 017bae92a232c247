"""Random values and conditions over what a procedure or batch has in scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from . import syntax as s

KEYS = (1, 2, 3, 4, 5)


@dataclass
class Scope:
    """What the statements of one procedure or batch may use."""

    ints: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    table_variable: str | None = None
    callees: list[s.Procedure] = field(default_factory=list)
    returns: bool = False  # every RETURN says a number
    in_procedure: bool = False
    in_function: bool = False
    loops: int = 0  # lexical depth, for BREAK and CONTINUE
    catches: int = 0
    tries: int = 0
    counters: int = 0
    declared: list[s.Stmt] = field(default_factory=list)
    temporary: str | None = None
    handle: str | None = None
    cursors: list[int] = field(default_factory=list)  # of each cursor the number of its columns

    def counter(self, init: int | None = 0) -> str:
        self.counters += 1
        name = f"@i{self.counters}"
        self.declared.append(s.Declare(name, s.INT, None if init is None else s.Const(init)))
        return name


class Expressions:
    """Choices, values and conditions from one source of randomness."""

    def __init__(self, random: Random, size: int = 10, features: frozenset[str] = frozenset()) -> None:
        self.random = random
        self.size = size
        self.features = features
        self.functions: list[s.Function] = []
        self.tags = 0
        self.error_numbers = 0

    # -- small choices ------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def tag(self) -> s.Const:
        self.tags += 1
        return s.Const(f"m{self.tags} ")

    def key(self, scope: Scope) -> s.Expr:
        if scope.ints and self.chance(0.15):
            return s.Var(self.random.choice(scope.ints))
        return s.Const(self.random.choice(KEYS))

    # -- expressions --------------------------------------------------------------

    def int_expr(self, scope: Scope, depth: int = 0) -> s.Expr:
        """An integer expression that rarely fails."""
        pick = self.random.random()
        if pick < 0.35 or depth > 1:
            return s.Const(self.random.randint(-2, 9))
        if pick < 0.65 and scope.ints:
            return s.Var(self.random.choice(scope.ints))
        if self.functions and self.chance(0.2):
            function = self.random.choice(self.functions)
            return s.Call(function.name, [self.int_expr(scope, depth + 1) for _ in function.params])
        if pick < 0.75:
            op = self.random.choice("+-*")
            return s.Bin(op, self.int_expr(scope, depth + 1), self.int_expr(scope, depth + 1))
        if pick < 0.82:
            return s.IsNull(self.int_expr(scope, depth + 1), s.Const(self.random.randint(0, 3)))
        if pick < 0.92:
            return self.scalar(scope)
        state = s.Fn(self.random.choice(["@@TRANCOUNT", "XACT_STATE()", "@@TRANCOUNT"]))
        return s.Const(4) if scope.in_function else state

    def scalar(self, scope: Scope) -> s.Expr:
        table = self.random.choice(["t1", "t2"])
        pick = self.random.random()
        if pick < 0.5:
            return s.Scalar("count", table)
        column = {"t1": "v", "t2": "n"}[table]
        if pick < 0.7:
            return s.Scalar("column", table, self.by_key(scope), column)
        return s.Scalar(self.random.choice(["sum", "max", "min"]), table, None, column)

    def failing_expr(self, scope: Scope, column: str | None = None) -> s.Expr:
        """Fails, or may fail: division by zero, conversion, overflow; in a branch of CASE, too.

        ``column``: an integer of the rows for which it is computed.
        """
        if "branches" in self.features and self.chance(0.6):
            condition: s.Cond = s.Compare("<", self.int_expr(scope, 1), self.int_expr(scope, 1))
            if not scope.in_function:  # which knows nothing of its caller's transaction
                condition = self.condition(scope)
            if column is not None and self.chance(0.7):
                bound = s.Const(self.random.randint(-1, 6))
                condition = s.Compare(self.random.choice(["<", ">", "="]), s.Column(column), bound)
            values = [self.always_failing_expr(scope), self.int_expr(scope, 1)]
            self.random.shuffle(values)
            return s.Case(condition, *values)
        return self.always_failing_expr(scope)

    def always_failing_expr(self, scope: Scope) -> s.Expr:
        """Fails, or may fail, wherever it stands."""
        pick = self.random.random()
        if pick < 0.4:
            zero = (
                s.Const(0)
                if self.chance(0.6) or not scope.ints
                else s.Bin("-", s.Var(name := self.random.choice(scope.ints)), s.Var(name))
            )
            return s.Bin(self.random.choice("//%"), s.Const(self.random.randint(1, 9)), zero)
        if pick < 0.75:
            value: s.Expr = s.Const(self.random.choice(["abc", "x1", "12", "1.5"]))
            if scope.texts and self.chance(0.4):
                value = s.Var(self.random.choice(scope.texts))
            return s.Cast(value, s.INT)
        if pick < 0.85:
            return s.Bin("+", s.Const(2**31 - 1), s.Const(self.random.randint(0, 2)))
        return s.Bin("/", s.Const(10), self.int_expr(scope))

    def text_expr(self, scope: Scope) -> s.Expr:
        if scope.texts and self.chance(0.3):
            return s.Var(self.random.choice(scope.texts))
        if self.chance(0.3):
            return s.Concat([s.Const(self.random.choice("abc")), self.int_expr(scope, 1)])
        return s.Const(self.random.choice(["a", "bc", "def", "it's", ""]))

    def state_parts(self, scope: Scope) -> list[s.Expr]:
        """What a PRINT may show of variables and of the session's state (no subqueries there: 1046)."""
        choices: list[Callable[[], s.Expr]] = [
            lambda: s.Fn("@@TRANCOUNT"),
            lambda: s.Fn("XACT_STATE()"),
            lambda: s.Fn("@@ERROR"),
            lambda: s.Fn("@@ROWCOUNT"),
        ]
        if scope.ints:
            choices += [lambda: s.Var(self.random.choice(scope.ints))] * 2
        if scope.texts:
            choices.append(lambda: s.Var(self.random.choice(scope.texts)))
        if scope.catches or self.chance(0.1):
            choices += [
                lambda: s.Fn(
                    self.random.choice(
                        [
                            "ERROR_NUMBER()",
                            "ERROR_NUMBER()",
                            "ERROR_LINE()",
                            "ERROR_SEVERITY()",
                            "ERROR_STATE()",
                            "ERROR_PROCEDURE()",
                        ]
                    )
                )
            ] * 4
            if self.chance(0.1):
                choices.append(lambda: s.Fn("ERROR_MESSAGE()"))
        parts: list[s.Expr] = []
        for i in range(self.random.randint(1, 3)):
            if i:
                parts.append(s.Const(" "))
            parts.append(self.random.choice(choices)())
        return parts

    # -- conditions ---------------------------------------------------------------

    def by_key(self, scope: Scope) -> s.Cond:
        return s.Compare("=", s.Column("id"), self.key(scope))

    def compare(self, operators: list[str], function: str, values: list[int]) -> s.Cond:
        return s.Compare(self.random.choice(operators), s.Fn(function), s.Const(self.random.choice(values)))

    def condition(self, scope: Scope) -> s.Cond:
        pick = self.random.random()
        if pick < 0.25:
            return self.compare([">", "=", "<>"], "@@TRANCOUNT", [0, 0, 1])
        if pick < 0.4:
            return self.compare(["=", "<>"], "XACT_STATE()", [-1, 0, 1])
        if pick < 0.55:
            return self.compare(["=", "<>", "<>"], "@@ERROR", [0, 0, 0, 2627, 50000])
        if pick < 0.6:
            return self.compare(["="], "@@ROWCOUNT", [0, 1])
        if pick < 0.68:
            where = self.by_key(scope) if self.chance(0.7) else None
            return s.Exists(self.random.choice(["t1", "t2"]), where)
        if pick < 0.74 and scope.ints:
            return s.NullTest(s.Var(self.random.choice(scope.ints)), self.chance(0.5))
        if pick < 0.78 and scope.texts:
            name = self.random.choice(scope.texts)
            return s.Compare("=", s.Var(name), s.Const(self.random.choice(["a", "bc"])))
        if pick < 0.84:
            return s.Logic(self.random.choice(["AND", "OR"]), self.condition(scope), self.condition(scope))
        if pick < 0.88:
            return s.Not(self.condition(scope))
        op = self.random.choice(["=", "<", ">", "<>", "<=", ">="])
        return s.Compare(op, self.int_expr(scope, 1), self.int_expr(scope, 1))
