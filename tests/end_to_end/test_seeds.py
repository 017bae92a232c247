"""Published scripts, run as they are printed: the stock-trading listings and a Hello World.

The documents are not part of the project. They are looked for in PGSB_SEEDS or in
../shared/seeds beside the checkout; without them these tests are skipped. What the
page has wrong by an obvious slip of the printer is put right by the lists below.
"""

import os
import re
from pathlib import Path

import pytest
from end_to_end.tsql import Tsql

SEEDS = Path(os.environ.get("PGSB_SEEDS") or Path(__file__).parents[3] / "shared" / "seeds")

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason=f"the published scripts are not at {SEEDS}")

# (as printed, as meant, why)
CORRECTIONS = [
    (
        "CREATE XML SCHEMA COLLECTION\n  N'<?xml version=\"1.0\" ?>\n  \"http://www.w3.org/2001/XMLSchema\"",
        "CREATE XML SCHEMA COLLECTION TradeAckSchema AS\n  N'<?xml version=\"1.0\" ?>\n"
        '  <xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"',
        "15-3: the collection's name and the beginning of the schema's first line are lost",
    ),
    ("[/www.develop.com", "[//www.develop.com", "15-10: one of two slashes is lost"),
    ("CREATE SERVICE\n    ([//www", "CREATE SERVICE\n    [//www", "15-10: a parenthesis before the name"),
    (
        "' //www.develop.com/DMBrokerage/TradeEntryService '",
        "'//www.develop.com/DMBrokerage/TradeEntryService'",
        "15-12: the typesetter's blanks, which would be part of the name",
    ),
    (
        "[ //www.develop.com/DMBrokerage/EnterTrade ]",
        "[//www.develop.com/DMBrokerage/EnterTrade]",
        "15-12: the same",
    ),
    (
        "['//www.develop.com/DMBrokerage/EnterTrade']",
        "[//www.develop.com/DMBrokerage/EnterTrade]",
        "15-14: quotes inside brackets would be part of the name",
    ),
    (
        "['//www.develop.com/DMBrokerage/TradeEntry']",
        "[//www.develop.com/DMBrokerage/TradeEntry]",
        "15-14: the same",
    ),
]
END_DIALOG = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"


def _document(number: str) -> str:
    (path,) = SEEDS.glob(f"{number}_*.txt")
    return path.read_text(encoding="utf-8")


def _fences(text: str) -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _listing(number: int) -> str:
    """The code of Listing 15-``number``: a page break may have cut it into several pieces."""
    text = _document("000")
    start = re.search(rf"^LISTING 15-{number}: .*\n", text, re.MULTILINE)
    assert start is not None
    rest = text[start.end() :]
    # The listing ends where prose begins: what stands between its pieces are page numbers.
    pieces: list[str] = []
    for block in re.split(r"(^```\n.*?^```$)", rest, flags=re.MULTILINE | re.DOTALL):
        if block.startswith("```"):
            pieces.append(block.removeprefix("```\n").removesuffix("```"))
        elif pieces and re.sub(r"^\d+ ■ .*$", "", block, flags=re.MULTILINE).strip():
            break
    return _corrected("\n".join(pieces))


def _corrected(code: str) -> str:
    for printed, meant, _ in CORRECTIONS:
        code = code.replace(printed, meant)
    return code


def _snippet(beginning: str) -> str:
    """A piece of code between the listings, by how it begins."""
    (found,) = (code for code in _fences(_document("000")) if code.startswith(beginning))
    return _corrected(found)


@pytest.fixture
def trading(tsql: Tsql) -> Tsql:
    """Both databases with their message types, contract, queues and services (Listings 15-2 to 15-10)."""
    shells = _snippet("--create in the broker/trader database\nCREATE PROCEDURE").split("GO\n")
    for database, shell in zip(("Trader1", "DMBrokerage"), shells, strict=True):
        tsql.run_well(f"CREATE DATABASE {database}")
        tsql.run_well(f"USE {database}\nGO\n{_listing(2)}\nGO\n{_listing(6)}\nGO\n{shell}")
    tsql.run_well(_listing(8))
    tsql.run_well(_listing(10))
    return tsql


def test_every_correction_is_needed() -> None:
    printed = _document("000")
    for before, _, why in CORRECTIONS:
        # The second slip of Listing 15-10 shows once the first is put right.
        assert before.replace("[//www", "[/www") in printed or before in printed, why


def test_schemas_and_the_message_types_that_use_them(tsql: Tsql) -> None:
    tsql.run_well("CREATE DATABASE Schemas\nGO\nUSE Schemas\nGO\n" + _listing(3))
    tsql.run_well("SELECT name, RTRIM(validation) FROM sys.service_message_types WHERE name LIKE '%DMBrok%'")
    assert sorted(tsql.results[0]) == [
        ["//www.develop.com/DMBrokerage/TradeAck", "X"],
        ["http://www.develop.com/DMBrokerage/TradeEntry", "X"],
    ]
    tsql.run_well("SELECT name FROM sys.xml_schema_collections WHERE name LIKE 'Trade%'")
    assert sorted(tsql.results[0]) == [["TradeAckSchema"], ["TradeEntrySchema"]]


def test_a_dialog_alone_reaches_nobody(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + _listing(12))
    trading.run_well("SELECT state_desc, far_service, far_broker_instance FROM sys.conversation_endpoints")
    ((state, far_service, far_instance),) = trading.results[0]
    assert state == "STARTED_OUTBOUND"
    assert far_service == "//www.develop.com/DMBrokerage/TradeEntryService"
    assert far_instance is None
    trading.run_well("USE DMBrokerage\nGO\nSELECT COUNT(*) FROM sys.conversation_endpoints")
    assert trading.results == [[["0"]]]


def test_a_trade_travels_from_one_database_to_the_other(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + _listing(14))
    for view in ("sys.conversation_groups", "sys.conversation_endpoints"):
        trading.run_well(f"SELECT COUNT(*) FROM {view}")
        assert trading.results == [[["1"]]]

    trading.run_well("USE DMBrokerage\nGO\nSELECT * FROM tradeEntryQueue")
    (message,) = (dict(zip(trading.columns[0], row, strict=True)) for row in trading.results[0])
    assert message["message_type_name"] == "//www.develop.com/DMBrokerage/TradeEntry"
    assert message["service_name"] == "//www.develop.com/DMBrokerage/TradeEntryService"
    assert message["message_sequence_number"] == "0"
    assert message["validation"] is not None and message["validation"].strip() == "X"

    trading.run_well(_listing(16))
    ((handle, body),) = trading.results[0]
    assert handle == message["conversation_handle"]
    assert body is not None and bytes.fromhex(body[2:]).decode() == "<id>Order1</id>"
    trading.run_well("SELECT * FROM tradeEntryQueue")
    assert trading.results == [[]]


def test_a_received_body_can_be_read_as_xml(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + _listing(14))
    receive = _snippet("RECEIVE CAST(message_body AS XML)").replace("MyQueue", "tradeEntryQueue")
    trading.run_well("USE DMBrokerage\nGO\n" + receive)
    assert trading.results == [[["<id>Order1</id>"]]]


def test_a_waiting_receive_returns_when_a_message_is_there(trading: Tsql) -> None:
    trading.run_well("USE Trader1\nGO\n" + _listing(14))
    trading.run_well("USE DMBrokerage\nGO\n" + _listing(17))
    ((handle, body),) = trading.results[0]
    assert handle is not None
    assert body is not None and bytes.fromhex(body[2:]).decode() == "<id>Order1</id>"
    trading.run_well("SELECT COUNT(*) FROM tradeEntryQueue")
    assert trading.results == [[["0"]]]


def test_the_identifier_of_a_database(trading: Tsql) -> None:
    query = _snippet("SELECT service_broker_guid").replace("<db_name>", "Trader1")
    trading.run_well(query)
    ((guid,),) = trading.results[0]
    assert guid is not None
    assert re.fullmatch(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", guid)


# ---------------------------------------------------------------- Hello World


def _hello_world() -> list[str]:
    """The scripts of the page in order: code is what stands between two pieces of French prose."""
    text = _document("004")
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
