"""What comments and docstrings point to is there: modules and names behind :mod: and its like, and files."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "assess bulk cli client compiler daemon diff editor grammar observe runtime_sql security server".split()
)
_ROLE = re.compile(r":(?:mod|func|class|meth|data|attr):`~?([.\w]+)`")
_FILE = re.compile(r"(?<![\w./*{-])((?:[a-z_]+/)+\w+\.(?:sql|py|lark|md))\b")


def _files(*suffixes: str) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and "migrations" not in path.parts:
                yield path


def _resolves(module: str, is_package: bool, name: str) -> bool:
    """Whether ``name``, as docstrings of ``module`` write it (``.reader.builders``), is there."""
    if name.startswith("."):
        package = module if is_package else module.rpartition(".")[0]
        up = len(name) - len(name.lstrip("."))
        base = package.split(".")[: len(package.split(".")) - up + 1]
        name = ".".join([*base, name.lstrip(".")])
    elif not name.startswith("pgsb."):
        name = f"{module}.{name}"
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return part in getattr(found, "__annotations__", {})
            found = getattr(found, part)
        return True
    return False


def test_a_role_names_what_there_is() -> None:
    asked, missing = 0, []
    for path in _files(".py"):
        place = path.relative_to(ROOT).with_suffix("")
        module = ".".join(("pgsb", *place.parts)).removesuffix(".__init__")
        for name in _ROLE.findall(path.read_text(encoding="utf-8")):
            asked += 1
            if not _resolves(module, path.stem == "__init__", name):
                missing.append((place.as_posix(), name))
    assert asked > 30
    assert missing == []


def test_a_file_that_is_mentioned_is_there() -> None:
    there = [
        path.relative_to(ROOT).as_posix()
        for folder in (*FOLDERS, "docs", "tests", "examples", "scripts", "benchmarks")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".sql", ".py", ".lark", ".md")
    ]
    ends = {"/".join(place.split("/")[count:]) for place in there for count in range(place.count("/") + 1)}
    asked, missing = 0, []
    for path in _files(".py", ".sql", ".lark"):
        for name in _FILE.findall(path.read_text(encoding="utf-8")):
            asked += 1
            if name.removeprefix("pgsb/") not in ends:
                missing.append((path.relative_to(ROOT).as_posix(), name))
    assert asked > 300
    assert missing == []


@pytest.mark.parametrize(
    ("name", "there"),
    [
        (".reader", True),
        (".reader.builders", True),
        ("..sql.translate", True),
        ("pgsb.compiler.session", True),
        (".lower_savepoint", False),
        ("reader.builders", False),
        ("..sql.nowhere", False),
    ],
)
def test_how_a_role_is_resolved(name: str, there: bool) -> None:
    assert _resolves("pgsb.compiler.builder.batches", False, name) is there
