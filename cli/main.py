"""The entry point: the commands, and the only place that turns exceptions into messages."""

import importlib
import os
import sys
import traceback
from typing import NoReturn

import click

from .. import __version__
from ..server.problems import ServerError

# Command → module and attribute; imported when it is called, since the compiler's
# libraries take longer to load than `pgsb status` takes to run.
_COMMANDS = {
    "run": "run:run_command",
    "shell": "shell:shell_command",
    "broker": "broker:broker_command",
    "spark": "spark:spark_command",
    "compile": "compile:compile_command",
    "check": "compile:check_command",
    "install": "install:install_command",
    "upgrade": "install:upgrade_command",
    "uninstall": "install:uninstall_command",
    "version": "install:version_command",
    "start": "server:start_command",
    "stop": "server:stop_command",
    "status": "server:status_command",
    "completion": "completion:completion_command",
}


class _LazyGroup(click.Group):
    """Finds commands by name and keeps the order of the table above in the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = _COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, attribute = place.split(":")
        command = getattr(importlib.import_module(f".{module}", __package__), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args and args[0].lower().endswith(".sql"):
                ctx.fail(f"{args[0]!r} is a script, not a command: pgsb run {args[0]}")
            raise


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pgsb", message="%(prog)s %(version)s")
def commands() -> None:
    """Run T-SQL Service Broker scripts on PostgreSQL.

    The server is the one that --dsn, DATABASE_URL or the PG* variables name. Without
    any of them pgsb starts a private PostgreSQL of its own.
    """


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    # Started with a stream closed (`>&-`, some schedulers), Python has None for it.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    sys.exit(_guarded())


def _guarded() -> int:
    try:
        result = commands.main(prog_name="pgsb", standalone_mode=False)
        # With standalone_mode off click hands back what ctx.exit() was given.
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return 130
    except ServerError as error:
        return _fail(str(error), error.hint)
    except BrokenPipeError:
        # The reader of our output has gone: no news for anybody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(
            f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        )
    except Exception as error:
        if os.environ.get("PGSB_DEBUG"):
            raise
        return _fail(*_explain(error))


def _explain(error: Exception) -> tuple[str, str | None]:
    """What a user can do with an exception that no command foresaw."""
    # Imported here: main must start fast, and these are loaded when such an error exists.
    import psycopg

    from ..grammar.problems import CompileError
    from ..runtime_sql.installer import RuntimeVersionError

    if isinstance(error, RuntimeVersionError):
        return str(error), error.hint
    if isinstance(error, CompileError):
        return error.problems.report(), None
    if isinstance(error, psycopg.Error):
        return f"the server said: {str(error).strip()}", None
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    return (
        f"internal error: {type(error).__name__}: {error} ({place})",
        "this is a defect of pgsb, please report it with the script; PGSB_DEBUG=1 shows where it happened",
    )


def _fail(message: str, hint: str | None = None) -> int:
    sys.stdout.flush()
    print(message, file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
