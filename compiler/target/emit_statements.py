"""Target trees of queries and statements → text: clauses, and where they may break into lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import nodes as n
from . import queries as q
from . import statements as s
from .emit import Put, emit, list_of, order_by, write, writes
from .layout import BREAK, CLOSE, OPEN, flat
from .quoting import literal, quote

# ------------------------------------------------------------------ queries


@writes(q.Labelled)
def _labelled(node: q.Labelled, put: Put) -> None:
    write(node.value, put)
    put(f" AS {quote(node.label)}")


# ------------------------------------------------------------------ FROM


def _columns(names: Sequence[str], put: Put) -> None:
    if names:
        put(f" ({', '.join(map(quote, names))})")


@writes(q.Aliased)
def _aliased(node: q.Aliased, put: Put) -> None:
    if node.lateral:
        put("LATERAL ")
    write(node.item, put)
    if node.ordinality:
        put(" WITH ORDINALITY")
    put(f" AS {quote(node.alias)}")
    if node.tight:
        put(f"({', '.join(map(quote, node.columns))})")
    else:
        _columns(node.columns, put)


@writes(q.Lateral)
def _lateral(node: q.Lateral, put: Put) -> None:
    put("LATERAL ")
    write(node.item, put)


@writes(q.Sampled)
def _sampled(node: q.Sampled, put: Put) -> None:
    write(node.item, put)
    put(" TABLESAMPLE SYSTEM (")
    write(node.share, put)
    put(")")
    if node.seed is not None:
        put(" REPEATABLE (")
        write(node.seed, put)
        put(")")


_OUTER = frozenset({"LEFT", "RIGHT", "FULL", "CROSS"})


def _join(join: q.Join, between: str, put: Put) -> None:
    if join.kind in _OUTER:
        put(f"{between}{join.kind} JOIN ")
    elif join.on is not None:
        put(f"{between}JOIN ")
    else:
        put(", ")
    write(join.item, put)
    if join.on is not None:
        put(" ON ")
        write(join.on, put)


@writes(q.Joined)
def _joined(node: q.Joined, put: Put) -> None:
    put("(")
    write(node.first, put)
    for join in node.joins:
        _join(join if join.on is not None else q.Join("CROSS", join.item), " ", put)
    put(")")


# ------------------------------------------------------------------ queries


def lock(node: q.Lock, put: Put) -> None:
    """Write ``FOR UPDATE OF alias``."""
    put(node.strength)
    if node.of is not None:
        put(f" OF {quote(node.of)}")
    put(node.waiting)


@writes(q.GroupingSets)
def _grouping_sets(node: q.GroupingSets, put: Put) -> None:
    put(f"{node.word} (")
    list_of(node.items, put)
    put(")")


_SHORT_LIST = 40
"""Characters of a list behind which FROM stands."""


@writes(q.Select)
def _select(node: q.Select, put: Put) -> None:
    breaks = node.breaks
    between = " " if breaks is q.Breaks.NEVER else BREAK
    own = breaks is q.Breaks.OWN or breaks is q.Breaks.PAIRED
    if own:
        put(OPEN)
    put("SELECT DISTINCT" if node.distinct else "SELECT")
    if breaks is q.Breaks.LIST:
        pieces: list[str] = []
        list_of(node.items, pieces.append)
        items = "".join(pieces)
        put(f" {items}")
        before_from = "\n" if len(items) > _SHORT_LIST else " "
    else:
        if node.items:
            put(" ")
            list_of(node.items, put)
        before_from = " " if breaks is q.Breaks.LATE else between
    if node.source is not None:
        put(f"{before_from}FROM ")
        write(node.source, put)
    for join in node.joins:
        _join(join, between, put)
    if node.where is not None:
        put(f"{between}WHERE ")
        write(node.where, put)
    if node.group:
        put(f"{between}GROUP BY ")
        list_of(node.group, put)
    if node.having is not None:
        put(" HAVING " if breaks is q.Breaks.PAIRED else f"{between}HAVING ")
        write(node.having, put)
    _ordered(node.order, None if node.ties else node.limit, node.offset, between, put)
    if node.ties and node.limit is not None:
        put(f"{between}FETCH FIRST ")
        if isinstance(node.limit, n.Integer):
            write(node.limit, put)
        else:
            put("(")
            write(node.limit, put)
            put(")")
        put(" ROWS WITH TIES")
    for place, one in enumerate(node.locks):
        put(" " if place else between)
        lock(one, put)
    if own:
        put(CLOSE)


def _ordered(
    order: tuple[n.OrderItem, ...], limit: n.Node | None, offset: n.Node | None, between: str, put: Put
) -> None:
    if order:
        put(between)
        order_by(order, put)
    if limit is not None:
        put(f"{between}LIMIT ")
        write(limit, put)
    if offset is not None:
        put(f"{between}OFFSET ")
        write(offset, put)


@writes(q.Values)
def _values(node: q.Values, put: Put) -> None:
    put("VALUES ")
    between = "("
    for row in node.rows:
        put(between)
        between = "), ("
        list_of(row, put)
    put(")")


@writes(q.SetOperation)
def _set_operation(node: q.SetOperation, put: Put) -> None:
    put(OPEN)
    write(node.first, put)
    for operator, branch in node.rest:
        put(f" {operator}{BREAK}" if node.short else f"{BREAK}{operator}{BREAK}")
        write(branch, put)
    _ordered(node.order, node.limit, node.offset, BREAK, put)
    put(CLOSE)


@writes(q.With)
def _with(node: q.With, put: Put) -> None:
    put(OPEN)
    between = "WITH RECURSIVE " if node.recursive else "WITH "
    for definition in node.definitions:
        put(f"{between}{quote(definition.name)}")
        between = f",{BREAK}"
        _columns(definition.columns, put)
        put(" AS (")
        write(definition.query, put)
        put(")")
    put(BREAK)
    write(node.body, put)
    put(CLOSE)


# ------------------------------------------------------------------ changes


@writes(s.Effect, s.LockKey)
def _effect(node: s.Effect, put: Put) -> None:
    put("SELECT ")
    write(node.call, put)


@writes(s.LockTable)
def _lock_table(node: s.LockTable, put: Put) -> None:
    put("LOCK TABLE ")
    write(node.table, put)
    put(f" IN {node.mode} MODE")


@writes(s.Insert)
def _insert(node: s.Insert, put: Put) -> None:
    own = node.breaks is q.Breaks.OWN
    put(f"{OPEN}INSERT INTO " if own else "INSERT INTO ")
    write(node.table, put)
    if node.columns:
        put(f" ({', '.join(map(quote, node.columns))})")
    if node.overriding:
        put(" OVERRIDING SYSTEM VALUE")
    put(BREAK)
    write(node.source, put)
    _returning(node.returning, put)
    if own:
        put(CLOSE)


@writes(s.Update)
def _update(node: s.Update, put: Put) -> None:
    put(f"{OPEN}UPDATE ")
    write(node.table, put)
    between = f"{BREAK}SET "
    for column, value in node.sets:
        put(f"{between}{quote(column)} = ")
        between = ", "
        write(value, put)
    _rest("FROM", node, put)


@writes(s.Delete)
def _delete(node: s.Delete, put: Put) -> None:
    put(f"{OPEN}DELETE FROM ")
    write(node.table, put)
    _rest("USING", node, put)


def _rest(word: str, node: s.Update | s.Delete, put: Put) -> None:
    """Write what stands behind the changed table, from FROM or USING on."""
    if node.sources:
        put(f"{BREAK}{word} ")
        list_of(node.sources, put)
    if node.where is not None:
        put(f"{BREAK}WHERE ")
        write(node.where, put)
    _returning(node.returning, put)
    put(CLOSE)


def _returning(items: tuple[n.Node, ...], put: Put) -> None:
    if items:
        put(f"{BREAK}RETURNING ")
        list_of(items, put)


@writes(s.Returning)
def _apart(node: s.Returning, put: Put) -> None:
    put(OPEN)
    write(node.change, put)
    if node.line:
        put("\nRETURNING ")
        list_of(node.items, put)
    else:
        _returning(node.items, put)
    put(CLOSE)


@writes(s.CreateTableAs)
def _create_table_as(node: s.CreateTableAs, put: Put) -> None:
    put(f"{OPEN}CREATE TABLE ")
    write(node.table, put)
    put(f" AS{BREAK}")
    write(node.query, put)
    put(CLOSE)


# ------------------------------------------------------------------ tables


def _flat(node: n.Node, put: Put) -> None:
    """Write an expression of a definition, which stays on one line."""
    put(flat(emit(node)))


def _names(names: Iterable[str]) -> str:
    return f"({', '.join(map(quote, names))})"


@writes(s.Constraint)
def _constraint(node: s.Constraint, put: Put) -> None:
    if node.name is not None:
        put(f"CONSTRAINT {quote(node.name)} ")
    if node.check is not None:
        put("CHECK (")
        _flat(node.check, put)
        put(")")
    elif node.references is None:
        put(node.kind)
        if node.columns:
            put(f" {_names(node.columns)}")
    else:
        if node.columns:
            put(f"FOREIGN KEY {_names(node.columns)} ")
        _references(node.references, put)
    if not node.valid:
        put(" NOT VALID")


def _references(node: s.References, put: Put) -> None:
    put(f"REFERENCES {node.table}")
    if node.columns:
        put(f" {_names(node.columns)}")
    for event, action in node.actions:
        put(f" ON {event} {action}")


@writes(s.Column)
def _column(node: s.Column, put: Put) -> None:
    put(f"{quote(node.name)} {node.type}")
    if node.computed is not None:
        put(" GENERATED ALWAYS AS (")
        _flat(node.computed, put)
        put(") STORED")
    if node.identity is not None:
        put(f" GENERATED ALWAYS AS IDENTITY{_identity(*node.identity)}")
    if not node.nullable:
        put(" NOT NULL")
    if node.default is not None:
        put(" DEFAULT ")
        _flat(node.default, put)
    for constraint in node.constraints:
        put(" ")
        write(constraint, put)


def _identity(seed: int, increment: int) -> str:
    """The options of an identity that does not count 1, 2, 3."""
    if (seed, increment) == (1, 1):
        return ""
    text = f"START WITH {seed} INCREMENT BY {increment}"
    if increment > 0 and seed < 1:
        text += f" MINVALUE {seed}"
    if increment < 0 and seed > -1:
        text += f" MAXVALUE {seed}"
    return f" ({text})"


def _on_lines(items: tuple[n.Node, ...], put: Put) -> None:
    between = "\n    "
    for item in items:
        put(between)
        between = ",\n    "
        write(item, put)


@writes(s.CreateTable)
def _create_table(node: s.CreateTable, put: Put) -> None:
    put(f"CREATE TABLE {node.name} (")
    _on_lines(node.parts, put)
    put("\n)")


@writes(s.Add)
def _add(node: s.Add, put: Put) -> None:
    put("ADD COLUMN " if isinstance(node.part, s.Column) else "ADD ")
    write(node.part, put)


@writes(s.Drop)
def _drop(node: s.Drop, put: Put) -> None:
    put(f"DROP {node.kind} {'IF EXISTS ' if node.guarded else ''}")
    write(node.name, put)


@writes(s.AlterColumn)
def _alter_column(node: s.AlterColumn, put: Put) -> None:
    put(f"ALTER COLUMN {quote(node.name)} ")
    write(node.change, put)


@writes(s.SetType)
def _set_type(node: s.SetType, put: Put) -> None:
    put(f"TYPE {node.type}")
    if node.using is not None:
        put(" USING ")
        _flat(node.using, put)


@writes(s.SetDefault)
def _set_default(node: s.SetDefault, put: Put) -> None:
    put("SET DEFAULT ")
    _flat(node.value, put)


@writes(s.AddIdentity)
def _add_identity(node: s.AddIdentity, put: Put) -> None:
    start = f"START WITH {node.seed} INCREMENT BY {node.increment}"
    put(f"ADD GENERATED ALWAYS AS IDENTITY ({start})")


@writes(s.AlterTable)
def _alter_table(node: s.AlterTable, put: Put) -> None:
    put(f"ALTER TABLE {node.name}")
    if node.short or len(node.actions) == 1:
        put(" ")
        list_of(node.actions, put)
    else:
        _on_lines(node.actions, put)


@writes(s.CreateIndex)
def _create_index(node: s.CreateIndex, put: Put) -> None:
    put(f"CREATE {'UNIQUE ' if node.unique else ''}INDEX {quote(node.name)} ON {node.table} (")
    list_of(node.columns, put)
    put(")")
    if node.include:
        put(f" INCLUDE {_names(node.include)}")
    if node.nulls_are_equal:
        put(" NULLS NOT DISTINCT")
    if node.where is not None:
        put(" WHERE ")
        _flat(node.where, put)


@writes(s.CreateRowTrigger)
def _create_row_trigger(node: s.CreateRowTrigger, put: Put) -> None:
    put(f"CREATE TRIGGER {quote(node.name)} BEFORE {node.events} ON {node.table} ")
    put("FOR EACH ROW EXECUTE FUNCTION ")
    write(node.call, put)


@writes(s.CreateStatementTrigger)
def _create_statement_trigger(node: s.CreateStatementTrigger, put: Put) -> None:
    column = "" if node.column is None else f" OF {quote(node.column)}"
    moment = "BEFORE" if node.before else "AFTER"
    put(f"CREATE TRIGGER {quote(node.name)} {moment} {node.event}{column} ON {node.table}\n    ")
    if node.rows:
        tables = " ".join(f"{version} AS {quote(name)}" for version, name in node.rows)
        put(f"REFERENCING {tables}\n    ")
    put("FOR EACH STATEMENT ")
    if node.when is not None:
        put("WHEN (")
        write(node.when, put)
        put(") ")
    put("EXECUTE FUNCTION ")
    write(node.call, put)


@writes(s.RevokeFromPublic)
def _revoke_from_public(node: s.RevokeFromPublic, put: Put) -> None:
    put("REVOKE EXECUTE ON FUNCTION ")
    write(node.function, put)
    put(" FROM PUBLIC")


@writes(s.Truncate)
def _truncate(node: s.Truncate, put: Put) -> None:
    put(f"TRUNCATE TABLE {node.name} RESTART IDENTITY")


# ------------------------------------------------------------------ types, sequences, views


@writes(s.CreateDomain)
def _create_domain(node: s.CreateDomain, put: Put) -> None:
    put(f"CREATE DOMAIN {node.name} AS {node.type}")
    if node.named is not None:
        put(f" CONSTRAINT {quote(node.named)} CHECK (true)")


@writes(s.CreateType)
def _create_type(node: s.CreateType, put: Put) -> None:
    columns = ", ".join(f"{quote(name)} {type_}" for name, type_ in node.columns)
    put(f"CREATE TYPE {node.name} AS ({columns})")


@writes(s.CommentOn)
def _comment_on(node: s.CommentOn, put: Put) -> None:
    put(f"COMMENT ON {node.kind} {node.name} IS {literal(node.text)}")


@writes(s.Sequence)
def _sequence(node: s.Sequence, put: Put) -> None:
    put(f"ALTER SEQUENCE {node.name}" if node.type is None else f"CREATE SEQUENCE {node.name} AS {node.type}")
    for words, number in node.options:
        put(f" {words}" if number is None else f" {words} {number}")


@writes(s.CreateView)
def _create_view(node: s.CreateView, put: Put) -> None:
    put(f"CREATE VIEW {node.name}")
    if node.columns:
        put(f" {_names(node.columns)}")
    put(" AS " if node.plain else " AS\n")
    write(node.query, put)
    if node.checked:
        put("\nWITH CHECK OPTION")
