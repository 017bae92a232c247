"""Translates, for a session that is running, the dynamic SQL that only the run time knows.

The server asks in a notice (ssb_internal.translated, session/runtime_compiled_sql.sql) while it waits;
the answer goes through a second connection of the same user.
"""

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo

from ..compiler.catalog.scope import Catalog
from ..compiler.lower.dynamic.runtime_compilation import (
    RuntimeCompilationError,
    RuntimeCompiledText,
    compile_at_run_time,
)
from ..compiler.lower.system import procedures as _all_handlers  # noqa: F401
from .learn import learn_tables

T = TypeVar("T")

SETTING = "SET pgsb.translator = 'on'"
"""Tells the server that this client answers."""


def second_connection(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Open another connection like this one, of the same user."""
    return _open(own_conninfo(connection))


def own_conninfo(connection: psycopg.Connection[Any]) -> str:
    """What opens another connection like this one."""
    info = connection.info
    return make_conninfo(info.dsn, password=info.password) if info.password else info.dsn


def over_second_connection(conninfo: str, do: Callable[[psycopg.Connection[Any]], T]) -> T:
    """Do something on another connection, which is closed again, while the session waits.

    The connection can be ended by others, and the server have none free just then: that would leave
    the session waiting for a minute and end its statement, so it is tried again for 10 seconds.
    ``do`` can be done twice. Raises OperationalError of the last try.
    """
    pause, deadline = 0.05, time.monotonic() + 10
    while True:
        try:
            with _open(conninfo) as connection:
                return do(connection)
        except psycopg.OperationalError:
            if time.monotonic() + pause > deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 2, 1.0)


def give_answer(conninfo: str, *values: Any) -> None:
    """Answer the session that waits: token, statements or None, and number, message and line of an error."""
    over_second_connection(
        conninfo,
        lambda connection: connection.execute(
            "SELECT ssb_internal.answer_translation(%s, %s::text[], %s::integer, %s::text, %s::integer)",
            values,
        ),
    )


def _open(conninfo: str) -> psycopg.Connection[Any]:
    return psycopg.connect(
        conninfo, autocommit=True, client_encoding="utf8", fallback_application_name="pgsb translator"
    )


class Translator:
    """Answers one connection.

    ``catalog`` gives what the compiler knows at the moment; without it the server's tables
    are looked up each time.
    """

    def __init__(self, conninfo: str, catalog: Callable[[], Catalog] | None = None) -> None:
        """Keep what is needed; a second connection is opened when a text comes."""
        self._conninfo = conninfo
        self._catalog = catalog

    @classmethod
    def of(cls, connection: psycopg.Connection[Any], catalog: Callable[[], Catalog]) -> "Translator":
        """Answer a connection that is open; the server is told."""
        connection.execute(SETTING)
        return cls(own_conninfo(connection), catalog)

    def __call__(self, request: str) -> None:
        """Answer one request: the text of a notice SX001."""
        asked = json.loads(request)
        text = RuntimeCompiledText(
            asked["text"],
            asked["parameters"],
            tuple(asked["marks"] or ()),
            asked["database"],
            asked["level"],
            asked["levels"],
        )
        token = asked["token"]
        answered = False
        try:
            catalog = self._catalog() if self._catalog is not None else self._learn()
            statements = list(compile_at_run_time(text, catalog))
            self._answer(token, statements, None, None, None)
            answered = True
        except RuntimeCompilationError as problem:
            self._answer(token, None, problem.number, problem.message, problem.line)
            answered = True
        finally:
            # The session must not wait for the end of a defect of ours.
            if not answered:
                self._answer(token, None, 50000, "pgsb could not translate this dynamic SQL", 1)

    def _learn(self) -> Catalog:
        def read(connection: psycopg.Connection[Any]) -> Catalog:
            catalog = Catalog(default_database=connection.info.dbname)
            learn_tables(connection, catalog)
            return catalog

        # Dynamic SQL of this kind is rare: no connection is kept open for it.
        return over_second_connection(self._conninfo, read)

    def _answer(self, *values: Any) -> None:
        give_answer(self._conninfo, *values)
