"""Table definitions as read: columns, constraints and indexes, word by word.

SQL Server's grammar is loose here (constraints in any order, a missing comma before a
table constraint, a trailing comma, storage options everywhere), and so is this reader.
"""

from __future__ import annotations

from dataclasses import field
from typing import NoReturn

from sqlglot import exp

from ....grammar.records import dataclass
from ....grammar.source import Span
from ...catalog.names import collation_of
from ..context import Context
from ..parse.dml import read_names
from ..parse.nodes import TypeName
from ..parse.reader import Reader
from ..parse.tokens import T, Unreadable


@dataclass
class Constraint:
    """PRIMARY KEY, UNIQUE, FOREIGN KEY, CHECK of a table or column."""

    kind: str
    name: str | None = None
    columns: list[tuple[str, bool]] = field(default_factory=list)
    """Names and whether descending."""
    clustered: bool = False
    """It says CLUSTERED, which only one of a table may."""
    ignore_dup_key: bool = False
    check: exp.Expr | None = None
    references: exp.Table | None = None
    foreign_columns: list[str] = field(default_factory=list)
    actions: list[tuple[str, str]] = field(default_factory=list)
    node: exp.Expr | None = None


@dataclass
class Index:
    """CREATE INDEX, or INDEX inside a table."""

    name: str
    unique: bool
    columns: list[tuple[str, bool]]
    include: list[str] = field(default_factory=list)
    where: exp.Expr | None = None
    ignore_dup_key: bool = False
    replaces: bool = False
    """WITH (DROP_EXISTING = ON): instead of the index of this name."""


@dataclass
class Column:
    """A column as read."""

    name: exp.Identifier
    type: exp.Expr | None
    computed: exp.Expr | None = None
    nullable: bool | None = None
    identity: tuple[int, int] | None = None
    default: exp.Expr | None = None
    default_name: str | None = None
    constraints: list[Constraint] = field(default_factory=list)
    with_values: bool = False
    generated: bool = False
    """GENERATED ALWAYS AS ROW START or END."""
    hidden: bool = False
    persisted: bool = False
    repeated: list[str] = field(default_factory=list)
    """What is said of it twice: NULL, IDENTITY, DEFAULT."""


@dataclass
class Definition:
    """What stands in the parentheses of a table."""

    columns: list[Column] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)
    period: tuple[str, str] | None = None
    """PERIOD FOR SYSTEM_TIME (start, end)."""


def read_definition(reader: Reader, ctx: Context) -> Definition:
    """Read the items of a table behind ``(`` up to its ``)``."""
    definition = Definition()
    while not reader.take(T.R_PAREN):
        if reader.take(T.COMMA):
            # A trailing comma is legal; two in a row are not.
            if reader.peek(T.COMMA):
                reader.fail()
            continue
        _item(reader, definition, ctx)
        if reader.at_end:
            reader.fail()
    if not definition.columns:
        ctx.problem("a table needs at least one column", number=102)
    return definition


def all_constraints(definition: Definition) -> list[Constraint]:
    """Return the constraints of the table and those of its columns."""
    return [*definition.constraints, *(c for column in definition.columns for c in column.constraints)]


_CONSTRAINT_WORDS = ("CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK")


_OWN_COLUMNS = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})


def refuse_own_columns(definition: Definition, ctx: Context) -> None:
    """Report columns with the names of those that PostgreSQL gives each table; a variable may have such."""
    for column in definition.columns:
        if column.name.name.lower() in _OWN_COLUMNS:
            what = f"a column called {column.name.name!r}"
            ctx.unsupported(what, column.name, hint="PostgreSQL gives each table a column of that name")


def _item(reader: Reader, definition: Definition, ctx: Context) -> None:
    word = reader.current_upper
    if word in _CONSTRAINT_WORDS:
        definition.constraints.append(read_constraint(reader))
        return
    if word == "INDEX" and not _is_type_ahead(reader):
        reader.advance()
        add_index(definition, read_index(reader, False, ctx))
        return
    if at_period(reader):
        read_period(reader, definition)
        return
    definition.columns.append(read_column(reader, definition, ctx))


def at_period(reader: Reader) -> bool:
    """``PERIOD FOR SYSTEM_TIME`` comes next; PERIOD may be a column too."""
    return reader.current_upper == "PERIOD" and reader.text_at(1) == "FOR"


def read_period(reader: Reader, definition: Definition) -> None:
    """``PERIOD FOR SYSTEM_TIME (start, end)``."""
    if not reader.word("PERIOD", "FOR", "SYSTEM_TIME"):
        reader.fail()
    names = [node.name for node in read_names(reader)]
    if len(names) != 2:
        reader.fail()
    definition.period = (names[0], names[1])


def _is_type_ahead(reader: Reader) -> bool:
    """``index int``: a column of that name."""
    return not reader.peek(T.VAR, 1) and not reader.peek(T.IDENTIFIER, 1)


def read_column(reader: Reader, definition: Definition, ctx: Context) -> Column:
    """A column definition up to the comma or parenthesis behind it."""
    name = reader.name()
    if reader.take(T.ALIAS):
        column = Column(name, None, computed=reader.operand() or reader.fail())
    elif name.name.lower() == "timestamp" and (reader.peek(T.COMMA) or reader.peek(T.R_PAREN)):
        # The one type that may stand alone: the column takes its name.
        column = Column(name, TypeName(this="timestamp", arguments=[]))
    else:
        column = Column(name, reader.type_name())
    constraint_name: str | None = None
    while not reader.at_end and not reader.peek(T.COMMA) and not reader.peek(T.R_PAREN):
        word = reader.current_upper
        if reader.take(T.NOT):
            if reader.word("FOR", "REPLICATION"):
                continue
            if not reader.take(T.NULL):
                reader.fail()
            _note(column, "NULL", column.nullable is not None)
            column.nullable = False
        elif reader.take(T.NULL):
            _note(column, "NULL", column.nullable is not None)
            column.nullable = True
        elif word == "CONSTRAINT":
            reader.advance()
            constraint_name = reader.name().name
            continue
        elif word == "IDENTITY":
            reader.advance()
            _note(column, "IDENTITY", column.identity is not None)
            column.identity = _identity(reader)
        elif word == "DEFAULT":
            reader.advance()
            _note(column, "DEFAULT", column.default is not None)
            column.default = reader.operand() or reader.fail()
            column.default_name = constraint_name
            column.with_values = reader.word("WITH", "VALUES")
        elif word in ("PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "REFERENCES"):
            if word in ("PRIMARY", "UNIQUE", "CHECK") and _has_own_columns(reader, word):
                # A table constraint without the comma in front of it.
                definition.constraints.append(read_constraint(reader, name=constraint_name))
            else:
                column.constraints.append(_column_constraint(reader, column, constraint_name))
        elif word == "COLLATE" or reader.peek(T.COLLATE):
            reader.advance()
            read_collation(reader, ctx)
        elif word in ("SPARSE", "ROWGUIDCOL", "FILESTREAM", "HIDDEN", "PERSISTED"):
            column.hidden = column.hidden or word == "HIDDEN"
            column.persisted = column.persisted or word == "PERSISTED"
            reader.advance()
        elif word == "MASKED":
            warn_of_mask(reader, name, ctx)
            if reader.take(T.WITH) and reader.take(T.L_PAREN):
                reader.skip_parenthesis()
        elif word == "INDEX":
            reader.advance()
            add_index(definition, read_index(reader, False, ctx, columns=[(name.name, False)]))
        elif word == "COLUMN_SET":
            reader.fail("a column set over sparse columns is not supported")
        elif word == "GENERATED":
            reader.advance()
            if not reader.word("ALWAYS") or not reader.take(T.ALIAS):
                reader.fail()
            if reader.current_upper in ("TRANSACTION_ID", "SEQUENCE_NUMBER"):
                reader.fail("a ledger table (GENERATED ALWAYS AS TRANSACTION_ID …) is not supported")
            # ROW is a token of its own kind, START and END too.
            if reader.text_at(0) != "ROW" or reader.text_at(1) not in ("START", "END"):
                reader.fail()
            reader.advance()
            reader.advance()
            column.generated = True
        elif word == "ENCRYPTED":
            reader.fail("Always Encrypted is not supported")
        else:
            reader.fail()
        constraint_name = None
    return column


def read_collation(reader: Reader, ctx: Context) -> None:
    """The name behind COLLATE of a column, which compares as the database does."""
    name = reader.name()
    if collation_of(name.name) is None:
        ctx.problem(f"Invalid collation '{name.name}'.", name, number=448)


def _has_own_columns(reader: Reader, word: str) -> bool:
    """``… PRIMARY KEY [CLUSTERED] (a, b)`` behind a column: it is the table's."""
    ahead = 2 if word == "PRIMARY" else 1
    if word == "CHECK":
        return False
    if reader.text_at(ahead) in ("CLUSTERED", "NONCLUSTERED"):
        ahead += 1
    return reader.peek(T.L_PAREN, ahead)


def _note(column: Column, what: str, is_there: bool) -> None:
    if is_there:
        column.repeated.append(what)


def _identity(reader: Reader) -> tuple[int, int]:
    if not reader.take(T.L_PAREN):
        return 1, 1
    seed = signed(reader)
    if not reader.take(T.COMMA):
        reader.fail()  # both or neither
    increment = signed(reader)
    if not reader.take(T.R_PAREN):
        reader.fail()
    return seed, increment


def signed(reader: Reader) -> int:
    """An integer with its sign."""
    sign = -1 if reader.take(T.DASH) else 1
    text = reader.current_text
    if not text.isdecimal():
        reader.fail()
    reader.advance()
    return sign * int(text)


def read_constraint(reader: Reader, *, name: str | None = None) -> Constraint:
    """A table constraint, with or without its name."""
    if reader.word("CONSTRAINT"):
        name = reader.name().name
    return _constraint(reader, name, None)


def _column_constraint(reader: Reader, column: Column, name: str | None) -> Constraint:
    return _constraint(reader, name, column.name.name)


def _constraint(reader: Reader, name: str | None, column: str | None) -> Constraint:
    if reader.word("PRIMARY", "KEY"):
        found = Constraint("PRIMARY KEY", name)
    elif reader.word("UNIQUE"):
        found = Constraint("UNIQUE", name)
    elif reader.word("CHECK"):
        reader.word("NOT", "FOR", "REPLICATION")
        if not reader.take(T.L_PAREN):
            reader.fail()
        found = Constraint("CHECK", name, check=reader.expression_() or reader.fail())
        if not reader.take(T.R_PAREN):
            reader.fail()
        return found
    elif reader.current_upper == "CONNECTION":
        reader.fail("graph tables (CONNECTION constraints) are not supported")
    elif reader.word("FOREIGN", "KEY") or reader.current_upper == "REFERENCES":
        return _foreign_key(reader, name, column)
    else:
        reader.fail()
    found.clustered = reader.word("CLUSTERED")
    if not found.clustered:
        reader.word("NONCLUSTERED")
    reader.word("HASH")
    if reader.peek(T.L_PAREN):
        found.columns = index_columns(reader)
    elif column is not None:
        found.columns = [(column, False)]
    else:
        reader.fail()
    found.ignore_dup_key = index_options(reader)
    return found


def _foreign_key(reader: Reader, name: str | None, column: str | None) -> Constraint:
    found = Constraint("FOREIGN KEY", name)
    if reader.peek(T.L_PAREN):
        found.columns = [(node.name, False) for node in read_names(reader)]
    elif column is not None:
        found.columns = [(column, False)]
    if not reader.word("REFERENCES"):
        reader.fail()
    found.references = reader.target()
    if reader.peek(T.L_PAREN):
        found.foreign_columns = [node.name for node in read_names(reader)]
    while reader.peek(T.ON):
        reader.advance()
        event = reader.current_upper
        if event not in ("DELETE", "UPDATE"):
            reader.fail()
        reader.advance()
        for words, action in (
            (("NO", "ACTION"), "NO ACTION"),
            (("CASCADE",), "CASCADE"),
            (("SET", "NULL"), "SET NULL"),
            (("SET", "DEFAULT"), "SET DEFAULT"),
        ):
            if reader.word(*words):
                if action != "NO ACTION":
                    found.actions.append((event, action))
                break
        else:
            reader.fail()
    reader.word("NOT", "FOR", "REPLICATION")
    return found


def index_columns(reader: Reader) -> list[tuple[str, bool]]:
    """``(a, b DESC, …)``."""
    if not reader.take(T.L_PAREN):
        reader.fail()
    columns: list[tuple[str, bool]] = []
    while True:
        name = reader.name().name
        descending = reader.take(T.DESC)
        if not descending:
            reader.take(T.ASC)
        columns.append((name, descending))
        if not reader.take(T.COMMA):
            break
    if not reader.take(T.R_PAREN):
        reader.fail()
    return columns


# Options that SQL Server still takes without parentheses, as version 2000 had them.
_OLD_INDEX_OPTIONS = frozenset(
    "FILLFACTOR PAD_INDEX STATISTICS_NORECOMPUTE IGNORE_DUP_KEY DROP_EXISTING SORT_IN_TEMPDB".split()
)


INDEX_OPTIONS = _OLD_INDEX_OPTIONS | frozenset(
    """
    ALLOW_PAGE_LOCKS ALLOW_ROW_LOCKS BUCKET_COUNT COMPRESSION_DELAY DATA_COMPRESSION MAXDOP MAX_DURATION MOVE
    ONLINE OPTIMIZE_FOR_SEQUENTIAL_KEY ORDER RESUMABLE STATISTICS_INCREMENTAL WAIT_AT_LOW_PRIORITY
    XML_COMPRESSION
    """.split()
)
TABLE_OPTIONS = frozenset(
    """
    DATA_COMPRESSION DATA_DELETION DURABILITY FILETABLE_COLLATE_FILENAME FILETABLE_DIRECTORY
    FILETABLE_FULLPATH_UNIQUE_CONSTRAINT_NAME FILETABLE_PRIMARY_KEY_CONSTRAINT_NAME
    FILETABLE_STREAMID_UNIQUE_CONSTRAINT_NAME LEDGER MEMORY_OPTIMIZED REMOTE_DATA_ARCHIVE SYSTEM_VERSIONING
    XML_COMPRESSION
    """.split()
)


def index_options(
    reader: Reader, known: frozenset[str] = INDEX_OPTIONS, statement: str = "CREATE TABLE"
) -> bool:
    """``WITH ( … )``, ``WITH FILLFACTOR = n``, ``ON filegroup``: read, dropped, but for IGNORE_DUP_KEY.

    ``known``: what may stand in the parentheses, else error 155 says that the statement has no such option.
    """
    ignore = False
    while True:
        if reader.peek(T.WITH):
            reader.advance()
            if reader.take(T.L_PAREN):
                depth = 1
                words: list[str] = []
                begins = True
                while depth:
                    if reader.at_end:
                        reader.fail()
                    if begins and reader.current_upper not in known:
                        _refuse_option(reader, statement)
                    begins = depth == 1 and reader.peek(T.COMMA)
                    if reader.peek(T.L_PAREN):
                        depth += 1
                    elif reader.peek(T.R_PAREN):
                        depth -= 1
                    else:
                        words.append(reader.current_upper)
                    reader.advance()
                for place, word in enumerate(words):
                    if word == "IGNORE_DUP_KEY" and words[place + 1 : place + 3] in (["=", "ON"], ["ON"]):
                        ignore = True
            else:
                while True:
                    if reader.current_upper not in _OLD_INDEX_OPTIONS:
                        reader.fail()
                    ignore = ignore or reader.current_upper == "IGNORE_DUP_KEY"
                    reader.advance()
                    if reader.take(T.EQ):
                        reader.advance()
                    if not (reader.peek(T.COMMA) and reader.text_at(1) in _OLD_INDEX_OPTIONS):
                        break
                    reader.advance()
        elif reader.peek(T.ON):
            reader.advance()
            reader.advance()
            if reader.take(T.L_PAREN):
                reader.skip_parenthesis()
        elif reader.current_upper in ("TEXTIMAGE_ON", "FILESTREAM_ON"):
            reader.advance()
            reader.advance()
        else:
            return ignore


def _refuse_option(reader: Reader, statement: str) -> NoReturn:
    token = reader.current or reader.fail()
    message = f"'{token.text}' is not a recognized {statement} option."
    raise Unreadable(message, token.start, token.end, token.text, 155)


def add_index(definition: Definition, index: Index) -> None:
    """Keep an index of a table; a columnstore index has no columns here, and no effect."""
    if index.columns:
        definition.indexes.append(index)


def warn_of_mask(reader: Reader, column: exp.Identifier, ctx: Context) -> None:
    """Read the word MASKED, which nothing obeys: everybody sees what is in the column."""
    reader.advance()
    ctx.problems.add(
        f"MASKED has no effect: the values of {column.name!r} are shown to everybody",
        at=Span(ctx.whole.source, column.meta["start"], column.meta["end"]),
        severity="warning",
        hint="grant SELECT on a view instead",
    )


def read_index(
    reader: Reader,
    unique: bool,
    ctx: Context,
    *,
    name: str | None = None,
    columns: list[tuple[str, bool]] | None = None,
) -> Index:
    """The rest of an index behind its name (or, inside a table, behind INDEX)."""
    if name is None:
        name = reader.name().name
    unique = reader.word("UNIQUE") or unique
    if not reader.word("CLUSTERED"):
        reader.word("NONCLUSTERED")
    reader.word("HASH")
    columnstore = reader.word("COLUMNSTORE")
    if columnstore:
        ctx.problems.add(
            f"the columnstore index {name} has no effect: columnstore indexes do not exist here",
            at=ctx.whole,
            severity="warning",
        )
    if reader.peek(T.L_PAREN):
        columns = index_columns(reader)
    if columnstore:
        columns = []
        if reader.take(T.ORDER_BY) or reader.word("ORDER"):
            index_columns(reader)
    if columns is None:
        reader.fail()
        columns = []
    index = Index(name, unique, columns)
    if reader.word("INCLUDE"):
        index.include = [node.name for node in read_names(reader)]
    if reader.take(T.WHERE):
        index.where = reader.expression_() or reader.fail()
    index.replaces = _drops_existing(reader)
    index.ignore_dup_key = index_options(reader, statement="CREATE INDEX")
    return index


def _drops_existing(reader: Reader) -> bool:
    """Whether DROP_EXISTING comes among the options ahead, and not as OFF."""
    ahead = 0
    while text := reader.text_at(ahead):
        if text == "DROP_EXISTING":
            return "OFF" not in (reader.text_at(ahead + 1), reader.text_at(ahead + 2))
        ahead += 1
    return False
