"""Finds the scripts of an application: in folders, in SSDT projects, by name."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..compiler.compiled import COMPILED_BY, NO_TSQL
from ..compiler.script_order import in_running_order
from ..grammar.problems import Problems
from ..grammar.source import OUTSIDE, Source, find_file, is_within, not_read_by_others, scripts_below


@dataclass
class Project:
    """The scripts that were found, and the files that could not be read: path → reason."""

    sources: list[Source] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    """Scripts in a project's folder that the project does not build."""
    values: dict[str, str] = field(default_factory=dict)
    """What projects give their variables: ``$(DatabaseName)`` and the defaults of those that they declare."""
    problems: Problems = field(default_factory=Problems)
    """Of what is obeyed before anything is compiled: sqlcmd's directives and variables."""


Compose = Callable[[Source, Mapping[str, str], Problems, Callable[[Path], Source]], Source]
"""Makes of a script what sqlcmd would send, with the values of variables, reading other files."""


def read_project(
    paths: Sequence[Path], compose: Compose = lambda source, values, problems, read: source
) -> Project:
    """Read all scripts below the paths, each once. Raises FileNotFoundError for a path that is not there."""
    project = Project()
    seen: set[Path] = set()
    folders = [Path(), *(path if path.is_dir() else path.parent for path in paths)]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))
        for script in _scripts(path, project):
            if script.is_symlink() and script != path and not is_within(script, folders):
                project.unreadable[str(script)] = OUTSIDE
            elif script.resolve() not in seen:
                seen.add(script.resolve())
                _read(script, project)
    reads: dict[str, set[Path]] = {}
    for source in project.sources:
        reads[source.name] = set()
        compose(source, project.values, Problems(), partial(_noted, reads[source.name]))
    apart = not_read_by_others(reads)
    within: set[Path] = set()

    def once(path: Path) -> Source:
        known = path.resolve() in within
        within.add(path.resolve())
        return Source(str(path), "") if known else Source.read(path)

    project.sources = [
        compose(source, project.values, project.problems, once)
        for source in project.sources
        if source.name in apart
    ]
    project.sources.sort(key=lambda source: source.name)
    project.sources = in_running_order(project.sources)
    return project


def _noted(files: set[Path], path: Path) -> Source:
    files.add(path.resolve())
    return Source.read(path)


def _scripts(path: Path, project: Project) -> Iterator[Path]:
    if path.suffix.lower() == ".sqlproj":
        yield from _of_ssdt(path, project)
    elif path.is_dir():
        projects = sorted(path.rglob("*.sqlproj"))
        folders = {one.parent for one in projects}
        for one in projects:
            yield from _of_ssdt(one, project)
        for script in scripts_below(path):
            if not any(folder in script.parents for folder in folders):
                yield script
    else:
        yield path


_PATHS = ("DefaultFilePrefix", "DefaultDataPath", "DefaultLogPath")
"""Variables that every publishing sets, beside the database's name."""


def _of_ssdt(project_file: Path, project: Project) -> Iterator[Path]:
    """The scripts that an SSDT project builds or runs after deployment; all below it in the newer style."""
    folder = project_file.parent
    below = scripts_below(folder)
    try:
        root = ElementTree.parse(project_file).getroot()
    except ElementTree.ParseError as error:
        project.unreadable[str(project_file)] = f"no project file: {error}"
        yield from below
        return
    named: list[Path] = []
    project.values.update(dict.fromkeys(_PATHS, "") | {"DatabaseName": project_file.stem})
    for element in root.iter():
        kind = element.tag.rpartition("}")[2]
        include = element.get("Include")
        if kind == "SqlCmdVariable" and include:
            for child in element:
                if child.tag.rpartition("}")[2] == "DefaultValue":
                    project.values[include] = child.text or ""
        if kind not in ("Build", "PreDeploy", "PostDeploy") or not include:
            continue
        for pattern in include.split(";"):  # MSBuild's lists
            if not pattern.lower().endswith(".sql"):
                continue
            try:
                named += _glob(folder, pattern.strip().replace("\\", "/"))
            except (ValueError, NotImplementedError) as error:
                project.unreadable[pattern] = f"named in {project_file.name}: {error}"
    if not named:  # Microsoft.Build.Sql takes every script
        yield from below
        return
    project.skipped += [str(one) for one in below if one not in named]
    yield from named


def _glob(folder: Path, pattern: str) -> list[Path]:
    """The files that a pattern names. Raises ValueError or NotImplementedError for what is none."""
    # pathlib refuses it before Python 3.13, and takes it for one asterisk since.
    if any("**" in part and part != "**" for part in pattern.split("/")):
        raise ValueError("Invalid pattern: '**' can only be an entire path component")
    if "*" in pattern:
        return sorted(folder.glob(pattern))
    return [find_file(folder / pattern) or folder / pattern]


def _read(path: Path, project: Project) -> None:
    try:
        source = Source.read(path)
    except OSError as error:
        project.unreadable[str(path)] = error.strerror or str(error)
        return
    if source.text.count("\0") > 3:
        project.unreadable[str(path)] = "it is no text, but binary data"
        return
    if source.text.startswith(COMPILED_BY):
        project.unreadable[str(path)] = NO_TSQL
        return
    project.sources.append(source)
