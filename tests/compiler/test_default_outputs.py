"""An OUTPUT parameter that a call leaves out has its default."""

import pytest
from end_to_end.tsql import Tsql

from support import Database

PROCEDURE = """
CREATE PROCEDURE dbo.counts @by int = 2, @n int = 40 OUTPUT AS
SET @n += @by;
PRINT @n;
"""


@pytest.mark.parametrize("scripts", [[PROCEDURE + "\nGO\nEXEC dbo.counts; EXEC dbo.counts 1, DEFAULT"],
                                     [PROCEDURE, "EXEC dbo.counts; EXEC dbo.counts 1, DEFAULT"]],
                         ids=["known to the compiler", "looked up at run time"])  # fmt: skip
def test_the_default_of_an_output_parameter(database: Database, scripts: list[str]) -> None:
    session = Tsql(database.dsn)
    for script in scripts:
        session.run_well(script)
    assert session.prints == ["42", "41"]
    session.close()
