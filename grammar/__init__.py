"""T-SQL text → trees.

The compiler's way in is ``pgsb.compiler.builder.parse_script``, which goes on to typed nodes.
What is here, in order of control flow:

source.py     Source and Span: a script, decoded, and a place in it
problems.py   Problems: what is wrong, with number, place, caret and hint
tokens.py     Token, its kinds, the reserved words
lexer.py      text → tokens
batches.py    tokens → batches, split at GO
terminals.py  which terminal of the grammar a token is at its place; where text ends
*.lark        the grammar, in four files that are one: lexical, queries, procedural, service_broker
aliases.py    where a word that is not reserved is read as an alias
tables.py     the parser's tables, which Lark makes of them
tree.py       Tree and Terminal: what comes out
parser.py     batch → tree; ends of statements, recovery from errors
hints.py      what to say about what could not be parsed
records.py    dataclasses that are made quickly, for all that compiles
"""
