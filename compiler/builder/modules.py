"""Trees of procedures, functions, triggers and views → nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...grammar.source import Span
from .. import nodes
from .reader import Node, Reader, numbered
from .service_broker import execute_as_clause
from .tables import table_definition

__all__ = ["MODULES"]

BuildBody = Callable[[list[Any]], tuple[tuple[nodes.Statement, ...], tuple[nodes.Comment, ...]]]
"""Builds the statements of a body; returns them and the comments after the last one."""

ModuleBuilder = Callable[[Node, Reader, Span, BuildBody], nodes.Statement]


def _action(tree: Node, read: Reader) -> str:
    return read.words(read.need_tree(tree, "define"))


def _options(tree: Node, read: Reader) -> nodes.ModuleOptions:
    clause = read.tree(tree, "module_options")
    if clause is None:
        return nodes.ModuleOptions(span=read.span_of_tokens(read.range_of(tree)[0], read.range_of(tree)[0]))
    words: list[str] = []
    execute_as: nodes.ExecuteAsClause | None = None
    for option in read.trees(clause, "module_option"):
        found = read.tree(option, "execute_as_clause")
        word = "EXECUTE AS" if found is not None else read.words(option)
        if word in words or (found is not None and execute_as is not None):
            message = f"Option '{word}' is specified more than once."
            read.problems.add(message, read.span(option), number=1039)
        if found is not None:
            execute_as = execute_as_clause(found, read)
        else:
            words.append(word)
    return nodes.ModuleOptions(span=read.span(clause), words=tuple(words), execute_as=execute_as)


def _parameters(tree: Node, read: Reader) -> tuple[nodes.Parameter, ...]:
    clause = read.tree(tree, "parameters")
    return tuple(_parameter(child, read) for child in read.trees(clause)) if clause else ()


def _parameter(tree: Node, read: Reader) -> nodes.Parameter:
    cursor = read.tree(tree, "cursor_type")
    modes = {read.words(mode) for mode in read.trees(tree, "parameter_mode")}
    if cursor is not None:
        span = read.span(cursor)
        name = nodes.QualifiedName(span=span, name=nodes.Identifier(span=span, text="cursor"))
        data_type = nodes.DataType(span=span, name=name, varying="VARYING" in read.words(cursor))
    else:
        data_type = read.data_type(read.need_tree(tree, "named_type", "national_type", "double_type"))
    null = read.tree(tree, "parameter_null")
    return nodes.Parameter(
        span=read.span(tree),
        variable=read.need_variable(tree),
        type=data_type,
        default=read.optional_text(read.tree(tree, "parameter_default")),
        output=bool(modes & {"OUT", "OUTPUT"}),
        readonly="READONLY" in modes,
        nullable=None if null is None else read.words(null) == "NULL",
    )


def _external(tree: Node, read: Reader) -> nodes.ExternalName | None:
    clause = read.tree(tree, "external_name")
    if clause is None:
        return None
    name = read.need_tree(clause, "qualified_name")
    parts = tuple(map(read.identifier, read.terminals(name, "NAME")))
    return nodes.ExternalName(span=read.span(clause), parts=parts)


def _body(tree: Node, build: BuildBody) -> tuple[tuple[nodes.Statement, ...], tuple[nodes.Comment, ...]]:
    body = Reader.tree(tree, "body")
    return build(body.children if body is not None else [])


def _create_procedure(tree: Node, read: Reader, span: Span, build: BuildBody) -> nodes.Statement:
    terminal = read.terminal(tree, "MODULE_NUMBER")
    number = int(read.tokens[read.range_of(terminal)[1] - 1].text) if terminal else None
    statements, closing = _body(tree, build)
    return nodes.CreateProcedure(
        span=span,
        action=_action(tree, read),
        name=numbered(read.need_qualified(tree), number),
        number=number,
        parameters=_parameters(tree, read),
        options=_options(tree, read),
        for_replication=read.tree(tree, "for_replication") is not None,
        body=statements,
        text=read.text(tree),
        external=_external(tree, read),
        closing_comments=closing,
    )


def _create_function(tree: Node, read: Reader, span: Span, build: BuildBody) -> nodes.Statement:
    rest = next(
        child
        for child in read.trees(tree)
        if str(child.data).split("_")[0] in ("scalar", "inline", "table") and child.data != "table_definition"
    )
    data_type = read.tree(rest, "named_type", "national_type", "double_type")
    group = read.terminal(rest, "GROUP")
    variable = read.terminal(rest, "VARIABLE")
    query = read.tree(rest, "inline_query")
    expression = read.tree(rest, "expression")
    statements: tuple[nodes.Statement, ...] = ()
    block = read.tree(rest, "block", "atomic_block")
    if block is not None:
        statements, _ = build([block])
    elif expression is not None:
        read.unexpected(
            read.range_of(expression)[0] - 1, "the body of a scalar function stands between BEGIN and END"
        )
    if rest.data.startswith("inline"):
        kind = "INLINE"
    elif rest.data.startswith("table"):
        kind = "TABLE"
    else:
        kind = "SCALAR"
    return nodes.CreateFunction(
        span=span,
        action=_action(tree, read),
        name=read.need_qualified(tree),
        parameters=_parameters(tree, read),
        kind=kind,
        returns=read.data_type(data_type) if data_type else None,
        table_variable=read.variable(variable) if variable else None,
        table=table_definition(*read.range_of(group), read) if group else None,
        options=_options(rest, read),
        query=read.unwrapped(query, is_query=True) if query else None,
        body=statements,
        text=read.text(tree),
        external=_external(rest, read),
    )


def _create_trigger(tree: Node, read: Reader, span: Span, build: BuildBody) -> nodes.Statement:
    names = read.trees(tree, "qualified_name")
    scope = read.tree(tree, "trigger_scope")
    timing = read.words(read.need_tree(tree, "trigger_time"))
    statements, closing = _body(tree, build)
    return nodes.CreateTrigger(
        span=span,
        action=_action(tree, read),
        name=read.qualified(names[0]),
        target=read.qualified(names[1]) if len(names) > 1 else None,
        scope=read.words(scope) if scope else None,
        timing="AFTER" if timing == "FOR" else timing,
        events=tuple(read.words(event) for event in read.trees(tree, "trigger_event")),
        options=_options(tree, read),
        not_for_replication=read.tree(tree, "not_for_replication") is not None,
        body=statements,
        text=read.text(tree),
        external=_external(tree, read),
        closing_comments=closing,
    )


def create_view(tree: Node, read: Reader, span: Span) -> nodes.CreateView:
    """Return CREATE VIEW; WITH CHECK OPTION at the end of its query is taken off it."""
    group = read.terminal(tree, "GROUP")
    columns: list[nodes.Identifier] = []
    if group is not None:
        start, end = read.range_of(group)
        for first, last in read.split(start + 1, end - 1):
            if last - first != 1 or not read.is_name(first):
                read.unexpected(first, "expected the name of a column")
            else:
                columns.append(read.identifier_at(first))
    start, end = read.range_of(read.need_tree(tree, "view_query"))
    check = [token.word for token in read.tokens[end - 3 : end]] == ["WITH", "CHECK", "OPTION"]
    return nodes.CreateView(
        span=span,
        action=_action(tree, read),
        name=read.need_qualified(tree),
        columns=tuple(columns),
        options=_options(tree, read),
        query=read.text_at(start, end - 3 if check else end),
        check_option=check,
        text=read.text(tree),
    )


MODULES: dict[str, ModuleBuilder] = {
    "create_procedure": _create_procedure,
    "create_function": _create_function,
    "create_trigger": _create_trigger,
    "create_view": lambda tree, read, span, build: create_view(tree, read, span),
}
"""By the name of the grammar's rule."""
