"""Compiled scripts in migrations, with each tool: up, use, down."""

import importlib.util
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from support import Connection, Database

pytestmark = pytest.mark.one_postgres

MIGRATIONS = Path(__file__).parents[2] / "examples" / "migrations"

TOOLS = {
    "alembic": (
        [sys.executable, "-m", "alembic", "upgrade", "head"],
        [sys.executable, "-m", "alembic", "downgrade", "base"],
    ),
    "django": (
        [sys.executable, "-m", "django", "migrate", "--settings=settings", "--verbosity=0"],
        [sys.executable, "-m", "django", "migrate", "shop", "zero", "--settings=settings", "--verbosity=0"],
    ),
    "plain": (["sh", "apply", "up"], ["sh", "apply", "down"]),
}


@pytest.mark.parametrize("name", ["shop.up.sql", "shop.down.sql"])
def test_the_kept_text_is_what_the_command_gives(
    name: str, pgsb: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / name
    monkeypatch.chdir(MIGRATIONS)
    assert pgsb("compile", name, "-o", str(made)).status == 0
    kept = MIGRATIONS / "compiled" / name
    if os.environ.get("PGSB_GOLDEN") == "rewrite":
        kept.write_text(made.read_text(encoding="utf-8"), encoding="utf-8")
    assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def test_a_compiled_file_tells_its_sources_and_prints_no_tables(
    database: Database, psql: str, pgsb: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sql").write_text("CREATE QUEUE q;\nGO\n\nCREATE SERVICE s ON QUEUE q;\nGO\n:r b.sql\n")
    checks = "CREATE TABLE c (a INT CONSTRAINT k CHECK (a > 0));\nGO\nALTER TABLE c NOCHECK CONSTRAINT k;\n"
    (tmp_path / "b.sql").write_text(f"PRINT 'b';\nGO\n{checks}GO\n")
    assert pgsb("compile", "a.sql", "-o", "out.sql").status == 0
    text = (tmp_path / "out.sql").read_text()
    assert text.startswith("-- Compiled by pgsb ") and " from a.sql: change those" in text.splitlines()[0]
    places = ["a.sql:1", "a.sql:3", "b.sql:1", "b.sql:3", "b.sql:5"]
    assert re.findall(r"^-- (\S+:\d+)$", text, re.MULTILINE) == places
    command = [psql, "-X", "-v", "ON_ERROR_STOP=1", "-d", database.dsn, "-f", "out.sql"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "row)" not in shown.stdout
    # Nor where the session begins in a T-SQL database.
    assert pgsb("run", "--dsn", database.dsn, "-Q", "CREATE DATABASE Side").status == 0
    (tmp_path / "c.sql").write_text("CREATE QUEUE r;\n")
    assert pgsb("compile", "c.sql", "-d", "Side", "-o", "out.sql").status == 0
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "row)" not in shown.stdout
    assert "-- Compiled" not in pgsb("compile", "a.sql").out


def test_a_compiled_text_may_use_the_database_that_it_is_for(
    database: Database, psql: str, pgsb: Callable[..., Any], tmp_path: Path
) -> None:
    script = (
        f"USE {database.name};\nGO\nCREATE QUEUE q;\nGO\nSELECT COUNT(*) AS n FROM {database.name}.dbo.q;\n"
    )
    command = [psql, "-Xq", "-v", "ON_ERROR_STOP=1", "-d", database.dsn, "-f", str(tmp_path / "out.sql")]
    assert pgsb("compile", "-", "-o", str(tmp_path / "out.sql"), stdin=script).status == 0
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    hint = f"{database.name} is the default database here: pgsb compile --default-database {database.name}"
    assert failed.returncode != 0 and hint in failed.stderr
    options = ("--default-database", database.name, "-o", str(tmp_path / "out.sql"))
    assert pgsb("compile", *options, "-", stdin=script).status == 0
    subprocess.run(command, capture_output=True, check=True)
    with psycopg.connect(database.dsn) as connection:
        assert connection.execute("SELECT name FROM ssb.queue").fetchall() == [("dbo.q",)]


@pytest.mark.parametrize(
    "tool", [pytest.param(tool, marks=() if tool == "plain" else pytest.mark.long) for tool in TOOLS]
)
def test_up_use_down(
    empty_database: Database, connect: Callable[..., Connection], psql: str, tool: str
) -> None:
    up, down = TOOLS[tool]
    folder = MIGRATIONS / tool
    path = os.pathsep.join([str(Path(sys.executable).parent), str(Path(psql).parent), os.environ["PATH"]])
    environment = {**os.environ, "DATABASE_URL": empty_database.dsn, "PATH": path, "PYTHONPATH": str(folder)}

    def run(command: list[str]) -> None:
        shown = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, shown.stdout + shown.stderr

    for _ in range(2):
        run(up)
        _use(connect(empty_database.dsn))
        run(down)
        left = connect(empty_database.dsn)
        assert left.execute("SELECT to_regclass('dbo.sold'), to_regclass('dbo.counterqueue')").fetchone() == (
            None,
            None,
        )
        assert left.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'ssb'").fetchone() == (0,)


UNDO = {
    "flyway": (["V1__runtime.sql", "V2__shop.sql"], ["U2__shop.sql", "U1__runtime.sql"]),
    "sqitch": (
        ["deploy/runtime.sql", "verify/runtime.sql", "deploy/shop.sql", "verify/shop.sql"],
        ["revert/shop.sql", "revert/runtime.sql"],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("tool", UNDO)
def test_the_layout_of_a_tool_that_is_not_here(
    empty_database: Database, connect: Callable[..., Connection], psql: str, tmp_path: Path, tool: str
) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["sh", str(MIGRATIONS / "layout"), tool, "files"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "PATH": path}, check=True)

    def apply(names: list[str]) -> None:
        files = [word for name in names for word in ("-f", str(tmp_path / "files" / name))]
        subprocess.run(
            [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", empty_database.dsn, *files],
            capture_output=True,
            check=True,
        )

    up, down = UNDO[tool]
    apply(up)
    application = connect(empty_database.dsn)
    _use(application)
    # DROP SCHEMA … CASCADE, as the way back was once, dropped the column.
    application.execute("CREATE TABLE dbo.mine (paid sys.bit); INSERT INTO dbo.mine VALUES (1)")
    apply(down)
    left = application.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(ssb|sys$)'")
    assert left.fetchall() == []
    assert application.execute("SELECT paid FROM dbo.mine").fetchall() == [(1,)]


@pytest.mark.long
def test_autogenerate_leaves_the_runtime_alone(database: Database) -> None:
    name = "examples_migrations_ours"
    spec = importlib.util.spec_from_file_location(name, MIGRATIONS / "alembic" / "ours.py")
    assert spec is not None and spec.loader is not None
    ours = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ours)
    url = database.dsn.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
    models = sqlalchemy.MetaData()
    sqlalchemy.Table("mine", models, sqlalchemy.Column("id", sqlalchemy.Integer), schema="dbo")

    def found(**options: Any) -> list[Any]:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"include_schemas": True, **options})
            return list(compare_metadata(context, models))

    assert [one[0] for one in found(include_name=ours.include_name)] == ["add_table"]
    # Without it the runtime's own tables would be dropped.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SQLAlchemy does not know each type of the runtime's columns
        assert "remove_table" in [one[0] for one in found() if isinstance(one, tuple)]


def _use(application: Connection) -> None:
    """What the application does, in plain SQL: order, let the counter work, read the receipt."""
    order = application.execute(
        "SELECT ssb.begin_dialog('//Shop/Customer', '//Shop/Counter', '//Shop/Ordering')"
    ).fetchone()
    assert order is not None
    application.execute("SELECT ssb.send(%s, '//Shop/Order', '<order product=\"tea\"/>'::text)", order)
    application.execute("CALL dbo.servecounter()")
    assert application.execute("SELECT product FROM dbo.sold").fetchall() == [("tea",)]
    answers = application.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.customerqueue')"
    ).fetchall()
    assert answers == [("Thank you for buying tea",), (None,)]
