"""A failing program → a smaller failing program.

Works on copies of the tree: drops runs of statements, procedures and batches, puts
the inside of a block in its place, and makes expressions plain, as long as the
program still fails.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from . import syntax as s

Fails = Callable[[s.Program], bool]
Change = Callable[[s.Program], bool]


def lists(program: s.Program) -> list[list[s.Stmt]]:
    """Every list of statements in a program, in a fixed order."""
    found: list[list[s.Stmt]] = []
    for node in s.walk(program):
        match node:
            case (
                s.Procedure(body=body)
                | s.Function(body=body)
                | s.Trigger(body=body)
                | s.Batch(body)
                | s.Block(body)
                | s.While(_, body)
                | s.ExecText(body)
            ):
                found.append(body)
            case s.If(_, then, otherwise):
                found.append(then)
                if otherwise is not None:
                    found.append(otherwise)
            case s.Try(body, handler):
                found += [body, handler]
    return found


def may_be_empty(program: s.Program, statements: list[s.Stmt]) -> bool:
    return any(isinstance(node, s.Try) and node.handler is statements for node in s.walk(program))


def drop_statements(number: int, start: int, length: int) -> Change:
    def change(program: s.Program) -> bool:
        statements = lists(program)[number]
        if len(statements) == length and not may_be_empty(program, statements):
            return False
        del statements[start : start + length]
        return True

    return change


def unwrap(number: int, place: int) -> Change:
    """Put what is inside a compound statement in its place."""

    def change(program: s.Program) -> bool:
        statements = lists(program)[number]
        stmt = statements[place]
        inner: list[s.Stmt]
        match stmt:
            case s.If(_, then, None) | s.While(_, then) | s.Block(then):
                inner = then
            case s.If(_, then, otherwise):
                inner = [*then, *(otherwise or [])]
            case s.Try(body, _):
                inner = body
            case _:
                return False
        statements[place : place + 1] = inner
        return True

    return change


def drop_else(number: int, place: int) -> Change:
    def change(program: s.Program) -> bool:
        stmt = lists(program)[number][place]
        if not isinstance(stmt, s.If) or stmt.otherwise is None:
            return False
        stmt.otherwise = None
        return True

    return change


def drop_unit(procedure: bool, place: int) -> Change:
    def change(program: s.Program) -> bool:
        units: list[s.Procedure] | list[s.Batch] = program.procedures if procedure else program.batches
        if not procedure and len(units) == 1:
            return False
        del units[place]
        return True

    return change


def drop_function(place: int) -> Change:
    def change(program: s.Program) -> bool:
        del program.functions[place]
        return True

    return change


def drop_trigger(place: int) -> Change:
    def change(program: s.Program) -> bool:
        del program.triggers[place]
        return True

    return change


def plainer(number: int, place: int) -> Iterator[Change]:
    """Simpler forms of one statement."""

    def on(kind: type[s.Stmt], work: Callable[[s.Stmt], bool]) -> Change:
        def change(program: s.Program) -> bool:
            stmt = lists(program)[number][place]
            return isinstance(stmt, kind) and work(stmt)

        return change

    def one_row(stmt: s.Stmt) -> bool:
        assert isinstance(stmt, s.Insert)
        several = len(stmt.rows) > 1
        stmt.rows = stmt.rows[:1]
        return several

    def constant_values(stmt: s.Stmt) -> bool:
        assert isinstance(stmt, s.Insert)
        before = [value for row in stmt.rows for value in row if not isinstance(value, s.Const)]
        stmt.rows = [
            [
                value if isinstance(value, s.Const) else s.Const(1 if i < 2 else "a")
                for i, value in enumerate(row)
            ]
            for row in stmt.rows
        ]
        return bool(before)

    def shorter_print(stmt: s.Stmt) -> bool:
        assert isinstance(stmt, s.Print)
        if not isinstance(stmt.value, s.Concat) or len(stmt.value.parts) < 2:
            return False
        stmt.value = s.Concat(stmt.value.parts[:-1]) if len(stmt.value.parts) > 2 else stmt.value.parts[0]
        return True

    def shorter_print_front(stmt: s.Stmt) -> bool:
        assert isinstance(stmt, s.Print)
        if not isinstance(stmt.value, s.Concat) or len(stmt.value.parts) < 3:
            return False
        stmt.value = s.Concat(stmt.value.parts[1:])
        return True

    def no_where(stmt: s.Stmt) -> bool:
        assert isinstance(stmt, (s.Update, s.Delete))
        had = stmt.where is not None
        stmt.where = None
        return had

    def no_arguments(stmt: s.Stmt) -> bool:
        assert isinstance(stmt, s.Raiserror)
        had = bool(stmt.args)
        stmt.args, stmt.message = [], s.Const("r")
        return had

    def true_condition(stmt: s.Stmt) -> bool:
        assert isinstance(stmt, s.If)
        plain = isinstance(stmt.cond, s.Compare) and isinstance(stmt.cond.left, s.Const)
        stmt.cond = s.Compare("=", s.Const(1), s.Const(1))
        return not plain

    yield on(s.Insert, one_row)
    yield on(s.Insert, constant_values)
    yield on(s.Print, shorter_print)
    yield on(s.Print, shorter_print_front)
    yield on(s.Update, no_where)
    yield on(s.Delete, no_where)
    yield on(s.Raiserror, no_arguments)
    yield on(s.If, true_condition)


def changes(program: s.Program) -> Iterator[Change]:
    """Everything that may be tried on this program, big steps first."""
    for place in reversed(range(len(program.batches))):
        yield drop_unit(False, place)
    for place in reversed(range(len(program.procedures))):
        yield drop_unit(True, place)
    for place in reversed(range(len(program.functions))):
        yield drop_function(place)
    for place in reversed(range(len(program.triggers))):
        yield drop_trigger(place)
    found = lists(program)
    longest = max((len(statements) for statements in found), default=1)
    length = longest
    while length:
        for number, statements in enumerate(found):
            for start in reversed(range(0, max(1, len(statements) - length + 1), max(1, length // 2))):
                if start + length <= len(statements):
                    yield drop_statements(number, start, length)
        length //= 2
    for number, statements in enumerate(found):
        for place in range(len(statements)):
            yield unwrap(number, place)
            yield drop_else(number, place)
    for number, statements in enumerate(found):
        for place in range(len(statements)):
            yield from plainer(number, place)


def complete(program: s.Program) -> bool:
    """Whether T-SQL would compile it: variables declared, labels there, BREAK in a loop, THROW; in CATCH."""
    units: list[tuple[list[s.Stmt], set[str]]] = [
        (proc.body, {param.name for param in proc.params}) for proc in program.procedures
    ]
    units += [(batch.body, set()) for batch in program.batches]
    units += [(trigger.body, set()) for trigger in program.triggers]
    units += [(function.body, {param.name for param in function.params}) for function in program.functions]
    units += [
        (node.body, {param.name for param in node.params})
        for node in s.walk(program)
        if isinstance(node, s.ExecText)
    ]
    names = {proc.name for proc in program.procedures} | {"no_such_procedure"}
    functions = {function.name for function in program.functions}
    for node in s.walk(program):
        if isinstance(node, s.Exec) and node.procedure not in names:
            return False
        if isinstance(node, s.Call) and node.function not in functions:
            return False
    if not all(batch.body for batch in program.batches):
        return False
    if not all(isinstance(function.body[-1], s.Return) for function in program.functions if function.body):
        return False
    return all(_unit_complete(*unit) for unit in units)


def _unit_complete(body: list[s.Stmt], declared: set[str]) -> bool:
    labels = {node.name for node in _own(body) if isinstance(node, s.Label)}
    declared = set(declared)
    for node in _own(body):
        match node:
            case s.Declare(name) | s.DeclareTable(name):
                declared.add(name)
            case s.Var(name) if name not in declared:
                return False
            case s.SetVar(name, _) if name not in declared:
                return False
            case s.SelectVars(targets) if any(name not in declared for name, _ in targets):
                return False
            case s.BeginDialog(name) | s.Send(name, _) | s.EndConversation(name) if name not in declared:
                return False
            case s.Receive(_, handle, type_name, body_name) if not {handle, type_name, body_name} <= declared:
                return False
            case s.Fetch(into=names) if any(name not in declared for name in names):
                return False
            case s.Exec(result=str(name)) if name not in declared:
                return False
            case s.Insert(table) | s.Delete(table) | s.Update(table) | s.SelectRows(_, str(table)) if (
                table[0] == "@" and table not in declared
            ):
                return False
            case s.Goto(label) if label not in labels:
                return False
    return _placed(body, loop=False, catch=False)


def _own(body: list[s.Stmt]) -> Iterator[s.Node]:
    """The nodes of a unit without those of EXEC strings, which are units of their own."""
    inside: set[int] = set()
    for node in s.walk(body):
        if id(node) in inside:
            continue
        if isinstance(node, s.ExecText):
            inside.update(id(each) for each in s.walk(node.body))
        yield node


def _placed(body: list[s.Stmt], *, loop: bool, catch: bool) -> bool:
    for stmt in body:
        match stmt:
            case s.Break() | s.Continue() if not loop:
                return False
            case s.Throw(None) if not catch:
                return False
            case s.If(_, then, otherwise):
                if not _placed([*then, *(otherwise or [])], loop=loop, catch=catch):
                    return False
            case s.While(_, inner):
                if not _placed(inner, loop=True, catch=catch):
                    return False
            case s.Block(inner):
                if not _placed(inner, loop=loop, catch=catch):
                    return False
            case s.Try(tried, handler):
                if not (_placed(tried, loop=loop, catch=catch) and _placed(handler, loop=loop, catch=True)):
                    return False
    return True


def minimise(program: s.Program, fails: Fails, attempts: int) -> s.Program:
    """The smallest failing program found within ``attempts`` tries."""
    best = program
    shrunk = True
    while shrunk and attempts > 0:
        shrunk = False
        for change in list(changes(best)):
            candidate = copy.deepcopy(best)
            try:
                changed = change(candidate)
            except IndexError:
                continue  # an earlier change took the place away
            if not changed or not complete(candidate):
                continue
            attempts -= 1
            if fails(candidate):
                best = candidate
                shrunk = True
                # Places have moved, but later changes are still worth trying.
            if attempts <= 0:
                break
    return best
