"""T-SQL scripts around XML, compiled and run; scripts/NAME.txt is what a user sees.

PGSB_GOLDEN=rewrite writes the expectations anew.
"""

import os
from pathlib import Path

import pytest
from end_to_end.tsql import Tsql

from support import Database

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.sql"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_what_it_should(database: Database, script: Path) -> None:
    session = Tsql(database.dsn)
    try:
        shown = session.run(script.read_text(encoding="utf-8"), script.name)
    finally:
        session.connection.close()
    expectation = script.with_suffix(".txt")
    if os.environ.get("PGSB_GOLDEN") == "rewrite":
        expectation.write_text(shown, encoding="utf-8")
    assert shown == expectation.read_text(encoding="utf-8")
