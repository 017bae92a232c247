"""pgsb dashboard: the web page for operators."""

import contextlib
import importlib.util
import logging
import secrets
from pathlib import Path

import click

from ..observe.listen_address import parse_listen
from ..server.connect import Target, connect, describe, find_target, read_dsn
from ..server.problems import ServerError, Unreachable
from .options import NamedPath, Seconds, checked_by, dsn_option, not_empty

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_NEEDED = ("starlette", "jinja2", "uvicorn", "psycopg_pool")


def _split_instances(
    _ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]
) -> dict[str, Target]:
    found = {}
    for one in given:
        name, separator, dsn = one.partition("=")
        if not separator or not name or "/" in name or not dsn:
            # The text is not repeated: there may be a password in it.
            raise click.BadParameter("one of them is not NAME=DSN")
        if name in found:
            raise click.BadParameter(f"two of them have the name {name}")
        found[name] = Target(dsn, False, f"--instance {name}")
    return found


@click.command("dashboard")
@dsn_option
@click.option(
    "--instance",
    "instances",
    multiple=True,
    metavar="NAME=DSN",
    callback=_split_instances,
    help="Show this PostgreSQL under this name; repeated, several. Instead of --dsn.",
)
@click.option(
    "--listen",
    default="8025",
    show_default=True,
    metavar="[ADDRESS:]PORT",
    callback=checked_by(parse_listen),
    help="ADDRESS is 127.0.0.1 unless given.",
)
@click.option(
    "--host", "hosts", multiple=True, metavar="NAME", help="A further host name that browsers may use for it."
)
@click.option(
    "--allow-changes",
    is_flag=True,
    help="Let those who log in change things, with the rights of the DSN's role.",
)
@click.option(
    "--token-file",
    type=NamedPath(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The token to log in with is the first line. Default: one is made and printed.",
)
@click.option(
    "--user-header",
    metavar="NAME",
    callback=not_empty,
    help="A reverse proxy in front has done the login, and tells the user in this header. Nobody else may "
    "reach the address.",
)
@click.option(
    "--timeout",
    type=Seconds(0.1),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of one statement.",
)
def dashboard_command(
    dsn: str | None,
    instances: dict[str, Target],
    listen: str,
    hosts: tuple[str, ...],
    allow_changes: bool,
    token_file: Path | None,
    user_header: str | None,
    timeout: float,
) -> None:
    """Serve a web page with queues, conversations, and what is wrong; until Ctrl-C.

    Read-only and on loopback unless you say otherwise. The role of the DSN should be a member of pg_monitor.
    Beyond loopback everybody has to log in. Needs: pip install 'pg-service-broker[dashboard]'.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ServerError(
            f"not installed: {', '.join(missing)}", hint="pip install 'pg-service-broker[dashboard]'"
        )
    # Imported here: they are an extra.
    from ..observe.dashboard.options import Options
    from ..observe.dashboard.serve import serve

    if instances and dsn:
        raise click.UsageError("--dsn and --instance exclude each other")
    host, port = parse_listen(listen)
    for one in instances.values():
        read_dsn(one.dsn, one.source)
        # A pooler that would share its sessions is refused; who cannot be reached may come later.
        with contextlib.suppress(Unreachable):
            connect(one, 5).close()
    if not instances:
        target = find_target(dsn)
        with connect(target) as connection:
            name = connection.info.dbname
        instances = {name: target}
    token = _token(token_file)
    options = Options(
        instances=instances,
        allow_changes=allow_changes,
        needs_login=host not in _LOOPBACK,
        token=token,
        user_header=user_header,
        hosts=(*Options.hosts, *([f"[{host}]" if ":" in host else host]), *(one.lower() for one in hosts)),
        timeout=timeout,
    )
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")

    def announce(bound: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"http://{shown}:{bound}/ shows {', '.join(describe(one) for one in instances.values())}")
        if (allow_changes or options.needs_login) and user_header is None and token_file is None:
            click.echo(f"log in with the token {token}")

    serve(options, host, port, announce)


def _token(file: Path | None) -> str:
    if file is None:
        return secrets.token_urlsafe(24)
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    token = lines[0].strip() if lines else ""
    if len(token) < 16:
        raise ServerError(f"the token in {file} has fewer than 16 characters")
    return token
