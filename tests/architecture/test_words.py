"""A thing has one name: the field's. Names that were used before do not come back."""

from __future__ import annotations

import re
from pathlib import Path

from pgsb import compiler

ROOT = Path(compiler.__file__).resolve().parent.parent
FOLDERS = """
assess benchmarks bulk cli client compiler daemon deploy diff docs editor examples grammar observe runtime_sql
scripts security server tests
""".split()
ENDINGS = {".py", ".sql", ".lark", ".md"}
# The word or pattern that is not used, and what stands for it.
WORDS = {
    r"ordinary[ _](sql|statements?)\b": "a query, DML",
    r"(?<![a-z])late[ _]text(?![a-z])": "runtime-compiled dynamic SQL",
    r"\bpgsb_piece_": "a placeholder",
    r"\bin[ _]sight\b|_in_sight\b": "in scope",
    r"\bfrom[ _]afar\b|\bsend_away\b": "remote",
    r"\busual_(dialog|first|ends)\b|\blooks_usual\b|\busual (dialog|way|path)\b": "fast path",
    r"_carefully\b": "slow path",
    r"\bfind_farther\b": "find_first_beyond",
    r"\bempty-handed\b|\bin somebody's hands\b": "returns no rows; its group is locked",
    r"\bthe least\b": "the lower bound, the minimum",
    r"\b(an|the|as|our) ear\b": "the listener connection",
    r"\bdear\b": "expensive",
    r"\b(which|that|what)( \w+){1,3} has not([.,;:)`]|$)": "lacks",
}
# What stands in each text that a pattern is found in, in the patterns' order: found a hundred times as fast.
PARTS = [
    ("ordinary",),
    ("late",),
    ("pgsb_piece_",),
    ("sight",),
    ("afar", "send_away"),
    ("usual",),
    ("_carefully",),
    ("find_farther",),
    ("empty-handed", "hands"),
    ("the least",),
    (" ear",),
    ("dear",),
    ("has not",),
]
# Renames what is installed, and must know the names of before; this file lists them.
OLD_NAMES = {"runtime_sql/migrations/0015_names.sql", "tests/architecture/test_words.py"}


def test_no_word_of_before_comes_back() -> None:
    found = []
    pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    paths = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*")}
    for path in sorted(paths.union(ROOT / page for page in pages)):
        name = str(path.relative_to(ROOT))
        if path.suffix not in ENDINGS or name in OLD_NAMES or path.is_symlink():
            continue
        text = f"{path.name.removesuffix(path.suffix)}\n{path.read_text()}"
        # By line only where there is something: that takes three times as long.
        lower = text.lower()
        here = [
            pattern
            for pattern, parts in zip(WORDS, PARTS, strict=True)
            if any(part in lower for part in parts) and re.search(pattern, lower, re.MULTILINE)
        ]
        if not here:
            continue
        for number, line in enumerate(text.splitlines()):
            found += [
                f"{name}:{number}: {line.strip()[:100]} → {instead}"
                for pattern in here
                for instead in [WORDS[pattern]]
                if re.search(pattern, line, re.IGNORECASE)
            ]
    assert found == []


def test_the_words_would_be_found() -> None:
    lines = [
        "the translator of ordinary SQL",
        "a late text",
        "pgsb_piece_1",
        "columns in sight",
        "send_away(",
        "begin_usual_dialog, usual_dialog",
        "receive_carefully",
        "find_farther(",
        "comes back empty-handed",
        "beside the least",
        "as ear",
        "which half is dear",
        "an event that a queue has not.",
    ]
    for pattern, parts, line in zip(WORDS, PARTS, lines, strict=True):
        assert re.search(pattern, line, re.IGNORECASE), line
        assert any(part in line.lower() for part in parts), line
