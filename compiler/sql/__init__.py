"""Queries, DML, table DDL and expressions: T-SQL → PostgreSQL; the only files that know sqlglot."""
