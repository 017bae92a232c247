"""Target trees of statements → text."""

from __future__ import annotations

from . import nodes as n
from . import statements as s
from .emit import Put, list_of, write, writes
from .layout import BREAK, CLOSE, OPEN
from .queries import Breaks
from .quoting import quote


@writes(s.Effect)
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
    own = node.breaks is Breaks.OWN
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
    _returning(node.items, put)
    put(CLOSE)


@writes(s.CreateTableAs)
def _create_table_as(node: s.CreateTableAs, put: Put) -> None:
    put(f"{OPEN}CREATE TABLE ")
    write(node.table, put)
    put(f" AS{BREAK}")
    write(node.query, put)
    put(CLOSE)
