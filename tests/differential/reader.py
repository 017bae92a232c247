"""T-SQL text → program, for the subset that :mod:`.render` writes.

So that hand-derived cases and reduced failures are kept as readable T-SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from . import syntax as s

Item = TypeVar("Item")

TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*)
  | (?P<text>N?'(?:[^']|'')*')
  | (?P<bracketed>\[[^\]]*\])
  | (?P<number>\d+)
  | (?P<name>[@\#]{0,2}[A-Za-z_]\w*(?:\s*\(\s*\)(?!\w))?)
  | (?P<mark><>|<=|>=|[-+*/%=<>(),;:.])
""",
    re.VERBOSE,
)

FUNCTIONS = {
    "@@ERROR",
    "@@ROWCOUNT",
    "@@TRANCOUNT",
    "@@FETCH_STATUS",
    "XACT_STATE()",
    "ERROR_NUMBER()",
    "ERROR_SEVERITY()",
    "ERROR_STATE()",
    "ERROR_LINE()",
    "ERROR_PROCEDURE()",
    "ERROR_MESSAGE()",
}

# What comes after a statement that needs no semicolon.
ENDS = {
    "",
    ";",
    *"""
    BEGIN BREAK CLOSE COMMIT CONTINUE CREATE DEALLOCATE DECLARE DELETE DROP ELSE END EXEC FETCH GOTO IF
    INSERT OPEN PRINT RAISERROR RECEIVE RETURN ROLLBACK SAVE SELECT SEND SET THROW UPDATE WAITFOR
    WHILE""".split(),
}


class Reader:
    """Recursive descent over one batch."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        self.lines: list[int] = []
        at = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None:
                raise ValueError(f"cannot read {text[at : at + 20]!r}")
            if match.lastgroup != "space":
                self.tokens.append(match.group())
                self.lines.append(text.count("\n", 0, at) + 1)
            at = match.end()
        self.at = 0

    # -- tokens -------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place].upper() if place < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *words: str) -> bool:
        if all(self.peek(i) == word for i, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            raise ValueError(f"expected {' '.join(words)} at {self.tokens[self.at : self.at + 6]}")

    def series(self, one: Callable[[], Item]) -> list[Item]:
        items = [one()]
        while self.accept(","):
            items.append(one())
        return items

    # -- expressions --------------------------------------------------------------

    def type(self) -> s.Type:
        if self.accept("INT"):
            return s.INT
        if self.accept("UNIQUEIDENTIFIER"):
            return s.HANDLE
        self.expect("NVARCHAR", "(")
        length = int(self.take())
        self.expect(")")
        return s.Type(length)

    def constant(self) -> s.Value:
        if self.accept("NULL"):
            return None
        if self.accept("-"):
            return -int(self.take())
        token = self.take()
        if token[0].isdigit():
            return int(token)
        return token[token.index("'") + 1 : -1].replace("''", "'")

    def table(self) -> str:
        if self.accept("DBO", "."):
            pass
        return self.take().lower()

    def factor(self) -> s.Expr:
        word = self.peek()
        if self.accept("("):
            if self.peek() == "SELECT":
                inner: s.Expr = self.subquery()
            else:
                inner = self.expression()
            self.expect(")")
            return inner
        if word in FUNCTIONS:
            return s.Fn(self.take().upper())
        if word == "CONCAT":
            self.expect("CONCAT", "(")
            parts = self.series(self.expression)
            self.expect(")")
            return s.Concat(parts)
        if self.accept("ISNULL", "("):
            value = self.expression()
            self.expect(",")
            default = self.expression()
            self.expect(")")
            return s.IsNull(value, default)
        if self.accept("CASE", "WHEN"):
            condition = self.condition()
            self.expect("THEN")
            value = self.expression()
            self.expect("ELSE")
            otherwise = self.expression()
            self.expect("END")
            return s.Case(condition, value, otherwise)
        if self.accept("CAST", "("):
            value = self.expression()
            self.expect("AS")
            type_ = self.type()
            self.expect(")")
            return s.Cast(value, type_)
        if word.startswith("@"):
            return s.Var(self.take())
        if self.accept("DBO", "."):
            name = self.take()
            if name.endswith(")"):  # no arguments
                return s.Call(name.partition("(")[0].rstrip(), [])
            return s.Call(name, self.row())
        if word == "NULL" or word == "-" or word[0].isdigit() or "'" in word:
            return s.Const(self.constant())
        return s.Column(self.take())

    def term(self) -> s.Expr:
        left = self.factor()
        while self.peek() in ("*", "/", "%"):
            left = s.Bin(self.take(), left, self.factor())
        return left

    def expression(self) -> s.Expr:
        left = self.term()
        while self.peek() in ("+", "-"):
            left = s.Bin(self.take(), left, self.term())
        return left

    def subquery(self) -> s.Expr:
        self.expect("SELECT")
        what, column = "column", None
        if self.peek() in ("COUNT", "SUM", "MAX", "MIN"):
            what = self.take().lower()
            self.expect("(")
            column = None if self.accept("*") else self.take()
            self.expect(")")
        else:
            column = self.take()
        self.expect("FROM")
        return s.Scalar(what, self.table(), self.where(), column)

    def where(self) -> s.Cond | None:
        return self.condition() if self.accept("WHERE") else None

    def condition(self) -> s.Cond:
        left = self.conjunction()
        while self.accept("OR"):
            left = s.Logic("OR", left, self.conjunction())
        return left

    def conjunction(self) -> s.Cond:
        left = self.predicate()
        while self.accept("AND"):
            left = s.Logic("AND", left, self.predicate())
        return left

    def predicate(self) -> s.Cond:
        if self.accept("NOT"):
            return s.Not(self.predicate())
        if self.accept("EXISTS", "("):
            self.expect("SELECT", "*", "FROM")
            exists = s.Exists(self.table(), self.where())
            self.expect(")")
            return exists
        start = self.at
        if self.peek() == "(":
            # A condition in parentheses, unless it is an expression in parentheses.
            try:
                self.expect("(")
                inner = self.condition()
                self.expect(")")
                if self.peek() not in ("=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "IS"):
                    return inner
            except ValueError:
                pass
            self.at = start
        left = self.expression()
        if self.accept("IS"):
            negated = self.accept("NOT")
            self.expect("NULL")
            return s.NullTest(left, negated)
        if self.peek() not in ("=", "<>", "<", ">", "<=", ">="):
            raise ValueError(f"expected a comparison at {self.tokens[self.at : self.at + 6]}")
        return s.Compare(self.take(), left, self.expression())

    # -- statements ---------------------------------------------------------------

    def statements(self, *until: str) -> list[s.Stmt]:
        found: list[s.Stmt] = []
        while self.at < len(self.tokens):
            if until and self.peek(1) != "CONVERSATION" and self.accept(*until):
                break
            found.append(self.statement())
            while self.accept(";"):
                pass
        return found

    def body(self) -> list[s.Stmt]:
        statement = self.statement()
        self.accept(";")
        return statement.body if isinstance(statement, s.Block) else [statement]

    def statement(self) -> s.Stmt:
        line = self.lines[self.at]
        statement = self.read_statement()
        statement.line = line
        return statement

    def read_statement(self) -> s.Stmt:
        if self.peek(1) == ":" and self.peek(0) not in FUNCTIONS:
            name = self.take()
            self.expect(":")
            return s.Label(name)
        word = self.peek()
        if self.accept("BEGIN", "TRY"):
            tried = self.statements("END", "TRY")
            self.expect("BEGIN", "CATCH")
            return s.Try(tried, self.statements("END", "CATCH"))
        if self.accept("BEGIN", "DIALOG", "CONVERSATION"):
            dialog = s.BeginDialog(self.take())
            self.at += len("FROM SERVICE [] TO SERVICE N'' ON CONTRACT [] WITH ENCRYPTION = OFF".split())
            return dialog
        if self.accept("END", "CONVERSATION"):
            return s.EndConversation(self.take())
        if self.accept("BEGIN", "TRANSACTION"):
            return s.BeginTran(self.optional_name())
        if self.accept("BEGIN"):
            return s.Block(self.statements("END"))
        if self.accept("IF"):
            cond = self.condition()
            then = self.body()
            return s.If(cond, then, self.body() if self.accept("ELSE") else None)
        if self.accept("WHILE"):
            return s.While(self.condition(), self.body())
        handler: Callable[[], s.Stmt] | None = getattr(self, f"read_{word.lower()}", None)
        if handler is None:
            raise ValueError(f"cannot read a statement at {self.tokens[self.at : self.at + 6]}")
        self.take()
        return handler()

    def optional_name(self) -> str | None:
        return None if self.at_end() or not self.peek()[0].isalpha() else self.take()

    def at_end(self) -> bool:
        """Whether the statement ends here, with or without a semicolon."""
        return self.peek() in ENDS or self.peek(1) == ":"

    def read_commit(self) -> s.Stmt:
        self.expect("TRANSACTION")
        return s.Commit()

    def read_rollback(self) -> s.Stmt:
        self.expect("TRANSACTION")
        return s.Rollback(self.optional_name())

    def read_save(self) -> s.Stmt:
        self.expect("TRANSACTION")
        return s.Save(self.take())

    def read_break(self) -> s.Stmt:
        return s.Break()

    def read_continue(self) -> s.Stmt:
        return s.Continue()

    def read_goto(self) -> s.Stmt:
        return s.Goto(self.take())

    def read_return(self) -> s.Stmt:
        return s.Return(None if self.at_end() else self.expression())

    def read_print(self) -> s.Stmt:
        return s.Print(self.expression())

    def read_set(self) -> s.Stmt:
        name = self.take()
        if name.upper() in ("XACT_ABORT", "NOCOUNT"):
            return s.SetOption(name.upper(), self.take().upper() == "ON")
        self.expect("=")
        return s.SetVar(name, self.expression())

    def read_send(self) -> s.Stmt:
        self.expect("ON", "CONVERSATION")
        handle = self.take()
        self.expect("MESSAGE", "TYPE")
        self.take()
        return s.Send(handle, self.row()[0])

    def read_waitfor(self) -> s.Stmt:
        self.expect("(", "RECEIVE")
        receive = self.read_receive()
        self.expect(")", ",", "TIMEOUT")
        receive.timeout = int(self.take())
        return receive

    def read_receive(self) -> s.Receive:
        top = None
        if self.accept("TOP", "("):
            top = int(self.take())
            self.expect(")")
        handle, type_name, body = self.series(lambda: self.set_clause())
        self.expect("FROM")
        return s.Receive(self.table(), handle[0], type_name[0], body[0], top)

    def read_create(self) -> s.Stmt:
        self.expect("TABLE")
        name = self.take()
        self.expect("(")
        columns = self.series(self.column_definition)
        self.expect(")")
        return s.CreateTemp(name, columns)

    def read_drop(self) -> s.Stmt:
        self.expect("TABLE")
        return s.DropTable(self.table())

    def read_open(self) -> s.Stmt:
        return s.OpenCursor(self.take())

    def read_close(self) -> s.Stmt:
        return s.CloseCursor(self.take())

    def read_deallocate(self) -> s.Stmt:
        return s.Deallocate(self.take())

    def read_fetch(self) -> s.Stmt:
        direction = self.take().upper()
        self.expect("FROM")
        name = self.take()
        self.expect("INTO")
        return s.Fetch(direction, name, self.series(self.take))

    def read_declare(self) -> s.Stmt:
        name = self.take()
        if self.accept("CURSOR", "LOCAL", "STATIC", "FOR", "SELECT"):
            names = self.series(self.take)
            self.expect("FROM")
            cursor = s.DeclareCursor(name, names, self.table(), self.where())
            self.expect("ORDER", "BY", "ID")
            return cursor
        if self.accept("TABLE", "("):
            columns = self.series(self.column_definition)
            self.expect(")")
            return s.DeclareTable(name, columns)
        type_ = self.type()
        return s.Declare(name, type_, self.expression() if self.accept("=") else None)

    def column_definition(self) -> s.ColumnDef:
        column = s.ColumnDef(self.take(), self.type())
        column.nullable = not self.accept("NOT")
        self.expect("NULL")
        column.primary_key = self.accept("PRIMARY", "KEY")
        if self.accept("CHECK", "("):
            self.expect(column.name.upper(), "<")
            column.check_below = int(self.take())
            self.expect(")")
        return column

    def read_select(self) -> s.Stmt:
        if self.peek().startswith("@") and self.peek(1) == "=":
            targets = self.series(lambda: self.set_clause())
            table = self.table() if self.accept("FROM") else None
            return s.SelectVars(targets, table, self.where())
        values = self.series(self.aliased)
        if not self.accept("FROM"):
            return s.SelectRows(values)
        rows = s.SelectRows(values, self.table(), self.where())
        self.expect("ORDER", "BY", "ID")
        return rows

    def aliased(self) -> s.Expr:
        value = self.expression()
        self.expect("AS")
        self.take()
        return value

    def set_clause(self) -> tuple[str, s.Expr]:
        name = self.take()
        self.expect("=")
        return name, self.expression()

    def read_insert(self) -> s.Stmt:
        self.expect("INTO")
        table = self.table()
        self.expect("(")
        columns = self.series(self.take)
        self.expect(")")
        if self.accept("SELECT"):
            values = self.series(self.expression)
            self.expect("FROM")
            return s.InsertSelect(table, columns, values, self.table())
        self.expect("VALUES")
        return s.Insert(table, columns, self.series(self.row))

    def trigger(self) -> s.Trigger:
        self.expect("CREATE", "TRIGGER", "DBO", ".")
        name = self.take()
        self.expect("ON")
        table = self.table()
        self.expect("AFTER")
        event = self.take().upper()
        self.expect("AS")
        return s.Trigger(name, table, event, self.statements())

    def row(self) -> list[s.Expr]:
        self.expect("(")
        values = self.series(self.expression)
        self.expect(")")
        return values

    def read_update(self) -> s.Stmt:
        table = self.table()
        self.expect("SET")
        return s.Update(table, self.series(self.set_clause), self.where())

    def read_delete(self) -> s.Stmt:
        self.expect("FROM")
        return s.Delete(self.table(), self.where())

    def read_throw(self) -> s.Stmt:
        if self.at_end():
            return s.Throw()
        number, message, state = self.series(self.expression)
        return s.Throw(number, message, state)

    def read_raiserror(self) -> s.Stmt:
        self.expect("(")
        message, severity, state, *args = self.series(self.expression)
        self.expect(")")
        assert isinstance(severity, s.Const) and isinstance(severity.value, int)
        assert isinstance(state, s.Const) and isinstance(state.value, int)
        return s.Raiserror(message, severity.value, state.value, args)

    def read_exec(self) -> s.Stmt:
        if self.accept("("):
            text = self.constant()
            self.expect(")")
            return s.ExecText(Reader(str(text)).statements())
        if self.accept("SP_EXECUTESQL"):
            text = self.constant()
            self.expect(",")
            declared = Reader(str(self.constant()))
            self.expect(",")
            return s.ExecText(
                Reader(str(text)).statements(),
                declared.series(declared.parameter),
                self.series(self.argument),
            )
        result = None
        if self.peek().startswith("@"):
            result = self.take()
            self.expect("=")
        self.expect("DBO", ".")
        name = self.take()
        args = [] if self.at_end() else self.series(self.argument)
        return s.Exec(name, args, result)

    def argument(self) -> s.Argument:
        name = None
        if self.peek(1) == "=":
            name = self.take()
            self.expect("=")
        value = s.Var(self.take()) if self.peek().startswith("@") else s.Const(self.constant())
        return s.Argument(value, self.accept("OUTPUT"), name)

    def procedure(self) -> s.Procedure:
        self.expect("CREATE", "PROCEDURE", "DBO", ".")
        name = self.take()
        params = [] if self.peek() == "AS" else self.series(self.parameter)
        self.expect("AS")
        return s.Procedure(name, params, self.statements())

    def function(self) -> s.Function:
        self.expect("CREATE", "FUNCTION", "DBO", ".")
        name = self.take()
        params: list[s.Param] = []
        if name.endswith(")"):
            name = name.partition("(")[0].rstrip()
        else:
            self.expect("(")
            params = self.series(self.parameter)
            self.expect(")")
        self.expect("RETURNS", "INT", "AS", "BEGIN")
        return s.Function(name, params, self.statements("END"))

    def parameter(self) -> s.Param:
        param = s.Param(self.take(), self.type())
        if self.accept("="):
            param.has_default = True
            param.default = self.constant()
        param.output = self.accept("OUTPUT")
        return param


def read(script: str) -> s.Program:
    """A script with GO, its statements with the lines they have there.

    Procedures come first, as in every program of the check.
    """
    functions: list[s.Function] = []
    procedures: list[s.Procedure] = []
    triggers: list[s.Trigger] = []
    batches: list[s.Batch] = []
    for text in re.split(r"(?m)^[ \t]*GO[ \t]*(?:\n|\Z)", script):
        reader = Reader(text)
        if reader.peek() == "CREATE" and reader.peek(1) in ("PROCEDURE", "FUNCTION", "TRIGGER"):
            if batches:
                raise ValueError("procedures come first")
            if reader.peek(1) == "FUNCTION":
                functions.append(reader.function())
            elif reader.peek(1) == "TRIGGER":
                triggers.append(reader.trigger())
            else:
                procedures.append(reader.procedure())
        elif reader.tokens:
            batches.append(s.Batch(reader.statements()))
    return s.Program(procedures, batches, functions, triggers)
