"""The wheel holds every package and every data file, and nothing else."""

import ast
import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Folders of the checkout that are no packages.
NOT_SHIPPED = {"tests", "examples", "benchmarks", "docs", "scripts", "build", "dist"}
# Modules of what another requirement brings: jinja2 MarkupSafe, pyspark py4j, pandas numpy.
COMES_WITH_ANOTHER = {"markupsafe", "py4j", "numpy"}
SHIPPED = {".py", ".sql", ".lark", ".html", ".css", ".js", ".svg"}


def _packages() -> list[Path]:
    """Every folder that holds code or SQL of ours, the checkout itself first."""
    found = [ROOT]
    for top in sorted(ROOT.iterdir()):
        if top.is_dir() and top.name not in NOT_SHIPPED and not top.name.startswith("."):
            folders = [top, *(path for path in top.rglob("*") if path.is_dir())]
            found += [path for path in folders if any(file.suffix in SHIPPED for file in path.iterdir())]
    return found


def test_the_wheel_holds_what_the_folders_hold(wheel: zipfile.ZipFile) -> None:
    expected = {
        (Path("pgsb") / file.relative_to(ROOT)).as_posix()
        for folder in _packages()
        for file in folder.iterdir()
        if file.suffix in SHIPPED or file.name == "py.typed"
    }
    # A module of its own, by whose name Spark finds format("pgsb").
    expected ^= {"pgsb/bulk/found_by_spark/pyspark_pgsb.py", "pyspark_pgsb.py"}
    expected.remove("pgsb/setup.py")  # it builds the wheel
    expected.add("pgsb/editor/dialect.md")  # a copy of docs/dialect.md
    runtime = {name for name in expected if name.startswith("pgsb/runtime_sql/") and name.endswith(".sql")}
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == expected - runtime | {"pgsb/runtime_sql/runtime.zip"}
    with zipfile.ZipFile(wheel.open("pgsb/runtime_sql/runtime.zip")) as packed:
        assert {f"pgsb/runtime_sql/{name}" for name in packed.namelist()} == runtime


@pytest.mark.long
def test_the_packed_runtime_is_what_the_checkout_installs(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    code = "from pgsb.runtime_sql.installer import extension_files, install_sql, upgrade_sql\n"
    code += "print(install_sql(), install_sql('broker'), upgrade_sql(1), *extension_files().items())"
    packed, ours = (
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=place,
            env=os.environ | {"PYTHONPATH": str(place)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for place in (tmp_path, ROOT / ".types")
    )
    assert packed == ours
    assert len(packed) > 1_000_000


def test_the_wheel_offers_the_command_and_the_license(wheel: zipfile.ZipFile) -> None:
    info = {name.split("/", 1)[1]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert "pgsb = pgsb.cli:program" in wheel.read(info["entry_points.txt"]).decode()
    assert "licenses/LICENSE" in info
    assert "License-Expression: MIT" in wheel.read(info["METADATA"]).decode()


@pytest.mark.parametrize("library", ["pyspark", "cryptography", "prompt_toolkit"])
def test_what_only_some_need_is_an_extra(wheel: zipfile.ZipFile, library: str) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    lines = wheel.read(metadata).decode().splitlines()
    required = [line for line in lines if line.startswith(f"Requires-Dist: {library}")]
    assert required
    assert all("extra == " in line for line in required)


@pytest.mark.long
def test_whatever_the_wheel_imports_is_required_or_an_extra(wheel: zipfile.ZipFile) -> None:
    imported: dict[str, str] = {}
    for name in wheel.namelist():
        if name.endswith(".py"):
            for node in ast.walk(ast.parse(wheel.read(name))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.split(".")[0]: name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    imported[str(node.module).split(".")[0]] = name
    (metadata,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    said = message_from_bytes(wheel.read(metadata)).get_all("Requires-Dist", [])
    required = {canonical(re.split(r"[^\w.-]", one)[0]) for one in said if not one.endswith('extra == "dev"')}
    distributions = packages_distributions()
    missing = {
        module: name
        for module, name in imported.items()
        if module not in sys.stdlib_module_names | {"pgsb"} | COMES_WITH_ANOTHER
        and required.isdisjoint(map(canonical, distributions.get(module, [module])))
    }
    assert missing == {}


def canonical(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
