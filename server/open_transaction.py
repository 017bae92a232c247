"""Batches over which a transaction stays open: what a prompt needs (session/open_batches.sql).

The batches run inside one CALL on the connection, which goes on while the user types. Each is
handed over through a second connection of the same user, which holds the lock for which the
CALL waits meanwhile.
"""

from __future__ import annotations

import json
import secrets
import select
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.errors import Diagnostic, error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from .translate import second_connection

_WAITS = "SB001"


def _lock_unknown_key(connection: psycopg.Connection[Any]) -> int:
    """Take an advisory lock under a number that nobody can guess, for nobody is to hold us up; returns it."""
    key = secrets.randbelow(2**62)
    connection.execute("SELECT pg_catalog.pg_advisory_lock(%s)", [key])
    return key


class OpenTransaction:
    """The open transaction of one autocommit connection, if there is one.

    ``depth`` is @@TRANCOUNT, 0 when none is open. While it is above 0 the connection is busy
    and takes nothing but `run`.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Watch the connection's notices; nothing is sent before the first batch."""
        self._connection = connection
        self._helper: psycopg.Connection[Any] | None = None
        self._key = 0
        self._token: str | None = None
        self._timeout: str | None = None
        """The session's own statement_timeout, while it is off."""
        self.depth = 0
        connection.add_notice_handler(self._notice)

    def run(self, statements: Sequence[str]) -> None:
        """Run one batch, the statements that make the procedure `OPEN_BATCH`; its output comes as notices.

        Raises psycopg.Error when the server ends the transaction, and KeyboardInterrupt after
        it was cancelled; both roll it back.
        """
        try:
            if self.depth == 0:
                self._begin()
            self._hand_over(statements)
            self._wait()
        except KeyboardInterrupt:
            self._connection.cancel_safe()
            self._drain()
            raise
        finally:
            if self._token is None:
                self._end()

    def _begin(self) -> None:
        self._helper = second_connection(self._connection)
        self._key = _lock_unknown_key(self._helper)
        # The CALL lasts as long as the user thinks.
        row = self._connection.execute(
            "SELECT pg_catalog.current_setting('statement_timeout'),"
            " pg_catalog.set_config('statement_timeout', '0', false)"
        ).fetchone()
        assert row is not None
        self._timeout = row[0]
        self._connection.pgconn.send_query(
            f"CALL ssb_internal.run_batches({self._key}, {self._helper.info.backend_pid})".encode()
        )
        self._wait()

    def _hand_over(self, statements: Sequence[str]) -> None:
        if self._helper is None:
            raise psycopg.OperationalError("the transaction did not begin")
        token, self._token = self._token, None
        this, self._key = self._key, _lock_unknown_key(self._helper)
        self._helper.execute(
            "SELECT ssb_internal.answer_translation(%s, %s::text[])", [token, [str(self._key), *statements]]
        )
        self._helper.execute("SELECT pg_catalog.pg_advisory_unlock(%s)", [this])

    def _notice(self, notice: Diagnostic) -> None:
        if notice.sqlstate == _WAITS:
            asked = json.loads(notice.message_primary or "{}")
            self._token = asked["token"]
            self.depth = asked["trancount"]

    def _wait(self) -> None:
        """Until the server waits for the next batch, or the CALL is over."""
        pgconn = self._connection.pgconn
        failed: PGresult | None = None
        while True:
            # Notices are handed out in here.
            busy = pgconn.is_busy()
            if self._token is not None:
                return
            if busy:
                select.select([pgconn.socket], [], [])
                pgconn.consume_input()
                continue
            result = pgconn.get_result()
            if result is None:
                break
            if result.status == ExecStatus.FATAL_ERROR:
                failed = result
        if failed is not None:
            raise error_from_result(failed, encoding="utf-8")

    def _drain(self) -> None:
        """Wait for the end of a CALL that was cancelled."""
        try:
            self._token = None
            self._wait()
        except psycopg.Error:
            # That it was cancelled; or that the connection is gone, which its next use tells.
            self._token = None

    def _end(self) -> None:
        self.depth = 0
        if self._helper is not None:
            self._helper.close()
            self._helper = None
        is_free = self._connection.info.transaction_status == TransactionStatus.IDLE
        if self._timeout is not None and is_free:
            timeout, self._timeout = self._timeout, None
            self._connection.execute(
                "SELECT pg_catalog.set_config('statement_timeout', %s, false)", [timeout]
            )

    def close(self) -> None:
        """Roll an open transaction back; the connection is free again."""
        if self.depth and not self._connection.closed:
            self._connection.cancel_safe()
            self._drain()
        self._token = None
        self._end()
