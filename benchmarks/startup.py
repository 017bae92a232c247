"""`python -m benchmarks.startup`: processor time of short commands, beside the interpreter's own, in turns.

Each round runs every command once: ``python -c pass``, the libraries that cannot be left out, the help,
``pgsb check`` of one PRINT, and ``pgsb run`` of it on the private server, which a first run starts. Figures
are user and system time of the whole command in milliseconds, minimum / median / maximum of the rounds; the
server's own time is not in them. Modules are compiled beforehand, into a folder of this run.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping

import click

_PGSB = (sys.executable, "-m", "pgsb.cli.main")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "import click, psycopg, sqlglot": (sys.executable, "-c", "import click, psycopg, sqlglot"),
    "pgsb --help": (*_PGSB, "--help"),
    "pgsb check, one PRINT": (*_PGSB, "check", "-"),
    "pgsb run, one PRINT": (*_PGSB, "run", "-"),
}


def processor_milliseconds(command: tuple[str, ...], environment: Mapping[str, str]) -> float:
    """User and system time of a command and its children. Raises CalledProcessError where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=b"PRINT 'a'\n", capture_output=True, check=True, env=dict(environment))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=15, show_default=True)
def main(rounds: int) -> None:
    """Print one line a command."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        times: dict[str, list[float]] = {name: [] for name in COMMANDS}
        for command in COMMANDS.values():
            processor_milliseconds(command, environment)
        for _ in range(rounds):
            for name, command in COMMANDS.items():
                times[name].append(processor_milliseconds(command, environment))
    for name, found in times.items():
        click.echo(f"{name:32}{min(found):6.0f} /{statistics.median(found):5.0f} /{max(found):5.0f} ms")


if __name__ == "__main__":
    main()
