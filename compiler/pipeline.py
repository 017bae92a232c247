"""The way in: a script → PostgreSQL text, or all that is wrong with scripts."""

from __future__ import annotations

from ..grammar.source import Source
from .checking import check_scripts
from .collecting import rare_collections
from .compiled import CompiledBatch, CompiledScript, CompiledStatement, CompileOptions, ends_batch
from .session import CompileSession

__all__ = [
    "CompileOptions",
    "CompileSession",
    "CompiledBatch",
    "CompiledScript",
    "CompiledStatement",
    "check_scripts",
    "compile_script",
    "ends_batch",
]


def compile_script(source: Source, options: CompileOptions | None = None) -> CompiledScript:
    """Compile a script; what is wrong with it is in ``problems`` of the result."""
    session = CompileSession(options)
    with rare_collections():
        batches = tuple(session.compile_script(source))
    return CompiledScript(batches, session.problems)
