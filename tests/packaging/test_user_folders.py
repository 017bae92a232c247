"""Where files of the user go."""

import sys
from pathlib import Path

import pytest

from pgsb import user_folders

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


def test_xdg_moves_each_and_a_relative_path_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/ada")
    for name in XDG:
        monkeypatch.setenv(name, f"/srv/{name}")
    assert [folder() for folder in FOLDERS] == [Path("/srv") / name / "pgsb" for name in XDG]
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert user_folders.user_data() == Path("/home/ada/.local/share/pgsb")
