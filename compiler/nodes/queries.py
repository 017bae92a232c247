"""Nodes of queries, DML and table DDL, databases, principals and permissions."""

from __future__ import annotations

from ...grammar.records import dataclass
from .core import Identifier, Node, QualifiedName, SqlText, Statement, TableDefinition
from .service_broker import EventScope

# ------------------------------------------------------------------ queries, DML and table DDL

_CONSTRAINTS = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "DEFAULT", "PERIOD"})


@dataclass(frozen=True, kw_only=True)
class SqlStatement(Statement):
    """A query, DML or table DDL whose inside stays text.

    ``kind`` is what it does: SELECT, INSERT, UPDATE, DELETE, MERGE (also behind WITH: see
    ``with_clause``), CREATE TABLE, ALTER TABLE, CREATE INDEX, ALTER INDEX, DROP INDEX,
    TRUNCATE TABLE, CREATE TYPE, CREATE SEQUENCE, ALTER SEQUENCE, CREATE STATISTICS,
    UPDATE STATISTICS, CREATE XML INDEX, …
    """

    kind: str
    text: SqlText
    with_clause: bool = False
    """Begins with WITH: common table expressions or XMLNAMESPACES."""

    @property
    def definition_verb(self) -> str:
        """What errors call a definition, '' where they do not.

        ``ALTER TABLE ADD``, where it adds columns, and ``ALTER TABLE DROP COLUMN: t``, of the table t;
        ``TRUNCATE TABLE: #t``, where PostgreSQL may say no more than that there is no pg_temp.
        """
        place = next((at for at, token in enumerate(self.tokens) if token.name.startswith("#")), None)
        temporary = f": {self.tokens[place].name}" if place is not None else ""
        if self.kind == "DROP INDEX" and place is not None:
            # i ON #t, or #t.i
            index = place - 2 if self.tokens[place - 1].word == "ON" else place + 2
            temporary += f".{self.tokens[index].name}"
        if self.kind == "ALTER TABLE":
            end = 3
            while end + 1 < len(self.tokens) and "." in (self.tokens[end - 1].word, self.tokens[end].word):
                end += 1
            action = [token.word for token in self.tokens[end : end + 2]]
            if action in (["ALTER", "COLUMN"], ["DROP", "COLUMN"]):
                return f"{self.kind} {' '.join(action)}: {self.tokens[end - 1].name}"
            if action[0] == "ADD" and action[-1] not in _CONSTRAINTS:
                return f"{self.kind} ADD{temporary}"
        known = ("ALTER TABLE", "ALTER INDEX", "CREATE INDEX", "DROP INDEX", "TRUNCATE TABLE", "CREATE TYPE")
        return f"{self.kind}{temporary}" if self.kind in known else ""


@dataclass(frozen=True, kw_only=True)
class CreateTable(Statement):
    """``CREATE TABLE name (…) …``. ``text`` is the whole statement."""

    name: QualifiedName
    definition: TableDefinition | None
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class DropStatement(Statement):
    """``DROP kind [IF EXISTS] name, …``.

    ``kind``: TABLE, VIEW, PROCEDURE, FUNCTION, TRIGGER, SEQUENCE, SYNONYM, TYPE, SCHEMA,
    DATABASE, USER, LOGIN, ROLE, SERVER ROLE, APPLICATION ROLE, MESSAGE TYPE, CONTRACT, QUEUE,
    SERVICE, ROUTE, REMOTE SERVICE BINDING, BROKER PRIORITY, ENDPOINT, EVENT NOTIFICATION,
    XML SCHEMA COLLECTION, CERTIFICATE, MASTER KEY (no names), SYMMETRIC KEY, ASYMMETRIC KEY,
    DATABASE ENCRYPTION KEY (no names), CREDENTIAL, STATISTICS, DEFAULT, RULE, AGGREGATE,
    ASSEMBLY, PARTITION FUNCTION, PARTITION SCHEME, FULLTEXT CATALOG, …
    DROP INDEX is a :class:`SqlStatement` because its names carry tables and options.
    """

    kind: str
    names: tuple[QualifiedName, ...]
    if_exists: bool = False
    on: EventScope | None = None
    """Where an event notification or a DDL trigger is: ON SERVER, DATABASE, QUEUE q."""


@dataclass(frozen=True, kw_only=True)
class AdministrativeStatement(Statement):
    """A statement about files, backups, statistics, audit, … that PostgreSQL runs otherwise.

    ``kind`` names it (BACKUP DATABASE, DBCC, CHECKPOINT, RECONFIGURE, ADD SIGNATURE,
    KILL, …). The compiler accepts and records it.
    """

    kind: str
    text: SqlText

    @property
    def kills_session(self) -> bool:
        """``KILL 53``; other forms (KILL QUERY NOTIFICATION …) have no effect."""
        token = self.text.tokens[1].text if len(self.text.tokens) > 1 else ""
        return self.kind == "KILL" and (token.isdecimal() or token.startswith("@"))


@dataclass(frozen=True, kw_only=True)
class UnsupportedStatement(Statement):
    """A statement that T-SQL knows and that cannot run here; ``kind`` names it.

    ``check/statements.py`` has refused it with a reason when the lowering sees it.
    """

    kind: str
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class InvalidStatement(Statement):
    """Stands where a statement could not be read; the problem is in the report."""


# ------------------------------------------------------------------ databases


@dataclass(frozen=True, kw_only=True)
class Use(Statement):
    """``USE database``."""

    database: Identifier


@dataclass(frozen=True, kw_only=True)
class CreateDatabase(Statement):
    """``CREATE DATABASE name …``; everything about files is in ``text``.

    ``enable_broker``: ENABLE_BROKER, NEW_BROKER or ERROR_BROKER_CONVERSATIONS of FOR ATTACH WITH.
    """

    name: Identifier
    text: SqlText
    trustworthy: bool | None = None
    enable_broker: str | None = None
    snapshot_of: Identifier | None = None


@dataclass(frozen=True, kw_only=True)
class DatabaseOption(Node):
    """One option of ``ALTER DATABASE … SET``.

    ``SET ENABLE_BROKER`` → ("ENABLE_BROKER", None); ``SET TRUSTWORTHY ON`` → ("TRUSTWORTHY", "ON");
    ``SET COMPATIBILITY_LEVEL = 150`` → ("COMPATIBILITY_LEVEL", "150"); ``SET QUERY_STORE (…)`` →
    ("QUERY_STORE", text). ``value`` is upper-case unless it is a string or parenthesised.
    """

    name: str
    value: str | None = None


@dataclass(frozen=True, kw_only=True)
class AlterDatabase(Statement):
    """``ALTER DATABASE {name | CURRENT} …``.

    ``action``: SET, MODIFY NAME, COLLATE, ADD FILE, MODIFY FILE, … as upper-case words.
    """

    name: Identifier | None
    """None for CURRENT."""
    action: str
    options: tuple[DatabaseOption, ...]
    """For SET."""
    termination: str | None
    """ROLLBACK IMMEDIATE, ROLLBACK AFTER 5 SECONDS, NO_WAIT."""
    new_name: Identifier | None
    """For MODIFY NAME."""
    text: SqlText


# ------------------------------------------------------------------ principals and permissions


@dataclass(frozen=True, kw_only=True)
class CreateLogin(Statement):
    """``CREATE LOGIN name {WITH PASSWORD = … | FROM WINDOWS | CERTIFICATE c …}``."""

    name: Identifier
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class CreateUser(Statement):
    """``CREATE USER name [{FOR | FROM} LOGIN l | CERTIFICATE c | WITHOUT LOGIN …] [WITH …]``."""

    name: Identifier
    login: Identifier | None
    certificate: Identifier | None
    without_login: bool
    default_schema: Identifier | None
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class CreateRole(Statement):
    """``CREATE [SERVER | APPLICATION] ROLE name [AUTHORIZATION owner]``."""

    kind: str
    """ROLE, SERVER ROLE or APPLICATION ROLE."""
    name: Identifier
    owner: Identifier | None
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class AlterRole(Statement):
    """``ALTER [SERVER] ROLE name {ADD MEMBER m | DROP MEMBER m | WITH NAME = n}``."""

    kind: str
    name: Identifier
    action: str
    """ADD MEMBER, DROP MEMBER or NAME."""
    member: Identifier
    """The member, or the new name."""


@dataclass(frozen=True, kw_only=True)
class AlterPrincipal(Statement):
    """``ALTER LOGIN``, ``ALTER USER``, ``ALTER APPLICATION ROLE``."""

    kind: str
    """LOGIN, USER or APPLICATION ROLE."""
    name: Identifier
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class CreateSchema(Statement):
    """``CREATE SCHEMA [name] [AUTHORIZATION owner] elements``.

    ``elements`` are the CREATE TABLE, CREATE VIEW and permission statements that belong to it.
    """

    inside = ("elements",)

    name: Identifier
    """The owner's name when only AUTHORIZATION is written."""
    owner: Identifier | None
    elements: tuple[Statement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AlterSchema(Statement):
    """``ALTER SCHEMA name TRANSFER [class ::] object``."""

    name: Identifier
    securable_class: str
    """OBJECT, TYPE or XML SCHEMA COLLECTION."""
    object: QualifiedName


@dataclass(frozen=True, kw_only=True)
class Securable(Node):
    """``[class ::] name``. ``kind`` in upper case, OBJECT where no class is written.

    OBJECT, SCHEMA, DATABASE, TYPE, XML SCHEMA COLLECTION, SERVICE, CONTRACT, MESSAGE TYPE, ROUTE,
    REMOTE SERVICE BINDING, USER, ROLE, APPLICATION ROLE, LOGIN, SERVER ROLE, ENDPOINT, ASSEMBLY,
    CERTIFICATE, SYMMETRIC KEY, ASYMMETRIC KEY, FULLTEXT CATALOG, FULLTEXT STOPLIST, …
    ``columns`` are those of an object.
    """

    kind: str
    name: QualifiedName
    columns: tuple[Identifier, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PermissionName(Node):
    """``SELECT``, ``CREATE MESSAGE TYPE``, ``ALL`` (= ALL PRIVILEGES) …, with its columns."""

    name: str
    columns: tuple[Identifier, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Permission(Statement):
    """``GRANT``, ``DENY``, ``REVOKE``. Without ON, ``securable`` is None (statement permissions)."""

    action: str
    permissions: tuple[PermissionName, ...]
    securable: Securable | None
    principals: tuple[Identifier, ...]
    """PUBLIC is an identifier like the others."""
    with_grant_option: bool = False
    grant_option_for: bool = False
    cascade: bool = False
    grantor: Identifier | None = None
    """AS grantor."""


@dataclass(frozen=True, kw_only=True)
class AlterAuthorization(Statement):
    """``ALTER AUTHORIZATION ON [class ::] name TO {principal | SCHEMA OWNER}``."""

    securable: Securable
    owner: Identifier | None
    """None for SCHEMA OWNER."""
