"""CREATE TABLE, ALTER TABLE, CREATE INDEX and their relatives.

Column definitions and constraints are read here, word by word; expressions in DEFAULT,
CHECK and computed columns go through the same translation as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from ....grammar.records import replace
from ....grammar.tokens import Token
from ...catalog.names import (
    ObjectName,
    fold,
    identifier,
    is_placeholder,
    other_than_folded,
    quote,
    refusal_of_schema,
    spelling_arguments,
)
from ...catalog.objects import ColumnInfo, ForeignKey, KeyInfo, TableInfo, keeping_of_types
from ...catalog.types import SqlType
from ...target import nodes as n
from ...target import statements as s
from ..assignments import store
from ..context import Context, Relation, object_name
from ..expressions.calls import default_value
from ..expressions.names import condition, scalar
from ..interface import Ddl
from ..parse.reader import Reader
from ..parse.tokens import T, to_sqlglot
from .definitions import (
    TABLE_OPTIONS,
    Column,
    Constraint,
    Definition,
    Index,
    all_constraints,
    index_options,
    read_definition,
    read_index,
    refuse_own_columns,
    signed,
)
from .system_versioning import add_period, history_table, read_versioning, require_generated, start_versioning
from .table_checks import (
    check_column,
    check_foreign_key,
    check_table,
    refuse_repeated_columns,
    refuse_xml_keys,
)

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
    refuse_own_columns(definition, ctx)
    if reader.word("AS"):
        # AS FILETABLE, AS NODE, AS EDGE
        ctx.unsupported(f"CREATE TABLE … AS {reader.current_upper}")
        return None
    if reader.text_at(1) == "(" and reader.text_at(2) == "LEDGER" and reader.text_at(4) == "ON":
        ctx.unsupported("a ledger table")
        return None
    versioning = read_versioning(reader)
    index_options(reader, TABLE_OPTIONS)
    if not reader.at_end:
        reader.fail()
    if name.is_of_system:
        return Ddl((s.Effect(refusal_of_schema(name)),))
    sql = ctx.defined_name(name)
    require_generated(definition, ctx)
    info = table_info(definition, name, ctx)
    skipped = take_foreign_keys(definition, name, sql, ctx)
    ctx.push(defining=True)
    ctx.frame.relations.append(Relation(fold(name.name), info.columns))
    parts: list[s.Column | s.Constraint] = [column_of(column, info, ctx) for column in definition.columns]
    parts += [constraint_of(constraint, ctx) for constraint in definition.constraints]
    statements: list[n.Node] = [*skipped, *holding_of_global(name, sql), s.CreateTable(sql, tuple(parts))]
    statements += [index_of(index, name, ctx) for index in definition.indexes]
    columns = [column.name.name for column in definition.columns]
    statements += keeping_of_spelling(name, sql, columns, names_of_parts(definition))
    statements += keeping_of_column_types(name, sql, info.columns, ctx)
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


def holding_of_global(name: ObjectName, sql: str) -> list[n.Node]:
    """Return what comes before a ``##t`` is made: one of a session that has ended goes."""
    if not name.name.startswith("##"):
        return []
    return [s.Effect(n.Call("ssb_internal.hold_global_table", (n.Text(sql),)))]


def take_foreign_keys(definition: Definition, name: ObjectName, sql: str, ctx: Context) -> list[n.Node]:
    """Note the foreign keys of a table for what an error tells of them; #t has none, and prints so."""
    if not name.name.startswith("#"):
        for constraint in all_constraints(definition):
            if constraint.references is not None:
                _note_foreign_key(constraint, constraint.references, name, sql, ctx)
        return []
    names = [each.name or name.name for each in all_constraints(definition) if each.references is not None]
    definition.constraints = [each for each in definition.constraints if each.references is None]
    for column in definition.columns:
        column.constraints = [each for each in column.constraints if each.references is None]
    return [s.Effect(n.Call("ssb_internal.print", (n.Text(_SKIPPED.format(skipped)),))) for skipped in names]


# Message 1756.
_SKIPPED = (
    "Skipping FOREIGN KEY constraint '{}' definition for temporary table. "
    "FOREIGN KEY constraints are not enforced on local or global temporary tables."
)


def _note_foreign_key(
    constraint: Constraint, references: exp.Table, name: ObjectName, sql: str, ctx: Context
) -> None:
    other = object_name(references)
    check_foreign_key(constraint, name.name, ctx)
    key = ForeignKey(
        constraint.name,
        name.name,
        sql,
        tuple(column for column, _ in constraint.columns),
        other.text,
        ctx.defined_name(other),
        tuple(constraint.foreign_columns),
    )
    # Names that only the run time knows are no JSON where it puts them in.
    if not is_placeholder(str(key.parts)):
        ctx.scope.note_foreign_key(key)


def keeping_of_spelling(
    name: ObjectName, sql: str, columns: Iterable[str] = (), parts: Iterable[str] = (), *, new: bool = True
) -> list[n.Node]:
    """What keeps the spelling of a table, where it is new, of its columns and parts for later scripts."""
    arguments = spelling_arguments(name, sql, columns, parts, new=new)
    return [s.Effect(n.Call("ssb_internal.keep_spelling", tuple(arguments)))] if arguments else []


def keeping_of_column_types(
    name: ObjectName, sql: str, columns: Iterable[ColumnInfo], ctx: Context, *, new: bool = True
) -> list[n.Node]:
    """What keeps the types that PostgreSQL's do not tell, varchar where its bytes are others."""
    if name.is_temporary:
        return []
    columns = list(columns)
    call = keeping_of_types(sql, columns, new=new)
    kept = [call] if call is not None else []
    kinds = [
        (fold(c.name), not c.type.is_unicode) for c in columns if c.type is not None and c.type.is_string
    ]
    kinds = [(column, single) for column, single in kinds if single or not new]
    if kinds and ctx.scope.tells_varchar:
        arguments = (
            n.Text(sql),
            n.Array(tuple(n.Text(column) for column, _ in kinds)),
            n.Array(tuple(n.truth(single) for _, single in kinds)),
        )
        kept.append(n.Call("ssb_internal.keep_varchar", arguments))
    return [s.Effect(call) for call in kept]


def names_of_parts(definition: Definition) -> list[str]:
    """The names of constraints and indexes that the server is told.

    Those that are spelled otherwise than PostgreSQL knows them, and those of CHECKs and foreign keys in any
    case: each table may have such a name in PostgreSQL, so ssb_internal.keep_spelling looks who else has it.
    """
    constraints = [(each.name, each.kind) for each in all_constraints(definition) if each.name is not None]
    given = [*constraints, *((index.name, "INDEX") for index in definition.indexes)]
    return [
        each
        for each, kind in given
        if fold(each) != each or (kind in ("CHECK", "FOREIGN KEY") and not is_placeholder(each))
    ]


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


def refusing_defaults(name: ObjectName, sql: str, columns: Iterable[str]) -> list[n.Node]:
    """What sees that columns may be given a DEFAULT; not those of #t."""
    if name.name.startswith("#"):
        return []
    called = ((n.Text(sql), n.Text(identifier(column))) for column in columns)
    return [s.Effect(n.Call("ssb_internal.refuse_default", arguments)) for arguments in called]


# ---------------------------------------------------------------- what is known from now on


def table_info(
    definition: Definition,
    name: ObjectName | None,
    ctx: Context,
    statement: str = "CREATE TABLE",
    *,
    called: str = "",
) -> TableInfo:
    """The columns and keys of a table as the rest of the script sees them.

    ``called``: the table variable, or the table type, which has no name that FROM could find.
    """
    table = name.name if name is not None else called
    keys: list[KeyInfo] = []
    primary: set[str] = set()
    for constraint in all_constraints(definition):
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
    for place, column in enumerate(definition.columns, 1):
        folded = fold(column.name.name)
        if folded in seen:
            where = f" in table '{table}'" if table else ""
            ctx.problem(
                f"Column names in each table must be unique. Column name '{column.name.name}'{where} is "
                "specified more than once.",
                column.name,
                number=2705,
            )
        seen.add(folded)
        type_ = ctx.type_of(column.type, cast=False, place=place) if column.type is not None else None
        nullable = column.nullable
        if nullable is None:
            nullable = column.type is None or ctx.nullable_type(column.type)
        check_column(column, folded in primary, table, ctx)
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
    check_table(definition, info, table, ctx)
    for key in keys:
        refuse_repeated_columns(key.columns, ctx)
        for column_name in key.columns:
            if fold(column_name) not in seen:
                ctx.problem(
                    f"Column name '{column_name}' does not exist in the target table or view.", number=1911
                )
        refuse_xml_keys(key.columns, info, ctx)
    return _with_expressions(definition, info, name, ctx, statement)


def _with_expressions(
    definition: Definition, info: TableInfo, name: ObjectName | None, ctx: Context, statement: str
) -> TableInfo:
    """Types of computed columns, texts of defaults and checks."""
    ctx.push(defining=True)
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
            computed = value.code
            refuse_variables(name, computed, column.computed, ctx, statement)
            type_ = value.type
            if type_ is None and not value.is_null:
                ctx.problem(
                    f"the type of the computed column '{column.name.name}' is not known",
                    column.name,
                    hint="put CAST(… AS type) around it",
                )
        if column.default is not None:
            value = store(default_value(_unwrapped(column.default), ctx), type_)
            default = value.code
            refuse_variables(name, default, column.default, ctx, statement)
        columns.append(replace(known, type=type_, default=default, computed=computed))
    checks: list[n.Node] = []
    for constraint in all_constraints(definition):
        if constraint.check is not None:
            checks.append(condition(constraint.check, ctx).code)
            refuse_variables(name, checks[-1], constraint.check, ctx, statement)
    ctx.pop()
    names = tuple((fold(given), column) for given, column in default_names(definition))
    return TableInfo(
        name,
        tuple(columns),
        info.keys,
        tuple(checks),
        default_names=names,
        versioned=definition.period is not None,
    )


def refuse_variables(
    name: ObjectName | None, code: n.Node, node: exp.Expr, ctx: Context, statement: str
) -> None:
    """Error 112 where a definition that outlives the batch reads what belongs to it; a table variable may."""
    if name is not None and any(
        isinstance(one, n.Variable) and not is_placeholder(one.spelling) for one in n.walk(code)
    ):
        ctx.problem(
            f"Variables are not allowed in the {statement} statement.",
            node,
            number=112,
            hint="@@TRANCOUNT, ERROR_NUMBER() and their like belong to the batch that runs: put them in when "
            "inserting",
        )


def _unwrapped(node: exp.Expr) -> exp.Expr:
    """SQL Server's scripts wrap defaults: ((0)), (getdate())."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def table_definition(tokens: tuple[Token, ...], called: str, ctx: Context) -> TableInfo:
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
    for constraint in all_constraints(definition):
        if constraint.kind == "FOREIGN KEY":
            word = "FOREIGN" if constraint in definition.constraints else "REFERENCES"
            ctx.problem(
                f"Incorrect syntax near the keyword '{word}'.",
                number=156,
                hint="a table variable has no foreign keys",
            )
    info = table_info(definition, None, ctx, called=called)
    ctx.push(defining=True)
    ctx.frame.relations.append(Relation("n", info.columns, qualify=True))
    checks = tuple(
        condition(constraint.check, ctx).code
        for constraint in all_constraints(definition)
        if constraint.check is not None
    )
    columns = []
    for column, known in zip(definition.columns, info.columns, strict=True):
        computed = known.computed
        if column.computed is not None:
            computed = scalar(_unwrapped(column.computed), ctx).code
        columns.append(
            ColumnInfo(known.name, known.type, known.nullable, known.identity, known.default, computed)
        )
    if definition.period is not None or any(column.generated for column in definition.columns):
        ctx.problem("Creating table variables containing PERIOD is not allowed.", number=13572)
    ctx.pop()
    return TableInfo(None, tuple(columns), info.keys, checks)


# ---------------------------------------------------------------- columns and constraints


_VIEW = "put it into a view"


def _refuse_volatile(column: Column, function: str, info: TableInfo, node: exp.Expr, ctx: Context) -> None:
    """Refuse a function whose value changes: SQL Server does where the column is PERSISTED."""
    name, table = column.name.name, info.name.name if info.name is not None else ""
    if column.persisted:
        message = (
            f"Computed column '{name}' in table '{table}' cannot be persisted because the column is "
            "non-deterministic."
        )
        ctx.problem(message, node, number=4936, hint=f"{function} changes from call to call: {_VIEW}")
    else:
        message = f"PostgreSQL stores the computed column '{name}', and {function} changes from call to call"
        ctx.problem(message, node, hint=_VIEW)


def column_of(column: Column, info: TableInfo, ctx: Context) -> s.Column:
    """A column definition."""
    known = next(item for item in info.columns if fold(item.name) == fold(column.name.name))
    type_text = known.type.postgres if known.type is not None else "text"
    if known.computed is not None:
        node = column.computed
        if node is not None:
            for call in node.find_all(exp.Anonymous):
                if call.name.upper() in VOLATILE:
                    _refuse_volatile(column, call.name.upper(), info, call, ctx)
            for dotted in node.find_all(exp.Dot):
                function = dotted.expression
                if isinstance(function, exp.Anonymous):
                    stored = f"PostgreSQL stores the computed column '{column.name.name}'"
                    ctx.problem(f"{stored}, and the function {function.name} may change", dotted, hint=_VIEW)
    else:
        domain = ctx.domain_of(column.type) if column.type is not None and known.identity is None else None
        type_text = domain or _column_type(known.type, known.identity)
    return s.Column(
        fold(column.name.name),
        type_text,
        known.computed,
        known.identity if known.computed is None else None,
        known.nullable or any(c.kind == "PRIMARY KEY" for c in column.constraints),
        None if isinstance(known.default, n.Null) else known.default,
        tuple(replace(constraint_of(constraint, ctx), columns=()) for constraint in column.constraints),
    )


def _column_type(type_: SqlType | None, identity: tuple[int, int] | None) -> str:
    if type_ is None:
        return "text"
    if identity is not None and type_.family == "decimal":
        return "bigint"
    return type_.postgres


def _nulls(ctx: Context) -> str:
    """A key with NULL is a duplicate of another with NULL, where PostgreSQL can say so."""
    return " NULLS NOT DISTINCT" if ctx.scope.nulls_are_equal else ""


def constraint_of(constraint: Constraint, ctx: Context) -> s.Constraint:
    """A table constraint."""
    references = None
    if constraint.references is not None:
        references = s.References(
            ctx.defined_name(object_name(constraint.references)),
            tuple(map(fold, constraint.foreign_columns)),
            tuple(constraint.actions),
        )
    return s.Constraint(
        f"UNIQUE{_nulls(ctx)}" if constraint.kind == "UNIQUE" else constraint.kind,
        fold(constraint.name) if constraint.name else None,
        tuple(fold(column) for column, _ in constraint.columns),
        condition(constraint.check, ctx).code if constraint.kind == "CHECK" else None,
        references,
    )


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
        reader.rest()
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
    if info is not None and info.read_only and not info.is_queue:
        ctx.problems.add(
            "an index of a view has no effect: the view is computed when it is read",
            at=ctx.whole,
            severity="warning",
        )
        return Ddl(())
    ctx.push(defining=True)
    ctx.frame.relations.append(Relation(fold(table.name), info.columns if info is not None else None))
    if info is not None:
        refuse_xml_keys([column for column, _ in index.columns], info, ctx)
    statements: list[n.Node] = [index_of(index, table, ctx)]
    if index.replaces:
        statements.insert(0, drop_of_index(index.name, table, guarded=True, ctx=ctx))
    ctx.pop()
    defines: tuple[TableInfo, ...] = ()
    if index.ignore_dup_key:
        columns = tuple(column for column, _ in index.columns)
        statements += ignoring_triggers(ctx.defined_name(table), [KeyInfo(columns, True)])
    spelled = other_than_folded([index.name])
    statements += keeping_of_spelling(table, ctx.defined_name(table), parts=spelled, new=False)
    if info is not None and unique and index.where is None and not info.read_only:
        key = KeyInfo(tuple(column for column, _ in index.columns), index.ignore_dup_key)
        defines = (replace(info, keys=(*info.keys, key)),)
    return Ddl(tuple(statements), defines=defines)


def index_name(index: str, table: ObjectName) -> str:
    """An index's name in PostgreSQL, where it must be unique in its schema, not in its table only."""
    folded, table_name = fold(index), fold(table.name)
    return folded if table_name in folded else fold(f"{table_name}__{folded}")


def index_of(index: Index, table: ObjectName, ctx: Context) -> n.Node:
    """CREATE INDEX."""
    refuse_repeated_columns([*(column for column, _ in index.columns), *index.include], ctx)
    return s.CreateIndex(
        index_name(index.name, table),
        ctx.defined_name(table),
        tuple(n.OrderItem(n.Name((fold(column),)), descending) for column, descending in index.columns),
        index.unique,
        tuple(map(fold, index.include)),
        condition(index.where, ctx).code if index.where is not None else None,
        nulls_are_equal=index.unique and ctx.scope.nulls_are_equal,
    )


def drop_of_index(name: str, table: ObjectName, *, guarded: bool, ctx: Context) -> n.Node:
    """DROP INDEX of an index of a table."""
    schema = table.parts(ctx.scope.database, ctx.scope.default_database)[0]
    return s.Drop("INDEX", n.Name((schema, index_name(name, table))), guarded)


def ignoring_triggers(table: str, keys: Iterable[KeyInfo]) -> list[n.Node]:
    """IGNORE_DUP_KEY = ON: a trigger leaves duplicates out, whoever inserts them."""
    statements: list[n.Node] = []
    for key in keys:
        if key.ignore_dup_key:
            name = fold("_".join(["ignore_dup_key", *key.columns]))
            call = n.Call("sys.leave_out_duplicate", tuple(n.Text(fold(column)) for column in key.columns))
            statements.append(s.CreateRowTrigger(name, "INSERT", table, call))
            begin = n.Call("sys.begin_leaving_out")
            statements.append(s.CreateStatementTrigger(f"{name}__begin", "INSERT", table, begin, before=True))
    return statements


def _rowversion_triggers(table: str, info: TableInfo) -> list[n.Node]:
    """A rowversion column gets a new number with every change of its row."""
    return [
        s.CreateRowTrigger(
            "rowversion",
            "INSERT OR UPDATE",
            table,
            n.Call("sys.set_rowversion", (n.Text(fold(column.name)),)),
        )
        for column in info.columns
        if column.type is not None and column.type.name == "rowversion"
    ]


def drop_index(reader: Reader, ctx: Context) -> Ddl:
    """``DROP INDEX [IF EXISTS] i ON t, …`` and the old ``t.i``."""
    guarded = reader.word("IF", "EXISTS")
    statements: list[n.Node] = []
    while True:
        first = reader.target()
        if reader.take(T.ON):
            table = object_name(reader.target(hinted=False))
            name = first.name
        else:
            old = object_name(first)
            table = ObjectName(old.schema or "", old.database, old.server)
            name = old.name
        info = ctx.scope.table(table)
        if info is None or not info.read_only:
            statements.append(drop_of_index(name, table, guarded=guarded, ctx=ctx))
        index_options(reader, statement="DROP INDEX")
        if not reader.take(T.COMMA):
            break
    if not reader.at_end:
        reader.fail()
    return Ddl(tuple(statements))


# ---------------------------------------------------------------- the rest


def drop(reader: Reader, ctx: Context, kind: str) -> Ddl:
    """DROP TABLE or VIEW (``kind``), behind these words."""
    guarded = reader.word("IF", "EXISTS")
    names: list[ObjectName] = []
    while True:
        names.append(object_name(reader.target()))
        if not reader.take(T.COMMA):
            break
    if not reader.at_end:
        reader.fail()
    statements = (s.Drop(kind, n.Variable(ctx.defined_name(name)), guarded) for name in names)
    return Ddl(tuple(statements), drops=tuple(names))


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
    if name.is_of_system:
        return Ddl((s.Effect(refusal_of_schema(name)),))
    # NOT NULL is for columns that say nothing themselves, not for variables: the domain only tells it.
    domain = s.CreateDomain(ctx.defined_name(name), base.postgres, NOT_NULL_TYPE if not_null else None)
    kept = keeping_of_spelling(name, ctx.defined_name(name))
    if base.kept is not None:
        arguments = (n.Text(ctx.defined_name(name)), n.Text(base.kept))
        kept.append(s.Effect(n.Call("ssb_internal.keep_base_type", arguments)))
    return Ddl((domain, *kept), types=((name, base, not_null),))


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
    options: dict[str, tuple[str, int | None]] = {}
    while not reader.at_end:
        if reader.take(T.ALIAS):
            type_ = ctx.type_of(reader.type_name(), cast=False)
            type_name = type_.name if type_ is not None and type_.name in _SEQUENCE_LIMITS else "bigint"
        elif reader.word("START", "WITH"):
            options["START"] = "START WITH", signed(reader)
        elif reader.word("RESTART"):
            again = reader.word("WITH")
            options["RESTART"] = ("RESTART WITH", signed(reader)) if again else ("RESTART", None)
        elif reader.word("INCREMENT", "BY"):
            options["INCREMENT"] = "INCREMENT BY", signed(reader)
        elif reader.word("MINVALUE"):
            options["MIN"] = "MINVALUE", signed(reader)
        elif reader.word("MAXVALUE"):
            options["MAX"] = "MAXVALUE", signed(reader)
        elif reader.word("NO"):
            word = reader.current_upper
            if word not in ("MINVALUE", "MAXVALUE", "CYCLE", "CACHE"):
                reader.fail()
            reader.advance()
            if verb == "ALTER" and word in ("CYCLE", "MAXVALUE"):
                options[word[:3] if word == "MAXVALUE" else word] = f"NO {word}", None
        elif reader.word("CYCLE"):
            options["CYCLE"] = "CYCLE", None
        elif reader.word("CACHE"):
            # PostgreSQL would give each session numbers of its own, out of order with the others'.
            if reader.current_text.isdecimal():
                reader.advance()
        else:
            reader.fail()
    if target.is_of_system:
        return Ddl((s.Effect(refusal_of_schema(target)),))
    if verb == "CREATE":
        postgres, low, high = _SEQUENCE_LIMITS[type_name]
        ascending = (options.get("INCREMENT", ("", 1))[1] or 0) >= 0
        options.setdefault("MIN", ("MINVALUE", low))
        options.setdefault("MAX", ("MAXVALUE", high))
        options.setdefault("START", ("START WITH", options["MIN" if ascending else "MAX"][1]))
        created = s.Sequence(name, postgres, tuple(options.values()))
        return Ddl((created, *keeping_of_spelling(target, name)))
    return Ddl((s.Sequence(name, None, tuple(options.values())),) if options else ())
