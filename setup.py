"""What pyproject.toml cannot say: the wheel holds the runtime's SQL files as one archive.

There are some 300 of them. Each would take whole blocks of a disk, together five times the archive.
"""

import zipfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""Of every file in the archive: the same files make the same wheel."""


class BuildPackages(build_py):
    """Copies the packages, and packs the files of runtime_sql (its installer.py reads them)."""

    def run(self) -> None:
        """Build; an editable installation has the folders as they are."""
        super().run()
        if not self.editable_mode:
            built = Path(self.build_lib) / "pgsb"
            # The package is the checkout itself, of which this file is no module.
            (built / "setup.py").unlink()
            _pack(built / "runtime_sql")


def _pack(folder: Path) -> None:
    files = sorted(folder.rglob("*.sql"))
    with zipfile.ZipFile(folder / "runtime.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            member = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _FIRST_DAY)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, file.read_bytes())
    for file in files:
        file.unlink()
    for emptied in sorted((one for one in folder.rglob("*") if one.is_dir()), reverse=True):
        if not any(emptied.iterdir()):
            emptied.rmdir()


setup(cmdclass={"build_py": BuildPackages})
