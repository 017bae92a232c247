"""T-SQL's rules of control flow, errors and transactions, in plain Python.

For the tests only, and independent of the product: nothing here imports pgsb. A
procedure or batch is flattened to a list of steps with jumps; each step knows
statically which TRY blocks and which CATCH blocks enclose it, so an error looks for
its handler along the steps of the call stack and GOTO needs no special case.

Every rule names its page of Microsoft's reference (MicrosoftDocs/sql-docs,
docs/t-sql/…). Where the pages are silent the interpreter raises
:class:`~.rules.Doubtful` and the case is left out, or the docstring says what was
decided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import rules
from . import syntax as s
from .engine import Engine
from .evaluation import Frame, TableValue
from .flat import Step, flatten
from .rows import RowStatements
from .rules import Doubtful, Ends, Error, Fault, Limit, Raised
from .trace import Message, Printed, Row, Trace

MAX_STEPS = 4000

Snapshot = tuple[dict[str, TableValue], Engine]


@dataclass(frozen=True)
class Savepoint:
    """A place to roll back to, and the procedure, string or batch that set it."""

    name: str
    snapshot: Snapshot
    frame: Frame


class TooLong(Exception):
    """The program ran past MAX_STEPS: it may not end."""


class BatchEnds(Exception):
    """The batch is over."""


class Machine(RowStatements):
    """A session that runs the batches of one program."""

    def __init__(self, program: s.Program, *, max_steps: int = MAX_STEPS, limits: bool = False) -> None:
        super().__init__()
        self.limits = limits
        self.program = program
        self.functions = {function.name: function for function in program.functions}
        self.function_codes = {each.name: flatten(each.name, each.body) for each in program.functions}
        self.procedures = {proc.name: proc for proc in program.procedures}
        self.codes = {proc.name: flatten(proc.name, proc.body) for proc in program.procedures}
        self.transaction_name: str | None = None
        self.engine = Engine()
        self.before: Snapshot = ({}, self.engine)
        self.savepoints: list[Savepoint] = []
        self.overtaken: set[str] = set()  # savepoints whose names first stand behind that of a later SAVE
        self.steps_left = max_steps
        self.ghosts = False  # a table older than the transaction went with its procedure inside it
        self.cut_short = False  # an error ended a procedure or the batch
        self.covered: set[str] = set()

    # -- running ------------------------------------------------------------------

    def run(self) -> Trace:
        """Run every batch. Raises Doubtful or TooLong where the case decides nothing."""
        trace = Trace()
        for number, batch in enumerate(self.program.batches, 1):
            self.events = []
            self.stack = [Frame(flatten(None, batch.body))]
            self.last_error = self.rowcount = None
            self.cut_short = False
            try:
                self.execute()
            except BatchEnds:
                self.cut_short = True
                while len(self.stack) > 1:
                    self.drop_frame()
            if self.cut_short and self.trancount and not self.doomed and number < len(self.program.batches):
                self.limit("a transaction left open by a batch or procedure that an error ended")
            self.end_of_batch()
            trace.batches.append(self.events)
        # The client goes; what it left open is rolled back.
        self.roll_back()
        trace.tables = {
            name: sorted((dict(row) for row in table.rows), key=lambda row: row["id"])
            for name, table in self.tables.items()
            if not name.startswith("#")
        }
        for name, queue in self.engine.queues.items():
            trace.tables[name] = [{"type": each.type, "body": each.body} for each in queue]
        trace.trancount = self.trancount
        return trace

    def limit(self, what: str) -> None:
        """Give up where the product is known to differ, when asked for."""
        if self.limits:
            raise Limit(what)

    def end_of_batch(self) -> None:
        """XACT_STATE page: an uncommittable transaction is rolled back when the batch ends (3998).

        Decided: also when the batch ended by an error (THROW out of CATCH with
        XACT_ABORT OFF) that did not roll back itself.
        """
        if self.doomed:
            self.send(self.place(rules.doomed_at_end(), None, 1))
            self.roll_back()

    def execute(self) -> None:
        while self.stack:
            self.steps_left -= 1
            if self.steps_left < 0:
                raise TooLong
            frame = self.stack[-1]
            if frame.pc >= len(frame.code.steps):
                self.leave(frame)
                continue
            step = frame.code.steps[frame.pc]
            frame.pc += 1
            try:
                self.perform(frame, step)
            except Raised as raised:
                if step.kind == "jump unless" and raised.fault.ends is Ends.STATEMENT:
                    self.refuse_resumption(step)
                line = step.stmt.line if step.stmt is not None else 0
                if raised.elsewhere:
                    line = -1
                changes = isinstance(step.stmt, s.Insert | s.InsertSelect | s.Update | s.Delete)
                error = raised.placed or self.place(raised.fault, frame.code.name, line)
                of_trigger = raised.placed is not None and raised.fault.ends is Ends.STATEMENT
                self.fail(error, frame, changes_rows=changes, of_trigger=of_trigger)

    def refuse_resumption(self, step: Step) -> None:
        """No page says where an IF or WHILE goes on whose condition failed and was not caught."""
        if not self.xact_abort and self.handler(skip_top=False) is None:
            raise Doubtful("a failing condition outside TRY")

    def perform(self, frame: Frame, step: Step) -> None:
        if step.kind == "jump":
            frame.pc = step.target
            return
        stmt = step.stmt
        assert stmt is not None
        if step.kind == "jump unless":
            assert isinstance(stmt, (s.If, s.While))
            truth = self.condition(stmt.cond, {})
            # @@ROWCOUNT and @@ERROR pages: every statement sets them, IF included.
            self.done(0)
            if truth is not True:
                frame.pc = step.target
            return
        self.statement(frame, stmt)

    # -- errors -------------------------------------------------------------------

    def place(self, fault: Fault, procedure: str | None, line: int) -> Error:
        return Error(fault.number, fault.severity, fault.state, fault.message, fault.ends, procedure, line)

    def send(self, error: Error) -> None:
        self.events.append(
            Message(error.number, error.severity, error.state, error.procedure, error.line, error.message)
        )

    def handler(self, skip_top: bool) -> tuple[int, int] | None:
        """The nearest active TRY: (depth in the stack, TRY). TRY...CATCH page: also a caller's.

        ``skip_top``: not those of the frame in which the error arose (208: "not handled
        at the same level of execution").
        """
        depth = len(self.stack) - (2 if skip_top else 1)
        while depth >= 0:
            frame = self.stack[depth]
            tries = frame.code.steps[frame.pc - 1].tries if frame.pc > 0 else ()
            if tries:
                return depth, tries[-1]
            depth -= 1
        return None

    def fail(
        self, error: Error, frame: Frame, *, changes_rows: bool = False, of_trigger: bool = False
    ) -> None:
        """Send ``error``, raised in the top frame, where it belongs.

        ``of_trigger``: it would have ended a statement, but left a trigger: it ends both, and more.
        """
        frame.faulted = True
        self.covered.add(f"error {error.number}")
        found = self.handler(skip_top=error.ends is Ends.SCOPE)
        self.last_error = error.number
        self.rowcount = 0
        if found is not None:
            self.catch(error, *found)
            return
        self.send(error)
        if error.ends is Ends.NOTHING:
            return
        if error.ends is Ends.SCOPE:
            # SET XACT_ABORT page: compile errors are not affected by it.
            self.covered.add("scope ended")
            self.leave_scope(frame, error)
            return
        if error.ends is Ends.ROLLBACK or self.xact_abort:
            self.covered.add("batch and transaction ended")
            if changes_rows and of_trigger and not self.xact_abort:
                self.events.append(Printed("The statement has been terminated."))
            self.roll_back()
            raise BatchEnds
        if error.ends is Ends.BATCH:
            # THROW page: without TRY the batch ends; nothing there rolls back.
            self.covered.add("batch ended, transaction kept")
            raise BatchEnds
        if changes_rows and error.number != 3930:
            # Message 3621. A doomed transaction (3930) does not let the statement begin.
            self.events.append(Printed("The statement has been terminated."))

    def catch(self, error: Error, depth: int, number: int) -> None:
        """Control goes to a CATCH block.

        SET XACT_ABORT page with TRY...CATCH page: what would have ended the transaction
        outside TRY dooms it inside. Decided: with XACT_ABORT ON that is every error. The
        pages' note that RAISERROR does not honour XACT_ABORT speaks of execution going on
        after it outside TRY; the project's source documents say that caught it dooms.
        """
        if self.trancount and (error.ends is Ends.ROLLBACK or self.xact_abort):
            self.doomed = True
            self.covered.add("doomed")
        while len(self.stack) - 1 > depth:
            self.drop_frame()
            self.cut_short = True
            self.covered.add("caught from a called procedure")
        frame = self.stack[depth]
        frame.faulted = True
        frame.caught[number] = error
        frame.pc = frame.code.handlers[number]

    # -- calls --------------------------------------------------------------------

    def call(self, frame: Frame, stmt: s.Exec) -> None:
        """EXECUTE page. A missing procedure (2812) fails the EXEC, in the caller."""
        procedure = self.procedures.get(stmt.procedure)
        if procedure is None:
            raise Raised(rules.no_such_procedure(f"dbo.{stmt.procedure}"))
        if len(self.stack) > 32:
            # The callee refuses: whose line that is no page says.
            raise Raised(rules.nested_too_deep(), elsewhere=True)
        inner = Frame(
            self.codes[procedure.name],
            call=stmt,
            procedure=procedure,
            entry_trancount=self.trancount,
            options=(self.xact_abort, self.nocount),
        )
        given: dict[str, s.Value] = {}
        for i, arg in enumerate(stmt.args):
            if arg.name is None and i >= len(procedure.params):
                fault = rules.too_many_arguments(procedure.name, len(procedure.params))
                self.fail(self.place(fault, procedure.name, 0), frame)
                return
            param = (
                procedure.params[i]
                if arg.name is None
                else next(each for each in procedure.params if each.name == arg.name)
            )
            value = self.value(arg.value, {})
            if param.type.is_text != isinstance(value, str) and value is not None:
                raise Doubtful("an argument of another type than its parameter")
            given[param.name] = self.fit(value, param.type)
        for param in procedure.params:
            if param.name not in given and not param.has_default:
                # Its procedure is the callee, line 0; the EXEC fails like a statement.
                fault = rules.parameter_missing(procedure.name, param.name)
                self.fail(self.place(fault, procedure.name, 0), frame)
                return
            inner.types[param.name] = param.type
            inner.variables[param.name] = given.get(param.name, self.fit(param.default, param.type))
        self.covered.add(f"call at depth {len(self.stack)}")
        self.stack.append(inner)

    def leave(self, frame: Frame, status: int = 0, returned: bool = False) -> None:
        """A frame ends normally: OUTPUT parameters and the return status go to the caller.

        RETURN page: 0 unless told. SET Statements page: options set inside are undone.
        """
        if len(self.stack) == 1:
            self.stack.pop()
            return
        self.drop_frame()
        caller = self.stack[-1]
        if frame.call is not None and frame.procedure is not None:
            if frame.call.result is not None:
                if frame.faulted and not returned:
                    raise Doubtful("the status of a procedure that had an error and no RETURN n")
                caller.variables[frame.call.result] = status
            for i, arg in enumerate(frame.call.args):
                param = (
                    frame.procedure.params[i]
                    if arg.name is None
                    else next(each for each in frame.procedure.params if each.name == arg.name)
                )
                if arg.output and param.output:
                    assert isinstance(arg.value, s.Var)
                    name = arg.value.name
                    caller.variables[name] = self.fit(frame.variables[param.name], caller.types[name])
            self.check_count(frame, 0)
            return
        if self.trancount != frame.entry_trancount:
            raise Doubtful("another @@TRANCOUNT after EXEC of a string")
        assert frame.text is not None
        for arg, param in zip(frame.text.args, frame.text.params, strict=True):
            if arg.output and isinstance(arg.value, s.Var):
                caller.variables[arg.value.name] = self.fit(
                    frame.variables[param.name], caller.types[arg.value.name]
                )

    def drop_frame(self) -> None:
        """However a scope ends: its options and its temporary tables end with it."""
        frame = self.stack.pop()
        self.xact_abort, self.nocount = frame.options
        for name in frame.temporary:
            if self.tables.pop(name, None) is not None and self.trancount and name in self.before[0]:
                self.ghosts = True

    def call_function(self, name: str, args: list[s.Value]) -> s.Value:
        """CREATE FUNCTION page. An error inside ends the statement that called it.

        No page says whose line and name such an error carries.
        """
        function = self.functions[name]
        frame = Frame(self.function_codes[name])
        for param, value in zip(function.params, args, strict=True):
            frame.types[param.name] = param.type
            frame.variables[param.name] = self.fit(value, param.type)
        self.stack.append(frame)
        before = self.last_error, self.rowcount
        try:
            while True:
                self.steps_left -= 1
                if self.steps_left < 0:
                    raise TooLong
                step = frame.code.steps[frame.pc]
                frame.pc += 1
                if isinstance(step.stmt, s.Return):
                    assert step.stmt.value is not None
                    return self.fit(self.value(step.stmt.value, {}), s.INT)
                self.perform(frame, step)
        except Raised as raised:
            raise Raised(raised.fault, elsewhere=True) from None
        finally:
            self.stack.pop()
            self.last_error, self.rowcount = before
            self.covered.add("function called")

    def fire(self, table: str, event: str, inserted: list[Row], deleted: list[Row]) -> None:
        """CREATE TRIGGER page; SET XACT_ABORT page: ON is the default in a trigger.

        An error that leaves the trigger undoes its statement, ends the batch and rolls back;
        with a TRY outside it goes there and dooms. Decided: RAISERROR without a TRY outside
        only sends its message, as everywhere.
        """
        for trigger in self.program.triggers:
            if (trigger.table, trigger.event) != (table, event):
                continue
            self.covered.add("trigger fired")
            columns = self.tables[table].columns
            frame = Frame(flatten(trigger.name, trigger.body), options=(self.xact_abort, self.nocount))
            frame.tables["inserted"] = TableValue(columns, inserted)
            frame.tables["deleted"] = TableValue(columns, deleted)
            tables = {name: list(each.rows) for name, each in self.tables.items() if name != table}
            self.stack.append(frame)
            self.xact_abort = True
            try:
                self.run_trigger(frame)
            except Raised:
                for name, rows in tables.items():
                    self.tables[name].rows = rows
                raise
            finally:
                self.drop_frame()

    def run_trigger(self, frame: Frame) -> None:
        while frame.pc < len(frame.code.steps):
            self.steps_left -= 1
            if self.steps_left < 0:
                raise TooLong
            step = frame.code.steps[frame.pc]
            frame.pc += 1
            try:
                self.perform(frame, step)
            except Raised as raised:
                assert step.stmt is not None
                error = self.place(raised.fault, frame.code.name, -1 if raised.elsewhere else step.stmt.line)
                if error.ends is Ends.NOTHING and self.handler(skip_top=False) is None:
                    self.send(error)
                    self.done(0)
                    continue
                error = replace(error, ends=Ends.ROLLBACK)
                raise Raised(raised.fault, placed=error) from None

    def check_count(self, frame: Frame, line: int) -> None:
        """266. ROLLBACK TRANSACTION page: informational, does not affect what follows.

        Decided: it is an error of severity 16 like others, so a caller's TRY catches it;
        with XACT_ABORT ON it is raised all the same (no page suppresses it).
        """
        if self.trancount != frame.entry_trancount:
            fault = rules.count_differs(frame.entry_trancount, self.trancount)
            self.fail(self.place(fault, frame.code.name, line), self.stack[-1])

    def leave_scope(self, frame: Frame, error: Error) -> None:
        """208 ends its procedure: nothing is handed back but @@ERROR."""
        if len(self.stack) == 1:
            raise BatchEnds
        self.drop_frame()
        self.cut_short = True
        self.stack[-1].faulted = True
        if frame.procedure is not None:
            self.check_count(frame, error.line)

    # -- transactions -------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        tables = {
            name: TableValue(table.columns, [dict(row) for row in table.rows])
            for name, table in self.tables.items()
        }
        return tables, self.engine.copy()

    def restore(self, snapshot: Snapshot) -> None:
        tables, engine = snapshot
        self.tables = {
            name: TableValue(table.columns, [dict(row) for row in table.rows])
            for name, table in tables.items()
        }
        handles = self.engine.handles
        self.engine = engine.copy()
        self.engine.handles = handles

    def roll_back(self) -> None:
        """ROLLBACK TRANSACTION page: all of it, from any depth; variables and table variables stay."""
        if self.trancount:
            if self.ghosts:
                raise Doubtful("a temporary table that its procedure's end dropped, rolled back")
            self.restore(self.before)
        self.trancount = 0
        self.doomed = False
        self.savepoints = []
        self.transaction_name = None

    def begin(self, name: str | None) -> None:
        """BEGIN TRANSACTION page: only the outermost name is registered.

        Decided: allowed while doomed, it writes nothing.
        """
        if self.trancount == 0:
            self.before = self.snapshot()
            self.ghosts = False
            self.transaction_name = name
            self.savepoints = []
        self.trancount += 1

    def commit(self) -> None:
        """COMMIT TRANSACTION page: counts down; at 1 it is real. 3902 without one."""
        if self.trancount == 0:
            raise Raised(rules.commit_without_begin())
        if self.doomed:
            raise Raised(rules.doomed())
        if self.trancount == 1:
            self.refuse_foreign_savepoint()
        self.trancount -= 1
        if self.trancount == 0:
            self.savepoints = []
            self.transaction_name = None
            self.covered.add("committed")

    def conversation(self, frame: Frame, stmt: s.Stmt) -> None:
        """SEND, RECEIVE and the like write; TRY...CATCH page: not in a doomed transaction.

        WAITFOR page: alone in the session nothing comes while it waits. RECEIVE page: without
        a message the variables stay; with several the last one is in them.
        """
        if self.doomed:
            raise Raised(rules.doomed())
        count: int | None = None
        match stmt:
            case s.BeginDialog(name):
                frame.variables[name] = self.engine.begin()
            case s.Send(name, body):
                text = self.value(body, {})
                if text is None:
                    raise Doubtful("SEND of NULL")
                self.engine.send(frame.variables[name], str(text))
            case s.EndConversation(name):
                self.engine.end(frame.variables[name])
            case s.Receive():
                found = self.engine.receive(stmt.queue, stmt.top)
                for message in found:
                    frame.variables[stmt.handle] = message.handle
                    self.assign(frame, stmt.type, message.type)
                    self.assign(frame, stmt.body, message.body)
                count = len(found)
                self.covered.add(f"received {min(count, 2)}")
        self.done(count)

    def rollback(self, name: str | None) -> None:
        """ROLLBACK TRANSACTION and XACT_STATE pages: a doomed one cannot go back to a savepoint."""
        if self.trancount == 0:
            raise Raised(rules.rollback_without_begin())
        if name is None or name == self.transaction_name:
            if name is not None and any(each.name == name for each in self.savepoints):
                raise Doubtful("a savepoint named like the transaction")
            self.refuse_foreign_savepoint()
            self.roll_back()
            self.covered.add("rolled back")
            return
        places = [i for i, each in enumerate(self.savepoints) if each.name == name]
        if not places:
            if self.doomed:
                raise Doubtful("ROLLBACK TRAN to an unknown name while doomed")
            raise Raised(rules.no_such_savepoint(name))
        savepoint = self.savepoints[places[-1]]
        if savepoint.frame is not self.stack[-1]:
            self.limit("ROLLBACK to the savepoint of another procedure or batch")
        if savepoint.name in self.overtaken:
            self.limit("ROLLBACK to a savepoint after SAVE of a name that the text has before it")
        if self.doomed:
            raise Raised(rules.doomed_savepoint())
        self.restore(savepoint.snapshot)
        del self.savepoints[places[-1] + 1 :]
        self.covered.add("rolled back to a savepoint")

    def save(self, name: str) -> None:
        if self.trancount == 0:
            raise Raised(rules.save_without_begin())
        if self.doomed:
            raise Raised(rules.doomed())
        saves = [step.stmt.name for step in self.stack[-1].code.steps if isinstance(step.stmt, s.Save)]
        self.overtaken.discard(name)
        self.overtaken |= {each for each in saves if saves.index(each) > saves.index(name)}
        self.savepoints.append(Savepoint(name, self.snapshot(), self.stack[-1]))

    def refuse_foreign_savepoint(self) -> None:
        """A savepoint is a subtransaction of PostgreSQL, in which nobody can end the transaction."""
        if any(each.frame in self.stack[:-1] for each in self.savepoints):
            self.limit("the end of a transaction in a procedure called under the caller's savepoint")

    # -- statements ---------------------------------------------------------------

    def statement(self, frame: Frame, stmt: s.Stmt) -> None:
        match stmt:
            case s.Declare(name, type_, init):
                # DECLARE page: the variable is the batch's, the initialiser runs each time.
                if init is not None:
                    frame.variables[name] = self.fit(self.value(init, {}), type_)
                    self.done(1)
            case s.SetVar(name, value):
                self.assign(frame, name, self.value(value, {}))
                self.done(1)
            case s.SelectVars():
                self.select_variables(frame, stmt)
            case s.SelectRows():
                self.select_rows(frame, stmt)
            case s.Print(value):
                self.events.append(Printed(self.text(self.value(value, {}))))
                self.done(0)
            case s.Insert() | s.InsertSelect() | s.Update() | s.Delete():
                if self.doomed and stmt.table.startswith("#"):
                    self.limit("a temporary table written in a doomed transaction")
                self.modify(frame, stmt)
            case s.Return(value):
                self.do_return(frame, value)
            case s.Throw():
                self.throw(stmt)
            case s.Raiserror():
                self.raiserror(stmt)
            case s.BeginTran(name):
                self.begin(name)
                self.done(0)
            case s.Commit():
                self.commit()
                self.done(0)
            case s.Rollback(name):
                self.rollback(name)
                self.done(0)
            case s.Save(name):
                self.save(name)
                self.done(0)
            case s.SetOption(option, on):
                if option == "XACT_ABORT":
                    self.xact_abort = on
                else:
                    self.nocount = on
                self.done(0)
            case s.CreateTemp():
                self.create_temporary(frame, stmt)
            case s.DropTable(name):
                self.drop_table(name)
            case s.DeclareCursor() | s.OpenCursor() | s.Fetch() | s.CloseCursor() | s.Deallocate():
                self.cursor_statement(frame, stmt)
            case s.BeginDialog() | s.Send() | s.Receive() | s.EndConversation():
                self.conversation(frame, stmt)
            case s.Exec():
                self.call(frame, stmt)
            case s.ExecText(body):
                # EXECUTE page: a scope of its own; ERROR_PROCEDURE() is NULL there, lines
                # count inside the string.
                inner = Frame(
                    flatten(None, body),
                    entry_trancount=self.trancount,
                    options=(self.xact_abort, self.nocount),
                    text=stmt,
                )
                for param, arg in zip(stmt.params, stmt.args, strict=True):
                    inner.types[param.name] = param.type
                    inner.variables[param.name] = self.fit(self.value(arg.value, {}), param.type)
                self.stack.append(inner)
            case _:
                raise TypeError(stmt)

    def do_return(self, frame: Frame, value: s.Expr | None) -> None:
        """RETURN page; @@ROWCOUNT page: RETURN sets it to 1."""
        status = 0 if value is None else self.value(value, {})
        if not isinstance(status, int):
            raise Doubtful("RETURN of NULL")
        self.done(1)
        self.leave(frame, status, value is not None)

    def throw(self, stmt: s.Throw) -> None:
        """THROW page: severity 16, its own line; without arguments the caught error as it was."""
        if stmt.number is None:
            error = self.current_error()
            assert error is not None
            self.covered.add("rethrown")
            self.fail(replace(error, ends=Ends.BATCH), self.stack[-1])
            return
        assert stmt.message is not None and stmt.state is not None
        number, message, state = (self.value(each, {}) for each in (stmt.number, stmt.message, stmt.state))
        if not isinstance(number, int) or not isinstance(message, str) or not isinstance(state, int):
            raise Doubtful("THROW with NULL")
        raise Raised(Fault(number, 16, state, message, Ends.BATCH))

    def raiserror(self, stmt: s.Raiserror) -> None:
        """RAISERROR page: up to 10 a message, @@ERROR 0; from 11 an error 50000 that ends nothing."""
        message = self.value(stmt.message, {})
        if not isinstance(message, str):
            raise Doubtful("RAISERROR of NULL")
        for arg in stmt.args:
            value = self.value(arg, {})
            if value is None:
                raise Doubtful("RAISERROR with a NULL argument")
            message = message.replace("%d" if isinstance(value, int) else "%s", str(value), 1)
        if stmt.severity <= 10:
            self.events.append(Printed(message))
            self.done(0)
            return
        raise Raised(Fault(50000, stmt.severity, stmt.state, message, Ends.NOTHING))


def run(program: s.Program, *, limits: bool = False) -> Trace:
    """The trace that SQL Server's rules give. The program must have been rendered (lines).

    ``limits``: raise Limit where the product documents that it differs.
    """
    return Machine(program, limits=limits).run()
