"""pgsb install, upgrade, uninstall, version: the runtime in a database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import psycopg

from .. import __version__
from ..grammar.problems import visible_lines
from ..runtime_sql import installer, removal
from ..server.connect import (
    Target,
    connect,
    describe,
    find_target,
    has_private_servers,
    no_runtime,
    older_runtime,
    private_server,
    require_owner,
)
from ..server.problems import ServerError
from ..user_folders import write_whole
from .options import NamedPath, dsn_option


@click.command("install")
@dsn_option
@click.option(
    "--parts",
    type=click.Choice(["broker", "all"]),
    help="broker: queues, dialogs, the API, transport and activation, without T-SQL's functions, XML "
    "methods and the catalog views of tables. The default is what the database has, all in a fresh one.",
)
@click.option(
    "--nvarchar",
    type=click.Choice(["utf8", "utf16"]),
    help="The bytes of nvarchar in message bodies, casts and hashes: UTF-8, or SQL Server's UTF-16. Chosen "
    "once; the default is what the database has, utf8 in a fresh one.",
)
@click.option("--print", "print_sql", is_flag=True, help="Write the SQL to stdout and do nothing else.")
@click.option(
    "--as-extension",
    metavar="DIR",
    type=NamedPath(file_okay=False, path_type=Path),
    help="Write the control and SQL files for CREATE EXTENSION into DIR and do nothing else.",
)
def install_command(
    dsn: str | None,
    parts: installer.Parts | None,
    nvarchar: installer.Nvarchar | None,
    print_sql: bool,
    as_extension: Path | None,
) -> None:
    """Install the runtime into a database, or bring an older one up to date.

    The owner of the database may do it; no superuser is needed. It is safe to run again,
    and from many places at once.
    """
    if print_sql and as_extension:
        raise click.UsageError("--print and --as-extension exclude each other")
    if as_extension and parts == "broker":
        raise click.UsageError("--as-extension has all parts")
    if print_sql:
        with click.open_file("-", "w", encoding="utf-8") as file:
            file.write(installer.install_sql(parts or "all", nvarchar))
        return
    if as_extension:
        as_extension.mkdir(parents=True, exist_ok=True)
        for name, text in installer.extension_files(nvarchar).items():
            write_whole(as_extension / name, text.encode())
            click.echo(str(as_extension / name))
        return
    target = find_target(dsn)
    with connect(target) as connection:
        before = described(connection)
        with _telling_whose_right_it_is():
            installer.install(connection, parts=parts, nvarchar=nvarchar)
        after = described(connection)
        knows_letters = connection.execute("SELECT lower('É') = 'é'").fetchone() == (True,)
    if not knows_letters:
        click.echo(
            "note: with this database's LC_CTYPE only A to Z have cases: names with other letters "
            "are not always found (docs/operations.md)",
            err=True,
        )
    if before == after:
        click.echo(f"runtime {after} was already installed in {describe(target)}")
    else:
        click.echo(f"runtime {after} is installed in {describe(target)}")


@click.command("upgrade")
@dsn_option
@click.option(
    "--print", "print_sql", is_flag=True, help="Write the SQL for this database and do nothing else."
)
@click.option(
    "--from",
    "from_version",
    type=click.IntRange(1),
    metavar="VERSION",
    help="With --print: for a database with this version of the runtime; none is looked at.",
)
@click.option(
    "--parts",
    type=click.Choice(["broker", "all"]),
    help="With --from: for a database with these parts. The default is all.",
)
@click.option(
    "--dry-run", is_flag=True, help="Do it all in a transaction, tell what was done, and roll back."
)
def upgrade_command(
    dsn: str | None,
    print_sql: bool,
    from_version: int | None,
    parts: installer.Parts | None,
    dry_run: bool,
) -> None:
    """Bring an installed runtime up to the version of this pgsb. Queues keep their messages."""
    if print_sql and dry_run:
        raise click.UsageError("--print and --dry-run exclude each other")
    if from_version is not None and not print_sql:
        raise click.UsageError("--from needs --print")
    if parts is not None and from_version is None:
        raise click.UsageError("--parts needs --from: otherwise the database keeps those that it has")
    if from_version is not None:
        click.echo(installer.upgrade_sql(from_version, parts or "all"), nl=False)
        return
    target = find_target(dsn)
    with connect(target) as connection:
        before = _installed(connection, target)
        found = installer.installed(connection)
        assert found is not None
        if print_sql:
            click.echo(installer.upgrade_sql(found.version, found.parts, found.needed()), nl=False)
            return
        if dry_run:
            with _telling_whose_right_it_is(), connection.transaction(force_rollback=True):
                installer.upgrade(connection)
            steps = found.needed()
            said = f"migrations {', '.join(map(str, steps))}" if steps else "no migration"
            click.echo(
                f"runtime {before} would become {installer.RUNTIME_VERSION} in {describe(target)}: "
                f"{said}, and all functions anew. It was tried and rolled back."
            )
            return
        with _telling_whose_right_it_is():
            installer.upgrade(connection)
        after = installer.installed_version(connection)
    if before == after:
        click.echo(f"runtime {after} is up to date in {describe(target)}")
    else:
        click.echo(f"runtime {before} became {after} in {describe(target)}")


@click.command("uninstall")
@dsn_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--print", "print_sql", is_flag=True, help="Write the SQL to stdout and do nothing else.")
def uninstall_command(dsn: str | None, yes: bool, print_sql: bool) -> None:
    """Remove the runtime, and with it every queue, message and dialog in the database."""
    if print_sql:
        click.echo(removal.uninstall_sql(), nl=False)
        return
    target = find_target(dsn)
    with connect(target) as connection:
        if not installer.has_tables(connection):
            click.echo(f"there was no runtime in {describe(target)}")
            return
        version = installer.installed_version(connection)
        what = f"runtime {version}" if version else "what a dump without its data has left of a runtime"
        require_owner(connection, target)
        lost = removal.dependents(connection)
        if lost:
            click.echo("With the runtime go, for they use it:")
            for one in lost:
                click.echo(f"  {visible_lines(one)}")
        if not yes:
            question = f"Remove {what} with all queues and messages from {describe(target)}?"
            try:
                agreed = click.confirm(question)
            except click.Abort as stopped:
                click.echo(err=True)
                if isinstance(stopped.__context__, EOFError):  # nobody is there
                    hint = "--yes answers where nobody is asked"
                    raise ServerError("nothing was removed", hint) from None
                click.echo("nothing was removed", err=True)
                raise
            if not agreed:
                raise ServerError("nothing was removed")
        removal.uninstall(connection)
    click.echo(f"{what} is removed from {describe(target)}")


@click.command("version")
@dsn_option
def version_command(dsn: str | None) -> None:
    """Print the versions of pgsb, of the runtime it carries, and of the one in the database."""
    click.echo(f"pgsb {__version__}")
    click.echo(f"runtime {installer.RUNTIME_VERSION}")
    target = _target_without_starting(dsn)
    if target is None:
        click.echo("database: the private server is not running")
        return
    with connect(target) as connection:
        server = connection.info.parameter_status("server_version")
        click.echo(f"PostgreSQL {server}")
        installed = described(connection)
        if installed is None and installer.has_tables(connection):
            click.echo(f"database: no runtime: {installer.NO_DATA} ({installer.RESTORE_DATA})")
            return
        click.echo(f"database: runtime {installed}" if installed else "database: no runtime (pgsb install)")


@contextmanager
def _telling_whose_right_it_is() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise ServerError(
            f"the server said: {error.diag.message_primary}",
            hint=error.diag.message_hint
            or "the owner of the database may install; others need GRANT CREATE ON DATABASE",
        ) from None


def described(connection: psycopg.Connection[Any]) -> str | None:
    """The runtime of a database for people: its version; parts and nvarchar where they are not as usual."""
    version = installer.installed_version(connection)
    special = []
    if installer.installed_parts(connection) == "broker":
        special.append("parts: broker")
    if installer.nvarchar_of(connection) == "utf16":
        special.append("nvarchar: utf16")
    return f"{version} ({', '.join(special)})" if special else version


def require_function(connection: psycopg.Connection[Any], target: Target, signature: str) -> None:
    """Raise ServerError where the runtime is missing, or lacks the function that a command asks."""
    installed = _installed(connection, target)
    if connection.execute("SELECT to_regprocedure(%s) IS NULL", [signature]).fetchone() == (True,):
        raise older_runtime(target, installed, installer.RUNTIME_VERSION)


def _target_without_starting(dsn: str | None) -> Target | None:
    """As `find_target`, but the private server is only used where it runs already."""
    from ..server.connect import named_target

    named = named_target(dsn)
    if named is not None:
        return named
    running = private_server().status().dsn if has_private_servers() else None
    return Target(running, True, "the private server") if running else None


def _installed(connection: psycopg.Connection[Any], target: Target) -> str:
    version = installer.installed_version(connection)
    if version is None:
        installer.require_data(connection)
        raise no_runtime(target)
    return version
