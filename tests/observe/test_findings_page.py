"""docs/diagnose.md lists every kind of finding as the runtime tells it."""

import re
from pathlib import Path

from support import Connection

PAGE = Path(__file__).parents[2] / "docs" / "diagnose.md"


def test_the_page_lists_every_kind(sql: Connection) -> None:
    kinds = [
        "| " + " | ".join(str(part) for part in row) + " |"
        for row in sql.execute("SELECT * FROM ssb_internal.finding_kinds()").fetchall()
    ]
    assert re.findall(r"^\| [0-9]{3} \|.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE) == kinds
