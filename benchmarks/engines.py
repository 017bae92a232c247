"""`python -m benchmarks.engines REVISION …`: a dialog's life, beside earlier engines.

All in one run and by turns, in databases of one server: a machine that does other things then changes the
figures, and hardly the ratios. What counts is the processor time of the server's process. A life is
BEGIN DIALOG and SEND, RECEIVE and END at the target, RECEIVE and END at the initiator, in a procedure that
commits after each of the three.
"""

import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click

from pgsb.runtime_sql import installer

from .queues.profile import processor_seconds
from .queues.server import BenchServer, Connection, machine, running

HERE = "here"
SLICES = 10
"""Parts of a round that take turns."""
_TOP = Path(__file__).resolve().parent.parent
OBJECTS = """
SELECT ssb.create_queue('dbo.source'), ssb.create_queue('dbo.target');
SELECT ssb.create_message_type('m'), ssb.create_message_type('x', 'WELL_FORMED_XML');
SELECT ssb.create_contract('c', message_types => '{m,x}', sent_by => '{ANY,ANY}');
SELECT ssb.create_service('source', queue => 'dbo.source');
SELECT ssb.create_service('target', queue => 'dbo.target', contracts => '{c}')
"""
_RECEIVE_AND_END = """
        SELECT m.conversation_handle INTO STRICT v_handle FROM ssb.receive('dbo.{queue}', 1) AS m;
        PERFORM ssb.end_conversation(v_handle);
        COMMIT;
"""
_BEGIN = """
        v_handle := ssb.begin_dialog('source', 'target', 'c');
        PERFORM ssb.send(v_handle, 'm', v_body);
        COMMIT;
"""
_BEGIN_XML = _BEGIN.replace("'m', v_body", "'x', v_xml")
_BEGIN_LIFETIME = _BEGIN.replace("'c')", "'c', lifetime => 600)")
_BEGIN_FUSED = """
        v_handle := ssb.send_new('source', 'target', 'c', 'm', v_body);
        COMMIT;
"""
PROCEDURE = """
CREATE PROCEDURE bench_{name}(p_times integer) LANGUAGE plpgsql AS $$
DECLARE
    v_body CONSTANT bytea := convert_to(repeat('x', 200), 'UTF8');
    v_xml CONSTANT bytea := convert_to('<a>' || repeat('x', 193) || '</a>', 'UTF8');
    v_handle uuid;
    v_open CONSTANT uuid := (SELECT o.handle FROM bench_open AS o);
BEGIN
    FOR i IN 1..p_times LOOP
{steps}
    END LOOP;
END;
$$
"""
_TARGET = _RECEIVE_AND_END.format(queue="target")
_SOURCE = _RECEIVE_AND_END.format(queue="source")
_GROUP = """
        PERFORM ssb.send(v_open, 'm', v_body);
        v_handle := ssb.get_conversation_group('dbo.target');
        PERFORM FROM ssb.receive('dbo.target', 1, conversation_group => v_handle) AS m;
        COMMIT;
"""
_THREE = """
        PERFORM ssb.send(v_open, 'm', v_body), ssb.send(v_open, 'm', v_body), ssb.send(v_open, 'm', v_body);
        PERFORM FROM ssb.receive('dbo.target') AS m;
        COMMIT;
"""
# In this order: parts leave behind what the next one takes.
LIVES = {
    "a life by statements": _BEGIN + _TARGET + _SOURCE,
    "a life by send_new": _BEGIN_FUSED + _TARGET + _SOURCE,
    "of WELL_FORMED_XML": _BEGIN_XML + _TARGET + _SOURCE,
    "with a lifetime": _BEGIN_LIFETIME + _TARGET + _SOURCE,
    "BEGIN and SEND": _BEGIN,
    "RECEIVE and END, target": _TARGET,
    "RECEIVE and END, initiator": _SOURCE,
    "SEND on an open dialog": "        PERFORM ssb.send(v_open, 'm', v_body);\n        COMMIT;\n",
    "RECEIVE TOP (1)": "        PERFORM FROM ssb.receive('dbo.target', 1) AS m;\n        COMMIT;\n",
    "SEND, GET GROUP, RECEIVE of it": _GROUP,
    "SEND of three, RECEIVE": _THREE,
}
"""What is measured, by name: the steps of one turn."""

FIRST = {
    "first BEGIN of a session": "SELECT ssb.begin_dialog('source', 'target', 'c')",
    "first SEND": "SELECT ssb.send('{handle}', 'm', '\\x61'::bytea)",
    "first RECEIVE": "SELECT conversation_handle FROM ssb.receive('dbo.target', 1)",
    "first END": "SELECT ssb.end_conversation('{received}')",
}
"""The first statements of a session, in this order."""


@dataclass
class Engine:
    """A database with a revision's runtime; ``figures``: µs of processor time by name and round."""

    name: str
    server: BenchServer
    connection: Connection
    has_send_new: bool
    figures: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, microseconds: float) -> None:
        """Add a figure."""
        self.figures.setdefault(name, []).append(microseconds)


def _file(revision: str, path: str) -> str:
    if revision == HERE:
        return (_TOP / path).read_text(encoding="utf-8")
    shown = subprocess.run(
        ["git", "show", f"{revision}:{path}"], cwd=_TOP, capture_output=True, text=True, check=False
    )
    if shown.returncode != 0:
        raise click.UsageError(shown.stderr.strip())
    return shown.stdout


def install(connection: Connection, revision: str) -> None:
    """Install the engine of a git revision, or this checkout's (HERE)."""
    if revision == HERE:
        installer.install(connection)
        return
    with connection.transaction():
        connection.execute("SET LOCAL client_min_messages = warning")
        connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        connection.execute("SET LOCAL check_function_bodies = off")
        for line in _file(revision, "runtime_sql/install.sql").splitlines():
            if line.startswith("\\ir "):
                connection.execute(_file(revision, f"runtime_sql/{line.split()[1]}").encode())


def _engine(server: BenchServer, number: int, revision: str) -> Engine:
    own = server.database(f"bench_engine_{number}")
    connection = own.connect()
    install(connection, revision)
    connection.execute("SET synchronous_commit = off")
    connection.execute(OBJECTS)
    connection.execute(
        "CREATE TABLE bench_open AS SELECT ssb.begin_dialog('source', 'target', 'c') AS handle"
    )
    connection.execute("SELECT ssb.send(o.handle, 'm', 'x'::bytea) FROM bench_open AS o")
    connection.execute("SELECT count(*) FROM ssb.receive('dbo.target', 1)")
    row = connection.execute("SELECT to_regprocedure('ssb.send_new(text,text,text,text,bytea)') IS NOT NULL")
    (has_send_new,) = row.fetchone() or (False,)
    for place, steps in enumerate(LIVES.values()):
        text = steps if has_send_new else steps.replace(_BEGIN_FUSED, _BEGIN)
        connection.execute(PROCEDURE.format(name=place, steps=text).encode())
    return Engine(revision, own, connection, has_send_new)


def took(connection: Connection, work: Callable[[], object]) -> float:
    """Seconds of processor time that the connection's server process spends on ``work``."""
    before = processor_seconds(connection.info.backend_pid)
    work()
    after = processor_seconds(connection.info.backend_pid)
    if before is None or after is None:
        raise click.ClickException("this system does not tell the processor time of a process")
    return (after - before) * 1e6


def _lives(engines: Sequence[Engine], times: int) -> None:
    """One round: of each figure the median of slices that take turns."""
    order = list(engines)
    slices: dict[tuple[str, str], list[float]] = {}
    for _ in range(SLICES):
        for place, name in enumerate(LIVES):
            random.shuffle(order)
            for engine in order:
                call = f"CALL bench_{place}({times // SLICES})".encode()
                seconds = took(engine.connection, partial(engine.connection.execute, call))
                slices.setdefault((engine.name, name), []).append(seconds / (times // SLICES))
    for engine in engines:
        for name in LIVES:
            engine.note(name, statistics.median(slices[engine.name, name]))


def _first_uses(engine: Engine) -> None:
    found: dict[str, str] = {}
    with engine.server.connect() as connection:
        connection.execute("SET synchronous_commit = off")
        for name, text in FIRST.items():
            statement = text.format(**found)
            cells: list[object] = []

            def work(statement: str = statement, cells: list[object] = cells) -> None:
                cells.extend(connection.execute(statement.encode()).fetchone() or ())

            engine.note(name, took(connection, work))
            found["handle" if "begin_dialog" in text else "received"] = str(cells[0])


def _line(name: str, engines: Sequence[Engine], base: Engine) -> str:
    cells = []
    for engine in engines:
        own, other = engine.figures[name], base.figures[name]
        ratios = sorted(mine / theirs for mine, theirs in zip(own, other, strict=True))
        cell = f"{statistics.median(own):8.0f}"
        if engine is not base:
            cell += f"  {ratios[0]:.2f} / {statistics.median(ratios):.2f} / {ratios[-1]:.2f}"
        cells.append(cell)
    return f"{name:28}" + " | ".join(cells)


@click.command()
@click.argument("revisions", nargs=-1, required=True)
@click.option("--postgres", help="Major version or bin directory.")
@click.option("--rounds", default=8, show_default=True)
@click.option("--dialogs", default=300, show_default=True, help="Dialogs a round.")
@click.option("--quick", is_flag=True, help="4 rounds of 100.")
def main(revisions: tuple[str, ...], postgres: str | None, rounds: int, dialogs: int, quick: bool) -> None:
    """Compare this tree with git REVISIONS: medians of µs, ratios to the first as min / median / max."""
    if quick:
        rounds, dialogs = 4, 100
    with running(postgres) as server:
        conditions = machine()
        click.echo(f"PostgreSQL {server.version}, {conditions['cores']} cores, load {conditions['load']}")
        engines = [_engine(server, number, name) for number, name in enumerate((*revisions, HERE))]
        _lives(engines, 20 * SLICES)
        for engine in engines:
            engine.figures.clear()
        order = list(engines)
        for _ in range(rounds):
            _lives(engines, dialogs)
            random.shuffle(order)
            for engine in order:
                _first_uses(engine)
        click.echo(f"{'µs of processor time':28}" + " | ".join(engine.name for engine in engines))
        for name in (*LIVES, *FIRST):
            click.echo(_line(name, engines, engines[0]))
        for engine in engines:
            engine.connection.close()


if __name__ == "__main__":
    sys.exit(main())
