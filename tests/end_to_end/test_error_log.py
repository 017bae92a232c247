"""sp_readerrorlog: the daemon's log as SQL Server's error log shows it."""

from end_to_end.tsql import Tsql

from support import Database


def test_sp_readerrorlog_shows_what_activated_procedures_print(database: Database) -> None:
    tsql = Tsql(database.dsn)
    tsql.run_well(
        "CREATE PROCEDURE dbo.usp_Work AS PRINT 'x'\nGO\nCREATE QUEUE dbo.WorkQ"
        "\nGO\nCREATE TABLE dbo.kept (d datetime, p nvarchar(12), t nvarchar(400))"
    )
    tsql.connection.execute(
        "INSERT INTO ssb.broker_log (level, event, queue, program, pid, message) VALUES"
        " ('info', 'leading', NULL, NULL, NULL, 'this daemon leads'),"
        " ('info', 'print', 'dbo.workq', 'dbo.usp_work', 7, 'hello')"
    )
    shown = tsql.scalar("SELECT ssb.db_name()")
    told = (
        f"The activated proc '[dbo].[usp_Work]' running on queue '{shown}.dbo.WorkQ'"
        " output the following:  'hello'"
    )
    tsql.run_well("INSERT dbo.kept EXEC sp_readerrorlog; SELECT p, t FROM dbo.kept ORDER BY p DESC")
    assert tsql.results == [[["spid7s", told], ["Server", "leading: this daemon leads"]]]
    tsql.run_well("EXEC master.dbo.xp_readerrorlog 0, 1, N'ACTIVATED proc', N'workq', NULL, NULL, N'desc'")
    assert tsql.columns == [("LogDate", "ProcessInfo", "Text")]
    assert [row[1:] for row in tsql.results[0]] == [["spid7s", told]]
    tsql.run_well("EXEC sp_readerrorlog 1")
    assert tsql.results == [[]]
    tsql.close()
