"""System procedures and administrators' statements: every module, so that its handlers are registered.

Nothing of lower/ stands above this folder: whoever imports it has registered the handlers of all statements.
"""

from . import catalog_queries, dbcc, procedures, queries

__all__ = ["catalog_queries", "dbcc", "procedures", "queries"]
