"""Trees of variables, control flow, transactions, EXEC and cursors → nodes.

Statements that hold statements are built in batches.py.
"""

from __future__ import annotations

from typing import Any

from ...grammar.tokens import TokenKind
from .. import nodes
from .reader import Common, Node, Reader, builders, numbered
from .tables import table_definition

__all__ = ["cursor_definition"]

# ------------------------------------------------------------------ variables


@builders.register("declare")
def _declare(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Declare(
        declarations=tuple(_declaration(child, read) for child in read.trees(tree)), **common
    )


def _declaration(
    tree: Node, read: Reader
) -> nodes.VariableDeclaration | nodes.TableVariableDeclaration | nodes.CursorVariableDeclaration:
    span = read.span(tree)
    variable = read.need_variable(tree)
    if tree.data == "declare_table":
        definition = table_definition(*read.range_of(read.need(tree, "GROUP")), read)
        return nodes.TableVariableDeclaration(span=span, variable=variable, definition=definition)
    if tree.data == "declare_cursor_variable":
        return nodes.CursorVariableDeclaration(span=span, variable=variable)
    return nodes.VariableDeclaration(
        span=span,
        variable=variable,
        type=read.data_type(read.need_tree(tree, "named_type", "national_type", "double_type")),
        initial=read.optional_text(read.tree(tree, "expression")),
    )


@builders.register("set_variable")
def _set_variable(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.SetVariable(
        variable=read.need_variable(tree),
        operator=read.words(read.need_tree(tree, "assignment")),
        value=read.text(read.need_tree(tree, "expression")),
        **common,
    )


@builders.register("set_method")
def _set_method(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    group = read.terminal(tree, "GROUP")
    return nodes.SetMethod(
        variable=read.need_variable(tree),
        method=read.name(tree),
        arguments=read.inside(group) if group else read.text(read.need_tree(tree, "expression")),
        **common,
    )


@builders.register("set_cursor")
def _set_cursor(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.SetCursorVariable(
        variable=read.need_variable(tree), cursor=cursor_definition(tree, read), **common
    )


@builders.register("set_switch")
def _set_switch(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    names = tuple(read.raw(terminal).text.upper() for terminal in read.terminals(tree, "NAME"))
    return nodes.SetOption(names=names, value=read.words(read.need_tree(tree, "on_off")), **common)


@builders.register("set_statistics")
def _set_statistics(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    names = tuple(
        f"STATISTICS {read.raw(terminal).text.upper()}" for terminal in read.terminals(tree, "NAME")
    )
    return nodes.SetOption(names=names, value=read.words(read.need_tree(tree, "on_off")), **common)


@builders.register("set_offsets")
def _set_offsets(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.SetOption(names=("OFFSETS",), value=read.words(read.need_tree(tree, "on_off")), **common)


@builders.register("set_identity_insert")
def _set_identity_insert(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.SetOption(
        names=("IDENTITY_INSERT",),
        table=read.need_qualified(tree),
        value=read.words(read.need_tree(tree, "on_off")),
        **common,
    )


@builders.register("set_value_option")
def _set_value_option(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    argument = read.text(read.need_tree(tree, "set_value"))
    name = read.tokens[read.range_of(tree)[0] + 1].text.upper()
    value = "".join(token.text for token in argument.tokens)  # - 1 is -1
    return nodes.SetOption(names=(name,), value=value, argument=argument, **common)


@builders.register("set_isolation")
def _set_isolation(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    level = read.words(read.need_tree(tree, "isolation_level"))
    return nodes.SetOption(names=("TRANSACTION ISOLATION LEVEL",), value=level, **common)


# ------------------------------------------------------------------ control flow


@builders.register("break")
def _break(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Break(**common)


@builders.register("continue")
def _continue(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Continue(**common)


@builders.register("goto")
def _goto(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Goto(label=read.name(tree), **common)


@builders.register("label")
def _label(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Label(name=read.identifier(read.need(tree, "LABEL")), **common)


@builders.register("return")
def _return(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Return(value=read.optional_text(read.tree(tree, "expression")), **common)


@builders.register("throw")
def _throw(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    arguments = [read.text(argument) for argument in read.trees(tree, "throw_argument")]
    if not arguments:
        return nodes.Throw(**common)
    number, message, state = arguments
    return nodes.Throw(number=number, message=message, state=state, **common)


@builders.register("raiserror")
def _raiserror(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    start, end = read.range_of(read.need(tree, "GROUP"))
    arguments = []
    for first, last in read.split(start + 1, end - 1):
        if first >= last:
            read.unexpected(last, "expected a constant or a variable")
            continue
        tokens = read.tokens[first:last]
        signed = len(tokens) == 2 and tokens[0].word in ("-", "+") and tokens[1].kind is TokenKind.NUMBER
        if len(tokens) > 1 and not signed:
            read.unexpected(
                first + 1,
                "RAISERROR takes constants and variables, no expressions: put the text into a variable",
            )
        elif tokens[0].kind is TokenKind.WORD and tokens[0].word != "NULL":
            read.unexpected(first, "RAISERROR takes constants and variables, no expressions")
        arguments.append(read.text_at(first, last))
    if len(arguments) < 3:
        read.unexpected(end - 1, "RAISERROR (message, severity, state, argument, …)")
        arguments += [read.text_at(end - 1, end - 1)] * (3 - len(arguments))
    elif len(arguments) > 23:
        read.problems.add(
            "Too many substitution parameters for RAISERROR. Cannot exceed 20 substitution parameters.",
            arguments[23].span,
            number=2747,
        )
    options = []
    for terminal in read.terminals(tree, "NAME"):
        option = read.raw(terminal).word
        if option not in ("LOG", "NOWAIT", "SETERROR"):
            read.unexpected(read.range_of(terminal)[0], "expected LOG, NOWAIT or SETERROR")
        options.append(option)
    message, severity, state, *rest = arguments
    return nodes.RaiseError(
        message=message,
        severity=severity,
        state=state,
        arguments=tuple(rest),
        options=tuple(options),
        **common,
    )


@builders.register("old_raiserror")
def _old_raiserror(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    read.unexpected(
        read.range_of(tree)[0] + 1,
        "SQL Server 2012 removed this form: write RAISERROR (message, severity, state)",
    )
    return nodes.InvalidStatement(**common)


@builders.register("print")
def _print(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Print(value=read.text(read.need_tree(tree, "expression")), **common)


@builders.register("use")
def _use(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.Use(database=read.name(tree), **common)


# ------------------------------------------------------------------ transactions


@builders.register("begin_transaction")
def _begin_transaction(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    mark_tree = read.tree(tree, "mark")
    mark: nodes.StringLiteral | None = None
    if mark_tree is not None:
        text = read.terminal(mark_tree, "STRING")
        mark = read.string(text) if text else nodes.StringLiteral(span=read.span(mark_tree), value="")
    return nodes.BeginTransaction(
        name=read.name_or_variable(tree),
        mark=mark,
        distributed=read.tree(tree, "distributed") is not None,
        **common,
    )


@builders.register("commit_transaction")
def _commit(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    group = read.terminal(tree, "GROUP")
    if group is not None and not (
        read.inside(group).words[:2] == ("DELAYED_DURABILITY", "=")
        and read.inside(group).words[2:] in (("ON",), ("OFF",))
    ):
        read.unexpected(read.range_of(group)[0] + 1, "expected DELAYED_DURABILITY = ON or OFF")
    return nodes.CommitTransaction(name=read.name_or_variable(tree), **common)


@builders.register("rollback_transaction")
def _rollback(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.RollbackTransaction(name=read.name_or_variable(tree), **common)


@builders.register("save_transaction")
def _save(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    name = read.name_or_variable(tree)
    assert name is not None
    return nodes.SaveTransaction(name=name, **common)


# ------------------------------------------------------------------ EXEC


@builders.register("execute")
def _execute(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return_code = read.tree(tree, "return_code")
    variable = read.terminal(tree, "VARIABLE")
    name = read.tree(tree, "qualified_name")
    assert variable is not None or name is not None
    call = _call(tree, read)
    return nodes.Execute(
        module=(
            numbered(read.qualified(name), call["number"])
            if name
            else read.variable(read.need(tree, "VARIABLE"))
        ),
        return_variable=read.need_variable(return_code) if return_code else None,
        **call,
        **common,
    )


@builders.register("implicit_execute")
def _implicit_execute(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    call = _call(tree, read)
    module = numbered(read.need_qualified(tree), call["number"])
    return nodes.Execute(module=module, implicit=True, **call, **common)


def _call(tree: Node, read: Reader) -> dict[str, Any]:
    number = read.terminal(tree, "MODULE_NUMBER")
    arguments = read.tree(tree, "arguments")
    recompile, result_sets = _execute_options(tree, read)
    return {
        "number": int(read.tokens[read.range_of(number)[1] - 1].text) if number else None,
        "arguments": tuple(_argument(child, read) for child in read.trees(arguments)) if arguments else (),
        "recompile": recompile,
        "result_sets": result_sets,
    }


def _execute_options(tree: Node, read: Reader) -> tuple[bool, nodes.SqlText | None]:
    options = read.tree(tree, "execute_options")
    recompile = False
    result_sets: nodes.SqlText | None = None
    for option in read.trees(options, "execute_option") if options else ():
        start, end = read.range_of(option)
        if read.tokens[start].word == "RECOMPILE":
            recompile = True
        else:
            result_sets = read.text_at(start + 2, end)
    return recompile, result_sets


def _argument(tree: Node, read: Reader) -> nodes.Argument:
    start, end = read.range_of(tree)
    name: nodes.Variable | None = None
    if end - start > 2 and read.tokens[start + 1].word == "=":
        name = read.variable(read.terminals(tree, "VARIABLE")[0])
        start += 2
    output = read.tree(tree, "output") is not None
    if output:
        end -= 1
    value = None if tree.data == "default_argument" else read.text_at(start, end)
    return nodes.Argument(span=read.span(tree), name=name, value=value, output=output)


@builders.register("execute_string")
def _execute_string(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    start, end = read.range_of(read.need(tree, "GROUP"))
    (first, last), *others = read.split(start + 1, end - 1)
    if first >= last:
        read.unexpected(last, "expected a string or a variable")
    arguments = []
    for argument_start, argument_end in others:
        output = read.tokens[argument_end - 1].word in ("OUT", "OUTPUT")
        value = read.text_at(argument_start, argument_end - output)
        arguments.append(nodes.Argument(span=value.span, name=None, value=value, output=output))
    as_clause = read.tree(tree, "execute_string_as")
    at_clause = read.tree(tree, "execute_at")
    return nodes.ExecuteString(
        text=read.text_at(first, last),
        arguments=tuple(arguments),
        as_kind=read.tokens[read.range_of(as_clause)[0] + 1].word if as_clause else None,
        as_name=read.string(read.need(as_clause, "STRING")) if as_clause else None,
        at_server=read.name(at_clause) if at_clause else None,
        result_sets=_execute_options(tree, read)[1],
        **common,
    )


@builders.register("execute_as")
def _execute_as(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    principal = read.need_tree(tree, "execute_as_principal")
    value = read.terminal(principal, "STRING", "VARIABLE")
    option = read.tree(tree, "execute_as_option")
    cookie = read.terminal(option, "VARIABLE") if option else None
    return nodes.ExecuteAs(
        kind=read.tokens[read.range_of(principal)[0]].word,
        principal=read.string_or_variable(value) if value else None,
        no_revert=option is not None and cookie is None,
        cookie=read.variable(cookie) if cookie else None,
        **common,
    )


@builders.register("revert")
def _revert(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    cookie = read.terminal(tree, "VARIABLE")
    return nodes.Revert(cookie=read.variable(cookie) if cookie else None, **common)


# ------------------------------------------------------------------ cursors


_EXCLUDING_OPTIONS = (
    ("LOCAL", "GLOBAL"),
    ("FORWARD_ONLY", "SCROLL"),
    ("STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD"),
    ("READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC"),
    ("FAST_FORWARD", "SCROLL"),
    ("FAST_FORWARD", "SCROLL_LOCKS"),
    ("STATIC", "SCROLL_LOCKS"),
    ("FAST_FORWARD", "OPTIMISTIC"),
)
"""Options of a cursor of which one excludes the others of its group."""

_NOT_FOR_UPDATE = frozenset({"FAST_FORWARD", "READ_ONLY", "STATIC", "INSENSITIVE"})


def _cursor_options(tree: Node, read: Reader) -> tuple[str, ...]:
    clauses = {read.words(option): option for option in read.trees(tree, "cursor_option")}
    for group in _EXCLUDING_OPTIONS:
        given = [word for word in clauses if word in group]
        if len(given) > 1:
            read.problems.add(
                f"Conflicting cursor options {given[0]} and {given[1]}.",
                read.span(clauses[given[1]]),
                number=1048,
            )
            break
    places = [read.range_of(option)[0] for option in clauses.values()]
    first = read.range_of(tree)[0]
    word = next(at for at in range(first, len(read.tokens)) if read.tokens[at].word == "CURSOR")
    if places and min(places) < word < max(places):
        read.problems.add(
            "Mixing old and new syntax to specify cursor options is not allowed.",
            read.span(tree),
            number=1049,
        )
    return tuple(clauses)


def cursor_definition(tree: Node, read: Reader) -> nodes.CursorDefinition:
    """Return what DECLARE … CURSOR or SET @c = CURSOR says: options, query, FOR clause."""
    query = read.need_tree(tree, "cursor_query")
    start, end = read.range_of(query)
    updatable: str | None = None
    columns: tuple[nodes.Identifier, ...] = ()
    for_clause = _for_clause(start, end, read)
    if for_clause is not None:
        updatable = "READ ONLY" if read.tokens[for_clause + 1].word == "READ" else "UPDATE"
        if updatable == "UPDATE" and for_clause + 2 < end:
            columns = _updated_columns(for_clause + 2, end, read)
        end = for_clause
    options = _cursor_options(tree, read)
    if updatable == "READ ONLY" and "READ_ONLY" in options:
        read.problems.add(
            "Cannot specify both READ_ONLY and FOR READ ONLY on a cursor declaration.",
            read.span(query),
            number=1058,
        )
    unchanged = next((option for option in options if option in _NOT_FOR_UPDATE), None)
    if updatable == "UPDATE" and unchanged == "FAST_FORWARD":
        read.problems.add(
            "Conflicting cursor options FAST_FORWARD and FOR UPDATE.", read.span(query), number=1048
        )
    elif updatable == "UPDATE" and unchanged is not None:
        read.problems.add(
            "FOR UPDATE cannot be specified on a READ ONLY cursor.", read.span(query), number=16957
        )
    return nodes.CursorDefinition(
        span=read.span(query),
        options=options,
        query=read.text_at(start, end),
        updatable=updatable,
        update_columns=columns,
    )


def _updated_columns(start: int, end: int, read: Reader) -> tuple[nodes.Identifier, ...]:
    """Return the columns that FOR UPDATE OF names."""
    if read.tokens[start].word != "OF":
        read.unexpected(start, "expected OF or the end of the statement")
        return ()
    columns = []
    for first, last in read.split(start + 1, end):
        # A column may stand behind the name or alias of its table.
        names = range(first, last, 2)
        dots = [read.tokens[index].word for index in range(first + 1, last, 2)]
        if len(names) == len(dots) or set(dots) - {"."} or not all(map(read.is_name, names)):
            read.unexpected(min(first, end - 1), "expected the name of a column")
            continue
        columns.append(read.identifier_at(last - 1))
    return tuple(columns)


def _for_clause(start: int, end: int, read: Reader) -> int | None:
    """Return the index of FOR READ ONLY or FOR UPDATE at the end of a cursor's query."""
    depth = 0
    for index in range(end - 1, start, -1):
        word = read.tokens[index].word
        if word == ")":
            depth += 1
        elif word == "(":
            depth -= 1
        elif word == "FOR" and depth == 0:
            following = [token.word for token in read.tokens[index + 1 : end]]
            return index if following[:1] == ["UPDATE"] or following == ["READ", "ONLY"] else None
    return None


@builders.register("declare_cursor")
def _declare_cursor(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.DeclareCursor(name=read.name(tree), cursor=cursor_definition(tree, read), **common)


def _cursor(tree: Node, read: Reader) -> nodes.CursorReference:
    cursor = read.need_tree(tree, "cursor")
    name = read.name_or_variable(cursor)
    assert name is not None
    return nodes.CursorReference(
        span=read.span(cursor), name=name, is_global=read.tree(cursor, "global") is not None
    )


@builders.register("open_cursor")
def _open_cursor(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.OpenCursor(cursor=_cursor(tree, read), **common)


@builders.register("close_cursor")
def _close_cursor(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.CloseCursor(cursor=_cursor(tree, read), **common)


@builders.register("deallocate_cursor")
def _deallocate_cursor(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.DeallocateCursor(cursor=_cursor(tree, read), **common)


@builders.register("fetch_cursor")
def _fetch_cursor(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    direction = "NEXT"
    offset: nodes.SqlText | None = None
    clause = read.tree(tree, "fetch_direction")
    if clause is not None:
        start, end = read.range_of(clause)
        direction = read.tokens[start].word
        if end - start > 1:
            offset = read.text_at(start + 1, end)
    into = read.tree(tree, "fetch_into")
    return nodes.FetchCursor(
        direction=direction,
        offset=offset,
        cursor=_cursor(tree, read),
        into=tuple(map(read.variable, read.terminals(into, "VARIABLE"))) if into else (),
        **common,
    )
