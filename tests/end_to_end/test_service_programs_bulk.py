"""Many messages at a time: RECEIVE TOP (10000) INTO a table variable, dialogs made in hundreds and warmed up.

Run with programs of our own and with those of the paper on throughput as they are printed.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from end_to_end.published import document, needs_the_documents
from end_to_end.sessions import together
from end_to_end.tsql import Tsql

from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Database

pytestmark = pytest.mark.one_postgres


@dataclass(frozen=True)
class Programs:
    """Names and scripts of one set of programs."""

    queue: str
    drain: str
    service: str
    message_type: str
    dropped: str
    make_dialogs: str
    dialogs: str
    warm_up: str
    activate: str


def _own(tsql: Tsql) -> Programs:
    code = (Path(__file__).parent / "programs" / "bulk.sql").read_text(encoding="utf-8")
    define, make_dialogs, warm_up = code.split("-- ====\n")
    tsql.run_well(define)
    return Programs(
        "meter_queue",
        "store_readings",
        "//meter/service",
        "//meter/reading",
        "SELECT reading FROM readings",
        make_dialogs,
        "SELECT number FROM kept_dialogs ORDER BY number",
        warm_up,
        "ALTER QUEUE meter_queue WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = store_readings,"
        " MAX_QUEUE_READERS = 4, EXECUTE AS OWNER)",
    )


def _piece(text: str, beginning: str, end: str) -> str:
    start = text.index(beginning)
    return text[start : text.index(end, start)] + end + "\n"


def _published(tsql: Tsql) -> Programs:
    text = document("003")
    configuration = _piece(text, "CREATE MESSAGE TYPE [//MySSB", "ANONYMOUS = OFF")
    # The script that the initiator runs names an instance of SQL Server that is not there, and
    # a user: its route and its binding are made too, for a service of that name elsewhere.
    configuration = configuration.replace("'//MySSB.com/Lab/S_Test'", "'//MySSB.com/Lab/S_Elsewhere'")
    users = "".join(
        f"CREATE USER [{name}] WITHOUT LOGIN\nGO\n"
        for name in ("User_MYINITIATORSERVER_INST1_SSBSender", "Proxy:User_MYINITIATORSERVER_INST1_SSBSender")
    )
    tsql.run_well(users + configuration)
    tsql.run_well(
        "CREATE TABLE dbo.messageDrop (messageVal VARBINARY(2000))\nGO\n"
        "CREATE TABLE dbo.dialogs (k INT PRIMARY KEY, dh UNIQUEIDENTIFIER)\nGO\n"
        + _piece(text, "create procedure [dbo].[SRPerf_Queue_LabTest]", "end -- end procedure").replace(
            "timeout 3000", "timeout 300"
        )
    )
    security = _piece(text, "declare @service_broker_guid uniqueidentifier", "with encryption=ON;")
    declaration = security[: security.index("declare @dh")]
    own = "SELECT @service_broker_guid = service_broker_guid FROM sys.databases WHERE database_id = DB_ID()\n"
    create = _piece(
        text, "CREATE QUEUE [dbo].[MySSBLabTestQueue] WITH STATUS = ON,\nACTIVATION", "ON [PRIMARY]"
    )
    trick = re.search(r"^declare @i int, @k int.*?^end$", text, re.MULTILINE | re.DOTALL)
    assert trick is not None
    return Programs(
        "MySSBLabTestQueue",
        "SRPerf_Queue_LabTest",
        "//MySSB.com/Lab/S_Test",
        "//MySSB.com/Lab/M_Test",
        "SELECT messageVal FROM dbo.messageDrop",
        # 750 dialogs in place of 7500: the tenth is enough to see every 150th kept.
        declaration + own + trick[0].replace("7500", "750"),
        "SELECT k FROM dbo.dialogs ORDER BY k",
        _piece(text, "declare @dh uniqueidentifier, @i bigint", "deallocate conv;"),
        re.sub(r"^CREATE", "ALTER", create).replace("ON [PRIMARY]", ""),
    )


@pytest.fixture(
    params=[_own, pytest.param(_published, marks=[needs_the_documents, pytest.mark.long])],
    ids=["own", "published"],
)
def programs(tsql: Tsql, request: pytest.FixtureRequest) -> Programs:
    made = request.param(tsql)
    assert isinstance(made, Programs)
    return made


def _rows(tsql: Tsql, script: str) -> list[list[str | None]]:
    tsql.run_well(script)
    return tsql.results[-1]


def _send(tsql: Tsql, programs: Programs, dialogs: int, each: int, name: str) -> set[str]:
    """Messages NAME.dialog.number; returns their bodies."""
    tsql.run_well(
        f"""
        DECLARE @d INT = 0, @n INT, @dh UNIQUEIDENTIFIER, @b VARCHAR(50)
        WHILE @d < {dialogs}
        BEGIN
            BEGIN DIALOG @dh FROM SERVICE [{programs.service}] TO SERVICE '{programs.service}'
                ON CONTRACT {_contract(tsql, programs)}
            SET @n = 0
            WHILE @n < {each}
            BEGIN
                SET @b = '{name}.' + CAST(@d AS VARCHAR(9)) + '.' + CAST(@n AS VARCHAR(9))
                ;SEND ON CONVERSATION @dh MESSAGE TYPE [{programs.message_type}] (@b)
                SET @n = @n + 1
            END
            SET @d = @d + 1
        END
        """
    )
    return {f"{name}.{d}.{n}" for d in range(dialogs) for n in range(each)}


def _contract(tsql: Tsql, programs: Programs) -> str:
    (row,) = _rows(
        tsql,
        "SELECT c.name FROM sys.service_contracts c"
        " JOIN sys.service_contract_message_usages u ON u.service_contract_id = c.service_contract_id"
        " JOIN sys.service_message_types t ON t.message_type_id = u.message_type_id"
        f" WHERE t.name = '{programs.message_type}'",
    )
    return f"[{row[0]}]"


def _bodies(tsql: Tsql, programs: Programs) -> list[str]:
    return [bytes.fromhex(str(value)[2:]).decode() for (value,) in _rows(tsql, programs.dropped)]


def test_ten_thousand_at_a_time(tsql: Tsql, programs: Programs) -> None:
    sent = _send(tsql, programs, 3, 40, "a")
    tsql.run_well(f"EXEC {programs.drain}")
    bodies = _bodies(tsql, programs)
    assert sorted(bodies) == sorted(sent)
    # One RECEIVE takes all of a conversation, in its order.
    for start in (0, 40, 80):
        assert [body.split(".")[2] for body in bodies[start : start + 40]] == [str(n) for n in range(40)]
    assert _rows(tsql, f"SELECT COUNT(*) FROM {programs.queue}") == [["0"]]


def test_an_error_in_the_middle_puts_all_back(tsql: Tsql, programs: Programs) -> None:
    _send(tsql, programs, 1, 3, "a")
    table = re.search(r"FROM (\S+)", programs.dropped)
    assert table is not None
    column = programs.dropped.split()[1]
    # A body that the table cannot hold; under XACT_ABORT the batch and the transaction end.
    tsql.run_well(f"ALTER TABLE {table[1]} ADD CONSTRAINT short CHECK (DATALENGTH({column}) < 3)")
    tsql.run(f"SET XACT_ABORT ON\nEXEC {programs.drain}")
    assert [error.number for error in tsql.errors] == [547]
    assert _bodies(tsql, programs) == []
    assert _rows(tsql, f"SELECT COUNT(*) FROM {programs.queue}") == [["3"]]
    assert _rows(tsql, "SELECT @@TRANCOUNT") == [["0"]]


@pytest.mark.long
def test_every_hundred_and_fiftieth_dialog_is_kept_and_all_are_warmed_up(
    tsql: Tsql, programs: Programs
) -> None:
    tsql.run_well(programs.make_dialogs)
    assert _rows(tsql, programs.dialogs) == [[str(number)] for number in range(1, 6)]
    assert _rows(tsql, "SELECT state, COUNT(*) FROM sys.conversation_endpoints GROUP BY state") == [
        ["SO", "750"]
    ]

    tsql.run_well(programs.warm_up)
    assert _rows(
        tsql,
        "SELECT is_initiator, COUNT(*) FROM sys.conversation_endpoints GROUP BY is_initiator"
        " ORDER BY is_initiator",
    ) == [["0", "750"], ["1", "750"]]
    assert _rows(tsql, f"SELECT DISTINCT DATALENGTH(message_body) FROM {programs.queue}") == [["50"]]
    tsql.run_well(f"EXEC {programs.drain}")
    assert set(_bodies(tsql, programs)) == {"x" * 50}
    assert len(_bodies(tsql, programs)) == 750


def test_readers_are_started_while_messages_are_sent(
    tsql: Tsql, programs: Programs, database: Database
) -> None:
    sent = _send(tsql, programs, 4, 10, "early")
    tsql.run_well(programs.activate)
    with EmbeddedBroker(BrokerOptions(database.dsn)) as broker:
        assert broker.wait_until_leading()
        for number in range(3):
            sent |= _send(tsql, programs, 2, 20, f"late{number}")
        assert broker.settle(30)
    assert sorted(_bodies(tsql, programs)) == sorted(sent)


def test_readers_side_by_side_take_every_message_once(
    tsql: Tsql, programs: Programs, database: Database
) -> None:
    sent = _send(tsql, programs, 12, 10, "a")
    for session in together(database.dsn, [f"EXEC {programs.drain}"] * 4):
        assert "Msg" not in session.shown
    assert sorted(_bodies(tsql, programs)) == sorted(sent)
