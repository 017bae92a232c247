"""Principals, schemas, permissions, ownership."""

from __future__ import annotations

from .. import nodes
from ..catalog.names import fold, schema_name
from ..catalog.scope import object_name
from ..plpgsql import nodes as pl
from .broker_objects import refuse_reserved_schema
from .context import Context, call, text_or_none, texts
from .dispatch import invocations

# Queues that every database of SQL Server has, for what its own services could not deliver.
_ERROR_QUEUES = frozenset(
    {"querynotificationerrorsqueue", "eventnotificationerrorsqueue", "servicebrokerqueue"}
)
_RELATIONS = frozenset({"OBJECT", "XML SCHEMA COLLECTION"})
_FREE_TO_ALL = frozenset(
    {
        "TYPE",
        "SYMMETRIC KEY",
        "ASYMMETRIC KEY",
        "ASSEMBLY",
        "AVAILABILITY GROUP",
        "DATABASE SCOPED CREDENTIAL",
        "FULLTEXT CATALOG",
        "FULLTEXT STOPLIST",
        "SEARCH PROPERTY LIST",
        "EXTERNAL LANGUAGE",
    }
)
"""Classes whose permissions nothing here asks for: types are everybody's, the others do not exist."""
_SERVER_PERMISSIONS = frozenset(
    map(
        str.strip,
        """
        ADMINISTER BULK OPERATIONS; ALTER ANY AVAILABILITY GROUP; ALTER ANY CONNECTION; ALTER ANY CREDENTIAL;
        ALTER ANY DATABASE; ALTER ANY ENDPOINT; ALTER ANY EVENT NOTIFICATION; ALTER ANY EVENT SESSION;
        ALTER ANY LINKED SERVER; ALTER ANY LOGIN; ALTER ANY SERVER AUDIT; ALTER ANY SERVER ROLE;
        ALTER RESOURCES; ALTER SERVER STATE; ALTER SETTINGS; ALTER TRACE; AUTHENTICATE SERVER;
        CONNECT ANY DATABASE; CONNECT SQL; CONTROL SERVER; CREATE ANY DATABASE; CREATE AVAILABILITY GROUP;
        CREATE DDL EVENT NOTIFICATION; CREATE ENDPOINT; CREATE SERVER ROLE; CREATE TRACE EVENT NOTIFICATION;
        EXTERNAL ACCESS ASSEMBLY; IMPERSONATE ANY LOGIN; SELECT ALL USER SECURABLES; SHUTDOWN;
        UNSAFE ASSEMBLY; VIEW ANY DATABASE; VIEW ANY DEFINITION; VIEW SERVER STATE
        """.split(";"),
    )
)
_ONLY_IN_MASTER = "Permissions at the server scope can only be granted when the current database is master"
_ALL_IS_DEPRECATED = (
    "The ALL permission is deprecated and maintained only for compatibility. It DOES NOT imply ALL "
    "permissions defined on the entity."
)
_NO_ALL = "The all permission has been deprecated and is not available for this class of entity"
_ELSEWHERE = frozenset({"WITHOUT", "CERTIFICATE", "KEY", "PASSWORD", "PROVIDER"})
"""Words of CREATE USER with which the user has no login."""
_SERVER_ROLES = frozenset(
    "sysadmin serveradmin securityadmin processadmin setupadmin bulkadmin diskadmin dbcreator".split()
)


@invocations.register
def create_login(node: nodes.CreateLogin, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE LOGIN: recorded; PostgreSQL's roles log in."""
    return call(ctx, "ssb.create_principal", pl.Text(node.name.text), pl.Text("LOGIN"))


@invocations.register
def create_user(node: nodes.CreateUser, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE USER: without a word of where it comes from it is that of the login of its name."""
    login = node.login
    if not _ELSEWHERE.intersection(token.word for token in node.text.tokens):
        login = login or node.name
    return call(
        ctx,
        "ssb.create_principal",
        pl.Text(node.name.text),
        pl.Text("USER"),
        default_schema=text_or_none(node.default_schema),
        login=text_or_none(login),
        certificate=text_or_none(node.certificate),
    )


@invocations.register
def create_role(node: nodes.CreateRole, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE ROLE."""
    kind = "APPLICATION ROLE" if node.kind == "APPLICATION ROLE" else "ROLE"
    name = pl.Text(node.name.text)
    calls = call(ctx, "ssb.create_principal", name, pl.Text(kind))
    if node.owner is not None:
        calls += call(ctx, "ssb.alter_authorization", pl.Text("ROLE"), name, pl.Text(node.owner.text))
    return calls


@invocations.register
def alter_role(node: nodes.AlterRole, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER ROLE … ADD MEMBER, DROP MEMBER, WITH NAME."""
    if node.kind == "SERVER ROLE" and node.name.text.lower() in _SERVER_ROLES:
        ctx.problems.add(
            f"{node.name.text} gives no rights here: those of a server are its PostgreSQL roles'",
            node.name.span,
            severity="warning",
        )
        return []
    role, member = pl.Text(node.name.text), pl.Text(node.member.text)
    if node.action == "ADD MEMBER":
        return call(ctx, "ssb.add_member", role, member)
    if node.action == "DROP MEMBER":
        return call(ctx, "ssb.drop_member", role, member)
    return call(ctx, "ssb.alter_principal", role, pl.Text("ROLE"), new_name=member)


@invocations.register
def alter_principal(node: nodes.AlterPrincipal, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER LOGIN, ALTER USER, ALTER APPLICATION ROLE: name, default schema and login are kept."""
    options: dict[str, pl.Expr | None] = {}
    words = node.text.tokens
    for index, token in enumerate(words[:-2]):
        parameter = {"NAME": "new_name", "DEFAULT_SCHEMA": "default_schema", "LOGIN": "login"}.get(token.word)
        if parameter and words[index + 1].word == "=":
            options[parameter] = pl.Text(words[index + 2].name)
    if node.kind == "LOGIN" and words[-1].word in ("ENABLE", "DISABLE"):
        ctx.problems.add(
            f"ALTER LOGIN … {words[-1].word} has no effect: PostgreSQL's roles log in.",
            node.span,
            hint="ALTER ROLE … LOGIN or NOLOGIN, in PostgreSQL",
            severity="warning",
        )
    return call(ctx, "ssb.alter_principal", pl.Text(node.name.text), pl.Text(node.kind), **options)


@invocations.register
def create_schema(node: nodes.CreateSchema, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE SCHEMA, without the statements that T-SQL lets it have inside."""
    schema = schema_name(node.name.text, ctx.catalog.database, ctx.catalog.default_database)
    refuse_reserved_schema(schema, node.name, ctx)
    if node.elements:
        ctx.problem(
            "statements inside CREATE SCHEMA are not supported",
            node.elements[0].span,
            hint="write them after it, with the schema in front of their names",
        )
    return call(ctx, "ssb.create_schema", pl.Text(node.name.text), owner=text_or_none(node.owner))


def _securable(securable: nodes.Securable, ctx: Context) -> tuple[pl.Expr, pl.Expr]:
    """Return class and name as the permission functions take them."""
    if securable.kind in _RELATIONS:
        return pl.Text(securable.kind), ctx.queue(securable.name)
    if securable.kind == "SCHEMA":
        schema = schema_name(securable.name.name.text, ctx.catalog.database, ctx.catalog.default_database)
        return pl.Text("SCHEMA"), pl.Text(schema)
    if securable.kind == "DATABASE":
        return pl.Text("DATABASE"), pl.Text(securable.name.name.text)
    return pl.Text(securable.kind), pl.Text(securable.name.name.text)


def _is_free_to_all(verb: str, securable: nodes.Securable, ctx: Context) -> bool:
    """Whether the statement changes nothing here; a warning says so, but of a grant on a type."""
    if securable.kind not in _FREE_TO_ALL:
        return False
    if securable.kind != "TYPE" or verb == "DENY":
        ctx.problems.add(
            f"{verb} on {securable.kind}:: has no effect on PostgreSQL.", securable.span, severity="warning"
        )
    return True


def _refusal(node: nodes.Permission, ctx: Context) -> tuple[int, str] | None:
    """What the statement ends with: the current database cannot grant that, or the class knows no ALL."""
    securable = node.securable
    granted = [permission.name for permission in node.permissions]
    current = fold(ctx.catalog.database or ctx.catalog.default_database or "")
    if securable is not None:
        database = securable.name.database
        if database is not None and fold(database.text) != current:
            return 4610, "You can only grant or revoke permissions on objects in the current database."
        if any(name.startswith("ALL") for name in granted) and securable.kind not in ("OBJECT", "DATABASE"):
            return 4623, _NO_ALL
    elif current != "master":
        if "CREATE DATABASE" in granted:
            return 4619, "CREATE DATABASE permission can only be granted in the master database."
        if not _SERVER_PERMISSIONS.isdisjoint(granted):
            return 4621, _ONLY_IN_MASTER
    return None


@invocations.register
def permission(node: nodes.Permission, ctx: Context) -> list[pl.Invoke] | None:
    """GRANT, DENY, REVOKE. Without ON it is about the database."""
    refusal = _refusal(node, ctx)
    if refusal is not None:
        return [pl.Invoke("ssb_internal.raise_error", (pl.Number(refusal[0]), pl.Text(refusal[1])))]
    if node.securable is not None and node.securable.name.name.text.lower() in _ERROR_QUEUES:
        return []  # SqlDependency's set-up grants RECEIVE on them; nothing arrives there
    if node.securable is not None and _is_free_to_all(node.action, node.securable, ctx):
        return []
    kind, name = _securable(node.securable, ctx) if node.securable else (pl.Text("DATABASE"), pl.NULL)
    privileges = texts([permission.name for permission in node.permissions])
    grantees = texts([principal.text for principal in node.principals])
    options: dict[str, pl.Expr | None] = {}
    if node.action == "GRANT" and node.with_grant_option:
        options["grant_option"] = pl.TRUE
    if node.action in ("DENY", "REVOKE") and node.cascade:
        options["cascade"] = pl.TRUE
    if node.action == "REVOKE" and node.grant_option_for:
        options["grant_option_only"] = pl.TRUE
    options["grantor"] = text_or_none(node.grantor)
    function = f"ssb.{node.action.lower()}_permission"
    calls = call(ctx, function, privileges, kind, name, grantees, **options)
    if any(permission.name.startswith("ALL") for permission in node.permissions):
        calls.append(pl.Invoke("ssb_internal.print", (pl.Text(_ALL_IS_DEPRECATED),)))
    return calls


@invocations.register
def alter_authorization(node: nodes.AlterAuthorization, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER AUTHORIZATION; NULL is SCHEMA OWNER."""
    if _is_free_to_all("ALTER AUTHORIZATION", node.securable, ctx):
        return []
    if node.owner is None and node.securable.kind not in _RELATIONS:
        ctx.problem(
            f"SCHEMA OWNER is for what a schema contains, which a {node.securable.kind.lower()} is not",
            node.securable.span,
        )
        return []
    kind, name = _securable(node.securable, ctx)
    owner = pl.Text(node.owner.text) if node.owner else pl.NULL
    return call(ctx, "ssb.alter_authorization", kind, name, owner)


@invocations.register
def alter_schema(node: nodes.AlterSchema, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER SCHEMA … TRANSFER: the object moves to another schema."""
    kind = node.securable_class
    if kind in ("TYPE", "XML SCHEMA COLLECTION"):
        ctx.problem(
            f"ALTER SCHEMA … TRANSFER {kind}:: is not supported",
            node.object.span,
            hint="create it in the other schema",
        )
        return []
    schema = schema_name(node.name.text, ctx.catalog.database, ctx.catalog.default_database)
    name = ctx.catalog.sql_name(object_name(node.object))
    return [pl.Invoke("ssb_internal.transfer_object", (pl.Text(schema), pl.Text(name)))]
