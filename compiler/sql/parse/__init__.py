"""Tokens of a statement → sqlglot's tree and our own nodes."""
