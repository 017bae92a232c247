"""The distributions, built once from a copy of the checkout: no build directory appears in the checkout."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What .gitignore leaves out, for a checkout without git.
IGNORED = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", "*.py[cod]", "*.egg-info", "build", "dist", ".*_cache", ".hypothesis"
)


def _build(command: str, source: Path, out: Path) -> Path:
    """Run one hook of setuptools, PEP 517's, in source; what it made is alone in out."""
    code = f"import sys; from setuptools import build_meta; build_meta.{command}(sys.argv[1])"
    shown = subprocess.run(
        # A developer's setup.cfg, environment or user packages play no part, nor does any index.
        [sys.executable, "-I", "-c", code, str(out)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout as it stands: git's files and those that git would add."""
    copy = tmp_path_factory.mktemp("source") / "checkout"
    listed = (
        subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if shutil.which("git") and (ROOT / ".git").exists()
        else None
    )
    if listed is None or listed.returncode:
        return Path(shutil.copytree(ROOT, copy, ignore=IGNORED, symlinks=True))
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    return copy


@pytest.fixture(scope="session")
def source_files(checkout: Path) -> set[str]:
    """The copy's files, before anything was built in it; links to folders are not followed."""
    return {
        path.relative_to(checkout).as_posix()
        for path in checkout.rglob("*")
        if path.is_file()  # through a link too: the sdist holds what it leads to
    }


@pytest.fixture(scope="session")
def sdist(
    checkout: Path, source_files: set[str], tmp_path_factory: pytest.TempPathFactory
) -> tarfile.TarFile:
    """The source distribution."""
    return tarfile.open(_build("build_sdist", checkout, tmp_path_factory.mktemp("sdist")))


@pytest.fixture(scope="session")
def wheel(
    checkout: Path, source_files: set[str], tmp_path_factory: pytest.TempPathFactory
) -> zipfile.ZipFile:
    """The wheel of the checkout."""
    return zipfile.ZipFile(_build("build_wheel", checkout, tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="session")
def wheel_of_sdist(sdist: tarfile.TarFile, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of the unpacked source distribution."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    # Python before 3.11.4 (Debian 12) has no filters; ours has nothing to filter, and 3.12 warns without one.
    sdist.extraction_filter = getattr(tarfile, "data_filter", None)
    sdist.extractall(unpacked)
    (source,) = unpacked.iterdir()
    return zipfile.ZipFile(_build("build_wheel", source, tmp_path_factory.mktemp("wheel_of_sdist")))
