"""pgsb spark: bulk jobs on Spark."""

import logging
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import click

from ..bulk.connections import acting_as
from ..bulk.job import run_job
from ..bulk.options import JobOptions, Mode
from ..bulk.problems import BulkError
from ..bulk.program import load_program
from ..bulk.progress import Progress
from ..bulk.session import silence
from ..server.connect import find_target, has_private_servers, private_server
from .options import UNCHECKED_PATH, dsn_option


@click.group("spark")
def spark_command() -> None:
    """Process queues in bulk with Spark."""


@spark_command.command("run")
@dsn_option
@click.option(
    "--queue",
    required=True,
    envvar="PGSB_QUEUE",
    metavar="SCHEMA.NAME",
    help="The queue to read, as PostgreSQL spells it.  [default: PGSB_QUEUE, which the broker daemon sets]",
)
@click.option(
    "--program",
    "program_name",
    required=True,
    metavar="PACKAGE.MODULE:FUNCTION",
    help="A function from a DataFrame of messages to pgsb.bulk.Outputs.",
)
@click.option(
    "--role",
    envvar="PGSB_ROLE",
    metavar="NAME",
    help="SET ROLE in every session.  [default: PGSB_ROLE, which the broker daemon sets]",
)
@click.option("--master", metavar="URL", help="Spark's master.  [default: local[2]]")
@click.option(
    "--max-messages",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    metavar="N",
    help="The most messages of one claim.",
)
@click.option(
    "--max-bytes", type=click.IntRange(1), metavar="N", help="The most bytes of the bodies of one claim."
)
@click.option("--partitions", type=click.IntRange(1), metavar="N", help="Tasks that read one claim.")
@click.option("--unordered", is_flag=True, help="Do not sort the messages of a conversation.")
@click.option(
    "--overlap",
    is_flag=True,
    help="Compute the next claim while one is completed. Not for programs that read what they wrote before.",
)
@click.option("--once", "mode", flag_value="once", help="Process one claim.")
@click.option(
    "--until-empty", "mode", flag_value="until-empty", help="Go on until nothing waits (the default)."
)
@click.option(
    "--continuous", "mode", flag_value="continuous", help="Wait for more; ends with SIGTERM or Ctrl-C."
)
@click.option(
    "--py-files",
    multiple=True,
    metavar="FILES",
    type=UNCHECKED_PATH,
    help="Modules and zips that the executors need, separated by commas.",
)
@click.option(
    "--archives", multiple=True, metavar="FILES", help="Packed environments for executors: env.tar.gz#env."
)
@click.option("--conf", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of Spark's.")
def run_command(
    dsn: str | None,
    queue: str,
    program_name: str,
    role: str | None,
    master: str | None,
    max_messages: int,
    max_bytes: int | None,
    partitions: int | None,
    unordered: bool,
    overlap: bool,
    mode: Mode | None,
    py_files: tuple[str, ...],
    archives: tuple[str, ...],
    settings: tuple[str, ...],
) -> None:
    """Claim messages of a queue, run a program on them, complete; exactly once."""
    chosen = {}
    for setting in settings:
        key, separator, value = setting.partition("=")
        if not separator:
            raise click.BadParameter(f"{setting!r} is not KEY=VALUE", param_hint="--conf")
        chosen[key] = value
    files = tuple(one for option in py_files for one in option.split(","))
    stopping = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    # py4j would tell of Ctrl-C with its stack.
    logging.getLogger().addFilter(lambda record: record.module != "java_gateway")
    # Programs lie where the command is called, as with python -m.
    sys.path.insert(0, str(Path.cwd()))
    try:
        address = _address(dsn)
        progress = run_job(
            address if role is None else acting_as(address, role),
            queue,
            load_program(program_name, files),
            JobOptions(
                mode=mode or "until-empty",
                max_messages=max_messages,
                max_bytes=max_bytes,
                partitions=partitions,
                ordered=not unordered,
                overlap=overlap,
                master=master,
                settings=chosen,
                py_files=files,
                archives=tuple(one for option in archives for one in option.split(",")),
                report=Bar(),
                should_stop=lambda: stopping,
            ),
        )
    except BulkError as error:
        raise click.ClickException(f"{error}\nhint: {error.hint}" if error.hint else str(error)) from error
    except KeyboardInterrupt:
        silence()
        raise
    if sys.stderr.isatty():
        click.echo(err=True)
    click.echo(progress.line())


@spark_command.command("script")
def script_command() -> None:
    """Print the path of the file that spark-submit takes."""
    click.echo(Path(__file__).with_name("spark_submit.py"))


def _address(dsn: str | None) -> str:
    """The server's DSN; of the private one over TCP, also when the broker daemon hands its socket on."""
    target = find_target(dsn)
    if not has_private_servers():
        return target.dsn
    private = private_server()
    if target.private or target.dsn == private.status().dsn:
        return private.loopback_dsn()
    return target.dsn


class Bar:
    """A bar that is drawn over in a terminal, a line for each step elsewhere."""

    def __init__(self) -> None:
        self._began = 0.0

    def __call__(self, step: str, progress: Progress) -> None:
        """Show a step; ``tasks`` is one only where it can be drawn over."""
        now = time.monotonic()
        if step == "claimed":
            self._began = now
        if not sys.stderr.isatty():
            if step != "tasks":
                click.echo(f"{step}: {progress.line()}", err=True)
            return
        share = progress.tasks / progress.all_tasks if progress.all_tasks else float(step == "completed")
        words = [progress.stage] if progress.stage else []
        if step == "tasks" and progress.all_tasks:
            words.append(f"{progress.tasks}/{progress.all_tasks} tasks")
            if 0 < share < 1:
                words.append(f"about {(now - self._began) * (1 - share) / share:,.0f} s left")
        doing = f" {', '.join(words)};" if words else ""
        bar = ("#" * round(30 * share)).ljust(30)
        click.echo(f"\r[{bar}]{doing} {progress.line()}\033[K", nl=False, err=True)
