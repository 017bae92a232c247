"""`pgsb install --parts broker`: queues without the rest of the T-SQL language, and all of it later."""

import re
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from end_to_end.conftest import Outcome
from runtime_objects import objects

from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from pgsb.runtime_sql import installer
from support import Connection, Database

# Reached only with an XML schema collection or a rowversion, which are made by a part that is not there.
OF_THE_OTHER_PART = {
    "ssb_internal.drop_typed_xml",
    "ssb_internal.rename_typed_xml",
    "ssb_internal.xml_schema_validate",
    "ssb_internal.number_versions",
    "sys.set_rowversion",
}


def test_the_broker_calls_nothing_that_is_left_out(
    empty_database: Database, connect: Callable[..., Connection]
) -> None:
    connection = connect(empty_database.dsn)
    installer.install(connection, parts="broker")
    beyond = installer._names_beyond_broker()
    assert len(beyond) > 500
    missing = {
        name: routine
        for routine, text in connection.execute(
            "SELECT p.oid::regprocedure::text, regexp_replace(p.prosrc, '--[^\n]*', '', 'g')"
            " FROM pg_proc AS p WHERE p.pronamespace::regnamespace::text IN ('ssb', 'ssb_internal', 'sys')"
        )
        for name in re.findall(r"\b(?:ssb|ssb_internal|sys)\.\w+", text)
        if name in beyond
    }
    assert missing.keys() == OF_THE_OTHER_PART, missing


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("SELECT PATINDEX('%b%', 'abc')", "all"),
        ("SELECT * FROM sys.parameters", "all"),
        ("SELECT * FROM sys.services", "broker"),
        ("-- sys.patindex in a comment\nPRINT 'sys.patindex in a string'", "broker"),
        ("DECLARE @t sysname = 't'; EXEC ('SELECT * FROM ' + @t + ' WHERE PATINDEX(a, b) > 0')", "all"),
        ("DECLARE @t sysname = 't'; EXEC ('SELECT ''sys.patindex'' FROM ' + @t)", "broker"),
        ("BEGIN TRAN\nGO\nCREATE PROCEDURE p AS SELECT PATINDEX('%b%', 'abc')\nGO\nCOMMIT", "all"),
    ],
)
def test_the_parts_that_a_script_needs_are_those_that_it_names(script: str, parts: str) -> None:
    compiled = compile_script(Source("script.sql", script))
    assert not compiled.problems.errors
    names = [name for batch in compiled.batches for one in batch.statements for name in one.names]
    assert installer.parts_needed(names) == parts


@pytest.mark.long
def test_the_broker_becomes_all_and_keeps_its_messages(
    empty_database: Database,
    database: Database,
    connect: Callable[..., Connection],
    pgsb: Callable[..., Outcome],
    tmp_path: Path,
) -> None:
    dsn = ["--dsn", empty_database.dsn]
    connection = connect(empty_database.dsn)
    broker_text, all_text = tmp_path / "broker.sql", tmp_path / "all.sql"
    script = tmp_path / "script.sql"
    script.write_text(
        "CREATE QUEUE dbo.q; CREATE SERVICE s ON QUEUE dbo.q ([DEFAULT])\nGO\n"
        "DECLARE @h uniqueidentifier;\n"
        "BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH ENCRYPTION = OFF;\n"
        "SEND ON CONVERSATION @h (N'kept')\n"
    )
    pgsb("compile", str(script), "-o", str(broker_text))
    script.write_text("SELECT PATINDEX('%b%', 'abc')")
    pgsb("compile", str(script), "-o", str(all_text))
    assert "pgsb install --parts broker" in broker_text.read_text()
    assert "pgsb install --parts all" in all_text.read_text()

    assert "(parts: broker) is installed" in pgsb("install", *dsn, "--parts", "broker").out
    assert "(parts: broker) was already installed" in pgsb("install", *dsn).out
    assert "(parts: broker)" in pgsb("version", *dsn).out
    connection.execute(broker_text.read_bytes())
    with pytest.raises(psycopg.Error, match="this database has only the part broker") as refused:
        connection.execute(all_text.read_bytes())
    assert refused.value.diag.sqlstate == connection.execute("SELECT ssb.sqlstate_of(15281)").fetchone()[0]  # type: ignore[index]
    assert "Msg 15281" in pgsb("run", *dsn, str(script)).out
    small = objects(connection)

    # An upgrade brings what there is up to date; a text for the broker can be read before.
    connection.execute("UPDATE ssb.runtime_version SET content_hash = 'another'")
    assert pgsb("upgrade", *dsn, "--print").out.count("CREATE OR REPLACE FUNCTION sys.patindex") == 0
    pgsb("upgrade", *dsn)
    assert objects(connection) == small

    assert "is installed" in pgsb("install", *dsn, "--parts", "all").out
    assert installer.installed_parts(connection) == "all"
    assert connection.execute("SELECT message_body FROM ssb.receive('dbo.q')").fetchall() == [(b"kept",)]
    assert pgsb("run", *dsn, str(script)).status == 0
    connection.execute("SELECT ssb.drop_service('s'), ssb.drop_queue('dbo.q')")
    assert objects(connection) == objects(connect())
    with pytest.raises(installer.RuntimeVersionError, match="has all parts"):
        installer.install(connection, parts="broker")
    connection.execute(installer.install_sql("broker").encode())
    assert installer.installed_parts(connection) == "all"
    assert objects(connection) == objects(connect())
