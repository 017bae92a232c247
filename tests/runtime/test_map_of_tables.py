"""docs/engine.md's map names every table of the runtime, and no other."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support import Connection

PAGE = Path(__file__).parents[2] / "docs" / "engine.md"


@pytest.mark.one_postgres
def test_the_map_names_every_table(connect: Callable[..., Connection]) -> None:
    (flowchart,) = re.findall(r"```mermaid\nflowchart LR\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    drawn = re.sub(r"(?m)^ *(subgraph .*|end)$|-\. far side \.", " ", flowchart)
    on_the_map = set(re.findall(r"[a-z]\w+", drawn))
    tables = {
        name
        for (name,) in connect().execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'ssb'::regnamespace"
        )
    }
    assert on_the_map == tables
