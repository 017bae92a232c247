"""pgsb broker: the activation daemon."""

import asyncio
import contextlib
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import click

from ..daemon.config import BrokerOptions, Program, find_addresses, parse_program, read_programs
from ..daemon.counts import Counts
from ..daemon.log import Line, Sink, stream_sink
from ..daemon.loop import Broker
from ..daemon.monitor import Backoff
from ..observe.listen_address import parse_listen
from ..server.connect import Target, connect, find_target, read_dsn, require_daemon, require_owner
from ..server.problems import ServerError, Unreachable
from .options import NamedPath, Seconds, addresses_options, checked_by, dsn_option, not_empty
from .run import open_database


@click.command("broker")
@dsn_option
@click.option(
    "--reader-dsn",
    metavar="DSN",
    callback=not_empty,
    help="Login of service programs, if not the daemon's own: a role that may do nothing but become "
    "the principals that EXECUTE AS names.",
)
@click.option(
    "--program",
    "programs",
    multiple=True,
    metavar="NAME=PROGRAM",
    callback=checked_by(parse_program),
    help="Allow queues to activate this external program: package.module:callable or a command line.",
)
@click.option(
    "--programs",
    "program_files",
    multiple=True,
    metavar="FILE",
    type=NamedPath(exists=True, dir_okay=False, path_type=Path),
    help="The same from the table [programs] of a TOML file.",
)
@addresses_options
@click.option("--max-readers", type=click.IntRange(1), metavar="N", help="Readers of all queues together.")
@click.option(
    "--grace",
    type=Seconds(0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long SIGTERM waits for running programs.",
)
@click.option(
    "--wait",
    type=Seconds(0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to try at the start until the server lets the daemon in.",
)
@click.option(
    "--slow-reader",
    type=Seconds(0.1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Report programs that make no progress for this long.",
)
@click.option(
    "--metrics",
    metavar="[ADDRESS:]PORT",
    callback=checked_by(parse_listen),
    help="Serve /metrics (Prometheus), /healthz and /readyz there. ADDRESS is 127.0.0.1 unless given.",
)
@click.option(
    "--traces",
    is_flag=True,
    help="Send spans of activations, transport, and what service programs send and receive to "
    "OpenTelemetry, as the OTEL_* variables say.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the log on stderr.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="Log nothing below this level.",
)
def broker_command(
    dsn: str | None,
    reader_dsn: str | None,
    programs: tuple[str, ...],
    program_files: tuple[Path, ...],
    addresses: tuple[str, ...],
    address_files: tuple[Path, ...],
    max_readers: int | None,
    grace: float,
    wait: float,
    slow_reader: float,
    metrics: str | None,
    traces: bool,
    log_format: str,
    log_level: str,
) -> None:
    """Start service programs as messages arrive, carry messages to other instances.

    It runs until SIGTERM or Ctrl-C. Several daemons may run for one database: one leads,
    the others take over when it goes. The log goes to stderr, and its newest lines to the
    table ssb.broker_log.
    """
    require_daemon()
    allowed: dict[str, Program] = {}
    for file in program_files:
        allowed.update(read_programs(file))
    for text in programs:
        program = parse_program(text)
        allowed[program.name] = program
    if reader_dsn is not None:
        read_dsn(reader_dsn, "--reader-dsn")
    target = find_target(dsn)
    sink = stream_sink(log_format, log_level)
    exporter = None
    if traces:
        # Imported here: an extra.
        try:
            from ..observe.traces.export import open_exporter
        except ImportError as error:
            raise ServerError(
                f"--traces needs OpenTelemetry: {error}", hint="pip install 'pg-service-broker[tracing]'"
            ) from None
        exporter = open_exporter()
    options = BrokerOptions(
        dsn=target.dsn,
        reader_dsn=reader_dsn,
        programs=allowed,
        addresses=find_addresses(addresses, address_files),
        max_readers=max_readers,
        grace=grace,
        slow_reader=slow_reader,
        spans=exporter,
    )
    broker = Broker(options, sink)
    with ExitStack() as stack:
        if exporter is not None:
            stack.enter_context(exporter)
        if metrics is not None:
            # Imported here: an extra, and most daemons serve none.
            from ..observe.metrics.endpoint import MetricsEndpoint

            host, port = parse_listen(metrics)
            stack.enter_context(MetricsEndpoint(host, port, target.dsn, broker.counts))
        _wait_for_server(target, wait, sink, broker.counts)
        if reader_dsn is not None:
            _check_readers(Target(reader_dsn, False, "--reader-dsn"))
        asyncio.run(_serve(broker))


def _wait_for_server(target: Target, seconds: float, sink: Sink, counts: Counts) -> None:
    """Until the server lets us in, with the runtime in it (the private one gets it). Raises ServerError,
    also where the role may not lead.

    Systems start in no order, and a server that recovers or is full lets nobody in. What a wrong
    password or name is cannot be told from that by anything but words in the server's language.
    """
    deadline = time.monotonic() + seconds
    backoff = Backoff(0.1, 5.0)
    while True:
        counts.beat_at = time.monotonic()
        try:
            with open_database(target, seconds=deadline - time.monotonic()) as connection:
                require_owner(connection, target)
            return
        except Unreachable as error:
            pause = backoff.next()
            if time.monotonic() + pause > deadline:
                raise
            sink(Line("warning", "waiting", f"{error}; trying again in {pause:g} s"))
            time.sleep(pause)


def _check_readers(target: Target) -> None:
    """Raise ServerError where readers would share their sessions. One that lets nobody in may do so later."""
    with contextlib.suppress(Unreachable):
        connect(target).close()


async def _serve(broker: Broker) -> None:
    loop = asyncio.get_running_loop()
    # SIGHUP too: a terminal that is closed ends it as gently, unless nohup said that it is to stay.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, broker.stop)
    await broker.run()
