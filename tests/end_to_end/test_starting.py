"""What a command costs before it does anything: the list of commands, and what is imported."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from pgsb.cli import main
from support import Database

pytestmark = pytest.mark.one_postgres

# Processor time alone depends on the machine: what must not be loaded is told by name, and the time is
# compared with that of the interpreter and the libraries that cannot be left out.
_MEASURE = """
import resource, subprocess, sys
def seconds(*command):
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)
pgsb = (sys.executable, "-m", "pgsb.cli.main")
print(seconds(*pgsb, *sys.argv[1:]) / seconds(sys.executable, "-c", "import click, psycopg, sqlglot"))
"""


def _loaded(*arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    code = (
        "import sys\nfrom pgsb.cli.main import main\n"
        f"sys.argv = ['pgsb', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    print(*sys.modules, file=sys.stderr)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, input="PRINT 1\n"
    )
    return set(shown.stderr.split())


def test_the_help_says_of_each_command_what_the_command_says() -> None:
    context = click.Context(main.commands)
    for name, (_, line) in main._COMMANDS.items():
        command = main.commands.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(200) == line


def test_the_help_loads_no_command() -> None:
    assert not _loaded("--help") & {
        "psycopg",
        "sqlglot",
        "lark",
        "pgsb.compiler.pipeline",
        "pgsb.server.connect",
    }


def test_running_a_script_loads_what_it_needs(database: Database) -> None:
    # The first command of a new version makes the parser's tables, with Lark.
    _loaded("check", "-")
    loaded = _loaded("run", "--dsn", database.dsn, "-")
    assert not loaded & {
        "lark",
        "prompt_toolkit",
        "pgsb.daemon.loop",
        "pyspark",
        "psycopg_pool",
        "pgsb.compiler.checking",
        "pgsb.compiler.references",
        "pgsb.assess",
        "pgsb.editor",
        "pgsb.security",
        "pgsb.server.embedded",
        "pgsb.server.open_transaction",
    }
    assert "psycopg" in loaded
    # A module more is a millisecond more in each command: a new one has to be worth it.
    assert len(_of(loaded, "pgsb")) <= 200
    assert len(_of(loaded, "sqlglot")) <= 45


def _of(loaded: set[str], package: str) -> set[str]:
    return {name for name in loaded if name.partition(".")[0] == package}


@pytest.mark.parametrize(("command", "most"), [(("--help",), 0.6), (("check", "-"), 2.2)])
def test_processor_time_beside_the_libraries(command: tuple[str, ...], most: float, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    shown = subprocess.run(
        [sys.executable, "-c", _MEASURE, *command],
        capture_output=True,
        text=True,
        check=True,
        input="",
        env=environment,
    )
    assert float(shown.stdout) < most
