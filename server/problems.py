"""The exceptions of this package: a sentence for the user and a way out."""

# SQLSTATEs of a server that stops, has crashed, or does not let anybody in yet.
SERVER_GONE = ("57P01", "57P02", "57P03")


class ServerError(Exception):
    """No server, or one that cannot be used.

    ``str(error)`` says what is wrong; ``hint`` what to do about it, or None.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class Unreachable(ServerError):
    """The server did not let us in: it is not there, not ready, full, or does not know us."""
