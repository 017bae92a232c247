"""Where this user's files go: the XDG folders, macOS's or Windows' own, not made here; how one is written."""

import contextlib
import errno
import os
import stat
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
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / _NAME
    return Path.home() / (_MACOS if sys.platform == "darwin" else _LINUX)[kind] / _NAME


def expect_to_write(path: Path) -> None:
    """Raise OSError where `write_whole` could not begin: to be told before the work, not behind it."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    # A closed folder is no hindrance where the file is there, and open.
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file, or leave what was there: a disk may be full. Raises OSError, with the file's name.

    ``mode`` is the file's from now on; None: what it has, else what the umask says.
    """
    try:
        found = path.stat() if path.exists() else None
        if found is not None and not stat.S_ISREG(found.st_mode):
            path.write_bytes(data)  # a pipe, a terminal
            return
        target = path.resolve()
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        temporary.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            descriptor = os.open(temporary, flags, 0o666 if mode is None else mode)
        except PermissionError:
            path.write_bytes(data)  # the folder is closed, the file open
            return
        try:
            with os.fdopen(descriptor, "wb") as out:
                if found is not None and sys.platform != "win32":
                    if mode is None:
                        os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
                    with contextlib.suppress(OSError):
                        os.fchown(descriptor, found.st_uid, found.st_gid)
                out.write(data)
                out.flush()
                os.fsync(descriptor)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
