"""The wheel holds every package and every data file, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Folders of the checkout that are no packages.
NOT_SHIPPED = {"tests", "examples", "benchmarks", "docs", "scripts", "build", "dist"}
SHIPPED = {".py", ".sql", ".lark"}


def _packages() -> list[Path]:
    """Every folder that holds code or SQL of ours, the checkout itself first."""
    found = [ROOT]
    for top in sorted(ROOT.iterdir()):
        if top.is_dir() and top.name not in NOT_SHIPPED and not top.name.startswith("."):
            folders = [top, *(path for path in top.rglob("*") if path.is_dir())]
            found += [path for path in folders if any(file.suffix in SHIPPED for file in path.iterdir())]
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel built from a copy, so that no build directory appears in the checkout."""
    copy = tmp_path_factory.mktemp("source") / "checkout"
    ignore = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "build", "dist")
    shutil.copytree(ROOT, copy, ignore=ignore, symlinks=True)
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    shown = subprocess.run([*command, "-w", str(out), str(copy)], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_what_the_folders_hold(wheel: zipfile.ZipFile) -> None:
    expected = {
        (Path("pgsb") / file.relative_to(ROOT)).as_posix()
        for folder in _packages()
        for file in folder.iterdir()
        if file.suffix in SHIPPED or file.name == "py.typed"
    }
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == expected


def test_the_wheel_offers_the_command_and_the_license(wheel: zipfile.ZipFile) -> None:
    info = {name.split("/", 1)[1]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert "pgsb = pgsb.cli.main:main" in wheel.read(info["entry_points.txt"]).decode()
    assert "licenses/LICENSE" in info
    assert "License-Expression: MIT" in wheel.read(info["METADATA"]).decode()


def test_spark_is_an_extra_only(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    lines = wheel.read(metadata).decode().splitlines()
    required = [line for line in lines if line.startswith("Requires-Dist: pyspark")]
    assert required
    assert all('extra == "spark"' in line for line in required)
