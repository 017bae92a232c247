"""What a program caches goes with its claim; what others have cached stays."""

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def own_cache(frame: "DataFrame") -> Iterator[None]:
    """A block after which the frames that this thread has persisted in it are unpersisted.

    Spark's own ``clearCache`` would take the user's frames too, and it does not tell what is
    cached: so the calls of persist() and cache() are noted while the block runs.
    """
    _note_calls(type(frame))
    before = getattr(_thread, "noted", None)
    _thread.noted = []
    try:
        yield
    finally:
        frames, _thread.noted = _thread.noted, before
        _let_go(frames)


_thread = threading.local()


def _note_calls(kind: Any) -> None:
    """Once for the class of frames."""
    if getattr(kind, "_pgsb_notes", False):
        return

    def noting(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(self: Any, *values: Any, **named: Any) -> Any:
            noted = getattr(_thread, "noted", None)
            if noted is not None and not self.is_cached:
                noted.append(self)
            return method(self, *values, **named)

        return call

    kind.persist = noting(kind.persist)
    kind.cache = noting(kind.cache)
    kind._pgsb_notes = True


def _let_go(frames: list[Any]) -> None:
    from py4j.protocol import Py4JError

    for one in frames:
        try:
            one.unpersist()
        except (Py4JError, OSError):
            # Of a JVM that has died nothing is cached; whoever works with it hears of that.
            return
