"""Who imports whom in the compiler, from its sources: no circle, no arrow back up, no forgotten handler."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from architecture.import_statements import import_statements

from pgsb import compiler
from pgsb.compiler import nodes
from pgsb.compiler.lower.context import Context
from pgsb.compiler.lower.dispatch import invocations, lower
from pgsb.compiler.lower.system import procedures as _all_handlers  # noqa: F401
from pgsb.compiler.registry import NoHandler, Registry

ROOT = Path(compiler.__file__).resolve().parent
CONTRIBUTING = ROOT.parent / "CONTRIBUTING.md"
LISTED = "builder lower lower/system lower/dynamic sql/dml sql/query sql/ddl sql/expressions".split()
"""Folders of handlers: their ``__init__`` imports every module."""


@dataclass(frozen=True)
class Import:
    """One name that one module imports from another, wherever the statement stands."""

    by: str
    of: str
    inside_function: bool
    place: str


@cache
def modules() -> dict[str, Path]:
    """Every module of the compiler: ``sql.query.select`` → its file."""
    result = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        result[".".join(part for part in parts if part != "__init__")] = path
    return result


@cache
def imports() -> tuple[Import, ...]:
    """All imports between modules of the compiler: at the top, in functions, under TYPE_CHECKING."""
    return tuple(found for name, path in modules().items() for found in imports_of(name, path))


def imports_of(name: str, path: Path) -> Iterator[Import]:
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    if package == [""]:
        package = []
    for node, inside in import_statements(path):
        place = f"{path.relative_to(ROOT)}:{node.lineno}"
        if isinstance(node, ast.Import):
            names = [alias.name.removeprefix("pgsb.compiler.") for alias in node.names]
            for imported in names:
                if imported in modules():
                    yield Import(name, imported, inside, place)
            continue
        if node.level > len(package) + 1:
            continue  # grammar, above the compiler
        base = package[: len(package) - node.level + 1] if node.level else None
        if base is None:
            if not (node.module or "").startswith("pgsb.compiler"):
                continue
            base = (node.module or "").split(".")[2:]
        elif node.module:
            base = [*base, *node.module.split(".")]
        for alias in node.names:
            whole = ".".join([*base, alias.name])
            target = whole if whole in modules() else ".".join(base)
            if target in modules() and target != name:
                yield Import(name, target, inside, place)


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Groups of names that reach each other (Tarjan's strongly connected components, two or more)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    result: list[set[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(arrows.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = set()
            while True:
                member = stack.pop()
                group.add(member)
                if member == name:
                    break
            if len(group) > 1:
                result.append(group)

    for name in sorted(arrows):
        if name not in index:
            visit(name)
    return result


def folder(module: str) -> str:
    """What the table of CONTRIBUTING.md calls the place of a module."""
    path = modules()[module].relative_to(ROOT)
    if module == "sql.translate":
        return "sql/translate"
    if path.parent == Path("."):
        return "registry" if module == "registry" else "compiler"
    return path.parent.as_posix()


def arrows_between_folders() -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for found in imports():
        if found.by == "" or folder(found.by) == folder(found.of):
            continue
        result.setdefault(folder(found.by), set()).add(folder(found.of))
    return result


def allowed() -> dict[str, set[str]]:
    """The table of arrows in CONTRIBUTING.md."""
    rows = {}
    lines = CONTRIBUTING.read_text().split("## Arrows of the compiler", 1)[1].split("\n## ")[0].splitlines()
    for line in lines:
        if line.startswith("| `"):
            name, imported = line.strip("| ").split("|")
            rows[name.strip(" `")] = {part.strip(" `") for part in imported.split(",") if part.strip(" `–")}
    return rows


def test_no_module_is_in_a_circle() -> None:
    arrows: dict[str, set[str]] = {}
    for found in imports():
        arrows.setdefault(found.by, set()).add(found.of)
    assert circles(arrows) == []


def test_a_circle_would_be_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]


def test_no_import_stands_inside_a_function() -> None:
    assert [found.place for found in imports() if found.inside_function] == []


def test_folders_import_what_the_table_in_contributing_says() -> None:
    assert arrows_between_folders() == {name: rows for name, rows in allowed().items() if rows}


def test_the_table_reads_from_top_to_bottom() -> None:
    """Every arrow points at a row further down."""
    order = list(allowed())
    up = [
        (name, imported)
        for name, row in allowed().items()
        for imported in row
        if order.index(imported) <= order.index(name)
    ]
    assert up == []


@pytest.mark.parametrize("place", LISTED)
def test_a_folder_of_handlers_lists_every_module(place: str) -> None:
    package = importlib.import_module(f"pgsb.compiler.{place.replace('/', '.')}")
    files = sorted(path.stem for path in (ROOT / place).glob("*.py") if path.name != "__init__.py")
    assert sorted(package.__all__) == files
    assert all(hasattr(package, name) for name in files)


def test_no_other_folder_has_handlers() -> None:
    """A module that registers something stands in a folder that lists it, or is itself a dispatch."""
    register = re.compile(r"^\s*@?\w+\.register\b", re.MULTILINE)
    folders = {folder(name) for name, path in modules().items() if register.search(path.read_text())}
    assert folders - set(LISTED) == {"plpgsql"}, "plpgsql/emit has its writers to itself"


def statement_classes() -> list[type[nodes.Statement]]:
    return [
        found
        for name in nodes.__all__
        if isinstance(found := getattr(nodes, name), type)
        and issubclass(found, nodes.Statement)
        and found is not nodes.Statement
    ]


MODULES = {nodes.CreateProcedure, nodes.CreateFunction, nodes.CreateTrigger, nodes.CreateView}
"""lower/batches.py knows them: each is a batch of its own."""
IN_A_MACHINE = {nodes.SaveTransaction}
"""lower/state_machine.py gives a body with savepoints its shape."""
REFUSED = {nodes.UnsupportedStatement, nodes.InvalidStatement}
"""check/ refuses them by name: they never reach lower/."""


@pytest.mark.parametrize("found", statement_classes(), ids=lambda found: found.__name__)
def test_every_statement_has_a_handler(found: type[nodes.Statement]) -> None:
    handled = lower.find(found) is not None or invocations.find(found) is not None
    assert handled or found in MODULES | IN_A_MACHINE | REFUSED


def test_two_handlers_for_one_class_are_refused() -> None:
    registry: Registry[Callable[[nodes.Print, Context], None]] = Registry("a registry")

    @registry.register
    def first(node: nodes.Print, ctx: Context) -> None: ...

    with pytest.raises(TypeError, match=r"a registry: Print has a handler in .*test_compiler and another"):

        @registry.register(nodes.Print)
        def second(node: nodes.Print, ctx: Context) -> None: ...

    assert registry[nodes.Print] is first


def test_a_missing_handler_is_named() -> None:
    registry: Registry[Callable[[nodes.Print, Context], None]] = Registry("a registry")
    with pytest.raises(NoHandler, match="a registry: no handler for Print"):
        registry[nodes.Print]


def test_a_subclass_has_the_handler_of_its_base() -> None:
    class Louder(nodes.Print):
        pass

    assert lower.find(Louder) is lower.find(nodes.Print) is not None
