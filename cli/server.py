"""pgsb start, stop, status: the private server."""

import json
from typing import Any

import click
from psycopg.rows import dict_row

from ..server.connect import Target, connect, private_server
from ..server.embedded import with_limit
from ..server.problems import Unreachable
from .progress import counted


def _claims(dsn: str) -> list[dict[str, Any]]:
    """What Spark jobs hold there; nothing where the runtime is not installed. Raises Unreachable."""
    target = Target(with_limit(dsn), True, "the private server")
    with connect(target, row_factory=dict_row) as connection:
        found = connection.execute("SELECT to_regclass('ssb.claims') IS NOT NULL AS there").fetchone()
        if found is None or not found["there"]:
            return []
        return connection.execute(
            "SELECT claim_id, queue, role, pid, claimed_at::text, stream, expires_at::text, conversations,"
            " messages, state"
            " FROM ssb.claims ORDER BY claim_id"
        ).fetchall()


def _claim_told(one: dict[str, Any]) -> str:
    holder = f"session {one['pid']}" if one["stream"] is None else f"stream {one['stream']}"
    until = f", until {one['expires_at']}" if one["state"] == "waiting" else ""
    return (
        f"{one['claim_id']} on {one['queue']}: {counted(one['messages'], 'message')} of"
        f" {counted(one['conversations'], 'conversation')}, {one['state']}, by {one['role']} ({holder}) since"
        f" {one['claimed_at']}{until}"
    )


@click.command("start")
def start_command() -> None:
    """Start the private PostgreSQL and print its DSN.

    It is made on first use. pgsb run and pgsb shell start it by themselves.
    """
    click.echo(private_server().start())


@click.command("stop")
def stop_command() -> None:
    """Stop the private PostgreSQL; its data stay."""
    click.echo("stopped" if private_server().stop() else "it was not running")


@click.command("status")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="table: for people. json: for programs.",
)
@click.option("--jdbc", is_flag=True, help="Also print the DSN over 127.0.0.1, with its password.")
def status_command(form: str, jdbc: bool) -> None:
    """Tell whether the private PostgreSQL runs, and where it lives.

    Exit status 1 when it does not run, or does not answer.
    """
    server = private_server()
    status = server.status()
    shown: dict[str, object] = {
        "running": status.running,
        "version": status.version,
        "pid": status.pid,
        "dsn": status.dsn,
        "data": str(status.data) if status.data else None,
        "log": str(status.log),
    }
    if jdbc and status.running:
        shown["loopback_dsn"] = server.loopback_dsn()
    claims: list[dict[str, Any]] = []
    try:
        claims = _claims(status.dsn) if status.running and status.dsn else []
    except Unreachable as error:
        shown["trouble"] = str(error)
    if form == "json":
        shown["claims"] = claims
        click.echo(json.dumps(shown))
    else:
        for name, value in shown.items():
            if value is not None:
                click.echo(f"{name:13}{'yes' if value is True else 'no' if value is False else value}")
        for one in claims:
            click.echo(f"{'claim':13}{_claim_told(one)}")
    click.get_current_context().exit(0 if status.running and "trouble" not in shown else 1)
