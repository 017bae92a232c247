"""The parser's tables are kept in the user's cache folder, and nothing depends on them being there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgsb.compiler.builder.batches import parse_script
from pgsb.grammar import parser, tables
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "cache"
    monkeypatch.setattr(tables, "_folder", lambda: folder)
    _forget()
    yield folder
    _forget()


def _forget() -> None:
    tables.tables.cache_clear()
    parser._sentences.cache_clear()


def _works() -> bool:
    problems = Problems()
    script = parse_script(Source("x.sql", "BEGIN TRY SELECT 1 END TRY BEGIN CATCH THROW END CATCH"), problems)
    return not len(problems) and len(script.batches) == 1


@pytest.fixture(scope="module")
def by_lark() -> tuple[Any, ...]:
    """As they are kept, or made: Lark takes seconds, and makes them for whoever parses first on a machine."""
    kept = tables.tables()
    rules = [tuple(rule) for rule in kept.rules]
    return kept.states, rules, kept.start, kept.end, list(kept.names.texts.items())


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch, by_lark: tuple[Any, ...]) -> list[str]:
    """The grammars of which tables were wanted."""
    asked: list[str] = []

    def make(grammar: str) -> tuple[Any, ...]:
        asked.append(grammar)
        return by_lark

    monkeypatch.setattr(tables, "_make", make)
    return asked


@pytest.mark.long
def test_broken_tables_are_made_again_and_kept(
    cache_folder: Path, made: list[str], by_lark: tuple[Any, ...]
) -> None:
    assert _works()
    (kept,) = cache_folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    _forget()
    assert _works()
    (kept,) = cache_folder.iterdir()
    assert tables._read(kept) == by_lark
    assert made == [tables._grammar_text()] * 2
    _forget()
    assert _works()
    assert len(made) == 2


def test_without_a_cache_folder_the_tables_are_made_in_memory(cache_folder: Path, made: list[str]) -> None:
    cache_folder.write_text("a file is in its place")
    assert _works()
    assert len(made) == 1
