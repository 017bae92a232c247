"""Definitions of Service Broker objects and databases: CREATE, ALTER, DROP.

Each becomes a call of the engine's function of the same name (docs/api.md).
"""

from __future__ import annotations

from itertools import pairwise

from ...grammar.lexer import string_value
from ...grammar.source import Span
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..catalog.builtin_relations import queue_table
from ..catalog.names import collation_of, fold, is_placeholder, schema_name
from ..catalog.scope import object_name
from ..plpgsql import nodes as pl
from ..target import nodes as n
from .context import Context, call, flag, named, text_or_none, texts
from .dispatch import REFUSES_IN_TRANSACTION, invocations


def _plain_call(function: str, *positional: pl.Expr, **options: pl.Expr | None) -> list[pl.Invoke]:
    """As :func:`.context.call`, for a function that takes no T-SQL database: a schema tells which."""
    return [pl.Invoke(function, positional, named(*options.items()))]


def outside_transactions(statement: str, ctx: Context) -> list[pl.Invoke]:
    """Error 226 where a transaction is open; nothing where none can be."""
    if ctx.scope.session is None:
        return []
    return [pl.Invoke(REFUSES_IN_TRANSACTION, (ctx.session_field("trancount"), pl.Text(statement)))]


def refuse_reserved_schema(schema: str, name: nodes.Identifier, ctx: Context) -> None:
    """Report a name by which PostgreSQL would have to make a schema that it keeps for itself."""
    if schema.startswith("pg_"):
        ctx.problem(
            f'The specified schema name "{name.text}" either does not exist or you do not have '
            "permission to use it.",
            name.span,
            number=2760,
            hint="PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name",
        )


def _collection(name: nodes.QualifiedName | None, ctx: Context) -> pl.Expr | None:
    return None if name is None else ctx.queue(name)


# ------------------------------------------------------------------ message types, contracts


@invocations.register
def create_message_type(node: nodes.CreateMessageType, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE MESSAGE TYPE."""
    return call(
        ctx,
        "ssb.create_message_type",
        pl.Text(node.name.text),
        validation=pl.Text(node.validation) if node.validation else None,
        schema_collection=_collection(node.schema_collection, ctx),
        owner=text_or_none(node.owner),
    )


@invocations.register
def alter_message_type(node: nodes.AlterMessageType, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER MESSAGE TYPE."""
    return call(
        ctx,
        "ssb.alter_message_type",
        pl.Text(node.name.text),
        pl.Text(node.validation),
        schema_collection=_collection(node.schema_collection, ctx),
    )


@invocations.register
def create_contract(node: nodes.CreateContract, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE CONTRACT: message types and their senders, in the order written."""
    return call(
        ctx,
        "ssb.create_contract",
        pl.Text(node.name.text),
        message_types=texts([message.message_type.text for message in node.messages]),
        sent_by=texts([message.sent_by for message in node.messages]),
        owner=text_or_none(node.owner),
    )


# ------------------------------------------------------------------ queues


def _queue_options(options: nodes.QueueOptions | None, ctx: Context) -> dict[str, pl.Expr | None]:
    if options is None:
        return {}
    result: dict[str, pl.Expr | None] = {"status": flag(options.status), "retention": flag(options.retention)}
    activation = options.activation
    if activation is not None:
        if activation.drop:
            result["drop_activation"] = pl.TRUE
        result["activation_status"] = flag(activation.status)
        if activation.procedure is not None:
            result["activation_procedure"] = ctx.queue(activation.procedure)
            result["activation_spelling"] = _spelling(activation.procedure.name.text)
        if activation.program is not None:
            result["external_program"] = pl.Text(activation.program.value)
        if activation.max_queue_readers is not None:
            result["max_queue_readers"] = pl.Number(activation.max_queue_readers)
        if activation.execute_as is not None:
            result["execute_as"] = pl.Text(_principal(activation.execute_as))
    poison = options.poison
    if poison is not None:
        # Without STATUS the handling is on, as SQL Server has it; with our own options alone it stays.
        is_bare = poison.max_rollbacks is None and poison.quarantine is None
        result["poison_message_handling"] = flag(True if is_bare and poison.status is None else poison.status)
        if poison.max_rollbacks is not None:
            result["max_rollbacks"] = pl.Number(poison.max_rollbacks)
        result["quarantine"] = flag(poison.quarantine)
    return result


def _principal(clause: nodes.ExecuteAsClause) -> str:
    """Return SELF, OWNER or the user's name in quotes, as ssb.create_queue takes it."""
    if clause.user is None:
        return clause.principal
    return "'" + clause.user.value.replace("'", "''") + "'"


def _spelling(name: str) -> pl.Text | None:
    """Return what the catalog keeps of a name that is another when folded, or that the run time makes."""
    return pl.Text(name) if name != fold(name) or is_placeholder(name) else None


@invocations.register
def create_queue(node: nodes.CreateQueue, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE QUEUE; the spelling is kept for the catalog where folding changed it."""
    name = object_name(node.name)
    if ctx.catalog.followed(name) == name:
        ctx.catalog.tables[ctx.catalog.key(name)] = queue_table(name)
    made = _plain_call(
        "ssb.create_queue",
        pl.Text(ctx.catalog.sql_name(name)),
        **_queue_options(node.options, ctx),
        spelling=_spelling(node.name.name.text),
    )
    return [*made, *ctx.bind_views()]


@invocations.register
def alter_queue(node: nodes.AlterQueue, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER QUEUE … WITH …"""
    options = _queue_options(node.options, ctx)
    if "activation_procedure" in options and "execute_as" not in options:
        # As whom the activation that is there runs; without one the statement fails.
        options["execute_as"] = pl.Text("")
    return _plain_call("ssb.alter_queue", ctx.broker_queue(node.name), **options)


@invocations.register
def maintain_queue(node: nodes.MaintainQueue, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER QUEUE … REBUILD, REORGANIZE, MOVE TO."""
    return _plain_call("ssb.maintain_queue", ctx.broker_queue(node.name), pl.Text(node.action))


# ------------------------------------------------------------------ services, routes, bindings, priorities


@invocations.register
def create_service(node: nodes.CreateService, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE SERVICE."""
    return call(
        ctx,
        "ssb.create_service",
        pl.Text(node.name.text),
        queue=ctx.broker_queue(node.queue),
        contracts=texts([contract.text for contract in node.contracts]) if node.contracts else None,
        owner=text_or_none(node.owner),
    )


@invocations.register
def alter_service(node: nodes.AlterService, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER SERVICE."""
    return call(
        ctx,
        "ssb.alter_service",
        pl.Text(node.name.text),
        queue=ctx.broker_queue(node.queue) if node.queue else None,
        add_contracts=texts([c.text for c in node.add_contracts]) if node.add_contracts else None,
        drop_contracts=texts([c.text for c in node.drop_contracts]) if node.drop_contracts else None,
    )


def _route_options(options: nodes.RouteOptions) -> dict[str, pl.Expr | None]:
    return {
        "address": text_or_none(options.address),
        "service_name": text_or_none(options.service_name),
        "broker_instance": text_or_none(options.broker_instance),
        "lifetime": pl.Number(options.lifetime) if options.lifetime is not None else None,
        "mirror_address": text_or_none(options.mirror_address),
    }


@invocations.register
def create_route(node: nodes.CreateRoute, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE ROUTE."""
    options = _route_options(node.options)
    return call(ctx, "ssb.create_route", pl.Text(node.name.text), **options, owner=text_or_none(node.owner))


@invocations.register
def alter_route(node: nodes.AlterRoute, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER ROUTE."""
    return call(ctx, "ssb.alter_route", pl.Text(node.name.text), **_route_options(node.options))


@invocations.register
def create_binding(node: nodes.CreateRemoteServiceBinding, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE REMOTE SERVICE BINDING."""
    return call(
        ctx,
        "ssb.create_remote_service_binding",
        pl.Text(node.name.text),
        to_service=pl.Text(node.service.value),
        user_name=pl.Text(node.user.text),
        anonymous=flag(node.anonymous),
        owner=text_or_none(node.owner),
    )


@invocations.register
def alter_binding(node: nodes.AlterRemoteServiceBinding, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER REMOTE SERVICE BINDING."""
    return call(
        ctx,
        "ssb.alter_remote_service_binding",
        pl.Text(node.name.text),
        user_name=text_or_none(node.user),
        anonymous=flag(node.anonymous),
    )


@invocations.register
def create_priority(node: nodes.CreateBrokerPriority, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE BROKER PRIORITY; what is not written is ANY, the level 5."""
    options = node.options or nodes.PriorityOptions(span=node.span)
    return call(
        ctx,
        "ssb.create_broker_priority",
        pl.Text(node.name.text),
        contract=text_or_none(options.contract),
        local_service=text_or_none(options.local_service),
        remote_service=text_or_none(options.remote_service),
        priority_level=pl.Number(options.level) if options.level is not None else None,
    )


@invocations.register
def alter_priority(node: nodes.AlterBrokerPriority, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER BROKER PRIORITY: what is not written stays."""
    options = node.options
    return call(
        ctx,
        "ssb.alter_broker_priority",
        pl.Text(node.name.text),
        contract=text_or_none(options.contract),
        local_service=text_or_none(options.local_service),
        remote_service=text_or_none(options.remote_service),
        priority_level=pl.Number(options.level) if options.level is not None else None,
        any_contract=pl.TRUE if options.any_contract else None,
        any_local_service=pl.TRUE if options.any_local_service else None,
        any_remote_service=pl.TRUE if options.any_remote_service else None,
        default_level=pl.TRUE if options.default_level else None,
    )


# ------------------------------------------------------------------ endpoints, notifications


def _endpoint_options(
    protocol: tuple[nodes.EndpointOption, ...], payload: tuple[nodes.EndpointOption, ...]
) -> dict[str, pl.Expr | None]:
    # Words without comments between them: the run time tells AUTHENTICATION's from a certificate's name.
    written = {
        option.name: [_word(token) for token in option.value.tokens] if option.value else []
        for option in (*protocol, *payload)
    }
    result: dict[str, pl.Expr | None] = {}
    if "LISTENER_PORT" in written:
        result["listener_port"] = pl.Number(int(written["LISTENER_PORT"][0]))
    if "LISTENER_IP" in written:
        result["listener_ip"] = pl.Text("".join(word for word in written["LISTENER_IP"] if word not in "()"))
    if "AUTHENTICATION" in written:
        result["authentication"] = pl.Text(" ".join(written["AUTHENTICATION"]))
    if "ENCRYPTION" in written:
        # SUPPORTED ALGORITHM AES RC4
        word, *algorithms = (word.upper() for word in written["ENCRYPTION"])
        result["encryption"] = pl.Text(word)
        if algorithms:
            result["algorithm"] = pl.Text(" ".join(algorithms[1:]))
    if "MESSAGE_FORWARDING" in written:
        result["message_forwarding"] = flag(written["MESSAGE_FORWARDING"][0].upper() == "ENABLED")
    if "MESSAGE_FORWARD_SIZE" in written:
        result["message_forward_size"] = pl.Number(int(written["MESSAGE_FORWARD_SIZE"][0]))
    return result


def _word(token: Token) -> str:
    return string_value(token) if token.kind is TokenKind.STRING else token.text


@invocations.register
def create_endpoint(node: nodes.CreateEndpoint, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE ENDPOINT … FOR SERVICE_BROKER."""
    return outside_transactions("CREATE ENDPOINT", ctx) + _plain_call(
        "ssb.create_endpoint",
        pl.Text(node.name.text),
        state=pl.Text(node.state) if node.state else None,
        **_endpoint_options(node.protocol_options, node.payload_options),
        owner=text_or_none(node.owner),
    )


@invocations.register
def alter_endpoint(node: nodes.AlterEndpoint, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER ENDPOINT: AUTHORIZATION in it is what ALTER AUTHORIZATION does."""
    name = pl.Text(node.name.text)
    calls = outside_transactions("ALTER ENDPOINT", ctx) + _plain_call(
        "ssb.alter_endpoint",
        name,
        state=pl.Text(node.state) if node.state else None,
        **_endpoint_options(node.protocol_options, node.payload_options),
    )
    if node.owner is not None:
        owner = (pl.Text("ENDPOINT"), name, pl.Text(node.owner.text))
        calls += call(ctx, "ssb.alter_authorization", *owner)
    return calls


def _scope(scope: nodes.EventScope) -> str:
    return {"SERVER": "SERVER", "ALL SERVER": "SERVER"}.get(scope.kind, scope.kind)


@invocations.register
def create_notification(node: nodes.CreateEventNotification, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE EVENT NOTIFICATION."""
    return call(
        ctx,
        "ssb.create_event_notification",
        pl.Text(node.name.text),
        events=texts([event.text.upper() for event in node.events]),
        scope=pl.Text(_scope(node.scope)),
        to_service=pl.Text(node.service.value),
        broker_instance=pl.Text(node.broker_instance.value),
        queue=ctx.broker_queue(node.scope.queue) if node.scope.queue else None,
        fan_in=pl.TRUE if node.fan_in else None,
    )


# ------------------------------------------------------------------ schema collections


@invocations.register
def create_collection(node: nodes.CreateXmlSchemaCollection, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE XML SCHEMA COLLECTION."""
    return _plain_call(
        "ssb.create_xml_schema_collection",
        ctx.queue(node.name),
        _schemas(node.schemas, ctx),
        spelling=_spelling(node.name.name.text),
    )


@invocations.register
def alter_collection(node: nodes.AlterXmlSchemaCollection, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER XML SCHEMA COLLECTION … ADD."""
    return _plain_call("ssb.alter_xml_schema_collection", ctx.queue(node.name), _schemas(node.schemas, ctx))


def _schemas(text: nodes.SqlText, ctx: Context) -> pl.Expr:
    value = ctx.expression(text)
    return value.raw if isinstance(value.code, n.Text) else pl.Cast(value.raw, "text")


# ------------------------------------------------------------------ databases


@invocations.register
def create_database(node: nodes.CreateDatabase, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE DATABASE: a set of schemas; files and sizes mean nothing here."""
    name = pl.Text(node.name.text)
    refuse_reserved_schema(schema_name(None, node.name.text, ctx.catalog.default_database), node.name, ctx)
    _check_collation(node.text, ctx)
    if node.snapshot_of is not None:
        ctx.problem(
            "CREATE DATABASE … AS SNAPSHOT OF is not supported",
            node.snapshot_of.span,
            hint="PostgreSQL has no snapshots of databases: pg_dump --snapshot, or a copy by TEMPLATE",
        )
        return []
    words = [token.word for token in node.text.tokens]
    if ("FOR", "ATTACH") in pairwise(words) or ("FOR", "ATTACH_REBUILD_LOG") in pairwise(words):
        ctx.problems.add(
            "CREATE DATABASE … FOR ATTACH makes an empty database: PostgreSQL attaches no files.",
            node.name.span,
            hint="pg_restore, or run the scripts that made what is in it",
            severity="warning",
        )
    calls = outside_transactions("CREATE DATABASE", ctx) + _plain_call("ssb.create_database", name)
    if node.trustworthy is not None:
        value = pl.Text("ON" if node.trustworthy else "OFF")
        calls += _plain_call("ssb.alter_database", name, pl.Text("TRUSTWORTHY"), value)
    if node.enable_broker is not None:
        calls += _plain_call("ssb.alter_database", name, pl.Text(node.enable_broker))
    return calls


def _check_collation(text: nodes.SqlText | None, ctx: Context) -> None:
    """Error 448 where COLLATE names none. (All texts compare as the whole PostgreSQL database does.)"""
    if text is None:
        return
    for before, token in pairwise(text.tokens):
        if before.word == "COLLATE" and collation_of(token.name) is None:
            place = Span(text.span.source, token.start, token.end)
            ctx.problem(f"Invalid collation '{token.name}'.", place, number=448)


_ENCRYPTS = "the file system of its data directory can encrypt: LUKS, or what the cloud offers"
_STANDBYS = "streaming replication of PostgreSQL: docs/operations.md"
_UNHEEDED = {
    ("READ_ONLY", "ON"): (
        "READ_ONLY is recorded, and refuses nothing: the database can be written to as before",
        "REVOKE the rights of those who write",
    ),
    ("ENCRYPTION", "ON"): ("ENCRYPTION ON has no effect: PostgreSQL writes the files as they are", _ENCRYPTS),
    ("CHANGE_TRACKING", "ON"): (
        "CHANGE_TRACKING has no effect: change tracking does not exist here",
        "a trigger, or a system-versioned table",
    ),
    ("PARTNER", "ON"): ("PARTNER has no effect: PostgreSQL mirrors whole clusters", _STANDBYS),
    ("WITNESS", "ON"): ("WITNESS has no effect: PostgreSQL mirrors whole clusters", _STANDBYS),
    ("HADR", "ON"): ("HADR has no effect: PostgreSQL mirrors whole clusters", _STANDBYS),
}
"""Options that who sets them relies on, switched on: what happens here, and what to do instead."""


def _switched(option: nodes.DatabaseOption) -> str:
    return "OFF" if option.value is not None and option.value.partition(" ")[0] == "OFF" else "ON"


@invocations.register
def alter_database(node: nodes.AlterDatabase, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER DATABASE: the broker's options are carried out, the others recorded."""
    name: pl.Expr = pl.Text(node.name.text) if node.name else pl.Text(ctx.catalog.database)
    if node.name is None and not ctx.catalog.database:
        name = pl.NULL
    _check_collation(node.text, ctx)
    calls: list[pl.Invoke] = []
    if node.action == "MODIFY NAME" and node.new_name is not None:
        refuse_reserved_schema(schema_name(None, node.new_name.text, None), node.new_name, ctx)
        calls += _plain_call("ssb.alter_database", name, pl.Text("NAME"), pl.Text(node.new_name.text))
    for option in node.options:
        lost, instead = _UNHEEDED.get((option.name, _switched(option)), ("", ""))
        if lost:
            ctx.problems.add(lost, at=option.span, hint=instead, severity="warning")
        value = () if option.value is None else (pl.Text(option.value),)
        calls += _plain_call("ssb.alter_database", name, pl.Text(option.name), *value)
    if not calls:
        calls += _plain_call("ssb.alter_database", name, pl.Text(node.action))
    return outside_transactions("ALTER DATABASE", ctx) + calls
