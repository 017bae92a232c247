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

from pgsb.runtime_sql import installer, removal
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
# Of version 1, before the tables were those of tests/upgrade/version_1_tables.sql.
_BEFORE_MIGRATIONS = ["3e4683b3", "375b1174"]
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


def _install(commit: str, folder: Path, database: Database) -> None:
    _files_of(commit, folder)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-c", _INSTALL, database.dsn], env=environment, check=True)


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
    _install(commit, tmp_path, empty_database)
    connection = connect(empty_database.dsn)
    assert installer.installed_version(connection) == str(version)
    installer.upgrade(connection)
    upgraded, fresh = objects(connection), objects(connect())
    assert [line for line in upgraded if line not in fresh] == []
    assert [line for line in fresh if line not in upgraded] == []


@pytest.mark.long
@pytest.mark.parametrize("commit", _BEFORE_MIGRATIONS)
def test_what_no_migration_knows_is_left_as_it_is(
    empty_database: Database, connect: Callable[..., Connection], tmp_path: Path, commit: str
) -> None:
    _install(commit, tmp_path, empty_database)
    connection = connect(empty_database.dsn)
    before = objects(connection)
    with pytest.raises(installer.RuntimeVersionError, match="unreleased state of runtime version 1,"):
        installer.upgrade(connection)
    assert objects(connection) == before
    # What the hint says.
    removal.uninstall(connection)
    installer.install(connection)
    assert installer.installed_version(connection) == installer.RUNTIME_VERSION
