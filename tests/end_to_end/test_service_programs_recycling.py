"""Dialogs reused by session and given up by timer: nothing is lost, nothing sent on an ended dialog.

Run with programs of our own and with usp_Send and usp_SenderActivation as they are printed.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from end_to_end.published import document, needs_the_documents
from end_to_end.sessions import together
from end_to_end.tsql import Tsql

from activation import until
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Database

# They wait a lot, and nothing in them depends on PostgreSQL's version.
pytestmark = pytest.mark.one_postgres

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Programs:
    """Names of one set of programs, and its code."""

    code: str
    send: str
    look_after: str
    table: str
    handle: str
    gave_up: str
    error: str


def _own() -> Programs:
    return Programs(
        (PROGRAMS / "recycling.sql").read_text(encoding="utf-8"),
        "push",
        "look_after_dialogs",
        "session_dialogs",
        "dialog",
        "Nothing could be sent. Error {}.",
        "The receiver says 4711: no <room>",
    )


def _published() -> Programs:
    text = document("001")
    start, end = text.index("-- This table associates"), text.index("Published Wednesday")
    assert "\u00a0" in text[start:end]
    return Programs(
        text[start:end],
        "usp_Send",
        "usp_SenderActivation",
        "SessionConversations",
        "Handle",
        "Failed to SEND on a conversation for more than 10 times. Error {}.",
        "Received error Code:4711 Description:'no <room>'",
    )


@pytest.fixture(
    params=[_own, pytest.param(_published, marks=[needs_the_documents, pytest.mark.long])],
    ids=["own", "published"],
)
def programs(request: pytest.FixtureRequest) -> Programs:
    made = request.param()
    assert isinstance(made, Programs)
    return made


def _install(tsql: Tsql, code: str) -> None:
    tsql.run_well((PROGRAMS / "recycling_receiver.sql").read_text(encoding="utf-8"))
    tsql.run_well(code)


def _send(programs: Programs, body: str, contract: str = "AuditContract", kind: str = "Audit") -> str:
    return (
        f"DECLARE @b VARBINARY(MAX) SET @b = CAST('{body}' AS VARBINARY(MAX))\n"
        f"EXEC {programs.send} N'Sender', N'Receiver', N'{contract}', N'{kind}', @b\nGO\n"
    )


def _rows(tsql: Tsql, script: str) -> list[list[str | None]]:
    tsql.run_well(script)
    return tsql.results[-1]


def test_a_session_reuses_its_dialog(tsql: Tsql, database: Database, programs: Programs) -> None:
    _install(tsql, programs.code)
    tsql.run_well(_send(programs, "a") + _send(programs, "b") + _send(programs, "c", "OtherContract"))
    other = Tsql(database.dsn)
    try:
        other.run_well(_send(programs, "d") + _send(programs, "e"))
    finally:
        other.close()
    tsql.run_well("EXEC receive_all")
    groups = _rows(tsql, "SELECT MIN(body), MAX(body), COUNT(*) FROM arrived GROUP BY dialog ORDER BY 1")
    assert groups == [["a", "b", "2"], ["c", "c", "1"], ["d", "e", "2"]]
    assert _rows(tsql, f"SELECT COUNT(*) FROM {programs.table}") == [["3"]]
    assert _rows(tsql, "SELECT @@TRANCOUNT") == [["0"]]


def test_a_dialog_that_cannot_be_used_is_replaced(tsql: Tsql, programs: Programs) -> None:
    _install(tsql, programs.code)
    tsql.run_well(_send(programs, "a"))
    tsql.run_well(
        "DECLARE @h UNIQUEIDENTIFIER\n"
        f"SELECT @h = {programs.handle} FROM {programs.table}\nEND CONVERSATION @h"
    )
    tsql.run(_send(programs, "b"))
    # The failed SEND is told and has no other effect.
    assert [error.number for error in tsql.errors] == [8426]
    tsql.run_well("EXEC receive_all")
    assert _rows(tsql, "SELECT body FROM arrived WHERE type = 'Audit' ORDER BY id") == [["a"], ["b"]]
    assert _rows(tsql, "SELECT COUNT(DISTINCT dialog) FROM arrived") == [["2"]]
    assert _rows(tsql, f"SELECT COUNT(*) FROM {programs.table}") == [["1"]]


def test_ten_failures_are_enough(tsql: Tsql, programs: Programs) -> None:
    _install(tsql, programs.code)
    tsql.run(_send(programs, "a", kind="NoSuchType"))
    numbers = [error.number for error in tsql.errors]
    assert numbers == [*[8428] * 10, 50000]
    assert tsql.errors[-1].message == programs.gave_up.format(8428)
    assert _rows(tsql, "SELECT @@TRANCOUNT") == [["0"]]


def test_an_error_from_the_receiver_ends_the_dialog(tsql: Tsql, programs: Programs) -> None:
    _install(tsql, programs.code)
    tsql.run_well(_send(programs, "a"))
    tsql.run_well(
        "DECLARE @h UNIQUEIDENTIFIER\n"
        ";RECEIVE TOP (1) @h = conversation_handle FROM receiver_queue\n"
        "END CONVERSATION @h WITH ERROR = 4711 DESCRIPTION = N'no <room>'"
    )
    tsql.run(f"EXEC {programs.look_after}")
    assert [(error.number, error.severity, error.message) for error in tsql.errors] == [
        (50000, 16, programs.error)
    ]
    assert _rows(tsql, f"SELECT COUNT(*) FROM {programs.table}") == [["0"]]
    assert _rows(tsql, "SELECT COUNT(*) FROM sys.conversation_endpoints WHERE is_initiator = 1") == [["0"]]


@pytest.mark.long
def test_the_timer_lets_the_receiver_end_the_dialog(
    tsql: Tsql, database: Database, programs: Programs
) -> None:
    assert programs.code.count("TIMEOUT = 3600") == 1
    _install(tsql, programs.code.replace("TIMEOUT = 3600", "TIMEOUT = 1"))
    with EmbeddedBroker(BrokerOptions(database.dsn)):
        tsql.run_well(_send(programs, "a"))
        open_ones = "SELECT COUNT(*) FROM sys.conversation_endpoints WHERE is_initiator = 1"
        until(lambda: _rows(tsql, open_ones) == [["0"]])
        tsql.run_well(_send(programs, "b"))
        until(lambda: _rows(tsql, "SELECT COUNT(*) FROM arrived WHERE body = 'b'") == [["1"]])
    kinds = _rows(tsql, "SELECT type, body FROM arrived ORDER BY id")
    assert kinds[:3] == [["Audit", "a"], ["EndOfStream", None], ["Audit", "b"]]
    assert _rows(tsql, "SELECT COUNT(DISTINCT dialog) FROM arrived") == [["2"]]


@pytest.mark.long
def test_eight_sessions_send_while_timers_fire(tsql: Tsql, database: Database, programs: Programs) -> None:
    # RECEIVE of the timer's message locks the dialog before its row is deleted, SEND after its row is
    # read: the sender may be a deadlock's victim, is told so, and sends again. Any other error shows.
    _install(tsql, programs.code.replace("TIMEOUT = 3600", "TIMEOUT = 1"))
    scripts = [
        f"""
        SET NOCOUNT ON
        DECLARE @n INT = 0, @b VARBINARY(MAX)
        WHILE @n < 100
        BEGIN
            SET @b = CAST('{session}.' + CAST(@n AS VARCHAR(9)) AS VARBINARY(MAX))
            BEGIN TRY
                EXEC {programs.send} N'Sender', N'Receiver', N'AuditContract', N'Audit', @b
                SET @n = @n + 1
            END TRY
            BEGIN CATCH
                IF @@TRANCOUNT > 0 ROLLBACK
                IF ERROR_NUMBER() <> 1205 THROW
            END CATCH
            WAITFOR DELAY '00:00:00.025'
        END
        """
        for session in range(8)
    ]
    with EmbeddedBroker(BrokerOptions(database.dsn)) as broker:
        assert broker.wait_until_leading()
        for session in together(database.dsn, scripts):
            assert session.shown == ""
        until(lambda: _rows(tsql, "SELECT COUNT(*) FROM arrived WHERE type = 'Audit'") == [["800"]])
        # Every timer has fired, every dialog is ended by both sides.
        open_ones = "SELECT COUNT(*) FROM sys.conversation_endpoints WHERE is_initiator = 1"
        until(lambda: _rows(tsql, open_ones) == [["0"]])
    bodies = _rows(tsql, "SELECT body FROM arrived WHERE type = 'Audit'")
    assert sorted(str(body) for (body,) in bodies) == sorted(f"{s}.{n}" for s in range(8) for n in range(100))
    # Nothing came after the end of a stream, and every dialog had one.
    last = "SELECT MAX(id) AS id FROM arrived GROUP BY dialog"
    assert _rows(tsql, f"SELECT DISTINCT type FROM arrived WHERE id IN ({last})") == [["EndOfStream"]]
    streams = "SELECT COUNT(*), COUNT(DISTINCT dialog) FROM arrived WHERE type = 'EndOfStream'"
    ((ends, dialogs),) = _rows(tsql, streams)
    assert ends == dialogs
    assert int(str(dialogs)) > 8
    assert _rows(tsql, f"SELECT COUNT(*) FROM {programs.table}") == [["0"]]
