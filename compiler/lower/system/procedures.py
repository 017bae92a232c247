"""System procedures that scripts call: sp_executesql, application locks, messages, session context."""

from __future__ import annotations

from collections.abc import Callable

from ....grammar.lexer import bracketed, lex, name_parts, one_name, string_value
from ....grammar.problems import Problems
from ....grammar.records import replace
from ....grammar.source import Source, Span
from ....grammar.tokens import TokenKind
from ... import nodes
from ...catalog.names import ObjectName, fold
from ...catalog.types import INT, NVARCHAR_MAX, SqlType
from ...plpgsql import nodes as pl
from ...target import nodes as n
from ..arguments import argument_value
from ..context import Context
from ..dispatch import system_procedures
from ..dynamic.sql import lower_system_query, with_failure_code
from ..queries import lower_translated
from ..rules import binding
from .queries import SYSTEM_QUERIES

_LEVELS = tuple(
    (f"@level{level}{part}", f"level{level}{part}", NVARCHAR_MAX)
    for level in range(3)
    for part in ("type", "name")
)
_NAMED_PROPERTY = (("@name", "name", NVARCHAR_MAX), *_LEVELS)
_PROPERTY = (("@name", "name", NVARCHAR_MAX), ("@value", "value", NVARCHAR_MAX), *_LEVELS)

# Name → function, and the parameters in order: T-SQL name, PostgreSQL name, type.
_FUNCTIONS: dict[str, tuple[str, tuple[tuple[str, str, SqlType], ...], bool]] = {
    "sp_getapplock": (
        "ssb_internal.get_applock",
        (
            ("@resource", "resource", NVARCHAR_MAX),
            ("@lockmode", "mode", NVARCHAR_MAX),
            ("@lockowner", "owner", NVARCHAR_MAX),
            ("@locktimeout", "timeout", INT),
            ("@dbprincipal", "", NVARCHAR_MAX),
        ),
        True,
    ),
    "sp_releaseapplock": (
        "sys.releaseapplock",
        (
            ("@resource", "resource", NVARCHAR_MAX),
            ("@lockowner", "owner", NVARCHAR_MAX),
            ("@dbprincipal", "", NVARCHAR_MAX),
        ),
        True,
    ),
    "sp_addmessage": (
        "sys.addmessage",
        (
            ("@msgnum", "msgnum", INT),
            ("@severity", "severity", INT),
            ("@msgtext", "msgtext", NVARCHAR_MAX),
            ("@lang", "lang", NVARCHAR_MAX),
            ("@with_log", "with_log", NVARCHAR_MAX),
            ("@replace", "replace", NVARCHAR_MAX),
        ),
        False,
    ),
    "sp_altermessage": (
        "sys.altermessage",
        (
            ("@message_id", "message_id", INT),
            ("@parameter", "parameter", NVARCHAR_MAX),
            ("@parameter_value", "parameter_value", NVARCHAR_MAX),
        ),
        False,
    ),
    "sp_dropmessage": (
        "sys.dropmessage",
        (("@msgnum", "msgnum", INT), ("@lang", "lang", NVARCHAR_MAX)),
        False,
    ),
    "sp_xml_removedocument": ("sys.remove_document", (("@hdoc", "p_number", INT),), False),
    "sp_addextendedproperty": ("sys.change_extended_property", _PROPERTY, False),
    "sp_updateextendedproperty": ("sys.change_extended_property", _PROPERTY, False),
    "sp_dropextendedproperty": ("sys.change_extended_property", _NAMED_PROPERTY, False),
    "sp_set_session_context": (
        "sys.set_session_context",
        (("@key", "key", NVARCHAR_MAX), ("@value", "value", NVARCHAR_MAX), ("@read_only", "read_only", INT)),
        False,
    ),
}

_TEXT = NVARCHAR_MAX
# Of SQL Server 2000: name → function, the kind of principal it is told, parameters as above.
_PRINCIPALS: dict[str, tuple[str, str | None, tuple[tuple[str, str, SqlType], ...]]] = {
    "sp_addrole": (
        "ssb.create_principal",
        "ROLE",
        (("@rolename", "name", _TEXT), ("@ownername", "owner", _TEXT)),
    ),
    "sp_droprole": ("ssb.drop_principal", "ROLE", (("@rolename", "name", _TEXT),)),
    "sp_addrolemember": (
        "ssb.add_member",
        None,
        (("@rolename", "role", _TEXT), ("@membername", "member", _TEXT)),
    ),
    "sp_droprolemember": (
        "ssb.drop_member",
        None,
        (("@rolename", "role", _TEXT), ("@membername", "member", _TEXT)),
    ),
    "sp_addlogin": (
        "ssb.create_principal",
        "LOGIN",
        (
            ("@loginame", "name", _TEXT),
            ("@passwd", "", _TEXT),
            ("@defdb", "", _TEXT),
            ("@deflanguage", "", _TEXT),
            ("@sid", "", _TEXT),
            ("@encryptopt", "", _TEXT),
        ),
    ),
    "sp_droplogin": ("ssb.drop_principal", "LOGIN", (("@loginame", "name", _TEXT),)),
    "sp_grantdbaccess": (
        "ssb.create_principal",
        "USER",
        (("@loginame", "login", _TEXT), ("@name_in_db", "name", _TEXT)),
    ),
    "sp_adduser": (
        "ssb.create_principal",
        "USER",
        (("@loginame", "login", _TEXT), ("@name_in_db", "name", _TEXT), ("@grpname", "role", _TEXT)),
    ),
    "sp_revokedbaccess": ("ssb.drop_principal", "USER", (("@name_in_db", "name", _TEXT),)),
    "sp_dropuser": ("ssb.drop_principal", "USER", (("@name_in_db", "name", _TEXT),)),
}

# Upkeep that PostgreSQL does by itself, and ways in which SQL Server stores its data.
_WITHOUT_EFFECT = frozenset(
    """
    sp_updatestats sp_recompile sp_tableoption sp_indexoption sp_createstats sp_autostats
    sp_cycle_errorlog sp_db_vardecimal_storage_format sp_fulltext_database sp_delete_database_backuphistory
    sp_certify_removable sp_dbcmptlevel sp_invalidate_textptr
    """.split()
)
_LOGS_IN = "who logs in is PostgreSQL's: CREATE ROLE, ALTER ROLE there, and pg_hba.conf"
_NO_LINKED_SERVERS = "there are no linked servers: PostgreSQL's foreign tables, or a dialog"
_NO_FULL_TEXT = "full-text search is not translated"
# What a script would rely on, and does not get: name → what to do instead.
_WITH_WARNING = {
    "sp_settriggerorder": "the triggers of a table run in the order of their names",
    "sp_procoption": "no procedure runs when the server starts: a timer, or a job of the system, does",
    "sp_dboption": "ALTER DATABASE … SET",
    "sp_changeobjectowner": "ALTER SCHEMA … TRANSFER",
    "sp_addsrvrolemember": "those of a server are its PostgreSQL roles' rights",
    "sp_dropsrvrolemember": "those of a server are its PostgreSQL roles' rights",
    "sp_grantlogin": _LOGS_IN,
    "sp_revokelogin": _LOGS_IN,
    "sp_denylogin": _LOGS_IN,
    "sp_password": _LOGS_IN,
    "sp_change_users_login": "ALTER USER … WITH LOGIN",
    "sp_defaultdb": "name the database where the connection is made: `pgsb run -d`",
    "sp_defaultlanguage": "SET LANGUAGE",
    "sp_set_database_firewall_rule": "pg_hba.conf says from where clients come",
    "sp_serveroption": _NO_LINKED_SERVERS,
    "sp_addserver": _NO_LINKED_SERVERS,
    "sp_dropserver": _NO_LINKED_SERVERS,
    "sp_trace_setstatus": "PostgreSQL logs statements: log_statement, auto_explain",
    "sp_fulltext_catalog": _NO_FULL_TEXT,
    "sp_fulltext_table": _NO_FULL_TEXT,
    "sp_fulltext_column": _NO_FULL_TEXT,
}


def lower_system_procedure(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """Lower EXEC of a system procedure."""
    assert isinstance(node.module, nodes.QualifiedName)
    name = node.module.name.text.lower()
    database = ctx.catalog.database
    # Those that are texts say USE.
    if node.module.database is not None and name not in SYSTEM_QUERIES:
        ctx.catalog.database = fold(node.module.database.text)
    try:
        return _lower_named(node, name, ctx)
    finally:
        ctx.catalog.database = database


def _lower_named(node: nodes.Execute, name: str, ctx: Context) -> list[pl.Statement]:
    if name in _SPECIAL:
        return _SPECIAL[name](node, ctx)
    if name in _FUNCTIONS:
        return _call(node, name, ctx)
    if name in _PRINCIPALS:
        return _principal(node, name, ctx)
    if (instead := _WITH_WARNING.get(name)) is not None:
        ctx.problems.add(f"{name} has no effect", node.span, hint=instead, severity="warning")
        return _with_code([], node, ctx)
    if name in _WITHOUT_EFFECT:
        return _with_code([], node, ctx)
    return lower_system_query(node, *SYSTEM_QUERIES[name], ctx)


def _arguments(
    node: nodes.Execute, parameters: tuple[tuple[str, str, SqlType], ...], ctx: Context
) -> list[tuple[str, pl.Expr]]:
    result: list[tuple[str, pl.Expr]] = []
    by_name = {name: (target, type_) for name, target, type_ in parameters}
    for number, argument in enumerate(node.arguments):
        if argument.name is not None:
            found = by_name.get(argument.name.key)
        elif number < len(parameters):
            found = parameters[number][1:]
        else:
            found = None
        if found is None:
            name = node.module.name
            called = name if isinstance(name, str) else name.text
            if argument.name is not None:
                message = f"{argument.name.name} is not a parameter for procedure {called}."
            else:
                message = f"Procedure or function {called} has too many arguments specified."
            ctx.problem(message, argument.span, number=8144 if argument.name is None else 8145)
            continue
        if found[0] and any(name == found[0] for name, _ in result):
            which = argument.name.name if argument.name else number + 1
            message = f"Parameter '{which}' was supplied multiple times."
            ctx.problem(message, argument.span, number=8143)
        elif argument.value is not None and found[0]:
            result.append((found[0], argument_value(argument.value, found[1], ctx)))
    return result


def _call(node: nodes.Execute, name: str, ctx: Context) -> list[pl.Statement]:
    function, parameters, returns = _FUNCTIONS[name]
    arguments = tuple(_arguments(node, parameters, ctx))
    if function == "sys.change_extended_property":
        action = name.removeprefix("sp_").removesuffix("extendedproperty").upper()
        arguments = (("action", pl.Text(action)), *arguments)
    if name == "sp_getapplock":
        arguments = (("trancount", pl.Name(f"{ctx.session}.trancount")), *arguments)
    call = pl.Invoke(function, (), arguments)
    if returns and node.return_variable is not None:
        target = ctx.variable(node.return_variable)
        body: list[pl.Statement] = [pl.Assign(target.spelling, call)]
        if name == "sp_releaseapplock":
            # Beside error 1223 it returns that.
            body.insert(0, pl.Assign(target.spelling, pl.Number(-999)))
    else:
        body = _with_code([pl.Perform(call)], node, ctx)
    body += ctx.status(node, pl.Number(0))
    return [*ctx.guard(node, body, verb="EXECUTE", hints=True), *ctx.autocommit(node)]


def _with_code(body: list[pl.Statement], node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """What a system procedure does, with the code that it returns: 1 where it ends by an error, else 0."""
    if node.return_variable is None:
        return body
    code = ctx.variable(node.return_variable).spelling
    failed = [pl.Assign(code, pl.Number(1))] if body else []
    return [*failed, *body, pl.Assign(code, pl.Number(0))]


def _principal(node: nodes.Execute, name: str, ctx: Context) -> list[pl.Statement]:
    """sp_addrole, sp_addlogin and their like: what CREATE ROLE, CREATE LOGIN … do."""
    function, kind, parameters = _PRINCIPALS[name]
    given = dict(_arguments(node, parameters, ctx))
    role = given.pop("role", None) if name == "sp_adduser" else None
    owner = given.pop("owner", None)
    if kind == "USER" and "login" in given:
        # A user is called as its login where no name is given.
        given.setdefault("name", given["login"])
    for _, wanted, _ in parameters[:1]:
        if wanted not in given:
            ctx.problem(
                f"Procedure or function '{name}' expects parameter '{parameters[0][0]}', which was not "
                "supplied.",
                node.span,
                number=201,
            )
            return []
    database = () if kind == "LOGIN" else ctx.database_argument()
    arguments = tuple(given.items()) + ((("kind", pl.Text(kind)),) if kind else ())
    body: list[pl.Statement] = []
    if name in ("sp_addrolemember", "sp_droprolemember", "sp_droprole"):
        named = given.get("role", given.get("name", pl.NULL))
        names = (("role", named), ("member", given.get("member", pl.NULL)))
        body.append(pl.Perform(pl.Invoke("ssb_internal.require_names_of_role", (), (*names, *database))))
    body.append(pl.Perform(pl.Invoke(function, (), (*arguments, *database))))
    if role is not None:
        member = (("role", role), ("member", given["name"]))
        body.append(pl.Perform(pl.Invoke("ssb.add_member", (), (*member, *database))))
    if owner is not None:
        owned = (("class", pl.Text("ROLE")), ("name", given["name"]), ("principal", owner))
        body.append(pl.Perform(pl.Invoke("ssb.alter_authorization", (), (*owned, *database))))
    body = _with_code(body, node, ctx)
    body += ctx.status(node, pl.Number(0))
    return [*ctx.guard(node, body, verb="EXECUTE", hints=True), *ctx.autocommit(node)]


def _constant(node: nodes.Execute, position: int, name: str) -> str | None:
    """The argument ``name``, or the one at ``position``, where it is a literal or a word."""
    for number, argument in enumerate(node.arguments):
        if argument.name.key == name if argument.name is not None else number == position:
            tokens = argument.value.tokens if argument.value is not None else ()
            if len(tokens) != 1 or tokens[0].kind is TokenKind.VARIABLE:
                return None
            return string_value(tokens[0]) if tokens[0].kind == TokenKind.STRING else tokens[0].text
    return None


def _add_type(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_addtype name, 'type', 'null': CREATE TYPE name FROM type, as its page says."""
    name, base = _constant(node, 0, "@typename"), _constant(node, 1, "@phystype")
    nullable = _constant(node, 2, "@nulltype") or "NULL"
    if name is None or base is None:
        ctx.problem("sp_addtype needs the name and the type as literals", node.span)
        return []
    not_null = nullable.strip().upper() in ("NOT NULL", "NONULL")
    text = f"CREATE TYPE dbo.{bracketed(one_name(name))} FROM {base} {'NOT NULL' if not_null else 'NULL'}"
    return with_failure_code(node, _definition(node, text, "CREATE TYPE", ctx), ctx)


def _drop_type(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_droptype name."""
    name = _constant(node, 0, "@typename")
    if name is None:
        ctx.problem("sp_droptype needs the name as a literal", node.span)
        return []
    parts = name_parts(name) or [name]
    table = ObjectName(parts[-1], parts[-2] if len(parts) > 1 else None)
    ctx.catalog.forget_type(table)
    drop = pl.Invoke("ssb_internal.drop_relation", (pl.Text("TYPE"), pl.Text(ctx.catalog.sql_name(table))))
    body = [*_with_code([pl.Perform(drop)], node, ctx), *ctx.status(node, pl.Number(0))]
    return [*ctx.guard(node, body, verb="DROP", hints=True), *ctx.autocommit(node)]


def _bind_rule(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_bindrule rule, 'table.column', sp_unbindrule 'table.column', and their like for defaults."""
    assert isinstance(node.module, nodes.QualifiedName)
    name = node.module.name.text.lower()
    parameters = {"sp_bindrule": "@rulename", "sp_bindefault": "@defname"}
    first = _constant(node, 0, parameters.get(name, "@objname"))
    second = _constant(node, 1, "@objname")
    lowered: list[pl.Statement] = []
    for text in binding(node, name, first, second, ctx):
        lowered += _definition(node, text, "ALTER TABLE", ctx)
    if not lowered:
        return []
    told = pl.Perform(pl.Invoke("ssb_internal.print", (pl.Text(_BOUND[name]),)))
    return with_failure_code(node, [*lowered, told], ctx)


_BOUND = {
    "sp_bindrule": "Rule bound to table column.",
    "sp_bindefault": "Default bound to column.",
    "sp_unbindrule": "Rule unbound from table column.",
    "sp_unbindefault": "Default unbound from table column.",
}


def _definition(node: nodes.Execute, text: str, verb: str, ctx: Context) -> list[pl.Statement]:
    """An ordinary definition in place of the procedure's call; what is wrong with it is the call's."""
    source = Source(node.span.source.name, text)
    tokens = tuple(lex(source, ctx.problems))
    inner = nodes.SqlText(span=Span(source, 0, len(text)), tokens=tokens)
    found = Problems()
    outer, ctx.problems = ctx.problems, found
    try:
        lowered = lower_translated(node, inner, verb, ctx)
    finally:
        ctx.problems = outer
    for problem in found:
        ctx.problem(problem.message, node.span, number=problem.number)
    return lowered


# Settings that change what scripts do: name → the value that PostgreSQL behaves as.
_OF_SCRIPTS = {
    "nested triggers": "1",
    "user options": "0",
    "two digit year cutoff": "2049",
    "disallow results from triggers": "0",
}


def _configure(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_configure: what there is; with a value it has no effect."""
    values = [one for place, one in enumerate(node.arguments) if place == 1 or _is_named(one, "@configvalue")]
    name, value = (_constant(node, place, one) for place, one in enumerate(("@configname", "@configvalue")))
    stays = _OF_SCRIPTS.get((name or "").lower())
    if value is not None and stays not in (None, value):
        ctx.problems.add(f"sp_configure has no effect: '{name}' stays {stays}", node.span, severity="warning")
    return (
        _with_code([], node, ctx)
        if values
        else lower_system_query(node, *SYSTEM_QUERIES["sp_configure"], ctx)
    )


def _is_named(argument: nodes.Argument, name: str) -> bool:
    return argument.name is not None and argument.name.key == name


def _change_database_owner(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_changedbowner login: ALTER AUTHORIZATION ON DATABASE, of the session's."""
    given = dict(_arguments(node, (("@loginame", "principal", _TEXT), ("@map", "", _TEXT)), ctx))
    if "principal" not in given:
        ctx.problem(
            "Procedure or function 'sp_changedbowner' expects parameter '@loginame', which was not supplied.",
            node.span,
            number=201,
        )
        return []
    database = (("class", pl.Text("DATABASE")), ("name", pl.Invoke("ssb.db_name")))
    owner = (("principal", given["principal"]), *ctx.database_argument())
    call = pl.Perform(pl.Invoke("ssb.alter_authorization", (), (*database, *owner)))
    body = [*_with_code([call], node, ctx), *ctx.status(node, pl.Number(0))]
    return [*ctx.guard(node, body, verb="EXECUTE", hints=True), *ctx.autocommit(node)]


def _rename(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_rename of tables, columns, indexes and the like."""
    parameters = (
        ("@objname", "object_name", NVARCHAR_MAX),
        ("@newname", "new_name", NVARCHAR_MAX),
        ("@objtype", "object_type", NVARCHAR_MAX),
    )
    arguments = _arguments(node, parameters, ctx)
    _follow_rename(dict(arguments), ctx)
    call = pl.Invoke("ssb_internal.rename_object", (), (*arguments, *ctx.database_argument()))
    body = [*_with_code([pl.Perform(call)], node, ctx), *ctx.status(node, pl.Number(0))]
    # With a verb the handler is told the severity too: 11.
    return [*ctx.guard(node, body, verb="EXECUTE"), *ctx.autocommit(node)]


def _refresh(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_refreshview, and sp_refreshsqlmodule, which has nothing to do for other modules."""
    parameters = (
        ("@viewname", "object_name", NVARCHAR_MAX),
        ("@namespace", "", NVARCHAR_MAX),
        ("@name", "object_name", NVARCHAR_MAX),
    )
    arguments = tuple(_arguments(node, parameters, ctx))
    call = pl.Invoke("ssb_internal.refresh_module", (), (*arguments, *ctx.database_argument()))
    body = [*_with_code([pl.Perform(call)], node, ctx), *ctx.status(node, pl.Number(0))]
    return [*ctx.guard(node, body, verb="EXECUTE"), *ctx.autocommit(node)]


def _follow_rename(arguments: dict[str, pl.Expr], ctx: Context) -> None:
    """What the script knows of a table goes with its new name, where the arguments are constants."""
    old, new = (_constant_text(arguments.get(name)) for name in ("object_name", "new_name"))
    kind = (_constant_text(arguments.get("object_type")) or "").upper()
    if old is None or new is None or kind == "INDEX":
        return
    parts = name_parts(old) or []
    is_column = kind == "COLUMN"
    owner = parts[:-1] if is_column else parts
    if not 1 <= len(owner) <= 3:
        return
    name = ObjectName(owner[-1], *owner[-2::-1])
    known = ctx.catalog.tables.pop(ctx.catalog.key(name), None)
    if known is None:
        return
    if is_column:
        was = fold(parts[-1])
        ctx.catalog.tables[ctx.catalog.key(name)] = replace(
            known,
            columns=tuple(
                replace(column, name=new) if fold(column.name) == was else column for column in known.columns
            ),
            keys=tuple(
                replace(key, columns=tuple(new if fold(column) == was else column for column in key.columns))
                for key in known.keys
            ),
            default_names=tuple(
                (constraint, fold(new) if fold(column) == was else column)
                for constraint, column in known.default_names
            ),
        )
    else:
        renamed = replace(name, name=new)
        ctx.catalog.tables[ctx.catalog.key(renamed)] = replace(known, name=renamed)


def _constant_text(value: pl.Expr | None) -> str | None:
    """The value of an argument that is a string constant."""
    if isinstance(value, pl.Text):
        return value.value
    if isinstance(value, pl.Raw) and isinstance(value.code, n.Text):
        return value.code.value
    return None


def _prepare_document(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """sp_xml_preparedocument @handle OUTPUT, 'text': the session keeps the text until it ends.

    Without a text the document is empty.
    """
    by_name = {argument.name.key: argument for argument in node.arguments if argument.name is not None}
    positional = [argument for argument in node.arguments if argument.name is None]
    handle = by_name.get("@hdoc") or (positional.pop(0) if positional else None)
    text = by_name.get("@xmltext") or (positional.pop(0) if positional else None)
    target = ctx.scope.variable(handle.value.alone) if handle and handle.value else None
    if target is None:
        ctx.problem("sp_xml_preparedocument expects @hdoc OUTPUT", node.span)
        return []
    namespaces = by_name.get("@xpath_namespaces") or (positional.pop(0) if positional else None)
    document = text.value if text is not None else None
    values = [argument_value(document, NVARCHAR_MAX, ctx) if document is not None else pl.NULL]
    if namespaces is not None and namespaces.value is not None:
        values.append(argument_value(namespaces.value, NVARCHAR_MAX, ctx))
    call = pl.Invoke(
        "sys.prepare_document_with" if len(values) > 1 else "sys.prepare_document", tuple(values)
    )
    body = _with_code([pl.Assign(target.reference, call)], node, ctx)
    return ctx.guard(node, [*body, *ctx.status(node, pl.Number(0))], verb="EXECUTE")


def _log_event(node: nodes.Execute, ctx: Context) -> list[pl.Statement]:
    """xp_logevent number, message: a line in the server's log."""
    parameters = (
        ("@error_number", "", INT),
        ("@message", "message", NVARCHAR_MAX),
        ("@severity", "", NVARCHAR_MAX),
    )
    call = pl.Invoke("ssb_internal.log_event", (), tuple(_arguments(node, parameters, ctx)))
    return ctx.guard(node, [*_with_code([pl.Perform(call)], node, ctx), *ctx.status(node, pl.Number(0))])


_SPECIAL: dict[str, Callable[[nodes.Execute, Context], list[pl.Statement]]] = {
    "sp_configure": _configure,
    "sp_changedbowner": _change_database_owner,
    "sp_rename": _rename,
    "sp_refreshview": _refresh,
    "sp_refreshsqlmodule": _refresh,
    "xp_logevent": _log_event,
    "sp_xml_preparedocument": _prepare_document,
    "sp_addtype": _add_type,
    "sp_droptype": _drop_type,
    "sp_bindrule": _bind_rule,
    "sp_bindefault": _bind_rule,
    "sp_unbindrule": _bind_rule,
    "sp_unbindefault": _bind_rule,
}

for _name in (*_SPECIAL, *_FUNCTIONS, *_PRINCIPALS, *_WITHOUT_EFFECT, *_WITH_WARNING, *SYSTEM_QUERIES):
    system_procedures.register(_name)(lower_system_procedure)
