"""pgsb compile and pgsb check: text to text, no server."""

import click

from ..compiler.pipeline import CompileOptions, check_script, compile_script
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..runtime_sql import installer
from .options import compile_options, variables_option
from .scripts import read_script


@click.command("compile")
@click.argument("script")
@compile_options
@variables_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="Write here instead of to stdout.",
)
@click.option("--with-runtime", is_flag=True, help="Put the runtime's own SQL first.")
def compile_command(
    script: str,
    database: str | None,
    collation: str,
    variables: dict[str, str],
    output: str,
    with_runtime: bool,
) -> None:
    """Print the PostgreSQL text that SCRIPT compiles to; - is stdin. Touches no database.

    The text is for psql or a migration, on a database with the runtime.
    """
    problems = Problems()
    read = read_script(script, variables, problems)
    problems.raise_if_any()
    compiled = compile_script(read.source, CompileOptions(database=database, collation=collation))
    compiled.problems.raise_if_any()
    if len(compiled.problems):
        # What has no effect on PostgreSQL is not in the text: it is said.
        click.echo(compiled.problems.report(), err=True)
    text = compiled.text()
    if database is not None:
        # The session begins there too: sys.service_queues and DB_NAME() follow it.
        named = database.replace("]", "]]")
        text = f"{compile_script(Source('-d', f'USE [{named}]')).text().strip()}\n\n{text}"
    if with_runtime:
        text = installer.install_sql() + "\n" + text
    # Opened only now: a script with problems leaves the last good output in place.
    with click.open_file(output, "w", encoding="utf-8") as file:
        file.write(text if text.endswith("\n") else text + "\n")


@click.command("check")
@click.argument("scripts", nargs=-1, required=True, metavar="SCRIPT...")
@compile_options
@variables_option
def check_command(
    scripts: tuple[str, ...], database: str | None, collation: str, variables: dict[str, str]
) -> None:
    """Report every problem of every script, with its place. Touches no database.

    Exit status 1 when there is an error.
    """
    problems = Problems()
    options = CompileOptions(database=database, collation=collation)
    for name in scripts:
        read = read_script(name, variables, problems)
        problems.extend(check_script(read.source, options))
    if len(problems):
        click.echo(problems.report(), err=True)
    errors = len(problems.errors)
    if errors:
        click.echo(f"\n{errors} {'error' if errors == 1 else 'errors'}", err=True)
    click.get_current_context().exit(1 if errors else 0)
