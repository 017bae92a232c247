"""Errors of bulk processing that a person can act on."""


class BulkError(Exception):
    """A job cannot go on; the message says why and ``hint`` what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class ClaimLost(BulkError):
    """The session that held the claim ended: its messages are back in the queue, nothing was done."""
