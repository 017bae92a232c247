"""Compiled scripts in migrations, with each tool: up, use, down."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.source import Source
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
def test_the_kept_text_is_what_the_compiler_gives(name: str) -> None:
    compiled = compile_script(Source(name, (MIGRATIONS / name).read_text()), CompileOptions())
    compiled.problems.raise_if_any()
    kept = MIGRATIONS / "compiled" / name
    if os.environ.get("PGSB_GOLDEN") == "rewrite":
        kept.write_text(compiled.text(), encoding="utf-8")
    assert compiled.text() == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("tool", TOOLS)
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
