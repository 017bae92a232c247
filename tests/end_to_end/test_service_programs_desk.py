"""A desk takes orders in a loop: state kept by conversation group, roll-back, two readers, activation.

Run with programs of our own and with Listings 15-18 and 15-19 as they are printed,
with code put where the listings say that it is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from end_to_end.published import listing, needs_the_documents, set_up_trading, snippet
from end_to_end.sessions import started, until_blocked
from end_to_end.tsql import Tsql

from activation import until
from pgsb.daemon.config import BrokerOptions
from pgsb.daemon.embedded import EmbeddedBroker
from support import Database

TABLES = """
CREATE TABLE dealt (id INT IDENTITY, spid INT, body NVARCHAR(MAX), step INT);
CREATE TABLE progress (cg UNIQUEIDENTIFIER PRIMARY KEY, seen INT NOT NULL);
CREATE TABLE trouble (body NVARCHAR(100) PRIMARY KEY);
CREATE TABLE gate (body NVARCHAR(100) PRIMARY KEY, passed INT NOT NULL);
GO
"""

# What stands where the listings leave it to the reader: {group} is the variable of the
# conversation group, {body} that of the message.
BEFORE = """
    DECLARE @seen INT
    SET @seen = 0
    SELECT @seen = seen FROM progress WHERE cg = {group}
"""
WORK = """
    INSERT INTO dealt (spid, body, step) VALUES (@@SPID, CAST({body} AS NVARCHAR(MAX)), @seen + 1)
    UPDATE gate SET passed = passed + 1 WHERE body = CAST({body} AS NVARCHAR(MAX))
"""
AFTER = """
    UPDATE progress SET seen = @seen + 1 WHERE cg = {group}
    IF @@ROWCOUNT = 0 INSERT INTO progress (cg, seen) VALUES ({group}, @seen + 1)
    IF EXISTS (SELECT * FROM trouble WHERE body = CAST({body} AS NVARCHAR(MAX)))
    BEGIN
        ROLLBACK TRANSACTION
        BREAK
    END
"""
RECEIPT = """
    INSERT INTO dealt (spid, body) VALUES (@@SPID, CAST({body} AS NVARCHAR(MAX)))
"""


def _filled(code: str, **inserted: str) -> str:
    """The code with a piece after each of these lines; ten seconds of patience become a fifth."""
    for line, piece in inserted.items():
        assert code.count(line) == 1, line
        code = code.replace(line, line + "\n" + piece)
    assert "TIMEOUT 10000" in code
    return code.replace("TIMEOUT 10000", "TIMEOUT 200")


@dataclass(frozen=True)
class Desk:
    """Names of the programs and where they live; None is the default database."""

    desk_database: str | None
    customer_database: str | None
    take_orders: str
    take_receipts: str
    desk_queue: str
    customer_queue: str
    receipt: str
    place: Callable[[Tsql, str], str]
    activate: str

    def at_desk(self, script: str) -> str:
        return f"USE {self.desk_database}\nGO\n{script}" if self.desk_database else script

    def at_customer(self, script: str) -> str:
        return f"USE {self.customer_database}\nGO\n{script}" if self.customer_database else script


def _own(tsql: Tsql) -> Desk:
    names = {"group": "@group", "body": "@order"}
    code = (Path(__file__).parent / "programs" / "desk.sql").read_text(encoding="utf-8")
    for mark, piece in (("-- before", BEFORE), ("-- work", WORK), ("-- after", AFTER)):
        code = code.replace(mark, mark + piece.format(**names))
    code = code.replace("-- receipt", "-- receipt" + RECEIPT.format(body="@body"))
    tsql.run_well(TABLES + code.replace("TIMEOUT 10000", "TIMEOUT 200"))
    return Desk(
        None,
        None,
        "take_orders",
        "take_receipts",
        "desk_queue",
        "customer_queue",
        '<receipt state="taken"/>',
        lambda tsql, body: tsql.run_well(f"EXEC place_order N'<id>{body}</id>'"),
        "ALTER QUEUE desk_queue WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = take_orders,"
        " MAX_QUEUE_READERS = 5, EXECUTE AS SELF);\n"
        "ALTER QUEUE customer_queue WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = take_receipts,"
        " MAX_QUEUE_READERS = 5, EXECUTE AS SELF);",
    )


def _published(tsql: Tsql) -> Desk:
    set_up_trading(tsql)
    names = {"group": "@cg", "body": "@msg"}
    entry = _filled(
        listing(18),
        **{
            "-- 3. Do what is necessary to deal with state": BEFORE.format(**names),
            "-- code omitted that deals with the received data": WORK.format(**names),
            "-- do some stuff to deal with state": AFTER.format(**names),
        },
    )
    acknowledge = _filled(
        listing(19), **{"-- code omitted that deals with the received data": RECEIPT.format(body="@msg")}
    )
    tsql.run_well(f"USE DMBrokerage\nGO\n{TABLES}DROP PROCEDURE tradeEntryProc\nGO\n{entry}")
    tsql.run_well(f"USE Trader1\nGO\n{TABLES}DROP PROCEDURE tradeAckProc\nGO\n{acknowledge}")

    def place(tsql: Tsql, body: str) -> str:
        assert "<id>Order1</id>" in listing(14)
        return tsql.run_well("USE Trader1\nGO\n" + listing(14).replace("Order1", body))

    activation = snippet("ALTER QUEUE tradeEntryQueue")
    return Desk(
        "DMBrokerage",
        "Trader1",
        "tradeEntryProc",
        "tradeAckProc",
        "tradeEntryQueue",
        "tradeAckQueue",
        "<id>1</id><ackid>1</ackid>",
        place,
        f"USE DMBrokerage\nGO\n{activation}\nGO\nUSE Trader1\nGO\n"
        + activation.replace("tradeEntryQueue", "tradeAckQueue").replace("tradeEntryProc", "tradeAckProc"),
    )


@pytest.fixture(
    params=[_own, pytest.param(_published, marks=[needs_the_documents, pytest.mark.long])],
    ids=["own", "published"],
)
def desk(tsql: Tsql, request: pytest.FixtureRequest) -> Desk:
    made = request.param(tsql)
    assert isinstance(made, Desk)
    return made


def _rows(tsql: Tsql, script: str) -> list[list[str | None]]:
    tsql.run_well(script)
    return tsql.results[-1]


def _order(body: str) -> str:
    return f"<id>{body}</id>"


def test_orders_are_taken_and_receipts_read(tsql: Tsql, desk: Desk) -> None:
    for body in ("Order1", "Order2"):
        desk.place(tsql, body)
    tsql.run_well(desk.at_desk(f"EXEC {desk.take_orders}"))
    assert _rows(tsql, desk.at_desk("SELECT body, step FROM dealt ORDER BY id")) == [
        [_order("Order1"), "1"],
        [_order("Order2"), "1"],
    ]
    tsql.run_well(desk.at_customer(f"EXEC {desk.take_receipts}"))
    receipts = _rows(tsql, desk.at_customer("SELECT body FROM dealt WHERE step IS NULL"))
    assert [
        bytes.fromhex(str(row[0])[2:]).decode() if str(row[0]).startswith("0x") else row[0]
        for row in receipts
    ] == [desk.receipt] * 2
    # Both sides have ended both dialogs: only the target's closed endpoints stay for a while.
    tsql.run_well(desk.at_customer("SELECT state, is_initiator FROM sys.conversation_endpoints"))
    assert {tuple(row) for row in tsql.results[-1]} <= {("CD", "0")}


def test_a_rollback_undoes_work_state_and_answer(tsql: Tsql, desk: Desk) -> None:
    desk.place(tsql, "Order1")
    tsql.run_well(desk.at_desk(f"INSERT INTO trouble (body) VALUES (N'{_order('Order1')}')"))
    tsql.run_well(desk.at_desk(f"EXEC {desk.take_orders}"))
    for table, count in (("dealt", "0"), ("progress", "0"), (desk.desk_queue, "1")):
        assert _rows(tsql, desk.at_desk(f"SELECT COUNT(*) FROM {table}")) == [[count]], table
    assert _rows(tsql, desk.at_customer(f"SELECT COUNT(*) FROM {desk.customer_queue}")) == [["0"]]

    tsql.run_well(desk.at_desk(f"DELETE FROM trouble\nEXEC {desk.take_orders}"))
    assert _rows(tsql, desk.at_desk("SELECT body, step FROM dealt")) == [[_order("Order1"), "1"]]
    assert _rows(tsql, desk.at_desk("SELECT seen FROM progress")) == [["1"]]
    assert _rows(tsql, desk.at_customer(f"SELECT COUNT(*) FROM {desk.customer_queue}")) == [["2"]]


def test_five_rollbacks_disable_the_queue(tsql: Tsql, desk: Desk) -> None:
    desk.place(tsql, "Order1")
    tsql.run_well(desk.at_desk(f"INSERT INTO trouble (body) VALUES (N'{_order('Order1')}')"))
    for _ in range(5):
        tsql.run_well(desk.at_desk(f"EXEC {desk.take_orders}"))
    tsql.run(desk.at_desk(f"EXEC {desk.take_orders}"))
    assert [error.number for error in tsql.errors][:1] == [9617]
    assert _rows(tsql, desk.at_desk(f"SELECT COUNT(*) FROM {desk.desk_queue}")) == [["1"]]


def test_two_readers_never_share_a_group(tsql: Tsql, desk: Desk, database: Database) -> None:
    for body in ("Order1", "Order2", "Order3", "Order4"):
        desk.place(tsql, body)
    # Order4 joins the group of Order1: whoever has one keeps the other from all others.
    tsql.run_well(
        desk.at_desk(
            f"""
            DECLARE @first UNIQUEIDENTIFIER, @last UNIQUEIDENTIFIER
            SELECT @first = conversation_group_id FROM {desk.desk_queue}
                WHERE CAST(message_body AS NVARCHAR(MAX)) = N'{_order("Order1")}'
            SELECT @last = conversation_handle FROM {desk.desk_queue}
                WHERE CAST(message_body AS NVARCHAR(MAX)) = N'{_order("Order4")}'
            MOVE CONVERSATION @last TO @first
            INSERT INTO gate (body, passed) VALUES (N'{_order("Order1")}', 0)
            """
        )
    )
    keeper = Tsql(database.dsn)
    try:
        keeper.run_well(desk.at_desk("SELECT 1"))
        schema = f"{desk.desk_database.lower()}_dbo" if desk.desk_database else "dbo"
        keeper.connection.execute("BEGIN")
        keeper.connection.execute(f"UPDATE {schema}.gate SET passed = 0".encode())
        first = started(database.dsn, desk.at_desk(f"EXEC {desk.take_orders}"))
        until_blocked(tsql.connection, first.pid)
        tsql.run_well(desk.at_desk(f"EXEC {desk.take_orders}"))
        assert _rows(tsql, desk.at_desk("SELECT body, step FROM dealt ORDER BY id")) == [
            [_order("Order2"), "1"],
            [_order("Order3"), "1"],
        ]
        keeper.connection.execute("COMMIT")
        first.join()
    finally:
        keeper.close()
    # The first reader had taken number 1 before the others; it goes on with the rest of its group.
    assert _rows(tsql, desk.at_desk("SELECT body, step FROM dealt ORDER BY step, id")) == [
        [_order("Order1"), "1"],
        [_order("Order2"), "1"],
        [_order("Order3"), "1"],
        [_order("Order4"), "2"],
    ]
    assert _rows(tsql, desk.at_desk("SELECT COUNT(DISTINCT spid) FROM dealt")) == [["2"]]
    assert _rows(tsql, desk.at_desk("SELECT seen FROM progress ORDER BY seen")) == [["1"], ["1"], ["2"]]


def test_activated_programs_do_it_all(tsql: Tsql, desk: Desk, database: Database) -> None:
    tsql.run_well(desk.activate)
    with EmbeddedBroker(BrokerOptions(database.dsn)) as broker:
        assert broker.wait_until_leading()
        for body in ("Order1", "Order2", "Order3"):
            desk.place(tsql, body)
        count = desk.at_customer("SELECT COUNT(*) FROM dealt WHERE step IS NULL")
        until(lambda: _rows(tsql, count) == [["3"]])
        assert broker.settle(20)
    assert sorted(_rows(tsql, desk.at_desk("SELECT body FROM dealt WHERE step IS NOT NULL"))) == [
        [_order("Order1")],
        [_order("Order2")],
        [_order("Order3")],
    ]
