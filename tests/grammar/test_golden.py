"""T-SQL in, outline of the nodes (or the problems) out: the cases of cases/*.sql.

A case is ``-- case: name``, the text, ``-- expect``, the outline. PGSB_GOLDEN=rewrite writes
what comes out in place of what was expected; the diff is read in review.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from node_outline import outline

_FOLDER = Path(__file__).parent / "cases"
_CASE = re.compile(
    r"^-- case: (?P<name>.*)\n(?P<text>(?:.*\n)*?)-- expect\n(?P<expected>(?:(?!-- case: ).*\n?)*)", re.M
)


def _cases() -> list[tuple[str, str, str, str]]:
    found = []
    for path in sorted(_FOLDER.glob("*.sql")):
        for match in _CASE.finditer(path.read_text(encoding="utf-8")):
            found.append((path.stem, match["name"], match["text"], match["expected"].rstrip("\n")))
    return found


_CASES = _cases()


@pytest.mark.skipif(os.environ.get("PGSB_GOLDEN") == "rewrite", reason="the expectations are being rewritten")
@pytest.mark.parametrize(
    ("text", "expected"), [c[2:] for c in _CASES], ids=[f"{c[0]}: {c[1]}" for c in _CASES]
)
def test_case(text: str, expected: str) -> None:
    assert outline(text) == expected


def test_every_case_has_its_own_name() -> None:
    names = [case[:2] for case in _CASES]
    assert len(names) == len(set(names))
    assert len(names) > 100


@pytest.mark.skipif(os.environ.get("PGSB_GOLDEN") != "rewrite", reason="make golden rewrites")
def test_rewrite() -> None:
    for path in sorted(_FOLDER.glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            _CASE.sub(
                lambda m: f"-- case: {m['name']}\n{m['text']}-- expect\n{outline(m['text'])}\n\n", text
            ).rstrip("\n")
            + "\n",
            encoding="utf-8",
        )
