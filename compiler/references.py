"""Names that scripts mention and none of them defines: what :func:`.checking.check_scripts` warns of.

Of services, contracts, message types, queues and tables it does so where one is defined that has almost that
name; of columns and views of schema sys, which are known, in any case.

A server may have what a script lacks, so these are warnings. Names of services, contracts and message types
are compared byte by byte, whatever the collation: one that differs from another in case alone is another one
(https://learn.microsoft.com/sql/t-sql/statements/create-service-transact-sql).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from ..grammar.problems import Problem, Problems, did_you_mean, differ_in_digits
from ..grammar.records import dataclass, replace
from ..grammar.source import Source, Span
from ..grammar.tokens import STATEMENT_WORDS, TokenKind
from . import nodes
from .analysis.mentions import created_procedures, tokens_of
from .catalog.names import fold
from .catalog.scope import Catalog
from .lower.dispatch import is_system_procedure, system_procedure_names

__all__ = ["References"]

_ALMOST = 0.9
"""How much of two names is the same where one may be a slip of the pen, as difflib measures it."""
_SIMILAR = 0.6
"""The same where it is one that there is not."""
_SHORTEST = 4
"""Letters of a name in which two may have changed places."""
_MOST_COMPARISONS = 300_000
_WORD = re.compile(r"\w+")
# Those that a database has from the beginning, as far as scripts name them.
_BUILT_IN = {"contract": ("DEFAULT",), "message type": ("DEFAULT",), "queue": (), "service": ()}

# What procedures of SQL Server do that no part of this is, by the beginnings of their names.
_SUCCESSORS = (
    (
        ("sp_send_dbmail", "sysmail_"),
        "there is no Database Mail: a procedure of that name in msdb may SEND to a program's queue",
    ),
    (
        tuple(f"sp_{verb}_job" for verb in ("add", "attach", "delete", "help", "start", "stop", "update")),
        "there is no SQL Server Agent: cron or a systemd timer calls pgsb run, or a conversation timer rings",
    ),
    (("xp_",), "there are no extended stored procedures: let a program read a queue and do that"),
    (("sp_oa",), "there is no OLE Automation: let a program read a queue and do that"),
    (
        ("sp_addlinkedserver", "sp_addlinkedsrvlogin", "sp_linkedservers", "sp_testlinkedserver"),
        "there are no linked servers: PostgreSQL's foreign tables, or a dialog",
    ),
    (
        ("sp_cdc_",),
        "there is no change data capture: logical replication, or a trigger that SENDs",
    ),
)


@dataclass
class References:
    """The names of many scripts: those that are defined, and those that are used, with their places."""

    _defined: dict[str, dict[str, dict[str, Span | None]]] = field(default_factory=dict)
    """Kind, folded name, name as it is spelled → the place of its first definition."""
    _used: list[tuple[str, str, Span]] = field(default_factory=list)
    _procedures: dict[str, str] = field(default_factory=dict)
    """Folded name → the name as it is spelled."""
    _nearest_names: dict[tuple[str, tuple[str, ...]], str | None] = field(default_factory=dict)
    _comparisons: int = 0
    _altered: set[str] = field(default_factory=set)
    """The words of ALTER TABLE."""
    _executed: list[nodes.QualifiedName] = field(default_factory=list)

    def see(self, batch: nodes.Batch) -> None:
        """Note the names of a batch."""
        for statement in nodes.all_of(batch.statements):
            self._note(statement)

    def _note(self, statement: nodes.Statement) -> None:
        match statement:
            case nodes.CreateService(name=name, queue=queue, contracts=contracts):
                self._define("service", name)
                self._use("queue", [queue.name])
                self._use("contract", contracts)
            case nodes.CreateQueue(name=name):
                self._define("queue", name.name)
            case nodes.AlterQueue(name=queue) | nodes.Receive(queue=queue):
                self._use("queue", [queue.name])
            case nodes.GetConversationGroup(queue=queue):
                self._use("queue", [queue.name])
            case nodes.WaitForMessage(statement=inner):
                self._note(inner)
            case nodes.CreateContract(name=name, messages=messages):
                self._define("contract", name)
                self._use("message type", [message.message_type for message in messages])
            case nodes.CreateMessageType(name=name):
                self._define("message type", name)
            case nodes.AlterService(name=name, add_contracts=contracts):
                self._use("service", [name])
                self._use("contract", contracts)
            case nodes.BeginDialog():
                self._use("service", [statement.from_service, statement.to_service])
                self._use("contract", [statement.contract])
            case nodes.Send(message_type=message_type):
                self._use("message type", [message_type])
            case (
                nodes.CreateProcedure(name=name)
                | nodes.CreateFunction(name=name)
                | nodes.CreateSynonym(name=name)
            ):
                self._procedures[fold(name.name.text)] = name.name.text
            case nodes.SqlStatement(kind="ALTER TABLE"):
                self._altered |= {fold(token.name) for token in statement.tokens}
            case nodes.InsertExecute(execute=nodes.Execute() as execute):
                self._note(execute)
            case nodes.Execute(module=nodes.QualifiedName() as module):
                self._executed.append(module)

    def _define(self, kind: str, name: nodes.Identifier) -> None:
        spellings = self._defined.setdefault(kind, {}).setdefault(name.text.lower(), {})
        if name.text not in spellings:
            if spellings:
                self._used.append((kind, name.text, name.span))
            spellings[name.text] = name.span

    def _use(self, kind: str, names: Sequence[nodes.NameOrVariable | nodes.StringLiteral | None]) -> None:
        for name in names:
            if isinstance(name, nodes.Identifier):
                self._used.append((kind, name.text, name.span))
            elif isinstance(name, nodes.StringLiteral):
                self._used.append((kind, name.value, name.span))

    # ------------------------------------------------------------ what is wrong

    def report(self, sources: Sequence[Source], problems: Problems) -> None:
        """Warn of names that differ from defined ones in case, and of procedures that nobody makes."""
        for kind, text, span in self._used:
            # Names of queues compare as the database does.
            other = self._in_another_case(kind, text, span) if kind != "queue" else None
            if other is not None:
                problems.add(
                    f"the {kind} '{text}' differs from '{other}' in case: it is another one",
                    span,
                    severity="warning",
                )
            elif (near := self._almost(kind, text)) is not None:
                problems.add(
                    f"no script creates the {kind} '{text}'",
                    span,
                    hint=f"did you mean '{near}'?",
                    severity="warning",
                )
        unknown = [
            module
            for module in self._executed
            if module.server is None
            and fold(module.name.text) not in self._procedures
            and not is_system_procedure(module)
        ]
        # Dynamic SQL may create one, and so may a batch that could not be read.
        others = (*system_procedure_names(), *STATEMENT_WORDS)
        made: set[str] = set()
        begun: set[str] = set()
        for source in sources if unknown else ():
            names, beginnings = created_procedures(tokens_of(source))
            made |= names
            begun |= beginnings
        for module in unknown:
            name = fold(module.name.text)
            if name not in made and not name.startswith(tuple(begun)):
                problems.add(
                    f"no script creates the procedure '{module.text}', and it is no known system procedure",
                    module.span,
                    hint=_successor(name)
                    or did_you_mean(module.name.text, (*self._procedures.values(), *others)),
                    severity="warning",
                )

    def _almost(self, kind: str, text: str) -> str | None:
        """Return the defined name that is almost one that is not, but for digits, which tell names apart."""
        defined = self._defined.get(kind, {})
        if text.lower() in defined or text.lower() in map(str.lower, _BUILT_IN[kind]):
            return None
        near = self._slip(text.lower(), tuple(defined))
        return None if near is None else next(iter(defined[near]))

    def _slip(self, name: str, known: tuple[str, ...]) -> str | None:
        """Return the known name of which another is a slip of the pen: digits tell names apart."""
        near = self._nearest(name, known, _ALMOST)
        return None if near is None or differ_in_digits(near, name) else near

    def _nearest(self, name: str, known: tuple[str, ...], cutoff: float) -> str | None:
        """Return the known name that is most like another. Of very many not every one is looked for."""
        if (name, known) not in self._nearest_names:
            self._comparisons += len(known)
            left = self._comparisons <= _MOST_COMPARISONS
            found = difflib.get_close_matches(name, known, 1, cutoff) if left else []
            if left and not found:
                found = [one for one in known if _is_swapped(one, name)]
            self._nearest_names[name, known] = found[0] if found else None
        return self._nearest_names[name, known]

    def look_again(self, sources: Sequence[Source], catalog: Catalog, problems: Problems) -> None:
        """Take back what was said of names that some script makes, and name those that may be meant.

        The scripts of a project have no order, and a string may be dynamic SQL. Of a table that nobody makes
        is said that much where one is made that has almost its name.
        """
        if not problems.unbound:
            return
        made = self._altered | {word for source in sources for word in _words_in_strings(source)}
        tables = tuple({name: None for _, name in catalog.tables})

        def change(problem: Problem) -> Problem | None:
            unbound = problem.unbound
            if unbound is None:
                return problem
            if unbound.name in made:
                return None
            if unbound.known is None:
                near = None if unbound.name in tables else self._slip(unbound.name, tables)
            else:
                near = self._nearest(unbound.name, unbound.known, _SIMILAR)
            if near is None:
                return problem if unbound.known is not None else None
            return replace(problem, hint=f"did you mean '{near}'?")

        problems.revise(change)

    def _in_another_case(self, kind: str, text: str, span: Span) -> str | None:
        """Return the definition that a name means where it is spelled in another case."""
        known = dict.fromkeys(name for name in _BUILT_IN[kind] if name.lower() == text.lower())
        spellings: dict[str, Span | None] = {**known, **self._defined.get(kind, {}).get(text.lower(), {})}
        if text in spellings and spellings[text] != span:
            return None
        return next((name for name in spellings if name != text), None)


def _is_swapped(one: str, other: str) -> bool:
    """Whether two neighbouring letters changed places, which difflib takes for much in a short name."""
    if len(one) != len(other) or one == other or len(one) < _SHORTEST:
        return False
    place = next(place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    swapped = one[:place] + one[place + 1 : place + 2] + one[place] + one[place + 2 :]
    return swapped == other


def _successor(procedure: str) -> str | None:
    """Return what is here instead of a procedure of SQL Server."""
    return next((hint for beginnings, hint in _SUCCESSORS if procedure.startswith(beginnings)), None)


def _words_in_strings(source: Source) -> Iterator[str]:
    for token in tokens_of(source):
        if token.kind is TokenKind.STRING:
            yield from map(fold, _WORD.findall(token.text))
