"""Trees of the statements that make Service Broker's objects → nodes."""

from __future__ import annotations

import re
from typing import Any

from ...grammar.tokens import TokenKind
from ...grammar.tree import Terminal
from .. import nodes
from .reader import Common, Node, Reader, builders

__all__ = ["event_scope", "execute_as_clause", "refuse_repeated"]


_VALIDATIONS = ("NONE", "EMPTY", "WELL_FORMED_XML", "VALID_XML")


# ------------------------------------------------------------------ message types, contracts


def _validation(tree: Node, read: Reader) -> tuple[str | None, nodes.QualifiedName | None]:
    clause = read.tree(tree, "validation")
    if clause is None:
        return None, None
    word = read.need(clause, "NAME")
    validation = read.raw(word).text.upper()
    collection = read.optional(clause, "qualified_name", read.qualified)
    if validation not in _VALIDATIONS:
        read.unexpected(read.range_of(word)[0], f"expected {', '.join(_VALIDATIONS[:-1])} or VALID_XML")
        return None, None
    if validation == "VALID_XML" and collection is None:
        read.problems.add(
            "VALIDATION = VALID_XML needs a schema collection.",
            read.span(word),
            hint="write VALID_XML WITH SCHEMA COLLECTION name",
            number=102,
        )
        return None, None
    if validation != "VALID_XML" and collection is not None:
        read.unexpected(read.range_of(word)[1], "only VALID_XML takes a schema collection")
    return validation, collection


@builders.register("create_message_type")
def _create_message_type(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    validation, collection = _validation(tree, read)
    return nodes.CreateMessageType(
        name=read.name(tree),
        owner=read.owner(tree),
        validation=validation,
        schema_collection=collection,
        **common,
    )


@builders.register("alter_message_type")
def _alter_message_type(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    validation, collection = _validation(tree, read)
    return nodes.AlterMessageType(
        name=read.name(tree), validation=validation or "NONE", schema_collection=collection, **common
    )


@builders.register("create_contract")
def _create_contract(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    messages = tuple(
        nodes.ContractMessage(
            span=read.span(message),
            message_type=read.name(message),
            sent_by=read.words(read.need_tree(message, "sender")),
        )
        for message in read.trees(tree, "contract_message")
    )
    return nodes.CreateContract(name=read.name(tree), owner=read.owner(tree), messages=messages, **common)


# ------------------------------------------------------------------ queues


@builders.register("create_queue")
def _create_queue(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    options = read.optional(tree, "queue_options", lambda t: _queue_options(t, read))
    if options is not None and options.activation is not None:
        _require_whole(options.activation, tree, read)
    name = read.need_local(tree)
    if name.name.text.startswith("#"):
        place = read.range_of(read.need_tree(tree, "qualified_name"))
        read.unexpected(place[1] - 1, "a queue cannot be temporary")
    return nodes.CreateQueue(
        name=name,
        options=options,
        filegroup=read.optional(tree, "filegroup", read.name),
        **common,
    )


@builders.register("alter_queue")
def _alter_queue(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    options = _queue_options(read.need_tree(tree, "queue_options"), read)
    return nodes.AlterQueue(name=read.need_local(tree), options=options, **common)


def _queue_options(tree: Node, read: Reader) -> nodes.QueueOptions:
    refuse_repeated(tree, read)
    return nodes.QueueOptions(
        span=read.span(tree),
        status=read.optional(tree, "queue_status", read.on),
        retention=read.optional(tree, "queue_retention", read.on),
        activation=read.optional(tree, "activation", lambda t: _activation(t, read)),
        poison=read.optional(tree, "poison_message_handling", lambda t: _poison(t, read)),
    )


def _poison(tree: Node, read: Reader) -> nodes.PoisonMessageHandling:
    refuse_repeated(tree, read)
    return nodes.PoisonMessageHandling(
        span=read.span(tree),
        status=read.optional(tree, "poison_status", read.on),
        max_rollbacks=read.optional(
            tree,
            "max_rollbacks",
            lambda t: read.integer(read.need_tree(t, "signed_number"), 1, 250, "MAX_ROLLBACKS"),
        ),
        quarantine=read.optional(tree, "quarantine", read.on),
    )


def _activation(tree: Node, read: Reader) -> nodes.Activation:
    refuse_repeated(tree, read)
    return nodes.Activation(
        span=read.span(tree),
        status=read.optional(tree, "activation_status", read.on),
        procedure=read.optional(tree, "activation_procedure", read.need_local),
        program=read.optional(tree, "activation_program", lambda t: read.string(read.need(t, "STRING"))),
        max_queue_readers=read.optional(
            tree,
            "max_queue_readers",
            lambda t: read.integer(
                read.need_tree(t, "signed_number"),
                0,
                32767,
                "MAX_QUEUE_READERS",
                (187, "The valid range for MAX_QUEUE_READERS is 0 to 32767."),
            ),
        ),
        execute_as=read.optional(tree, "execute_as_clause", lambda t: _activated_as(t, read)),
        drop=read.tree(tree, "activation_drop") is not None,
    )


def _require_whole(activation: nodes.Activation, tree: Node, read: Reader) -> None:
    """Report what CREATE QUEUE's ACTIVATION lacks; a program needs neither readers nor a user."""
    wanted = {
        "PROCEDURE_NAME": activation.procedure,
        "MAX_QUEUE_READERS": activation.max_queue_readers,
        "EXECUTE AS": activation.execute_as,
    }
    missing = [word for word, given in wanted.items() if given is None]
    if missing and activation.program is None and not read.problems.within(activation.span):
        place = read.need_tree(read.need_tree(tree, "queue_options"), "activation")
        read.unexpected(
            read.range_of(place)[1] - 1, f"ACTIVATION of a new queue needs {' and '.join(missing)}"
        )


def execute_as_clause(tree: Node, read: Reader) -> nodes.ExecuteAsClause:
    """Return the EXECUTE AS of a queue's activation or of a module."""
    user = read.terminal(tree, "STRING")
    return nodes.ExecuteAsClause(
        span=read.span(tree),
        principal="USER" if user else read.tokens[read.range_of(tree)[1] - 1].word,
        user=read.string(user) if user else None,
    )


def _activated_as(tree: Node, read: Reader) -> nodes.ExecuteAsClause:
    """Return the EXECUTE AS of a queue, whose program has no caller."""
    clause = execute_as_clause(tree, read)
    if clause.principal == "CALLER":
        read.unexpected(read.range_of(tree)[1] - 1, "EXECUTE AS takes SELF, OWNER or a user's name in quotes")
    return clause


def refuse_repeated(tree: Node, read: Reader) -> None:
    """Report an option that stands twice directly below ``tree``."""
    seen: set[str] = set()
    for option in read.trees(tree):
        name = str(option.data)
        if name in seen:
            read.unexpected(read.range_of(option)[0], "this option is given twice")
        seen.add(name)


@builders.register("maintain_queue")
def _maintain_queue(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    action_tree = read.need_tree(tree, "rebuild_or_move")
    start, end = read.range_of(action_tree)
    words = [token.word for token in read.tokens[start:end]]
    action = words[0]
    degree: int | None = None
    compaction: bool | None = None
    group = read.terminal(action_tree, "GROUP")
    if group is not None:
        option = read.inside(group)
        if action == "REBUILD" and option.words[:2] == ("MAXDOP", "=") and len(option.tokens) == 3:
            degree = int(option.tokens[2].text) if option.tokens[2].text.isdecimal() else None
        elif (
            action == "REORGANIZE" and option.words[:2] == ("LOB_COMPACTION", "=") and len(option.tokens) == 3
        ):
            compaction = {"ON": True, "OFF": False}.get(option.words[2])
        if degree is None and compaction is None:
            wanted = "MAXDOP = number" if action == "REBUILD" else "LOB_COMPACTION = ON or OFF"
            read.unexpected(read.range_of(group)[0] + 1, f"expected {wanted}")
    return nodes.MaintainQueue(
        name=read.need_local(tree),
        action=action,
        max_degree=degree,
        lob_compaction=compaction,
        filegroup=read.name(action_tree) if action == "MOVE" else None,
        **common,
    )


# ------------------------------------------------------------------ services, routes, bindings


@builders.register("create_service")
def _create_service(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    contracts = read.tree(tree, "service_contracts")
    return nodes.CreateService(
        name=read.name(tree),
        owner=read.owner(tree),
        queue=read.need_local(read.need_tree(tree, "on_queue")),
        contracts=tuple(map(read.identifier, read.terminals(contracts, "NAME"))) if contracts else (),
        **common,
    )


@builders.register("alter_service")
def _alter_service(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    changes = read.tree(tree, "service_changes")
    added: list[nodes.Identifier] = []
    dropped: list[nodes.Identifier] = []
    for change in read.trees(changes, "service_change") if changes else ():
        (added if read.words(change).startswith("ADD ") else dropped).append(read.name(change))
    return nodes.AlterService(
        name=read.name(tree),
        queue=read.optional(tree, "on_queue", read.need_local),
        add_contracts=tuple(added),
        drop_contracts=tuple(dropped),
        **common,
    )


def _route_options(tree: Node, read: Reader) -> nodes.RouteOptions:
    values: dict[str, Any] = {}
    options = read.trees(tree, "route_option")
    for option in options:
        start = read.range_of(option)[0]
        key = read.tokens[start].word.lower()
        if key in values:
            read.unexpected(start, "this option is given twice")
        if key == "lifetime":
            values[key] = read.integer(read.need_tree(option, "signed_number"), 0, 2**31 - 1, "LIFETIME")
        else:
            values[key] = read.string(read.need(option, "STRING"))
    span = read.span(options[0]).to(read.span(options[-1]))
    return nodes.RouteOptions(span=span, **values)


@builders.register("create_route")
def _create_route(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    options = _route_options(tree, read)
    if options.address is None:
        read.problems.add(
            "CREATE ROUTE needs an ADDRESS.",
            options.span,
            hint="ADDRESS = 'LOCAL', 'TRANSPORT' or 'TCP://host:port'",
            number=102,
        )
    return nodes.CreateRoute(name=read.name(tree), owner=read.owner(tree), options=options, **common)


@builders.register("alter_route")
def _alter_route(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.AlterRoute(name=read.name(tree), options=_route_options(tree, read), **common)


def _binding_user(tree: Node, read: Reader) -> nodes.Identifier:
    return read.identifier_at(read.range_of(tree)[1] - 1)


@builders.register("create_remote_service_binding")
def _create_binding(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    refuse_repeated(tree, read)
    name = read.name(tree)
    user = read.optional(tree, "binding_user", lambda t: _binding_user(t, read))
    if user is None:
        read.problems.add(
            "CREATE REMOTE SERVICE BINDING needs a USER.", name.span, hint="WITH USER = name", number=102
        )
    return nodes.CreateRemoteServiceBinding(
        name=name,
        owner=read.owner(tree),
        service=read.string(read.need(tree, "STRING")),
        user=user or name,
        anonymous=read.optional(tree, "binding_anonymous", read.on),
        **common,
    )


@builders.register("alter_remote_service_binding")
def _alter_binding(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    refuse_repeated(tree, read)
    return nodes.AlterRemoteServiceBinding(
        name=read.name(tree),
        user=read.optional(tree, "binding_user", lambda t: _binding_user(t, read)),
        anonymous=read.optional(tree, "binding_anonymous", read.on),
        **common,
    )


# ------------------------------------------------------------------ priorities


def _priority_options(tree: Node, priority: nodes.Identifier, read: Reader) -> nodes.PriorityOptions:
    refuse_repeated(tree, read)
    outside = (
        f"The PRIORITY_LEVEL that is specified for conversation priority '{priority.text}' is not valid. "
        "The value must be between 1 and 10."
    )
    contract = read.tree(tree, "priority_contract")
    local = read.tree(tree, "priority_local")
    remote = read.tree(tree, "priority_remote")
    level = read.tree(tree, "priority_level")
    number = read.tree(level, "signed_number") if level else None

    def is_any(option: Node | None) -> bool:
        return option is not None and read.terminal(option, "ANY") is not None

    def name_of(option: Node | None) -> nodes.Identifier | None:
        return None if option is None or is_any(option) else read.name(option)

    return nodes.PriorityOptions(
        span=read.span(tree),
        contract=name_of(contract),
        any_contract=is_any(contract),
        local_service=name_of(local),
        any_local_service=is_any(local),
        remote_service=read.string(read.need(remote, "STRING")) if remote and not is_any(remote) else None,
        any_remote_service=is_any(remote),
        level=read.integer(number, 1, 10, "PRIORITY_LEVEL", (33302, outside)) if number else None,
        default_level=level is not None and number is None,
    )


@builders.register("create_broker_priority")
def _create_priority(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    options = read.optional(tree, "priority_options", lambda t: _priority_options(t, read.name(tree), read))
    return nodes.CreateBrokerPriority(name=read.name(tree), options=options, **common)


@builders.register("alter_broker_priority")
def _alter_priority(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    options = _priority_options(read.need_tree(tree, "priority_options"), read.name(tree), read)
    return nodes.AlterBrokerPriority(name=read.name(tree), options=options, **common)


# ------------------------------------------------------------------ endpoints, notifications


def _endpoint_fields(tree: Node, read: Reader) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": read.name(tree), "owner": read.owner(tree)}
    state = read.tree(tree, "endpoint_state")
    fields["state"] = read.words(state).split()[-1] if state else None
    for rule, word, options in (
        ("endpoint_protocol", "protocol", "protocol_options"),
        ("endpoint_payload", "payload", "payload_options"),
    ):
        clause = read.tree(tree, rule)
        if clause is not None:
            fields[word] = read.tokens[read.range_of(clause)[0] + 1].word
            fields[options] = _endpoint_options(read.need(clause, "GROUP"), fields[word], read)
    return fields


# What a protocol's or payload's options may be: the tokens with a blank between them, and in words.
_WINDOWS = r"WINDOWS( (NTLM|KERBEROS|NEGOTIATE))?"
_CERTIFICATE = r"CERTIFICATE (\[([^\]]|\]\])+\]|\"([^\"]|\"\")+\"|[^\s\[\"]+)"
_LOGIN = (
    rf"({_WINDOWS}( {_CERTIFICATE})?|{_CERTIFICATE}( {_WINDOWS})?)",
    "WINDOWS or CERTIFICATE with a name, or both",
)
_CIPHER = (
    r"(DISABLED|(SUPPORTED|REQUIRED)( ALGORITHM (AES|RC4|AES RC4|RC4 AES))?)",
    "DISABLED, SUPPORTED or REQUIRED",
)
_ENDPOINT_OPTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "TCP": {
        "LISTENER_PORT": (r"\d{1,9}", "a port's number"),
        "LISTENER_IP": (r"ALL|\( .+ \)", "ALL or an address in parentheses"),
    },
    "SERVICE_BROKER": {
        "AUTHENTICATION": _LOGIN,
        "ENCRYPTION": _CIPHER,
        "MESSAGE_FORWARDING": ("ENABLED|DISABLED", "ENABLED or DISABLED"),
        "MESSAGE_FORWARD_SIZE": (r"\d{1,9}", "a number of megabytes"),
    },
}


def _endpoint_options(group: Terminal, of: str, read: Reader) -> tuple[nodes.EndpointOption, ...]:
    """Split ``NAME = value [,] NAME = value``: an option begins at a word before an equal sign.

    ``of`` is the protocol or the payload. Those that `check` refuses may have any.
    """
    known = _ENDPOINT_OPTIONS.get(of, {})
    start, end = read.range_of(group)
    start, end = start + 1, end - 1
    begins = [
        index
        for index in range(start, end)
        if read.tokens[index].kind is TokenKind.WORD
        and (index + 1 < end and read.tokens[index + 1].word == "=")
    ]
    if start < end and (not begins or begins[0] != start):
        read.unexpected(start, "expected options of the form NAME = value")
        return ()
    options: list[nodes.EndpointOption] = []
    if not begins:
        return ()
    for first, after in zip(begins, [*begins[1:], end], strict=True):
        last = after - 1 if read.tokens[after - 1].word == "," and after < end else after
        name = read.tokens[first].word
        if first + 2 >= last:
            read.unexpected(min(last, end), "expected a value")
            continue
        if any(name == option.name for option in options):
            read.unexpected(first, "this option is given twice")
            continue
        if known and name not in known:
            read.unexpected(first, f"expected {' or '.join(known)}")
            continue
        pattern, words = known.get(name, (".*", ""))
        written = " ".join(token.text for token in read.tokens[first + 2 : last])
        if not re.fullmatch(pattern, written, re.IGNORECASE):
            read.unexpected(first + 2, f"expected {words}")
            continue
        options.append(
            nodes.EndpointOption(
                span=read.span_of_tokens(first, last), name=name, value=read.text_at(first + 2, last)
            )
        )
    return tuple(options)


@builders.register("create_endpoint")
def _create_endpoint(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.CreateEndpoint(**_endpoint_fields(tree, read), **common)


@builders.register("alter_endpoint")
def _alter_endpoint(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.AlterEndpoint(**_endpoint_fields(tree, read), **common)


def event_scope(tree: Node, read: Reader) -> nodes.EventScope:
    """Return ON SERVER, ALL SERVER, DATABASE or QUEUE q."""
    queue = read.need_local(tree) if read.tree(tree, "qualified_name") is not None else None
    return nodes.EventScope(span=read.span(tree), kind="QUEUE" if queue else read.words(tree), queue=queue)


@builders.register("create_event_notification")
def _create_event_notification(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    name, *events = map(read.identifier, read.terminals(tree, "NAME"))
    service, instance = map(read.string, read.terminals(tree, "STRING"))
    return nodes.CreateEventNotification(
        name=name,
        scope=event_scope(read.need_tree(tree, "event_scope"), read),
        fan_in=read.tree(tree, "fan_in") is not None,
        events=tuple(events),
        service=service,
        broker_instance=instance,
        **common,
    )


# ------------------------------------------------------------------ schema collections


@builders.register("create_xml_schema_collection")
def _create_collection(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.CreateXmlSchemaCollection(
        name=read.need_local(tree), schemas=read.text(read.need_tree(tree, "expression")), **common
    )


@builders.register("alter_xml_schema_collection")
def _alter_collection(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.AlterXmlSchemaCollection(
        name=read.need_local(tree), schemas=read.text(read.need_tree(tree, "expression")), **common
    )
