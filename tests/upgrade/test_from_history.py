"""What earlier states of this repository installed becomes what this one installs.

Skips where the repository's history is not there: in an archive of the source, in a shallow clone.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from runtime_objects import objects

from pgsb.runtime_sql import installer
from support import Connection, Database

_ROOT = Path(__file__).parents[2]
# The last commit before a change of the runtime's tables and functions, and the version that it has.
_COMMITS = {
    "b5f51098": 19,
    "a0ec910a": 40,
    "aef4d8f4": 81,
    "4fd23f3e": 107,
    "03c535ca": 137,
    "b2e63e79": 181,
    "3ca280fb": 421,
    "a0710694": 710,
}
_INSTALL = """
import sys
import psycopg
from pgsb.runtime_sql.installer import install
with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    install(connection)
"""


def _files_of(commit: str, folder: Path) -> None:
    """The packages that install the runtime of ``commit``, under ``folder``."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    wanted = ["git", "-C", str(_ROOT), "archive", commit, "runtime_sql", "compiler", "grammar"]
    archive = subprocess.run(wanted, capture_output=True)
    if archive.returncode != 0:
        pytest.skip(f"commit {commit} is not in this copy of the repository")
    package = folder / "pgsb"
    package.mkdir()
    subprocess.run(["tar", "-x", "-C", str(package)], input=archive.stdout, check=True)
    (package / "__init__.py").touch()


@pytest.mark.long
@pytest.mark.parametrize(("commit", "version"), _COMMITS.items())
def test_what_an_earlier_state_installed_becomes_a_fresh_installation(
    empty_database: Database,
    database: Database,
    connect: Callable[..., Connection],
    tmp_path: Path,
    commit: str,
    version: int,
) -> None:
    _files_of(commit, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", _INSTALL, empty_database.dsn], env=environment, check=True)
    connection = connect(empty_database.dsn)
    assert installer.installed_version(connection) == str(version)
    installer.upgrade(connection)
    upgraded, fresh = objects(connection), objects(connect())
    assert [line for line in upgraded if line not in fresh] == []
    assert [line for line in fresh if line not in upgraded] == []
