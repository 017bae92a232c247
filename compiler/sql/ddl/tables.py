"""CREATE TABLE, ALTER TABLE, CREATE INDEX and their relatives.

Column definitions and constraints are read here, word by word; expressions in DEFAULT,
CHECK and computed columns go through the same translation as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from ....grammar.tokens import Token
from ...catalog.names import ObjectName, fold, identifier, literal, quote, spelling_arguments
from ...catalog.objects import ColumnInfo, KeyInfo, TableInfo
from ...catalog.types import SqlType
from ...target import nodes as n
from ...target import statements as s
from ...target.layout import flat
from ..assignments import store
from ..context import Context, Relation, object_name
from ..expressions.calls import default_value
from ..expressions.names import condition, scalar
from ..interface import Ddl
from ..parse.reader import Reader
from ..parse.tokens import T, to_sqlglot
from .definitions import (
    Column,
    Constraint,
    Definition,
    Index,
    index_options,
    read_definition,
    read_index,
    signed,
)
from .system_versioning import add_period, history_table, read_versioning, require_generated, start_versioning

VOLATILE = frozenset(
    """
    GETDATE GETUTCDATE SYSDATETIME SYSUTCDATETIME SYSDATETIMEOFFSET CURRENT_TIMESTAMP NEWID NEWSEQUENTIALID
    RAND SUSER_NAME SUSER_SNAME USER_NAME HOST_NAME APP_NAME DB_NAME SCOPE_IDENTITY
    """.split()
)


# ---------------------------------------------------------------- CREATE TABLE


def create_table(reader: Reader, ctx: Context) -> Ddl | None:
    """CREATE TABLE, behind these words."""
    name = object_name(reader.target())
    if reader.word("AS"):
        ctx.unsupported(f"CREATE TABLE … AS {reader.current_upper}")
        return None
    if not reader.take(T.L_PAREN):
        reader.fail()
    definition = read_definition(reader, ctx)
    if reader.word("AS"):
        # AS FILETABLE, AS NODE, AS EDGE
        ctx.unsupported(f"CREATE TABLE … AS {reader.current_upper}")
        return None
    if reader.text_at(1) == "(" and reader.text_at(2) == "LEDGER" and reader.text_at(4) == "ON":
        ctx.unsupported("a ledger table")
        return None
    versioning = read_versioning(reader)
    index_options(reader)
    if not reader.at_end:
        reader.fail()
    sql = ctx.defined_name(name)
    require_generated(definition, ctx)
    info = table_info(definition, name, ctx)
    ctx.push()
    ctx.frame.relations.append(Relation(fold(name.name), info.columns))
    lines = [column_text(column, info, ctx) for column in definition.columns]
    lines += [constraint_text(constraint, definition, ctx) for constraint in definition.constraints]
    statements: list[str | n.Node] = [f"CREATE TABLE {sql} (\n    " + ",\n    ".join(lines) + "\n)"]
    statements += [index_text(index, name, ctx) for index in definition.indexes]
    columns = [column.name.name for column in definition.columns]
    statements += keeping_of_spelling(name, sql, columns, names_of_parts(definition))
    statements += ignoring_triggers(sql, info.keys)
    statements += _rowversion_triggers(sql, info)
    statements += naming_of_defaults(name, sql, default_names(definition))
    statements += add_period(definition, sql)
    ctx.pop()
    defines = [info]
    if versioning is not None and versioning.on:
        statements.append(start_versioning(sql, versioning, ctx))
        defines += history_table(info, versioning)
    return Ddl(tuple(statements), defines=tuple(defines))


def keeping_of_spelling(
    name: ObjectName, sql: str, columns: Iterable[str] = (), parts: Iterable[str] = (), *, new: bool = True
) -> list[n.Node]:
    """What keeps the spelling of a table, where it is new, of its columns and parts for later scripts."""
    arguments = spelling_arguments(name, sql, columns, parts, new=new)
    return [s.Effect(n.Call("ssb_internal.keep_spelling", tuple(arguments)))] if arguments else []


def names_of_parts(definition: Definition) -> list[str]:
    """The names that constraints and indexes are given."""
    named = [constraint.name for constraint in _all_constraints(definition)]
    return [*filter(None, named), *(index.name for index in definition.indexes)]


def default_names(definition: Definition) -> list[tuple[str, str]]:
    """The names that DEFAULT constraints of columns are given, each with its column."""
    return [
        (column.default_name, column.name.name)
        for column in definition.columns
        if column.default_name is not None
    ]


def naming_of_defaults(name: ObjectName, sql: str, names: Iterable[tuple[str, str]]) -> list[n.Node]:
    """What keeps the names of DEFAULT constraints, by which they are dropped; not those of #t."""
    if name.name.startswith("#"):
        return []
    named = ((n.Text(identifier(column)), n.Text(quote(given))) for given, column in names)
    return [
        s.Effect(n.Call("ssb_internal.name_default", (n.Text(sql), column, given))) for column, given in named
    ]


# ---------------------------------------------------------------- what is known from now on


def table_info(definition: Definition, name: ObjectName | None, ctx: Context) -> TableInfo:
    """The columns and keys of a table as the rest of the script sees them."""
    keys: list[KeyInfo] = []
    primary: set[str] = set()
    for constraint in _all_constraints(definition):
        if constraint.kind in ("PRIMARY KEY", "UNIQUE"):
            columns = tuple(column for column, _ in constraint.columns)
            keys.append(KeyInfo(columns, constraint.ignore_dup_key, constraint.kind == "PRIMARY KEY"))
            if constraint.kind == "PRIMARY KEY":
                primary |= {fold(column) for column in columns}
    for index in definition.indexes:
        if index.unique:
            keys.append(KeyInfo(tuple(column for column, _ in index.columns), index.ignore_dup_key))
    infos: list[ColumnInfo] = []
    seen: set[str] = set()
    for column in definition.columns:
        folded = fold(column.name.name)
        if folded in seen:
            where = f" in table '{name.name}'" if name is not None else ""
            ctx.problem(
                f"Column names in each table must be unique. Column name '{column.name.name}'{where} is "
                "specified more than once.",
                column.name,
                number=2705,
            )
        seen.add(folded)
        type_ = ctx.type_of(column.type, cast=False) if column.type is not None else None
        nullable = column.nullable
        if nullable is None:
            nullable = column.type is None or ctx.nullable_type(column.type)
        if folded in primary or column.identity is not None or (column.generated and column.nullable is None):
            nullable = False
        infos.append(
            ColumnInfo(
                column.name.name,
                type_,
                nullable=nullable,
                identity=column.identity,
                generated=column.generated,
                hidden=column.hidden,
            )
        )
    info = TableInfo(name, tuple(infos), tuple(keys))
    for key in keys:
        for column_name in key.columns:
            if fold(column_name) not in seen:
                ctx.problem(
                    f"Column name '{column_name}' does not exist in the target table or view.", number=1911
                )
    return _with_expressions(definition, info, name, ctx)


def _all_constraints(definition: Definition) -> list[Constraint]:
    return [*definition.constraints, *(c for column in definition.columns for c in column.constraints)]


def _with_expressions(
    definition: Definition, info: TableInfo, name: ObjectName | None, ctx: Context
) -> TableInfo:
    """Types of computed columns, texts of defaults and checks."""
    ctx.push()
    relation = Relation(fold(name.name) if name is not None else "", info.columns)
    ctx.frame.relations.append(relation)
    columns: list[ColumnInfo] = []
    for column, known in zip(definition.columns, info.columns, strict=True):
        computed = default = None
        type_ = known.type
        if column.computed is not None:
            ctx.stored = True
            value = scalar(_unwrapped(column.computed), ctx)
            ctx.stored = False
            computed = flat(value.text)
            type_ = value.type
            if type_ is None and not value.is_null:
                ctx.problem(
                    f"the type of the computed column '{column.name.name}' is not known",
                    column.name,
                    hint="put CAST(… AS type) around it",
                )
        if column.default is not None:
            value = store(default_value(_unwrapped(column.default), ctx), type_)
            default = flat(value.text)
        columns.append(replace(known, type=type_, default=default, computed=computed))
    checks = tuple(
        flat(condition(constraint.check, ctx).text)
        for constraint in _all_constraints(definition)
        if constraint.check is not None
    )
    ctx.pop()
    names = tuple((fold(given), column) for given, column in default_names(definition))
    return TableInfo(
        name,
        tuple(columns),
        info.keys,
        checks,
        default_names=names,
        versioned=definition.period is not None,
    )


def _unwrapped(node: exp.Expr) -> exp.Expr:
    """SQL Server's scripts wrap defaults: ((0)), (getdate())."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def table_definition(tokens: tuple[Token, ...], ctx: Context) -> TableInfo:
    """The ``( … )`` of a table variable or table type.

    CHECKs come out over ``n``, the row that is being put in.
    """
    reader = ctx.reader
    reader.start(to_sqlglot(list(tokens)))
    if not reader.take(T.L_PAREN):
        reader.fail()
    definition = read_definition(reader, ctx)
    if not reader.at_end:
        reader.fail()
    for constraint in _all_constraints(definition):
        if constraint.kind == "FOREIGN KEY":
            word = "FOREIGN" if constraint in definition.constraints else "REFERENCES"
            ctx.problem(
                f"Incorrect syntax near the keyword '{word}'.",
                number=156,
                hint="a table variable has no foreign keys",
            )
    info = table_info(definition, None, ctx)
    ctx.push()
    ctx.frame.relations.append(Relation("n", info.columns, qualify=True))
    checks = tuple(
        flat(condition(constraint.check, ctx).text)
        for constraint in _all_constraints(definition)
        if constraint.check is not None
    )
    columns = []
    for column, known in zip(definition.columns, info.columns, strict=True):
        computed = known.computed
        if column.computed is not None:
            computed = flat(scalar(_unwrapped(column.computed), ctx).text)
        columns.append(
            ColumnInfo(known.name, known.type, known.nullable, known.identity, known.default, computed)
        )
    if definition.period is not None or any(column.generated for column in definition.columns):
        ctx.problem("Creating table variables containing PERIOD is not allowed.", number=13572)
    ctx.pop()
    return TableInfo(None, tuple(columns), info.keys, checks)


# ---------------------------------------------------------------- texts


def column_text(column: Column, info: TableInfo, ctx: Context) -> str:
    """A column definition as PostgreSQL text."""
    known = next(item for item in info.columns if fold(item.name) == fold(column.name.name))
    name = identifier(column.name.name)
    if known.computed is not None:
        node = column.computed
        if node is not None:
            for call in node.find_all(exp.Anonymous):
                if call.name.upper() in VOLATILE:
                    ctx.problem(
                        f"the computed column '{column.name.name}' cannot be stored: "
                        f"{call.name.upper()} changes from call to call",
                        call,
                        hint="put it into a view",
                    )
            for dotted in node.find_all(exp.Dot):
                function = dotted.expression
                if isinstance(function, exp.Anonymous):
                    ctx.problem(
                        f"the computed column '{column.name.name}' cannot be stored: it calls the function "
                        f"{function.name}",
                        dotted,
                        hint="put it into a view",
                    )
        type_text = known.type.postgres if known.type is not None else "text"
        text = f"{name} {type_text} GENERATED ALWAYS AS ({known.computed}) STORED"
    else:
        domain = ctx.domain_of(column.type) if column.type is not None and known.identity is None else None
        text = f"{name} {domain or _column_type(known.type, known.identity)}"
        if known.identity is not None:
            text += f" GENERATED ALWAYS AS IDENTITY{_identity_text(known.identity)}"
    if not known.nullable and not any(c.kind == "PRIMARY KEY" for c in column.constraints):
        text += " NOT NULL"
    if known.default is not None and known.default != "NULL":
        text += f" DEFAULT {known.default}"
    for constraint in column.constraints:
        text += " " + _inline_constraint(constraint, ctx)
    return text


def _column_type(type_: SqlType | None, identity: tuple[int, int] | None) -> str:
    if type_ is None:
        return "text"
    if identity is not None and type_.family == "decimal":
        return "bigint"
    return type_.postgres


def _identity_text(identity: tuple[int, int]) -> str:
    seed, increment = identity
    if (seed, increment) == (1, 1):
        return ""
    text = f"START WITH {seed} INCREMENT BY {increment}"
    if increment > 0 and seed < 1:
        text += f" MINVALUE {seed}"
    if increment < 0 and seed > -1:
        text += f" MAXVALUE {seed}"
    return f" ({text})"


def _named(constraint: Constraint) -> str:
    return f"CONSTRAINT {identifier(constraint.name)} " if constraint.name else ""


def _inline_constraint(constraint: Constraint, ctx: Context) -> str:
    head = _named(constraint)
    if constraint.kind in ("PRIMARY KEY", "UNIQUE"):
        return f"{head}{constraint.kind}"
    if constraint.kind == "CHECK":
        return f"{head}CHECK ({flat(condition(constraint.check, ctx).text)})"
    return f"{head}{_references(constraint, ctx)}"


def constraint_text(constraint: Constraint, definition: Definition | None, ctx: Context) -> str:
    """A table constraint as PostgreSQL text."""
    head = _named(constraint)
    columns = ", ".join(identifier(column) for column, _ in constraint.columns)
    if constraint.kind in ("PRIMARY KEY", "UNIQUE"):
        return f"{head}{constraint.kind} ({columns})"
    if constraint.kind == "CHECK":
        return f"{head}CHECK ({flat(condition(constraint.check, ctx).text)})"
    return f"{head}FOREIGN KEY ({columns}) {_references(constraint, ctx)}"


def _references(constraint: Constraint, ctx: Context) -> str:
    assert constraint.references is not None
    text = f"REFERENCES {ctx.defined_name(object_name(constraint.references))}"
    if constraint.foreign_columns:
        text += f" ({', '.join(identifier(column) for column in constraint.foreign_columns)})"
    return text + constraint.actions


# ---------------------------------------------------------------- indexes


def create_index(reader: Reader, ctx: Context) -> Ddl | None:
    """``CREATE [UNIQUE] [CLUSTERED|NONCLUSTERED] INDEX name ON t (…) …``."""
    if not reader.word("CREATE"):
        return None
    unique = reader.word("UNIQUE")
    if not reader.word("CLUSTERED"):
        reader.word("NONCLUSTERED")
    if reader.word("COLUMNSTORE"):
        ctx.problems.add(
            "CREATE COLUMNSTORE INDEX has no effect: columnstore indexes do not exist here",
            at=ctx.whole,
            severity="warning",
        )
        return Ddl(())
    if not reader.word("INDEX"):
        return None
    given_name = reader.name().name
    if not reader.take(T.ON):
        reader.fail()
    table = object_name(reader.target())
    index = read_index(reader, unique, ctx, name=given_name)
    if not reader.at_end:
        reader.fail()
    info = ctx.scope.table(table)
    if info is not None and info.read_only:
        ctx.problems.add(
            "an index of a view has no effect: the view is computed when it is read",
            at=ctx.whole,
            severity="warning",
        )
        return Ddl(())
    ctx.push()
    ctx.frame.relations.append(Relation(fold(table.name), info.columns if info is not None else None))
    statements: list[str | n.Node] = [index_text(index, table, ctx)]
    if index.replaces:
        schema = table.parts(ctx.scope.database, ctx.scope.default_database)[0]
        statements.insert(0, f"DROP INDEX IF EXISTS {quote(schema)}.{quote(index_name(index.name, table))}")
    ctx.pop()
    defines: tuple[TableInfo, ...] = ()
    if index.ignore_dup_key:
        columns = tuple(column for column, _ in index.columns)
        statements += ignoring_triggers(ctx.defined_name(table), [KeyInfo(columns, True)])
    statements += keeping_of_spelling(table, ctx.defined_name(table), parts=[index.name], new=False)
    if info is not None and unique and index.where is None and not info.read_only:
        key = KeyInfo(tuple(column for column, _ in index.columns), index.ignore_dup_key)
        defines = (replace(info, keys=(*info.keys, key)),)
    return Ddl(tuple(statements), defines=defines)


def index_name(index: str, table: ObjectName) -> str:
    """An index's name in PostgreSQL, where it must be unique in its schema, not in its table only."""
    folded, table_name = fold(index), fold(table.name)
    return folded if table_name in folded else fold(f"{table_name}__{folded}")


def index_text(index: Index, table: ObjectName, ctx: Context) -> str:
    """CREATE INDEX as PostgreSQL text."""
    columns = ", ".join(
        f"{identifier(column)}{' DESC' if descending else ''}" for column, descending in index.columns
    )
    text = f"CREATE {'UNIQUE ' if index.unique else ''}INDEX {quote(index_name(index.name, table))} "
    text += f"ON {ctx.defined_name(table)} ({columns})"
    if index.include:
        text += f" INCLUDE ({', '.join(identifier(column) for column in index.include)})"
    if index.where is not None:
        text += f" WHERE {flat(condition(index.where, ctx).text)}"
    return text


def ignoring_triggers(table: str, keys: Iterable[KeyInfo]) -> list[str]:
    """IGNORE_DUP_KEY = ON: a trigger leaves duplicates out, whoever inserts them."""
    statements = []
    for key in keys:
        if key.ignore_dup_key:
            name = identifier("_".join(["ignore_dup_key", *key.columns]))
            arguments = ", ".join(literal(fold(column)) for column in key.columns)
            statements.append(
                f"CREATE TRIGGER {name} BEFORE INSERT ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION sys.leave_out_duplicate({arguments})"
            )
    return statements


def _rowversion_triggers(table: str, info: TableInfo) -> list[str]:
    """A rowversion column gets a new number with every change of its row."""
    return [
        f"CREATE TRIGGER rowversion BEFORE INSERT OR UPDATE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION sys.set_rowversion({literal(fold(column.name))})"
        for column in info.columns
        if column.type is not None and column.type.name == "rowversion"
    ]


def drop_index(reader: Reader, ctx: Context) -> Ddl:
    """``DROP INDEX [IF EXISTS] i ON t, …`` and the old ``t.i``."""
    guard = "IF EXISTS " if reader.word("IF", "EXISTS") else ""
    statements: list[str] = []
    while True:
        first = reader.target()
        if reader.take(T.ON):
            table = object_name(reader.target(hinted=False))
            name = first.name
        else:
            old = object_name(first)
            table = ObjectName(old.schema or "", old.database, old.server)
            name = old.name
        schema = table.parts(ctx.scope.database, ctx.scope.default_database)[0]
        info = ctx.scope.table(table)
        if info is None or not info.read_only:
            statements.append(f"DROP INDEX {guard}{quote(schema)}.{quote(index_name(name, table))}")
        index_options(reader)
        if not reader.take(T.COMMA):
            break
    if not reader.at_end:
        reader.fail()
    return Ddl(tuple(statements))


# ---------------------------------------------------------------- the rest


def drop(reader: Reader, ctx: Context, kind: str) -> Ddl:
    """DROP TABLE or VIEW (``kind``), behind these words."""
    guard = "IF EXISTS " if reader.word("IF", "EXISTS") else ""
    names: list[ObjectName] = []
    while True:
        names.append(object_name(reader.target()))
        if not reader.take(T.COMMA):
            break
    if not reader.at_end:
        reader.fail()
    return Ddl(tuple(f"DROP {kind} {guard}{ctx.defined_name(name)}" for name in names), drops=tuple(names))


NOT_NULL_TYPE = "columns are NOT NULL"


def create_type(reader: Reader, ctx: Context) -> Ddl | None:
    """``CREATE TYPE name FROM base [NULL | NOT NULL]``: a domain."""
    name = object_name(reader.target())
    if reader.word("EXTERNAL", "NAME"):
        ctx.problem("CLR assemblies cannot run on PostgreSQL.")
        return None
    if not reader.take(T.FROM):
        reader.fail()
    base = ctx.type_of(reader.type_name(), cast=False)
    not_null = reader.take(T.NOT)
    reader.take(T.NULL)
    if not reader.at_end:
        reader.fail()
    if base is None:
        return None
    text = f"CREATE DOMAIN {ctx.defined_name(name)} AS {base.postgres}"
    if not_null:
        # NOT NULL is for columns that say nothing themselves, not for variables: the domain only tells it.
        text += f' CONSTRAINT "{NOT_NULL_TYPE}" CHECK (true)'
    return Ddl((text, *keeping_of_spelling(name, ctx.defined_name(name))), types=((name, base, not_null),))


_SEQUENCE_LIMITS = {
    "tinyint": ("smallint", 0, 255),
    "smallint": ("smallint", -(2**15), 2**15 - 1),
    "int": ("integer", -(2**31), 2**31 - 1),
    "bigint": ("bigint", -(2**63), 2**63 - 1),
}


def sequence(reader: Reader, ctx: Context, verb: str) -> Ddl:
    """CREATE and ALTER SEQUENCE; a sequence without START begins at its type's smallest value."""
    target = object_name(reader.target())
    name = ctx.defined_name(target)
    type_name = "bigint"
    options: dict[str, str] = {}
    while not reader.at_end:
        if reader.take(T.ALIAS):
            type_ = ctx.type_of(reader.type_name(), cast=False)
            type_name = type_.name if type_ is not None and type_.name in _SEQUENCE_LIMITS else "bigint"
        elif reader.word("START", "WITH"):
            options["START"] = f"START WITH {signed(reader)}"
        elif reader.word("RESTART"):
            options["RESTART"] = f"RESTART WITH {signed(reader)}" if reader.word("WITH") else "RESTART"
        elif reader.word("INCREMENT", "BY"):
            options["INCREMENT"] = f"INCREMENT BY {signed(reader)}"
        elif reader.word("MINVALUE"):
            options["MIN"] = f"MINVALUE {signed(reader)}"
        elif reader.word("MAXVALUE"):
            options["MAX"] = f"MAXVALUE {signed(reader)}"
        elif reader.word("NO"):
            word = reader.current_upper
            if word not in ("MINVALUE", "MAXVALUE", "CYCLE", "CACHE"):
                reader.fail()
            reader.advance()
            if verb == "ALTER" and word in ("CYCLE", "MAXVALUE"):
                options[word[:3] if word == "MAXVALUE" else word] = f"NO {word}"
        elif reader.word("CYCLE"):
            options["CYCLE"] = "CYCLE"
        elif reader.word("CACHE"):
            # PostgreSQL would give each session numbers of its own, out of order with the others'.
            if reader.current_text.isdecimal():
                reader.advance()
        else:
            reader.fail()
    if verb == "CREATE":
        postgres, low, high = _SEQUENCE_LIMITS[type_name]
        ascending = not options.get("INCREMENT", "INCREMENT BY 1").split()[-1].startswith("-")
        options.setdefault("MIN", f"MINVALUE {low}")
        options.setdefault("MAX", f"MAXVALUE {high}")
        options.setdefault("START", f"START WITH {options['MIN' if ascending else 'MAX'].split()[-1]}")
        created = f"CREATE SEQUENCE {name} AS {postgres} {' '.join(options.values())}"
        return Ddl((created, *keeping_of_spelling(target, name)))
    return Ddl((f"ALTER SEQUENCE {name} {' '.join(options.values())}",) if options else ())
