"""PostgreSQL's SQL as a tree: what a translated expression or query is until it is written.

nodes     one class each for a literal, a name, a call, an operator; its class says how tightly it binds
emit      tree → text: the only place that quotes and puts parentheses
quoting   PostgreSQL's spelling of strings and identifiers
layout    line breaks in a query's text
"""
