"""Statements, dialogs and messages over a connection: what every area's helpers are made of."""

from typing import Any

from support import Connection


class Statements:
    """A connection, and its answers as values."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def do(self, statement: str, *values: Any) -> None:
        self.connection.execute(statement, values or None)

    def rows(self, statement: str, *values: Any) -> list[Any]:
        return self.connection.execute(statement, values or None).fetchall()

    def value(self, statement: str, *values: Any) -> Any:
        """The first column of the first row, which there is."""
        row = self.connection.execute(statement, values or None).fetchone()
        assert row is not None, statement
        return row[0]

    def column(self, statement: str, *values: Any) -> list[Any]:
        return [row[0] for row in self.rows(statement, *values)]


def begin(
    connection: Connection, from_service: str, to_service: str, contract: str | None = None, **options: Any
) -> Any:
    """Begin a dialog; returns its handle. ``options`` are those of ssb.begin_dialog."""
    options = options if contract is None else {"contract": contract, **options}
    words = "".join(f", {name} => %s" for name in options)
    return Statements(connection).value(
        f"SELECT ssb.begin_dialog(%s, %s{words})", from_service, to_service, *options.values()
    )


def send(connection: Connection, handle: Any, *bodies: str | bytes | None, kind: str = "DEFAULT") -> None:
    """Send messages on a dialog; None is a message without a body."""
    for body in bodies:
        if body is None:
            connection.execute("SELECT ssb.send(%s, %s)", [handle, kind])
        else:
            type_ = "text" if isinstance(body, str) else "bytea"
            connection.execute(f"SELECT ssb.send(%s, %s, %s::{type_})", [handle, kind, body])
