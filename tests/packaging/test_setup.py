"""scripts/setup says what keeps it from setting up, before pip is asked."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TOO_OLD = """\
#!/bin/sh
case "$*" in
    *version_info*) exit 1 ;;
    --version) echo Python 3.10.13 ;;
esac
"""
"""A Python of 3.10, as far as it is asked; pip can be imported."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts")
    return tmp_path


def old_python(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TOO_OLD)
    path.chmod(0o755)
    return path


def set_up(checkout: Path, **variables: str) -> str:
    """What is said where it gives up."""
    done = subprocess.run(
        ["sh", str(checkout / "scripts" / "setup")],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


@pytest.mark.parametrize("is_there", [True, False])
def test_a_python_that_is_named_is_taken_or_refused(is_there: bool, checkout: Path) -> None:
    """It took another one without a word."""
    python = checkout / "bin" / "python3.10"
    if is_there:
        old_python(python)
    said = set_up(checkout, PYTHON=str(python))
    assert said == f"setup: PYTHON names {python}, which is no Python 3.11 or newer that runs here.\n"
    assert not (checkout / ".venv").exists()


def test_an_environment_of_an_older_python_is_told(checkout: Path) -> None:
    """pip tried versions of everything for ten minutes and more, and said nothing."""
    old_python(checkout / ".venv" / "bin" / "python")
    said = set_up(checkout)
    assert "Python 3.11 or newer is needed, and .venv has Python 3.10.13." in said
    assert "Remove .venv and run this again." in said
    assert (checkout / ".venv").exists()
