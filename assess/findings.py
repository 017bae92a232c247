"""Puts objects and problems together: what runs, what differs, what is refused, and the effort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ..compiler.checking import check_scripts
from ..compiler.compiled import CompileOptions
from ..grammar.problems import Problem
from ..grammar.source import Source
from .inventory import Object, Remark, name_remarks, objects_of, remarks_of
from .project import Project

RUNS, DIFFERS, REFUSED = "runs", "differs", "refused"


@dataclass(frozen=True)
class Assessed:
    """An object with what is to be said of it. ``effort`` is none, small, medium or large."""

    object: Object
    status: str
    effort: str
    problems: tuple[Problem, ...]
    remarks: tuple[Remark, ...]


@dataclass
class Assessment:
    """What came out of a project."""

    files: int
    lines: int
    objects: list[Assessed] = field(default_factory=list)
    outside: list[Problem] = field(default_factory=list)
    """Problems that stand in no object."""
    remarks: list[Remark] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    @property
    def statuses(self) -> Counter[str]:
        """How many objects run, differ, are refused."""
        return Counter(one.status for one in self.objects)

    @property
    def reasons(self) -> list[tuple[str, int | None, list[Problem]]]:
        """Messages of problems, with their numbers and places, the most frequent first."""
        found: dict[tuple[str, int | None], list[Problem]] = {}
        for problem in [*self.outside, *(p for one in self.objects for p in one.problems)]:
            found.setdefault((problem.message, problem.number), []).append(problem)
        ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0][0]))
        return [(message, number, problems) for (message, number), problems in ordered]


def assess(
    project: Project,
    options: CompileOptions | None = None,
    *,
    processes: int = 1,
    progress: Callable[[Source, int], None] = lambda source, batches: None,
) -> Assessment:
    """Compile everything and say what it means, object by object."""
    problems = check_scripts(project.sources, options, processes=processes, progress=progress)
    by_source: dict[str, list[Problem]] = {}
    for problem in problems:
        by_source.setdefault(problem.span.source.name, []).append(problem)
    result = Assessment(
        len(project.sources),
        sum(_lines(source.text) for source in project.sources),
        unreadable=project.unreadable,
        skipped=project.skipped,
    )
    made: list[tuple[Object, Source]] = []
    for source in project.sources:
        made += [(one, source) for one in objects_of(source)]
        result.remarks += remarks_of(source)
    result.remarks += name_remarks([one for one, _ in made])
    remarks_by_source: dict[str, list[Remark]] = {}
    for remark in result.remarks:
        remarks_by_source.setdefault(remark.span.source.name, []).append(remark)
    inside: set[int] = set()
    for one, source in made:
        own = [p for p in by_source.get(source.name, []) if one.span.start <= p.span.start < one.span.end]
        inside |= {id(p) for p in own}
        noted = [
            r for r in remarks_by_source.get(source.name, []) if one.span.start <= r.span.start < one.span.end
        ]
        result.objects.append(_assessed(one, tuple(own), tuple(noted)))
    result.outside = [p for found in by_source.values() for p in found if id(p) not in inside]
    result.outside += project.problems
    return result


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _assessed(one: Object, problems: tuple[Problem, ...], remarks: tuple[Remark, ...]) -> Assessed:
    errors = {problem.message for problem in problems if problem.severity == "error"}
    status = REFUSED if errors else DIFFERS if problems or remarks else RUNS
    if not errors:
        effort = "small" if status == DIFFERS else "none"
    elif len(errors) == 1:
        effort = "small"
    else:
        effort = "medium" if len(errors) <= 4 else "large"
    return Assessed(one, status, effort, problems, remarks)
