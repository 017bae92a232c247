"""Trees of the statements on conversations → nodes: dialogs, SEND, RECEIVE, WAITFOR."""

from __future__ import annotations

from ...grammar.tokens import Token, TokenKind
from ...grammar.tree import Terminal
from .. import nodes
from .reader import Common, Node, Reader, builders
from .service_broker import refuse_repeated

# ------------------------------------------------------------------ conversations


@builders.register("begin_dialog")
def _begin_dialog(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    to_service, *instance = [
        read.string_or_variable(terminal)
        for terminal in read.terminals(read.need_tree(tree, "to_service"), "STRING", "VARIABLE")
    ]
    from_service = read.name_or_variable(read.need_tree(tree, "from_service"))
    assert from_service is not None
    options = read.tree(tree, "dialog_options")
    if options is not None:
        refuse_repeated(options, read)
        related = [
            *read.trees(options, "related_conversation"),
            *read.trees(options, "related_conversation_group"),
        ]
        if len(related) > 1:
            read.unexpected(
                read.range_of(related[-1])[0],
                "RELATED_CONVERSATION and RELATED_CONVERSATION_GROUP exclude each other",
            )

    def option(rule: str, value: str) -> nodes.SqlText | None:
        clause = read.tree(options, rule) if options else None
        return read.unwrapped(read.need_tree(clause, value)) if clause else None

    return nodes.BeginDialog(
        handle=read.need_variable(tree),
        from_service=from_service,
        to_service=to_service,
        broker_instance=instance[0] if instance else None,
        contract=read.optional(tree, "on_contract", read.name_or_variable),
        related_conversation=option("related_conversation", "handle"),
        related_conversation_group=option("related_conversation_group", "handle"),
        lifetime=option("dialog_lifetime", "lifetime"),
        encryption=read.optional(options, "dialog_encryption", read.on) if options else None,
        **common,
    )


@builders.register("begin_conversation_timer")
def _begin_timer(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.BeginConversationTimer(
        handle=read.unwrapped(read.need(tree, "GROUP")),
        timeout=read.text(read.need_tree(tree, "expression")),
        **common,
    )


@builders.register("send")
def _send(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    start, end = read.range_of(read.need_tree(tree, "handles"))
    if read.tokens[start].word == "(" and read.closing(start, end) == end - 1:
        start, end = start + 1, end - 1
    handles = []
    for first, last in read.split(start, end):
        if first == last:
            read.unexpected(last, "expected a conversation handle")
            continue
        handles.append(read.text_at(first, last))
    body = read.terminal(tree, "GROUP")
    if body is not None and read.range_of(body)[1] - read.range_of(body)[0] == 2:
        read.unexpected(
            read.range_of(body)[1] - 1, "leave the parentheses out to send a message without a body"
        )
    return nodes.Send(
        handles=tuple(handles),
        message_type=read.optional(tree, "send_type", read.name_or_variable),
        body=read.inside(body) if body else None,
        **common,
    )


@builders.register("end_conversation")
def _end_conversation(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    option = read.tree(tree, "end_option")
    error = read.tree(option, "end_error") if option else None
    description = read.tree(option, "end_description") if option else None
    return nodes.EndConversation(
        handle=read.unwrapped(read.need_tree(tree, "handle")),
        error=read.unwrapped(error) if error else None,
        description=read.unwrapped(description) if description else None,
        cleanup=option is not None and error is None,
        **common,
    )


@builders.register("get_conversation_group")
def _get_conversation_group(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.GetConversationGroup(
        variable=read.need_variable(tree), queue=read.need_local(tree), **common
    )


@builders.register("move_conversation")
def _move_conversation(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    handle, group = read.trees(tree, "handle")
    return nodes.MoveConversation(handle=read.unwrapped(handle), group=read.unwrapped(group), **common)


@builders.register("receive")
def _receive(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    top = read.tree(tree, "top")
    items = [item for child in read.trees(tree) if (item := _receive_item(child, read)) is not None]
    assigned = [item for item in items if isinstance(item, nodes.ReceiveAssignment)]
    if assigned and len(assigned) < len(items):
        first_other = next(
            item for item in items if isinstance(item, nodes.ReceiveAssignment) is not _first_assigns(items)
        )
        read.problems.add(
            "A RECEIVE statement that assigns a value to a variable must not be combined with "
            "data retrieval operations.",
            first_other.span,
            hint="either assign every column to a variable, or none",
            number=8447,
        )
    into = read.tree(tree, "receive_into")
    if into is not None and assigned:
        read.problems.add(
            "Assignments in the RECEIVE projection are not allowed in conjunction with the INTO clause.",
            assigned[0].span,
            hint="either assign to variables, or receive into the table",
            number=8450,
        )
    where = read.tree(tree, "receive_where")
    return nodes.Receive(
        top=read.unwrapped(top.children[0]) if top else None,
        items=tuple(items),
        queue=read.need_local(tree),
        into=read.need_variable(into) if into else None,
        where=_receive_filter(where, read) if where else None,
        **common,
    )


def _compound(variable: nodes.Variable, operator: str, value: nodes.SqlText) -> nodes.SqlText:
    """``@v += value`` as what it assigns: ``@v + (value)``, each token at a place of the assignment."""
    start, end = variable.span.start, variable.span.end
    first, last = value.tokens[0].start, value.tokens[-1].end
    tokens = (
        Token(TokenKind.VARIABLE, variable.name, start, end, ""),
        Token(TokenKind.SYMBOL, operator, end, end, operator),
        Token(TokenKind.SYMBOL, "(", first, first, "("),
        *value.tokens,
        Token(TokenKind.SYMBOL, ")", last, last, ")"),
    )
    return nodes.SqlText(span=value.span, tokens=tokens)


def _first_assigns(items: list[nodes.ReceiveStar | nodes.ReceiveColumn | nodes.ReceiveAssignment]) -> bool:
    return isinstance(items[0], nodes.ReceiveAssignment)


def _receive_item(
    tree: Node, read: Reader
) -> nodes.ReceiveStar | nodes.ReceiveColumn | nodes.ReceiveAssignment | None:
    span = read.span(tree)
    expression = read.tree(tree, "expression")
    match tree.data:
        case "receive_star":
            return nodes.ReceiveStar(span=span)
        case "receive_assignment":
            assert expression is not None
            variable = read.need_variable(tree)
            value = read.text(expression)
            operator = read.terminal(tree, "COMPOUND")
            if operator is not None:
                value = _compound(variable, read.words(operator)[:-1], value)
            return nodes.ReceiveAssignment(span=span, variable=variable, expression=value)
        case "receive_column" | "receive_alias":
            assert expression is not None
            alias = read.terminal(tree, "NAME", "STRING")
            return nodes.ReceiveColumn(
                span=span,
                expression=read.text(expression),
                alias=_alias(alias, read) if alias else None,
            )
    return None


def _alias(terminal: Terminal, read: Reader) -> nodes.Identifier:
    if terminal.type == "NAME":
        return read.identifier(terminal)
    literal = read.string(terminal)
    return nodes.Identifier(span=literal.span, text=literal.value, quoted=True)


def _receive_filter(tree: Node, read: Reader) -> nodes.ReceiveFilter:
    column = read.need_qualified(tree)
    name = column.name.text.lower()
    if name not in ("conversation_handle", "conversation_group_id"):
        read.problems.add(
            f"RECEIVE cannot be filtered by '{column.text}'.",
            column.span,
            hint="WHERE takes conversation_handle = … or conversation_group_id = …",
            number=102,
        )
        name = "conversation_handle"
    return nodes.ReceiveFilter(
        span=read.span(tree), column=name, value=read.unwrapped(read.need_tree(tree, "handle"))
    )


@builders.register("wait_for_time")
def _wait_for_time(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.WaitForTime(
        kind=read.words(read.need_tree(tree, "wait_kind")),
        value=read.text(read.need(tree, "STRING", "VARIABLE")),
        **common,
    )


@builders.register("wait_for_message")
def _wait_for_message(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    inner_tree = read.need_tree(tree, "receive", "get_conversation_group")
    inner = builders[str(inner_tree.data)](inner_tree, read, {"span": read.span(inner_tree)})
    assert isinstance(inner, nodes.Receive | nodes.GetConversationGroup)
    timeout = read.tree(tree, "timeout")
    return nodes.WaitForMessage(
        statement=inner, timeout=read.unwrapped(timeout) if timeout else None, **common
    )
