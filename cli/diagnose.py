"""pgsb diagnose: what is wrong, and the statement that mends it."""

import json
import sys
import uuid
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import click
import psycopg
from click.core import ParameterSource

from ..grammar.problems import shown_json, visible_lines
from ..observe.findings import SEVERITIES, Dialog, Finding, LogLine, Trouble, diagnose, watch
from ..server.connect import LOOKING, Target, connect, find_target
from .install import require_function
from .options import Seconds, dsn_option, not_empty

FOUND = 3
"""Exit status when there are findings; 0: none, 1: it could not look."""


def _split_limits(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    limits = {}
    for one in given:
        name, separator, value = one.partition("=")
        if not separator or not name or not value:
            raise click.BadParameter(f"{one!r} is not NAME=VALUE")
        limits[name] = value
    return limits


def _numbers(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> tuple[int, ...]:
    words = [word for one in given for word in one.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise click.BadParameter(f"{','.join(given)!r} is no list of numbers")
    return tuple(int(word) for word in words)


@click.command("diagnose")
@dsn_option
@click.option("--from", "from_service", metavar="SERVICE", help="Check a dialog: the initiating service.")
@click.option(
    "--to", "to_service", metavar="SERVICE[,BROKER]", help="… and the target, as TO SERVICE names it."
)
@click.option("--contract", metavar="CONTRACT", help="… and the contract. Default: [DEFAULT].")
@click.option("--encryption", type=click.Choice(["on", "off", "anonymous"]), help="… and WITH ENCRYPTION.")
@click.option("--to-dsn", metavar="DSN", callback=not_empty, help="The target's instance: compare both ends.")
@click.option(
    "--level",
    type=click.Choice(list(reversed(SEVERITIES))),
    default="warning",
    show_default=True,
    help="The mildest severity to show.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="NUMBER[,…]",
    callback=_numbers,
    help="Findings to leave out; may be repeated.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_split_limits,
    help="A threshold: waiting='1 hour', leak_count=50, …; may be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: for people. json: for programs.",
)
@click.option(
    "--watch", "watching", is_flag=True, help="Follow conversations, and explain errors as they come."
)
@click.option(
    "--id",
    "handles",
    type=click.UUID,
    multiple=True,
    metavar="HANDLE",
    help="… of this conversation; may be repeated.",
)
@click.option("--new", is_flag=True, help="… of those that begin from now on.")
@click.option("--timeout", type=Seconds(0), metavar="SECONDS", help="… for this long. Default: until Ctrl-C.")
def diagnose_command(
    dsn: str | None,
    from_service: str | None,
    to_service: str | None,
    contract: str | None,
    encryption: str | None,
    to_dsn: str | None,
    level: str,
    ignore: tuple[int, ...],
    limits: dict[str, str],
    form: str,
    watching: bool,
    handles: tuple[uuid.UUID, ...],
    new: bool,
    timeout: float | None,
) -> None:
    """Find what is wrong, and the statement that mends it.

    Looks at the instance, the daemon, queues and their programs, conversations, and the transport; with
    --from and --to also whether that dialog would work, from both ends. Exit status: 0 nothing found,
    3 findings, 1 it could not look.
    """
    if not watching and (handles or new or timeout is not None):
        raise click.UsageError("--id, --new and --timeout go with --watch")
    if watching:
        _refuse_what_watching_leaves_out(click.get_current_context())
    if to_dsn is not None and (from_service is None or to_service is None):
        raise click.UsageError("--to-dsn goes with --from and --to")
    if (contract or encryption) is not None and from_service is None and to_service is None:
        raise click.UsageError("--contract and --encryption go with --from or --to")
    service, _, broker = (to_service or "").partition(",")
    dialog = Dialog(from_service, service or None, broker or None, contract, encryption)
    with ExitStack() as stack:
        connection = _open(stack, find_target(dsn))
        if watching:
            try:
                _follow(watch(connection, handles, new=new, timeout=timeout), form)
            except KeyboardInterrupt:
                return
            return
        far = _open(stack, Target(to_dsn, False, "--to-dsn")) if to_dsn is not None else None
        found = diagnose(connection, dialog, far=far, limits=limits, level=level, ignore=ignore)
    if form == "json":
        click.echo(shown_json(json.dumps([one.as_json() for one in found], ensure_ascii=False, indent=2)))
    else:
        _print(found)
    click.get_current_context().exit(FOUND if found else 0)


def _refuse_what_watching_leaves_out(ctx: click.Context) -> None:
    """Raise UsageError for an option about what is wrong now: what comes is all told, as it comes."""
    looks = ("from_service", "to_service", "contract", "encryption", "to_dsn", "level", "ignore", "limits")
    for param in ctx.command.params:
        if param.name in looks and ctx.get_parameter_source(param.name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{param.opts[0]} does not go with --watch")


def _open(stack: ExitStack, target: Target) -> psycopg.Connection[Any]:
    connection = stack.enter_context(connect(target))
    require_function(connection, target, "ssb_internal.last_conversation()")
    connection.execute(f"SET statement_timeout = '60s'; {LOOKING}")
    return connection


def _print(found: list[Finding]) -> None:
    for one in found:
        said = [f"{one.number} {one.severity}: {one.object}: {one.title}"]
        said += [f"    {one.detail}", f"    {one.meaning}"]
        if one.remedy:
            said.append(f"    {one.run_with}: {one.remedy}")
        # Names are other people's, also of other instances: a line break in one makes no finding, and no
        # statement to run.
        click.echo(visible_lines("\n".join(line.replace("\n", "\N{MIDDLE DOT}") for line in said) + "\n"))
    counts = {name: sum(one.severity == name for one in found) for name in reversed(SEVERITIES)}
    # Of info there are no plurals.
    words = (f"{count} {name}{'s' * (count != 1 and name != 'info')}" for name, count in counts.items())
    click.echo(", ".join(words) if found else "nothing found")


def _follow(news: Iterable[Trouble | LogLine], form: str) -> None:
    for one in news:
        now = datetime.now().astimezone()
        if form == "json":
            shown = {
                name: str(value) if isinstance(value, uuid.UUID) else value
                for name, value in vars(one).items()
            }
            click.echo(shown_json(json.dumps({"at": now.isoformat(), **shown}, ensure_ascii=False)))
        else:
            click.echo(visible_lines(f"{now:%H:%M:%S} {_told(one)}").replace("\n", "\n         "))
        sys.stdout.flush()


def _told(one: Trouble | LogLine) -> str:
    if isinstance(one, Trouble):
        handle = str(one.conversation_handle).upper()
        return f"{one.number} {handle} {one.service_name} to {one.far_service}: {one.detail}"
    where = f" {one.queue}" if one.queue else ""
    return f"{one.level} {one.event}{where}: {one.message}"
