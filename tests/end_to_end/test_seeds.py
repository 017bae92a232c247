"""Published scripts, run as they are printed: the stock-trading listings and a Hello World.

published.py says where they are looked for and what is put right.
"""

import re

import pytest
from end_to_end.published import (
    CORRECTIONS,
    document,
    listing,
    needs_the_documents,
    set_up_trading,
    snippet,
)
from end_to_end.tsql import Tsql

pytestmark = needs_the_documents

END_DIALOG = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"


@pytest.fixture
def trading(tsql: Tsql) -> Tsql:
    """The trader's database and the brokerage's."""
    set_up_trading(tsql)
    return tsql


def test_every_correction_is_needed() -> None:
    printed = document("000")
    for before, _, why in CORRECTIONS:
        # The second slip of Listing 15-10 shows once the first is put right.
        assert before.replace("[//www", "[/www") in printed or before in printed, why


def test_schemas_and_the_message_types_that_use_them(tsql: Tsql) -> None:
    tsql.run_well("CREATE DATABASE Schemas\nGO\nUSE Schemas\nGO\n" + listing(3))
    tsql.run_well("SELECT name, RTRIM(validation) FROM sys.service_message_types WHERE name LIKE '%DMBrok%'")
    assert sorted(tsql.results[0]) == [
        ["//www.develop.com/DMBrokerage/TradeAck", "X"],
        ["http://www.develop.com/DMBrokerage/TradeEntry", "X"],
    ]
    tsql.run_well("SELECT name FROM sys.xml_schema_collections WHERE name LIKE 'Trade%'")
    assert sorted(tsql.results[0]) == [["TradeAckSchema"], ["TradeEntrySchema"]]


def test_a_dialog_alone_reaches_nobody(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + listing(12))
    trading.run_well("SELECT state_desc, far_service, far_broker_instance FROM sys.conversation_endpoints")
    ((state, far_service, far_instance),) = trading.results[0]
    assert state == "STARTED_OUTBOUND"
    assert far_service == "//www.develop.com/DMBrokerage/TradeEntryService"
    assert far_instance is None
    trading.run_well("USE DMBrokerage\nGO\nSELECT COUNT(*) FROM sys.conversation_endpoints")
    assert trading.results == [[["0"]]]


def test_a_trade_travels_from_one_database_to_the_other(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + listing(14))
    for view in ("sys.conversation_groups", "sys.conversation_endpoints"):
        trading.run_well(f"SELECT COUNT(*) FROM {view}")
        assert trading.results == [[["1"]]]

    trading.run_well("USE DMBrokerage\nGO\nSELECT * FROM tradeEntryQueue")
    (message,) = (dict(zip(trading.columns[0], row, strict=True)) for row in trading.results[0])
    assert message["message_type_name"] == "//www.develop.com/DMBrokerage/TradeEntry"
    assert message["service_name"] == "//www.develop.com/DMBrokerage/TradeEntryService"
    assert message["message_sequence_number"] == "0"
    assert message["validation"] is not None and message["validation"].strip() == "X"

    trading.run_well(listing(16))
    ((handle, body),) = trading.results[0]
    assert handle == message["conversation_handle"]
    assert body is not None and bytes.fromhex(body[2:]).decode() == "<id>Order1</id>"
    trading.run_well("SELECT * FROM tradeEntryQueue")
    assert trading.results == [[]]


def test_a_received_body_can_be_read_as_xml(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + listing(14))
    receive = snippet("RECEIVE CAST(message_body AS XML)").replace("MyQueue", "tradeEntryQueue")
    trading.run_well("USE DMBrokerage\nGO\n" + receive)
    assert trading.results == [[["<id>Order1</id>"]]]


def test_a_waiting_receive_returns_when_a_message_is_there(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + listing(14))
    trading.run_well("USE DMBrokerage\nGO\n" + listing(17))
    ((handle, body),) = trading.results[0]
    assert handle is not None
    assert body is not None and bytes.fromhex(body[2:]).decode() == "<id>Order1</id>"
    trading.run_well("SELECT COUNT(*) FROM tradeEntryQueue")
    assert trading.results == [[["0"]]]


def test_the_identifier_of_a_database(trading: Tsql) -> None:
    query = snippet("SELECT service_broker_guid").replace("<db_name>", "Trader1")
    trading.run_well(query)
    ((guid,),) = trading.results[0]
    assert guid is not None
    assert re.fullmatch(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", guid)


# ---------------------------------------------------------------- Hello World


def _hello_world() -> list[str]:
    """The scripts of the page in order: code is what stands between two pieces of French prose."""
    text = document("004")
    code = text[text.index("-- Create a database to work in") : text.index("J'ai donc pu envoyer")]
    prose = re.compile(
        r"^(?:Une fois les|Examinons la|Je peux maintenant|La réponse a été|\.\.\. Enfin).*\n", re.MULTILINE
    )
    return prose.split(code)


def test_hello_world(tsql: Tsql) -> None:
    define, send, look, answer, look_again, receive = _hello_world()
    assert tsql.run_well(define) == ""
    assert tsql.run_well(send) == ""

    tsql.run_well(look)
    everything, body = tsql.results
    assert len(everything) == 1
    assert body == [["Hello World"]]

    tsql.run_well(answer)
    assert tsql.prints == ["Hello World"]
    assert tsql.results == [[]]

    tsql.run_well(look_again)
    (greeting, goodbye) = tsql.results[0]
    assert str(greeting[0]).startswith("Hello From ")
    assert goodbye == [None]
    tsql.run_well("SELECT message_type_name FROM HelloWorldInitiatorQueue ORDER BY queuing_order")
    assert tsql.results == [[["HelloWorldResponse"], [END_DIALOG]]]

    tsql.run_well(receive)
    assert tsql.results == [[greeting, [None]]]
    tsql.run_well("SELECT COUNT(*) FROM HelloWorldInitiatorQueue")
    assert tsql.results == [[["0"]]]
