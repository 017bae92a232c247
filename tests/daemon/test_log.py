"""The daemon's log: lines for people, objects for machines, the newest ones in a table."""

import errno
import io
import json
import logging
import os
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.log import BrokerLog, Line, PsycopgLog, program_sink, stream_sink
from pgsb.daemon.loop import Broker
from support import Connection


def _line(**changes: Any) -> Line:
    line = Line("error", "reader_failed", "so\nsorry", logged_at="2026-11-20T07:00:00.123456+00:00")
    return replace(line, **changes)


def test_text_is_one_line_with_queue_reader_and_number() -> None:
    stream = io.StringIO()
    stream_sink(stream=stream)(_line(queue="dbo.q", program="dbo.p", pid=7, error_number=2812))
    assert stream.getvalue() == (
        "2026-11-20T07:00:00.123Z error   reader_failed dbo.q dbo.p [7] Msg 2812: so sorry\n"
    )


def test_nothing_in_a_name_or_message_begins_a_line_or_moves_the_cursor() -> None:
    stream = io.StringIO()
    stream_sink(stream=stream)(
        _line(queue='dbo."q\r\n2026"', program="dbo.\x1b[2Jp", message="a\u2028b\x85c")
    )
    program_sink(stream)(_line(event="print", program='dbo."p\nq"', message="as it\nwas \x1b[2Jprinted"))
    assert stream.getvalue() == (
        '2026-11-20T07:00:00.123Z error   reader_failed dbo."q  2026" dbo. [2Jp: a b c\n'
        'dbo."p q": as it\nwas ·[2Jprinted\n'
    )


def test_json_leaves_out_what_is_empty() -> None:
    stream = io.StringIO()
    stream_sink("json", stream=stream)(_line(queue="dbo.q"))
    assert json.loads(stream.getvalue()) == {
        "level": "error",
        "event": "reader_failed",
        "message": "so\nsorry",
        "queue": "dbo.q",
        "logged_at": "2026-11-20T07:00:00.123456+00:00",
    }


def test_json_moves_no_cursor() -> None:
    stream = io.StringIO()
    stream_sink("json", stream=stream)(_line(queue="dbo.\x9b31mé\x7f"))
    assert "\x9b" not in stream.getvalue() and "\x7f" not in stream.getvalue() and "é" in stream.getvalue()
    assert json.loads(stream.getvalue())["queue"] == "dbo.\x9b31mé\x7f"


def test_lines_that_the_table_does_not_take_are_kept_up_to_a_limit_and_counted() -> None:
    log = BrokerLog(lambda line: None)
    for number in range(5000):
        log.write("info", "print", str(number))
    taken = log.take()
    for number in range(10):
        log.write("info", "print", f"new {number}")
    log.put_back(taken)
    *kept, last = log.take()
    assert (len(kept), kept[0].message, last.event) == (5000, "10", "log_overflow")
    assert last.message.startswith("10 lines")


def test_lower_levels_are_left_out() -> None:
    stream = io.StringIO()
    write = stream_sink(level="warning", stream=stream)
    write(_line(level="info"))
    write(_line(level="warning"))
    assert stream.getvalue().count("\n") == 1


def test_a_script_sees_what_programs_say_and_what_goes_wrong() -> None:
    stream = io.StringIO()
    write = program_sink(stream)
    write(_line(level="info", event="leading"))
    write(_line(level="info", event="print", program="dbo.p", message="hello"))
    write(_line())
    assert stream.getvalue().splitlines()[0] == "dbo.p: hello"
    assert "so sorry" in stream.getvalue() and "leading" not in stream.getvalue()


class _Full(io.StringIO):
    def __init__(self, error: int) -> None:
        super().__init__()
        self._error = error

    def write(self, text: str) -> int:
        raise OSError(self._error, os.strerror(self._error))


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EPIPE])
def test_a_full_disk_or_a_reader_that_has_gone_stops_nothing(error: int) -> None:
    log = BrokerLog(stream_sink(stream=_Full(error)))
    log.write("error", "failed", "no room")
    assert [line.message for line in log.take()] == ["no room"]
    BrokerLog(program_sink(_Full(error))).write("info", "print", "no room")


def test_lines_wait_for_the_table_and_too_many_are_counted() -> None:
    log = BrokerLog(lambda line: None)
    for number in range(5_003):
        log.write("info", "print", str(number))
    log.write("debug", "row_count", "not for the table")
    lines = log.take()
    assert len(lines) == 5_001
    assert lines[-1].message == "3 lines are only in the daemon's own log"
    log.put_back(lines[:2])
    assert [line.message for line in log.take()] == ["0", "1"]


def test_the_table_keeps_the_newest_lines(sql: Connection) -> None:
    for number in range(3):
        sql.execute(
            "SELECT ssb_internal.write_broker_log((SELECT jsonb_agg(jsonb_build_object('logged_at', now(),"
            " 'level', 'info', 'event', 'print', 'message', %s * 5000 + n))"
            " FROM generate_series(1, 5000) AS n))",
            [number],
        )
    row = sql.execute("SELECT count(*), min(message::integer), max(message::integer) FROM ssb.broker_log")
    assert row.fetchone() == (10_000, 5_001, 15_000)


def test_remarks_of_psycopg_are_lines_of_the_log() -> None:
    lines: list[Line] = []
    with PsycopgLog(BrokerLog(lines.append)):
        logging.getLogger("psycopg").warning("closing %s", "connection")
    assert [(line.level, line.event, line.message) for line in lines] == [
        ("debug", "psycopg", "closing connection")
    ]
    assert logging.getLogger("psycopg").handlers == []


def test_the_same_error_in_a_row_is_told_ever_more_seldom() -> None:
    told: list[Line] = []
    log = BrokerLog(told.append)
    for _ in range(100):
        log.write("error", "reader_failed", "bad", queue="dbo.q", program="dbo.p")
        log.write("info", "print", "said", queue="dbo.q", program="dbo.p")
    messages = [line.message for line in told if line.level == "error"]
    assert messages == ["bad"] * (5 + 4)  # and the 8th, 16th, 32nd, 64th
    assert [line.message.split(":")[1].split()[0] for line in told if line.event == "repeated"] == [
        "8",
        "16",
        "32",
        "64",
    ]
    assert len([line for line in told if line.event == "print"]) == 100
    log.write("error", "reader_failed", "worse", queue="dbo.q", program="dbo.p")
    log.write("error", "reader_failed", "bad", queue="dbo.q", program="dbo.p")
    assert [line.message for line in told[-2:]] == ["worse", "bad"]
    assert len(log.take()) == 100 + 9 + 4 + 2


def test_a_server_that_is_away_for_long_does_not_fill_the_log() -> None:
    """Each try waits a little longer or shorter than the one before: the same loss all the same."""
    lines: list[Line] = []
    broker = Broker(BrokerOptions("dbname=shop"), lines.append)

    def told() -> int:
        return sum(line.event == "server_lost" for line in lines)

    for number in range(100):
        broker._tell_loss(psycopg.OperationalError("connection refused"), 4 + number / 50)
    assert told() == 5 + len((8, 16, 32, 64))
    assert lines[5].message.endswith("; trying again in 4.1 s")
    broker._tell_loss(psycopg.OperationalError("the database system is starting up"), 5.0)
    assert told() == 10
    broker._recover()
    for _ in range(2):
        broker._tell_loss(psycopg.OperationalError("connection refused"), 5.0)
        broker._recover()
    broker._tell_loss(psycopg.OperationalError("connection refused"), 5.0)
    assert told() == 13
