"""pgsb compile and pgsb check: text to text, no server."""

import click

from ..compiler.pipeline import CompiledScript, CompileOptions, CompileSession, check_scripts, compile_script
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..runtime_sql import installer
from .options import compile_options, variables_option
from .scripts import read_script


@click.command("compile")
@click.argument("scripts", nargs=-1, required=True, metavar="SCRIPT...")
@compile_options
@variables_option
@click.option(
    "--after",
    multiple=True,
    metavar="SCRIPT",
    help="A script that has run before: SCRIPT may name the types, tables and modules that it makes. "
    "May be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="Write here instead of to stdout.",
)
@click.option("--with-runtime", is_flag=True, help="Put the runtime's own SQL first.")
def compile_command(
    scripts: tuple[str, ...],
    database: str | None,
    collation: str,
    variables: dict[str, str],
    after: tuple[str, ...],
    output: str,
    with_runtime: bool,
) -> None:
    """Print the PostgreSQL text that SCRIPTs compile to; - is stdin. Touches no database.

    The text is for psql or a migration, on a database with the runtime. Of several scripts it is one
    text, in which each knows what those before it define.
    """
    problems = Problems()
    earlier = [read_script(name, variables, problems).source for name in after]
    read = [read_script(name, variables, problems).source for name in scripts]
    problems.raise_if_any()
    session = CompileSession(CompileOptions(database=database, collation=collation))
    for source in earlier:
        for _ in session.compile_script(source):
            pass
    session.problems.raise_if_any()
    session.problems = Problems()
    session.catalog.connect_anew()
    batches = tuple(batch for source in read for batch in session.compile_script(source))
    session.problems.raise_if_any()
    if len(session.problems):
        # What has no effect on PostgreSQL is not in the text: it is said.
        click.echo(session.problems.report(), err=True)
    text = CompiledScript(batches, session.problems).text()
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

    Each script knows the types and modules of all. Exit status 1 when there is an error.
    """
    problems = Problems()
    options = CompileOptions(database=database, collation=collation)
    read = [read_script(name, variables, problems).source for name in scripts]
    problems.extend(check_scripts(read, options))
    if len(problems):
        click.echo(problems.report(), err=True)
    errors = len(problems.errors)
    if errors:
        click.echo(f"\n{errors} {'error' if errors == 1 else 'errors'}", err=True)
    click.get_current_context().exit(1 if errors else 0)
