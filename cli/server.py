"""pgsb start, stop, status: the private server."""

import json

import click

from ..server.embedded import PrivateServer


@click.command("start")
def start_command() -> None:
    """Start the private PostgreSQL and print its DSN.

    It is made on first use. pgsb run and pgsb shell start it by themselves.
    """
    click.echo(PrivateServer().start())


@click.command("stop")
def stop_command() -> None:
    """Stop the private PostgreSQL; its data stay."""
    click.echo("stopped" if PrivateServer().stop() else "it was not running")


@click.command("status")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--jdbc", is_flag=True, help="Also print the DSN over 127.0.0.1, with its password.")
def status_command(form: str, jdbc: bool) -> None:
    """Tell whether the private PostgreSQL runs, and where it lives. Exit status 1 when it does not run."""
    server = PrivateServer()
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
    if form == "json":
        click.echo(json.dumps(shown))
    else:
        for name, value in shown.items():
            if value is not None:
                click.echo(f"{name:13}{'yes' if value is True else 'no' if value is False else value}")
    click.get_current_context().exit(0 if status.running else 1)
