"""Translates, for a session that is running, the dynamic SQL that only the run time knows.

The server asks in a notice (ssb_internal.translated, session/runtime_compiled_sql.sql) while it waits;
the answer goes through a second connection of the same user.
"""

import json
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from ..compiler import handlers as _handlers  # noqa: F401
from ..compiler.catalog.scope import Catalog
from ..compiler.lower.dynamic.runtime_compilation import (
    RuntimeCompilationError,
    RuntimeCompiledText,
    compile_at_run_time,
)
from .learn import learn_tables

SETTING = "SET pgsb.translator = 'on'"
"""Tells the server that this client answers."""


def second_connection(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Open another connection like this one, of the same user."""
    return _open(_conninfo(connection))


def _conninfo(connection: psycopg.Connection[Any]) -> str:
    info = connection.info
    return make_conninfo(info.dsn, password=info.password) if info.password else info.dsn


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
        return cls(_conninfo(connection), catalog)

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
        with self._connect() as connection:
            catalog = Catalog(default_database=connection.info.dbname)
            learn_tables(connection, catalog)
        return catalog

    def _connect(self) -> psycopg.Connection[Any]:
        # Dynamic SQL of this kind is rare: no connection is kept open for it.
        return _open(self._conninfo)

    def _answer(self, *values: Any) -> None:
        with self._connect() as connection:
            connection.execute(
                "SELECT ssb_internal.answer_translation(%s, %s::text[], %s::integer, %s::text, %s::integer)",
                values,
            )
