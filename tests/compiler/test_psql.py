"""What `pgsb compile` prints runs in psql, statement by statement."""

import shutil
import subprocess

import pytest

from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from support import Database

PSQL = shutil.which("psql")

SCRIPT = """
-- a table and a procedure
CREATE TABLE dbo.t (id int PRIMARY KEY, s nvarchar(20));
GO
CREATE PROCEDURE dbo.p @n int AS
BEGIN TRY
    INSERT INTO dbo.t (id, s) VALUES (@n, N'$batch$ '' \\ x');
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH
GO
DECLARE @i int = 0;
WHILE @i < 3
BEGIN
    SET @i = @i + 1;
    EXEC dbo.p @i;
END
EXEC dbo.p 1;
GO
INSERT INTO dbo.t (id, s) VALUES (10, N'x');
GO 1
SELECT COUNT(*) AS rows FROM dbo.t;
/* the end */
"""


@pytest.mark.skipif(PSQL is None, reason="psql is not installed")
def test_compiled_text_runs_in_psql(database: Database) -> None:
    text = compile_script(Source("script.sql", SCRIPT)).text()
    assert PSQL is not None
    command = [PSQL, "-X", "-v", "ON_ERROR_STOP=1", "-A", "-t", "-d", database.dsn]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "4"
    assert "Violation of PRIMARY KEY" in done.stderr


def test_the_last_comment_of_a_script_is_kept() -> None:
    text = compile_script(Source("script.sql", SCRIPT)).text()
    assert text.rstrip().endswith("/* the end */")
    assert text.startswith("-- a table and a procedure\n")
