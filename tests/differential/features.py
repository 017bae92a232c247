"""Statements that only some series of programs use: cursors, temporary tables, conversations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from . import syntax as s
from .engine import END_DIALOG
from .expressions import Expressions, Scope

TRANSACTIONS = ("tran1", "tran2")


class Pieces(Expressions, ABC):
    """Statements of one line, and what every larger piece is made of."""

    @abstractmethod
    def statement(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """One statement, or a few that belong together."""

    def body(self, scope: Scope, budget: int, depth: int = 0) -> list[s.Stmt]:
        """Some statements; never none."""
        statements: list[s.Stmt] = []
        while budget > 0:
            made = list(self.statement(scope, budget, depth))
            statements += made
            budget -= sum(1 for each in made for node in s.walk(each) if isinstance(node, s.Stmt))
            if depth and self.chance(0.2):
                break
        return statements or [self.print(scope)]

    def print(self, scope: Scope) -> s.Stmt:
        return s.Print(s.Concat([self.tag(), *self.state_parts(scope)]))

    def look(self, scope: Scope) -> Iterator[s.Stmt]:
        """Sometimes read @@ERROR and @@ROWCOUNT right away."""
        pick = self.random.random()
        if pick < 0.25:
            yield s.Print(s.Concat([self.tag(), s.Fn("@@ERROR"), s.Const(" "), s.Fn("@@ROWCOUNT")]))
        elif pick < 0.35:
            yield s.If(
                s.Compare("<>", s.Fn("@@ERROR"), s.Const(0)),
                [s.Rollback() if self.chance(0.4) else self.print(scope)],
            )

    def begin(self) -> s.Stmt:
        return s.BeginTran(self.random.choice(TRANSACTIONS) if self.chance(0.15) else None)

    def when_open(self, stmt: s.Stmt) -> s.Stmt:
        """IF there is a transaction (of some state) …"""
        function, op, value = self.random.choice(
            [
                ("@@TRANCOUNT", ">", 0),
                ("@@TRANCOUNT", ">", 0),
                ("@@TRANCOUNT", "=", 1),
                ("XACT_STATE()", "=", -1),
                ("XACT_STATE()", "<>", 0),
                ("XACT_STATE()", "=", 1),
            ]
        )
        return s.If(s.Compare(op, s.Fn(function), s.Const(value)), [stmt])

    def end_of_transaction(self) -> s.Stmt:
        end: s.Stmt = s.Commit() if self.chance(0.7) else s.Rollback()
        return end if self.chance(0.6) else self.when_open(end)

    def show_error(self) -> s.Stmt:
        return s.Print(
            s.Concat(
                [
                    self.tag(),
                    s.Fn("ERROR_NUMBER()"),
                    s.Const(" "),
                    s.Fn("XACT_STATE()"),
                    s.Const(" "),
                    s.Fn("@@ERROR"),
                    s.Const(" "),
                    s.Fn("ERROR_LINE()"),
                ]
            )
        )


class Features(Pieces):
    """The statements of the features."""

    def write_variable(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        assert scope.table_variable is not None
        if self.chance(0.8):
            yield s.Insert(scope.table_variable, ["id", "n"], [[self.key(scope), self.int_expr(scope, 1)]])
            yield from self.look(scope)
        else:
            yield s.Delete(scope.table_variable, self.by_key(scope))
        if self.chance(0.3):
            yield s.SelectRows([s.Column("id"), s.Column("n")], scope.table_variable)

    def write_temporary(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        assert scope.temporary is not None
        pick = self.random.random()
        if pick < 0.6:
            yield s.Insert(scope.temporary, ["id", "n"], [[self.key(scope), self.int_expr(scope)]])
        elif pick < 0.75:
            yield s.Update(scope.temporary, [("n", self.int_expr(scope, 1))], self.by_key(scope))
        elif pick < 0.95:
            yield s.SelectRows([s.Column("id"), s.Column("n")], scope.temporary)
            return
        else:
            yield s.DropTable(scope.temporary)
        yield from self.look(scope)

    def cursor_loop(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """The usual loop over a cursor, which may lose its end to an error."""
        name = f"cur{len(scope.cursors) + 1}"
        table = self.random.choice(["t1", "t2"])
        columns = ["id"]
        into = [self.random.choice(scope.ints)]
        others = sorted(set(scope.ints) - set(into))
        if others and self.chance(0.5):
            columns.append({"t1": "v", "t2": "n"}[table])
            into.append(self.random.choice(others))
        limit = s.Compare("<", s.Column("id"), s.Const(self.random.randint(2, 5)))
        where = limit if self.chance(0.4) else None
        scope.cursors.append(len(columns))
        yield s.DeclareCursor(name, columns, table, where)
        yield s.OpenCursor(name)
        fetch = s.Fetch("NEXT", name, into)
        if self.chance(0.8):
            loops, scope.loops = scope.loops, 0  # no CONTINUE past the FETCH
            body = self.body(scope, max(1, budget // 3), depth + 1)
            scope.loops = loops
            yield fetch
            yield s.While(
                s.Compare("=", s.Fn("@@FETCH_STATUS"), s.Const(0)), [*body, s.Fetch("NEXT", name, list(into))]
            )
        else:
            yield s.Fetch(self.random.choice(["FIRST", "LAST", "NEXT"]), name, into)
            yield s.Print(s.Concat([self.tag(), s.Fn("@@FETCH_STATUS"), s.Const(" "), s.Var(into[0])]))
            yield s.Fetch(self.random.choice(["PRIOR", "LAST", "NEXT"]), name, list(into))
            yield s.Print(s.Concat([self.tag(), s.Fn("@@FETCH_STATUS"), s.Const(" "), s.Var(into[0])]))
        if self.chance(0.9):
            yield s.CloseCursor(name)
        if self.chance(0.9):
            yield s.Deallocate(name)

    def odd_cursor(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """A cursor statement out of place."""
        number = self.random.randint(1, max(1, len(scope.cursors)))
        name = f"cur{number}"
        choices: list[s.Stmt] = [s.OpenCursor(name), s.CloseCursor(name), s.Deallocate(name)]
        ints = sorted(set(scope.ints))
        if scope.cursors and len(ints) >= scope.cursors[number - 1]:
            choices.append(s.Fetch("NEXT", name, self.random.sample(ints, scope.cursors[number - 1])))
        yield self.random.choice(choices)

    def send(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """SEND, in a new dialog if there is none yet."""
        assert scope.handle is not None
        if self.chance(0.5):
            yield s.If(s.NullTest(s.Var(scope.handle)), [s.BeginDialog(scope.handle)])
        elif self.chance(0.3):
            yield s.BeginDialog(scope.handle)
        body = s.Concat([s.Const("b"), self.int_expr(scope, 2)]) if self.chance(0.4) else self.tag()
        send = s.Send(scope.handle, body)
        yield send if self.chance(0.2) else s.If(s.NullTest(s.Var(scope.handle), True), [send])

    def receive_one(self, scope: Scope) -> s.Receive:
        assert scope.handle is not None
        return s.Receive(
            self.random.choice(["q1", "q2", "q2"]),
            scope.handle,
            "@mt",
            "@mb",
            self.random.choice([1, 1, 2, None]),
            self.random.choice([None, 0, 0, 3]),
        )

    def receive(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        yield self.receive_one(scope)
        yield s.Print(
            s.Concat([self.tag(), s.Fn("@@ROWCOUNT"), s.Const(" "), s.Var("@mt"), s.Const(" "), s.Var("@mb")])
        )

    def end_conversation(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        assert scope.handle is not None
        yield s.If(s.NullTest(s.Var(scope.handle), True), [s.EndConversation(scope.handle)])
        yield s.SetVar(scope.handle, s.Const(None))

    def service_loop(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """The shape of a service program: receive, decide by message type, commit."""
        assert scope.handle is not None
        counter = scope.counter(None)
        got = scope.counter(None)
        yield s.SetVar(counter, s.Const(0))
        begin, end = self.begin(), self.end_of_transaction()
        scope.loops += 1
        work = self.body(scope, max(1, budget // 3), depth + 1)
        scope.loops -= 1
        receive = self.receive_one(scope)
        loop: list[s.Stmt] = [
            s.SetVar(counter, s.Bin("+", s.Var(counter), s.Const(1))),
            begin,
            receive,
            s.SelectVars([(got, s.Fn("@@ROWCOUNT"))]),
            s.If(s.Compare("=", s.Var(got), s.Const(0)), [self.end_of_transaction(), s.Break()]),
            s.If(s.Compare("=", s.Var("@mt"), s.Const(END_DIALOG)), [s.EndConversation(scope.handle)], work),
            end,
        ]
        if self.chance(0.5):
            handler: list[s.Stmt] = [self.show_error(), self.when_open(s.Rollback())]
            loop = [loop[0], s.Try(loop[1:], handler)]
        yield s.While(s.Compare("<", s.Var(counter), s.Const(self.random.randint(2, 4))), loop)
