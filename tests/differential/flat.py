"""Statements → a flat list of steps with jumps.

Each step knows which TRY and which CATCH blocks enclose it, so an error looks for
its handler along the steps of the call stack, and GOTO needs no special case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from . import syntax as s

Kind = Literal["do", "jump", "jump unless"]


@dataclass(eq=False)
class Step:
    """One instruction. ``tries`` and ``catches`` name the enclosing blocks, inmost last."""

    stmt: s.Stmt | None
    tries: tuple[int, ...]
    catches: tuple[int, ...]
    kind: Kind = "do"
    target: int = -1


@dataclass
class Code:
    """The flattened body of a procedure, batch or EXEC string."""

    name: str | None
    steps: list[Step] = field(default_factory=list)
    handlers: dict[int, int] = field(default_factory=dict)  # TRY → first step of its CATCH
    labels: dict[str, int] = field(default_factory=dict)
    variables: dict[str, s.Type] = field(default_factory=dict)
    tables: dict[str, tuple[s.ColumnDef, ...]] = field(default_factory=dict)


class Flattener:
    """Statements → :class:`Code`."""

    def __init__(self, name: str | None) -> None:
        self.code = Code(name)
        self.tries: tuple[int, ...] = ()
        self.catches: tuple[int, ...] = ()
        self.loops: list[tuple[int, list[Step]]] = []

    def step(self, stmt: s.Stmt | None, kind: Kind = "do", target: int = -1) -> Step:
        step = Step(stmt, self.tries, self.catches, kind, target)
        self.code.steps.append(step)
        return step

    @property
    def here(self) -> int:
        return len(self.code.steps)

    def body(self, statements: list[s.Stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, stmt: s.Stmt) -> None:
        match stmt:
            case s.Block(body):
                self.body(body)
            case s.If(_, then, otherwise):
                skip = self.step(stmt, "jump unless")
                self.body(then)
                if otherwise is not None:
                    done = self.step(None, "jump")
                    skip.target = self.here
                    self.body(otherwise)
                    done.target = self.here
                else:
                    skip.target = self.here
            case s.While(_, body):
                start = self.here
                leave = self.step(stmt, "jump unless")
                breaks: list[Step] = []
                self.loops.append((start, breaks))
                self.body(body)
                self.loops.pop()
                self.step(None, "jump", start)
                for each in (leave, *breaks):
                    each.target = self.here
            case s.Break():
                self.loops[-1][1].append(self.step(None, "jump"))
            case s.Continue():
                self.step(None, "jump", self.loops[-1][0])
            case s.Label(name):
                self.code.labels[name] = self.here
            case s.Try(body, handler):
                number = len(self.code.handlers)
                self.code.handlers[number] = -1
                self.tries += (number,)
                self.body(body)
                self.tries = self.tries[:-1]
                done = self.step(None, "jump")
                self.code.handlers[number] = self.here
                self.catches += (number,)
                self.body(handler)
                if not handler:
                    # A place to be in while the error functions are in scope.
                    self.step(None, "jump", self.here + 1)
                self.catches = self.catches[:-1]
                done.target = self.here
            case s.Goto():
                self.step(stmt, "jump")
            case s.Declare(name, type_):
                # DECLARE @local_variable page: the scope is the batch or procedure.
                self.code.variables[name] = type_
                self.step(stmt)
            case s.DeclareTable(name, columns):
                self.code.tables[name] = tuple(columns)
            case _:
                self.step(stmt)

    def finish(self) -> Code:
        for step in self.code.steps:
            if isinstance(step.stmt, s.Goto):
                step.target = self.code.labels[step.stmt.label]
        return self.code


def flatten(name: str | None, body: list[s.Stmt]) -> Code:
    """The flat code of a body; ``name`` is what ERROR_PROCEDURE() says."""
    flattener = Flattener(name)
    flattener.body(body)
    return flattener.finish()
