"""The pages of the reference, made from what they describe: commands and SQL's functions and views.

`PGSB_GOLDEN=rewrite` writes them (tests/end_to_end/test_reference.py); nobody edits them by hand.
"""

import importlib
import inspect
import re
from collections.abc import Iterator

import click

from pgsb.cli.main import _COMMANDS
from support import Connection

FOR_COMMANDS = """# Every command and option

This page is made from the commands themselves: `pgsb COMMAND --help` says the same.
[command_line.md](command_line.md) explains how they are used.
"""
_COLUMNS = (
    "pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
)
FOR_SQL = """# Every function and view

This page is made from the installed runtime: `\\df+ ssb.*`, `\\dv+ ssb.*` and `\\d+` in psql say the same.
[api.md](api.md) shows how they are used; [reference_catalog.md](reference_catalog.md) has the views of `sys`.
"""
FOR_CATALOG = """# Every catalog view

This page is made from the installed runtime: `\\dv+ sys.*`, `\\d+` and `\\df+ sys.*` in psql say the same.
The views of schema `sys` have SQL Server's names and columns; what is always NULL or 0 here is said.
`INFORMATION_SCHEMA.TABLES` of a script is `sys.information_schema_tables`, and so on.
The views and functions of the API are in [reference_sql.md](reference_sql.md).
"""
FOR_EMPTY = """
## Views without rows

What they are about does not exist here. They have the columns, so that a script finds nothing.

| view | | columns |
|---|---|---|
"""
FOR_BUILT_IN = """
## Functions of schema sys

What scripts call under T-SQL's names, and what compiled text calls for them.

| functions | |
|---|---|
"""
# Those that the code reads; the test looks for each there, and for the others here.
VARIABLES = {
    "DATABASE_URL": "The server, where no `--dsn` is given.",
    "PGHOST, PGHOSTADDR, PGPORT, PGDATABASE, PGSERVICE, PGUSER": "The server, where neither is; with "
    "the others of libpq.",
    "PGSB_HOME": "The folder of the private server.",
    "PGSB_POSTGRES": "The private server's PostgreSQL: a major version, or a bin directory.",
    "PGSB_KEYS": "The folder of service master keys.",
    "PGSB_KEY_COMMAND": "A command that prints the service master key, instead of that folder.",
    "PGSB_ADDRESSES": "The file of other instances' addresses, where `--addresses` is not given.",
    "PGSB_JDBC_JAR": "PostgreSQL's JDBC driver, for `pgsb spark`.",
    "PGSB_QUEUE, PGSB_DATABASE, PGSB_PROGRAM, TRACEPARENT": "Set by the daemon for external programs: the "
    "queue, its T-SQL database, the program's name, the trace.",
    "PGSB_ROLE": "The role of a Spark job, as `--role`.",
    "PGSB_DEBUG": "Anything: an internal error shows its traceback.",
    "SQLCMDPASSWORD": "The password of `pgsb sqlcmd -U`, where no `-P` is given.",
    "PSQL_PAGER, PAGER": "The shell's pager.",
    "VISUAL, EDITOR": "The editor of `:ed`.",
    "NO_COLOR": "Anything: no colours.",
    "OTEL_SERVICE_NAME, OTEL_TRACES_EXPORTER": "OpenTelemetry's, with the others of its SDK.",
}


def commands() -> list[tuple[str, click.Command]]:
    """Every command that does something, by the words that call it: ``spark run``."""
    return [
        found
        for name, (where, _) in _COMMANDS.items()
        for found in _leaves(
            getattr(importlib.import_module("pgsb.cli." + where.split(":")[0]), where.split(":")[1]), name
        )
    ]


def _leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name, one in command.commands.items():
        yield from _leaves(one, f"{path} {name}")


def commands_page() -> str:
    """The page of commands and of variables of the environment."""
    parts = [_command(path, command) for path, command in commands()]
    rows = [
        f"| {', '.join(f'`{one}`' for one in names.split(', '))} | {text} |\n"
        for names, text in VARIABLES.items()
    ]
    return "".join([FOR_COMMANDS, *parts, "\n## Environment\n\n| variable | |\n|---|---|\n", *rows])


def _command(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"pgsb {path}")
    usage = " ".join(command.collect_usage_pieces(context))
    text = inspect.cleandoc(command.help or command.short_help or "").replace("\b\n", "")
    rows = [
        _option(one, context) for one in command.params if isinstance(one, click.Option) and not one.hidden
    ]
    table = f"\n| option | |\n|---|---|\n{''.join(rows)}" if rows else ""
    return f"\n## pgsb {path}\n\n```\npgsb {path} {usage}\n```\n\n{text}\n{table}"


def _option(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None
    names, text = record
    return f"| `{_cell(names)}` | {_cell(text)} |\n"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("  [", " [")


def sql_page(connection: Connection) -> str:
    """The page of functions and views, of the runtime in a database."""
    functions = connection.execute(
        "SELECT p.proname::text, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),"
        " obj_description(p.oid, 'pg_proc') FROM pg_proc AS p WHERE p.pronamespace = 'ssb'::regnamespace"
        " ORDER BY p.proname, p.pronargs, 2"
    ).fetchall()
    columns = connection.execute(
        "SELECT c.relname::text,"
        " CASE c.relkind WHEN 'c' THEN obj_description(c.reltype, 'pg_type')"
        "  ELSE obj_description(c.oid, 'pg_class') END,"
        " a.attname::text, format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum)"
        f" FROM {_COLUMNS} WHERE c.relnamespace = 'ssb'::regnamespace"
        " AND (c.relkind = 'v' OR c.relname = 'message') ORDER BY c.relname, a.attnum"
    ).fetchall()
    return "".join([FOR_SQL, *_functions(functions), *_views(columns)])


def catalog_page(connection: Connection) -> str:
    """The page of what schema sys has: views with their columns, and the functions."""
    columns = connection.execute(
        "SELECT c.relname::text, obj_description(c.oid, 'pg_class'), a.attname::text,"
        " format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum)"
        f" FROM {_COLUMNS} WHERE c.relnamespace = 'sys'::regnamespace AND c.relkind = 'v'"
        " ORDER BY c.relname, a.attnum"
    ).fetchall()
    functions = connection.execute(
        "SELECT string_agg(DISTINCT '`' || p.proname || '`', ', '), obj_description(p.oid, 'pg_proc')"
        " FROM pg_proc AS p WHERE p.pronamespace = 'sys'::regnamespace GROUP BY 2 ORDER BY 1"
    ).fetchall()
    return "".join(
        [FOR_CATALOG, *_catalog(columns), FOR_BUILT_IN, *(f"| {a} | {_cell(b)} |\n" for a, b in functions)]
    )


def _functions(rows: list[tuple[str, str, str | None, str]]) -> Iterator[str]:
    yield "\n## Functions\n"
    for name in dict.fromkeys(row[0] for row in rows):
        overloads = [row for row in rows if row[0] == name]
        yield f"\n### ssb.{name}\n\n{overloads[0][3]}\n\n```\n"
        for _, arguments, result, _ in overloads:
            yield (
                f"ssb.{name}({arguments}) RETURNS {result}\n" if result else f"CALL ssb.{name}({arguments})\n"
            )
        yield "```\n"


def _views(rows: list[tuple[str, str, str, str, str]]) -> Iterator[str]:
    yield "\n## Views, and the row of RECEIVE\n"
    for name in dict.fromkeys(row[0] for row in rows):
        of_view = [row for row in rows if row[0] == name]
        yield f"\n### ssb.{name} (columns)\n\n{of_view[0][1]}\n\n| column | type | |\n|---|---|---|\n"
        yield from (f"| `{column}` | {kind} | {_cell(text)} |\n" for _, _, column, kind, text in of_view)


def _catalog(rows: list[tuple[str, str, str, str, str]]) -> Iterator[str]:
    views: dict[str, list[tuple[str, str, str, str, str]]] = {}
    for row in rows:
        views.setdefault(row[0], []).append(row)
    empty = {name: of_view for name, of_view in views.items() if of_view[0][1].startswith("No rows: ")}
    for name, of_view in views.items():
        if name not in empty:
            yield f"\n## sys.{name}\n\n{of_view[0][1]}\n\n| column | type | |\n|---|---|---|\n"
            yield from (f"| `{column}` | {kind} | {_cell(text)} |\n" for _, _, column, kind, text in of_view)
    yield FOR_EMPTY
    for name, of_view in empty.items():
        words = of_view[0][1].removeprefix("No rows: ")
        yield f"| `sys.{name}` | {_cell(words)} | {' '.join(f'`{row[2]}`' for row in of_view)} |\n"
