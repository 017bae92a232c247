"""pgsb assess: a first look at an application."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from ..assess.findings import DIFFERS, REFUSED, RUNS
from ..assess.findings import assess as assess_project
from ..assess.project import read_project
from ..assess.report import as_html, as_json
from ..compiler.compiled import CompileOptions
from ..grammar.problems import Problems, visible_lines
from ..grammar.source import Source
from ..user_folders import expect_to_write, write_whole
from .options import NamedPath, compile_options, variables_option
from .progress import progress_bar
from .scripts import folders_of, keep_scripts
from .sqlcmd import compose


@click.command("assess")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=NamedPath(path_type=Path))
@compile_options
@variables_option
@click.option(
    "--html", type=NamedPath(dir_okay=False, path_type=Path), help="Write the report as one HTML page."
)
@click.option(
    "--json", "json_file", type=NamedPath(dir_okay=False, path_type=Path), help="Write the report as JSON."
)
def assess_command(
    paths: tuple[Path, ...],
    database: str | None,
    collation: str,
    variables: dict[str, str],
    html: Path | None,
    json_file: Path | None,
) -> None:
    """Assess an application's scripts: what runs, what differs, what is refused, and how much work it is.

    PATH is a script, a folder with scripts in any order, or an SSDT project. Touches no database.
    """

    def composed(
        source: Source, values: Mapping[str, str], problems: Problems, read: Callable[[Path], Source]
    ) -> Source:
        return compose(source, {**values, **variables}, problems, read=read, within=folders_of(paths)).source

    try:
        project = read_project(paths, composed)
    except FileNotFoundError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    if not project.sources and not project.unreadable:
        raise click.UsageError(f"no .sql files in {', '.join(map(str, paths))}")
    sources = [one.name for one in project.sources]
    keep_scripts([html, json_file], [*paths, *sources, *project.skipped, *project.unreadable])
    for output in filter(None, (html, json_file)):
        expect_to_write(output)
    with progress_bar(len(project.sources), "assessing") as advance:

        def seen(source: Source, batches: int) -> None:
            advance(source.name)

        options = CompileOptions(database=database, collation=collation)
        found = assess_project(project, options, processes=os.cpu_count() or 1, progress=seen)
    if html is not None:
        # Names of files may have bytes that are no characters.
        write_whole(html, as_html(found).encode(errors="replace"))
    if json_file is not None:
        write_whole(json_file, f"{as_json(found)}\n".encode(errors="replace"))
    statuses = found.statuses
    counts = ((found.files, "file"), (found.lines, "line"), (len(found.objects), "object"))
    click.echo(", ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts))
    for status, text in ((RUNS, "run as they are"), (DIFFERS, "run, and differ"), (REFUSED, "are refused")):
        click.echo(f"{statuses[status]:7,}  {text}")
    reasons = found.reasons
    if reasons:
        click.echo("\nThe most frequent reasons:")
        for message, number, problems in reasons[:10]:
            number_shown = f"Msg {number}: " if number else ""
            click.echo(f"{len(problems):7,}  {number_shown}{visible_lines(message)}")
    for name, why in found.unreadable.items():
        click.echo(f"not read: {name}: {why}", err=True)
