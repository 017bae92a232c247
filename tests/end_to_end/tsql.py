"""Runs T-SQL as `pgsb run` does, inside the test process."""

import io
from typing import Any

from pgsb.cli.run import Runner, compile_settings
from pgsb.grammar.source import Source
from pgsb.server.connect import OUTPUT_SETTINGS, SEARCH_PATH, Target, connect, prepare_session
from pgsb.server.render import TableRenderer
from pgsb.server.results import Cell, ErrorEvent, Event, Number, Print, RowCount, Rows
from support import Connection


class _Recorder:
    """Keeps the events and, in parallel, the text that a user would see."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.text = io.StringIO()
        self._table = TableRenderer(self.text)

    def write(self, event: Event) -> None:
        self.events.append(event)
        self._table.write(event)

    def close(self) -> None:
        self._table.close()


def begin(connection: Connection) -> None:
    """Settle what `connect` settles for a new session."""
    connection.execute(f"{OUTPUT_SETTINGS}; {SEARCH_PATH}")
    prepare_session(connection)


class Tsql:
    """One session on a database. Every `run` is a script; ``events`` and ``text`` are of the last one.

    A new session, or the one that is given, as `begin` leaves it.
    """

    def __init__(self, on: str | Connection, **options: Any) -> None:
        self.connection = connect(Target(on, False, "the test")) if isinstance(on, str) else on
        settings = compile_settings(self.connection, options.get("database"), options.get("collation", "cs"))
        self._recorder = _Recorder()
        self._runner = Runner(self.connection, settings, self._recorder)

    def run(self, text: str, name: str = "script.sql") -> str:
        """Run a script and return what a user would see."""
        self._recorder.events.clear()
        self._recorder.text.seek(0)
        self._recorder.text.truncate()
        self._runner.run(Source(name, text))
        self._recorder.close()
        return self._recorder.text.getvalue()

    def run_well(self, text: str, name: str = "script.sql") -> str:
        """As `run`, but an error of severity above 10 is a failure of the test."""
        shown = self.run(text, name)
        assert not [e for e in self.errors if e.severity > 10], shown
        return shown

    @property
    def errors(self) -> list[ErrorEvent]:
        """Errors of the last script."""
        return [event for event in self._recorder.events if isinstance(event, ErrorEvent)]

    @property
    def prints(self) -> list[str]:
        """PRINT output of the last script."""
        return [event.text for event in self._recorder.events if isinstance(event, Print)]

    @property
    def counts(self) -> list[int]:
        """Row counts of the last script."""
        return [event.count for event in self._recorder.events if isinstance(event, RowCount)]

    @property
    def results(self) -> list[list[list[str | None]]]:
        """Result sets of the last script: rows of values as shown, NULL as None."""
        found: list[list[list[str | None]]] = []
        for event in self._recorder.events:
            if isinstance(event, Rows):
                if event.columns is not None:
                    found.append([])
                found[-1].extend([[_plain(cell) for cell in row] for row in event.rows])
        return found

    @property
    def columns(self) -> list[tuple[str | None, ...]]:
        """Column names of the last script's result sets."""
        events = self._recorder.events
        return [event.columns for event in events if isinstance(event, Rows) and event.columns is not None]

    def scalar(self, query: str) -> Any:
        """The one value of a PostgreSQL query, on the same connection."""
        row = self.connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]

    def close(self) -> None:
        self.connection.close()


def _plain(cell: Cell) -> str | None:
    return cell.digits if isinstance(cell, Number) else cell
