"""Program → T-SQL text. Writes each statement's line into the statement."""

from __future__ import annotations

from . import syntax as s
from .engine import CONTRACT, MESSAGE, QUEUES

INDENT = "    "


def literal(value: s.Value) -> str:
    """A T-SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    return "N'" + str(value).replace("'", "''") + "'"


def table_name(name: str) -> str:
    """Table variables, temporary tables, inserted and deleted as they are, others with their schema."""
    return name if name[0] in "@#" or name in ("inserted", "deleted") else f"dbo.{name}"


def expression(expr: s.Expr) -> str:
    match expr:
        case s.Const(value):
            return literal(value) if not (isinstance(value, int) and value < 0) else f"({value})"
        case s.Var(name) | s.Fn(name) | s.Column(name):
            return name
        case s.Bin(op, left, right):
            return f"({expression(left)} {op} {expression(right)})"
        case s.Concat(parts):
            return "CONCAT(" + ", ".join(expression(part) for part in parts) + ")"
        case s.IsNull(value, default):
            return f"ISNULL({expression(value)}, {expression(default)})"
        case s.Case(cond, value, otherwise):
            return f"CASE WHEN {condition(cond)} THEN {expression(value)} ELSE {expression(otherwise)} END"
        case s.Cast(value, type_):
            return f"CAST({expression(value)} AS {type_})"
        case s.Call(name, args):
            return f"dbo.{name}(" + ", ".join(expression(arg) for arg in args) + ")"
        case s.Scalar(what, table, where, column):
            inner = {"count": "COUNT(*)", "column": column}.get(what, f"{what.upper()}({column})")
            return f"(SELECT {inner} FROM {table_name(table)}{where_clause(where)})"
    raise TypeError(expr)


def condition(cond: s.Cond) -> str:
    match cond:
        case s.Compare(op, left, right):
            return f"{expression(left)} {op} {expression(right)}"
        case s.NullTest(value, negated):
            return f"{expression(value)} IS {'NOT ' if negated else ''}NULL"
        case s.Logic(op, left, right):
            return f"({condition(left)} {op} {condition(right)})"
        case s.Not(inner):
            return f"NOT ({condition(inner)})"
        case s.Exists(table, where):
            return f"EXISTS (SELECT * FROM {table_name(table)}{where_clause(where)})"
    raise TypeError(cond)


def where_clause(where: s.Cond | None) -> str:
    return "" if where is None else f" WHERE {condition(where)}"


def column_definition(column: s.ColumnDef) -> str:
    text = f"{column.name} {column.type} {'NULL' if column.nullable else 'NOT NULL'}"
    if column.primary_key:
        text += " PRIMARY KEY"
    if column.check_below is not None:
        text += f" CHECK ({column.name} < {column.check_below})"
    return text


# THROW and the Service Broker statements ask for it; a label or FETCH would be read as a part of
# what stands before.
NEEDS_SEMICOLON_BEFORE = (s.Throw, s.Send, s.Receive, s.BeginDialog, s.EndConversation, s.Label, s.Fetch)


class Writer:
    """Collects the lines of one batch."""

    def __init__(self, terse: bool = False) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.terse = terse

    @property
    def semicolon(self) -> str:
        return "" if self.terse else ";"

    def sequence(self, statements: list[s.Stmt]) -> None:
        """Statements one after the other; terse: with semicolons only where T-SQL asks for them."""
        for place, statement in enumerate(statements, 1):
            following = statements[place] if place < len(statements) else None
            terse = self.terse
            if isinstance(following, NEEDS_SEMICOLON_BEFORE):
                self.terse = False
            self.statement(statement)
            self.terse = terse

    def add(self, text: str) -> None:
        self.lines.extend(INDENT * self.depth + line for line in text.split("\n"))

    def body(self, statements: list[s.Stmt], end: str | None = None) -> None:
        """BEGIN … END around statements; a lone simple one stands by itself."""
        if len(statements) == 1 and isinstance(statements[0], s.Block):
            statements[0].line = len(self.lines) + 1
            self.body(statements[0].body, end)
            return
        if len(statements) == 1 and not isinstance(statements[0], (s.If, s.Label, s.Declare, s.DeclareTable)):
            self.depth += 1
            self.statement(statements[0])
            self.depth -= 1
            return
        self.add("BEGIN")
        self.nested(statements)
        self.add(f"END{self.semicolon}" if end is None else end)

    def nested(self, statements: list[s.Stmt]) -> None:
        if not statements:
            raise ValueError("only CATCH may be empty")
        self.depth += 1
        self.sequence(statements)
        self.depth -= 1

    def statement(self, stmt: s.Stmt) -> None:
        stmt.line = len(self.lines) + 1
        match stmt:
            case s.If(cond, then, otherwise):
                self.add(f"IF {condition(cond)}")
                self.body(then, None if otherwise is None else "END")
                if otherwise is not None:
                    self.add("ELSE")
                    self.body(otherwise)
            case s.While(cond, body):
                self.add(f"WHILE {condition(cond)}")
                self.body(body)
            case s.Block(body):
                self.add("BEGIN")
                self.nested(body)
                self.add(f"END{self.semicolon}")
            case s.Try(body, handler):
                self.add("BEGIN TRY")
                self.nested(body)
                self.add("END TRY")
                self.add("BEGIN CATCH")
                self.depth += 1
                self.sequence(handler)
                self.depth -= 1
                self.add(f"END CATCH{self.semicolon}")
            case s.Label(name):
                self.add(f"{name}:")
            case s.ExecText(body):
                text = Writer(self.terse)
                text.sequence(body)
                string = literal("\n".join(text.lines))
                if stmt.params:
                    declared = literal(", ".join(map(parameter, stmt.params)))
                    given = ", ".join(map(argument, stmt.args))
                    self.add_raw(f"EXEC sp_executesql {string}, {declared}, {given}{self.semicolon}")
                else:
                    self.add_raw(f"EXEC ({string}){self.semicolon}")
            case _:
                self.add(simple(stmt) + self.semicolon)

    def add_raw(self, text: str) -> None:
        """Text whose further lines must not be indented (they are inside a literal)."""
        first, *rest = text.split("\n")
        self.lines.append(INDENT * self.depth + first)
        self.lines.extend(rest)


def simple(stmt: s.Stmt) -> str:
    """A statement without statements inside, and without its semicolon."""
    match stmt:
        case s.Declare(name, type_, init):
            return f"DECLARE {name} {type_}" + ("" if init is None else f" = {expression(init)}")
        case s.DeclareTable(name, columns):
            return f"DECLARE {name} TABLE (" + ", ".join(map(column_definition, columns)) + ")"
        case s.SetVar(name, value):
            return f"SET {name} = {expression(value)}"
        case s.SelectVars(targets, table, where):
            text = "SELECT " + ", ".join(f"{name} = {expression(value)}" for name, value in targets)
            return text if table is None else f"{text} FROM {table_name(table)}{where_clause(where)}"
        case s.SelectRows(values, table, where):
            text = "SELECT " + ", ".join(f"{expression(value)} AS c{i}" for i, value in enumerate(values, 1))
            if table is None:
                return text
            return f"{text} FROM {table_name(table)}{where_clause(where)} ORDER BY id"
        case s.Print(value):
            return f"PRINT {expression(value)}"
        case s.Insert(table, columns, rows):
            lists = ", ".join("(" + ", ".join(expression(value) for value in row) + ")" for row in rows)
            return f"INSERT INTO {table_name(table)} ({', '.join(columns)}) VALUES {lists}"
        case s.InsertSelect(table, columns, values, source):
            return (
                f"INSERT INTO {table_name(table)} ({', '.join(columns)}) "
                f"SELECT {', '.join(map(expression, values))} FROM {table_name(source)}"
            )
        case s.Update(table, sets, where):
            assignments = ", ".join(f"{name} = {expression(value)}" for name, value in sets)
            return f"UPDATE {table_name(table)} SET {assignments}{where_clause(where)}"
        case s.Delete(table, where):
            return f"DELETE FROM {table_name(table)}{where_clause(where)}"
        case s.Break():
            return "BREAK"
        case s.Continue():
            return "CONTINUE"
        case s.Goto(label):
            return f"GOTO {label}"
        case s.Return(value):
            return "RETURN" if value is None else f"RETURN {expression(value)}"
        case s.Throw(None, _, _):
            return "THROW"
        case s.Throw(s.Expr() as number, s.Expr() as message, s.Expr() as state):
            return f"THROW {expression(number)}, {expression(message)}, {expression(state)}"
        case s.Raiserror(message, severity, state, args):
            parts = [expression(message), str(severity), str(state), *map(expression, args)]
            return "RAISERROR (" + ", ".join(parts) + ")"
        case s.BeginTran(name):
            return "BEGIN TRANSACTION" + ("" if name is None else f" {name}")
        case s.Commit():
            return "COMMIT TRANSACTION"
        case s.Rollback(name):
            return "ROLLBACK TRANSACTION" + ("" if name is None else f" {name}")
        case s.Save(name):
            return f"SAVE TRANSACTION {name}"
        case s.SetOption(option, on):
            return f"SET {option} {'ON' if on else 'OFF'}"
        case s.BeginDialog(handle):
            one, two = QUEUES
            return (
                f"BEGIN DIALOG CONVERSATION {handle} FROM SERVICE [{one}] TO SERVICE N'{two}' "
                f"ON CONTRACT [{CONTRACT}] WITH ENCRYPTION = OFF"
            )
        case s.Send(handle, body):
            return f"SEND ON CONVERSATION {handle} MESSAGE TYPE [{MESSAGE}] ({expression(body)})"
        case s.Receive(queue, handle, type_name, body_name, top, timeout):
            text = "RECEIVE " + ("" if top is None else f"TOP ({top}) ")
            text += (
                f"{handle} = conversation_handle, {type_name} = message_type_name, "
                f"{body_name} = CAST(message_body AS nvarchar(20)) FROM dbo.{queue}"
            )
            return text if timeout is None else f"WAITFOR ({text}), TIMEOUT {timeout}"
        case s.EndConversation(handle):
            return f"END CONVERSATION {handle}"
        case s.CreateTemp(name, columns):
            return f"CREATE TABLE {name} (" + ", ".join(map(column_definition, columns)) + ")"
        case s.DropTable(name):
            return f"DROP TABLE {table_name(name)}"
        case s.DeclareCursor(name, names, table, where):
            return (
                f"DECLARE {name} CURSOR LOCAL STATIC FOR SELECT {', '.join(names)} "
                f"FROM {table_name(table)}{where_clause(where)} ORDER BY id"
            )
        case s.OpenCursor(name):
            return f"OPEN {name}"
        case s.Fetch(direction, name, into):
            return f"FETCH {direction} FROM {name} INTO {', '.join(into)}"
        case s.CloseCursor(name):
            return f"CLOSE {name}"
        case s.Deallocate(name):
            return f"DEALLOCATE {name}"
        case s.Exec(procedure, args, result):
            text = "EXEC " + ("" if result is None else f"{result} = ") + f"dbo.{procedure}"
            return text + (" " if args else "") + ", ".join(map(argument, args))
    raise TypeError(stmt)


def argument(arg: s.Argument) -> str:
    # A negative constant must not be parenthesised here: EXEC takes no expressions.
    value = literal(arg.value.value) if isinstance(arg.value, s.Const) else expression(arg.value)
    name = "" if arg.name is None else f"{arg.name} = "
    return name + value + (" OUTPUT" if arg.output else "")


def parameter(param: s.Param) -> str:
    text = f"{param.name} {param.type}"
    if param.has_default:
        text += f" = {literal(param.default)}"
    return text + (" OUTPUT" if param.output else "")


def procedure(proc: s.Procedure, terse: bool = False) -> str:
    """The batch that creates a procedure."""
    writer = Writer(terse)
    writer.add(f"CREATE PROCEDURE dbo.{proc.name}")
    for i, param in enumerate(proc.params):
        writer.add(INDENT + parameter(param) + ("," if i + 1 < len(proc.params) else ""))
    writer.add("AS")
    writer.nested(proc.body)
    return "\n".join(writer.lines)


def function(unit: s.Function, terse: bool = False) -> str:
    """The batch that creates a function."""
    writer = Writer(terse)
    writer.add(f"CREATE FUNCTION dbo.{unit.name} ({', '.join(map(parameter, unit.params))})")
    writer.add("RETURNS int")
    writer.add("AS")
    writer.add("BEGIN")
    writer.nested(unit.body)
    writer.add("END")
    return "\n".join(writer.lines)


def trigger(unit: s.Trigger, terse: bool = False) -> str:
    """The batch that creates a trigger."""
    writer = Writer(terse)
    writer.add(f"CREATE TRIGGER dbo.{unit.name} ON dbo.{unit.table} AFTER {unit.event}")
    writer.add("AS")
    writer.nested(unit.body)
    return "\n".join(writer.lines)


def batch(unit: s.Batch, terse: bool = False) -> str:
    """The text of one batch, without GO."""
    writer = Writer(terse)
    writer.sequence(unit.body)
    return "\n".join(writer.lines)


def batches(program: s.Program) -> list[str]:
    """Every batch of a program in order: the functions, procedures and triggers, then the batches."""
    terse = program.terse
    return [
        *(function(unit, terse) for unit in program.functions),
        *(procedure(unit, terse) for unit in program.procedures),
        *(trigger(unit, terse) for unit in program.triggers),
        *(batch(unit, terse) for unit in program.batches),
    ]


def script(program: s.Program) -> str:
    """The whole program as a script with GO."""
    return "".join(text + "\nGO\n" for text in batches(program))
