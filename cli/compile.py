"""pgsb compile and pgsb check: text to text, no server."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from .. import __version__
from ..compiler.catalog.names import in_comment
from ..compiler.collecting import rare_collections
from ..compiler.compiled import COMPILED_BY
from ..compiler.pipeline import (
    CompiledBatch,
    CompiledScript,
    CompileOptions,
    CompileSession,
    check_scripts,
    compile_script,
)
from ..diff.compare import compare
from ..grammar.lexer import bracketed
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..runtime_sql import installer
from ..user_folders import expect_to_write, write_whole
from .options import UNCHECKED_PATH, NamedPath, compile_options, variables_option
from .progress import counted, progress_bar
from .reports import FORMATS
from .scripts import count_batches, folders_of, keep_scripts, read_script, read_scripts, script_files
from .sqlcmd import Script


@click.command("compile")
@click.argument("scripts", nargs=-1, required=True, metavar="SCRIPT...", type=UNCHECKED_PATH)
@compile_options
@variables_option
@click.option(
    "--after",
    multiple=True,
    metavar="SCRIPT",
    type=UNCHECKED_PATH,
    help="A script that has run before: SCRIPT may name the types, tables and modules that it makes. "
    "May be repeated.",
)
@click.option(
    "--diff",
    "old",
    multiple=True,
    metavar="OLD",
    type=UNCHECKED_PATH,
    help="Print what takes a database from the definitions of OLD, a script or folder, to those of "
    "SCRIPT; messages and rows stay. May be repeated.",
)
@click.option("--tsql", is_flag=True, help="With --diff: print its statements as T-SQL.")
@click.option(
    "--allow-drop",
    is_flag=True,
    help="With --diff: also drop tables, columns and queues that are gone, with what is in them.",
)
@click.option(
    "-o",
    "--output",
    type=NamedPath(dir_okay=False, allow_dash=True),
    default="-",
    help="Write here instead of to stdout.",
)
@click.option(
    "--keep-source",
    is_flag=True,
    help="The database keeps the T-SQL text of modules for OBJECT_DEFINITION and sp_helptext, as with "
    "pgsb run; with --diff it always does.",
)
@click.option(
    "--on-error",
    type=click.Choice(["continue", "stop"]),
    default="continue",
    show_default=True,
    help="After an error that does not end a batch. stop: the batch fails with it at its end, so that psql "
    "and migration tools see it. :on error in a script is obeyed.",
)
@click.option("--with-runtime", is_flag=True, help="Put the runtime's own SQL first.")
@click.option(
    "--default-database",
    metavar="NAME",
    help="The name of the PostgreSQL database that the text is for: USE NAME is then its default T-SQL "
    "database, as with pgsb run.",
)
@rare_collections()
def compile_command(
    scripts: tuple[str, ...],
    database: str | None,
    collation: str,
    variables: dict[str, str],
    after: tuple[str, ...],
    old: tuple[str, ...],
    tsql: bool,
    allow_drop: bool,
    output: str,
    keep_source: bool,
    on_error: str,
    with_runtime: bool,
    default_database: str | None,
) -> None:
    """Print the PostgreSQL text that SCRIPTs compile to; - is stdin. Touches no database.

    The text is for psql or a migration, on a database with the runtime. Of several scripts it is one
    text, in which each knows what those before it define. With -o it begins with a header, and each
    batch with the file and line it comes from.
    """
    if (tsql or allow_drop) and not old:
        raise click.UsageError("--tsql and --allow-drop are for --diff OLD")
    problems = Problems()
    within = folders_of((*scripts, *after, *old))
    olds, meant = script_files(old), script_files(scripts) if old else list(scripts)
    files: set[Path] = set()
    before = [read_script(name, variables, problems, within, files=files) for name in after]
    before += read_scripts(olds, variables, problems, within, files)
    earlier = [script.source for script in before]
    if old:
        given = read_scripts(meant, variables, problems, within, files)
    else:
        given = [read_script(name, variables, problems, within, files=files) for name in meant]
    keep_scripts([output], [*after, *olds, *meant, *files])
    if output is not None and output != "-":
        expect_to_write(Path(output))
    read = [script.source for script in given]
    problems.raise_if_any()
    names = ", ".join(source.name for source in read)
    if old:
        difference = compare(earlier[len(after) :], read, database, allow_drop=allow_drop)
        found = _each_once(difference.problems)
        found.raise_if_any()
        if len(found):
            click.echo(found.report(), err=True)
        if tsql:
            _write(output, difference.script())
            return
        names = f"the difference from {', '.join(old)} to {', '.join(scripts)}"
        given = [Script(difference.source())]
    keeps = keep_source or bool(old)
    options = CompileOptions(database, default_database, collation, keep_source=keeps)
    compiled = _compiled(given, earlier, options, stops=on_error == "stop", to_stdout=output == "-")
    if len(compiled.problems):
        # What has no effect on PostgreSQL is not in the text: it is said.
        click.echo(compiled.problems.report(), err=True)
    for_file = output != "-"
    text = compiled.text(for_files=for_file)
    if database is not None:
        # The session begins there too: sys.service_queues and DB_NAME() follow it.
        use = compile_script(Source("-d", f"USE {bracketed(database)}"))
        text = f"{use.text(for_files=for_file).strip()}\n\n{text}"
    header = ""
    if for_file:
        parts = _parts_needed(compiled)
        header = _header(options, names, parts)
        if parts == "all" and not with_runtime:
            text = f"{installer.parts_guard(parts)}\n{text}"
    if not text.isascii():
        # psql's encoding follows the machine, or the database: read in another one literals would be others.
        text = f"SET client_encoding = 'UTF8';\n\n{text.rstrip()}\n\nRESET client_encoding;\n"
    if with_runtime:
        text = installer.install_sql() + "\n" + text
    _write(output, header + text)


def _compiled(
    given: Sequence[Script],
    earlier: Sequence[Source],
    options: CompileOptions,
    *,
    stops: bool,
    to_stdout: bool,
) -> CompiledScript:
    """Compile scripts as one, which may name what ``earlier`` ones make. Raises CompileError.

    ``stops``: an error fails its batch, where the script itself says nothing else. ``to_stdout``: the text
    goes there, where a bar of progress would be in its way.
    """
    session = CompileSession(options)
    batches: list[CompiledBatch] = []
    count = sum(map(count_batches, (*earlier, *(script.source for script in given))))
    with progress_bar(count, "compiling", sys.stdout if to_stdout else None) as advance:
        for source in earlier:
            for _ in session.compile_script(source):
                advance(source.name)
        session.problems.raise_if_any()
        session.problems = Problems()
        session.catalog.connect_anew()
        for script in given:
            at_error = partial(script.stop_at, otherwise=stops)
            for batch in session.compile_script(script.source, stops=at_error, raises=True):
                batches.append(batch)
                advance(script.source.name)
    session.problems.raise_if_any()
    return CompiledScript(tuple(batches), session.problems)


def _parts_needed(compiled: CompiledScript) -> installer.Parts:
    return installer.parts_needed(
        name for batch in compiled.batches for statement in batch.statements for name in statement.names
    )


def _header(options: CompileOptions, names: str, parts: installer.Parts) -> str:
    """The first lines of a file: what it was made of, and what the database has to have."""
    given = f" -d {options.database}" * bool(options.database)
    given += f" --collation {options.collation}" * (options.collation != "cs")
    given += f" --default-database {options.default_database}" * bool(options.default_database)
    return (
        f"{COMPILED_BY}{__version__}{in_comment(f'{given} from {names}')}: change those, "
        "not this text.\n"
        "-- It needs the runtime of that version, or a newer one "
        f"(pgsb install --parts {parts}, pgsb upgrade).\n\n"
    )


def _write(output: str, text: str) -> None:
    """Write the text; only now, and whole: a script with problems leaves the last good output in place."""
    text = text if not text or text.endswith("\n") else text + "\n"
    if output != "-":
        write_whole(Path(output), text.encode())
        return
    with click.open_file(output, "w", encoding="utf-8") as file:
        file.write(text)


@click.command("check")
@click.argument("scripts", nargs=-1, required=True, metavar="PATH...", type=UNCHECKED_PATH)
@compile_options
@variables_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", *FORMATS]),
    default="text",
    show_default=True,
    help="text: for people, on stderr. json, github (annotations), sarif: for programs, on stdout.",
)
@rare_collections()
def check_command(
    scripts: tuple[str, ...], database: str | None, collation: str, variables: dict[str, str], form: str
) -> None:
    """Report every problem of every script, with its place. Touches no database.

    PATH is a script, - for stdin, or a folder: all its .sql files. Each script knows the
    definitions of all. Exit status 1 when there is an error.
    """
    problems = Problems()
    options = CompileOptions(database=database, collation=collation)
    within = folders_of(scripts)
    read = [one.source for one in read_scripts(script_files(scripts), variables, problems, within)]
    batches = 0
    with progress_bar(len(read), "checking") as advance:

        def checked(source: Source, count: int) -> None:
            nonlocal batches
            batches += count
            advance(source.name)

        found = check_scripts(read, options, processes=os.cpu_count() or 1, progress=checked)
    problems.extend(found)
    problems = _each_once(problems)
    if form != "text":
        text = FORMATS[form](problems, len(read))
        if text:
            click.echo(text)
    else:
        if len(problems):
            click.echo(problems.report() + "\n", err=True)
        click.echo(summary(len(read), batches, problems), err=True)
    click.get_current_context().exit(1 if problems.error_count else 0)


def summary(scripts: int, batches: int, problems: Problems) -> str:
    """The closing line: what was read, and how much is wrong with it."""
    errors = problems.error_count
    warnings = len(problems) - errors
    counts = [counted(errors, "error")] * bool(errors) + [counted(warnings, "warning")] * bool(warnings)
    read = f"{counted(scripts, 'script')}, {counted(batches, 'batch', 'batches')}"
    return f"{read}, {', '.join(counts) or 'no problems'}"


def _each_once(problems: Problems) -> Problems:
    """Those of a file that another script reads in by :r, too, once."""
    kept = Problems()
    seen: set[tuple[str, int, int, str]] = set()
    for problem in problems:
        name, line, column = problem.span.source.author_place(problem.span.start)
        place = (os.path.abspath(name), line, column, problem.message)
        if place not in seen:
            seen.add(place)
            kept.add(problem.message, problem.span, problem.hint, problem.number, problem.severity)
    return kept
