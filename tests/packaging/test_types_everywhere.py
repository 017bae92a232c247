"""Types are checked alike where all extras are installed and where only what the tests need is."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOT_CHECKED = {"tests", "examples", "benchmarks", "docs", "scripts", "build", "dist", "deploy"}


def name_of(requirement: str) -> str:
    """The distribution that a requirement names, as an index writes it."""
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def installed_without_spark() -> set[str]:
    """What the extra `dev` brings, and what that requires."""
    wanted = [name_of(one) for one in PROJECT["project"]["dependencies"]]
    wanted += [name_of(one) for one in PROJECT["project"]["optional-dependencies"]["dev"]]
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        found.add(name)
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # a marker leaves it out on this machine
        wanted += [name_of(one) for one in requirements if "extra ==" not in one]
    return found


def imported() -> set[str]:
    """The top names of other people's modules that ours import, wherever the import stands."""
    found: set[str] = set()
    tops = [top for top in ROOT.iterdir() if top.is_dir() and top.name not in NOT_CHECKED]
    for path in (path for top in tops if not top.name.startswith(".") for path in top.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"pgsb", "__future__"}


@pytest.mark.long
def test_what_may_be_missing_is_known_to_mypy() -> None:
    may_be_missing = {
        pattern.removesuffix(".*")
        for override in PROJECT["tool"]["mypy"]["overrides"]
        if override.get("ignore_missing_imports")
        for pattern in override["module"]
    }
    there = installed_without_spark()
    of = importlib.metadata.packages_distributions()
    unknown = {
        module
        for module in imported() - may_be_missing
        if not any(name_of(distribution) in there for distribution in of.get(module, []))
    }
    assert unknown == set()
