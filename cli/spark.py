"""pgsb spark: bulk jobs on Spark."""

import signal
import sys
from pathlib import Path
from types import FrameType

import click

from ..bulk.job import Mode, Progress, run_job
from ..bulk.problems import BulkError
from ..bulk.program import load_program
from ..bulk.session import acting_as
from ..server.connect import find_target
from ..server.embedded import PrivateServer
from .options import dsn_option


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
@click.option("--max-messages", type=click.IntRange(1), default=1_000_000, show_default=True, metavar="N")
@click.option("--max-bytes", type=click.IntRange(1), metavar="N", help="Bodies of one claim together.")
@click.option("--partitions", type=click.IntRange(1), metavar="N", help="Tasks that read one claim.")
@click.option("--once", "mode", flag_value="once", help="Process one claim.")
@click.option(
    "--until-empty", "mode", flag_value="until-empty", help="Go on until nothing waits (the default)."
)
@click.option(
    "--continuous", "mode", flag_value="continuous", help="Wait for more; ends with SIGTERM or Ctrl-C."
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
    mode: Mode | None,
    settings: tuple[str, ...],
) -> None:
    """Claim messages of a queue, run a program on them, complete; exactly once."""
    chosen = {}
    for setting in settings:
        key, separator, value = setting.partition("=")
        if not separator:
            raise click.BadParameter(f"{setting!r} is not KEY=VALUE", param_hint="--conf")
        chosen[key] = value
    stopping = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    # Programs lie where the command is called, as with python -m.
    sys.path.insert(0, str(Path.cwd()))
    try:
        address = _address(dsn)
        progress = run_job(
            acting_as(address, role) if role else address,
            queue,
            load_program(program_name),
            mode=mode or "until-empty",
            max_messages=max_messages,
            max_bytes=max_bytes,
            partitions=partitions,
            master=master,
            settings=chosen,
            report=_show,
            should_stop=lambda: stopping,
        )
    except BulkError as error:
        raise click.ClickException(f"{error}\nhint: {error.hint}" if error.hint else str(error)) from error
    if sys.stderr.isatty():
        click.echo(err=True)
    click.echo(progress.line())


def _address(dsn: str | None) -> str:
    """The server's DSN; of the private one over TCP, also when the broker daemon hands its socket on."""
    target = find_target(dsn)
    private = PrivateServer()
    if target.private or target.dsn == private.status().dsn:
        return private.loopback_dsn()
    return target.dsn


def _show(step: str, progress: Progress) -> None:
    """A bar that is drawn over in a terminal, a line each elsewhere."""
    if not sys.stderr.isatty():
        click.echo(f"{step}: {progress.line()}", err=True)
        return
    share = progress.completed / progress.claimed if progress.claimed else 0.0
    bar = ("#" * round(30 * share)).ljust(30)
    click.echo(f"\r[{bar}] {progress.line()}", nl=False, err=True)
