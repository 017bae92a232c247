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

from functools import singledispatch

from .nodes_core import (
    Batch,
    ColumnDefinition,
    Comment,
    DataType,
    Identifier,
    NameOrText,
    NameOrVariable,
    Node,
    QualifiedName,
    Script,
    SqlText,
    Statement,
    StringLiteral,
    StringOrVariable,
    TableDefinition,
    Variable,
)
from .nodes_modules import (
    CreateFunction,
    CreateProcedure,
    CreateSynonym,
    CreateTrigger,
    CreateView,
    EnableTrigger,
    ExternalName,
    ModuleOptions,
    Parameter,
)
from .nodes_ordinary import (
    AdministrativeStatement,
    AlterAuthorization,
    AlterDatabase,
    AlterPrincipal,
    AlterRole,
    AlterSchema,
    CreateDatabase,
    CreateLogin,
    CreateRole,
    CreateSchema,
    CreateTable,
    CreateUser,
    DatabaseOption,
    DropStatement,
    InvalidStatement,
    Permission,
    PermissionName,
    Securable,
    SqlStatement,
    UnsupportedStatement,
    Use,
)
from .nodes_procedural import (
    Argument,
    AtomicBlock,
    BeginTransaction,
    Block,
    Break,
    CloseCursor,
    CommitTransaction,
    Continue,
    CursorDefinition,
    CursorReference,
    CursorVariableDeclaration,
    DeallocateCursor,
    Declare,
    DeclareCursor,
    EmptyStatement,
    Execute,
    ExecuteAs,
    ExecuteString,
    FetchCursor,
    Goto,
    If,
    InsertExecute,
    Label,
    OpenCursor,
    Print,
    RaiseError,
    Return,
    Revert,
    RollbackTransaction,
    SaveTransaction,
    SetCursorVariable,
    SetMethod,
    SetOption,
    SetVariable,
    TableVariableDeclaration,
    Throw,
    TryCatch,
    VariableDeclaration,
    While,
)
from .nodes_service_broker import (
    Activation,
    AlterBrokerPriority,
    AlterCertificate,
    AlterEndpoint,
    AlterMessageType,
    AlterQueue,
    AlterRemoteServiceBinding,
    AlterRoute,
    AlterService,
    AlterXmlSchemaCollection,
    BeginConversationTimer,
    BeginDialog,
    ContractMessage,
    CreateBrokerPriority,
    CreateCertificate,
    CreateContract,
    CreateEndpoint,
    CreateEventNotification,
    CreateMasterKey,
    CreateMessageType,
    CreateQueue,
    CreateRemoteServiceBinding,
    CreateRoute,
    CreateService,
    CreateXmlSchemaCollection,
    EndConversation,
    EndpointOption,
    EventScope,
    ExecuteAsClause,
    GetConversationGroup,
    MaintainQueue,
    MasterKeyAction,
    MoveConversation,
    PoisonMessageHandling,
    PriorityOptions,
    QueueOptions,
    Receive,
    ReceiveAssignment,
    ReceiveColumn,
    ReceiveFilter,
    ReceiveStar,
    RouteOptions,
    Send,
    WaitForMessage,
    WaitForTime,
)

__all__ = [
    "Activation",
    "AdministrativeStatement",
    "AlterAuthorization",
    "AlterBrokerPriority",
    "AlterCertificate",
    "AlterDatabase",
    "AlterEndpoint",
    "AlterMessageType",
    "AlterPrincipal",
    "AlterQueue",
    "AlterRemoteServiceBinding",
    "AlterRole",
    "AlterRoute",
    "AlterSchema",
    "AlterService",
    "AlterXmlSchemaCollection",
    "Argument",
    "AtomicBlock",
    "Batch",
    "BeginConversationTimer",
    "BeginDialog",
    "BeginTransaction",
    "Block",
    "Break",
    "CloseCursor",
    "ColumnDefinition",
    "Comment",
    "CommitTransaction",
    "Continue",
    "ContractMessage",
    "CreateBrokerPriority",
    "CreateCertificate",
    "CreateContract",
    "CreateDatabase",
    "CreateEndpoint",
    "CreateEventNotification",
    "CreateFunction",
    "CreateLogin",
    "CreateMasterKey",
    "CreateMessageType",
    "CreateProcedure",
    "CreateQueue",
    "CreateRemoteServiceBinding",
    "CreateRole",
    "CreateRoute",
    "CreateSchema",
    "CreateService",
    "CreateSynonym",
    "CreateTable",
    "CreateTrigger",
    "CreateUser",
    "CreateView",
    "CreateXmlSchemaCollection",
    "CursorDefinition",
    "CursorReference",
    "CursorVariableDeclaration",
    "DataType",
    "DatabaseOption",
    "DeallocateCursor",
    "Declare",
    "DeclareCursor",
    "DropStatement",
    "EmptyStatement",
    "EnableTrigger",
    "EndConversation",
    "EndpointOption",
    "EventScope",
    "Execute",
    "ExecuteAs",
    "ExecuteAsClause",
    "ExecuteString",
    "ExternalName",
    "FetchCursor",
    "GetConversationGroup",
    "Goto",
    "Identifier",
    "If",
    "InsertExecute",
    "InvalidStatement",
    "Label",
    "MaintainQueue",
    "MasterKeyAction",
    "ModuleOptions",
    "MoveConversation",
    "NameOrText",
    "NameOrVariable",
    "Node",
    "OpenCursor",
    "Parameter",
    "Permission",
    "PermissionName",
    "PoisonMessageHandling",
    "Print",
    "PriorityOptions",
    "QualifiedName",
    "QueueOptions",
    "RaiseError",
    "Receive",
    "ReceiveAssignment",
    "ReceiveColumn",
    "ReceiveFilter",
    "ReceiveStar",
    "Return",
    "Revert",
    "RollbackTransaction",
    "RouteOptions",
    "SaveTransaction",
    "Script",
    "Securable",
    "Send",
    "SetCursorVariable",
    "SetMethod",
    "SetOption",
    "SetVariable",
    "SqlStatement",
    "SqlText",
    "Statement",
    "StringLiteral",
    "StringOrVariable",
    "TableDefinition",
    "TableVariableDeclaration",
    "Throw",
    "TryCatch",
    "UnsupportedStatement",
    "Use",
    "Variable",
    "VariableDeclaration",
    "WaitForMessage",
    "WaitForTime",
    "While",
    "children_of",
]


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
