"""Reads scripts: files or stdin, with sqlcmd's variables and directives."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from ..compiler.compiled import COMPILED_BY, NO_TSQL
from ..grammar.problems import Problems
from ..grammar.source import OUTSIDE, Source, is_within, not_read_by_others, scripts_below
from .sqlcmd import Script, compose

_GO = re.compile(r"^[ \t]*go\b[^\n]*", re.IGNORECASE | re.MULTILINE)


def script_files(names: Sequence[str]) -> list[str]:
    """The scripts that are meant: a folder stands for its .sql files, in the order of their paths.

    Tells on stderr of what is left out: what pgsb compile has written, and links that lead elsewhere. Raises
    click.UsageError for a folder without any, and where nothing is left.
    """
    within = folders_of(names)
    found: list[str] = []
    for name in names:
        folder = Path(name)
        if name == "-" or not folder.is_dir():
            found.append(name)
            continue
        inside = sorted(map(str, scripts_below(folder)))
        if not inside:
            raise click.UsageError(f"the folder {name} has no .sql files")
        # Who wrote the folder is not who looks at it: an error shows the line of what a link leads to.
        for script in inside:
            if is_within(Path(script), within):
                found.append(script)
            else:
                click.echo(f"not read: {script}: {OUTSIDE}", err=True)
    if names and not found:
        raise click.UsageError("no script is left to read")
    compiled = [name for name in found if name != "-" and _is_compiled(name)]
    if compiled and len(compiled) == len(found):
        raise click.UsageError(f"cannot read {compiled[0]}: {NO_TSQL}")
    for name in compiled:
        click.echo(f"not read: {name}: {NO_TSQL}", err=True)
    return [name for name in found if name not in compiled]


def _is_compiled(path: str) -> bool:
    if not Path(path).is_file():
        return False  # what is read from a pipe here would be missing from the script
    try:
        with Path(path).open("rb") as file:
            return file.read(len(COMPILED_BY)) == COMPILED_BY.encode()
    except OSError:
        return False  # who reads it tells why that cannot be


def folders_of(names: Sequence[str | Path]) -> list[Path]:
    """Where what only looks at scripts reads what they name: the working directory, and their folders."""
    paths = [Path(name) for name in names]
    return [Path(), *(path if path.is_dir() else path.parent for path in paths)]


def keep_scripts(outputs: Sequence[str | Path | None], scripts: Iterable[str | Path]) -> None:
    """Raise click.UsageError where an output would be written over a script, or over another output.

    Only files count: a terminal or a pipe may be read and written.
    """
    written: list[str] = []
    for output in map(str, filter(None, outputs)):
        if output == "-" or (Path(output).exists() and not Path(output).is_file()):
            continue
        for script in scripts:
            if str(script) != "-" and _is_same_file(output, str(script)):
                text = f"{output} is a script that is read: what is written needs another name"
                raise click.UsageError(text)
        if any(_is_same_file(output, other) for other in written):
            raise click.UsageError(f"{output} is written twice: each output needs a name of its own")
        written.append(output)


def _is_same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return Path(one).absolute() == Path(other).absolute()  # one of them is not there yet


def count_batches(source: Source) -> int:
    """About how many batches a script has: lines that begin with GO, and what stands behind the last."""
    ends = [match.end() for match in _GO.finditer(source.text)]
    return len(ends) + bool(source.text[ends[-1] if ends else 0 :].strip())


def read_scripts(
    names: Sequence[str],
    variables: Mapping[str, str],
    problems: Problems,
    within: Sequence[Path],
    all_files: set[Path] | None = None,
) -> list[Script]:
    """Read scripts but those that another one of them reads in by :r: they have its variables there.

    All files that they read are added to ``all_files``.
    """
    read: dict[str, tuple[Script, Problems]] = {}
    files: dict[str, set[Path]] = {name: set() for name in names}
    for name in names:
        found = Problems()
        read[name] = read_script(name, variables, found, within, files=files[name]), found
    if all_files is not None:
        all_files.update(*files.values())
    kept = not_read_by_others(files)
    for name in kept:
        problems.extend(read[name][1])
    return [script for name, (script, _) in read.items() if name in kept]


def read_script(
    name: str,
    variables: Mapping[str, str],
    problems: Problems,
    within: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    files: set[Path] | None = None,
) -> Script:
    """Read a script by its path, or stdin by the name ``-``; the files that it reads are added to ``files``.

    ``within`` and ``environment`` are as in ``compose``. Problems with variables and
    directives are added to ``problems``. Raises click.UsageError for a file that cannot be read.
    """
    if name == "-":
        try:
            source = Source.read_open("<stdin>", sys.stdin.buffer)
        except OSError as error:
            raise click.UsageError(f"cannot read <stdin>: {error.strerror}") from None
    elif name.lower().endswith(".sqlproj"):
        raise click.UsageError(
            f"{name} is no script but a project: name the script that publishes it, or see pgsb assess"
        )
    elif Path(name).is_dir():
        raise click.UsageError(f"{name} is a folder: name its scripts, in the order in which they are to run")
    else:
        try:
            source = Source.read(Path(name))
        except OSError as error:
            raise click.UsageError(f"cannot read {name}: {error.strerror}") from None
    if source.text.startswith(COMPILED_BY):
        raise click.UsageError(f"cannot read {name}: {NO_TSQL}")
    if source.text.count("\0") > 3:  # a single one has a place that can be told
        raise click.UsageError(f"cannot read {source.name}: it is no text, but binary data")

    def noted(path: Path) -> Source:
        if files is not None:
            files.add(path.resolve())
        return Source.read(path)

    return compose(source, variables, problems, read=noted, within=within, environment=environment)
