"""Checks many scripts at once, on all processors.

Each process knows the definitions of all scripts and compiles everything but the procedures,
which it shares with the others: nothing else of a script depends on what a procedure's body
became. The processes are forked after the scripts were read, so that they are read once.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Sequence

from ..grammar.problems import Problems, Unbound
from ..grammar.source import Source
from .collecting import rare_collections
from .compiled import CompileOptions
from .reading import ReadScript, read_script
from .references import References
from .script_order import in_running_order
from .session import CompileSession

# Characters of scripts from which on a second process is worth its start.
_WORTH_SHARING = 100_000

Progress = Callable[[Source, int], None]
Found = list[tuple[int | Source, int, int, str, str | None, int | None, str, Unbound | None]]
"""Problems as they travel: source (its number; itself for a text made on the way), start, end, message, …"""


def check_scripts(
    sources: Sequence[Source],
    options: CompileOptions | None = None,
    *,
    processes: int = 1,
    progress: Progress = lambda source, batches: None,
) -> Problems:
    """Return what is wrong with scripts that run one after the other on one connection.

    Definitions of all of them are known to each: the files of a project have no order. Keeps
    nothing of the batches but what they define. ``processes``: as many at most share the work.
    ``progress`` is told of each script that was compiled, and how many batches it has.
    """
    with rare_collections():
        return _check_all(in_running_order(sources), options, processes, progress)


def _check_all(
    sources: Sequence[Source], options: CompileOptions | None, processes: int, progress: Progress
) -> Problems:
    session = CompileSession(options)
    session.catalog.checks = True
    scripts = [read_script(source) for source in sources]
    session.announce([one for script in scripts for one in script.definitions])
    references = References()
    size = sum(len(source.text) for source in sources)
    shares = min(processes, 1 + size // _WORTH_SHARING)
    # A fork takes over the locks of other threads, but not the threads.
    if shares < 2 or threading.active_count() > 1 or not hasattr(os, "fork"):
        _check(session, scripts, progress, references)
        references.report(sources, session.problems)
        references.look_again(sources, session.catalog, session.problems)
        return session.problems
    children = [_start(session, scripts, (number, shares)) for number in range(1, shares)]
    session.share = (0, shares)
    _check(session, scripts, progress, references)
    references.report(sources, session.problems)
    for child in children:
        for place, start, end, message, hint, number, severity, unbound in _finish(child):
            source = sources[place] if isinstance(place, int) else place
            session.problems.add(message, source.span(start, end), hint, number, severity, unbound)
    references.look_again(sources, session.catalog, session.problems)
    return session.problems


def _check(
    session: CompileSession,
    scripts: Sequence[ReadScript],
    progress: Progress,
    references: References | None = None,
) -> None:
    session.sees = references.see if references is not None else None
    for script in scripts:
        progress(script.source, sum(1 for _ in session.compile_script(script.source, read=script)))


def _start(
    session: CompileSession,
    scripts: Sequence[ReadScript],
    share: tuple[int, int],
) -> tuple[int, int]:
    """Fork a process that does its share; return its number, and where its findings come from."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        session.share = share
        _check(session, scripts, lambda source, batches: None)
        places = {id(script.source): number for number, script in enumerate(scripts)}
        found: Found = [
            (
                places.get(id(p.span.source), p.span.source),
                p.span.start,
                p.span.end,
                p.message,
                p.hint,
                p.number,
                p.severity,
                p.unbound,
            )
            for p in session.problems
        ]
        with os.fdopen(writing, "wb") as out:
            pickle.dump(found, out)
        status = 0
    finally:
        # Not sys.exit: what the parent has yet to write must not be written twice.
        os._exit(status)


def _finish(child: tuple[int, int]) -> Found:
    """Wait for a process and return what it found."""
    number, reading = child
    with os.fdopen(reading, "rb") as source:
        data = source.read()
    _, status = os.waitpid(number, 0)
    if status:
        raise ChildProcessError("a process that checked a share of the scripts broke off")
    found: Found = pickle.loads(data)
    return found
