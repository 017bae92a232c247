"""pgsb: Service Broker applications on PostgreSQL.

T-SQL scripts are parsed (:mod:`pgsb.grammar`), compiled to plain PostgreSQL
(:mod:`pgsb.compiler`) and run against a small runtime inside the database
(:mod:`pgsb.runtime_sql`). :mod:`pgsb.server` finds or starts the PostgreSQL to
talk to, :mod:`pgsb.cli` is the command ``pgsb``.
"""

__version__ = "0.1.0"
