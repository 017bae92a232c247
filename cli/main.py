"""The entry point: the commands, and the only place that turns exceptions into messages."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
import threading
import traceback
from typing import TYPE_CHECKING, NoReturn

import click

from .. import __version__
from ..server.problems import ServerError

if TYPE_CHECKING:
    import psycopg

# Command → module, attribute, and its line in the help. The module is imported when the command
# is called: the compiler's libraries take longer to load than `pgsb status` takes to run.
_COMMANDS = {
    "run": ("run:run_command", "Run T-SQL scripts; - is stdin."),
    "sqlcmd": ("like_sqlcmd:sqlcmd_command", "Run scripts with the options of sqlcmd."),
    "shell": ("shell:shell_command", "Type T-SQL at a prompt; GO runs it."),
    "broker": (
        "broker:broker_command",
        "Start service programs as messages arrive, carry messages to other instances.",
    ),
    "spark": ("spark:spark_command", "Process queues in bulk with Spark."),
    "diagnose": ("diagnose:diagnose_command", "Find what is wrong, and the statement that mends it."),
    "endpoint": (
        "endpoint:endpoint_command",
        "Print what postgresql.conf, pg_hba.conf and pg_ident.conf need for AUTHENTICATION = CERTIFICATE.",
    ),
    "dashboard": (
        "dashboard:dashboard_command",
        "Serve a web page with queues, conversations, and what is wrong; until Ctrl-C.",
    ),
    "top": ("top:top_command", "Show queues and what is wrong, live, in the terminal."),
    "compile": ("compile:compile_command", "Print the PostgreSQL text that SCRIPTs compile to; - is stdin."),
    "check": ("compile:check_command", "Report every problem of every script, with its place."),
    "assess": (
        "assess:assess_command",
        "Assess an application's scripts: what runs, what differs, what is refused, and how much work it is.",
    ),
    "lsp": ("lsp:lsp_command", "Serve editors: problems as you type, completion, hover, go to definition."),
    "install": (
        "install:install_command",
        "Install the runtime into a database, or bring an older one up to date.",
    ),
    "upgrade": ("install:upgrade_command", "Bring an installed runtime up to the version of this pgsb."),
    "uninstall": (
        "install:uninstall_command",
        "Remove the runtime, and with it every queue, message and dialog in the database.",
    ),
    "version": (
        "install:version_command",
        "Print the versions of pgsb, of the runtime it carries, and of the one in the database.",
    ),
    "start": ("server:start_command", "Start the private PostgreSQL and print its DSN."),
    "stop": ("server:stop_command", "Stop the private PostgreSQL; its data stay."),
    "status": ("server:status_command", "Tell whether the private PostgreSQL runs, and where it lives."),
    "completion": ("completion:completion_command", "Print a completion script for SHELL."),
}


# What is installed on demand: module → extra.
_EXTRAS = {"cryptography": "security", "prometheus_client": "metrics", "prompt_toolkit": "shell"}


class _LazyGroup(click.Group):
    """Finds commands by name and keeps the order of the table above in the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[cmd_name][0].split(":")
        # Thousands of objects that stay are made: nothing of them is garbage.
        gc.disable()
        command = getattr(importlib.import_module(f".{module}", __package__), attribute)
        gc.freeze()
        gc.enable()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:
            # What the manuals of many tools say; of a command that is none, what is meant.
            args = [*args[1:], "--help"]
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args and args[0].lower().endswith(".sql"):
                ctx.fail(f"{args[0]!r} is a script, not a command: pgsb run {args[0]}")
            # Imported here: it is for those who have mistyped.
            import difflib

            if args and (meant := difflib.get_close_matches(args[0].lower(), _COMMANDS, 1)):
                ctx.fail(f"No such command {args[0]!r}. Did you mean {meant[0]!r}?")
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


def program() -> NoReturn:
    """Do as `main`, in a process of its own, and leave the compiler's objects to the system.

    The interpreter would free tens of thousands of them one by one, a tenth of a short script's
    time. What libraries want at the end is done first. Where a thread still runs, or output cannot
    be written, the interpreter has its own end.
    """
    try:
        main()
    except SystemExit as left:
        if threading.active_count() > 1:
            raise
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            raise left from None
        os._exit(left.code if isinstance(left.code, int) else left.code is not None)


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
    if isinstance(error, ModuleNotFoundError) and (
        extra := _EXTRAS.get((error.name or "").partition(".")[0])
    ):
        return f"{error.name} is not installed", f"pip install 'pg-service-broker[{extra}]'"
    if isinstance(error, CompileError):
        return error.problems.report(), None
    if isinstance(error, psycopg.Error):
        said = _sentence(error)
        hint = error.diag.message_hint
        if said.startswith("access to non-system view"):
            hint = "it has views: ALTER DATABASE or ROLE … RESET restrict_nonsystem_relation_kind"
        elif "operator is not unique" in said:
            hint = r"has the database a cast of its own that makes text of numbers by itself? \dC+ in psql"
        elif isinstance(error, psycopg.errors.ReadOnlySqlTransaction) and hint is None:
            hint = (
                "it is a standby, whose primary is to be named; or default_transaction_read_only is on,"
                r" for the role or database (\drds in psql), or the server"
            )
        return f"the server said: {said}", hint
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        # So Python reads bytes of the command line and the environment that are no UTF-8.
        near = error.object[max(error.start - 20, 0) : error.end + 20]
        return (
            f"{near!a} has bytes that are not UTF-8",
            "the command line and the environment have to be UTF-8",
        )
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    return (
        f"internal error: {type(error).__name__}: {error} ({place})",
        "this is a defect of pgsb, please report it with the script; PGSB_DEBUG=1 shows where it happened",
    )


def _sentence(error: psycopg.Error) -> str:
    """What the server said, for people: where in the runtime it came about is no news for them.

    A detail that begins with Msg has SQL Server's number, level and state, for programs.
    """
    primary, detail = error.diag.message_primary, error.diag.message_detail
    if primary is None:
        return str(error).strip()
    return f"{primary}\n{detail}" if detail and not detail.startswith("Msg ") else primary


def _fail(message: str, hint: str | None = None) -> int:
    # Imported here: it is for those who fail.
    from ..grammar.problems import visible_lines

    sys.stdout.flush()
    print(visible_lines(message), file=sys.stderr)
    if hint:
        print(visible_lines(f"hint: {hint}"), file=sys.stderr)
    return 1


if __name__ == "__main__":
    program()
