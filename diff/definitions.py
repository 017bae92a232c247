"""What scripts define in the end: each object with its CREATE, and with the ALTERs behind it taken in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..compiler import nodes
from ..compiler.builder.batches import parse_batches
from ..grammar.problems import Problems
from ..grammar.source import Source, Span
from ..grammar.tokens import Token, TokenKind
from .shapes import key_of, shape_of_tokens
from .writing import identifier, qualified

Key = tuple[str, str, str]
"""The T-SQL database in lower case ('' where the scripts begin), the kind, the name as it compares."""


@dataclass
class Definition:
    """An object: ``statement`` is its CREATE with every ALTER taken in, ``written`` what the script has."""

    database: str
    kind: str
    name: str
    """As T-SQL writes it."""
    statement: nodes.Statement
    written: list[nodes.Statement]

    @property
    def span(self) -> Span:
        """Where it is defined."""
        return self.written[0].span


@dataclass
class Definitions:
    """What scripts define, in the order of their statements.

    ``settings`` are statements that say a thing once and for all (GRANT, ALTER ROLE … ADD MEMBER,
    ALTER AUTHORIZATION, ALTER DATABASE … SET): database, words → statement. ``others`` define nothing.
    """

    objects: dict[Key, Definition] = field(default_factory=dict)
    settings: dict[tuple[str, tuple[str, ...]], nodes.Statement] = field(default_factory=dict)
    others: list[nodes.Statement] = field(default_factory=list)


# Statement → the kind that DROP names.
_KINDS: dict[type[nodes.Statement], str] = {
    nodes.CreateMessageType: "MESSAGE TYPE",
    nodes.CreateContract: "CONTRACT",
    nodes.CreateQueue: "QUEUE",
    nodes.CreateService: "SERVICE",
    nodes.CreateRoute: "ROUTE",
    nodes.CreateRemoteServiceBinding: "REMOTE SERVICE BINDING",
    nodes.CreateBrokerPriority: "BROKER PRIORITY",
    nodes.CreateEndpoint: "ENDPOINT",
    nodes.CreateEventNotification: "EVENT NOTIFICATION",
    nodes.CreateXmlSchemaCollection: "XML SCHEMA COLLECTION",
    nodes.CreateProcedure: "PROCEDURE",
    nodes.CreateFunction: "FUNCTION",
    nodes.CreateTrigger: "TRIGGER",
    nodes.CreateView: "VIEW",
    nodes.CreateSynonym: "SYNONYM",
    nodes.CreateTable: "TABLE",
    nodes.CreateSchema: "SCHEMA",
    nodes.CreateDatabase: "DATABASE",
    nodes.CreateUser: "USER",
    nodes.CreateLogin: "LOGIN",
    nodes.CreateCertificate: "CERTIFICATE",
}
MODULES = (nodes.CreateProcedure, nodes.CreateFunction, nodes.CreateTrigger, nodes.CreateView)
_SETTINGS = (nodes.Permission, nodes.AlterRole, nodes.AlterAuthorization, nodes.AlterDatabase)
# Of the statements whose inside stays text: where the name stands behind the kind's words.
_NAMED_TEXTS = {"CREATE TYPE": "TYPE", "CREATE SEQUENCE": "SEQUENCE"}
_INDEXES = ("CREATE INDEX", "CREATE XML INDEX")
# Service Broker compares these with case.
_EXACT = ("MESSAGE TYPE", "CONTRACT", "SERVICE")


def read_definitions(sources: Sequence[Source], database: str | None, problems: Problems) -> Definitions:
    """Read scripts that run one after the other; what is wrong with them goes to ``problems``."""
    found = Definitions()
    for source in sources:
        current = (database or "").lower()
        for batch in parse_batches(source, problems):
            for statement in _inside_out(batch.statements):
                if isinstance(statement, nodes.Use):
                    current = statement.database.text
                else:
                    _Reader(found, problems, current).take(statement)
    return found


def _inside_out(statements: Sequence[nodes.Statement]) -> Iterator[nodes.Statement]:
    """Statements, with those of IF and of blocks in their place: what ``IF … IS NULL CREATE …`` makes."""
    for statement in statements:
        if isinstance(statement, nodes.If | nodes.Block | nodes.TryCatch):
            yield from _inside_out(nodes.children_of(statement))
        else:
            yield statement


@dataclass
class _Reader:
    found: Definitions
    problems: Problems
    database: str

    def take(self, statement: nodes.Statement) -> None:
        if (kind := kind_of(statement)) is not None:
            self._create(kind, statement)
        elif isinstance(statement, nodes.DropStatement):
            for name in statement.names:
                compared = key_name(statement.kind, name)
                if statement.kind == "EVENT NOTIFICATION" and statement.on is not None:
                    compared = _within(compared, statement.on)
                self.found.objects.pop(self._key(statement.kind, compared), None)
        elif isinstance(statement, _SETTINGS):
            words = shape_of_tokens(statement.tokens)
            self.found.settings[self.database.lower(), words] = statement
        elif type(statement) in _ALTERS:
            self._alter(statement)
        elif isinstance(statement, nodes.SqlStatement) and statement.kind == "ALTER TABLE":
            self._alter_table(statement)
        elif isinstance(statement, nodes.SetOption) and _reads_otherwise(statement):
            self.problems.add(
                "Scripts under SET QUOTED_IDENTIFIER OFF cannot be compared.",
                statement.span,
                hint="write strings in single quotes and leave the SET out",
            )
        elif not isinstance(statement, nodes.SetOption | nodes.EmptyStatement | nodes.Print):
            self.found.others.append(statement)

    def _key(self, kind: str, name: str) -> Key:
        return self.database.lower(), kind, name

    def _create(self, kind: str, statement: nodes.Statement) -> None:
        named = _name_of(kind, statement)
        if named is None:
            self.problems.add(f"This CREATE {kind} has no name to compare it by.", statement.span, number=102)
            return
        name, compared = named
        if name.startswith("#"):
            return
        key = self._key(kind, compared)
        known = self.found.objects.get(key)
        if known is not None and isinstance(statement, MODULES):
            known.statement, known.written = statement, [statement]
        elif known is None:
            self.found.objects[key] = Definition(self.database, kind, name, statement, [statement])

    def _alter(self, statement: Any) -> None:
        kind, merge = _ALTERS[type(statement)]
        name = statement.name
        compared = (
            key_name(kind, name) if isinstance(name, nodes.QualifiedName) else _spelling(kind, name.text)
        )
        known = self.found.objects.get(self._key(kind, compared))
        if known is None:
            self.found.others.append(statement)
        else:
            known.statement = merge(known.statement, statement)
            known.written.append(statement)

    def _alter_table(self, statement: nodes.SqlStatement) -> None:
        table = _name_in(statement.tokens, 2)
        known = self.found.objects.get(self._key("TABLE", _compared_name(table)))
        if known is None:
            self.found.others.append(statement)
        else:
            known.written.append(statement)


def further(old: Definition, new: Definition) -> list[str] | None:
    """Of what CREATE and ALTER build up: the ALTERs that ``new`` has behind those of ``old``.

    None where other statements differ, too.
    """
    said = [[shape_of_tokens(one.tokens) for one in each.written] for each in (old, new)]
    if said[1][: len(said[0])] != said[0]:
        return None
    return [one.span.text for one in new.written[len(said[0]) :]]


def kind_of(statement: nodes.Statement) -> str | None:
    """The kind of object that a statement creates, as DROP names it; None for one that creates nothing."""
    if isinstance(statement, nodes.CreateRole):
        return statement.kind
    if isinstance(statement, nodes.SqlStatement):
        return "INDEX" if statement.kind in _INDEXES else _NAMED_TEXTS.get(statement.kind)
    return _KINDS.get(type(statement))


def _reads_otherwise(statement: nodes.SetOption) -> bool:
    words = [token.word for token in statement.tokens]
    return "QUOTED_IDENTIFIER" in words and words[-1] == "OFF"


def _name_of(kind: str, statement: Any) -> tuple[str, str] | None:
    """The name as T-SQL writes it, and as it compares; None where a statement breaks off before it.

    Of queries and table definitions only the first words have been read so far.
    """
    if kind == "INDEX":
        words = [token.word for token in statement.tokens]
        if "ON" not in words:
            return None
        index = _name_in(statement.tokens, words.index("INDEX") + 1)
        table = _name_in(statement.tokens, words.index("ON") + 1)
        if not index or not table:
            return None
        return (
            f"{identifier(index[-1])} ON {'.'.join(map(identifier, table))}",
            f"{index[-1].lower()} on {_compared_name(table)}",
        )
    if isinstance(statement, nodes.SqlStatement):
        parts = _name_in(statement.tokens, 2)
        if not parts:
            return None
        return ".".join(map(identifier, parts)), _compared_name(parts)
    name = statement.name
    if isinstance(statement, nodes.CreateTrigger) and statement.scope is not None:
        return f"{qualified(name)} ON {statement.scope}", key_of(name)
    if isinstance(name, nodes.QualifiedName):
        return qualified(name), key_of(name)
    if isinstance(statement, nodes.CreateEventNotification):
        scope = statement.scope
        on = f"QUEUE {qualified(scope.queue)}" if scope.queue else scope.kind
        return f"{identifier(name.text)} ON {on}", _within(name.text.lower(), scope)
    return identifier(name.text), _spelling(kind, name.text)


def _with_endpoint(created: nodes.CreateEndpoint, altered: nodes.AlterEndpoint) -> nodes.CreateEndpoint:
    """What ALTER ENDPOINT writes takes the place of what was there."""
    said = {key: value for key, value in vars(altered).items() if value and key in _OF_ENDPOINT}
    return replace(created, **said)


def _spelling(kind: str, name: str) -> str:
    return name if kind in _EXACT else name.lower()


def _within(name: str, scope: nodes.EventScope) -> str:
    """The name of an event notification as it compares: each queue may have one of that name."""
    return f"{name} on {key_of(scope.queue) if scope.queue else scope.kind.lower()}"


def key_name(kind: str, name: nodes.QualifiedName) -> str:
    """The name in a DROP, ALTER or GRANT as it compares: objects outside schemas have one part."""
    inside_schema = ("QUEUE", "XML SCHEMA COLLECTION", "PROCEDURE", "FUNCTION", "TRIGGER", "VIEW", "SYNONYM")
    if kind in (*inside_schema, "TABLE", "TYPE", "SEQUENCE"):
        return key_of(name)
    return _spelling(kind, name.name.text)


def _name_in(tokens: Sequence[Token], start: int) -> list[str]:
    """The parts of the name that begins at a token; none behind the last one."""
    parts = [one.name for one in tokens[start : start + 1]]
    while start + 2 < len(tokens) and tokens[start + 1].text == "." and _is_name(tokens[start + 2]):
        start += 2
        parts.append(tokens[start].name)
    return parts


def _is_name(token: Token) -> bool:
    return token.kind in (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


def _compared_name(parts: Sequence[str]) -> str:
    full = parts if len(parts) > 1 else ["dbo", *parts]
    return ".".join(part.lower() for part in full)


def _take_in(old: Any, new: Any) -> Any:
    """``old`` with what ``new``, a node of the same class, says; what it leaves out stays."""
    if old is None or new is None:
        return new if new is not None else old
    said = {
        name: _take_in(getattr(old, name), value) if isinstance(value, nodes.PoisonMessageHandling) else value
        for name, value in vars(new).items()
        if value is not None and name != "span"
    }
    return replace(old, **said)


def _with_queue_options(created: nodes.CreateQueue, altered: nodes.AlterQueue) -> nodes.CreateQueue:
    old, new = created.options, altered.options
    if new.activation is not None and (old is None or old.activation is None or old.activation.drop):
        # CREATE QUEUE switches on what it activates, ALTER QUEUE leaves it as it is.
        new = replace(new, activation=replace(new.activation, status=new.activation.status is True))
    if old is None:
        merged: nodes.QueueOptions = new
    else:
        activation = new.activation if new.activation and new.activation.drop else None
        merged = replace(
            _take_in(old, replace(new, activation=None)),
            activation=activation or _take_in(old.activation, new.activation),
        )
    return replace(created, options=merged)


def _with_service_changes(created: nodes.CreateService, altered: nodes.AlterService) -> nodes.CreateService:
    dropped = {one.text for one in altered.drop_contracts}
    kept = tuple(one for one in created.contracts if one.text not in dropped)
    return replace(created, queue=altered.queue or created.queue, contracts=(*kept, *altered.add_contracts))


def _with_validation(
    created: nodes.CreateMessageType, altered: nodes.AlterMessageType
) -> nodes.CreateMessageType:
    return replace(created, validation=altered.validation, schema_collection=altered.schema_collection)


def _with_route_options(created: nodes.CreateRoute, altered: nodes.AlterRoute) -> nodes.CreateRoute:
    return replace(created, options=_take_in(created.options, altered.options))


def _with_priority(
    created: nodes.CreateBrokerPriority, altered: nodes.AlterBrokerPriority
) -> nodes.CreateBrokerPriority:
    """Each part that ALTER names takes the place of the old; ANY and DEFAULT do, too."""
    if created.options is None:
        return replace(created, options=altered.options)
    new, merged = altered.options, created.options
    if new.contract or new.any_contract:
        merged = replace(merged, contract=new.contract, any_contract=new.any_contract)
    if new.local_service or new.any_local_service:
        merged = replace(merged, local_service=new.local_service, any_local_service=new.any_local_service)
    if new.remote_service or new.any_remote_service:
        merged = replace(merged, remote_service=new.remote_service, any_remote_service=new.any_remote_service)
    if new.level is not None or new.default_level:
        merged = replace(merged, level=new.level, default_level=new.default_level)
    return replace(created, options=merged)


def _with_binding(
    created: nodes.CreateRemoteServiceBinding, altered: nodes.AlterRemoteServiceBinding
) -> nodes.CreateRemoteServiceBinding:
    anonymous = created.anonymous if altered.anonymous is None else altered.anonymous
    return replace(created, user=altered.user or created.user, anonymous=anonymous)


_OF_ENDPOINT = ("owner", "state", "protocol", "protocol_options", "payload", "payload_options")
_ALTERS: dict[type[nodes.Statement], tuple[str, Callable[[Any, Any], Any]]] = {
    nodes.AlterMessageType: ("MESSAGE TYPE", _with_validation),
    nodes.AlterQueue: ("QUEUE", _with_queue_options),
    nodes.AlterService: ("SERVICE", _with_service_changes),
    nodes.AlterRoute: ("ROUTE", _with_route_options),
    nodes.AlterBrokerPriority: ("BROKER PRIORITY", _with_priority),
    nodes.AlterEndpoint: ("ENDPOINT", _with_endpoint),
    nodes.AlterXmlSchemaCollection: ("XML SCHEMA COLLECTION", lambda created, altered: created),
    nodes.AlterRemoteServiceBinding: ("REMOTE SERVICE BINDING", _with_binding),
}
