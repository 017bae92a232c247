"""Names in errors are those of the script."""

import psycopg
import pytest

from pgsb.compiler.catalog import scope
from pgsb.server.spelling import as_written
from support import Database

OBJECT = "Invalid object name '{}'."


@pytest.mark.parametrize(
    ("script", "name", "shown"),
    [
        ("select * from NoSuchTable", "dbo.nosuchtable", "NoSuchTable"),
        ("select * from dbo.NoSuchTable", "dbo.nosuchtable", "dbo.NoSuchTable"),
        ("select * from [Sales].[My Orders]", "sales.my orders", "Sales.My Orders"),
        ("select * from Trade . dbo . T", "trade_dbo.t", "Trade.dbo.T"),
        ("receive * from Trade..T", "trade_dbo.t", "Trade..T"),
        ("select * from Trade..T", "dbo.t", "Trade..T"),
        ("-- NOSUCH\nprint 'NoSUCH' /* noSuch */ select x.nosuch from NoSuch x", "dbo.nosuch", "NoSuch"),
        ('insert "Odd""One" values (1)', 'dbo.odd"one', 'Odd"One'),
        ("select 1", "dbo.elsewhere", "dbo.elsewhere"),
        ("/* NOSUCH /* ' */ noSuch [ */ select 1 from dbo/* [ */.NoSuch", "dbo.nosuch", "dbo.NoSuch"),
        ("select * from [A.b].[No Such]", "a.b.no such", "A.b.No Such"),
        ("receive * from Queue receive * from Dbo.[In.Queue]", "dbo.in.queue", "Dbo.In.Queue"),
        ('select * from Trade."A.b"."C.d"', "trade_a.b.c.d", "Trade.A.b.C.d"),
        ("select 1 from [it's] print 'nosuch' select 1 from NoSuch", "dbo.nosuch", "NoSuch"),
    ],
)
def test_tables(script: str, name: str, shown: str) -> None:
    assert as_written(OBJECT.format(name), script) == OBJECT.format(shown)


def test_the_batch_of_the_error_comes_first() -> None:
    script = "select 1 from dbo.nosuch\ngo\nexec ('select 1 from dbo.NoSuch')\ngo\nselect 1 from NOSUCH"
    for line, shown in ((1, "dbo.nosuch"), (3, "dbo.NoSuch"), (5, "NOSUCH")):
        assert as_written(OBJECT.format("dbo.nosuch"), script, line) == OBJECT.format(shown)


def test_columns_and_others() -> None:
    assert (
        as_written("Invalid column name 'nocol'.", "select t.NoCol from t") == "Invalid column name 'NoCol'."
    )
    queue = 'The service queue "{}" cannot be directly updated.'
    assert as_written(queue.format("inbox"), "delete dbo.Inbox") == queue.format("Inbox")
    exists = "There is already an object named '{}' in the database."
    shown = as_written(exists.format("orders"), "create table dbo.Orders (a int)")
    assert shown == exists.format("Orders")
    missing = "Cannot {} the queue '{}', because it does not exist or you do not have permission."
    for verb, shown in (("find", "NoQueue"), ("alter", "NoQueue"), ("drop", "dbo.NoQueue")):
        assert as_written(missing.format(verb, "noqueue"), "… dbo.NoQueue …") == missing.format(verb, shown)
    no_schemas = missing.format("find", "{}").replace("queue", "XML schema collection")
    assert as_written(no_schemas.format("orders"), "… dbo.Orders …") == no_schemas.format("Orders")
    no_table = 'Cannot find the object "{}" because it does not exist or you do not have permissions.'
    assert as_written(no_table.format("dbo.t"), "alter table dbo.T add a int") == no_table.format("dbo.T")
    for written, script in (("sales", "no.T"), ("no_sales", "no_Sales.T"), ("no_sales", "no.Sales.T")):
        shown = script if written == "no_sales" else "sales"
        told = as_written(no_table.format(f"{written}.*"), f"alter table {script} add a")
        assert told == no_table.format(shown)
    no_index = "Cannot drop the index '{}', because it does not exist or you do not have permission."
    for script, shown in (("i on dbo.T", "dbo.T.i"), ("T.I", "T.I"), ("I on #T", "#T.I"), ("j on U", "t.i")):
        name = "#t.i" if "#" in script else "t.i"
        assert as_written(no_index.format(name), f"drop index {script}") == no_index.format(shown)
    wrong_kind = "Cannot use DROP VIEW with '{0}' because '{0}' is a table. Use DROP TABLE."
    assert as_written(wrong_kind.format("dbo.t"), "drop view T") == wrong_kind.format("T")
    incompatible = "Cannot perform alter on '{}' because it is an incompatible object type."
    assert as_written(incompatible.format("dbo.v"), "alter view V …") == incompatible.format("V")
    no_procedure = "Could not find stored procedure '{}'."
    assert as_written(no_procedure.format("dbo.p"), "exec [dbo].P") == no_procedure.format("dbo.P")
    read_only = "Object '{}' cannot be modified."
    assert as_written(read_only.format("orders"), "delete dbo.[Orders]") == read_only.format("Orders")
    assert as_written("Divide by zero error encountered.", "x") == "Divide by zero error encountered."


@pytest.mark.parametrize(
    ("script", "schema", "shown"),
    [
        ("create queue Sales.Q", "sales", "Sales"),
        ("create queue NoDatabase..Q", "nodatabase_dbo", "NoDatabase.dbo"),
        ("create table Shop.Sales.T (a int)", "sales", "Sales"),
        ("create queue Q", "sales", "sales"),
    ],
)
def test_schemas(script: str, schema: str, shown: str) -> None:
    missing = 'The specified schema name "{}" either does not exist or you do not have permission to use it.'
    assert as_written(missing.format(schema), script) == missing.format(shown)


def test_of_several_spellings_that_of_the_errors_line() -> None:
    script = "select 1 from NoSuch\ngo\nselect 1 from dbo.NOSUCH\ngo\nselect 2"
    for line, shown in ((1, "NoSuch"), (3, "dbo.NOSUCH"), (5, "NoSuch")):
        assert as_written(OBJECT.format("dbo.nosuch"), script, line) == OBJECT.format(shown)


def test_types_and_collections() -> None:
    no_type = "Column, parameter, or variable #1: Cannot find data type {}."
    assert as_written(no_type.format("dbo.nosuch"), "declare @x dbo.NoSuch") == no_type.format("dbo.NoSuch")
    assert as_written(no_type.format("dbo.type"), "declare @x TYPE") == no_type.format("TYPE")
    no_collection = "Collection specified does not exist in metadata : '{}'"
    shown = as_written(no_collection.format("rules"), "declare @x xml(dbo.Rules)")
    assert shown == no_collection.format("Rules")


def test_the_runtime_finds_parameters_by_the_names_that_the_compiler_gives_them(database: Database) -> None:
    names = [*scope._TAKEN, "old_", "found__", "older", "new1", "_"]
    with psycopg.connect(database.dsn) as connection:
        rows = connection.execute(
            "SELECT n, v, ssb_internal.spelled_parameter(NULL, v)"
            " FROM unnest(%s::text[]) AS n, ssb_internal.variable_name(n) AS v",
            [names],
        ).fetchall()
    assert rows == [(name, scope.plain_name(name), name) for name in names]
