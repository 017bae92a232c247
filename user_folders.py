"""Where this user's files go: the XDG folders, or macOS's own. Not made here."""

import os
import sys
from pathlib import Path

_NAME = "pgsb"
_LINUX = {"DATA": ".local/share", "CACHE": ".cache", "STATE": ".local/state"}
_MACOS = {
    "DATA": "Library/Application Support",
    "CACHE": "Library/Caches",
    "STATE": "Library/Application Support",
}


def user_data() -> Path:
    """What is kept: the private server, keys."""
    return _folder("DATA")


def user_cache() -> Path:
    """What can be made again."""
    return _folder("CACHE")


def user_state() -> Path:
    """What is remembered: the history of the shell."""
    return _folder("STATE")


def _folder(kind: str) -> Path:
    # The XDG Base Directory Specification: a path that is not absolute counts as none.
    chosen = os.environ.get(f"XDG_{kind}_HOME", "").strip()
    if os.path.isabs(chosen):
        return Path(chosen) / _NAME
    return Path.home() / (_MACOS if sys.platform == "darwin" else _LINUX)[kind] / _NAME
