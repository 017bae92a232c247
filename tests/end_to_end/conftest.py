"""A T-SQL session on a fresh database."""

from collections.abc import Iterator

import pytest
from end_to_end.tsql import Tsql

from support import Database


@pytest.fixture
def tsql(database: Database) -> Iterator[Tsql]:
    """A session as `pgsb run` has it."""
    session = Tsql(database.dsn)
    yield session
    session.close()
