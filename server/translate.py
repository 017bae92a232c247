"""Translates, for a session that is running, the dynamic SQL that only the run time knows.

The server asks in a notice (ssb_internal.translated, session/runtime_compiled_sql.sql) while it waits;
the answer goes through a second connection of the same user.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo

from ..compiler.catalog.names import ObjectName
from ..compiler.catalog.objects import TableInfo, names_of_columns
from ..compiler.catalog.scope import Catalog
from ..compiler.check.error_levels import level_of
from ..compiler.lower.dynamic.runtime_compilation import (
    RuntimeCompilationError,
    RuntimeCompiledText,
    compile_at_run_time,
)
from ..compiler.lower.system import procedures as _all_handlers  # noqa: F401
from .learn import Name, learn_tables, read_state, relations_of_text

T = TypeVar("T")

_KEPT = 10.0
"""For so many seconds after a text the connection of a translator stays open: another one may come soon."""

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

    def try_it() -> T:
        with _open(conninfo) as connection:
            return do(connection)

    return _tried_again(try_it)


def _tried_again(do: Callable[[], T]) -> T:
    pause, deadline = 0.05, time.monotonic() + 10
    while True:
        try:
            return do()
        except psycopg.OperationalError:
            if time.monotonic() + pause > deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 2, 1.0)


def give_answer(conninfo: str, *values: Any) -> None:
    """Answer the session that waits: token, and statements or None.

    Behind them what an error tells: number, message, line, severity and state.
    """
    over_second_connection(conninfo, lambda connection: _write_answer(connection, values))


_TYPES = ("uuid", "text[]", "integer", "text", "integer", "integer", "integer")


def _write_answer(connection: psycopg.Connection[Any], values: tuple[Any, ...]) -> None:
    given = ", ".join(f"%s::{type_}" for type_ in _TYPES[: len(values)])
    connection.execute(f"SELECT ssb_internal.answer_translation({given})", values)


def _open(conninfo: str) -> psycopg.Connection[Any]:
    return psycopg.connect(
        conninfo, autocommit=True, client_encoding="utf8", fallback_application_name="pgsb translator"
    )


class Translator:
    """Answers one connection.

    ``catalog`` gives what the compiler knows at the moment; without it the server's tables
    are learned, and again when they have changed.
    """

    def __init__(self, conninfo: str, catalog: Callable[[], Catalog] | None = None) -> None:
        """Keep what is needed; a second connection is opened when a text comes."""
        self._second = _SecondConnection(conninfo)
        self._catalog = catalog
        self._learned: tuple[object, Catalog] | None = None

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
            catalog = self._catalog() if self._catalog is not None else self._second.use(self._learn)
            for schema, name, *target in asked.get("synonyms") or ():
                # As the session's transaction has left it.
                catalog.synonyms[schema, name] = ObjectName(*target)
            with _knowing(relations_of_text(asked.get("relations") or (), catalog), catalog):
                statements = list(compile_at_run_time(text, catalog))
            self._answer(token, statements)
            answered = True
        except RuntimeCompilationError as problem:
            self._answer(
                token, None, problem.number, problem.message, problem.line, *level_of(problem.number)
            )
            answered = True
        finally:
            # The session must not wait for the end of a defect of ours.
            if not answered:
                self._answer(token, None, 50000, "pgsb could not translate this dynamic SQL", 1, 15, 1)

    def close(self) -> None:
        """Close the second connection; a text that comes later opens another."""
        self._second.close()

    def _learn(self, connection: psycopg.Connection[Any]) -> Catalog:
        state = read_state(connection)
        if self._learned is None or self._learned[0] != state:
            catalog = Catalog(default_database=connection.info.dbname)
            learn_tables(connection, catalog)
            self._learned = (state, catalog)
        return self._learned[1].with_its_names()

    def _answer(self, *values: Any) -> None:
        self._second.use(lambda connection: _write_answer(connection, values))


@contextmanager
def _knowing(relations: dict[Name, TableInfo], catalog: Catalog) -> Iterator[None]:
    """Have ``catalog`` know relations as the session sees them, where it knows none with these columns."""
    known = {key: catalog.tables.get(key) for key in relations}
    told = {
        key: info
        for key, info in relations.items()
        if (was := known[key]) is None or names_of_columns(was) != names_of_columns(info)
    }
    catalog.tables.update(told)
    try:
        yield
    finally:
        for key, info in told.items():
            # What the text itself has made of it stays.
            if catalog.tables.get(key) is not info:
                continue
            was = known[key]
            if was is None:
                del catalog.tables[key]
            else:
                catalog.tables[key] = was


class _SecondConnection:
    """A connection that is opened when it is used, and closed when nobody has used it for a while."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: psycopg.Connection[Any] | None = None
        self._used = 0.0
        self._lock = threading.Lock()
        self._is_watched = False

    def use(self, do: Callable[[psycopg.Connection[Any]], T]) -> T:
        """As `over_second_connection`; ``do`` can be done once more than there."""
        with self._lock:
            if self._connection is not None:
                try:
                    return self._do(do)
                except psycopg.OperationalError:
                    pass  # Others have ended it: another one.
            return _tried_again(lambda: self._do(do))

    def close(self) -> None:
        """Close it before its time."""
        with self._lock:
            self._close()

    def _do(self, do: Callable[[psycopg.Connection[Any]], T]) -> T:
        if self._connection is None:
            self._connection = _open(self._conninfo)
        try:
            result = do(self._connection)
        except BaseException:
            self._close()
            raise
        self._used = time.monotonic()
        if not self._is_watched:
            self._is_watched = True
            self._look_later(_KEPT)
        return result

    def _look_later(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._close_unused)
        timer.daemon = True
        timer.start()

    def _close_unused(self) -> None:
        with self._lock:
            left = self._used + _KEPT - time.monotonic()
            if self._connection is not None and left > 0:
                self._look_later(left)
                return
            self._is_watched = False
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
