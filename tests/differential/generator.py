"""Random small T-SQL programs: a few procedures and the batches that call them.

The same seed gives the same program. What the programs do is weighted towards the
places where the rules meet: errors in transactions in TRY blocks in procedures in
loops. Loops and jumps are bounded by counters, so nearly every program ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from . import syntax as s
from .expressions import Scope
from .features import TRANSACTIONS, Features

LABEL_JUMPS = 2
SAVEPOINTS = ("sp1", "sp2")


class Statements(Features):
    """The statements that every program may use."""

    def statement(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        # What may end the batch comes mostly where somebody may catch it.
        risk = 1.0 if scope.tries or scope.in_procedure else 0.25
        weights: list[tuple[float, Callable[[Scope, int, int], Iterator[s.Stmt]]]] = [
            (12, self.some_print),
            (7, self.assignment),
            (18, self.write),
            (6, self.raiserror),
            (5 * risk, self.failing_assignment),
            (4 * risk, self.throw),
            (9, self.transaction),
            (1.5 * risk, self.option),
            (2, self.rows),
            (2 * risk, self.missing),
            (1.5, self.declare),
        ]
        if scope.callees:
            weights.append((10, self.call))
        if scope.loops:
            weights.append((3, self.leave_loop))
        if depth < 4 and budget > 2:
            weights += [
                (6, self.if_else),
                (4, self.loop),
                (9, self.try_catch),
                (1, self.block),
                (1.5, self.string),
                (6, self.transaction_block),
                (9, self.guarded_transaction),
                (4, self.savepoint),
            ]
        if depth:
            weights.append((1.5, self.return_now))
        if scope.catches:
            weights += [(5, self.rethrow), (9, self.transaction), (6, self.some_print)]
        if scope.table_variable is not None:
            weights.append((4, self.write_variable))
        if scope.temporary is not None:
            weights.append((6, self.write_temporary))
        if scope.handle is not None:
            weights += [(9, self.send), (6, self.receive), (3, self.end_conversation)]
            if depth < 4 and budget > 2:
                weights.append((8, self.service_loop))
        if "cursors" in self.features and scope.ints:
            weights.append((0.7, self.odd_cursor))
            if depth < 4 and budget > 2:
                weights.append((5, self.cursor_loop))
        total = sum(weight for weight, _ in weights)
        pick = self.random.random() * total
        for weight, make in weights:
            pick -= weight
            if pick <= 0:
                yield from make(scope, budget, depth)
                return

    def some_print(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        yield self.print(scope)

    def assignment(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        if scope.texts and self.chance(0.25):
            yield s.SetVar(self.random.choice(scope.texts), self.text_expr(scope))
            return
        if not scope.ints:
            yield self.print(scope)
            return
        name = self.random.choice(scope.ints)
        pick = self.random.random()
        if pick < 0.4:
            yield s.SetVar(name, self.int_expr(scope))
        elif pick < 0.6:
            yield s.SetVar(name, s.Fn(self.random.choice(["@@ERROR", "@@ROWCOUNT", "@@TRANCOUNT"])))
        elif pick < 0.75:
            targets: list[tuple[str, s.Expr]] = [(name, s.Fn("@@ERROR"))]
            other = self.random.choice(scope.ints)
            if other != name:
                targets.append((other, s.Fn("@@ROWCOUNT")))
            yield s.SelectVars(targets)
        else:
            table, column = self.random.choice([("t1", "v"), ("t2", "n")])
            yield s.SelectVars([(name, s.Column(column))], table, self.by_key(scope))

    def declare(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """A DECLARE in the middle: its variable is known from here on in the text."""
        scope.counters += 1
        name = f"@d{scope.counters}"
        init = self.int_expr(scope, 1) if self.chance(0.6) else None
        yield s.Declare(name, s.INT, init)
        scope.ints.append(name)
        if self.chance(0.5):
            yield s.SetVar(name, s.Bin("+", s.IsNull(s.Var(name), s.Const(0)), s.Const(1)))
            yield s.Print(s.Concat([self.tag(), s.Var(name)]))

    def failing_assignment(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        if scope.ints:
            name = self.random.choice(scope.ints)
            yield (
                s.SetVar(name, self.failing_expr(scope))
                if self.chance(0.7)
                else s.SelectVars([(name, self.failing_expr(scope))])
            )
            yield from self.look(scope)

    def new_row(self, scope: Scope, table: str) -> list[s.Expr]:
        key = self.key(scope)
        if table == "t2":
            number: s.Expr = s.Const(None) if self.chance(0.12) else self.int_expr(scope)
            return [key, number, self.text_expr(scope)]
        pick = self.random.random()
        value: s.Expr = s.Const(self.random.randint(0, 99))
        if pick < 0.15:
            value = s.Const(self.random.choice([100, 150]))
        elif pick < 0.25:
            value = s.Const(None)
        elif pick < 0.35:
            value = self.failing_expr(scope)
        text: s.Expr = self.text_expr(scope)
        if self.chance(0.06):
            text = s.Const("a text too long")
        elif self.chance(0.06):
            text = s.Const(None)
        return [key, value, text]

    def write(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        table = self.random.choice(["t1", "t1", "t2"])
        columns = {"t1": ["id", "v", "s"], "t2": ["id", "n", "w"]}[table]
        pick = self.random.random()
        if pick < 0.65:
            rows = [self.new_row(scope, table) for _ in range(2 if self.chance(0.2) else 1)]
            yield s.Insert(table, columns, rows)
        elif pick < 0.85:
            if self.chance(0.15):
                yield s.Update(table, [("id", self.key(scope))], self.by_key(scope))
            else:
                value = (
                    self.failing_expr(scope, "id")
                    if self.chance(0.5 if "branches" in self.features else 0.15)
                    else s.Bin("+", s.Column(columns[1]), s.Const(self.random.choice([1, 30, 90])))
                )
                yield s.Update(table, [(columns[1], value)], self.by_key(scope) if self.chance(0.7) else None)
        else:
            yield s.Delete(table, self.by_key(scope) if self.chance(0.7) else None)
        yield from self.look(scope)

    def rows(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        pick = self.random.random()
        if pick < 0.3:
            yield s.SelectRows([s.Fn("@@TRANCOUNT"), s.Fn("@@ERROR")])
        elif pick < 0.5:
            yield s.SelectRows([s.Scalar("count", "t1"), s.Scalar("sum", "t2", None, "n")])
        else:
            table, column = self.random.choice([("t1", "v"), ("t2", "n")])
            yield s.SelectRows(
                [s.Column("id"), s.Column(column)], table, self.by_key(scope) if self.chance(0.5) else None
            )

    def missing(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """Objects that do not exist: 208 and 2812, when reached."""
        pick = self.random.random()
        if pick < 0.4:
            yield s.Exec("no_such_procedure", [])
        elif pick < 0.7 or not scope.ints:
            yield s.Insert("no_such_table", ["id"], [[s.Const(1)]])
        else:
            yield s.SetVar(self.random.choice(scope.ints), s.Scalar("count", "no_such_table"))

    def raiserror(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        severity = self.random.choice([0, 1, 10, 11, 13, 14, 15, 16, 16, 16, 17, 18])
        message = f"raised {self.tags}"
        args: list[s.Expr] = []
        if self.chance(0.3):
            message += " %d %s"
            args = [s.Const(self.random.randint(0, 99)), s.Const("arg")]
        self.tags += 1
        yield s.Raiserror(s.Const(message), severity, self.random.randint(1, 9), args)
        yield from self.look(scope)

    def throw(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        self.error_numbers += 1
        yield s.Throw(
            s.Const(50000 + self.error_numbers),
            s.Const(f"thrown {self.error_numbers}"),
            s.Const(self.random.randint(0, 9)),
        )

    def rethrow(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        if self.chance(0.3):
            yield s.If(self.condition(scope), [s.Throw()])
        else:
            yield s.Throw()

    def transaction(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        pick = self.random.random()
        if pick < 0.40:
            yield self.begin()
        elif pick < 0.62:
            yield s.Commit() if self.chance(0.3) else self.when_open(s.Commit())
        elif pick < 0.82:
            yield s.Rollback() if self.chance(0.25) else self.when_open(s.Rollback())
        elif pick < 0.90:
            save = s.Save(self.random.choice(SAVEPOINTS))
            yield save if self.chance(0.1) else self.when_open(save)
        else:
            back = s.Rollback(self.random.choice([*SAVEPOINTS, *SAVEPOINTS, *TRANSACTIONS]))
            yield back if self.chance(0.15) else self.when_open(back)

    def transaction_block(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """BEGIN TRANSACTION … COMMIT, flat."""
        yield self.begin()
        yield from self.body(scope, max(2, budget // 2), depth + 1)
        if self.chance(0.9):
            yield self.end_of_transaction()

    def guarded_transaction(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """The shape of real service programs: a transaction in TRY, a decision in CATCH."""
        scope.tries += 1
        body = self.body(scope, max(2, budget // 2), depth + 1)
        if self.chance(0.5):
            more = [self.write, self.failing_assignment, self.raiserror, self.throw, self.write]
            body += self.random.choice(more)(scope, 1, depth + 1)
        scope.tries -= 1
        scope.catches += 1
        handler = self.body(scope, max(1, budget // 4), depth + 1) if self.chance(0.6) else []
        scope.catches -= 1
        if self.chance(0.6):
            handler.insert(0, self.show_error())
        if self.chance(0.15):
            name = self.random.choice(SAVEPOINTS)
            body.insert(0, s.Save(name))
            handler.append(s.Rollback(name))
        if self.chance(0.75):
            handler.append(self.when_open(s.Rollback()))
        if self.chance(0.3):
            handler.append(self.when_open(s.Commit()))
        if self.chance(0.25):
            handler.append(s.Throw())
        begin, end = self.begin(), self.end_of_transaction()
        if self.chance(0.5):
            yield s.Try([begin, *body, end], handler)
        elif self.chance(0.6):
            yield begin
            yield s.Try([*body, end], handler)
        else:
            yield begin
            yield s.Try(body, handler)
            yield end

    def savepoint(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """SAVE TRANSACTION, work, perhaps back."""
        name = self.random.choice(SAVEPOINTS)
        if self.chance(0.5):
            yield self.begin()
        yield self.when_open(s.Save(name))
        yield from self.body(scope, max(1, budget // 3), depth + 1)
        yield self.when_open(s.Rollback(name))

    def option(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        yield s.SetOption("XACT_ABORT" if self.chance(0.8) else "NOCOUNT", self.chance(0.5))

    def call(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        procedure = self.random.choice(scope.callees)
        args: list[s.Argument] = []
        named = self.chance(0.2)
        for param in procedure.params:
            names = scope.texts if param.type.is_text else scope.ints
            if param.has_default and self.chance(0.4):
                named = True
                continue
            if param.has_default and self.chance(0.05):
                break
            if self.chance(0.015) and not param.output:
                named = True  # 201: the parameter is missing
                continue
            name = param.name if named else None
            if names and (param.output or self.chance(0.5)):
                output = param.output and self.chance(0.85)
                args.append(s.Argument(s.Var(self.random.choice(names)), output, name))
            else:
                text, number = self.random.choice(["a", "bc"]), self.random.randint(0, 9)
                args.append(s.Argument(s.Const(text if param.type.is_text else number), False, name))
        if not named and self.chance(0.01):
            args.append(s.Argument(s.Const(1)))  # 8144: one too many
        result = None
        if scope.ints and procedure.returns and self.chance(0.6):
            result = self.random.choice(scope.ints)
            if any(isinstance(arg.value, s.Var) and arg.output and arg.value.name == result for arg in args):
                result = None
        yield s.Exec(procedure.name, args, result)
        if result is not None and self.chance(0.5):
            yield s.Print(s.Concat([self.tag(), s.Var(result), s.Const(" "), s.Fn("@@ERROR")]))
        else:
            yield from self.look(scope)

    def leave_loop(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        leave = s.Break() if self.chance(0.5) else s.Continue()
        yield s.If(self.condition(scope), [leave]) if self.chance(0.7) else leave

    def return_now(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        value = None
        if scope.in_procedure and (scope.returns or self.chance(0.3)):
            value = (
                s.Const(self.random.randint(0, 9))
                if self.chance(0.8) or not scope.ints
                else s.IsNull(s.Var(self.random.choice(scope.ints)), s.Const(7))
            )
        if scope.returns and value is None:
            value = s.Const(1)
        leave = s.Return(value)
        yield s.If(self.condition(scope), [leave]) if self.chance(0.8) else leave

    def if_else(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        cond = self.condition(scope)
        then = self.body(scope, max(1, budget // 3), depth + 1)
        otherwise = self.body(scope, max(1, budget // 3), depth + 1) if self.chance(0.4) else None
        yield s.If(cond, then, otherwise)

    def loop(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        counter = scope.counter(None)
        yield s.SetVar(counter, s.Const(0))
        scope.loops += 1
        body = self.body(scope, max(1, budget // 2), depth + 1)
        scope.loops -= 1
        step = s.SetVar(counter, s.Bin("+", s.Var(counter), s.Const(1)))
        yield s.While(s.Compare("<", s.Var(counter), s.Const(self.random.randint(1, 3))), [step, *body])

    def try_catch(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        scope.tries += 1
        body = self.body(scope, max(2, budget // 2), depth + 1)
        scope.tries -= 1
        scope.catches += 1
        handler = [] if self.chance(0.06) else self.body(scope, max(2, budget // 3), depth + 1)
        scope.catches -= 1
        if handler and self.chance(0.4):
            handler.insert(0, self.show_error())
        yield s.Try(body, handler)

    def block(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        yield s.Block(self.body(scope, max(1, budget // 2), depth + 1))

    def string(self, scope: Scope, budget: int, depth: int) -> Iterator[s.Stmt]:
        """EXEC (N'…') sees no variables of ours, sp_executesql those that it is given."""
        inner = Scope(callees=scope.callees if self.chance(0.5) else [])
        params: list[s.Param] = []
        args: list[s.Argument] = []
        if "sp_executesql" in self.features and scope.ints and self.chance(0.6):
            for name in ("@x", "@y")[: self.random.randint(1, 2)]:
                output = self.chance(0.5)
                variable = output or self.chance(0.5)
                value = (
                    s.Var(self.random.choice(scope.ints)) if variable else s.Const(self.random.randint(0, 9))
                )
                params.append(s.Param(name, s.INT, output=output))
                args.append(s.Argument(value, output and self.chance(0.85), name))
            inner.ints += [param.name for param in params]
        for _ in range(20):
            body = self.body(inner, self.random.randint(1, 3), 4)
            if not inner.declared:
                break
        yield s.ExecText(body, params, args)
        yield from self.look(scope)


class Generator(Statements):
    """Whole programs."""

    def jumps(self, scope: Scope, body: list[s.Stmt]) -> None:
        """Put a label and a bounded GOTO to it at two places between which GOTO may go."""
        places: list[tuple[list[s.Stmt], tuple[int, ...]]] = []

        def collect(statements: list[s.Stmt], inside: tuple[int, ...]) -> None:
            places.append((statements, inside))
            for stmt in statements:
                match stmt:
                    case s.If(_, then, otherwise):
                        collect(then, inside)
                        if otherwise is not None:
                            collect(otherwise, inside)
                    case s.While(_, inner) | s.Block(inner):
                        collect(inner, inside)
                    case s.Try(tried, handler):
                        collect(tried, (*inside, id(tried)))
                        if handler:
                            collect(handler, (*inside, id(handler)))

        collect(body, ())
        for number in range(1, self.random.choice([1, 1, 1, 2]) + 1):
            to, to_inside = self.random.choice(places) if self.chance(0.4) else places[0]
            allowed = [statements for statements, inside in places if inside[: len(to_inside)] == to_inside]
            source = self.random.choice(allowed)
            counter = scope.counter()
            name = f"here{number}"
            jump = s.If(
                s.Compare("<", s.Var(counter), s.Const(self.random.randint(1, LABEL_JUMPS))),
                [s.SetVar(counter, s.Bin("+", s.Var(counter), s.Const(1))), s.Goto(name)],
            )
            source.insert(self.random.randint(0, len(source)), jump)
            to.insert(self.random.randint(0, len(to)), s.Label(name))

    def unit(self, scope: Scope, budget: int, unit: str) -> list[s.Stmt]:
        """The statements of a procedure or batch, its declarations first."""
        head: list[s.Stmt] = []
        for name in ("@a", "@b"):
            if self.chance(0.8):
                value = s.Const(self.random.randint(0, 5)) if self.chance(0.7) else None
                head.append(s.Declare(name, s.INT, value))
                scope.ints.append(name)
        if self.chance(0.35):
            init = s.Const(self.random.choice(["a", "bc", "12", "abc"])) if self.chance(0.7) else None
            head.append(s.Declare("@s", s.Type(self.random.choice([3, 20])), init))
            scope.texts.append("@s")
        if self.chance(0.2):
            scope.table_variable = "@tv"
            head.append(
                s.DeclareTable(
                    "@tv",
                    [s.ColumnDef("id", s.INT, nullable=False, primary_key=True), s.ColumnDef("n", s.INT)],
                )
            )
        if "conversations" in self.features and self.chance(0.6):
            scope.handle = "@h"
            head += [s.Declare("@h", s.HANDLE), s.Declare("@mt", s.Type(128)), s.Declare("@mb", s.Type(20))]
            scope.texts += ["@mb"]
            if self.chance(0.6):
                for _ in range(self.random.choice([1, 1, 2])):
                    head.append(s.BeginDialog("@h"))
                    head += [s.Send("@h", self.tag()) for _ in range(self.random.randint(1, 3))]
        if "temporary tables" in self.features and self.chance(0.5):
            scope.temporary = f"#tmp_{unit}"
            key = s.ColumnDef("id", s.INT, nullable=False, primary_key=True)
            create = s.CreateTemp(scope.temporary, [key, s.ColumnDef("n", s.INT)])
            head.append(create if self.chance(0.7) else s.If(self.condition(scope), [create]))
        if self.chance(0.2 if scope.in_procedure else 0.4):
            head.append(s.SetOption("XACT_ABORT", self.chance(0.7)))
        if self.chance(0.3):
            head.append(s.SetOption("NOCOUNT", True))
        body = self.body(scope, budget)
        if self.chance(0.15):
            self.jumps(scope, body)
        if self.chance(0.6):
            parts: list[s.Expr] = [self.tag()]
            for name in (*sorted(set(scope.ints)), *scope.texts):
                parts += [s.Var(name), s.Const(" ")]
            body.append(s.Print(s.Concat([*parts, s.Fn("@@TRANCOUNT")])))
        if scope.returns:
            body.append(s.Return(s.Const(self.random.randint(0, 9))))
        return [*scope.declared, *head, *body]

    def function(self, name: str) -> s.Function:
        """A scalar function; it may divide by zero or read a table."""
        parameter = s.Var("@x")
        scope = Scope(ints=["@x", "@r"], in_function=True)
        body: list[s.Stmt] = [s.Declare("@r", s.INT, s.Const(self.random.randint(0, 3)))]
        if self.chance(0.6):
            early = s.Return(
                s.Bin(
                    self.random.choice("+-/"),
                    s.Const(10),
                    s.Bin("-", parameter, s.Const(self.random.randint(0, 3))),
                )
            )
            limit = s.Const(self.random.randint(0, 4))
            body.append(s.If(s.Compare(self.random.choice("<>="), parameter, limit), [early]))
        if self.chance(0.4):
            step = s.SetVar("@r", s.Bin("+", s.Var("@r"), s.Const(self.random.randint(1, 3))))
            leave = s.If(s.Compare(">", s.Var("@r"), s.Const(self.random.randint(3, 9))), [s.Break()])
            inner: list[s.Stmt] = [step, leave] if self.chance(0.5) else [step]
            body.append(s.While(s.Compare("<", s.Var("@r"), s.Const(self.random.randint(4, 12))), inner))
        if self.chance(0.4):
            where = s.Compare("=", s.Column("id"), parameter)
            body.append(s.SelectVars([("@r", s.Column("n"))], "t2", where))
        if self.chance(0.3):
            body.append(s.SetVar("@r", self.failing_expr(scope)))
        result = s.Bin("+", s.IsNull(s.Var("@r"), s.Const(-1)), s.IsNull(parameter, s.Const(0)))
        body.append(s.Return(result))
        return s.Function(name, [s.Param("@x", s.INT)], body)

    def procedure(self, name: str, callees: list[s.Procedure]) -> s.Procedure:
        scope = Scope(callees=callees, in_procedure=True, returns=self.chance(0.5))
        params: list[s.Param] = []
        if self.chance(0.5):
            default = self.chance(0.2)
            params.append(s.Param("@p", s.INT, 3 if default else None, default))
            scope.ints.append("@p")
        if self.chance(0.4):
            params.append(s.Param("@out", s.INT, None, self.chance(0.3), output=True))
            scope.ints += ["@out", "@out"]
        if self.chance(0.2):
            params.append(s.Param("@q", s.Type(5)))
            scope.texts.append("@q")
        body = self.unit(scope, self.random.randint(2, self.size), name)
        return s.Procedure(name, params, body, scope.returns)

    def program(self) -> s.Program:
        if "functions" in self.features:
            for number in range(1, self.random.choice([1, 1, 2]) + 1):
                self.functions.append(self.function(f"f{number}"))
        procedures: list[s.Procedure] = []
        for i in range(self.random.choice([0, 1, 1, 2, 2, 3]), 0, -1):
            # A later number calls an earlier one never: no recursion, no unbounded run.
            procedures.insert(0, self.procedure(f"p{i}", list(procedures)))
        if self.chance(0.5):
            procedures.reverse()
        batches = []
        for number in range(1, self.random.choice([1, 1, 1, 2, 2, 3]) + 1):
            scope = Scope(callees=list(procedures))
            batches.append(s.Batch(self.unit(scope, self.random.randint(3, self.size + 4), f"b{number}")))
        if self.chance(0.6):
            batches.append(closing_batch())
        triggers = [self.trigger("tr1")] if "triggers" in self.features and self.chance(0.6) else []
        terse = "terse" in self.features and self.chance(0.5)
        return s.Program(procedures, batches, self.functions, triggers, terse)

    def trigger(self, name: str) -> s.Trigger:
        """Looks at what changed, copies it, and sometimes objects."""
        event = self.random.choice(["INSERT", "INSERT", "UPDATE", "DELETE"])
        source = "deleted" if event == "DELETE" else "inserted"
        body: list[s.Stmt] = [s.SetOption("NOCOUNT", True)]
        if self.chance(0.6):
            # What PRINT may not ask for itself goes through a variable.
            body.append(s.Declare("@c", s.INT, s.Scalar("count", source)))
            body.append(s.Print(s.Concat([self.tag(), s.Var("@c")])))
        work: list[s.Stmt] = []
        if self.chance(0.7):
            key = s.Bin("+", s.Column("id"), s.Const(self.random.choice([0, 5, 10])))
            work.append(s.InsertSelect("t2", ["id", "n", "w"], [key, s.Column("v"), s.Column("s")], source))
        if self.chance(0.4):
            work.append(s.Update("t2", [("n", s.Bin("+", s.Column("n"), s.Const(1)))]))
        if self.chance(0.5):
            wrong: s.Stmt = (
                next(self.throw(Scope(), 1, 1))
                if self.chance(0.5)
                else s.Raiserror(s.Const("from the trigger"), self.random.choice([10, 14, 16]), 1)
            )
            limit = s.Compare(">", s.Column("v"), s.Const(self.random.choice([20, 50, 80])))
            work.append(s.If(s.Exists(source, limit), [wrong]))
        self.random.shuffle(work)
        body += work
        body.append(s.Print(self.tag()))
        return s.Trigger(name, "t1", event, body)


def closing_batch() -> s.Batch:
    """Shows @@TRANCOUNT and makes what is left of a transaction visible in the tables."""
    return s.Batch(
        [
            s.Print(s.Concat([s.Const("end "), s.Fn("@@TRANCOUNT"), s.Const(" "), s.Fn("XACT_STATE()")])),
            s.While(s.Compare(">", s.Fn("@@TRANCOUNT"), s.Const(0)), [s.Commit()]),
        ]
    )


FEATURES = frozenset(
    {
        "branches",
        "conversations",
        "cursors",
        "functions",
        "sp_executesql",
        "temporary tables",
        "terse",
        "triggers",
    }
)


def generate(random: Random, size: int = 10, features: frozenset[str] = frozenset()) -> s.Program:
    """A program. ``size``: about how many statements a procedure or batch has at most.

    ``features``: of :data:`FEATURES`, beyond what every program may use.
    """
    return Generator(random, size, features).program()


def numbered(seed: int, number: int, size: int = 10, features: frozenset[str] = frozenset()) -> s.Program:
    """Case ``number`` of the series ``seed`` (another series with other features)."""
    return generate(Random(f"{seed}/{number}"), size, features)
