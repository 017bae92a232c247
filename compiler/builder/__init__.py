"""Lark tree → typed nodes: the last files that know Lark. Every module: builders register themselves."""

from . import (
    batches,
    conversations,
    keys,
    modules,
    procedural,
    queries,
    reader,
    service_broker,
    tables,
)

__all__ = [
    "batches",
    "conversations",
    "keys",
    "modules",
    "procedural",
    "queries",
    "reader",
    "service_broker",
    "tables",
]
