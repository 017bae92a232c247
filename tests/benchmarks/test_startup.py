"""The benchmark of short commands measures each of them, on whichever server the environment names."""

import re

import pytest
from click.testing import CliRunner

from pgsb.benchmarks.startup import COMMANDS, main
from support import Database

pytestmark = pytest.mark.one_postgres


@pytest.mark.long
def test_each_command_is_measured(database: Database) -> None:
    shown = CliRunner(env={"DATABASE_URL": database.dsn}).invoke(main, ["--rounds", "1"])
    assert shown.exit_code == 0, shown.output
    found = dict(re.findall(r"^(.+?) +([0-9]+) / +\2 / +\2 ms$", shown.output, re.MULTILINE))
    assert list(found) == list(COMMANDS)
    assert int(found["pgsb run, one PRINT"]) > int(found["python -c pass"]) > 0
