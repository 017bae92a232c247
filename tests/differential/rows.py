"""SELECT, INSERT, UPDATE and DELETE on small tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from . import rules
from . import syntax as s
from .evaluation import Cursor, Frame, Session, TableValue
from .render import table_name
from .rules import Doubtful, Ends, Fault, Raised
from .trace import Affected, Event, Row, Rows


def may_fail(stmt: s.Update) -> bool:
    return any(
        isinstance(node, s.Cast | s.Call) or (isinstance(node, s.Bin) and node.op in "/%*+-")
        for _, value in stmt.sets
        if not isinstance(value, s.Bin) or not columns_only(value)
        for node in s.walk(value)
    )


def columns_only(value: s.Bin) -> bool:
    """Such as n + 1: nothing that could be computed before a row is there."""
    return isinstance(value.left, s.Column) and isinstance(value.right, s.Const)


Change = s.Insert | s.InsertSelect | s.Update | s.Delete


class RowStatements(Session):
    """A session that can read and write rows."""

    def __init__(self) -> None:
        super().__init__()
        self.nocount = False
        self.xact_abort = False
        self.events: list[Event] = []

    def done(self, rowcount: int | None) -> None:
        """A statement ended well. @@ERROR page: cleared by each statement."""
        self.last_error = 0
        self.rowcount = rowcount

    def assign(self, frame: Frame, name: str, value: s.Value) -> None:
        frame.variables[name] = self.fit(value, frame.types[name])

    def select_variables(self, frame: Frame, stmt: s.SelectVars) -> None:
        """SELECT @local_variable page: no row, no assignment; @@ROWCOUNT is the rows read."""
        if stmt.table is None:
            for name, value in stmt.targets:
                self.assign(frame, name, self.value(value, {}))
            self.done(1)
            return
        rows = self.matching(frame, stmt.table, stmt.where)
        if len(rows) > 1:
            raise Doubtful("SELECT @v = … over several rows in no order")
        for row in rows:
            for name, value in stmt.targets:
                self.assign(frame, name, self.value(value, row))
        self.done(len(rows))

    def select_rows(self, frame: Frame, stmt: s.SelectRows) -> None:
        rows: list[Row] = [{}] if stmt.table is None else self.matching(frame, stmt.table, stmt.where)
        result = tuple(tuple(self.value(value, row) for value in stmt.values) for row in rows)
        self.events.append(Rows(result))
        self.affected(len(result))

    def affected(self, count: int) -> None:
        """SET NOCOUNT page: the count goes to the client unless ON; @@ROWCOUNT is set either way."""
        if not self.nocount:
            self.events.append(Affected(count))
        self.done(count)

    @abstractmethod
    def fire(self, table: str, event: str, inserted: list[Row], deleted: list[Row]) -> None:
        """Run the triggers of a table; raises what leaves one."""

    def modify(self, frame: Frame, stmt: Change) -> None:
        """INSERT, UPDATE, DELETE: the whole statement or nothing of it.

        XACT_STATE page: no writes in a doomed transaction. The pages do not say which of
        several violations wins, nor whether writing nothing counts as writing.
        """
        table = self.find_table(frame, stmt.table)
        faults: dict[int, Raised] = {}
        try:
            new, inserted, deleted = self.new_rows(stmt, table, faults)
        except Raised as raised:
            if self.doomed and raised.fault.ends is not Ends.SCOPE:
                raise Doubtful("a write that fails before it writes, while doomed") from None
            raise
        if self.doomed:
            if stmt.table.startswith("@"):
                raise Doubtful("a table variable in a doomed transaction")
            if faults or not (inserted or deleted):
                raise Doubtful("a write that would fail or write nothing, while doomed")
            raise Raised(rules.doomed())
        if isinstance(stmt, s.Update) and not deleted and may_fail(stmt):
            raise Doubtful("an assignment that fails for no row: a constant may be computed all the same")
        if len(faults) > 1:
            raise Doubtful("two violations in one statement")
        for violation in faults.values():
            raise violation
        before, table.rows = table.rows, new
        try:
            self.fire(stmt.table, type(stmt).__name__.upper()[:6], inserted, deleted)
        except Raised:
            table.rows = before
            raise
        self.affected(max(len(inserted), len(deleted)))

    def new_rows(
        self, stmt: Change, table: TableValue, faults: dict[int, Raised]
    ) -> tuple[list[Row], list[Row], list[Row]]:
        """The rows as they would be, then inserted and deleted ones; collects what is wrong with them."""

        def assigned(row: Row, assignments: Iterable[tuple[str, s.Expr]], source: Row) -> bool:
            """Whether all values of a row could be computed."""
            good = True
            for name, value in assignments:
                try:
                    row[name] = self.value(value, source)
                except Raised as raised:
                    if raised.fault.ends is Ends.SCOPE:
                        raise
                    faults.setdefault(raised.fault.number, raised)
                    good = False
            return good

        rows = [dict(row) for row in table.rows]
        touched: list[Row] = []
        olds: list[Row] = []
        if isinstance(stmt, s.Insert | s.InsertSelect):
            lists = (
                [(values, {}) for values in stmt.rows]
                if isinstance(stmt, s.Insert)
                else [(stmt.values, row) for row in self.matching(self.stack[-1], stmt.source, None)]
            )
            for values, source in lists:
                row: Row = {column.name: None for column in table.columns}
                if assigned(row, zip(stmt.columns, values, strict=True), source):
                    rows.append(row)
                    touched.append(row)
        elif isinstance(stmt, s.Update):
            for row in rows:
                if stmt.where is None or self.condition(stmt.where, row) is True:
                    old = dict(row)
                    olds.append(old)
                    if assigned(row, stmt.sets, old):
                        touched.append(row)
        else:
            where = stmt.where
            kept = [row for row in rows if where is not None and self.condition(where, row) is not True]
            return kept, [], [row for row in rows if not any(row is each for each in kept)]
        self.check_rows(stmt, table, rows, touched, faults)
        return rows, touched, olds

    def check_rows(
        self,
        stmt: s.Insert | s.InsertSelect | s.Update,
        table: TableValue,
        rows: list[Row],
        touched: list[Row],
        faults: dict[int, Raised],
    ) -> None:
        def violates(fault: Fault) -> None:
            faults.setdefault(fault.number, Raised(fault))

        verb = "UPDATE" if isinstance(stmt, s.Update) else "INSERT"
        name = table_name(stmt.table)
        for row in touched:
            for column in table.columns:
                value = row[column.name]
                if value is None:
                    if not column.nullable or column.primary_key:
                        violates(rules.null_refused(verb, name, column.name))
                elif column.type.is_text:
                    if not isinstance(value, str):
                        value = row[column.name] = str(value)
                    assert column.type.length is not None
                    if len(value) > column.type.length:
                        violates(rules.truncated(name, column.name))
                else:
                    if isinstance(value, str):
                        raise Doubtful("text into an int column")
                    if column.check_below is not None and not value < column.check_below:
                        violates(rules.check_violated(verb, name, column.name))
        key = next(column.name for column in table.columns if column.primary_key)
        seen: set[s.Value] = set()
        for row in rows:
            if row[key] in seen:
                violates(rules.duplicate_key("pk", name, row[key]))
            if row[key] is not None:
                seen.add(row[key])

    # -- temporary tables ---------------------------------------------------------

    def create_temporary(self, frame: Frame, stmt: s.CreateTemp) -> None:
        """CREATE TABLE page: a temporary table goes at the end of the procedure that made it.

        Making it is a write of the transaction.
        """
        if self.doomed:
            raise Raised(rules.doomed())
        if stmt.name in self.tables:
            raise Raised(rules.object_exists(stmt.name))
        self.tables[stmt.name] = TableValue(tuple(stmt.columns))
        frame.temporary.add(stmt.name)
        self.done(0)

    def drop_table(self, name: str) -> None:
        if name not in self.tables:
            if self.doomed or self.xact_abort:
                raise Doubtful("DROP TABLE of nothing while doomed or under XACT_ABORT ON")
            raise Raised(rules.no_table_to_drop(name))
        if self.doomed:
            raise Raised(rules.doomed())
        del self.tables[name]
        self.done(0)

    # -- cursors ------------------------------------------------------------------

    def cursor(self, frame: Frame, name: str) -> Cursor:
        found = frame.cursors.get(name)
        if found is None:
            raise Raised(rules.no_such_cursor(name))
        return found

    def cursor_statement(self, frame: Frame, stmt: s.Stmt) -> None:
        """DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE pages.

        ROLLBACK TRANSACTION page: a static cursor is not affected by it. What @@ROWCOUNT is
        afterwards the pages do not say for all of them.
        """
        if self.doomed and isinstance(stmt, (s.DeclareCursor, s.OpenCursor)):
            raise Doubtful("a static cursor made in a doomed transaction")
        match stmt:
            case s.DeclareCursor(name, _, table):
                self.find_table(frame, table)
                if name in frame.cursors:
                    raise Raised(rules.cursor_exists(name))
                frame.cursors[name] = Cursor(stmt)
            case s.OpenCursor(name):
                cursor = self.cursor(frame, name)
                if cursor.rows is not None:
                    raise Raised(rules.cursor_open())
                query = cursor.definition
                found = self.matching(frame, query.table, query.where)
                cursor.rows = [[row[column] for column in query.columns] for row in found]
                cursor.place = -1
            case s.Fetch():
                self.fetch(frame, stmt)
            case s.CloseCursor(name):
                cursor = self.cursor(frame, name)
                if cursor.rows is None:
                    raise Raised(rules.cursor_closed())
                cursor.rows = None
            case s.Deallocate(name):
                self.cursor(frame, name)
                del frame.cursors[name]
        self.done(None)

    def fetch(self, frame: Frame, stmt: s.Fetch) -> None:
        """FETCH page: @@FETCH_STATUS 0, or -1 beyond the result, when nothing is assigned."""
        self.fetch_status = None
        cursor = self.cursor(frame, stmt.name)
        if cursor.rows is None:
            raise Raised(rules.cursor_closed())
        count = len(cursor.rows)
        place = {"NEXT": cursor.place + 1, "PRIOR": cursor.place - 1, "FIRST": 0, "LAST": count - 1}[
            stmt.direction
        ]
        cursor.place = max(-1, min(place, count))
        if 0 <= place < count:
            for name, value in zip(stmt.into, cursor.rows[place], strict=True):
                self.assign(frame, name, value)
            self.fetch_status = 0
        else:
            self.fetch_status = -1
