"""Running T-SQL scripts for the benchmarks: compiled once, as an application would."""

from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source

from .queues.server import Connection


def run_script(connection: Connection, text: str) -> None:
    """Compile a script and run what it became. Raises ValueError when it has problems."""
    compiled = compile_script(Source("benchmark.sql", text))
    if compiled.problems:
        raise ValueError("\n".join(str(problem) for problem in compiled.problems))
    for batch in compiled.batches:
        for statement in batch.statements:
            connection.execute(statement.sql.encode())
