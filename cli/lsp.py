"""pgsb lsp: the language server, for editors."""

import importlib.util

import click

from ..compiler.compiled import CompileOptions
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..server.problems import ServerError
from .options import compile_options
from .sqlcmd import compose


@click.command("lsp")
@compile_options
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout: always so; some editors say it.")
def lsp_command(database: str | None, collation: str, stdio: bool) -> None:
    """Serve editors: problems as you type, completion, hover, go to definition.

    Speaks the Language Server Protocol over stdin and stdout. Touches no database.
    Needs: pip install 'pg-service-broker[lsp]'.
    """
    if importlib.util.find_spec("pygls") is None:
        raise ServerError("pygls is not installed", hint="pip install 'pg-service-broker[lsp]'")
    # Imported here: it is an extra.
    from ..editor.server import make_server

    def prepare(source: Source, problems: Problems) -> Source:
        return compose(source, {}, problems).source

    make_server(CompileOptions(database=database, collation=collation), prepare).start_io()
