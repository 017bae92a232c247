"""Where files of the user go."""

import errno
import os
import sys
from pathlib import Path

import pytest

from pgsb import user_folders
from pgsb.security.keys import ServiceKeys
from pgsb.security.problems import KeyProblem
from pgsb.security.statements import _write as write_backup

pytestmark = pytest.mark.one_postgres
FOLDERS = (user_folders.user_data, user_folders.user_cache, user_folders.user_state)
XDG = ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", [".local/share/pgsb", ".cache/pgsb", ".local/state/pgsb"]),
        (
            "darwin",
            ["Library/Application Support/pgsb", "Library/Caches/pgsb", "Library/Application Support/pgsb"],
        ),
    ],
)
def test_they_are_where_the_system_has_them(
    platform: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in XDG:
        monkeypatch.delenv(name, raising=False)
    assert [str(folder().relative_to(tmp_path)) for folder in FOLDERS] == expected


def test_windows_has_one_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    for name in XDG:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert {folder() for folder in FOLDERS} == {tmp_path / "pgsb"}


def test_xdg_moves_each_and_a_relative_path_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/ada")
    for name in XDG:
        monkeypatch.setenv(name, f"/srv/{name}")
    assert [folder() for folder in FOLDERS] == [Path("/srv") / name / "pgsb" for name in XDG]
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert user_folders.user_data() == Path("/home/ada/.local/share/pgsb")


def test_a_full_disk_leaves_the_old_file_or_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old, keys = tmp_path / "old", ServiceKeys(tmp_path)
    old.write_text("old")
    old.chmod(0o640)
    key_id, _ = keys.make()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device.*old"):
            user_folders.write_whole(old, b"new")
        with pytest.raises(KeyProblem, match="No space left on device"):
            keys.write(key_id, bytes(32))
        with pytest.raises(KeyProblem, match="Cannot write into file"):
            write_backup(str(tmp_path / "backup"), b"new")
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(["old", f"{key_id}.key"])
    assert old.read_text() == "old" and ServiceKeys(tmp_path).read(key_id) != bytes(32)
    user_folders.write_whole(old, b"new")
    assert (old.read_text(), old.stat().st_mode & 0o777) == ("new", 0o640)
