"""Functions of the runtime with another text for a while: with a pause, or failing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from runtime.broker import Session

PAUSE = "SELECT pg_advisory_lock(4711)"
"""Whoever comes to a pause waits while another session holds this."""

WAIT = "PERFORM pg_advisory_lock(4711); PERFORM pg_advisory_unlock(4711);"
"""A pause in PL/pgSQL."""

RECEIVE = "ssb.receive(text,bigint,uuid,uuid)"


@contextmanager
def changed(session: Session, function: str, change: Callable[[str], str]) -> Iterator[None]:
    """The function with another text, for a while."""
    text = session.value("SELECT pg_get_functiondef(%s::regprocedure)", function)
    altered = change(text)
    assert altered != text
    session.connection.execute(altered.encode())
    try:
        yield
    finally:
        session.connection.execute(text.encode())


@contextmanager
def nothing_careful(session: Session) -> Iterator[None]:
    """ssb_internal.receive_slow_path fails."""

    def change(text: str) -> str:
        begin = "BEGIN\n    PERFORM ssb_internal.require_receive"
        return text.replace(begin, begin.replace("BEGIN", "BEGIN RAISE EXCEPTION 'careful';"))

    with changed(session, "ssb_internal.receive_slow_path(text,bigint,uuid,uuid)", change):
        yield
