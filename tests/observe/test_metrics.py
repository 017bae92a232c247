"""pgsb broker --metrics: what Prometheus reads, and the daemon's health."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from observe_desk import HURRY
from prometheus_client.parser import text_string_to_metric_families

from activation import DRAIN, Daemon, activate, done, send, until
from pgsb.daemon.counts import Counts
from pgsb.observe.listen_address import parse_listen
from pgsb.observe.metrics import collector
from pgsb.observe.metrics.collector import _Left
from pgsb.observe.metrics.endpoint import MetricsEndpoint
from pgsb.server.problems import ServerError
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Start = Callable[..., Daemon]


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def scrape(port: int) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample, by its name and labels."""
    status, text = get(port, "/metrics")
    assert status == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def endpoint(sql: Connection, database: Database, daemon: Start) -> Iterator[tuple[MetricsEndpoint, Daemon]]:
    for setting in ("DateStyle = 'SQL'", "IntervalStyle = 'sql_standard'"):
        sql.execute(f"ALTER DATABASE {database.name} SET {setting}")
    running = daemon(sample=0.2)
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, running.broker.counts) as one:
        yield one, running


def test_clients_that_say_nothing_leave_room_for_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon has so many files, and its programs need them."""
    monkeypatch.setattr("pgsb.observe.metrics.endpoint._Quiet.timeout", 60)
    before = threading.active_count()
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, Counts()) as endpoint, contextlib.ExitStack() as stack:
        silent = [
            # The system would try again after a second those that find no room.
            stack.enter_context(socket.create_connection(("127.0.0.1", endpoint.port), 0.9))
            for _ in range(120)
        ]
        for one in silent[:80]:
            one.settimeout(5)
            assert one.recv(1) == b""
        assert get(endpoint.port, "/healthz")[0] == 200
        assert threading.active_count() - before < 60


@pytest.mark.long
def test_a_server_that_hangs_is_given_up(
    sql: Connection, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, Counts()) as endpoint:
        assert scrape(endpoint.port)["pgsb_up", ()] == 1
        monkeypatch.setattr(collector, "ANSWER_SECONDS", 0.3)
        (row,) = sql.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'pgsb metrics'"
        ).fetchall()
        os.kill(row[0], signal.SIGSTOP)
        try:
            assert scrape(endpoint.port)["pgsb_up", ()] == 0
        finally:
            os.kill(row[0], signal.SIGCONT)
        assert scrape(endpoint.port)["pgsb_up", ()] == 1


def test_queues_and_programs_are_measured(
    sql: Connection, endpoint: tuple[MetricsEndpoint, Daemon], database: Database
) -> None:
    port = endpoint[0].port
    queue = (("database", database.name), ("queue", "dbo.to_queue"))
    send(sql, "one", "two")
    values = scrape(port)
    assert values["pgsb_up", ()] == 1
    assert values["pgsb_queue_depth", queue] == 2
    assert values["pgsb_queue_enqueued_total", queue] == 2
    assert values["pgsb_queue_received_total", queue] == 0
    assert values["pgsb_queue_oldest_age_seconds", queue] > 0
    assert values["pgsb_queue_state", (*queue, ("state", "ON"))] == 1
    assert values["pgsb_daemon_state", (("state", "leading"),)] == 1
    activate(sql, DRAIN)
    until(lambda: len(done(sql)) == 2)
    until(lambda: scrape(port)["pgsb_activation_latency_seconds_count", ()] >= 1)
    values = scrape(port)
    assert values["pgsb_queue_received_total", queue] == 2
    assert values["pgsb_readers_started_total", ()] >= 1
    assert values["pgsb_readers_failed_total", ()] == 0
    assert values["pgsb_activation_latency_seconds_bucket", (("le", "+Inf"),)] >= 1


def test_messages_that_left_are_a_counter(
    sql: Connection, database: Database, connect: Callable[..., Connection]
) -> None:
    """Prometheus takes one that goes back for one that began anew."""
    queue = (("database", database.name), ("queue", "dbo.to_queue"))
    other = connect(autocommit=False)
    shown = []
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, Counts()) as one:

        def look() -> None:
            shown.append(scrape(one.port)["pgsb_queue_received_total", queue])

        look()
        send(sql, "one")
        sql.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue')")
        look()
        send(other, "two", "three")
        look()
        other.commit()
        look()
        sql.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue', 100)")
        sql.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue', 100)")
        look()
        assert shown == sorted(shown) and (shown[0], shown[1], shown[-1]) == (0, 1, 3)


def test_a_queue_that_is_made_anew_counts_on() -> None:
    left = _Left(10, 8)
    assert [left.look(*now) for now in ((12, 2), (13, 6), (14, 2), (3, 1), (5, 0))] == [2, 2, 4, 6, 9]


def test_findings_are_metrics(sql: Connection, database: Database) -> None:
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//To'), body => 'x'::bytea)")
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', status => false)")
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, Counts()) as one:
        assert scrape(one.port)["pgsb_findings", (("number", "302"), ("severity", "warning"))] == 1


def test_what_waits_for_another_instance_is_measured(sql: Connection, database: Database) -> None:
    sql.execute("SELECT ssb.create_route('Away', 'tcp://far:4022', service_name => '//Far')")
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//Far'), body => 'x'::bytea)")
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//Nowhere'), body => 'x'::bytea)")
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, Counts()) as one:
        values = scrape(one.port)
        assert values["pgsb_transmission_messages", (("address", "tcp://far:4022"),)] == 1
        assert values["pgsb_transport_connected", (("address", "tcp://far:4022"),)] == 0


@pytest.mark.one_postgres
def test_health_follows_the_daemon(database: Database) -> None:
    counts = Counts()
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, counts) as one:
        assert get(one.port, "/healthz") == (200, "alive\n")
        assert get(one.port, "/readyz") == (503, "starting\n")
        counts.state = "leading"
        assert get(one.port, "/readyz") == (200, "leading\n")
        counts.beat_at = time.monotonic() - 60
        status, text = get(one.port, "/healthz")
        assert (status, text[:20]) == (503, "no sign of life for ")
        assert get(one.port, "/")[0] == 404


@pytest.mark.one_postgres
def test_a_database_that_is_gone_leaves_the_daemons_own_counts() -> None:
    counts = Counts()
    counts.add("readers_started")
    with MetricsEndpoint("127.0.0.1", 0, "host=127.0.0.1 port=1 dbname=gone", counts) as one:
        values = scrape(one.port)
    assert values["pgsb_up", ()] == 0
    assert values["pgsb_readers_started_total", ()] == 1


@pytest.mark.long
def test_a_table_that_somebody_has_locked_leaves_the_findings(
    database: Database, connect: Callable[..., Connection]
) -> None:
    with MetricsEndpoint("127.0.0.1", 0, database.dsn, Counts()) as one:
        assert scrape(one.port)["pgsb_up", ()] == 1
        other = connect(autocommit=False)
        connect().execute(HURRY)
        other.execute("LOCK TABLE ssb.queue IN ACCESS EXCLUSIVE MODE")
        values = scrape(one.port)
        assert values["pgsb_up", ()] == 0
        assert values["pgsb_findings", (("number", "117"), ("severity", "error"))] == 1
        other.rollback()
        values = scrape(one.port)
        assert values["pgsb_up", ()] == 1


@pytest.mark.one_postgres
def test_an_address_is_loopback_unless_given() -> None:
    assert parse_listen("9187") == ("127.0.0.1", 9187)
    assert parse_listen("0.0.0.0:9187") == ("0.0.0.0", 9187)
    assert parse_listen("[::1]:9187") == ("::1", 9187)
    with pytest.raises(ServerError, match="cannot read the address 'nowhere'"):
        parse_listen("nowhere")


@pytest.mark.long
@pytest.mark.one_postgres
def test_the_command_serves_and_ends(sql: Connection, database: Database) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", database.dsn, "--metrics", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:

            def ready() -> bool:
                try:
                    return get(port, "/readyz")[0] == 200
                except OSError:
                    return False

            until(ready)
            taken = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            assert taken.returncode == 1
            assert f"cannot listen on 127.0.0.1:{port}" in taken.stderr
        finally:
            process.terminate()
            process.communicate()
    assert process.returncode == 0
