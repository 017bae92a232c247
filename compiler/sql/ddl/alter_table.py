"""ALTER TABLE."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from ....grammar.records import replace
from ...catalog.names import ObjectName, fold, identifier, is_placeholder
from ...catalog.objects import ColumnInfo, KeyInfo, TableInfo
from ...catalog.types import SqlType
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ..assignments import store
from ..context import Context, Relation, object_name
from ..conversions import convert
from ..expressions.calls import default_value
from ..interface import Ddl
from ..parse.reader import Reader
from ..parse.tokens import T
from ..values import Value
from .definitions import (
    Column,
    Definition,
    add_index,
    at_period,
    read_collation,
    read_column,
    read_constraint,
    read_index,
    read_period,
    refuse_own_columns,
    warn_of_mask,
)
from .system_versioning import (
    add_period,
    history_table,
    read_versioning,
    require_generated,
    start_versioning,
    without_period,
)
from .tables import (
    column_of,
    constraint_of,
    default_names,
    drop_of_index,
    ignoring_triggers,
    index_of,
    keeping_of_column_types,
    keeping_of_spelling,
    names_of_parts,
    naming_of_defaults,
    refuse_variables,
    refusing_defaults,
    table_info,
    take_foreign_keys,
)

_BEHIND_INDEX = frozenset(("(", "UNIQUE", "CLUSTERED", "NONCLUSTERED", "HASH", "COLUMNSTORE"))


def alter_table(reader: Reader, ctx: Context) -> Ddl | None:
    """Translate ALTER TABLE; the words themselves are consumed."""
    name = object_name(reader.target())
    sql = ctx.defined_name(name)
    valid: bool | None = None
    if reader.take(T.WITH):
        if reader.word("NOCHECK"):
            valid = False
        elif reader.word("CHECK"):
            valid = True
        else:
            reader.fail()
    known = ctx.scope.table(name)
    ctx.push(defining=True)
    ctx.frame.relations.append(Relation(fold(name.name), known.columns if known is not None else None))
    try:
        return _action(reader, name, sql, known, valid, ctx)
    finally:
        ctx.pop()


def _action(
    reader: Reader, name: ObjectName, sql: str, known: TableInfo | None, valid: bool | None, ctx: Context
) -> Ddl | None:
    if reader.word("DROP", "PERIOD", "FOR", "SYSTEM_TIME"):
        return Ddl(
            (s.Effect(n.Call("ssb_internal.drop_period", (n.Text(sql),))),),
            defines=(without_period(known),) if known is not None else (),
        )
    if reader.word("ADD"):
        return _add(reader, name, sql, known, valid is not False, ctx)
    if reader.word("ALTER", "COLUMN"):
        return _alter_column(reader, name, sql, known, ctx)
    if reader.word("DROP"):
        return _drop(reader, name, sql, known, ctx)
    for word in ("CHECK", "NOCHECK"):
        if reader.word(word, "CONSTRAINT"):
            return _switch_constraints(reader, sql, word == "CHECK", valid is True)
    if reader.current_upper in ("ENABLE", "DISABLE"):
        verb = reader.current_upper
        reader.advance()
        if not reader.word("TRIGGER"):
            ctx.unsupported(f"ALTER TABLE … {verb} {reader.current_upper}")
            return None
        listed = n.Array(tuple(n.Text(fold(each)) for each in _names(reader) or ()))
        named = (n.Text(sql), n.Cast(listed, "text[]"))
        enable = s.Effect(n.Call("ssb_internal.enable_trigger", (*named, n.truth(verb == "ENABLE"))))
        asked = (s.Effect(n.Call("ssb_internal.refuse_missing_triggers", named)),) if listed.items else ()
        return Ddl((*asked, enable))
    if reader.word("SET") or reader.word("REBUILD"):
        versioning = read_versioning(reader)
        reader.rest()
        if versioning is None:
            return Ddl(())
        if not versioning.on:
            return Ddl((s.Effect(n.Call("ssb_internal.stop_versioning", (n.Text(sql),))),))
        return Ddl(
            (start_versioning(sql, versioning, ctx),),
            defines=tuple(history_table(known, versioning)) if known is not None else (),
        )
    if reader.word("ALTER", "INDEX"):
        reader.rest()  # REBUILD of an index of a memory-optimized table
        return Ddl(())
    ctx.unsupported(f"ALTER TABLE … {reader.current_upper}")
    return None


def _switch_constraints(reader: Reader, sql: str, on: bool, validate: bool) -> Ddl:
    """``[NO]CHECK CONSTRAINT {ALL | names}``; WITH CHECK looks at the rows that are there."""
    names = _names(reader)
    listed = n.NULL if names is None else n.Array(tuple(n.Text(fold(name)) for name in names))
    arguments = (n.Text(sql), listed, n.truth(on), n.truth(validate))
    return Ddl((s.Effect(n.Call("ssb_internal.switch_constraints", arguments)),))


def _names(reader: Reader) -> list[str] | None:
    """``ALL`` (None) or names."""
    if reader.word("ALL"):
        return None
    names = [reader.name().name]
    while reader.take(T.COMMA):
        names.append(reader.name().name)
    if not reader.at_end:
        reader.fail()
    return names


# ---------------------------------------------------------------- ADD


def _add(
    reader: Reader, name: ObjectName, sql: str, known: TableInfo | None, valid: bool, ctx: Context
) -> Ddl | None:
    definition, defaults = _read_added(reader, ctx)
    refuse_own_columns(definition, ctx)
    old = _columns_before(known, definition)
    if definition.columns and definition.period is None:
        require_generated(definition, ctx)
    info = table_info(_together(definition), name, ctx, "ALTER TABLE")
    skipped = take_foreign_keys(definition, name, sql, ctx)
    relation = ctx.frame.relations[0]
    relation.columns = (*old, *info.columns) if known is not None else None
    versions = [
        (n.Text(sql), n.Text(fold(column.name)), n.TRUE if column.nullable else n.FALSE)
        for column in info.columns
        if column.type is not None and column.type.name == "rowversion"
    ]
    actions: list[n.Node] = []
    for column in definition.columns:
        new = column_of(column, info, ctx)
        # The rows that are there get their numbers behind it.
        is_version = any(called == n.Text(new.name) for _, called, _ in versions)
        actions += _added(replace(new, nullable=True) if is_version else new, column, definition)
    for constraint in definition.constraints:
        part = constraint_of(constraint, ctx)
        actions.append(s.Add(replace(part, valid=valid or part.kind not in ("CHECK", "FOREIGN KEY"))))
    given: list[tuple[str, str]] = []
    for given_name, expression, column_name in defaults:
        type_ = _type_of(known, column_name)
        value = store(default_value(_bare(expression), ctx), type_)
        refuse_variables(name, value.code, expression, ctx, "ALTER TABLE")
        actions.append(s.AlterColumn(fold(column_name), s.SetDefault(value.code)))
        if given_name is not None:
            given.append((given_name, column_name))
    given += default_names(definition)
    defines: tuple[TableInfo, ...] = ()
    if known is not None:
        defines = (
            replace(
                known,
                columns=(*old, *info.columns),
                keys=(*known.keys, *info.keys),
                default_names=(*known.default_names, *((fold(new), column) for new, column in given)),
                versioned=known.versioned or definition.period is not None,
            ),
        )
    ignoring = [
        KeyInfo(tuple(column for column, _ in constraint.columns), True)
        for constraint in definition.constraints
        if constraint.ignore_dup_key
    ]
    added = [column.name.name for column in definition.columns]
    following: tuple[n.Node, ...] = (
        *keeping_of_spelling(name, sql, added, names_of_parts(definition), new=False),
        *keeping_of_column_types(name, sql, info.columns, ctx),
        *ignoring_triggers(sql, ignoring),
        *naming_of_defaults(name, sql, given),
        *(s.Effect(n.Call("ssb_internal.add_rowversion", call)) for call in versions),
    )
    indexes = [index_of(index, name, ctx) for index in definition.indexes]
    first: list[n.Node] = refusing_defaults(name, sql, [column for _, _, column in defaults])
    first += [s.AlterTable(sql, tuple(actions))] if actions else []
    if definition.columns and _may_have_history(name, known):
        following = (*following, s.Effect(n.Call("ssb_internal.follow_table", (n.Text(sql),))))
    if definition.columns:
        following = (*following, *_note_updates(name, sql))
    return Ddl((*skipped, *first, *indexes, *following, *add_period(definition, sql)), defines=defines)


def _added(new: s.Column, column: Column, definition: Definition) -> list[n.Node]:
    """ADD of a column. Where it may be NULL, rows that are there have the default only of WITH VALUES."""
    keys = [
        fold(name)
        for part in definition.constraints
        if part.kind == "PRIMARY KEY"
        for name, _ in part.columns
    ]
    is_key = new.name in keys or any(part.kind == "PRIMARY KEY" for part in column.constraints)
    if new.default is None or not new.nullable or is_key or column.with_values:
        return [s.Add(new)]
    return [s.Add(replace(new, default=None)), s.AlterColumn(new.name, s.SetDefault(new.default))]


_Default = tuple[str | None, exp.Expr, str]
"""``ADD [CONSTRAINT name] DEFAULT value FOR column``."""


def _read_added(reader: Reader, ctx: Context) -> tuple[Definition, list[_Default]]:
    """Return the columns, constraints and indexes of ADD, and the defaults of columns that are there."""
    reader.word("COLUMN")
    definition = Definition()
    defaults: list[_Default] = []
    while True:
        if reader.current_upper == "CONSTRAINT" and reader.text_at(2) == "DEFAULT":
            reader.advance()
            default_name = reader.name().name
            reader.advance()
            defaults.append((default_name, *_default_for(reader)))
        elif reader.word("DEFAULT"):
            defaults.append((None, *_default_for(reader)))
        elif reader.current_upper in ("CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            definition.constraints.append(read_constraint(reader))
        elif reader.current_upper == "INDEX" and reader.text_at(2) in _BEHIND_INDEX:
            reader.advance()
            add_index(definition, read_index(reader, False, ctx))
        elif at_period(reader):
            read_period(reader, definition)
        else:
            definition.columns.append(read_column(reader, definition, ctx))
        if not reader.take(T.COMMA):
            break
    if not reader.at_end:
        reader.fail()
    return definition, defaults


def _together(definition: Definition) -> Definition:
    """The added columns with their own constraints: table constraints may name old columns."""
    return Definition(definition.columns, [], [])


def _default_for(reader: Reader) -> tuple[exp.Expr, str]:
    """``expression FOR column [WITH VALUES]``."""
    expression = reader.operand() or reader.fail()
    if not reader.take(T.FOR):
        reader.fail()
    column = reader.name().name
    reader.word("WITH", "VALUES")
    return expression, column


def _columns_before(known: TableInfo | None, definition: Definition) -> tuple[ColumnInfo, ...]:
    """Return the columns that the table has: those that ADD PERIOD names are generated from now on."""
    old = known.columns if known is not None else ()
    names = {fold(column) for column in definition.period or ()}
    return tuple(replace(column, generated=True) if fold(column.name) in names else column for column in old)


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _type_of(known: TableInfo | None, column: str) -> SqlType | None:
    found = _find(known, column)
    return found.type if found is not None else None


def _find(known: TableInfo | None, column: str) -> ColumnInfo | None:
    return next(
        (c for c in (known.columns if known is not None else ()) if fold(c.name) == fold(column)), None
    )


# ---------------------------------------------------------------- ALTER COLUMN, DROP


def _alter_column(
    reader: Reader, name: ObjectName, sql: str, known: TableInfo | None, ctx: Context
) -> Ddl | None:
    column_node = reader.name()
    column = fold(column_node.name)
    if reader.current_upper in ("ADD", "DROP", "MASKED"):
        return _alter_property(reader, column_node, sql, known, ctx)
    type_ = ctx.type_of(reader.type_name(), cast=False)
    nullable = _read_nullable(reader, ctx)
    if type_ is None:
        return None
    if type_.name in ("timestamp", "rowversion"):
        ctx.problem(
            f"Cannot alter column '{column_node.name}' to be data type timestamp.",
            column_node,
            number=4927,
        )
        return None
    found = _find(known, column_node.name)
    value = Value(n.Name((fold(column_node.name),)), found.type if found is not None else None)
    plain = n.Cast(value.code, type_.postgres)
    same = value.type is not None and value.type.family == type_.family
    converted = plain if same else convert(value, type_).code
    using = None if converted == plain else converted
    actions = [s.AlterColumn(column, s.SetType(type_.postgres, using))]
    never_null = any(
        key.primary and fold(column_node.name) in map(fold, key.columns)
        for key in (known.keys if known else ())
    )
    never_null = never_null or (found is not None and found.identity is not None)
    if nullable is False:
        actions.append(s.AlterColumn(column, s.SET_NOT_NULL))
    elif (nullable is True or (found is not None and not found.nullable)) and not never_null:
        actions.append(s.AlterColumn(column, s.DROP_NOT_NULL))
    defines: tuple[TableInfo, ...] = ()
    if known is not None:
        defines = _with_column(
            known, column_node.name, type=type_, nullable=nullable is not False and not never_null
        )
    if found is not None and found.generated:
        ctx.problem(
            f"Period column '{found.name}' in a system-versioned temporal table cannot be altered.",
            column_node,
            number=13599,
        )
    following: tuple[n.Node, ...] = (
        *keeping_of_column_types(name, sql, [ColumnInfo(column_node.name, type_)], ctx, new=False),
        *(
            [s.Effect(n.Call("ssb_internal.follow_table", (n.Text(sql),)))]
            if _may_have_history(name, known)
            else []
        ),
        *_note_updates(name, sql),
        *_bind_views(name),
    )
    altered = n.Cast(n.Array((n.Text(fold(column_node.name)),)), "text[]")
    free = n.Call(
        "ssb_internal.refuse_dependants",
        (n.Text(sql), altered, n.NamedArgument("p_type", n.Text(type_.postgres))),
    )
    return Ddl((s.Effect(free), s.AlterTable(sql, tuple(actions)), *following), defines=defines)


def _alter_property(
    reader: Reader, column: exp.Identifier, sql: str, known: TableInfo | None, ctx: Context
) -> Ddl:
    """``ALTER COLUMN c {ADD | DROP} {HIDDEN | ROWGUIDCOL | …}``."""
    if reader.current_upper == "ADD" and reader.text_at(1) == "MASKED":
        warn_of_mask(reader, column, ctx)
    if reader.text_at(1) != "HIDDEN":
        # ROWGUIDCOL, PERSISTED, SPARSE, NOT FOR REPLICATION: nothing to do here.
        reader.rest()
        return Ddl(())
    hidden = reader.current_upper == "ADD"
    reader.rest()
    hiding = n.Call("ssb_internal.hide_column", (n.Text(sql), n.Text(fold(column.name)), n.truth(hidden)))
    return Ddl(
        (q.Select((hiding,), breaks=q.Breaks.NEVER),), defines=_with_column(known, column.name, hidden=hidden)
    )


def _read_nullable(reader: Reader, ctx: Context) -> bool | None:
    """Read what stands behind the type of ALTER COLUMN; None: neither NULL nor NOT NULL."""
    nullable: bool | None = None
    while not reader.at_end:
        if reader.take(T.NOT):
            if not reader.take(T.NULL):
                reader.fail()
            nullable = False
        elif reader.take(T.NULL):
            nullable = True
        elif reader.take(T.COLLATE):
            read_collation(reader, ctx)
        elif reader.current_upper == "SPARSE":
            reader.advance()
        elif reader.take(T.WITH):
            reader.rest()
        else:
            reader.fail()
    return nullable


def _bind_views(name: ObjectName) -> list[n.Node]:
    """Views that use a column which was altered, and let go of it (ssb_internal.refuse_dependants)."""
    return [] if name.is_temporary else [s.Effect(n.Call("ssb_internal.bind_views", (n.TRUE,)))]


def _note_updates(name: ObjectName, sql: str) -> list[n.Node]:
    """What triggers ask of an UPDATE about a column that is new, or was altered."""
    return [] if name.is_temporary else [s.Effect(n.Call("ssb_internal.note_updates", (n.Text(sql),)))]


def _without_dependants(sql: str, columns: list[str], parts: list[str]) -> n.Node:
    """Errors 5074 and 4922, where more than ``parts``, which are dropped too, depends on ``columns``."""
    listed = [n.Cast(n.Array(tuple(map(n.Text, names))), "text[]") for names in (columns, parts) if names]
    return s.Effect(n.Call("ssb_internal.refuse_dependants", (n.Text(sql), *listed)))


def _may_have_history(name: ObjectName, known: TableInfo | None) -> bool:
    """Whether the table has a period, or nothing is known of it."""
    return not name.is_temporary if known is None else known.versioned


def _with_column(known: TableInfo | None, name: str, **changes: Any) -> tuple[TableInfo, ...]:
    """The table with one column changed, where it is known."""
    if known is None:
        return ()
    columns = tuple(replace(c, **changes) if fold(c.name) == fold(name) else c for c in known.columns)
    return (replace(known, columns=columns),)


def _may_be_default(constraint: str, names: dict[str, str], known: TableInfo | None) -> bool:
    """Whether it could be the name of a DEFAULT: a given one, or such as the server makes up (df__t__a)."""
    if known is None or known.is_of_server:
        return True
    return constraint in names or constraint.startswith("df__") or is_placeholder(constraint)


def _drop(reader: Reader, name: ObjectName, sql: str, known: TableInfo | None, ctx: Context) -> Ddl:
    actions: list[n.Node] = []
    first: list[n.Node] = []
    keys_change = False
    gone: list[str] = []
    kind = "CONSTRAINT"
    others: list[str] = []
    names = dict(known.default_names) if known is not None else {}
    while True:
        if reader.word("COLUMN"):
            kind = "COLUMN"
        elif reader.word("CONSTRAINT"):
            kind = "CONSTRAINT"
        elif reader.word("INDEX"):
            kind = "INDEX"
        guarded = reader.word("IF", "EXISTS")
        dropped = reader.name().name
        if kind != "COLUMN":
            others.append(fold(dropped))
        if kind == "COLUMN":
            period_column = _find(known, dropped)
            if period_column is not None and period_column.generated:
                ctx.problem(
                    f"Column '{dropped}' in table '{name.name}' cannot be dropped because it is a part of "
                    "period definition.",
                    number=13588,
                )
            gone.append(fold(dropped))
            actions.append(s.Drop("COLUMN", n.Name((fold(dropped),)), guarded))
        elif kind == "INDEX":
            first.append(drop_of_index(dropped, name, guarded=guarded, ctx=ctx))
        elif _may_be_default(fold(dropped), names, known):
            names.pop(fold(dropped), None)
            if_exists = (n.NamedArgument("p_if_exists", n.TRUE),) if guarded else ()
            arguments = (n.Text(sql), n.Text(identifier(dropped)), *if_exists)
            first.append(s.Effect(n.Call("ssb_internal.drop_constraint", arguments)))
        else:
            actions.append(s.Drop("CONSTRAINT", n.Name((fold(dropped),)), guarded))
            keys_change = True
        if reader.take(T.WITH) and reader.take(T.L_PAREN):
            reader.skip_parenthesis()
        if not reader.take(T.COMMA):
            break
    if not reader.at_end:
        reader.fail()
    defines: tuple[TableInfo, ...] = ()
    if known is not None:
        columns = tuple(column for column in known.columns if fold(column.name) not in gone)
        keys: tuple[KeyInfo, ...] = tuple(
            key for key in known.keys if not {fold(column) for column in key.columns} & set(gone)
        )
        if first or keys_change:
            # Which key that was is not known here: none is relied on any more.
            keys = ()
        defines = (replace(known, columns=columns, keys=keys, default_names=tuple(names.items())),)
    last: list[n.Node] = [s.AlterTable(sql, tuple(actions))] if actions else []
    if gone and _may_have_history(name, known):
        last.append(s.Effect(n.Call("ssb_internal.follow_table", (n.Text(sql),))))
    if gone:
        first.insert(0, _without_dependants(sql, gone, others))
        last += _bind_views(name)
    return Ddl((*first, *last), defines=defines)
