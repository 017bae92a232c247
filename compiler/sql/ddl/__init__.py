"""Tables, indexes, types, sequences: every module, so that its handlers are registered."""

from . import alter_table, definitions, statements, system_versioning, tables

__all__ = ["alter_table", "definitions", "statements", "system_versioning", "tables"]
