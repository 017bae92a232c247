"""Who imports whom between the project's folders, and whether CONTRIBUTING.md's places are there."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from architecture.import_statements import import_statements

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NOT_SHIPPED = {"tests", "examples", "benchmarks", "docs", "scripts", "build", "dist", "deploy"}


def section(title: str) -> str:
    """The text under a heading of CONTRIBUTING.md, to the next one."""
    return CONTRIBUTING.split(f"\n## {title}\n", 1)[1].split("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The rows of the table under a heading, each a list of cells; without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def arrows() -> dict[str, set[str]]:
    """Top folder → the top folders that its files import, wherever the import stands."""
    found: dict[str, set[str]] = {}
    for top in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        if top.name in NOT_SHIPPED or top.name.startswith(".") or not any(top.rglob("*.py")):
            continue
        found[top.name] = set()
        for path in top.rglob("*.py"):
            found[top.name] |= set(imported(path)) - {top.name}
    return found


def imported(path: Path) -> Iterator[str]:
    """The top folders that one file imports."""
    package = path.relative_to(ROOT).parent.parts
    for node, _ in import_statements(path):
        if isinstance(node, ast.Import):
            whole = [alias.name.split(".") for alias in node.names]
            yield from (name[1] for name in whole if name[0] == "pgsb" and len(name) > 1)
        else:
            base = package[: len(package) - node.level + 1] if node.level else ()
            names = [*base, *(node.module or "").split(".")]
            if not node.level:
                if names[0] != "pgsb":
                    continue
                names = names[1:]
            names = [name for name in names if name]
            candidates = names[:1] or [alias.name for alias in node.names]
            yield from (name for name in candidates if (ROOT / name).is_dir())


def files() -> dict[str, set[str]]:
    """Every module of the project → the modules that it imports, in functions and for types too."""
    found: dict[str, set[str]] = {}
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for top in arrows()
        for path in (ROOT / top).rglob("*.py")
    }
    for name, path in names.items():
        package = path.relative_to(ROOT).parent.parts
        found[name] = set()
        for node, _ in import_statements(path):
            if not isinstance(node, ast.ImportFrom):
                continue
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += (node.module or "").removeprefix("pgsb.").split(".") if node.module else []
            for alias in node.names:
                whole, part = ".".join([*base, alias.name]), ".".join(base)
                found[name] |= {whole if whole in names else part} & names.keys() - {name}
    return found


def test_no_module_is_in_a_circle() -> None:
    order = graphlib.TopologicalSorter(files())
    order.prepare()  # raises CycleError, which names the circle


def test_folders_import_what_the_table_says() -> None:
    allowed = {
        name.strip("`/"): set(re.findall(r"`([a-z_]+)/`", imports)) for name, imports in rows("Folders")
    }
    assert arrows() == allowed


def test_no_folder_imports_one_below_it() -> None:
    order = [name.strip("`/") for name, _ in rows("Folders")]
    back = [
        (name, other)
        for name, row in arrows().items()
        for other in row
        if order.index(other) > order.index(name)
    ]
    assert back == []


@pytest.mark.parametrize(("question", "place"), rows("Where is it?"))
def test_a_question_of_a_stranger_leads_to_a_place_that_is_there(question: str, place: str) -> None:
    assert question.endswith("?")
    paths = re.findall(r"`([^`]+)`", place)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "folder",
    ["grammar", "compiler", "server", "bulk", "daemon", "observe", "assess", "diff", "editor", "security"],
)
def test_a_map_names_all_that_is_in_its_folder(folder: str) -> None:
    """A folder's ``__init__`` tells where to look: a file that it does not name is found by nobody."""
    place = ROOT / folder
    told = set(re.findall(r"\w+", ast.get_docstring(ast.parse((place / "__init__.py").read_text())) or ""))
    there = {path.stem for path in place.iterdir() if path.suffix in (".py", ".lark")}
    there |= {path.name for path in place.iterdir() if any(path.glob("*.py"))}
    assert sorted(there - told - {"__init__"}) == []
