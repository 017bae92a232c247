"""Trees of queries, DML and table DDL, databases, principals and permissions → nodes."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...grammar.problems import did_you_mean
from ...grammar.source import Span
from ...grammar.tokens import TokenKind
from ...grammar.tree import Terminal
from .. import nodes
from .keys import backup_certificate
from .reader import Builder, Common, Node, Reader, builders
from .service_broker import event_scope
from .tables import table_definition

__all__ = ["create_schema"]

# ------------------------------------------------------------------ queries and changes


def _sql(kind: str) -> Builder:
    def build(tree: Node, read: Reader, common: Common) -> nodes.Statement:
        return nodes.SqlStatement(kind=kind, text=read.text(tree), **common)

    return build


for _rule in ("select", "insert", "update", "delete", "merge"):
    builders.register(_rule)(_sql(_rule.upper()))
builders.register("alter_table")(_sql("ALTER TABLE"))


@builders.register("with_statement")
def _with_statement(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    (inner,) = read.trees(tree)
    return nodes.SqlStatement(kind=str(inner.data).upper(), text=read.text(tree), with_clause=True, **common)


@builders.register("insert_execute")
def _insert_execute(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    target, call = read.trees(tree)
    execute = builders[str(call.data)](call, read, {"span": read.span(call)})
    assert isinstance(execute, nodes.Execute | nodes.ExecuteString)
    return nodes.InsertExecute(target=read.text(target), execute=execute, **common)


# ------------------------------------------------------------------ tables and the like


@builders.register("create_table")
def _create_table(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    group = read.terminal(tree, "GROUP")
    name = read.need_qualified(tree)
    return nodes.CreateTable(
        name=name,
        definition=table_definition(*read.range_of(group), read) if group else None,
        text=read.text(tree),
        **common,
    )


_DROPPED_IF_EXISTS = frozenset(
    {
        "AGGREGATE",
        "ASSEMBLY",
        "DATABASE",
        "DEFAULT",
        "EXTERNAL MODEL",
        "FUNCTION",
        "PROC",
        "PROCEDURE",
        "ROLE",
        "RULE",
        "SCHEMA",
        "SECURITY POLICY",
        "SEQUENCE",
        "SYNONYM",
        "TABLE",
        "TRIGGER",
        "TYPE",
        "USER",
        "VIEW",
    }
)
_UNQUALIFIED = frozenset(
    {
        "BROKER PRIORITY",
        "CERTIFICATE",
        "CONTRACT",
        "DATABASE",
        "ENDPOINT",
        "EVENT NOTIFICATION",
        "LOGIN",
        "MESSAGE TYPE",
        "REMOTE SERVICE BINDING",
        "ROLE",
        "ROUTE",
        "SCHEMA",
        "SERVICE",
        "USER",
    }
)
_VIEWS = {
    "MESSAGE TYPE": "service_message_types",
    "CONTRACT": "service_contracts",
    "QUEUE": "service_queues",
    "SERVICE": "services",
    "ROUTE": "routes",
    "REMOTE SERVICE BINDING": "remote_service_bindings",
    "BROKER PRIORITY": "conversation_priorities",
    "ENDPOINT": "endpoints",
    "EVENT NOTIFICATION": "event_notifications",
    "XML SCHEMA COLLECTION": "xml_schema_collections",
    "CERTIFICATE": "certificates",
    "LOGIN": "server_principals",
}


@builders.register("drop")
def _drop(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    if read.terminal(tree, "TEXT") is not None:
        kind = read.words_before_text(tree)
        if kind == "DROP INDEX":
            return nodes.SqlStatement(kind=kind, text=read.text(tree), **common)
        return nodes.AdministrativeStatement(kind=kind, text=read.text(tree), **common)
    words = read.words_before_text(tree).removeprefix("DROP ")
    kind = words.removesuffix(" IF EXISTS")
    scope = read.tree(tree, "event_scope")
    if kind == "EVENT NOTIFICATION" and scope is None:
        read.unexpected(read.range_of(tree)[1] - 1, "expected ON SERVER, ON DATABASE or ON QUEUE name")
    elif scope is not None and kind not in ("EVENT NOTIFICATION", "TRIGGER", "EVENT SESSION"):
        read.unexpected(read.range_of(scope)[0] - 1)
    prefixes = 2 if kind in ("QUEUE", "XML SCHEMA COLLECTION") else 3
    trees = read.trees(tree, "qualified_name")
    names = tuple(read.qualified_at(*read.range_of(name), prefixes) for name in trees)
    if words != kind and kind not in _DROPPED_IF_EXISTS:
        place = next(terminal for terminal in read.terminals(tree) if read.words(terminal) == "IF")
        read.unexpected(
            read.range_of(place)[0],
            f"DROP {kind} has no IF EXISTS: ask sys.{_VIEWS.get(kind, 'objects')} first",
        )
    if kind in _UNQUALIFIED:
        for start, end in map(read.range_of, trees):
            if end > start + 1:
                read.unexpected(start + 1, f"{kind} names have neither database nor schema")
    return nodes.DropStatement(
        kind="PROCEDURE" if kind == "PROC" else kind,
        names=names,
        if_exists=words != kind,
        on=event_scope(scope, read) if scope else None,
        **common,
    )


@builders.register("sql_statement")
def _sql_statement(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    kind = read.words_before_text(tree)
    if "INDEX" in kind and kind.startswith("CREATE"):
        kind = "CREATE XML INDEX" if "XML" in kind else "CREATE INDEX"
    return nodes.SqlStatement(kind=kind, text=read.text(tree), **common)


# ------------------------------------------------------------------ schemas and databases


def create_schema(
    tree: Node, read: Reader, span: Span, build: Callable[[Node], nodes.Statement]
) -> nodes.Statement:
    """Return CREATE SCHEMA with the statements that belong to it."""
    owner = read.owner(tree)
    named = read.tree(tree, "schema_name")
    name = read.name(named) if named else owner
    assert name is not None
    elements = [child for child in read.trees(tree) if child.data not in ("owner", "schema_name")]
    return nodes.CreateSchema(
        span=span, name=name, owner=owner, elements=tuple(build(child) for child in elements)
    )


@builders.register("alter_schema")
def _alter_schema(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.AlterSchema(
        name=read.name(tree),
        securable_class=_class(tree, read),
        object=read.need_qualified(tree),
        **common,
    )


@builders.register("create_synonym")
def _create_synonym(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    name, target = map(read.qualified, read.trees(tree, "qualified_name"))
    return nodes.CreateSynonym(name=name, target=target, **common)


@builders.register("enable_trigger")
def _enable_trigger(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    names = [read.qualified(name) for name in read.trees(tree, "qualified_name")]
    scope = read.tree(tree, "trigger_scope")
    return nodes.EnableTrigger(
        enable=read.terminal(tree, "ENABLE_TRIGGER") is not None,
        triggers=tuple(names if scope else names[:-1]),
        target=None if scope else names[-1],
        scope=read.words(scope) if scope else None,
        **common,
    )


@builders.register("create_database")
def _create_database(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    text = read.terminal(tree, "TEXT")
    words = read.text(text).words if text else ()
    trustworthy: bool | None = None
    broker: str | None = None
    snapshot: nodes.Identifier | None = None
    for index, word in enumerate(words):
        after = words[index + 1] if index + 1 < len(words) else ""
        if word in ("ENABLE_BROKER", "NEW_BROKER", "ERROR_BROKER_CONVERSATIONS"):
            broker = word
        elif word == "TRUSTWORTHY" and after in ("ON", "OFF"):
            trustworthy = after == "ON"
        elif word == "SNAPSHOT" and after == "OF" and text is not None:
            snapshot = read.identifier_at(read.range_of(text)[0] + index + 2)
    return nodes.CreateDatabase(
        name=read.name(tree),
        text=read.text(tree),
        trustworthy=trustworthy,
        enable_broker=broker,
        snapshot_of=snapshot,
        **common,
    )


@builders.register("alter_database")
def _alter_database(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    action_tree = read.need_tree(tree, "alter_database_set", "alter_database_other")
    start, end = read.range_of(action_tree)
    name = read.terminal(tree, "NAME")
    options: tuple[nodes.DatabaseOption, ...] = ()
    termination: str | None = None
    new_name: nodes.Identifier | None = None
    words = [token.word for token in read.tokens[start:end]]
    if action_tree.data == "alter_database_set":
        action = "SET"
        options, termination = _database_options(start + 1, end, read)
    elif words[:2] == ["MODIFY", "NAME"]:
        action = "MODIFY NAME"
        if end - start == 4 and words[2] == "=" and read.is_name(start + 3):
            new_name = read.identifier_at(start + 3)
        else:
            read.unexpected(start + 3, "expected MODIFY NAME = name")
    else:
        taken: list[str] = []
        for token in read.tokens[start:end]:
            if token.kind is not TokenKind.WORD or len(taken) == 2:
                break
            taken.append(token.word)
        action = " ".join(taken)
        if not taken or taken[0] not in ("MODIFY", "COLLATE", "ADD", "REMOVE"):
            read.unexpected(start, "expected SET, MODIFY, COLLATE, ADD or REMOVE")
        elif taken[0] == "COLLATE":
            action = "COLLATE"
    return nodes.AlterDatabase(
        name=read.identifier(name) if name else None,
        action=action,
        options=options,
        termination=termination,
        new_name=new_name,
        text=read.text(tree),
        **common,
    )


SWITCHES = frozenset(
    """
    DISABLE_BROKER EMERGENCY ENABLE_BROKER ERROR_BROKER ERROR_BROKER_CONVERSATIONS MULTI_USER
    NEW_BROKER OFFLINE ONLINE READ_ONLY READ_WRITE RESTRICTED_USER SINGLE_USER
    """.split()
)
"""Options of a database that have no value."""
_OF_BROKER = frozenset(
    {"DISABLE_BROKER", "ENABLE_BROKER", "ERROR_BROKER", "ERROR_BROKER_CONVERSATIONS", "NEW_BROKER"}
)
"""Of these a statement has one: the first of two would be undone by the other."""
_EXCLUSIVE = (
    frozenset({"MULTI_USER", "RESTRICTED_USER", "SINGLE_USER"}),
    frozenset({"EMERGENCY", "OFFLINE", "ONLINE"}),
    frozenset({"READ_ONLY", "READ_WRITE"}),
)
"""Of each of these a statement has one, too."""
DATABASE_OPTIONS = SWITCHES | frozenset(
    """
    ACCELERATED_DATABASE_RECOVERY ALLOW_SNAPSHOT_ISOLATION ANSI_NULLS ANSI_NULL_DEFAULT ANSI_PADDING
    ANSI_WARNINGS ARITHABORT AUTOMATIC_TUNING AUTO_CLOSE AUTO_CREATE_STATISTICS AUTO_SHRINK
    AUTO_UPDATE_STATISTICS AUTO_UPDATE_STATISTICS_ASYNC CHANGE_TRACKING COMPATIBILITY_LEVEL
    CONCAT_NULL_YIELDS_NULL CONTAINMENT CURSOR_CLOSE_ON_COMMIT CURSOR_DEFAULT DATA_RETENTION
    DATE_CORRELATION_OPTIMIZATION DB_CHAINING DEFAULT_FULLTEXT_LANGUAGE DEFAULT_LANGUAGE
    DELAYED_DURABILITY ENCRYPTION FILESTREAM HADR HONOR_BROKER_PRIORITY LOCAL_DIALOG_SECURITY
    MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT MIXED_PAGE_ALLOCATION NESTED_TRIGGERS NUMERIC_ROUNDABORT
    OPTIMIZED_LOCKING PAGE_VERIFY PARAMETERIZATION PARTNER PERSISTENT_LOG_BUFFER QUERY_STORE
    QUOTED_IDENTIFIER READ_COMMITTED_SNAPSHOT RECOVERY RECURSIVE_TRIGGERS REMOTE_DATA_ARCHIVE
    SUPPLEMENTAL_LOGGING SUSPEND_FOR_SNAPSHOT_BACKUP TARGET_RECOVERY_TIME TEMPORAL_HISTORY_RETENTION
    TORN_PAGE_DETECTION TRANSFORM_NOISE_WORDS TRUSTWORTHY TWO_DIGIT_YEAR_CUTOFF
    VARDECIMAL_STORAGE_FORMAT WITNESS
    """.split()
)
"""Options of a database; runtime_sql/definitions/databases.sql has the same."""
_OPTION_VALUES = {
    "CONTAINMENT": frozenset({"NONE", "PARTIAL"}),
    "CURSOR_DEFAULT": frozenset({"GLOBAL", "LOCAL"}),
    "DELAYED_DURABILITY": frozenset({"ALLOWED", "DISABLED", "FORCED"}),
    "PAGE_VERIFY": frozenset({"CHECKSUM", "NONE", "TORN_PAGE_DETECTION"}),
    "PARAMETERIZATION": frozenset({"FORCED", "SIMPLE"}),
    "RECOVERY": frozenset({"BULK_LOGGED", "FULL", "SIMPLE"}),
} | dict.fromkeys(
    """
    ALLOW_SNAPSHOT_ISOLATION ANSI_NULLS ANSI_NULL_DEFAULT ANSI_PADDING ANSI_WARNINGS ARITHABORT AUTO_CLOSE
    AUTO_SHRINK AUTO_UPDATE_STATISTICS AUTO_UPDATE_STATISTICS_ASYNC CONCAT_NULL_YIELDS_NULL
    CURSOR_CLOSE_ON_COMMIT DATE_CORRELATION_OPTIMIZATION DB_CHAINING HONOR_BROKER_PRIORITY
    MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT MIXED_PAGE_ALLOCATION NESTED_TRIGGERS NUMERIC_ROUNDABORT
    QUOTED_IDENTIFIER READ_COMMITTED_SNAPSHOT RECURSIVE_TRIGGERS TORN_PAGE_DETECTION
    TRANSFORM_NOISE_WORDS TRUSTWORTHY
    """.split(),
    frozenset({"OFF", "ON"}),
)
"""Options of a database whose values are words of a few."""
_OPTION_EXPECTED = "expected an option of databases, such as ENABLE_BROKER, TRUSTWORTHY or RECOVERY"
_TERMINATION = re.compile(r"ROLLBACK (?:IMMEDIATE|AFTER [0-9]+(?: SECONDS?)?)|NO_WAIT")


def _database_options(
    start: int, end: int, read: Reader
) -> tuple[tuple[nodes.DatabaseOption, ...], str | None]:
    """Split ``SET option [value], … [WITH termination]``."""
    termination: str | None = None
    for index in range(start, end - 1):
        if read.tokens[index].word == "WITH" and read.tokens[index + 1].word in ("ROLLBACK", "NO_WAIT"):
            termination = " ".join(token.word or token.text for token in read.tokens[index + 1 : end])
            if _TERMINATION.fullmatch(termination) is None:
                hint = "expected ROLLBACK IMMEDIATE, ROLLBACK AFTER n SECONDS or NO_WAIT"
                read.unexpected(index + 1, hint)
            end = index
            break
    options: list[nodes.DatabaseOption] = []
    for first, last in read.split(start, end):
        if first >= last:
            read.unexpected(last, "expected a database option")
            continue
        name = read.tokens[first].word
        if name not in DATABASE_OPTIONS:
            read.unexpected(first, did_you_mean(name, DATABASE_OPTIONS) or _OPTION_EXPECTED)
            continue
        if name in _OF_BROKER and any(option.name in _OF_BROKER for option in options):
            read.unexpected(first, "only one of these options of Service Broker can be set at a time")
            continue
        value_start = first + 1
        if any(name in others and option.name in others for others in _EXCLUSIVE for option in options):
            read.problems.add(
                f'The option "{name}" conflicts with another requested option. The options cannot both be '
                "requested at the same time.",
                read.span_of_tokens(first, last),
                number=5062,
            )
            continue
        if value_start < last and name in SWITCHES:
            read.unexpected(value_start, f"{name} has no value")
            continue
        if value_start < last and read.tokens[value_start].word == "=":
            value_start += 1
        value: str | None = None
        if value_start < last:
            value = read.text_at(value_start, last).text
            if read.tokens[value_start].kind is TokenKind.WORD:
                value = value.upper()
        values = _OPTION_VALUES.get(name)
        if values is not None and value not in values:
            *others, last_value = sorted(values)
            expected = f"{', '.join(others)} or {last_value}"
            read.unexpected(value_start if value else last - 1, f"{name} is {expected}")
            continue
        options.append(
            nodes.DatabaseOption(
                span=read.span_of_tokens(first, last),
                # As message 28074 calls it.
                name="ERROR_BROKER_CONVERSATIONS" if name == "ERROR_BROKER" else name,
                value=value,
            )
        )
    return tuple(options), termination


# ------------------------------------------------------------------ principals


_PRINCIPAL_OPTIONS = {
    "LOGIN": frozenset(
        """
        CHECK_EXPIRATION CHECK_POLICY CREDENTIAL DEFAULT_DATABASE DEFAULT_LANGUAGE NAME OBJECT_ID
        OLD_PASSWORD PASSWORD SID
        """.split()
    ),
    "USER": frozenset(
        """
        ALLOW_ENCRYPTED_VALUE_MODIFICATIONS DEFAULT_LANGUAGE DEFAULT_SCHEMA LOGIN NAME OBJECT_ID
        OLD_PASSWORD PASSWORD SID TYPE
        """.split()
    ),
    "APPLICATION ROLE": frozenset({"DEFAULT_SCHEMA", "NAME", "PASSWORD"}),
}
_SOURCES: dict[str, tuple[str, ...]] = {
    "LOGIN": ("WINDOWS", "CERTIFICATE", "ASYMMETRIC", "EXTERNAL"),
    "USER": ("LOGIN", "CERTIFICATE", "ASYMMETRIC", "EXTERNAL"),
}


def _check_principal(tree: Node, kind: str, read: Reader) -> None:
    """Report an option that principals of a kind do not have, and what none can come from."""
    text = read.terminal(tree, "TEXT")
    known = _PRINCIPAL_OPTIONS.get(kind)
    if text is None or known is None:
        return
    start, end = read.range_of(text)
    sources = _SOURCES.get(kind, ())
    if read.tokens[start].word in ("FOR", "FROM"):
        if start + 1 >= end or read.tokens[start + 1].word not in sources:
            read.unexpected(min(start + 1, end - 1), f"expected {' or '.join(sources or ('WITH',))}")
        elif start + 2 >= end and read.tokens[start + 1].word != "WINDOWS":
            read.unexpected(start + 1, "a name is missing")
    if read.tokens[start].word == "WITHOUT" and read.tokens[min(start + 1, end - 1)].word != "LOGIN":
        read.unexpected(min(start + 1, end - 1), "expected LOGIN")
    for index in range(start, end - 1):
        if read.tokens[index + 1].word == "=" and read.tokens[index].word not in known:
            read.unexpected(index, f"expected {' or '.join(sorted(known))}")


@builders.register("create_login")
def _create_login(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    _check_principal(tree, "LOGIN", read)
    return nodes.CreateLogin(name=read.name(tree), text=read.text(tree), **common)


@builders.register("create_user")
def _create_user(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    _check_principal(tree, "USER", read)
    start, end = read.range_of(tree)
    words = [token.word for token in read.tokens[start:end]]

    def name_after(*wanted: str) -> nodes.Identifier | None:
        size = len(wanted)
        for index in range(len(words) - size):
            if tuple(words[index : index + size]) == wanted:
                return read.identifier_at(start + index + size)
        return None

    return nodes.CreateUser(
        name=read.name(tree),
        login=name_after("FOR", "LOGIN") or name_after("FROM", "LOGIN"),
        certificate=name_after("FOR", "CERTIFICATE") or name_after("FROM", "CERTIFICATE"),
        without_login=any(words[i : i + 2] == ["WITHOUT", "LOGIN"] for i in range(len(words))),
        default_schema=name_after("DEFAULT_SCHEMA", "="),
        text=read.text(tree),
        **common,
    )


@builders.register("create_role")
def _create_role(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    return nodes.CreateRole(
        kind=read.words_before_text(tree).removeprefix("CREATE "),
        name=read.name(tree),
        owner=read.owner(tree),
        text=read.text(tree),
        **common,
    )


@builders.register("alter_role")
def _alter_role(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    end = read.range_of(tree)[1]
    added, dropped = read.terminal(tree, "ADD"), read.terminal(tree, "DROP")
    action = "ADD MEMBER" if added else "DROP MEMBER" if dropped else "NAME"
    return nodes.AlterRole(
        kind=read.words_before_text(tree).removeprefix("ALTER "),
        name=read.name(tree),
        action=action,
        member=read.identifier_at(end - 1),
        **common,
    )


@builders.register("alter_principal")
def _alter_principal(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    kind = read.words_before_text(tree).removeprefix("ALTER ")
    _check_principal(tree, kind, read)
    return nodes.AlterPrincipal(
        kind=kind,
        name=read.name(tree),
        text=read.text(tree),
        **common,
    )


# ------------------------------------------------------------------ permissions


_CLASSES = frozenset(
    {
        "APPLICATION ROLE",
        "ASSEMBLY",
        "ASYMMETRIC KEY",
        "AVAILABILITY GROUP",
        "CERTIFICATE",
        "CONTRACT",
        "CREDENTIAL",
        "DATABASE",
        "DATABASE SCOPED CREDENTIAL",
        "ENDPOINT",
        "EVENT SESSION",
        "EXTERNAL LANGUAGE",
        "EXTERNAL LIBRARY",
        "EXTERNAL MODEL",
        "FULLTEXT CATALOG",
        "FULLTEXT STOPLIST",
        "LOGIN",
        "MESSAGE TYPE",
        "OBJECT",
        "REMOTE SERVICE BINDING",
        "ROLE",
        "ROUTE",
        "SCHEMA",
        "SEARCH PROPERTY LIST",
        "SERVER",
        "SERVER ROLE",
        "SERVICE",
        "SYMMETRIC KEY",
        "TYPE",
        "USER",
        "XML SCHEMA COLLECTION",
    }
)
"""What may stand before ``::``, in upper case."""


def _class(tree: Node, read: Reader) -> str:
    terminal = read.terminal(tree, "CLASS")
    if terminal is None:
        return "OBJECT"
    kind = read.words(terminal).removesuffix(" ::")
    if kind not in _CLASSES:
        hint = "queues, tables, views and modules are OBJECT::name, or a name alone"
        read.unexpected(read.range_of(terminal)[0], hint)
    return kind


def _columns(group: Terminal | None, read: Reader) -> tuple[nodes.Identifier, ...]:
    if group is None:
        return ()
    start, end = read.range_of(group)
    columns = []
    for first, last in read.split(start + 1, end - 1):
        if last - first != 1 or not read.is_name(first):
            read.unexpected(first, "expected the name of a column")
        else:
            columns.append(read.identifier_at(first))
    return tuple(columns)


def _securable(tree: Node, read: Reader) -> nodes.Securable:
    return nodes.Securable(
        span=read.span(tree),
        kind=_class(tree, read),
        name=read.need_qualified(tree),
        columns=_columns(read.terminal(tree, "GROUP"), read),
    )


def _principals(tree: Node, read: Reader) -> tuple[nodes.Identifier, ...]:
    return tuple(map(read.identifier, read.terminals(tree, "NAME", "PUBLIC", "CONSTANT_WORD")))


def _check_clauses(tree: Node, action: str, read: Reader) -> None:
    """Report the clauses that another of GRANT, DENY and REVOKE has."""
    option_for = read.tree(tree, "grant_option_for")
    if option_for is not None and action != "REVOKE":
        read.unexpected(read.range_of(option_for)[0], "GRANT OPTION FOR belongs to REVOKE")
    preposition = read.range_of(read.need_tree(tree, "principals"))[0] - 1
    if action != "REVOKE" and read.tokens[preposition].word == "FROM":
        read.unexpected(preposition, f"{action} has TO")
    ends = {"GRANT": {"with_grant_option", "grantor"}}.get(action, {"cascade", "grantor"})
    seen: set[str] = set()
    for end in read.trees(tree):
        clause = str(end.data)
        if clause in ("with_grant_option", "cascade", "grantor"):
            if clause not in ends or clause in seen:
                read.unexpected(read.range_of(end)[0], "expected the end of the statement")
            seen.add(clause)


@builders.register("permission")
def _permission(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    action = read.words(read.need_tree(tree, "permission_action"))
    grantor = read.tree(tree, "grantor")
    _check_clauses(tree, action, read)
    permissions = []
    for name in read.trees(tree, "permission_name"):
        words = " ".join(read.words(terminal) for terminal in read.terminals(name, "ANY_WORD"))
        permissions.append(
            nodes.PermissionName(
                span=read.span(name),
                name="ALL" if words == "ALL PRIVILEGES" else words,
                columns=_columns(read.terminal(name, "GROUP"), read),
            )
        )
    return nodes.Permission(
        action=action,
        permissions=tuple(permissions),
        securable=read.optional(tree, "securable", lambda t: _securable(t, read)),
        principals=_principals(read.need_tree(tree, "principals"), read),
        with_grant_option=read.tree(tree, "with_grant_option") is not None,
        grant_option_for=read.tree(tree, "grant_option_for") is not None,
        cascade=read.tree(tree, "cascade") is not None,
        grantor=_principals(grantor, read)[0] if grantor else None,
        **common,
    )


@builders.register("alter_authorization")
def _alter_authorization(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    owner = read.terminal(tree, "NAME", "PUBLIC", "CONSTANT_WORD")
    return nodes.AlterAuthorization(
        securable=_securable(read.need_tree(tree, "securable"), read),
        owner=read.identifier(owner) if owner else None,
        **common,
    )


# ------------------------------------------------------------------ everything else


@builders.register("administrative")
def _administrative(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    kind = read.words_before_text(tree)
    text = read.text(tree)
    if kind == "SHUTDOWN WITH NOWAIT":
        kind = "SHUTDOWN"
    if kind in ("BACKUP", "RESTORE"):
        kind = f"{kind} {read.tokens[read.range_of(tree)[0] + 1].word}"
    if kind == "BACKUP CERTIFICATE":
        return backup_certificate(tree, read, common)
    if kind in _UNSUPPORTED:
        return nodes.UnsupportedStatement(kind=kind, text=text, **common)
    return nodes.AdministrativeStatement(kind=kind, text=text, **common)


_UNSUPPORTED = frozenset(
    {
        "CREATE ASSEMBLY",
        "ALTER ASSEMBLY",
        "CREATE AGGREGATE",
        "BULK INSERT",
        "CREATE EXTERNAL TABLE",
        "CREATE SECURITY POLICY",
        "ALTER SECURITY POLICY",
        "READTEXT",
        "WRITETEXT",
        "UPDATETEXT",
        "SHUTDOWN",
    }
)
