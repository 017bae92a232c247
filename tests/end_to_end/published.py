"""Published scripts that tests run as they are printed: where they are, and what the printer got wrong.

The documents are not part of the project. They are looked for in PGSB_SEEDS or in
../shared/seeds beside the checkout; tests that need them are skipped without them.
What a page has wrong by an obvious slip of the printer is put right by CORRECTIONS.
"""

import os
import re
from pathlib import Path

import pytest
from end_to_end.tsql import Tsql

SEEDS = Path(os.environ.get("PGSB_SEEDS") or Path(__file__).parents[3] / "shared" / "seeds")

needs_the_documents = pytest.mark.skipif(
    not SEEDS.is_dir(), reason=f"the published scripts are not at {SEEDS}"
)

# (as printed, as meant, why)
CORRECTIONS = [
    (
        'CREATE XML SCHEMA COLLECTION\n  N\'<?xml version="1.0" ?>\n  "http://www.w3.org/2001/XMLSchema"',
        'CREATE XML SCHEMA COLLECTION TradeAckSchema AS\n  N\'<?xml version="1.0" ?>\n'
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


def document(number: str) -> str:
    (path,) = SEEDS.glob(f"{number}_*.txt")
    return path.read_text(encoding="utf-8")


def fences(text: str) -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def listing(number: int) -> str:
    """The code of Listing 15-``number``: a page break may have cut it into several pieces."""
    text = document("000")
    start = re.search(rf"^LISTING 15-{number}: .*\n", text, re.MULTILINE)
    assert start is not None
    rest = text[start.end() :]
    # The listing ends where prose begins: what stands between its pieces are page numbers and footnotes.
    pieces: list[str] = []
    for block in re.split(r"(^```\n.*?^```$)", rest, flags=re.MULTILINE | re.DOTALL):
        if block.startswith("```"):
            pieces.append(block.removeprefix("```\n").removesuffix("```"))
        elif pieces and re.sub(r"^(?:\d+ ■ |¹).*$", "", block, flags=re.MULTILINE).strip():
            break
    return corrected("\n".join(pieces))


def corrected(code: str) -> str:
    for printed, meant, _ in CORRECTIONS:
        code = code.replace(printed, meant)
    return code


def snippet(beginning: str) -> str:
    """A piece of code between the listings, by how it begins."""
    (found,) = (code for code in fences(document("000")) if code.startswith(beginning))
    return corrected(found)


def set_up_trading(tsql: Tsql) -> None:
    """Make both databases with their message types, contract and queues (Listings 15-2 to 15-10)."""
    shells = snippet("--create in the broker/trader database\nCREATE PROCEDURE").split("GO\n")
    for database, shell in zip(("Trader1", "DMBrokerage"), shells, strict=True):
        tsql.run_well(f"CREATE DATABASE {database}")
        tsql.run_well(f"USE {database}\nGO\n{listing(2)}\nGO\n{listing(6)}\nGO\n{shell}")
    tsql.run_well(listing(8))
    tsql.run_well(listing(10))
