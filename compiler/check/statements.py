"""What can be said of a batch without a server: unknown, wrong, or parsed but refused.

SQL Server compiles a batch as a whole; what is found here keeps all of it from running. The
numbers are SQL Server's where it has the same message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from ...grammar.hints import no_condition
from ...grammar.problems import NAME_MISSING, NESTED_TOO_DEEPLY, Problems, did_you_mean
from ...grammar.records import dataclass
from ...grammar.source import Span
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..catalog.names import behind_use_first
from .permissions import check_permission
from .system_names import check_events, check_system_names, check_trigger_events
from .token_pairs import check_text

__all__ = ["check_batch"]

_MUST_BE_FIRST: dict[type[nodes.Statement], str] = {
    nodes.CreateProcedure: "CREATE/ALTER PROCEDURE",
    nodes.CreateFunction: "CREATE FUNCTION",
    nodes.CreateTrigger: "CREATE TRIGGER",
    nodes.CreateView: "CREATE VIEW",
    nodes.CreateSchema: "CREATE SCHEMA",
}
_ROUTINES = frozenset({"FUNCTION", "PROC", "PROCEDURE"})
_MAY_END_WITH_NAME = (
    nodes.SqlStatement,
    nodes.BeginTransaction,
    nodes.CommitTransaction,
    nodes.RollbackTransaction,
    nodes.SaveTransaction,
)
_DROPPED_HERE = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER", "VIEW"})
_VARIABLE = TokenKind.VARIABLE
_LONGEST_TRANSACTION_NAME = 32
_FIRST_SQL_KINDS = ("CREATE DEFAULT", "CREATE RULE")

_REFUSED = {
    "CREATE ASSEMBLY": "CLR assemblies cannot run on PostgreSQL.",
    "ALTER ASSEMBLY": "CLR assemblies cannot run on PostgreSQL.",
    "CREATE AGGREGATE": "CLR aggregates cannot run on PostgreSQL.",
    "BULK INSERT": "BULK INSERT reads files of the SQL Server machine; use COPY or \\copy.",
    "CREATE EXTERNAL TABLE": "External tables are not supported; use a foreign data wrapper.",
    "CREATE SECURITY POLICY": "Security policies are not translated; use row level security of PostgreSQL.",
    "ALTER SECURITY POLICY": "Security policies are not translated; use row level security of PostgreSQL.",
    "READTEXT": "READTEXT is not supported; read the column with SUBSTRING.",
    "WRITETEXT": "WRITETEXT is not supported; write the column with UPDATE.",
    "UPDATETEXT": "UPDATETEXT is not supported; write the column with UPDATE.",
    "SHUTDOWN": "SHUTDOWN is not supported: a script cannot stop PostgreSQL.",
}

_FULLTEXT = "Full-text indexes are not supported; use text search of PostgreSQL (tsvector)."
_NO_EFFECT_HINTS = {
    "BACKUP DATABASE": "use pg_dump or pg_basebackup",
    "BACKUP LOG": "use continuous archiving (WAL)",
    "RESTORE DATABASE": "use pg_restore",
    "DBCC": "ANALYZE, VACUUM and ALTER SEQUENCE … RESTART do what most of DBCC does",
    "RECONFIGURE": "server settings are made with ALTER SYSTEM",
    "CREATE STATISTICS": "PostgreSQL gathers statistics by itself; ANALYZE does it now",
    "UPDATE STATISTICS": "PostgreSQL gathers statistics by itself; ANALYZE does it now",
}
_NO_EFFECT_KINDS = ("CREATE STATISTICS", "UPDATE STATISTICS")

_SET_OPTIONS = """
ANSI_DEFAULTS ANSI_NULL_DFLT_OFF ANSI_NULL_DFLT_ON ANSI_NULLS ANSI_PADDING ANSI_WARNINGS ARITHABORT
ARITHIGNORE CONCAT_NULL_YIELDS_NULL CURSOR_CLOSE_ON_COMMIT DISABLE_DEF_CNST_CHK FIPS_FLAGGER FMTONLY
FORCEPLAN IMPLICIT_TRANSACTIONS NOCOUNT NOEXEC NO_BROWSETABLE NUMERIC_ROUNDABORT PARSEONLY
QUOTED_IDENTIFIER REMOTE_PROC_TRANSACTIONS RESULT_SET_CACHING SHOWPLAN_ALL SHOWPLAN_TEXT SHOWPLAN_XML
XACT_ABORT
"""
_SET_SWITCHES = frozenset(_SET_OPTIONS.split())
_SET_VALUES = frozenset(
    {
        "CONTEXT_INFO",
        "DATEFIRST",
        "DATEFORMAT",
        "DEADLOCK_PRIORITY",
        "ERRLVL",
        "FIPS_FLAGGER",
        "LANGUAGE",
        "LOCK_TIMEOUT",
        "QUERY_GOVERNOR_COST_LIMIT",
        "ROWCOUNT",
        "TEXTSIZE",
    }
)
_UNHEEDED: dict[tuple[str, str], str] = {
    ("ANSI_NULLS", "OFF"): "a comparison with NULL is never true",
    ("ANSI_DEFAULTS", "OFF"): "ANSI's behaviour is the only one",
    ("ANSI_DEFAULTS", "ON"): "transactions begin by BEGIN TRANSACTION alone, and cursors stay open at COMMIT",
    ("ANSI_WARNINGS", "OFF"): "what does not fit and a division by zero stay errors",
    ("ANSI_NULL_DFLT_OFF", "ON"): "a column that says nothing of NULL takes it",
    ("CONCAT_NULL_YIELDS_NULL", "OFF"): "NULL joined with a string stays NULL",
    ("CURSOR_CLOSE_ON_COMMIT", "ON"): "cursors stay open",
    ("NUMERIC_ROUNDABORT", "ON"): "rounding is no error",
    ("FMTONLY", "ON"): "the statements that follow are executed",
    ("SHOWPLAN_ALL", "ON"): "the statements that follow are executed",
    ("SHOWPLAN_TEXT", "ON"): "the statements that follow are executed",
    ("SHOWPLAN_XML", "ON"): "the statements that follow are executed",
}
"""SET options whose other value would change what a script does, and what happens here instead."""
_COMPARES = frozenset(
    {
        "=",
        "<",
        ">",
        "<=",
        ">=",
        "<>",
        "!=",
        "!<",
        "!>",
        "IN",
        "LIKE",
        "BETWEEN",
        "IS",
        "EXISTS",
        "UPDATE",
        "CONTAINS",
        "FREETEXT",
        "TSEQUAL",
    }
)
_BEFORE_A_TABLE = frozenset({"FROM", "JOIN", "INTO", "APPLY", "UPDATE", "DELETE", "INSERT", "MERGE", "USING"})

_SIDE_EFFECTS: dict[type[nodes.Statement], str] = {
    nodes.BeginDialog: "BEGIN DIALOG",
    nodes.BeginConversationTimer: "BEGIN CONVERSATION TIMER",
    nodes.Send: "SEND",
    nodes.Receive: "RECEIVE",
    nodes.WaitForMessage: "WAITFOR",
    nodes.WaitForTime: "WAITFOR",
    nodes.EndConversation: "END CONVERSATION",
    nodes.MoveConversation: "MOVE CONVERSATION",
    nodes.GetConversationGroup: "GET CONVERSATION GROUP",
    nodes.TryCatch: "BEGIN TRY",
    nodes.Throw: "THROW",
    nodes.RaiseError: "RAISERROR",
    nodes.Print: "PRINT",
    nodes.BeginTransaction: "BEGIN TRANSACTION",
    nodes.CommitTransaction: "COMMIT TRANSACTION",
    nodes.RollbackTransaction: "ROLLBACK TRANSACTION",
    nodes.SaveTransaction: "SAVE TRANSACTION",
    nodes.ExecuteString: "EXECUTE STRING",
    nodes.InsertExecute: "INSERT EXEC",
    nodes.CreateTable: "CREATE TABLE",
}

_Module = nodes.CreateProcedure | nodes.CreateFunction | nodes.CreateTrigger


def check_batch(batch: nodes.Batch, tokens: list[Token], problems: Problems) -> None:
    """Check one batch; what is wrong goes to ``problems``.

    ``tokens`` are all tokens of the batch: variables are looked for in them, since most stand
    inside text that is kept as written.
    """
    scope = _Scope(problems, broken=_is_broken_module(batch, tokens))
    # What sp_executesql of another database runs begins behind its USE.
    text = batch.span.source.text
    first = int(behind_use_first(text) != text)
    for index, statement in enumerate(batch.statements):
        _check_place(statement, index <= first, None, problems)
    scope.check(batch.statements, None)
    _check_variables(batch.statements, tokens, problems)
    check_system_names(batch.span.source, tokens, problems)
    texts = [token.text for token in tokens]
    for token in tokens if "[]" in texts or '""' in texts else ():
        if token.text in ("[]", '""') and token.kind in (TokenKind.BRACKETED, TokenKind.QUOTED):
            problems.add(NAME_MISSING, Span(batch.span.source, token.start, token.end), number=1038)


def _is_broken_module(batch: nodes.Batch, tokens: Sequence[Token]) -> bool:
    """Tell whether a batch begins as a module whose head could not be read."""
    words = [token.word for token in tokens[:4]]
    begins = words[:1] in (["CREATE"], ["ALTER"]) and not _ROUTINES.isdisjoint(words)
    return begins and not any(isinstance(one, tuple(_MUST_BE_FIRST)) for one in batch.statements)


# ------------------------------------------------------------------ statements and where they stand


def _check_place(
    statement: nodes.Statement, first_in_batch: bool, module: _Module | None, problems: Problems
) -> None:
    what = _MUST_BE_FIRST.get(type(statement))
    if isinstance(statement, nodes.SqlStatement) and statement.kind in _FIRST_SQL_KINDS:
        what = statement.kind
    if what is None or first_in_batch:
        return
    hint = "put GO before it" if module is None else "a module cannot contain another one: put GO before it"
    problems.add(
        f"'{what}' must be the first statement in a query batch.", _head(statement), hint=hint, number=111
    )


def _check_database(statement: nodes.Statement, problems: Problems) -> None:
    """Modules are made and dropped in the database that is in use."""
    match statement:
        case (
            nodes.CreateProcedure(name=name)
            | nodes.CreateFunction(name=name)
            | nodes.CreateTrigger(name=name)
            | nodes.CreateView(name=name)
        ):
            names: tuple[nodes.QualifiedName, ...] = (name,)
            what = _MUST_BE_FIRST[type(statement)]
        case nodes.DropStatement(kind=kind, names=names) if kind in _DROPPED_HERE:
            what = f"DROP {kind}"
        case _:
            return
    for name in names:
        if name.database is not None:
            problems.add(
                f"'{what}' does not allow specifying the database name as a prefix to the object name.",
                name.span,
                hint="write USE, and GO, before it",
                number=166,
            )


def _check_last_name(statement: nodes.Statement, problems: Problems) -> None:
    """Warn of a THROW that is the name at the end of the statement before it."""
    last = [token for token in statement.tokens[-3:] if token.word != ";"][-2:]
    if len(last) == 2 and last[1].word == "THROW" and last[0].word not in ("AS", "."):
        problems.add(
            "THROW is a name of the statement before it here, and throws nothing.",
            Span(statement.span.source, last[1].start, last[1].end),
            hint="write a semicolon before THROW",
            severity="warning",
        )


def _head(statement: nodes.Statement) -> Span:
    """Return the place of the first word of a statement."""
    first = statement.tokens[0]
    return Span(statement.span.source, first.start, first.end)


@dataclass
class _Scope:
    """Checks the statements of a batch or of one module."""

    problems: Problems
    labels: dict[str, tuple[nodes.Label, tuple[int, ...]]] = field(default_factory=dict)
    gotos: list[tuple[nodes.Goto, tuple[int, ...]]] = field(default_factory=list)
    module: _Module | None = None
    broken: bool = False
    """The head of a module could not be read: the statements are its own."""

    def check(self, statements: Iterable[nodes.Statement], module: _Module | None) -> None:
        self.module = module
        for statement, context in _walk(statements):
            self._check_statement(statement, context)
        for goto, tries in self.gotos:
            found = self.labels.get(goto.label.text.lower())
            if found is None:
                labels = (label.name.text for label, _ in self.labels.values())
                self.problems.add(
                    f"A GOTO statement references the label '{goto.label.text}' but the label has not been "
                    "declared.",
                    goto.label.span,
                    hint=did_you_mean(goto.label.text, labels),
                    number=133,
                )
            elif found[1] != tries[: len(found[1])]:
                self.problems.add(
                    "GOTO cannot be used to jump into a TRY or CATCH scope.", goto.span, number=1026
                )

    def _check_statement(self, statement: nodes.Statement, context: _Context) -> None:
        add = self.problems.add
        check_text(statement, self.problems)
        if context.inside or self.module is not None:
            _check_place(statement, False, self.module, self.problems)
        _check_database(statement, self.problems)
        if isinstance(statement, _MAY_END_WITH_NAME):
            _check_last_name(statement, self.problems)
        self._check_flow(statement, context)
        self._check_support(statement)
        match statement:
            case nodes.CreateProcedure() | nodes.CreateFunction() | nodes.CreateTrigger():
                _check_module(statement, self.problems)
            case nodes.CreateView(name=nodes.QualifiedName(name=name)) if name.text.startswith("#"):
                add(f"{name.text}: Temporary views are not allowed.", name.span, number=4103)
            case nodes.Use() if self.module is not None:
                add(
                    "a USE database statement is not allowed in a procedure, function or trigger.",
                    statement.span,
                    number=154,
                )
            case nodes.SetOption():
                self._check_set_option(statement)
            case nodes.If(condition=condition) | nodes.While(condition=condition):
                self._check_condition(condition)
            case nodes.CreateEventNotification():
                check_events(statement, self.problems)
            case nodes.Permission():
                check_permission(statement, self.problems)
            case (
                nodes.BeginTransaction(name=nodes.Identifier(text=name))
                | nodes.CommitTransaction(name=nodes.Identifier(text=name))
                | nodes.RollbackTransaction(name=nodes.Identifier(text=name))
                | nodes.SaveTransaction(name=nodes.Identifier(text=name))
            ) if len(name) > _LONGEST_TRANSACTION_NAME:
                add(
                    f"The identifier that starts with '{name[:_LONGEST_TRANSACTION_NAME]}' is too long. "
                    f"Maximum length is {_LONGEST_TRANSACTION_NAME}.",
                    statement.span,
                    number=103,
                )
            case nodes.Execute():
                self._check_execute(statement)
            case nodes.InsertExecute(execute=nodes.Execute() as call):
                self._check_execute(call)
        if isinstance(self.module, nodes.CreateFunction):
            effect = _SIDE_EFFECTS.get(type(statement))
            if effect is not None:
                add(
                    f"Invalid use of a side-effecting operator '{effect}' within a function.",
                    _head(statement),
                    number=443,
                )

    def _check_flow(self, statement: nodes.Statement, context: _Context) -> None:
        """Labels, and what needs a loop, a CATCH block or a module around it."""
        add = self.problems.add
        match statement:
            case nodes.Label():
                key = statement.name.text.lower()
                if key in self.labels:
                    add(
                        f"The label '{statement.name.text}' has already been declared. Label names must be "
                        "unique within a query batch or stored procedure.",
                        statement.name.span,
                        number=132,
                    )
                else:
                    self.labels[key] = (statement, context.tries)
            case nodes.Goto():
                self.gotos.append((statement, context.tries))
            case nodes.Break() if not context.in_loop:
                add(
                    "Cannot use a BREAK statement outside the scope of a WHILE statement.",
                    statement.span,
                    number=135,
                )
            case nodes.Continue() if not context.in_loop:
                add(
                    "Cannot use a CONTINUE statement outside the scope of a WHILE statement.",
                    statement.span,
                    number=136,
                )
            case nodes.Throw(number=None) if not context.in_catch:
                add(
                    "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the "
                    "THROW statement inside a CATCH block, or add error parameters to the THROW statement.",
                    statement.span,
                    number=10704,
                )
            case nodes.Return(value=value) if (
                value is not None and not self._returns_value() and not (self.module is None and self.broken)
            ):
                add(
                    "A RETURN statement with a return value cannot be used in this context.",
                    statement.span,
                    number=178,
                )

    def _check_support(self, statement: nodes.Statement) -> None:
        """What is read, and what PostgreSQL cannot run."""
        add = self.problems.add
        match statement:
            case nodes.UnsupportedStatement():
                add(_REFUSED.get(statement.kind, f"{statement.kind} is not supported."), _head(statement))
            case nodes.AdministrativeStatement(kind=kind) | nodes.SqlStatement(kind=kind) if (
                isinstance(statement, nodes.AdministrativeStatement) or kind in _NO_EFFECT_KINDS
            ):
                self._check_administrative(statement, kind)
            case nodes.DropStatement(kind=kind) if kind.startswith("FULLTEXT "):
                add(_FULLTEXT, _head(statement))
            case nodes.BeginTransaction(distributed=True):
                add("Distributed transactions are not supported.", statement.span)
            case nodes.ExecuteString(at_server=server) if server is not None:
                add("EXEC … AT needs a linked server, which PostgreSQL does not have.", server.span)
            case nodes.CreateEndpoint(payload=payload, protocol=protocol) if (
                payload == "SOAP" or protocol == "HTTP"
            ):
                add(
                    "HTTP and SOAP endpoints are not supported (SQL Server 2012 removed them).",
                    _head(statement),
                )
            case nodes.CreateEndpoint(payload=str(payload)) | nodes.AlterEndpoint(payload=str(payload)) if (
                payload != "SERVICE_BROKER"
            ):
                add(f"An endpoint FOR {payload} cannot run on PostgreSQL.", _head(statement))

    def _check_execute(self, statement: nodes.Execute) -> None:
        if isinstance(statement.module, nodes.QualifiedName) and statement.module.server is not None:
            self.problems.add(
                "A call of a procedure on a linked server cannot run on PostgreSQL.", statement.module.span
            )
        named = False
        for number, argument in enumerate(statement.arguments, 1):
            value = argument.value
            if named and argument.name is None:
                self.problems.add(
                    f"Must pass parameter number {number} and subsequent parameters as '@name = value'. "
                    "After the form '@name = value' has been used, all subsequent parameters must be passed "
                    "in the form '@name = value'.",
                    argument.span,
                    number=119,
                )
                return
            if argument.output and value is not None and value.tokens[0].kind is not _VARIABLE:
                self.problems.add(
                    "Cannot use the OUTPUT option when passing a constant to a stored procedure.",
                    argument.span,
                    number=179,
                )
            named = argument.name is not None

    def _check_administrative(
        self, statement: nodes.AdministrativeStatement | nodes.SqlStatement, kind: str
    ) -> None:
        if kind == "DBCC" and "CHECKIDENT" in statement.text.words[:2]:
            return  # carried out
        if isinstance(statement, nodes.AdministrativeStatement) and statement.kills_session:
            return  # carried out
        if " FULLTEXT " in kind:
            self.problems.add(_FULLTEXT, _head(statement))
            return
        hint = _NO_EFFECT_HINTS.get(kind) or _NO_EFFECT_HINTS.get(kind.split()[0])
        self.problems.add(
            f"{kind} has no effect on PostgreSQL.", _head(statement), hint=hint, severity="warning"
        )

    def _returns_value(self) -> bool:
        if isinstance(self.module, nodes.CreateFunction):
            return self.module.kind == "SCALAR"
        return isinstance(self.module, nodes.CreateProcedure)

    def _check_set_option(self, statement: nodes.SetOption) -> None:
        name = statement.names[0]
        if " " in name or name in ("IDENTITY_INSERT", "OFFSETS"):
            if name.startswith("STATISTICS "):
                known = frozenset(f"STATISTICS {word}" for word in ("IO", "TIME", "XML", "PROFILE"))
                self._check_options(statement, known)
            return
        self._check_options(statement, _SET_SWITCHES if statement.argument is None else _SET_VALUES)

    def _check_options(self, statement: nodes.SetOption, known: frozenset[str]) -> None:
        for name in statement.names:
            if name not in known:
                hint = did_you_mean(name, known) if " " not in name else None
                if name in _SET_SWITCHES:
                    hint = f"SET {name} takes ON or OFF"
                self.problems.add(
                    f"'{name}' is not a recognized SET option.",
                    statement.span,
                    hint=hint,
                    number=195,
                )
            instead = _UNHEEDED.get((name, statement.value))
            if instead is not None:
                self.problems.add(
                    f"SET {name} {statement.value} has no effect: {instead}.",
                    statement.span,
                    severity="warning",
                )
            elif name == "TEXTSIZE" and statement.value.isdigit() and 0 < int(statement.value) < 2**31 - 1:
                self.problems.add(
                    "SET TEXTSIZE has no effect: values are told whole.", statement.span, severity="warning"
                )

    def _check_condition(self, condition: nodes.SqlText) -> None:
        if not _COMPARES.intersection(condition.words):
            first = next((token.text for token in condition.tokens if token.word not in ("NOT", "(")), "")
            self.problems.add(
                no_condition(condition.span),
                condition.span,
                hint=did_you_mean(first, ("EXISTS",)) or "compare it with something: @flag = 1",
                number=4145,
            )


LONGEST_CHAIN = 200
"""How many IFs may follow one another, each behind the ELSE of the one before: they nest in PL/pgSQL."""


def check_chains(batch: nodes.Batch, problems: Problems) -> None:
    """Report a longer chain of ELSE IF; the batch then has no statements, whose depth would be too much."""
    waiting = [(statement, 0) for statement in batch.statements]
    while waiting:
        statement, links = waiting.pop()
        if links == LONGEST_CHAIN:
            problems.add(
                NESTED_TOO_DEEPLY,
                statement.span,
                hint=f"at most {LONGEST_CHAIN} IFs can follow one another behind ELSE",
                number=191,
            )
            object.__setattr__(batch, "statements", ())
            object.__setattr__(batch, "has_errors", True)
            return
        otherwise = statement.otherwise if isinstance(statement, nodes.If) else None
        waiting += [
            (child, links + 1 if child is otherwise else links) for child in nodes.children_of(statement)
        ]


def _check_module(module: _Module, problems: Problems) -> None:
    if module.external is not None:
        problems.add("CLR assemblies cannot run on PostgreSQL.", module.external.span)
    if isinstance(module, nodes.CreateTrigger) and module.target is None and "LOGON" in module.events:
        problems.add("Logon triggers are not supported: a client may log on without them.", _head(module))
    if isinstance(module, nodes.CreateTrigger) and module.target is None:
        check_trigger_events(module, problems)
    if isinstance(module, nodes.CreateTrigger) and module.target is not None:
        for event in module.events:
            if event not in ("INSERT", "UPDATE", "DELETE"):
                problems.add(
                    f"Incorrect syntax near '{event}'.",
                    next(
                        (Span(module.span.source, t.start, t.end) for t in module.tokens if t.word == event),
                        _head(module),
                    ),
                    hint="a trigger on a table fires for INSERT, UPDATE and DELETE",
                    number=102,
                )
    if isinstance(module, nodes.CreateTrigger):
        for event in dict.fromkeys(one for one in module.events if module.events.count(one) > 1):
            problems.add(
                f'Syntax error: Duplicate specification of the action "{event}" in the trigger declaration.',
                _head(module),
                number=1034,
            )
    if isinstance(module, nodes.CreateFunction):
        for parameter in module.parameters:
            if parameter.output:
                problems.add(
                    "Incorrect syntax near 'OUTPUT'.",
                    parameter.span,
                    hint="a function gives back what it RETURNS: its parameters are no OUTPUT",
                    number=102,
                )
    if isinstance(module, nodes.CreateProcedure | nodes.CreateFunction):
        seen: set[str] = set()
        for parameter in module.parameters:
            if parameter.variable.key in seen:
                _add_duplicate(parameter.variable, problems)
            seen.add(parameter.variable.key)
    statements = module.body
    if isinstance(module, nodes.CreateFunction) and len(statements) == 1:
        statements = nodes.children_of(statements[0])
        last = statements[-1] if statements else None
        if not isinstance(last, nodes.Return | nodes.InvalidStatement):
            problems.add(
                "The last statement included within a function must be a return statement.",
                last.span if last else module.name.span,
                number=455,
            )
    _Scope(problems).check(statements, module)


@dataclass(frozen=True)
class _Context:
    """Where a statement stands."""

    in_loop: bool = False
    in_catch: bool = False
    inside: bool = False
    """Inside another statement of the same scope."""
    tries: tuple[int, ...] = ()
    """Identities of the TRY and CATCH parts around it, outermost first."""


_OUTSIDE = _Context()


def _walk(statements: Iterable[nodes.Statement]) -> Iterator[tuple[nodes.Statement, _Context]]:
    """Yield every statement of a scope in order, without those in the bodies of modules."""
    stack = [(statement, _OUTSIDE) for statement in reversed(list(statements))]
    while stack:
        statement, context = stack.pop()
        yield statement, context
        if not statement.inside:
            continue
        inner = _Context(context.in_loop, context.in_catch, True, context.tries)
        children: list[tuple[nodes.Statement, _Context]]
        match statement:
            case nodes.TryCatch():
                place = statement.span.start
                body = _Context(inner.in_loop, inner.in_catch, True, (*context.tries, 2 * place))
                handler = _Context(inner.in_loop, True, True, (*context.tries, 2 * place + 1))
                children = [(child, body) for child in statement.body]
                children += [(child, handler) for child in statement.handler]
            case nodes.While():
                children = [(statement.body, _Context(True, inner.in_catch, True, inner.tries))]
            case nodes.CreateProcedure() | nodes.CreateFunction() | nodes.CreateTrigger():
                children = []
            case nodes.CreateSchema():
                children = []
            case _:
                children = [(child, inner) for child in nodes.children_of(statement)]
        stack.extend(reversed(children))


# ------------------------------------------------------------------ variables


def _check_variables(
    statements: tuple[nodes.Statement, ...], tokens: list[Token], problems: Problems
) -> None:
    """Report variables that are used before they are declared, or declared twice.

    A module stands alone in its batch (111), so that one scope per batch is enough.
    """
    places = [place for place, token in enumerate(tokens) if token.kind is _VARIABLE]
    if not places:
        return
    declared: dict[str, int] = {}
    not_uses: set[int] = set()
    scalars: set[int] = set()
    source: Span | None = None
    for statement in nodes.all_of(statements):
        source = source or statement.span
        match statement:
            case nodes.Declare():
                for declaration in statement.declarations:
                    variable = declaration.variable
                    not_uses.add(variable.span.start)
                    if variable.key in declared:
                        _add_duplicate(variable, problems)
                    else:
                        declared[variable.key] = statement.span.end
            case nodes.CreateProcedure() | nodes.CreateFunction():
                for parameter in statement.parameters:
                    declared.setdefault(parameter.variable.key, statement.span.start)
                if isinstance(statement, nodes.CreateFunction) and statement.table_variable:
                    declared.setdefault(statement.table_variable.key, statement.span.start)
            case nodes.FetchCursor():
                scalars.update(variable.span.start for variable in statement.into)
            case nodes.ExecuteAs(cookie=cookie) if cookie is not None:
                scalars.add(cookie.span.start)
            case nodes.Execute():
                not_uses.update(a.name.span.start for a in statement.arguments if a.name)
            case nodes.InsertExecute(execute=nodes.Execute() as call):
                not_uses.update(a.name.span.start for a in call.arguments if a.name)
            case nodes.SqlStatement(kind="CREATE RULE"):
                return  # @name in a rule's condition stands for the value that is tested
            case nodes.InvalidStatement(span=span):
                # A DECLARE may be among what could not be read.
                for token in tokens:
                    if token.kind is _VARIABLE and span.start <= token.start < span.end:
                        not_uses.add(token.start)
                        declared.setdefault(token.text.lower(), token.start)
    if source is None:
        return
    for index in places:
        token = tokens[index]
        if token.start not in not_uses:
            key = token.text.lower()
            visible = declared.get(key)
            if (visible is None and not key.startswith("@@")) or (
                visible is not None and token.start < visible
            ):
                method = index + 1 < len(tokens) and tokens[index + 1].word == "."
                previous = tokens[index - 1].word if index else ""
                table = previous in _BEFORE_A_TABLE and not method and token.start not in scalars
                problems.add(
                    f'Must declare the {"table" if table else "scalar"} variable "{token.text}".',
                    Span(source.source, token.start, token.end),
                    hint=did_you_mean(token.text, _spelled(declared, tokens, places)),
                    number=1087 if table else 137,
                )


def _spelled(declared: Iterable[str], tokens: list[Token], places: list[int]) -> Iterator[str]:
    return (text for place in places if (text := tokens[place].text).lower() in declared)


def _add_duplicate(variable: nodes.Variable, problems: Problems) -> None:
    problems.add(
        f"The variable name '{variable.name}' has already been declared. Variable names must be unique "
        "within a query batch or stored procedure.",
        variable.span,
        number=134,
    )
