"""Old and new definitions → the statements between, in an order that runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..compiler import nodes
from ..compiler.catalog.names import in_comment
from ..compiler.script_order import in_running_order
from ..grammar.problems import Problems
from ..grammar.records import dataclass as record
from ..grammar.source import Source, Span
from .broker import COMPARED
from .definitions import MODULES, Definition, Definitions, Key, further, key_name, read_definitions
from .shapes import key_of, shape_of, shape_of_tokens
from .tables import TableChanges, dependents, table_changes
from .writing import identifier, qualified, string

# They hold neither messages nor rows: dropped and made anew.
_MADE_ANEW = (
    "ROUTE",
    "REMOTE SERVICE BINDING",
    "BROKER PRIORITY",
    "EVENT NOTIFICATION",
    "SYNONYM",
    "ENDPOINT",
    "INDEX",
)
# Where one is, another for the same cannot be: a service's binding, what a priority is for, the one endpoint;
# and activation is not switched on beside a notification of it. The old one goes before anything is made.
_IN_THE_WAY = ("EVENT NOTIFICATION", "REMOTE SERVICE BINDING", "BROKER PRIORITY", "ENDPOINT")
_PRINCIPALS = frozenset({"USER", "ROLE", "APPLICATION ROLE"})
# Kinds whose names are one set, in which each stands once.
_NAMESPACES = (
    frozenset({"TABLE", "VIEW", "PROCEDURE", "FUNCTION", "TRIGGER", "SYNONYM", "SEQUENCE", "QUEUE", "TYPE"}),
    _PRINCIPALS,
)
# What dropping them would lose comes back by no script.
_KEPT = ("DATABASE", "LOGIN", "CERTIFICATE")
_NO_WAY = {
    "CONTRACT": "make the next contract beside it, and let the service take both: docs/changing.md",
    "XML SCHEMA COLLECTION": "ALTER XML SCHEMA COLLECTION … ADD takes further schemas; write it by hand",
    "TYPE": "make the next type beside it",
    "SEQUENCE": "write the ALTER SEQUENCE by hand",
}


@dataclass(frozen=True)
class Step:
    """One statement, in a T-SQL database ('' where the scripts begin); ``place`` is what asks for it."""

    database: str
    text: str
    place: Span


@dataclass
class Difference:
    """The statements from old to new, by what they do; ``problems`` has what cannot be done."""

    guards: list[Step] = field(default_factory=list)
    undone: list[Step] = field(default_factory=list)
    in_the_way: list[Step] = field(default_factory=list)
    first: list[Step] = field(default_factory=list)
    changes: list[Step] = field(default_factory=list)
    drops: list[Step] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def steps(self) -> Iterator[Step]:
        """All steps, database after database: what refuses, revokes, makes way, makes and changes, drops."""
        every = [*self.guards, *self.undone, *self.in_the_way, *self.first, *self.changes, *self.drops]
        databases = dict.fromkeys(["", *(step.database.lower() for step in every)])
        for database in databases:
            yield from (step for step in every if step.database.lower() == database)

    def script(self) -> str:
        """The T-SQL script; each statement is a batch, under the place that asks for it."""
        lines: list[str] = []
        for text, place in self._batches():
            if place is not None:
                name, line = place.source.origin(place.line)
                lines.append(f"-- {in_comment(name)}:{line}\n")
            lines.append(text)
        return "".join(lines)

    def source(self) -> Source:
        """The same for the compiler: without the comments, its lines have the places as their origins."""
        texts: list[str] = []
        origins: list[tuple[str, int]] = []
        for text, place in self._batches():
            texts.append(text)
            origin = place.source.origin(place.line) if place else ("difference", 1)
            origins += [origin] * text.count("\n")
        return _DifferenceSource("difference", "".join(texts), origins=tuple(origins))

    def _batches(self) -> Iterator[tuple[str, Span | None]]:
        current = ""
        for step in self.steps():
            if step.database.lower() != current:
                yield f"USE {identifier(step.database)};\nGO\n", None
                current = step.database.lower()
            yield f"{step.text.rstrip().rstrip(';')};\nGO\n", step.place


@record(frozen=True)
class _DifferenceSource(Source):
    origins: tuple[tuple[str, int], ...] = ()

    def origin(self, line: int) -> tuple[str, int]:
        """The place of the definition that asks for the statement on a line."""
        return self.origins[line - 1] if line <= len(self.origins) else (self.name, line)


def compare(
    old: list[Source], new: list[Source], database: str | None = None, *, allow_drop: bool = False
) -> Difference:
    """Find what takes a database from the old scripts' definitions to the new ones'.

    ``database`` is the T-SQL database in which the scripts begin. With ``allow_drop`` tables, columns and
    queues that are gone are dropped with what is in them; else a table or column that is gone is refused,
    and a queue or service is dropped only when it is found empty.
    """
    found = Difference()
    ordered = in_running_order(new)
    before = read_definitions(in_running_order(old), database, found.problems)
    after = read_definitions(ordered, database, found.problems)
    _Comparison(before, after, allow_drop, found).run()
    turns = {id(source): turn for turn, source in enumerate(ordered)}
    found.changes.sort(key=lambda step: (turns[id(step.place.source)], step.place.start))
    return found


@dataclass
class _Comparison:
    old: Definitions
    new: Definitions
    allow_drop: bool
    found: Difference
    tables: dict[Key, TableChanges] = field(default_factory=dict)
    anew: set[Key] = field(default_factory=set)
    """What is made though old has it, or another kind of that name: dropped first, as a view in the way of a
    column's change, or gone with what it was on."""

    def run(self) -> None:
        making_way = self._making_way()
        self._compare_tables({(key[0], key[2].rpartition(".")[2]) for key in making_way})
        for key, one in reversed(self.old.objects.items()):
            if key in making_way and key not in self.anew:
                if self._is_bound(key):
                    hint = "give the new object another name, or move the service by hand before"
                    self._refuse(
                        f"{_named(one)} makes way for another object, and a service is on it.", one.span, hint
                    )
                self._drop(one, self.found.first)
            elif key not in self.new.objects and one.kind in _IN_THE_WAY:
                making_way.add(key)
                self._drop(one, self.found.in_the_way)
            elif self._is_on_one_of(one, making_way):
                self.anew.add(key)
        for key, definition in self.new.objects.items():
            known = self.old.objects.get(key)
            if known is None or key in self.anew:
                self._make(definition)
            else:
                self._change(key, known, definition)
        staying = {*self.new.objects, *self.anew, *making_way}
        gone = [one for key, one in self.old.objects.items() if key not in staying]
        for definition in reversed(gone):
            self._drop(definition, self.found.drops)
        self._settings()
        self._others()

    def _making_way(self) -> set[Key]:
        """What is gone, and new has its name for another kind: it goes before that is made."""
        found: set[Key] = set()
        for database, kind, name in self.new.objects:
            for other in next((one for one in _NAMESPACES if kind in one), frozenset()) - {kind}:
                key = database, other, name
                if key in self.old.objects and key not in self.new.objects:
                    found.add(key)
                    self.anew.add((database, kind, name))
        return found

    def _is_bound(self, queue: Key) -> bool:
        """Whether a service that stays was on the queue."""
        return any(
            isinstance(one.statement, nodes.CreateService)
            and (key[0], "QUEUE", key_of(one.statement.queue)) == queue
            and key in self.new.objects
            for key, one in self.old.objects.items()
        )

    @staticmethod
    def _is_on_one_of(one: Definition, keys: set[Key]) -> bool:
        """Whether it is an index or trigger of one of these, and goes with it."""
        table = _table_under(one)
        return table is not None and any(
            (one.database.lower(), kind, table) in keys for kind in ("TABLE", "VIEW")
        )

    def _compare_tables(self, rebuilt: set[tuple[str, str]]) -> None:
        """Find what becomes of tables; PostgreSQL changes no column under a view: those are dropped first.

        So are those over what is ``rebuilt``: databases and names.
        """
        for key, new in self.new.objects.items():
            if new.kind == "TABLE" and key in self.old.objects:
                changes = table_changes(self.old.objects[key], new, self.allow_drop, self._refuse)
                self.tables[key] = changes
                if changes.rebuild:
                    rebuilt.add((key[0], key[2].rpartition(".")[2]))
        for key, one in self.old.objects.items():
            if one.kind == "INDEX" and self._is_in_the_way(key[0], one):
                self.anew.add(key)
                self.found.first.append(Step(one.database, _drop_text(one), one.span))
        views = dependents(self.old, rebuilt)
        for key in reversed(views):
            self.anew.add(key)
            one = self.old.objects[key]
            if not isinstance(one.statement, nodes.CreateTrigger):
                self.found.first.append(Step(one.database, _drop_text(one), one.span))

    def _make(self, definition: Definition) -> None:
        for statement in definition.written:
            text = statement.span.text
            if isinstance(statement, MODULES) and statement.action == "ALTER":
                text = _as_create_or_alter(statement)
            self.found.changes.append(Step(definition.database, text, statement.span))

    def _change(self, key: Key, old: Definition, new: Definition) -> None:
        texts = self.tables[key].changes if new.kind == "TABLE" else self._between(old, new)
        if texts is None and new.kind in _MADE_ANEW:
            texts = self._anew(key, new)
        if texts is None:
            hint = _NO_WAY.get(new.kind, "write the statement by hand")
            self._refuse(f"{_named(new)} changes, and no statement changes it in place.", new.span, hint)
        for text in texts or ():
            # Where the last of its statements stands, what it names is there.
            self.found.changes.append(Step(new.database, text, new.written[-1].span))

    def _between(self, old: Definition, new: Definition) -> list[str] | None:
        """The statements from an old object to the new one; None where nothing changes it in place."""
        if new.kind in COMPARED:
            return COMPARED[new.kind](old.statement, new.statement)
        if new.kind == "XML SCHEMA COLLECTION":
            return further(old, new)
        if _same(old, new):
            return []
        return [_as_create_or_alter(new.statement)] if _is_replaced(old.statement, new.statement) else None

    def _anew(self, key: Key, new: Definition) -> list[str]:
        self.anew.add(key)
        made = [one.span.text for one in new.written]
        if new.kind not in _IN_THE_WAY:
            return [_drop_text(new), *made]
        self.found.in_the_way.append(Step(new.database, _drop_text(new), new.span))
        return made

    def _drop(self, gone: Definition, steps: list[Step]) -> None:
        if gone.kind in _KEPT:
            hint = f"DROP {gone.kind} {gone.name} by hand, when nothing needs it"
            self._refuse(f"{_named(gone)} is gone: no difference drops it.", gone.span, hint)
        elif gone.kind == "TABLE" and not self.allow_drop:
            self._refuse(
                f"{_named(gone)} is gone: its rows would be lost.", gone.span, "--allow-drop drops it"
            )
        elif gone.kind in ("INDEX", "TRIGGER") and self._table_is_gone(gone):
            return
        else:
            guard = None if self.allow_drop else _guard(gone)
            if guard is not None:
                self.found.guards.append(Step(gone.database, guard, gone.span))
            text = f"{guard}\n{_drop_text(gone)}" if guard else _drop_text(gone)
            steps.append(Step(gone.database, text, gone.span))

    def _table_is_gone(self, gone: Definition) -> bool:
        """Indexes and triggers go with their table."""
        return (gone.database.lower(), "TABLE", _table_under(gone) or "") not in self.new.objects

    def _is_in_the_way(self, database: str, index: Definition) -> bool:
        """Whether a column of the index changes its type."""
        changes = self.tables.get((database, "TABLE", _table_of_index(index)))
        words = shape_of_tokens(index.statement.tokens)
        return changes is not None and not changes.retyped.isdisjoint(words)

    def _settings(self) -> None:
        for key, statement in self.new.settings.items():
            if key not in self.old.settings or self._is_about_one_made_anew(key[0], statement):
                self.found.changes.append(Step(key[0], statement.span.text, statement.span))
        for key, statement in self.old.settings.items():
            if key in self.new.settings:
                continue
            undone = _undone(statement)
            if undone is None:
                hint = "write by hand what shall be true instead"
                self._refuse("This statement is gone, and no statement undoes it.", statement.span, hint)
            elif undone:
                self.found.undone.append(Step(key[0], undone, statement.span))

    def _is_about_one_made_anew(self, database: str, statement: nodes.Statement) -> bool:
        """Whether what it says went with an object or a principal that is made anew."""
        match statement:
            case nodes.Permission():
                securable, principals = statement.securable, statement.principals
            case nodes.AlterAuthorization():
                securable, principals = statement.securable, ()
            case nodes.AlterRole(member=member) if member is not None:
                securable, principals = None, (statement.name, member)
            case _:
                return False
        made = {(kind, name) for where, kind, name in self.anew if where == database}
        if securable is not None and any(
            (kind, key_name(kind, securable.name)) in made
            for kind in (_NAMESPACES[0] if securable.kind == "OBJECT" else {securable.kind})
        ):
            return True
        return any((kind, one.text.lower()) in made for kind in _PRINCIPALS for one in principals)

    def _others(self) -> None:
        """What defines nothing is told where it is new: it is not part of the difference."""
        known = {shape_of_tokens(one.tokens) for one in self.old.others}
        for statement in self.new.others:
            if shape_of_tokens(statement.tokens) not in known:
                self.found.problems.add(
                    f"{statement.verb} defines nothing: it is left out of the difference.",
                    statement.span,
                    hint="run it by itself, if it shall run once",
                    severity="warning",
                )

    def _refuse(self, text: str, place: Span, hint: str) -> None:
        self.found.problems.add(text, place, hint=hint)


def _table_under(one: Definition) -> str | None:
    """The name of the table or view that an index or trigger is on."""
    if isinstance(one.statement, nodes.CreateTrigger):
        return key_of(one.statement.target) if one.statement.target else None
    return _table_of_index(one) if one.kind == "INDEX" else None


def _table_of_index(index: Definition) -> str:
    table = index.name.partition(" ON ")[2].replace("[", "").replace("]", "").lower()
    return table if "." in table else f"dbo.{table}"


def _same(old: Definition, new: Definition) -> bool:
    """Whether both say the same, with the ALTERs that were taken in."""
    words = [shape_of_tokens(one.statement.tokens) for one in (old, new)]
    return words[0] == words[1] and bool(shape_of(old.statement) == shape_of(new.statement))


def _is_replaced(old: nodes.Statement, new: nodes.Statement) -> bool:
    """Whether CREATE OR ALTER makes the new module of the old: of the same kind, on the same table."""
    match old, new:
        case nodes.CreateFunction(), nodes.CreateFunction():
            return old.kind == new.kind
        case nodes.CreateTrigger(), nodes.CreateTrigger():
            return old.scope == new.scope and bool(shape_of(old.target) == shape_of(new.target))
    return isinstance(new, nodes.CreateProcedure | nodes.CreateView)


def _named(definition: Definition) -> str:
    return f"{definition.kind.capitalize()} {definition.name}"


def _drop_text(definition: Definition) -> str:
    return f"DROP {definition.kind} {definition.name}"


def _guard(gone: Definition) -> str | None:
    """The statement that fails where dropping would lose messages or dialogs; None where it cannot."""
    statement = gone.statement
    if isinstance(statement, nodes.CreateQueue):
        rows = f"SELECT * FROM {qualified(statement.name)}"
        text = f"Queue {gone.name} still has messages: it is not dropped."
    elif isinstance(statement, nodes.CreateService):
        rows = (
            "SELECT * FROM sys.conversation_endpoints AS e "
            "JOIN sys.services AS s ON s.service_id = e.service_id "
            f"WHERE s.name = {string(statement.name.text)} AND e.state <> 'CD'"
        )
        text = f"Service {gone.name} still has open dialogs: it is not dropped."
    else:
        return None
    return f"IF EXISTS ({rows})\n    THROW 50000, {string(text)}, 1;"


def _as_create_or_alter(statement: Any) -> str:
    """The text of a module under CREATE OR ALTER, whatever it is written under."""
    span = statement.span
    tokens = statement.tokens
    end = tokens[2].end if tokens[1].word == "OR" else tokens[0].end
    return f"CREATE OR ALTER{span.text[end - span.start :]}"


def _undone(statement: nodes.Statement) -> str | None:
    """What takes a setting back; '' for what leaves nothing, None for what nothing takes back."""
    if isinstance(statement, nodes.Permission):
        return "" if statement.action == "REVOKE" else _revoke(statement)
    if isinstance(statement, nodes.AlterRole) and statement.action in ("ADD MEMBER", "DROP MEMBER"):
        other = "DROP MEMBER" if statement.action == "ADD MEMBER" else "ADD MEMBER"
        name, member = identifier(statement.name.text), identifier(statement.member.text)
        return f"ALTER {statement.kind} {name} {other} {member}"
    return None


def _revoke(statement: nodes.Permission) -> str:
    """``GRANT p ON o TO u WITH GRANT OPTION`` → ``REVOKE p ON o FROM u CASCADE``."""
    tokens = statement.tokens
    to = max(index for index, token in enumerate(tokens) if token.word == "TO")
    span = statement.span
    what = span.text[tokens[0].end - span.start : tokens[to].start - span.start].strip()
    users = ", ".join(identifier(one.text) for one in statement.principals)
    return f"REVOKE {what} FROM {users}{' CASCADE' * statement.with_grant_option}"
