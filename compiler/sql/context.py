"""What the translation of one statement carries along: scope, problems, relations in scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property

from sqlglot import exp

from ...grammar.problems import Problem, Problems, Unbound
from ...grammar.records import dataclass, replace
from ...grammar.source import Source, Span
from ...grammar.tokens import Token, TokenKind
from ..catalog.names import ObjectName, fold, is_placeholder, quote
from ..catalog.objects import ColumnInfo, SqlScope, TableInfo, TableVariable
from ..catalog.sys_views import VIEWS
from ..catalog.types import SqlType, TypeError_, meant_by, sql_type, typed_xml
from ..target import nodes as n
from ..target import queries as q
from .operand_types import implicit_error
from .parse.reader import Reader
from .values import INVALID, Value

Placed = exp.Expr | Token | None
"""What a problem is about: a node, a token where nothing was made of it yet, or the whole statement."""

_ROW_PLACE = "ctid"
"""PostgreSQL's own column, which the compiler reads."""
_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


def _comes_later(token: Token) -> bool:
    return token.kind in _NAMES and token.name.startswith("#")


@dataclass
class Relation:
    """A table, view, subquery or function in FROM under the name by which its columns are known."""

    alias: str
    """Folded, unquoted PostgreSQL name."""
    columns: tuple[ColumnInfo, ...] | None
    """None when unknown at compile time."""
    name: ObjectName | None = None
    nodes: bool = False
    """Rows of .nodes()."""
    partial: bool = False
    """It has more columns than ``columns``."""
    prefix: n.Node | None = None
    """What stands in front of a column's name where it is not the alias."""

    bare: bool = False
    """Nothing stands in front of a column's name."""

    qualify: bool = False
    """Bare column names of this relation are written with the prefix too."""

    nulls: bool = False
    """No row of it is there: every column is NULL."""

    stored: str | None = None
    """A table, view or queue of the server that has no more columns than those: its name there."""

    declared: bool = False
    """A table variable, or rows that the statement lists: it is there, with just those columns."""

    renamed: dict[str, n.Node] | None = None
    """Column (folded) → what it is, where that is something else altogether."""

    def spell(self, column: str) -> n.Node:
        """A qualified reference to ``column``, its folded name."""
        if self.nulls:
            return self._null(column)
        if self.bare:
            return n.Name((column,))
        return n.Name((self.alias, column)) if self.prefix is None else n.Member(self.prefix, column)

    def every(self) -> n.Node:
        """``alias.*``."""
        if self.bare:
            return n.STAR
        return n.Every(n.Name((self.alias,)) if self.prefix is None else self.prefix)

    def _null(self, column: str) -> n.Node:
        known = next((c for c in self.columns or () if fold(c.name) == column), None)
        return n.NULL if known is None or known.type is None else n.Cast(n.NULL, known.type.postgres)

    def column(self, name: str) -> ColumnInfo | None:
        """The column called ``name`` (any case)."""
        if self.columns is None:
            return None
        wanted = fold(name)
        for column in self.columns:
            if fold(column.name) == wanted:
                return column
        return None


@dataclass
class Frame:
    """The relations of one query level; ``parent`` is the query around it."""

    relations: list[Relation] = field(default_factory=list)
    parent: Frame | None = None
    aggregates: int = 0
    """How many aggregates stand at this level outside OVER."""
    results: frozenset[str] = frozenset()
    """The names of the select list, which ORDER BY finds before the columns."""
    defining: bool = False
    """Of a table's definition (CHECK, computed column, index), where PostgreSQL takes no query."""

    @property
    def is_outermost(self) -> bool:
        """No query around it has a table."""
        return not any(frame.relations for frame in self.levels() if frame is not self)

    def levels(self) -> Iterator[Frame]:
        """This frame and those around it, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent


@dataclass
class Context:
    """Everything a handler needs; one per statement or expression."""

    scope: SqlScope
    problems: Problems
    source: Source
    whole: Span
    reader: Reader
    tokens: tuple[Token, ...] = ()
    """Those of the statement or expression."""
    frame: Frame = field(default_factory=Frame)
    namespaces: dict[str, str] = field(default_factory=dict)
    """WITH XMLNAMESPACES: prefix → URI, '' for DEFAULT."""
    ctes: dict[str, tuple[ColumnInfo, ...] | None] = field(default_factory=dict)
    """Common table expressions in scope, by folded name."""
    listed_ctes: set[str] = field(default_factory=set)
    """Those with just these columns, whatever the tables have that they read."""
    read: list[str | None] = field(default_factory=list)
    """What the server calls each table of the statement; None for one that may come later."""
    unsettled: list[Problem] = field(default_factory=list)
    """Names that no column has, until all tables of the statement are known."""
    generated: int = 0
    qualified: bool = False
    """Variables are written with their label although no relation is in scope (LIMIT of a query)."""
    pseudo: dict[str, n.Node] = field(default_factory=dict)
    """``$action`` → what stands for it in a MERGE's OUTPUT."""
    numbered: dict[tuple[int, str], exp.Expr] = field(default_factory=dict)
    """The first NEXT VALUE FOR a sequence in each row (the id of its SELECT or VALUES node)."""
    captured: Captured | None = None
    """Set while a statement inside an INSERT is translated: where its rows are left."""
    stored: bool = False
    """A computed column is translated, which PostgreSQL stores."""
    locks: dict[n.Node, None] = field(default_factory=dict)
    """What takes the locks that hints ask for: in front of the statement, which then sees what others did."""

    @cached_property
    def words(self) -> frozenset[str]:
        """All words and names of the statement, folded: what a generated name must not be."""
        return frozenset(fold(token.name) for token in self.tokens if token.kind in _NAMES)

    # ------------------------------------------------------------ problems

    def span(self, node: Placed) -> Span:
        """The place of a node: its own, its first part's, or the whole statement's."""
        start, end = place(node)
        if start is None or end is None:
            return self.whole
        return Span(self.source, start, end)

    def reach(self, node: exp.Expr | None) -> Span:
        """All of a node, from its first word to its last."""
        places = [inner.meta for inner in node.walk() if "start" in inner.meta] if node is not None else []
        if not places:
            return self.whole
        return Span(self.source, min(meta["start"] for meta in places), max(meta["end"] for meta in places))

    def problem(
        self, message: str, node: Placed = None, *, number: int | None = None, hint: str | None = None
    ) -> Value:
        """Report, and return what stands for the unusable expression."""
        self.problems.add(
            message, at=self.whole if node is None else self.span(node), number=number, hint=hint
        )
        return INVALID

    def unbound(
        self, message: str, column: str, node: Placed, *, owner: Relation | None = None, number: int = 207
    ) -> None:
        """Report a name that no column has (of ``owner``), where all relations around it are known.

        T-SQL finds columns when a batch begins, of the tables that there are then: only the server knows.
        What reads a temporary table may have to wait for that, which we do not know. Where no ``column`` is
        named the statement is wrong as soon as its tables are there.
        """
        among = [relation for frame in self.frame.levels() for relation in frame.relations]
        if owner is not None and owner not in among:
            among.append(owner)
        names = tuple(sorted({relation.stored for relation in among if relation.stored is not None}))
        unsure = any(relation.stored is None and not relation.declared for relation in among)
        if not among or unsure or column == _ROW_PLACE or any(map(_comes_later, self.tokens)):
            return
        if any(map(is_placeholder, (column, *names, *(relation.alias for relation in among)))):
            return
        columns = {one.name: None for relation in among for one in relation.columns or ()}
        only = "".join(names) if len(names) < 2 else None
        among_these = only if owner is None else owner.stored or ""
        unbound = Unbound(names, among_these, column, tuple(columns) if column else ())
        self.unsettled.append(Problem(message, self.span(node), None, number, "warning", unbound))

    def settle(self) -> None:
        """Report what is unbound, unless a table of the statement may come later: then all of it waits."""
        read = {name for name in self.read if name is not None}
        if None in self.read or any(map(is_placeholder, read)):
            return
        for problem in self.unsettled:
            assert problem.unbound is not None
            among = read.union(problem.unbound.relations or ())
            unbound = replace(problem.unbound, relations=tuple(sorted(among)))
            self.problems.add(problem.message, problem.span, None, problem.number, problem.severity, unbound)

    def wrong(self, message: str, number: int, node: Placed) -> None:
        """Report what is an error of the batch where all tables of the statement are there."""
        self.unbound(message, "", node, number=number)

    def unknown(self, name: ObjectName, node: exp.Table) -> None:
        """Report a relation that no script has made so far, where scripts are checked alone."""
        ours = fold(name.schema or "") != "sys"
        if not self.scope.checks or name.database or name.name.startswith("#") or is_placeholder(name.name):
            return
        if fold(name.name) in ((*self.ctes, "inserted", "deleted") if ours else VIEWS):
            return
        self.problems.add(
            f"Invalid object name '{'.'.join(part.name for part in node.parts)}'.",
            self.reach(node),
            number=208,
            severity="warning",
            unbound=Unbound(None, None, fold(name.name), None if ours else tuple(VIEWS)),
        )

    def unbound_target(self, node: exp.Expr, table: ObjectName, info: TableInfo | None) -> None:
        """Report a column to write that the table of an INSERT or UPDATE does not have."""
        target = Relation("", info.columns if info else None, stored=self.stored_name(table, info))
        self.unbound(f"Invalid column name '{node.name}'.", fold(node.name), node, owner=target)

    def implicitly(self, value: Value, to: SqlType | None, node: Placed = None) -> Value:
        """The value, where an assignment may convert it to ``to``; else what a problem leaves behind."""
        error = implicit_error(value, to) if to is not None else None
        return value if error is None else self.problem(error[1], node, number=error[0])

    def bind(self, name: ObjectName, node: exp.Expr, *, is_function: bool = False) -> None:
        """Note a table or function that a module names, which WITH SCHEMABINDING must have two parts."""
        binding = self.scope.schema_binding
        if binding is None:
            return
        own = binding.name.sql(self.scope.database, self.scope.default_database)
        sql_name = self.relation_name(name)
        if self.scope.synonym(name) != name:
            self.problem(
                "Synonyms are invalid in a schemabound object or a constraint expression.", node, number=2788
            )
        elif (
            not name.schema
            or name.database is not None
            or fold(name.schema) in ("sys", "information_schema")
            or sql_name == own
        ):
            self.problem(
                f"Cannot schema bind {binding.kind} '{binding.name.text}' because name '{name.text}' is "
                "invalid for schema binding. Names must be in two-part format and an object cannot reference "
                "itself.",
                node,
                number=4512,
            )
        else:
            binding.needs[f"{sql_name}()" if is_function else sql_name] = None

    def bind_column(self, relation: Relation, name: str) -> None:
        """Note a column that a module WITH SCHEMABINDING reads."""
        if self.scope.schema_binding is not None and relation.stored is not None:
            self.scope.schema_binding.needs[f"{relation.stored}.{quote(fold(name))}"] = None

    def refuse_star(self, node: exp.Expr) -> None:
        """Report ``*`` as a select list in a module WITH SCHEMABINDING, where it is written."""
        if self.scope.schema_binding is not None and place(node)[0] is not None:
            self.problem("Syntax '*' is not allowed in schema-bound objects.", node, number=1054)

    def wrong_column_list(self, name: str, found: int, listed: int, node: Placed) -> None:
        """Report that ``name (a, b, …)`` lists more or fewer columns than its query has."""
        more = found > listed
        self.problem(
            f"'{name}' has {'more' if more else 'fewer'} columns than were specified in the column list.",
            node,
            number=8158 if more else 8159,
        )

    def refuse_repeated(self, name: str, columns: Iterable[str], node: Placed) -> None:
        """Report that the rows of ``name`` have two columns of one name."""
        seen: set[str] = set()
        for column in columns:
            if column and fold(column) in seen:
                self.problem(
                    f"The column '{column}' was specified multiple times for '{name}'.", node, number=8156
                )
                return
            seen.add(fold(column))

    def unsupported(self, what: str, node: Placed = None, *, hint: str | None = None) -> Value:
        """Report a construct that cannot be run, by its name."""
        return self.problem(f"{what} is not supported", node, hint=hint)

    def refuse_server(self, table: exp.Expr) -> None:
        """Report a table of a linked server, or a name of too many parts."""
        parts = _parts(table)
        if len(parts) == 4:
            self.unsupported(f"the linked server '{parts[0]}'", table)
        else:
            shown = ".".join(parts)
            self.problem(
                f"The object name '{shown}' contains more than the maximum number of prefixes. "
                "The maximum is 3.",
                table,
                number=117,
            )

    def unsupported_if_there(self, what: str, node: exp.Expr, hint: str) -> n.Node | None:
        """Refuse what needs the columns of a table that nobody knows.

        Where the server's tables are known it is missing, which is an error of the statement that is run:
        the call that is returned refuses it, should it be there by then, and goes into a query over it.
        """
        if not self.scope.knows_server:
            self.unsupported(what, node, hint=hint)
            return None
        self.problems.add(f"{what} is not supported", self.span(node), hint=hint, severity="warning")
        told = (n.Text(f"{what} is not supported."), n.Text(hint))
        return n.Call("ssb_internal.refuse_if_there", told)

    def only(self, node: exp.Expr, allowed: frozenset[str]) -> None:
        """Report what was read into ``node`` and would otherwise be dropped without a word."""
        for key, value in node.args.items():
            if value and key not in allowed:
                name = key.rstrip("_").replace("_", " ").upper()
                self.problem(f"incorrect syntax: {name} is not T-SQL here or not supported", node, number=102)

    # ------------------------------------------------------------ frames and names

    def push(self, *, defining: bool = False) -> Frame:
        """Enter a query level, or a table's definition."""
        self.frame = Frame(parent=self.frame, defining=defining)
        return self.frame

    def pop(self) -> None:
        """Leave it."""
        assert self.frame.parent is not None
        self.frame = self.frame.parent

    @property
    def has_relations(self) -> bool:
        """A bare name could be a column."""
        return self.qualified or any(frame.relations for frame in self.frame.levels())

    def relation_name(self, name: ObjectName) -> str:
        """The schema-qualified PostgreSQL name of a table, view or queue, synonyms followed."""
        return self.defined_name(self.scope.synonym(name))

    def stored_name(self, name: ObjectName, info: TableInfo | None) -> str | None:
        """What the server calls a table, view or queue all columns of which are known; None for others."""
        if info is None or info.partial or name.name.startswith("#"):
            return None
        return self.relation_name(name) if info.name is not None else info.rows_of

    def reads(self, name: ObjectName, info: TableInfo | None) -> str | None:
        """Note a table of the statement, and return what ``stored_name`` does."""
        stored = self.stored_name(name, info)
        self.read.append(stored)
        return stored

    def defined_name(self, name: ObjectName) -> str:
        """The schema-qualified PostgreSQL name of what a statement defines, alters or drops."""
        if name.server:
            self.unsupported(f"the linked server '{name.server}'")
        return name.sql(self.scope.database, self.scope.default_database)

    def fresh(self, stem: str) -> str:
        """A name that the statement does not use yet."""
        self.generated += 1
        return stem if self.generated == 1 else f"{stem}_{self.generated}"

    def other_database(self) -> str | None:
        """The compile-time database where it is not the default one."""
        database = self.scope.database
        default = self.scope.default_database
        if not database or (default is not None and fold(database) == fold(default)):
            return None
        return database

    def domain_of(self, node: exp.Expr) -> str | None:
        """The PostgreSQL name of a type that the script created, None of any other."""
        name = ObjectName(node.name, node.args.get("schema"))
        if self.scope.user_type(name) is None:
            return None
        return name.sql(self.scope.database, self.scope.default_database)

    def nullable_type(self, node: exp.Expr) -> bool:
        """Whether a column of this type, which says nothing of NULL itself, takes it: a sysname does not."""
        schema = node.args.get("schema")
        if node.name.lower() == "sysname" and (schema is None or schema.lower() == "sys"):
            return False
        return not self.scope.not_null_type(ObjectName(node.name, schema))

    def type_of(self, node: exp.Expr, *, cast: bool, place: int = 1) -> SqlType | None:
        """The type a TypeName node names, of the column at a place; None after a problem."""
        name = node.name
        schema = node.args.get("schema")
        arguments = tuple(node.args.get("arguments") or ())
        collection = node.args.get("collection")
        if collection is not None:
            *before, last, document = collection
            owner = ObjectName(last, before[-1] if before else None)
            return typed_xml(*owner.parts(self.scope.database, self.scope.default_database), document)
        if schema is None or schema.lower() == "sys":
            try:
                return sql_type(name, arguments, cast=cast)
            except TypeError_ as error:
                if schema is not None or error.number != 243:
                    self.problem(str(error), node, number=error.number or 243)
                    return None
        user = ObjectName(name, schema).sql(self.scope.database, self.scope.default_database)
        base = self.scope.user_type(ObjectName(name, schema))
        if base is None:
            if schema is None:
                self.problem(
                    f"Column, parameter, or variable #{place}: Cannot find data type {name}."
                    if not cast
                    else f"Type {name} is not a defined system type.",
                    node,
                    number=243 if cast else 2715,
                    hint=meant_by(name, self.scope.type_names()),
                )
                return None
            return SqlType(name.lower(), user=user, written=f"{schema}.{name}")
        return base


def undeclared_table(name: str, node: Placed, ctx: Context) -> None:
    """Report that ``@name`` is no table variable, or that its type is not known here."""
    known = ctx.scope.variable(name)
    if known is not None and known.type.family == "table":
        return  # its declaration is reported
    if known is not None and known.type.family == "user":
        told = known.type.written or known.type.user
        ctx.problem(
            f"Column, parameter, or variable #1: Cannot find data type {told}.",
            node,
            number=2715,
            hint="pgsb check takes the script that makes a table type too, pgsb compile --after it",
        )
    else:
        ctx.problem(f'Must declare the table variable "{name}".', node, number=1087)


def changed_table_variable(name: str, node: Placed, ctx: Context) -> TableVariable | None:
    """The table variable that a statement changes; None after a problem."""
    variable = ctx.scope.table_variable(name)
    if variable is None:
        undeclared_table(name, node, ctx)
    elif variable.read_only:
        ctx.problem(
            f'The table-valued parameter "{name}" is READONLY and cannot be modified.', node, number=10700
        )
    return variable


def place(node: Placed) -> tuple[int | None, int | None]:
    """Offsets of a token in the script, or of a node: its own, or those of the first placed one inside."""
    if node is None:
        return None, None
    if isinstance(node, Token):
        return node.start, node.end
    if "start" in node.meta:
        return node.meta["start"], node.meta["end"]
    best: tuple[int, int] | None = None
    for inner in node.walk():
        meta = inner.meta
        if "start" in meta and (best is None or meta["start"] < best[0]):
            best = meta["start"], meta["end"]
    return best if best is not None else (None, None)


# ---------------------------------------------------------------- dispatch


def _parts(table: exp.Expr) -> list[str]:
    last = table.args["this"]
    names = [last.name] if not isinstance(last, exp.Dot) else [part.name for part in last.flatten()]
    for key in ("db", "catalog"):
        part = table.args.get(key)
        names.insert(0, part.name if isinstance(part, exp.Expr) else "")
    while len(names) > 1 and not names[0]:
        names.pop(0)
    return names


def object_name(table: exp.Expr) -> ObjectName:
    """The dotted name in a Table node; an empty part (``db..t``) is None."""
    names = _parts(table)
    padded: list[str | None] = [*[None] * (4 - len(names)), *(name or None for name in names)]
    server, database, schema, name = padded[-4:]
    return ObjectName(name or "", schema, database, server)


@dataclass
class OutputItem:
    """One column of OUTPUT; ``name`` as written, None when unnamed, ``*`` when it stands for all."""

    code: n.Node
    name: str | None
    value: Value | None
    node: exp.Expr
    """Where it comes from; a ``*`` is that of each of its columns."""
    every_of: str | None = None
    """For ``*``: the table whose columns it stands for, as the server calls it."""


@dataclass
class Captured:
    """What the inner statement comes to: it waits in ``Context.captured``, see output.finish."""

    definitions: list[q.Definition] = field(default_factory=list)
    recursive: bool = False
    rows: n.Node = n.NOTHING
    """A SELECT of what OUTPUT tells, over ``definitions``."""
    items: list[OutputItem] = field(default_factory=list)
    before: tuple[n.Node, ...] = ()
    after: tuple[n.Node, ...] = ()
    filled: bool = False
