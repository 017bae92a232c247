"""T-SQL scripts → PostgreSQL text.

text → batches → tree (grammar/) → nodes (builder/) → PL/pgSQL tree (lower/, sql/) → text (plpgsql/emit)

A folder imports those below it, never one above; CONTRIBUTING.md has the table of arrows.

============  ======================================================================================
pipeline      compile_script, check_scripts: the way in
session       CompileSession: batch after batch, with what they define; reading: scripts, before that
checking      many scripts at once, on all processors; collecting: fewer searches for cycles;
              script_order: scripts of a project in an order that runs
references    names that scripts mention and none defines: warnings of check
batches       what a batch becomes: plain statements, a module, a DO block
compiled      what comes out: CompiledScript, CompiledBatch, CompiledStatement
lower/        statements → PL/pgSQL, one family a module; dispatch has the handlers, context what
              they know of the routine around; dynamic/ has EXEC of texts, system/ the system procedures:
              the last, whose import registers the handlers of all
builder/      Lark trees → nodes; the last files that know Lark
analysis/     @@TRANCOUNT before each statement, who reads @@ERROR, what cannot raise, constants,
              jumps, what called procedures do
sql/          queries, DML, expressions and table DDL; translate is the way in and has its own map
check/        what is unknown, wrong, or parsed but refused
plpgsql/      the tree of PL/pgSQL, and emit: the only place that quotes
target/       PostgreSQL's queries and expressions as trees, until emit writes them
catalog/      names, types, objects of the script, variables of a routine
nodes/        typed nodes: frozen dataclasses, each with its span
registry      handlers by node class or verb; refuses two for one
============  ======================================================================================
"""
