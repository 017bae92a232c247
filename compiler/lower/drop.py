"""DROP of every kind of object."""

from __future__ import annotations

from .. import nodes
from ..catalog.scope import object_name
from ..plpgsql import nodes as pl
from .broker_objects import outside_transactions
from .context import Context
from .dispatch import invocations
from .rules import forget_rule

_NAMED = {
    "MESSAGE TYPE": "ssb.drop_message_type",
    "CONTRACT": "ssb.drop_contract",
    "SERVICE": "ssb.drop_service",
    "ROUTE": "ssb.drop_route",
    "REMOTE SERVICE BINDING": "ssb.drop_remote_service_binding",
    "BROKER PRIORITY": "ssb.drop_broker_priority",
    "CERTIFICATE": "ssb.drop_certificate",
}
_RELATIONS = frozenset({"TABLE", "VIEW", "SEQUENCE", "TYPE"})
_PRINCIPALS = frozenset({"USER", "LOGIN", "ROLE", "SERVER ROLE", "APPLICATION ROLE"})
# What CREATE of the kind accepts without making anything.
_WITHOUT_EFFECT = frozenset(
    {
        "ASYMMETRIC KEY",
        "AVAILABILITY GROUP",
        "COLUMN ENCRYPTION KEY",
        "COLUMN MASTER KEY",
        "CREDENTIAL",
        "CRYPTOGRAPHIC PROVIDER",
        "DATABASE AUDIT SPECIFICATION",
        "DATABASE SCOPED CREDENTIAL",
        "EVENT SESSION",
        "EXTERNAL DATA SOURCE",
        "EXTERNAL FILE FORMAT",
        "EXTERNAL LANGUAGE",
        "EXTERNAL LIBRARY",
        "EXTERNAL MODEL",
        "EXTERNAL RESOURCE POOL",
        "PARTITION FUNCTION",
        "PARTITION SCHEME",
        "RESOURCE POOL",
        "SEARCH PROPERTY LIST",
        "SERVER AUDIT",
        "SERVER AUDIT SPECIFICATION",
        "STATISTICS",
        "SYMMETRIC KEY",
        "WORKLOAD GROUP",
    }
)
# What views may select from.
_OF_VIEWS = frozenset({"TABLE", "VIEW", "FUNCTION", "QUEUE", "SYNONYM", "DATABASE"})
# What CREATE of the kind refuses: there is none to drop.
_NEVER_MADE = frozenset({"AGGREGATE", "ASSEMBLY", "SECURITY POLICY"})


@invocations.register
def drop(node: nodes.DropStatement, ctx: Context) -> list[pl.Invoke] | None:
    """DROP kind [IF EXISTS] name, …: one call a name, for each may fail by itself."""
    if node.kind == "MASTER KEY":
        return [pl.Invoke("ssb.drop_master_key", (), ctx.database_argument())]
    calls: list[pl.Invoke] = []
    for name in node.names:
        calls += _drop_one(node, name, ctx)
    return calls


def _drop_one(node: nodes.DropStatement, name: nodes.QualifiedName, ctx: Context) -> list[pl.Invoke]:
    if_exists: tuple[tuple[str, pl.Expr], ...] = (("if_exists", pl.TRUE),) if node.if_exists else ()
    text = pl.Text(name.name.text)
    database = ctx.database_argument()
    # A synonym is dropped by DROP SYNONYM alone, never what it stands for.
    written = object_name(name)
    relation = pl.Text(ctx.catalog.sql_name(written))
    key = ctx.catalog.key(written)
    if node.kind in _NAMED:
        return [pl.Invoke(_NAMED[node.kind], (text,), database)]
    if node.kind in _OF_VIEWS:
        ctx.catalog.has_dropped = True
    if node.kind == "QUEUE":
        ctx.catalog.tables.pop(key, None)
        return [pl.Invoke("ssb.drop_queue", (relation,))]
    if node.kind == "XML SCHEMA COLLECTION":
        return [pl.Invoke("ssb.drop_xml_schema_collection", (relation,))]
    if node.kind == "ENDPOINT":
        return [*outside_transactions("DROP ENDPOINT", ctx), pl.Invoke("ssb.drop_endpoint", (text,))]
    if node.kind == "EVENT NOTIFICATION":
        scope = node.on
        kind = "SERVER" if scope is None or scope.kind.endswith("SERVER") else scope.kind
        queue = (("queue", ctx.queue(scope.queue)),) if scope is not None and scope.queue else ()
        return [pl.Invoke("ssb.drop_event_notification", (text, pl.Text(kind)), (*queue, *database))]
    if node.kind == "DATABASE":
        drop = pl.Invoke("ssb.drop_database", (text,), if_exists)
        return [*outside_transactions("DROP DATABASE", ctx), drop]
    if node.kind == "SCHEMA":
        return [pl.Invoke("ssb.drop_schema", (text,), (*if_exists, *database))]
    if node.kind in _PRINCIPALS:
        # CREATE SERVER ROLE makes a role like others.
        principal = pl.Text(node.kind.removeprefix("SERVER "))
        return [pl.Invoke("ssb.drop_principal", (text, principal), (*if_exists, *database))]
    if node.kind == "PROCEDURE":
        ctx.catalog.gone.add(key)
        return [pl.Invoke("ssb_internal.drop_module", (pl.Text("PROCEDURE"), relation), if_exists)]
    if node.kind == "TRIGGER" and node.on is not None:
        scope_of = pl.Text("SERVER" if node.on.kind.endswith("SERVER") else "DATABASE")
        return [pl.Invoke("ssb_internal.drop_ddl_trigger", (text, scope_of), (*if_exists, *database))]
    if node.kind in ("FUNCTION", "TRIGGER"):
        return [pl.Invoke("ssb_internal.drop_module", (pl.Text(node.kind), relation), if_exists)]
    if node.kind in _RELATIONS:
        ctx.catalog.tables.pop(key, None)
        ctx.catalog.forget_type(written)
        return [pl.Invoke("ssb_internal.drop_relation", (pl.Text(node.kind), relation), if_exists)]
    if node.kind == "SYNONYM":
        ctx.catalog.synonyms.pop(key, None)
        return [pl.Invoke("ssb_internal.drop_synonym", (relation,), if_exists)]
    if node.kind in ("RULE", "DEFAULT"):
        if forget_rule(node.kind, written, ctx) or node.kind == "RULE":
            return []
        # Which of another script are there, nobody knows.
        return [pl.Invoke("ssb_internal.refuse_default_constraint", (relation,))]
    if node.kind in _WITHOUT_EFFECT or (node.if_exists and node.kind in _NEVER_MADE):
        return []
    ctx.problem(f"DROP {node.kind} is not supported", node.span)
    return []
