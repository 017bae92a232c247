"""pgsb top: queues and what is wrong, in a terminal."""

import sys

import click

from ..grammar.problems import visible_lines
from ..server.connect import LOOKING, connect, find_target
from ..server.problems import ServerError
from .install import require_function
from .options import Seconds, dsn_option


@click.command("top")
@dsn_option
@click.option(
    "--interval",
    type=Seconds(0.2),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two updates.",
)
@click.option("--once", is_flag=True, help="Print it once as text and end.")
def top_command(dsn: str | None, interval: float, once: bool) -> None:
    """Show queues and what is wrong, live, in the terminal.

    The same numbers as pgsb dashboard and ssb.queue_status. Keys stand at the bottom.
    """
    # Imported here: what the screen needs takes a moment to load.
    from ..observe.terminal.overview import lines, look

    target = find_target(dsn)
    with connect(target) as connection:
        require_function(connection, target, "ssb_internal.daemons_running()")
        if once:
            connection.execute(f"SET statement_timeout = '60s'; {LOOKING}")
            for line in lines(look(connection)):
                click.echo(visible_lines("".join(text for _, text in line).rstrip()))
            return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ServerError("pgsb top needs a terminal", hint="pgsb top --once prints it once")
    from ..observe.terminal.app import Top

    Top(target.dsn, interval).run()
