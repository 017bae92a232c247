"""The source distribution holds the checkout, and the same wheel comes of both."""

import tarfile
import zipfile
from pathlib import PurePosixPath

import pytest

# What setuptools writes; in an unpacked sdist, whose tests run there too, it stands beside the sources.
MADE = {"PKG-INFO", "setup.cfg"}


def _files(sdist: tarfile.TarFile) -> set[str]:
    """Its files, as the checkout names them; without what setuptools writes."""
    names = {PurePosixPath(*PurePosixPath(one.name).parts[1:]) for one in sdist.getmembers() if one.isfile()}
    return {str(name) for name in names if not name.parent.name.endswith(".egg-info")} - MADE


def test_the_sdist_holds_what_the_checkout_holds(sdist: tarfile.TarFile, source_files: set[str]) -> None:
    assert _files(sdist) == source_files - MADE
    assert {"LICENSE", "CHANGELOG.md", "docs/dialect.md", "scripts/test", "tests/conftest.py"} <= source_files


def test_nothing_of_the_sdist_stands_twice_or_is_a_link(sdist: tarfile.TarFile) -> None:
    # .types/pgsb is a link to the checkout itself: a packager that followed it would come round and round.
    names = sdist.getnames()
    assert len(names) == len(set(names))
    assert not [one.name for one in sdist if one.issym() or one.islnk() or "/.types" in one.name]


def test_scripts_of_the_sdist_can_be_run(sdist: tarfile.TarFile) -> None:
    modes = {one.name.split("/", 1)[1]: one.mode for one in sdist if one.isfile()}
    assert modes["scripts/test"] & 0o111 and modes["scripts/check_wheel"] & 0o111


# Two distributions more are built, for what changes with MANIFEST.in and setup.py alone.
@pytest.mark.long
def test_the_sdist_makes_the_same_wheel(wheel: zipfile.ZipFile, wheel_of_sdist: zipfile.ZipFile) -> None:
    def contents(one: zipfile.ZipFile) -> dict[str, bytes]:
        # RECORD follows the order of the other files.
        return {name: one.read(name) for name in one.namelist() if not name.endswith("/RECORD")}

    assert contents(wheel_of_sdist) == contents(wheel)
