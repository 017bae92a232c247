"""Tables: columns and constraints that come, change and go, while the rows stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..compiler import nodes
from ..grammar.source import Span
from ..grammar.tokens import Token
from .definitions import Definition, Definitions, Key, further
from .shapes import key_of, shape_of, shape_of_tokens
from .writing import identifier, qualified

Refuse = Callable[[str, Span, str], None]
"""Takes what cannot be done, the place in the new script, and the way out."""


@dataclass
class TableChanges:
    """The statements, which run where the table stands."""

    changes: list[str] = field(default_factory=list)
    rebuild: bool = False
    """A column changes its type or goes: views that read the table stand in the way."""
    retyped: set[str] = field(default_factory=set)
    """The columns that change their types, in lower case: indexes and constraints stand in the way."""


def table_changes(old: Definition, new: Definition, allow_drop: bool, refuse: Refuse) -> TableChanges:
    """Compare two definitions of one table."""
    before, after = old.statement, new.statement
    assert isinstance(before, nodes.CreateTable) and isinstance(after, nodes.CreateTable)
    if len(old.written) + len(new.written) > 2:
        return _with_alters(old, new, refuse)
    if before.definition is None or after.definition is None or _behind(before) != _behind(after):
        if shape_of_tokens(before.tokens) != shape_of_tokens(after.tokens):
            refuse(
                f"Table {new.name} changes in what stands behind its columns.",
                new.span,
                "write the ALTER TABLE by hand",
            )
        return TableChanges()
    comparison = _Comparison(qualified(after.name), after.name.name.text, allow_drop, refuse, TableChanges())
    comparison.columns(before.definition, after.definition)
    comparison.constraints(before.definition, after.definition)
    return comparison.found


def _with_alters(old: Definition, new: Definition, refuse: Refuse) -> TableChanges:
    """Of tables that ALTER TABLE builds, only further ALTERs are known to go from one to the other."""
    texts = further(old, new)
    if texts is not None:
        return TableChanges(texts)
    refuse(
        f"Table {new.name} is made by CREATE TABLE and ALTER TABLE, and not only new ones follow.",
        new.span,
        "give both scripts the whole table in its CREATE TABLE, or write the ALTER TABLE by hand",
    )
    return TableChanges()


def _behind(statement: nodes.CreateTable) -> tuple[str, ...]:
    """What follows the columns: file groups, options."""
    assert statement.definition is not None
    end = statement.definition.span.end
    return shape_of_tokens([token for token in statement.tokens if token.start >= end])


@dataclass
class _Comparison:
    table: str
    bare_name: str
    allow_drop: bool
    refuse: Refuse
    found: TableChanges

    def columns(self, old: nodes.TableDefinition, new: nodes.TableDefinition) -> None:
        before = {one.name.text.lower(): one for one in old.columns}
        after = {one.name.text.lower(): one for one in new.columns}
        for key, column in after.items():
            if key not in before:
                self._added(column)
            elif _meaning(before[key], old) != _meaning(column, new):
                self._changed(before[key], column, new)
        for key, column in before.items():
            if key not in after:
                self._gone(column, new)

    def _added(self, column: nodes.ColumnDefinition) -> None:
        words = _rest(column)
        filled = column.type is None or {"default", "identity"} & set(words) or _is_version(column)
        if not filled and _is_not_null(words):
            self.refuse(
                f"Column {column.name.text} of {self.table} is new and NOT NULL: rows have no value for it.",
                column.span,
                "give it a DEFAULT",
            )
        else:
            self.found.changes.append(f"ALTER TABLE {self.table} ADD {column.span.text}")

    def _changed(
        self, old: nodes.ColumnDefinition, new: nodes.ColumnDefinition, table: nodes.TableDefinition
    ) -> None:
        if old.type is None or new.type is None or _without_null(old) != _without_null(new):
            self.refuse(
                f"Column {new.name.text} of {self.table} changes in more than its type and NULL.",
                new.span,
                "write the ALTER TABLE by hand, or give constraints names behind the columns",
            )
            return
        self.found.rebuild = True
        if shape_of(old.type) != shape_of(new.type):
            self.found.retyped.add(new.name.text.lower())
            if _own_constraints(self.bare_name, new):
                self.refuse(
                    f"Column {new.name.text} of {self.table} changes its type, and has a constraint.",
                    new.span,
                    "write DROP CONSTRAINT, ALTER COLUMN and ADD by hand, or give it behind the columns",
                )
                return
        name, kind = identifier(new.name.text), new.type.span.text
        null = "NOT NULL" if _takes_no_null(new, table) else "NULL"
        self.found.changes.append(f"ALTER TABLE {self.table} ALTER COLUMN {name} {kind} {null}")

    def _gone(self, column: nodes.ColumnDefinition, new: nodes.TableDefinition) -> None:
        if self.allow_drop:
            self.found.rebuild = True
            name = identifier(column.name.text)
            own = "".join(f"CONSTRAINT IF EXISTS {one}, " for one in _own_constraints(self.bare_name, column))
            self.found.changes.append(f"ALTER TABLE {self.table} DROP {own}COLUMN {name}")
        else:
            self.refuse(
                f"Column {column.name.text} of {self.table} is gone: its values would be lost.",
                new.span,
                "--allow-drop drops it",
            )

    def constraints(self, old: nodes.TableDefinition, new: nodes.TableDefinition) -> None:
        before, after = ({shape_of(one): one for one in each.constraints} for each in (old, new))
        # What a column's new type concerns goes first, and comes again.
        retyped = self.found.retyped
        held = {shape for shape, one in after.items() if retyped & set(shape_of_tokens(one.tokens))}
        gone = [one for shape, one in before.items() if shape not in after or shape in held]
        come = [one for shape, one in after.items() if shape not in before or shape in held]
        drops: list[str] = []
        for one in gone:
            if one.tokens[0].word == "INDEX":
                drops.append(f"DROP INDEX {identifier(one.tokens[1].name)} ON {self.table}")
            elif (name := _constraint_name(one)) is None:
                self.refuse(
                    f"A constraint of {self.table} without a name changes or is gone.",
                    new.span,
                    "give constraints names: CONSTRAINT name …",
                )
            else:
                drops.append(f"ALTER TABLE {self.table} DROP CONSTRAINT {identifier(name)}")
        self.found.changes[:0] = drops
        for one in come:
            self.found.changes.append(f"ALTER TABLE {self.table} ADD {one.text}")


def dependents(old: Definitions, relations: set[tuple[str, str]]) -> list[Key]:
    """The views and synonyms that read one of ``relations`` (database, name), and the triggers on them.

    Those that read them over other views count, and views that only have the same word in them. In the
    order in which they were made.
    """
    found: list[Key] = []
    known = set(relations)
    for key, one in old.objects.items():
        statement = one.statement
        if any((key[0], word) in known for word in _read_by(statement)):
            known.add((key[0], key[2].rpartition(".")[2]))
            found.append(key)
        elif isinstance(statement, nodes.CreateTrigger) and _is_on_one_of(statement, key[0], found):
            found.append(key)
    return found


def _read_by(statement: nodes.Statement) -> Sequence[str]:
    """The words among which the relations are that a view or synonym stands for."""
    match statement:
        case nodes.CreateView():
            return shape_of_tokens(statement.query.tokens)
        case nodes.CreateSynonym():
            return (statement.target.name.text.lower(),)
    return ()


def _is_on_one_of(trigger: nodes.CreateTrigger, database: str, views: Sequence[Key]) -> bool:
    return trigger.target is not None and (database, "VIEW", key_of(trigger.target)) in views


def _own_constraints(table: str, column: nodes.ColumnDefinition) -> list[str]:
    """The constraints in a column's definition, those without a name by the one that they get here."""
    found: list[str] = []
    name: str | None = None
    tokens = column.rest.tokens if column.rest else ()
    for place, token in enumerate(tokens):
        if token.word == "CONSTRAINT":
            name = tokens[place + 1].name
        elif token.word in _NAMES_OF_PARTS:
            made = _NAMES_OF_PARTS[token.word].format(table=table.lower(), column=column.name.text.lower())
            found.append(identifier(name or made))
            name = None
    return found


_NAMES_OF_PARTS = {
    "DEFAULT": "df__{table}__{column}",
    "CHECK": "{table}_{column}_check",
    "REFERENCES": "{table}_{column}_fkey",
    "UNIQUE": "{table}_{column}_key",
    "PRIMARY": "{table}_pkey",
}


def _rest(column: nodes.ColumnDefinition) -> tuple[str, ...]:
    return shape_of_tokens(column.rest.tokens) if column.rest else ()


def _meaning(column: nodes.ColumnDefinition, table: nodes.TableDefinition) -> tuple[object, ...]:
    """What two definitions of the same column agree in: NULL is what a column is that says nothing."""
    return shape_of(column.type), _without_null(column), _takes_no_null(column, table)


def _takes_no_null(column: nodes.ColumnDefinition, table: nodes.TableDefinition) -> bool:
    """Whether it is NOT NULL, by its own words or as a column of the primary key behind the columns."""
    key = next((one.tokens for one in table.constraints if any(t.word == "PRIMARY" for t in one.tokens)), ())
    return _is_not_null(_rest(column)) or column.name.text.lower() in {t.name.lower() for t in key}


def _without_null(column: nodes.ColumnDefinition) -> tuple[str, ...]:
    return tuple(_null_left_out(_rest(column)))


def _null_left_out(words: tuple[str, ...]) -> Iterator[str]:
    """The words without NULL and NOT NULL; DEFAULT NULL keeps its own, and so do conditions."""
    said = set(_said_of_null(words))
    return (word for index, word in enumerate(words) if index not in said)


def _said_of_null(words: tuple[str, ...]) -> Iterator[int]:
    """The places of NULL and NOT NULL: outside of parentheses, where conditions have theirs."""
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "null" and words[index - 1 : index] != ("default",):
            if words[index - 1 : index] == ("not",):
                yield index - 1
            yield index


def _is_not_null(words: tuple[str, ...]) -> bool:
    return any(words[index] == "not" for index in _said_of_null(words)) or "primary" in words


def _is_version(column: nodes.ColumnDefinition) -> bool:
    """Whether the server gives each row a value: rowversion."""
    return column.type is not None and column.type.name.name.text.lower() in ("rowversion", "timestamp")


def _constraint_name(one: nodes.SqlText) -> str | None:
    tokens: Sequence[Token] = one.tokens
    return tokens[1].name if len(tokens) > 1 and tokens[0].word == "CONSTRAINT" else None
