"""Tables that do more with a row than keep it: triggers, rules, policies, views; rights on columns."""

from collections.abc import Callable
from typing import Any

import needs_spark  # noqa: F401
import psycopg
import pytest
from bulk_desk import Desk

from pgsb.bulk import BulkError, Outputs
from pgsb.bulk.claim import claim
from pgsb.bulk.complete import Completed, complete, compute
from pgsb.bulk.connections import acting_as
from pgsb.bulk.program import Failures
from pgsb.bulk.read import read
from pgsb.bulk.tables import PackedTable
from support import Database

pytestmark = pytest.mark.one_postgres

Tcp = Callable[[Database], str]
NUMBER = "CAST(CAST(message_body AS STRING) AS INT) AS number"
ORIGIN = ("conversation_handle", "queuing_order")


def _complete(
    spark: Any, desk: Desk, dsn: str, table: str, *columns: str, failures: Failures = "requeue"
) -> Completed:
    """A claim of all that waits, of each message a row."""
    with psycopg.connect(dsn, autocommit=True) as owner:
        held = claim(owner, "dbo.target")
        assert held is not None
        rows = read(spark, held).selectExpr(*columns)
        return complete(held, Outputs(tables={table: rows}, failures=failures), dsn)


def _reader(desk: Desk) -> None:
    """A role that may claim, and write nothing yet."""
    desk.connection.execute(
        "DO $$ BEGIN CREATE ROLE writer; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    desk.connection.execute("GRANT USAGE ON SCHEMA dbo TO writer")
    desk.connection.execute("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.target', '{writer}')")


def _numbers(desk: Desk, table: str) -> list[int]:
    return [
        number for (number,) in desk.connection.execute(f"SELECT number FROM {table} ORDER BY 1".encode())
    ]


@pytest.mark.long
def test_rows_that_a_trigger_or_a_rule_takes_elsewhere_are_not_missed(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    """The claim was told each time that the server had been restarted. Of partitions, too, and of views."""
    desk.connection.execute("""
        CREATE TABLE dbo.rest (number int);
        CREATE FUNCTION dbo.pass_two() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.number = 2 THEN INSERT INTO dbo.rest VALUES (2); RETURN NULL; END IF; RETURN NEW; END $$;
        CREATE FUNCTION dbo.store() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.number = 2 THEN RETURN NULL; END IF;
            INSERT INTO dbo.kept VALUES (NEW.number); RETURN NEW;
        END $$;
        CREATE TABLE dbo.kept (number int);
        CREATE TRIGGER pass BEFORE INSERT ON dbo.kept FOR EACH ROW EXECUTE FUNCTION dbo.pass_two();
        CREATE TABLE dbo.parts (number int) PARTITION BY LIST (number);
        CREATE TABLE dbo.parts_2 PARTITION OF dbo.parts FOR VALUES IN (2);
        CREATE TABLE dbo.parts_rest PARTITION OF dbo.parts DEFAULT;
        CREATE TRIGGER pass BEFORE INSERT ON dbo.parts_2 FOR EACH ROW EXECUTE FUNCTION dbo.pass_two();
        CREATE TABLE dbo.ruled (number int);
        CREATE RULE pass AS ON INSERT TO dbo.ruled WHERE NEW.number = 2
            DO INSTEAD INSERT INTO dbo.rest VALUES (2);
        CREATE VIEW dbo.seen AS SELECT number FROM dbo.kept;
        CREATE TRIGGER store INSTEAD OF INSERT ON dbo.seen FOR EACH ROW EXECUTE FUNCTION dbo.store()""")
    for table in ("kept", "parts", "ruled", "seen"):
        desk.send(2, 3)
        desk.connection.execute("TRUNCATE dbo.kept")
        done = _complete(spark, desk, tcp(desk.database), f"dbo.{table}", NUMBER)
        assert (done.deleted, _numbers(desk, f"dbo.{table}")) == (6, [1, 1, 3, 3]), table
    assert _numbers(desk, "dbo.rest") == [2] * 6
    assert desk.waiting() == 0


def test_a_trigger_that_was_made_while_tasks_ran_is_obeyed(spark: Any, desk: Desk, tcp: Tcp) -> None:
    """It was planned that the rows go by COPY, of which such a trigger leaves some out."""
    desk.connection.execute("""
        CREATE TABLE dbo.kept (number int);
        CREATE FUNCTION dbo.pass_two() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.number = 2 THEN RETURN NULL; END IF; RETURN NEW; END $$""")
    desk.send(1, 3)
    with psycopg.connect(tcp(desk.database), autocommit=True) as owner:
        held = claim(owner, "dbo.target")
        assert held is not None
        outputs = Outputs(tables={"dbo.kept": read(spark, held).selectExpr(NUMBER)})
        computed = compute(held, outputs, copies_ahead=False)
        assert isinstance(computed.tables[0], PackedTable)
        desk.connection.execute(
            "CREATE TRIGGER pass BEFORE INSERT ON dbo.kept FOR EACH ROW EXECUTE FUNCTION dbo.pass_two()"
        )
        done = computed.complete()
    assert (done.deleted, done.written, _numbers(desk, "dbo.kept")) == (3, 2, [1, 3])


def test_a_row_that_a_policy_refuses_is_one_of_a_message(spark: Any, desk: Desk, tcp: Tcp) -> None:
    """PostgreSQL has the number of a missing right for it: GRANT was advised, and no message set aside."""
    _reader(desk)
    desk.connection.execute("""
        CREATE TABLE dbo.kept (number int);
        ALTER TABLE dbo.kept ENABLE ROW LEVEL SECURITY;
        CREATE POLICY no_two ON dbo.kept FOR INSERT WITH CHECK (number <> 2);
        GRANT INSERT ON dbo.kept TO writer""")
    desk.send(2, 2)
    dsn = acting_as(tcp(desk.database), "writer")
    with pytest.raises(
        BulkError, match=r"a row for dbo\.kept from message \d+ of conversation .*policy"
    ) as told:
        _complete(spark, desk, dsn, "dbo.kept", NUMBER, *ORIGIN)
    assert told.value.hint is None
    done = _complete(spark, desk, dsn, "dbo.kept", NUMBER, *ORIGIN, failures="quarantine")
    assert (done.deleted, done.failed, _numbers(desk, "dbo.kept")) == (2, 2, [1, 1])
    assert desk.value("SELECT count(*) FROM ssb.quarantine") == 2


def test_a_role_that_may_write_some_columns_writes_them(spark: Any, desk: Desk, tcp: Tcp) -> None:
    _reader(desk)
    desk.connection.execute("""
        CREATE TABLE dbo.kept (number int, secret text DEFAULT 'hidden');
        GRANT INSERT (number) ON dbo.kept TO writer""")
    desk.send(1, 2)
    dsn = acting_as(tcp(desk.database), "writer")
    with pytest.raises(BulkError, match=r"role may not write the column 'secret' of dbo\.kept"):
        _complete(spark, desk, dsn, "dbo.kept", NUMBER, "'x' AS secret")
    assert _complete(spark, desk, dsn, "dbo.kept", NUMBER).written == 2
    assert desk.value("SELECT array_agg(secret) FROM dbo.kept") == ["hidden"] * 2
    desk.connection.execute("REVOKE INSERT (number) ON dbo.kept FROM writer")
    desk.send(1, 1)
    with pytest.raises(BulkError, match="INSERT permission was denied on the object 'kept'"):
        _complete(spark, desk, dsn, "dbo.kept", NUMBER)


def test_what_a_view_computes_is_refused_before_a_task_runs(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.connection.execute("""
        CREATE TABLE dbo.kept (number int, note text);
        CREATE VIEW dbo.computed AS SELECT number, upper(note) AS note FROM dbo.kept;
        CREATE VIEW dbo.ruled AS SELECT number, upper(note) AS note FROM dbo.kept;
        CREATE RULE store AS ON INSERT TO dbo.ruled
            DO INSTEAD INSERT INTO dbo.kept VALUES (NEW.number, NEW.note)""")
    desk.send(1, 1)
    with pytest.raises(BulkError, match=r"^the column 'note' of dbo\.computed is made by PostgreSQL"):
        _complete(spark, desk, tcp(desk.database), "dbo.computed", NUMBER, "'x' AS note")
    assert _complete(spark, desk, tcp(desk.database), "dbo.computed", NUMBER).written == 1
    desk.send(1, 1)
    assert _complete(spark, desk, tcp(desk.database), "dbo.ruled", NUMBER, "'x' AS note").deleted == 1
    assert desk.connection.execute("SELECT number, note FROM dbo.kept ORDER BY 2").fetchall() == [
        (1, "x"),
        (1, None),
    ]


@pytest.mark.long
def test_a_table_may_have_columns_called_as_those_of_its_staging_table(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    desk.connection.execute("CREATE TABLE dbo.kept (row_number text, attempt_id uuid, number numeric(3, 1))")
    desk.send(2, 1)
    columns = (f"CAST({NUMBER.partition(' AS number')[0]} AS DECIMAL(3, 1)) AS number",)
    columns += ("'x' AS row_number", "conversation_handle AS attempt_id")
    assert _complete(spark, desk, tcp(desk.database), "dbo.kept", *columns).written == 2
    # By COPY, of which one row is refused, and all of them unpacked.
    desk.connection.execute("ALTER TABLE dbo.kept ALTER number TYPE int, ADD CHECK (number <> 2)")
    desk.send(1, 2)
    done = _complete(
        spark, desk, tcp(desk.database), "dbo.kept", NUMBER, *columns[1:], *ORIGIN, failures="quarantine"
    )
    assert (done.deleted, done.failed) == (1, 1)
    rows = desk.connection.execute(
        "SELECT row_number, number, attempt_id IS NOT NULL FROM dbo.kept"
    ).fetchall()
    assert rows == [("x", 1, True)] * 3
