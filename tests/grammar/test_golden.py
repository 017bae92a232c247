"""T-SQL in, outline of the nodes (or the problems) out: the cases of cases/*.sql.

A case is ``-- case: name``, the text, ``-- expect``, the outline. PGSB_GOLDEN=rewrite writes
what comes out in place of what was expected; the diff is read in review.
"""

from __future__ import annotations

from pathlib import Path

import cases
import pytest
from cases import Case
from node_outline import outline

ALL = cases.read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", ALL, ids=[case.label for case in ALL])
def test_case(case: Case) -> None:
    result = outline(case.source)
    if cases.REWRITING:
        cases.rewrite(case.path, lambda c: {"expect": result} if c.name == case.name else None)
        return
    assert result == case.expect


def test_there_are_cases() -> None:
    assert len(ALL) > 100
