"""Types that the fixtures hand to tests: ``from support import Connection, Database``."""

from dataclasses import dataclass
from typing import Any

import psycopg

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Database:
    """One database of the test server: its name, and a DSN for a superuser."""

    name: str
    dsn: str
