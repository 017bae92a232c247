"""Typed nodes of a T-SQL script: what the lowering passes read.

``pgsb.compiler.build.parse_script`` makes them. All are frozen dataclasses built by keyword;
each has a ``span``, so that every message can point at its place. Use ``match`` or
``functools.singledispatch`` on the classes.

Conventions

* A **statement** is a :class:`Statement`. ``comments`` are the comments that stand before it
  (since the statement before), ``trailing_comments`` those after it on its last line.
* An **expression or condition** is a :class:`SqlText`: its text as written, and its tokens.
  The ordinary-SQL translator reads it. So is the inside of an ordinary statement
  (:class:`SqlStatement`): where it ends is decided here, what it means there.
* An **identifier** is an :class:`Identifier` (``text`` without brackets, doubled brackets
  undone, case kept); a dotted name is a :class:`QualifiedName`.
* Names that Service Broker takes from variables too (``FROM SERVICE @s``) have the type
  :data:`NameOrVariable`; strings or variables :data:`StringOrVariable`.
* Keywords are kept as upper-case ``str`` with single blanks (``"VALID_XML"``, ``"BEFORE"``).
* ``None`` means "not written". An ON/OFF option is ``bool | None``.
* Sequences are tuples in the order written.

What the grammar accepts and PostgreSQL cannot run has nodes all the same
(:class:`UnsupportedStatement`); ``check.py`` refuses it by its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch

from ..grammar.source import Source, Span
from ..grammar.tokens import Token


# ------------------------------------------------------------------ script and batch


@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything that stands at a place."""

    span: Span


@dataclass(frozen=True, kw_only=True)
class Comment(Node):
    """A comment. ``text`` is the whole of it, with its ``--`` or ``/* */``."""

    text: str
    block: bool
    """``/* … */`` (True) or ``-- …`` (False)."""


@dataclass(frozen=True, kw_only=True)
class Statement(Node):
    """A statement without its closing semicolon."""

    comments: tuple[Comment, ...] = field(default=(), compare=False)
    trailing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class Batch(Node):
    """What stands between two GO lines.

    ``line`` is the line in the file on which the batch's text begins (the line after GO):
    ERROR_LINE() counts from it, so a statement's line within its batch is
    ``statement.span.line - batch.line + 1``.
    ``repeat`` is the count of the GO that ends it. ``closing_comments`` stand after the last
    statement. ``has_errors`` tells that problems were reported inside it: its statements are
    then incomplete and must not be run.
    """

    statements: tuple[Statement, ...]
    line: int = 1
    repeat: int = 1
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)
    has_errors: bool = False


@dataclass(frozen=True, kw_only=True)
class Script(Node):
    """All batches of a script, in order; batches without statements are left out."""

    source: Source
    batches: tuple[Batch, ...]


# ------------------------------------------------------------------ names, values, text


@dataclass(frozen=True, kw_only=True)
class SqlText(Node):
    """Text of ordinary SQL, kept as written: an expression, a condition, a query, a list.

    ``tokens`` are its tokens without white space and comments. Comments inside it are in
    ``text`` only.
    """

    tokens: tuple[Token, ...] = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        """The characters as written, comments and line breaks included."""
        return self.span.text

    @property
    def words(self) -> tuple[str, ...]:
        """The ``word`` of every token: upper-case keywords and names, symbols, '' for the rest."""
        return tuple(token.word for token in self.tokens)


@dataclass(frozen=True, kw_only=True)
class Identifier(Node):
    """One part of a name, unquoted, its case kept."""

    text: str
    quoted: bool = field(default=False, compare=False)
    """Written in brackets or double quotes."""


@dataclass(frozen=True, kw_only=True)
class QualifiedName(Node):
    """``[[[server.]database.]schema.]name``; a part left out as in ``db..t`` is None."""

    name: Identifier
    schema: Identifier | None = None
    database: Identifier | None = None
    server: Identifier | None = None

    @property
    def text(self) -> str:
        """The name with dots, parts unquoted: for messages."""
        parts = [self.server, self.database, self.schema, self.name]
        while parts[0] is None:
            parts.pop(0)
        return ".".join(part.text if part else "" for part in parts)


@dataclass(frozen=True, kw_only=True)
class Variable(Node):
    """``@name`` or ``@@name``. ``name`` keeps the sign and the case: compare case-folded."""

    name: str

    @property
    def key(self) -> str:
        """The name as T-SQL compares it."""
        return self.name.lower()


@dataclass(frozen=True, kw_only=True)
class StringLiteral(Node):
    """A string; ``value`` has quotes undoubled and line continuations joined."""

    value: str
    national: bool = False
    """Written N'…'."""


NameOrVariable = Identifier | Variable
StringOrVariable = StringLiteral | Variable
NameOrText = Identifier | StringLiteral | Variable


@dataclass(frozen=True, kw_only=True)
class DataType(Node):
    """A type as written: ``nvarchar(max)``, ``decimal(10, 2)``, ``dbo.Money``, ``xml(CONTENT c)``.

    ``arguments`` are the parts in parentheses, upper-case (``("MAX",)``, ``("10", "2")``).
    ``national``/``varying`` spellings are normalised: ``CHARACTER VARYING(5)`` has the name
    ``varchar``, ``DOUBLE PRECISION`` ``float``. For ``xml(…)`` see ``xml_collection``.
    """

    name: QualifiedName
    arguments: tuple[str, ...] = ()
    xml_collection: QualifiedName | None = None
    xml_document: bool = False
    """``xml(DOCUMENT c)``."""
    varying: bool = False
    """``CURSOR VARYING``."""


# ------------------------------------------------------------------ ordinary statements


@dataclass(frozen=True, kw_only=True)
class SqlStatement(Statement):
    """An ordinary statement whose inside stays text.

    ``kind`` is what it does: SELECT, INSERT, UPDATE, DELETE, MERGE (also behind WITH: see
    ``with_clause``), CREATE TABLE, ALTER TABLE, CREATE INDEX, ALTER INDEX, DROP INDEX,
    TRUNCATE TABLE, CREATE TYPE, CREATE SEQUENCE, ALTER SEQUENCE, CREATE STATISTICS,
    UPDATE STATISTICS, CREATE XML INDEX, …
    """

    kind: str
    text: SqlText
    with_clause: bool = False
    """Begins with WITH: common table expressions or XMLNAMESPACES."""


@dataclass(frozen=True, kw_only=True)
class InsertExecute(Statement):
    """``INSERT [INTO] target [(columns)] EXEC …``; ``target`` is the text before EXEC."""

    target: SqlText
    execute: Execute | ExecuteString


@dataclass(frozen=True, kw_only=True)
class CreateTable(Statement):
    """``CREATE TABLE name (…) …``. ``text`` is the whole statement."""

    name: QualifiedName
    definition: TableDefinition | None
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class TableDefinition(Node):
    """``( column …, constraint … )`` of a table, table variable or table type.

    ``text`` includes the parentheses. A trailing comma and a missing comma before a table
    constraint are taken as SQL Server takes them.
    """

    text: SqlText
    columns: tuple[ColumnDefinition, ...]
    constraints: tuple[SqlText, ...]
    """Table constraints and inline indexes."""


@dataclass(frozen=True, kw_only=True)
class ColumnDefinition(Node):
    """A column: its name, its type (None for ``AS`` computed columns), and all that follows."""

    name: Identifier
    type: DataType | None
    rest: SqlText | None
    """Constraints, IDENTITY, DEFAULT …; for a computed column ``AS (…)`` and what follows."""


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


@dataclass(frozen=True, kw_only=True)
class UnsupportedStatement(Statement):
    """A statement that T-SQL knows and that cannot run here; ``kind`` names it.

    ``check.py`` has refused it with a reason when the lowering sees it.
    """

    kind: str
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class InvalidStatement(Statement):
    """Stands where a statement could not be read; the problem is in the report."""


# ------------------------------------------------------------------ Service Broker objects


@dataclass(frozen=True, kw_only=True)
class CreateMessageType(Statement):
    """``CREATE MESSAGE TYPE``. ``validation``: NONE, EMPTY, WELL_FORMED_XML, VALID_XML or None."""

    name: Identifier
    owner: Identifier | None = None
    validation: str | None = None
    schema_collection: QualifiedName | None = None
    """Given exactly when ``validation`` is VALID_XML."""


@dataclass(frozen=True, kw_only=True)
class AlterMessageType(Statement):
    """``ALTER MESSAGE TYPE name VALIDATION = …``."""

    name: Identifier
    validation: str
    schema_collection: QualifiedName | None = None


@dataclass(frozen=True, kw_only=True)
class ContractMessage(Node):
    """``message_type SENT BY {INITIATOR | TARGET | ANY}``."""

    message_type: Identifier
    sent_by: str


@dataclass(frozen=True, kw_only=True)
class CreateContract(Statement):
    """``CREATE CONTRACT``."""

    name: Identifier
    owner: Identifier | None
    messages: tuple[ContractMessage, ...]


@dataclass(frozen=True, kw_only=True)
class ExecuteAsClause(Node):
    """``EXECUTE AS {CALLER | SELF | OWNER | 'user'}`` of a queue or a module."""

    principal: str
    """CALLER, SELF, OWNER or USER."""
    user: StringLiteral | None = None
    """The name when ``principal`` is USER."""


@dataclass(frozen=True, kw_only=True)
class Activation(Node):
    """``ACTIVATION ( … )`` of a queue. ``drop`` is ``ACTIVATION (DROP)``."""

    status: bool | None = None
    procedure: QualifiedName | None = None
    program: StringLiteral | None = None
    """Ours: an external program by the name that the daemon's configuration gives it."""
    max_queue_readers: int | None = None
    execute_as: ExecuteAsClause | None = None
    drop: bool = False


@dataclass(frozen=True, kw_only=True)
class PoisonMessageHandling(Node):
    """``POISON_MESSAGE_HANDLING ( … )``. All but ``status`` is ours."""

    status: bool | None = None
    max_rollbacks: int | None = None
    quarantine: bool | None = None


@dataclass(frozen=True, kw_only=True)
class QueueOptions(Node):
    """What CREATE QUEUE and ALTER QUEUE say after WITH."""

    status: bool | None = None
    retention: bool | None = None
    activation: Activation | None = None
    poison: PoisonMessageHandling | None = None


@dataclass(frozen=True, kw_only=True)
class CreateQueue(Statement):
    """``CREATE QUEUE``. ``options`` is None without WITH."""

    name: QualifiedName
    options: QueueOptions | None = None
    filegroup: Identifier | None = None


@dataclass(frozen=True, kw_only=True)
class AlterQueue(Statement):
    """``ALTER QUEUE … WITH …``."""

    name: QualifiedName
    options: QueueOptions


@dataclass(frozen=True, kw_only=True)
class MaintainQueue(Statement):
    """``ALTER QUEUE … {REBUILD [WITH (…)] | REORGANIZE [WITH (…)] | MOVE TO filegroup}``."""

    name: QualifiedName
    action: str
    """REBUILD, REORGANIZE or MOVE."""
    max_degree: int | None = None
    lob_compaction: bool | None = None
    filegroup: Identifier | None = None


@dataclass(frozen=True, kw_only=True)
class CreateService(Statement):
    """``CREATE SERVICE name ON QUEUE q (contract, …)``."""

    name: Identifier
    owner: Identifier | None
    queue: QualifiedName
    contracts: tuple[Identifier, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AlterService(Statement):
    """``ALTER SERVICE name [ON QUEUE q] [(ADD CONTRACT c, DROP CONTRACT d)]``."""

    name: Identifier
    queue: QualifiedName | None = None
    add_contracts: tuple[Identifier, ...] = ()
    drop_contracts: tuple[Identifier, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RouteOptions(Node):
    """What CREATE ROUTE and ALTER ROUTE say after WITH. ``lifetime`` is in seconds."""

    service_name: StringLiteral | None = None
    broker_instance: StringLiteral | None = None
    lifetime: int | None = None
    address: StringLiteral | None = None
    mirror_address: StringLiteral | None = None


@dataclass(frozen=True, kw_only=True)
class CreateRoute(Statement):
    """``CREATE ROUTE``."""

    name: Identifier
    owner: Identifier | None
    options: RouteOptions


@dataclass(frozen=True, kw_only=True)
class AlterRoute(Statement):
    """``ALTER ROUTE``."""

    name: Identifier
    options: RouteOptions


@dataclass(frozen=True, kw_only=True)
class CreateRemoteServiceBinding(Statement):
    """``CREATE REMOTE SERVICE BINDING name TO SERVICE 'service' WITH USER = u``."""

    name: Identifier
    owner: Identifier | None
    service: StringLiteral
    user: Identifier
    anonymous: bool | None = None


@dataclass(frozen=True, kw_only=True)
class AlterRemoteServiceBinding(Statement):
    """``ALTER REMOTE SERVICE BINDING name WITH …``."""

    name: Identifier
    user: Identifier | None = None
    anonymous: bool | None = None


@dataclass(frozen=True, kw_only=True)
class PriorityOptions(Node):
    """``SET ( … )`` of a broker priority.

    ``any_contract``, ``any_local_service``, ``any_remote_service`` tell that ANY is written;
    ``default_level`` that PRIORITY_LEVEL = DEFAULT is.
    """

    contract: Identifier | None = None
    any_contract: bool = False
    local_service: Identifier | None = None
    any_local_service: bool = False
    remote_service: StringLiteral | None = None
    any_remote_service: bool = False
    level: int | None = None
    default_level: bool = False


@dataclass(frozen=True, kw_only=True)
class CreateBrokerPriority(Statement):
    """``CREATE BROKER PRIORITY name FOR CONVERSATION [SET (…)]``."""

    name: Identifier
    options: PriorityOptions | None = None


@dataclass(frozen=True, kw_only=True)
class AlterBrokerPriority(Statement):
    """``ALTER BROKER PRIORITY name FOR CONVERSATION SET (…)``."""

    name: Identifier
    options: PriorityOptions


@dataclass(frozen=True, kw_only=True)
class EndpointOption(Node):
    """One ``NAME = value`` in the parentheses of an endpoint; ``value`` is None for a bare word."""

    name: str
    value: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class CreateEndpoint(Statement):
    """``CREATE ENDPOINT name [STATE = …] AS protocol (…) FOR payload (…)``."""

    name: Identifier
    owner: Identifier | None
    state: str | None
    """STARTED, STOPPED or DISABLED."""
    protocol: str
    """TCP or HTTP."""
    protocol_options: tuple[EndpointOption, ...]
    payload: str
    """SERVICE_BROKER, DATABASE_MIRRORING, TSQL, SOAP."""
    payload_options: tuple[EndpointOption, ...]


@dataclass(frozen=True, kw_only=True)
class AlterEndpoint(Statement):
    """``ALTER ENDPOINT``; what is not written is None or empty."""

    name: Identifier
    owner: Identifier | None = None
    state: str | None = None
    protocol: str | None = None
    protocol_options: tuple[EndpointOption, ...] = ()
    payload: str | None = None
    payload_options: tuple[EndpointOption, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EventScope(Node):
    """``ON {SERVER | ALL SERVER | DATABASE | QUEUE q}``."""

    kind: str
    queue: QualifiedName | None = None


@dataclass(frozen=True, kw_only=True)
class CreateEventNotification(Statement):
    """``CREATE EVENT NOTIFICATION name ON … FOR events TO SERVICE 'service', 'instance'``."""

    name: Identifier
    scope: EventScope
    fan_in: bool
    events: tuple[Identifier, ...]
    service: StringLiteral
    broker_instance: StringLiteral
    """A GUID or 'current database'."""


@dataclass(frozen=True, kw_only=True)
class CreateXmlSchemaCollection(Statement):
    """``CREATE XML SCHEMA COLLECTION name AS expression``."""

    name: QualifiedName
    schemas: SqlText


@dataclass(frozen=True, kw_only=True)
class AlterXmlSchemaCollection(Statement):
    """``ALTER XML SCHEMA COLLECTION name ADD expression``."""

    name: QualifiedName
    schemas: SqlText


@dataclass(frozen=True, kw_only=True)
class CreateCertificate(Statement):
    """``CREATE CERTIFICATE``. ``text`` is the whole statement."""

    name: Identifier
    owner: Identifier | None
    text: SqlText
    source: SqlText | None
    """What follows FROM (FILE = …, ASSEMBLY …, EXECUTABLE FILE …, BINARY = …), else None."""
    password: StringLiteral | None
    subject: StringLiteral | None
    start_date: StringLiteral | None
    expiry_date: StringLiteral | None
    active_for_begin_dialog: bool | None


@dataclass(frozen=True, kw_only=True)
class AlterCertificate(Statement):
    """``ALTER CERTIFICATE name …``; only ACTIVE FOR BEGIN_DIALOG means something here."""

    name: Identifier
    text: SqlText
    active_for_begin_dialog: bool | None = None


@dataclass(frozen=True, kw_only=True)
class CreateMasterKey(Statement):
    """``CREATE MASTER KEY [ENCRYPTION BY PASSWORD = '…']``."""

    password: StringLiteral | None = None


@dataclass(frozen=True, kw_only=True)
class MasterKeyAction(Statement):
    """``{ALTER | OPEN | CLOSE | BACKUP | RESTORE} [SERVICE] MASTER KEY …``."""

    action: str
    service: bool
    text: SqlText


# ------------------------------------------------------------------ conversations


@dataclass(frozen=True, kw_only=True)
class BeginDialog(Statement):
    """``BEGIN DIALOG [CONVERSATION] @h FROM SERVICE s TO SERVICE 't' …``."""

    handle: Variable
    from_service: NameOrVariable
    to_service: StringOrVariable
    broker_instance: StringOrVariable | None = None
    """A GUID or 'CURRENT DATABASE'."""
    contract: NameOrVariable | None = None
    """None: the contract DEFAULT."""
    related_conversation: SqlText | None = None
    related_conversation_group: SqlText | None = None
    lifetime: SqlText | None = None
    encryption: bool | None = None


@dataclass(frozen=True, kw_only=True)
class BeginConversationTimer(Statement):
    """``BEGIN CONVERSATION TIMER (h) TIMEOUT = seconds``."""

    handle: SqlText
    timeout: SqlText


@dataclass(frozen=True, kw_only=True)
class Send(Statement):
    """``SEND ON CONVERSATION h | (h, …) [MESSAGE TYPE t] [(body)]``."""

    handles: tuple[SqlText, ...]
    message_type: NameOrVariable | None = None
    """None: the message type DEFAULT."""
    body: SqlText | None = None
    """The expression without the parentheses."""


@dataclass(frozen=True, kw_only=True)
class EndConversation(Statement):
    """``END CONVERSATION h [WITH ERROR = n DESCRIPTION = s | WITH CLEANUP]``."""

    handle: SqlText
    error: SqlText | None = None
    description: SqlText | None = None
    cleanup: bool = False


@dataclass(frozen=True, kw_only=True)
class GetConversationGroup(Statement):
    """``GET CONVERSATION GROUP @g FROM queue``."""

    variable: Variable
    queue: QualifiedName


@dataclass(frozen=True, kw_only=True)
class MoveConversation(Statement):
    """``MOVE CONVERSATION h TO g``."""

    handle: SqlText
    group: SqlText


@dataclass(frozen=True, kw_only=True)
class ReceiveStar(Node):
    """``*`` in the list of RECEIVE."""


@dataclass(frozen=True, kw_only=True)
class ReceiveColumn(Node):
    """An expression over the queue's columns, with its name when it has one."""

    expression: SqlText
    alias: Identifier | None = None


@dataclass(frozen=True, kw_only=True)
class ReceiveAssignment(Node):
    """``@v = expression`` in the list of RECEIVE."""

    variable: Variable
    expression: SqlText


@dataclass(frozen=True, kw_only=True)
class ReceiveFilter(Node):
    """``WHERE {conversation_handle | conversation_group_id} = value``."""

    column: str
    """conversation_handle or conversation_group_id, in lower case."""
    value: SqlText


@dataclass(frozen=True, kw_only=True)
class Receive(Statement):
    """``RECEIVE [TOP (n)] list FROM queue [INTO @table] [WHERE …]``.

    The list has columns and stars, or assignments: never both (8447 is reported).
    """

    top: SqlText | None
    """The expression without parentheses."""
    items: tuple[ReceiveStar | ReceiveColumn | ReceiveAssignment, ...]
    queue: QualifiedName
    into: Variable | None = None
    where: ReceiveFilter | None = None

    @property
    def assigns(self) -> bool:
        """Whether the list assigns variables, so that there is no result set."""
        return bool(self.items) and isinstance(self.items[0], ReceiveAssignment)


@dataclass(frozen=True, kw_only=True)
class WaitForMessage(Statement):
    """``WAITFOR ( RECEIVE … | GET CONVERSATION GROUP … ) [, TIMEOUT milliseconds]``."""

    statement: Receive | GetConversationGroup
    timeout: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class WaitForTime(Statement):
    """``WAITFOR DELAY t`` or ``WAITFOR TIME t``."""

    kind: str
    """DELAY or TIME."""
    value: SqlText


# ------------------------------------------------------------------ variables


@dataclass(frozen=True, kw_only=True)
class VariableDeclaration(Node):
    """``@v type [= initial]`` of a DECLARE."""

    variable: Variable
    type: DataType
    initial: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class TableVariableDeclaration(Node):
    """``@t TABLE ( … )``."""

    variable: Variable
    definition: TableDefinition


@dataclass(frozen=True, kw_only=True)
class CursorVariableDeclaration(Node):
    """``@c CURSOR``."""

    variable: Variable


@dataclass(frozen=True, kw_only=True)
class Declare(Statement):
    """``DECLARE`` of scalar variables, table variables and cursor variables."""

    declarations: tuple[VariableDeclaration | TableVariableDeclaration | CursorVariableDeclaration, ...]


@dataclass(frozen=True, kw_only=True)
class SetVariable(Statement):
    """``SET @v = value``; ``operator`` is ``=`` or a compound one: ``+=``, ``-=``, ``*=``, ``/=`` …"""

    variable: Variable
    operator: str
    value: SqlText


@dataclass(frozen=True, kw_only=True)
class SetMethod(Statement):
    """``SET @v.method(arguments)``: ``SET @x.modify('…')``."""

    variable: Variable
    method: Identifier
    arguments: SqlText
    """The inside of the parentheses."""


@dataclass(frozen=True, kw_only=True)
class SetCursorVariable(Statement):
    """``SET @c = CURSOR … FOR query``. (``SET @c = other`` is a SetVariable.)"""

    variable: Variable
    cursor: CursorDefinition


@dataclass(frozen=True, kw_only=True)
class SetOption(Statement):
    """``SET`` of session options.

    ``SET NOCOUNT, XACT_ABORT ON`` → names ("NOCOUNT", "XACT_ABORT"), value "ON".
    ``SET TRANSACTION ISOLATION LEVEL READ COMMITTED`` → ("TRANSACTION ISOLATION LEVEL",),
    "READ COMMITTED". ``SET STATISTICS IO, TIME ON`` → ("STATISTICS IO", "STATISTICS TIME").
    ``SET IDENTITY_INSERT t ON`` → ("IDENTITY_INSERT",), ``table``, "ON".
    Other options (LOCK_TIMEOUT 100, DATEFIRST @d, LANGUAGE us_english, ROWCOUNT @n,
    CONTEXT_INFO 0x…) have ``argument``, and ``value`` is its text.
    """

    names: tuple[str, ...]
    value: str
    argument: SqlText | None = None
    table: QualifiedName | None = None

    @property
    def on(self) -> bool:
        """Whether the value is ON."""
        return self.value == "ON"


# ------------------------------------------------------------------ control flow


@dataclass(frozen=True, kw_only=True)
class Block(Statement):
    """``BEGIN … END``."""

    statements: tuple[Statement, ...]
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class AtomicBlock(Statement):
    """``BEGIN ATOMIC WITH (…) … END`` of a natively compiled module."""

    options: SqlText
    statements: tuple[Statement, ...]
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class TryCatch(Statement):
    """``BEGIN TRY … END TRY BEGIN CATCH … END CATCH``. ``handler`` may be empty."""

    body: tuple[Statement, ...]
    handler: tuple[Statement, ...]
    body_comments: tuple[Comment, ...] = field(default=(), compare=False)
    """Comments after the last statement of the TRY block."""
    handler_comments: tuple[Comment, ...] = field(default=(), compare=False)
    """Comments after the last statement of the CATCH block, or its only content."""


@dataclass(frozen=True, kw_only=True)
class If(Statement):
    """``IF condition then [ELSE otherwise]``. ELSE IF is an If in ``otherwise``."""

    condition: SqlText
    then: Statement
    otherwise: Statement | None = None


@dataclass(frozen=True, kw_only=True)
class While(Statement):
    """``WHILE condition body``."""

    condition: SqlText
    body: Statement


@dataclass(frozen=True, kw_only=True)
class Break(Statement):
    """``BREAK``."""


@dataclass(frozen=True, kw_only=True)
class Continue(Statement):
    """``CONTINUE``."""


@dataclass(frozen=True, kw_only=True)
class Goto(Statement):
    """``GOTO label``."""

    label: Identifier


@dataclass(frozen=True, kw_only=True)
class Label(Statement):
    """``label:``."""

    name: Identifier


@dataclass(frozen=True, kw_only=True)
class Return(Statement):
    """``RETURN [value]``."""

    value: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class Throw(Statement):
    """``THROW [number, message, state]``; all three or none. Each is a constant or a variable."""

    number: SqlText | None = None
    message: SqlText | None = None
    state: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class RaiseError(Statement):
    """``RAISERROR (message, severity, state, argument, …) [WITH option, …]``.

    The old form ``RAISERROR 50001 'text'`` is refused by the checks (removed in SQL Server 2012).
    """

    message: SqlText
    severity: SqlText
    state: SqlText
    arguments: tuple[SqlText, ...] = ()
    options: tuple[str, ...] = ()
    """LOG, NOWAIT, SETERROR."""


@dataclass(frozen=True, kw_only=True)
class Print(Statement):
    """``PRINT value``."""

    value: SqlText


@dataclass(frozen=True, kw_only=True)
class EmptyStatement(Statement):
    """A lone semicolon as the only content of a block."""


# ------------------------------------------------------------------ transactions


@dataclass(frozen=True, kw_only=True)
class BeginTransaction(Statement):
    """``BEGIN [DISTRIBUTED] TRAN[SACTION] [name | @v] [WITH MARK ['text']]``."""

    name: NameOrVariable | None = None
    mark: StringLiteral | None = None
    distributed: bool = False


@dataclass(frozen=True, kw_only=True)
class CommitTransaction(Statement):
    """``COMMIT [TRAN[SACTION] [name | @v]] | COMMIT WORK``."""

    name: NameOrVariable | None = None


@dataclass(frozen=True, kw_only=True)
class RollbackTransaction(Statement):
    """``ROLLBACK [TRAN[SACTION] [name | @v]] | ROLLBACK WORK``."""

    name: NameOrVariable | None = None


@dataclass(frozen=True, kw_only=True)
class SaveTransaction(Statement):
    """``SAVE TRAN[SACTION] name | @v``."""

    name: NameOrVariable


# ------------------------------------------------------------------ execution


@dataclass(frozen=True, kw_only=True)
class Argument(Node):
    """One argument of EXEC: ``[@name =] value [OUTPUT]``; ``value`` is None for DEFAULT."""

    name: Variable | None
    value: SqlText | None
    output: bool = False


@dataclass(frozen=True, kw_only=True)
class Execute(Statement):
    """``[EXEC[UTE]] [@rc =] module [;n] arguments [WITH …]``.

    ``module`` is a name or a variable that holds one. ``implicit`` tells that EXEC is left out,
    as the first statement of a batch may.
    """

    module: QualifiedName | Variable
    return_variable: Variable | None = None
    number: int | None = None
    arguments: tuple[Argument, ...] = ()
    recompile: bool = False
    result_sets: SqlText | None = None
    """What follows WITH RESULT SETS: UNDEFINED, NONE, or the parenthesised definitions."""
    implicit: bool = False


@dataclass(frozen=True, kw_only=True)
class ExecuteString(Statement):
    """``EXEC ( 'text' + @v [, argument …] ) [AS {LOGIN | USER} = 'name'] [AT server]``."""

    text: SqlText
    """The inside of the parentheses up to the first comma."""
    arguments: tuple[Argument, ...] = ()
    """Arguments of a pass-through command (only with AT)."""
    as_kind: str | None = None
    """LOGIN or USER."""
    as_name: StringLiteral | None = None
    at_server: Identifier | None = None
    result_sets: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class ExecuteAs(Statement):
    """``EXECUTE AS {LOGIN | USER} = 'name' | CALLER [WITH NO REVERT | COOKIE INTO @v]``."""

    kind: str
    """LOGIN, USER or CALLER."""
    principal: StringOrVariable | None = None
    no_revert: bool = False
    cookie: Variable | None = None


@dataclass(frozen=True, kw_only=True)
class Revert(Statement):
    """``REVERT [WITH COOKIE = @v]``."""

    cookie: Variable | None = None


# ------------------------------------------------------------------ cursors


@dataclass(frozen=True, kw_only=True)
class CursorDefinition(Node):
    """What stands between CURSOR and the end of a cursor's declaration.

    ``options`` in the order written: LOCAL, GLOBAL, FORWARD_ONLY, SCROLL, STATIC, KEYSET,
    DYNAMIC, FAST_FORWARD, READ_ONLY, SCROLL_LOCKS, OPTIMISTIC, TYPE_WARNING, INSENSITIVE.
    """

    options: tuple[str, ...]
    query: SqlText
    """The SELECT (with its WITH clause), without the closing FOR READ ONLY / FOR UPDATE."""
    updatable: str | None = None
    """READ ONLY or UPDATE when a FOR clause says so."""
    update_columns: tuple[Identifier, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DeclareCursor(Statement):
    """``DECLARE name CURSOR … FOR query``."""

    name: Identifier
    cursor: CursorDefinition


@dataclass(frozen=True, kw_only=True)
class CursorReference(Node):
    """A cursor by its name (``GLOBAL name`` too) or by the variable that holds it."""

    name: NameOrVariable
    is_global: bool = False


@dataclass(frozen=True, kw_only=True)
class OpenCursor(Statement):
    """``OPEN c``."""

    cursor: CursorReference


@dataclass(frozen=True, kw_only=True)
class FetchCursor(Statement):
    """``FETCH [direction] [FROM] c [INTO @a, …]``."""

    direction: str
    """NEXT (also when nothing is written), PRIOR, FIRST, LAST, ABSOLUTE, RELATIVE."""
    offset: SqlText | None
    """With ABSOLUTE and RELATIVE."""
    cursor: CursorReference
    into: tuple[Variable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CloseCursor(Statement):
    """``CLOSE c``."""

    cursor: CursorReference


@dataclass(frozen=True, kw_only=True)
class DeallocateCursor(Statement):
    """``DEALLOCATE c``."""

    cursor: CursorReference


# ------------------------------------------------------------------ modules


@dataclass(frozen=True, kw_only=True)
class Parameter(Node):
    """A parameter of a procedure or function."""

    variable: Variable
    type: DataType
    default: SqlText | None = None
    output: bool = False
    readonly: bool = False
    nullable: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ModuleOptions(Node):
    """``WITH`` of a module: upper-case words, and EXECUTE AS.

    ``words``: RECOMPILE, ENCRYPTION, SCHEMABINDING, NATIVE_COMPILATION, VIEW_METADATA,
    RETURNS NULL ON NULL INPUT, CALLED ON NULL INPUT, INLINE = ON, INLINE = OFF.
    """

    words: tuple[str, ...] = ()
    execute_as: ExecuteAsClause | None = None


@dataclass(frozen=True, kw_only=True)
class ExternalName(Node):
    """``EXTERNAL NAME assembly.class.method``: a module in a CLR assembly."""

    parts: tuple[Identifier, ...]


@dataclass(frozen=True, kw_only=True)
class CreateProcedure(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} PROC[EDURE]``.

    ``body`` is empty exactly when ``external`` is given. ``text`` is the whole definition.
    """

    action: str
    """CREATE, ALTER or CREATE OR ALTER."""
    name: QualifiedName
    number: int | None
    parameters: tuple[Parameter, ...]
    options: ModuleOptions
    for_replication: bool
    body: tuple[Statement, ...]
    text: SqlText
    external: ExternalName | None = None
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)
    """After the last statement of the body."""


@dataclass(frozen=True, kw_only=True)
class CreateFunction(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} FUNCTION``.

    ``kind``: SCALAR (``returns``, ``body``), INLINE (``query``), TABLE (``table_variable``,
    ``table``, ``body``).
    """

    action: str
    name: QualifiedName
    parameters: tuple[Parameter, ...]
    kind: str
    returns: DataType | None
    table_variable: Variable | None
    table: TableDefinition | None
    options: ModuleOptions
    query: SqlText | None
    """The query of an inline function, without RETURN and enclosing parentheses."""
    body: tuple[Statement, ...]
    text: SqlText
    external: ExternalName | None = None
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class CreateTrigger(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} TRIGGER``."""

    action: str
    name: QualifiedName
    target: QualifiedName | None
    """The table or view; None for DDL and logon triggers."""
    scope: str | None
    """DATABASE or ALL SERVER for DDL and logon triggers."""
    timing: str
    """AFTER (also FOR) or INSTEAD OF."""
    events: tuple[str, ...]
    """INSERT, UPDATE, DELETE, or names of DDL events."""
    options: ModuleOptions
    not_for_replication: bool
    body: tuple[Statement, ...]
    text: SqlText
    external: ExternalName | None = None
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class CreateView(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} VIEW name [(columns)] [WITH …] AS query``."""

    action: str
    name: QualifiedName
    columns: tuple[Identifier, ...]
    options: ModuleOptions
    query: SqlText
    check_option: bool
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class CreateSynonym(Statement):
    """``CREATE SYNONYM name FOR target``."""

    name: QualifiedName
    target: QualifiedName


@dataclass(frozen=True, kw_only=True)
class EnableTrigger(Statement):
    """``{ENABLE | DISABLE} TRIGGER {name, … | ALL} ON {table | DATABASE | ALL SERVER}``."""

    enable: bool
    triggers: tuple[QualifiedName, ...]
    """Empty for ALL."""
    target: QualifiedName | None
    scope: str | None
    """DATABASE or ALL SERVER."""


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


# ------------------------------------------------------------------ walking


def children_of(statement: Statement) -> tuple[Statement, ...]:
    """Return the statements directly inside ``statement``: branches, bodies, blocks.

    The bodies of modules are included; ``WAITFOR ( RECEIVE )`` and ``INSERT … EXEC`` count as one
    statement each.
    """
    return _children(statement)


@singledispatch
def _children(statement: Statement) -> tuple[Statement, ...]:
    return ()


@_children.register(Block)
@_children.register(AtomicBlock)
def _block_children(statement: Block | AtomicBlock) -> tuple[Statement, ...]:
    return statement.statements


@_children.register
def _try_children(statement: TryCatch) -> tuple[Statement, ...]:
    return statement.body + statement.handler


@_children.register
def _if_children(statement: If) -> tuple[Statement, ...]:
    return (statement.then,) if statement.otherwise is None else (statement.then, statement.otherwise)


@_children.register
def _while_children(statement: While) -> tuple[Statement, ...]:
    return (statement.body,)


@_children.register(CreateProcedure)
@_children.register(CreateFunction)
@_children.register(CreateTrigger)
def _module_children(statement: CreateProcedure | CreateFunction | CreateTrigger) -> tuple[Statement, ...]:
    return statement.body


@_children.register
def _schema_children(statement: CreateSchema) -> tuple[Statement, ...]:
    return statement.elements
