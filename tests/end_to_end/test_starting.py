"""What a command costs before it does anything: the list of commands, and what is imported."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from pgsb.cli import main
from support import Database

pytestmark = pytest.mark.one_postgres

# Processor time alone depends on the machine: what must not be loaded is told by name, and the time is
# compared with that of the interpreter and the libraries that cannot be left out. By turns, and the minimum
# of three: the first time Python compiles what it has not compiled yet.
_MEASURE = """
import resource, subprocess, sys
def seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
pgsb = (sys.executable, "-m", "pgsb.cli.main")
libraries = (sys.executable, "-c", "import click, psycopg, sqlglot")
commands = libraries, (*pgsb, "--help"), (*pgsb, "check", "-")
beside, *measured = map(min, zip(*([seconds(*one) for one in commands] for _ in range(3))))
print(*(one / beside for one in measured))
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


def test_ctrl_c_while_python_loads_the_command_is_no_traceback(tmp_path: Path) -> None:
    """Here as its first library is loaded; what the command itself says of Ctrl-C comes later."""
    (tmp_path / "click.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('it went on')\n", encoding="utf-8"
    )
    code = (
        "import signal, sys\n"
        # A shell may have started the tests in the background.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from pgsb.cli import program\nprogram()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_after_that_ctrl_c_is_taken_as_python_takes_it() -> None:
    code = (
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.{})\n"
        "from pgsb.cli import main, program\n"
        "main.program = lambda: print(signal.getsignal(signal.SIGINT) is signal.{})\nprogram()\n"
    )
    for handler in ("default_int_handler", "SIG_IGN"):
        script = code.format(handler, handler)
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert ended.stdout == "True\n"


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


@pytest.mark.long
def test_processor_time_beside_the_libraries() -> None:
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    shown = subprocess.run(
        [sys.executable, "-c", _MEASURE],
        capture_output=True,
        text=True,
        check=True,
        input="",
        env=environment,
    )
    help_, check = map(float, shown.stdout.split())
    assert help_ < 0.6
    assert check < 2.2
