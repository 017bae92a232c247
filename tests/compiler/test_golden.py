"""Text in, text out: cases in a file named after the pass, each also run in a server.

A case is T-SQL, the PostgreSQL text it compiles to (``-- expect``) and what running it shows
(``-- shows``). ``PGSB_GOLDEN=rewrite`` (make golden) writes both anew; the diff is read in review.
"""

import re
from pathlib import Path

import cases
import pytest
from cases import Case
from end_to_end.tsql import Tsql

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.source import Source
from support import Database

ALL = cases.read_folder(Path(__file__).parent / "cases")


def compiled(case: Case) -> str:
    """Return the PostgreSQL text of a case, or its problems."""
    script = compile_script(Source("case.sql", case.source), CompileOptions())
    if script.problems.errors:
        return f"{script.problems.report()}\n"
    return script.text().rstrip("\n") + "\n"


def shown(case: Case, database: Database) -> str:
    """Return what running a case shows."""
    session = Tsql(database.dsn)
    try:
        text = session.run(case.source, "case.sql")
    finally:
        session.connection.close()
    # Names that the server chooses.
    text = re.sub(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", "<uuid>", text)
    return text.rstrip("\n").replace(database.name, "<database>") + "\n"


@pytest.mark.parametrize("case", ALL, ids=[case.label for case in ALL])
def test_a_case_compiles_to_what_is_kept(case: Case) -> None:
    text = compiled(case)
    if cases.REWRITING:
        _rewrite(case, "expect", text)
        return
    assert text.rstrip("\n") == case.expect
    assert compiled(case) == text, "compiled a second time"


@pytest.mark.parametrize("case", ALL, ids=[case.label for case in ALL])
def test_a_case_shows_what_is_kept(case: Case, database: Database) -> None:
    output = shown(case, database)
    if cases.REWRITING:
        _rewrite(case, "shows", output)
        return
    assert output.rstrip("\n") == case.shows


def _rewrite(case: Case, section: str, text: str) -> None:
    cases.rewrite(
        case.path,
        lambda c: {"expect": "", **c.sections, section: text} if c.label == case.label else None,
    )
