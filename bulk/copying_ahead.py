"""Rows of an output go to their table while tasks still write others, in the transaction that completes.

COPY is one session's work, and while it runs Spark's cores would have nothing to do. Where the packs of an
output lie in files (`packed_rows`), it need not wait for the last of them: a thread takes each as soon as it
is whole. Nobody sees a row before the claim is completed, and what was copied counts only if it is just what
the tasks that count have written; else, and whatever else comes between, all of it is rolled back, and COPY
begins anew when the tasks have ended, where a refused row can be told.

From the first pack to the end of the tasks the transaction holds the locks that it would hold later anyway.
So it goes on only while packs come quickly: tasks that take their time gain nothing by it, and one that waits
for such a lock is not waited for.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack

import psycopg

from .binary_copy import HEADER, TRAILER
from .connections import Connection
from .packed_rows import Files, Growing
from .problems import BulkError
from .staging import Staged
from .tables import copy_of, require_types
from .transport import Travel

_LOOK = 0.005
"""Seconds between two looks for packs."""
_SLOWEST = 16 << 20
"""Bytes a second on average. COPY takes some 250 MB of them: at this rate it is a fifteenth of the time."""
_PATIENCE = 1.0
"""Seconds after which the rate is judged."""


class _GivenUpError(Exception):
    """The rows are copied when the tasks have ended."""


class CopyAhead:
    """COPY of one output's rows, in a thread, by a session that nobody else uses until `join`.

    As a context manager it rolls back, at the end of the block, what `join` has not brought or nobody has
    taken (`transaction`).
    """

    def __init__(self, connection: Connection, table: str, columns: Sequence[Travel], files: Files) -> None:
        self._connection = connection
        self._table = table
        self._columns = columns
        self._files = files
        self._attempts: frozenset[int] = frozenset()
        self._have_ended = threading.Event()
        self._is_unwanted = False
        self._is_joined = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pgsb copy")
        self._copying: Future[ExitStack | None] = self._thread.submit(self._copy)
        self._opened: ExitStack | None = None
        self.rows = 0

    def __enter__(self) -> "CopyAhead":
        return self

    def __exit__(self, *_error: object) -> None:
        """The session is as it was before, and its transaction is over."""
        if not self._is_joined:
            self._is_unwanted = True
            self._have_ended.set()
            # It may wait for a lock; else it ends, and nothing need be sent that might come too late.
            while wait([self._copying], timeout=1).not_done:
                self._connection.cancel_safe(timeout=5)
            self._take()
        self.give_up()

    def join(self, staged: Staged) -> bool:
        """Wait for the rest, now that the tasks have ended. Returns whether all of it is in the table.

        Where it is not there is no transaction any more, and the session is free in both cases.
        """
        self._attempts = frozenset(staged.attempts)
        self._have_ended.set()
        self._take()
        if self._opened is not None and self.rows != staged.rows:
            self.give_up()
        return self._opened is not None

    def give_up(self) -> None:
        """Roll back, if there is anything to be rolled back."""
        if self._opened is not None:
            opened, self._opened = self._opened, None
            try:
                with opened:
                    raise psycopg.Rollback
            except psycopg.OperationalError:
                # The connection has ended, and the transaction with it; who uses it next is told.
                pass

    def transaction(self) -> ExitStack:
        """The transaction in which the rows are, to be entered once; its end commits, or rolls back."""
        assert self._opened is not None
        opened, self._opened = self._opened, None
        return opened

    @property
    def is_open(self) -> bool:
        """Whether there is such a transaction."""
        return self._opened is not None

    def _take(self) -> None:
        self._opened = self._copying.result()
        self._is_joined = True
        self._thread.shutdown()

    def _copy(self) -> ExitStack | None:
        packs = self._packs()
        try:
            first = next(packs, None)
            if first is None:
                return None
            with ExitStack() as stack:
                stack.enter_context(self._connection.transaction())
                isolation = self._connection.execute("SHOW transaction_isolation").fetchone()
                if isolation != ("read committed",):
                    # What tasks write from now on would not be seen at the end.
                    raise _GivenUpError
                self._connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
                with self._connection.cursor() as cursor:
                    with cursor.copy(copy_of(self._table, self._columns)) as copy:
                        copy.write(HEADER)
                        copy.write(first)
                        for packed in packs:
                            copy.write(packed)
                        copy.write(TRAILER)
                    self.rows = cursor.rowcount
                require_types(self._connection, self._table, self._columns)
                return stack.pop_all()
        except (_GivenUpError, psycopg.Error, BulkError):
            # What it was, if it comes again, is told by the COPY behind the tasks.
            return None

    def _packs(self) -> Iterator[bytes]:
        """The packs of all attempts as they come, to the end of those that count. Raises _GivenUpError."""
        growing: dict[int, Growing] = {}
        begun: float | None = None
        sent = 0
        while True:
            # Asked before the look, which then sees all that was written before the end.
            have_ended = self._have_ended.is_set()
            before = sent
            at = time.monotonic()
            for attempt in self._files.attempts() - growing.keys():
                growing[attempt] = Growing(self._files, attempt)
            for packed, is_plain in (one for file in growing.values() for one in file.packs()):
                if self._is_unwanted or not is_plain:
                    raise _GivenUpError
                begun = begun or time.monotonic()
                sent += len(packed)
                yield packed
            if have_ended:
                break
            if begun is not None:
                passed = time.monotonic() - begun
                if passed > _PATIENCE and sent < _SLOWEST * passed:
                    raise _GivenUpError
            if sent == before:
                # A look at thousands of files must not cost what the tasks need.
                self._have_ended.wait(max(_LOOK, 10 * (time.monotonic() - at)))
        begun_ones = {attempt for attempt, file in growing.items() if file.is_begun}
        if begun_ones != self._attempts or not all(file.is_whole for file in growing.values()):
            raise _GivenUpError
