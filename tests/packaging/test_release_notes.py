"""scripts/release_notes prints one version's section of CHANGELOG.md."""

import shutil
import subprocess
from pathlib import Path

import pytest

import pgsb

ROOT = Path(__file__).parents[2]
CHANGES = """# Changes

## 0.10.0, not released

- Ten.

## 0.1.0, 2026-11-23

- One,
  and a second line.

### Fixed

- Two.

## 0.0.9
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a history."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "release_notes", tmp_path / "scripts")
    (tmp_path / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    return tmp_path


def _notes(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(project / "scripts" / "release_notes"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", ["0.1.0", "v0.1.0"])
def test_a_section_without_its_heading_and_its_neighbours(project: Path, version: str) -> None:
    shown = _notes(project, version)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == "- One,\n  and a second line.\n\n### Fixed\n\n- Two.\n"


# A dot is a dot, a prefix is no version, an empty section no notes.
@pytest.mark.parametrize("version", ["0.2.0", "0.1", "0x1.0", "0.0.9", ""])
def test_a_version_without_notes_is_an_error(project: Path, version: str) -> None:
    shown = _notes(project, version)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr == f"release_notes: CHANGELOG.md says nothing of {version}\n"


def test_without_a_version_the_usage_is_said(project: Path) -> None:
    shown = _notes(project)
    assert (shown.returncode, shown.stderr) == (2, "usage: sh scripts/release_notes VERSION\n")


def test_the_version_of_the_code_has_notes() -> None:
    shown = _notes(ROOT, pgsb.__version__)
    assert shown.returncode == 0, shown.stderr
    assert "\n- " in shown.stdout
