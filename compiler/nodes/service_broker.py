"""Nodes of Service Broker: its objects, and what is said on conversations."""

from __future__ import annotations

from ...grammar.records import dataclass
from .core import (
    Identifier,
    NameOrVariable,
    Node,
    QualifiedName,
    SqlText,
    Statement,
    StringLiteral,
    StringOrVariable,
    Variable,
)

# ------------------------------------------------------------------ objects


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
    """``@v = expression`` in the list of RECEIVE; that of ``@v += value`` is ``@v + (value)``."""

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
