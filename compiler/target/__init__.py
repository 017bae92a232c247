"""PostgreSQL's SQL as a tree: what a translated expression, query or statement is until it is written.

nodes       one class each for a literal, a name, a call, an operator; its class says how tightly it binds
queries     SELECT and its clauses, FROM, VALUES, set operations, common table expressions
statements  INSERT, UPDATE, DELETE; tables, indexes, types, sequences, views
emit        tree → text, with emit_queries and emit_statements: the only place that quotes
quoting     PostgreSQL's spelling of strings and identifiers
layout      line breaks in a query's text
"""

from . import emit_queries, emit_statements

__all__ = ["emit_queries", "emit_statements"]
