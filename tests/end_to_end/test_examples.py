"""The applications in examples/: what they print is kept beside them, and their compiled text runs in psql.

PGSB_GOLDEN=rewrite (make golden) writes the expectations anew; the diff is to be read.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from end_to_end.tsql import Tsql

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.source import Source
from support import Database, rest_is_long

EXAMPLES = Path(__file__).parents[2] / "examples"
# tests of their own run these: test_migrations.py, tests/daemon, tests/bulk, tests/client
ELSEWHERE = {"migrations", "greeter", "end_of_day", "outbox"}
APPLICATIONS = sorted(
    {script.parent for script in EXAMPLES.glob("*/*.sql") if script.parent.name not in ELSEWHERE}
)


def _scripts(application: Path) -> Iterator[Path]:
    yield from sorted(application.glob("*.sql"))


@pytest.mark.parametrize("application", APPLICATIONS, ids=lambda path: path.name)
def test_an_application_prints_what_is_kept_beside_it(tsql: Tsql, application: Path) -> None:
    for script in _scripts(application):
        shown = tsql.run_well(Source.read(script).text, script.name)
        expected = script.with_suffix(".out")
        if os.environ.get("PGSB_GOLDEN") == "rewrite":
            expected.write_text(shown, encoding="utf-8")
        assert shown == expected.read_text(encoding="utf-8"), script.name


@pytest.mark.one_postgres
@pytest.mark.parametrize(
    "application", rest_is_long(APPLICATIONS, *APPLICATIONS[:1]), ids=lambda path: path.name
)
def test_an_application_can_be_run_again(database: Database, application: Path) -> None:
    for _ in range(2):
        tsql = Tsql(database.dsn)
        shown = [tsql.run_well(Source.read(script).text, script.name) for script in _scripts(application)]
        tsql.close()
    kept = [script.with_suffix(".out").read_text(encoding="utf-8") for script in _scripts(application)]
    assert shown == kept


@pytest.mark.one_postgres
@pytest.mark.parametrize(
    "application", rest_is_long(APPLICATIONS, *APPLICATIONS[:1]), ids=lambda path: path.name
)
def test_its_compiled_text_runs_in_psql(database: Database, psql: str, application: Path) -> None:
    for script in _scripts(application):
        compiled = compile_script(Source.read(script), CompileOptions())
        compiled.problems.raise_if_any()
        assert compiled.text() == compile_script(Source.read(script), CompileOptions()).text()
        shown = subprocess.run(
            [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.dsn, "-f", "-"],
            input=compiled.text(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert shown.returncode == 0, shown.stderr
        assert "ERROR" not in shown.stderr
